"""`Belief` against the normal distribution worked out in full."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from denseflip.search.belief import Belief


def in_full(start, level, noise, answers):
    """The same by vectors and matrices over level and gains."""
    n = len(start)
    mean, cov = np.zeros(n + 1), np.diag([*np.ones(n), level**2])
    for edits, answer in answers:
        row = np.append(start, 1.0)
        row[edits] += 1
        total = row @ cov @ row + noise**2
        if isinstance(answer, bool):
            side = 1 if answer else -1
            z = side * (row @ mean) / np.sqrt(total)
            ratio = norm.pdf(z) / norm.cdf(z)
            shift, shrink = side * ratio / np.sqrt(total), ratio * (ratio + z) / total
        else:
            shift, shrink = (answer - row @ mean) / total, 1 / total
        reach = cov @ row
        mean, cov = mean + shift * reach, cov - shrink * np.outer(reach, reach)
    return mean, cov


@pytest.mark.parametrize("scores", [False, True])
def test_belief_is_the_distribution_worked_out_in_full(scores):
    rng = np.random.default_rng(0)
    start = -rng.random(7)
    belief = Belief(start, level=2.0, noise=0.3)
    answers = []
    for k in (0, 3, 7, 2, 5, 5, 1):
        edits = rng.permutation(7)[:k]
        answer = float(rng.normal()) if scores else bool(rng.random() < 0.5)
        answers.append((edits, answer))
        (belief.learn_score if scores else belief.learn)(edits, answer)
    mean, cov = in_full(start, 2.0, 0.3, answers)
    assert belief.gains() == pytest.approx(mean[:7])
    assert belief.level() == pytest.approx(np.append(start, 1.0) @ mean)
    row = np.append(start, 1.0)
    row[[1, 4]] += 1
    assert belief.score(np.array([1, 4])) == pytest.approx((row @ mean, np.sqrt(row @ cov @ row)))


def test_an_answer_that_was_thought_impossible_is_taken_in():
    belief = Belief(np.zeros(3), level=1.0, noise=0.01)
    for _ in range(30):
        belief.learn(np.array([], dtype=np.int64), False)
    for _ in range(5):
        belief.learn(np.array([0]), True)
    assert belief.gains()[0] > 0 > belief.level()
    assert np.isfinite(belief.gains()).all()
