"""`as_graph`: convert graphs of other libraries, with their node names.

Also matches node names: of one graph to another, and of a node table to a graph.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.checks import text_of
from denseflip.errors import InvalidGraphError, InvalidNodesError, counted, nearest
from denseflip.graph.core import Graph
from denseflip.graph.nodes import Nodes


def as_graph(value: Any, *, source: str = "graph") -> Graph:
    """Convert a graph object of any supported type; raises with the supported types otherwise.

    Supported are a `Graph`, a networkx graph and a pandas DataFrame (with their names), a NumPy
    array or nested lists, a SciPy sparse matrix, a torch tensor, and a PyG ``Data`` object, whose
    node features the graph keeps (`Graph.x`). Weights of a networkx graph are ignored, as networkx
    itself does; `ignored_weights` returns a note about that.

    Examples
    --------
    >>> as_graph([[0, 1], [1, 0]])
    Graph(n_nodes=2, n_edges=1)
    """
    if isinstance(value, Graph):
        return value
    if is_networkx(value):
        return Graph.from_networkx(value, weight=None if ignored_weights(value) else "weight")
    if hasattr(value, "tocoo"):
        return Graph.from_sparse(value)
    if hasattr(value, "edge_index") and hasattr(value, "num_nodes"):
        return _from_pyg(value, source)
    if hasattr(value, "columns") and hasattr(value, "index") and hasattr(value, "to_numpy"):
        return _from_frame(value, source)
    if hasattr(value, "detach") and hasattr(value, "cpu"):
        return Graph.from_adjacency(np.asarray(value.detach().cpu()), source=source)
    if isinstance(getattr(value, "graph", None), Graph):
        what = type(value).__name__
        msg = f"{source}: an object of type {what} is not a graph. Pass its attribute graph."
        raise InvalidGraphError(msg)
    if value is None or isinstance(value, (str, bytes, dict)):
        msg = (
            f"{source}: {type(value).__name__} is not a graph. Pass a denseflip Graph, an "
            "adjacency array, a SciPy sparse matrix, a networkx graph, a DataFrame, a torch tensor "
            "or a PyG Data object; read_graph reads one from a file."
        )
        raise InvalidGraphError(msg)
    if isinstance(value, (list, tuple)) and any(map(_is_graph_object, value)):
        msg = (
            f"{source}: a {type(value).__name__} of {counted(len(value), 'graph', 'graphs')}, and "
            "one graph is needed. Pass its graphs one by one, or explain_many(dataset, oracle), "
            "where dataset is Dataset(name, [as_graph(g) for g in graphs], labels, class_names)."
        )
        raise InvalidGraphError(msg)
    return Graph.from_adjacency(value, source=source)


def _is_graph_object(value: Any) -> bool:
    return isinstance(value, Graph) or hasattr(value, "edge_index") or is_networkx(value)


def is_networkx(value: Any) -> bool:
    """Whether an object is a networkx graph, found without importing networkx."""
    return hasattr(value, "is_directed") and hasattr(value, "nodes")


def ignored_weights(value: Any) -> str | None:
    """A note for the user about edge weights that `as_graph` ignores; None if there are none.

    As in networkx, every listed edge is an edge, whatever its weight. If the edges are meaningless
    without the weights, because all pairs are listed or some weights are not positive numbers,
    `as_graph` raises an error instead.

    Examples
    --------
    >>> import networkx as nx
    >>> g = nx.Graph()
    >>> g.add_weighted_edges_from([(0, 1, 0.5), (1, 2, 2)])
    >>> print(ignored_weights(g)[:57])
    The graph's edges carry weights ('weight', from 0.5 to 2)
    """
    if not is_networkx(value) or value.is_directed() or value.is_multigraph():
        return None
    try:
        weights = [float(w) for _, _, w in value.edges(data="weight", default=1)]
    except (TypeError, ValueError):
        return None
    n = len(value.nodes)
    every_pair = len(weights) >= n * (n - 1) // 2
    if set(weights) <= {0, 1} or every_pair or not all(0 < w < np.inf for w in weights):
        return None
    return (
        f"The graph's edges carry weights ('weight', from {min(weights):g} to {max(weights):g}). "
        "They were ignored: every listed edge is an edge, and the classifier is given graphs "
        "without weights. To choose the edges by weight, pass "
        "Graph.from_networkx(graph, threshold=…)."
    )


def _from_frame(frame: Any, source: str) -> Graph:
    """A square DataFrame; its rows are sorted by name into the order of the columns."""
    columns, rows = list(frame.columns), list(frame.index)
    numbered = rows == list(range(len(rows)))
    if not numbered and rows != columns:
        odd = [x for x in rows if x not in columns][:5] + [x for x in columns if x not in rows][:5]
        if odd or len(rows) != len(columns):
            msg = (
                f"{source}: the rows and columns of the DataFrame name different nodes: "
                f"{', '.join(map(repr, odd)) or 'another number of them'}."
            )
            raise InvalidGraphError(msg)
        frame = frame.loc[columns]
    graph = Graph.from_adjacency(frame.to_numpy(), source=source)
    return graph if columns == list(range(len(columns))) else graph.named(columns)


def _from_pyg(data: Any, source: str) -> Graph:
    """A PyG graph, with its node features; `edge_index` must list both directions of each edge."""
    if getattr(data, "edge_index", None) is None:
        msg = f"{source}: the PyG Data object has no edge_index, so its edges are unknown."
        raise InvalidGraphError(msg)
    several = int(getattr(data, "num_graphs", None) or 1)  # only a PyG Batch has it
    if several > 1:
        msg = (
            f"{source}: a PyG Batch of {several} graphs, and one graph is needed. Pass its graphs "
            "one by one (batch.to_data_list()), or all with explain_many."
        )
        raise InvalidGraphError(msg)
    pairs = np.asarray(data.edge_index.detach().cpu()).T
    weights = getattr(data, "edge_weight", None)
    if weights is not None and set(np.unique(np.asarray(weights.detach().cpu())).tolist()) - {1.0}:
        msg = (
            f"{source}: the PyG Data object has edge weights other than 1. Choose the edges: "
            "keep those columns of edge_index, and leave edge_weight out."
        )
        raise InvalidGraphError(msg)
    directed = {(int(u), int(v)) for u, v in pairs.tolist()}
    if len(directed) < len(pairs):
        msg = f"{source}: edge_index of the PyG Data object lists an edge twice. Coalesce it first."
        raise InvalidGraphError(msg)
    one_way = sum((v, u) not in directed for u, v in directed)
    if one_way:
        msg = (
            f"{source}: edge_index of the PyG Data object lists {one_way:,} of its "
            f"{len(directed):,} edges in one direction only. denseflip uses undirected graphs and "
            "gives the network both directions of every edge, so its labels could be others than "
            "those for this edge_index. If the network was trained with both, pass "
            "torch_geometric.utils.to_undirected(data.edge_index)."
        )
        raise InvalidGraphError(msg)
    n = int(data.num_nodes)
    graph = Graph.from_edges(n, sorted((u, v) for u, v in directed if u <= v), source=source)
    x = getattr(data, "x", None)
    return graph.with_x(_rows(x, n, source)) if hasattr(x, "detach") else graph


def _rows(x: Any, n_nodes: int, source: str) -> npt.NDArray[Any]:
    """The node features of a PyG graph as a read-only array."""
    for plain in ("to_dense", "float"):  # sparse; half precision
        x = getattr(x, plain)() if hasattr(x, plain) else x
    rows: npt.NDArray[Any] = np.asarray(x.detach().cpu()).astype(np.float32)
    if not rows.ndim or len(rows) != n_nodes:
        msg = (
            f"{source}: x of the PyG Data object has the shape {rows.shape}, but the graph has "
            f"{n_nodes} nodes. It must have one row per node."
        )
        raise InvalidGraphError(msg)
    return rows


def match_graph(graph: Graph, names: tuple[Any, ...], *, what: str = "graph") -> Graph:
    """The graph with its nodes in the order of ``names``; it raises if its own are others.

    A graph without names gets these.
    """
    own = graph.names
    if own is None or own == names:
        return graph.named(names)
    if set(own) != set(names):
        listed = tell_difference(map(str, own), map(str, names), f"the {what}", "the other graph")
        msg = f"The nodes of the {what} differ: {listed}"
        raise InvalidGraphError(msg)
    place = {name: i for i, name in enumerate(names)}
    number = [place[name] for name in own]
    edges = [(number[u], number[v]) for u, v in graph.edges()]
    ordered = Graph.from_edges(graph.n_nodes, edges)
    x = None if graph.x is None else graph.x[np.argsort(number)]
    return ordered.with_x(x).named(names)


def match_nodes(graph: Graph, nodes: Nodes | None) -> Nodes | None:
    """The node table in the order of the graph's nodes, matched by name if the graph has names.

    Without a table, the names of the graph make one. If the graph has no names, or its names are
    numbers, the table is used as it is.
    """
    if nodes is not None and not isinstance(nodes, Nodes):
        msg = (
            f"nodes must be a node table (Nodes); got {type(nodes).__name__}. Pass a classifier as "
            "oracle=…."
        )
        raise InvalidNodesError(msg, parameter="nodes")
    if graph.types is not None:
        if nodes is not None and nodes != graph.types.nodes:
            msg = (
                "The graph carries the types of its own nodes, so a node table does not apply. "
                "Leave it out (nodes)."
            )
            raise InvalidNodesError(msg, parameter="nodes")
        return graph.types.nodes
    names = graph.names
    if names is None or all(isinstance(x, (int, np.integer)) for x in names):
        return nodes
    texts = tuple(text_of(x) for x in names)
    if nodes is None:
        return Nodes(texts) if len(set(texts)) == len(texts) else None
    if texts == nodes.names:
        return nodes
    nodes.check_fits(graph.n_nodes)
    if set(texts) != set(nodes.names):
        listed = tell_difference(texts, nodes.names, "the graph", "the node table")
        msg = f"The graph and the node table name different nodes: {listed}"
        raise InvalidNodesError(msg, parameter="nodes")
    return nodes.ordered(texts)


def settle_names(graphs: Sequence[Graph], nodes: Nodes) -> tuple[tuple[Graph, ...], Nodes]:
    """Graphs with names, reordered by a node table, and that table.

    Without a table, or with one without names, the names of the first graph that has any make one.
    Graphs without names, and those whose names are numbers, keep their order. The returned graphs
    have no names: the table has them.
    """
    named = [g for g in graphs if g.names is not None]
    texts = [g for g in named if not all(isinstance(x, (int, np.integer)) for x in g.names or ())]
    if texts and not nodes.names:
        nodes = Nodes(tuple(texts[0].names or ()))
    if not named:
        return tuple(graphs), nodes
    out = []
    for i, graph in enumerate(graphs):
        if graph.names is not None and any(graph is x for x in texts):
            own = tuple(text_of(x) for x in graph.names)
            if len(own) == nodes.n_nodes:
                graph = match_graph(graph.named(own), nodes.names, what=f"graph {i}")
        out.append(graph.named(None))
    return tuple(out), nodes


def tell_difference(
    ours: Iterable[str], theirs: Iterable[str], here: str, there: str, most: int = 10
) -> str:
    """Describe which names occur in only one of two lists, each with the nearest in the other.

    >>> tell_difference(["Insula_L", "Vermis"], ["Insula_R", "Vermis"], "a.csv", "the node table")
    "only in a.csv (1): 'Insula_L' (nearest: 'Insula_R'); only in the node table (1): 'Insula_R'."
    """
    first, second = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
    mine = [x for x in first if x not in set(second)]
    other = [x for x in second if x not in set(first)]

    def listed(names: list[str], near: list[str]) -> str:
        shown = []
        for name in names[:most]:
            hit = nearest(name, near)
            shown.append(f"{name!r} (nearest: {hit[0]!r})" if hit else repr(name))
        more = f" and {len(names) - most} more" if len(names) > most else ""
        return ", ".join(shown) + more

    parts = []
    if mine:
        parts.append(f"only in {here} ({len(mine)}): {listed(mine, other or second)}")
    if other:
        parts.append(f"only in {there} ({len(other)}): {listed(other, [])}")
    return "; ".join(parts) + "."
