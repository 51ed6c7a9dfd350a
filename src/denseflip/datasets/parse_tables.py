"""Parse text tables: where names end and values begin, and which cells are not numbers."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from denseflip.datasets.table_shapes import CLOCKS, Names, Numbers, NumberTable, labels_in, settle
from denseflip.datasets.text_cells import NO_NUMBER, Cells, is_number
from denseflip.errors import FileFormatError, counted, shown


def parse_table(
    cells: Cells, source: str, *, kind: str = "auto", header: str = "auto"
) -> NumberTable:
    """Cells to numbers; names in the first row or column are separated.

    An empty cell becomes NaN, so that the check of the graph can report its position. The kind is
    ``matrix`` or ``timeseries`` if it is known; the header is one of `reading.HEADERS`.
    """
    rows, lines = _trimmed(cells)
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
    clock = top and len(rows[0]) == width and rows[0][0].lower() in CLOCKS - {""}
    if found.kind == "timeseries" and (header != "auto" or clock):
        return replace(found, rows=None)  # names of time points, as requested
    return found


def _trimmed(cells: Cells) -> tuple[list[list[str]], list[int]]:
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
    around = first[0] == "" and others[0][1:2] != [""]
    if around and rest == [row[0] for row in others if row] and not all(map(is_number, rest)):
        return True  # the same names on both sides, most of which look like numbers
    labels = labels_in(rest)
    if len(first) < 3 or labels is None:
        return False
    word = not is_number(first[0])
    same = labels == labels_in([row[0] for row in others if row])
    rising = all(int(a) < int(b) for a, b in pairwise(labels))
    if not rising and not (same and len(first) > 3):
        return False
    if word:  # above the names of the rows
        return same or len(first) > 3
    return around and len(first) > 3 and all(row and row[0] for row in others)


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
    counts = labels_in([row[0] for row in body]) is not None
    return columns[0].lower() in CLOCKS and (counts or width == len(body) + 1)


def _two_words(body: list[list[str]]) -> bool:
    return all(not is_number(x) for row in body for x in row[:2])


def _ragged(body: list[list[str]], at: list[int], i: int, source: str) -> str:
    widths = [len(row) for row in body]
    n = len(widths)
    msg = f"{source}: line {at[i]} has {counted(widths[i], 'cell', 'cells')}, but line {at[0]} has "
    msg += f"{widths[0]}."
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
                place = f"line {at[i]}, column {first + j + 1}"
                msg = f"{source}: {place} holds {shown(x)}, which is not a number. Correct it from "
                raise FileFormatError(msg + "the original data, or export the file again.")
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
