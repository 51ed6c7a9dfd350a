from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from denseflip.classifiers.logistic import compact, fit_logistic


@pytest.mark.parametrize("c", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("shape", [(40, 5), (30, 60)])
def test_the_optimum_is_scikit_learns(c, shape):
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=shape), rng.integers(0, 2, shape[0])
    w = fit_logistic(x, y, c)
    reference = LogisticRegression(C=c, tol=1e-10, max_iter=100_000).fit(x, y)
    np.testing.assert_allclose(w[:-1], reference.coef_[0], atol=1e-4)
    np.testing.assert_allclose(w[-1], reference.intercept_[0], atol=1e-4)


def test_separable_data_and_constant_columns_end():
    x = np.array([[0.0, 1.0], [0.0, 1.0], [5.0, 1.0], [6.0, 1.0]])
    w = fit_logistic(x, np.array([0, 0, 1, 1]), 1e6)
    assert np.isfinite(w).all()
    assert ((x @ w[:-1] + w[-1] > 0) == [False, False, True, True]).all()


def test_compact_keeps_inner_products():
    rng = np.random.default_rng(2)
    train, test = rng.normal(size=(6, 30)), rng.normal(size=(4, 30))
    a, b = compact(train, test)
    assert a.shape == (6, 6)
    np.testing.assert_allclose(a @ a.T, train @ train.T)
    np.testing.assert_allclose(b @ a.T, test @ train.T)
    narrow = rng.normal(size=(6, 3))
    assert compact(narrow, narrow)[0] is narrow
