"""`Belief`: what the answers so far say about the gain of every edit.

The oracle is assumed to be approximately linear: the score of some edits is a level plus the sum of
their gains, and the label flips where the score passes zero. Level and gains have a normal
distribution. Every answer truncates it, and the result is approximated by a normal distribution
again (assumed density filtering). A label gives the sign of the score, a confidence its value.

The distribution is stored by answers, not by pairs. An update costs the number of edits queried and
the square of the number of answers, whatever the size of the graph.
"""

from __future__ import annotations

from math import erfc, exp, inf, log, pi, sqrt

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
_DIVERGED = 1e100  # standard deviations of a gain; its square is still a number


class Belief:
    """A normal distribution over a level and the gains of N edits, given answers.

    Parameters
    ----------
    start : for every edit, how far the original lies from the mean graph in the direction of that
        edit (never above 0). Scores are relative to the mean graph.
    level : the standard deviation of the level; that of a gain is 1.
    noise : the standard deviation of the non-linear part.
    unit : the score of a gain of 1.
    cells : if pairs of one cell may have similar weights: the cell of every edit, and 1 where it
        adds its pair, -1 where it removes it.
    share : the share of the variance of a pair's weight that is common to its cell.
    prior : the mean of the level and of every gain before any answer; by default 0.

    Attributes
    ----------
    evidence : the log-likelihood of the answers, each predicted from those before.
    """

    def __init__(
        self,
        start: Floats,
        *,
        level: float,
        noise: float = 0.1,
        unit: float = 1.0,
        cells: tuple[Ints, Floats] | None = None,
        share: float = 0.5,
        prior: tuple[float, Floats] | None = None,
    ) -> None:
        self._prior_level, self._prior = prior or (0.0, np.zeros(len(start)))
        self.start = start
        self.noise = noise
        self.unit = unit
        self.evidence = 0.0
        n = len(start)
        self._variance = np.ones(n)
        self._cells, self._signs = (np.zeros(n, dtype=np.int64), np.zeros(n))
        self._share, self._own = 0.0, 1.0
        if cells is not None:
            self._cells, self._signs = cells
            self._share, self._own = share, 1 - share
        n_cells = int(self._cells.max(initial=0)) + 1
        self._cell_start = np.bincount(self._cells, self._signs * start, minlength=n_cells)
        self._in_cells: Floats = np.zeros((0, n_cells))  # by query, relative to the mean graph
        self._middle = level**2 + self._own * float(start @ start)
        self._edits: Ints = np.empty(0, dtype=np.int64)  # the edits of all queries, in a row
        self._query: Ints = np.empty(0, dtype=np.int64)  # the query that each belongs to
        self._starts: Floats = np.empty(0)  # the sum of `start` over each query
        self._pull: Floats = np.empty(0)  # the coefficient of each query in the mean
        self._buffer: Floats = np.zeros((0, 0))
        self._known: Floats = self._buffer  # the reduction of the variance by the queries

    def gains(self) -> Floats:
        """The mean gain of every edit."""
        return self._prior + self._reach(self._pull)

    def _reach(self, pull: Floats) -> Floats:
        """The change of every mean gain for these coefficients of the queries."""
        moved: Floats = self._own * float(pull.sum()) * self.start
        moved += self._own * np.bincount(self._edits, pull[self._query], minlength=len(self.start))
        if self._share:
            moved += self._signs * (self._share * (pull @ self._in_cells))[self._cells]
        return moved

    def level(self) -> float:
        """The mean score of the original."""
        alike, _ = self._compare(np.empty(0, dtype=np.int64))
        return self._prior_level + float(alike @ self._pull)

    def _mean(self, edits: Ints, alike: Floats) -> float:
        """The mean score of these edits, given their covariances with earlier queries."""
        return self._prior_level + float(self._prior[edits].sum()) + float(alike @ self._pull)

    def spreads(self) -> Floats:
        """The standard deviation of the gain of every edit."""
        spreads: Floats = np.sqrt(np.maximum(self._variance, 1e-12))
        return spreads

    def score(self, edits: Ints) -> tuple[float, float]:
        """Mean and standard deviation of the score of these edits."""
        alike, own = self._compare(edits)
        left = own - float(alike @ self._known @ alike)
        return self._mean(edits, alike), sqrt(max(left, 1e-12))

    def learn(self, edits: Ints, flipped: bool) -> None:
        """Update with the answer that the original with these edits flips, or does not."""
        alike, own = self._compare(edits)
        seen = self._known @ alike
        total = max(own - float(alike @ seen), 0.0) + self.noise**2
        side = 1.0 if flipped else -1.0
        z = side * self._mean(edits, alike) / sqrt(total)
        ratio = _hazard(z)
        self.evidence += log(max(0.5 * erfc(-z / sqrt(2)), 1e-280))
        self._add(edits, seen, side * ratio / sqrt(total), ratio * (ratio + z) / total)

    def learn_score(self, edits: Ints, score: float) -> None:
        """Update with the score of the original with these edits."""
        alike, own = self._compare(edits)
        seen = self._known @ alike
        total = max(own - float(alike @ seen), 0.0) + self.noise**2
        off = score / self.unit - self._mean(edits, alike)
        if abs(off) > _DIVERGED:  # rounding errors outweigh the answers: no update can mend it
            self.evidence = -inf
            return
        self.evidence -= (off**2 / total + log(2 * pi * total)) / 2 + log(self.unit)
        self._add(edits, seen, off / total, 1 / total)

    def _compare(self, edits: Ints) -> tuple[Floats, float]:
        """The prior covariance of a score with those of earlier queries, and its variance."""
        among = np.zeros(len(self.start), dtype=bool)
        among[edits] = True
        shared = np.bincount(self._query[among[self._edits]], minlength=len(self._pull))
        own = float(self.start[edits].sum())
        alike: Floats = self._middle + self._own * (self._starts + own + shared)
        variance = self._middle + self._own * (2 * own + len(edits))
        if self._share:
            here = self._counted(edits)
            alike += self._share * (self._in_cells @ here)
            variance += self._share * float(here @ here)
        return alike, variance

    def _counted(self, edits: Ints) -> Floats:
        """Edges of the original with these edits in each cell, relative to the mean graph."""
        n_cells = len(self._cell_start)
        counts: Floats = np.bincount(self._cells[edits], self._signs[edits], n_cells).astype(float)
        return self._cell_start + counts

    def _add(self, edits: Ints, seen: Floats, shift: float, shrink: float) -> None:
        direction = np.append(-seen, 1.0)
        n = len(seen)
        if n == len(self._buffer):
            buffer = np.zeros((2 * n + 64, 2 * n + 64))
            buffer[:n, :n] = self._known
            self._buffer = buffer
        self._known = self._buffer[: n + 1, : n + 1]
        self._known += max(shrink, 0.0) * np.outer(direction, direction)
        self._pull = np.append(self._pull, 0.0) + shift * direction
        self._edits = np.concatenate([self._edits, edits])
        self._query = np.concatenate([self._query, np.full(len(edits), n)])
        self._starts = np.append(self._starts, self.start[edits].sum())
        if self._share:
            self._in_cells = np.vstack([self._in_cells, self._counted(edits)])
        self._variance -= max(shrink, 0.0) * self._reach(direction) ** 2


def _hazard(z: float) -> float:
    """The normal density at z over the share of the distribution below z."""
    below = 0.5 * erfc(-z / sqrt(2))
    return exp(-z * z / 2) / sqrt(2 * pi) / below if below > 1e-280 else -z
