"""The kinds of files and folders that graphs are read from, and their registry.

A new kind of file is one function that reads a graph from it and one `FileImporter` in
`IMPORTERS`; a new kind of folder, one function and one `FolderImporter`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeVar

from denseflip.datasets.connectome import Keep, Matrix, check_time_series, connectivity
from denseflip.datasets.files import (
    EDGE_LISTS,
    GRAPHML,
    are_numbers,
    edge_table,
    graph_of_matrix,
    graphml_names,
    is_binary,
    read_edges,
    read_graphml,
    says_edges,
)
from denseflip.datasets.tables import BINARY, TEXT, read_rows, read_table
from denseflip.datasets.tu import read_tu, tu_name
from denseflip.errors import DenseflipError, FileFormatError, InvalidGraphError, UnknownNameError
from denseflip.graph import Graph, Nodes

T = TypeVar("T")
DEFAULT_KEEP = Keep(percentile=90)
TABLES = (*TEXT, *BINARY)


@dataclass
class ReadOptions:
    """What is known of a graph before its file is read.

    Attributes
    ----------
    nodes : the node table of the data set it belongs to.
    n_nodes : the number of nodes, where no table is given.
    keep : which pairs of a weighted matrix become edges.
    measure : how time series become a matrix.
    variable : the array to take from a file that holds several.
    """

    nodes: Nodes | None = None
    n_nodes: int | None = None
    keep: Keep | None = None
    measure: str = "pearson"
    variable: str | None = None

    @property
    def size(self) -> int | None:
        """The number of nodes that the graph must have, if that is known."""
        return self.nodes.n_nodes if self.nodes is not None else self.n_nodes


class Look:
    """A file that is to be recognised; its content is read once, when first asked for."""

    def __init__(self, path: Path, variable: str | None = None) -> None:
        self.path = path
        self.suffix = path.suffix.lower()
        self.is_table = self.suffix in TABLES
        self._variable = variable

    @cached_property
    def values(self) -> Matrix:
        """The numbers of a table."""
        return read_table(self.path, variable=self._variable).values

    @cached_property
    def is_square(self) -> bool:
        """Whether a table has as many rows as columns."""
        rows, columns = self.values.shape
        return bool(rows == columns)

    @cached_property
    def lists_edges(self) -> bool:
        """Whether a table is an edge list: by its header, its names, or two whole numbers first."""
        if self.suffix in TEXT and says_edges(read_rows(self.path)):
            return True
        narrow = self.values.shape[1] in (2, 3) and not self.is_square
        return narrow and not (self.values[:, :2] % 1).any()


@dataclass
class Import:
    """A folder on its way to a data set: what was asked, found and found wrong.

    Attributes
    ----------
    folder : where the files lie.
    kind : the importer's name, or ``auto`` until it is known.
    options : what is known of the graphs; an importer adds what it finds out, such as node names.
    on_file : called with each file name.
    problems : sentences about what is wrong.
    parameters : the parameters that would mend some of it.
    subjects : id → column → value: what the labels file says of a graph beside its class.
    weights : the matrix of each graph, where `keep_weights` asks for it.
    """

    folder: Path
    kind: str = "auto"
    options: ReadOptions = field(default_factory=ReadOptions)
    on_file: Callable[[str], None] = field(default=lambda _: None)
    problems: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    subjects: dict[str, Mapping[str, str]] = field(default_factory=dict)
    keep_weights: bool = False
    weights: dict[str, Matrix] = field(default_factory=dict)

    def attempt(self, read: Callable[[Path], T], paths: Mapping[str, Path]) -> dict[str, T]:
        """Read every file; what fails becomes a problem."""
        done: dict[str, T] = {}
        for key, path in paths.items():
            self.on_file(path.name)
            try:
                done[key] = read(path)
            except DenseflipError as error:
                self.problems.append(str(error).replace(str(path), path.name))
                self.parameters.extend(error.parameters)
        return done

    def read_each(self, paths: Mapping[str, Path]) -> dict[str, Graph]:
        """The graph of every file, each by itself."""
        importer = file_importer(self.kind)
        return self.attempt(lambda p: _read(importer, p, self.options), paths)


@dataclass(frozen=True)
class FileImporter:
    """A kind of file that holds one graph.

    Attributes
    ----------
    name : what ``kind`` calls it.
    summary : one line.
    suffixes : endings of such files.
    recognises : whether a file is of this kind; for one file at most one importer may say yes.
    read : the graph of one file.
    read_all : the graphs of many files, where they depend on one another (a shared number of
        nodes, a measure over all subjects); without it each is read by itself.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    recognises: Callable[[Look], bool]
    read: Callable[[Path, ReadOptions], Graph]
    read_all: Callable[[Import, Mapping[str, Path]], dict[str, Graph]] = Import.read_each


@dataclass(frozen=True)
class FolderImporter:
    """A kind of folder that holds many graphs in files that only make sense together.

    Attributes
    ----------
    name, summary : as for a file.
    recognises : whether a folder is of this kind.
    read : its graphs, in order, and the class of each (None if the folder does not tell).
    """

    name: str
    summary: str
    recognises: Callable[[Path], bool]
    read: Callable[[Path], tuple[list[Graph], list[str] | None]]


# ---- the kinds --------------------------------------------------------------------------


def _matrix(path: Path, options: ReadOptions) -> Graph:
    values = read_table(path, variable=options.variable).values
    return graph_of_matrix(values, options.keep, path.name)


def _time_series(path: Path, options: ReadOptions) -> Graph:
    values = check_time_series(read_table(path, variable=options.variable).values, path.name)
    matrix = connectivity([values], options.measure)[0]
    return graph_of_matrix(matrix, options.keep or DEFAULT_KEEP, path.name)


def _edges(path: Path, options: ReadOptions) -> Graph:
    return read_edges(path, nodes=options.nodes, n_nodes=options.size, keep=options.keep)


def _graphml(path: Path, options: ReadOptions) -> Graph:
    return read_graphml(path, options.nodes)


def _all_matrices(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
    options = job.options
    tables = job.attempt(lambda p: read_table(p, variable=options.variable), paths)
    _name_nodes(job, {t.columns for t in tables.values()}, {len(t.values) for t in tables.values()})
    matrices = {key: t.values for key, t in tables.items()}
    if options.keep is None and not all(map(is_binary, matrices.values())):
        options.keep = DEFAULT_KEEP
    return _graphs(job, matrices, paths)


def _all_time_series(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
    options = job.options
    tables = job.attempt(lambda p: read_table(p, variable=options.variable), paths)
    series = job.attempt(
        lambda p: check_time_series(tables[p.stem].values, p.name),
        {key: paths[key] for key in tables},
    )
    check_sizes(job, {paths[key].name: values.shape[1] for key, values in series.items()})
    if job.problems:
        return {}
    measured = connectivity(list(series.values()), options.measure)
    _name_nodes(job, {t.columns for t in tables.values()}, {len(m) for m in measured})
    options.keep = options.keep or DEFAULT_KEEP
    return _graphs(job, dict(zip(series, measured, strict=True)), paths)


def _graphs(
    job: Import, matrices: Mapping[str, Matrix], paths: Mapping[str, Path]
) -> dict[str, Graph]:
    if job.keep_weights:
        job.weights.update(matrices)
    return job.attempt(
        lambda p: graph_of_matrix(matrices[p.stem], job.options.keep, p.name),
        {key: paths[key] for key in matrices},
    )


def _name_nodes(job: Import, columns: set[tuple[str, ...] | None], sizes: set[int]) -> None:
    """Without a node table, take the header that all files share as the names of the nodes."""
    if job.options.nodes is not None or len(columns) != 1:
        return
    names = columns.pop()
    if names is not None and sizes == {len(names)} and len(set(names)) == len(names):
        job.options.nodes = Nodes(names)


def _all_edges(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
    if job.options.nodes is None:  # the largest number in any file tells how many nodes there are
        ends = job.attempt(lambda p: int(edge_table(p, None)[0].max(initial=-1)), paths)
        paths = {key: paths[key] for key in ends}
        job.options.n_nodes = 1 + max(ends.values(), default=-1)
    return job.read_each(paths)


def _all_graphml(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
    """Take the node names of the first file that can be read; the others must have the same."""
    for path in paths.values() if job.options.nodes is None else ():
        try:
            names = graphml_names(path)
        except Exception:  # told when the file itself is read
            continue
        if not are_numbers(names):
            job.options.nodes = Nodes(tuple(names))
        break
    return job.read_each(paths)


#: Every kind by its name. A square table is a matrix. Any other table is an edge list if its
#: header says so or if it has two or three columns with whole numbers in the first two, else a
#: time series (time points × regions).
IMPORTERS: dict[str, FileImporter | FolderImporter] = {
    importer.name: importer
    for importer in (
        FileImporter(
            "matrix",
            "an adjacency or weighted matrix, a row and a column per node",
            TABLES,
            lambda look: look.is_table and not look.lists_edges and look.is_square,
            _matrix,
            _all_matrices,
        ),
        FileImporter(
            "timeseries",
            "a time series per region: time points × regions",
            TABLES,
            lambda look: look.is_table and not look.lists_edges and not look.is_square,
            _time_series,
            _all_time_series,
        ),
        FileImporter(
            "edges",
            "a line per edge: u v, perhaps with a weight",
            (*TABLES, *EDGE_LISTS),
            lambda look: look.suffix in EDGE_LISTS or (look.is_table and look.lists_edges),
            _edges,
            _all_edges,
        ),
        FileImporter(
            "graphml",
            "GraphML, as NetworkX, igraph and Gephi write it",
            GRAPHML,
            lambda look: look.suffix in GRAPHML,
            _graphml,
            _all_graphml,
        ),
        FolderImporter(
            "tu",
            "a folder in the TU format: NAME_A.txt, NAME_graph_indicator.txt and labels",
            lambda folder: tu_name(folder) is not None,
            read_tu,
        ),
    )
}


# ---- using them -------------------------------------------------------------------------


def file_importers() -> list[FileImporter]:
    """The importers of single files."""
    return [x for x in IMPORTERS.values() if isinstance(x, FileImporter)]


def suffixes() -> tuple[str, ...]:
    """The endings of all files that are read."""
    return tuple(dict.fromkeys(x for importer in file_importers() for x in importer.suffixes))


def kinds() -> tuple[str, ...]:
    """What ``kind`` may be, for a folder."""
    return ("auto", *IMPORTERS)


def file_importer(kind: str) -> FileImporter:
    """The importer of a kind of file."""
    found = IMPORTERS.get(kind)
    if not isinstance(found, FileImporter):
        known = ("auto", *(x.name for x in file_importers()))
        raise UnknownNameError("kind of file", kind, known, parameter="kind")
    return found


def folder_importer(folder: Path, kind: str = "auto") -> FolderImporter | None:
    """The importer of this folder as a whole; None if its files are read one by one."""
    if kind != "auto":
        found = IMPORTERS.get(kind)
        return found if isinstance(found, FolderImporter) else None
    whole = (x for x in IMPORTERS.values() if isinstance(x, FolderImporter))
    return next((x for x in whole if x.recognises(folder)), None)


def kind_of(path: str | Path, *, variable: str | None = None) -> str:
    """What a file holds, by its name and shape: the name of the importer that recognises it."""
    look = Look(Path(path), variable)
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
    importer = None if kind == "auto" else file_importer(kind)
    if not source.is_file():
        msg = f"{source}: there is no such file."
        raise FileFormatError(msg)
    if source.suffix.lower() not in suffixes():
        msg = f"{source}: unknown file type {source.suffix!r}. Known: {', '.join(suffixes())}."
        raise FileFormatError(msg)
    importer = importer or file_importer(kind_of(source, variable=variable))
    return _read(importer, source, ReadOptions(nodes, n_nodes, keep, variable=variable))


def _read(importer: FileImporter, path: Path, options: ReadOptions) -> Graph:
    graph = importer.read(path, options)
    if options.size is not None and graph.n_nodes != options.size:
        msg = f"{path.name}: the graph has {graph.n_nodes} nodes; {options.size} are expected here."
        raise InvalidGraphError(msg)
    return graph


def read_files(job: Import, paths: dict[str, Path]) -> dict[str, Graph]:
    """Read the graph of every file, by id; what cannot be read is added to the job's problems."""
    if job.kind == "auto":
        found = job.attempt(lambda p: kind_of(p, variable=job.options.variable), paths)
        counts = Counter(found.values())
        if not counts:
            return {}
        job.kind = counts.most_common(1)[0][0]
        for key, kind in found.items():
            if kind != job.kind:
                job.problems.append(_odd_one(job, paths[key], kind))
                job.parameters.append("kind")
        paths = {key: paths[key] for key, kind in found.items() if kind == job.kind}
    return file_importer(job.kind).read_all(job, paths)


def _odd_one(job: Import, path: Path, found: str) -> str:
    """What to say of a file that does not look like the others."""
    text = f"looks like {found}, most files like {job.kind}"
    if job.kind == "matrix" and found == "timeseries":
        rows, columns = read_table(path, variable=job.options.variable).values.shape
        text = f"not square: {rows} × {columns}, so it {text}"
    return f"{path.name}: {text}. If that is wrong, say what they are (kind)."


def check_sizes(job: Import, sizes: Mapping[str, int]) -> None:
    """All graphs must have as many nodes as the node table, or as most of them have."""
    if not sizes:
        return
    nodes = job.options.nodes
    usual = Counter(sizes.values()).most_common(1)[0][0]
    wanted = nodes.n_nodes if nodes else usual
    odd = {key: n for key, n in sizes.items() if n != wanted}
    if not odd:
        return
    if len(odd) == len(sizes) and len(set(sizes.values())) == 1:
        job.problems.append(
            f"The graphs have {usual} nodes, but the node table describes {wanted}."
        )
        return
    listed = ", ".join(f"{key} has {n}" for key, n in odd.items())
    who = "the node table has" if nodes else "most have"
    job.problems.append(f"Graphs of different sizes: {who} {wanted} nodes, but {listed}.")
