"""`Units`: what a sentence can name, in the order in which it names them.

With regions a unit is a cell: a pair of regions, or one region by itself. Without regions it is a
pair of nodes if the edits are few, else a node with all the edits at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from denseflip.graph import Edits, Nodes, Pair, Taxonomy
from denseflip.story.regions import RegionTable

NODE_TAXONOMY = "node"
NODE_PREFIX = "node "
FEW_PAIRS = 6  # without regions, name up to this many pairs of nodes one by one

Unit = tuple[int, int | None]


@dataclass(frozen=True)
class Units:
    """The edits of a result, sorted into what a sentence can name.

    Attributes
    ----------
    taxonomy : the regions; of single nodes where nothing else is known.
    edits : all edits.
    hubs : whether a unit is a node with all edits at it, instead of a pair.
    """

    taxonomy: Taxonomy
    edits: Edits
    hubs: bool = False

    @classmethod
    def of(cls, edits: Edits, nodes: Nodes, taxonomy: Taxonomy | None) -> Units:
        """By region if there are regions, else by node."""
        if taxonomy is not None:
            return cls(taxonomy, edits)
        return cls(node_taxonomy(nodes), edits, hubs=len(edits) > FEW_PAIRS)

    @cached_property
    def order(self) -> tuple[Unit, ...]:
        """Units that hold an edit, the fullest first, ties by position."""
        if not self.hubs:
            return RegionTable(self.taxonomy, self.edits).cells
        ranked = sorted(self._members.items(), key=lambda item: (-len(item[1]), item[0][0]))
        return tuple(unit for unit, _ in ranked)

    @cached_property
    def _members(self) -> dict[Unit, list[Pair]]:
        index = self.taxonomy.index
        members: dict[Unit, list[Pair]] = {}
        for pair in self.edits.pairs:
            a, b = sorted((index[pair[0]], index[pair[1]]))
            for unit in ((a, None), (b, None)) if self.hubs else ((a, b),):
                members.setdefault(unit, []).append(pair)
        return members

    def edits_of(self, i: int) -> Edits:
        """The edits in the unit at this place of the order."""
        return self.edits.only(self._members[self.order[i]])

    def first(self, k: int) -> Edits:
        """The edits in the first ``k`` units."""
        return self.edits_in(self.order[:k])

    def holding(self, share: float) -> int:
        """How many of the first units hold this share of the edits; at least 1."""
        need = share * len(self.edits) - 1e-9
        held: set[Pair] = set()
        for k, unit in enumerate(self.order, 1):
            held.update(self._members[unit])
            if len(held) >= need:
                return k
        return max(1, len(self.order))

    @property
    def noun(self) -> str:
        """What a unit is called."""
        if self.hubs:
            return "node"
        return "pair of nodes" if self.taxonomy.name == NODE_TAXONOMY else "region pair"

    def edits_in(self, units: tuple[Unit, ...]) -> Edits:
        """The edits in these units; units without an edit add nothing."""
        return self.edits.only(p for unit in units for p in self._members.get(unit, ()))


def node_taxonomy(nodes: Nodes) -> Taxonomy:
    """Every node a region of its own, called ``node …``."""
    return Taxonomy.from_labels(NODE_TAXONOMY, [NODE_PREFIX + name for name in nodes.names])
