"""Tables of numbers from CSV, TSV, whitespace text, NPY, NPZ and MAT files."""

from __future__ import annotations

import csv
import io
import math
import re
import struct
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import FileFormatError, TooLargeError, counted
from denseflip.limits import PER_CELL, check_size, check_zip

TEXT = (".csv", ".tsv", ".txt", ".1d", ".dat")
BINARY = (".npy", ".npz", ".mat")
_MAT_PACKED = 15
_MAT_KINDS = {"double", "single", "logical", "sparse"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


@dataclass(frozen=True)
class NumberTable:
    """A two-dimensional table of numbers; ``columns`` are the names of its header, if any."""

    values: npt.NDArray[np.float64]
    columns: tuple[str, ...] | None = None


def read_table(path: str | Path, *, variable: str | None = None) -> NumberTable:
    """Read one table of numbers.

    A first row or first column that holds names instead of numbers (most of its cells) is taken
    as such. An empty cell becomes NaN, so that the check of the graph can name its place.

    Parameters
    ----------
    path : a .csv, .tsv, .txt, .1D, .dat, .npy, .npz or .mat file.
    variable : the array to take from a .npz or .mat file that holds several.

    Notes
    -----
    SciPy reads .mat files with compiled code that a damaged file can crash, Python and all; from
    strangers rather take the other kinds.
    """
    source = Path(path)
    suffix = source.suffix.lower()
    if not source.is_file():
        msg = f"{source}: there is no such file."
        raise FileFormatError(msg)
    if suffix in BINARY:
        return NumberTable(_read_binary(source, suffix, variable))
    if suffix in TEXT:
        return parse_table(read_rows(source), source.name)
    msg = f"{source}: unknown file type {suffix!r}. Known: {', '.join(TEXT + BINARY)}."
    raise FileFormatError(msg)


def read_rows(path: Path, *, may_be_empty: bool = False) -> list[list[str]]:
    """The cells of a text table; ``#`` starts a comment line, the delimiter is found out."""
    return [row for _, row in read_lines(path, may_be_empty=may_be_empty)]


def read_lines(path: Path, *, may_be_empty: bool = False) -> list[tuple[int, list[str]]]:
    """`read_rows`, each row with the number of its line in the file, counted from 1."""
    try:
        check_size(path.stat().st_size, f"{path.name}: the file")
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{path.name}: not a text file in UTF-8 ({error.reason} at byte {error.start})."
        raise FileFormatError(msg) from error
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror})."
        raise FileFormatError(msg) from error
    kept = [
        (i, line)
        for i, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]
    numbers, lines = [i for i, _ in kept], [line for _, line in kept]
    if not lines and may_be_empty and text:
        return []
    if not lines:
        msg = f"{path.name}: the file is empty."
        raise FileFormatError(msg)
    delimiter = next((d for d in "\t,;" if d in lines[0]), None)
    cells = len(lines) + (text.count(delimiter) if delimiter else text.count(" "))
    check_size(len(text) + float(cells) * PER_CELL, f"{path.name}: its {cells} cells")
    if delimiter is None:
        return [(i, line.split()) for i, line in kept]
    if delimiter == ";" and "." not in lines[-1]:  # 0,5;0,7: the decimal comma of some locales
        lines = [line.replace(",", ".") for line in lines]
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        return [(numbers[reader.line_num - 1], [x.strip() for x in row]) for row in reader]
    except csv.Error as error:  # a cell of 131,073 characters, for one
        at = numbers[min(reader.line_num, len(numbers)) - 1]
        msg = f"{path.name}: line {at} cannot be read as a row of a table ({error})."
        raise FileFormatError(msg) from error


def parse_table(rows: list[list[str]], source: str) -> NumberTable:
    """Cells to numbers, with names in the first row or column set apart."""
    columns: tuple[str, ...] | None = None
    # A header above row names, even if both are numbers.
    corner = len(rows) > 1 and (rows[0][0] == "" or _is_numbered(rows[0]))
    # Most of its cells must be words: one wrong cell makes no header.
    if corner or (len(rows) > 1 and _mostly_words(rows[0])):
        columns, rows = tuple(rows[0]), rows[1:]
    first = 0
    if len(rows[0]) > 1 and (corner or _mostly_words([row[0] for row in rows if row])):
        first = 1
        if columns is not None and len(columns) == len(rows[0]):
            columns = columns[1:]
    width = len(rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            msg = f"{source}: row {i} has {counted(len(row), 'cell', 'cells')}, but row 0 has "
            msg += f"{width} (rows are counted from 0)."
            raise FileFormatError(msg)
    try:
        values = np.array([[x or "nan" for x in row[first:]] for row in rows], dtype=np.float64)
    except ValueError as error:
        r, c = next(
            (i, j) for i, row in enumerate(rows) for j, x in enumerate(row[first:])
            if not is_number(x)
        )  # fmt: skip
        msg = f"{source}: row {r}, column {c}, counted from 0, holds {rows[r][first + c]!r}, "
        msg += "which is no number."
        raise FileFormatError(msg) from error
    return NumberTable(values, columns)


def _is_numbered(row: list[str]) -> bool:
    """Whether a first row is a word (above the names of rows) and the numbers of the columns."""
    rest = range(len(row) - 1)
    numbers = ([str(i) for i in rest], [str(i + 1) for i in rest])
    return len(row) > 2 and not is_number(row[0]) and row[1:] in numbers


def _mostly_words(cells: list[str]) -> bool:
    return sum(not is_number(x) for x in cells) * 2 > len(cells)


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, or nothing (which stands for a missing one)."""
    if not cell:
        return True
    try:
        float(cell)
    except ValueError:
        return False
    return not re.fullmatch(r"[A-Za-z]+", cell) or cell.lower() in {"nan", "inf", "infinity"}


def _read_binary(path: Path, suffix: str, variable: str | None) -> npt.NDArray[np.float64]:
    try:
        check_size(path.stat().st_size, f"{path.name}: the file")
        arrays = _load_mat(path) if suffix == ".mat" else _load_numpy(path)
    except (TooLargeError, FileFormatError):
        raise
    except (ValueError, OSError, EOFError, KeyError, TypeError, NotImplementedError) as error:
        hint = ""
        if isinstance(error, NotImplementedError):
            hint = " A MATLAB 7.3 file is not read; save it with '-v7' or as CSV."
        elif "pickle" in str(error):
            hint = " It holds Python objects, which are never loaded; save plain numbers."
        msg = f"{path.name}: cannot be read as {suffix} ({error}).{hint}"
        raise FileFormatError(msg) from error
    except Exception as error:  # damaged zip and MATLAB files raise kinds of their own
        msg = f"{path.name}: cannot be read as {suffix} ({type(error).__name__}: {error})."
        raise FileFormatError(msg) from error
    if variable is not None:
        if variable not in arrays:
            msg = f"{path.name}: no array named {variable!r}. It holds: {', '.join(arrays)}."
            raise FileFormatError(msg)
        return _as_table(arrays[variable], path.name)
    tables = {k: v for k, v in arrays.items() if v.ndim == 2 and min(v.shape) > 1}
    if len(tables) != 1:
        held = ", ".join(f"{k} {v.shape}" for k, v in arrays.items()) or "nothing"
        msg = f"{path.name}: expected one table of numbers; it holds {held}."
        if tables:
            msg += " Say which one to take (variable)."
        raise FileFormatError(msg, parameter="variable" if tables else ())
    return _as_table(next(iter(tables.values())), path.name)


def _load_numpy(path: Path) -> dict[str, npt.NDArray[Any]]:
    # NumPy would unpickle what is no array; allow_pickle=False makes it refuse instead.
    content = path.read_bytes()
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            check_zip(archive, path.name)
    loaded = np.load(io.BytesIO(content), allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return {"array": loaded}
    with loaded:
        arrays = {name: loaded[name] for name in loaded.files}
    return {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}


def _load_mat(path: Path) -> dict[str, npt.NDArray[Any]]:
    import scipy.io
    import scipy.sparse as sp

    content = path.read_bytes()
    _check_mat(content, path.name)
    # Only what can be a table is opened: a cell or a struct may hold anything.
    names = []
    for name, shape, kind in scipy.io.whosmat(io.BytesIO(content)):
        if kind in _MAT_KINDS:
            check_size(8.0 * math.prod(map(float, shape)), f"{path.name}: its array {name!r:.40}")
            names.append(name)
    found = {}
    for name, value in scipy.io.loadmat(io.BytesIO(content), variable_names=names).items():
        value = value.toarray() if sp.issparse(value) else value
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            found[name] = value
    return found


def _check_mat(content: bytes, source: str) -> None:
    """Say so if the packed parts of a MATLAB file (version 5) would be too large unpacked."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        return  # version 4, which packs nothing
    at, total = 128, 0.0
    while at + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}II", content, at)
        if kind == _MAT_PACKED:
            unpack = zlib.decompressobj()
            rest = content[at + 8 : at + 8 + size]
            while rest and not unpack.eof:
                total += len(unpack.decompress(rest, 1 << 24))
                check_size(total, f"{source}: its content, unpacked,")
                rest = unpack.unconsumed_tail
        at += 8 + size


def _as_table(array: npt.NDArray[Any], source: str) -> npt.NDArray[np.float64]:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        msg = f"{source}: expected a table of real numbers; got shape {array.shape}, {array.dtype}."
        raise FileFormatError(msg)
    check_size(8.0 * array.size, f"{source}: its {array.shape[0]} × {array.shape[1]} numbers")
    return array.astype(np.float64)
