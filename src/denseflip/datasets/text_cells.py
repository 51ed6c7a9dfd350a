"""The cells of a text table: its encoding, its comments, its delimiter, its decimal sign."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path

from denseflip.errors import FileFormatError, shown
from denseflip.limits import PER_CELL, check_size
from denseflip.text_tables import read_text

#: How tables write a missing number, besides an empty cell and "nan".
NO_NUMBER = ("n/a", "na")
_REMARK = re.compile(r"\s*(?:#|%[\s%])")  # a name may start with %
_SEPARATOR = re.compile(r"(?i)sep=(.)")  # the first line of a CSV file from Excel
_QUOTED = re.compile(r'"[^"]*"')
_TOKEN = re.compile(r'"[^"]*"|\S+')
_COMMA = re.compile(r"[-+]?\d+,\d+(?:[eE][-+]?\d+)?")  # 0,5
_POINT = re.compile(r"[-+]?\d*\.\d*(?:[eE][-+]?\d+)?")  # 0.5
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+")  # 1,234: a thousand, or 1.234
_SPACED = re.compile(r"[-+]?\d+(?:,\d+)?(?:[eE][-+]?\d+)?")


@dataclass(frozen=True)
class Cells:
    """The cells of a text table, without comments and blank lines.

    Attributes
    ----------
    rows : the cells of each line; lines may differ in length.
    lines : the number of each line in the file, counted from 1.
    header : the cells of a commented header, as AFNI and NumPy write it.
    remarks : the comments before the first row.
    notes : sentences about how the text was read.
    """

    rows: list[list[str]]
    lines: list[int]
    header: tuple[str, ...] | None = None
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def read_cells(path: Path, *, may_be_empty: bool = False, decimal: str = "auto") -> Cells:
    """The cells of a text table.

    Lines that start with ``#``, or with ``%`` and a space, are comments. The delimiter is a tab, a
    semicolon, a comma or white space, whichever separates all lines.

    Parameters
    ----------
    path : the file.
    may_be_empty : whether a file with comments only is an empty table.
    decimal : the decimal sign: ``point``, ``comma``, or ``auto`` to detect it; ``text`` changes
        only numbers that are clear.
    """
    text = read_text(path)
    every = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    kept = [
        (i, line)
        for i, line in enumerate(every, start=1)
        if line.strip(" ") and not _REMARK.match(line)
    ]
    delimiter = None
    if kept and (given := _SEPARATOR.fullmatch(kept[0][1].strip())):
        delimiter, kept = given[1], kept[1:]
    filled = [line for _, line in kept if line.strip()]
    if not filled and may_be_empty and text:
        return Cells([], [], remarks=tuple(every))
    if not filled:
        msg = f"{path.name}: the file is empty."
        raise FileFormatError(msg)
    delimiter = _delimiter(filled) if delimiter is None else delimiter
    cells = len(filled) + (text.count(delimiter) if delimiter else text.count(" "))
    check_size(len(text) + float(cells) * PER_CELL, f"{path.name}: its {cells} cells")
    if delimiter != "\t":
        kept = [(i, line) for i, line in kept if line.strip()]
    numbers = [i for i, _ in kept]
    rows = _split([line for _, line in kept], delimiter, numbers, path.name)
    if delimiter == "\t" and " " in text and _mixes_spaces(rows):
        delimiter = ""
        kept = [(i, line) for i, line in kept if line.strip()]
        numbers = [i for i, _ in kept]
        rows = _split([line for _, line in kept], delimiter, numbers, path.name)
    notes: tuple[str, ...] = ()
    if "," in text and (delimiter != "," or '"' in text):
        notes = _decimal_commas(rows, numbers, decimal, path.name)
    before = every[: numbers[0] - 1]
    header = _commented(before, delimiter, max(map(len, rows)))
    return Cells(rows, numbers, header, tuple(before), notes)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, or nothing (a missing number)."""
    if not cell or cell.lower() in NO_NUMBER:
        return True
    try:
        float(cell)
    except ValueError:
        return False
    if "_" in cell:  # Python parses 1_2 as 12; here it is a name
        return False
    return not re.fullmatch(r"[A-Za-z]+", cell) or cell.lower() in {"nan", "inf", "infinity"}


# ---- delimiters -------------------------------------------------------------------------


def _delimiter(lines: list[str]) -> str:
    """The character that separates the cells; empty for white space."""
    if any('"' in line for line in lines):
        lines = [_QUOTED.sub("q", line) for line in lines]
    for share in (1.0, 0.5):
        for mark in "\t;,":
            if sum(mark in line for line in lines) >= share * len(lines):
                return "" if mark == "," and _spaced(lines) else mark
    return ""


def _spaced(lines: list[str]) -> bool:
    """Whether commas are decimal signs of numbers that spaces separate: ``0,5 0,25``."""
    if not all(" " in line.strip() for line in lines):
        return False
    return all(_SPACED.fullmatch(x) for line in lines for x in line.split())


def _split(lines: list[str], delimiter: str, numbers: list[int], source: str) -> list[list[str]]:
    most = csv.field_size_limit()
    for i, line in zip(numbers, lines, strict=True):
        long = len(line) > most and any(
            len(x) > most for x in (line.split(delimiter) if delimiter else line.split())
        )
        if long:
            msg = f"{source}: line {i} cannot be read as a row of a table (field larger than field "
            raise FileFormatError(msg + f"limit ({most})).")
    quoted = any('"' in line for line in lines)
    if not delimiter:
        if quoted:
            return [[x.strip('"').strip() for x in _TOKEN.findall(line)] for line in lines]
        return [line.split() for line in lines]
    if not quoted:
        spaces = " \t\xa0".replace(delimiter, "")
        return [
            [x.strip() for x in line.split(delimiter)]
            if any(x in line for x in spaces)
            else line.split(delimiter)
            for line in lines
        ]
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        rows = [[x.strip() for x in row] for row in reader]
    except csv.Error as error:  # for example a cell of 131,073 characters
        at = numbers[min(reader.line_num, len(numbers)) - 1]
        msg = f"{source}: line {at} cannot be read as a row of a table ({error})."
        raise FileFormatError(msg) from error
    if len(rows) != len(lines):
        msg = f"{source}: a quoted cell runs over several lines, or a quotation mark is missing."
        raise FileFormatError(msg)
    return rows


def _mixes_spaces(rows: list[list[str]]) -> bool:
    """Whether some cells between tabs are several numbers with spaces between them."""
    return any(
        " " in cell and all(is_number(x) for x in cell.split()) for row in rows for cell in row
    )


# ---- decimal signs ----------------------------------------------------------------------


def _decimal_commas(
    rows: list[list[str]], numbers: list[int], decimal: str, source: str
) -> tuple[str, ...]:
    """Write decimal commas as points, in place; raises if commas may also group thousands."""
    found = [
        (i, j)
        for i, row in enumerate(rows)
        for j, x in enumerate(row)
        if "," in x and (_COMMA.fullmatch(x) or _GROUPED.fullmatch(x))
    ]
    if not found:
        return ()
    points = next((x for row in rows for x in row if "." in x and _POINT.fullmatch(x)), None)
    if decimal == "text" and (points or any(_GROUPED.fullmatch(rows[i][j]) for i, j in found)):
        return ()
    i, j = found[0]
    where = f"{source}: line {numbers[i]} holds {shown(rows[i][j])}"
    grouped = all(_GROUPED.fullmatch(rows[i][j]) for i, j in found)
    if decimal == "auto" and grouped:
        msg = (
            f"{where}: {rows[i][j].replace(',', '')} with a comma after the thousands, or "
            f"{rows[i][j].replace(',', '.', 1)} with a decimal comma? Set decimal='point' or "
            "decimal='comma'."
        )
        raise FileFormatError(msg, parameter="decimal")
    sign = "" if decimal == "point" else "."
    if sign and points is not None:
        msg = f"{where}, and another cell {shown(points)}: decimal commas and points are mixed."
        raise FileFormatError(msg)
    for i, j in found:
        if not sign and not _GROUPED.fullmatch(rows[i][j]):
            msg = f"{source}: line {numbers[i]} holds {shown(rows[i][j])}, which is not a number "
            raise FileFormatError(msg + "with a decimal point.", parameter="decimal")
        rows[i][j] = rows[i][j].replace(",", sign)
    return ("Commas are read as decimal signs.",) if sign else ()


def _commented(before: list[str], delimiter: str, width: int) -> tuple[str, ...] | None:
    """The names of a header behind a comment mark.

    AFNI marks every name (``#1 #2``), NumPy the line (``# A,B,C``). Between spaces only
    the first is a header: a sentence may have as many words as the table has columns.
    """
    line = next((x.strip() for x in reversed(before) if x.strip()), "")
    if not line.startswith("#"):
        return None
    marked = line.split()
    if len(marked) == width and all(len(x) > 1 and x.startswith("#") for x in marked):
        return tuple(x[1:] for x in marked)
    names = [x.strip() for x in line.lstrip("# ").split(delimiter)] if delimiter else []
    if len(names) != width or not all(names) or len(set(names)) < width:
        return None
    return tuple(names)
