"""Folders in the TU format: ``NAME_A.txt``, ``NAME_graph_indicator.txt``, and labels.

See https://chrsmrrs.github.io/datasets/docs/format. Nodes and graphs are numbered from 1 there.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from denseflip.datasets.number_tables import read_table
from denseflip.errors import DatasetError, FileFormatError
from denseflip.graph import Graph

_LARGEST = 2**31  # of all numbers here; the product of two fits into 64 bits


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
    pairs = _whole(read_table(source / f"{name}_A.txt").values, f"{name}_A.txt") - 1
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


def _column(path: Path) -> npt.NDArray[np.int64]:
    values = read_table(path).values
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
