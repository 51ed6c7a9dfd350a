"""`Frozen`: the regions, nodes, cells and pairs that ``freeze`` names, looked up."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.constraints import is_number
from denseflip.errors import (
    DenseflipError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
    nearest,
    shown,
)
from denseflip.graph import Graph, Nodes, Taxonomy
from denseflip.graph.nodes import CROSS
from denseflip.graph.readable_names import NODE_PREFIX, SIDE_TAXONOMIES, readable
from denseflip.graph.readable_names import NODE_TAXONOMY as NODE
from denseflip.search.constraints.free_pairs import FreePairs

Bools = npt.NDArray[np.bool_]
CROSSES = (" x ", " – ", " × ", " & ")  # between two regions of a cell: typed, or as on a page
_MANY = 40  # names that an error lists; of more the nearest, and those of the first taxonomy


class _Names:
    """The regions of a taxonomy by their names in the node table and in sentences."""

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.name = taxonomy.name
        self.taxonomy = taxonomy
        self.own = {region.lower() for region in taxonomy.regions}
        self.numbers: dict[str, set[int]] = {}
        for names in (taxonomy.regions, readable(taxonomy)):
            for number, own in enumerate(names):
                self.numbers.setdefault(own.lower(), set()).add(number)

    def named(self, name: str) -> list[tuple[str, Bools]]:
        """The full name and the nodes of every region of this name."""
        asked = name.lower()
        plain = asked.removeprefix("“").removesuffix("”").removeprefix("the ")
        if self.name == NODE:
            plain = plain.removeprefix(NODE_PREFIX)
        found = self.numbers.get(asked) or self.numbers.get(plain, set())
        regions, array = self.taxonomy.regions, self.taxonomy.array
        return [(f"{self.name}: {regions[i]}", np.asarray(array == i)) for i in sorted(found)]


class Frozen:
    """Frozen nodes, cells and pairs, with the names looked up."""

    def __init__(
        self, names: tuple[Any, ...], regions: str | None, nodes: Nodes | None, n_nodes: int
    ) -> None:
        self.n_nodes = n_nodes
        self.nodes = nodes
        self.taxonomies = []
        if nodes is not None and nodes.regions:
            wanted = nodes.taxonomies if regions is None else (regions,)
            self.taxonomies = [nodes.taxonomy(name) for name in wanted]
        self.frozen = np.zeros(n_nodes, dtype=bool)
        self.blocks: list[tuple[Bools, Bools]] = []
        pairs: set[int] = set()
        for name in names:
            if is_number(name):
                self.frozen[self._node(int(name))] = True
            elif isinstance(name, (tuple, list)) and len(name) == 3:
                self.blocks.append(self._cell(*name))
            elif isinstance(name, (tuple, list)) and len(name) == 2:
                u, v = sorted(self._end(end) for end in name)
                pairs.add(u * n_nodes + v)
            elif isinstance(name, str):
                self._take(name)
            else:
                msg = f"freeze names regions, nodes, cells or pairs; got {shown(name)}."
                raise InvalidParameterError(msg, parameter="freeze")
        self.pairs = np.array(sorted(pairs), dtype=np.int64)

    def others(self, graph: Graph) -> FreePairs:
        """The pairs that are not frozen."""
        sides = [self.frozen, *(side for block in self.blocks for side in block)]
        each, kinds = np.unique(np.stack(sides, axis=1), axis=0, return_inverse=True)
        meets = ~(each[:, None, 0] | each[None, :, 0])
        for a in range(1, len(sides), 2):
            one, other = each[:, a], each[:, a + 1]
            meets &= ~((one[:, None] & other) | (other[:, None] & one))
        return FreePairs(graph, kinds.ravel(), meets, self.pairs)

    def _cell(self, taxonomy: Any, one: Any, other: Any) -> tuple[Bools, Bools]:
        """The nodes of two regions of a taxonomy, by their exact names."""
        if self.nodes is None:
            raise self._unknown(str(one))
        found = self.nodes.taxonomy(taxonomy)
        for region in (one, other):
            if region not in found.regions:
                raise UnknownNameError("region", str(region), found.regions, parameter="freeze")
        a, b = (np.asarray(found.array == found.regions.index(end)) for end in (one, other))
        return a, b

    def _take(self, name: str) -> None:
        inside = self._members(name)
        if inside is not None:
            self.frozen |= inside
            return
        for cross in CROSSES:
            ends = [part.strip() for part in name.split(cross)]
            if len(ends) == 2:
                sides = [(end, self._members(end)) for end in ends]
                for end, side in sides:
                    if side is None:
                        raise self._unknown(end)
                self.blocks.append((sides[0][1], sides[1][1]))  # type: ignore[arg-type]
                return
        raise self._unknown(name)

    def _members(self, name: str) -> Bools | None:
        """The nodes of a name: a region of any taxonomy, or one node.

        A name may be written as in the node table or as in a sentence.
        """
        found = [x for table in self._tables for x in table.named(name)]
        if not any(name.lower() in table.own for table in self._tables):
            found += [x for table in self._sided for x in table.named(name)]
        if not found and ":" in name:  # "node: name", or the taxonomy and the region in it
            which, _, region = (part.strip() for part in name.partition(":"))
            for table in (*self._tables[-1:], *self._tables, *self._crossed(which)):
                if table.name.lower() == which.lower() and (one := table.named(region)):
                    return one[0][1]
        if not found and name.isdecimal() and name.isascii():  # a number typed on a command line
            return np.asarray(np.arange(self.n_nodes) == self._node(int(name)))
        if any(not np.array_equal(found[0][1], other) for _, other in found[1:]):
            places = " or ".join(repr(where) for where, _ in found)
            msg = f"{name!r} is ambiguous. Choose one of: {places}."
            raise InvalidParameterError(msg, parameter="freeze")
        return found[0][1] if found else None

    @cached_property
    def _tables(self) -> list[_Names]:
        """The names of every taxonomy, and last those of the nodes."""
        nodes = () if self.nodes is None else (Taxonomy.from_labels(NODE, self.nodes.names),)
        return [_Names(taxonomy) for taxonomy in (*self.taxonomies, *nodes)]

    @cached_property
    def _sided(self) -> list[_Names]:
        """Every taxonomy crossed with the hemispheres, for names such as left Frontal Lobe."""
        own = [taxonomy.name for taxonomy in self.taxonomies]
        sides = [name for name in own if name.lower() in SIDE_TAXONOMIES]
        crosses = [f"{a}{CROSS}{b}" for a in own for b in sides if a != b]
        return [table for cross in crosses for table in self._crossed(cross)]

    def _crossed(self, name: str) -> list[_Names]:
        """The taxonomy that crosses several, as in ``lobe*hemisphere``; empty if there is none."""
        own = {taxonomy.name.lower(): taxonomy.name for taxonomy in self.taxonomies}
        parts = [own.get(part.strip()) for part in name.lower().split(CROSS)]
        if self.nodes is None or len(parts) < 2 or None in parts:
            return []
        return [_Names(self.nodes.taxonomy(CROSS.join(part for part in parts if part)))]

    def _end(self, end: Any) -> int:
        if is_number(end):
            return self._node(int(end))
        if isinstance(end, str) and self.nodes is not None and end in self.nodes.names:
            return self.nodes.names.index(end)
        raise self._unknown(str(end))

    def _node(self, number: int) -> int:
        if not 0 <= number < self.n_nodes:
            msg = f"freeze: there is no node {number}; the graph has nodes 0 to {self.n_nodes - 1}."
            raise InvalidParameterError(msg, parameter="freeze")
        return number

    def _unknown(self, name: str) -> DenseflipError:
        known = [region for taxonomy in self.taxonomies for region in readable(taxonomy)]
        if self.nodes is None:
            msg = (
                f"freeze={name!r} is a name, and there is no node table to look it up in. Pass "
                "nodes=Nodes.read_csv('nodes.csv'), or node numbers."
            )
            return MissingInputError(msg, parameter=("freeze", "nodes"))
        known += [node for node in self.nodes.names if node not in known]
        if len(known) > _MANY:
            first = readable(self.taxonomies[0]) if self.taxonomies else ()
            known = [*nearest(name, known, n=3), *first[:_MANY]]
        return UnknownNameError(
            "region, node or cell", name, dict.fromkeys(known), parameter="freeze"
        )
