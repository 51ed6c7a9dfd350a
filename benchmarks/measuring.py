"""Shared by all benchmarks: timing, comparison of two versions, and tables.

A benchmark is a module with two functions. ``measure(quick)`` does the work and returns plain
figures, times as the least of several repeats; it uses nothing but what `denseflip` offers by name
in every version. ``lines(figures)`` turns them into what is shown, ratios above all: a time by
itself says as much about the machine as about the library. `main` does the rest.

Measuring happens in a process of its own, on one core, with the sources of one version in front.
So ``--before PATH``, a checkout of another version, gets the very same measurement.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from denseflip import Dataset

ROOT = Path(__file__).resolve().parent.parent
Figures = dict[str, float]  # combined over rounds by the least of each

_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_PUBLISHED = (  # homes of the published methods and of the published classifier
    ("paper.published_methods", "paper.published_classifier"),
    ("paper.methods", "paper.classifier"),
    ("experiments.published", "experiments.published_classifier"),
)
_notes: list[str] = []


# ---- timing ---------------------------------------------------------------------------------


def processor_time(run: Callable[[], object]) -> float:
    """Seconds that the processor spent on this program during a run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def least(runs: Mapping[str, Callable[[], object]], repeats: int) -> Figures:
    """The least processor time of each run, the runs taken in turn so that noise hits them all."""
    best = dict.fromkeys(runs, math.inf)
    for _ in range(repeats):
        for name, run in runs.items():
            best[name] = min(best[name], processor_time(run))
    return best


def note(text: str) -> None:
    """Something to print below the table."""
    if text not in _notes:
        _notes.append(text)


def autism() -> Dataset:
    """The paper's data set AUT; where it is not on this machine, a made-up cohort of its size."""
    from denseflip import DenseflipError, load_dataset

    try:
        return load_dataset("aut")
    except DenseflipError:
        note("The data set aut is not on this machine: a synthetic cohort stands for it.")
        return load_dataset("synthetic")


def published() -> tuple[Any, Any]:
    """`published_method` and `published_oracle`, wherever this version keeps them."""
    for methods, classifier in _PUBLISHED:
        try:
            method = importlib.import_module(f"denseflip.{methods}").published_method
            return method, importlib.import_module(f"denseflip.{classifier}").published_oracle
        except ModuleNotFoundError as error:
            if not (error.name or "").startswith("denseflip"):
                raise
    sys.exit("This version has no published profile where the benchmark looks for it.")


# ---- showing --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """One figure to show.

    Attributes
    ----------
    name : what was measured.
    value : the figure.
    unit : written behind the name.
    at_most, at_least : targets. A missed target is reported but is not an error, since machines
        differ.
    must : whether a missed target is an error on any machine.
    """

    name: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    must: bool = False

    @property
    def kept(self) -> bool:
        """Whether the figure is as it should be."""
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        return low <= self.value <= high

    @property
    def target(self) -> str:
        """The aim in words, and whether it was met."""
        if self.at_most is None and self.at_least is None:
            return ""
        aim = f"≤ {self.at_most:g}" if self.at_least is None else f"≥ {self.at_least:g}"
        return f"{aim} {'kept' if self.kept else 'MISSED'}"


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns of text: the first aligned left, the others right."""
    widths = [max(len(row[i]) for row in (headers, *rows)) for i in range(len(headers))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *map(str.rjust, row[1:], widths[1:])]).rstrip()
        for row in (headers, ["-" * w for w in widths], *rows)
    )


def number(value: float) -> str:
    """Three digits, or the whole number."""
    if not math.isfinite(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 or value == int(value) else f"{value:.3g}"


def compared(now: Sequence[Line], before: Sequence[Line] | None) -> str:
    """The table of one version, or of two side by side."""
    if before is None:
        rows = [(_label(x), number(x.value), x.target) for x in now]
        return table(("", "now", "target"), rows)
    old = {_label(line): line.value for line in before}
    rows = []
    for line in now:
        was = old.get(_label(line), math.nan)
        gain = number(was / line.value) if line.value else "–"
        rows.append((_label(line), number(was), number(line.value), gain, line.target))
    return table(("", "before", "now", "before / now", "target"), rows)


def _label(line: Line) -> str:
    return f"{line.name} [{line.unit}]" if line.unit else line.name


# ---- running --------------------------------------------------------------------------------


def main(
    about: str | None,
    measure: Callable[[bool], Figures],
    lines: Callable[[Figures], list[Line]],
) -> int:
    """Read the options, measure, print; 1 if a line that must hold does not."""
    title = (about or "").splitlines()[0]
    parser = argparse.ArgumentParser(description=title)
    parser.add_argument("--quick", action="store_true", help="fewer graphs and repeats")
    parser.add_argument("--before", type=Path, help="a checkout of another version to compare with")
    parser.add_argument("--rounds", type=int, default=1, help="how often to measure each version")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        figures = measure(options.quick)
        print(json.dumps({"figures": figures, "notes": _notes}))
        return 0
    print(title + (" (quick)" if options.quick else ""))
    load, cores = os.getloadavg()[0], os.cpu_count()
    print(f"load of the machine at the start: {load:.1f} on {cores} cores\n", flush=True)
    roots = {"now": ROOT} if options.before is None else {"before": options.before, "now": ROOT}
    found: dict[str, Figures] = {}
    for _ in range(options.rounds):
        for version, root in roots.items():
            figures = _measured(root / "src", options.quick)
            known = found.setdefault(version, figures)
            found[version] = {k: min(known[k], figures[k]) for k in known}
    now = lines(found["now"])
    print(compared(now, lines(found["before"]) if "before" in found else None))
    print("".join(f"\n{text}" for text in _notes))
    wrong = [line.name for line in now if line.must and not line.kept]
    if wrong:
        print(f"WRONG: {'; '.join(wrong)}")
    return 1 if wrong else 0


def _measured(src: Path, quick: bool) -> Figures:
    """The figures of the version whose sources are in this folder."""
    if not (src / "denseflip").is_dir():
        sys.exit(f"{src}: no package denseflip in it; --before takes the root of a checkout.")
    command = [sys.executable, sys.argv[0], "--child"] + ["--quick"] * quick
    settings = dict.fromkeys(_ONE_THREAD, "1") | {"PYTHONPATH": str(src.resolve())}
    done = subprocess.run(
        command, env=os.environ | settings, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"Measuring failed with {src} (see above).")
    answer = json.loads(done.stdout)
    for text in answer["notes"]:
        note(text)
    figures: Figures = answer["figures"]
    return figures
