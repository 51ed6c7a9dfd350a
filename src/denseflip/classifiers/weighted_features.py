"""Classifiers trained on the weights of a data set, and the features for their evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from denseflip._version import __version__
from denseflip.classifiers.heads import describe_estimator
from denseflip.classifiers.presets import INNER_FOLDS, check_classes
from denseflip.classifiers.recipes import EstimatorRecipe, LogisticRecipe, Matrix, Recipe, select
from denseflip.counterfactual import Label
from denseflip.datasets import Dataset
from denseflip.errors import InvalidParameterError
from denseflip.graph import Graph
from denseflip.oracles.threads import single_thread
from denseflip.oracles.weighted import KnownWeights, WeightedOracle, known_weights


@dataclass(frozen=True, eq=False)
class WeightRows:
    """The weights of a data set's own graphs as features; other graphs have none."""

    known: KnownWeights
    name: ClassVar[str] = "weights"
    any_size: ClassVar[bool] = False

    def transform(self, graphs: Sequence[Graph]) -> Matrix:
        """Rows of length ``n (n - 1) / 2``."""
        rows = [self.known.row_of(g) for g in graphs]
        if any(row is None for row in rows):
            msg = "The weights of this graph are not known: it is not in the data set."
            raise InvalidParameterError(msg)
        return np.stack([row for row in rows if row is not None])

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form."""
        return {"name": self.name}


def fit_weighted(
    dataset: Dataset, estimator: Any = None, *, inner_folds: int = INNER_FOLDS, seed: int = 0
) -> WeightedOracle:
    """Train a classifier on the weights of a data set (`Dataset.weights`).

    `evaluate` evaluates it by cross-validation, on the weights of held-out graphs.

    Parameters
    ----------
    dataset : a data set with weights.
    estimator : any unfitted scikit-learn classifier of rows of weights (the upper triangles);
        without one, a logistic regression with its C selected by cross-validation.
    inner_folds, seed : of that selection.

    Examples
    --------
    >>> from denseflip.datasets import make_synthetic
    >>> oracle = fit_weighted(make_synthetic(n_per_class=6, weights=True))
    >>> oracle.classes, oracle.class_names
    ((0, 1), {0: 'control', 1: 'case'})
    """
    known = known_weights(dataset)
    check_classes(dataset)
    recipe: Recipe = LogisticRecipe() if estimator is None else EstimatorRecipe(estimator)
    labels = dataset.label_array()
    _, y = np.unique(labels, return_inverse=True)
    with single_thread():
        rng = np.random.default_rng([seed, 2])
        value = select(recipe, recipe.prepare(known.rows), y, np.arange(len(y)), inner_folds, rng)
        trained = recipe.fit(value, known.rows, labels)
    card = {
        "denseflip": __version__,
        "preset": None,
        "dataset": {
            "name": dataset.name,
            "n_graphs": len(dataset),
            "n_nodes": dataset.n_nodes,
            "class_counts": dataset.class_counts(),
        },
        "features": WeightRows.name,
        "estimator": describe_estimator(trained),
        "chosen": {recipe.parameter: value} if recipe.parameter else {},
        "seed": seed,
    }
    names: dict[Label, str] = {int(c): dataset.class_names[int(c)] for c in trained.classes_}
    return WeightedOracle(trained, known, class_names=names, card=card, recipe=recipe)
