"""Maximal cliques through a node, and the one that overlaps least with earlier ones.

A clique through a node is a set of its neighbours that are all joined with one another. So the
search uses only the neighbourhood, whatever the size of the graph. A set of neighbours is one int,
whose highest bit is the first neighbour. Of two cliques of the same size, the one with the larger
int has the lexicographically smaller list of nodes.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

Check = Callable[[], object]


class Neighbours(Protocol):
    """For each node, its neighbours."""

    def __getitem__(self, node: int, /) -> AbstractSet[int]:
        """Neighbours of one node."""
        ...


_CHECK_EVERY = 1024  # branches between two checks of the time: a few milliseconds
_KEPT = 250_000  # cliques cached by `Cliques`, over all nodes: about 20 MB
_FEW = 72  # up to this many members, counting bits is faster than a matrix product (measured)
_PRODUCT = 4_000_000  # entries of one matrix product: bounds the memory


@dataclass(frozen=True)
class CliquesThrough:
    """The maximal cliques through one node, the largest first, then lexicographically.

    Attributes
    ----------
    node : the node.
    others : its neighbours, ascending.
    masks : the cliques as sets of neighbours; the highest of ``len(others)`` bits is the first.
    complete : False if the search stopped at its limit, so there may be more.
    """

    node: int
    others: tuple[int, ...]
    masks: tuple[int, ...]
    complete: bool = True

    def __len__(self) -> int:
        return len(self.masks)

    def __getitem__(self, i: int) -> tuple[int, ...]:
        """Sorted nodes of a clique."""
        # The neighbours are sorted, so inserting the node keeps the list sorted.
        mask, width, nodes = self.masks[i], len(self.others), list[int]()
        while mask:
            top = mask.bit_length()
            nodes.append(self.others[width - top])
            mask ^= 1 << (top - 1)
        nodes.insert(bisect(nodes, self.node), self.node)
        return tuple(nodes)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        return (self[i] for i in range(len(self.masks)))

    @cached_property
    def n_members(self) -> int:
        """Total number of nodes of all cliques, without the node itself."""
        return sum(map(int.bit_count, self.masks))

    @cached_property
    def packed(self) -> npt.NDArray[np.uint8]:
        """The cliques as rows of bits, eight to a byte, one bit per neighbour."""
        return _packed(self.masks, len(self.others))

    def heaviest(self, values: npt.NDArray[np.int64]) -> int:
        """Index of the clique whose pairs have the largest sum of values; ties to the first.

        ``values`` is a symmetric matrix over the node and ``others``; its diagonal is ignored.
        """
        inside = np.array(values[1:, 1:], dtype=np.float64)
        np.fill_diagonal(inside, 0)
        sums = np.empty(len(self.masks))
        chunk = max(1, _PRODUCT // len(self.others))
        for start in range(0, len(sums), chunk):
            part = _bits(self.packed[start : start + chunk], len(self.others)).astype(np.float64)
            pairs = np.einsum("ij,ij->i", part @ inside, part) / 2
            sums[start : start + chunk] = pairs + part @ values[0, 1:]
        return int(sums.argmax())


def maximal_cliques_through(
    node: int,
    neighbours: Neighbours,
    *,
    limit: int | None = None,
    check: Check | None = None,
) -> CliquesThrough:
    """All maximal cliques that contain a node; none for a node without neighbours.

    Bron–Kerbosch with pivoting on the node's neighbourhood. With a ``limit`` to their number, which
    ones are found depends only on the neighbourhood. ``check`` is called every few milliseconds and
    may raise to stop the search.

    >>> list(maximal_cliques_through(2, [{1, 2}, {0, 2}, {0, 1, 3}, {2}]))
    [(0, 1, 2), (2, 3)]
    """
    around = neighbours[node]
    others = tuple(sorted(around))
    bit = {v: 1 << i for i, v in enumerate(reversed(others))}
    near = []  # for each bit, from the lowest, the neighbours joined with that neighbour
    for v in reversed(others):
        mask = 0
        for w in around & neighbours[v]:
            mask |= bit[w]
        near.append(mask)
    masks = _maximal_sets(near, limit, check)
    complete = limit is None or len(masks) <= limit
    if not complete:
        del masks[limit:]
    masks.sort(reverse=True)
    masks.sort(key=int.bit_count, reverse=True)  # a reversed sort is stable
    return CliquesThrough(node, others, tuple(masks), complete)


def _maximal_sets(near: list[int], limit: int | None, check: Check | None) -> list[int]:
    """All maximal cliques of a small graph, or one more than ``limit`` of them.

    The search uses an explicit stack, because a clique may be larger than Python's call stack. It
    is one function because it dominates the running time.
    """
    found: list[int] = []
    if not near:
        return found
    stack: list[tuple[int, int, int, int]] = []
    stop_at = float("inf") if limit is None else limit + 1
    due = _CHECK_EVERY
    # Chosen vertices; candidates; vertices whose cliques have been found already.
    chosen, candidates, done = 0, (1 << len(near)) - 1, 0
    while True:
        if check is not None:
            due -= 1
            if not due:
                check()
                due = _CHECK_EVERY
        # The pivot minimises the number of branches: the candidates that are not its neighbours.
        # A pivot with all candidates but one is good enough: it leaves one branch.
        rest, enough, most, pivot = candidates | done, candidates.bit_count() - 1, -1, 0
        while rest:
            top = rest.bit_length() - 1
            rest ^= 1 << top
            around = near[top]
            covered = (candidates & around).bit_count()
            if covered > most:
                most, pivot = covered, around
                if covered >= enough:
                    break
        branches = candidates & ~pivot
        while True:
            if branches:
                top = branches.bit_length() - 1
                vertex, around = 1 << top, near[top]
                inner, outer = candidates & around, done & around
                branches ^= vertex
                candidates ^= vertex
                done |= vertex
                if inner & (inner - 1):  # two candidates or more: a level deeper
                    if branches:
                        stack.append((chosen, candidates, done, branches))
                    chosen, candidates, done = chosen | vertex, inner, outer
                    break
                if inner:
                    outer &= near[inner.bit_length() - 1]
                if not outer:
                    found.append(chosen | vertex | inner)
                    if len(found) >= stop_at:
                        return found
            elif stack:
                chosen, candidates, done, branches = stack.pop()
            else:
                return found


class Cliques:
    """The maximal cliques of one graph, computed node by node; it caches up to ``keep`` of them.

    The graph may not change. For ``limit`` and ``check`` see `maximal_cliques_through`.
    """

    def __init__(
        self,
        neighbours: Neighbours,
        *,
        limit: int | None = None,
        check: Check | None = None,
        keep: int = _KEPT,
    ) -> None:
        self._neighbours = neighbours
        self._limit, self._check = limit, check
        self._room = keep
        self._kept: dict[int, CliquesThrough] = {}

    def through(self, node: int) -> CliquesThrough:
        """The maximal cliques through a node."""
        found = self._kept.get(node)
        if found is None:
            found = maximal_cliques_through(
                node, self._neighbours, limit=self._limit, check=self._check
            )
            # Nodes are visited in turns, so evicting others for this one would help none of them.
            if len(found) <= self._room:
                self._room -= len(found)
                self._kept[node] = found
        return found


class Overlaps:
    """Stores node sets, and finds the clique that overlaps least with any of them.

    For every node it stores one int, whose bit j says whether the j-th set has the node. So the
    overlaps of a clique with all sets are counted together, with bit operations or, for many
    cliques, with a matrix product.
    """

    def __init__(self) -> None:
        self._sets_with: dict[int, int] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, nodes: Iterable[int]) -> None:
        """Store one more set."""
        bit = 1 << self._count
        for v in nodes:
            self._sets_with[v] = self._sets_with.get(v, 0) | bit
        self._count += 1

    def least(self, cliques: CliquesThrough) -> int:
        """Index of the clique whose largest overlap with a stored set is smallest.

        Ties go to the first: the larger clique, then the lexicographically smallest.
        """
        if not self._count:
            return 0
        own = self._sets_with.get(cliques.node, 0)
        # From the lowest bit of a mask, which is the last neighbour.
        rows = [self._sets_with.get(v, 0) for v in reversed(cliques.others)]
        if cliques.n_members <= _FEW:
            return _least_of_few(cliques.masks, rows, own)
        return self._least_of_many(cliques.packed, rows[::-1], own)

    def _least_of_many(self, packed: npt.NDArray[np.uint8], rows: list[int], own: int) -> int:
        sets = _bits(_packed([own, *rows], self._count), self._count)
        largest = np.empty(len(packed))
        chunk = max(1, _PRODUCT // max(self._count, len(rows)))
        for start in range(0, len(packed), chunk):
            part = _bits(packed[start : start + chunk], len(rows))
            largest[start : start + chunk] = (part @ sets[1:] + sets[0]).max(axis=1)
        return int(largest.argmin())


def _least_of_few(masks: Sequence[int], rows: list[int], own: int) -> int:
    """Unary counters: ``levels[t]`` are the sets that have more than t of the members so far."""
    start = [own] if own else []
    fewest, place = len(rows) + 2, 0
    for i, mask in enumerate(masks):
        levels = start.copy()
        while mask:
            top = mask.bit_length() - 1
            mask ^= 1 << top
            carry = rows[top]
            for t, level in enumerate(levels):
                if not carry:
                    break
                levels[t] = level | carry
                carry &= level
            if carry:
                levels.append(carry)
                if len(levels) >= fewest:
                    break
        else:
            fewest, place = len(levels), i
            if fewest == len(start):
                break
    return place


def _packed(masks: Sequence[int], width: int) -> npt.NDArray[np.uint8]:
    """Ints of ``width`` bits as rows of bytes, the highest bit first."""
    n_bytes = (width + 7) // 8
    shift = 8 * n_bytes - width
    joined = b"".join([(mask << shift).to_bytes(n_bytes, "big") for mask in masks])
    return np.frombuffer(joined, dtype=np.uint8).reshape(len(masks), n_bytes)


def _bits(packed: npt.NDArray[np.uint8], width: int) -> npt.NDArray[np.float32]:
    return np.unpackbits(packed, axis=1, count=width).astype(np.float32)
