"""`FittedOracle`: features and a trained scikit-learn estimator, as one oracle with a card."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.features import Features
from denseflip.classifiers.heads import Head, NeighbourHead, make_head
from denseflip.errors import InvalidGraphError, NotFittedError
from denseflip.graph import Graph


@dataclass(frozen=True, eq=False)
class FittedOracle:
    """A classifier trained here: features of a graph, then a fitted scikit-learn estimator.

    Make one with `fit_oracle`, keep it with `save`, get it back with `load_oracle`. A graph's
    answer does not depend on what else is asked with it.

    Attributes
    ----------
    features : what the estimator sees of a graph.
    estimator : the fitted estimator; its classes are labels of the data set.
    class_names : name of each label of the data set it was trained on.
    n_nodes : number of nodes of the graphs it was trained on.
    card : what a reader must know: data, settings, evaluation; JSON-ready.
    """

    features: Features
    estimator: Any
    class_names: tuple[str, ...]
    n_nodes: int
    card: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not hasattr(self.estimator, "classes_"):
            msg = (
                f"The estimator {type(self.estimator).__name__} is not fitted (it has no "
                "classes_). Train it with fit_oracle(dataset, estimator=…)."
            )
            raise NotFittedError(msg)

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """The labels it can answer."""
        return tuple(int(c) for c in self.estimator.classes_)

    @cached_property
    def _head(self) -> Head:
        return make_head(self.estimator)

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """One label per graph."""
        if not len(graphs):
            return []
        classes = self.classes
        return [classes[i] for i in self._head.predict(self._rows(graphs)).tolist()]

    @property
    def predict_proba(self) -> Callable[[Sequence[Graph]], npt.NDArray[np.float64]]:
        """Probabilities per graph and class; missing if the estimator has none."""
        if isinstance(self._head, NeighbourHead):
            ask = self._head.predict_proba
        elif hasattr(self.estimator, "predict_proba"):
            ask = self.estimator.predict_proba
        else:
            msg = f"The estimator {type(self.estimator).__name__} gives no probabilities."
            raise AttributeError(msg)
        return lambda graphs: np.asarray(ask(self._rows(graphs)), dtype=np.float64)

    def name_of(self, label: int) -> str:
        """Name of a label."""
        return self.class_names[label]

    def with_card(self, **entries: Any) -> FittedOracle:
        """The same classifier with these entries added to its card."""
        return replace(self, card={**self.card, **entries})

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write classifier and card to one file without pickle; returns its path.

        An existing file is left as it is unless `force` is true.
        """
        from denseflip.classifiers.persist import write_oracle

        return write_oracle(self, path, force=force)

    def _rows(self, graphs: Sequence[Graph]) -> npt.NDArray[np.float64]:
        if not self.features.any_size:
            for i, graph in enumerate(graphs):
                if graph.n_nodes != self.n_nodes:
                    msg = (
                        f"Graph {i} has {graph.n_nodes} nodes, but this classifier was trained on "
                        f"graphs with {self.n_nodes} ({self.features.name} features depend on it)."
                    )
                    raise InvalidGraphError(msg)
        return self.features.transform(graphs)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_head"}

    def __repr__(self) -> str:
        kind = self.card.get("preset") or type(self.estimator).__name__
        data = self.card.get("dataset", {}).get("name", "?")
        return f"FittedOracle({kind!r}, features={self.features.name!r}, trained on {data!r})"
