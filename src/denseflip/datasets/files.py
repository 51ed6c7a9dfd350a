"""One graph from one file: adjacency or weighted matrix, edge list, GraphML.

Folders of such files are the matter of `folder`, tables of numbers of `tables`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from denseflip.datasets.connectome import Keep, Matrix
from denseflip.datasets.tables import (
    BINARY,
    TEXT,
    is_number,
    parse_table,
    read_lines,
    read_rows,
    read_table,
)
from denseflip.errors import FileFormatError, InvalidGraphError, UnknownNameError, nearest
from denseflip.graph import Graph, Nodes

EDGE_LISTS = (".edgelist", ".edges", ".edge", ".el")
GRAPHML = (".graphml", ".xml")
SUFFIXES = (*TEXT, *BINARY, *EDGE_LISTS, *GRAPHML)
KINDS = ("auto", "matrix", "timeseries", "edges", "graphml", "tu")
FILE_KINDS = KINDS[:-1]
_EDGE_HEADERS = (["source", "target"], ["from", "to"], ["u", "v"], ["i", "j"], ["node", "node"])


def kind_of(path: str | Path, *, variable: str | None = None) -> str:
    """What a file holds, by its name and shape: matrix, timeseries, edges or graphml.

    A square table is a matrix. Any other table is an edge list if it has two or three columns and
    whole numbers in the first two, else a time series (time points × regions).
    """
    source = Path(path)
    suffix = source.suffix.lower()
    if suffix in GRAPHML:
        return "graphml"
    if suffix in EDGE_LISTS:
        return "edges"
    if suffix in TEXT and _says_edges(read_rows(source)):
        return "edges"
    values = read_table(source, variable=variable).values
    if values.shape[0] == values.shape[1]:
        return "matrix"
    if values.shape[1] in (2, 3) and not (values[:, :2] % 1).any():
        return "edges"
    return "timeseries"


def _says_edges(rows: list[list[str]]) -> bool:
    """Whether a table's header, or names where pairs would be, make it an edge list."""
    if len(rows[0]) not in (2, 3):
        return False
    head = [x.lower().strip("_0123456789") for x in rows[0][:2]]
    named = [row for row in rows if len(row) > 1 and not any(is_number(x) for x in row[:2])]
    return head in _EDGE_HEADERS or (len(named) == len(rows) and len(rows) > 1)


def read_graph(
    path: str | Path,
    *,
    nodes: Nodes | None = None,
    n_nodes: int | None = None,
    keep: Keep | None = None,
    kind: str = "auto",
    variable: str | None = None,
) -> Graph:
    """Read the graph of one file.

    Parameters
    ----------
    path : a matrix (.csv .tsv .txt .npy .npz .mat), an edge list (.edgelist .edges, or a table of
        two or three columns), or a .graphml file.
    nodes : the node table of the data set the graph belongs to: sets the number of nodes, and lets
        an edge list or GraphML file speak of nodes by name.
    n_nodes : the number of nodes, where an edge list does not tell and no table is given.
    keep : which pairs of a weighted matrix become edges; without it only 0 and 1 are accepted.
    kind : ``auto``, ``matrix``, ``timeseries``, ``edges`` or ``graphml``.
    variable : the array to take from a .npz or .mat file that holds several.

    Raises
    ------
    FileFormatError, InvalidGraphError
        With the file's name and the place of the trouble in it.
    """
    source = Path(path)
    if kind not in FILE_KINDS:
        raise UnknownNameError("kind of file", kind, FILE_KINDS)
    if not source.is_file():
        msg = f"{source}: there is no such file."
        raise FileFormatError(msg)
    if source.suffix.lower() not in SUFFIXES:
        msg = f"{source}: unknown file type {source.suffix!r}. Known: {', '.join(SUFFIXES)}."
        raise FileFormatError(msg)
    kind = kind_of(source, variable=variable) if kind == "auto" else kind
    size = nodes.n_nodes if nodes is not None else n_nodes
    if kind == "graphml":
        graph = read_graphml(source, nodes)
    elif kind == "edges":
        graph = read_edges(source, nodes=nodes, n_nodes=size, keep=keep)
    else:
        matrix = read_matrix(source, kind=kind, variable=variable)
        graph = graph_of_matrix(matrix, keep if kind == "matrix" else keep or Keep(90), source.name)
    if size is not None and graph.n_nodes != size:
        msg = f"{source.name}: the graph has {graph.n_nodes} nodes; {size} are expected here."
        raise InvalidGraphError(msg)
    return graph


def read_matrix(path: Path, *, kind: str = "matrix", variable: str | None = None) -> Matrix:
    """The matrix of a file, or Pearson's correlation of the time series in it."""
    values = read_table(path, variable=variable).values
    if kind == "timeseries":
        from denseflip.datasets.connectome import check_time_series, connectivity

        values = connectivity([check_time_series(values, path.name)])[0]
    return values


def graph_of_matrix(matrix: Matrix, keep: Keep | None, source: str) -> Graph:
    """A 0/1 matrix as it is, a weighted one by the rule."""
    if keep is not None and not is_binary(matrix):
        return keep.apply(matrix, source=source)
    return Graph.from_adjacency(matrix, source=source)


def is_binary(matrix: Matrix) -> bool:
    """Whether a matrix holds nothing but 0 and 1 (and so needs no rule)."""
    return bool(((matrix == 0) | (matrix == 1)).all()) and not np.diagonal(matrix).any()


def read_edges(
    path: Path,
    *,
    nodes: Nodes | None = None,
    n_nodes: int | None = None,
    keep: Keep | None = None,
) -> Graph:
    """A graph from lines ``u v [weight]``; nodes by number from 0, or by name with a node table.

    A list that gives every pair in both directions is accepted. Without a rule every listed pair
    is an edge, whatever its weight.
    """
    pairs, weights = edge_table(path, nodes)
    n = n_nodes if n_nodes is not None else (nodes.n_nodes if nodes else None)
    if n is None:
        n = int(pairs.max()) + 1 if len(pairs) else 0
    codes = pairs.min(axis=1) * n + pairs.max(axis=1) if len(pairs) else pairs[:, 0]
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    if (counts == 2).all() and len(np.unique(pairs, axis=0)) == len(pairs):
        pairs, weights = pairs[np.sort(first)], weights[np.sort(first)]
    graph = Graph.from_edges(n, pairs, source=path.name)
    if keep is None:
        return graph
    matrix = np.zeros((n, n))
    matrix[pairs[:, 0], pairs[:, 1]] = matrix[pairs[:, 1], pairs[:, 0]] = weights
    return keep.apply(matrix, source=path.name)


def edge_table(path: Path, nodes: Nodes | None) -> tuple[Any, Any]:
    """The pairs of an edge list, shape (k, 2), and their weights (1 where none is given)."""
    if path.suffix.lower() in BINARY:
        values = read_table(path).values
        at = list(range(1, len(values) + 1))
    else:
        lines = read_lines(path, may_be_empty=True)
        rows = _drop_header([row for _, row in lines], nodes)
        at = [i for i, _ in lines][len(lines) - len(rows) :]
        number = {name: str(i) for i, name in enumerate(nodes.names)} if nodes else {}
        named = [[number.get(x, x) if j < 2 else x for j, x in enumerate(r)] for r in rows]
        for i, row in enumerate(named):
            unknown = [x for x in row[:2] if not is_number(x)]
            if unknown:
                near = nearest(unknown[0], number)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                msg = (
                    f"{path.name}: line {at[i]} names the node {unknown[0]!r}, which is neither a "
                )
                msg += f"number nor in the node table.{hint}"
                raise FileFormatError(msg)
        values = parse_table(named, path.name).values if named else np.empty((0, 2))
    if values.shape[1] not in (2, 3):
        msg = f"{path.name}: an edge list has two or three columns (u, v, weight); "
        msg += f"got {values.shape[1]}."
        raise FileFormatError(msg)
    bad = np.flatnonzero(~np.isfinite(values).all(axis=1) | (values[:, :2] % 1 != 0).any(axis=1))
    if len(bad):
        msg = f"{path.name}: line {at[bad[0]]} is {values[bad[0]].tolist()}; nodes must be whole "
        msg += "numbers and weights finite."
        raise FileFormatError(msg)
    weights = values[:, 2] if values.shape[1] == 3 else np.ones(len(values))
    return values[:, :2].astype(np.int64), weights


def _drop_header(rows: list[list[str]], nodes: Nodes | None) -> list[list[str]]:
    """Leave out a first line such as ``source,target``."""
    if not rows:
        return rows
    known = set(nodes.names) if nodes else set()
    words = [x for x in rows[0][:2] if not is_number(x)]
    return rows[1:] if len(words) == 2 and not known.intersection(words) else rows


def read_graphml(path: Path, nodes: Nodes | None = None) -> Graph:
    """A graph from GraphML; nodes by name with a node table, else numbers, else file order."""
    import networkx as nx

    try:
        found = nx.read_graphml(path)
    except Exception as error:  # the XML parser raises kinds of its own
        msg = f"{path.name}: cannot be read as GraphML ({type(error).__name__}: {error})."
        raise FileFormatError(msg) from error
    names = [str(x) for x in found.nodes]
    found = nx.relabel_nodes(found, dict(zip(list(found.nodes), names, strict=True)))
    order: list[str] | None = None
    if nodes is not None and set(names) <= set(nodes.names):
        order = list(nodes.names)
    elif all(x.lstrip("n").isdigit() for x in names):
        order = sorted(names, key=lambda x: int(x.lstrip("n")))
    return Graph.from_networkx(found, order=order, source=path.name)


def graphml_names(path: Path) -> list[str]:
    """The names of a GraphML file's nodes, in the order of the file."""
    import networkx as nx

    return [str(x) for x in nx.read_graphml(path).nodes]
