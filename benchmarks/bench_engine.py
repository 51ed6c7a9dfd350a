"""The engine's own cost per question, at the size of the paper's brain graphs.

The oracle answers at once, so that what is measured is the search: making the steps, changing the
graph, handing it out as an array, counting and caching. The yardstick is a bare loop that toggles
the same pairs in one NumPy array and calls the same function.

Run it with ``python benchmarks/bench_engine.py``; the limit is 50 µs per question.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from denseflip import Graph, as_oracle, explain

N_NODES, N_EDGES, REPEATS = 116, 667, 40
LIMIT = 50.0  # µs per question
METHODS = ("tri", "edg", "cli")


def random_graph(n_nodes: int, n_edges: int, seed: int = 0) -> Graph:
    """A graph with exactly so many edges, drawn uniformly."""
    u, v = np.triu_indices(n_nodes, k=1)
    chosen = np.random.default_rng(seed).choice(len(u), n_edges, replace=False)
    return Graph.from_edges(n_nodes, np.stack((u[chosen], v[chosen]), axis=1))


def never(adjacency: npt.NDArray[np.float64]) -> int:
    """An oracle that answers at once and always the same."""
    return 0


def seconds(run: Callable[[], object]) -> float:
    """Processor time of the least disturbed of several runs: other programs hardly matter."""
    best = float("inf")
    for _ in range(REPEATS):
        start = time.process_time()
        run()
        best = min(best, time.process_time() - start)
    return best


def bare_loop(graph: Graph, steps: list[tuple[tuple[int, int], ...]]) -> None:
    """Toggle an array in place and call the function."""
    array = graph.to_adjacency()
    never(array)
    for toggled in steps:
        for u, v in toggled:
            array[u, v] = array[v, u] = 1 - array[u, v]
        never(array)


def questions(result: object) -> list[tuple[tuple[int, int], ...]]:
    """The pairs toggled before each question of a result's trace."""
    out, pending = [], ()
    for step in result.trace:  # type: ignore[attr-defined]
        pending += step.toggled
        if step.ask != "no":
            out.append(pending)
            pending = ()
    return out


def main() -> None:
    """Print one line per method."""
    graph, oracle = random_graph(N_NODES, N_EDGES), as_oracle(never)
    print(f"graph with {N_NODES} nodes, {N_EDGES} edges; best of {REPEATS} runs")
    print(f"{'method':<8}{'questions':>10}{'µs/question':>13}{'bare loop':>11}{'ratio':>7}")
    for method in METHODS:
        result = explain(graph, oracle, method)
        steps = questions(result)
        own = seconds(lambda m=method: explain(graph, oracle, m)) / result.calls * 1e6
        bare = seconds(lambda s=steps: bare_loop(graph, s)) / result.calls * 1e6
        verdict = "" if own < LIMIT else f"  over the limit of {LIMIT:.0f} µs"
        print(f"{method:<8}{result.calls:>10}{own:>13.1f}{bare:>11.2f}{own / bare:>7.1f}{verdict}")


if __name__ == "__main__":
    main()
