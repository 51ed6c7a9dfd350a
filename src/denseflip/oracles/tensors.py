"""Graphs as a network wants them: node features, edges both ways, which graph a node is of.

Everything is NumPy and made anew from each edited graph; torch and ONNX take it from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import (
    InvalidGraphError,
    InvalidParameterError,
    MissingInputError,
    OracleError,
    UnknownNameError,
    said,
    shown,
)
from denseflip.graph import Graph
from denseflip.graph.convert import stack_adjacency
from denseflip.limits import check_dense

Array = npt.NDArray[Any]
NodeFeatures = Callable[[Graph], Array]


# ---- features of nodes ----------------------------------------------------------------------


def _profile(graph: Graph) -> Array:
    return graph.to_adjacency(np.float32)


def _degree(graph: Graph) -> Array:
    return graph.degrees().astype(np.float32)[:, None]


def _identity(graph: Graph) -> Array:
    check_dense(graph.n_nodes, "The identity as node features", itemsize=4)
    return np.eye(graph.n_nodes, dtype=np.float32)


def _constant(graph: Graph) -> Array:
    return np.ones((graph.n_nodes, 1), dtype=np.float32)


#: Features of nodes by name: of one graph, one row per node.
NODE_FEATURES: dict[str, NodeFeatures] = {
    "profile": _profile,
    "degree": _degree,
    "identity": _identity,
    "constant": _constant,
}


class FixedFeatures:
    """The same rows whatever the edges: ages of genes, coordinates of regions."""

    def __init__(self, rows: Any) -> None:
        try:
            array = np.asarray(rows)
        except Exception as error:
            msg = f"features: no array can be made of {type(rows).__name__} ({said(error)})."
            raise InvalidParameterError(msg, parameter="features") from error
        if array.ndim != 2 or array.dtype.kind not in "iufb":
            msg = (
                f"features as an array have one row of numbers per node, shape (n, d); got shape "
                f"{array.shape} of type {array.dtype}."
            )
            raise InvalidParameterError(msg, parameter="features")
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            msg = f"features: the row of node {row} holds a value that is not finite."
            raise InvalidParameterError(msg, parameter="features")
        self.rows = array.astype(np.float32)

    def __call__(self, graph: Graph) -> Array:
        """The rows, if they are as many as the graph has nodes."""
        if len(self.rows) != graph.n_nodes:
            msg = f"features has {len(self.rows)} rows, the graph {graph.n_nodes} nodes."
            raise InvalidGraphError(msg)
        return self.rows


class OwnFeatures:
    """A function of the adjacency array, whose answer is checked every time."""

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self.function = function

    def __call__(self, graph: Graph) -> Array:
        """One row per node."""
        try:
            rows = np.asarray(self.function(graph.to_adjacency()), dtype=np.float32)
        except Exception as error:
            msg = (
                f"The function of features raised {said(error)}; it was given the NumPy adjacency "
                f"array of a graph with {graph.n_nodes} nodes."
            )
            raise OracleError(msg) from error
        if rows.ndim != 2 or len(rows) != graph.n_nodes or not np.isfinite(rows).all():
            msg = (
                f"The function of features must give one row of finite numbers per node, shape "
                f"({graph.n_nodes}, d); it gave shape {rows.shape}."
            )
            raise OracleError(msg)
        return rows


def node_features(features: Any) -> NodeFeatures | None:
    """What `as_oracle` takes as features of a network, as a function of a graph; None of None."""
    if features is None:
        return None
    if isinstance(features, str):
        if features not in NODE_FEATURES:
            raise UnknownNameError("node features", features, NODE_FEATURES, parameter="features")
        return NODE_FEATURES[features]
    if callable(features):
        return OwnFeatures(features)
    if hasattr(features, "detach"):  # a tensor, wherever it is
        features = features.detach().cpu().numpy()
    return FixedFeatures(features)


# ---- inputs of a network --------------------------------------------------------------------

#: What an input of this name is filled with.
ROLES: Mapping[str, tuple[str, ...]] = {
    "x": ("x", "feats", "node_features", "features", "h"),
    "edge_index": ("edge_index", "edges"),
    "batch": ("batch", "batch_index"),
    "edge_weight": ("edge_weight", "edge_weights"),
    "adjacency": ("adj", "adjs", "adjacency", "a", "adj_matrix", "adjacency_matrix", "graphs"),
    "data": ("data", "graph_data"),
}
_ROLE = {name: role for role, names in ROLES.items() for name in names}


def roles_of(required: Sequence[str], optional: Sequence[str], where: str) -> dict[str, str]:
    """Name of an input → what to fill it with.

    Parameters
    ----------
    required, optional : names of the inputs; of the optional ones only ``batch`` is filled.
    where : whose inputs they are, for messages.

    Examples
    --------
    >>> roles_of(["x", "edge_index"], ["edge_weight", "batch"], "The module")
    {'x': 'x', 'edge_index': 'edge_index', 'batch': 'batch'}
    """
    if len(required) == 1:
        role = _ROLE.get(required[0].lower())
        if role in (None, "x"):  # a model of one array, whatever it is called
            return {required[0]: "x or adjacency"}
        if role in ("batch", "data"):
            return {required[0]: "data"}
    out: dict[str, str] = {}
    for name in required:
        role = _ROLE.get(name.lower())
        if role is None:
            known = ", ".join(names[0] for names in ROLES.values())
            msg = (
                f"{where} takes {', '.join(required)}, and denseflip does not know what {name!r} "
                f"is. It fills inputs named {known}: wrap the model so that it takes these."
            )
            raise InvalidParameterError(msg)
        out[name] = role
    for name in optional:
        if _ROLE.get(name.lower()) == "batch":
            out[name] = "batch"
    return out


def needs_features(roles: Mapping[str, str]) -> bool:
    """Whether a network with these inputs cannot be asked without node features."""
    return bool({"x", "data"} & set(roles.values()))


def check_features(roles: Mapping[str, str], features: NodeFeatures | None) -> None:
    """Say that features are missing, or that nobody would look at them."""
    if features is None and needs_features(roles):
        msg = (
            "This network takes features of nodes, and none were said: give features="
            f"{', '.join(map(repr, NODE_FEATURES))}, an array with one row per node, or a function "
            "of the adjacency array. Take those that it was trained with."
        )
        raise MissingInputError(msg, parameter="features")
    if features is not None and not {"x", "data", "x or adjacency"} & set(roles.values()):
        msg = (
            f"features are given, but this network has no input for them: it takes "
            f"{', '.join(roles)}."
        )
        raise InvalidParameterError(msg, parameter="features")


def inputs_of(
    graphs: Sequence[Graph], roles: Mapping[str, str], features: NodeFeatures | None
) -> dict[str, Array]:
    """The arrays that fill a network's inputs, by the inputs' names.

    Features are float32, indices int64; a stack of adjacencies is float32 of shape (k, n, n).
    """
    wanted = set(roles.values())
    made: dict[str, Array] = {}
    if wanted & {"x", "data"} or (features is not None and "x or adjacency" in wanted):
        assert features is not None
        rows = [features(g) for g in graphs]
        widths = {r.shape[1] for r in rows}
        if len(widths) > 1:
            msg = (
                f"Features of nodes differ in length from graph to graph: {shown(sorted(widths))}."
            )
            raise OracleError(msg)
        made["x"] = np.concatenate(rows)
        if "x or adjacency" in wanted:
            _one_size(graphs)
            made["x or adjacency"] = np.stack(rows)
    if "adjacency" in wanted or ("x or adjacency" in wanted and features is None):
        _one_size(graphs)
        made["adjacency"] = stack_adjacency(graphs, np.float32)
        made.setdefault("x or adjacency", made["adjacency"])
    if wanted & {"edge_index", "edge_weight", "batch", "data"}:
        sizes = np.array([g.n_nodes for g in graphs], dtype=np.int64)
        shifts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
        pairs = [g.pairs + s for g, s in zip(graphs, shifts, strict=True)]
        both = [np.concatenate((p, p[:, ::-1])) for p in pairs]
        joined = np.concatenate(both)
        made["edge_index"] = np.ascontiguousarray(joined.T, dtype=np.int64)
        made["edge_weight"] = np.ones(len(joined), dtype=np.float32)
        made["batch"] = np.repeat(np.arange(len(graphs), dtype=np.int64), sizes)
    return {name: made[role] for name, role in roles.items() if role != "data"} | (
        {role: made[role] for role in ("x", "edge_index", "batch")} if "data" in wanted else {}
    )


def together(roles: Mapping[str, str]) -> bool:
    """Whether several graphs can be asked about at once.

    A network that takes edges but is not told which node is of which graph would mix them up.
    """
    found = set(roles.values())
    return bool(found & {"batch", "data"}) or not found & {"edge_index", "x"}


def _one_size(graphs: Sequence[Graph]) -> None:
    sizes = {g.n_nodes for g in graphs}
    if len(sizes) > 1:
        msg = f"Graphs of {min(sizes)} to {max(sizes)} nodes do not fit into one array."
        raise InvalidGraphError(msg)
