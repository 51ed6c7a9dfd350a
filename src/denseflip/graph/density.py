"""Counting kernels: how dense a graph is round each node.

Pure functions of a `Graph`. Each states its cost; each equals a brute-force count in the tests.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Iterator
from functools import reduce

import numpy as np
import numpy.typing as npt

from denseflip.graph.cells import Cells
from denseflip.graph.core import Graph
from denseflip.graph.nodes import Taxonomy

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_DENSE_NODES = 1500  # up to here a dense matrix product beats a sparse one
_WEDGES_PER_CHUNK = 4_000_000  # bounds the memory of the sparse product


def count_triangles(graph: Graph) -> Ints:
    """Number of triangles through each node.

    A dense matrix product up to 1,500 nodes; above that a sparse product in row chunks, whose
    memory stays O(m) and whose time is O(Σ degree²).

    >>> count_triangles(Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)])).tolist()
    [1, 1, 1, 0]
    """
    n = graph.n_nodes
    if n <= _DENSE_NODES:
        a = graph.to_adjacency()
        # Each triangle at a node is met in both directions.
        dense: Ints = np.rint(((a @ a) * a).sum(axis=1) / 2).astype(np.int64)
        return dense
    a = graph.to_sparse()
    wedges = np.cumsum(np.asarray(a @ graph.degrees()))  # size of each product row, added up
    counts = np.zeros(n, dtype=np.int64)
    start = 0
    while start < n:
        before = wedges[start - 1] if start else 0
        stop = int(np.searchsorted(wedges, before + _WEDGES_PER_CHUNK, side="right"))
        stop = min(max(stop, start + 1), n)
        rows = a[start:stop]
        counts[start:stop] = np.rint(np.asarray((rows @ a).multiply(rows).sum(axis=1)).ravel() / 2)
        start = stop
    return counts


def clustering(graph: Graph) -> Floats:
    """Share of each node's neighbour pairs that are joined; 0 below two neighbours."""
    degrees = graph.degrees()
    possible = degrees * (degrees - 1) / 2
    return np.divide(
        count_triangles(graph), possible, out=np.zeros(graph.n_nodes), where=possible > 0
    )


def core_numbers(graph: Graph) -> Ints:
    """Largest k such that the node lies in a subgraph of minimum degree k."""
    import networkx as nx

    cores = nx.core_number(graph.to_networkx())
    return np.array([cores[v] for v in range(graph.n_nodes)], dtype=np.int64)


def harmonic_centrality(graph: Graph) -> Floats:
    """Sum of 1/distance to every other reachable node; small at the periphery. O(n·m).

    The sum is taken in whole numbers over a common denominator, so equal centralities compare
    equal whatever the order of addition.
    """
    from scipy.sparse.csgraph import shortest_path

    n = graph.n_nodes
    if n == 0 or graph.n_edges == 0:
        return np.zeros(n)
    out = np.empty(n)
    a = graph.to_sparse()
    for start in range(0, n, 512):
        rows = np.arange(start, min(start + 512, n))
        hops = shortest_path(a, unweighted=True, indices=rows)
        hops[~np.isfinite(hops)] = 0
        hops = hops.astype(np.int64)
        for row, reached in zip(rows, hops, strict=True):
            counts = np.bincount(reached).tolist()  # nodes at distance 0 (self, unreached), 1, 2 …
            common = reduce(math.lcm, range(1, len(counts)), 1)
            out[row] = sum(c * (common // k) for k, c in enumerate(counts) if k) / common
    return out


def neighbour_sets(graph: Graph) -> list[set[int]]:
    """The set of neighbours of every node."""
    out: list[set[int]] = [set() for _ in range(graph.n_nodes)]
    for u, v in graph.pairs.tolist():
        out[u].add(v)
        out[v].add(u)
    return out


def maximal_cliques_through(node: int, neighbours: list[set[int]]) -> Iterator[tuple[int, ...]]:
    """Yield every maximal clique that contains ``node``, each as a sorted tuple.

    Bron–Kerbosch with pivoting on the node's neighbourhood, with vertex sets as bits of a Python
    integer. Lazy: the caller decides when it has seen enough. Nothing for an isolated node.
    The order depends on the neighbourhood alone.

    >>> sorted(maximal_cliques_through(2, [{1, 2}, {0, 2}, {0, 1, 3}, {2}]))
    [(0, 1, 2), (2, 3)]
    """
    local = sorted(neighbours[node])
    if not local:
        return
    position = {v: i for i, v in enumerate(local)}
    near = [sum(1 << position[w] for w in neighbours[v] if w in position) for v in local]
    at = bisect(local, node)
    below = (1 << at) - 1
    for bits in _maximal_sets(near):
        # The neighbours are sorted, so the node is put in its place and nothing needs sorting.
        first = (bits & below).bit_count()
        members = [local[i] for i in _bits(bits)]
        yield (*members[:first], node, *members[first:])


def _maximal_sets(near: list[int]) -> Iterator[int]:
    """Bron–Kerbosch on a stack of its own: a clique may be larger than Python's call stack."""
    everything = (1 << len(near)) - 1
    # Frames of: vertices chosen, candidates, those done with, branches still to take.
    stack = [[0, everything, 0, _branches(everything, 0, near)]]
    while stack:
        frame = stack[-1]
        low = frame[3] & -frame[3]
        if not low:
            stack.pop()
            continue
        around = near[low.bit_length() - 1]
        chosen, candidates, done = frame[0] | low, frame[1] & around, frame[2] & around
        frame[1] ^= low
        frame[2] |= low
        frame[3] ^= low
        if candidates:
            stack.append([chosen, candidates, done, _branches(candidates, done, near)])
        elif not done:
            yield chosen


def _branches(candidates: int, done: int, near: list[int]) -> int:
    """Candidates to branch on: those not next to the vertex that leaves the fewest."""
    # Written out: this is where the search for cliques spends its time.
    most, pivot, rest = -1, 0, candidates | done
    while rest:
        low = rest & -rest
        rest ^= low
        around = near[low.bit_length() - 1]
        covered = (candidates & around).bit_count()
        if covered > most:
            most, pivot = covered, around
    return candidates & ~pivot


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def two_hop(node: int, neighbours: list[set[int]]) -> set[int]:
    """The node, its neighbours and theirs."""
    out = {node} | neighbours[node]
    for v in neighbours[node]:
        out |= neighbours[v]
    return out


def region_densities(graph: Graph, taxonomy: Taxonomy, *, self_loops: bool = False) -> Floats:
    """Edges inside each region over the pairs inside it; 0 for a region of one node.

    With ``self_loops`` every node counts one loop among both (D10).
    """
    cells = Cells(taxonomy)
    return cells.densities(graph, self_loops=self_loops)[cells.within]
