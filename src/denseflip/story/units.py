"""`Units`: what a sentence can name, in the order in which it names them.

With regions a unit is a cell: a pair of regions, or one region by itself. Without regions it is a
pair of nodes if the edits are few, else a node with the edits at it; an edit is told with whichever
of its ends holds most edits, so no edit is told twice.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from denseflip.counterfactual import Counterfactual, Language
from denseflip.graph import Cells, Codes, Edits, Nodes, Taxonomy
from denseflip.graph.pairs import decode
from denseflip.search.claims.redraw_test import nodes_named

NODE_TAXONOMY = "node"
NODE_PREFIX = "node "
FEW_PAIRS = 6  # without regions, name up to this many pairs of nodes one by one

_WORD = re.compile(r"[^\W\d_]{3}")  # what tells a name from a number or a code

Unit = tuple[int, int | None]


@dataclass(frozen=True)
class Units:
    """The edits of a result, sorted into what a sentence can name.

    Attributes
    ----------
    taxonomy : the regions; of single nodes where nothing else is known.
    edits : all edits.
    hubs : whether a unit is a node with the edits at it, instead of a pair.
    centres : the nodes that a search named, in its order; empty if they are to be found.
    """

    taxonomy: Taxonomy
    edits: Edits
    hubs: bool = False
    centres: tuple[int, ...] = ()

    @classmethod
    def of(
        cls, edits: Edits, nodes: Nodes, regions: Taxonomy | None, language: Language | None = None
    ) -> Units:
        """By region if there are regions, else by node; by pair where that is the language."""
        if regions is not None:
            return cls(regions, edits)
        hubs = len(edits) > FEW_PAIRS if language is None else language == "nodes"
        return cls(node_taxonomy(nodes), edits, hubs=hubs)

    @classmethod
    def of_result(
        cls,
        result: Counterfactual,
        nodes: Nodes,
        regions: Taxonomy | None,
        language: Language | None = None,
    ) -> Units:
        """`of` its edits; where the search looked for a sentence about nodes, about the same."""
        units = cls.of(result.edits, nodes, regions, language)
        told = result.as_read
        if not units.hubs or told is None or told.language != "nodes":
            return units
        named = nodes_named(result, nodes) or nodes_named(result, None) or {}
        n = nodes.n_nodes
        steps = [{u * n + v for u, v in step.toggled} for step in result.trace]
        # In the order of the trace, so that a pair between two of them goes to the same one.
        first = {
            node: next(i for i, codes in enumerate(steps) if int(held[0]) in codes)
            for (node, _), held in named.items()
        }
        return replace(units, centres=tuple(sorted(first, key=lambda node: first[node])))

    @property
    def language(self) -> Language:
        """What is named: ``"regions"``, ``"nodes"`` or ``"pairs"``."""
        if self.taxonomy.name != NODE_TAXONOMY:
            return "regions"
        return "nodes" if self.hubs else "pairs"

    @cached_property
    def _held(self) -> dict[Unit, Codes]:
        """The edits of every unit as pair codes, in `order`; every edit is in one unit."""
        if not self.hubs:
            parts = Cells(self.taxonomy).split(self.edits, fullest_first=True)
            return {(a, b): codes for (a, b), codes in parts.items()}
        codes = np.sort(Cells(self.taxonomy).codes(self.edits))
        held: dict[Unit, Codes] = {}
        centres = iter(self.centres)
        while len(codes):
            u, v = np.divmod(codes, len(self.taxonomy.index))
            most = np.argmax(np.bincount(np.concatenate((u, v))))
            node = next(centres, int(most))
            at = (u == node) | (v == node)
            if at.any():
                held[node, None] = codes[at]
            codes = codes[~at]
        return dict(sorted(held.items(), key=lambda item: -len(item[1])))

    @property
    def order(self) -> tuple[Unit, ...]:
        """Units that hold an edit, the fullest first, ties by position."""
        return tuple(self._held)

    @property
    def parts(self) -> tuple[Codes, ...]:
        """In `order`, the codes of the edits of each unit."""
        return tuple(self._held.values())

    @cached_property
    def rows(self) -> tuple[tuple[Unit, int, int], ...]:
        """In `order`, each unit with the edges that are added and removed there."""
        added = Cells(self.taxonomy).codes(self.edits.added)
        more = {unit: int(np.isin(codes, added).sum()) for unit, codes in self._held.items()}
        return tuple((u, more[u], len(codes) - more[u]) for u, codes in self._held.items())

    def first(self, k: int) -> Edits:
        """The edits in the first ``k`` units."""
        return self.edits_in(self.order[:k])

    def edits_in(self, units: tuple[Unit, ...]) -> Edits:
        """The edits in these units; units without an edit add nothing."""
        n = len(self.taxonomy.index)
        return self.edits.only(
            pair for unit in units if unit in self._held for pair in decode(self._held[unit], n)
        )

    def holding(self, share: float) -> int:
        """How many of the first units hold this share of the edits; at least 1."""
        need = share * len(self.edits) - 1e-9
        held = accumulate(len(codes) for codes in self.parts)
        enough = (k for k, number in enumerate(held, 1) if number >= need)
        return next(enough, max(1, len(self.parts)))

    @property
    def noun(self) -> str:
        """What a unit is called."""
        if self.hubs:
            return "node"
        return "pair of nodes" if self.taxonomy.name == NODE_TAXONOMY else "region pair"


def node_taxonomy(nodes: Nodes) -> Taxonomy:
    """Every node a region of its own, called ``node …`` unless all names are words."""
    wordy = all(_WORD.search(name) for name in nodes.names)
    prefix = "" if wordy else NODE_PREFIX
    return Taxonomy.from_labels(NODE_TAXONOMY, [prefix + name for name in nodes.names])
