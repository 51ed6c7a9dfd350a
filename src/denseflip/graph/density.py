"""Counting kernels: how dense a graph is around each node.

Pure functions of a `Graph`. Each states its cost and is tested against a brute-force count.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
import numpy.typing as npt

from denseflip.graph.cells import Cells
from denseflip.graph.cliques import Neighbours
from denseflip.graph.core import Graph
from denseflip.graph.nodes import Taxonomy
from denseflip.threads import single_thread

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_DENSE_NODES = 4000  # up to here a dense matrix is considered
_PRODUCTS_PER_PATH = 256  # matrix operations in the time it takes to list one path (measured)
_PATHS_PER_PART = 1 << 18  # paths listed at a time: bounds the memory


def count_triangles(graph: Graph) -> Ints:
    """Number of triangles through each node.

    Uses a dense matrix product where that is faster, up to 4,000 nodes. Otherwise it lists the
    paths of two edges in chunks, in O(Σ degree²) time and O(m) memory.

    >>> count_triangles(Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)])).tolist()
    [1, 1, 1, 0]
    """
    n, degrees = graph.n_nodes, graph.degrees()
    if n <= _DENSE_NODES and n**3 <= _PRODUCTS_PER_PATH * int((degrees**2).sum()):
        a = graph.to_adjacency(np.float32)  # sums stay below 2^24, so they are exact
        with single_thread():  # on a busy machine two threads wait for each other: 27 ms, not 0.1
            paths = a @ a
        # Each triangle at a node is counted in both directions.
        dense: Ints = np.rint(np.einsum("ij,ij->i", paths, a) / 2).astype(np.int64)
        return dense
    return _triangles_by_paths(graph, degrees)


def _triangles_by_paths(graph: Graph, degrees: Ints) -> Ints:
    """Follow two edges from a node, each to a node of higher degree, and look up the third."""
    n, m = graph.n_nodes, graph.n_edges
    place = np.empty(n, dtype=np.int64)  # by degree, so that hubs start few paths
    place[np.argsort(degrees, kind="stable")] = np.arange(n)
    ends = place[graph.pairs]
    codes = np.sort(ends.min(axis=1) * n + ends.max(axis=1))
    tail, head = np.divmod(codes, max(n, 1))
    first = np.searchsorted(tail, np.arange(n + 1))  # edges from v: first[v] up to first[v + 1]
    ways = np.diff(first)[head]  # how many paths continue along each edge
    up_to = np.cumsum(ways)
    counts = np.zeros(n, dtype=np.int64)
    start = 0
    while start < m:
        before = int(up_to[start - 1]) if start else 0
        stop = int(np.searchsorted(up_to, before + _PATHS_PER_PART, side="right"))
        stop = max(stop, start + 1)
        part = ways[start:stop]
        edge = np.repeat(np.arange(start, stop), part)
        number = np.arange(len(edge)) - np.repeat(np.cumsum(part) - part, part)
        target = head[first[head[edge]] + number]
        closing = tail[edge] * n + target
        at = np.minimum(np.searchsorted(codes, closing), m - 1)
        closed = codes[at] == closing
        edge = edge[closed]
        for corner in (tail[edge], head[edge], target[closed]):
            np.add.at(counts, corner, 1)
        start = stop
    return counts[place]


def count_components(graph: Graph) -> int:
    """Number of connected components; a node without edges is one. O(n + m).

    >>> count_components(Graph.from_edges(4, [(0, 1), (1, 2)]))
    2
    """
    from scipy.sparse.csgraph import connected_components

    return int(connected_components(graph.to_sparse(), directed=False, return_labels=False))


def clustering(graph: Graph) -> Floats:
    """Share of each node's neighbour pairs that are joined; 0 with fewer than two neighbours."""
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

    The sum is computed in integers over a common denominator, so equal centralities compare equal
    whatever the order of addition.
    """
    from scipy.sparse.csgraph import shortest_path

    n = graph.n_nodes
    if n == 0 or graph.n_edges == 0:
        return np.zeros(n)
    out = np.empty(n)
    a = graph.to_sparse()
    a.indices, a.indptr = a.indices.astype(np.int32), a.indptr.astype(np.int32)  # for SciPy 1.12
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


class NeighbourSets(dict[int, set[int]]):
    """The set of neighbours of every node, computed on first use.

    A search on a large graph visits few nodes: it pays for those, and once for sorting the edges,
    O(m log m). Repeated access to a node returns the same set, which the owner may modify.

    >>> near = NeighbourSets(Graph.from_edges(4, [(0, 1), (1, 2)]))
    >>> near[1], near[3]
    ({0, 2}, set())
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        n = graph.n_nodes
        low, high = np.divmod(graph.codes, max(n, 1))
        back = np.sort(high * n + low)
        rows = np.arange(n + 1) * n
        self._ends = [
            (high, np.searchsorted(graph.codes, rows).tolist()),
            (back % max(n, 1), np.searchsorted(back, rows).tolist()),
        ]

    def __missing__(self, node: int) -> set[int]:
        (above, a), (below, b) = self._ends
        if not 0 <= node < len(a) - 1:
            raise KeyError(node)
        made = set(above[a[node] : a[node + 1]].tolist())
        made.update(below[b[node] : b[node + 1]].tolist())
        self[node] = made
        return made

    def copy(self) -> NeighbourSets:
        """A copy for the same graph, with new sets."""
        fresh = NeighbourSets.__new__(NeighbourSets)
        fresh._ends = self._ends
        return fresh


def two_hop(node: int, neighbours: Neighbours) -> set[int]:
    """The node, its neighbours and theirs."""
    around = neighbours[node]
    return {node}.union(around, *map(neighbours.__getitem__, around))


def region_densities(graph: Graph, taxonomy: Taxonomy) -> Floats:
    """Share of the pairs inside each region that are edges; 0 for a region of one node."""
    cells = Cells(taxonomy)
    return cells.densities(graph)[cells.within]
