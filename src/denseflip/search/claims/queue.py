"""`Queue`: pairs in a random order, drawn only as far as they are needed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from denseflip.graph import Codes
from denseflip.graph.lazy_pairs import NO_CODES, LazyPairs

AT_ONCE = 1 << 15  # up to this many pairs the whole order is drawn at once
_FIRST = 1 << 10  # pairs of a longer order that are drawn first
_SOME = 64  # pairs that are looked at beyond twice the number wanted
_RARE = 4  # if fewer than one draw in four gives a new pair, the rest is drawn at once

Floats = npt.NDArray[np.float64]
Keep = Callable[[Codes], npt.NDArray[np.bool_]]  # which pairs may be taken


class Weights:
    """Weights of pairs in a draw, above 0."""

    def __init__(self, values: Floats) -> None:
        self.values = values

    @cached_property
    def totals(self) -> Floats:
        """The sum of the weights up to each pair."""
        return np.cumsum(self.values)


class Queue:
    """Pairs in the order of one redraw: its first k pairs are a redraw of k pairs.

    A pair comes next with a probability in proportion to its weight. A long order is drawn in
    parts: pairs are drawn with replacement, and those that were drawn before are left out.

    Parameters
    ----------
    pairs : the pairs.
    rng : the generator.
    weights : their weights; None for equal weights.
    """

    def __init__(
        self, pairs: Codes | LazyPairs, rng: np.random.Generator, weights: Weights | None = None
    ) -> None:
        self._pairs, self._rng, self._weights = pairs, rng, weights
        self._ranks: Codes = NO_CODES
        self._drawn: Codes = NO_CODES
        if len(pairs) <= AT_ONCE:
            self._draw_rest()

    def __len__(self) -> int:
        return len(self._pairs)

    def take(self, wanted: int, keep: Keep | None = None) -> Codes:
        """The first pairs, or the first of those to keep; fewer if there are not enough."""
        if keep is None:
            return self._first(wanted)[:wanted]
        n = wanted
        while True:
            first = self._first(n)
            kept = _first_kept(first, wanted, keep)
            if len(kept) == wanted or len(first) == len(self):
                return kept
            n = 2 * len(first)

    def _first(self, n: int) -> Codes:
        """At least this number of pairs, or all that there are."""
        n = min(n, len(self))
        while len(self._ranks) < n:
            self._draw_some(max(n, _FIRST) - len(self._ranks))
        if len(self._drawn) < n:
            # Once all ranks are drawn, their pairs are looked up as far as they are needed.
            upto = 2 * n if len(self._ranks) == len(self) else len(self._ranks)
            new = self._ranks[len(self._drawn) : upto]
            self._drawn = np.concatenate((self._drawn, self._pairs[new]))
        return self._drawn

    def _draw_some(self, number: int) -> None:
        number += number // 8
        if self._weights is None:
            ranks = self._rng.integers(len(self), size=number)
        else:
            totals = self._weights.totals
            ranks = np.searchsorted(totals, self._rng.random(number) * totals[-1], side="right")
            ranks = np.minimum(ranks, len(self) - 1)
        ranks = np.concatenate((self._ranks, ranks))
        _, first = np.unique(ranks, return_index=True)
        before, self._ranks = len(self._ranks), ranks[np.sort(first)]
        if (len(self._ranks) - before) * _RARE < number:
            self._draw_rest()

    def _draw_rest(self) -> None:
        left = np.ones(len(self), dtype=bool)
        left[self._ranks] = False
        ranks = np.flatnonzero(left)
        if self._weights is None:
            ranks = self._rng.permutation(ranks)
        else:
            # The order of exponential waiting times is that of weighted draws.
            waits = self._rng.exponential(size=len(ranks)) / self._weights.values[ranks]
            ranks = ranks[np.argsort(waits)]
        self._ranks = np.concatenate((self._ranks, ranks))


def _first_kept(codes: Codes, wanted: int, keep: Keep) -> Codes:
    """The first pairs to keep; no more pairs are looked at than needed, in growing parts."""
    n = 2 * wanted + _SOME
    while True:
        part = codes[:n]
        kept = part[keep(part)]
        if len(kept) >= wanted or n >= len(codes):
            return kept[:wanted]
        n *= 4
