"""Turn tables into graphs, for every kind of file that holds a matrix or a time series."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

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
from denseflip.datasets.node_matching import are_counted, common_nodes, in_order, match_tables
from denseflip.datasets.number_tables import NumberTable
from denseflip.graph import Graph

Reader = Callable[[Path, ReadOptions], NumberTable]


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

    def one(path: Path, options: ReadOptions) -> Graph:
        return _read_one(path, options, table, series)

    def every(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
        tables = job.attempt(lambda _, p: table(p, job.options), paths, tell=True)
        return graphs_of_tables(job, tables, paths, series=series)

    assert recognises is not None
    return FileImporter(name, summary, suffixes, recognises, one, every, pattern, family)


def _read_one(path: Path, options: ReadOptions, table: Reader, series: bool) -> Graph:
    found = table(path, options)
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
