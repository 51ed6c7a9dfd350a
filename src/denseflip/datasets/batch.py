"""Many files at once: read each, and gather what is wrong with any of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from denseflip.datasets.connectome import Keep, Matrix, check_time_series, connectivity
from denseflip.datasets.files import (
    edge_table,
    graph_of_matrix,
    graphml_names,
    is_binary,
    kind_of,
    read_graph,
)
from denseflip.datasets.tables import read_table
from denseflip.errors import DenseflipError
from denseflip.graph import Graph, Nodes

T = TypeVar("T")
DEFAULT_KEEP = Keep(percentile=90)


@dataclass
class Import:
    """One folder on its way to a data set: what was asked, found and found wrong."""

    folder: Path
    kind: str
    measure: str
    keep: Keep | None
    variable: str | None
    nodes: Nodes | None
    on_file: Callable[[str], None]
    problems: list[str] = field(default_factory=list)

    def attempt(self, read: Callable[[Path], T], paths: Mapping[str, Path]) -> dict[str, T]:
        """Read every file; what fails becomes a problem."""
        done: dict[str, T] = {}
        for key, path in paths.items():
            self.on_file(path.name)
            try:
                done[key] = read(path)
            except DenseflipError as error:
                self.problems.append(str(error).replace(str(path), path.name))
        return done


def read_files(job: Import, paths: dict[str, Path]) -> dict[str, Graph]:
    """Read the graph of every file, by id; what cannot be read is added to the job's problems."""
    if job.kind == "auto":
        kinds = job.attempt(lambda p: kind_of(p, variable=job.variable), paths)
        paths = {key: paths[key] for key in kinds}
        counts = Counter(kinds.values())
        if not counts:
            return {}
        job.kind = counts.most_common(1)[0][0]
        for key, found in kinds.items():
            if found != job.kind:
                job.problems.append(_odd_one(job, paths[key], found))
        paths = {key: p for key, p in paths.items() if kinds[key] == job.kind}
    if job.kind in ("matrix", "timeseries"):
        return _read_tables(job, paths)
    n_nodes = None
    if job.kind == "edges" and job.nodes is None:
        ends = job.attempt(lambda p: int(edge_table(p, None)[0].max(initial=-1)), paths)
        paths = {key: paths[key] for key in ends}
        n_nodes = 1 + max(ends.values(), default=-1)
    if job.kind == "graphml" and job.nodes is None:
        _nodes_of_graphml(job, paths)
    return job.attempt(
        lambda p: read_graph(p, nodes=job.nodes, n_nodes=n_nodes, keep=job.keep, kind=job.kind),
        paths,
    )


def _odd_one(job: Import, path: Path, found: str) -> str:
    """What to say of a file that does not look like the others."""
    text = f"looks like {found}, most files like {job.kind}"
    if job.kind == "matrix" and found == "timeseries":
        rows, columns = read_table(path, variable=job.variable).values.shape
        text = f"not square: {rows} × {columns}, so it {text}"
    return f"{path.name}: {text}. If that is wrong, say what they are with --kind."


def _nodes_of_graphml(job: Import, paths: Mapping[str, Path]) -> None:
    """Take the node names of the first file that can be read; the others must have the same."""
    for path in paths.values():
        try:
            names = graphml_names(path)
        except Exception:  # told when the file itself is read
            continue
        if not all(x.lstrip("n").isdigit() for x in names):
            job.nodes = Nodes(tuple(names))
        return


def _read_tables(job: Import, paths: Mapping[str, Path]) -> dict[str, Graph]:
    tables = job.attempt(lambda p: read_table(p, variable=job.variable), paths)
    matrices: dict[str, Matrix] = {key: t.values for key, t in tables.items()}
    if job.kind == "timeseries":
        checked = job.attempt(
            lambda p: check_time_series(tables[p.stem].values, p.name),
            {key: paths[key] for key in tables},
        )
        check_sizes(job, {paths[key].name: matrices[key].shape[1] for key in checked})
        if job.problems:
            return {}
        measured = connectivity([matrices[key] for key in checked], job.measure)
        matrices = dict(zip(checked, measured, strict=True))
    columns = {t.columns for t in tables.values()}
    if job.nodes is None and len(columns) == 1:
        names = columns.pop()
        sizes = {len(m) for m in matrices.values()}
        if names is not None and sizes == {len(names)} and len(set(names)) == len(names):
            job.nodes = Nodes(names)
    if job.kind == "matrix" and job.keep is None and not all(map(is_binary, matrices.values())):
        job.keep = DEFAULT_KEEP
    rule = job.keep or (DEFAULT_KEEP if job.kind == "timeseries" else None)
    job.keep = rule
    return job.attempt(
        lambda p: graph_of_matrix(matrices[p.stem], rule, p.name), {k: paths[k] for k in matrices}
    )


def check_sizes(job: Import, sizes: Mapping[str, int]) -> None:
    """All graphs must have as many nodes as the node table, or as most of them have."""
    if not sizes:
        return
    usual = Counter(sizes.values()).most_common(1)[0][0]
    wanted = job.nodes.n_nodes if job.nodes else usual
    odd = {key: n for key, n in sizes.items() if n != wanted}
    if not odd:
        return
    if len(odd) == len(sizes) and len(set(sizes.values())) == 1:
        job.problems.append(
            f"The graphs have {usual} nodes, but the node table describes {wanted}."
        )
        return
    listed = ", ".join(f"{key} has {n}" for key, n in odd.items())
    who = "the node table has" if job.nodes else "most have"
    job.problems.append(f"Graphs of different sizes: {who} {wanted} nodes, but {listed}.")
