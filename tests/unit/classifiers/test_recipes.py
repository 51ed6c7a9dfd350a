from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold

from denseflip.classifiers.features import EdgeFeatures
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.heads import LazyEstimator, make_head
from denseflip.classifiers.recipes import (
    EstimatorRecipe,
    LinearSvmRecipe,
    LogisticRecipe,
    NeighboursRecipe,
    compact,
    fit_logistic,
    nested_answers,
    select,
    stratified_folds,
)

RECIPES = [
    NeighboursRecipe(),
    LinearSvmRecipe(),
    LogisticRecipe(),
    LogisticRecipe(scaled=True),
    EstimatorRecipe(LogisticRegression()),
]


def problem(classes=2, n=48, d=30, seed=0, shift=1.5):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    x = rng.normal(size=(n, d))
    x[:, 0] += shift * y
    x[:, 1] = 7.0  # a column without variation
    return x, y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("d", [4, 100])
@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: type(r).__name__)
def test_quick_answers_are_those_of_the_estimator(recipe, d, classes):
    x, y = problem(classes, d=d)
    train, test = np.arange(0, 36), np.arange(36, 48)
    prepared = recipe.prepare(x)
    got = recipe.answers(prepared, y, train, test, recipe.grid)
    for value, answers in zip(recipe.grid, got, strict=True):
        estimator = recipe.estimator(value).fit(x[train], y[train])
        assert answers.tolist() == estimator.predict(x[test]).tolist(), value


@pytest.mark.parametrize("recipe", RECIPES, ids=lambda r: type(r).__name__)
def test_what_is_fitted_is_the_estimator(recipe):
    x, y = problem(3)
    for value in recipe.grid:
        oracle = FittedOracle(EdgeFeatures(), recipe.fit(value, x, 2 * y), ("a",) * 5, 1)
        estimator = recipe.estimator(value).fit(x, 2 * y)
        assert oracle.classes == (0, 2, 4)
        assert oracle.description == " ".join(repr(estimator).split())
        assert repr(oracle.estimator) == repr(estimator)
        assert np.array_equal(2 * oracle.head.predict(x + 0.1), estimator.predict(x + 0.1))


def test_more_neighbours_than_rows_means_all_rows():
    x, y = problem(n=8)
    recipe = NeighboursRecipe()
    train, test = np.arange(6), np.arange(6, 8)
    got = recipe.answers(recipe.prepare(x), y, train, test, recipe.grid)
    assert (got[5:] == got[5]).all()


def test_folds_are_stratified_even_and_seeded():
    y = np.array([0] * 23 + [1] * 11)
    fold = stratified_folds(y, 5, np.random.default_rng(1))
    sizes = np.bincount(fold)
    assert sizes.max() - sizes.min() <= 1
    for label in (0, 1):
        counts = np.bincount(fold[y == label], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert np.array_equal(fold, stratified_folds(y, 5, np.random.default_rng(1)))
    assert not np.array_equal(fold, stratified_folds(y, 5, np.random.default_rng(2)))


def test_folds_are_dealt_from_the_first_on():
    """Pinned: the same seed gives the same folds, in every version."""
    fold = stratified_folds(np.array([0, 0, 0, 0, 1, 1, 1, 2]), 3, np.random.default_rng(0))
    assert fold.tolist() == [1, 2, 0, 0, 0, 2, 1, 1]
    # Classes of one graph each: the next class goes on where the last one stopped.
    fold = stratified_folds(np.arange(5), 3, np.random.default_rng(0))
    assert fold.tolist() == [0, 1, 2, 0, 1]


class Watched:
    """A recipe that answers right with one setting, and notes what it was given."""

    grid, default, parameter = ("wrong", "right", "also right"), "default", "word"

    def __init__(self):
        self.splits = []

    def answers(self, prepared, y, train, test, values):
        assert prepared == "prepared"
        self.splits.append((train.tolist(), test.tolist(), list(values)))
        return np.array([y[test] + (value == "wrong") for value in values])


def test_selection_goes_through_as_many_folds_as_the_smallest_class_allows():
    y = np.array([0, 0, 0, 0, 0, 1, 1, 1, 0, 1])
    train = np.array([0, 1, 2, 3, 4, 5, 6, 7])
    for folds, used in ((2, 2), (3, 3), (4, 3), (9, 3)):
        recipe = Watched()
        chosen = select(recipe, "prepared", y, train, folds, np.random.default_rng(0))
        assert chosen == "right"  # the first of equally good ones
        assert len(recipe.splits) == used
        assert sorted(v for _, test, _ in recipe.splits for v in test) == train.tolist()
        for inside, outside, values in recipe.splits:
            assert sorted(inside + outside) == train.tolist()
            assert set(y[inside]) == set(y[outside]) == {0, 1}
            assert tuple(values) == recipe.grid


def test_a_class_that_the_training_part_lacks_does_not_count_its_graphs():
    y = np.array([1, 1, 1, 2, 2, 2, 0])
    recipe = Watched()
    train = np.arange(6)
    assert select(recipe, "prepared", y, train, 5, np.random.default_rng(0)) == "right"
    assert len(recipe.splits) == 3


def test_selection_with_two_graphs_of_a_class_is_selection_still():
    recipe, y = Watched(), np.array([0, 0, 0, 1, 1])
    assert select(recipe, "prepared", y, np.arange(5), 5, np.random.default_rng(0)) == "right"
    assert len(recipe.splits) == 2
    y[4] = 0
    assert select(recipe, "prepared", y, np.arange(5), 5, np.random.default_rng(0)) == "default"


def test_nested_folds_each_test_their_part_once_with_what_was_chosen_on_the_rest():
    recipe, y = Watched(), np.array([0, 1] * 10)
    answers, chosen = nested_answers(recipe, "prepared", y, 5, 2, np.random.default_rng(0))
    assert answers.tolist() == y.tolist()
    assert chosen == ["right"] * 5
    outer = [split for split in recipe.splits if split[2] == ["right"]]
    assert len(outer) == 5
    assert len(recipe.splits) == 5 + 5 * 2
    assert sorted(v for _, test, _ in outer for v in test) == list(range(20))
    for train, test, _ in outer:
        assert sorted(train + test) == list(range(20))
        assert sorted(y[test]) == [0, 0, 1, 1]


def test_selection_takes_the_best_setting_of_the_training_part_alone():
    x, y = problem(n=60)
    recipe = NeighboursRecipe(grid=(1, 3, 9, 15))
    train = np.arange(40)
    chosen = select(recipe, recipe.prepare(x), y, train, 4, np.random.default_rng(3))
    fold = stratified_folds(y[train], 4, np.random.default_rng(3))
    right = dict.fromkeys(recipe.grid, 0)
    for k in recipe.grid:
        for i in range(4):
            fit = recipe.estimator(k).fit(x[train][fold != i], y[train][fold != i])
            right[k] += int((fit.predict(x[train][fold == i]) == y[train][fold == i]).sum())
    assert chosen == max(right, key=lambda k: (right[k], -k))
    # Labels outside the training part make no difference.
    other = y.copy()
    other[40:] = 1 - other[40:]
    prepared = recipe.prepare(x)
    assert select(recipe, prepared, other, train, 4, np.random.default_rng(3)) == chosen


def test_selection_with_one_graph_of_a_class_takes_the_default():
    x, y = problem(n=6)
    y[:] = [0, 0, 0, 0, 0, 1]
    recipe = LinearSvmRecipe()
    chosen = select(recipe, recipe.prepare(x), y, np.arange(6), 3, np.random.default_rng(0))
    assert chosen == recipe.default


def test_nested_answers_never_use_the_label_of_the_row_they_answer():
    """Flip one row's label: its own answer may change only through the folds, fixed here."""
    x, y = problem(n=40, shift=2.5)
    recipe = EstimatorRecipe(LogisticRegression())
    answers, chosen = nested_answers(recipe, x, y, 5, 3, np.random.default_rng(0))
    assert chosen == [None] * 5
    assert np.mean(answers == y) > 0.8
    memory = EstimatorRecipe(NeighboursRecipe().estimator(1))
    noise = np.random.default_rng(4).normal(size=(200, 5))
    labels = np.arange(200) % 2
    answers, _ = nested_answers(memory, noise, labels, 5, 3, np.random.default_rng(0))
    assert np.mean(answers == labels) < 0.65  # a classifier that memorises gains nothing


def test_nested_accuracy_is_in_line_with_scikit_learns_loop():
    x, y = problem(n=100, shift=1.2)
    recipe = LinearSvmRecipe()
    runs = [
        nested_answers(recipe, recipe.prepare(x), y, 5, 3, np.random.default_rng(s))[0]
        for s in range(5)
    ]
    ours = np.mean([np.mean(r == y) for r in runs])
    from sklearn.model_selection import GridSearchCV, cross_val_score

    search = GridSearchCV(recipe.estimator(1.0), {"C": list(recipe.grid)}, cv=StratifiedKFold(3))
    theirs = np.mean(
        [
            cross_val_score(search, x, y, cv=StratifiedKFold(5, shuffle=True, random_state=s))
            for s in range(5)
        ]
    )
    assert abs(ours - theirs) < 0.06


# ---- logistic regression ----------------------------------------------------------------------


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


@pytest.mark.parametrize("c", LinearSvmRecipe.grid)
@pytest.mark.parametrize("kind", ["edges", "numbers", "three classes"])
def test_a_svm_of_some_rows_is_the_same_to_the_last_digit(kind, c):
    x, y = problem(classes=3 if kind == "three classes" else 2)
    if kind != "numbers":
        x = (x > 0.5).astype(float)
    at = np.sort(np.random.default_rng(1).choice(len(y), size=len(y)))  # some rows twice
    trained = LinearSvmRecipe().trainer(c, x, y)(at)
    plain = LinearSvmRecipe().fit(c, x[at], y[at])
    assert isinstance(trained, LazyEstimator) is (kind == "edges")
    if kind != "edges":
        assert np.array_equal(trained.dual_coef_, plain.dual_coef_)
        return
    head, same, built = trained.head, make_head(plain), trained.build()
    assert np.array_equal(head.weights, same.weights)
    assert np.array_equal(head.offset, same.offset)
    assert trained.description == repr(plain) == repr(built)
    assert trained.classes == tuple(plain.classes_)
    assert np.array_equal(built.dual_coef_, plain.dual_coef_)
