"""Graphs as the inputs of a network: node features, edges in both directions, batch indices.

Everything is NumPy and computed from each edited graph; the torch and ONNX oracles use it.
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
    check_name,
    said,
    shown,
)
from denseflip.graph import Graph, NodeTypes
from denseflip.graph.convert import stack_adjacency
from denseflip.limits import check_dense

Array = npt.NDArray[Any]
NodeFeatures = Callable[[Graph], Array]


# ---- node features --------------------------------------------------------------------------


def _profile(graph: Graph) -> Array:
    return graph.to_adjacency(np.float32)


def _degree(graph: Graph) -> Array:
    return graph.degrees().astype(np.float32)[:, None]


def _identity(graph: Graph) -> Array:
    check_dense(graph.n_nodes, "The identity as node features", itemsize=4)
    return np.eye(graph.n_nodes, dtype=np.float32)


def _constant(graph: Graph) -> Array:
    return np.ones((graph.n_nodes, 1), dtype=np.float32)


def _types(graph: Graph) -> Array:
    return types_of(graph).one_hot


def _attributes(graph: Graph) -> Array:
    own = types_of(graph)
    if own.features is None:
        msg = (
            "The features 'attributes' are the node attributes of a data set, and these graphs "
            "have none. Use 'types', or import the data set with NAME_node_attributes.txt."
        )
        raise MissingInputError(msg, parameter="features")
    rows: Array = own.features
    return rows


def _both(graph: Graph) -> Array:
    return np.concatenate((_attributes(graph), _types(graph)), axis=1)


def types_of(graph: Graph) -> NodeTypes:
    """The node types of a graph; raises an error with the remedy if it has none."""
    if graph.types is None:
        msg = (
            "The network needs the types or features that a graph carries, and this graph has "
            "none. Import a data set with node labels (a TU folder), or pass graph.typed(…)."
        )
        raise MissingInputError(msg, parameter="features")
    return graph.types


#: Node features by name: a function of one graph that returns one row per node.
NODE_FEATURES: dict[str, NodeFeatures] = {
    "profile": _profile,
    "degree": _degree,
    "identity": _identity,
    "constant": _constant,
    "types": _types,
    "attributes": _attributes,
    "attributes+types": _both,
}


class FixedFeatures:
    """The same rows for every graph, whatever its edges: ages of genes, coordinates of regions."""

    def __init__(self, rows: Any) -> None:
        try:
            array = np.asarray(rows)
        except Exception as error:
            msg = f"features: cannot convert {type(rows).__name__} to an array ({said(error)})."
            raise InvalidParameterError(msg, parameter="features") from error
        if array.ndim != 2 or array.dtype.kind not in "iufb":
            msg = (
                f"An array of features must have one row of numbers per node, shape (n, d); got "
                f"shape {array.shape} of type {array.dtype}."
            )
            raise InvalidParameterError(msg, parameter="features")
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(array))[0][0])
            msg = f"features: the row of node {row} holds a value that is not finite."
            raise InvalidParameterError(msg, parameter="features")
        self.rows = array.astype(np.float32)

    def __call__(self, graph: Graph) -> Array:
        """The rows, if there is one per node of the graph."""
        if len(self.rows) != graph.n_nodes:
            msg = f"features has {len(self.rows)} rows, but the graph has {graph.n_nodes} nodes."
            raise InvalidGraphError(msg)
        check_x(graph.x, self.rows, "a graph")
        return self.rows


class OwnFeatures:
    """The user's function of the adjacency array; its result is checked on every call."""

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self.function = function

    def __call__(self, graph: Graph) -> Array:
        """One row per node."""
        try:
            rows = np.asarray(self.function(graph.to_adjacency()), dtype=np.float32)
        except Exception as error:
            msg = (
                f"The features function raised {said(error)}; it received the NumPy adjacency "
                f"array of a graph with {graph.n_nodes} nodes."
            )
            raise OracleError(msg) from error
        if rows.ndim != 2 or len(rows) != graph.n_nodes or not np.isfinite(rows).all():
            msg = (
                f"The features function must return one row of finite numbers per node, shape "
                f"({graph.n_nodes}, d); it returned shape {rows.shape}."
            )
            raise OracleError(msg)
        return rows


def node_features(features: Any) -> NodeFeatures | None:
    """The ``features`` of `as_oracle` for a network, as a function of a graph; None for None."""
    if features is None:
        return None
    if isinstance(features, str):
        return NODE_FEATURES[
            check_name("node features", features, NODE_FEATURES, parameter="features")
        ]
    if callable(features):
        return OwnFeatures(features)
    if hasattr(features, "detach"):  # a tensor on any device
        features = features.detach().cpu().numpy()
    return FixedFeatures(features)


def check_own_rows(graph: Graph, oracle: Any, what: str) -> None:
    """Raise if a graph has node features (`Graph.x`) and the network would receive others."""
    rows_of: Callable[[Graph], Array | None] | None = getattr(oracle, "rows_of", None)
    if graph.x is not None and rows_of is not None:
        check_x(graph.x, rows_of(graph.root), what)  # x is that of the graph before any edit


def check_x(x: Array | None, used: Array | None, what: str) -> None:
    """Raise if a graph has node features and a network receives others; None for no features."""
    if x is None or used is None or np.array_equal(x, used):
        return
    if x.shape == used.shape and np.allclose(x, used, rtol=1e-4, atol=1e-5):
        return
    how = f"shape {x.shape}, not {used.shape}" if x.shape != used.shape else "other values"
    msg = (
        f"The node features of {what} (x, {how}) are not those that the classifier was given, so "
        "its labels would not be those of the network. If x depends on the edges, name how it is "
        "computed: features='degree', for example, or a function of the adjacency array. Else give "
        "the classifier those of the graph that you explain: as_oracle(model, features=data.x), "
        "one for each graph, and call explain for each, without a background of graphs with "
        "another x."
    )
    raise InvalidParameterError(msg, parameter="features")


# ---- inputs of a network --------------------------------------------------------------------

#: Recognised names of each input.
ROLES: Mapping[str, tuple[str, ...]] = {
    "x": ("x", "feats", "node_features", "features", "h"),
    "edge_index": ("edge_index", "edges"),
    "batch": ("batch", "batch_index"),
    "edge_weight": ("edge_weight", "edge_weights"),
    "edge_attr": ("edge_attr", "edge_attrs", "edge_features"),
    "adjacency": ("adj", "adjs", "adjacency", "a", "adj_matrix", "adjacency_matrix", "graphs"),
    "data": ("data", "graph_data"),
}
EDGE_ATTR_IF_ANY = "edge_attr if any"  # the role of an optional input
_ROLE = {name: role for role, names in ROLES.items() for name in names}


def roles_of(required: Sequence[str], optional: Sequence[str], where: str) -> dict[str, str]:
    """Name of each input → what to fill it with.

    Parameters
    ----------
    required, optional : names of the inputs; of the optional ones, ``batch`` is filled, and
        ``edge_attr`` where graphs have features of edges.
    where : the owner of the inputs, for messages.

    Examples
    --------
    >>> roles_of(["x", "edge_index"], ["edge_weight", "batch"], "The module")
    {'x': 'x', 'edge_index': 'edge_index', 'batch': 'batch'}
    """
    if len(required) == 1:
        role = _ROLE.get(required[0].lower())
        if role in (None, "x"):  # a single input may have any name
            return {required[0]: "x or adjacency"}
        if role in ("batch", "data"):
            return {required[0]: "data"}
    out: dict[str, str] = {}
    for name in required:
        role = _ROLE.get(name.lower())
        if role is None:
            known = ", ".join(names[0] for names in ROLES.values())
            msg = (
                f"{where} takes {', '.join(required)}, and the input {name!r} is not recognised. "
                f"Known names are {known}: wrap the model so that its inputs have these names."
            )
            raise InvalidParameterError(msg)
        out[name] = role
    for name in optional:
        role = _ROLE.get(name.lower())
        if role == "batch":
            out[name] = "batch"
        elif role == "edge_attr":
            out[name] = EDGE_ATTR_IF_ANY
    return out


def needs_features(roles: Mapping[str, str]) -> bool:
    """Whether a network with these inputs requires node features."""
    return bool({"x", "data"} & set(roles.values()))


def check_features(roles: Mapping[str, str], features: NodeFeatures | None) -> None:
    """Raise if features are missing, or given but unused."""
    if features is None and needs_features(roles):
        msg = (
            "This network takes node features, and none are given. Pass features="
            f"{', '.join(map(repr, NODE_FEATURES))}, an array with one row per node, or a function "
            "of the adjacency array. Use the features that it was trained with. For a PyG Data "
            "object whose x does not depend on the edges: as_oracle(model, features=data.x)."
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
    """The arrays for a network's inputs, by input name.

    Features are float32, indices int64; a stack of adjacencies is float32 of shape (k, n, n).
    """
    wanted = set(roles.values())
    made: dict[str, Array] = {}
    if wanted & {"x", "data"} or (features is not None and "x or adjacency" in wanted):
        assert features is not None
        rows = [features(g) for g in graphs]
        widths = {r.shape[1] for r in rows}
        if len(widths) > 1:
            msg = f"The number of node features differs between graphs: {shown(sorted(widths))}."
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
        made["edge_index"] = _ends(graphs)
        if "edge_weight" in wanted:
            made["edge_weight"] = np.ones(made["edge_index"].shape[1], dtype=np.float32)
        made["batch"] = np.repeat(np.arange(len(graphs), dtype=np.int64), sizes)
    has_rows = all(g.types is not None and g.types.new_edge is not None for g in graphs)
    if "edge_attr" in wanted or (has_rows and wanted & {EDGE_ATTR_IF_ANY, "data"}):
        rows = [types_of(g).rows_of_edges(g) for g in graphs]
        made["edge_attr"] = np.concatenate([part for one in rows for part in (one, one)])
        made[EDGE_ATTR_IF_ANY] = made["edge_attr"]
    whole = [x for x in ("x", "edge_index", "batch", "edge_attr") if x in made]
    return {name: made[role] for name, role in roles.items() if role in made} | (
        {role: made[role] for role in whole} if "data" in wanted else {}
    )


def _ends(graphs: Sequence[Graph]) -> Array:
    """Both directions of every edge, shape (2, edges): of each graph those from u to v first."""
    out = np.empty((2, 2 * sum(len(g.codes) for g in graphs)), dtype=np.int64)
    start, shift = 0, 0
    for g in graphs:
        n, middle, end = g.n_nodes, start + len(g.codes), start + 2 * len(g.codes)
        u = g.codes // max(n, 1)
        v = g.codes - u * n
        if shift:
            u, v = u + shift, v + shift
        out[0, start:middle] = out[1, middle:end] = u
        out[1, start:middle] = out[0, middle:end] = v
        start, shift = end, shift + n
    return out


def together(roles: Mapping[str, str]) -> bool:
    """Whether several graphs can be evaluated together.

    A network that takes edges but no batch index would mix the graphs up.
    """
    found = set(roles.values())
    return bool(found & {"batch", "data"}) or not found & {"edge_index", "x"}


def _one_size(graphs: Sequence[Graph]) -> None:
    sizes = {g.n_nodes for g in graphs}
    if len(sizes) > 1:
        msg = f"Graphs with {min(sizes)} to {max(sizes)} nodes do not fit into one array."
        raise InvalidGraphError(msg)
