"""How far to look ahead: what an oracle's answers cost, and how likely the next one ends a walk.

Nothing here changes a result. A walk that asks one by one until an answer is yes may have the next
few graphs evaluated together; those behind the yes were evaluated for nothing. `QueryTiming` fits
what a call and a graph cost, `FlipOdds` how often the answer was yes; together they give the batch
size that costs least per query.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

WASTE = 0.10  # share of the questions by which a blind walk may evaluate more than it asks
_FORGET = 0.9  # what an old measurement weighs after each new one
_HICCUP = 2.0  # what takes longer than so many times the usual counts as that
_WALKS = 8  # walks that the usual length is a mean of
_HEAD_START = 0.25  # of a usual walk; short ones are common too
_UNTRIED = 1.0  # a call costs as much as a graph, until measured
_UNNOTICED = 0.001  # seconds that a batch may take whatever it wastes
_AGAIN = 32  # calls with one graph before two are tried again
_TRIALS = 4  # batches to see before the clock is believed


class QueryTiming:
    """What an oracle's answers cost: so much a call and so much a graph, by the clock.

    Both come from a line fitted to the sizes and times of past calls, recent ones weighing more.
    An oracle that is slower in batches than alone gets a call that costs nothing, and so is asked
    one by one.
    """

    __slots__ = ("_last", "_n", "_s", "_ss", "_st", "_t", "alone", "batches", "making", "usual")

    def __init__(self) -> None:
        self._n = self._s = self._t = self._ss = self._st = 0.0
        self._last = _UNTRIED
        self.batches = 0
        self.alone = 0  # calls with one graph since the last with more
        self.making = 0.0  # seconds that the caller takes to make one graph to ask about
        self.usual = 0.0  # questions of a blind walk with this oracle, up to its end

    def record(self, size: int, seconds: float) -> None:
        """Take note of one call."""
        keep = _FORGET
        if self.batches > _TRIALS:  # another program had the machine: do not take it for the oracle
            expected = self._t / self._s * size
            seconds = min(seconds, _HICCUP * expected)
        # Seconds per graph count, not seconds: else the largest batches alone decide.
        weight = 1.0 / size
        self._n = keep * self._n + weight
        self._s = keep * self._s + weight * size
        self._t = keep * self._t + weight * seconds
        self._ss = keep * self._ss + weight * size * size
        self._st = keep * self._st + weight * size * seconds
        self.batches += size > 1
        self.alone = 0 if size > 1 else self.alone + 1

    @property
    def graph(self) -> float:
        """Seconds that one graph more in a batch takes, its making included."""
        if not self._s:
            return math.inf
        mean = self._t / self._s  # a graph more costs no more than a graph does on average
        spread = self._n * self._ss - self._s * self._s
        if spread > 1e-3 * self._n * self._ss:
            mean = min(mean, max(0.0, (self._n * self._st - self._s * self._t) / spread))
        return mean + self.making

    def record_walk(self, n_questions: int) -> None:
        """Take note of how many questions a blind walk took."""
        self.usual += (n_questions - self.usual) / _WALKS

    def walk_odds(self) -> FlipOdds:
        """The odds that a new walk begins with: as if a part of a usual one lay behind it."""
        odds = FlipOdds()
        odds.count(int(_HEAD_START * self.usual))
        return odds

    def record_making(self, size: int, seconds: float) -> None:
        """Take note of how long the graphs of one batch took to be made."""
        each = seconds / size
        if self.making:
            each = min(each, _HICCUP * self.making)
        self.making += (1 - _FORGET) * (each - self.making)

    @property
    def ratio(self) -> float:
        """Cost of a call over the cost of one graph more in it, that graph's making included."""
        if self.batches < _TRIALS:
            return _UNTRIED
        spread = self._n * self._ss - self._s * self._s
        if spread > 1e-3 * self._n * self._ss:  # else all sizes were alike lately: nothing new
            slope = (self._n * self._st - self._s * self._t) / spread
            call = (self._t - slope * self._s) / self._n
            self._last = max(0.0, call / max(slope + self.making, 1e-3 * abs(call), 1e-12))
        return self._last


class FlipOdds:
    """How likely the next answer is a yes, judged by the answers so far.

    Parameters
    ----------
    waste : by what share of the questions the walk may, on average, evaluate more than it asks.
    memory : after about so many answers an old one is forgotten; None for never.
    freely : look this far ahead in any case, if the batch takes no longer than a millisecond:
        then nobody notices what it wastes, and an oracle that is asked seldom is spared calls.
    """

    __slots__ = ("_keep", "asked", "freely", "waste", "yes")

    def __init__(self, waste: float = WASTE, memory: int | None = None, freely: int = 1) -> None:
        self.waste = waste
        self.freely = freely
        self._keep = 1.0 if memory is None else 1.0 - 1.0 / memory
        self.asked = 0.0
        self.yes = 0.0

    def count(self, n: int, *, yes: int = 0) -> None:
        """Take note of ``n`` more answers, and of how many were a yes."""
        if self._keep < 1.0 and n:
            keep = self._keep**n
            self.asked *= keep
            self.yes *= keep
        self.asked += n
        self.yes += yes

    @property
    def chance(self) -> float:
        """Chance that the next answer is a yes."""
        return min(1.0, (self.yes + 1.0) / (self.asked + 1.0))

    def best_batch(self, pace: QueryTiming) -> int:
        """How many graphs to evaluate together, at least one.

        With a chance h of a yes and a call that costs r graphs, n graphs answer
        (1 - (1 - h)^n) / h questions for r + n. The least cost per question lies near
        n = √(2 r / h), and the n graphs waste about h n / 2 of themselves.
        """
        h = self.chance
        cheapest = math.sqrt(2.0 * pace.ratio / h)
        best = max(1, int(min(cheapest, 2.0 * self.waste / h)))
        if best < self.freely:
            best = max(best, min(self.freely, int(_UNNOTICED / max(pace.graph, 1e-9))))
        if best == 1 and pace.alone >= _AGAIN and h < 0.5:
            return 2  # the clock may have been wrong: now and then try two
        return best


_paces: dict[int, tuple[Any, QueryTiming]] = {}  # by the id of an oracle, as long as it lives


def pace_of(oracle: Any) -> QueryTiming:
    """What is known of this oracle's speed, from earlier sessions too."""
    owner = getattr(oracle, "function", oracle)  # a function is wrapped anew for every session
    place = id(owner)
    if place not in _paces:
        try:
            _paces[place] = (weakref.ref(owner, lambda _: _paces.pop(place, None)), QueryTiming())
        except TypeError:  # nobody could tell us of its end
            return QueryTiming()
    return _paces[place][1]
