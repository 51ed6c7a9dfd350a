"""One file per data set: a zip of plain arrays and a JSON header; see `docs/file-format.md`.

The format is NumPy's ``.npz``, read with ``allow_pickle=False``: no code in a file can run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.checks import check_new_file
from denseflip.datasets.base import Card, Dataset
from denseflip.errors import DatasetError, FileFormatError
from denseflip.files import whole_file
from denseflip.graph import Graph, Nodes, NodeTypes
from denseflip.limits import (
    PER_GRAPH,
    check_header,
    check_size,
    check_zip,
    open_zip,
    read_json,
    reading,
)

FORMAT = "denseflip-dataset"
VERSION = 1
TYPED_VERSION = 2  # of data sets whose graphs have node types
SUFFIX = ".dfd"
_ARRAYS = ("header", "gaps", "offsets", "labels")
_WEIGHTS = "weights"  # only in files of data sets with weights
# Only in files of typed data sets: nodes per graph, the type of each node of each graph in turn,
# and features of nodes, of edges and of edges that are added.
_SIZES, _TYPES, _FEATURES = "sizes", "types", ("features", "edge_features", "new_edge")
_X = "x"  # only if every graph was made from a PyG Data object with node features of one shape
_WHAT = "a denseflip data set"
_OTHERWISE = (
    "It is truncated, damaged or of another kind; `denseflip data import` reads matrices, edge "
    "lists and time series."
)


def write_dataset(dataset: Dataset, path: str | Path, *, force: bool = False) -> Path:
    """Write a data set; the same content always gives the same bytes.

    Raises
    ------
    DatasetError
        If the file exists and ``force`` is false, or its folder does not.
    """
    target = check_new_file(path, force=force, error=DatasetError)
    header = {
        "format": FORMAT,
        "version": TYPED_VERSION if dataset.is_typed else VERSION,
        "name": dataset.name,
        "n_nodes": dataset.n_nodes,
        "class_names": list(dataset.class_names),
        "ids": list(dataset.ids),
        "nodes": dataset.nodes.to_dict(),
        "card": dataset.card.to_dict(),
        "attributes": dict(dataset.attributes),
    }
    if dataset.subjects:
        header["subjects"] = {name: list(column) for name, column in dataset.subjects.items()}
    if dataset.is_typed:
        header["node_types"] = list(dataset.node_types)
    text = json.dumps(header, ensure_ascii=False)
    arrays = {
        "header": np.frombuffer(text.encode(), dtype=np.uint8),
        "gaps": _narrow(
            np.concatenate([np.diff(g.codes, prepend=np.int64(0)) for g in dataset.graphs])
        ),
        "offsets": np.cumsum([0, *(g.n_edges for g in dataset.graphs)], dtype=np.int64),
        "labels": dataset.label_array(),
    }
    if dataset.weights is not None:
        arrays[_WEIGHTS] = dataset.weights
    if dataset.is_typed:
        arrays |= _type_arrays(dataset)
    rows = [g.x for g in dataset.graphs if g.x is not None]
    if not dataset.is_typed and len(rows) == len(dataset.graphs) and _one_shape(rows):
        arrays[_X] = np.stack(rows)
    with whole_file(target) as out:
        np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
    return target


def read_dataset(path: str | Path) -> Dataset:
    """Read a data set written by `write_dataset`.

    Raises
    ------
    FileFormatError
        If the file is missing, truncated, of another kind, of a newer version or inconsistent.
    """
    source = Path(path)
    with reading(source, _WHAT, _OTHERWISE):
        with open_zip(source, str(source)) as packed:
            check_zip(packed, str(source))
        with source.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            missing = [name for name in _ARRAYS if name not in archive.files]
            if missing:
                msg = f"{source}: not a denseflip data set (no {', '.join(missing)} inside)."
                raise FileFormatError(msg)
            header = read_json(archive["header"].tobytes(), f"{source}: its header")
            again = "export the data set again with this version"
            has_types = isinstance(header, dict) and "node_types" in header
            version = TYPED_VERSION if has_types else VERSION
            check_header(header, source, _WHAT, FORMAT, version, again)
            gaps, offsets, labels = (archive[name] for name in _ARRAYS[1:])
            weights = archive[_WEIGHTS] if _WEIGHTS in archive.files else None
            more = (_SIZES, _TYPES, *_FEATURES, _X)
            typed = {name: archive[name] for name in more if name in archive.files}
        needed = 8.0 * gaps.size + float(PER_GRAPH) * offsets.size
        check_size(needed, f"{source}: its {max(0, offsets.size - 1)} graphs")
        return _assemble(header, gaps, offsets, labels, weights, typed)


def _assemble(
    header: dict[str, Any],
    gaps: npt.NDArray[Any],
    offsets: npt.NDArray[Any],
    labels: npt.NDArray[Any],
    weights: npt.NDArray[Any] | None,
    typed: Mapping[str, npt.NDArray[Any]],
) -> Dataset:
    """Check the arrays and build the data set from them."""
    n = header["n_nodes"]
    if not isinstance(n, int) or n < 0:
        msg = f"The number of nodes must be a whole number; got {n!r}."
        raise DatasetError(msg)
    for name, array in (("gaps", gaps), ("offsets", offsets), ("labels", labels)):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            msg = f"The array {name!r} must be a list of whole numbers."
            raise DatasetError(msg)
    offsets = offsets.astype(np.int64)
    if (
        len(offsets) < 1
        or offsets[0] != 0
        or offsets[-1] != len(gaps)
        or (np.diff(offsets) < 0).any()
    ):
        msg = "The array 'offsets' does not divide the edges among the graphs."
        raise DatasetError(msg)
    cuts = list(pairwise(offsets.tolist()))
    if "node_types" in header:
        graphs = _typed_graphs(header["node_types"], gaps, cuts, typed)
    else:
        graphs = [_graph(gaps[a:b], n, i) for i, (a, b) in enumerate(cuts)]
        if (x := typed.get(_X)) is not None:
            if x.dtype != np.float32 or x.shape[:2] != (len(graphs), n):
                msg = f"The array 'x' must hold {n} rows of numbers for each of the graphs."
                raise DatasetError(msg)
            graphs = [g.with_x(rows) for g, rows in zip(graphs, x, strict=True)]
    return Dataset(
        name=header["name"],
        graphs=tuple(graphs),
        labels=tuple(labels.tolist()),
        class_names=tuple(header["class_names"]),
        nodes=Nodes.from_dict(header["nodes"]),
        ids=tuple(header["ids"]),
        card=Card.from_dict(header["card"]),
        attributes=header["attributes"],
        subjects=header.get("subjects", {}),
        weights=weights,
    )


def _one_shape(arrays: Sequence[npt.NDArray[Any]]) -> bool:
    return len({array.shape for array in arrays}) == 1


def _type_arrays(dataset: Dataset) -> dict[str, npt.NDArray[Any]]:
    """The node types and features of all graphs, one after the other."""
    types = [g.types for g in dataset.graphs if g.types is not None]
    arrays = {
        _SIZES: np.array([g.n_nodes for g in dataset.graphs], dtype=np.int64),
        _TYPES: _narrow(np.concatenate([one.index for one in types])),
    }
    if types[0].features is not None:
        arrays["features"] = np.concatenate([one.features for one in types])
    if types[0].new_edge is not None:
        rows = [one.rows_of_edges(g) for one, g in zip(types, dataset.graphs, strict=True)]
        arrays |= {"edge_features": np.concatenate(rows), "new_edge": types[0].new_edge}
    return arrays


def _typed_graphs(
    names: Any, gaps: npt.NDArray[Any], cuts: list[tuple[int, int]], typed: Mapping[str, Any]
) -> list[Graph]:
    """Graphs of different sizes, with the types and features of their nodes."""
    sizes = typed.get(_SIZES, np.empty(0))
    if not isinstance(names, list) or sizes.dtype.kind not in "iu" or len(sizes) != len(cuts):
        msg = "The array 'sizes' must hold the number of nodes of each graph."
        raise DatasetError(msg)
    ends = np.concatenate(([0], np.cumsum(sizes.astype(np.int64)))).tolist()
    wanted = {_TYPES: ends[-1], "features": ends[-1], "edge_features": len(gaps)}
    for name, n_rows in wanted.items():
        if name in typed and len(typed[name]) != n_rows:
            msg = f"The array {name!r} must have {n_rows} rows; it has {len(typed[name])}."
            raise DatasetError(msg)
    features, rows, new = (typed.get(name) for name in _FEATURES)
    graphs = []
    for i, ((a, b), (first, last)) in enumerate(zip(cuts, pairwise(ends), strict=True)):
        graph = _graph(gaps[a:b], last - first, i)
        own = None if features is None else features[first:last]
        edges = () if rows is None else graph.codes
        edge_rows = None if rows is None else rows[a:b]
        index = typed[_TYPES][first:last]
        graphs.append(graph.typed(NodeTypes(tuple(names), index, own, edges, edge_rows, new)))
    return graphs


def _graph(gaps: npt.NDArray[Any], n: int, i: int) -> Graph:
    codes = np.cumsum(gaps.astype(np.int64))
    u, v = np.divmod(codes, max(n, 1))
    sorted_pairs = (u >= 0) & (u < v) & (v < n) & (u < n)
    if not sorted_pairs.all() or (codes[1:] <= codes[:-1]).any():
        msg = f"Graph {i} holds edges that are not sorted pairs of the nodes 0..{n - 1}."
        raise DatasetError(msg)
    return Graph(n, codes)


def _narrow(values: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """The same values in the smallest whole-number type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max()))) if len(values) else values
