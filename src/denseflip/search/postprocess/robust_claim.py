"""Robust answers that stay in range: a sentence whose flip survives noise.

More connections are changed in the places that the sentence names, as far as real graphs of the
target class allow; if that is not enough, in more places. The number of edges is kept where the
first answer keeps it, and the new sentence is verified like the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.result_scores import Robustness
from denseflip.search.claims.claim import Amounts
from denseflip.search.claims.elsewhere import TooFewError
from denseflip.search.claims.forecast import by_gain, forecasting_probe
from denseflip.search.claims.moves import one_each
from denseflip.search.claims.verified_claim import VerifiedClaim
from denseflip.search.core.probing import boundary
from denseflip.search.core.problem import Problem, Walk
from denseflip.search.methods.brief import WIDE_CELLS
from denseflip.search.methods.claim_walk import walk_to
from denseflip.search.postprocess.robust import DRAWS, MEASURES, Noise, PerturbationTest

_STEP = 1.15  # amounts grow by this factor
_STEPS = 48  # steps at most
_PARTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)  # of the largest amounts in several places


def make_claim_robust(
    found: Walk, problem: Problem, session: BaseSession, wanted: Noise, seed: int
) -> tuple[Walk, Robustness]:
    """The walk to a sentence in range that survives noise, and how often it does.

    Parameters
    ----------
    found : the walk to a sentence in range.
    problem, session : what is explained, and the session to query through.
    wanted : the noise that it has to survive.
    seed : the seed of the search.

    Returns
    -------
    tuple
        The walk, and its level on fresh perturbations. If none reaches the level, the best one that
        was measured.
    """
    search = _Search(found, problem, session, wanted, seed)
    try:
        search.run()
    except BudgetSpentError:
        problem.note("The budget was spent before a robust answer in range was found.")
    return search.best, replace(search.robustness, wanted=wanted.level)


class _Search:
    """One search; `best` and `robustness` are the best answer so far."""

    def __init__(
        self, found: Walk, problem: Problem, session: BaseSession, wanted: Noise, seed: int
    ) -> None:
        verified: VerifiedClaim = found.verified
        assert verified.test is not None
        own = verified.test
        self.test = replace(own, probe=forecasting_probe(own.probe.problem, session))
        self.verified, self.best, self.problem, self.session = verified, found, problem, session
        self.noise = PerturbationTest(problem, session, wanted, np.random.default_rng((seed, 2)))
        self.level, self.robustness = wanted.level, self.noise.not_measured
        self.measured = 0

    def run(self) -> None:
        """Measure the answer; if it does not survive, try larger amounts, then more places."""
        start = self.best.graph
        if self.noise.quick_test(start)[0] and self._passes(self.best):
            return
        larger = list(self._larger())
        if self._follow(larger):
            return
        largest = larger[-1] if larger else self.verified.claim.amounts
        longer = list(self._longer(largest))
        k = next((k for k, amounts in enumerate(longer) if self._enough(amounts)), None)
        if k is not None:
            parts = [self.test.scaled(longer[k], part) for part in _PARTS]
            self._follow(list(dict.fromkeys(parts)))
        elif not self.measured:
            self._passes(self.best)

    def _larger(self) -> Iterator[Amounts]:
        """The claim with larger and larger amounts, as far as they stay in range."""
        amounts = self.verified.claim.amounts
        for _ in range(_STEPS):
            more = self.test.scaled(amounts, _STEP)
            if more == amounts or not self.test.allows(more):
                return
            amounts = more
            yield amounts

    def _longer(self, amounts: Amounts) -> Iterator[Amounts]:
        """The claim with one more place after the other."""
        named = {amount.place for amount in amounts}
        bound = self.problem.constraints
        limit = None if bound is None else bound.constraints.max_cells
        most = WIDE_CELLS if limit is None else limit
        for move in one_each(by_gain(self.test, self.test.moves)):
            if len(amounts) >= most:
                return
            if move.place not in named:
                longer = self.test.fit((*amounts, move.full))
                if self.test.allows(longer):
                    amounts = longer
                    yield amounts

    def _follow(self, several: Sequence[Amounts]) -> bool:
        """Whether one of several claims, weakest first, is verified and survives the noise."""
        while several and self.measured < MEASURES and self._enough(several[-1]):
            at = boundary(0, len(several), partial(self._enough_at, several))
            verified = self.test.verdict(several[at - 1])
            if verified is not None and self._passes(self._walk(verified)):
                return True
            several = several[at:]
        return False

    def _enough_at(self, several: Sequence[Amounts], k: int) -> bool:
        return self._enough(several[k - 1])

    def _walk(self, verified: VerifiedClaim) -> Walk:
        walk = walk_to(self.problem, verified, verified.claim.regions)
        walk.chosen = self.best.chosen
        walk.notes += tuple(note for note in self.best.notes if note.startswith("Described "))
        return walk

    def _enough(self, amounts: Amounts) -> bool:
        """Whether one redraw of a claim is allowed, flips, and passes the quick test."""
        self.problem.check_time()
        try:
            graph = self.test.probe.graph(self.test.repeats.codes(amounts))
        except TooFewError:
            return False
        bound = self.problem.constraints
        if bound is not None and (bound.too_large(graph) or bound.forbids(graph)):
            return False
        label = self.session.query(graph).label
        return self.problem.accepts(label) and self.noise.quick_test(graph)[0]

    def _passes(self, walk: Walk) -> bool:
        """Measure an answer, keep it if it is the best; whether it clearly reaches the level."""
        bound = self.problem.constraints
        if bound is not None and bound.too_large(walk.graph):
            return False
        seen = self.noise.measure(walk.graph)
        self.measured += 1
        if (seen.share or 0.0) > (self.robustness.share or -1.0):
            self.best, self.robustness = walk, seen
        return seen.flips >= (self.level + (1 - self.level) / 3) * DRAWS - 1e-9
