"""Tiny graphs with a name, for tests whose answer a person can check."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from denseflip.graph import Graph, Nodes, Pair


def clique(*nodes: int) -> list[Pair]:
    """All pairs of these nodes."""
    return list(combinations(sorted(nodes), 2))


def graph(n_nodes: int, *parts: Iterable[Pair]) -> Graph:
    """A graph of several lists of edges; an edge may be in more than one of them."""
    return Graph.from_edges(n_nodes, sorted({pair for part in parts for pair in part}))


def empty(n_nodes: int = 5) -> Graph:
    """No edge at all."""
    return graph(n_nodes)


def complete(n_nodes: int = 5) -> Graph:
    """Every edge."""
    return graph(n_nodes, clique(*range(n_nodes)))


def triangle_with_tail() -> Graph:
    """0-1-2 a triangle, 2-3 a tail, 4 alone: 5 nodes, 4 edges."""
    return graph(5, clique(0, 1, 2), [(2, 3)])


def two_cliques() -> Graph:
    """A clique of 4 (0-3) and a triangle (4-6) joined by 3-4; 7 alone: 8 nodes, 10 edges."""
    return graph(8, clique(0, 1, 2, 3), clique(4, 5, 6), [(3, 4)])


def path(n_nodes: int = 6) -> Graph:
    """0-1-2-…"""
    return graph(n_nodes, [(i, i + 1) for i in range(n_nodes - 1)])


def star(n_nodes: int = 6) -> Graph:
    """Node 0 joined with all others."""
    return graph(n_nodes, [(0, i) for i in range(1, n_nodes)])


def halves(n_nodes: int) -> Nodes:
    """The first half of the nodes is "Left", the rest "Right"; even ones "Even", others "Odd"."""
    side = tuple("Left" if 2 * v < n_nodes else "Right" for v in range(n_nodes))
    parity = tuple("Odd" if v % 2 else "Even" for v in range(n_nodes))
    names = tuple(f"node {v}" for v in range(n_nodes))
    return Nodes(names, regions={"side": side, "parity": parity})


def subsets_with(node: int, nodes: Iterable[int]) -> Iterator[set[int]]:
    """Every set of these nodes that has the node, the largest first."""
    others = sorted(set(nodes) - {node})
    for size in range(len(others), -1, -1):
        for rest in combinations(others, size):
            yield {node, *rest}
