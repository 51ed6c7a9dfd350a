"""Quick, exact answers of fitted scikit-learn estimators.

A search asks one classifier thousands of questions, a few graphs at a time, and most of a call to
scikit-learn at that size is checking. The two kinds of estimator that the presets use are read out
once and answered with NumPy, row by row, so that a row's answer never depends on its neighbours in
the batch. Any other estimator answers for itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]


class Head(Protocol):
    """Gives each row of features the position of its class."""

    def predict(self, rows: Matrix) -> Positions:
        """Position of the class of each row."""
        ...


@dataclass(frozen=True, eq=False)
class NeighbourHead:
    """A vote of the `k` nearest training rows.

    The answer is that of scikit-learn's brute-force search, except where the k-th and the next
    distance are equal: there the earlier training row votes, while scikit-learn leaves it to the
    state of its heap. Equal votes go to the first class. Distances are taken from differences:
    more exact than expanded squares, and the same for a row alone as for a row in a batch.
    """

    rows: Matrix
    labels: Positions
    k: int
    n_classes: int

    def votes(self, rows: Matrix) -> Positions:
        """Votes per class for each row."""
        out = np.empty((len(rows), self.n_classes), dtype=np.int64)
        for i, row in enumerate(rows):
            gap = self.rows - row
            nearest = np.argsort(np.einsum("ij,ij->i", gap, gap), kind="stable")[: self.k]
            out[i] = np.bincount(self.labels[nearest], minlength=self.n_classes)
        return out

    def predict(self, rows: Matrix) -> Positions:
        """Position of the class of each row."""
        return np.asarray(self.votes(rows).argmax(axis=1), dtype=np.int64)

    def predict_proba(self, rows: Matrix) -> Matrix:
        """Share of the votes."""
        return self.votes(rows) / self.k


@dataclass(frozen=True, eq=False)
class LinearHead:
    """The sign (two classes) or the largest (more classes) of linear scores."""

    weights: Matrix  # (1, d) for two classes, else (n_classes, d)
    offset: Matrix
    shift: Matrix | None = None
    scale: Matrix | None = None

    def predict(self, rows: Matrix) -> Positions:
        """Position of the class of each row."""
        if self.shift is not None:
            rows = rows - self.shift
        if self.scale is not None:
            rows = rows / self.scale
        scores = np.array([self.weights @ row for row in rows]) + self.offset
        if len(self.weights) == 1:
            return (scores[:, 0] > 0).astype(np.int64)
        return np.asarray(scores.argmax(axis=1), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class EstimatorHead:
    """Any estimator, asked as it is."""

    estimator: Any

    def predict(self, rows: Matrix) -> Positions:
        """Position of the class of each row."""
        answers = np.asarray(self.estimator.predict(rows))
        classes = np.asarray(self.estimator.classes_)
        return np.searchsorted(classes, answers).astype(np.int64)


def make_head(estimator: Any) -> Head:
    """The quickest head that answers as the fitted estimator does."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC, LinearSVC

    shift = scale = None
    last = estimator
    if type(estimator) is Pipeline:
        steps = [step for _, step in estimator.steps]
        if len(steps) != 2 or type(steps[0]) is not StandardScaler:
            return EstimatorHead(estimator)
        shift, scale, last = steps[0].mean_, steps[0].scale_, steps[1]
    if type(last) is KNeighborsClassifier and shift is None and scale is None:
        plain = last.weights == "uniform" and last.effective_metric_ == "euclidean"
        if plain and isinstance(last._fit_X, np.ndarray) and last._y.ndim == 1:
            rows = np.ascontiguousarray(last._fit_X, dtype=np.float64)
            labels = np.asarray(last._y, dtype=np.int64)
            return NeighbourHead(rows, labels, int(last.n_neighbors), len(last.classes_))
    linear_svc = type(last) is SVC and last.kernel == "linear" and len(last.classes_) == 2
    if linear_svc or type(last) in {LogisticRegression, LinearSVC}:
        weights = np.ascontiguousarray(last.coef_, dtype=np.float64)
        return LinearHead(weights, np.asarray(last.intercept_, dtype=np.float64), shift, scale)
    return EstimatorHead(estimator)
