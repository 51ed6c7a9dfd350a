"""One process or two: a long comparison, a short one, and the start of a worker.

Wall-clock seconds of whole commands (``denseflip bench``), each in an interpreter of its own, from
its start to its last table. *as it comes* is the command without ``--engine``. The long job is two
data sets and four methods; it should take nearly half the time with two processes. The short one
is over before workers would have started, and nobody should wait for them.

Run it with ``python benchmarks/bench_processes.py [--quick] [--before CHECKOUT]`` on a machine
with nothing else to do: two processes can only be quicker than one where two cores are free.
``--quick`` leaves out the long job.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from measuring import Figures, Line, autism, main

_WAYS: Mapping[str, list[str]] = {
    "serial": ["--engine", "serial"],
    "two": ["--engine", "processes", "--jobs", "2"],
    "auto": ["--jobs", "2"],
}
_CONFIG = """
datasets = {datasets}
oracles = ["sf-knn"]
methods = ["tri", "cli", "edg", "dat+bw"]
"""
_WORKER = """
import sys, time
from denseflip.experiments.bench_config import check_config, make_matrix
from denseflip.runs.engines import make_engine
from denseflip.experiments.plan import make_plan
from denseflip.runs.spec_base import run_chunk

wanted = {"datasets": [sys.argv[1]], "oracles": ["sf-knn"], "methods": ["tri"]}
chunk = tuple(make_plan(make_matrix(check_config(wanted))).specs[:1])
run_chunk(chunk)
start = time.perf_counter()
run_chunk(chunk)
here = time.perf_counter() - start
start = time.perf_counter()
next(make_engine("processes", 1).run([chunk]))
print(time.perf_counter() - start - here)
"""


def measure(quick: bool) -> Figures:
    """Seconds of each way to run each job, and until a new worker has its first answer."""
    data = autism().name
    other = "kki" if data == "aut" else "mice"
    jobs = {"short": f'[{{ name = "{data}", limit = 4 }}]'}
    if not quick:
        jobs["long"] = f'["{data}", "{other}"]'
    figures: Figures = {}
    with tempfile.TemporaryDirectory() as folder:
        for job, datasets in jobs.items():
            config = Path(folder) / f"{job}.toml"
            config.write_text(_CONFIG.format(datasets=datasets))
            for way, words in _WAYS.items():
                repeats = 3 if job == "short" else 1
                figures[f"{job} {way}"] = min(
                    _command(config, words, Path(folder) / f"{job}-{way}-{i}")
                    for i in range(repeats)
                )
    figures["worker"] = min(_worker(data) for _ in range(3))
    return figures


def _command(config: Path, words: list[str], out: Path) -> float:
    command = [sys.executable, "-m", "denseflip", "bench", "--config", str(config)]
    start = time.perf_counter()
    subprocess.run([*command, "--out", str(out), *words], check=True, capture_output=True)
    return time.perf_counter() - start


def _worker(data: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", _WORKER, data], check=True, stdout=subprocess.PIPE, text=True
    )
    return float(done.stdout)


def lines(figures: Figures) -> list[Line]:
    """Seconds and their ratios."""
    out = [Line("a new worker's first answer", figures["worker"], "s", at_most=1.0)]
    for job in ("short", "long"):
        if f"{job} serial" not in figures:
            continue
        serial, two, auto = (figures[f"{job} {way}"] for way in _WAYS)
        out += [
            Line(f"{job} job, one process", serial, "s"),
            Line(f"{job} job, two processes", two, "s"),
            Line(f"{job} job, as it comes", auto, "s"),
        ]
        if job == "short":
            out.append(
                Line("short job, as it comes / one process", auto / serial, "×", at_most=1.1)
            )
        else:
            out += [
                Line("long job, one process / two", serial / two, "×", at_least=1.92),
                Line("long job, one process / as it comes", serial / auto, "×", at_least=1.85),
            ]
    return out


if __name__ == "__main__":
    sys.exit(main(__doc__, measure, lines))
