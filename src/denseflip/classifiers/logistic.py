"""Logistic regression for small data, quick enough for thousands of fits.

It minimises what scikit-learn's `LogisticRegression` minimises, by Newton's method; evaluation
uses it for two classes, where it is many times quicker. What is trained for use is scikit-learn's.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]

_STEPS = 100
_GRADIENT = 1e-8


def fit_logistic(rows: Matrix, y: npt.NDArray[np.int64], c: float) -> Matrix:
    """Weights and, last, the offset of an L2-penalised logistic regression on labels 0 and 1.

    Minimises ``sum log(1 + exp(-s (w x + b))) + |w|² / (2 c)`` with ``s = ±1``; the offset is not
    penalised. O(d³) per step, a handful of steps.
    """
    n, d = rows.shape
    x = np.column_stack((rows, np.ones(n)))
    sign: Matrix = np.where(y == 1, 1.0, -1.0)
    penalty = np.full(d + 1, 1 / c)
    penalty[-1] = 0
    diagonal = np.arange(d + 1)
    w = np.zeros(d + 1)
    loss = _loss(x, sign, penalty, w)
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
            lower = _loss(x, sign, penalty, trial)
            if lower <= loss - 1e-4 * rate * slope:
                w, loss = trial, lower
                break
            rate /= 2
            if rate < 1e-10:  # the loss cannot fall any more: rounding is all that is left
                return w
    return w


def compact(train: Matrix, test: Matrix) -> tuple[Matrix, Matrix]:
    """Both parts in the coordinates of the train rows' span, if that makes them much narrower.

    A rotation, so an L2-penalised linear model gives the same answers.
    """
    if train.shape[1] <= 2 * train.shape[0]:
        return train, test
    u, s, v = np.linalg.svd(train, full_matrices=False)
    return u * s, test @ v.T


def _loss(x: Matrix, sign: Matrix, penalty: Matrix, w: Matrix) -> float:
    return float(np.logaddexp(0, -sign * (x @ w)).sum() + 0.5 * (penalty * w) @ w)
