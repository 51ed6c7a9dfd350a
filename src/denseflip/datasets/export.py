"""Export a data set to files for other tools, and recognise such files on import."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from denseflip.checks import check_file_name, check_new_folder
from denseflip.datasets.base import Card, Dataset
from denseflip.datasets.dataset_file import SUFFIX
from denseflip.datasets.import_job import ending_of
from denseflip.datasets.importers import suffixes
from denseflip.errors import DatasetError, FileFormatError, UnknownNameError, shown
from denseflip.files import whole_folder, write_whole
from denseflip.graph import Graph, Nodes
from denseflip.limits import check_size, read_json

GRAPHS, LABELS, NODES, CARD = "graphs", "labels.csv", "nodes.csv", "card.json"


def _write_matrix(graph: Graph, nodes: Nodes, path: Path, delimiter: str) -> None:
    with path.open("w", newline="", encoding="utf-8") as handle:
        rows = zip(nodes.names, graph.to_adjacency(np.uint8).tolist(), strict=True)
        _write_rows(handle, [["", *nodes.names]], delimiter)
        _write_rows(handle, ([name, *row] for name, row in rows), delimiter)


def _write_rows(handle: TextIO, rows: Iterable[Sequence[object]], delimiter: str = ",") -> None:
    """Write rows of a table; cells of a row that looks like a comment are quoted."""
    plain = csv.writer(handle, delimiter=delimiter, lineterminator="\n")
    quoted = csv.writer(handle, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        (quoted if str(row[0]).startswith("#") else plain).writerow(row)


def _write_edges(graph: Graph, nodes: Nodes, path: Path) -> None:
    words, how = _edge_words(nodes)
    lines = [f"# {graph.n_nodes} nodes, {how}\n"]
    lines += [f"{words[u]} {words[v]}\n" for u, v in graph.edges()]
    write_whole(path, "".join(lines))


def _edge_words(nodes: Nodes) -> tuple[Sequence[str], str]:
    """How edges name the nodes: by number, or by name if a node's name is another node's number."""
    numbers = [str(i) for i in range(nodes.n_nodes)]
    if all(nodes.names[i] == x for i, x in enumerate(numbers)) or not set(numbers) & set(
        nodes.names
    ):
        return numbers, "numbered from 0"
    odd = [name for name in nodes.names if not name or re.search(r"[\s,;\"]|^#", name)]
    if odd:
        msg = (
            f"Some nodes have the numbers of other nodes as names, and {shown(odd[0])} cannot be "
            "written in an edge list, so the nodes would be ambiguous. Choose another format."
        )
        raise DatasetError(msg, parameter="format")
    return nodes.names, "by name"


def _write_graphml(graph: Graph, nodes: Nodes, path: Path) -> None:
    import networkx as nx

    out = nx.relabel_nodes(graph.to_networkx(), dict(enumerate(nodes.names)))
    for taxonomy, labels in nodes.regions.items():
        nx.set_node_attributes(out, dict(zip(nodes.names, labels, strict=True)), taxonomy)
    nx.write_graphml_xml(out, path)


#: Format name → file ending, and the function that writes one graph.
FORMATS: dict[str, tuple[str, Callable[[Graph, Nodes, Path], None]]] = {
    "csv": (".csv", partial(_write_matrix, delimiter=",")),
    "tsv": (".tsv", partial(_write_matrix, delimiter="\t")),
    "npy": (".npy", lambda graph, nodes, path: np.save(path, graph.to_adjacency(np.uint8))),
    "npz": (
        ".npz",
        lambda graph, nodes, path: np.savez_compressed(
            path, adjacency=graph.to_adjacency(np.uint8)
        ),
    ),
    "edges": (".edgelist", _write_edges),
    "graphml": (".graphml", _write_graphml),
}


def export_dataset(
    dataset: Dataset,
    folder: str | Path,
    *,
    format: str = "csv",
    force: bool = False,
    on_file: Callable[[str], None] | None = None,
) -> Path:
    """Write one file per graph, the labels, the node table and the card into a new folder.

    The folder gets ``graphs/ID.ending``, ``labels.csv`` (with the columns of the subject table),
    ``nodes.csv`` and ``card.json``; with the format ``dfd`` a single data set file instead of
    ``graphs/``. `import_folder` of this folder returns the same data set with its graphs in the
    order of their ids. Only ``dfd`` keeps the weights.

    Parameters
    ----------
    dataset : the data set to write.
    folder : the destination.
    format : ``csv``, ``tsv``, ``npy``, ``npz``, ``edges``, ``graphml`` or ``dfd``.
    force : whether to replace the existing content of the folder.
    on_file : called with each graph's id, for a progress bar.

    Raises
    ------
    DatasetError
        If the folder exists and is not empty, and ``force`` is false.
    """
    if format != "dfd" and format not in FORMATS:
        raise UnknownNameError("format", format, (*FORMATS, "dfd"))
    if format != "dfd":
        dataset.check_shared_nodes(f"An export as {format} (format 'dfd' does not)")
    target = check_new_folder(folder, force=force, error=DatasetError)
    with whole_folder(target) as fresh:
        _fill(dataset, fresh, format, on_file or (lambda _: None))
    return target


def _fill(dataset: Dataset, folder: Path, format: str, on_file: Callable[[str], None]) -> None:
    if format == "dfd":
        whole = check_file_name(
            dataset.name.replace(":", "-"), "The data set's name", error=DatasetError
        )
        dataset.save(folder / f"{whole}{SUFFIX}")
    else:
        _check_ids(dataset.ids)
        ending, write = FORMATS[format]
        (folder / GRAPHS).mkdir()
        for name, graph in zip(dataset.ids, dataset.graphs, strict=True):
            on_file(name)
            write(graph, dataset.nodes, folder / GRAPHS / f"{name}{ending}")
    with (folder / LABELS).open("w", newline="", encoding="utf-8") as handle:
        labels = (dataset.class_names[x] for x in dataset.labels)
        columns = (map(_cell, column) for column in dataset.subjects.values())
        _write_rows(handle, [["id", "label", *dataset.subjects]])
        _write_rows(handle, zip(dataset.ids, labels, *columns, strict=True))
    dataset.nodes.write_csv(folder / NODES)
    card = {
        "name": dataset.name,
        "class_names": list(dataset.class_names),
        **dataset.card.to_dict(),
        "attributes": dict(dataset.attributes),
    }
    text = json.dumps(card, indent=2, ensure_ascii=False) + "\n"
    write_whole(folder / CARD, text)


def _cell(value: float | str | None) -> str:
    """A value of the subject table as written to a file."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    return "n/a" if value is None else value


def _check_ids(ids: Iterable[str]) -> None:
    """Raise unless ids are valid file names, also on systems where A.csv and a.csv are one file."""
    seen: dict[str, str] = {}
    for name in ids:
        check_file_name(name, "The id", error=DatasetError)
        first = seen.setdefault(name.casefold(), name)
        if first != name:
            msg = (
                f"The ids {first!r} and {name!r} are the same file name on some systems. "
                "Rename one."
            )
            raise DatasetError(msg)


# ---- recognise on import ----------------------------------------------------------------


@dataclass(frozen=True)
class Exported:
    """What an exported folder holds besides its graphs; None for a missing file."""

    graphs: Path
    labels: Path | None
    nodes: Path | None
    class_names: tuple[str, ...] = ()
    card: Card | None = None
    attributes: dict[str, Any] = field(default_factory=dict)


def find_exported(folder: Path) -> Exported | None:
    """The parts of an exported folder, or None if the graphs are directly in this folder."""
    graphs, labels, nodes = folder / GRAPHS, folder / LABELS, folder / NODES
    if not graphs.is_dir() or not graph_files(graphs):
        return None
    if any(p not in (labels, nodes) for p in graph_files(folder)):
        return None
    card = _read_card(folder / CARD)
    try:
        return Exported(
            graphs=graphs,
            labels=labels if labels.is_file() else None,
            nodes=nodes if nodes.is_file() else None,
            class_names=tuple(str(x) for x in card.get("class_names", ())),
            card=Card.from_dict(card) if card else None,
            attributes=dict(card.get("attributes", {})),
        )
    except (DatasetError, TypeError, ValueError) as error:
        msg = f"{folder / CARD}: not the card of a data set ({error}). Correct or remove it."
        raise FileFormatError(msg) from error


def graph_files(folder: Path) -> list[Path]:
    """The files of a folder with the ending of a graph file, sorted by name."""
    return [
        p
        for p in sorted(folder.iterdir())
        if p.is_file() and ending_of(p) in suffixes() and not p.name.startswith(".")
    ]


def where_graphs_are(folder: Path, skip: Collection[Path] = ()) -> str:
    """A hint naming the sub-folders with graph files; empty if there are none."""
    inner = [
        p.name
        for p in sorted(folder.iterdir())
        if p.is_dir() and any(f.resolve() not in skip for f in graph_files(p))
    ]
    if not inner:
        return ""
    return f" There are some in its sub-folder {', '.join(inner[:3])}: pass that folder."


def _read_card(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        check_size(path.stat().st_size, f"{path}: the file")
        card = read_json(path.read_bytes(), str(path))
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror}). Correct or remove it."
        raise FileFormatError(msg) from error
    if not isinstance(card, dict):
        msg = f"{path}: not the card of a data set. Correct or remove it."
        raise FileFormatError(msg)
    return card
