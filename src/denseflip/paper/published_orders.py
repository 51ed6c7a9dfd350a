"""The orders of node pairs in the published runs (decision D10).

They are properties of the authors' environment, not part of any method. Their graphs had a
self-loop at every node, because the embedding library adds them in place, and the same library
re-seeded Python's generator with 42 at every query. Before a shuffle the pairs came from a Python
set, so the order is that of a set in their Python 3.9. `HashTable` reproduces it on any Python:
later versions fill the gaps left by removals, which changes the order.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from denseflip.graph import Graph, Pair
from denseflip.search.core.problem import Problem
from denseflip.search.core.refinement import Candidate

SEED = 42
_SMALLEST = 8  # slots of a new table
_NEIGHBOURS = 9  # slots probed after the first before the probe jumps
_SHIFT = 5  # bits of the hash that each jump uses up
_WORD = (1 << 64) - 1


class HashTable:
    """Pairs in the order in which CPython 3.9 iterates over a set of them.

    An open-addressing table: a pair goes to the first empty slot from its hash on; a removed pair
    leaves a mark that is never reused; the table grows when three fifths are in use.

    >>> list(HashTable([(0, 1), (2, 2), (1, 3)])) == list({(0, 1), (2, 2), (1, 3)})
    True
    """

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        self._places: list[Pair | None] = [None] * _SMALLEST
        self._gone: set[int] = set()
        self._size = 0
        for pair in pairs:
            self.add(pair)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Pair]:
        return (pair for pair in self._places if pair is not None)

    def add(self, pair: Pair) -> None:
        """Add a pair, unless it is present."""
        place, found = self._find(pair)
        if found:
            return
        self._places[place] = pair
        self._size += 1
        if (self._size + len(self._gone)) * 5 >= (len(self._places) - 1) * 3:
            self._grow(self._size * 4)

    def discard(self, pair: Pair) -> bool:
        """Remove a pair; return whether it was present."""
        place, found = self._find(pair)
        if found:
            self._places[place] = None
            self._gone.add(place)
            self._size -= 1
        return found

    def copy(self) -> HashTable:
        """An equal table, possibly with another number of slots."""
        other = HashTable()
        if self._size * 5 >= (_SMALLEST - 1) * 3:
            other._grow(self._size * 2)
        if len(other._places) == len(self._places) and not self._gone:
            other._places = list(self._places)
        else:
            for pair in self:
                other._places[other._find(pair)[0]] = pair
        other._size = self._size
        return other

    def symmetric_difference(self, other: HashTable) -> HashTable:
        """The pairs in exactly one of the two tables."""
        out = other.copy()
        for pair in self:
            if not out.discard(pair):
                out.add(pair)
        return out

    def _find(self, pair: Pair) -> tuple[int, bool]:
        """The slot of the pair, or the empty slot for it."""
        last = len(self._places) - 1
        rest = hash(pair) & _WORD
        start = rest & last
        while True:
            run = _NEIGHBOURS if start + _NEIGHBOURS <= last else 0
            for place in range(start, start + run + 1):
                held = self._places[place]
                if held == pair:
                    return place, True
                if held is None and place not in self._gone:
                    return place, False
            rest >>= _SHIFT
            start = (start * 5 + 1 + rest) & last

    def _grow(self, beyond: int) -> None:
        pairs = list(self)
        n = _SMALLEST
        while n <= beyond:
            n *= 2
        self._places, self._gone = [None] * n, set()
        for pair in pairs:
            self._places[self._find(pair)[0]] = pair


def looped_edges(graph: Graph) -> list[Pair]:
    """The edges, row by row, each row ending with its node's self-loop."""
    rows: list[list[Pair]] = [[] for _ in range(graph.n_nodes)]
    for u, v in graph.pairs.tolist():
        rows[u].append((u, v))
    return [pair for u, row in enumerate(rows) for pair in (*row, (u, u))]


def unjoined(graph: Graph) -> list[Pair]:
    """The pairs that are not joined, sorted."""
    taken, n = set(graph.codes.tolist()), graph.n_nodes
    return [(u, v) for u in range(n) for v in range(u + 1, n) if u * n + v not in taken]


def looped_swaps(problem: Problem) -> tuple[list[Pair], list[Pair]]:
    """Removals, including self-loops, and additions of the published EDG.

    Both lists are shuffled by one generator, seeded with 42 for every graph. Every CPython iterates
    over a set without removals in the same order, so a plain set is enough.
    """
    rng = random.Random(SEED)
    removals = list(set(looped_edges(problem.graph)))
    additions = list(set(unjoined(problem.graph)))
    rng.shuffle(removals)
    rng.shuffle(additions)
    return removals, additions


def changes(candidate: Candidate) -> list[Pair]:
    """The changed pairs in the order of the authors' symmetric difference."""
    before = HashTable(looped_edges(candidate.problem.graph))
    return list(before.symmetric_difference(HashTable(looped_edges(candidate.graph))))


def shuffled_changes(candidate: Candidate) -> list[Pair]:
    """The changed pairs, shuffled by a generator seeded with 42 (DAT+BW)."""
    queue = changes(candidate)
    random.Random(SEED).shuffle(queue)
    return queue
