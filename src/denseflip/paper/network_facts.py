"""Properties of the networks of a data set, for the paper's claims about its data sets."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from denseflip.graph import Graph
from denseflip.graph.cliques import maximal_cliques_through
from denseflip.graph.density import NeighbourSets, count_triangles


@dataclass(frozen=True)
class Networks:
    """The graphs of one data set; shares are in percent, averaged over the graphs."""

    graphs: Sequence[Graph]

    @cached_property
    def in_triangles(self) -> float:
        """Share of nodes in a triangle."""
        return self._mean(lambda g: (int((count_triangles(g) > 0).sum()), g.n_nodes))

    @cached_property
    def closed(self) -> float:
        """Transitivity: share of paths of two edges whose ends are joined."""
        return self._mean(_closed)

    @cached_property
    def edges(self) -> float:
        """Share of maximal cliques of at least two nodes that are single edges."""
        return self._mean(_edges)

    def _mean(self, count: Callable[[Graph], tuple[int, int]]) -> float:
        """The mean share over the graphs with a non-zero denominator."""
        counted = [count(graph) for graph in self.graphs]
        return statistics.fmean(100 * part / whole for part, whole in counted if whole)


def _closed(graph: Graph) -> tuple[int, int]:
    degrees = graph.degrees()
    return int(count_triangles(graph).sum()), int((degrees * (degrees - 1) // 2).sum())


def _edges(graph: Graph) -> tuple[int, int]:
    near = NeighbourSets(graph)
    cliques = {c for node in range(graph.n_nodes) for c in maximal_cliques_through(node, near)}
    return sum(len(clique) == 2 for clique in cliques), len(cliques)
