"""Communities: a partition of the nodes with many edges inside its parts, by modularity."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from importlib.util import find_spec

from denseflip.errors import MissingExtraError
from denseflip.graph.cliques import Check, Neighbours

_ALL_PARTITIONS = 7  # up to this many nodes with edges, all partitions (877) are tried


def communities(
    nodes: Iterable[int],
    neighbours: Neighbours,
    *,
    by: str = "louvain",
    resolution: float = 1.0,
    seed: int = 0,
    check: Check | None = None,
) -> list[tuple[int, ...]]:
    """Communities of the nodes that have an edge, each sorted, ordered by their first node.

    For up to 7 such nodes, all partitions are tried, and the first with the largest modularity is
    returned. Otherwise Louvain or Leiden, which are not guaranteed to be optimal.

    Parameters
    ----------
    nodes, neighbours : the graph.
    by : ``"louvain"`` (NetworkX), ``"leiden"`` (needs igraph), or ``"auto"``: Leiden if igraph is
        installed, else Louvain.
    resolution : above 1 for more and smaller communities, below 1 for fewer.
    seed : the seed for the random order of nodes in both methods.
    check : called between rounds of Louvain; may raise to stop the search.

    Examples
    --------
    >>> two = [{1, 2}, {0, 2}, {0, 1, 3}, {2, 4, 5}, {3, 5}, {3, 4}]
    >>> communities(range(6), two)
    [(0, 1, 2), (3, 4, 5)]
    """
    kept = [v for v in sorted(nodes) if neighbours[v]]
    if by == "auto":
        by = "leiden" if has_igraph() else "louvain"
    parts: Iterable[Iterable[int]]
    if len(kept) <= _ALL_PARTITIONS:
        parts = max(_partitions(kept), key=lambda p: modularity(p, neighbours, resolution))
    elif by == "leiden":
        parts = _leiden(kept, neighbours, resolution, seed)
    else:
        parts = _louvain(kept, neighbours, resolution, seed, check)
    return sorted(tuple(sorted(part)) for part in parts)


def has_igraph() -> bool:
    """Whether igraph, which provides Leiden, is installed."""
    return find_spec("igraph") is not None


def _louvain(
    kept: Sequence[int],
    neighbours: Neighbours,
    resolution: float,
    seed: int,
    check: Check | None,
) -> Iterable[Iterable[int]]:
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(kept)
    graph.add_edges_from((u, v) for u in kept for v in sorted(neighbours[u]) if u < v)
    found: Iterable[Iterable[int]] = ()
    for parts in nx.community.louvain_partitions(graph, resolution=resolution, seed=seed):
        found = parts
        if check is not None:
            check()
    return found


def _leiden(
    kept: Sequence[int], neighbours: Neighbours, resolution: float, seed: int
) -> Iterable[Iterable[int]]:
    if not has_igraph():
        raise MissingExtraError("igraph", "leiden")
    import random

    import igraph

    place = {v: i for i, v in enumerate(kept)}
    graph = igraph.Graph(
        len(kept), [(place[u], place[v]) for u in kept for v in sorted(neighbours[u]) if u < v]
    )
    igraph.set_random_number_generator(random.Random(seed))
    try:
        found = graph.community_leiden("modularity", resolution=resolution, n_iterations=-1)
    finally:
        igraph.set_random_number_generator(random)
    return [[kept[i] for i in part] for part in found]


def modularity(
    parts: Iterable[Iterable[int]], neighbours: Neighbours, resolution: float = 1.0
) -> Fraction:
    """Share of edges inside the parts, minus the share expected by degree; 0 without edges.

    >>> modularity([(0, 1, 2), (3, 4, 5)], [{1, 2}, {0, 2}, {0, 1}, {4, 5}, {3, 5}, {3, 4}])
    Fraction(1, 2)
    """
    sets = [set(part) for part in parts]
    ends = sum(len(neighbours[v]) for part in sets for v in part)
    if not ends:
        return Fraction(0)
    total = Fraction(0)
    for part in sets:
        inside = sum(len(neighbours[v] & part) for v in part)
        degrees = sum(len(neighbours[v]) for v in part)
        total += Fraction(inside, ends) - Fraction(resolution) * Fraction(degrees, ends) ** 2
    return total


def _partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    if not items:
        yield []
        return
    *rest, last = items
    for parts in _partitions(rest):
        for i, part in enumerate(parts):
            yield [*parts[:i], [*part, last], *parts[i + 1 :]]
        yield [*parts, [last]]
