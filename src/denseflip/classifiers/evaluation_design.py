"""The input of `evaluate`: something that can be retrained, or a fixed oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from denseflip.classifiers.features import Features, Matrix
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.heads import is_estimator
from denseflip.classifiers.presets import PRESETS, Design, WeightRows, make_design, recipe_for
from denseflip.classifiers.recipes import EstimatorRecipe, Positions, Recipe
from denseflip.counterfactual import Label
from denseflip.datasets import Dataset
from denseflip.errors import InvalidParameterError, OracleError, shown
from denseflip.graph import Graph
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session
from denseflip.oracles.weighted import WeightedOracle, known_weights
from denseflip.search.core.target import class_names_of


def design_of(
    dataset: Dataset,
    given: Any,
    preset: str | None,
    features: str | Features | None,
    estimator: Any,
    regions: str | None,
) -> Design | Oracle:
    """How to retrain the given classifier, or the oracle if it cannot be retrained.

    ``given`` is the classifier as in `evaluate`; the others are as in `fit_oracle`, if it is not an
    oracle.
    """
    if given is None or isinstance(given, str):
        if given is not None and preset is not None:
            msg = f"Pass oracle ({given!r}) or preset ({preset!r}), not both."
            raise InvalidParameterError(msg)
        name = preset if given is None else given
        return make_design(dataset, name, features=features, estimator=estimator, regions=regions)
    if is_estimator(given):
        if estimator is not None:
            msg = "Two estimators were given; pass one."
            raise InvalidParameterError(msg, parameter="estimator")
        return make_design(dataset, preset, features=features, estimator=given, regions=regions)
    extra = {"preset": preset, "features": features, "estimator": estimator, "regions": regions}
    named = [key for key, value in extra.items() if value is not None]
    if named:
        msg = (
            f"{', '.join(named)} cannot be combined with an oracle, which is evaluated as it is; "
            f"got {type(given).__name__}."
        )
        raise InvalidParameterError(msg, parameter=named)
    if isinstance(given, FittedOracle):
        return _design_of_fitted(given)
    if isinstance(given, WeightedOracle) and (given.recipe or is_estimator(given.model)):
        recipe = given.recipe or EstimatorRecipe(given.model)
        return Design(None, WeightRows(known_weights(dataset)), recipe)
    refit = getattr(given, "refit", None)
    if callable(refit) and not isinstance(given, type):
        return Design(None, GraphNumbers(), RefitRecipe(dataset, refit))
    return coerce_oracle(given)


def _design_of_fitted(oracle: FittedOracle) -> Design:
    """The design of a classifier trained here."""
    name = oracle.card.get("preset")
    if isinstance(name, str) and name in PRESETS:
        return Design(name, oracle.features, PRESETS[name].recipe)
    if name is not None or oracle.card.get("chosen"):  # its setting was selected: select it again
        return Design(name, oracle.features, recipe_for(oracle.features))
    return Design(None, oracle.features, EstimatorRecipe(oracle.estimator))


# ---- oracles that can be retrained -----------------------------------------------------------


@dataclass(frozen=True)
class GraphNumbers:
    """Graphs by their position in the data set, for oracles that take graphs, not features."""

    name: ClassVar[str] = "graphs"
    any_size: ClassVar[bool] = True

    def transform(self, graphs: Sequence[Graph]) -> Matrix:
        """Their positions, from 0."""
        return np.arange(len(graphs), dtype=np.float64)[:, None]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form."""
        return {"name": self.name}


@dataclass(frozen=True, eq=False)
class RefitRecipe(Recipe):
    """An oracle retrained by its own ``refit(dataset)``; it selects its own settings."""

    dataset: Dataset
    refit: Callable[[Dataset], Any]

    def estimator(self, value: None) -> Any:
        """Raises: the oracle trains itself."""
        msg = "An oracle that is trained by its own refit(dataset) has no estimator."
        raise InvalidParameterError(msg)

    def fit(self, value: None, rows: Matrix, labels: Positions) -> Any:
        """An oracle trained on these graphs."""
        at = rows[:, 0].astype(np.int64)
        whole = np.asarray(self.dataset.labels)
        whole[at] = labels
        relabelled = replace(self.dataset, labels=tuple(whole.tolist()))
        try:
            return coerce_oracle(self.refit(relabelled.subset(at)))
        except Exception as error:
            msg = f"The classifier could not be retrained: {type(error).__name__}: {error}"
            raise OracleError(msg) from error

    def answers(
        self, prepared: Matrix, y: Positions, train: Positions, test: Positions, values: Any
    ) -> Positions:
        """Train on the train graphs, predict the test graphs."""
        # Positions of classes are labels of the data set if every class has a graph.
        classes = np.unique(np.asarray(self.dataset.labels))
        oracle = self.fit(None, prepared[train], classes[y[train]])
        graphs = [self.dataset.graphs[int(i)] for i in prepared[test, 0]]
        labels = answers_of(oracle, self.dataset, graphs)
        # A class without a graph here counts as wrong.
        wrong = (y[test] + 1) % len(classes)
        known = np.isin(labels, classes)
        return np.where(known, np.searchsorted(classes, labels), wrong)[None, :]


def answers_of(oracle: Oracle, dataset: Dataset, graphs: Sequence[Graph]) -> Positions:
    """An oracle's answers as labels of a data set.

    Its labels may be the data set's own (0, 1 …) or the names of its classes. If the oracle has the
    same class names as the data set, its labels are matched by these names.
    """
    answers = [answer.label for answer in Session(oracle).query_all(graphs)]
    names = dataset.class_names
    own = class_names_of(oracle)
    if own and set(own.values()) <= set(names):
        answers = [own.get(x, x) for x in answers]
    if all(isinstance(x, str) for x in answers):
        unknown = sorted({str(x) for x in answers} - set(names))
        places = {name: i for i, name in enumerate(names)}
    else:
        unknown = sorted({shown(x) for x in answers if not _is_place(x, len(names))})
        places = {}
    if unknown:
        msg = (
            f"The classifier returns {', '.join(unknown[:5])}, but the classes of data set "
            f"{dataset.name!r} are {', '.join(f'{i} ({name})' for i, name in enumerate(names))}. "
            "It must return their numbers or their names."
        )
        raise InvalidParameterError(msg, parameter="oracle")
    return np.asarray([places[x] if isinstance(x, str) else int(x) for x in answers], np.int64)


def _is_place(label: Label, n: int) -> bool:
    return not isinstance(label, str) and float(label).is_integer() and 0 <= label < n
