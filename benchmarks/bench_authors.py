"""TRI on AUT, compared with a program in the style of the authors' notebooks.

The reference (``authors_shape.py``) works on networkx copies, queries twice per iteration and
solves a sparse eigenproblem per query. The library runs the published profile of `tri` with the
published classifier, so both must find the same counterfactual for every graph; the benchmark
counts them and fails if one differs. *Bare eigvalsh* is a lower bound: NumPy's dense solver on the
Laplacians of the queried graphs, and nothing else.

All three run on one core, graph by graph in turn. The reference runs once, the others before and
after it, and their mean counts, so that disturbances affect all of them. Run it with
``python benchmarks/bench_authors.py [--quick] [--before CHECKOUT]``.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from authors_shape import SparseOracle, open_triangles
from denseflip import Counterfactual, explain
from measuring import Figures, Line, autism, main, processor_time, published


def asked_laplacians(result: Counterfactual) -> npt.NDArray[np.float64]:
    """The normalised Laplacians, with self-loops, of the graphs that a result asked about."""
    array = result.original.to_adjacency() + np.eye(result.original.n_nodes)
    asked = [array.copy()]
    for step in result.trace:
        for u, v in step.toggled:
            array[u, v] = array[v, u] = 1 - array[u, v]
        if step.ask != "no":
            asked.append(array.copy())
    stack = np.array(asked)
    scale = 1 / np.sqrt(stack.sum(axis=2))
    return np.eye(len(array)) - scale[:, :, None] * stack * scale[:, None, :]


def measure(quick: bool) -> Figures:
    """Seconds of all three over the graphs, and how many counterfactuals are the same."""
    dataset = autism()
    published_method, published_oracle = published()
    method, oracle = published_method("tri"), published_oracle(dataset)
    reference = SparseOracle(oracle.estimator)
    figures = dict.fromkeys(("ours", "reference", "floor", "same", "graphs", "questions"), 0.0)
    for graph in dataset.graphs[:: 8 if quick else 1]:
        result = explain(graph, oracle, method)
        laplacians, copy = asked_laplacians(result), graph.to_networkx()
        answer: list[Any] = []
        runs = {
            "ours": lambda g=graph: explain(g, oracle, method),
            "floor": lambda stack=laplacians: np.linalg.eigvalsh(stack),
        }
        for name, run in runs.items():
            figures[name] += processor_time(run) / 2
        figures["reference"] += processor_time(
            lambda g=copy, out=answer: out.append(open_triangles(g, reference))
        )
        for name, run in runs.items():
            figures[name] += processor_time(run) / 2
        same = answer == [(result.found, set(result.counterfactual.edges()))]
        figures["same"] += same
        figures["graphs"] += 1
        figures["questions"] += result.calls
    return figures | {"reference calls": float(reference.calls)}


def lines(figures: Figures) -> list[Line]:
    """How many times as fast, and the floor."""
    ours, theirs, floor = (figures[x] for x in ("ours", "reference", "floor"))
    n = figures["graphs"]
    return [
        Line("reference / denseflip", theirs / ours, "×", at_least=25),
        Line("reference / bare eigvalsh", theirs / floor, "×"),
        Line("denseflip / bare eigvalsh", ours / floor, "×", at_most=1.2),
        Line("reference, per call", 1e3 * theirs / figures["reference calls"], "ms"),
        Line("denseflip, per question", 1e3 * ours / figures["questions"], "ms"),
        Line("bare eigvalsh, per query", 1e3 * floor / figures["questions"], "ms"),
        Line("reference, calls", figures["reference calls"]),
        Line("denseflip, questions", figures["questions"]),
        Line(f"same counterfactuals, of {n:.0f}", figures["same"], at_least=n, must=True),
    ]


if __name__ == "__main__":
    sys.exit(main(__doc__, measure, lines))
