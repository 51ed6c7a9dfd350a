"""Explain all mice, kill it again and again, go on: the same pages but for times?

Runs ``denseflip explain mice --all --method auto --jobs 2`` once as a whole, and once killed
(``kill -9``, workers and all) after some seconds, several times, until it is done. Then every file
is compared, the seconds that searches took left out. A short form is in ``tests/cli/test_many.py``.

    python scripts/kill_many.py FOLDER [--after 20] [--data mice] [--method auto]
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path


def timeless(path: Path) -> str:
    """What a file says, without what differs from run to run."""
    text = re.sub(r'"elapsed": ?[\d.e+-]+', '"elapsed":0', path.read_text(encoding="utf-8"))
    return re.sub(r"<dd>[\d.]+ s</dd>", "<dd>… s</dd>", text)


def start(place: Path, data: str, method: str) -> subprocess.Popen[bytes]:
    """Begin, or go on, in a folder."""
    place.mkdir(parents=True, exist_ok=True)
    words = ["explain", data, "--all", "--method", method, "--jobs", "2", "--out", "out"]
    return subprocess.Popen(
        [sys.executable, "-m", "denseflip", *words],
        cwd=place,
        start_new_session=True,
        stdout=subprocess.DEVNULL,
    )


def main() -> int:
    """Run, kill, go on, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--after", type=float, default=20.0, help="seconds until a kill")
    parser.add_argument("--data", default="mice")
    parser.add_argument("--method", default="auto")
    given = parser.parse_args()
    whole, killed = given.folder / "whole", given.folder / "killed"
    started = time.monotonic()
    if start(whole, given.data, given.method).wait():
        return 1
    print(f"whole: {time.monotonic() - started:.0f} s")
    kills, ended = 0, None
    while ended is None:
        process = start(killed, given.data, given.method)
        try:
            ended = process.wait(timeout=given.after * (1 + kills))  # later each time
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
    names = sorted(
        path.relative_to(whole)
        for kind in ("*.html", "*.csv", "*.json")
        for path in (whole / "out").rglob(kind)
        if "store" not in path.parts
    )
    differ = [str(n) for n in names if timeless(whole / n) != timeless(killed / n)]
    print(f"{kills} kills, {len(names)} files compared, {len(differ)} differ {differ}")
    return int(bool(differ) or bool(ended))


if __name__ == "__main__":
    raise SystemExit(main())
