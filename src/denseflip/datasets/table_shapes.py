"""What a table of numbers is: a matrix, a time series or an edge list, with or without names.

A first row or column may hold names, or numbers of nodes, in place of values. A table that can be
read in two ways is refused with both readings and the option that decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from denseflip.datasets.text_cells import NO_NUMBER, is_number
from denseflip.errors import FileFormatError

Numbers = npt.NDArray[np.float64]
Names = tuple[str, ...]

_WHOLE = re.compile(r"[-+]?\d+")
#: Headers of a column that counts or times the rows of a time series.
CLOCKS = {
    "", "index", "time", "times", "t", "tr", "vol", "volume", "frame", "frames", "timepoint",
    "timepoints", "time_point", "scan", "sample", "unnamed: 0", "row", "onset",
}  # fmt: skip
_SETTLE = "header='none', 'row', 'column' or 'both' says which of them hold names"


@dataclass(frozen=True)
class NumberTable:
    """A two-dimensional table of numbers, with the names and coordinates in its file.

    Attributes
    ----------
    values : the numbers.
    columns, rows : the names of its header and of its first column, if it has any.
    points : coordinates (x, y, z) per column, if the file has them.
    kind : ``matrix``, ``timeseries`` or ``edges``.
    notes : sentences about how the table was read.
    doubt : what else a square table may be, for the message if it is no matrix.
    """

    values: Numbers
    columns: Names | None = None
    rows: Names | None = None
    points: tuple[tuple[float, float, float], ...] | None = None
    kind: str = "matrix"
    notes: tuple[str, ...] = ()
    doubt: str = ""


# ---- text -------------------------------------------------------------------------------


def settle(
    table: NumberTable,
    source: str,
    *,
    kind: str = "auto",
    fixed: tuple[bool, bool] = (False, False),
    texts: list[list[str]] | None = None,
    at: Sequence[int] = (),
) -> NumberTable:
    """The table with its kind, without a first row or column that numbers the nodes.

    Parameters
    ----------
    table : the numbers, with the names that were found as words.
    source : the file, for messages.
    kind : ``matrix`` or ``timeseries`` if it is known.
    fixed : whether it is known if the first row, and the first column, hold names.
    texts, at : the cells of a text file and their lines.
    """
    values = table.values
    rows, columns = values.shape
    square = [
        (i, j)
        for i in ((0,) if fixed[0] or table.columns is not None else (0, 1))
        for j in ((0,) if fixed[1] else (0, 1))
        if rows - i == columns - j and _fits(values, i, j)
    ]
    alike = [c for c in square if is_like_matrix(values[c[0] :, c[1] :])]
    named = table.columns is not None or table.rows is not None
    if kind == "auto" and not named and columns in (2, 3) and _are_pairs(values):
        if not alike and rows != columns:
            return replace(table, kind="edges")
        if rows == 3 and columns == 2:  # no matrix of two nodes is written with a header only
            return replace(table, kind="edges")
        _check_not_edges(values, source, at)
    if kind == "auto" and named and not alike and columns in (2, 3) and _are_pairs(values):
        listed = ", ".join(table.columns or table.rows or ())
        msg = (
            f"{source}: {columns} columns of whole numbers ({listed:.60}): either a list of {rows} "
            f"edges, or a time series of {columns} regions. Set kind='edges' or kind='timeseries'."
        )
        raise FileFormatError(msg, parameter="kind")
    if kind in ("auto", "matrix") and alike:
        chosen = alike[0] if len(alike) == 1 else _plain_or_numbered(values, source, at)
        return _without(table, *chosen, kind="matrix")
    if kind == "matrix":
        chosen = (0, 0) if (0, 0) in square or not square else square[0]
        return _without(table, *chosen, kind="matrix")
    if kind == "auto":
        if (0, 0) in square:
            doubt = f" If it is a time series of {rows} points, set kind='timeseries'."
            return replace(table, kind="matrix", doubt=doubt)
        _check_no_square(values, square, source, at)
        _check_no_flat(values, source)
    top = not fixed[0] and table.columns is None and _numbers_row(values, texts, source, at)
    side = not fixed[1] and _numbers_column(values, int(top), table, source)
    return _without(table, int(top), int(side), kind="timeseries")


def is_like_matrix(values: Numbers) -> bool:
    """Whether a square table is symmetric, holds only 0 and 1, or has one empty triangle.

    The diagonal does not count.
    """
    n = len(values)
    if n < 2 or values.shape[1] != n:
        return False
    values = values.copy()
    np.fill_diagonal(values, 0.0)
    if triangle_of(values) is not None or bool(((values == 0) | (values == 1)).all()):
        return True
    with np.errstate(invalid="ignore"):
        scale = float(np.nanmax(np.abs(np.where(np.isfinite(values), values, 0.0))))
        return bool(np.allclose(values, values.T, rtol=0, atol=1e-6 * scale, equal_nan=True))


def triangle_of(values: Numbers) -> str | None:
    """``"upper"`` or ``"lower"`` if the other triangle is empty: all 0, or all missing.

    >>> triangle_of(np.array([[0, 2, 3], [0, 0, 4], [0, 0, 0]], dtype=float))
    'upper'
    """
    rows, columns = np.triu_indices(len(values), k=1)
    upper, lower = values[rows, columns], values[columns, rows]
    for name, full, empty in (("upper", upper, lower), ("lower", lower, upper)):
        lacks = bool((empty == 0).all() or np.isnan(empty).all())
        if lacks and bool(((full != 0) & ~np.isnan(full)).any()):
            return name
    return None


def _fits(values: Numbers, top: int, side: int) -> bool:
    """Whether the first row and column, where asked for, can be numbers of nodes."""
    if min(values.shape[0] - top, values.shape[1] - side) < 1:
        return False
    row, column = values[0, side:], values[top:, 0]
    if top and side:
        small = len(values) < 4 and not np.isnan(values[0, 0])
        if small or not np.array_equal(np.sort(row), np.sort(column)):
            return False
    return (not top or _are_labels(row)) and (not side or _are_labels(column))


def _are_labels(values: Numbers) -> bool:
    """Whether numbers can be those of nodes: whole, not negative, all different."""
    if len(values) < 2 or not np.isfinite(values).all() or (values < 0).any():
        return False
    return bool((values % 1 == 0).all()) and len(np.unique(values)) == len(values)


def labels_in(cells: Sequence[str]) -> Names | None:
    """The numbers of nodes that cells hold, as names; None if they are none."""
    if not all(x and is_number(x) for x in cells):
        return None
    values = np.array([float(x) for x in cells if x.lower() not in NO_NUMBER])
    return label_names(values) if len(values) == len(cells) and _are_labels(values) else None


def label_names(values: Numbers) -> Names:
    """Whole numbers as names."""
    return tuple(str(int(x)) for x in values.tolist())


def _without(table: NumberTable, top: int, side: int, *, kind: str) -> NumberTable:
    """The table without its first row or column, which become names."""
    values, notes = table.values, table.notes
    columns, rows = table.columns, table.rows
    if top:
        columns = label_names(values[0, side:])
        notes += ("The first row is read as numbers of the nodes.",)
    elif side and columns is not None:
        columns = columns[1:]
    if side:
        named = kind == "matrix"
        rows = label_names(values[top:, 0]) if named else None
        what = "numbers of the nodes" if named else "the count of the time points"
        notes += (f"The first column is read as {what}.",)
    elif top and rows is not None:
        rows = rows[1:]
    return replace(
        table, values=values[top:, side:], columns=columns, rows=rows, kind=kind, notes=notes
    )


def _plain_or_numbered(values: Numbers, source: str, at: Sequence[int]) -> tuple[int, int]:
    """Whether a square table is a matrix, or one with numbers of nodes around it."""
    inner, n = values[1:, 1:], len(values)
    numbers = values[0, 1:]
    if not np.array_equal(numbers, values[1:, 0]):
        return (0, 0)
    if n > 3 and np.isnan(values[0, 0]) and not np.isnan(np.diagonal(inner)).all():
        return (1, 1)
    pairs = inner[~np.eye(n - 1, dtype=bool)]
    every = values[~np.eye(n, dtype=bool)]
    if not np.isnan(values[0, 0]) and bool(((every == 0) | (every == 1)).all()):
        return (0, 0)
    counted_up = bool((np.diff(numbers) == 1).all())
    if (pairs % 1).any() or (counted_up and n > 3 and bool(((pairs == 0) | (pairs == 1)).all())):
        return (1, 1)
    if not counted_up and not bool((np.diff(numbers) > 0).all()):
        return (0, 0)
    line = at[0] if at else 1
    msg = (
        f"{source}: line {line} and the first column both hold "
        f"{_some(numbers)}: either numbers of {n - 1} nodes, or values of a matrix of {n} nodes. "
        "Set header='both' or header='none'."
    )
    raise FileFormatError(msg, parameter="header")


def _are_pairs(values: Numbers) -> bool:
    """Whether every row begins with two whole numbers."""
    ends = values[:, :2]
    return bool(np.isfinite(ends).all()) and not (ends % 1).any()


def _check_not_edges(values: Numbers, source: str, at: Sequence[int]) -> None:
    """Raise if a small table may be an edge list as well as a matrix."""
    ends = [tuple(x) for x in values[:, :2].tolist()]
    twice = len({frozenset(x) for x in ends}) < len(ends)
    if twice or (values[:, :2] < 0).any() or any(u == v for u, v in ends):
        return
    first = " ".join(f"{x:g}" for x in values[0].tolist())
    rows, columns = values.shape
    msg = (
        f"{source}: {rows} lines of {columns} numbers (line {at[0] if at else 1}: {first}) are "
        f"either a matrix of {columns} nodes or a list of {rows} edges. Set kind='matrix' or "
        "kind='edges'."
    )
    raise FileFormatError(msg, parameter="kind")


def _check_no_square(
    values: Numbers, square: list[tuple[int, int]], source: str, at: Sequence[int]
) -> None:
    """Raise if a table that is nearly square holds a matrix: then it is no time series."""
    rows, columns = values.shape
    n = min(rows, columns)
    line = at[0] if at else 1
    if abs(rows - columns) > 2 or n < 2:
        return
    for size in (n, n - 1):
        for i in range(min(3, rows - size + 1)):
            for j in range(min(3, columns - size + 1)):
                if size > 2 and is_like_matrix(values[i : i + size, j : j + size]):
                    line = at[i] if i < len(at) else i + 1
                    msg = (
                        f"{source}: {rows} × {columns} numbers, of which the {size} × {size} from "
                        f"line {line}, column {j + 1} look like a matrix, but not what is around "
                        "them. Remove the other rows and columns. If it is a time series, set "
                        f"kind='timeseries'; {_SETTLE}."
                    )
                    raise FileFormatError(msg, parameter=("kind", "header"))
    if square:
        i, j = square[0]
        what = "row" if i else "column"
        msg = (
            f"{source}: {rows} × {columns} numbers; the first {what} (from line {line}) may number "
            f"the nodes of a matrix that is not symmetric, or it is a time series of {rows} points "
            f"of {columns} regions. Set kind='timeseries', or symmetrise the matrix."
        )
        raise FileFormatError(msg, parameter=("kind", "header"))


def _check_no_flat(values: Numbers, source: str) -> None:
    """Raise if each row is a symmetric matrix in one line, or if matrices follow one another."""
    rows, n = values.shape
    stacked = n > 2 and rows % n == 0 and rows > n
    if stacked and all(is_like_matrix(part) for part in values.reshape(-1, n, n)):
        msg = (
            f"{source}: {rows // n} matrices of {n} nodes, one below the other. Write one file per "
            "matrix. If it is a time series, set kind='timeseries'."
        )
        raise FileFormatError(msg, parameter="kind")
    n = math.isqrt(n)
    if n < 3 or n * n != values.shape[1]:
        return
    if all(is_like_matrix(row.reshape(n, n)) for row in values):
        msg = (
            f"{source}: each line holds a matrix of {n} nodes. Write one file per matrix. If it is "
            "a time series, set kind='timeseries'."
        )
        raise FileFormatError(msg, parameter="kind")


def _some(values: Numbers) -> str:
    listed = label_names(values)
    return ", ".join(listed[:3]) + (f" … {listed[-1]}" if len(listed) > 4 else "")


# ---- time series ------------------------------------------------------------------------


def _numbers_row(
    values: Numbers, texts: list[list[str]] | None, source: str, at: Sequence[int]
) -> bool:
    """Whether the first row of a time series numbers the regions."""
    first, rest = values[0], values[1:]
    if len(values) < 2 or not _are_labels(first):
        return False
    steps = np.diff(first)
    rising, counts = bool((steps > 0).all()), bool((steps == 1).all())
    if (rest[np.isfinite(rest)] % 1).any():
        written = texts is not None and all(_WHOLE.fullmatch(x) for x in texts[0])
        return counts or (len(first) > 2 and (rising or written))
    if counts or (rising and len(first) > 4):
        line = at[0] if at else 1
        msg = (
            f"{source}: line {line} holds {_some(first)}: either numbers of {len(first)} regions, "
            "or the first time point. Set header='row' or header='none'."
        )
        raise FileFormatError(msg, parameter="header")
    return False


def _numbers_column(values: Numbers, top: int, table: NumberTable, source: str) -> bool:
    """Whether the first column of a time series counts or times its rows."""
    first, rest = values[top:, 0], values[top:, 1:]
    if rest.shape[1] < 2 or len(first) < 3 or not np.isfinite(first).all():
        return False
    steps = np.diff(first)
    if steps[0] <= 0 or not np.allclose(steps, steps[0], rtol=1e-6, atol=0):
        return False
    if table.columns is not None and table.columns[0].lower() in CLOCKS:
        return True
    with np.errstate(invalid="ignore"):
        others = np.diff(rest, axis=0)
        if np.isclose(others, others[:1]).all(axis=0).any():
            return False  # other columns rise as evenly
    counts = bool(steps[0] == 1) and first[0] in (0, 1)
    if counts and table.columns is None and (rest[np.isfinite(rest)] % 1).any():
        return True
    msg = (
        f"{source}: its first column rises by {steps[0]:g} from row to row ({first[0]:g}, "
        f"{first[1]:g}, {first[2]:g} …): either the count of the time points, or a region. Set "
        "header='column' (or 'both', if the first row holds names) to leave it out, header='none' "
        "(or 'row') to keep it."
    )
    raise FileFormatError(msg, parameter="header")
