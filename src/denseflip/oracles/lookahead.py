"""How far to look ahead: the cost of an oracle's answers, and the chance of a yes.

Nothing here changes a result. A search that queries one graph at a time until an answer is yes may
evaluate the next few graphs together; those after the yes are wasted. `QueryTiming` estimates the
cost of a call and of a graph, `FlipOdds` how often the answer was yes. Together they give the
batch size with the lowest cost per query.
"""

from __future__ import annotations

import math
import weakref
from typing import Any

WASTE = 0.10  # share of evaluations beyond the queries that a stream may waste
_FORGET = 0.9  # weight of an old measurement after each new one
_HICCUP = 2.0  # a time longer than this multiple of the usual one is capped to it
_WALKS = 8  # number of streams that the usual length averages over
_HEAD_START = 0.25  # of the usual length; short streams are common too
_UNTRIED = 1.0  # a call costs as much as a graph, until measured
_UNNOTICED = 0.001  # seconds that a batch may take regardless of waste
_AGAIN = 32  # calls with one graph before two are tried again; doubled each time, up to
_SELDOM = 512
_SLOWER = -0.25  # fitted cost of a call, in graphs, below which batches are slower
_TRIALS = 4  # batches to measure before the timing is trusted


class QueryTiming:
    """Measured cost of an oracle's answers: seconds per call and seconds per graph.

    Both come from a line fitted to the sizes and times of past calls; recent ones weigh more. For
    an oracle that is slower in batches, the estimated cost of a call is zero, so it is queried one
    graph at a time.
    """

    __slots__ = (
        *("_last", "_n", "_s", "_ss", "_st", "_t"),
        *("again", "alone", "batches", "making", "usual"),
    )

    def __init__(self) -> None:
        self._n = self._s = self._t = self._ss = self._st = 0.0
        self._last = _UNTRIED
        self.batches = 0
        self.alone = 0  # calls with one graph since the last batch
        self.again = _AGAIN  # such calls until a batch is tried again
        self.making = 0.0  # seconds that the caller takes to generate one graph
        self.usual = 0.0  # usual number of queries of a stream with this oracle

    def record(self, size: int, seconds: float) -> None:
        """Record one call."""
        keep = _FORGET
        if self.batches > _TRIALS:  # a busy machine must not be taken for a slow oracle
            expected = self._t / self._s * size
            seconds = min(seconds, _HICCUP * expected)
        # Fit seconds per graph, not seconds: else the largest batches alone decide.
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
        """Seconds per additional graph in a batch, its generation included."""
        if not self._s:
            return math.inf
        mean = self._t / self._s  # an additional graph costs at most the average
        spread = self._n * self._ss - self._s * self._s
        if spread > 1e-3 * self._n * self._ss:
            mean = min(mean, max(0.0, (self._n * self._st - self._s * self._t) / spread))
        return mean + self.making

    def record_walk(self, n_questions: int) -> None:
        """Record how many queries a stream took."""
        self.usual += (n_questions - self.usual) / _WALKS

    def walk_odds(self) -> FlipOdds:
        """The initial odds of a new stream: as if part of a usual one had passed."""
        odds = FlipOdds()
        odds.count(int(_HEAD_START * self.usual))
        return odds

    def record_making(self, size: int, seconds: float) -> None:
        """Record how long the graphs of one batch took to generate."""
        each = seconds / size
        if self.making:
            each = min(each, _HICCUP * self.making)
        self.making += (1 - _FORGET) * (each - self.making)

    @property
    def ratio(self) -> float:
        """Cost of a call over the cost of one more graph in it, its generation included."""
        return max(0.0, self._fitted())

    @property
    def slower(self) -> bool:
        """Whether a graph in a batch clearly takes longer than alone: the fitted cost of a call is
        negative."""
        return self._fitted() < _SLOWER

    def _fitted(self) -> float:
        if self.batches < _TRIALS:
            return _UNTRIED
        spread = self._n * self._ss - self._s * self._s
        if spread > 1e-3 * self._n * self._ss:  # else recent sizes were alike: nothing new
            slope = (self._n * self._st - self._s * self._t) / spread
            call = (self._t - slope * self._s) / self._n
            self._last = call / max(slope + self.making, 1e-3 * abs(call), 1e-12)
        return self._last


class FlipOdds:
    """How likely the next answer is a yes, estimated from the answers so far.

    Parameters
    ----------
    waste : the share by which evaluations may, on average, exceed the queries.
    memory : number of answers after which an old one is forgotten; None for never.
    freely : look at least this far ahead if the batch takes at most a millisecond. The waste is
        then unnoticeable, and a rarely queried oracle needs fewer calls.
    """

    __slots__ = ("_keep", "asked", "freely", "waste", "yes")

    def __init__(self, waste: float = WASTE, memory: int | None = None, freely: int = 1) -> None:
        self.waste = waste
        self.freely = freely
        self._keep = 1.0 if memory is None else 1.0 - 1.0 / memory
        self.asked = 0.0
        self.yes = 0.0

    def count(self, n: int, *, yes: int = 0) -> None:
        """Record ``n`` more answers, of which ``yes`` were a yes."""
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

        With a chance h of a yes and a call that costs as much as r graphs, n graphs answer
        (1 - (1 - h)^n) / h queries at the cost r + n. The lowest cost per query is near
        n = √(2 r / h), and about h n / 2 of the n graphs are wasted.
        """
        h = self.chance
        cheapest = math.sqrt(2.0 * pace.ratio / h)
        best = max(1, int(min(cheapest, 2.0 * self.waste / h)))
        if best < self.freely and not pace.slower:
            best = max(best, min(self.freely, int(_UNNOTICED / max(pace.graph, 1e-9))))
        if best == 1 and pace.alone >= pace.again and h < 0.5:
            pace.again = min(2 * pace.again, _SELDOM)
            return 2  # the timing may have been wrong: try two now and then
        return best


_paces: dict[int, tuple[Any, QueryTiming]] = {}  # by the id of an oracle, while it exists


def pace_of(oracle: Any) -> QueryTiming:
    """The timing of this oracle, including earlier sessions."""
    owner = getattr(oracle, "function", oracle)  # a function is wrapped again for every session
    place = id(owner)
    if place not in _paces:
        try:
            _paces[place] = (weakref.ref(owner, lambda _: _paces.pop(place, None)), QueryTiming())
        except TypeError:  # no weak reference possible, so its end would go unnoticed
            return QueryTiming()
    return _paces[place][1]
