"""Classifiers of weighted matrices: how an edit of the graph changes the weights.

A search adds and removes edges, but a weighted classifier takes numbers. An edited graph is
therefore passed to it as the subject's own matrix with new weights for the edits. Kept edges and
kept non-edges keep their weight. A removed edge gets the weight that this pair typically has below
the threshold, an added one the weight that it typically has above it in the target class. Both
stay on their side of the subject's own threshold, so thresholding the new matrix gives the edited
graph.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Label, Target, is_wanted
from denseflip.errors import (
    InvalidParameterError,
    MissingInputError,
    check_name,
    shown,
)
from denseflip.graph import Codes, Graph
from denseflip.graph.convert import check_matrix
from denseflip.limits import check_size
from denseflip.oracles.protocol import ClassNames, check_answers, clean_labels, name_classes

Rows = npt.NDArray[np.float64]
#: The forms in which a model may take weights.
INPUTS = ("rows", "matrices")


def pair_places(codes: Codes, n_nodes: int) -> npt.NDArray[np.int64]:
    """Positions of pairs in the upper triangle, row by row."""
    u = codes // max(n_nodes, 1)
    return np.asarray(codes - (u + 1) * (u + 2) // 2, dtype=np.int64)


def to_matrices(rows: Rows, n_nodes: int) -> Rows:
    """Rows of weights as symmetric matrices with a diagonal of zeros."""
    check_size(8.0 * len(rows) * n_nodes**2, f"{len(rows)} weighted matrices of {n_nodes} nodes")
    out = np.zeros((len(rows), n_nodes, n_nodes))
    u, v = np.triu_indices(n_nodes, k=1)
    out[:, u, v] = rows
    out[:, v, u] = rows
    return out


class KnownWeights:
    """The weights of the graphs of a data set, and their typical values.

    Parameters
    ----------
    graphs, weights : the graphs, and a row of weights for each: the upper triangle, row by row.
    ids : names of the graphs, for messages.
    """

    def __init__(self, graphs: Sequence[Graph], weights: Any, ids: Sequence[str] = ()) -> None:
        self.graphs = tuple(graphs)
        self.rows: Rows = np.asarray(weights, dtype=np.float64)
        shape = (len(self.graphs), self.graphs[0].n_pairs if self.graphs else 0)
        if not self.graphs or self.rows.shape != shape or not np.isfinite(self.rows).all():
            msg = (
                "weights must be one row of finite numbers per graph, one number per pair of nodes "
                f"(shape {shape}); got shape {self.rows.shape}."
            )
            raise InvalidParameterError(msg, parameter="weights")
        names = tuple(ids) or tuple(str(i) for i in range(len(self.graphs)))
        self._place: dict[Graph, int] = {}
        for i, graph in enumerate(self.graphs):
            j = self._place.setdefault(graph, i)
            if not np.array_equal(self.rows[i], self.rows[j]):
                msg = (
                    f"The graphs {names[j]} and {names[i]} are equal but their weights differ, so "
                    "the weights of this graph are ambiguous. Keep more edges."
                )
                raise InvalidParameterError(msg, parameter="weights")

    @property
    def n_nodes(self) -> int:
        """Number of nodes of every graph."""
        return self.graphs[0].n_nodes

    def row_of(self, graph: Graph) -> Rows | None:
        """The weights of a graph of the data set; None for any other graph."""
        place = self._place.get(graph)
        return None if place is None else self.rows[place]

    @cached_property
    def joined(self) -> npt.NDArray[np.bool_]:
        """Which graph joins which pair."""
        out = np.zeros(self.rows.shape, dtype=bool)
        for row, graph in zip(out, self.graphs, strict=True):
            row[pair_places(graph.codes, graph.n_nodes)] = True
        return out

    @cached_property
    def below(self) -> Rows:
        """The weight of each pair where it is not an edge: the median over the graphs.

        For a pair that is always an edge, the median of all pairs that are not.
        """
        return _medians(self.rows, ~self.joined)

    def above(self, chosen: npt.NDArray[np.bool_]) -> Rows:
        """The weight of each pair where it is an edge: the median over the chosen graphs.

        For a pair that none of them joins, the median over all graphs; for one that is never an
        edge, the median of all edges of the chosen ones.
        """
        if not chosen.any():
            chosen = np.ones(len(self.graphs), dtype=bool)
        wide = _medians(self.rows, self.joined)
        narrow = _medians(self.rows[chosen], self.joined[chosen])
        known = self.joined[chosen].any(axis=0)
        ever = self.joined.any(axis=0)
        return np.where(known | ~ever, narrow, wide)


def _medians(rows: Rows, where: npt.NDArray[np.bool_]) -> Rows:
    """The median of each column over the entries in `where`; the overall median if it has none."""
    whole = float(np.median(rows[where])) if where.any() else 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns without entries
        found = np.nanmedian(np.where(where, rows, np.nan), axis=0)
    return np.where(np.isnan(found), whole, found)


@dataclass(frozen=True, eq=False)
class Translation:
    """Maps edits of one graph to its weights; built by `WeightedOracle.about`.

    Attributes
    ----------
    graph, row : the original and its own weights.
    low, high : the weight of a pair after it is removed, or added.
    """

    graph: Graph
    row: Rows
    low: Rows
    high: Rows

    @classmethod
    def of(cls, graph: Graph, row: Rows, below: Rows, above: Rows) -> Translation:
        """Typical weights, kept on their side of this graph's own threshold if it has one."""
        joined = np.zeros(len(row), dtype=bool)
        joined[pair_places(graph.codes, graph.n_nodes)] = True
        weakest = float(row[joined].min(initial=np.inf))
        strongest = float(row[~joined].max(initial=-np.inf))
        if strongest <= weakest:
            below, above = np.minimum(below, strongest), np.maximum(above, weakest)
        return cls(graph, row, below, above)

    def __call__(self, graph: Graph) -> Rows:
        """The weights of an edited graph."""
        flipped = graph.difference(self.graph)
        added = np.isin(flipped, graph.codes, assume_unique=True)
        places = pair_places(flipped, graph.n_nodes)
        out = self.row.copy()
        out[places[added]] = self.high[places[added]]
        out[places[~added]] = self.low[places[~added]]
        return out


class WeightedOracle:
    """A classifier of weighted matrices as an oracle of graphs; built by `weighted_oracle`.

    Graphs of the data set are evaluated with their own weights. Any other graph is an edited
    version of the graph that is explained; `explain` and `describe` set that graph with `about`.
    """

    def __init__(
        self,
        model: Any,
        known: KnownWeights,
        *,
        input: str = "rows",
        batch: bool = True,
        class_names: ClassNames | None = None,
        card: Mapping[str, Any] | None = None,
        recipe: Any = None,
    ) -> None:
        self.model, self.known, self.input, self.batch = model, known, input, batch
        self.card, self.recipe = dict(card or {}), recipe
        self.translation: Translation | None = None
        self.base = self  # the same classifier, not bound to a graph
        own = getattr(model, "classes_", None)
        if own is not None:
            self.classes: tuple[Label, ...] = tuple(clean_labels(own, len(own)))
        self.class_names = name_classes(class_names, getattr(self, "classes", None))

    # ---- answers --------------------------------------------------------------------------

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """One label per graph."""
        return self._ask(getattr(self.model, "predict", self.model), self._rows(graphs))

    @property
    def predict_proba(self) -> Callable[[Sequence[Graph]], Any]:
        """Probabilities per graph and class; missing if the model has none."""
        ask = self.model.predict_proba
        return lambda graphs: self._ask(ask, self._rows(graphs))

    def _ask(self, ask: Callable[[Any], Any], rows: Rows) -> Any:
        given = rows if self.input == "rows" else to_matrices(rows, self.known.n_nodes)
        if self.batch:
            return check_answers(ask(given), len(rows))
        return [ask(one) for one in given]

    def _rows(self, graphs: Sequence[Graph]) -> Rows:
        out = np.empty((len(graphs), self.known.rows.shape[1]))
        for row, graph in zip(out, graphs, strict=True):
            row[:] = self.edge_weights(graph)
        return out

    def edge_weights(self, graph: Graph) -> Rows:
        """The weights with which a graph is evaluated: the upper triangle, row by row."""
        own = self.translation
        if own is not None and graph == own.graph:
            return own.row
        row = self.known.row_of(graph)
        if row is not None:
            return row
        if own is None:
            msg = (
                "The weights of this graph are not known: it is not in the data set. State which "
                "graph it is an edited version of: oracle.about(graph, weights=matrix)."
            )
            raise MissingInputError(msg, parameter="weights")
        return own(graph)

    # ---- one graph ------------------------------------------------------------------------

    @cached_property
    def _labels(self) -> list[Label]:
        """The classifier's labels of the graphs of the data set."""
        ask = getattr(self.model, "predict", self.model)
        return clean_labels(self._ask(ask, self.known.rows), len(self.known.graphs))

    def about(self, graph: Graph, target: Target = None, *, weights: Any = None) -> WeightedOracle:
        """The same classifier for edited versions of one graph.

        Parameters
        ----------
        graph : the graph that is explained.
        target : the target label, or several; by default any other. An added edge gets its typical
            weight in the graphs to which the classifier gives such a label.
        weights : the graph's matrix, if the graph is not in the data set.
        """
        own = self.translation
        if weights is not None:
            row: Rows | None = self._row_of_matrix(graph, weights)
        elif own is not None and own.graph == graph:
            row = own.row
        else:
            row = self.known.row_of(graph)
        if row is None:
            msg = (
                "This classifier uses weights, and those of the graph are not known: it is not in "
                "the data set. Pass them: explain(graph, oracle.about(graph, weights=matrix))."
            )
            raise MissingInputError(msg, parameter="weights")
        ask = getattr(self.model, "predict", self.model)
        (label,) = clean_labels(self._ask(ask, row[None, :]), 1)
        wanted = [is_wanted(x, label, target) for x in self.base._labels]
        above = self.known.above(np.asarray(wanted, dtype=bool))
        bound = copy.copy(self)
        bound.base = self.base
        bound.translation = Translation.of(graph, row, self.known.below, above)
        return bound

    def _row_of_matrix(self, graph: Graph, weights: Any) -> Rows:
        matrix = check_matrix(np.asarray(weights, dtype=np.float64), "weights")
        if len(matrix) != graph.n_nodes or graph.n_nodes != self.known.n_nodes:
            msg = (
                f"weights is a matrix over {len(matrix)} nodes; the graph has {graph.n_nodes}, "
                f"those of the data set {self.known.n_nodes}."
            )
            raise InvalidParameterError(msg, parameter="weights")
        return np.asarray(matrix[np.triu_indices(len(matrix), k=1)], dtype=np.float64)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "base" or v is not self}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.__dict__.setdefault("base", self)

    def __repr__(self) -> str:
        return f"WeightedOracle({type(self.model).__name__}, {len(self.known.graphs)} graphs)"


def weighted_oracle(
    model: Any,
    dataset: Any,
    *,
    input: str | None = None,
    batch: bool = True,
    class_names: ClassNames | None = None,
) -> WeightedOracle:
    """Wrap a classifier of weighted matrices as an oracle.

    Parameters
    ----------
    model : a fitted scikit-learn estimator on rows of weights, or a function.
    dataset : a data set with weights (`Dataset.weights`).
    input : the form in which the model takes weights: ``"rows"`` (an array of shape (k, pairs): the
        upper triangles, row by row; the default for an estimator) or ``"matrices"`` (shape
        (k, n, n); the default for a function).
    batch : whether a function takes many at once; otherwise it receives one row or matrix.
    class_names : name of each label; by default the data set's, if labels are whole numbers.

    Examples
    --------
    >>> from denseflip.datasets import make_synthetic
    >>> from denseflip import explain
    >>> data = make_synthetic(n_per_class=4, weights=True)
    >>> oracle = weighted_oracle(lambda w: (w[:, 0, 1] > 2).astype(int), data)
    >>> result = explain(data.graphs[0], oracle, "con+min", background=data.graphs)
    >>> u, v, before, after = result.weights[0]
    >>> (u, v), before > 2, after > 2
    ((0, 1), True, False)
    """
    fitted = callable(getattr(model, "predict", None)) and not isinstance(model, type)
    if not fitted and not callable(model):
        msg = f"model must be a fitted estimator or a function of weights; got {shown(model)}."
        raise InvalidParameterError(msg, parameter="model")
    chosen = input or ("rows" if fitted else "matrices")
    check_name("input of weights", chosen, INPUTS, parameter="input")
    names = class_names if class_names is not None else getattr(dataset, "class_names", None)
    own = getattr(model, "classes_", None)
    if class_names is None and own is not None and names is not None:
        labels = clean_labels(own, len(own))
        whole = all(isinstance(x, int) and 0 <= x < len(names) for x in labels)
        names = {x: names[x] for x in labels if isinstance(x, int)} if whole else None
    return WeightedOracle(
        model, known_weights(dataset), input=chosen, batch=batch or fitted, class_names=names
    )


def known_weights(dataset: Any) -> KnownWeights:
    """The weights of a data set; raises if it has none."""
    if getattr(dataset, "weights", None) is None:
        name = getattr(dataset, "name", "?")
        msg = (
            f"Data set {name!r} has no weights. Import it again with weights=True, or pass "
            "Dataset(…, weights=rows)."
        )
        raise MissingInputError(msg, parameter="weights")
    return KnownWeights(dataset.graphs, dataset.weights, dataset.ids)
