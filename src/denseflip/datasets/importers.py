"""The kinds of files and folders that graphs are read from, and their registry.

A new kind of file is one function that reads a graph from it and one `FileImporter` in
`IMPORTERS`; a new kind of folder, one function and one `FolderImporter`. Layouts of other programs,
which are recognised by file name, are in `layouts`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from denseflip.datasets.connectome import Keep
from denseflip.datasets.edge_lists import (
    EDGE_LISTS,
    edge_names,
    edge_table,
    first_of,
    names_nodes,
    read_edge_lines,
    read_edges,
    unclear_first,
)
from denseflip.datasets.graph_files import (
    GRAPHML,
    are_numbers,
    graphml_names,
    read_graphml,
)
from denseflip.datasets.import_job import (
    DEFAULT_KEEP,
    TABLES,
    FileImporter,
    FolderImporter,
    Import,
    Look,
    ReadOptions,
    Whole,
    ending_of,
)
from denseflip.datasets.layouts import LAYOUTS
from denseflip.datasets.matrix_files import check_sizes, read_chosen, table_importer
from denseflip.datasets.tu_folder import read_tu, tu_name
from denseflip.errors import (
    DenseflipError,
    FileFormatError,
    InvalidGraphError,
    UnknownNameError,
)
from denseflip.graph import Graph, Nodes
from denseflip.reading import Reading

__all__ = [
    "DEFAULT_KEEP",
    "IMPORTERS",
    "FileImporter",
    "FolderImporter",
    "Import",
    "Look",
    "ReadOptions",
    "Whole",
    "check_sizes",
    "file_importer",
    "file_importers",
    "folder_importer",
    "kind_of",
    "kinds",
    "read_files",
    "read_graph",
    "suffixes",
]


# ---- the kinds --------------------------------------------------------------------------


def _tu(job: Import) -> Whole:
    return read_tu(job.folder, job.options.node_types, job.notes)


def _read_each(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
    importer = file_importer(job.kind)
    return job.attempt(lambda _, p: _read(importer, p, job.options), paths, tell=True)


def _all_edges(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
    """Lists by name share the union of all names; lists by number, the largest number."""
    options = job.options
    if options.nodes is None:
        named = job.attempt(lambda _, p: edge_names(p, options), paths)
        names = dict.fromkeys(x for found in named.values() for x in found or ())
        if names:
            options.nodes = Nodes(tuple(names))
            job.notes.append(f"The nodes are the {len(names)} names that occur in the edge lists.")
            return _read_each(job, paths)
        paths = {key: paths[key] for key in named}
    if options.reading.first_node is None:
        first = _first_node(job, paths)
        if first is None:
            return {}
        options.reading = replace(options.reading, first_node=first)
    if options.nodes is None:
        ends = job.attempt(lambda _, p: int(edge_table(p, options)[0].max(initial=-1)), paths)
        paths = {key: paths[key] for key in ends}
        options.n_nodes = 1 + max(ends.values(), default=-1)
    return _read_each(job, paths)


def _first_node(job: Import, paths: Mapping[str, Path]) -> int | None:
    """Whether edge lists by number count from 0 or from 1; a problem if that is unclear."""
    from_0 = replace(job.options, reading=replace(job.options.reading, first_node=0))
    told: set[int] = set()
    every = []
    for path in paths.values():
        try:
            found = read_edge_lines(path, from_0)
            every.append(edge_table(path, from_0)[0])
        except DenseflipError:
            continue  # reported when the file itself is read
        told |= set() if found.first_node is None else {found.first_node}
    if len(told) == 1:
        return told.pop()
    pairs = np.concatenate(every) if every else np.empty((0, 2), dtype=np.int64)
    first = first_of(pairs, job.options.size)
    if first is None and not names_nodes(job.options.nodes):
        some = next(iter(paths.values())).name
        who = some if len(paths) == 1 else f"All {len(paths)} edge lists ({some} …)"
        job.problem(unclear_first(who, pairs, job.options.size), "first_node")
        return None
    return first or 0


def _all_graphml(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
    """Use the node names of the first readable file; the others must have the same."""
    for path in paths.values() if job.options.nodes is None else ():
        try:
            names = graphml_names(path)
        except Exception:  # reported when the file itself is read
            continue
        if not are_numbers(names):
            job.options.nodes = Nodes(tuple(names))
        break
    return _read_each(job, paths)


#: Every kind by its name. `table_shapes` decides what a table is.
IMPORTERS: dict[str, FileImporter | FolderImporter] = {
    importer.name: importer
    for importer in (
        table_importer(
            "matrix",
            "an adjacency or weighted matrix, one row and one column per node",
            TABLES,
            read_chosen,
            recognises=lambda look: look.kind == "matrix",
        ),
        table_importer(
            "timeseries",
            "time series of regions: time points × regions",
            TABLES,
            read_chosen,
            series=True,
            recognises=lambda look: look.kind == "timeseries",
        ),
        FileImporter(
            "edges",
            "an edge list, one edge per line: u v, optionally with a weight",
            (*TABLES, *EDGE_LISTS),
            lambda look: look.suffix in EDGE_LISTS or look.kind == "edges",
            read_edges,
            _all_edges,
        ),
        FileImporter(
            "graphml",
            "GraphML, as written by NetworkX, igraph and Gephi",
            GRAPHML,
            lambda look: look.suffix in GRAPHML,
            read_graphml,
            _all_graphml,
        ),
        FolderImporter(
            "tu",
            "a folder in the TU format: NAME_A.txt, NAME_graph_indicator.txt and labels",
            lambda folder: folder.is_dir() and tu_name(folder) is not None,
            _tu,
        ),
        *LAYOUTS,
    )
}


# ---- using them -------------------------------------------------------------------------


def file_importers() -> list[FileImporter]:
    """The importers of single files."""
    return [x for x in IMPORTERS.values() if isinstance(x, FileImporter)]


def suffixes() -> tuple[str, ...]:
    """The endings of all supported files."""
    return tuple(dict.fromkeys(x for importer in file_importers() for x in importer.suffixes))


def kinds() -> tuple[str, ...]:
    """The values of ``kind`` for a folder."""
    return ("auto", *IMPORTERS)


def file_importer(kind: str) -> FileImporter:
    """The importer of a kind of file."""
    found = IMPORTERS.get(kind)
    if not isinstance(found, FileImporter):
        known = ("auto", *(x.name for x in file_importers()))
        raise UnknownNameError("kind of file", kind, known, parameter="kind")
    return found


def folder_importer(folder: Path, kind: str = "auto") -> FolderImporter | None:
    """The importer of the folder as a whole; None if its files are read one by one."""
    if kind != "auto":
        found = IMPORTERS.get(kind)
        return found if isinstance(found, FolderImporter) else None
    whole = (x for x in IMPORTERS.values() if isinstance(x, FolderImporter))
    return next((x for x in whole if x.recognises(folder)), None)


def kind_of(path: str | Path, *, variable: str | None = None, header: str = "auto") -> str:
    """The kind of a file, by its name and shape: the name of the importer that recognises it."""
    return _recognised(Look(Path(path), variable, Reading(header=header)))


def _recognised(look: Look) -> str:
    for importer in file_importers():
        if importer.recognises(look):
            return importer.name
    msg = f"{look.path}: unknown file type {look.suffix!r}. Known: {', '.join(suffixes())}."
    raise FileFormatError(msg)


def read_graph(
    path: str | Path,
    *,
    nodes: Nodes | None = None,
    n_nodes: int | None = None,
    keep: Keep | None = None,
    kind: str = "auto",
    variable: str | None = None,
    subset: bool = False,
    header: str = "auto",
    decimal: str = "auto",
    first_node: int | None = None,
    on_note: Callable[[str], None] | None = None,
) -> Graph:
    """Read the graph of one file.

    Parameters
    ----------
    path : a matrix (.csv .tsv .txt .npy .npz .mat), an edge list (.edgelist .edges, or a table of
        two or three columns), a .graphml file, or a file of a known layout.
    nodes : the node table of the data set the graph belongs to: sets the number of nodes and their
        order. File headers are matched to it by name.
    n_nodes : the number of nodes, for an edge list without a node table.
    keep : which pairs of a weighted matrix become edges; without it only 0 and 1 are accepted.
    kind : ``auto``, or the name of a kind of file (`IMPORTERS`).
    variable : the array to read from a .npz or .mat file that holds several.
    subset : whether the file may have more nodes than the table, because the data set left out
        nodes without data. They are left out here too.
    header : where a table has names or numbers of nodes: ``auto``, ``none``, ``row`` (the first
        row), ``column`` (the first column) or ``both``.
    decimal : decimal sign of a text table: ``auto``, ``point`` or ``comma``.
    first_node : number of the first node in an edge list by number: 0 or 1.
    on_note : called with sentences about how the file was read, such as a triangle that was
        mirrored.

    Raises
    ------
    FileFormatError, InvalidGraphError
        With the file's name and the location of the problem.
    """
    source = Path(path)
    reading = Reading(kind, header, decimal, first_node)
    importer = None if kind == "auto" else file_importer(kind)
    if not source.is_file():
        msg = f"{source}: there is no such file."
        raise FileFormatError(msg)
    if ending_of(source) not in suffixes():
        msg = f"{source}: unknown file type {source.suffix!r}. Known: {', '.join(suffixes())}."
        raise FileFormatError(msg)
    options = ReadOptions(
        nodes,
        n_nodes,
        keep,
        variable=variable,
        subset=subset,
        reading=reading,
        on_note=on_note or (lambda _: None),
    )
    importer = importer or file_importer(_look(source, options)[0])
    return _read(importer, source, options)


def _look(path: Path, options: ReadOptions) -> tuple[str, tuple[int, ...]]:
    """The kind of a file and, for a table, its shape; the table is kept for reading."""
    look = Look(path, options.variable, options.reading)
    kind = _recognised(look)
    if not look.is_table or look.table is None:
        return kind, ()
    options.ready[path] = look.table
    return kind, look.table.values.shape


def _read(importer: FileImporter, path: Path, options: ReadOptions) -> Graph:
    graph = importer.read(path, options)
    if options.size is not None and graph.n_nodes != options.size:
        msg = f"{path.name}: the graph has {graph.n_nodes} nodes; expected {options.size}."
        raise InvalidGraphError(msg)
    return graph


def read_files(job: Import, paths: dict[str, Path]) -> dict[str, Graph]:
    """Read the graph of every file, by id; unreadable files are added to the job's problems."""
    job.on_total(len(paths))
    if job.kind == "auto":
        found = job.attempt(lambda _, p: _look(p, job.options), paths, tell=True)
        job.on_file = lambda _: None  # once per file
        counts = Counter(kind for kind, _ in found.values())
        if not counts:
            return {}
        job.kind = counts.most_common(1)[0][0]
        for key, (kind, shape) in found.items():
            if kind != job.kind:
                job.problem(_odd_one(job, paths[key], kind, shape), "kind", "files")
        paths = {key: paths[key] for key, (kind, _) in found.items() if kind == job.kind}
    return file_importer(job.kind).read_all(job, paths)


def _odd_one(job: Import, path: Path, found: str, shape: tuple[int, ...]) -> str:
    """The message for a file that differs from the others."""
    text = f"looks like {found}, most files like {job.kind}"
    if job.kind == "matrix" and found == "timeseries":
        text = f"not square: {shape[0]} × {shape[1]}, so it {text}"
    return f"{path.name}: {text}. If that is wrong, set the kind of the files (kind)."
