"""The engine's own cost per question, at the size of the paper's brain graphs.

The oracle answers at once, so that what is measured is the search: making the steps, changing the
graph, handing it out as an array, counting and caching. The yardstick is a bare loop that toggles
the same pairs in one NumPy array and calls the same function.

Two figures per method. *batch* is the time between two questions inside the quickest batch of 64:
what the engine costs when nothing disturbs it. *whole* is the processor time of a whole call of
`explain`, counting triangles, sorting pairs and making the result included. `tri` and `edg` cost
next to nothing themselves and show the engine; `cli` adds the enumeration of cliques.

Run it with ``python benchmarks/bench_engine.py``; exits with 1 if *batch* of `tri` or `edg` is
50 µs or more.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from denseflip import Counterfactual, Graph, as_oracle, explain
from denseflip.oracles.threads import single_thread
from denseflip.search.engine import MAX_BATCH

N_NODES, N_EDGES, REPEATS = 116, 667, 40
LIMIT = 50.0  # µs per question
JUDGED = ("tri", "edg")
METHODS = (*JUDGED, "cli")


def random_graph(n_nodes: int, n_edges: int, seed: int = 0) -> Graph:
    """A graph with exactly so many edges, drawn uniformly."""
    u, v = np.triu_indices(n_nodes, k=1)
    chosen = np.random.default_rng(seed).choice(len(u), n_edges, replace=False)
    return Graph.from_edges(n_nodes, np.stack((u[chosen], v[chosen]), axis=1))


def never(adjacency: npt.NDArray[np.float64]) -> int:
    """An oracle that answers at once and always the same."""
    return 0


class Clock:
    """The same oracle, noting when each batch is asked."""

    def __init__(self) -> None:
        self.inner = as_oracle(never)
        self.asked: list[tuple[float, int]] = []

    def predict(self, graphs: Sequence[Graph]) -> Sequence[int]:
        """Labels of the graphs."""
        self.asked.append((time.perf_counter(), len(graphs)))
        return self.inner.predict(graphs)

    def quickest(self) -> float:
        """Seconds per question in the quickest full batch."""
        full = [b - a for (a, n), (b, m) in pairwise(self.asked) if n == m == MAX_BATCH]
        return min(full) / MAX_BATCH


def least(run: Callable[[], float]) -> float:
    """The least of several measurements: the least disturbed one."""
    return min(run() for _ in range(REPEATS))


def processor_time(run: Callable[[], object]) -> float:
    """Seconds that the processor spent on this program during a run."""
    start = time.process_time()
    run()
    return time.process_time() - start


def batch_time(graph: Graph, method: str) -> float:
    """Seconds per question inside one run's quickest batch."""
    clock = Clock()
    explain(graph, clock, method)
    return clock.quickest()


def bare_loop(graph: Graph, steps: list[tuple[tuple[int, int], ...]]) -> None:
    """Toggle an array in place and call the function."""
    array = graph.to_adjacency()
    never(array)
    for toggled in steps:
        for u, v in toggled:
            array[u, v] = array[v, u] = 1 - array[u, v]
        never(array)


def questions(result: Counterfactual) -> list[tuple[tuple[int, int], ...]]:
    """The pairs toggled before each question of a result's trace."""
    out: list[tuple[tuple[int, int], ...]] = []
    pending: tuple[tuple[int, int], ...] = ()
    for step in result.trace:
        pending += step.toggled
        if step.ask != "no":
            out.append(pending)
            pending = ()
    return out


def main() -> int:
    """Print one line per method; 0 if the engine keeps to its limit."""
    graph, oracle = random_graph(N_NODES, N_EDGES), as_oracle(never)
    print(f"graph with {N_NODES} nodes, {N_EDGES} edges; µs per question, least of {REPEATS} runs")
    print(f"{'method':<8}{'questions':>10}{'batch':>9}{'whole':>9}{'bare loop':>11}{'ratio':>7}")
    good = True
    for method in METHODS:
        result = explain(graph, oracle, method)
        steps, n = questions(result), result.calls
        batch = 1e6 * least(lambda m=method: batch_time(graph, m))
        whole = 1e6 / n * least(lambda m=method: processor_time(lambda: explain(graph, oracle, m)))
        bare = 1e6 / n * least(lambda s=steps: processor_time(lambda: bare_loop(graph, s)))
        good &= method not in JUDGED or batch < LIMIT
        print(f"{method:<8}{n:>10}{batch:>9.1f}{whole:>9.1f}{bare:>11.2f}{batch / bare:>7.1f}")
    print(f"limit {LIMIT:.0f} µs: {'kept' if good else 'exceeded'}")
    return 0 if good else 1


if __name__ == "__main__":
    with single_thread():  # idle threads of a matrix product would count as processor time
        code = main()
    sys.exit(code)
