"""Cores, trusses and densest subgraphs: dense structures found exactly in polynomial time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet

from denseflip.graph.cliques import Check, Neighbours
from denseflip.graph.pairs import Pair, ordered
from denseflip.graph.relaxed_cliques import Dense

_FLOW_LIMIT = 2**31 - 1  # SciPy's flows are 32-bit integers


def core_numbers_of(nodes: Iterable[int], neighbours: Neighbours) -> dict[int, int]:
    """For each node, the largest k such that it lies in a k-core. O(m) (Batagelj & Zaveršnik).

    >>> core_numbers_of(range(4), [{1, 2}, {0, 2}, {0, 1, 3}, {2}]) == {0: 2, 1: 2, 2: 2, 3: 1}
    True
    """
    degree = {v: len(neighbours[v]) for v in nodes}
    levels: list[list[int]] = [[] for _ in range(max(degree.values(), default=0) + 1)]
    for v, d in degree.items():
        levels[d].append(v)
    numbers: dict[int, int] = {}
    for k, level in enumerate(levels):
        while level:  # grows during the loop
            v = level.pop()
            if v in numbers or degree[v] > k:
                continue
            numbers[v] = k
            for w in neighbours[v]:
                if w not in numbers and degree[w] > k:
                    degree[w] -= 1
                    levels[degree[w]].append(w)
    return numbers


def core_at(
    node: int, nodes: Iterable[int], neighbours: Neighbours, k: int | None = None
) -> Dense | None:
    """The connected component of the k-core that contains a node; without k, the innermost core.

    None if the node is not in the k-core, or has no edge. ``level`` is k.
    """
    if not neighbours[node]:
        return None
    numbers = core_numbers_of(nodes, neighbours)
    k = numbers[node] if k is None else k
    if numbers[node] < k:
        return None
    seen, edge = {node}, [node]
    while edge:
        for w in neighbours[edge.pop()]:
            if numbers[w] >= k and w not in seen:
                seen.add(w)
                edge.append(w)
    return Dense(tuple(sorted(seen)), float(k))


def truss_numbers(
    nodes: Iterable[int], neighbours: Neighbours, *, check: Check | None = None
) -> dict[Pair, int]:
    """For each edge, the largest k such that it lies in a k-truss; 2 for an edge in no triangle.

    Peeling by the triangles that are left. O(Σ over edges of the smaller degree).

    >>> truss_numbers(range(4), [{1, 2}, {0, 2}, {0, 1, 3}, {2}])
    {(2, 3): 2, (0, 1): 3, (0, 2): 3, (1, 2): 3}
    """
    near = {v: set(neighbours[v]) for v in nodes}
    support = {(u, v): len(near[u] & near[v]) for u in near for v in near[u] if u < v}
    levels: list[list[Pair]] = [[] for _ in range(max(support.values(), default=0) + 1)]
    for pair, s in support.items():
        levels[s].append(pair)
    numbers: dict[Pair, int] = {}
    for s, level in enumerate(levels):
        if check is not None:
            check()
        for pair in level:  # grows during the loop
            if pair in numbers or support[pair] > s:
                continue
            numbers[pair] = s + 2
            u, v = pair
            near[u].discard(v)
            near[v].discard(u)
            for w in near[u] & near[v]:
                for other in (ordered(u, w), ordered(v, w)):
                    if support[other] > s:
                        support[other] -= 1
                        levels[support[other]].append(other)
    return numbers


def truss_at(
    node: int,
    nodes: Iterable[int],
    neighbours: Neighbours,
    k: int | None = None,
    *,
    check: Check | None = None,
) -> Dense | None:
    """The k-truss community of a node: the edges reachable through triangles of the k-truss.

    Without k, the innermost one. Of several, the one with most nodes, then the lexicographically
    first. None if no edge of the node is in the k-truss. ``level`` is k.
    """
    if not neighbours[node]:
        return None
    numbers = truss_numbers(nodes, neighbours, check=check)
    at_node = {ordered(node, w): numbers[ordered(node, w)] for w in neighbours[node]}
    k = max(at_node.values()) if k is None else k
    starts = sorted(pair for pair, number in at_node.items() if number >= k)
    found = []
    seen: set[Pair] = set()
    for start in starts:
        if start not in seen:
            members = _over_triangles(start, k, numbers, neighbours)
            seen |= members
            found.append(tuple(sorted({v for pair in members for v in pair})))
    if not found:
        return None
    return Dense(min(found, key=lambda members: (-len(members), members)), float(k))


def _over_triangles(
    start: Pair, k: int, numbers: Mapping[Pair, int], neighbours: Neighbours
) -> set[Pair]:
    """Edges reachable from an edge, in steps within triangles of the k-truss."""
    seen, edge = {start}, [start]
    while edge:
        u, v = edge.pop()
        for w in neighbours[u] & neighbours[v]:
            one, two = ordered(u, w), ordered(v, w)
            if numbers[one] >= k and numbers[two] >= k:
                new = {one, two} - seen
                seen |= new
                edge.extend(new)
    return seen


def densest(
    nodes: Iterable[int], neighbours: Neighbours, *, max_work: int = _FLOW_LIMIT
) -> Dense | None:
    """The set of nodes with the most edges per node; of several, their union.

    Exact by minimum cuts (Goldberg), with increasing density until no set is denser. If twice the
    nodes times the edges is more than ``max_work``, nodes with fewest neighbours are peeled off
    (Charikar): the result has at least half of the largest density, and ``exact`` is False. None
    without edges. ``level`` is the number of edges per node.
    """
    # The densest set lies in the k-core with k its density, rounded up.
    near = {v: neighbours[v] for v in nodes if neighbours[v]}
    if not near:
        return None
    inside, edges = _peeled(near)
    n_edges = sum(map(len, near.values())) // 2
    if 2 * len(near) * n_edges > min(max_work, _FLOW_LIMIT):
        return Dense(tuple(sorted(inside)), edges / len(inside), exact=False)
    numbers = core_numbers_of(near, neighbours)
    while True:
        order = -(-edges // len(inside))
        kept = [v for v in near if numbers[v] >= order]
        wider = _denser(kept, near, edges, len(inside))
        count = sum(len(near[v] & wider) for v in wider) // 2
        if count * len(inside) <= edges * len(wider):
            return Dense(tuple(sorted(wider)), count / len(wider))
        inside, edges = wider, count


def _denser(
    kept: list[int], near: Mapping[int, AbstractSet[int]], p: int, q: int
) -> AbstractSet[int]:
    """The largest set that maximises q · edges - p · nodes, by a minimum cut.

    Twice the edges inside is the sum of degrees minus the edges that leave. So each node weighs q ·
    degree - 2p, and each cut pair costs q.
    """
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    place = {v: i for i, v in enumerate(kept)}
    n = len(kept)
    source, sink = n, n + 1
    rows, columns, capacities = [], [], []
    for v, i in place.items():
        around = [place[w] for w in near[v] if w in place]
        rows += [i] * len(around)
        columns += around
        capacities += [q] * len(around)
        weight = q * len(around) - 2 * p
        rows.append(source if weight > 0 else i)
        columns.append(i if weight > 0 else sink)
        capacities.append(abs(weight))
    shape = (n + 2, n + 2)
    ends = tuple(np.array(some, dtype=np.int32) for some in (rows, columns))  # for SciPy 1.12
    network = csr_array((np.array(capacities, dtype=np.int32), ends), shape=shape)
    flow = maximum_flow(network, source, sink).flow
    # Nodes with a residual path to the sink are outside; all others are inside, ties included.
    residual = csr_array(network - flow).T.tocsr()
    residual.data = np.maximum(residual.data, 0)
    residual.eliminate_zeros()
    outside = set(breadth_first_order(residual, sink, return_predecessors=False).tolist())
    return {v for v, i in place.items() if i not in outside}


def _peeled(near: Mapping[int, AbstractSet[int]]) -> tuple[AbstractSet[int], int]:
    """The densest set found while nodes with fewest neighbours are removed, and its edges."""
    from heapq import heapify, heappop, heappush

    degree = {v: len(around) for v, around in near.items()}
    heap = [(d, v) for v, d in degree.items()]
    heapify(heap)
    edges = sum(degree.values()) // 2
    best, at, gone = (edges, len(near)), 0, list[int]()
    while heap:
        d, v = heappop(heap)
        if degree.get(v) != d:
            continue
        del degree[v]
        gone.append(v)
        edges -= d
        for w in near[v]:
            if w in degree:
                degree[w] -= 1
                heappush(heap, (degree[w], w))
        if edges * best[1] > best[0] * len(degree):
            best, at = (edges, len(degree)), len(gone)
    return set(near).difference(gone[:at]), best[0]
