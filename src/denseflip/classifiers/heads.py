"""Fast, exact predictions of fitted scikit-learn estimators, from plain arrays.

A search queries one classifier thousands of times, a few graphs at a time, and most of a call to
scikit-learn at that size is input checking. The two kinds of estimator that the presets use are
read out once and evaluated with NumPy, so a worker that only predicts never imports scikit-learn.
The prediction of a row does not depend on the rest of the batch. Any other estimator predicts
itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

EPSILON = float(np.finfo(np.float64).eps)
_MORE_THAN_HALF, _LESS_THAN_ONE = 0.5 + EPSILON, 1 - 4 * EPSILON  # by more than rounding


class Head(Protocol):
    """Gives each row of features the position of its class."""

    def predict(self, rows: Matrix) -> Positions:
        """Position of the class of each row."""
        ...


@dataclass(frozen=True, eq=False)
class LazyEstimator:
    """A head that predicts from arrays, and a fitted estimator that is built on first access.

    Attributes
    ----------
    head : predicts as the estimator would.
    classes : the labels, in the order of positions.
    description : the estimator in one line.
    build : builds the fitted scikit-learn estimator.
    """

    head: Head
    classes: tuple[int, ...]
    description: str
    build: Callable[[], Any]


def describe_estimator(estimator: Any) -> str:
    """An estimator in one line."""
    if isinstance(estimator, LazyEstimator):
        return estimator.description
    return " ".join(repr(estimator).split())


@dataclass(frozen=True, eq=False)
class NeighbourHead:
    """A vote of the `k` nearest training rows.

    The result is that of scikit-learn's brute-force search, except if the k-th and the next
    distance are equal: then the earlier training row votes, while in scikit-learn it depends on
    the state of its heap. Equal votes go to the first class. Distances are computed from
    differences: more exact than expanded squares, and identical for a row alone and in a batch.

    The voters are found by expanded squares first, for all rows at once. If the k-th and the next
    are so close that rounding might have swapped them, the differences decide.
    """

    rows: Matrix
    labels: Positions
    k: int
    n_classes: int

    @cached_property
    def expanded(self) -> tuple[Matrix, Matrix, Matrix, float]:
        """Training rows as columns, doubled, without all-zero columns; squares; votes; reach.

        The reach is the length of the longest training row.
        """
        used = np.flatnonzero(self.rows.any(axis=0))
        width = int(used[-1]) + 1 if len(used) else 0
        columns = np.ascontiguousarray(self.rows[:, :width].T)
        squares = np.einsum("ij,ij->j", columns, columns)
        return 2 * columns, squares, np.eye(self.n_classes)[self.labels], math.sqrt(squares.max())

    def votes(self, rows: Matrix) -> Positions:
        """Votes per class for each row."""
        k = self.k
        if k >= len(self.rows):
            every = np.bincount(self.labels, minlength=self.n_classes)
            return np.tile(every, (len(rows), 1)).astype(np.int64)
        if len(rows) == 1:
            return self._vote(rows[0])[None]
        columns, squares, by_class, reach = self.expanded
        # Squared distances, up to a term that is the same for all training rows.
        near = squares - rows[:, : len(columns)] @ columns
        edge = np.partition(near, (k - 1, k), axis=1)[:, k - 1 : k + 1]
        out = ((near <= edge[:, :1]) @ by_class).astype(np.int64)
        slack = self.slack(np.sqrt(np.einsum("ij,ij->i", rows, rows)) + reach)
        for i in np.flatnonzero(~(edge[:, 1] - edge[:, 0] > slack)).tolist():
            out[i] = self._exact(rows[i])
        return out

    def _vote(self, row: Matrix) -> Positions:
        """`votes` for a single row, in fewer steps."""
        columns, squares, _, reach = self.expanded
        near = squares - row[: len(columns)] @ columns
        if self.k == 1:
            first = int(near.argmin())
            least = near.item(first)
            near[first] = math.inf
            gap = near.item(near.argmin()) - least
            voters = self.labels[first : first + 1]
        else:
            order = near.argpartition(self.k)
            nearest = order[: self.k]
            gap = near.item(order[self.k]) - near[nearest].max()
            voters = self.labels[nearest]
        if not gap > self.slack(math.sqrt(row @ row) + reach):
            return self._exact(row)
        return np.bincount(voters, minlength=self.n_classes)

    def slack(self, reach: Any) -> Any:
        """Twice the rounding error of either way to compute the distances."""
        return 4 * EPSILON * (self.rows.shape[1] + 8) * reach * reach

    def _exact(self, row: Matrix) -> Positions:
        gap = self.rows - row
        nearest = np.argsort(np.einsum("ij,ij->i", gap, gap), kind="stable")[: self.k]
        return np.bincount(self.labels[nearest], minlength=self.n_classes)

    def predict(self, rows: Matrix) -> Positions:
        """Position of the class of each row."""
        return np.asarray(self.votes(rows).argmax(axis=1), dtype=np.int64)

    def predict_proba(self, rows: Matrix) -> Matrix:
        """Share of the votes."""
        return self.votes(rows) / self.k


@dataclass(frozen=True, eq=False)
class LinearHead:
    """The sign (two classes) or the largest (more classes) of linear scores.

    Attributes
    ----------
    weights : (1, d) for two classes, else (n_classes, d).
    offset : added to the scores.
    shift, scale : a row is shifted by and then divided by these, if given.
    logistic : whether the scores are those of a logistic regression and so give probabilities.
    """

    weights: Matrix
    offset: Matrix
    shift: Matrix | None = None
    scale: Matrix | None = None
    logistic: bool = False

    def scores(self, rows: Matrix) -> Matrix:
        """One column for two classes, else one per class; each row by itself."""
        if self.shift is not None:
            rows = rows - self.shift
        if self.scale is not None:
            rows = rows / self.scale
        return np.array([self.weights @ row for row in rows]) + self.offset

    def predict(self, rows: Matrix) -> Positions:
        """Position of the class of each row."""
        return self.decide(self.scores(rows))

    def decide(self, scores: Matrix) -> Positions:
        """Position of the class for each row of scores."""
        if len(self.weights) == 1:
            return (scores[:, 0] > 0).astype(np.int64)
        return np.asarray(scores.argmax(axis=1), dtype=np.int64)

    def predict_proba(self, rows: Matrix) -> Matrix:
        """Logistic (two classes) or normalised exponentials (more) of the scores.

        The most probable class is that of `predict`, even if rounding would leave a tie.
        """
        scores = self.scores(rows)
        if len(self.weights) == 1:
            small = np.exp(-np.abs(scores[:, 0]))  # never overflows
            less, more = small / (1 + small), 1 / (1 + small)
            second = scores[:, 0] > 0
            more = np.where(second, np.maximum(more, _MORE_THAN_HALF), more)
            return np.column_stack((np.where(second, less, more), np.where(second, more, less)))
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        powers = np.minimum(powers, _LESS_THAN_ONE)
        powers[np.arange(len(scores)), scores.argmax(axis=1)] = 1
        return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class EstimatorHead:
    """Any estimator, called directly."""

    estimator: Any

    def predict(self, rows: Matrix) -> Positions:
        """Position of the class of each row."""
        answers = np.asarray(self.estimator.predict(rows))
        classes = np.asarray(self.estimator.classes_)
        return np.searchsorted(classes, answers).astype(np.int64)


def make_head(estimator: Any) -> Head:
    """The fastest head that predicts as the fitted estimator does."""
    shift = scale = None
    last = estimator
    if _is(estimator, "Pipeline"):
        steps = [step for _, step in estimator.steps]
        if len(steps) != 2 or not _is(steps[0], "StandardScaler"):
            return EstimatorHead(estimator)
        shift, scale, last = steps[0].mean_, steps[0].scale_, steps[1]
    if _is(last, "KNeighborsClassifier") and shift is None and scale is None:
        plain = last.weights == "uniform" and last.effective_metric_ == "euclidean"
        if plain and isinstance(last._fit_X, np.ndarray) and last._y.ndim == 1:
            rows = np.ascontiguousarray(last._fit_X, dtype=np.float64)
            labels = np.asarray(last._y, dtype=np.int64)
            return NeighbourHead(rows, labels, int(last.n_neighbors), len(last.classes_))
    linear_svc = _is(last, "SVC") and last.kernel == "linear" and len(last.classes_) == 2
    if linear_svc or _is(last, "LogisticRegression", "LinearSVC"):
        weights = np.ascontiguousarray(last.coef_, dtype=np.float64)
        offset = np.asarray(last.intercept_, dtype=np.float64)
        return LinearHead(weights, offset, shift, scale, _is_logistic(last))
    return EstimatorHead(estimator)


_LINEAR = (
    *("LogisticRegression", "LinearSVC", "SVC", "RidgeClassifier", "RidgeClassifierCV"),
    *("LogisticRegressionCV", "SGDClassifier", "Perceptron", "LinearDiscriminantAnalysis"),
)


def linear_head(estimator: Any) -> LinearHead | None:
    """The linear scores of a fitted estimator or pipeline, as a function of its input.

    Steps may be scalers, selections of features, principal components and a linear classifier.
    None if the scores are not linear, or a step is not known to be.
    """
    steps = [step for _, step in estimator.steps] if _is(estimator, "Pipeline") else [estimator]
    *before, last = [step for step in steps if step is not None and step != "passthrough"]
    coef = getattr(last, "coef_", None) if _is(last, *_LINEAR) else None
    kernel = getattr(last, "kernel", "linear")
    if coef is None or kernel != "linear" or (_is(last, "SVC") and len(last.classes_) > 2):
        return None
    weights = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64)
    weights = np.atleast_2d(weights)
    offset = np.asarray(last.intercept_, dtype=np.float64).reshape(-1)
    for step in reversed(before):
        found = _before(step, weights)
        if found is None:
            return None
        weights, added = found
        offset = offset + added
    return LinearHead(np.ascontiguousarray(weights), np.broadcast_to(offset, len(weights)).copy())


def _before(step: Any, weights: Matrix) -> tuple[Matrix, Matrix] | None:
    """Linear scores of a step's output as scores of its input: weights, and what to add."""
    width = int(getattr(step, "n_features_in_", 0))
    if _is(step, "StandardScaler", "RobustScaler"):
        shift = step.mean_ if _is(step, "StandardScaler") else step.center_
        made = weights if step.scale_ is None else weights / step.scale_
        return made, -(made @ np.broadcast_to(0.0 if shift is None else shift, width))
    if _is(step, "MinMaxScaler") and not step.clip:
        return weights * step.scale_, weights @ step.min_
    if _is(step, "MaxAbsScaler") and not getattr(step, "clip", False):
        return weights / step.scale_, np.zeros(len(weights))
    if _is(step, "PCA", "TruncatedSVD"):
        if getattr(step, "whiten", False):
            weights = weights / np.sqrt(step.explained_variance_)
        made = weights @ step.components_
        return made, -(made @ np.broadcast_to(getattr(step, "mean_", 0.0), width))
    if _is(step, "SelectKBest", "SelectPercentile", "VarianceThreshold", "SelectFromModel"):
        made = np.zeros((len(weights), width))
        made[:, step.get_support()] = weights
        return made, np.zeros(len(weights))
    return None


def is_estimator(value: Any) -> bool:
    """Whether a value is a scikit-learn estimator, fitted or not: can be copied and trained."""
    able = all(callable(getattr(value, name, None)) for name in ("fit", "predict", "get_params"))
    return able and not isinstance(value, type)


def _is(estimator: Any, *names: str) -> bool:
    """Whether an object is exactly of one of scikit-learn's classes; imports none of them."""
    kind = type(estimator)
    return kind.__name__ in names and kind.__module__.split(".")[0] == "sklearn"


def _is_logistic(estimator: Any) -> bool:
    """Whether probabilities are the logistic or normalised exponentials of the scores."""
    if not _is(estimator, "LogisticRegression"):
        return False
    several = getattr(estimator, "multi_class", "auto")  # a parameter of older releases
    if len(estimator.classes_) == 2:
        return several != "multinomial"
    return several != "ovr" and estimator.solver != "liblinear"


# ---- serialisation --------------------------------------------------------------------------


def head_to_parts(head: Head) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]] | None:
    """A JSON-ready description and arrays; None for an estimator that is called directly."""
    if isinstance(head, NeighbourHead):
        described = {"kind": "neighbours", "k": head.k, "n_classes": head.n_classes}
        return described, {"rows": head.rows, "labels": head.labels}
    if isinstance(head, LinearHead):
        optional = {"shift": head.shift, "scale": head.scale}
        given = {name: array for name, array in optional.items() if array is not None}
        arrays = {"weights": head.weights, "offset": head.offset, **given}
        return {"kind": "linear", "logistic": head.logistic}, arrays
    return None


def head_from_parts(described: Mapping[str, Any], arrays: Mapping[str, Any]) -> Head:
    """Inverse of `head_to_parts`; a ValueError or KeyError if the parts do not fit together."""
    if described["kind"] == "neighbours":
        rows, k = _floats(arrays["rows"], 2), int(described["k"])
        labels = np.asarray(arrays["labels"], dtype=np.int64)
        n_classes = int(described["n_classes"])
        inside = len(labels) == 0 or 0 <= labels.min() <= labels.max() < n_classes
        if labels.shape != (len(rows),) or not inside or not k >= 1:
            msg = "the arrays of its nearest-neighbour classifier are inconsistent"
            raise ValueError(msg)
        return NeighbourHead(rows, labels, k, n_classes)
    if described["kind"] == "linear":
        weights, offset = _floats(arrays["weights"], 2), _floats(arrays["offset"], 1)
        others = {name: _floats(arrays[name], 1) for name in ("shift", "scale") if name in arrays}
        wrong = [name for name, array in others.items() if len(array) != weights.shape[1]]
        if wrong or len(offset) != len(weights):
            msg = "the arrays of its linear classifier are inconsistent"
            raise ValueError(msg)
        return LinearHead(weights, offset, **others, logistic=bool(described["logistic"]))
    msg = f"unknown kind of classifier {described['kind']!r}"
    raise ValueError(msg)


def _floats(array: Any, ndim: int) -> Matrix:
    made = np.ascontiguousarray(array, dtype=np.float64)
    if made.ndim != ndim:
        msg = f"an array of {made.ndim} dimensions instead of {ndim}"
        raise ValueError(msg)
    return made
