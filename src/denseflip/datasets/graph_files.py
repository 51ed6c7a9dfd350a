"""Read GraphML files and folders in the TU format, and turn matrices into graphs.

Tables of numbers are read in `number_tables`, edge lists in `edge_lists`; `importers` recognises
the kinds of files.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from denseflip.datasets.connectome import Keep, Matrix
from denseflip.datasets.number_tables import read_table
from denseflip.errors import DatasetError, FileFormatError, TooLargeError, shown
from denseflip.graph import Graph, Nodes
from denseflip.graph.inputs import tell_difference
from denseflip.limits import check_dense, check_size

GRAPHML = (".graphml", ".xml")
_PER_TAG = 500  # bytes of memory per tag, parsed and converted to a node or an edge
_LARGEST = 2**31  # a node's or graph's number; the product of two then fits into 64 bits
_LONGEST = 18  # digits of a node's number


def graph_of_matrix(matrix: Matrix, keep: Keep | None, source: str) -> Graph:
    """The graph of a matrix: a 0/1 matrix as it is, a weighted one by the rule."""
    if keep is not None and not is_binary(matrix):
        return keep.apply(matrix, source=source)
    return Graph.from_adjacency(matrix, source=source)


def is_binary(matrix: Matrix) -> bool:
    """Whether a matrix holds only 0 and 1 (and so needs no rule)."""
    return bool(((matrix == 0) | (matrix == 1)).all()) and not np.diagonal(matrix).any()


def read_graphml(
    path: Path,
    nodes: Nodes | None = None,
    *,
    keep: Keep | None = None,
    ignore_weights: bool = False,
) -> Graph:
    """A graph from GraphML; nodes by name with a node table, else numbers, else file order.

    Weighted edges need a rule, as a weighted matrix does, unless weights are ignored.
    """
    import networkx as nx

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
    plain = keep is not None or ignore_weights
    graph = Graph.from_networkx(
        found, order=order, weight=None if plain else "weight", source=path.name
    )
    if keep is not None and not ignore_weights:
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


# ---- TU folders -------------------------------------------------------------------------
# NAME_A.txt, NAME_graph_indicator.txt and labels; nodes and graphs are numbered from 1 there. See
# https://chrsmrrs.github.io/datasets/docs/format.


def tu_name(folder: Path) -> str | None:
    """The name of the TU data set in a folder, or None if there is none."""
    for path in sorted(folder.glob("*_graph_indicator.txt")):
        name = path.name.removesuffix("_graph_indicator.txt")
        if (folder / f"{name}_A.txt").is_file():
            return name
    return None


def read_tu(folder: str | Path) -> tuple[list[Graph], list[str] | None]:
    """The graphs of a TU folder and their labels (None if it has no labels file).

    Graphs here share one node set. If the graphs have different sizes, the node labels identify
    the nodes, provided no graph uses a label twice (brain data are stored like this: a node is a
    region, and regions without an edge are left out).
    """
    source = Path(folder)
    name = tu_name(source)
    if name is None:
        msg = f"{source}: no TU data set found: NAME_A.txt and NAME_graph_indicator.txt are needed."
        raise FileFormatError(msg)
    owner = _column(source / f"{name}_graph_indicator.txt") - 1
    if len(owner) == 0 or owner.min() < 0 or owner.max() >= len(owner):
        msg = f"{name}_graph_indicator.txt: expected the number of a graph, from 1, for each node."
        raise FileFormatError(msg)
    pairs = _whole(_plain_table(source / f"{name}_A.txt"), f"{name}_A.txt") - 1
    if pairs.shape[1] != 2 or (len(pairs) and not 0 <= pairs.min() <= pairs.max() < len(owner)):
        msg = f"{name}_A.txt: expected two columns with nodes 1..{len(owner)}."
        raise FileFormatError(msg)
    if (owner[pairs[:, 0]] != owner[pairs[:, 1]]).any():
        at = int(np.flatnonzero(owner[pairs[:, 0]] != owner[pairs[:, 1]])[0])
        msg = f"{name}_A.txt: line {at + 1} joins nodes of two different graphs."
        raise FileFormatError(msg)
    place, n = _places(source, name, owner)
    ends = np.sort(place[pairs], axis=1)
    graphs = []
    for i in range(int(owner.max()) + 1):
        edges = np.unique(ends[owner[pairs[:, 0]] == i], axis=0)
        graphs.append(Graph.from_edges(n, edges, source=f"{name}, graph {i + 1}"))
    path = source / f"{name}_graph_labels.txt"
    labels = [str(x) for x in _column(path).tolist()] if path.is_file() else None
    if labels is not None and len(labels) != len(graphs):
        msg = f"{path.name}: {len(labels)} labels for {len(graphs)} graphs."
        raise FileFormatError(msg)
    return graphs, labels


def _plain_table(path: Path) -> npt.NDArray[np.float64]:
    """The numbers of a table that has neither names nor another meaning than the format's."""
    return read_table(path, kind="timeseries", header="none").values


def _column(path: Path) -> npt.NDArray[np.int64]:
    values = _plain_table(path)
    if values.shape[1] != 1:
        msg = f"{path.name}: expected one whole number per line."
        raise FileFormatError(msg)
    return _whole(values, path.name)[:, 0]


def _whole(values: npt.NDArray[np.float64], source: str) -> npt.NDArray[np.int64]:
    with np.errstate(invalid="ignore"):
        fine = np.isfinite(values) & (values % 1 == 0) & (np.abs(values) < _LARGEST)
    if not fine.all():
        at = int(np.flatnonzero(~fine.all(axis=1))[0])
        msg = f"{source}: expected whole numbers; got {values[at].tolist()!r:.60} (row {at})."
        raise FileFormatError(msg)
    return values.astype(np.int64)


def _places(
    source: Path, name: str, owner: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], int]:
    """The number of every node of the file in the shared node set, and the size of that set."""
    sizes = np.bincount(owner)
    first = np.searchsorted(owner, np.arange(len(sizes)))
    if (np.diff(owner) < 0).any() or (sizes == 0).any():
        msg = (
            f"{name}_graph_indicator.txt: graphs must be numbered 1, 2, 3 … without gaps, in order."
        )
        raise FileFormatError(msg)
    if (sizes == sizes[0]).all():
        return np.arange(len(owner)) - first[owner], int(sizes[0])
    path = source / f"{name}_node_labels.txt"
    if path.is_file():
        labels = _column(path)
        if len(labels) == len(owner) and labels.min() >= 0:
            width = int(labels.max()) + 1
            if len(np.unique(owner * width + labels)) == len(labels):
                low = int(labels.min())
                return labels - low, width - low
    msg = (
        f"{name}: the graphs have different sizes ({sizes.min()} to {sizes.max()} nodes), and no "
        f"node labels that identify the nodes. All graphs must share one node set."
    )
    raise DatasetError(msg)
