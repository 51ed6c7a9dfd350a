"""How long does an explanation take, and how much longer with 20 refits of the classifier?

Prints the processor time of a whole explanation (search and sentence) without refits, and the time
with them divided by that, in the same run: for a new classifier, whose refits have to be trained,
and for the next graph, for which they are there. Run from the root of the repository::

    python benchmarks/refits_speed.py                # mice and, with DENSEFLIP_DATA, AUT
    python benchmarks/refits_speed.py --only mice
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from typing import Any

from denseflip import Dataset, fit_oracle, load_dataset
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import Subject

CASES = {"mice": ("regions-logistic", 8), "aut": ("edges-svm", 0)}  # the graph by its number


def seconds(data: Dataset, graph: int, oracle: Any, refits: Any) -> float:
    """The processor time of one explanation."""
    subject = Subject(data.graphs[graph], data.ids[graph], data.nodes, data)
    began = time.process_time()
    explain_and_describe(subject, oracle, refits=refits)
    return time.process_time() - began


def ratios(data: Dataset, preset: str, graph: int, repeats: int) -> tuple[float, float, float]:
    """The smallest time without refits; with new refits, and with known ones, divided by it."""
    without, new, known = [], [], []
    seconds(data, graph, fit_oracle(data, preset), None)  # imports
    for _ in range(repeats):
        without.append(seconds(data, graph, fit_oracle(data, preset), None))
        oracle = fit_oracle(data, preset)
        new.append(seconds(data, graph, oracle, "auto"))
        known.append(seconds(data, graph, oracle, "auto"))
    return min(without), min(new) / min(without), min(known) / min(without)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, run, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", default=",".join(CASES), help="data sets")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    print("| data set | classifier | seconds | new refits | known refits |\n|---|---|---|---|---|")
    for name in options.only.split(","):
        preset, graph = CASES[name]
        without, new, known = ratios(load_dataset(name), preset, graph, options.repeats)
        print(f"| {name} | `{preset}` | {without:.3f} | {new:.2f} | {known:.2f} |")


if __name__ == "__main__":
    main()
