"""The cost of the engine per query, at the size of the paper's brain graphs.

The oracle answers at once and always the same, so only the search is measured: its set-up, the
steps, changes of the graph, counting and caching, and the result with its trace. The baseline is a
bare loop that toggles the same pairs in one NumPy array and queries the same oracle.

*free* is an oracle that does not look at the graph; *array* is one that has every graph handed out
as an array, as most models want it. `tri`, `edg` and `obs` cost next to nothing themselves and
show the engine; `cli` adds cliques, enumerated and compared.

Run it with ``python benchmarks/bench_engine.py [--quick] [--before CHECKOUT]``. The targets are
those of a quiet machine.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from denseflip import Counterfactual, Graph, explain
from measuring import Figures, Line, autism, least, main

TARGETS = {"tri": 20.0, "edg": 12.0, "obs": 22.0, "cli": 80.0}  # µs per question
Toggled = tuple[tuple[int, int], ...]


class Free:
    """An oracle that answers at once and always the same."""

    def predict(self, graphs: Sequence[Any]) -> list[int]:
        """Labels of the graphs."""
        return [0] * len(graphs)


class Array:
    """The same, but it wants arrays."""

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """Labels of the graphs."""
        for graph in graphs:
            graph.to_adjacency()
        return [0] * len(graphs)


def bare_loop(graph: Graph, steps: list[Toggled], oracle: Free) -> None:
    """Toggle an array in place and ask."""
    array = graph.to_adjacency()
    oracle.predict([array])
    for toggled in steps:
        for u, v in toggled:
            array[u, v] = array[v, u] = 1 - array[u, v]
        oracle.predict([array])


def questions(result: Counterfactual) -> list[Toggled]:
    """The pairs toggled before each question of a result's trace."""
    out: list[Toggled] = []
    pending: Toggled = ()
    for step in result.trace:
        pending += step.toggled
        if step.ask != "no":
            out.append(pending)
            pending = ()
    return out


def measure(quick: bool) -> Figures:
    """Seconds per question of each method under each oracle, and of the bare loop."""
    graphs = autism().graphs[: 2 if quick else 5]
    free, array = Free(), Array()
    total: Figures = {}
    for graph in graphs:
        runs = {}
        for method in TARGETS:
            result = explain(graph, free, method)
            steps = questions(result)
            total[f"{method} questions"] = total.get(f"{method} questions", 0) + result.calls
            runs |= {
                f"{method} free": lambda g=graph, m=method: explain(g, free, m),
                f"{method} array": lambda g=graph, m=method: explain(g, array, m),
                f"{method} bare": lambda g=graph, s=steps: bare_loop(g, s, free),
            }
        for name, seconds in least(runs, 3 if quick else 10).items():
            total[name] = total.get(name, 0) + seconds
    return total


def lines(figures: Figures) -> list[Line]:
    """Microseconds per question, and as a ratio to the bare loop."""
    out = []
    for method, limit in TARGETS.items():
        n = figures[f"{method} questions"]
        free, array, bare = (1e6 * figures[f"{method} {x}"] / n for x in ("free", "array", "bare"))
        out += [
            Line(f"{method}, free oracle", free, "µs", at_most=limit),
            Line(f"{method}, array oracle", array, "µs"),
            Line(f"{method}, bare loop", bare, "µs"),
            Line(f"{method}, free oracle / bare loop", free / bare, "×"),
        ]
    return out


if __name__ == "__main__":
    sys.exit(main(__doc__, measure, lines))
