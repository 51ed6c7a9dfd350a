"""How a classifier is selected and trained: one recipe per family of estimators.

A recipe has a grid of settings and the estimator for a setting, and predicts the test part of a
split for every setting at once. It receives the whole feature matrix once (`prepare`), so that
distances or a compact form of the rows are computed once per data set and the many fits of nested
cross-validation and permutation stay cheap. `prepare` uses features only, never labels, and does
not change any prediction.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.heads import LazyEstimator, LinearHead, NeighbourHead, describe_estimator

Matrix = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]

_STEPS = 100  # of Newton's method
_GRADIENT = 1e-8
_EXACT = 2**53  # below it, sums of whole numbers are exact


class Recipe(ABC):
    """A family of estimators with a grid of settings.

    Attributes
    ----------
    parameter : name of the setting that is selected ('' if none).
    grid : settings to choose from; ties go to the first.
    default : the setting used if there are too few graphs to select one.
    """

    parameter: str = ""
    grid: Sequence[Any] = (None,)
    default: Any = None

    @abstractmethod
    def estimator(self, value: Any) -> Any:
        """An unfitted scikit-learn estimator with this setting."""

    def fit(self, value: Any, rows: Matrix, labels: Positions) -> Any:
        """A scikit-learn estimator with this setting, fitted, or a `LazyEstimator` of one."""
        return self.estimator(value).fit(rows, labels)

    def trainer(self, value: Any, rows: Matrix, labels: Positions) -> Callable[[Positions], Any]:
        """A function that does `fit` on the rows at some positions; a row may occur several times.

        It may compute once what all these trainings share.
        """
        return lambda at: self.fit(value, rows[at], labels[at])

    def prepare(self, rows: Matrix) -> Matrix:
        """Compute what all splits share; by default the rows, unchanged."""
        return rows

    def answers(
        self, prepared: Matrix, y: Positions, train: Positions, test: Positions, values: Any
    ) -> Positions:
        """Predicted class positions of the test rows, for each setting."""
        fits = (self.estimator(v).fit(prepared[train], y[train]) for v in values)
        return np.stack([fit.predict(prepared[test]) for fit in fits]).astype(np.int64)


@dataclass(frozen=True)
class NeighboursRecipe(Recipe):
    """k nearest neighbours, k selected."""

    grid: tuple[int, ...] = tuple(range(1, 30))
    default: int = 5
    parameter: str = "n_neighbors"

    def estimator(self, value: int) -> Any:
        """An unfitted estimator with this k."""
        from sklearn.neighbors import KNeighborsClassifier

        return KNeighborsClassifier(n_neighbors=value, algorithm="brute")

    def fit(self, value: int, rows: Matrix, labels: Positions) -> LazyEstimator:
        """The votes of these rows; scikit-learn is not used until the estimator is accessed."""
        classes, positions = np.unique(labels, return_inverse=True)
        setting = "" if value == 5 else f", n_neighbors={value}"  # 5 is scikit-learn's default
        return LazyEstimator(
            NeighbourHead(np.ascontiguousarray(rows), positions, value, len(classes)),
            tuple(classes.tolist()),
            f"KNeighborsClassifier(algorithm='brute'{setting})",
            partial(Recipe.fit, self, value, rows, labels),
        )

    def prepare(self, rows: Matrix) -> Matrix:
        """Squared distances between all rows, computed as in `NeighbourHead`."""
        out = np.empty((len(rows), len(rows)))
        for i, row in enumerate(rows):
            gap = rows - row
            out[i] = np.einsum("ij,ij->i", gap, gap)
        return out

    def answers(
        self, prepared: Matrix, y: Positions, train: Positions, test: Positions, values: Any
    ) -> Positions:
        """Votes of the nearest training rows for every k at once; all rows if k exceeds them."""
        order = np.argsort(prepared[np.ix_(test, train)], axis=1, kind="stable")
        voters = y[train][order[:, : max(values)]]
        counts = np.stack([np.cumsum(voters == c, axis=1) for c in range(int(y.max()) + 1)], axis=2)
        last = np.minimum(np.asarray(values), len(train)) - 1
        return np.asarray(counts[:, last].argmax(axis=2).T, dtype=np.int64)


@dataclass(frozen=True)
class LinearSvmRecipe(Recipe):
    """A linear support vector machine, C selected.

    On the edges of a brain graph every C from about 0.01 already gives the hard margin.
    """

    grid: tuple[float, ...] = (0.0001, 0.001, 0.01, 1.0)
    default: float = 0.01
    parameter: str = "C"

    def estimator(self, value: float) -> Any:
        """An unfitted estimator with this C."""
        from sklearn.svm import SVC

        return SVC(kernel="linear", C=value)

    def trainer(self, value: float, rows: Matrix, labels: Positions) -> Callable[[Positions], Any]:
        """Train on the inner products, computed once, if that gives exactly the same model.

        Inner products of whole numbers do not depend on the order in which they are summed.
        """
        inner, classes = self.prepare(rows), np.unique(labels)
        whole = (rows == np.rint(rows)).all() and np.abs(inner).max(initial=0) < _EXACT
        if not whole or len(classes) != 2:
            return super().trainer(value, rows, labels)

        description = describe_estimator(self.estimator(value))

        def fit(at: Positions) -> LazyEstimator:
            head = _svm_of_products(value, inner, rows, labels, at)
            build = partial(self._fit_at, value, rows, labels, at)  # all refits share the rows
            return LazyEstimator(head, tuple(classes.tolist()), description, build)

        return fit

    def _fit_at(self, value: float, rows: Matrix, labels: Positions, at: Positions) -> Any:
        return self.fit(value, rows[at], labels[at])

    def prepare(self, rows: Matrix) -> Matrix:
        """Inner products of all rows, which is all that a linear SVM uses."""
        return np.asarray(rows @ rows.T, dtype=np.float64)

    def answers(
        self, prepared: Matrix, y: Positions, train: Positions, test: Positions, values: Any
    ) -> Positions:
        """Train on the inner products of the train rows, once per C that makes a difference.

        If no training row is at the bound C, the margin is hard, and any larger C gives the same
        model.
        """
        from sklearn import config_context
        from sklearn.svm import SVC

        inner, outer = prepared[np.ix_(train, train)], prepared[np.ix_(test, train)]
        out = np.empty((len(values), len(test)), dtype=np.int64)
        hard: Positions | None = None
        with config_context(assume_finite=True, skip_parameter_validation=True):
            for i in np.argsort(values, kind="stable").tolist():
                if hard is None:
                    fit = SVC(kernel="precomputed", C=values[i]).fit(inner, y[train])
                    out[i] = fit.predict(outer)
                    if np.abs(fit.dual_coef_).max() < 0.999 * values[i]:
                        hard = out[i]
                else:
                    out[i] = hard
        return out


def _svm_of_products(
    value: float, inner: Matrix, rows: Matrix, labels: Positions, at: Positions
) -> LinearHead:
    """A linear SVM of the rows at some positions, from the inner products of all rows."""
    from sklearn import config_context
    from sklearn.svm import SVC

    with config_context(assume_finite=True, skip_parameter_validation=True):
        fit = SVC(kernel="precomputed", C=value).fit(inner[np.ix_(at, at)], labels[at])
    return LinearHead(fit.dual_coef_ @ rows[at[fit.support_]], fit.intercept_)


@dataclass(frozen=True)
class LogisticRecipe(Recipe):
    """Logistic regression with an L2 penalty, C selected.

    Attributes
    ----------
    scaled : whether to standardise every feature first (mean and deviation of the training part).
    """

    grid: tuple[float, ...] = (0.01, 1.0, 100.0)
    default: float = 1.0
    parameter: str = "C"
    scaled: bool = False

    def estimator(self, value: float) -> Any:
        """An unfitted estimator with this C."""
        if not self.scaled:
            return self._plain(value)
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        return make_pipeline(StandardScaler(), self._plain(value))

    @staticmethod
    def _plain(value: float) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(C=value, max_iter=10_000, tol=1e-6)

    def prepare(self, rows: Matrix) -> Matrix:
        """The rows, `rotated`.

        The penalty does not change under rotation, so neither do the predictions.
        """
        return rows if self.scaled else rotated(rows)

    def answers(
        self, prepared: Matrix, y: Positions, train: Positions, test: Positions, values: Any
    ) -> Positions:
        """Train on the train rows, once per C."""
        a, b = prepared[train], prepared[test]
        if self.scaled:
            mean, spread = a.mean(axis=0), a.std(axis=0)
            spread[spread < 1e-12] = 1.0  # a constant column is left unscaled
            a, b = (a - mean) / spread, (b - mean) / spread
        a, b = compact(a, b)
        if y.max() == 1:
            weights = (fit_logistic(a, y[train], c) for c in values)
            return np.stack([b @ w[:-1] + w[-1] > 0 for w in weights]).astype(np.int64)
        fits = (self._plain(c).fit(a, y[train]) for c in values)
        return np.stack([fit.predict(b) for fit in fits]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class EstimatorRecipe(Recipe):
    """Any scikit-learn estimator as given; it may select its own settings."""

    given: Any

    def estimator(self, value: None) -> Any:
        """An unfitted copy."""
        from sklearn.base import clone

        return clone(self.given)


def stratified_folds(y: Positions, folds: int, rng: np.random.Generator) -> Positions:
    """Number of the fold each row is tested in; every class is spread evenly over the folds."""
    out = np.empty(len(y), dtype=np.int64)
    dealt = 0  # continue where the last class stopped, so that fold sizes differ by at most one
    for label in range(int(y.max()) + 1):
        members = rng.permutation(np.flatnonzero(y == label))
        out[members] = (np.arange(len(members)) + dealt) % folds
        dealt += len(members)
    return out


def select(
    recipe: Recipe,
    prepared: Any,
    y: Positions,
    train: Positions,
    folds: int,
    rng: np.random.Generator,
) -> Any:
    """The setting with the most correct predictions in stratified cross-validation.

    If a class has fewer graphs than there are folds, fewer folds are used; if it has one graph, the
    recipe's default is used.
    """
    if len(recipe.grid) == 1:
        return recipe.grid[0]
    counts = np.bincount(y[train])
    folds = min(folds, int(counts[counts > 0].min()))
    if folds < 2:
        return recipe.default
    fold = stratified_folds(y[train], folds, rng)
    right = np.zeros(len(recipe.grid), dtype=np.int64)
    for i in range(folds):
        inside, outside = train[fold != i], train[fold == i]
        answers = recipe.answers(prepared, y, inside, outside, recipe.grid)
        right += (answers == y[outside]).sum(axis=1)
    return recipe.grid[int(right.argmax())]


def nested_answers(
    recipe: Recipe,
    prepared: Any,
    y: Positions,
    folds: int,
    inner_folds: int,
    rng: np.random.Generator,
) -> tuple[Positions, list[Any]]:
    """Prediction for each row by a classifier not trained on it, and the setting per fold."""
    fold = stratified_folds(y, folds, rng)
    out = np.empty(len(y), dtype=np.int64)
    chosen = []
    for i in range(folds):
        train, test = np.flatnonzero(fold != i), np.flatnonzero(fold == i)
        value = select(recipe, prepared, y, train, inner_folds, rng)
        out[test] = recipe.answers(prepared, y, train, test, [value])[0]
        chosen.append(value)
    return out, chosen


# ---- logistic regression ----------------------------------------------------------------------


def fit_logistic(rows: Matrix, y: npt.NDArray[np.int64], c: float) -> Matrix:
    """Weights and, last, the offset of an L2-penalised logistic regression on labels 0 and 1.

    Minimises the objective of scikit-learn's `LogisticRegression` by Newton's method. Evaluation
    uses it for two classes, where it is many times faster. A classifier that is trained for use is
    scikit-learn's.

    The objective is ``sum log(1 + exp(-s (w x + b))) + |w|² / (2 c)`` with ``s = ±1``; the offset
    is not penalised. O(d³) per step, a handful of steps.
    """
    n, d = rows.shape
    x = np.column_stack((rows, np.ones(n)))
    sign: Matrix = np.where(y == 1, 1.0, -1.0)
    penalty = np.full(d + 1, 1 / c)
    penalty[-1] = 0
    diagonal = np.arange(d + 1)
    w = np.zeros(d + 1)
    loss = _logistic_loss(x, sign, penalty, w)
    for _ in range(_STEPS):
        p = np.exp(-np.logaddexp(0, -(x @ w)))
        gradient = x.T @ (p - y) + penalty * w
        if np.abs(gradient).max() < _GRADIENT:
            break
        curvature = (x.T * (p * (1 - p))) @ x
        curvature[diagonal, diagonal] += penalty + 1e-12
        step = np.linalg.solve(curvature, gradient)
        slope = float(gradient @ step)
        rate = 1.0
        while True:  # halve the step until the loss falls enough
            trial = w - rate * step
            lower = _logistic_loss(x, sign, penalty, trial)
            if lower <= loss - 1e-4 * rate * slope:
                w, loss = trial, lower
                break
            rate /= 2
            if rate < 1e-10:  # the loss cannot fall any further than rounding
                return w
    return w


def rotated(rows: Matrix) -> Matrix:
    """The rows in as many columns as there are rows if that is fewer, by a rotation."""
    if rows.shape[1] <= rows.shape[0]:
        return rows
    u, s, _ = np.linalg.svd(rows, full_matrices=False)
    return np.asarray(u * s, dtype=np.float64)


def compact(train: Matrix, test: Matrix) -> tuple[Matrix, Matrix]:
    """Both parts in the coordinates of the train rows' span, if that makes them much narrower.

    This is a rotation, so an L2-penalised linear model gives the same predictions.
    """
    if train.shape[1] <= 2 * train.shape[0]:
        return train, test
    u, s, v = np.linalg.svd(train, full_matrices=False)
    return u * s, test @ v.T


def _logistic_loss(x: Matrix, sign: Matrix, penalty: Matrix, w: Matrix) -> float:
    return float(np.logaddexp(0, -sign * (x @ w)).sum() + 0.5 * (penalty * w) @ w)
