"""`Edits`: the pairs added to and removed from a graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from denseflip.errors import InvalidGraphError
from denseflip.graph.core import Graph
from denseflip.graph.pairs import Pair, decode, encode_pairs


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
        gone = np.isin(differ, original.codes, assume_unique=True)
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
        wrong = np.flatnonzero(np.isin(added, graph.codes))
        if len(wrong):
            msg = f"Cannot add the pair {self.added[wrong[0]]}: the graph has that edge already."
            raise InvalidGraphError(msg)
        wrong = np.flatnonzero(~np.isin(removed, graph.codes))
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
