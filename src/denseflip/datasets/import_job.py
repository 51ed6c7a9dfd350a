"""The parts of an import: its options, a file to be recognised, the job, and its report.

The kinds of files and their registry are in `importers`, layouts of other programs in `layouts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from denseflip.datasets.connectome import Keep, Matrix
from denseflip.datasets.edge_lists import says_edges
from denseflip.datasets.number_tables import BINARY, TEXT, read_table
from denseflip.datasets.parse_tables import parse_table
from denseflip.datasets.table_shapes import NumberTable, is_like_matrix
from denseflip.datasets.text_cells import Cells, is_number, read_cells
from denseflip.errors import DenseflipError, FileFormatError
from denseflip.graph import Graph, Nodes
from denseflip.reading import Reading

T = TypeVar("T")
_NAMED = 5  # files named in a message
DEFAULT_KEEP = Keep(percentile=90)
WARNING = "Warning: "  # of a note about what could not be checked
INCOMPLETE = "incomplete"  # the subjects that lack data for some nodes
TABLES = (*TEXT, *BINARY)
CIFTI = (".pconn.nii", ".ptseries.nii")
#: Names of files that belong to a known layout; `table_importer` adds to it.
PATTERNS: list[re.Pattern[str]] = []


@dataclass
class ReadOptions:
    """What is known about a graph before its file is read.

    Attributes
    ----------
    nodes : the node table of the data set it belongs to.
    n_nodes : the number of nodes, if no table is given.
    keep : which pairs of a weighted matrix become edges.
    measure : how time series become a matrix.
    variable : the array to read from a file that holds several.
    match : ``"name"`` if headers are matched to the node table by name, ``"position"`` if the
        columns are in its order, whatever the header says.
    subset : whether a file may have more nodes than the table; these are left out.
    ignore_weights : whether every edge that GraphML lists is an edge, whatever its weight.
    axis : for a stack, the axis that counts the subjects: ``"first"``, ``"last"``, or None to
        detect it.
    number_names : whether equal names in a header are numbered.
    drop_nodes : whether nodes without data in some file are left out of all graphs.
    drop_incomplete : whether subjects without data for some nodes are left out.
    node_types : names of the node labels of a TU folder; see `read_tu`.
    reading : how files are read that can be read in several ways.
    ready : tables that were read already, to find out their kind.
    on_note : called with sentences about how a file was read.
    """

    nodes: Nodes | None = None
    n_nodes: int | None = None
    keep: Keep | None = None
    measure: str = "pearson"
    variable: str | None = None
    match: str = "name"
    ignore_weights: bool = False
    axis: str | None = None
    subset: bool = False
    number_names: bool = False
    drop_nodes: bool = False
    drop_incomplete: bool = False
    node_types: Sequence[str] = ()
    reading: Reading = field(default_factory=Reading)
    ready: dict[Path, NumberTable] = field(default_factory=dict)
    on_note: Callable[[str], None] = field(default=lambda _: None)

    @property
    def size(self) -> int | None:
        """The number of nodes that the graph must have, if it is known."""
        return self.nodes.n_nodes if self.nodes is not None else self.n_nodes


def ending_of(path: Path) -> str:
    """The ending of a file name, in lower case; ``.pconn.nii`` and the like are one ending."""
    name = path.name.lower()
    return next((x for x in CIFTI if name.endswith(x)), path.suffix.lower())


def stem_of(path: Path) -> str:
    """A file's name without its ending."""
    return path.name[: len(path.name) - len(ending_of(path))] or path.name


class Look:
    """A file to be recognised; its content is read once, on first access.

    Attributes
    ----------
    claimed : whether the file name belongs to a known layout, so that the plain kinds, which check
        shapes, ignore the file.
    """

    def __init__(
        self, path: Path, variable: str | None = None, reading: Reading | None = None
    ) -> None:
        self.path = path
        self.suffix = ending_of(path)
        self.claimed = any(pattern.fullmatch(path.name) for pattern in PATTERNS)
        self.is_table = self.suffix in TABLES and not self.claimed
        self._variable = variable
        self._reading = reading or Reading()

    @cached_property
    def table(self) -> NumberTable | None:
        """The numbers of a matrix or a time series; None for an edge list."""
        how = self._reading
        if self.suffix in TEXT:
            cells = read_cells(self.path, decimal=how.decimal)
            if says_edges(cells.rows, cells.header):
                _check_small(cells, self.path.name)
                return None
            found = parse_table(cells, self.path.name, header=how.header)
        else:
            found = read_table(self.path, variable=self._variable, header=how.header)
        if found.kind == "timeseries" and self.suffix == ".edge":
            return None
        return None if found.kind == "edges" else found

    @property
    def kind(self) -> str | None:
        """The kind of a table: ``matrix``, ``timeseries`` or ``edges``; None for other files."""
        if not self.is_table:
            return None
        return "edges" if self.table is None else self.table.kind


def _check_small(cells: Cells, source: str) -> None:
    """Raise if a table with the header of an edge list may be a matrix: nodes i, j, k."""
    head, body = cells.rows[0], cells.rows[1:]
    if len(head) != len(body) or not all(is_number(x) for row in body for x in row):
        return
    if any(len(row) != len(head) for row in body) or head[-1].lower().startswith("weight"):
        return
    values = parse_table(cells, source, kind="matrix").values
    if len(body) == 3 and is_like_matrix(values):
        msg = (
            f"{source}: line {cells.lines[0]} names the columns {', '.join(head)}: either three "
            "nodes of a matrix, or the columns of an edge list. Set kind='matrix' or kind='edges'."
        )
        raise FileFormatError(msg, parameter="kind")


@dataclass
class Import:
    """An import in progress: options, results, what was left out, and problems.

    Attributes
    ----------
    folder : the folder with the files.
    kind : the importer's name, or ``auto`` until it is known.
    options : what is known about the graphs; an importer adds what it finds, such as node names.
    on_file : called with each file name, once per file.
    on_total : called with the number of files, before the first of them.
    problems : sentences about what is wrong.
    parameters : the parameters that would fix some of the problems.
    subjects : id → column → value: the other columns of the labels file.
    keep_weights, weights : whether the matrix of each graph is kept, and the matrices by id.
    notes : sentences about what was found and how it was read.
    left_out : reason → what was left out for that reason.
    unwanted : ids of subjects to leave out.
    """

    folder: Path
    kind: str = "auto"
    options: ReadOptions = field(default_factory=ReadOptions)
    on_file: Callable[[str], None] = field(default=lambda _: None)
    on_total: Callable[[int], None] = field(default=lambda _: None)
    problems: list[str] = field(default_factory=list)
    parameters: list[str] = field(default_factory=list)
    subjects: dict[str, Mapping[str, str]] = field(default_factory=dict)
    keep_weights: bool = False
    weights: dict[str, Matrix] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    unwanted: list[str] = field(default_factory=list)

    def problem(self, text: str, *parameters: str) -> None:
        """Add a problem, and the parameters that would fix it."""
        self.problems.append(text)
        self.parameters.extend(parameters)

    def leave_out(self, why: str, what: Sequence[str]) -> None:
        """Add to the report what is left out, and why."""
        if what:
            self.left_out.setdefault(why, []).extend(what)

    def attempt(
        self, read: Callable[[str, Path], T], paths: Mapping[str, Path], *, tell: bool = False
    ) -> dict[str, T]:
        """Process every file; failures become problems, equal ones of several files one problem."""
        done: dict[str, T] = {}
        failed: dict[str, list[tuple[str, str, tuple[str, ...]]]] = {}
        for key, path in paths.items():
            if tell:
                self.on_file(path.name)
            try:
                done[key] = read(key, path)
            except DenseflipError as error:
                text = str(error).replace(str(path), path.name)
                equal = failed.setdefault(text.replace(path.name, "\0"), [])
                equal.append((path.name, text, error.parameters))
        for equal in failed.values():
            _, text, parameters = equal[0]
            if len(equal) > 1:
                names = ", ".join(name for name, *_ in equal[:_NAMED])
                more = " …" if len(equal) > _NAMED else ""
                text = f"{len(equal)} files with the same problem ({names}{more}). First: {text}"
            self.problem(text, *parameters)
        return done

    def report(self) -> dict[str, Any]:
        """What was left out and how the rest was read, JSON-ready."""
        return {
            "kind": self.kind,
            "notes": list(dict.fromkeys(self.notes)),
            "left_out": {why: list(what) for why, what in self.left_out.items()},
        }


@dataclass(frozen=True)
class FileImporter:
    """A kind of file that holds one graph.

    Attributes
    ----------
    name : the value of ``kind``.
    summary : one-line description.
    suffixes : endings of such files.
    recognises : whether a file is of this kind; at most one importer may recognise a file.
    read : reads the graph of one file.
    read_all : reads the graphs of many files, if they depend on one another (a shared number of
        nodes, a measure over all subjects).
    pattern : for a known layout, the regular expression of its file names, which may be in
        sub-folders; its group ``id`` is the id of the graph.
    family : layouts that one program writes side by side; the first of them is used.
    """

    name: str
    summary: str
    suffixes: tuple[str, ...]
    recognises: Callable[[Look], bool]
    read: Callable[[Path, ReadOptions], Graph]
    read_all: Callable[[Import, Mapping[str, Path]], dict[str, Graph]]
    pattern: str | None = None
    family: str = ""


@dataclass
class Whole:
    """The content of a folder or file that holds many graphs.

    Attributes
    ----------
    graphs : its graphs, in order, or
    tables : the matrices that become graphs.
    labels : the class of each, if the files have it.
    ids : the id of each, if the files have it.
    by_order : whether the rows of a labels file match the graphs by order.
    """

    graphs: list[Graph] | None = None
    tables: list[NumberTable] | None = None
    labels: list[str] | None = None
    ids: list[str] | None = None
    by_order: bool = False

    def __len__(self) -> int:
        return len(self.graphs if self.graphs is not None else self.tables or ())


@dataclass(frozen=True)
class FolderImporter:
    """A kind of folder or file that holds many graphs.

    Attributes
    ----------
    name, summary : as for a file.
    recognises : whether a folder, or a single given file, is of this kind.
    read : reads its content.
    """

    name: str
    summary: str
    recognises: Callable[[Path], bool]
    read: Callable[[Import], Whole]
