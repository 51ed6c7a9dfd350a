"""A scikit-learn estimator or pipeline that was fitted elsewhere, as an oracle."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.features import FEATURES, Features, make_features
from denseflip.classifiers.heads import EstimatorHead, Head, describe_estimator, make_head
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
from denseflip.oracles.protocol import ClassNames, Oracle, check_answers, clean_label, name_classes
from denseflip.oracles.threads import single_thread

#: A pipeline whose first step reads `Graph` objects is given these.
GRAPHS = "graphs"


class EstimatorOracle:
    """A fitted estimator on features of a graph; made by `as_oracle`.

    Its labels are the estimator's own classes. Probabilities are offered if the estimator has
    them, and it is an error if their likeliest class is not the one it predicts.

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
                f"{self.name} gives several labels at once (it is a classifier of many outputs); "
                "an oracle gives one. Take one of its estimators_."
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
        """What the estimator is given, in words, for messages."""
        named = getattr(self.features, "name", "your function's")
        return (
            "a list of denseflip Graphs" if self.features is None else f"rows of {named} features"
        )

    @property
    def input_note(self) -> str:
        """How the form was found out that a function of features wants; else empty."""
        return str(getattr(self.features, "input_note", ""))

    @cached_property
    def _head(self) -> Head | None:
        """What answers rows; None where the estimator itself must."""
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
            msg = f"{self.name} does not name its classes."
            raise AttributeError(msg)
        self.estimator.predict_proba  # noqa: B018 - an AttributeError of its own if it has none
        return self._shares

    def _shares(self, graphs: Sequence[Graph]) -> npt.NDArray[np.float64]:
        assert self.classes is not None
        if not len(graphs):
            return np.zeros((0, len(self.classes)))
        rows = self._rows(graphs)
        # Row by row where order matters: sums of a stack may end in other bits than those of a row.
        with single_thread():
            shares = np.asarray(self.estimator.predict_proba(rows), dtype=np.float64)
        if shares.shape != (len(graphs), len(self.classes)):
            msg = (
                f"{self.name} gave probabilities of shape {shares.shape} for {len(graphs)} "
                f"graph(s) and {len(self.classes)} classes."
            )
            raise OracleError(msg)
        for row, label in zip(shares, self._labels(rows, len(graphs)), strict=True):
            best = self.classes[int(row.argmax())]
            if best != label and row.max() - row[self.classes.index(label)] > _TIE:
                msg = (
                    f"{self.name} contradicts itself: it predicts {label!r}, yet finds {best!r} "
                    f"more probable ({row.max():.3f}). Its probabilities are no confidence: "
                    "calibrate it (CalibratedClassifierCV), or ask for labels only."
                )
                raise OracleError(msg)
        return shares

    def refit(self, dataset: Any) -> EstimatorOracle:
        """The same estimator with the same features, trained anew: for `evaluate`.

        It learns the numbers of the data set's classes, or their names if those are what it knew.
        """
        from sklearn.base import clone

        names = dataset.class_names
        named = self.classes is not None and set(self.classes) <= set(names)
        labels = [names[x] for x in dataset.labels] if named else list(dataset.labels)
        again: EstimatorOracle = copy.copy(self)
        again.__dict__.pop("_head", None)
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
                f"{self.name} was fitted on {width} features; the {named} features of a graph with "
                f"{graphs[0].n_nodes} nodes are {rows.shape[1]}. Give the features, and graphs "
                "over the nodes, that it was fitted on."
            )
            raise InvalidGraphError(msg, parameter="features")
        return rows

    def _own_rows(self, graphs: Sequence[Graph]) -> npt.NDArray[np.float64]:
        try:
            rows = np.asarray(
                self.features.predict(graphs),  # the function, given what it wants
                dtype=np.float64,
            )
        except (OracleError, InvalidGraphError):
            raise
        except Exception as error:
            msg = (
                f"The function of features raised {said(error)}; it was given "
                f"{self.features.given}."
            )
            raise OracleError(msg) from error
        if rows.ndim != 2 or len(rows) != len(graphs) or not np.isfinite(rows).all():
            wanted = f"({len(graphs)}, d)" if self.features.batch else "(d,) for a graph"
            msg = (
                f"The function of features must give rows of finite numbers, shape {wanted}; for "
                f"{len(graphs)} graph(s) it gave shape {rows.shape}."
            )
            raise OracleError(msg)
        return rows

    def __repr__(self) -> str:
        return f"EstimatorOracle({self.name}, {self.given})"


_TIE = 1e-9  # of two probabilities: nearer than this, either class may be predicted


def _features(features: Any, nodes: Any, input: str, *, batch: bool, estimator: Any) -> Any:
    """What makes rows of graphs: our features, a function with the form it wants, None for none."""
    names = (*FEATURES, GRAPHS)
    if features is None:
        msg = (
            f"Say what {type(estimator).__name__} was fitted on: as_oracle(estimator, features=…) "
            f"with one of {', '.join(map(repr, names))}, or a function that gives the row of a "
            "graph."
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
            f"features must be one of {', '.join(names)}, or a function that gives the row of a "
            f"graph; got {type(features).__name__}."
        )
        raise InvalidParameterError(msg, parameter="features")
    return CallableOracle(features, input, batch)


def _check_fitted(estimator: Any) -> None:
    from sklearn.base import is_regressor
    from sklearn.exceptions import NotFittedError as Unfitted
    from sklearn.utils.validation import check_is_fitted

    name = type(estimator).__name__
    if isinstance(estimator, type):
        msg = f"{name} is a class; give a fitted estimator, for example {name}().fit(rows, labels)."
        raise InvalidParameterError(msg)
    if is_regressor(estimator):
        msg = f"{name} is a regressor: it gives numbers, not classes. Give a classifier."
        raise InvalidParameterError(msg)
    try:
        check_is_fitted(estimator)
    except Unfitted as error:
        msg = (
            f"{name} is not fitted yet: call fit(rows, labels) first, or have it trained and "
            "judged here: fit_oracle(dataset, features=…, estimator=…)."
        )
        raise NotFittedError(msg) from error
    except TypeError:  # an estimator of somebody's own: its first answer will show
        return


def _is_estimator(model: Any) -> bool:
    """Whether an object keeps scikit-learn's rules: parameters to be had, fit and predict."""
    return (
        all(callable(getattr(model, x, None)) for x in ("get_params", "fit", "predict"))
        and not isinstance(model, type)
        and any(kind.__module__.split(".")[0] == "sklearn" for kind in type(model).__mro__)
    )


def _adapt(model: Any, **options: Any) -> Oracle:
    return EstimatorOracle(model, **options)


ESTIMATORS = register_adapter(
    Adapter(
        name="a scikit-learn estimator",
        takes=("features", "nodes", "input", "batch", "class_names"),
        matches=_is_estimator,
        make=_adapt,
    )
)
