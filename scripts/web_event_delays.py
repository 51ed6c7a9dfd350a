"""Measure the delay between a query of the search and its event in the browser.

The script prints the median and the largest delay, and fails if the median exceeds half a second.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from web_kill import ask, start


def main() -> None:
    """Follow some explanations, and print the median delay."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=3)
    told = parser.parse_args()
    delays: list[float] = []
    first: list[float] = []
    with tempfile.TemporaryDirectory() as name:
        server, url = start(Path(name))
        for seed in range(told.jobs):
            body = {"dataset": "mice", "subject": "sub-54811", "seed": seed}
            asked = time.time()
            id = ask(f"{url}/api/jobs", body)["id"]
            begun = False
            with urllib.request.urlopen(f"{url}/api/jobs/{id}/events", timeout=300) as stream:
                for line in stream:
                    if line.startswith(b"data:"):
                        facts = json.loads(line[5:])
                        if not begun:
                            first.append(time.time() - asked)
                            begun = True
                        if "sent" in facts and facts["status"] == "running":
                            delays.append(time.time() - facts["sent"])
        server.terminate()
        server.wait()
    middle = statistics.median(delays)
    sys.stdout.write(
        f"{len(delays)} events: median {1000 * middle:.0f} ms, largest "
        f"{1000 * max(delays):.0f} ms; "
        f"first word {1000 * statistics.median(first):.0f} ms after asking\n"
    )
    if middle > 0.5:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
