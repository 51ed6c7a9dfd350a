from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from denseflip.classifiers.heads import (
    EstimatorHead,
    LinearHead,
    NeighbourHead,
    head_from_parts,
    head_to_parts,
    make_head,
)


def problem(classes=2, n=60, d=20, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    x = rng.normal(size=(n, d))
    x[:, 0] += 2 * y
    return x, y * 3 + 4, rng.normal(size=(200, d)) + 0.5  # labels that are not positions


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    ("estimator", "kind"),
    [
        (KNeighborsClassifier(1), NeighbourHead),
        (KNeighborsClassifier(4), NeighbourHead),
        (KNeighborsClassifier(29, algorithm="brute"), NeighbourHead),
        (KNeighborsClassifier(5, weights="distance"), EstimatorHead),
        (KNeighborsClassifier(5, metric="manhattan"), EstimatorHead),
        (LogisticRegression(), LinearHead),
        (LinearSVC(), LinearHead),
        (make_pipeline(StandardScaler(), LogisticRegression()), LinearHead),
        (make_pipeline(StandardScaler(with_std=False), LogisticRegression()), LinearHead),
        (make_pipeline(MinMaxScaler(), LogisticRegression()), EstimatorHead),
        (make_pipeline(StandardScaler(), KNeighborsClassifier(3)), EstimatorHead),
        (SVC(), EstimatorHead),
        (RandomForestClassifier(5, random_state=0), EstimatorHead),
    ],
    ids=lambda x: str(x) if not isinstance(x, type) else x.__name__,
)
def test_a_head_answers_as_its_estimator(estimator, kind, classes):
    x, y, asked = problem(classes)
    estimator.fit(x, y)
    head = make_head(estimator)
    assert isinstance(head, kind)
    answers = np.asarray(estimator.classes_)[head.predict(asked)]
    assert np.array_equal(answers, estimator.predict(asked))
    alone = np.concatenate([head.predict(row[None]) for row in asked[:20]])
    assert np.array_equal(alone, head.predict(asked)[:20])


def test_a_linear_svm_of_two_classes_is_read_out():
    x, y, asked = problem()
    estimator = SVC(kernel="linear").fit(x, y)
    head = make_head(estimator)
    assert isinstance(head, LinearHead)
    assert np.array_equal(estimator.classes_[head.predict(asked)], estimator.predict(asked))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(4),
        LogisticRegression(),
        LogisticRegression(C=1e6, max_iter=1000),
        make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cg")),
    ],
    ids=str,
)
def test_probabilities_are_those_of_the_estimator(estimator, classes):
    x, y, asked = problem(classes)
    head = make_head(estimator.fit(x, y))
    asked = np.concatenate((asked, 1e4 * asked))  # where the exponential would overflow
    shares = head.predict_proba(asked)
    np.testing.assert_allclose(shares, estimator.predict_proba(asked), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert np.array_equal(shares.argmax(axis=1), head.predict(asked))


def test_the_likeliest_class_is_the_answer_even_in_a_tie():
    """A score of 1e-20 is an answer, but no probability can tell it from one half."""
    two = LinearHead(np.array([[1.0]]), np.zeros(1), logistic=True)
    rows = np.array([[1e-20], [0.0], [-1e-20]])
    assert two.predict(rows).tolist() == [1, 0, 0]
    assert two.predict_proba(rows).argmax(axis=1).tolist() == [1, 0, 0]
    three = LinearHead(np.array([[1.0], [-1.0], [2.0]]), np.zeros(3), logistic=True)
    assert three.predict(rows).tolist() == [2, 0, 1]
    assert three.predict_proba(rows).argmax(axis=1).tolist() == [2, 0, 1]


@pytest.mark.parametrize("estimator", [LinearSVC(), SVC(kernel="linear")], ids=str)
def test_a_machine_without_probabilities_has_none(estimator):
    x, y, _ = problem()
    assert not make_head(estimator.fit(x, y)).logistic


def test_of_so_few_rows_all_vote():
    head = NeighbourHead(np.zeros((2, 1)), np.array([1, 1]), 3, 2)
    assert head.votes(np.ones((4, 1))).tolist() == [[0, 2]] * 4


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(4),
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        RandomForestClassifier(2, random_state=0),
    ],
    ids=str,
)
def test_a_head_in_plain_parts(estimator):
    x, y, asked = problem()
    head = make_head(estimator.fit(x, y))
    parts = head_to_parts(head)
    if isinstance(head, EstimatorHead):
        assert parts is None
        return
    described, arrays = parts
    again = head_from_parts(json.loads(json.dumps(described)), arrays)
    assert np.array_equal(again.predict(asked), head.predict(asked))
    assert np.array_equal(again.predict_proba(asked), head.predict_proba(asked))


def test_ties_are_broken_as_by_scikit_learn():
    """Whole numbers make exact ties: in distance and in votes."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 3, size=(40, 16)).astype(float)
    x = np.concatenate((x, x[:10]))  # duplicates: equally near rows with other labels
    y = rng.integers(0, 3, size=50)
    asked = rng.integers(0, 3, size=(300, 16)).astype(float)
    for k in (1, 2, 3, 6, 10):
        estimator = KNeighborsClassifier(k, algorithm="brute").fit(x, y)
        head = make_head(estimator)
        votes = head.votes(asked)
        # A vote tie goes to the first class, whatever rows were nearest.
        assert np.array_equal(head.predict(asked), votes.argmax(axis=1))
        # Where the k-th distance is unique the voters are, too, and so must be the answer.
        far = np.sort(((asked[:, None] - x) ** 2).sum(axis=2), axis=1)
        clear = far[:, k - 1] < far[:, k]
        assert clear.any()
        assert np.array_equal(head.predict(asked)[clear], estimator.predict(asked)[clear])
        shares = head.predict_proba(asked)
        np.testing.assert_array_equal(shares[clear], estimator.predict_proba(asked)[clear])


def test_equally_near_rows_vote_in_training_order():
    x, y = np.array([[1.0], [-1.0], [1.0]]), np.array([1, 0, 0])
    assert NeighbourHead(x, y, 1, 2).predict(np.zeros((1, 1))).tolist() == [1]
