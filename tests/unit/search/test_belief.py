"""`Belief` against the normal distribution worked out in full."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from denseflip.search.methods.belief import Belief


def in_full(start, level, noise, answers, alike=None):
    """The same by vectors and matrices over level and gains."""
    n = len(start)
    mean, cov = np.zeros(n + 1), np.diag([*np.ones(n), level**2])
    if alike is not None:
        cov[:n, :n] = alike
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
@pytest.mark.parametrize("by_cells", [False, True])
def test_belief_is_the_distribution_worked_out_in_full(scores, by_cells):
    rng = np.random.default_rng(0)
    start = -rng.random(7)
    cells, signs = np.array([0, 0, 1, 1, 1, 2, 0]), np.array([1.0, -1, 1, 1, -1, -1, 1])
    alike = 0.3 * np.eye(7) + 0.7 * np.outer(signs, signs) * (cells[:, None] == cells)
    belief = Belief(
        start, level=2.0, noise=0.3, cells=(cells, signs) if by_cells else None, share=0.7
    )
    answers = []
    for k in (0, 3, 7, 2, 5, 5, 1):
        edits = rng.permutation(7)[:k]
        answer = float(rng.normal()) if scores else bool(rng.random() < 0.5)
        answers.append((edits, answer))
        (belief.learn_score if scores else belief.learn)(edits, answer)
    mean, cov = in_full(start, 2.0, 0.3, answers, alike if by_cells else None)
    assert belief.gains() == pytest.approx(mean[:7])
    assert belief.spreads() == pytest.approx(np.sqrt(np.diag(cov)[:7]))
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


@pytest.mark.parametrize("scores", [False, True])
def test_the_evidence_is_the_probability_of_the_answers(scores):
    """Of two answers about the same edits: worked out by the plane normal distribution."""
    belief = Belief(np.zeros(4), level=1.0, noise=0.5, unit=2.0)
    edits = np.array([0, 1, 2])
    if scores:
        belief.learn_score(edits, 3.0)
        belief.learn_score(edits[:1], -1.0)
        cov = np.array([[4.25, 2.0], [2.0, 2.25]])  # the level and what they share
        expected = multivariate_normal([0, 0], 4 * cov).logpdf([3.0, -1.0])
        assert belief.evidence == pytest.approx(expected)
    else:
        belief.learn(edits, True)
        assert belief.evidence == pytest.approx(np.log(0.5))
        mean, spread = belief.score(edits)
        belief.learn(edits, False)
        second = norm.logcdf(-mean / np.sqrt(spread**2 + 0.25))
        assert belief.evidence == pytest.approx(np.log(0.5) + second)


def test_evidence_tells_whether_cells_count():
    rng = np.random.default_rng(3)
    cells, signs, start = np.arange(200) // 20, np.ones(200), np.zeros(200)
    for weights, wanted in ((rng.normal(size=10)[cells], 1), (rng.normal(size=200), 0)):
        beliefs = [
            Belief(start, level=1.0),
            Belief(start, level=1.0, cells=(cells, signs), share=0.9),
        ]
        for _ in range(60):
            edits = rng.permutation(200)[:30]
            for belief in beliefs:
                belief.learn(edits, bool(weights[edits].sum() > 0))
        assert np.argmax([belief.evidence for belief in beliefs]) == wanted


def test_a_belief_that_has_diverged_has_no_evidence_and_learns_no_more():
    """Of many thousand edits, rounding errors can outweigh the answers."""
    belief = Belief(np.zeros(3), level=1.0, noise=0.1)
    belief.learn_score(np.array([0]), 1e101)
    assert belief.evidence == -np.inf
    assert belief.gains().tolist() == [0, 0, 0]
    belief.learn_score(np.array([0, 1]), 1.0)
    assert belief.evidence == -np.inf
    assert np.isfinite(belief.gains()).all()
