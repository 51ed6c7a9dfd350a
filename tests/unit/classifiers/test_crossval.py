from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, f1_score
from sklearn.tree import DecisionTreeClassifier

from cohorts import make_cohort
from denseflip.classifiers.crossval import (
    balanced_accuracy_of,
    confusion_table,
    evaluate,
    f1_of,
    p_value,
)
from denseflip.classifiers.evaluation import Evaluation
from denseflip.counterfactual import wilson_interval
from denseflip.datasets import load_dataset
from denseflip.errors import DatasetError, InvalidParameterError

COHORT = make_cohort(signal=0.7)
NOISE = make_cohort(20, signal=0.0)


@pytest.mark.parametrize("preset", ["sf-knn", "edges-svm", "edges-logistic", "regions-logistic"])
def test_a_known_signal_is_found_and_noise_is_not(preset):
    good = evaluate(COHORT, preset, repeats=2, permutations=19)
    none = evaluate(NOISE, preset, repeats=2, permutations=19)
    if preset != "sf-knn":  # a spectrum cannot tell which nodes are dense
        assert good.better_than_chance
        assert good.p_value == 0.05
        assert good.warning is None
    assert none.level == "chance"
    assert none.accuracy < 0.7
    assert "guessing" in none.warning
    assert none.majority_rate == 0.5


def test_figures_add_up():
    e = evaluate(COHORT, "edges-svm", folds=4, repeats=3, permutations=5, seed=1)
    table = np.asarray(e.confusion)
    assert table.sum() == 3 * len(COHORT)
    assert table.sum(axis=1).tolist() == [36, 36]
    assert e.accuracy == pytest.approx(np.trace(table) / table.sum())
    assert e.accuracy == pytest.approx(np.mean(e.repeat_accuracies))
    assert e.interval[0] < e.accuracy < e.interval[1] or e.accuracy == 1
    assert sum(e.chosen["C"].values()) == 4 * 3
    assert e.training_accuracy >= e.accuracy
    assert e.n_graphs == len(COHORT)


def test_memory_is_not_skill():
    """A tree is right on all graphs it was trained on; on new ones it guesses (D12)."""
    e = evaluate(
        NOISE,
        features="edges",
        estimator=DecisionTreeClassifier(random_state=0),
        repeats=2,
        permutations=19,
    )
    assert e.training_accuracy == 1
    assert e.training_f1 == 1
    assert e.level == "chance"
    assert "100 % on the graphs it was trained on is memorisation" in e.warning


def test_seeded_and_reported():
    seen = []
    a = evaluate(COHORT, repeats=2, permutations=3, seed=5, progress=lambda *x: seen.append(x))
    b = evaluate(COHORT, repeats=2, permutations=3, seed=5)
    c = evaluate(COHORT, repeats=2, permutations=3, seed=6)
    assert a == b
    assert a != c
    assert seen == [(i, 5) for i in range(6)]
    assert a.preset == "regions-logistic"


def test_more_permutations_keep_the_figures_of_the_repeats():
    a = evaluate(COHORT, repeats=2, permutations=0)
    b = evaluate(COHORT, repeats=2, permutations=4)
    assert a.p_value is None
    assert a.null_mean is None
    assert "permutation" not in a.verdict
    assert a.repeat_accuracies == b.repeat_accuracies


def test_more_than_two_classes():
    data = make_cohort(8, classes=3, signal=0.7)
    e = evaluate(data, "edges-svm", folds=4, repeats=1, permutations=19)
    assert len(e.confusion) == 3
    assert e.majority_rate == pytest.approx(1 / 3)
    assert e.better_than_chance


def test_json_and_back():
    e = evaluate(COHORT, repeats=1, permutations=2)
    data = json.loads(json.dumps(e.to_dict()))
    assert Evaluation.from_dict(data) == e
    assert data["verdict"] == e.verdict
    assert "Wilson" in data["interval_kind"]


def test_bad_input_is_named():
    with pytest.raises(DatasetError, match=r"Too few graphs .* for 13 folds"):
        evaluate(COHORT, folds=13)
    with pytest.raises(InvalidParameterError, match="'repeats' must be a whole number from 1"):
        evaluate(COHORT, repeats=0)
    with pytest.raises(InvalidParameterError, match="'permutations' must be a whole number"):
        evaluate(COHORT, permutations=-1)


def test_measures_equal_scikit_learns():
    rng = np.random.default_rng(0)
    for classes in (2, 4):
        truth, answers = rng.integers(0, classes, 60), rng.integers(0, classes, 60)
        table = confusion_table(truth, answers, classes)
        assert np.array_equal(table, confusion_matrix(truth, answers))
        average = "binary" if classes == 2 else "macro"
        assert f1_of(table) == pytest.approx(f1_score(truth, answers, average=average))
        assert balanced_accuracy_of(table) == pytest.approx(balanced_accuracy_score(truth, answers))


def test_f1_without_a_hit_is_zero():
    assert f1_of(np.array([[3, 0], [2, 0]])) == 0


def test_wilson_interval_against_a_published_value():
    """81 of 263: .2553 to .3662 (Newcombe, Statistics in Medicine 17, 1998, table I, method 3)."""
    low, high = wilson_interval(81 / 263, 263)
    assert (round(low, 4), round(high, 4)) == (0.2553, 0.3662)
    assert wilson_interval(0.0, 20)[0] == 0


def test_p_value_counts_the_observed_run():
    assert p_value(0.9, [0.5] * 19) == 0.05
    assert p_value(0.5, [0.5, 0.4, 0.6]) == 0.75
    assert p_value(0.5, []) is None


def test_mice_strains_are_told_apart_and_sexes_are_not():
    """Known answers: B6 and BTBR differ by a corpus callosum; sex shows no signal."""
    strains = evaluate(load_dataset("mice"), "edges-svm", repeats=2, permutations=19)
    assert strains.accuracy == 1
    assert strains.better_than_chance
    sexes = evaluate(load_dataset("mice:sex"), "edges-logistic", repeats=2, permutations=19)
    assert sexes.level == "chance"
