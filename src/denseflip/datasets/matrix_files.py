"""Turn tables into graphs, for every kind of file that holds a matrix or a time series.

If there are names, columns are matched to the node table by name, never by position alone. Nodes
without data in some file are left out of all files, and the report lists them.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from denseflip.datasets.connectome import Matrix, check_time_series, connectivity
from denseflip.datasets.graph_files import graph_of_matrix, is_binary
from denseflip.datasets.import_job import (
    DEFAULT_KEEP,
    PATTERNS,
    FileImporter,
    Import,
    Look,
    ReadOptions,
)
from denseflip.datasets.number_tables import read_table
from denseflip.datasets.table_shapes import NumberTable, triangle_of
from denseflip.errors import FileFormatError, InvalidGraphError, InvalidNodesError, counted
from denseflip.graph import Graph, Nodes
from denseflip.graph.convert import check_matrix
from denseflip.graph.inputs import tell_difference


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
        raise FileFormatError(f"{source}: {_twice(columns)}")
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


def match_tables(
    job: Import, tables: Mapping[str, NumberTable], paths: Mapping[str, Path], *, series: bool
) -> dict[str, NumberTable]:
    """All tables in one order of columns: that of the node table, else of the first header.

    Mismatches become problems. Without a node table, the header becomes the node table.
    """
    options = job.options
    headed = {k: t.columns for k, t in tables.items() if t.columns is not None}
    if options.match == "position" or not headed:
        if headed and options.nodes is not None:
            job.notes.append("Columns are read in the order of the node table, as requested.")
        return {k: replace(t, columns=None, rows=None) for k, t in tables.items()}
    if options.nodes is not None:
        options.nodes = _named_as(job, options.nodes, headed.values())
        names, what = options.nodes.names, "the node table"
        if all(map(are_counted, headed.values())) and not are_counted(names):
            job.notes.append(
                "The headers are only numbers; columns are read in the order of the node table."
            )
            return {k: replace(t, columns=None, rows=None) for k, t in tables.items()}
    else:
        first = next(iter(headed))
        names = headed[first]
        what = f"that of {paths[first].name}"
        if len(set(names)) < len(names):
            job.problem(f"{paths[first].name}: {_twice(names)}", "nodes")
            return dict(tables)
        if all(t.values.shape[1] == len(names) for t in tables.values()):
            point = tables[first].points
            options.nodes = Nodes(names, coordinates=point)
    bare = [paths[k].name for k in tables if k not in headed]
    if bare:
        job.notes.append(
            f"{counted(len(bare), 'file has', 'files have')} no header; read in the order of "
            f"{what}: {', '.join(bare[:5])}{' …' if len(bare) > 5 else ''}."
        )

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


def _named_as(job: Import, nodes: Nodes, headers: Iterable[tuple[str, ...]]) -> Nodes:
    """The node table indexed by the column that the headers use: a code, an index, a short name."""
    found = {frozenset(h) for h in headers}
    if len(found) != 1 or set(nodes.names) == next(iter(found)):
        return nodes
    for column, values in nodes.regions.items():
        if len(set(values)) == len(values) and set(values) == next(iter(found)):
            job.notes.append(f"The headers match the column {column!r} of the node table.")
            rest = {k: v for k, v in nodes.regions.items() if k != column}
            return replace(nodes, names=values, regions={"name": nodes.names, **rest})
    return nodes


# ---- parcels without data ---------------------------------------------------------------


def without_data(values: Matrix, *, series: bool) -> npt.NDArray[np.bool_]:
    """Nodes without data in a file: a row of NaN; in a time series, NaN or a constant column.

    >>> nan = float("nan")
    >>> without_data(np.array([[0, nan, 1], [nan, nan, nan], [1, nan, 0]]), series=False).tolist()
    [False, True, False]
    """
    if series:
        lost = np.isnan(values).all(axis=0)
        full = ~np.isnan(values).any(axis=0)
        flat = np.zeros(values.shape[1], dtype=bool)
        flat[full] = np.ptp(values[:, full], axis=0) == 0
        return np.asarray(lost | flat)
    if values.shape[0] != values.shape[1]:
        return np.zeros(values.shape[1], dtype=bool)
    nan = np.isnan(values)
    np.fill_diagonal(nan, True)
    return np.asarray(nan.all(axis=0) & nan.all(axis=1)) if len(values) > 1 else nan[0]


def common_nodes(
    job: Import, tables: Mapping[str, NumberTable], paths: Mapping[str, Path], *, series: bool
) -> dict[str, Matrix]:
    """The values of the nodes that have data in every file; the others are left out and listed."""
    values = {k: t.values for k, t in tables.items()}
    widths = {v.shape[1] for v in values.values()}
    if len(widths) != 1:
        return values  # reported by the check of sizes
    lost = {k: without_data(v, series=series) for k, v in values.items()}
    gone = np.logical_or.reduce(list(lost.values()))
    if not gone.any():
        return values
    n = len(gone)
    kept = np.flatnonzero(~gone)
    worst = sorted(lost, key=lambda k: -int(lost[k].sum()))[:5]
    if len(kept) < max(2, n / 2):
        listed = ", ".join(f"{paths[k].name} lacks {int(lost[k].sum())}" for k in worst)
        job.problem(
            f"Only {len(kept)} of {n} nodes have data in every file: {listed}. Leave these files "
            "out: remove them from the labels, and set skip_unmatched.",
            "skip_unmatched",
        )
        return values

    def whole(key: str, path: Path) -> Matrix:
        matrix = values[key]
        if not series:  # other problems are reported by row and column of the file
            filled = matrix.copy()
            np.fill_diagonal(filled, 0.0)
            filled[lost[key]] = filled[:, lost[key]] = 0.0
            check_matrix(filled, path.name)
            return matrix[np.ix_(kept, kept)]
        told = matrix.copy()
        told[:, lost[key]] = np.arange(len(matrix))[:, None]
        check_time_series(told, path.name)
        return matrix[:, kept]

    out = job.attempt(whole, {k: paths[k] for k in tables})
    nodes = job.options.nodes
    names = nodes.names if nodes is not None else tuple(map(str, range(n)))
    job.leave_out(
        f"nodes without data in some file; the {len(kept)} that all files have were kept",
        [_who_lacks(names[i], [k for k in lost if lost[k][i]], len(tables)) for i in
         np.flatnonzero(gone).tolist()],
    )  # fmt: skip
    job.options.nodes = (nodes or Nodes(names)).ordered([names[i] for i in kept.tolist()])
    return out


def _who_lacks(name: str, who: list[str], n_files: int) -> str:
    if len(who) == n_files:
        return f"{name} (no data in any file)"
    more = " …" if len(who) > 3 else ""
    return f"{name} (no data in {len(who)}: {', '.join(who[:3])}{more})"


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


def tidied(table: NumberTable, source: str, *, series: bool) -> NumberTable:
    """The table as it is used, with a note for each change.

    A matrix of which only one triangle is filled is mirrored. Nothing is read from the diagonal
    that is not a number, such as Fisher's z of 1. Names at the rows only are those of the nodes.
    """
    values, notes = table.values, table.notes
    if series:
        if table.rows is not None and table.columns is None:
            msg = (
                f"{source}: its rows have names ({', '.join(table.rows[:3])} …), its columns have "
                "none. A time series needs a row per time point and a column per region: transpose "
                "it. If the names are those of time points, set header='column'."
            )
            raise FileFormatError(msg, parameter="header")
        return table
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
    found = tidied(table(path, options), path.name, series=series)
    for note in found.notes:
        options.on_note(note)
    nodes, columns = options.nodes, found.columns
    matched = nodes is not None and columns is not None and options.match == "name"
    if matched and nodes is not None and columns is not None:
        if not are_counted(columns) or are_counted(nodes.names):
            found = in_order(
                found,
                nodes.names,
                path.name,
                "the node table",
                series=series,
                subset=options.subset,
            )
    elif columns is not None and not series:
        found = in_order(found, columns, path.name, "its columns", series=False)
    if series:
        values = check_time_series(found.values, path.name)
        matrix = connectivity([values], options.measure)[0]
        return graph_of_matrix(matrix, options.keep or DEFAULT_KEEP, path.name)
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
        lambda k, p: tidied(tables[k], p.name, series=series), {k: paths[k] for k in tables}
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
        measured = connectivity(list(checked.values()), options.measure)
        values = dict(zip(checked, measured, strict=True))
        options.keep = options.keep or DEFAULT_KEEP
    elif options.keep is None and not all(map(is_binary, values.values())):
        options.keep = DEFAULT_KEEP
    if job.keep_weights:
        job.weights.update(values)
    return job.attempt(
        lambda k, p: graph_of_matrix(values[k], options.keep, p.name), {k: paths[k] for k in values}
    )


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
        job.problem(
            f"The graphs have {usual} nodes, but the node table describes {wanted}.", "nodes"
        )
        return
    listed = ", ".join(f"{key} has {n}" for key, n in odd.items())
    who = "the node table has" if nodes else "most have"
    job.problem(f"Graphs of different sizes: {who} {wanted} nodes, but {listed}.")
