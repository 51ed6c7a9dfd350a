"""`LazyPairs`: sorted codes of many pairs, computed only where they are asked for.

Almost all pairs of a large graph are not joined, so a list of them would take far more memory than
the graph. Here a pair is computed from its rank in the sorted list.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from denseflip.graph.pairs import Codes, are_among

NO_CODES: Codes = np.empty(0, dtype=np.int64)


class LazyPairs(ABC):
    """The sorted pairs of a set that is given by its structure, without a few listed pairs.

    It has a length and takes ranks like an array of codes: ``pairs[ranks]``. Subclasses compute the
    code of a rank in the whole set, and the rank of a code. ``without`` are the sorted codes that
    are left out.
    """

    def __init__(self, size: int, without: Codes = NO_CODES) -> None:
        self._size = size
        self._left_out = without

    @cached_property
    def _shifts(self) -> Codes:
        """Rank r of what is left has rank r + i in the whole set if i of these are at most r."""
        return self._ranks(self._left_out) - np.arange(len(self._left_out))

    def __len__(self) -> int:
        return self._size - len(self._left_out)

    def __getitem__(self, ranks: Codes | slice) -> Codes:
        if isinstance(ranks, slice):
            ranks = np.arange(*ranks.indices(len(self)))
        return self._codes(ranks + np.searchsorted(self._shifts, ranks, side="right"))

    def tolist(self) -> list[int]:
        """All codes as a list."""
        listed: list[int] = self[:].tolist()
        return listed

    @abstractmethod
    def _codes(self, ranks: Codes) -> Codes:
        """The codes of these ranks in the whole set."""

    @abstractmethod
    def _ranks(self, codes: Codes) -> Codes:
        """The ranks of these codes in the whole set."""


class RowPairs(LazyPairs):
    """Pairs by row: node ``u`` with those ``v > u`` of one of a few lists.

    Rows and lists are sorted; ``which`` is the list of each row.

    >>> few = RowPairs(5, np.array([0, 1]), [np.array([1, 3, 4])], np.array([0, 0]), np.array([3]))
    >>> len(few), few.tolist()
    (4, [1, 4, 8, 9])
    """

    def __init__(
        self,
        n_nodes: int,
        rows: Codes,
        lists: Sequence[Codes],
        which: Codes,
        without: Codes = NO_CODES,
    ) -> None:
        self._n, self._rows = n_nodes, rows
        self._partners = np.concatenate([NO_CODES, *lists])
        begins = np.cumsum([0, *map(len, lists)])
        self._first = np.empty(len(rows), dtype=np.int64)  # of the partners of each row
        for i, partners in enumerate(lists):
            mine = which == i
            self._first[mine] = begins[i] + np.searchsorted(partners, rows[mine], side="right")
        self._last = begins[1:][which] if len(rows) else NO_CODES
        self._ends = np.cumsum(self._last - self._first)
        super().__init__(int(self._ends[-1]) if len(rows) else 0, without)

    def _codes(self, ranks: Codes) -> Codes:
        row = np.searchsorted(self._ends, ranks, side="right")
        codes: Codes = (
            self._rows[row] * self._n + self._partners[self._last[row] - (self._ends[row] - ranks)]
        )
        return codes

    def _ranks(self, codes: Codes) -> Codes:
        u, v = np.divmod(codes, self._n)
        row = np.searchsorted(self._rows, u)
        # The partners of a row are sorted; bisect all rows at once.
        low, high = self._first[row], self._last[row]
        while (open_ := low < high).any():
            middle = (low + high) // 2
            below = np.zeros(len(low), dtype=bool)
            below[open_] = self._partners[middle[open_]] < v[open_]
            low, high = np.where(below, middle + 1, low), np.where(open_ & ~below, middle, high)
        ranks: Codes = self._ends[row] - (self._last[row] - low)
        return ranks


class NodePairs(LazyPairs):
    """The pairs of one node with those of a sorted list; the node itself may be among them.

    >>> NodePairs(4, 1, np.array([0, 1, 3])).tolist()
    [1, 7]
    """

    def __init__(self, n_nodes: int, node: int, partners: Codes, without: Codes = NO_CODES) -> None:
        self._n, self._node, self._partners = n_nodes, node, partners
        self._own = bool(are_among(node, partners))
        self._before = int(np.searchsorted(partners, node))
        super().__init__(len(partners) - self._own, without)

    def _codes(self, ranks: Codes) -> Codes:
        v = self._partners[ranks + (self._own & (ranks >= self._before))]
        codes: Codes = np.minimum(v, self._node) * self._n + np.maximum(v, self._node)
        return codes

    def _ranks(self, codes: Codes) -> Codes:
        u, v = np.divmod(codes, self._n)
        other = np.where(u == self._node, v, u)
        at = np.searchsorted(self._partners, other)
        ranks: Codes = at - (self._own & (other > self._node))
        return ranks
