"""The common part of torch and ONNX oracles, and how `as_oracle` recognises them."""

from __future__ import annotations

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Label
from denseflip.errors import InvalidParameterError, OracleError, UnknownNameError, whole_number
from denseflip.graph import Graph
from denseflip.oracles.adapt import Adapter, at_once, register_adapter
from denseflip.oracles.batch_size import BatchSize
from denseflip.oracles.protocol import ClassNames, Oracle, name_classes
from denseflip.oracles.tensors import (
    EDGE_ATTR_IF_ANY,
    FixedFeatures,
    check_features,
    inputs_of,
    node_features,
    together,
)

MAX_BATCH = 256
_TIE = 1e-4  # of the largest score: with a smaller margin, a graph is evaluated again alone
_NOISE = 1e-5  # of the largest score: tolerated difference of a repeated evaluation
_BESIDE = 1e-3  # of the largest score: tolerated effect of other graphs in the batch


class NetworkOracle(ABC):
    """A network that returns scores, as an oracle. Subclasses run the network.

    The answer for a graph is the network's output for this graph alone. Graphs are evaluated in
    batches; those whose scores are so close that the batch could change the label are evaluated
    again alone. The first graph is evaluated twice to detect networks that are not deterministic
    or that mix the graphs of a batch.

    Attributes
    ----------
    class_names : label → name, or None.
    """

    who = "The network"
    # Largest batch within the memory limits; a subclass may lower it.
    _at_most: int | None = None
    # Whether graphs are passed in another form than the network was written for.
    _as_matrix: bool | None = None

    def __init__(
        self,
        roles: Mapping[str, str],
        *,
        features: Any = None,
        output: Any = None,
        max_batch: int | None = None,
        class_names: ClassNames | None = None,
    ) -> None:
        self.roles = dict(roles)
        self.features = features
        self._rows = node_features(features)
        check_features(self.roles, self._rows)
        self.output = check_output(output)
        self.max_batch = (
            MAX_BATCH if max_batch is None else whole_number("max_batch", max_batch, minimum=1)
        )
        self.class_names = name_classes(class_names)
        self._size: BatchSize | None = None
        self._kind: str | None = None  # of the output, inferred from the first evaluation
        self._width = 0

    # ---- answers --------------------------------------------------------------------------

    def predict(self, graphs: Sequence[Graph]) -> list[Label]:
        """One label per graph."""
        if not len(graphs):
            return []
        scores = self.scores(graphs)
        assert self._kind is not None
        return positions(scores, self._kind).tolist()  # type: ignore[no-any-return]

    @property
    def predict_proba(self) -> Callable[[Sequence[Graph]], npt.NDArray[np.float64]]:
        """Probabilities per graph and class; missing if the network returns labels only."""
        if self.output == "labels" or self._kind == "labels":
            msg = f"{self.who} returns labels, not probabilities."
            raise AttributeError(msg)
        return self._shares

    def _shares(self, graphs: Sequence[Graph]) -> npt.NDArray[np.float64]:
        if not len(graphs):
            return np.zeros((0, len(self.classes or ())))
        scores = self.scores(graphs)
        assert self._kind is not None
        return shares_of(scores, self._kind, self.who)

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The labels it can return; None until names or a first output give their number."""
        if self.class_names is not None:
            return tuple(self.class_names)
        return tuple(range(self._width)) if self._width else None

    def rows_of(self, graph: Graph) -> npt.NDArray[Any] | None:
        """The node features that the network receives for a graph; None if it takes none."""
        if self._rows is None or isinstance(self._rows, FixedFeatures):
            return None if self._rows is None else self._rows.rows
        return self._rows(graph)

    @property
    def given(self) -> str:
        """What the network receives, in words, for messages."""
        named = self.features if isinstance(self.features, str) else type(self._rows).__name__
        rows = "" if self._rows is None else f", node features {named!r}"
        return f"{', '.join(k for k, v in self.roles.items() if v != EDGE_ATTR_IF_ANY)}{rows}"

    def scores(self, graphs: Sequence[Graph]) -> npt.NDArray[Any]:
        """What the network returns, one entry or row per graph."""
        graphs = list(graphs)
        if self._kind is None:
            self._look_at(graphs[0])
        assert self._kind is not None
        parts = self._in_batches(graphs)
        out = np.concatenate(parts)
        if len(parts) < len(graphs) or self._as_matrix:
            close = margins(out, self._kind) < _TIE * _size(out)
            for i in np.flatnonzero(close).tolist():
                out[i] = self.alone(graphs[i])[0]
        if self._kind in ("probabilities", "probability"):
            shares_of(out, self._kind, self.who)  # refuse labels from invalid probabilities
        return out

    def alone(self, graph: Graph) -> npt.NDArray[Any]:
        """Scores of one graph, whose answer is that of the network for this graph alone."""
        return self._run([graph])

    def _in_batches(self, graphs: Sequence[Graph]) -> list[npt.NDArray[Any]]:
        """Scores of graphs, in batches of the size that is fastest here."""
        most = min(self.max_batch, self._at_most or MAX_BATCH) if together(self.roles) else 1
        if self._size is None:
            self._size = BatchSize(most)
            self._size.expect(self._numbers(graphs[0]))
        size, limit = self._size, at_once(graphs)
        parts, start = [], 0
        while start < len(graphs):
            some = graphs[start : start + min(size.next(len(graphs) - start), limit)]
            began = self._clock()
            parts.append(self._run(some))
            size.record(len(some), self._clock() - began)
            start += len(some)
        return parts

    #: Processor time, which a busy machine does not change.
    _clock = staticmethod(time.process_time)

    def _numbers(self, graph: Graph) -> int:
        """Edges times width of a graph: what a layer reads of it."""
        width = graph.n_nodes if self._rows is None else self._rows(graph).shape[1]
        return int((2 * graph.n_edges + graph.n_nodes) * width)

    def _run(self, graphs: Sequence[Graph]) -> npt.NDArray[Any]:
        """Checked scores of one batch of graphs."""
        arrays = inputs_of(graphs, self.roles, self._rows)
        array = as_array(self._call(arrays, len(graphs)), self.output, self.who)
        kind = kind_of(array, len(graphs), self._kind or self.output, self.who)
        width = _width(array, kind)
        if self._kind is not None and width != self._width:
            msg = f"{self.who} returned {width} scores for a graph, but {self._width} before."
            raise OracleError(msg)
        return array

    @abstractmethod
    def _call(self, arrays: Mapping[str, npt.NDArray[Any]], n_graphs: int) -> Any:
        """What the network returns for these inputs."""

    # ---- first evaluation -----------------------------------------------------------------

    def _look_at(self, graph: Graph) -> None:
        """Infer the kind of output from one graph; detect randomness and mixed graphs."""
        first = self._run([graph])
        kind = kind_of(first, 1, self.output, self.who)
        width = _width(first, kind)
        names = self.class_names
        if names is not None and width and len(names) != width:
            msg = (
                f"class_names has {len(names)} names ({', '.join(names.values())}), but "
                f"{self.who.lower()} has {width} classes. Give one name per class, in order."
            )
            raise InvalidParameterError(msg, parameter="class_names")
        again = self._run([graph])
        moved = _gap(first, again)
        if moved > _NOISE * _size(first):
            msg = (
                f"{self.who} is not deterministic: for the same graph, its scores differ by "
                f"{moved:.3g} between two calls, so its counterfactuals are meaningless. Switch "
                "off dropout outside nn.Dropout (training=self.training), sampling and random "
                "features."
            )
            raise OracleError(msg)
        if together(self.roles) and self.max_batch > 1 and (self._at_most or 2) > 1:
            other = graph.toggle([(0, 1)]) if graph.n_nodes > 1 else graph
            beside = self._run([other, graph])[1:]
            moved = _gap(first, beside)
            if moved > _BESIDE * _size(first):
                msg = (
                    f"{self.who} mixes the graphs of a batch: a graph's scores differ by "
                    f"{moved:.3g} when another graph is in the batch. Pool by `batch`, not over "
                    "all nodes, or evaluate graphs one by one (max_batch=1)."
                )
                raise OracleError(msg, parameter="max_batch")
        self._kind, self._width = kind, width


def _width(scores: npt.NDArray[Any], kind: str) -> int:
    """The number of classes; 0 if the network returns labels."""
    return 2 if kind in _EDGES else scores.shape[-1] * (scores.ndim > 1)


def _size(scores: npt.NDArray[Any]) -> float:
    return max(1.0, float(np.abs(scores).max(initial=0)))


def _gap(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> float:
    if a.shape != b.shape:
        return float("inf")
    return float(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).max(initial=0))


# ---- compare two networks -------------------------------------------------------------------


@dataclass(frozen=True)
class Agreement:
    """How well two networks agree.

    Attributes
    ----------
    compared : number of graphs evaluated by both.
    labels : share of them with the same label.
    largest : largest difference of a probability.
    """

    compared: int
    labels: float
    largest: float


def compare_outputs(
    oracle: NetworkOracle,
    original: NetworkOracle,
    graphs: Sequence[Graph],
    *,
    n: int = 100,
    seed: int = 0,
    tolerance: float = 1e-3,
) -> Agreement:
    """Compare an exported network with its original on the same graphs; raise if they differ.

    Parameters
    ----------
    oracle, original : for example an ONNX file and the torch module it was exported from.
    graphs : some graphs; the comparison uses them and random edits of them.
    n : number of graphs.
    seed : of the random edits.
    tolerance : the largest accepted difference of a probability.
    """
    rng = np.random.default_rng(seed)
    asked = list(graphs[:n])
    if not asked:
        msg = "graphs must hold at least one graph to compare on."
        raise InvalidParameterError(msg, parameter="graphs")
    while len(asked) < n:
        base = graphs[len(asked) % len(graphs)]
        u, v = np.triu_indices(base.n_nodes, 1)
        size = int(rng.integers(1, max(2, len(u) // 4)))
        chosen = rng.choice(len(u), min(size, len(u)), replace=False)
        asked.append(base.toggle_codes(np.sort(u[chosen] * base.n_nodes + v[chosen])))
    a, b = oracle.predict_proba(asked), original.predict_proba(asked)
    if a.shape != b.shape:
        msg = f"The two networks have {a.shape[1]} and {b.shape[1]} classes."
        raise OracleError(msg)
    found = Agreement(
        len(asked),
        float(np.mean(np.asarray(oracle.predict(asked)) == np.asarray(original.predict(asked)))),
        float(np.abs(a - b).max()),
    )
    if found.largest > tolerance or found.labels < 1:
        msg = (
            f"The two networks disagree: {found.labels:.0%} of {found.compared} graphs get the "
            f"same label, and a probability differs by {found.largest:.3g} (up to {tolerance:g} "
            "is accepted). Were they exported in evaluation mode and given the same features?"
        )
        raise OracleError(msg)
    return found


# ---- adapters -------------------------------------------------------------------------------


def _network(name: str, library: str, kind: str, oracle: str, *more: str) -> Adapter:
    """Register the models of a library; before it is imported, no object can be one of them."""

    def matches(model: Any) -> bool:
        found = sys.modules.get(library)
        return found is not None and isinstance(model, attrgetter(kind)(found))

    def make(model: Any, **options: Any) -> Oracle:
        from denseflip.oracles import networks

        made: Oracle = getattr(networks, oracle)(model, **options)
        return made

    takes = ("features", "output", "max_batch", "class_names", *more)
    return register_adapter(Adapter(name, takes, matches, make))


TORCH = _network("a torch module", "torch", "nn.Module", "TorchOracle", "device")
ONNX = _network("an ONNX model", "onnxruntime", "InferenceSession", "OnnxOracle")


# ---- scores ---------------------------------------------------------------------------------

Scores = npt.NDArray[np.float64]

#: What a network may return for a graph.
OUTPUTS = ("logits", "probabilities", "logit", "probability", "labels")
_SUM = 1e-3  # tolerated deviation from 1 of a sum of probabilities
_EDGES = {"logit": 0.0, "probability": 0.5}  # of one number: above it, class 1


def check_output(output: Any) -> Any:
    """Check the kind of output."""
    if output is None or callable(output) or output in OUTPUTS:
        return output
    if isinstance(output, str):
        raise UnknownNameError("output", output, OUTPUTS, parameter="output")
    msg = f"output must be one of {', '.join(OUTPUTS)}, or a function; got {output!r:.60}."
    raise InvalidParameterError(msg, parameter="output")


def as_array(returned: Any, output: Any, who: str) -> npt.NDArray[Any]:
    """The output of a network as an array, converted by the user's function if there is one."""
    if callable(output):
        returned = output(returned)
    if isinstance(returned, (tuple, list)) and len(returned) == 1:
        returned = returned[0]
    if isinstance(returned, (tuple, list, dict)):
        kind = type(returned).__name__
        msg = (
            f"{who} returns a {kind} of {len(returned)}, and it is not clear which part is the "
            "answer. Select it: output=lambda returned: returned[0]."
        )
        raise OracleError(msg)
    if hasattr(returned, "detach"):
        returned = returned.detach().cpu()
        if returned.dtype.is_floating_point:
            returned = returned.double()
        returned = returned.numpy()
    array = np.asarray(returned)
    if array.dtype.kind not in "iufb":
        msg = f"{who} returns values of type {array.dtype}; expected numbers, a score per class."
        raise OracleError(msg)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        msg = f"{who} returned {array[~np.isfinite(array)][0]}; a score must be a finite number."
        raise OracleError(msg)
    return array


def kind_of(array: npt.NDArray[Any], n_graphs: int, output: Any, who: str) -> str:
    """Which of `OUTPUTS` an output is, as stated by the user or else inferred."""
    one = array.ndim == 1 or (array.ndim == 2 and array.shape[1] == 1)
    if array.ndim not in (1, 2) or len(array) != n_graphs:
        hint = ""
        if array.ndim and n_graphs and len(array) > n_graphs:
            hint = " A node classifier must first pool its nodes into one output per graph."
        msg = (
            f"{who} returned an array of shape {array.shape} for {n_graphs} graph(s); expected "
            f"({n_graphs}, classes), one row of scores per graph.{hint}"
        )
        raise OracleError(msg)
    if isinstance(output, str):
        if one != (output in ("logit", "probability", "labels")):
            shape = "(k,) or (k, 1)" if not one else "(k, classes)"
            msg = (
                f"{who} returned shape {array.shape}, which does not match output={output!r}; "
                f"expected the shape {'(k, classes)' if one else shape}."
            )
            raise OracleError(msg)
        return output
    if one and array.dtype.kind in "iub" and not callable(output):
        return "labels"
    if one:
        msg = (
            f"{who} returns one number per graph ({array.ravel()[0]:.4g} for the first), and its "
            "meaning is not clear. State it: output='logit' (class 1 if above 0), 'probability' "
            "(of class 1) or 'labels'."
        )
        raise OracleError(msg, parameter="output")
    within = array.min() >= 0 and array.max() <= 1
    shares = within and np.allclose(array.sum(axis=1), 1, atol=1e-5)
    return "probabilities" if shares else "logits"


def shares_of(array: npt.NDArray[Any], kind: str, who: str) -> Scores:
    """Probabilities, shape (k, classes), of an output of a kind other than `labels`."""
    values = np.asarray(array, dtype=np.float64)
    if kind in ("logit", "probability"):
        ones = values.reshape(len(values))
        if kind == "probability":
            _check_between(ones, who)
            return np.stack((1 - ones, ones), axis=1)
        return _softmax(np.stack((np.zeros(len(ones)), ones), axis=1))
    if kind == "probabilities":
        _check_between(values, who)
        sums = values.sum(axis=1)
        bad = np.flatnonzero(np.abs(sums - 1) > _SUM)
        if len(bad):
            msg = (
                f"{who} returns probabilities that sum to {sums[bad[0]]:.4g}, not to 1 "
                f"({[round(float(p), 4) for p in values[bad[0]]]!r:.80}). If these are not "
                "probabilities, pass output='logits'; otherwise end the model with a softmax."
            )
            raise OracleError(msg, parameter="output")
        return np.asarray(values / sums[:, None])
    return _softmax(values)


def _check_between(values: Scores, who: str) -> None:
    outside = values[(values < -1e-6) | (values > 1 + 1e-6)]
    if len(outside):
        msg = (
            f"{who} returns {outside[0]:.4g} as a probability; it must be between 0 and 1. If "
            "these are not probabilities, pass output='logits' (or 'logit', for one number per "
            "graph)."
        )
        raise OracleError(msg, parameter="output")


def _softmax(values: Scores) -> Scores:
    raised = np.exp(values - values.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def margins(array: npt.NDArray[Any], kind: str) -> Scores:
    """Distance of each output from another label, in the unit of the scores."""
    values = np.asarray(array, dtype=np.float64)
    if kind == "labels":
        return np.full(len(values), np.inf)
    if kind in _EDGES:
        return np.abs(values.reshape(len(values)) - _EDGES[kind])
    if values.shape[1] < 2:
        return np.full(len(values), np.inf)
    top = np.sort(values, axis=1)[:, -2:]
    return np.asarray(top[:, 1] - top[:, 0])


def positions(array: npt.NDArray[Any], kind: str) -> npt.NDArray[np.int64]:
    """Position of the class of each output; a label is its own position."""
    if kind == "labels":
        return np.asarray(array.reshape(len(array)), dtype=np.int64)
    if kind in _EDGES:
        return np.asarray(array.reshape(len(array)) > _EDGES[kind], dtype=np.int64)
    return np.asarray(array.argmax(axis=1), dtype=np.int64)
