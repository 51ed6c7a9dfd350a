"""Compare the time of the app with the command line's, for the same request, beside a busy process.

    python scripts/web_speed.py [--subject ID] [--classifier NAME] [--rounds N] [--busy N]

Each round runs ``denseflip explain`` and the same job of a server, one after the other, while
``--busy`` processes compute. The first job of a server also evaluates the classifier, which the
command does not do; this is timed on its own. The script prints every time, in seconds of wall
time, and fails if the median of the app exceeds ``--most`` times that of the command line, or if
the two answers differ.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from web_kill import ask, start


def compute() -> None:
    """Keep one core busy."""
    while True:
        sum(i * i for i in range(100_000))


def by_command(study: str, subject: str, classifier: str, seed: int) -> tuple[float, str]:
    """Seconds of a command, and its sentence."""
    words = ["explain", study, subject, "--oracle", classifier, "--seed", str(seed), "--json"]
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "denseflip", *words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    return time.monotonic() - began, json.loads(done.stdout)["statement"]


def by_app(url: str, asked: dict[str, Any]) -> tuple[float, str]:
    """Seconds of a job, and its sentence."""
    began = time.monotonic()
    id = ask(f"{url}/api/jobs", asked)["id"]
    while (job := ask(f"{url}/api/jobs/{id}"))["status"] in {"queued", "running"}:
        time.sleep(0.05)
    seconds = time.monotonic() - began
    if job["status"] != "done":
        raise SystemExit(f"the job ended as {job['status']}: {job['error']}")
    story = ask(f"{url}/api/jobs/{id}/result").get("story", {})  # an evaluation has none
    return seconds, story.get("statement", "")


def main() -> None:
    """Time both, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--study", default="mice")
    parser.add_argument("--subject", default="sub-54811")
    parser.add_argument("--classifier", default="sf-knn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--busy", type=int, default=1, help="processes that compute meanwhile")
    parser.add_argument("--most", type=float, default=2.0)
    told = parser.parse_args()
    busy = [multiprocessing.Process(target=compute, daemon=True) for _ in range(told.busy)]
    for one in busy:
        one.start()
    command, app, same = [], [], True
    with tempfile.TemporaryDirectory() as name:
        server, url = start(Path(name), told.study)
        try:
            asked = {"dataset": told.study, "classifier": told.classifier}
            began = time.monotonic()
            by_app(url, asked | {"kind": "judge"})
            sys.stdout.write(f"evaluation, once: {time.monotonic() - began:.1f} s\n")
            for seed in range(told.rounds):
                seconds, sentence = by_command(told.study, told.subject, told.classifier, seed)
                command.append(seconds)
                seconds, shown = by_app(url, asked | {"subject": told.subject, "seed": seed})
                app.append(seconds)
                same = same and shown == sentence
                sys.stdout.write(f"command {command[-1]:.1f} s, app {app[-1]:.1f} s\n")
                sys.stdout.flush()
        finally:
            server.terminate()
            server.wait()
            for one in busy:
                one.kill()
    ratio = statistics.median(app) / statistics.median(command)
    sys.stdout.write(
        f"app / command, median of {told.rounds} beside {told.busy} busy: {ratio:.2f} "
        f"(allowed {told.most:g}); answers {'equal' if same else 'differ'}\n"
    )
    if ratio > told.most or not same:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
