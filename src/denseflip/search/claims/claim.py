"""`Claim`: what an explanation says: how many connections change, where, and of which kind.

A claim names places and amounts, not single connections. It is the common value of search,
sentence, page, what-if panel, cohort and file. `Places` has the pairs of a graph by place;
`redraw` tests a claim on other connections in the same places.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from denseflip.counterfactual import Label, Language, Reading
from denseflip.graph import Nodes, Taxonomy
from denseflip.graph.readable_names import NODE_PREFIX, NODE_TAXONOMY

# Two regions, the lower number first, or the same region twice; a region and the number of regions
# for that region with all regions, itself included; a node and None for all pairs of that node; in
# the language "pairs", two nodes.
Place = tuple[int, int | None]
ALL_REGIONS = "all regions"
Change = Literal["less", "more", "mixed"]
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
    def with_all(self) -> bool:
        """Whether its place is one region with all regions."""
        return any(is_with_all(place, self.regions) for place in self.places)

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
        return tuple(map(frozenset, self.place_names))

    @property
    def place_names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the regions, or of the node, of each place."""
        names = (*self.taxonomy.regions, ALL_REGIONS)
        return tuple(tuple(names[r] for r in place if r is not None) for place in self.places)

    def name(self, place: Place) -> str:
        """The name of a place: ``"Front – Back"``, or ``"Front"`` for one region or node."""
        a, b = place
        names = (*self.taxonomy.regions, ALL_REGIONS)
        return names[a] if b is None or a == b else f"{names[a]} – {names[b]}"

    def only(self, chosen: Sequence[int], label: Label) -> Claim:
        """The claim reduced to the places at these positions, with the label they lead to."""
        return replace(self, amounts=tuple(self.amounts[i] for i in chosen), label=label)

    # ---- files ----------------------------------------------------------------------------

    def rows(self) -> tuple[ClaimRow, ...]:
        """The amounts with the names of their places, as in files."""
        names = (*self.taxonomy.regions, ALL_REGIONS)
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
        position = {
            name: i for i, name in reversed(list(enumerate((*taxonomy.regions, ALL_REGIONS))))
        }
        amounts = []
        for row in rows:
            a = position[row.region_a]
            b = None if row.region_b is None else position[row.region_b]
            place = (a, b) if b is None or a <= b else (b, a)
            amounts.append(Amount(place, row.added, row.removed))
        return cls(tuple(amounts), label, language, taxonomy, reading, balanced)


def is_with_all(place: Place, taxonomy: Taxonomy | None) -> bool:
    """Whether a place is one region with all regions, of which there are at least three."""
    return taxonomy is not None and place[1] == len(taxonomy.regions) > 2


def node_taxonomy(nodes: Nodes) -> Taxonomy:
    """A taxonomy with one region per node, named ``node …`` unless all names are words."""
    wordy = all(_WORD.search(name) for name in nodes.names)
    prefix = "" if wordy else NODE_PREFIX
    return Taxonomy.from_labels(NODE_TAXONOMY, [prefix + name for name in nodes.names])
