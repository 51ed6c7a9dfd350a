"""A scikit-learn estimator or pipeline that was fitted elsewhere, as an oracle."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.features import FEATURES, Features, make_features
from denseflip.classifiers.heads import (
    EstimatorHead,
    Head,
    LinearHead,
    describe_estimator,
    is_estimator,
    linear_head,
    make_head,
)
from denseflip.classifiers.pairwise import PairScores, PairwiseFeatures
from denseflip.counterfactual import Label
from denseflip.errors import (
    InvalidGraphError,
    InvalidParameterError,
    MissingInputError,
    NotFittedError,
    OracleError,
    UnknownNameError,
    said,
)
from denseflip.graph import Graph
from denseflip.oracles.adapt import Adapter, CallableOracle, register_adapter
from denseflip.oracles.gradients import PairGradient
from denseflip.oracles.protocol import ClassNames, check_answers, clean_label, name_classes
from denseflip.threads import single_thread

#: For a pipeline whose first step takes `Graph` objects.
GRAPHS = "graphs"


class EstimatorOracle:
    """A fitted estimator on features of a graph; built by `as_oracle`.

    Its labels are the estimator's own classes. Probabilities are available if the estimator has
    them; it is an error if their most probable class is not the predicted one.

    Parameters
    ----------
    estimator : fitted, with ``predict``.
    features, nodes, input, batch, class_names : as in `as_oracle`.
    """

    def __init__(
        self,
        estimator: Any,
        *,
        features: Any = None,
        nodes: Any = None,
        input: str = "auto",
        batch: bool = False,
        class_names: ClassNames | None = None,
    ) -> None:
        self.estimator = estimator
        _check_fitted(estimator)
        self.features = _features(features, nodes, input, batch=batch, estimator=estimator)
        classes = getattr(estimator, "classes_", None)
        if isinstance(classes, list) or getattr(classes, "ndim", 1) != 1:
            msg = (
                f"{self.name} predicts several labels at once (it is a multi-output classifier); "
                "an oracle returns one. Use one of its estimators_."
            )
            raise InvalidParameterError(msg)
        self.classes: tuple[Label, ...] | None = (
            None if classes is None else tuple(clean_label(c) for c in classes)
        )
        self.class_names: Mapping[Label, str] | None = name_classes(class_names, self.classes)

    @property
    def name(self) -> str:
        """The estimator in one line."""
        return describe_estimator(self.estimator)

    @property
    def given(self) -> str:
        """What the estimator receives, in words, for messages."""
        named = getattr(self.features, "name", "your function's")
        return (
            "a list of denseflip Graphs" if self.features is None else f"rows of {named} features"
        )

    @property
    def input_note(self) -> str:
        """How the form that a features function takes was detected; else empty."""
        return str(getattr(self.features, "input_note", ""))

    @cached_property
    def _head(self) -> Head | None:
        """What predicts from rows; None if the estimator itself must."""
        if self.classes is None or self.features is None:
            return None
        return make_head(self.estimator)

    def predict(self, graphs: Sequence[Graph]) -> list[Label]:
        """One label per graph."""
        if not len(graphs):
            return []
        return self._labels(self._rows(graphs), len(graphs))

    def _labels(self, rows: Any, n_graphs: int) -> list[Label]:
        head = self._head
        if head is not None and not isinstance(head, EstimatorHead):
            assert self.classes is not None
            return [self.classes[i] for i in head.predict(rows).tolist()]
        with single_thread():
            answers = check_answers(self.estimator.predict(rows), n_graphs)
        return [clean_label(a) for a in answers]

    @property
    def predict_proba(self) -> Callable[[Sequence[Graph]], npt.NDArray[np.float64]]:
        """Probabilities per graph and class; missing if the estimator has none."""
        if self.classes is None:
            msg = f"{self.name} has no classes_."
            raise AttributeError(msg)
        self.estimator.predict_proba  # noqa: B018 - raises its own AttributeError if missing
        return self._shares

    def _shares(self, graphs: Sequence[Graph]) -> npt.NDArray[np.float64]:
        assert self.classes is not None
        if not len(graphs):
            return np.zeros((0, len(self.classes)))
        rows = self._rows(graphs)
        # Row by row if order matters: the last bits of a sum may differ between a stack and a row.
        with single_thread():
            shares = np.asarray(self.estimator.predict_proba(rows), dtype=np.float64)
        if shares.shape != (len(graphs), len(self.classes)):
            msg = (
                f"{self.name} returned probabilities of shape {shares.shape} for {len(graphs)} "
                f"graph(s) and {len(self.classes)} classes."
            )
            raise OracleError(msg)
        for row, label in zip(shares, self._labels(rows, len(graphs)), strict=True):
            best = self.classes[int(row.argmax())]
            if best != label and row.max() - row[self.classes.index(label)] > _TIE:
                msg = (
                    f"{self.name} contradicts itself: it predicts {label!r}, but {best!r} is more "
                    f"probable ({row.max():.3f}). Its probabilities cannot be used as confidence: "
                    "calibrate it (CalibratedClassifierCV), or use labels only."
                )
                raise OracleError(msg)
        return shares

    @property
    def gradient(self) -> Callable[[Graph, Label], PairGradient]:
        """How much flipping each pair changes the margin of a label: ``gradient(graph, label)``.

        Exact; available for linear estimators, also behind scalers, selections of features and
        principal components, on edges, regions or degrees.
        """
        if self._linear is None:
            msg = f"{self.name} on {self.given} has no gradient."
            raise AttributeError(msg)
        return self._gradient

    @cached_property
    def _linear(self) -> LinearHead | None:
        """The estimator as a linear function of features that are sums over the edges."""
        features = self.features
        if not isinstance(features, PairwiseFeatures) or self.classes is None:
            return None
        return None if getattr(features, "any_size", False) else linear_head(self.estimator)

    def _gradient(self, graph: Graph, label: Label) -> PairGradient:
        assert self._linear is not None
        assert self.classes is not None
        self._rows([graph])  # refuses graphs with other nodes
        pairs = PairScores(self._linear, self.features, graph.n_nodes)
        return pairs.gradient(graph, self.classes.index(label))

    def refit(self, dataset: Any) -> EstimatorOracle:
        """The same estimator with the same features, retrained; for `evaluate`.

        It is trained on the numbers of the data set's classes, or on their names if the estimator
        knew those.
        """
        from sklearn.base import clone

        names = dataset.class_names
        named = self.classes is not None and set(self.classes) <= set(names)
        labels = [names[x] for x in dataset.labels] if named else list(dataset.labels)
        again: EstimatorOracle = copy.copy(self)
        for name in ("_head", "_linear"):
            again.__dict__.pop(name, None)
        again.estimator = clone(self.estimator).fit(self._rows(dataset.graphs), labels)
        again.classes = tuple(clean_label(c) for c in again.estimator.classes_)
        again.class_names = None
        return again

    def _rows(self, graphs: Sequence[Graph]) -> Any:
        if self.features is None:
            return list(graphs)
        if isinstance(self.features, Features):
            rows = np.asarray(self.features.transform(list(graphs)), dtype=np.float64)
        else:
            rows = self._own_rows(graphs)
        width = getattr(self.estimator, "n_features_in_", rows.shape[1])
        if width != rows.shape[1]:
            named = getattr(self.features, "name", "given")
            msg = (
                f"{self.name} was fitted on {width} features, but the {named} features of a graph "
                f"with {graphs[0].n_nodes} nodes are {rows.shape[1]}. Pass the features, and "
                "graphs over the nodes, that it was fitted on."
            )
            raise InvalidGraphError(msg, parameter="features")
        return rows

    def _own_rows(self, graphs: Sequence[Graph]) -> npt.NDArray[np.float64]:
        try:
            rows = np.asarray(
                self.features.predict(graphs),  # the function, in the form it takes
                dtype=np.float64,
            )
        except (OracleError, InvalidGraphError):
            raise
        except Exception as error:
            msg = f"The features function raised {said(error)}; it received {self.features.given}."
            raise OracleError(msg) from error
        if rows.ndim != 2 or len(rows) != len(graphs) or not np.isfinite(rows).all():
            wanted = f"({len(graphs)}, d)" if self.features.batch else "(d,) for a graph"
            msg = (
                f"The features function must return rows of finite numbers, shape {wanted}; for "
                f"{len(graphs)} graph(s) it returned shape {rows.shape}."
            )
            raise OracleError(msg)
        return rows

    def __repr__(self) -> str:
        return f"EstimatorOracle({self.name}, {self.given})"


_TIE = 1e-9  # with a smaller difference of two probabilities, either class may be predicted


def _features(features: Any, nodes: Any, input: str, *, batch: bool, estimator: Any) -> Any:
    """What computes rows of graphs: our features, a wrapped function, or None for the graphs."""
    names = (*FEATURES, GRAPHS)
    if features is None:
        msg = (
            f"State what {type(estimator).__name__} was fitted on: as_oracle(estimator, "
            f"features=…) with one of {', '.join(map(repr, names))}, or a function that returns "
            f"the feature row of a graph."
        )
        raise MissingInputError(msg, parameter="features")
    if isinstance(features, str):
        if features not in names:
            raise UnknownNameError("features", features, names, parameter="features")
        return None if features == GRAPHS else make_features(features, nodes)
    if isinstance(features, Features):
        return features
    if not callable(features):
        msg = (
            f"features must be one of {', '.join(names)}, or a function that returns the feature "
            f"row of a graph; got {type(features).__name__}."
        )
        raise InvalidParameterError(msg, parameter="features")
    return CallableOracle(features, input, batch)


def _check_fitted(estimator: Any) -> None:
    from sklearn.base import is_regressor
    from sklearn.exceptions import NotFittedError as Unfitted
    from sklearn.utils.validation import check_is_fitted

    name = type(estimator).__name__
    if isinstance(estimator, type):
        msg = f"{name} is a class; pass a fitted estimator, for example {name}().fit(rows, labels)."
        raise InvalidParameterError(msg)
    if is_regressor(estimator):
        msg = f"{name} is a regressor: it predicts numbers, not classes. Pass a classifier."
        raise InvalidParameterError(msg)
    try:
        check_is_fitted(estimator)
    except Unfitted as error:
        msg = (
            f"{name} is not fitted yet: call fit(rows, labels) first, or train and evaluate it "
            "here: fit_oracle(dataset, features=…, estimator=…)."
        )
        raise NotFittedError(msg) from error
    except TypeError:  # not an estimator of scikit-learn: its first prediction will show
        return


def _is_estimator(model: Any) -> bool:
    """Whether an object is an estimator of scikit-learn, or of a class derived from one."""
    kinds = type(model).__mro__
    return is_estimator(model) and any(k.__module__.split(".")[0] == "sklearn" for k in kinds)


ESTIMATORS = register_adapter(
    Adapter(
        name="a scikit-learn estimator",
        takes=("features", "nodes", "input", "batch", "class_names"),
        matches=_is_estimator,
        make=EstimatorOracle,
    )
)
