"""Read GraphML files, and turn matrices into graphs.

Tables of numbers are read in `number_tables`, edge lists in `edge_lists`, TU folders in
`tu_folder`; `importers` recognises the kinds of files.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from denseflip.datasets.connectome import Keep, Matrix
from denseflip.datasets.import_job import ReadOptions
from denseflip.errors import FileFormatError, TooLargeError, shown
from denseflip.graph import Graph
from denseflip.graph.inputs import tell_difference
from denseflip.limits import check_dense, check_size

GRAPHML = (".graphml", ".xml")
_PER_TAG = 500  # bytes of memory per tag, parsed and converted to a node or an edge
_LONGEST = 18  # digits of a node's number


def graph_of_matrix(matrix: Matrix, keep: Keep | None, source: str) -> Graph:
    """The graph of a matrix: a 0/1 matrix as it is, a weighted one by the rule."""
    if keep is not None and not is_binary(matrix):
        return keep.apply(matrix, source=source)
    return Graph.from_adjacency(matrix, source=source)


def is_binary(matrix: Matrix) -> bool:
    """Whether a matrix holds only 0 and 1 (and so needs no rule)."""
    return bool(((matrix == 0) | (matrix == 1)).all()) and not np.diagonal(matrix).any()


def read_graphml(path: Path, options: ReadOptions) -> Graph:
    """A graph from GraphML; nodes by name with a node table, else numbers, else file order.

    Weighted edges need a rule, as a weighted matrix does, unless weights are ignored.
    """
    import networkx as nx

    nodes, keep = options.nodes, options.keep
    found = _parse_graphml(path)
    names = [str(x) for x in found.nodes]
    found = nx.relabel_nodes(found, dict(zip(list(found.nodes), names, strict=True)))
    order: list[str] | None = None
    numbers = are_numbers(names)
    if nodes is not None and set(names) <= set(nodes.names):
        order = list(nodes.names)
    elif nodes is not None and not numbers:
        listed = tell_difference(names, nodes.names, path.name, "the node table")
        msg = f"{path.name}: its nodes are not those of the node table: {listed}"
        raise FileFormatError(msg, parameter="nodes")
    elif numbers:
        order = sorted(names, key=lambda x: int(x.lstrip("n")))
    plain = keep is not None or options.ignore_weights
    graph = Graph.from_networkx(
        found, order=order, weight=None if plain else "weight", source=path.name
    )
    if keep is not None and not options.ignore_weights:
        check_dense(graph.n_nodes, f"{path.name}: its weights")
        weights = nx.to_numpy_array(found, nodelist=order or names)
        if not is_binary(weights):
            graph = keep.apply(weights, source=path.name).named(graph.names)
    by_name = nodes is not None and order == list(nodes.names)
    return graph.named(None) if numbers and not by_name else graph


def are_numbers(names: list[str]) -> bool:
    """Whether all names are numbers, optionally after an n, with at most `_LONGEST` digits."""
    if not all(x.lstrip("n").isdecimal() and len(x) <= _LONGEST for x in names):
        return False
    return len({int(x.lstrip("n")) for x in names}) == len(names)  # 1, 01 and n1 are names


def _parse_graphml(path: Path) -> Any:
    import networkx as nx

    try:
        content = path.read_bytes()
        tags = content.count(b"<")
        check_size(len(content) + float(tags) * _PER_TAG, f"{path.name}: its XML content")
        _check_graphml(content, path.name)
        return nx.read_graphml(io.BytesIO(content))
    except (TooLargeError, FileFormatError):
        raise
    except Exception as error:  # the XML parser raises its own exceptions
        msg = f"{path.name}: cannot be read as GraphML ({type(error).__name__}: {error!s:.200})."
        raise FileFormatError(msg) from error


def _check_graphml(content: bytes, source: str) -> None:
    """Raise if networkx would add nodes that the file does not list, or leave some out."""
    listed: set[str] = set()
    ends: dict[str, None] = {}
    wrong, graphs = "", 0
    for _, tag in ElementTree.iterparse(io.BytesIO(content)):
        kind = tag.tag.rpartition("}")[2]
        graphs += kind == "graph"
        if kind == "node":
            name = tag.get("id")
            if name is None or name in listed:
                wrong = wrong or ("a node has no id" if name is None else f"two nodes are {name!r}")
            listed.add(name or "")
        elif kind == "edge":
            pair = tag.get("source"), tag.get("target")
            wrong = wrong or ("an edge has no source or no target" if None in pair else "")
            ends |= dict.fromkeys(x for x in pair if x is not None)
        if kind in ("node", "edge", "data"):
            tag.clear()
    unlisted = next((x for x in ends if x not in listed), None)
    if graphs > 1:
        wrong = f"it holds {graphs} graphs, but only one can be read"
    elif not wrong and unlisted is not None:
        wrong = f"an edge leads to {shown(unlisted)}, which is not one of its nodes"
    if wrong:
        msg = f"{source}: cannot be read as GraphML: {wrong}."
        raise FileFormatError(msg)


def graphml_names(path: Path) -> list[str]:
    """The names of a GraphML file's nodes, in the order of the file."""
    return [str(x) for x in _parse_graphml(path).nodes]
