"""`Places`: the pairs of a graph by place, without a list of all pairs.

A place is a pair of regions, a region, a region with all regions, or a node. Its joined pairs are
taken from the edges. Its other pairs are computed from their rank when they are drawn
(`LazyPairs`), so that memory and time follow the number of edges.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import BALANCE, Counterfactual, Language
from denseflip.graph import Cells, Codes, Edits, Graph, Nodes, Taxonomy
from denseflip.graph.lazy_pairs import LazyPairs
from denseflip.graph.pairs import are_among
from denseflip.search.claims.claim import ALL_REGIONS, Amount, Amounts, Claim, Place, node_taxonomy
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.constraints.free_pairs import FreePairs, count_ends
from denseflip.search.core.probing import joined

Ints = npt.NDArray[np.int64]
_SMALL = 1 << 16  # numbers below it are sorted much faster


@dataclass(frozen=True)
class Places:
    """The places that a sentence about one graph can name, and the pairs to add or remove there.

    Arrays "by place" have one entry for each of `every`.

    Attributes
    ----------
    graph : the original.
    taxonomy : the regions; None for nodes.
    terms : the user's constraints; pairs that may not change can be neither added nor removed.
    pairwise : without regions, whether each pair of nodes is a place.
    with_all : whether the places are not pairs of regions, but each is one region with all regions:
        the pairs with at least one end in it. A pair may then lie in two places.

    Examples
    --------
    >>> lobes = Taxonomy.from_labels("lobe", ["Front", "Front", "Back", "Back"])
    >>> places = Places(Graph.from_edges(4, [(0, 1), (0, 2)]), lobes)
    >>> places.absent((0, 1)).tolist(), places.present((0, 1)).tolist()
    ([3, 6, 7], [2])
    """

    graph: Graph
    taxonomy: Taxonomy | None = None
    terms: BoundConstraints | None = field(default=None, repr=False, compare=False)
    pairwise: bool = False
    with_all: bool = False
    _absent: dict[Place, Codes | LazyPairs] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_claim(cls, graph: Graph, claim: Claim, terms: BoundConstraints | None = None) -> Places:
        """The places of a graph among which a claim names some."""
        return cls(graph, claim.regions, terms, with_all=claim.with_all)

    @property
    def language(self) -> Language:
        """``"regions"``, ``"nodes"`` or ``"pairs"``."""
        if self.taxonomy is not None:
            return "regions"
        return "pairs" if self.pairwise else "nodes"

    @cached_property
    def cells(self) -> Cells:
        """The cells of the regions; only with regions."""
        assert self.taxonomy is not None
        return Cells(self.taxonomy)

    @cached_property
    def every(self) -> tuple[Place, ...]:
        """All places that hold at least one pair."""
        n = self.graph.n_nodes
        if self.pairwise:
            return tuple((u, v) for u in range(n) for v in range(u + 1, n))
        if self.taxonomy is None:
            return tuple((v, None) for v in range(n)) if n > 1 else ()
        if self.with_all:
            k = len(self.taxonomy.regions)
            return tuple((a, k) for a in range(k))
        return tuple(self.cells.at(self._numbers))

    @cached_property
    def _numbers(self) -> Ints:
        """The numbers of the cells that hold at least one pair."""
        return np.flatnonzero(self.cells.sizes)

    def column(self, place: Place) -> int:
        """The position of a place in the arrays by place."""
        a, b = place
        if b is None or self.with_all:
            return a
        return int(self._columns[self.cells.number((a, b))])

    @cached_property
    def _columns(self) -> Ints:
        """The number of cells with pairs before each cell."""
        return np.searchsorted(self._numbers, np.arange(len(self.cells)))

    # ---- pairs --------------------------------------------------------------------------

    @cached_property
    def free(self) -> FreePairs:
        """The pairs that may change."""
        return FreePairs.all_of(self.graph) if self.terms is None else self.terms.free_pairs

    @cached_property
    def _present(self) -> PairsByPlace:
        return self.by_place(self.free.present)

    @cached_property
    def _excluded(self) -> PairsByPlace:
        """What cannot be added, unless the kinds of the nodes tell."""
        free = self.free
        return self._present if free.excluded is free.present else self.by_place(free.excluded)

    @cached_property
    def _listed(self) -> PairsByPlace | None:
        listed = self.free.listed_absent
        return None if listed is None else self.by_place(listed)

    def by_place(self, codes: Codes) -> PairsByPlace:
        """Sorted codes of pairs, by place."""
        return PairsByPlace(self, codes)

    def absent(self, place: Place) -> Codes | LazyPairs:
        """Pairs of a place that could be added, sorted."""
        known = self._absent.get(place)
        if known is None:
            known = self._absent[place] = self._find_absent(place)
        return known

    def _find_absent(self, place: Place) -> Codes | LazyPairs:
        a, b = place
        if self.taxonomy is None and b is not None:
            return self._pair(a, b, there=False)
        if self._listed is not None:
            return self._listed[place]
        if b is None:
            return self.free.absent_at(a, self._excluded[place])
        one = self.cells.taxonomy.members(a)
        if self.with_all:
            return self.free.absent_touching(one, self._excluded[place])
        other = one if a == b else self.cells.taxonomy.members(b)
        return self.free.absent_between(one, other, self._excluded[place])

    def present(self, place: Place) -> Codes:
        """Pairs of a place that could be removed, sorted."""
        a, b = place
        if self.taxonomy is None and b is not None:
            return self._pair(a, b, there=True)
        return self._present[place]

    def _pair(self, u: int, v: int, *, there: bool) -> Codes:
        """A pair of nodes that may change, if it is joined or not as wanted."""
        code = np.array([u * self.graph.n_nodes + v], dtype=np.int64)
        wanted = are_among(code, self.graph.codes) == there
        return np.asarray(code[wanted & self.free.among(code)])

    # ---- numbers ------------------------------------------------------------------------

    def tally(self, codes: Codes) -> Ints:
        """How many of the pairs lie in each place."""
        if self.taxonomy is None:
            return count_ends(codes, self.graph.n_nodes)
        if self.with_all:
            return self._by_region(self.cells.count(codes))
        return np.asarray(self.cells.count(codes)[self._numbers])

    def tally_each(self, codes: Codes, owners: Ints, n_owners: int) -> Ints:
        """How many of the pairs lie in each place, for each of several owners of pairs.

        ``owners`` holds the owner of each pair, for example the number of its graph.
        """
        if self.taxonomy is None:
            n = self.graph.n_nodes
            at = np.concatenate([owners * n + ends for ends in np.divmod(codes, max(n, 1))])
            return np.bincount(at, minlength=n_owners * n).reshape(n_owners, n)
        n = len(self.cells)
        at = owners * n + self.cells.numbers(codes)
        by_cell = np.bincount(at, minlength=n_owners * n).reshape(n_owners, n)
        if self.with_all:
            return np.stack([self._by_region(row) for row in by_cell])
        # Row by row in memory, so that sums over graphs are rounded as those of stacked counts.
        return np.ascontiguousarray(by_cell[:, self._numbers])

    def _by_region(self, by_cell: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sums of an array by cell over all cells of each region."""
        return np.asarray(self.cells.square(by_cell).sum(axis=0))

    def edges_of(self, graph: Graph) -> Ints:
        """How many edges a graph has in each place.

        A graph with node types of its own is counted by these, since it has other nodes.
        """
        own = graph.types
        if own is None or self.taxonomy is None or graph.root is self.graph.root:
            return self.tally(graph.codes)
        counts = own.count_edges(graph)
        at = {name: i for i, name in enumerate(own.names)}
        names = self.taxonomy.regions
        return np.array(
            [counts[at[names[a]], at[names[b]]] for a, b in self.every if b is not None],
            dtype=np.int64,
        )

    def edges_of_each(self, graphs: Sequence[Graph]) -> Ints:
        """How many edges several graphs have, by graph and place."""
        if any(graph.types is not None for graph in graphs):
            return np.stack([self.edges_of(graph) for graph in graphs])
        return self.tally_each(*edges_of_all(graphs), len(graphs))

    def total(self, codes: Codes, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """The sum of the values of the pairs in each place."""
        if self.taxonomy is None:
            n = self.graph.n_nodes
            ends = np.concatenate(np.divmod(codes, max(n, 1)))
            return np.asarray(np.bincount(ends, np.tile(values, 2), minlength=n), dtype=float)
        sums = np.bincount(self.cells.numbers(codes), values, minlength=len(self.cells))
        if self.with_all:
            return self._by_region(sums)
        return np.asarray(sums[self._numbers], dtype=float)

    @cached_property
    def sizes(self) -> Ints:
        """Number of pairs, by place."""
        if self.taxonomy is None:
            n = self.graph.n_nodes
            return np.full(n, n - 1, dtype=np.int64)
        if self.with_all:
            return self._by_region(self.cells.sizes)
        return np.asarray(self.cells.sizes[self._numbers])

    @cached_property
    def joined(self) -> Ints:
        """Number of joined pairs, by place."""
        return self.tally(self.graph.codes)

    @cached_property
    def addable(self) -> Ints:
        """Number of pairs that could be added, by place."""
        if self.taxonomy is None:
            return self.free.count_absent_by_node()
        by_cell = self.free.count_absent_by_cell(self.cells)
        return self._by_region(by_cell) if self.with_all else by_cell[self._numbers]

    @cached_property
    def removable(self) -> Ints:
        """Number of pairs that could be removed, by place."""
        return self.tally(self.free.present)

    def counts(self, place: Place) -> tuple[int, int]:
        """Number of pairs of a place, and of joined pairs, whether or not they may change."""
        a, b = place
        if self.taxonomy is None and b is not None:
            return 1, int(self.graph.has_edge(a, b))
        if b is not None and not self.with_all and not self.cells.sizes[self.cells.number((a, b))]:
            return 0, 0
        at = self.column(place)
        return int(self.sizes[at]), int(self.joined[at])

    # ---- edits --------------------------------------------------------------------------

    def amounts(self, edits: Edits | Codes) -> Amounts:
        """How many connections the edits add and remove in each place, largest first."""
        return self.count(self.split(edits))

    def count(self, parts: Mapping[Place, Codes]) -> Amounts:
        """How many pairs of each part are added and removed, in the order of the parts."""
        there = are_among(joined(parts.values()), self.graph.codes)
        ends = np.cumsum([0, *map(len, parts.values())])
        held = np.concatenate(([0], np.cumsum(there)))[ends]
        return tuple(
            Amount(place, len(codes) - removed, removed)
            for (place, codes), removed in zip(parts.items(), np.diff(held).tolist(), strict=True)
        )

    def split(self, edits: Edits | Codes) -> dict[Place, Codes]:
        """The pairs that the edits change, by place, largest first.

        In the language of nodes an edit is counted at the end that has more edits, so no edit is
        counted twice.
        """
        n = self.graph.n_nodes
        codes = (
            np.array([u * n + v for u, v in edits.pairs], dtype=np.int64)
            if isinstance(edits, Edits)
            else edits
        )
        if self.taxonomy is not None:
            cells = self.cells.split(codes, fullest_first=True)
            return {(a, b): held for (a, b), held in cells.items()}
        codes = np.sort(codes)
        if not self.pairwise:
            return dict(self._by_node(codes))
        return {divmod(int(code), n): codes[i : i + 1] for i, code in enumerate(codes)}

    def _by_node(self, codes: Codes) -> Iterator[tuple[Place, Codes]]:
        n = self.graph.n_nodes
        while len(codes):
            u, v = np.divmod(codes, n)
            node = int(np.argmax(np.bincount(np.concatenate((u, v)), minlength=n)))
            at = (u == node) | (v == node)
            yield (node, None), codes[at]
            codes = codes[~at]


def edges_of_all(graphs: Sequence[Graph]) -> tuple[Codes, Ints]:
    """The edges of several graphs, one graph after the other, and the position of their graph."""
    codes = [graph.codes for graph in graphs]
    return joined(codes), np.repeat(np.arange(len(codes)), [len(some) for some in codes])


class PairsByPlace:
    """Sorted codes of pairs, grouped by place when a place is first asked for.

    A pair belongs to both of its nodes, and to both of its regions if the places are regions with
    all regions.
    """

    def __init__(self, places: Places, codes: Codes) -> None:
        self._places, self.codes = places, codes

    @cached_property
    def _groups(self) -> tuple[Codes, Ints]:
        """The codes, place after place, and where each place begins."""
        places, codes = self._places, self.codes
        if places.taxonomy is None:
            n = max(places.graph.n_nodes, 1)
            low, high = np.divmod(codes, n)
            # Pairs with a lower node come first: then the codes of each node are sorted.
            owners, codes, size = np.concatenate((high, low)), np.concatenate((codes, codes)), n
        elif places.with_all:
            size = len(places.taxonomy.regions)
            one, other = places.taxonomy.array[np.array(np.divmod(codes, places.graph.n_nodes))]
            owners = np.stack((one, np.where(one == other, -1, other)), axis=1).ravel()
            codes = np.repeat(codes, 2)[owners >= 0]  # sorted, so those of each region are, too
            owners = owners[owners >= 0]
        else:
            owners, size = places.cells.numbers(codes), len(places.cells)
        if size <= _SMALL:
            owners = owners.astype(np.uint16)
        begins = np.concatenate(([0], np.cumsum(np.bincount(owners, minlength=size))))
        return codes[np.argsort(owners, kind="stable")], begins

    def __getitem__(self, place: Place) -> Codes:
        a, b = place
        places = self._places
        at = a if b is None or places.with_all else places.cells.number((a, b))
        codes, begins = self._groups
        return codes[begins[at] : begins[at + 1]]


def whole_claim(
    result: Counterfactual,
    language: Language,
    regions: Taxonomy | None = None,
    nodes: Nodes | None = None,
) -> tuple[Claim, tuple[Codes, ...]]:
    """All changes of a result as a claim, and the pairs changed in each of its places.

    If the search looked for a claim about nodes, the nodes are those that it named.

    Parameters
    ----------
    result : the result of a search. If that search kept the number of edges, the claim has the
        places that it named; the pairs elsewhere are added to those of the last place.
    language : what a place is.
    regions : the regions, for the language ``"regions"``.
    nodes : the names of the nodes, for the other languages.
    """
    stated = result.as_read
    parts: dict[Place, Codes] | None = None
    if language == "nodes" and stated is not None and stated.language == "nodes":
        parts = nodes_named(result, nodes) or nodes_named(result, None)
    regions = regions if language == "regions" else None
    wide = None if regions is None else _named_with_all(result, regions)
    places = Places(
        result.original, regions, pairwise=language == "pairs", with_all=wide is not None
    )
    if wide is not None:
        parts = {wide: places.by_place(_codes(result))[wide]}
    parts = parts or places.split(result.edits)
    names = places.taxonomy or node_taxonomy(nodes or Nodes.numbered(result.original.n_nodes))
    claim = Claim(places.count(parts), result.label_after, language, names)
    held = tuple(parts.values())
    if stated is None or not stated.balanced or stated.language != language:
        return claim, held
    if language == "regions" and claim.taxonomy.name != stated.regions:
        return claim, held
    named = {frozenset(name) for name in stated.places}
    chosen = [i for i, name in enumerate(claim.place_names) if frozenset(name) in named]
    if len(chosen) != len(stated.places):
        return claim, held
    claim = replace(claim.only(chosen, claim.label), balanced=True)
    *first, last = (held[i] for i in chosen)
    others = np.setdiff1d(_codes(result), joined((*first, last)))
    return claim, (*first, np.sort(joined((last, others))))


def in_cells(result: Counterfactual, claim: Claim) -> Amounts:
    """The amounts of a claim about one region with all regions, by pair of regions."""
    codes = Places.of_claim(result.original, claim).by_place(_codes(result))[claim.places[0]]
    return Places(result.original, claim.regions).amounts(codes)


def _named_with_all(result: Counterfactual, regions: Taxonomy) -> Place | None:
    """The region that a search named with all regions; None if it named none."""
    stated = result.as_read
    if stated is None or stated.regions != regions.name or len(stated.places) != 1:
        return None
    name, *other = stated.places[0]
    if other != [ALL_REGIONS] or name not in regions.regions or ALL_REGIONS in regions.regions:
        return None
    return regions.regions.index(name), len(regions.regions)


def _codes(result: Counterfactual) -> Codes:
    """Sorted codes of the pairs that a result changes."""
    n = result.original.n_nodes
    return np.array([u * n + v for u, v in sorted(result.edits.pairs)], dtype=np.int64)


def nodes_named(result: Counterfactual, nodes: Nodes | None) -> dict[Place, Codes] | None:
    """The nodes that a search named, read from its trace, largest first; None if it named none.

    An edit has two ends, so the edits alone do not determine which node was meant.
    """
    n = result.original.n_nodes
    names = {name: i for i, name in enumerate(nodes.names)} if nodes is not None else {}
    parts: dict[Place, list[int]] = {}
    changed: list[int] = []
    for step in result.trace:
        codes = [u * n + v for u, v in step.toggled]
        changed += codes
        if step.block == BALANCE:
            continue
        node = names.get(step.name)
        if node is None and step.name.isdecimal() and nodes is None:
            node = int(step.name)
        if node is None or any(node not in pair for pair in step.toggled):
            return None
        parts.setdefault((node, None), []).extend(codes)
    if not np.array_equal(np.sort(changed), _codes(result)):
        return None
    held = {place: np.sort(np.array(codes, dtype=np.int64)) for place, codes in parts.items()}
    return dict(sorted(held.items(), key=lambda item: -len(item[1])))
