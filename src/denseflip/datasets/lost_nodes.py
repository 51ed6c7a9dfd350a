"""Nodes without data in some files: leave out the nodes, or the subjects, as settled.

A node that has no data in any file is left out of all graphs. If only some files lack a node, there
are two ways, each with its cost, and the import asks which one to take.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from denseflip.datasets.connectome import Matrix, check_time_series
from denseflip.datasets.import_job import INCOMPLETE, Import
from denseflip.datasets.table_shapes import NumberTable
from denseflip.errors import counted
from denseflip.graph import Nodes
from denseflip.graph.convert import check_matrix

_MANY = 0.05  # a scan that lacks more than this share of the nodes is an outlier

Lost = Mapping[str, npt.NDArray[np.bool_]]


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
    """The values of nodes that have data in every file, of the subjects that are kept.

    What is left out is listed. If it is not settled whether nodes or subjects are left out, that is
    a problem, which shows both costs.
    """
    values = {k: t.values for k, t in tables.items()}
    widths = {v.shape[1] for v in values.values()}
    if len(widths) != 1:
        return values  # reported by the check of sizes
    lost = {k: without_data(v, series=series) for k, v in values.items()}
    if not any(x.any() for x in lost.values()):
        return values
    nodes, n = job.options.nodes, next(iter(widths))
    names = nodes.names if nodes is not None else tuple(map(str, range(n)))
    never = np.logical_and.reduce(list(lost.values()))
    partly = [k for k, x in lost.items() if (x & ~never).any()]
    settled = job.options.drop_nodes or not partly
    if partly and job.options.drop_incomplete and len(partly) < len(lost) - 1:
        settled = True
        listed = [f"{k} (lacks {_lacks(lost[k] & ~never)})" for k in partly]
        job.leave_out("subjects without data for some nodes, as requested", listed)
        lost = {k: x for k, x in lost.items() if k not in set(partly)}
    if not settled:
        job.problem(_costs(lost, never, partly), "drop_nodes", "drop_subjects")
    gone = np.logical_or.reduce(list(lost.values()))
    kept = np.flatnonzero(~gone)
    if settled and len(kept) < 2:
        job.problem(f"Only {len(kept)} of {n} nodes have data in every file.", "drop_subjects")

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

    out = job.attempt(whole, {k: paths[k] for k in lost})
    if not settled or len(kept) < 2:
        return {}
    if gone.any():
        why = f"nodes without data in some file; the {len(kept)} that all files have were kept"
        lacking = {i: [k for k in lost if lost[k][i]] for i in np.flatnonzero(gone).tolist()}
        job.leave_out(why, [_who_lacks(names[i], who, len(lost)) for i, who in lacking.items()])
        job.options.nodes = (nodes or Nodes(names)).ordered([names[i] for i in kept.tolist()])
    return out


def _costs(lost: Lost, never: npt.NDArray[np.bool_], partly: list[str]) -> str:
    """The sentence that asks what to leave out, with the cost of each way."""
    n, total = len(never), len(lost)
    lacking = {k: int((lost[k] & ~never).sum()) for k in partly}
    worst = sorted(partly, key=lambda k: (-lacking[k], k))
    some = ", ".join(f"{k} lacks {lacking[k]}" for k in worst[:5])
    more = f" and {len(worst) - 5} more" if len(worst) > 5 else ""

    def gone(files: list[str]) -> int:
        return int(np.logical_or.reduce([lost[k] for k in files]).sum() - never.sum())

    text = (
        f"{counted(len(partly), 'file has', 'files have')} no data for nodes that other files "
        f"have: {some}{more} (of {n} nodes). Choose what to leave out: the nodes "
        f"(drop_nodes: {gone(list(lost))} of {n} nodes, in all {total} graphs), or the subjects "
        f"(drop_subjects={INCOMPLETE!r}: {len(partly)} of {total} graphs)."
    )
    bad = [k for k in worst if lacking[k] > _MANY * n]
    if 0 < len(bad) < len(partly) and len(bad) <= 20:
        rest = gone([k for k in lost if k not in bad])
        text += (
            f" Or both: drop_subjects={','.join(bad)!r} with drop_nodes leaves out "
            f"{counted(len(bad), 'graph', 'graphs')} and {counted(rest, 'node', 'nodes')}."
        )
    return text


def _lacks(marks: npt.NDArray[np.bool_]) -> str:
    return counted(int(marks.sum()), "node", "nodes")


def _who_lacks(name: str, who: list[str], n_files: int) -> str:
    if len(who) == n_files:
        return f"{name} (no data in any file)"
    more = " …" if len(who) > 3 else ""
    return f"{name} (no data in {len(who)}: {', '.join(who[:3])}{more})"
