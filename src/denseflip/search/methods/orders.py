"""Orders in which node pairs are removed and added, generated lazily.

There are O(n²) unjoined pairs. On a large graph they are generated best first and never held in
memory together, so memory stays O(m + pairs taken).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from denseflip.graph import Codes, Graph, Pair
from denseflip.graph.pairs import are_among, count_each
from denseflip.oracles.background import Contrast
from denseflip.search.core.problem import Problem

_DENSE_PAIRS = 2_000_000  # up to here all unjoined pairs are sorted at once
_FIRST = 64  # pairs decoded first


class PairScore(Protocol):
    """A score of node pairs: high where the graph is dense."""

    def at(self, codes: Codes, n_nodes: int) -> npt.NDArray[np.generic]:
        """Score of each pair."""
        ...

    def unjoined(self, graph: Graph, *, descending: bool) -> Iterator[Pair]:
        """Unjoined pairs by (score, pair), lazily."""
        ...


def joined(graph: Graph, score: PairScore, *, descending: bool) -> Iterator[Pair]:
    """Edges sorted as tuples (score, (u, v)), ascending or the reverse of that."""
    return _sorted_by(score, graph.codes, graph, descending=descending)


def free_unjoined(problem: Problem, score: PairScore, *, descending: bool) -> Iterator[Pair]:
    """Unjoined pairs that may be added, by (score, pair).

    If the constraints leave few of them, these are sorted; a walk over all pairs of a large graph
    would hardly meet one.
    """
    bound, graph = problem.constraints, problem.graph
    if bound is None or bound.any_pair or bound.free_pairs.count_absent > _DENSE_PAIRS:
        return problem.free_pairs(score.unjoined(graph, descending=descending))
    return _sorted_by(score, bound.free_pairs.absent[:], graph, descending=descending)


def _sorted_by(score: PairScore, codes: Codes, graph: Graph, *, descending: bool) -> Iterator[Pair]:
    """Sorted pairs by (score, pair)."""
    order = _by_value(score.at(codes, graph.n_nodes))
    return decoded(codes[order[::-1] if descending else order], graph.n_nodes)


def _by_value(values: npt.NDArray[np.generic]) -> npt.NDArray[np.intp]:
    """Stable argsort; a small range of integers is sorted in linear time."""
    if values.dtype.kind == "i" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < 1 << 16:
            values = (values - low).astype(np.uint16)  # NumPy sorts these by radix
    return np.argsort(values, kind="stable")


def all_unjoined(graph: Graph) -> Codes:
    """Codes of all pairs that are not joined, sorted. O(n²)."""
    n = graph.n_nodes
    free = np.tri(n, n, -1, dtype=bool).T.ravel()  # a copy: the pairs u < v
    free[graph.codes] = False
    return np.flatnonzero(free)


class NodeSum:
    """Score of a pair: the sum of its ends' values (whole numbers, such as triangle counts)."""

    def __init__(self, values: npt.NDArray[np.int64]) -> None:
        self.values = np.asarray(values, dtype=np.int64)

    def at(self, codes: Codes, n_nodes: int) -> npt.NDArray[np.int64]:
        """Sum of the values at the two ends."""
        u, v = np.divmod(codes, max(n_nodes, 1))
        return self.values[u] + self.values[v]

    def unjoined(self, graph: Graph, *, descending: bool) -> Iterator[Pair]:
        """Unjoined pairs by (score, pair): all sorted on a small graph, lazily on a large one."""
        if graph.n_pairs <= _DENSE_PAIRS:
            return _sorted_by(self, all_unjoined(graph), graph, descending=descending)
        return self.unjoined_lazily(graph, descending=descending)

    def unjoined_lazily(self, graph: Graph, *, descending: bool) -> Iterator[Pair]:
        """The same order, one value of the sum at a time."""
        by_value = _groups(self.values)
        taken = _Joined(graph)
        for total in _sums(sorted(by_value), descending=descending):
            # Ends u whose partner group (total - value) exists, in the order of the pairs.
            parts = [m for t, m in by_value.items() if total - t in by_value]
            for u in _merge(parts, descending=descending):
                partners = by_value[total - int(self.values[u])]
                above = partners[np.searchsorted(partners, u, side="right") :]
                for v in above[::-1] if descending else above:
                    if not taken(u, int(v)):
                        yield u, int(v)


def _groups(values: npt.NDArray[np.int64]) -> dict[int, npt.NDArray[np.intp]]:
    """Nodes of each value, ascending. O(n log n), however many values there are."""
    if not len(values):
        return {}
    nodes = np.argsort(values, kind="stable")
    distinct, first = np.unique(values[nodes], return_index=True)
    return dict(zip(distinct.tolist(), np.split(nodes, first[1:]), strict=True))


class ContrastScore:
    """Score of a pair: its contrast between two classes."""

    def __init__(self, contrast: Contrast) -> None:
        self.contrast = contrast

    def at(self, codes: Codes, n_nodes: int) -> Codes:
        """Contrast of the pairs."""
        return self.contrast.at(codes)

    def unjoined(self, graph: Graph, *, descending: bool) -> Iterator[Pair]:
        """Unjoined pairs by (contrast, pair); pairs without contrast lie between the signs."""
        for part in ("high", "neutral", "low") if descending else ("low", "neutral", "high"):
            if part == "neutral":
                yield from self._neutral(graph, descending=descending)
            else:
                yield from self._signed(graph, positive=part == "high", descending=descending)

    def _signed(self, graph: Graph, *, positive: bool, descending: bool) -> Iterator[Pair]:
        """Unjoined pairs whose contrast has this sign."""
        chosen = self.contrast.values > 0 if positive else self.contrast.values < 0
        codes, values = self.contrast.codes[chosen], self.contrast.values[chosen]
        free = ~are_among(codes, graph.codes)
        codes = codes[free][_by_value(values[free])]
        yield from decoded(codes[::-1] if descending else codes, graph.n_nodes)

    def _neutral(self, graph: Graph, *, descending: bool) -> Iterator[Pair]:
        n = graph.n_nodes
        used, _ = count_each((self.contrast.codes, graph.codes))
        rows = range(n - 1, -1, -1) if descending else range(n)
        for u in rows:
            row = np.arange(u * n + u + 1, u * n + n)
            row = np.setdiff1d(row, used[slice(*np.searchsorted(used, (u * n, (u + 1) * n)))], True)
            yield from decoded(row[::-1] if descending else row, n)


class _Joined:
    """Membership in a graph's edges; caches the neighbours of the current row."""

    def __init__(self, graph: Graph) -> None:
        self.codes, self.n = graph.codes, graph.n_nodes
        self.row, self.partners = -1, frozenset[int]()

    def __call__(self, u: int, v: int) -> bool:
        if u != self.row:
            first, last = np.searchsorted(self.codes, (u * self.n, (u + 1) * self.n))
            self.row = u
            self.partners = frozenset((self.codes[first:last] - u * self.n).tolist())
        return v in self.partners


def _sums(values: list[int], *, descending: bool) -> Iterator[int]:
    """Distinct sums of two of the values (a value may be used twice), in order, from a heap."""
    sign = -1 if descending else 1
    values = values[::-1] if descending else values
    heap = [(sign * (values[0] + values[0]), 0, 0)] if values else []
    last = None
    while heap:
        key, i, j = heapq.heappop(heap)
        if key != last:
            yield sign * key
            last = key
        # (i, j) is followed by (i, j+1); the diagonal also starts the next row.
        if j + 1 < len(values):
            heapq.heappush(heap, (sign * (values[i] + values[j + 1]), i, j + 1))
        if i == j and i + 1 < len(values):
            heapq.heappush(heap, (sign * 2 * values[i + 1], i + 1, i + 1))


def _merge(groups: list[npt.NDArray[np.intp]], *, descending: bool) -> Iterator[int]:
    """Nodes of disjoint sorted groups in one ascending (or descending) run."""
    nodes = np.sort(np.concatenate(groups)) if groups else np.empty(0, dtype=np.intp)
    return (int(u) for u in (nodes[::-1] if descending else nodes))


def decoded(codes: Codes, n_nodes: int, chunk: int = 4096) -> Iterator[Pair]:
    """The pairs of these codes, decoded in chunks; small ones first, as few searches take many."""
    start, size = 0, min(_FIRST, chunk)
    while start < len(codes):
        part = codes[start : start + size].tolist()
        yield from ((c // n_nodes, c % n_nodes) for c in part)
        start, size = start + size, min(2 * size, chunk)
