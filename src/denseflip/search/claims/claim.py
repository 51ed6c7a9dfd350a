"""`Claim`: what an explanation says: how many connections change, where, and of which kind.

A claim names places and amounts, not single connections. It is the common value of search,
sentence, page, what-if panel, cohort and file. `Places` lists the pairs of a graph by place;
`redraw` tests a claim on other connections in the same places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from denseflip.counterfactual import BALANCE, Counterfactual, Label, Language, Reading
from denseflip.graph import Cells, Codes, Edits, Graph, Nodes, Taxonomy
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.core.probing import joined

# Two regions, the lower number first, or the same region twice; a node and None for all pairs of
# that node; in the language "pairs", two nodes.
Place = tuple[int, int | None]
Change = Literal["less", "more", "mixed"]
NODE_TAXONOMY = "node"
NODE_PREFIX = "node "
_WORD = re.compile(r"[^\W\d_]{3}")  # distinguishes a name from a number or a code


class Amount(NamedTuple):
    """How many connections are added and removed in one place."""

    place: Place
    added: int
    removed: int

    @property
    def total(self) -> int:
        """Number of connections changed in this place."""
        return self.added + self.removed

    @property
    def change(self) -> Change:
        """``"less"`` (only removed), ``"more"`` (only added) or ``"mixed"``."""
        if self.added and self.removed:
            return "mixed"
        return "more" if self.added else "less"


Amounts = tuple[Amount, ...]


def net(amounts: Iterable[Amount]) -> int:
    """How many connections more there are in all places together."""
    return sum(amount.added - amount.removed for amount in amounts)


class ClaimRow(NamedTuple):
    """An `Amount` in a file: its place by name."""

    region_a: str
    region_b: str | None
    added: int
    removed: int
    change: Change


def total(amounts: Iterable[Amount]) -> int:
    """Number of connections changed in all places together."""
    return sum(amount.total for amount in amounts)


@dataclass(frozen=True)
class Claim:
    """What an explanation says: places with amounts, and which connections are meant.

    Attributes
    ----------
    amounts : the places with their amounts, the largest first.
    label : the label that the change leads to.
    language : what a place is: ``"regions"`` (two regions, or one by itself), ``"nodes"`` (a node
        with all its pairs) or ``"pairs"`` (two nodes).
    taxonomy : the regions, or one region per node (`node_taxonomy`).
    reading : which connections of a place are meant, ``"any"``, ``"typical"`` or
        ``"distinctive"``; see `AsRead`.
    balanced : whether connections in other places change as well, so that the number of edges of
        the whole graph stays the same.

    Examples
    --------
    >>> lobes = Taxonomy.from_labels("lobe", ["Front", "Front", "Back", "Back"])
    >>> claim = Claim((Amount((0, 1), 3, 0), Amount((1, 1), 0, 1)), "ill", "regions", lobes)
    >>> claim.total, [f"{claim.name(place)}: {more} more, {less} fewer"
    ...               for place, more, less in claim.amounts]
    (4, ['Front – Back: 3 more, 0 fewer', 'Back: 0 more, 1 fewer'])
    """

    amounts: Amounts
    label: Label
    language: Language
    taxonomy: Taxonomy
    reading: Reading = "any"
    balanced: bool = False

    @property
    def elsewhere(self) -> int:
        """How many connections are added in other places; a negative number is removed there."""
        return -net(self.amounts) if self.balanced else 0

    @property
    def places(self) -> tuple[Place, ...]:
        """The places, in order."""
        return tuple(amount.place for amount in self.amounts)

    @property
    def total(self) -> int:
        """Number of connections changed in all places together."""
        return total(self.amounts)

    @property
    def regions(self) -> Taxonomy | None:
        """The regions of a claim about regions; None for nodes or pairs."""
        return self.taxonomy if self.language == "regions" else None

    @property
    def spoken(self) -> str:
        """The language, with the name of the regions: ``"regions (lobe)"``."""
        return f"regions ({self.taxonomy.name})" if self.language == "regions" else self.language

    @property
    def region_sets(self) -> tuple[frozenset[str], ...]:
        """The region names of each place, in order; empty for nodes or pairs."""
        if self.language != "regions":
            return ()
        names = self.taxonomy.regions
        return tuple(frozenset(names[r] for r in place if r is not None) for place in self.places)

    @property
    def place_names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the regions, or of the node, of each place."""
        names = self.taxonomy.regions
        return tuple(tuple(names[r] for r in place if r is not None) for place in self.places)

    def name(self, place: Place) -> str:
        """The name of a place: ``"Front – Back"``, or ``"Front"`` for one region or node."""
        a, b = place
        names = self.taxonomy.regions
        return names[a] if b is None or a == b else f"{names[a]} – {names[b]}"

    def only(self, chosen: Sequence[int], label: Label) -> Claim:
        """The claim reduced to the places at these positions, with the label they lead to."""
        return replace(self, amounts=tuple(self.amounts[i] for i in chosen), label=label)

    # ---- files ----------------------------------------------------------------------------

    def rows(self) -> tuple[ClaimRow, ...]:
        """The amounts with the names of their places, as in files."""
        names = self.taxonomy.regions
        return tuple(
            ClaimRow(names[a], None if b is None else names[b], x.added, x.removed, x.change)
            for x in self.amounts
            for a, b in [x.place]
        )

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[ClaimRow],
        label: Label,
        language: Language,
        taxonomy: Taxonomy,
        reading: Reading = "any",
        balanced: bool = False,
    ) -> Claim:
        """Inverse of `rows`; raises a `KeyError` for a name that the taxonomy does not have."""
        position = {name: i for i, name in enumerate(taxonomy.regions)}
        amounts = []
        for row in rows:
            a = position[row.region_a]
            b = None if row.region_b is None else position[row.region_b]
            place = (a, b) if b is None or a <= b else (b, a)
            amounts.append(Amount(place, row.added, row.removed))
        return cls(tuple(amounts), label, language, taxonomy, reading, balanced)


def node_taxonomy(nodes: Nodes) -> Taxonomy:
    """A taxonomy with one region per node, named ``node …`` unless all names are words."""
    wordy = all(_WORD.search(name) for name in nodes.names)
    prefix = "" if wordy else NODE_PREFIX
    return Taxonomy.from_labels(NODE_TAXONOMY, [prefix + name for name in nodes.names])


@dataclass(frozen=True)
class Places:
    """The places that a sentence about one graph can name, and the pairs to add or remove there.

    Attributes
    ----------
    graph : the original.
    taxonomy : the regions; None for nodes.
    terms : the user's constraints; pairs that may not change can be neither added nor removed.
    pairwise : without regions, whether each pair of nodes is a place.

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
    _absent: dict[Place, Codes] = field(default_factory=dict, repr=False, compare=False)
    _present: dict[Place, Codes] = field(default_factory=dict, repr=False, compare=False)
    _sizes: dict[Place, tuple[int, int]] = field(default_factory=dict, repr=False, compare=False)

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
        return tuple(self.cells.at(np.flatnonzero(self.cells.sizes)))

    def members(self, place: Place) -> Codes:
        """Sorted codes of all pairs of a place, joined or not."""
        a, b = place
        n = self.graph.n_nodes
        if b is not None:
            if self.taxonomy is None:
                return np.array([a * n + b], dtype=np.int64)
            return self.cells.members((a, b))
        others = np.delete(np.arange(n, dtype=np.int64), a)
        codes: Codes = np.minimum(others, a) * n + np.maximum(others, a)
        return np.sort(codes)

    def absent(self, place: Place) -> Codes:
        """Pairs of a place that could be added."""
        self._sort_out(place)
        return self._absent[place]

    def present(self, place: Place) -> Codes:
        """Pairs of a place that could be removed."""
        self._sort_out(place)
        return self._present[place]

    def counts(self, place: Place) -> tuple[int, int]:
        """Number of pairs of a place, and of joined pairs, whether or not they may change."""
        self._sort_out(place)
        return self._sizes[place]

    def _sort_out(self, place: Place) -> None:
        if place not in self._absent:
            members = self.members(place)
            there = np.isin(members, self.graph.codes, assume_unique=True)
            self._sizes[place] = (len(members), int(there.sum()))
            if self.terms is not None:
                free = self.terms.may_change(members)
                members, there = members[free], there[free]
            self._absent[place], self._present[place] = members[~there], members[there]

    def amounts(self, edits: Edits | Codes) -> Amounts:
        """How many connections the edits add and remove in each place, largest first."""
        return self.count(self.split(edits))

    def count(self, parts: Mapping[Place, Codes]) -> Amounts:
        """How many pairs of each part are added and removed, in the order of the parts."""
        there = np.isin(joined(parts.values()), self.graph.codes)
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
    places = Places(
        result.original, regions if language == "regions" else None, pairwise=language == "pairs"
    )
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
