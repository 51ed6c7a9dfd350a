"""`StableSearch`: how `brief` searches for claims that hold for refits of the classifier as well.

It begins with the largest amounts that stay in range, and adds one place after the other, each time
the one that brings the refits nearest to the target class. Then it reduces the amounts as far as
the level holds. Only one half of the refits is queried here; the verdict comes from the other half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.graph import Graph
from denseflip.result_scores import Stability
from denseflip.search.claims.claim import Amounts
from denseflip.search.claims.claim_search import ClaimSearch, ClaimTest
from denseflip.search.claims.elsewhere import TooFewError
from denseflip.search.claims.moves import Move
from denseflip.search.claims.repeats import Repeats
from denseflip.search.claims.stability import Committee, check_refits, measure
from denseflip.search.claims.verified_claim import VerifiedClaim
from denseflip.search.core.problem import Problem

_DRAWS = 8  # redraws of a claim during the search
_SCREEN = 2  # redraws of a move before the better ones are tested on all
_FINAL = 6  # moves that are tested on all redraws
_MOVES = 32  # moves that are tried in every step
_MARGIN = 2 / 3  # the search aims this part of the way from the level to 1: refits vary
_STEP = 1.08  # amounts are determined up to this factor
_TINY = 1e-9
_CLIP = 8.0  # log odds beyond this count as certain
_LOSS = 0.01  # share that smaller amounts may cost
_PLACE = 0.03  # an additional place must raise the share by this much if the level is not reached


@dataclass(frozen=True)
class StableGoal:
    """The level that a claim should reach, the refits of the search, and those of the verdict."""

    level: float
    search: Committee
    verdict: Committee

    @classmethod
    def of(cls, problem: Problem, level: float, *, confidence: bool = True) -> StableGoal:
        """The goal of a problem: every other refit is kept for the verdict.

        With ``confidence``, the probabilities of the refits of the search are its guide.
        """
        check_refits(problem.refits, level)
        half, other = (
            Committee(
                problem.refits[start::2],
                problem.graph,
                problem.label,
                problem.constraints,
                confidence=confidence and not start,
            )
            for start in (0, 1)
        )
        return cls(level, half, other)

    @property
    def aim(self) -> float:
        """The share that the search aims at."""
        return self.level + (1 - self.level) * _MARGIN

    def meets(self, claim: VerifiedClaim) -> bool:
        """Whether a claim reaches the level on the refits of the search."""
        return claim.stable is not None and claim.stable >= self.level - 1e-9

    def best(self, claims: Sequence[VerifiedClaim]) -> VerifiedClaim:
        """The claim in range with the fewest places that reaches the level, else the most stable.

        More places must be worth it.
        """
        first = [one for one in claims if one.in_range] or list(claims)
        met = [one for one in first if self.meets(one)]
        if met:
            return min(met, key=lambda one: (one.cells, one.rank, one.effort))
        return max(first, key=lambda one: (one.stable or 0.0) - _PLACE * one.cells)

    def judge(self, claim: VerifiedClaim, rng: np.random.Generator) -> Stability:
        """The stability of a claim on the refits that the search did not use."""
        return measure(
            self.verdict, claim.redraw, claim.claim, rng, wanted=self.level, held_out=True
        )


def _safety(odds: npt.NDArray[np.float64]) -> float:
    """The mean over refits, divided by their standard deviation plus one half."""
    spread = float(odds.std(ddof=1)) if len(odds) > 1 else 0.0
    return float(odds.mean()) / (spread + 0.5)


def _expected(odds: npt.NDArray[np.float64]) -> float:
    """The probability that one more value is above 0 (Student's t, as in prediction intervals).

    >>> round(_expected(np.array([1.0, 2.0, 3.0])), 2)
    0.89
    """
    from scipy.special import stdtr

    n = len(odds)
    spread = max(float(odds.std(ddof=1)), _TINY) * math.sqrt(1 + 1 / n)
    return float(stdtr(n - 1, odds.mean() / spread))


class StableSearch(ClaimSearch):
    """A search for claims that are true as read and hold for refits of the classifier."""

    def __init__(self, *given: Any, goal: StableGoal, **named: Any) -> None:
        super().__init__(*given, **named)
        self.goal = goal

    def search(self) -> None:
        """Grow a claim in every reading; keep those that are true as read."""
        if not self.goal.search.sessions:
            return
        best = self.max_cells
        for test, moves in self.tests:
            grown = _Growth(self.problem, test, moves[:_MOVES], self.goal).run(best)
            for amounts in grown:
                verified = test.verdict(amounts)
                if verified is not None and not self._too_large(verified):
                    share = self.goal_share(test, verified)
                    self.verified.append(replace(verified, stable=share))
                    if self.goal.meets(self.verified[-1]):
                        best = min(best, verified.cells)
                    break
        self.widen([(one.test, one.claim.amounts) for one in self.verified if one.test])

    def goal_share(self, test: ClaimTest, verified: VerifiedClaim) -> float:
        """The share of fresh redraws that flip the refits of the search."""
        rng = self.problem.rng
        return measure(self.goal.search, test.redraw, verified.claim, rng).share or 0.0


class _Growth:
    """Grows a claim in one reading, place by place."""

    def __init__(
        self, problem: Problem, test: ClaimTest, moves: Sequence[Move], goal: StableGoal
    ) -> None:
        self.problem, self.test, self.moves, self.goal = problem, test, moves, goal
        self.repeats = Repeats(test.redraw, problem.rng, draws=_DRAWS)
        self.shares: dict[Amounts, float] = {}

    def run(self, max_cells: int) -> list[Amounts]:
        """Claims to verify, the most promising first."""
        chosen: tuple[Move, ...] = ()
        steps: list[tuple[float, Amounts]] = []
        for _ in range(max_cells):
            self.problem.check_time()
            longer = self._longer(chosen)
            if longer is None:
                break
            chosen, amounts = longer
            share = self.share(amounts)
            if share >= self.goal.aim and self.test.holds(amounts):
                return [self._shrunk(self._dropped(amounts))]
            steps.append((share - _PLACE * len(chosen), amounts))
        steps.sort(key=lambda step: (-step[0], len(step[1])))
        return [amounts for _, amounts in steps if self.test.holds(amounts)]

    def _longer(self, chosen: tuple[Move, ...]) -> tuple[tuple[Move, ...], Amounts] | None:
        """The claim with one more place that brings the refits nearest to the target."""
        named = {move.place for move in chosen}
        some = [(*chosen, move) for move in self.moves if move.place not in named]
        listed = [(one, self._amounts(one)) for one in some]
        listed = [one for one in listed if self.test.allows(one[1])]
        for draws in (_SCREEN, _DRAWS):
            scores = self._scores([amounts for _, amounts in listed], draws)
            order = sorted(range(len(listed)), key=lambda i: -scores[i])[:_FINAL]
            listed = [listed[i] for i in order if scores[i] > -np.inf]
        return listed[0] if listed else None

    def _amounts(self, moves: Sequence[Move]) -> Amounts:
        return self.test.fit(tuple(move.full for move in moves))

    def _graphs(self, amounts: Amounts, draws: int) -> list[Graph]:
        """Redraws of a claim, the same for all claims; none if it cannot be redrawn."""
        n = 1 if self.test.redraw.fixed(amounts) else draws
        try:
            return [self.test.probe.graph(self.repeats.codes(amounts, i)) for i in range(n)]
        except TooFewError:
            return []

    def _scores(self, several: Sequence[Amounts], draws: int) -> list[float]:
        """How safely each claim brings the refits to the target.

        The mean of their log odds, divided by how much they vary between refits.
        """
        graphs = [self._graphs(amounts, draws) for amounts in several]
        flat = [graph for some in graphs for graph in some]
        if not flat:
            return [-np.inf] * len(several)
        odds = self._odds(flat)
        ends = np.cumsum([len(some) for some in graphs])
        return [
            _safety(part.mean(axis=1)) if part.size else -np.inf
            for part in np.split(odds, ends[:-1], axis=1)
        ]

    def _odds(self, graphs: Sequence[Graph]) -> npt.NDArray[np.float64]:
        """The log odds of the target, by refit and graph."""
        leanings = self.goal.search.leanings(graphs, self._target)
        odds = np.log((leanings + _TINY) / (1 - leanings + _TINY))
        return np.asarray(odds.clip(-_CLIP, _CLIP))

    def share(self, amounts: Amounts) -> float:
        """The share of redraws that are expected to flip refits that the search has not seen.

        The smaller of two estimates: the share among the refits of the search, and, if they give
        probabilities, the probability that the log odds of one more refit are above 0.
        """
        if amounts not in self.shares:
            graphs = self._graphs(amounts, _DRAWS)
            if not graphs:
                return 0.0
            flips = self.goal.search.flips(graphs, self._target)
            share = float(flips.mean())
            if self.goal.search.has_confidence and len(flips) > 1:
                share = min(share, _expected(self._odds(graphs).mean(axis=1)))
            self.shares[amounts] = share
        return self.shares[amounts]

    @property
    def _target(self) -> Any:
        return self.problem.target

    def _enough(self, amounts: Amounts, least: float) -> bool:
        return (
            self.test.allows(amounts) and self.share(amounts) >= least and self.test.holds(amounts)
        )

    def _dropped(self, amounts: Amounts) -> Amounts:
        """The claim without places that are not needed, the first tried first."""
        for amount in amounts:
            fewer = tuple(one for one in amounts if one is not amount)
            if fewer and self._enough(fewer, self.goal.aim):
                return self._dropped(fewer)
        return amounts

    def _shrunk(self, amounts: Amounts) -> Amounts:
        """The smallest multiple of the amounts that is hardly less stable."""
        least = max(self.goal.aim, self.share(amounts) - _LOSS)
        low, high = 0.25, 1.0
        while high / low > _STEP:
            middle = (low * high) ** 0.5
            if self._enough(self.test.scaled(amounts, middle), least):
                high = middle
            else:
                low = middle
        return self.test.scaled(amounts, high) if high < 1 else amounts
