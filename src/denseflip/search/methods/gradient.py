"""`gradient`: few edits in few queries, for classifiers that can be differentiated.

One gradient ranks all pairs by how much an edit brings the graph towards a flip, and predicts how
many edits it takes. The length of the list is found by a search around that prediction. Where the
prediction fails, the search takes a stride along the list and computes the gradient again. A
gradient at the answer shows which edits weigh less than it seemed from the original; the list is
sorted again by the mean of both, and shortened while it flips.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from denseflip.errors import whole_number
from denseflip.graph import Codes
from denseflip.graph.pairs import are_among
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.oracles.gradients import PairGradient
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import NO_CODES, Probe, boundary, certify
from denseflip.search.core.problem import GRADIENT, Problem, Walk
from denseflip.search.core.towards import gains_at, nearly_spent, ordered
from denseflip.search.methods.belief import Floats


@dataclass(frozen=True)
class GradientSearch(Conversation):
    """The fewest edits along the classifier's gradient; for models with gradients.

    Parameters
    ----------
    gradients : the largest number of gradients, each of which counts as two queries.
    certify : the largest number of edits that are tried out one by one to be left out.
    """

    gradients: int = 8
    certify: int = 16
    needs: ClassVar[frozenset[str]] = frozenset({GRADIENT})
    uses: ClassVar[tuple[str, ...]] = ("gradients",)

    def __post_init__(self) -> None:
        whole_number("gradients", self.gradients, minimum=1)
        whole_number("certify", self.certify)

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Find a flip, shorten it, and certify the answer if it has few edits."""
        return self.search(problem, session, required=True)

    def search(self, problem: Problem, session: BaseSession, *, required: bool = False) -> Walk:
        """The same; without gradients it finds nothing, unless they are required."""
        search = GradientRun(problem, session, self, required=required)
        if not search.find():
            return problem.end(problem.graph, problem.label)
        search.shorten()
        return search.finish()


class GradientRun:
    """One search of `gradient`: the gradients so far, and the best answer."""

    def __init__(
        self, problem: Problem, session: BaseSession, plan: GradientSearch, *, required: bool
    ) -> None:
        self.problem, self.session, self.plan = problem, session, plan
        self.required = required
        self.probe = Probe(problem, session)
        self.n_gradients = 0
        self.effects: list[tuple[Codes, Floats]] = []  # of each edit of the original
        self.best: Codes = NO_CODES
        self.exact = False
        self.score: float | None = None  # of the original

    def find(self) -> bool:
        """Find a flip along the gradient; compute it again where its prediction fails."""
        now = NO_CODES
        while self.n_gradients < self.plan.gradients:
            gains = self._gains(now)
            if gains is None and self.required and nearly_spent(self.session):
                raise BudgetSpentError
            if gains is None:
                break
            order = ordered(self.problem, gains.pairs, gains.values)
            if not len(order):
                self.problem.note("No edit that may be made brings the graph towards a flip.")
                break
            guess = _predicted(gains, order)
            self.exact = gains.exact and not len(now)
            last = self.n_gradients == self.plan.gradients
            most = len(order) if last or self.exact else min(len(order), 2 * guess + 8)
            k = nearest_boundary(guess, most, partial(self._flips, now, order))
            if k is not None:
                self.best = _toggled(now, order[:k])
                return True
            now = _toggled(now, order[:most])
        if not self.problem.notes:
            self.problem.note(
                f"The label did not flip along {self.n_gradients} gradients. The methods 'race' "
                "and 'tight' try other orders of edits."
            )
        return False

    def shorten(self) -> None:
        """Sort the edits by the mean of the gradients so far, and ask for fewer."""
        missed = 0
        while self.n_gradients < self.plan.gradients and missed < 2 and not self.exact:
            if len(self.best) < 2 or self._gains(self.best) is None:
                return
            before = len(self.best)
            for effects in (self._mean(), self.effects[-1]):
                order = ordered(self.problem, *effects)
                if self._shorten_along(order):
                    break
            missed = 0 if len(self.best) < before else missed + 1
            if missed:
                return

    def _shorten_along(self, order: Codes) -> bool:
        most = len(self.best) - 1
        if most < 1 or len(order) < most or not self._flips(NO_CODES, order, most):
            return False
        k = nearest_boundary(most, most, partial(self._flips, NO_CODES, order))
        assert k is not None
        self.best = np.sort(order[:k])
        return True

    def finish(self) -> Walk:
        """Leave out edits that are not needed, if they are few enough to be tried out."""
        effects = dict(zip(*(part.tolist() for part in self._mean()), strict=True))
        listed = sorted(self.best.tolist(), key=lambda code: (-effects.get(code, 0.0), code))
        certified = self.exact  # one edit fewer was tried, and the sums are exact
        if not certified and len(listed) <= self.plan.certify:
            with suppress(BudgetSpentError):
                listed = certify(listed, lambda some: self.probe.flips(_codes(some)))
                certified = True
        if not certified:
            self.problem.note(
                f"The {len(listed):,} edits were not certified one by one; 'gradient+min' does so."
            )
        graph = self.probe.graph(_codes(listed))
        walk = self.problem.end(graph, self.session.recall(graph).label)
        walk.minimal = True if certified else None
        return walk

    # ---- gradients ------------------------------------------------------------------------

    def _gains(self, edits: Codes) -> PairGradient | None:
        """The gains at the original with some edits; None if there are none."""
        required = self.required and not self.n_gradients
        gains = gains_at(self.problem, self.session, self.probe.graph(edits), required=required)
        if gains is None:
            return None
        if not self.n_gradients:
            self.score = gains.score
        self.n_gradients += 1
        codes = gains.pairs
        undone = are_among(codes, edits) if len(edits) else np.zeros(len(codes), dtype=bool)
        self.effects.append((codes, np.where(undone, -gains.values, gains.values)))
        return gains

    @property
    def effect(self) -> PairGradient:
        """The mean effect of each edit of the original, and the score of the original."""
        codes, values = self._mean()
        return PairGradient(self.problem.graph.n_nodes, values, codes, self.score)

    def _mean(self) -> tuple[Codes, Floats]:
        """The mean effect of each edit of the original."""
        codes = self.effects[0][0]
        if any(len(other) != len(codes) for other, _ in self.effects):  # edges only
            codes = np.unique(np.concatenate([other for other, _ in self.effects]))
        total = np.zeros(len(codes))
        for other, values in self.effects:
            total[np.searchsorted(codes, other)] += values
        return codes, total / len(self.effects)

    def _flips(self, now: Codes, order: Codes, k: int) -> bool:
        """Whether the first k edits of an order flip, beside those made so far."""
        return self.probe.flips(_toggled(now, order[:k]))


def _toggled(now: Codes, edits: Codes) -> Codes:
    return np.setxor1d(now, edits) if len(now) else np.sort(edits)


def _codes(listed: Sequence[int]) -> Codes:
    return np.array(sorted(listed), dtype=np.int64)


def _predicted(gains: PairGradient, order: Codes) -> int:
    """How many edits of an order a flip takes according to the gradient; at least 1."""
    if gains.score is None:
        return 1
    reached = gains.score + np.cumsum(gains.at(order)) > 0
    return int(reached.argmax()) + 1 if reached.any() else len(order)


def nearest_boundary(guess: int, most: int, enough: Callable[[int], bool]) -> int | None:
    """Find a k from 1 to ``most`` that is enough while k - 1 is not, beginning at a guess.

    Steps of 1, 2, 4, … from the guess, then bisection. None if no number tried is enough.

    >>> nearest_boundary(30, 100, lambda k: k >= 37)
    37
    """
    guess = min(max(guess, 1), most)
    if guess < 1:
        return None
    step, low, high = 1, guess, guess
    if enough(guess):
        while high > 1:
            low = max(high - step, 0)
            if low == 0 or not enough(low):
                break
            high, step = low, 2 * step
        return boundary(min(low, high - 1), high, enough)
    while high < most:
        low, high = high, min(high + step, most)
        if enough(high):
            return boundary(low, high, enough)
        step *= 2
    return None
