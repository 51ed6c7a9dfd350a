"""`ClaimSearch`: how `brief` searches for claims that are true as read, in one language.

It tries single places first, then sets of places. A claim that holds on a few redraws is reduced
to its smallest amounts, and then verified on redraws that the search has not seen.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from denseflip.as_read import READINGS
from denseflip.counterfactual import Label, Reading
from denseflip.graph import Codes, Nodes, Taxonomy
from denseflip.search.claims.claim import Amount, Amounts, Claim, Place, node_taxonomy, total
from denseflip.search.claims.elsewhere import Elsewhere, TooFewError
from denseflip.search.claims.forecast import Forecast, by_effort, by_gain, is_curved, is_ranked
from denseflip.search.claims.moves import Move, moves_of, one_each, within_limits
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.reference import Limits, Reference
from denseflip.search.claims.repeats import Repeats
from denseflip.search.claims.verified_claim import (
    VerifiedClaim,
    preferred,
)
from denseflip.search.core.probing import Probe, certify, gallop, joined, lexmin
from denseflip.search.core.problem import Problem

CONFIRM, MISSES = 60, 3  # fresh redraws for verification, and how many of them may fail
_STEP = 1.08  # amounts are determined up to this factor
_GROWTH = 2.0  # factor for the amount of a place that does not hold yet
_SINGLES = 32  # places tried alone
_SMALL = 0.05  # share of the edges; a smaller change is taken without trying weaker readings
_TRIES = 24  # tests of single places
_FAINT = 0.5  # standard deviations below which classes do not differ
_DISTINCT = 1.0  # standard deviations from which classes differ clearly
_FIRST, _CLEAR = 6, 2  # places of which all small sets are tried: the first, and the clearest
_SET = 3  # places of a small set
_TESTED = 6  # sets tested
_LIKELY = 8  # sets queried if a gradient ranks them
_VERDICTS = 5  # attempts to verify a claim, each with a larger step


class ClaimSearch:
    """A search for claims in one language, with the claims found so far.

    In range, with ``towards``, places in which the classes clearly differ move towards the new
    class. False searches only where that makes a difference, after a search with True; None does
    not ask for it.
    """

    def __init__(
        self,
        problem: Problem,
        probe: Probe,
        reference: Reference,
        readings: Sequence[Reading],
        max_cells: int,
        thorough: bool,
        *,
        in_range: bool,
        balanced: bool,
        towards: bool | None = True,
        singles: bool = True,
        total: bool = True,
    ) -> None:
        self.problem, self.probe, self.singles = problem, probe, singles
        self.max_cells, self.thorough = max_cells, thorough
        self.wider: Callable[[], ClaimSearch] | None = None
        self.verified: list[VerifiedClaim] = []
        current, target = problem.frequencies("brief")
        places = reference.places
        elsewhere = Elsewhere(places, current, target) if balanced else None
        names = places.taxonomy
        if names is None:
            names = node_taxonomy(problem.nodes or Nodes.numbered(problem.graph.n_nodes))
        self.tests: list[tuple[ClaimTest, list[Move]]] = []
        for reading in readings if problem.by_type is None else ("any",):
            redraw = Redraw(places, reading, current, target, elsewhere)
            limits = Limits(reference, redraw, total=total) if reference.is_known else None
            moves = moves_of(redraw, reference, problem.check_time)
            if in_range and limits is not None:
                all_moves, moves = moves, within_limits(moves, limits, towards=bool(towards))
                if towards is False and moves == within_limits(all_moves, limits):
                    continue  # the same search as before
            if moves:
                repeats = Repeats(redraw, problem.rng)
                rng = problem.rng
                test = ClaimTest(probe, redraw, repeats, moves, rng, names, limits, in_range)
                self.tests.append((test, by_gain(test, moves) if is_ranked(probe) else moves))

    def search(self) -> None:
        """Try one place in every reading; if that is not enough, several places."""
        found: list[tuple[ClaimTest, Amounts]] = []
        for test, moves in self.tests if self.singles else []:
            moves = by_effort(test, moves, _SINGLES)
            # A weaker reading must halve the effort.
            limit = min((a.effort(amounts) for a, amounts in found), default=math.inf) / 2
            single = self._single(test, moves, math.inf if self.thorough else limit)
            if single is not None:
                found.append((test, single))
                if total(single) <= _SMALL * self.problem.graph.n_edges and not self.thorough:
                    break
            if self.thorough and single is not None:
                cheapest = self._single(test, moves, math.inf, total)
                if cheapest is not None and cheapest != single:
                    found.append((test, cheapest))
        self._settle(found)
        if self.max_cells == 1 or (self.verified and not self.thorough):
            return
        found = []
        for force in (None, 1.0):
            for test, moves in self.tests:
                found += [(test, some) for some in self._several(test, one_each(moves), force)]
            if found and not self.thorough:
                break
        if self.widen(found) and not self.thorough:
            return
        self._settle(found)

    def widen(self, found: Sequence[tuple[ClaimTest, Amounts]]) -> bool:
        """Search for one wider place if cells need several, and say whether one was found.

        Cells in one of which the classes differ clearly say more than a wider place, so they stay.
        """
        if self.wider is None or not found:
            return False
        for test, amounts in found:
            clear = (abs(test.clarity.get((x.place, s), 0.0)) for x in amounts for s in (0, 1))
            if len(amounts) == 1 or max(clear) >= _DISTINCT:
                return False
        wider = self.wider()
        wider.search()
        self.verified += wider.verified
        return bool(wider.verified)

    def _settle(self, found: list[tuple[ClaimTest, Amounts]]) -> None:
        """Reduce claims to their smallest amounts and verify them, the preferred one first."""
        while found:
            facts = [(len(c), a.effort(c), READINGS.index(a.redraw.reading)) for a, c in found]
            test, amounts = found.pop(preferred(facts))
            if self._beaten(test, amounts):
                continue
            verified = test.verdict(test.inside(test.shrunk(amounts)))
            if verified is not None and not self._too_large(verified):
                self.verified.append(verified)
                if not self.thorough:
                    return

    def _too_large(self, verified: VerifiedClaim) -> bool:
        """Whether the user's constraints exclude an answer of this size."""
        bound = self.problem.constraints
        codes = np.sort(joined(verified.parts))
        return bound is not None and bound.too_large(self.probe.graph(codes)) is not None

    def _beaten(self, test: ClaimTest, amounts: Amounts) -> bool:
        """Whether a verified claim beats this one, even with half of its edits."""
        rank = READINGS.index(test.redraw.reading)
        return any(
            one.cells <= len(amounts) and one.rank <= rank and one.edits <= total(amounts) / 2
            for one in self.verified
        )

    def _single(
        self,
        test: ClaimTest,
        moves: Sequence[Move],
        limit: float,
        cost: Callable[[Amounts], float] | None = None,
    ) -> Amounts | None:
        """The place that needs the least effort to hold alone, up to a factor.

        Each place is queried at its usual amount and at its largest amount. Amounts that flip are
        halved until they no longer flip. Then the place with the least effort is tested; if it
        fails, its amount is increased, until one place holds.
        """
        if cost is None and is_curved(test.probe):
            return self._tested(test, self._in_order(test, moves, limit), limit, test.effort)
        cost = cost or test.effort
        usual = [test.within(test.fit((move.times(1),)), limit) for move in moves]
        full = [test.within(test.fit((move.full,)), limit) for move in moves]
        n = len(moves)
        flips = test.repeats.screened([*usual, *full], test.probe)
        least: dict[int, Amounts] = {}
        for i in range(n):
            if flips[i]:
                least[i] = usual[i]
            elif flips[n + i]:
                least[i] = full[i]
        going = sorted(least)
        while going:
            halves = [test.scaled(least[i], 0.5) for i in going]
            changed = [(i, half) for i, half in zip(going, halves, strict=True) if half != least[i]]
            flipped = test.repeats.screened([half for _, half in changed], test.probe)
            going = []
            for (i, half), yes in zip(changed, flipped, strict=True):
                if yes:
                    least[i] = half
                    going.append(i)
        for factor in (0.7, 0.84):  # known up to a factor of two; places differ by less
            parts = [test.scaled(amounts, factor) for amounts in least.values()]
            flipped = test.repeats.screened(parts, test.probe)
            least |= {i: p for i, p, yes in zip(least, parts, flipped, strict=True) if yes}
        return self._tested(test, list(least.values()), limit, cost)

    def _in_order(self, test: ClaimTest, moves: Sequence[Move], limit: float) -> list[Amounts]:
        """The amounts at which moves flip, up to a factor, in the order that a gradient gave them.

        A move is queried at its largest amount, or at the least effort at which another flips. So
        one that takes more effort costs one query.
        """

        def flips(amounts: Amounts) -> bool:
            return test.repeats.screened([amounts], test.probe)[0]

        found = []
        for move in moves:
            amounts = test.within(test.fit((move.full,)), limit)
            if not flips(amounts):
                continue
            while (half := test.scaled(amounts, 0.5)) != amounts and flips(half):
                amounts = half
            for factor in (0.7, 0.84):
                less = test.scaled(amounts, factor)
                amounts = less if flips(less) else amounts
            found.append(amounts)
            limit = min(limit, test.effort(amounts))
        return found

    def _tested(
        self,
        test: ClaimTest,
        found: Sequence[Amounts],
        limit: float,
        cost: Callable[[Amounts], float],
    ) -> Amounts | None:
        """The claim with the least cost that holds; the amounts of one that fails are increased."""
        queue = [(cost(amounts), i, amounts) for i, amounts in enumerate(found)]
        heapq.heapify(queue)
        for _ in range(_TRIES):
            if not queue:
                return None
            _, i, amounts = heapq.heappop(queue)
            if test.holds(amounts):
                return amounts
            more = test.within(test.scaled(amounts, _GROWTH), limit)
            if total(more) > total(amounts):
                heapq.heappush(queue, (cost(more), i, more))
        return None

    def _several(
        self, test: ClaimTest, moves: Sequence[Move], force: float | None
    ) -> list[Amounts]:
        """A few places that hold together, with ``force`` times the usual amounts or all."""

        def enough(some: Sequence[Amount]) -> bool:
            return test.seems(tuple(some))

        found, chosen = [], None
        # The moves that a gradient puts first are enough, or no others are.
        first = moves[: self.max_cells] if is_ranked(test.probe) else moves
        full = test.fit(tuple(m.full if force is None else m.times(force) for m in first))
        if k := gallop(len(full), lambda k: enough(full[:k])):
            chosen = lexmin(full[:k], enough, most=self.max_cells)
        if chosen is not None:
            wanted = tuple(certify(chosen, enough))
            for _ in range(6):
                if test.holds(wanted):
                    found.append(wanted)
                    break
                wanted = test.scaled(wanted, _GROWTH)
        if (
            force is None
            and test.in_range
            and self.singles
            and (chosen or not is_curved(test.probe))
        ):
            few = self._small_set(test, moves, min(map(len, found), default=self.max_cells))
            if few is not None and few not in found:
                found.append(few)
        return found

    def _small_set(self, test: ClaimTest, moves: Sequence[Move], most: int) -> Amounts | None:
        """Two or three of the first places that hold together with their largest amounts.

        Adding places in one order misses these if the labels are not monotone, and need not find
        the places in which the classes differ most clearly. Every set of three takes one query,
        and every pair that is part of one that flips. Of the sets that flip, those with the least
        effort are tested.
        """
        clear = sorted(moves, key=lambda move: -move.clarity)
        first = list(dict.fromkeys((*moves[:_FIRST], *clear[:_CLEAR])))
        size, best = min(most, _SET), None
        sets = list(combinations(first, size))
        while size > 1 and sets:
            full = [test.fit(tuple(move.full for move in some)) for some in sets]
            flips = test.repeats.screened(full, test.probe, most=_LIKELY)
            flipped = [some for some, yes in zip(full, flips, strict=True) if yes]
            tested = sorted(flipped, key=test.effort)[:_TESTED]
            best = next((some for some in tested if test.holds(some)), best)
            size -= 1
            kept = [some for some, yes in zip(sets, flips, strict=True) if yes]
            sets = list(dict.fromkeys(part for some in kept for part in combinations(some, size)))
        return best


@dataclass
class ClaimTest:
    """Tests claims in one reading: whether they hold, how small they can be, and verification."""

    probe: Probe
    redraw: Redraw
    repeats: Repeats
    moves: Sequence[Move]
    rng: np.random.Generator
    names: Taxonomy
    limits: Limits | None
    in_range: bool

    def __post_init__(self) -> None:
        self.most: dict[tuple[Place, int], int] = {}
        self.clarity: dict[tuple[Place, int], float] = {}
        self.gains: dict[Move, float] = {}  # expected by a gradient, at the full amount
        for move in self.moves:  # a place may have one move in each direction
            for side in (0, 1):
                if move.usual[side]:
                    self.most[move.place, side] = move.most[side]
                    self.clarity[move.place, side] = move.clarity

    def effort(self, amounts: Amounts) -> float:
        """The edits, divided in each place by how clearly the classes differ there.

        So a place that distinguishes the classes is preferred to one that happens to need few
        edits.
        """
        return sum(
            x.total / max(self.clarity.get((x.place, 0 if x.added else 1), 0.0), _FAINT)
            for x in amounts
        )

    def within(self, amounts: Amounts, limit: float) -> Amounts:
        """The claim, scaled down if its effort exceeds the limit."""
        effort = self.effort(amounts)
        return amounts if effort <= limit else self.scaled(amounts, limit / effort)

    def fit(self, amounts: Amounts) -> Amounts:
        """The claim, reduced until every place is in range."""
        if self.limits is None or not self.in_range:
            return amounts
        return tuple(map(self.limits.clip, amounts))

    def inside(self, amounts: Amounts) -> Amounts:
        """The claim, increased where that brings a place from outside into the interval.

        The smallest change of a graph that lies outside would end between it and real graphs.
        """
        if self.limits is None or not self.in_range:
            return amounts
        more = tuple(map(self.limits.reach, amounts))
        return more if more == amounts or self.holds(more) else amounts

    def allows(self, amounts: Amounts) -> bool:
        """Whether the claim is in range, if it has to be."""
        return not self.in_range or self.limits is None or self.limits.allow(amounts)

    def holds(self, amounts: Amounts) -> bool:
        """Whether the claim holds on the redraws of the search."""
        if not self.allows(amounts):
            return False
        try:
            return self.repeats.holds(amounts, self.probe)
        except TooFewError:
            return False

    def seems(self, amounts: Amounts) -> bool:
        """Whether the first few redraws of the search flip."""
        try:
            return self.repeats.seems(amounts, self.probe)
        except TooFewError:
            return False

    def scaled(self, amounts: Amounts, factor: float) -> Amounts:
        """The claim with scaled amounts, at most the pairs available and at least one."""
        return self.fit(tuple(self._scaled(amount, factor) for amount in amounts))

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
                    return self.fit((*now[:i], self._scaled(now[i], factor), *now[i + 1 :]))

                amounts = self._least(now, with_less)
        for i, amount in enumerate(amounts):  # one of additions and removals may be enough
            if amount.added and amount.removed:
                for less in (amount._replace(added=0), amount._replace(removed=0)):
                    tried = (*amounts[:i], less, *amounts[i + 1 :])
                    if self.holds(tried):
                        amounts = tried
                        break
        return amounts

    def _least(self, amounts: Amounts, scaled: Callable[[float], Amounts]) -> Amounts:
        """Bisect a factor below 1 on a log scale, down to the resolution of the amounts."""
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
        """Verify a claim on fresh redraws; if it fails, increase its amounts and try again."""
        step = _STEP
        for _ in range(_VERDICTS):
            if not self.allows(amounts):
                return None
            verified = self._fresh(amounts)
            if verified is not None:
                return verified
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
        may_fail = 0 if fixed else MISSES
        try:
            for drawn in self._redrawn(amounts, may_fail, fixed=fixed):
                answers = self.probe.answers([np.sort(joined(parts)) for parts in drawn])
                for parts, answer in zip(drawn, answers, strict=True):
                    flipped.append(accepts(answer.label))
                    if flipped[-1]:
                        first = first or (parts, answer.label)
                if flipped.count(False) > may_fail:
                    return None
        except TooFewError:
            return None
        if first is None:
            return None
        seen = self.redraw.outcome(flipped, only=fixed)
        parts, label = first
        balanced = self.redraw.elsewhere is not None
        claim = Claim(amounts, label, seen.language, self.names, seen.reading, balanced)
        seen = replace(seen, places=claim.place_names, balanced=balanced)
        in_range = None
        if self.limits is not None:
            in_range = self.limits.allow(amounts) and self.limits.allow_total(amounts)
        return VerifiedClaim(claim, seen, parts, self.effort(amounts), in_range, self)

    def _redrawn(
        self, amounts: Amounts, may_fail: int, *, fixed: bool
    ) -> Iterator[list[tuple[Codes, ...]]]:
        """Fresh redraws in batches; none if a gradient foresees that too many will fail."""
        probe, misses, checked = self.probe, 0, []
        for size in (1,) if fixed else (10, 20, CONFIRM - 30):
            drawn = [tuple(self.redraw.parts(amounts, self.rng)) for _ in range(size)]
            if not isinstance(probe, Forecast):
                yield drawn
                continue
            misses += probe.misses([np.sort(joined(parts)) for parts in drawn], amounts)
            if misses > may_fail:
                return
            checked.append(drawn)
        yield from checked
