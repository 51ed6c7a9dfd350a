"""Named classifiers, and `fit_oracle`: from a data set to a trained oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from denseflip._version import __version__
from denseflip.classifiers.features import FEATURES, Features, make_features
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.heads import describe_estimator
from denseflip.classifiers.recipes import (
    EstimatorRecipe,
    LinearSvmRecipe,
    LogisticRecipe,
    Matrix,
    NeighboursRecipe,
    Positions,
    Recipe,
    select,
)
from denseflip.counterfactual import Label
from denseflip.datasets import Dataset
from denseflip.errors import DatasetError, InvalidParameterError, UnknownNameError
from denseflip.graph import Graph
from denseflip.oracles.weighted import KnownWeights, WeightedOracle, known_weights
from denseflip.threads import single_thread

INNER_FOLDS = 3


@dataclass(frozen=True)
class Preset:
    """A named pair of features and recipe."""

    name: str
    features: str
    recipe: Recipe
    summary: str


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "sf-knn",
            "spectral",
            NeighboursRecipe(),
            "as in the paper: Laplacian spectrum, k-nearest neighbours (k by cross-validation)",
        ),
        Preset(
            "edges-svm",
            "edges",
            LinearSvmRecipe(),
            "every node pair, linear support vector machine (C by cross-validation)",
        ),
        Preset(
            "edges-logistic",
            "edges",
            LogisticRecipe(),
            "every node pair, logistic regression (C by cross-validation)",
        ),
        Preset(
            "regions-logistic",
            "regions",
            LogisticRecipe(scaled=True),
            "densities of region pairs, logistic regression (C by cross-validation); needs regions "
            "or types",
        ),
    )
}
#: The default classifiers: for data with regions, and for data without.
DEFAULT_PRESETS = ("regions-logistic", "sf-knn")
#: Synonyms of presets: not accepted as names, but used for suggestions.
PRESET_WORDS = {
    "spectral": "sf-knn",
    "neighbours": "sf-knn",
    "neighbors": "sf-knn",
    "linear": "edges-svm",
    "support-vector-machine": "edges-svm",
    "regression": "edges-logistic",
}
_RECIPES: dict[str, Recipe] = {
    "spectral": NeighboursRecipe(),
    "edges": LinearSvmRecipe(),
}


@dataclass(frozen=True)
class Design:
    """What is to be trained: name, features and recipe, for one data set."""

    preset: str | None
    features: Features
    recipe: Recipe


def get_preset(name: str) -> Preset:
    """The preset of this name."""
    if name in FEATURES or isinstance(name, Features):
        written = repr(name) if isinstance(name, str) else "…"
        msg = f"{name!r:.60} names features, not a preset: write features={written}."
        raise InvalidParameterError(msg, parameter="features")
    if name not in PRESETS:
        raise UnknownNameError(
            "preset", str(name), PRESETS, aliases=PRESET_WORDS, parameter="preset"
        )
    return PRESETS[name]


def default_preset(dataset: Dataset) -> str:
    """The classifier that is trained if none is named."""
    with_regions, without = DEFAULT_PRESETS
    return with_regions if dataset.nodes.regions or dataset.is_typed else without


def make_design(
    dataset: Dataset,
    preset: str | None = None,
    *,
    features: str | Features | None = None,
    estimator: Any = None,
    regions: str | None = None,
) -> Design:
    """Choose features and recipe; see `fit_oracle` for the arguments."""
    known = None if preset is None else get_preset(preset)
    if known is not None and (features is not None or estimator is not None):
        msg = f"Pass a preset ({preset!r}) or features and estimator, not both."
        raise InvalidParameterError(msg)
    usable = hasattr(estimator, "fit") and hasattr(estimator, "predict")
    if estimator is not None and (isinstance(estimator, type) or not usable):
        msg = (
            "'estimator' must be an unfitted scikit-learn classifier with fit and predict; got "
            f"{estimator!r:.60}."
        )
        raise InvalidParameterError(msg)
    if known is None and features is None and estimator is None:
        known = get_preset(default_preset(dataset))
    wanted = known.features if known is not None else features or "spectral"
    made = make_features(wanted, dataset.nodes, regions=regions, types=dataset.node_types)
    if dataset.is_typed and not made.any_size:
        msg = (
            f"{made.name} features compare graphs node by node, but the nodes of {dataset.name!r} "
            "have types and no identity. Use regions-logistic (edges by pair of types), sf-knn, or "
            "your own classifier."
        )
        raise InvalidParameterError(msg, parameter="features" if known is None else "preset")
    if known is not None:
        return Design(known.name, made, known.recipe)
    if estimator is not None:
        return Design(None, made, EstimatorRecipe(estimator))
    return Design(None, made, recipe_for(made))


def recipe_for(features: Features) -> Recipe:
    """The recipe for features if no estimator is given."""
    return _RECIPES.get(features.name, LogisticRecipe(scaled=True))


def fit_oracle(
    dataset: Dataset,
    preset: str | None = None,
    *,
    features: str | Features | None = None,
    estimator: Any = None,
    regions: str | None = None,
    inner_folds: int = INNER_FOLDS,
    seed: int = 0,
) -> FittedOracle:
    """Train a classifier on all graphs of a data set.

    To estimate its accuracy on other graphs, call `evaluate` with the same arguments.

    Parameters
    ----------
    preset : ``regions-logistic`` (the default for data with regions), ``sf-knn`` (the default
        without), ``edges-svm`` or ``edges-logistic``.
    features : instead of a preset: ``spectral`` (the default), ``edges``, ``regions``,
        ``degrees`` or an object.
    estimator : any unfitted scikit-learn classifier, used as it is; without one, a suitable one
        for the features, with its main setting selected by cross-validation.
    regions : which taxonomy of the node table, for region features.
    inner_folds : folds of the cross-validation that selects the setting.
    seed : sets those folds.

    Examples
    --------
    >>> from denseflip.graph import Graph
    >>> ring = [Graph.from_edges(6, [(i, (i + 1) % 6) for i in range(6)])] * 4
    >>> star = [Graph.from_edges(6, [(0, i) for i in range(1, 6)])] * 4
    >>> toy = Dataset("toy", (*ring, *star), (0,) * 4 + (1,) * 4, ("ring", "star"))
    >>> oracle = fit_oracle(toy, "sf-knn")
    >>> [oracle.name_of(x) for x in oracle.predict([star[0], ring[0]])]
    ['star', 'ring']
    """
    check_classes(dataset)
    design = make_design(dataset, preset, features=features, estimator=estimator, regions=regions)
    return fit_design(dataset, design, inner_folds=inner_folds, seed=seed)


def fit_design(
    dataset: Dataset, design: Design, *, inner_folds: int = INNER_FOLDS, seed: int = 0
) -> FittedOracle:
    """Train a design on all graphs of a data set."""
    rows = design.features.transform(dataset.graphs)
    trained, card = _train(dataset, design, rows, inner_folds, seed)
    return FittedOracle(design.features, trained, dataset.class_names, dataset.n_nodes, card)


def _train(
    dataset: Dataset, design: Design, rows: Matrix, inner_folds: int, seed: int
) -> tuple[Any, dict[str, Any]]:
    """The trained estimator and its card."""
    with single_thread():
        value = select_setting(dataset, design, rows, inner_folds=inner_folds, seed=seed)
        trained = design.recipe.fit(value, rows, dataset.label_array())
    return trained, {**_card(dataset, design, trained, value), "seed": seed}


def select_setting(
    dataset: Dataset,
    design: Design,
    rows: Matrix,
    *,
    inner_folds: int = INNER_FOLDS,
    seed: int = 0,
) -> Any:
    """The setting of a design, selected by cross-validation on all graphs of a data set."""
    recipe = design.recipe
    _, y = np.unique(dataset.label_array(), return_inverse=True)
    rng = np.random.default_rng([seed, 2])
    return select(recipe, recipe.prepare(rows), y, np.arange(len(y)), inner_folds, rng)


def fit_samples(
    dataset: Dataset, design: Design, rows: Matrix, value: Any
) -> Callable[[Positions], FittedOracle]:
    """How to train a design with a given setting on some graphs of a data set.

    The function receives the positions of the graphs; a graph may occur several times.

    Parameters
    ----------
    dataset, design : the data, and what is to be trained.
    rows : the features of all graphs.
    value : the setting.
    """
    train = design.recipe.trainer(value, rows, dataset.label_array())
    card: dict[str, Any] = {}  # the same for all samples; scikit-learn takes long to describe one

    def fit(at: Positions) -> FittedOracle:
        trained = train(at)
        if not card:
            card.update(_card(dataset, design, trained, value))
        return FittedOracle(design.features, trained, dataset.class_names, dataset.n_nodes, card)

    return fit


def _card(dataset: Dataset, design: Design, trained: Any, value: Any) -> dict[str, Any]:
    recipe = design.recipe
    return {
        "denseflip": __version__,
        "preset": design.preset,
        "dataset": {
            "name": dataset.name,
            "n_graphs": len(dataset),
            "n_nodes": dataset.n_nodes,
            "class_counts": dataset.class_counts(),
        },
        "features": design.features.name,
        "estimator": describe_estimator(trained),
        "chosen": {recipe.parameter: value} if recipe.parameter else {},
    }


def check_classes(dataset: Dataset, folds: int | None = None) -> None:
    """Raise if a data set has too few classes, or too few graphs for this many folds."""
    counts = {name: count for name, count in dataset.class_counts().items() if count}
    if len(counts) < 2:
        only = next(iter(counts))
        msg = (
            f"All {len(dataset)} graphs of data set {dataset.name!r} belong to one class "
            f"({only!r}). A classifier needs graphs of at least two classes."
        )
        raise DatasetError(msg)
    if folds is None:
        return
    if isinstance(folds, bool) or not isinstance(folds, int) or folds < 2:
        msg = f"'folds' must be a whole number from 2; got {folds!r}."
        raise InvalidParameterError(msg)
    few = {name: count for name, count in counts.items() if count < folds}
    if few:
        listed = ", ".join(f"{name!r} has {count}" for name, count in few.items())
        smallest = min(few.values())
        advice = (
            f"Use at most {smallest} folds, or add graphs."
            if smallest >= 2
            else "Add graphs of that class, or leave it out."
        )
        msg = (
            f"Too few graphs in data set {dataset.name!r} for {folds} folds: every class needs at "
            f"least {folds} graphs, but {listed}. {advice}"
        )
        raise DatasetError(msg)


# ---- weights ------------------------------------------------------------------------------


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
    design = Design(None, WeightRows(known), recipe)
    trained, card = _train(dataset, design, known.rows, inner_folds, seed)
    names: dict[Label, str] = {int(c): dataset.class_names[int(c)] for c in trained.classes_}
    return WeightedOracle(trained, known, class_names=names, card=card, recipe=recipe)
