"""Fitted scikit-learn estimators of the user's own as oracles."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import models
from denseflip import as_oracle, describe, evaluate, explain, open_oracle
from denseflip.classifiers.features import DegreeFeatures, EdgeFeatures
from denseflip.errors import (
    InvalidGraphError,
    InvalidParameterError,
    MissingInputError,
    NotFittedError,
    OracleError,
    UnknownNameError,
)
from denseflip.graph import Graph

COHORT, GRAPHS, LABELS = models.COHORT, models.GRAPHS, models.LABELS
DEGREES = DegreeFeatures().transform(GRAPHS)
EDGES = EdgeFeatures().transform(GRAPHS)


@pytest.mark.parametrize(
    "steps",
    [
        (LogisticRegression(),),
        (StandardScaler(), LogisticRegression()),
        (StandardScaler(), PCA(4), SVC()),
        (KNeighborsClassifier(3),),
    ],
    ids=["logistic", "scaled", "three steps", "neighbours"],
)
@pytest.mark.parametrize(("features", "rows"), [("degrees", DEGREES), ("edges", EDGES)])
def test_the_labels_are_those_of_the_pipeline(steps, features, rows):
    pipeline = make_pipeline(*steps).fit(rows, LABELS)
    oracle = as_oracle(pipeline, features=features)
    assert oracle.predict(GRAPHS) == pipeline.predict(rows).tolist()
    last = pipeline if len(steps) > 1 else pipeline.steps[-1][1]
    assert as_oracle(last, features=features).predict(GRAPHS) == pipeline.predict(rows).tolist()


@pytest.mark.parametrize(
    "as_rows", [{}, {"batch": True}, {"input": "graph"}, {"input": "networkx"}]
)
def test_a_function_makes_rows_in_the_form_it_wants(as_rows):
    fitted = LogisticRegression().fit(DEGREES, LABELS)
    ways = {
        (): lambda a: a.sum(0),
        ("batch",): lambda stack: stack.sum(1),
        ("input", "graph"): lambda g: g.degrees(),
        ("input", "networkx"): lambda g: [d for _, d in g.degree()],
    }
    key = () if not as_rows else ("batch",) if "batch" in as_rows else ("input", as_rows["input"])
    oracle = as_oracle(fitted, features=ways[key], **as_rows)
    assert oracle.predict(GRAPHS) == fitted.predict(DEGREES).tolist()


def test_labels_are_the_estimators_own_and_may_be_named():
    fitted = LogisticRegression().fit(DEGREES, models.NAMES)
    oracle = as_oracle(fitted, features="degrees", class_names=["Few", "Many"])
    assert oracle.classes == ("A", "B")
    assert oracle.class_names == {"A": "Few", "B": "Many"}
    result = explain(GRAPHS[0], oracle, "con", background=GRAPHS)
    assert result.found
    assert "Many" in str(describe(result, COHORT.nodes, oracle=oracle))
    wanted = explain(GRAPHS[0], oracle, "con", background=GRAPHS, target="B")
    assert wanted.label_after == "B"


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        (
            {},
            MissingInputError,
            r"State what LogisticRegression was fitted on: .*'edges'.*function",
        ),
        (
            {"features": "degree"},
            UnknownNameError,
            r"'degree'. Did you mean 'degrees",
        ),
        ({"features": 3}, InvalidParameterError, "features must be one of spectral, edges"),
        ({"features": "regions"}, MissingInputError, "Region features need the region"),
        (
            {"features": "degrees", "class_names": ["a"]},
            InvalidParameterError,
            "1 names",
        ),
        ({"features": "degrees", "class_names": "ab"}, InvalidParameterError, "a mapping or a seq"),
        ({"features": "degrees", "class_names": ["a", "a"]}, InvalidParameterError, "unique"),
        (
            {"features": "degrees", "class_names": {7: "a"}},
            InvalidParameterError,
            "7 is not a class",
        ),
        (
            {"features": "degrees", "device": "cpu"},
            InvalidParameterError,
            "applies to a torch mod",
        ),
    ],
)
def test_what_is_missing_or_odd_is_said(options, kind, message):
    fitted = LogisticRegression().fit(DEGREES, LABELS)
    with pytest.raises(kind, match=message):
        as_oracle(fitted, **options)


@pytest.mark.parametrize(
    ("estimator", "kind", "message"),
    [
        (LogisticRegression(), NotFittedError, r"LogisticRegression is not fitted yet.*fit_oracle"),
        (make_pipeline(StandardScaler(), SVC()), NotFittedError, "Pipeline is not fitted yet"),
        (
            LinearRegression().fit(DEGREES, LABELS),
            InvalidParameterError,
            "LinearRegression is a regressor: it predicts numbers, not classes",
        ),
        (
            MultiOutputClassifier(LogisticRegression()).fit(
                DEGREES, np.column_stack((LABELS, 1 - LABELS))
            ),
            InvalidParameterError,
            "predicts several labels at once",
        ),
    ],
    ids=["bare", "pipeline", "regressor", "many outputs"],
)
def test_what_is_no_fitted_classifier_is_refused(estimator, kind, message):
    with pytest.raises(kind, match=message):
        as_oracle(estimator, features="degrees")


def test_rows_of_another_length_are_said():
    fitted = LogisticRegression().fit(DEGREES, LABELS)
    with pytest.raises(InvalidGraphError, match=r"was fitted on 12 features, but the edges"):
        as_oracle(fitted, features="edges").predict(GRAPHS)
    small = Graph.from_edges(5, [(0, 1)])
    with pytest.raises(InvalidGraphError, match=r"a graph with 5 nodes are 5"):
        as_oracle(fitted, features="degrees").predict([small])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda a: 1 / 0, "The features function raised ZeroDivisionError"),
        (
            lambda a: a,
            r"rows of finite numbers, shape \(d,\) for a graph; for 24",
        ),
        (lambda a: a.sum(0) * np.nan, "rows of finite numbers"),
        (lambda a: ["x"] * 12, "raised ValueError"),
    ],
)
def test_a_function_that_gives_no_rows_is_said(wrong, message):
    fitted = LogisticRegression().fit(DEGREES, LABELS)
    with pytest.raises(OracleError, match=message):
        as_oracle(fitted, features=wrong).predict(GRAPHS)


def test_probabilities_that_contradict_the_labels_are_an_error():
    class Odd(LogisticRegression):
        def predict_proba(self, rows):
            return 1 - super().predict_proba(rows)

    oracle = as_oracle(Odd().fit(DEGREES, LABELS), features="degrees")
    with pytest.raises(OracleError, match=r"contradicts itself.*CalibratedClassifierCV"):
        oracle.predict_proba(GRAPHS)


@pytest.mark.parametrize("labels", [LABELS, models.NAMES], ids=["numbers", "names"])
def test_it_is_judged_by_training_it_anew(labels):
    pipeline = make_pipeline(StandardScaler(), LogisticRegression()).fit(DEGREES, labels)
    numbers = {"folds": 3, "repeats": 2, "permutations": 0}
    judged = evaluate(COHORT, as_oracle(pipeline, features="degrees"), **numbers)
    same = evaluate(COHORT, pipeline, features="degrees", **numbers)
    assert judged.protocol == same.protocol != "as given"
    assert judged.accuracy == same.accuracy
    assert pipeline.predict(DEGREES).tolist() == as_oracle(pipeline, features="degrees").predict(
        GRAPHS
    )


def test_without_probabilities_none_are_offered():
    oracle = as_oracle(SVC().fit(DEGREES, LABELS), features="degrees")
    assert not hasattr(oracle, "predict_proba")


def test_an_estimator_is_opened_by_words(tmp_path, monkeypatch):
    (tmp_path / "own_fit.py").write_text(
        "import models\nfrom sklearn.linear_model import LogisticRegression\n"
        "from denseflip.classifiers.features import make_features\n"
        "rows = make_features('regions', models.COHORT.nodes).transform(models.GRAPHS)\n"
        "fitted = LogisticRegression(C=100).fit(rows, models.LABELS)\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    try:
        with pytest.raises(MissingInputError, match="State what LogisticRegression was fitted on"):
            open_oracle("own_fit:fitted")
        oracle = open_oracle("own_fit:fitted?features=regions", dataset=COHORT)
        assert oracle.predict(GRAPHS) == models._regions().predict(GRAPHS)
    finally:
        sys.modules.pop("own_fit", None)


def test_given_bare_the_error_says_how_to_wrap_it():
    fitted = LogisticRegression().fit(DEGREES, LABELS)
    with pytest.raises(OracleError, match=r"as_oracle\(estimator, features="):
        explain(GRAPHS[0], fitted, "edg")
