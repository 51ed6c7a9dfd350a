"""`FittedOracle`: features and a trained scikit-learn estimator, as one oracle with a card."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.features import Features
from denseflip.classifiers.heads import (
    EstimatorHead,
    Head,
    LazyEstimator,
    LinearHead,
    NeighbourHead,
    describe_estimator,
    make_head,
)
from denseflip.classifiers.pairwise import PairScores, PairwiseFeatures
from denseflip.classifiers.quick_labels import QuickLabels
from denseflip.classifiers.spectral import SpectralFeatures
from denseflip.errors import InvalidGraphError, NotFittedError
from denseflip.graph import Codes, Graph
from denseflip.oracles.gradients import PairGradient
from denseflip.threads import single_thread


@dataclass(frozen=True, eq=False)
class FittedOracle:
    """A classifier trained here: features of a graph, then a fitted scikit-learn estimator.

    Train one with `fit_oracle`, save it with `save`, load it with `load_oracle`. The answer for a
    graph does not depend on the rest of the batch. Nearest neighbours and linear estimators predict
    from plain arrays: in a worker, or after loading, scikit-learn is not imported unless the
    `estimator` is accessed.

    Attributes
    ----------
    features : what the estimator receives of a graph.
    trained : the fitted estimator (its classes are labels of the data set), or a `LazyEstimator`.
    class_names : name of each label of the data set it was trained on.
    n_nodes : number of nodes of the graphs it was trained on.
    card : data, settings and evaluation; JSON-ready.
    path : the file that it was read from; None if it was not.
    """

    features: Features
    trained: Any
    class_names: tuple[str, ...]
    n_nodes: int
    card: Mapping[str, Any] = field(default_factory=dict)
    path: Path | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.trained, LazyEstimator) and not hasattr(self.trained, "classes_"):
            msg = (
                f"The estimator {type(self.trained).__name__} is not fitted (it has no "
                "classes_). Train it with fit_oracle(dataset, estimator=…)."
            )
            raise NotFittedError(msg)

    @cached_property
    def estimator(self) -> Any:
        """The fitted scikit-learn estimator."""
        return self.trained.build() if isinstance(self.trained, LazyEstimator) else self.trained

    @cached_property
    def classes(self) -> tuple[int, ...]:
        """The labels it can return."""
        if isinstance(self.trained, LazyEstimator):
            return self.trained.classes
        return tuple(int(c) for c in self.trained.classes_)

    # ---- answers --------------------------------------------------------------------------

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """One label per graph."""
        if not len(graphs):
            return []
        self._check_nodes(graphs)
        classes = self.classes
        if self._quick is not None and self._quick.serves(graphs[0].n_nodes, len(graphs)):
            return [classes[i] for i in self._quickly(graphs)]
        if self._pairs is None:
            positions = self.head.predict(self.features.transform(graphs))
        else:
            positions, sure = self._pairs.decide(graphs)
            for i in np.flatnonzero(~sure).tolist():
                positions[i] = self._by_rows(graphs[i])
        return [classes[i] for i in positions.tolist()]

    def _quickly(self, graphs: Sequence[Graph]) -> list[int]:
        """Positions in single precision, and in double precision where that is not sure."""
        quick = self._quick
        assert quick is not None
        with single_thread():
            found = [quick.position(graph) for graph in graphs]
        unsure = [i for i, position in enumerate(found) if position is None]
        if unsure:
            rows = self.features.transform([graphs[i] for i in unsure])
            for i, position in zip(unsure, self.head.predict(rows).tolist(), strict=True):
                found[i] = position
        return [position for position in found if position is not None]

    @property
    def predict_edits(self) -> Callable[[Graph, Sequence[Codes]], list[int]]:
        """Labels of a graph with pairs flipped: ``predict_edits(base, [codes, …])``.

        They equal those of `predict` on the changed graphs, which are not built. Available only
        where this saves time: for linear estimators on edges, regions or degrees.
        """
        if self._pairs is None:
            msg = f"A {self._kind} on {self.features.name} features predicts graphs, not edits."
            raise AttributeError(msg)
        return self._predict_edits

    def _predict_edits(self, base: Graph, edits: Sequence[Codes]) -> list[int]:
        if not len(edits):
            return []
        if base.n_nodes != self.n_nodes:
            self._check_nodes([base])
        pairs = self._pairs
        assert pairs is not None
        if len(edits) == 1:
            position = pairs.decide_one(base, edits[0])
            if position is None:
                position = self._by_rows(base.toggle_codes(edits[0]))
            return [self.classes[position]]
        positions, sure = pairs.decide_edits(base, edits)
        if not sure.all():
            for i in np.flatnonzero(~sure).tolist():
                positions[i] = self._by_rows(base.toggle_codes(edits[i]))
        classes = self.classes
        return [classes[i] for i in positions.tolist()]

    @property
    def predict_proba(self) -> Callable[[Sequence[Graph]], npt.NDArray[np.float64]]:
        """Probabilities per graph and class; missing if the estimator has none."""
        head = self.head
        if self._quick is not None:
            return self._quick_shares
        if isinstance(head, NeighbourHead) or (isinstance(head, LinearHead) and head.logistic):
            return partial(self._shares, head.predict_proba)
        if isinstance(self.trained, LazyEstimator) or not hasattr(self.trained, "predict_proba"):
            msg = f"A {self._kind} gives no probabilities."
            raise AttributeError(msg)
        return partial(self._shares, self.trained.predict_proba)

    @property
    def gradient(self) -> Callable[[Graph, int], PairGradient]:
        """How much flipping each pair changes the margin of a label: ``gradient(graph, label)``.

        Exact; available for linear estimators on edges, regions or degrees.
        """
        if self._pairs is None:
            msg = f"A {self._kind} on {self.features.name} features has no gradient."
            raise AttributeError(msg)
        return self._gradient

    def _gradient(self, graph: Graph, label: int) -> PairGradient:
        assert self._pairs is not None
        self._check_nodes([graph])
        return self._pairs.gradient(graph, self.classes.index(label))

    def _shares(self, ask: Callable[[Any], Any], graphs: Sequence[Graph]) -> Any:
        if not len(graphs):
            return np.zeros((0, len(self.classes)))
        self._check_nodes(graphs)
        return np.asarray(ask(self.features.transform(graphs)), dtype=np.float64)

    def _quick_shares(self, graphs: Sequence[Graph]) -> Any:
        """Shares of the votes, in single precision if all voters are certain."""
        quick = self._quick
        assert quick is not None
        if len(graphs) and quick.serves(graphs[0].n_nodes, len(graphs)):
            with single_thread():
                votes = [quick.votes(graph) for graph in graphs]
            if all(found is not None for found in votes):
                return np.array(votes) / quick.head.k
        return self._shares(quick.head.predict_proba, graphs)

    @cached_property
    def head(self) -> Head:
        """What predicts from rows of features."""
        if isinstance(self.trained, LazyEstimator):
            return self.trained.head
        return make_head(self.trained)

    @cached_property
    def _pairs(self) -> PairScores | None:
        features, head = self.features, self.head
        if features.any_size or not isinstance(features, PairwiseFeatures):
            return None
        return PairScores(head, features, self.n_nodes) if isinstance(head, LinearHead) else None

    @cached_property
    def _quick(self) -> QuickLabels | None:
        features, head = self.features, self.head
        if isinstance(features, SpectralFeatures) and isinstance(head, NeighbourHead):
            return QuickLabels(features, head)
        return None

    def _by_rows(self, graph: Graph) -> int:
        """Position of a graph's class, from its row of features."""
        return int(self.head.predict(self.features.transform([graph]))[0])

    def _check_nodes(self, graphs: Iterable[Graph]) -> None:
        if self.features.any_size:
            return
        for i, graph in enumerate(graphs):
            if graph.n_nodes != self.n_nodes:
                msg = (
                    f"Graph {i} has {graph.n_nodes} nodes, but this classifier was trained on "
                    f"graphs with {self.n_nodes} ({self.features.name} features depend on it)."
                )
                raise InvalidGraphError(msg)

    # ---- card and serialisation -----------------------------------------------------------

    def name_of(self, label: int) -> str:
        """Name of a label."""
        return self.class_names[label]

    def with_card(self, **entries: Any) -> FittedOracle:
        """The same classifier with these entries added to its card."""
        return replace(self, card={**self.card, **entries})

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write classifier and card to one file without pickle; returns its path.

        An existing file is kept unless `force` is true.
        """
        from denseflip.classifiers.persist import write_oracle

        return write_oracle(self, path, force=force)

    @cached_property
    def description(self) -> str:
        """The estimator in one line; scikit-learn takes milliseconds to write it."""
        return describe_estimator(self.trained)

    @property
    def _kind(self) -> str:
        return str(self.card.get("estimator") or self.description).partition("(")[0]

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to a worker: the head's arrays, and the estimator, unpacked on access."""
        trained = self.trained
        if not isinstance(trained, LazyEstimator) and not isinstance(self.head, EstimatorHead):
            packed = partial(pickle.loads, pickle.dumps(trained))
            trained = LazyEstimator(self.head, self.classes, self.description, packed)
        names = ("features", "class_names", "n_nodes", "card")
        return {"trained": trained, **{name: getattr(self, name) for name in names}}

    def __repr__(self) -> str:
        data = self.card.get("dataset", {}).get("name", "?")
        kind = self.card.get("preset") or self._kind
        return f"FittedOracle({kind!r}, features={self.features.name!r}, trained on {data!r})"
