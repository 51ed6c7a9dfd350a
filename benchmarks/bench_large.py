"""`tri` on a large sparse graph: it must finish, in memory that grows with the edges.

A random graph with 100,000 nodes and 1,000,000 edges, and an oracle that changes its mind after
1,000 iterations. Prints the time and the peak memory of the whole process; exits with 1 if no
counterfactual is found or the peak is 2 GiB or more.

Run it with ``python benchmarks/bench_large.py``.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Sequence
from itertools import islice

import numpy as np

from denseflip import Graph, explain
from denseflip.graph import Pair
from denseflip.graph.density import count_triangles
from denseflip.search.orders import NodeSum, joined

N_NODES, N_EDGES, ITERATIONS = 100_000, 1_000_000, 1_000
LIMIT = 2.0  # GiB


def random_graph(n_nodes: int, n_edges: int, seed: int = 0) -> Graph:
    """A graph with exactly so many edges, without ever listing all pairs."""
    rng = np.random.default_rng(seed)
    codes = np.empty(0, dtype=np.int64)
    while len(codes) < n_edges:
        u, v = rng.integers(n_nodes, size=(2, n_edges))
        low, high = np.minimum(u, v), np.maximum(u, v)
        codes = np.union1d(codes, (low * n_nodes + high)[low != high])
    codes = rng.permutation(codes)[:n_edges]
    return Graph.from_edges(n_nodes, np.stack(np.divmod(codes, n_nodes), axis=1))


class HasPair:
    """An oracle that answers at once: whether a graph still has one pair."""

    def __init__(self, pair: Pair) -> None:
        self.pair, self.asked = pair, 0

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """1 while the pair is joined, else 0."""
        self.asked += len(graphs)
        return [int(g.has_edge(*self.pair)) for g in graphs]


def removed_at(graph: Graph, iteration: int) -> Pair:
    """The edge that `tri` removes in this iteration."""
    order = joined(graph, NodeSum(count_triangles(graph)), descending=True)
    return next(islice(order, iteration - 1, None))


def peak() -> float:
    """Largest resident memory of this process so far, in GiB."""
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size / (2**30 if sys.platform == "darwin" else 2**20)


def main() -> int:
    """Run and print; 0 if all is well."""
    start = time.perf_counter()
    graph = random_graph(N_NODES, N_EDGES)
    print(f"{graph}: made in {time.perf_counter() - start:.1f} s, {peak():.2f} GiB")
    oracle = HasPair(removed_at(graph, ITERATIONS))
    start, cpu = time.perf_counter(), time.process_time()
    result = explain(graph, oracle, "tri")
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(f"{result!r}: {result.iterations} iterations, {oracle.asked} graphs evaluated")
    print(f"tri took {wall:.1f} s ({cpu:.1f} s of processor time); peak memory {peak():.2f} GiB")
    good = result.found and result.iterations == ITERATIONS and peak() < LIMIT
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
