"""`Frozen`: pairs that must not change, by names of regions, nodes and cells, or by numbers."""

from __future__ import annotations

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
from denseflip.graph import Codes, Nodes, Taxonomy
from denseflip.graph.nodes import CROSS
from denseflip.graph.pairs import are_among

Bools = npt.NDArray[np.bool_]
CROSSES = (" x ", " – ", " × ", " & ")  # between two regions of a cell: typed, or as on a page
NODE = "node"  # in front of a colon: the name of a node follows, not that of a region
_MANY = 40  # names that an error lists; of more the nearest, and those of the first taxonomy


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
            elif isinstance(name, (tuple, list)) and len(name) == 2:
                u, v = sorted(self._end(end) for end in name)
                pairs.add(u * n_nodes + v)
            elif isinstance(name, str):
                self._take(name)
            else:
                msg = f"freeze names regions, nodes, cells or pairs; got {shown(name)}."
                raise InvalidParameterError(msg, parameter="freeze")
        self.pairs = np.array(sorted(pairs), dtype=np.int64)

    def touches(self, u: Codes, v: Codes) -> Bools:
        """Which pairs are frozen."""
        out: Bools = self.frozen[u] | self.frozen[v]
        for a, b in self.blocks:
            out |= (a[u] & b[v]) | (b[u] & a[v])
        if len(self.pairs):
            out |= are_among(u * self.n_nodes + v, self.pairs)
        return out

    def _take(self, name: str) -> None:
        inside = self._members(name)
        if inside is not None:
            self.frozen |= inside
            return
        for cross in CROSSES:
            ends = [part.strip() for part in name.split(cross)]
            if len(ends) == 2:
                sides = [self._members(end) for end in ends]
                for end, side in zip(ends, sides, strict=True):
                    if side is None:
                        raise self._unknown(end)
                self.blocks.append((sides[0], sides[1]))  # type: ignore[arg-type]
                return
        raise self._unknown(name)

    def _members(self, name: str) -> Bools | None:
        """The nodes of a name: a region of any taxonomy, or one node."""
        found: list[tuple[str, Bools]] = []
        for taxonomy in self.taxonomies:
            for number, region in enumerate(taxonomy.regions):
                if region.lower() == name.lower():
                    found.append((taxonomy.name, taxonomy.array == number))
        if self.nodes is not None:
            for number, node in enumerate(self.nodes.names):
                if node.lower() == name.lower():
                    inside = np.zeros(self.n_nodes, dtype=bool)
                    inside[number] = True
                    found.append((NODE, inside))
        if not found and ":" in name:  # "node: name", or the taxonomy and the region in it
            which, _, region = (part.strip().lower() for part in name.partition(":"))
            names = [] if self.nodes is None else [own.lower() for own in self.nodes.names]
            if which == NODE and region in names:
                return np.asarray(np.arange(self.n_nodes) == names.index(region))
            for taxonomy in (*self.taxonomies, *self._crossed(which)):
                regions = [own.lower() for own in taxonomy.regions]
                if taxonomy.name.lower() == which and region in regions:
                    return np.asarray(taxonomy.array == regions.index(region))
        if not found and name.isdecimal() and name.isascii():  # a number typed on a command line
            inside = np.zeros(self.n_nodes, dtype=bool)
            inside[self._node(int(name))] = True
            return inside
        if not found:
            return None
        first = found[0][1]
        if any(not np.array_equal(first, other) for _, other in found[1:]):
            places = " or ".join(repr(f"{where}: {name}") for where, _ in found)
            msg = f"{name!r} has several meanings. Say which is meant: {places}."
            raise InvalidParameterError(msg, parameter="freeze")
        return first

    def _crossed(self, name: str) -> list[Taxonomy]:
        """The taxonomy that crosses several, as in ``lobe*hemisphere``; empty if there is none."""
        own = {taxonomy.name.lower(): taxonomy.name for taxonomy in self.taxonomies}
        parts = [own.get(part.strip()) for part in name.split(CROSS)]
        if self.nodes is None or len(parts) < 2 or None in parts:
            return []
        return [self.nodes.taxonomy(CROSS.join(part for part in parts if part))]

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
        known = [region for taxonomy in self.taxonomies for region in taxonomy.regions]
        if self.nodes is None:
            msg = (
                f"freeze={name!r} is a name, and there is no node table to look it up in. Pass "
                "nodes=Nodes.read_csv('nodes.csv'), or node numbers."
            )
            return MissingInputError(msg, parameter=("freeze", "nodes"))
        known += [node for node in self.nodes.names if node not in known]
        if len(known) > _MANY:
            first = self.taxonomies[0].regions if self.taxonomies else ()
            known = [*nearest(name, known, n=3), *first[:_MANY]]
        return UnknownNameError(
            "region, node or cell", name, dict.fromkeys(known), parameter="freeze"
        )
