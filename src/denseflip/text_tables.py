"""Tables of text: label tables and node tables, from CSV, TSV and Excel files.

Cells are returned without surrounding blanks. Tables of numbers are read in
`denseflip.datasets.number_tables`.
"""

from __future__ import annotations

import csv
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

from denseflip.errors import DenseflipError, FileFormatError, MissingExtraError
from denseflip.limits import PER_CELL, check_size, check_zip, open_zip

#: How tables write a missing value, in lower case.
MISSING = frozenset({"", "n/a", "na", "nan", "none", "null", "#n/a", "<na>"})
EXCEL = (".xlsx", ".xlsm")
_OTHER_SHEETS = (".xls", ".xlsb", ".ods", ".numbers")

Line = tuple[int, list[str]]


def is_missing(text: str) -> bool:
    """Whether a cell means that there is no value.

    >>> is_missing(" N/A "), is_missing("0")
    (True, False)
    """
    return text.strip().lower() in MISSING


def read_cells(path: Path) -> list[Line]:
    """The rows of a table of text, each with its line in the file, counted from 1.

    A text file is in UTF-8 or UTF-16, its cells separated by tabs, commas, semicolons or, if there
    are none of these, blanks. An Excel file (``.xlsx``) has one sheet. Empty rows, lines that start
    with ``#``, and columns that are empty in every row are left out.
    """
    suffix = path.suffix.lower()
    if suffix in _OTHER_SHEETS:
        msg = f"{path.name}: {suffix} files are not supported. Save the table as CSV or .xlsx."
        raise FileFormatError(msg)
    rows = _excel_rows(path) if suffix in EXCEL else _text_rows(path)
    rows = [(i, row) for i, row in rows if any(row)]
    if not rows:
        msg = f"{path.name}: the file is empty."
        raise FileFormatError(msg)
    width = max(max(at for at, x in enumerate(row) if x) for _, row in rows) + 1
    return [(i, row[:width]) for i, row in rows]


# ---- text ---------------------------------------------------------------------------------


def _text_rows(path: Path) -> list[Line]:
    text = read_text(path)
    check_size(len(text) + (text.count("\n") + 1) * PER_CELL, f"{path.name}: its rows")
    kept = [
        (i, line)
        for i, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    numbers, lines = [i for i, _ in kept], [line for _, line in kept]
    if not lines:
        return []
    delimiter = next((d for d in "\t,;" if d in lines[0]), None)
    check_size(len(text) + text.count(delimiter or " ") * PER_CELL, f"{path.name}: its cells")
    if delimiter is None:
        for i, line in kept:
            if len(line) > csv.field_size_limit():
                msg = f"{path.name}: line {i}: field larger than field limit (131072)."
                raise FileFormatError(msg)
        parts = [line.split() for line in lines]
        alike = len({len(row) for row in parts}) == 1
        rows = parts if alike else [[line.strip()] for line in lines]  # else one column of names
        return list(zip(numbers, rows, strict=True))
    reader = csv.reader([f"{line}\n" for line in lines], delimiter=delimiter)
    try:
        return [(numbers[reader.line_num - 1], [x.strip() for x in row]) for row in reader]
    except csv.Error as error:  # for example a cell of 131,073 characters
        at = numbers[min(reader.line_num, len(numbers)) - 1]
        msg = f"{path.name}: line {at} cannot be read as a row of a table ({error})."
        raise FileFormatError(msg) from error


def read_text(path: Path) -> str:
    """The text of a file in UTF-8 or UTF-16, with or without a byte order mark."""
    try:
        check_size(path.stat().st_size, f"{path.name}: the file")
        content = path.read_bytes()
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror})."
        raise FileFormatError(msg) from error
    code = "utf-8-sig"
    start = content[:400]
    if start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        code = "utf-16"
    elif start and start.count(0) * 3 > len(start):  # UTF-16 without a mark
        code = "utf-16-le" if start[1::2].count(0) > start[::2].count(0) else "utf-16-be"
    try:
        return content.decode(code)
    except UnicodeDecodeError as error:
        msg = (
            f"{path.name}: not a text file in UTF-8 ({error.reason} at byte {error.start}). Save "
            "it as UTF-8; in Excel, as 'CSV UTF-8'."
        )
        raise FileFormatError(msg) from error


# ---- Excel --------------------------------------------------------------------------------


def _excel_rows(path: Path) -> list[Line]:
    try:
        from openpyxl import load_workbook
    except ImportError as error:
        raise MissingExtraError("openpyxl", "excel") from error
    try:
        with open_zip(path, path.name) as archive:
            check_zip(archive, path.name)
        book = load_workbook(path, read_only=True, data_only=True)
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror})."
        raise FileFormatError(msg) from error
    except (KeyError, ValueError, TypeError, zipfile.BadZipFile) as error:
        if isinstance(error, DenseflipError):
            raise
        msg = f"{path.name}: cannot be read as an Excel file ({error!s:.120})."
        raise FileFormatError(msg) from error
    sheets: dict[str, list[Line]] = {}
    try:
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what a file says of its size may be wrong
            cells = enumerate(sheet.iter_rows(values_only=True), start=1)
            sheets[sheet.title] = [(i, [_excel_cell(x) for x in row]) for i, row in cells]
    except (KeyError, ValueError, TypeError, IndexError, SyntaxError) as error:
        msg = f"{path.name}: cannot be read as an Excel file ({error!s:.120})."
        raise FileFormatError(msg) from error
    finally:
        book.close()
    filled = {name: rows for name, rows in sheets.items() if any(any(row) for _, row in rows)}
    if len(filled) > 1:
        msg = (
            f"{path.name}: {len(filled)} sheets have rows: {', '.join(filled)}. Save the one with "
            "the table as CSV, or remove the others."
        )
        raise FileFormatError(msg)
    return next(iter(filled.values()), [])


def _excel_cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, (date, datetime)):
        return value.isoformat()
    return str(value).strip()
