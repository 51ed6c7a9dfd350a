"""`ClaimSearch`: how `brief` looks for claims that are true as read, in one language.

Single places first, then sets; what holds on a handful of redraws is brought to its smallest
amounts, and then to a verdict on redraws that the search never saw.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from denseflip.as_read import READINGS
from denseflip.counterfactual import AsRead, Label, Reading
from denseflip.graph import Codes, Nodes, Taxonomy
from denseflip.search.claims.claim import Amount, Amounts, Claim, Place, node_taxonomy, total
from denseflip.search.claims.moves import Classes, Move, moves_of, one_each
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw, Repeats, TooFewError
from denseflip.search.core.probing import Probe, certify, gallop, joined, lexmin
from denseflip.search.core.problem import Problem

CONFIRM, MISSES = 60, 3  # fresh redraws of the verdict, and how many of them may fail
_STEP = 1.08  # amounts are settled to this factor
_GROWTH = 2.0  # a single place that does not hold yet is given so much more
_SINGLES = 32  # places tried alone
_SMALL = 0.05  # of the edges: what changes no more is told without looking for a weaker reading
_TRIES = 24  # tests of single places
_FAINT = 0.5  # standard deviations below which classes do not differ
_VERDICTS = 5  # verdicts asked for, each with larger steps

Marks = tuple[int, int, int]  # places named, edits, truth rank of the reading: less is better


@dataclass(frozen=True, eq=False)
class VerifiedClaim:
    """A claim that held: with the outcome of its verdict, and one redraw that flips.

    Its effort is its edits, those of each place divided by how clearly the classes differ there.
    """

    claim: Claim
    as_read: AsRead
    parts: tuple[Codes, ...]
    effort: float

    @property
    def cells(self) -> int:
        """Places that the sentence names."""
        return len(self.claim.amounts)

    @property
    def edits(self) -> int:
        """Pairs that it changes."""
        return self.claim.total

    @property
    def rank(self) -> int:
        """Truth rank of the reading, 0 for the truest."""
        return READINGS.index(self.claim.reading)

    @property
    def marks(self) -> Marks:
        """What a front compares."""
        return self.cells, self.edits, self.rank


def beats(one: Marks, other: Marks) -> bool:
    """Whether an answer is at least as good in cells, edits and truth, and better in one."""
    return one != other and all(x <= y for x, y in zip(one, other, strict=True))


def pareto_front(marks: Sequence[Marks]) -> list[int]:
    """Positions of the answers that no other beats, fewest cells first; of equal ones the first.

    >>> pareto_front([(2, 9, 0), (1, 30, 0), (1, 40, 0), (2, 9, 0)])
    [1, 0]
    """
    kept: dict[Marks, int] = {}
    for i, one in enumerate(marks):
        if not any(beats(other, one) for other in marks):
            kept.setdefault(one, i)
    return [kept[key] for key in sorted(kept)]


def shortest(told: Sequence[VerifiedClaim]) -> VerifiedClaim:
    """The one to tell: fewest cells; among those a weaker reading must halve the effort."""
    return told[preferred([(one.cells, one.effort, one.rank) for one in told])]


def preferred(answers: Sequence[tuple[int, float, int]]) -> int:
    """The number of the answer to tell, of several with so many cells, such effort and rank."""
    few = min(cells for cells, _, _ in answers)
    rest = sorted(
        (rank, effort, i) for i, (cells, effort, rank) in enumerate(answers) if cells == few
    )
    best = rest[0]
    for rank, effort, i in rest[1:]:
        if effort * 2 ** (rank - best[0]) <= best[1] and effort < best[1]:
            best = (rank, effort, i)
    return best[2]


class ClaimSearch:
    """One search for claims in one language: what is known so far, and the moves it makes."""

    def __init__(
        self,
        problem: Problem,
        probe: Probe,
        places: Places,
        readings: Sequence[Reading],
        max_cells: int,
        thorough: bool,
    ) -> None:
        self.problem, self.probe = problem, probe
        self.max_cells, self.thorough = max_cells, thorough
        self.told: list[VerifiedClaim] = []
        current, target = problem.frequencies("brief")
        classes = Classes.of(places, *problem.split_background("brief"))
        names = places.taxonomy
        if names is None:
            names = node_taxonomy(problem.nodes or Nodes.numbered(problem.graph.n_nodes))
        self.asks: list[tuple[_Ask, list[Move]]] = []
        for reading in readings:
            redraw = Redraw(places, reading, current, target)
            if moves := moves_of(redraw, classes, problem.check_time):
                repeats = Repeats(redraw, problem.rng)
                ask = _Ask(probe, redraw, repeats, moves, problem.rng, names)
                self.asks.append((ask, moves))

    def search(self) -> None:
        """One place in every reading; then, if that is not enough, several."""
        found: list[tuple[_Ask, Amounts]] = []
        for ask, moves in self.asks:
            moves = moves[:_SINGLES]
            # A weaker reading is worth its words if it halves the effort.
            limit = min((a.effort(amounts) for a, amounts in found), default=math.inf) / 2
            single = self._single(ask, moves, math.inf if self.thorough else limit)
            if single is not None:
                found.append((ask, single))
                if total(single) <= _SMALL * self.problem.graph.n_edges and not self.thorough:
                    break
            if self.thorough and single is not None:
                cheapest = self._single(ask, moves, math.inf, total)
                if cheapest is not None and cheapest != single:
                    found.append((ask, cheapest))
        self._settle(found)
        if self.max_cells == 1 or (self.told and not self.thorough):
            return
        found = []
        for force in (None, 1.0):
            for ask, moves in self.asks:
                some = self._several(ask, one_each(moves), force)
                if some is not None:
                    found.append((ask, some))
            if found and not self.thorough:
                break
        self._settle(found)

    def _settle(self, found: list[tuple[_Ask, Amounts]]) -> None:
        """Bring claims to their smallest amounts and to their verdict, the preferred one first."""
        while found:
            facts = [(len(c), a.effort(c), READINGS.index(a.redraw.reading)) for a, c in found]
            ask, amounts = found.pop(preferred(facts))
            if self._beaten(ask, amounts):
                continue
            told = ask.verdict(ask.shrunk(amounts))
            if told is not None and not self._too_large(told):
                self.told.append(told)
                if not self.thorough:
                    return

    def _too_large(self, told: VerifiedClaim) -> bool:
        """Whether the user's terms allow no answer of this size."""
        terms = self.problem.constraints
        codes = np.sort(joined(told.parts))
        return terms is not None and terms.too_large(self.probe.graph(codes)) is not None

    def _beaten(self, ask: _Ask, amounts: Amounts) -> bool:
        """Whether a claim will be beaten by what is told, even with half of its edits."""
        rank = READINGS.index(ask.redraw.reading)
        return any(
            one.cells <= len(amounts) and one.rank <= rank and one.edits <= total(amounts) / 2
            for one in self.told
        )

    def _single(
        self,
        ask: _Ask,
        moves: Sequence[Move],
        limit: float,
        cost: Callable[[Amounts], float] | None = None,
    ) -> Amounts | None:
        """The place that needs the least effort to hold alone, within a factor.

        Each is asked about once at its usual amount and once at its most; what flips is halved for
        as long as it does. From there the places compete: the one with the least effort is tested
        and, if it fails, gets more, until one holds.
        """
        cost = cost or ask.effort
        usual = [ask.within((move.times(1),), limit) for move in moves]
        full = [ask.within((move.full,), limit) for move in moves]
        n = len(moves)
        flips = ask.repeats.screened([*usual, *full], ask.probe)
        least: dict[int, Amounts] = {}
        for i in range(n):
            if flips[i]:
                least[i] = usual[i]
            elif flips[n + i]:
                least[i] = full[i]
        going = sorted(least)
        while going:
            halves = [ask.scaled(least[i], 0.5) for i in going]
            changed = [(i, half) for i, half in zip(going, halves, strict=True) if half != least[i]]
            flipped = ask.repeats.screened([half for _, half in changed], ask.probe)
            going = []
            for (i, half), yes in zip(changed, flipped, strict=True):
                if yes:
                    least[i] = half
                    going.append(i)
        for factor in (0.7, 0.84):  # within a factor of two so far; places are told apart by less
            parts = [ask.scaled(amounts, factor) for amounts in least.values()]
            flipped = ask.repeats.screened(parts, ask.probe)
            least |= {i: p for i, p, yes in zip(least, parts, flipped, strict=True) if yes}
        queue = [(cost(amounts), i, amounts) for i, amounts in least.items()]
        heapq.heapify(queue)
        for _ in range(_TRIES):
            if not queue:
                return None
            _, i, amounts = heapq.heappop(queue)
            if ask.holds(amounts):
                return amounts
            more = ask.within(ask.scaled(amounts, _GROWTH), limit)
            if total(more) > total(amounts):
                heapq.heappush(queue, (cost(more), i, more))
        return None

    def _several(self, ask: _Ask, moves: Sequence[Move], force: float | None) -> Amounts | None:
        """A few places that hold together, moved by so many times the usual, or all the way."""

        def amounts(some: Sequence[Move]) -> Amounts:
            return tuple(move.full if force is None else move.times(force) for move in some)

        def enough(some: Sequence[Move]) -> bool:
            return ask.seems(amounts(some))

        k = gallop(len(moves), lambda k: enough(moves[:k]))
        if k is None:
            return None
        chosen = lexmin(moves[:k], enough, most=self.max_cells)
        if chosen is None:
            return None
        chosen = certify(chosen, enough)
        wanted = amounts(chosen)
        for _ in range(6):
            if ask.holds(wanted):
                return wanted
            wanted = ask.scaled(wanted, _GROWTH)
        return None


@dataclass
class _Ask:
    """The questions of one reading: does a claim hold, how small can it be, what is the verdict."""

    probe: Probe
    redraw: Redraw
    repeats: Repeats
    moves: Sequence[Move]
    rng: np.random.Generator
    names: Taxonomy

    def __post_init__(self) -> None:
        self.most: dict[tuple[Place, int], int] = {}
        self.clarity: dict[tuple[Place, int], float] = {}
        for move in self.moves:  # a place may have a move each way
            for side in (0, 1):
                if move.usual[side]:
                    self.most[move.place, side] = move.most[side]
                    self.clarity[move.place, side] = move.clarity

    def effort(self, amounts: Amounts) -> float:
        """Edits, those of each place divided by how clearly the classes differ there.

        So what sets the classes apart is told before a place that happens to be cheap.
        """
        return sum(amount.total / self._clear(amount) for amount in amounts)

    def _clear(self, amount: Amount) -> float:
        return max(self.clarity.get((amount.place, 0 if amount.added else 1), 0.0), _FAINT)

    def within(self, amounts: Amounts, limit: float) -> Amounts:
        """The claim, made smaller if it takes more effort than that."""
        effort = self.effort(amounts)
        return amounts if effort <= limit else self.scaled(amounts, limit / effort)

    def holds(self, amounts: Amounts) -> bool:
        try:
            return self.repeats.holds(amounts, self.probe)
        except TooFewError:
            return False

    def seems(self, amounts: Amounts) -> bool:
        try:
            return self.repeats.seems(amounts, self.probe)
        except TooFewError:
            return False

    def scaled(self, amounts: Amounts, factor: float) -> Amounts:
        """The claim with amounts multiplied, as far as there is room; nothing falls to 0."""
        return tuple(self._scaled(amount, factor) for amount in amounts)

    def _scaled(self, amount: Amount, factor: float) -> Amount:
        sides = []
        for side, number in enumerate((amount.added, amount.removed)):
            new = round(number * factor)
            if factor > 1:
                new = max(new, number + 1)
            sides.append(min(max(1, new), self.most[amount.place, side]) if number else 0)
        return Amount(amount.place, *sides)

    def shrunk(self, amounts: Amounts) -> Amounts:
        """Smaller amounts that still hold: all of them together, then one by one."""
        amounts = self._least(amounts, lambda factor: self.scaled(amounts, factor))
        if len(amounts) > 1:
            for i in sorted(range(len(amounts)), key=lambda i: -amounts[i].total):
                now = amounts

                def with_less(factor: float, i: int = i, now: Amounts = now) -> Amounts:
                    return (*now[:i], self._scaled(now[i], factor), *now[i + 1 :])

                amounts = self._least(now, with_less)
        for i, amount in enumerate(amounts):  # a place that moves both ways may need only one
            if amount.added and amount.removed:
                for less in (amount._replace(added=0), amount._replace(removed=0)):
                    tried = (*amounts[:i], less, *amounts[i + 1 :])
                    if self.holds(tried):
                        amounts = tried
                        break
        return amounts

    def _least(self, amounts: Amounts, scaled: Callable[[float], Amounts]) -> Amounts:
        """Bisect a factor below 1, on a scale of factors, down to the step that amounts have."""
        low, high = 0.5, 1.0
        while self.holds(scaled(low)) and scaled(low) != scaled(high):
            low, high = low / 2, low
        while high / low > _STEP and scaled(low) != scaled(high):
            middle = (low * high) ** 0.5
            if self.holds(scaled(middle)):
                high = middle
            else:
                low = middle
        return scaled(high) if high < 1 else amounts

    def verdict(self, amounts: Amounts) -> VerifiedClaim | None:
        """Ask about fresh redraws; what fails gets a little more and is asked about again."""
        step = _STEP
        for _ in range(_VERDICTS):
            told = self._fresh(amounts)
            if told is not None:
                return told
            more = self.scaled(amounts, step)
            if more == amounts:
                return None
            amounts, step = more, step * step
        return None

    def _fresh(self, amounts: Amounts) -> VerifiedClaim | None:
        first: tuple[tuple[Codes, ...], Label] | None = None
        flipped: list[bool] = []
        accepts = self.probe.problem.accepts
        fixed = self.redraw.fixed(amounts)
        for size in (1,) if fixed else (10, 20, CONFIRM - 30):
            try:
                drawn = [tuple(self.redraw.parts(amounts, self.rng)) for _ in range(size)]
            except TooFewError:
                return None
            answers = self.probe.answers([np.sort(joined(parts)) for parts in drawn])
            for parts, answer in zip(drawn, answers, strict=True):
                flipped.append(accepts(answer.label))
                if flipped[-1]:
                    first = first or (parts, answer.label)
            if flipped.count(False) > (0 if fixed else MISSES):
                return None
        assert first is not None
        seen = self.redraw.outcome(flipped, only=fixed)
        parts, label = first
        claim = Claim(amounts, label, seen.language, self.names, seen.reading)
        return VerifiedClaim(claim, seen, parts, self.effort(amounts))
