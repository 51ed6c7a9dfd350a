"""The statistics, worked out by hand and against what labels that mean nothing must give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from denseflip.cohort.stats import (
    benjamini_hochberg,
    check_permutations,
    group_difference,
    max_p,
    rank_correlation,
    single_p,
    smallest_p,
)
from denseflip.errors import InvalidParameterError


def test_the_observed_labelling_is_one_of_the_permutations() -> None:
    null = np.zeros((19, 3))
    assert max_p([1, 0, 0], null).tolist() == [0.05, 1.0, 1.0]
    assert single_p([1, 0, 0], null).tolist() == [0.05, 1.0, 1.0]
    assert max_p([1, 2], np.empty((0, 2))).tolist() == [1.0, 1.0]


def test_the_maximum_is_over_all_cells() -> None:
    # Each cell is beaten by another cell's luck in three of four permutations.
    null = [[9, 0], [0, 9], [0, 9], [0, 0]]
    assert single_p([5, 5], null).tolist() == [0.4, 0.6]
    assert max_p([5, 5], null).tolist() == [0.8, 0.8]


def test_a_tie_counts_against_the_claim() -> None:
    assert max_p([3], [[3], [2], [2]])[0] == 0.5
    assert max_p([0.1 + 0.2], [[0.3]])[0] == 1.0  # though the sum is a rounding error larger


def test_labels_that_mean_nothing_are_named_no_oftener_than_the_level() -> None:
    rng = np.random.default_rng(4)
    rows = rng.poisson(3, size=(2000, 20, 6))  # the first of twenty plays the observed one
    least = np.array([max_p(row[0], row[1:]).min() for row in rows])
    for level in (0.05, 0.1, 0.2, 0.5):
        assert (least <= level).mean() <= level + 2 * np.sqrt(level / len(rows))
    apart = np.array([single_p(row[0], row[1:]).min() for row in rows])
    assert (apart <= 0.05).mean() > 0.1  # six cells looked at one by one are not one test


@pytest.mark.parametrize(("permutations", "level"), [(18, 0.05), (98, 0.01), (1, 0.4)])
def test_too_few_permutations_for_a_level(permutations: int, level: float) -> None:
    with pytest.raises(InvalidParameterError, match=f"{permutations} permutations cannot give"):
        check_permutations(permutations, level)


@pytest.mark.parametrize(("permutations", "level"), [(19, 0.05), (99, 0.01), (0, 0.05), (2, 0.4)])
def test_enough_permutations_for_a_level(permutations: int, level: float) -> None:
    check_permutations(permutations, level)
    assert not permutations or smallest_p(permutations) <= level + 1e-12


@pytest.mark.parametrize("level", [0, 1, -1, "5 %", True, None, float("nan")])
def test_a_level_is_a_share(level: object) -> None:
    with pytest.raises(InvalidParameterError, match="level must be a number between 0 and 1"):
        check_permutations(200, level)  # type: ignore[arg-type]


def test_discovery_rate_never_reorders_and_matches_its_definition() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        p = rng.random(9) ** 2
        q = benjamini_hochberg(p)
        ranks = p.argsort().argsort() + 1
        direct = [min(p[j] * 9 / ranks[j] for j in range(9) if p[j] >= p[i]) for i in range(9)]
        assert np.allclose(q, np.minimum(direct, 1))


def test_difference_of_groups_is_students_t() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    values, inside = rng.normal(size=(17, 5)), rng.random(17) < 0.4
    ours = group_difference(values, inside)
    theirs = stats.ttest_ind(values[inside], values[~inside]).statistic
    assert np.allclose(ours, theirs)
    assert group_difference(np.ones((4, 2)), np.array([1, 1, 0, 0], bool)).tolist() == [0, 0]
    assert group_difference(values, np.ones(17, bool)).tolist() == [0] * 5


def test_rank_correlation_is_spearmans() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(2)
    for _ in range(20):
        a, b = rng.integers(0, 4, 12), rng.integers(0, 4, 12)
        if len(set(a)) > 1 and len(set(b)) > 1:
            assert rank_correlation(a, b) == pytest.approx(stats.spearmanr(a, b).statistic)
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None


def test_all_labellings_of_a_small_cohort_are_equally_likely() -> None:
    # With every relabelling of 3 + 3 as its permutations, p is exactly uniform on 1/20 … 1.
    rng = np.random.default_rng(3)
    values = rng.normal(size=(6, 1))
    labellings = [np.isin(np.arange(6), some) for some in itertools.combinations(range(6), 3)]
    figures = np.array([abs(group_difference(values, some))[0] for some in labellings])
    ps = sorted((1 + (np.delete(figures, i) >= figures[i] - 1e-9).sum()) / 20 for i in range(20))
    for level in (0.1, 0.3, 0.7):
        assert np.mean(np.array(ps) <= level) <= level + 1e-9


def test_groups_of_one_value_each_that_are_apart_differ_most_of_all() -> None:
    values = np.array([[0.0, 0.1, 0.3], [0.0, 0.4, 0.3], [1.0, 0.2, 0.3], [1.0, 0.3, 0.3]])
    apart = group_difference(values, np.array([False, False, True, True]))
    assert apart[0] > 1000 * abs(apart[1])
    assert apart[2] == 0
    assert np.isfinite(apart).all()
