"""What a table of numbers is: a matrix, a time series or an edge list, with or without names.

A first row or column may hold names, or numbers of nodes, in place of values. A table that can be
read in two ways is refused with both readings and the option that decides.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from denseflip.datasets.text_cells import NO_NUMBER, Cells, is_number
from denseflip.errors import FileFormatError, counted, shown

Numbers = npt.NDArray[np.float64]
Names = tuple[str, ...]

_WHOLE = re.compile(r"[-+]?\d+")
#: Headers of a column that counts or times the rows of a time series.
_CLOCKS = {
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


def parse_table(
    cells: Cells, source: str, *, kind: str = "auto", header: str = "auto"
) -> NumberTable:
    """Cells to numbers; names in the first row or column are separated.

    An empty cell becomes NaN, so that the check of the graph can report its position.

    Parameters
    ----------
    cells : the text of the table.
    source : the file, for messages.
    kind : ``matrix`` or ``timeseries`` if it is known.
    header : which of the first row and the first column hold names: one of `reading.HEADERS`.
    """
    rows, lines = _trimmed(cells, source)
    top = header in ("row", "both") or (header == "auto" and _is_header(rows))
    columns = tuple(rows[0]) if top else None
    body, at = (rows[1:], lines[1:]) if top else (rows, lines)
    if not body:
        msg = f"{source}: line {lines[0]} is a header, but no numbers follow."
        raise FileFormatError(msg)
    width = len(body[0])
    for i, row in enumerate(body):
        if len(row) != width:
            raise FileFormatError(_ragged(body, at, i, source))
    if columns is not None and len(columns) not in (width, width - 1):
        msg = f"{source}: line {lines[0]} names {len(columns)} columns, but line {at[0]} has "
        msg += f"{counted(width, 'cell', 'cells')}."
        raise FileFormatError(msg)
    left = header in ("column", "both") or (header == "auto" and _has_words(body, columns))
    first = 1 if left else 0
    if left and header == "auto" and columns is not None and width > 3 and _two_words(body):
        first = 2  # File and Sub-brick, as AFNI's 3dROIstats writes them
    if first >= width:
        msg = f"{source}: line {at[0]} has names, but no numbers."
        raise FileFormatError(msg)
    if columns is not None and len(columns) < width - first:
        msg = (
            f"{source}: line {lines[0]} names {len(columns)} columns, but line {at[0]} has {width} "
        )
        msg += "cells. If the first of them is a name, set header='both'."
        raise FileFormatError(msg, parameter="header")
    names = tuple(row[0] for row in body) if first == 1 else None
    if columns is not None:
        columns = columns[len(columns) - (width - first) :]
    elif cells.header is not None and len(cells.header) >= width - first:
        columns = cells.header[len(cells.header) - (width - first) :]
    values = _numbers(body, first, at, source)
    table = NumberTable(values, columns, names, notes=cells.notes)
    if first == 2:
        return replace(table, kind="timeseries" if kind == "auto" else kind)
    fixed = (top or header != "auto", bool(first) or header != "auto")
    _check_decimals(cells, values, kind, source)
    found = settle(table, source, kind=kind, fixed=fixed, texts=body, at=at)
    if found.kind == "timeseries" and header != "auto":
        return replace(found, rows=None)  # names of time points, as requested
    return found


def _trimmed(cells: Cells, source: str) -> tuple[list[list[str]], list[int]]:
    """The rows without the empty cells and lines that trailing delimiters leave."""
    rows, lines = cells.rows, cells.lines
    last = len(rows)
    while last > 1 and not any(rows[last - 1]):
        last -= 1
    blank = len(rows) - last
    body = rows[1:last] or rows[:last]
    width = max(map(len, body))
    short = min(map(len, body))
    if width == short + 1 and all(len(r) == short or not r[-1] for r in body):
        rows = [r[:short] if len(r) == width and not r[-1] else r for r in rows]
        body, width = rows[1:last] or rows[:last], short
    empty = 0
    while empty < width - 1 and all(len(r) == width and not r[width - 1 - empty] for r in body):
        empty += 1
    named = len(rows[0]) >= width and any(rows[0][width - empty :]) if empty else False
    if blank and blank == empty and len(rows) - (len(rows) != width) == width:
        return rows, lines  # nodes without data, not delimiters
    if empty and not named:
        head = rows[0][: len(rows[0]) - empty] if not any(rows[0][-empty:]) else rows[0]
        rows = [head, *(r[: width - empty] for r in rows[1:])]
    return rows[:last], lines[:last]


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row holds names: most cells are words, or its corner is empty or a word.

    One invalid cell does not make a header.
    """
    if len(rows) < 2:
        return False
    first, others = rows[0], rows[1:]
    rest = first[1:] if len(first) > 1 else first
    if sum(not is_number(x) for x in first) * 2 > len(first):
        return True
    if len(first) > 2 and sum(not is_number(x) for x in rest) * 2 > len(rest):
        return True
    if all(first) and all(len(row) == len(first) + 1 for row in others):  # as R writes it
        return True
    labels = _labels(rest)
    if len(first) < 3 or labels is None:
        return False
    word = not is_number(first[0])
    same = labels == _labels([row[0] for row in others if row])
    rising = all(int(a) < int(b) for a, b in pairwise(labels))
    if not rising and not (same and len(first) > 3):
        return False
    if word:  # above the names of the rows
        return same or len(first) > 3
    empty = first[0] == "" and others[0][1:2] != [""] and len(first) > 3
    return empty and all(row and row[0] for row in others)


def _has_words(body: list[list[str]], columns: Names | None) -> bool:
    """Whether the first column holds names."""
    width = len(body[0])
    if width < 2:
        return False
    if columns is not None and len(columns) == width - 1:
        return True
    if sum(not is_number(row[0]) for row in body) * 2 > len(body):
        return True
    if columns is None:
        return False
    counts = _labels([row[0] for row in body]) is not None
    return columns[0].lower() in _CLOCKS and (counts or width == len(body) + 1)


def _two_words(body: list[list[str]]) -> bool:
    return all(not is_number(x) for row in body for x in row[:2])


def _ragged(body: list[list[str]], at: list[int], i: int, source: str) -> str:
    widths = [len(row) for row in body]
    n = len(widths)
    msg = f"{source}: row {i} has {counted(widths[i], 'cell', 'cells')}, but row 0 has {widths[0]} "
    msg += f"(rows are counted from 0; it is line {at[i]} of the file)."
    if sorted(widths) == list(range(min(widths), min(widths) + n)) and widths[-1] != widths[0]:
        msg += (
            " The lines grow by one cell each, like one triangle of a matrix. Write the full "
            "matrix, with 0 or nothing between the delimiters in the other triangle."
        )
    return msg


def _numbers(body: list[list[str]], first: int, at: list[int], source: str) -> Numbers:
    """The numbers of rows of cells, from a column on."""
    try:
        values = np.array([list(map(float, row[first:] if first else row)) for row in body])
        if not any("_" in "".join(row[first:]) for row in body):  # float("1_2") is 12
            return values
    except ValueError:
        pass
    values = np.full((len(body), len(body[0]) - first), np.nan)
    for i, row in enumerate(body):
        for j, x in enumerate(row[first:]):
            if not is_number(x):
                msg = f"{source}: row {i}, column {j}, counted from 0, holds {shown(x)}, which is "
                raise FileFormatError(msg + f"not a number (line {at[i]}).")
            if x and x.lower() not in NO_NUMBER:
                values[i, j] = float(x)
    return values


def _check_decimals(cells: Cells, values: Numbers, kind: str, source: str) -> None:
    """Raise if numbers with decimal commas seem to be split at these commas: 0,5,0,25."""
    n, width = values.shape
    if kind == "timeseries" or width != 2 * n or n < 2 or not (values % 1 == 0).all():
        return
    before, after = values[:, ::2], values[:, 1::2]
    if (np.abs(before) <= 1).all() and (after >= 0).all() and after.max() > 1:
        line = cells.lines[-1]
        msg = (
            f"{source}: line {line} has {width} whole numbers for {n} lines: numbers with decimal "
            "commas that are also separated by commas? Write decimal points, or another delimiter. "
            "If it is a time series, set kind='timeseries'."
        )
        raise FileFormatError(msg, parameter="kind")


# ---- matrix, series or edges ------------------------------------------------------------


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


def _labels(cells: Sequence[str]) -> Names | None:
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
    if table.columns is not None and table.columns[0].lower() in _CLOCKS:
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
