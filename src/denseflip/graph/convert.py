"""Conversion between graph objects of other libraries and pair codes, with input checks."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidGraphError, counted, shown
from denseflip.graph.core import Graph, Names
from denseflip.graph.pairs import Codes, encode_pairs
from denseflip.limits import check_dense
from denseflip.notebook import html_table

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp

    from denseflip.graph.node_types import NodeTypes


def codes_from_adjacency(
    matrix: npt.ArrayLike, threshold: float | None, source: str
) -> tuple[int, Codes]:
    """Number of nodes and sorted pair codes of a dense matrix; see `Graph.from_adjacency`."""
    array = check_matrix(matrix, source)
    n = len(array)
    if threshold is not None:
        if not np.isfinite(threshold):
            msg = f"{source}: threshold must be a finite number; got {threshold!r}."
            raise InvalidGraphError(msg)
        chosen = array >= threshold
    else:
        other = (array != 0) & (array != 1)
        if other.any():
            # Report an off-diagonal entry if possible: the diagonal of a weighted matrix is often
            # 1.
            pairs = other & ~np.eye(n, dtype=bool)
            r, c = np.argwhere(pairs if pairs.any() else other)[0].tolist()
            msg = (
                f"{source}: an adjacency matrix holds only 0 and 1; got {array[r, c]} at row {r}, "
                f"column {c}, counted from 0 ({_entries(int(other.sum()))}). For a weighted or "
                "correlation matrix give a threshold, or another rule that selects the edges "
                "(keep)."
            )
            raise InvalidGraphError(msg, parameter="keep")
        loops = np.flatnonzero(np.diagonal(array))
        if len(loops):
            msg = (
                f"{source}: self-loop at node {loops[0]} ({len(loops)} in all). "
                "Set the diagonal to 0: denseflip uses simple graphs."
            )
            raise InvalidGraphError(msg)
        chosen = array != 0
    u, v = np.nonzero(np.triu(chosen, k=1))
    return n, (u * n + v).astype(np.int64)


def check_matrix(matrix: npt.ArrayLike, source: str) -> npt.NDArray[Any]:
    """Return a square, symmetric, finite, real matrix, or raise and name the wrong entries."""
    try:
        array = np.asarray(matrix)
    except ValueError as error:  # ragged rows
        msg = f"{source}: not a rectangular table of numbers ({error})."
        raise InvalidGraphError(msg) from error
    if array.dtype == bool:
        array = array.astype(np.uint8)
    if array.dtype.kind not in "iuf":
        msg = f"{source}: the matrix must hold real numbers; got values of type {array.dtype}."
        raise InvalidGraphError(msg)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        msg = f"{source}: the matrix must be square; got shape {array.shape}."
        raise InvalidGraphError(msg)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))
        r, c = bad[0].tolist()
        msg = (
            f"{source}: value {array[r, c]} at row {r}, column {c}, counted from 0 "
            f"({_entries(len(bad))}). "
            "Every entry must be finite: impute or drop the nodes without data first."
        )
        raise InvalidGraphError(msg)
    differs = ~np.isclose(array, array.T, rtol=1e-9, atol=1e-12)
    if differs.any():
        cells = np.argwhere(np.triu(differs))
        r, c = cells[0].tolist()
        msg = (
            f"{source}: the matrix is not symmetric: entry ({r}, {c}) is {array[r, c]} but "
            f"({c}, {r}) is {array[c, r]} "
            f"({counted(len(cells), 'such pair', 'such pairs')}; rows and columns are counted "
            "from 0). denseflip uses undirected graphs: symmetrise the matrix first, for example "
            "(M + M.T) / 2."
        )
        raise InvalidGraphError(msg)
    return array


def _entries(n: int) -> str:
    return counted(n, "such entry", "such entries")


def codes_from_sparse(matrix: sp.sparray | sp.spmatrix, source: str) -> tuple[int, Codes]:
    """Number of nodes and sorted pair codes of a sparse matrix; see `Graph.from_sparse`."""
    import scipy.sparse as sp

    if not sp.issparse(matrix):
        msg = f"{source}: expected a SciPy sparse matrix; got {type(matrix).__name__}."
        raise InvalidGraphError(msg)
    coo = sp.coo_array(matrix)
    if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
        msg = f"{source}: the matrix must be square; got shape {coo.shape}."
        raise InvalidGraphError(msg)
    coo.sum_duplicates()
    coo.eliminate_zeros()
    n = int(coo.shape[0])
    row, col = coo.row.astype(np.int64), coo.col.astype(np.int64)
    bad = np.flatnonzero(coo.data != 1)
    if len(bad):
        i = bad[0]
        msg = (
            f"{source}: an adjacency matrix holds only 0 and 1; got {coo.data[i]} at row {row[i]}, "
            f"column {col[i]}, counted from 0 ({_entries(len(bad))})."
        )
        raise InvalidGraphError(msg)
    if (row == col).any():
        msg = f"{source}: self-loop at node {row[row == col][0]}. denseflip uses simple graphs."
        raise InvalidGraphError(msg)
    upper = np.sort(row[row < col] * n + col[row < col])
    lower = np.sort(col[row > col] * n + row[row > col])
    if not np.array_equal(upper, lower):
        r, c = divmod(int(np.setxor1d(upper, lower)[0]), n)
        msg = f"{source}: the matrix is not symmetric: entries ({r}, {c}) and ({c}, {r}) differ."
        raise InvalidGraphError(msg)
    return n, upper


def codes_from_networkx(
    graph: nx.Graph,
    order: Iterable[Any] | None,
    weight: str | None,
    threshold: float | None,
    source: str,
) -> tuple[list[Any], Codes]:
    """The nodes in order and sorted pair codes of a networkx graph; see `Graph.from_networkx`."""
    if graph.is_directed() or graph.is_multigraph():
        msg = f"{source}: expected an undirected simple graph; got {type(graph).__name__}. "
        msg += "Convert it first, for example with networkx.Graph(g)."
        raise InvalidGraphError(msg)
    nodes = list(graph.nodes) if order is None else list(order)
    if order is None and set(nodes) == set(range(len(nodes))):
        nodes.sort()
    index = {node: i for i, node in enumerate(nodes)}
    if len(index) != len(nodes):
        msg = f"{source}: the node order has a node twice."
        raise InvalidGraphError(msg)
    missing = [node for node in graph.nodes if node not in index]
    if missing:
        msg = f"{source}: the node order lacks {missing[0]!r} "
        msg += f"({counted(len(missing), 'node', 'nodes')} in all)."
        raise InvalidGraphError(msg)
    kept = _chosen_edges(graph, weight, threshold, source)
    edges = [(index[u], index[v]) for u, v in kept]
    return nodes, np.sort(encode_pairs(edges, len(nodes), source=source))


def names_of(nodes: Sequence[Any]) -> tuple[Any, ...] | None:
    """The names of the nodes; None if they are just the numbers 0, 1, 2 …"""
    numbered = all(type(x) is int for x in nodes) and list(nodes) == list(range(len(nodes)))
    return None if numbered else tuple(nodes)


def check_names(names: Any, n_nodes: int, plain: bool = False) -> tuple[Any, ...]:
    """One distinct name per node; with ``plain``, only texts and whole numbers."""
    odd = plain and not isinstance(names, (list, tuple))
    given = () if odd else tuple(names)
    if odd or (plain and any(type(x) not in (str, int) for x in given)):
        msg = f"The names of a graph are a list of texts or whole numbers; got {shown(names)}."
        raise InvalidGraphError(msg)
    if len(given) != n_nodes:
        msg = f"A graph of {n_nodes} nodes needs {n_nodes} names; got {len(given)}."
        raise InvalidGraphError(msg)
    if len(set(given)) < len(given):
        twice = [x for x, count in Counter(given).items() if count > 1]
        msg = f"Node names must be unique; duplicates: {', '.join(map(repr, twice[:20]))}."
        raise InvalidGraphError(msg)
    return given


def _chosen_edges(
    graph: nx.Graph, weight: str | None, threshold: float | None, source: str
) -> list[tuple[Any, Any]]:
    """The edges to keep: all, or those at or above the threshold; raises if that is unclear."""
    if weight is None:
        if threshold is not None:
            msg = f"{source}: a threshold needs weights; weight=None takes every listed edge."
            raise InvalidGraphError(msg)
        return list(graph.edges)
    kept, odd = [], []
    for u, v, value in graph.edges(data=weight, default=1):
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if not np.isfinite(number):
            msg = f"{source}: the {weight} of the edge {u!r} - {v!r} is {value!r:.40}; it must be "
            msg += "a finite number. To take every listed edge, give weight=None."
            raise InvalidGraphError(msg)
        if number not in (0, 1):
            odd.append((u, v, value))
        if number >= threshold if threshold is not None else number:
            kept.append((u, v))
    if odd and threshold is None:
        u, v, value = odd[0]
        msg = (
            f"{source}: its edges have weights other than 0 and 1; got {value!r:.40} between "
            f"{u!r} and {v!r} ({counted(len(odd), 'such edge', 'such edges')}). State which are "
            f"edges: Graph.from_networkx(graph, threshold=…) keeps those at or above a weight, "
            "Graph.from_networkx(graph, weight=None) every listed one. For a file, give a rule for "
            "which pairs are edges (keep)."
        )
        raise InvalidGraphError(msg, parameter="keep")
    return kept


def to_adjacency(graph: Graph, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """Dense 0/1 matrix; for a near copy, its root's matrix with the differences flipped."""
    n = graph.n_nodes
    if n * n > _KEEP:
        check_dense(n, "The graph as an array", itemsize=np.dtype(dtype).itemsize)
    out = np.empty((1, n * n), dtype=dtype)
    _fill(out, [graph])
    return out.reshape(n, n)


def stack_adjacency(graphs: Sequence[Graph], dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
    """Dense adjacencies of several graphs over one node set, shape (k, n, n)."""
    graphs = list(graphs)
    n = graphs[0].n_nodes if graphs else 0
    if len(graphs) * n * n > _KEEP:
        size = np.dtype(dtype).itemsize
        check_dense(n, "The graphs as one array", count=len(graphs), itemsize=size)
    out = np.empty((len(graphs), n * n), dtype=dtype)
    _fill(out, graphs)
    return out.reshape(len(graphs), n, n)


def _fill(rows: npt.NDArray[Any], graphs: Sequence[Graph]) -> None:
    """Write each graph's flat adjacency into a row.

    If a graph is a near copy of the previous one, as in a search, the previous row is copied and
    the differing entries are flipped.
    """
    for row, graph in zip(rows, graphs, strict=True):
        n = graph.n_nodes
        if n * n > _KEEP:
            row[:] = 0
            row[_both(graph.codes, n)] = 1
            continue
        before: tuple[Graph, npt.NDArray[np.uint8]] | None = getattr(_last, "written", None)
        flips = None if before is None else graph.flips_from(before[0])
        if before is None or flips is None:
            matrix = np.zeros(n * n, dtype=np.uint8)
            matrix[_both(graph.codes, n)] = 1
        else:
            matrix = before[1]
            _last.written = None  # an interrupt may leave the buffer between two graphs
            if len(flips) <= _FEW:
                for code in flips.tolist() if isinstance(flips, np.ndarray) else flips:
                    u, v = divmod(code, n)
                    matrix[code] ^= 1
                    matrix[v * n + u] ^= 1
            else:
                matrix[_both(np.asarray(flips, dtype=np.int64), n)] ^= 1
        _last.written = (graph, matrix)
        row[:] = matrix


def _both(codes: Codes, n: int) -> Codes:
    """Flat positions of (u, v), which is the code itself, and of (v, u)."""
    return np.concatenate((codes, codes * n - codes // max(n, 1) * (n * n - 1)))


_KEEP = 4_000_000  # largest number of entries of a matrix that is cached for the next near copy
_FEW = 12  # up to this many flips, a loop is faster than arrays
_last = threading.local()  # the last graph written and its matrix, per thread


def to_dict(graph: Graph) -> dict[str, Any]:
    """The JSON-ready form of a graph; see `Graph.to_dict`."""
    data: dict[str, Any] = {"n_nodes": graph.n_nodes, "edges": graph.pairs.tolist()}
    if graph.names is not None and all(type(x) in (str, int) for x in graph.names):
        data["names"] = list(graph.names)
    if graph.types is not None:
        data["types"] = graph.types.to_dict()
    return data


def parts_of(data: Mapping[str, Any]) -> tuple[int, Codes, Names, NodeTypes | None]:
    """What the dictionary of a graph holds, checked: nodes, codes, names and types."""
    from denseflip.graph.node_types import NodeTypes

    try:
        n, edges = data["n_nodes"], data["edges"]
    except (KeyError, TypeError) as error:
        msg = f"A graph's dictionary needs the keys 'n_nodes' and 'edges'; got {shown(data)}."
        raise InvalidGraphError(msg) from error
    codes = Graph.from_edges(n, edges, source="dictionary").codes
    names, types = data.get("names"), data.get("types")
    return (
        n,
        codes,
        None if names is None else check_names(names, n, True),
        None if types is None else NodeTypes.from_dict(types).check_fits(n),
    )


def to_sparse(graph: Graph) -> sp.csr_array:
    """CSR adjacency with float64 ones, both directions of every edge."""
    import scipy.sparse as sp

    u, v = graph.pairs[:, 0], graph.pairs[:, 1]
    n = graph.n_nodes
    data = np.ones(2 * len(u))
    return sp.csr_array(
        sp.coo_array((data, (np.concatenate((u, v)), np.concatenate((v, u)))), shape=(n, n))
    )


def to_networkx(graph: Graph) -> nx.Graph:
    """A networkx graph over the node names, or over ``0 .. n - 1`` without names."""
    import networkx as nx

    names = graph.names
    out = nx.Graph()
    out.add_nodes_from(range(graph.n_nodes) if names is None else names)
    edges = graph.edges()
    out.add_edges_from(edges if names is None else ((names[u], names[v]) for u, v in edges))
    return out


def to_html(graph: Graph) -> str:
    """A small table for notebooks: size, density, degrees, names."""
    n = graph.n_nodes
    degrees = graph.degrees()
    facts: list[tuple[str, object]] = [
        ("density", graph.n_edges / graph.n_pairs if graph.n_pairs else None),
        ("degrees", f"{degrees.min()} to {degrees.max()}" if n else None),
    ]
    if graph.names is not None:
        facts.append(("names", ", ".join(map(str, graph.names[:8])) + (", …" if n > 8 else "")))
    return html_table(f"Graph: {n:,} nodes, {graph.n_edges:,} edges", (), facts)
