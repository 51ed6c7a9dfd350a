"""`Edits`: the pairs added to and removed from a graph; and the table of edits."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from denseflip.errors import InvalidGraphError, MissingExtraError
from denseflip.graph.core import Graph
from denseflip.graph.nodes import Nodes, Taxonomy
from denseflip.graph.pairs import Pair, are_among, decode, encode_pairs


@dataclass(frozen=True)
class Edits:
    """Pairs added to and removed from a graph; both sorted, disjoint, ``u < v``.

    Edits compose with ``+`` and cancel: adding what was removed leaves nothing.

    >>> Edits(added=((0, 1),)) + Edits(removed=((0, 1),))
    Edits(added=(), removed=())
    """

    added: tuple[Pair, ...] = ()
    removed: tuple[Pair, ...] = ()

    def __post_init__(self) -> None:
        added, removed = (_clean(side, name) for side, name in self._sides())
        object.__setattr__(self, "added", added)
        object.__setattr__(self, "removed", removed)
        if both := set(added) & set(removed):
            msg = f"The pair {min(both)} is both added and removed."
            raise InvalidGraphError(msg)

    def _sides(self) -> Iterator[tuple[Iterable[Pair], str]]:
        yield self.added, "added"
        yield self.removed, "removed"

    @classmethod
    def between(cls, original: Graph, changed: Graph) -> Edits:
        """The edits that turn ``original`` into ``changed``."""
        differ = changed.difference(original)
        gone = are_among(differ, original.codes)
        edits = object.__new__(cls)  # already sorted and disjoint: no checks
        object.__setattr__(edits, "added", tuple(decode(differ[~gone], original.n_nodes)))
        object.__setattr__(edits, "removed", tuple(decode(differ[gone], original.n_nodes)))
        return edits

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All changed pairs, sorted."""
        return tuple(sorted(self.added + self.removed))

    def apply(self, graph: Graph) -> Graph:
        """The edited graph; raises if an edit does not fit the graph."""
        added, removed = (
            encode_pairs(np.asarray(side, dtype=np.int64), graph.n_nodes, source=f"{name} pairs")
            for side, name in self._sides()
        )
        wrong = np.flatnonzero(are_among(added, graph.codes))
        if len(wrong):
            msg = f"Cannot add the pair {self.added[wrong[0]]}: the graph has that edge already."
            raise InvalidGraphError(msg)
        wrong = np.flatnonzero(~are_among(removed, graph.codes))
        if len(wrong):
            msg = f"Cannot remove the pair {self.removed[wrong[0]]}: the graph has no such edge."
            raise InvalidGraphError(msg)
        return graph.toggle_codes(np.concatenate((added, removed)))

    def only(self, pairs: Iterable[Pair]) -> Edits:
        """The edits on these pairs alone."""
        kept = set(pairs)
        return Edits(
            tuple(p for p in self.added if p in kept), tuple(p for p in self.removed if p in kept)
        )

    def inverse(self) -> Edits:
        """The edits that undo these."""
        return Edits(added=self.removed, removed=self.added)

    def __add__(self, later: Edits) -> Edits:
        return Edits(
            added=tuple(
                (set(self.added) - set(later.removed)) | (set(later.added) - set(self.removed))
            ),
            removed=tuple(
                (set(self.removed) - set(later.added)) | (set(later.removed) - set(self.added))
            ),
        )

    def __len__(self) -> int:
        return len(self.added) + len(self.removed)


def _clean(pairs: Iterable[Pair], name: str) -> tuple[Pair, ...]:
    whole = [(int(u), int(v)) for u, v in pairs]
    out = tuple(sorted([p if p[0] <= p[1] else (p[1], p[0]) for p in whole]))
    if len(set(out)) < len(out):
        twice = next(a for a, b in itertools.pairwise(out) if a == b)
        msg = f"The pair {twice} is {name} twice."
        raise InvalidGraphError(msg)
    loop = next((p for p in out if p[0] == p[1]), None)
    if loop is not None:
        msg = f"The pair {loop} in {name!r} is a self-loop."
        raise InvalidGraphError(msg)
    return out


Row = tuple[Any, ...]


def list_edits(
    edits: Edits,
    nodes: Nodes | None = None,
    regions: Taxonomy | None = None,
    *,
    weights: Iterable[tuple[int, int, float, float]] = (),
    named: Collection[Pair] | None = None,
) -> tuple[tuple[str, ...], list[Row]]:
    """Columns and rows of the table of edits: one row for each edit, removals first.

    All tables of edits have these columns. Columns without data are left out.

    Parameters
    ----------
    edits : the added and removed edges.
    nodes : adds ``name_1`` and ``name_2`` and, if it has coordinates, ``x_1`` … ``z_2``.
    regions : adds ``region_1`` and ``region_2``.
    weights : (node, node, before, after) of each edit, for a classifier that uses weights; adds
        ``weight_before`` and ``weight_after``.
    named : the edits that a sentence names; adds ``named``, which is true for these.

    Examples
    --------
    >>> columns, rows = list_edits(Edits(added=((0, 2),), removed=((1, 2),)))
    >>> columns
    ('change', 'node_1', 'node_2')
    >>> rows
    [('removed', 1, 2), ('added', 0, 2)]
    """
    weighed = {(u, v): (before, after) for u, v, before, after in weights}
    columns: tuple[str, ...] = ("change", "node_1", "node_2")
    if nodes is not None:
        columns += ("name_1", "name_2")
    if regions is not None:
        columns += ("region_1", "region_2")
    points = None if nodes is None else nodes.coordinates
    if points is not None:
        columns += tuple(f"{axis}_{end}" for end in (1, 2) for axis in "xyz")
    if weighed:
        columns += ("weight_before", "weight_after")
    if named is not None:
        columns += ("named",)
        named = set(named)
    rows = []
    for change, pairs in (("removed", edits.removed), ("added", edits.added)):
        for u, v in pairs:
            row: Row = (change, u, v)
            if nodes is not None:
                row += (nodes.names[u], nodes.names[v])
            if regions is not None:
                row += (regions.region_of(u), regions.region_of(v))
            if points is not None:
                row += (*points[u], *points[v])
            if weighed:
                row += weighed.get((u, v), (None, None))
            if named is not None:
                row += ((u, v) in named,)
            rows.append(row)
    return columns, rows


def make_frame(columns: Sequence[str], rows: Iterable[Row]) -> Any:
    """Rows as a pandas ``DataFrame``; raises if pandas is not installed."""
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise MissingExtraError("pandas", "frames") from error
    return DataFrame(list(rows), columns=list(columns))
