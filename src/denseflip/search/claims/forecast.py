"""`Forecast`: which redraws flip, according to the classifier's gradient.

The gradient at the original gives every pair a gain, and the gains of the pairs of a redraw add up
to its expected score. For a linear classifier the sum is exact. For other classifiers it tells
which places to try first, and which redraws of a claim are the most doubtful. The verification of a
claim always queries the classifier.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeGuard

import numpy as np
import numpy.typing as npt

from denseflip.graph import Codes
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.gradients import PairGradient
from denseflip.search.claims.claim import Amounts, Place, total
from denseflip.search.claims.elsewhere import TooFewError
from denseflip.search.claims.moves import Move
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import Problem
from denseflip.search.core.towards import gains_at

if TYPE_CHECKING:
    from denseflip.search.claims.claim_search import ClaimTest

Floats = npt.NDArray[np.float64]
_MOST_PAIRS = 2_000_000  # pairs of a graph up to which a gradient is computed
_CHECKS = 4  # predictions of an exact gradient that are compared with the classifier
_NEAR = 1e-6  # part of the score of the original; nearer to 0 the classifier is queried
_RANKED = 64  # moves that are put in order by their expected gain
_ALONE = 4  # of them, those that are tried alone
_REACH = 1.25  # redraws of amounts up to this factor away tell which scores flip
_NOT_EXACT = (
    "The classifier's gradient is marked as exact but predicted a wrong label, so the search "
    "queried the classifier instead."
)


def forecasting_probe(problem: Problem, session: BaseSession) -> Probe:
    """A probe that predicts with the classifier's gradient if it can, else one that only queries.

    A gradient that covers existing edges only cannot rank additions, so labels are used.
    """
    plain = problem.graph.n_pairs <= _MOST_PAIRS and session.required_confidence is None
    gains = gains_at(problem, session, problem.graph) if plain else None
    if gains is None or gains.codes is not None or gains.score is None or gains.score >= 0:
        return Probe(problem, session)
    if not gains.exact and gains.passes > 1:
        return Probe(problem, session)  # a gradient costs as much as several labels
    return Forecast(problem, session, gains)


class Forecast(Probe):
    """A probe with a gradient.

    Parameters
    ----------
    problem, session : what is explained, and the session to query through.
    gains : how much each pair brings the original towards a flip, and its score, below 0.
    """

    def __init__(self, problem: Problem, session: BaseSession, gains: PairGradient) -> None:
        super().__init__(problem, session)
        assert gains.score is not None
        self.exact, self.linear = gains.exact, gains.linear
        self.score, self._gains = gains.score, gains
        self._checks = _CHECKS
        # By places: the edits, the expected score, and whether it flipped.
        self._seen: dict[tuple[Place, ...], list[tuple[int, float, bool]]] = {}

    def scores(self, choices: Iterable[Codes]) -> Floats:
        """The expected score of the original with some pairs toggled; a flip is above 0."""
        sums = [float(self._gains.at(codes).sum()) for codes in choices]
        return self.score + np.array(sums, dtype=np.float64)

    def expect(self, choices: Iterable[Codes]) -> list[bool]:
        """Whether each choice flips: predicted if that is exact, else queried.

        The first predictions nearest to 0 are compared with the classifier. If one is wrong, the
        gradient is not exact.
        """
        choices = list(choices)
        if not self.exact or not choices:
            return super().expect(choices)
        scores = self.scores(choices)
        near = np.abs(scores) <= _NEAR * abs(self.score)
        asked = {i for i, codes in enumerate(choices) if near[i] or not self._permits(codes)}
        if self._checks:
            self._checks -= 1
            asked.add(int(np.abs(scores).argmin()))
        flips = [bool(score > 0) for score in scores]
        places = sorted(asked)
        for i, yes in zip(places, super().expect([choices[i] for i in places]), strict=True):
            if yes != flips[i] and not near[i] and self._permits(choices[i]):
                self.exact = False
                self.problem.note(_NOT_EXACT)
                return super().expect(choices)
            flips[i] = yes
        return flips

    def _permits(self, codes: Codes) -> bool:
        return self.problem.constraints is None or self.session.permits(self.graph(codes))

    def misses(self, choices: Sequence[Codes], amounts: Amounts) -> int:
        """How many redraws of a claim are not expected to flip, without a query.

        If the gradient is not exact, the score above which redraws of these places flip is learned
        from those that were queried.
        """
        scores = self.scores(choices)
        if self.exact:
            return int((scores < -_NEAR * abs(self.score)).sum())
        level = self._level(amounts)
        return 0 if level is None else int((scores < level).sum())

    def _level(self, amounts: Amounts) -> float | None:
        """The expected score that separates redraws that flip from the others; None if unknown."""
        seen, wanted = self._seen.get(_places(amounts), []), total(amounts)
        near = [(s, yes) for n, s, yes in seen if wanted / _REACH <= n <= wanted * _REACH]
        flipped, failed = ([s for s, yes in near if yes is which] for which in (True, False))
        if not flipped or not failed:
            return None
        levels = sorted((*flipped, *failed))
        middles = [(a + b) / 2 for a, b in pairwise(levels)]
        return min(middles, key=lambda m: sum((s > m) is not yes for s, yes in near))

    # ---- other classifiers than linear ones -------------------------------------------------

    def hold(self, drawn: Sequence[Codes], amounts: Amounts, misses: int) -> bool:
        """Whether all redraws but a few flip, judged by those with the lowest expected scores.

        Those before them are expected to flip as well; the verification of a claim shows whether
        they do.
        """
        scores = self.scores(drawn)
        for i in np.argsort(scores, kind="stable")[: misses + 1].tolist():
            yes = self.flips(drawn[i])
            listed = self._seen.setdefault(_places(amounts), [])
            listed.append((total(amounts), float(scores[i]), yes))
            if yes:
                return True
        return False


def _places(amounts: Amounts) -> tuple[Place, ...]:
    return tuple(amount.place for amount in amounts)


def is_ranked(probe: Probe) -> TypeGuard[Forecast]:
    """Whether a probe has a gradient that only ranks choices; an exact one predicts each."""
    return isinstance(probe, Forecast) and not probe.exact


def is_curved(probe: Probe) -> TypeGuard[Forecast]:
    """Whether a probe has a gradient of a classifier that is not linear."""
    return is_ranked(probe) and not probe.linear


def by_gain(test: ClaimTest, moves: Sequence[Move]) -> list[Move]:
    """The moves, the largest expected gain at their full amount first if there is a gradient."""
    probe = test.probe
    if not isinstance(probe, Forecast):
        return list(moves)
    gains = _gains_of(test, probe, moves[:_RANKED])
    order = sorted(range(len(gains)), key=lambda i: -gains[i])
    return [*(moves[i] for i in order), *moves[len(gains) :]]


def by_effort(test: ClaimTest, moves: Sequence[Move], most: int) -> list[Move]:
    """The moves to try alone, at most this number.

    If a gradient ranks them: a few, those expected to flip with the least effort first. Moves that
    are not expected to flip follow, the largest gain first.
    """
    probe = test.probe
    if not is_ranked(probe):
        return list(moves[:most])
    gains = _gains_of(test, probe, moves[:_RANKED])
    needed = -probe.score

    def key(i: int) -> tuple[bool, float]:
        if gains[i] < needed:
            return True, -gains[i]
        return False, test.effort(test.fit((moves[i].full,))) / gains[i]

    return [moves[i] for i in sorted(range(len(gains)), key=key)][:_ALONE]


def _gains_of(test: ClaimTest, probe: Forecast, moves: Sequence[Move]) -> list[float]:
    """The expected gain of each move at its full amount; minus infinity if there is no redraw."""
    for move in moves:
        if move in test.gains:
            continue
        try:
            codes = test.repeats.codes(test.fit((move.full,)))
        except TooFewError:
            test.gains[move] = -np.inf
        else:
            test.gains[move] = float(probe.scores([codes])[0]) - probe.score
    return [test.gains[move] for move in moves]
