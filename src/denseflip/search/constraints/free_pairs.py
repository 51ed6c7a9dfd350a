"""`FreePairs`: which pairs may change, in a form that needs no list of all pairs.

Frozen regions, nodes and cells depend only on the *kinds* of the two nodes of a pair. What else
forbids a pair is a list: of the few pairs that may not change, or of the few that may.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce

import numpy as np
import numpy.typing as npt

from denseflip.graph import Cells, Codes, Graph
from denseflip.graph.lazy_pairs import NO_CODES, LazyPairs, NodePairs, RowPairs
from denseflip.graph.pairs import are_among

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FreePairs:
    """The pairs of one graph that may change.

    Attributes
    ----------
    graph : the graph.
    kinds : the kind of each node.
    meets : kind × kind, whether a pair of two such nodes may change.
    but : sorted codes of pairs that may not change even so.
    listed : sorted codes of the only pairs that may change; None if there is no such list.
    can_add, can_remove : whether pairs may be added, and removed.
    """

    graph: Graph
    kinds: Ints
    meets: Bools
    but: Codes = field(default_factory=lambda: NO_CODES)
    listed: Codes | None = None
    can_add: bool = True
    can_remove: bool = True

    @classmethod
    def all_of(cls, graph: Graph) -> FreePairs:
        """All pairs of a graph."""
        return cls(graph, np.zeros(graph.n_nodes, dtype=np.int64), np.ones((1, 1), dtype=bool))

    def both(self, other: FreePairs) -> FreePairs:
        """The pairs that may change by both."""
        size = len(other.meets)
        each, kinds = np.unique(self.kinds * size + other.kinds, return_inverse=True)
        one, two = np.divmod(each, size)
        lists = [pairs.listed for pairs in (self, other) if pairs.listed is not None]
        return replace(
            self,
            kinds=kinds.ravel(),
            meets=self.meets[np.ix_(one, one)] & other.meets[np.ix_(two, two)],
            but=np.union1d(self.but, other.but),
            listed=reduce(np.intersect1d, lists) if lists else None,
            can_add=self.can_add and other.can_add,
            can_remove=self.can_remove and other.can_remove,
        )

    def masked(self, allowed: Bools) -> FreePairs:
        """These pairs without those that a node × node array forbids."""
        free = np.triu(allowed, 1)
        if 2 * np.count_nonzero(free) <= self.graph.n_pairs:
            return replace(self, listed=np.flatnonzero(free))
        return replace(self, but=np.flatnonzero(np.triu(~np.asarray(allowed, dtype=bool), 1)))

    def renumbered(self, graph: Graph, old: Codes) -> FreePairs:
        """The same for renumbered nodes: ``old[v]`` is the old number of ``v``."""
        n, new = graph.n_nodes, np.argsort(old)

        def moved(codes: Codes) -> Codes:
            u, v = (new[ends] for ends in np.divmod(codes, max(n, 1)))
            return np.sort(np.minimum(u, v) * n + np.maximum(u, v))

        listed = None if self.listed is None else moved(self.listed)
        return replace(self, graph=graph, kinds=self.kinds[old], but=moved(self.but), listed=listed)

    def among(self, codes: Codes) -> Bools:
        """Which of these pairs may change."""
        ok = self._may_meet(codes) & ~are_among(codes, self.but)
        if self.listed is not None:
            ok &= are_among(codes, self.listed)
        if not (self.can_add and self.can_remove):
            ok &= are_among(codes, self.graph.codes) == self.can_remove
        return ok

    def _may_meet(self, codes: Codes) -> Bools:
        if len(self.meets) == 1:
            return np.full(len(codes), bool(self.meets[0, 0]))
        u, v = np.divmod(codes, max(self.graph.n_nodes, 1))
        found: Bools = self.meets[self.kinds[u], self.kinds[v]]
        return found

    # ---- pairs --------------------------------------------------------------------------

    @cached_property
    def present(self) -> Codes:
        """Sorted codes of the edges that may be removed."""
        codes = self.graph.codes
        return codes[self.among(codes)] if self.can_remove else NO_CODES

    @cached_property
    def listed_absent(self) -> Codes | None:
        """Sorted codes of the pairs that may be added, if they are listed; else None."""
        if not self.can_add:
            return NO_CODES
        if self.listed is None:
            return None
        codes = self.listed[~are_among(self.listed, self.graph.codes)]
        return codes[self.among(codes)]

    @cached_property
    def absent(self) -> Codes | LazyPairs:
        """The pairs that may be added, sorted by code."""
        if self.listed_absent is not None:
            return self.listed_absent
        every = np.arange(self.graph.n_nodes)
        return self.absent_between(every, every, self.excluded)

    @cached_property
    def excluded(self) -> Codes:
        """Sorted codes of the pairs of kinds that may meet which are joined or may not change."""
        codes = np.union1d(self.graph.codes, self.but) if len(self.but) else self.graph.codes
        return codes if self.meets.all() else codes[self._may_meet(codes)]

    def absent_between(self, one: Codes, other: Codes, without: Codes) -> LazyPairs:
        """The pairs of two disjoint sorted sets of nodes, or within one set, that may be added.

        Parameters
        ----------
        one, other : the nodes; the same array twice for the pairs within a set.
        without : those of `excluded` that lie between them.
        """
        sides = [(one, other)] if one is other else [(one, other), (other, one)]
        return self._absent(sides, without)

    def absent_touching(self, nodes: Codes, without: Codes) -> LazyPairs:
        """The pairs with at least one end in a sorted set of nodes that may be added.

        Parameters
        ----------
        nodes : the nodes.
        without : those of `excluded` that have an end there.
        """
        every = np.arange(self.graph.n_nodes)
        return self._absent([(nodes, every), (np.setdiff1d(every, nodes), nodes)], without)

    def _absent(self, sides: Sequence[tuple[Codes, Codes]], without: Codes) -> LazyPairs:
        """The pairs of lower nodes of each first set with higher nodes of the second."""
        n = self.graph.n_nodes
        rows, which = [], []
        lists: list[Codes] = []
        for mine, partners in sides:
            kinds = self.kinds[mine]
            for kind in np.unique(kinds).tolist():
                at = mine[kinds == kind]
                rows.append(at)
                which.append(np.full(len(at), len(lists), dtype=np.int64))
                lists.append(partners[self.meets[kind][self.kinds[partners]]])
        joined = np.concatenate([NO_CODES, *rows])
        order = np.argsort(joined)
        return RowPairs(n, joined[order], lists, np.concatenate([NO_CODES, *which])[order], without)

    def absent_at(self, node: int, without: Codes) -> LazyPairs:
        """The pairs of a node that may be added; ``without`` are those of `excluded` at it."""
        partners = self._partners(int(self.kinds[node]))
        return NodePairs(self.graph.n_nodes, node, partners, without)

    def _partners(self, kind: int) -> Codes:
        if kind not in self._by_kind:
            self._by_kind[kind] = np.flatnonzero(self.meets[kind][self.kinds])
        return self._by_kind[kind]

    @cached_property
    def _by_kind(self) -> dict[int, Codes]:
        return {}

    # ---- numbers ------------------------------------------------------------------------

    def count_absent_by_cell(self, cells: Cells) -> Ints:
        """How many pairs of each cell may be added."""
        if self.listed_absent is not None:
            return cells.count(self.listed_absent)
        if len(self.meets) == 1:
            sizes = cells.sizes if self.meets[0, 0] else np.zeros(len(cells), dtype=np.int64)
            return sizes - cells.count(self.excluded)
        k = len(self.meets)
        there = np.zeros((cells.n_regions, k), dtype=np.int64)
        np.add.at(there, (cells.taxonomy.array, self.kinds), 1)
        meets = self.meets.astype(np.int64)
        square = there @ meets @ there.T
        own = there @ np.diagonal(meets)  # a node does not meet itself
        inside = np.arange(cells.n_regions)
        square[inside, inside] = (square[inside, inside] - own) // 2
        sizes = np.asarray(square[np.triu_indices(cells.n_regions)])
        return sizes - cells.count(self.excluded)

    def count_absent_by_node(self) -> Ints:
        """How many pairs of each node may be added."""
        n = self.graph.n_nodes
        if self.listed_absent is not None:
            return count_ends(self.listed_absent, n)
        meets = self.meets.astype(np.int64)
        sizes = meets @ np.bincount(self.kinds, minlength=len(meets)) - np.diagonal(meets)
        return np.asarray(sizes[self.kinds] - count_ends(self.excluded, n))

    @cached_property
    def count_absent(self) -> int:
        """How many pairs may be added."""
        return int(self.count_absent_by_node().sum()) // 2


def count_ends(codes: Codes, n_nodes: int) -> Ints:
    """How many of the pairs each node has."""
    ends = np.concatenate(np.divmod(codes, max(n_nodes, 1)))
    return np.bincount(ends, minlength=n_nodes).astype(np.int64)
