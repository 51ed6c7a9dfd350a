"""Linear classifiers whose features are sums over edges, evaluated on the edges themselves.

Such a score is an offset plus one weight per edge. The score of a graph that differs from another
by a few pairs therefore differs by those pairs' weights: neither a row of features nor a graph is
built. Sums in another order have other rounding errors; a score too close to the decision boundary
is recomputed from the rows.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.heads import EPSILON, LinearHead
from denseflip.graph import Codes, Graph
from denseflip.graph.pairs import all_pairs, are_among
from denseflip.oracles.gradients import PairGradient

Matrix = npt.NDArray[np.float64]

_TABLE = 4_000_000  # largest table of weights by pair code; beyond it they are computed on demand
_KEEP = 8  # bases whose scores are kept; fewer if their tables would be large


@runtime_checkable
class PairwiseFeatures(Protocol):
    """Features whose columns are sums over the edges."""

    def pair_weights(self, slopes: Matrix, codes: Codes, n_nodes: int) -> Matrix:
        """What an edge at each code adds to each linear score, of shape (scores, codes).

        `slopes` has one row per score and one column per feature.
        """
        ...

    def largest(self, n_nodes: int) -> float:
        """The largest value that a column can have."""
        ...


@dataclass
class _Base:
    """A base graph of edits: its scores, and what flipping each pair would add."""

    graph: Graph
    scores: Matrix
    flips: Matrix | None = None  # by code; computed at the first query

    def __post_init__(self) -> None:
        self.first = float(self.scores[0])
        self.size = self.graph.n_edges


class PairScores:
    """The scores of a linear head on pairwise features, and which decisions are certain.

    >>> from denseflip.classifiers.features import EdgeFeatures
    >>> head = LinearHead(np.array([[1.0, -2.0, 3.0]]), np.array([-0.5]))
    >>> pairs = PairScores(head, EdgeFeatures(), 3)  # weights of (0, 1), (0, 2) and (1, 2)
    >>> base = Graph.from_edges(3, [(0, 1)])
    >>> positions, sure = pairs.decide_edits(base, [np.array([5]), np.array([1, 2])])
    >>> positions.tolist(), sure.tolist()  # scores 3.5 and -2.5
    ([1, 0], [True, True])
    """

    def __init__(self, head: LinearHead, features: PairwiseFeatures, n_nodes: int) -> None:
        shift = np.zeros(head.weights.shape[1]) if head.shift is None else head.shift
        self._head, self._features, self._n = head, features, n_nodes
        self._slopes = head.weights if head.scale is None else head.weights / head.scale
        self._offset = head.offset - self._slopes @ shift
        sizes = np.abs(self._slopes) @ (features.largest(n_nodes) + np.abs(shift))
        # Rounding error per addition, for a sum of terms whose sizes add up to at most this.
        self._error = EPSILON * float((sizes + np.abs(head.offset)).max())
        self._terms = 2 * self._slopes.shape[1] + 16  # additions behind any score, both ways
        self._table = self._make_table() if len(self._slopes) * n_nodes**2 <= _TABLE else None
        self._keep = (
            _KEEP if self._table is None else max(1, min(_KEEP, _TABLE // max(self._table.size, 1)))
        )
        self._bases: OrderedDict[int, _Base] = OrderedDict()

    def decide(
        self, graphs: Sequence[Graph]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Position of each graph's class, and whether it is certain."""
        root = graphs[0].root
        if root is not graphs[0] and all(g.root is root for g in graphs):
            return self.decide_edits(root, [g.difference(root) for g in graphs])
        codes = [g.codes for g in graphs]
        scores = self._sums(self._weights(np.concatenate(codes)), codes) + self._offset
        return self._settle(scores, max(map(len, codes)))

    def decide_edits(
        self, base: Graph, edits: Sequence[Codes]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Position of the class of `base` with each of the edits, and whether it is certain."""
        known = self._base(base)
        joined = edits[0] if len(edits) == 1 else np.concatenate(edits)
        scores = self._sums(self._flips(known, joined), edits) + known.scores
        return self._settle(scores, known.size + max(map(len, edits)))

    def decide_one(self, base: Graph, codes: Codes) -> int | None:
        """`decide_edits` for a single query; None if it is not certain."""
        known = self._bases.get(id(base))
        if known is None or known.flips is None or len(self._slopes) > 1:
            positions, sure = self.decide_edits(base, [codes])
            return int(positions[0]) if sure[0] else None
        score = known.first + float(np.add.reduce(known.flips[0].take(codes)))
        slack = self._error * (self._terms + known.size + len(codes))
        if -slack <= score <= slack or score != score:
            return None
        return int(score > 0)

    def gradient(self, graph: Graph, position: int) -> PairGradient:
        """How much flipping each pair changes the margin of a class, exactly."""
        known, codes = self._base(graph), all_pairs(self._n)
        flips = self._weights(codes) * np.where(are_among(codes, graph.codes), -1.0, 1.0)
        if len(self._slopes) == 1:
            sign = 1.0 if position else -1.0
            return PairGradient(
                self._n, sign * flips[0], score=sign * known.first, exact=True, linear=True
            )
        # Relative to the strongest other class, which may be another one after some edits.
        others = np.delete(np.arange(len(flips)), position)
        rival = int(others[known.scores[others].argmax()])
        score = float(known.scores[position] - known.scores[rival])
        return PairGradient(self._n, flips[position] - flips[rival], score=score, linear=True)

    def _settle(
        self, scores: Matrix, terms: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Decide, and compare the margin with the rounding errors of this sum and of the rows."""
        slack = self._error * (self._terms + terms)
        if len(self._slopes) == 1:
            margin = np.abs(scores[:, 0])
        else:
            top = np.partition(scores, -2, axis=1)
            margin = (top[:, -1] - top[:, -2]) / 2
        return self._head.decide(scores), margin > slack

    # ---- sums -----------------------------------------------------------------------------

    def _sums(self, weights: Matrix, parts: Sequence[Codes]) -> Matrix:
        """Weights (one row per score) summed over each part: one row per part."""
        if len(parts) == 1:
            total: Matrix = np.add.reduce(weights, axis=1, keepdims=True).T
            return total
        owner = np.repeat(np.arange(len(parts)), [len(p) for p in parts])
        return np.stack([np.bincount(owner, w, len(parts)) for w in weights], axis=1)

    def _weights(self, codes: Codes) -> Matrix:
        if self._table is None:
            return self._features.pair_weights(self._slopes, codes, self._n)
        return self._table.take(codes, axis=1)

    def _make_table(self) -> Matrix:
        n = self._n
        codes = all_pairs(n)
        table = np.zeros((len(self._slopes), n * n))
        table[:, codes] = self._features.pair_weights(self._slopes, codes, n)
        return table

    # ---- bases ----------------------------------------------------------------------------

    def _base(self, graph: Graph) -> _Base:
        # Cached by identity: the graph is held here, so its id cannot be reused.
        known = self._bases.get(id(graph))
        if known is None:
            weights = self._weights(graph.codes)
            known = self._bases[id(graph)] = _Base(graph, weights.sum(axis=1) + self._offset)
            while len(self._bases) > self._keep:
                self._bases.popitem(last=False)
        return known

    def _flips(self, base: _Base, codes: Codes) -> Matrix:
        """What flipping each pair adds to the scores of a base."""
        if self._table is not None:
            if base.flips is None:
                base.flips = self._table.copy()
                base.flips[:, base.graph.codes] *= -1
            return base.flips.take(codes, axis=1)
        weights = self._weights(codes)
        held = base.graph.codes
        if len(held):
            there = held.take(held.searchsorted(codes), mode="clip") == codes
            weights[:, there] *= -1
        return weights
