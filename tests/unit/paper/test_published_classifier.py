from __future__ import annotations

import random

import numpy as np
import pytest

from denseflip.datasets import Dataset
from denseflip.errors import DatasetError
from denseflip.graph import Graph
from denseflip.paper.published_classifier import (
    evaluate_published,
    fit_published,
    published_oracle,
)


def cohort(n=40, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(15, 1)
    graphs = []
    for i in range(n):
        chosen = rng.random(len(u)) < 0.2 + 0.2 * (i % classes)
        graphs.append(Graph.from_edges(15, np.column_stack((u[chosen], v[chosen]))))
    names = tuple("ABC"[:classes])
    return Dataset("cohort", tuple(graphs), tuple(i % classes for i in range(n)), names)


def test_the_fit_does_not_touch_global_random_state():
    fit_published(cohort())  # importing scikit-learn draws a number of its own
    random.seed(1)
    expected = random.Random(1).random()
    fit_published(cohort())
    assert random.random() == expected


def test_the_third_of_the_folds_is_taken():
    fit = fit_published(cohort())
    assert len(fit.fold_accuracies) == 5
    assert list(fit.fold_accuracies) == sorted(fit.fold_accuracies, reverse=True)
    assert fit.oracle.estimator.n_neighbors == fit.n_neighbors
    assert len(fit.oracle.estimator._fit_X) == 32
    assert sum(fit.predicted) == 40


def test_the_card_warns():
    oracle = published_oracle(cohort())
    assert oracle.card["preset"] == "published"
    assert "its own test data" in oracle.card["caveats"][0]


def test_judged_both_ways():
    judged = evaluate_published(cohort(), repeats=1, permutations=2)
    fit = fit_published(cohort())
    assert judged.preset == "published"
    assert judged.training_accuracy == fit.accuracy
    assert judged.training_f1 == fit.f1


def test_data_it_cannot_take():
    with pytest.raises(DatasetError, match=r"two classes.*\[0, 1, 2\]"):
        fit_published(cohort(classes=3))
    with pytest.raises(DatasetError, match="at least 10 graphs"):
        fit_published(cohort(n=8))
