"""How fast text files of matrices and time series are read.

Each as a ratio to ``numpy.loadtxt`` on the same file in the same run, which only converts the
numbers and checks nothing:

- *one table*: a matrix of 200 nodes with 6 and with 18 decimals, a time series of 196 points of
  116 regions;
- *one graph*: the same matrix as a graph, as `explain FILE` reads it;
- *a folder*: 24 files, from files to data set.

Run it with ``python benchmarks/bench_reading.py [--quick] [--before CHECKOUT]``.
"""

from __future__ import annotations

import sys
import tempfile
from functools import partial
from pathlib import Path

import numpy as np

from denseflip.datasets import Keep, import_folder, read_graph
from denseflip.datasets.number_tables import read_table
from measuring import Figures, Line, least, main

KEEP = Keep(percentile=90)
FILES = 24


def measure(quick: bool) -> Figures:
    """Processor time of each way to read each file."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as made:
        home = Path(made)
        matrix = np.corrcoef(rng.normal(size=(200, 300)))
        np.savetxt(home / "matrix.csv", matrix, delimiter=",", fmt="%.6f")
        np.savetxt(home / "digits.csv", matrix, delimiter=",")
        np.savetxt(home / "series.txt", rng.normal(size=(196, 116)), fmt="%.6f")
        folder = home / "folder"
        folder.mkdir()
        for i in range(FILES):
            one = np.corrcoef(rng.normal(size=(116, 300)))
            np.savetxt(folder / f"s{i}.csv", one, delimiter=",", fmt="%.6f")
        labels = {f"s{i}": "ab"[i % 2] for i in range(FILES)}
        comma = {"delimiter": ","}
        files = {"matrix.csv": comma, "digits.csv": comma, "series.txt": {}}
        runs = {}
        for name, how in files.items():
            runs[f"ours {name}"] = partial(read_table, home / name)
            runs[f"loadtxt {name}"] = partial(np.loadtxt, home / name, **how)
        runs["genfromtxt matrix.csv"] = partial(np.genfromtxt, home / "matrix.csv", delimiter=",")
        runs["graph matrix.csv"] = partial(read_graph, home / "matrix.csv", keep=KEEP)
        runs["folder"] = partial(import_folder, folder, labels, keep=KEEP)
        runs["folder loadtxt"] = lambda: [
            np.loadtxt(folder / f"s{i}.csv", delimiter=",") for i in range(FILES)
        ]
        return least(runs, 3 if quick else 15)


def lines(found: Figures) -> list[Line]:
    """The ratios."""
    out = [
        Line(f"one table / loadtxt: {name}", found[f"ours {name}"] / found[f"loadtxt {name}"],
             at_most=2.5)
        for name in ("matrix.csv", "digits.csv", "series.txt")
    ]  # fmt: skip
    matrix = found["loadtxt matrix.csv"]
    return [
        *out,
        Line("genfromtxt / loadtxt: matrix.csv", found["genfromtxt matrix.csv"] / matrix),
        Line("one graph / loadtxt: matrix.csv", found["graph matrix.csv"] / matrix, at_most=3.5),
        Line("a folder / loadtxt", found["folder"] / found["folder loadtxt"], at_most=3.5),
    ]


if __name__ == "__main__":
    sys.exit(main(__doc__, measure, lines))
