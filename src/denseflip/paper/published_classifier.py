"""The classifier behind the paper's printed numbers, including its quirks (decision D11).

Use it only to reproduce the tables and figures: it was selected on its own test data.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from denseflip._version import __version__
from denseflip.classifiers.crossval import confusion_table, evaluate, f1_of
from denseflip.classifiers.evaluation import Evaluation
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.heads import describe_estimator
from denseflip.classifiers.recipes import NeighboursRecipe
from denseflip.classifiers.spectral import SpectralFeatures
from denseflip.datasets import Dataset
from denseflip.errors import DatasetError

PUBLISHED_FEATURES = SpectralFeatures(200, self_loops=True, drop_smallest=True, front_zero=True)
_SEED = 42
_FOLDS = 5
_NEIGHBOURS = range(1, 30)
_TAKE = 2  # the third best fold


@dataclass(frozen=True)
class PublishedFit:
    """The published classifier of one data set and its selection.

    Attributes
    ----------
    oracle : the classifier.
    n_neighbors : its k.
    fold_accuracies : each fold's best accuracy on its own test part, in descending order.
    accuracy, f1 : on all graphs, including training graphs, as printed in Table 1.
    predicted : number of graphs predicted as class 0 and as class 1.
    """

    oracle: FittedOracle
    n_neighbors: int
    fold_accuracies: tuple[float, ...]
    accuracy: float
    f1: float
    predicted: tuple[int, int]


def published_oracle(dataset: Dataset) -> FittedOracle:
    """The paper's classifier of a data set with two classes."""
    return fit_published(dataset).oracle


def fit_published(dataset: Dataset) -> PublishedFit:
    """Train the paper's classifier in the way that reproduces its printed numbers.

    Rows are shuffled by class, then together. In each of five folds the k from 1 to 29 with the
    highest accuracy on the fold's *test* part is chosen (the first of ties). The folds are sorted
    by that accuracy, and the classifier of the third is the result.
    """
    from sklearn.model_selection import KFold

    labels = dataset.label_array()
    _check(dataset, labels)
    rows = PUBLISHED_FEATURES.transform(dataset.graphs)
    order = _published_order(labels)
    x, y = rows[order], labels[order]
    recipe = NeighboursRecipe(grid=tuple(_NEIGHBOURS))
    distances = recipe.prepare(x)
    folds: list[tuple[float, int, npt.NDArray[np.int64]]] = []
    for train, test in KFold(_FOLDS, shuffle=True, random_state=_SEED).split(x):
        right = recipe.answers(distances, y, train, test, recipe.grid) == y[test]
        best = int(right.sum(axis=1).argmax())  # the first of ties
        folds.append((float(right[best].mean()), recipe.grid[best], train))
    folds.sort(key=lambda fold: -fold[0])
    _, k, train = folds[_TAKE]
    trained = recipe.fit(k, x[train], y[train])
    oracle = FittedOracle(PUBLISHED_FEATURES, trained, dataset.class_names, dataset.n_nodes, {})
    answers = np.asarray(oracle.predict(dataset.graphs))
    accuracy = float(np.mean(answers == labels))
    f1 = f1_of(confusion_table(labels, answers, 2))
    card = {
        "denseflip": __version__,
        "preset": "published",
        "dataset": {
            "name": dataset.name,
            "n_graphs": len(dataset),
            "n_nodes": dataset.n_nodes,
            "class_counts": dataset.class_counts(),
        },
        "features": PUBLISHED_FEATURES.name,
        "estimator": describe_estimator(trained),
        "chosen": {"n_neighbors": k},
        "training": {"accuracy": accuracy, "f1": f1},
        "caveats": [
            "Selected on its own test data, to reproduce printed numbers. "
            "Evaluate it on held-out graphs before you trust it."
        ],
    }
    return PublishedFit(
        oracle=oracle.with_card(**card),
        n_neighbors=k,
        fold_accuracies=tuple(fold[0] for fold in folds),
        accuracy=accuracy,
        f1=f1,
        predicted=(int(np.sum(answers == 0)), int(np.sum(answers == 1))),
    )


def evaluate_published(
    dataset: Dataset,
    *,
    folds: int = 5,
    repeats: int = 10,
    permutations: int = 200,
    seed: int = 0,
    confounds: Sequence[str] | str | None = None,
    site: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Evaluate the published classifier in both ways.

    The held-out results are those of its features and neighbours with k selected inside the
    training part; the training results are those of the published classifier, as in Table 1.
    """
    fitted = fit_published(dataset)
    judged = evaluate(
        dataset,
        features=PUBLISHED_FEATURES,
        folds=folds,
        repeats=repeats,
        permutations=permutations,
        seed=seed,
        confounds=confounds,
        site=site,
        progress=progress,
    )
    return replace(
        judged,
        preset="published",
        estimator=fitted.oracle.description,
        training_accuracy=fitted.accuracy,
        training_f1=fitted.f1,
    )


def _published_order(labels: npt.NDArray[np.int64]) -> list[int]:
    """Row order after the shuffles; it decides which of equidistant neighbours votes."""
    rng = random.Random(_SEED)
    zero, one = np.flatnonzero(labels == 0).tolist(), np.flatnonzero(labels == 1).tolist()
    rng.shuffle(zero)
    rng.shuffle(one)
    both: list[int] = zero + one
    rng.shuffle(both)
    return both


def _check(dataset: Dataset, labels: npt.NDArray[np.int64]) -> None:
    classes = sorted(set(labels.tolist()))
    if classes != [0, 1]:
        msg = (
            f"The published classifier needs the two classes 0 and 1; data set {dataset.name!r} "
            f"has the classes {classes}. Use fit_oracle(dataset) for it."
        )
        raise DatasetError(msg)
    if len(labels) < 2 * _FOLDS:
        msg = (
            f"The published classifier needs at least {2 * _FOLDS} graphs for its {_FOLDS} folds; "
            f"data set {dataset.name!r} has {len(labels)}."
        )
        raise DatasetError(msg)
