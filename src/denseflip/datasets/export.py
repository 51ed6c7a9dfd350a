"""Write a data set as files that other tools read, and that `import_folder` reads back."""

from __future__ import annotations

import csv
import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from denseflip.datasets.base import Dataset
from denseflip.datasets.store import SUFFIX
from denseflip.errors import DatasetError, UnknownNameError
from denseflip.graph import Graph, Nodes


def _write_csv(graph: Graph, nodes: Nodes, path: Path) -> None:
    _write_matrix(graph, nodes, path, ",")


def _write_tsv(graph: Graph, nodes: Nodes, path: Path) -> None:
    _write_matrix(graph, nodes, path, "\t")


def _write_matrix(graph: Graph, nodes: Nodes, path: Path, delimiter: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, delimiter=delimiter, lineterminator="\n")
        writer.writerow(["", *nodes.names])
        for name, row in zip(nodes.names, graph.to_adjacency(np.uint8).tolist(), strict=True):
            writer.writerow([name, *row])


def _write_npy(graph: Graph, nodes: Nodes, path: Path) -> None:
    np.save(path, graph.to_adjacency(np.uint8), allow_pickle=False)


def _write_npz(graph: Graph, nodes: Nodes, path: Path) -> None:
    np.savez_compressed(path, adjacency=graph.to_adjacency(np.uint8))


def _write_edges(graph: Graph, nodes: Nodes, path: Path) -> None:
    lines = [f"# {graph.n_nodes} nodes, numbered from 0\n"]
    lines += [f"{u} {v}\n" for u, v in graph.edges()]
    path.write_text("".join(lines), encoding="utf-8")


def _write_graphml(graph: Graph, nodes: Nodes, path: Path) -> None:
    import networkx as nx

    out = nx.relabel_nodes(graph.to_networkx(), dict(enumerate(nodes.names)))
    for taxonomy, labels in nodes.regions.items():
        nx.set_node_attributes(out, dict(zip(nodes.names, labels, strict=True)), taxonomy)
    nx.write_graphml_xml(out, path)


#: Format name → file ending and writer of one graph.
FORMATS: dict[str, tuple[str, Callable[[Graph, Nodes, Path], None]]] = {
    "csv": (".csv", _write_csv),
    "tsv": (".tsv", _write_tsv),
    "npy": (".npy", _write_npy),
    "npz": (".npz", _write_npz),
    "edges": (".edgelist", _write_edges),
    "graphml": (".graphml", _write_graphml),
}


def export_dataset(
    dataset: Dataset,
    folder: str | Path,
    *,
    format: str = "csv",
    overwrite: bool = False,
    on_file: Callable[[str], None] | None = None,
) -> Path:
    """Write one file per graph, the labels, the node table and the card into a new folder.

    The folder gets ``graphs/ID.ending``, ``labels.csv``, ``nodes.csv`` and ``card.json``; with the
    format ``dfd`` a single data set file instead of ``graphs/``. `import_folder` of this folder
    gives the same data set back, its graphs in the order of their ids.

    Raises
    ------
    DatasetError
        If the folder exists and is not empty, and ``overwrite`` is false.
    """
    if format != "dfd" and format not in FORMATS:
        raise UnknownNameError("format", format, (*FORMATS, "dfd"))
    target = Path(folder)
    if target.exists() and not target.is_dir():
        msg = f"{target} is a file; give a folder to export into."
        raise DatasetError(msg)
    if target.is_dir() and any(target.iterdir()) and not overwrite:
        msg = f"{target} exists already and is not empty; it is left as it is. Choose another "
        msg += "folder or overwrite it (--force)."
        raise DatasetError(msg)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The folder appears whole or not at all: fill one beside it, then move its parts in.
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as temporary:
        fresh = Path(temporary)
        _fill(dataset, fresh, format, on_file or (lambda _: None))
        target.mkdir(exist_ok=True)
        for part in fresh.iterdir():
            old = target / part.name
            if old.is_dir():
                shutil.rmtree(old)
            part.replace(old)
    return target


def _fill(dataset: Dataset, folder: Path, format: str, on_file: Callable[[str], None]) -> None:
    names = _file_names(dataset)
    if format == "dfd":
        dataset.save(folder / f"{dataset.name.replace(':', '-')}{SUFFIX}")
    else:
        ending, write = FORMATS[format]
        (folder / "graphs").mkdir()
        for name, graph in zip(names, dataset.graphs, strict=True):
            on_file(name)
            write(graph, dataset.nodes, folder / "graphs" / f"{name}{ending}")
    with (folder / "labels.csv").open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, lineterminator="\n")
        writer.writerow(["id", "label"])
        writer.writerows(
            (name, dataset.class_names[x]) for name, x in zip(names, dataset.labels, strict=True)
        )
    dataset.nodes.write_csv(folder / "nodes.csv")
    card = {
        "name": dataset.name,
        "class_names": list(dataset.class_names),
        **dataset.card.to_dict(),
        "attributes": dict(dataset.attributes),
    }
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    (folder / "card.json").write_text(text, encoding="utf-8")


def _file_names(dataset: Dataset) -> list[str]:
    """The ids, if all of them can be file names."""
    bad = [x for x in dataset.ids if x != Path(x).name or x in {"", ".", ".."} or "\\" in x]
    if bad:
        msg = f"The id {bad[0]!r} cannot be a file name; give the graphs other ids first."
        raise DatasetError(msg)
    return list(dataset.ids)
