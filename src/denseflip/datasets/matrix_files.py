"""Turn tables into graphs, for every kind of file that holds a matrix or a time series.

If there are names, columns are matched to the node table by name, never by position alone.
`lost_nodes` decides about nodes without data.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from denseflip.datasets.connectome import Matrix, check_time_series, connectivity
from denseflip.datasets.graph_files import graph_of_matrix, is_binary
from denseflip.datasets.import_job import (
    DEFAULT_KEEP,
    PATTERNS,
    WARNING,
    FileImporter,
    Import,
    Look,
    ReadOptions,
)
from denseflip.datasets.lost_nodes import common_nodes
from denseflip.datasets.number_tables import read_table
from denseflip.datasets.table_shapes import NumberTable, triangle_of
from denseflip.datasets.text_cells import is_number
from denseflip.datasets.wide_tables import WIDE, correlation_graph
from denseflip.errors import FileFormatError, InvalidGraphError, InvalidNodesError, counted
from denseflip.graph import Graph, Nodes
from denseflip.graph.convert import check_matrix
from denseflip.graph.inputs import tell_difference
from denseflip.graph.node_table import numbered_names
from denseflip.limits import check_dense


def in_order(
    table: NumberTable,
    names: tuple[str, ...],
    source: str,
    what: str,
    *,
    series: bool,
    subset: bool = False,
) -> NumberTable:
    """The table with its columns, and the rows of a matrix, in the order of these names.

    With ``subset`` the table may have more columns, which are left out.
    """
    if not series:
        table = rows_in_order(table, source)
    columns = table.columns
    if columns is None or columns == names:
        return table
    if len(set(columns)) < len(columns):
        raise FileFormatError(f"{source}: {_twice(columns)}", parameter="number_names")
    if set(columns) != set(names) and not (subset and set(names) < set(columns)):
        listed = tell_difference(columns, names, f"the header of {source}", what)
        msg = f"{source}: its header does not match {what}: {listed}"
        if len(columns) == len(names):
            msg += " If the columns are in that order nevertheless, pass match='position'."
        raise FileFormatError(msg, parameter=("nodes", "match"))
    place = {name: i for i, name in enumerate(columns)}
    at = [place[name] for name in names]
    values = table.values[:, at]
    return replace(
        table,
        values=values if series else values[at],
        columns=names,
        rows=table.rows if series or table.rows is None else names,
        points=table.points and tuple(table.points[i] for i in at),
    )


def rows_in_order(table: NumberTable, source: str) -> NumberTable:
    """Reorder the rows of a matrix to match its columns, if both have names."""
    rows, columns = table.rows, table.columns
    if rows is None or columns is None or rows == columns or len(rows) != len(columns):
        return table
    if are_counted(rows):
        return table
    if are_counted(columns):
        return replace(table, columns=rows)
    if set(rows) != set(columns) or len(set(rows)) < len(rows):
        listed = tell_difference(rows, columns, "the rows", "the columns")
        twice = f"{_twice(rows)} " if len(set(rows)) < len(rows) else ""
        msg = f"{source}: rows and columns name different nodes: {twice}{listed}"
        raise FileFormatError(msg)
    place = {name: i for i, name in enumerate(rows)}
    return replace(table, values=table.values[[place[x] for x in columns]], rows=columns)


def _twice(names: Iterable[str]) -> str:
    """A sentence about names that occur more than once."""
    try:
        Nodes(tuple(names))
    except InvalidNodesError as error:
        return str(error)
    return ""


def are_counted(names: Iterable[str]) -> bool:
    """Whether names are just 0, 1, 2 … or 1, 2, 3 …, as some programs write."""
    listed = list(names)
    n = len(listed)
    return listed in ([str(i) for i in range(n)], [str(i + 1) for i in range(n)])


def _unchecked(why: str, what: str = "the node table") -> str:
    """The warning that the order of the columns could not be compared with the node names."""
    return (
        f"{WARNING}{why}; columns are read in the order of {what}. Check this: another order "
        "would go unnoticed and put connections in the wrong regions."
    )


def match_tables(
    job: Import, tables: Mapping[str, NumberTable], paths: Mapping[str, Path], *, series: bool
) -> dict[str, NumberTable]:
    """All tables in one order of columns: that of the node table, else of the first header.

    Mismatches become problems. Without a node table, the header becomes the node table.
    """
    options = job.options
    tables = {k: _by_name(job, t) for k, t in tables.items()}
    headed = {k: t.columns for k, t in tables.items() if t.columns is not None}
    if options.match == "position" or not headed:
        if headed and options.nodes is not None:
            job.notes.append("Columns are read in the order of the node table, as requested.")
        elif options.nodes is not None:
            job.notes.append(_unchecked("The files name no nodes"))
        return {k: replace(t, columns=None, rows=None) for k, t in tables.items()}
    if options.nodes is not None:
        names, what = options.nodes.names, "the node table"
        if all(map(are_counted, headed.values())) and not are_counted(names):
            job.notes.append(_unchecked("The headers are only numbers"))
            return {k: replace(t, columns=None, rows=None) for k, t in tables.items()}
    else:
        first = next(iter(headed))
        names = headed[first]
        what = f"that of {paths[first].name}"
        if len(set(names)) < len(names):
            job.problem(f"{paths[first].name}: {_twice(names)}", "number_names", "nodes")
            return dict(tables)
        if all(t.values.shape[1] == len(names) for t in tables.values()):
            point = tables[first].points
            options.nodes = Nodes(names, coordinates=point)
    bare = [paths[k].name for k in tables if k not in headed]
    if bare:
        listed = f"{', '.join(bare[:5])}{' …' if len(bare) > 5 else ''}"
        have = counted(len(bare), "file has", "files have")
        job.notes.append(_unchecked(f"{have} no header ({listed})", what.removeprefix("that of ")))

    def aligned(key: str, path: Path) -> NumberTable:
        return in_order(tables[key], names, path.name, what, series=series)

    before = [t.columns for t in tables.values()]
    out = job.attempt(aligned, {k: paths[k] for k in tables})
    moved = sum(c is not None and c != names for c in before)
    if moved and len(out) == len(tables):
        job.notes.append(
            f"Columns of {counted(moved, 'file', 'files')} were reordered to match {what}, by name."
        )
    return out


def _by_name(job: Import, table: NumberTable) -> NumberTable:
    """The table with node names in place of the codes in its header; equal names numbered."""
    nodes, columns = job.options.nodes, table.columns
    if columns is None or job.options.match != "name":
        return table
    if nodes is not None:
        found = named_by(table, nodes)
        if found is not table and (column := nodes.names_of(columns)[1]):
            job.notes.append(f"The headers match the column {column!r} of the node table.")
        return found
    if job.options.number_names and len(set(columns)) < len(columns):
        job.notes.append("Equal names in the headers were numbered in order, as requested.")
        return _renamed(table, numbered_names)
    return table


def named_by(table: NumberTable, nodes: Nodes) -> NumberTable:
    """The table with the names of the nodes in place of their codes."""
    return _renamed(table, lambda words: nodes.names_of(words)[0])


def _renamed(table: NumberTable, name: Callable[[tuple[str, ...]], tuple[str, ...]]) -> NumberTable:
    columns = None if table.columns is None else name(table.columns)
    rows = None if table.rows is None else name(table.rows)
    if columns == table.columns and rows == table.rows:
        return table
    return replace(table, columns=columns, rows=rows)


Reader = Callable[[Path, ReadOptions], NumberTable]


# ---- graphs of tables -------------------------------------------------------------------


def read_chosen(path: Path, options: ReadOptions, kind: str = "auto") -> NumberTable:
    """The table of a file: the array that was chosen, else the only one."""
    ready = options.ready.pop(path, None)
    if ready is not None and ready.kind == kind:
        return ready
    how = options.reading
    return read_table(
        path, variable=options.variable, kind=kind, header=how.header, decimal=how.decimal
    )


def tidied(
    table: NumberTable, source: str, *, series: bool, nodes: Nodes | None = None
) -> NumberTable:
    """The table as it is used, with a note for each change.

    A time series whose rows are the nodes is transposed. A matrix of which only one triangle is
    filled is mirrored. Nothing is read from the diagonal that is not a number, such as Fisher's z
    of 1. Names at the rows of a matrix only are those of the nodes.
    """
    values, notes = table.values, table.notes
    if series:
        return _upright(table, source, nodes)
    if table.columns is None and table.rows is not None and len(table.rows) == values.shape[1]:
        table = replace(table, columns=table.rows)
    table = rows_in_order(table, source)
    values = table.values
    if values.ndim != 2 or values.shape[0] != values.shape[1] or len(values) < 2:
        return table
    diagonal = np.diagonal(values)
    if not np.isfinite(diagonal).all() and np.isnan(values).sum() < values.size - len(values):
        values = values.copy()
        np.fill_diagonal(values, np.where(np.isfinite(diagonal), diagonal, 0.0))
    half = triangle_of(values)
    if half is not None:
        other = "lower" if half == "upper" else "upper"
        full = np.triu(values, 1) if half == "upper" else np.tril(values, -1)
        full[np.isnan(np.triu(values, 1) if half == "upper" else np.tril(values, -1))] = np.nan
        values = full + full.T + np.diag(np.diagonal(values))
        notes += (f"Only the {half} triangle is filled; it was mirrored to the {other} one.",)
    if table.doubt and not np.isnan(values).any():
        try:
            check_matrix(values, source)
        except InvalidGraphError as error:
            msg = f"{error}{table.doubt}"
            raise InvalidGraphError(msg, parameter="kind") from error
    return replace(table, values=values, notes=notes)


def _upright(table: NumberTable, source: str, nodes: Nodes | None) -> NumberTable:
    """A time series with a column per node: as it is, or transposed if its rows are the nodes."""
    if table.rows is None:
        return table
    if nodes is not None:
        wanted = set(nodes.names)
        sides = (table.columns or (), table.rows)
        column, row = (set(nodes.names_of(words)[0]) == wanted for words in sides)
        if column:
            return replace(table, rows=None)
        if row:
            note = "The rows are the nodes; the table was transposed."
            values = np.ascontiguousarray(table.values.T)
            return replace(
                table, values=values, columns=table.rows, rows=None, notes=(*table.notes, note)
            )
    if table.columns is not None and all(map(is_number, table.rows)):
        return replace(table, rows=None)  # the count or time of the points
    there = "none" if table.columns is None else f"others ({', '.join(table.columns[:3])} …)"
    msg = (
        f"{source}: its rows have names ({', '.join(table.rows[:3])} …), its columns have {there}. "
        "Which of them are the nodes? If the rows are, transpose the table, or give a table of the "
        "nodes with these names (nodes). If the rows are time points or samples, set header='both'"
    )
    msg += " (or 'column', without names of columns)."
    raise FileFormatError(msg, parameter=("nodes", "header"))


def table_importer(
    name: str,
    summary: str,
    suffixes: tuple[str, ...],
    table: Reader,
    *,
    series: bool = False,
    recognises: Callable[[Look], bool] | None = None,
    pattern: str | None = None,
    family: str = "",
) -> FileImporter:
    """Register a kind of file that holds the matrix, or time series, of one graph.

    Parameters
    ----------
    name, summary, suffixes, recognises, pattern, family : as in `FileImporter`. With a pattern,
        files are recognised by their names.
    table : reads the numbers and, if the file has them, the names of the nodes.
    series : whether it is a time series (time points × nodes).
    """
    if pattern is not None:
        named = re.compile(pattern, re.IGNORECASE)
        PATTERNS.append(named)
        recognises = recognises or (lambda look: named.fullmatch(look.path.name) is not None)

    kind = "timeseries" if series else "matrix"
    read = partial(read_chosen, kind=kind) if table is read_chosen else table

    def one(path: Path, options: ReadOptions) -> Graph:
        return _read_one(path, options, read, series)

    def every(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
        tables = job.attempt(lambda _, p: read(p, job.options), paths, tell=True)
        return graphs_of_tables(job, tables, paths, series=series)

    assert recognises is not None
    return FileImporter(name, summary, suffixes, recognises, one, every, pattern, family)


def _read_one(path: Path, options: ReadOptions, table: Reader, series: bool) -> Graph:
    found = tidied(table(path, options), path.name, series=series, nodes=options.nodes)
    for note in found.notes:
        options.on_note(note)
    nodes = options.nodes
    if nodes is not None and options.match == "name":
        found = named_by(found, nodes)
        columns = found.columns
        if columns is not None and (not are_counted(columns) or are_counted(nodes.names)):
            found = in_order(
                found,
                nodes.names,
                path.name,
                "the node table",
                series=series,
                subset=options.subset,
            )
    if series:
        values = check_time_series(found.values, path.name)
        return _graph_of_series(values, options, path.name)
    return graph_of_matrix(found.values, options.keep, path.name)


def graphs_of_tables(
    job: Import,
    tables: Mapping[str, NumberTable],
    paths: Mapping[str, Path],
    *,
    series: bool = False,
) -> dict[str, Graph]:
    """The graphs of tables over one node set: matched by name, without nodes missing in some."""
    options = job.options
    tables = job.attempt(
        lambda k, p: tidied(tables[k], p.name, series=series, nodes=options.nodes),
        {k: paths[k] for k in tables},
    )
    _tell_notes(job, tables, paths)
    matched = match_tables(job, tables, paths, series=series)
    values: Mapping[str, Matrix] = common_nodes(job, matched, paths, series=series)
    if series:
        checked = job.attempt(
            lambda k, p: check_time_series(values[k], p.name), {k: paths[k] for k in values}
        )
        check_sizes(job, {paths[k].name: v.shape[1] for k, v in checked.items()})
        if job.problems or not checked:
            return {}
        options.keep = options.keep or DEFAULT_KEEP
        if options.measure == "pearson" and not job.keep_weights:  # no subject needs the others
            return job.attempt(
                lambda k, p: _graph_of_series(checked[k], options, p.name),
                {k: paths[k] for k in checked},
            )
        check_dense(next(iter(checked.values())).shape[1], str(job.folder), count=len(checked))
        measured = connectivity(list(checked.values()), options.measure)
        values = dict(zip(checked, measured, strict=True))
    elif options.keep is None and not all(map(is_binary, values.values())):
        options.keep = DEFAULT_KEEP
    if job.keep_weights:
        job.weights.update(values)
    return job.attempt(
        lambda k, p: graph_of_matrix(values[k], options.keep, p.name), {k: paths[k] for k in values}
    )


def _graph_of_series(values: Matrix, options: ReadOptions, source: str) -> Graph:
    """The graph of one time series, of which no constant column is left."""
    keep = options.keep or DEFAULT_KEEP
    if options.measure == "pearson" and values.shape[1] > WIDE:
        return correlation_graph(values, keep, source)
    return graph_of_matrix(connectivity([values], options.measure)[0], keep, source)


def _tell_notes(job: Import, tables: Mapping[str, NumberTable], paths: Mapping[str, Path]) -> None:
    """Add the notes of the tables to the report, each once, with the files that it is about."""
    about: dict[str, list[str]] = defaultdict(list)
    for key, table in tables.items():
        for note in table.notes:
            about[note].append(paths[key].name)
    for note, files in about.items():
        some = ", ".join(files[:3]) + (" …" if len(files) > 3 else "")
        where = f"all {len(files)} files" if len(files) == len(tables) > 1 else some
        job.notes.append(f"{note[:-1]} ({where}).")


def check_sizes(job: Import, sizes: Mapping[str, int]) -> None:
    """Check that all graphs have the number of nodes of the node table, or of most graphs."""
    if not sizes:
        return
    nodes = job.options.nodes
    usual = Counter(sizes.values()).most_common(1)[0][0]
    wanted = nodes.n_nodes if nodes else usual
    odd = {key: n for key, n in sizes.items() if n != wanted}
    if not odd:
        return
    if len(odd) == len(sizes) and len(set(sizes.values())) == 1:
        first = "Its first line is a header. " if wanted == usual - 1 else ""
        job.problem(
            f"The graphs have {usual} nodes, but the node table describes {wanted}. {first}"
            "It needs one row for each row of the matrices, in the same order.",
            "nodes",
        )
        return
    listed = ", ".join(f"{key} has {n}" for key, n in odd.items())
    who = "the node table has" if nodes else "most have"
    job.problem(f"Graphs of different sizes: {who} {wanted} nodes, but {listed}.")
