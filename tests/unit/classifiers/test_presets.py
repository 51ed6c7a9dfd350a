from __future__ import annotations

import inspect

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from cohorts import make_cohort
from denseflip.classifiers.crossval import evaluate
from denseflip.classifiers.presets import check_classes, fit_oracle
from denseflip.classifiers.spectral import SpectralFeatures
from denseflip.errors import (
    DatasetError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
)

COHORT = make_cohort()


def test_training_and_judging_are_asked_for_alike():
    """The same words in the same places: `fit_oracle` takes what `evaluate` takes."""
    fit, judge = (inspect.signature(f).parameters for f in (fit_oracle, evaluate))
    shared = ["dataset", "preset", "features", "estimator", "regions"]
    assert list(fit)[:5] == shared
    assert [name for name in judge if name in shared] == shared
    # Judging takes any oracle in the second place, a preset by its name among them.
    assert list(judge)[1] == "oracle"
    assert [fit[name].annotation for name in shared] == [judge[name].annotation for name in shared]
    by_place, by_name = fit_oracle(COHORT, "edges-svm"), fit_oracle(COHORT, preset="edges-svm")
    assert by_place.card == by_name.card
    assert by_place.card["preset"] == "edges-svm"


def test_the_default_depends_on_whether_there_are_regions():
    assert fit_oracle(COHORT).card["preset"] == "regions-logistic"
    oracle = fit_oracle(make_cohort(regions=False))
    assert oracle.card["preset"] == "sf-knn"
    assert oracle.features == SpectralFeatures()
    assert 1 <= oracle.card["chosen"]["n_neighbors"] <= 29


@pytest.mark.parametrize("features", ["spectral", "edges", "regions", "degrees"])
def test_features_alone_get_a_fitting_estimator(features):
    oracle = fit_oracle(COHORT, features=features)
    assert oracle.features.name == features
    assert oracle.card["preset"] is None
    assert len(oracle.predict(COHORT.graphs)) == len(COHORT)


def test_any_estimator_is_taken_as_it_is_and_the_given_one_stays_unfitted():
    estimator = RandomForestClassifier(7, random_state=0)
    oracle = fit_oracle(COHORT, features="edges", estimator=estimator)
    assert oracle.estimator.n_estimators == 7
    assert not hasattr(estimator, "classes_")
    assert oracle.card["chosen"] == {}


def test_bad_input_is_named():
    with pytest.raises(UnknownNameError, match="Did you mean 'edges-svm'"):
        fit_oracle(COHORT, preset="edge-svm")
    with pytest.raises(
        InvalidParameterError, match=r"'edges' names features.*write features='edges'"
    ):
        fit_oracle(COHORT, "edges", estimator=LogisticRegression())
    with pytest.raises(
        InvalidParameterError, match="names features, not a preset: write features=…"
    ):
        fit_oracle(COHORT, SpectralFeatures())
    with pytest.raises(InvalidParameterError, match="not both"):
        fit_oracle(COHORT, "sf-knn", features="edges")
    with pytest.raises(InvalidParameterError, match="'estimator' must be an unfitted"):
        fit_oracle(COHORT, features="edges", estimator=LogisticRegression)
    with pytest.raises(InvalidParameterError, match="'estimator' must be an unfitted"):
        fit_oracle(COHORT, features="edges", estimator="svm")
    with pytest.raises(MissingInputError, match=r"nodes=Nodes\.read_csv"):
        fit_oracle(make_cohort(regions=False), preset="regions-logistic")
    with pytest.raises(UnknownNameError, match="taxonomy"):
        fit_oracle(COHORT, preset="regions-logistic", regions="lobes")


def test_one_class_only_and_too_few_graphs():
    one = COHORT.subset([i for i, y in enumerate(COHORT.labels) if y == 0])
    with pytest.raises(DatasetError, match=r"All 12 graphs .* one class \('A'\)"):
        fit_oracle(one)
    small = COHORT.subset([0, 2, 4, 6, 8, 10, 1, 3, 5])
    with pytest.raises(DatasetError, match=r"'B' has 3.*at most 3 folds"):
        check_classes(small, 5)
    with pytest.raises(DatasetError, match=r"'B' has 1. Add graphs"):
        check_classes(COHORT.subset([0, 2, 4, 1]), 3)
    for folds in (1, 2.0, True):
        with pytest.raises(InvalidParameterError, match="'folds' must be"):
            check_classes(COHORT, folds)
    check_classes(small, 3)
