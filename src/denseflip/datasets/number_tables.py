"""Tables of numbers from CSV, TSV, whitespace text, NPY, NPZ and MAT files."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.checks import visible
from denseflip.datasets.matlab import load_mat
from denseflip.errors import FileFormatError, TooLargeError, counted
from denseflip.limits import PER_CELL, check_size, check_zip, open_zip

TEXT = (".csv", ".tsv", ".txt", ".1d", ".dat")
BINARY = (".npy", ".npz", ".mat")
#: How tables write a missing number, besides an empty cell and "nan".
NO_NUMBER = ("n/a", "na")
_NAME = 60  # characters of an array's name in a message
_NEWER = " A MATLAB 7.3 file is not read; save it with '-v7' or as CSV."


@dataclass(frozen=True)
class NumberTable:
    """A two-dimensional table of numbers, with the names and coordinates in its file.

    Attributes
    ----------
    values : the numbers.
    columns, rows : the names of its header and of its first column, if it has any.
    points : coordinates (x, y, z) per column, if the file has them.
    """

    values: npt.NDArray[np.float64]
    columns: tuple[str, ...] | None = None
    rows: tuple[str, ...] | None = None
    points: tuple[tuple[float, float, float], ...] | None = None


def read_table(path: str | Path, *, variable: str | None = None) -> NumberTable:
    """Read one table of numbers.

    A first row or column in which most cells are names instead of numbers is read as names. An
    empty cell becomes NaN, so that the check of the graph can report its position.

    Parameters
    ----------
    path : a .csv, .tsv, .txt, .1D, .dat, .npy, .npz or .mat file.
    variable : the array to read from a .npz or .mat file that holds several.
    """
    source = Path(path)
    suffix = source.suffix.lower()
    if not source.is_file():
        msg = f"{source}: there is no such file."
        raise FileFormatError(msg)
    if suffix in BINARY:
        arrays = read_arrays(source)
        chosen = arrays.choose(variable, source.name)
        return NumberTable(_as_table(arrays.numbers[chosen], source.name), arrays.names_of(chosen))
    if suffix in TEXT:
        table = parse_table(read_rows(source), source.name)
        if suffix == ".1d" and table.columns is None:
            return replace(table, columns=_commented_header(source, table.values.shape[1]))
        return table
    msg = f"{source}: unknown file type {suffix!r}. Known: {', '.join(TEXT + BINARY)}."
    raise FileFormatError(msg)


def read_rows(path: Path, *, may_be_empty: bool = False) -> list[list[str]]:
    """The cells of a text table; ``#`` starts a comment line, the delimiter is detected."""
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
    if delimiter == ";" and "." not in lines[-1]:  # 0,5;0,7: decimal commas
        lines = [line.replace(",", ".") for line in lines]
    reader = csv.reader(lines, delimiter=delimiter)
    try:
        return [(numbers[reader.line_num - 1], [x.strip() for x in row]) for row in reader]
    except csv.Error as error:  # for example a cell of 131,073 characters
        at = numbers[min(reader.line_num, len(numbers)) - 1]
        msg = f"{path.name}: line {at} cannot be read as a row of a table ({error})."
        raise FileFormatError(msg) from error


def _commented_header(path: Path, width: int) -> tuple[str, ...] | None:
    """The names of a header in which every name follows a comment mark, as AFNI writes them."""
    with path.open(encoding="utf-8-sig") as lines:
        for line in lines:
            cells = line.split()
            if len(cells) == width and all(len(x) > 1 and x.startswith("#") for x in cells):
                return tuple(x[1:] for x in cells)
            if cells and not line.startswith("#"):
                break
    return None


def parse_table(rows: list[list[str]], source: str) -> NumberTable:
    """Cells to numbers, with names in the first row or column separated."""
    columns: tuple[str, ...] | None = None
    # A header above row names, even if both are numbers.
    corner = len(rows) > 1 and (rows[0][0] == "" or _is_numbered(rows[0]))
    # Most cells must be words: one invalid cell does not make a header.
    if corner or (len(rows) > 1 and _mostly_words(rows[0])):
        columns, rows = tuple(rows[0]), rows[1:]
    first, names = 0, None
    if len(rows[0]) > 1 and (corner or _mostly_words([row[0] for row in rows if row])):
        first, names = 1, tuple(row[0] if row else "" for row in rows)
        if columns is not None and len(columns) == len(rows[0]):
            columns = columns[1:]
    width = len(rows[0])
    for i, row in enumerate(rows):
        if len(row) != width:
            msg = f"{source}: row {i} has {counted(len(row), 'cell', 'cells')}, but row 0 has "
            msg += f"{width} (rows are counted from 0)."
            raise FileFormatError(msg)
    try:
        cells = [["nan" if x.lower() in ("", *NO_NUMBER) else x for x in r[first:]] for r in rows]
        values = np.array(cells, dtype=np.float64)
        if any("_" in x for row in cells for x in row):
            raise ValueError
    except ValueError as error:
        r, c = next(
            (i, j) for i, row in enumerate(rows) for j, x in enumerate(row[first:])
            if not is_number(x)
        )  # fmt: skip
        msg = f"{source}: row {r}, column {c}, counted from 0, holds {rows[r][first + c]!r}, "
        msg += "which is not a number."
        raise FileFormatError(msg) from error
    return NumberTable(values, columns, names)


def _is_numbered(row: list[str]) -> bool:
    """Whether a first row is a word (above the row names) followed by column numbers."""
    rest = range(len(row) - 1)
    numbers = ([str(i) for i in rest], [str(i + 1) for i in rest])
    return len(row) > 2 and not is_number(row[0]) and row[1:] in numbers


def _mostly_words(cells: list[str]) -> bool:
    return sum(not is_number(x) for x in cells) * 2 > len(cells)


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


@dataclass(frozen=True)
class Arrays:
    """The content of a .npy, .npz or .mat file: arrays of numbers, lists of texts and of points."""

    numbers: Mapping[str, npt.NDArray[Any]]
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    points: Mapping[str, tuple[tuple[float, float, float], ...]] = field(default_factory=dict)
    closed: Mapping[str, str] = field(default_factory=dict)

    def choose(self, variable: str | None, source: str, *, ndim: int = 2) -> str:
        """The name of the array to read: the requested one, else the only one."""
        if variable is not None:
            if variable in self.closed:
                msg = f"{source}: {variable!r} is {self.closed[variable]}; only arrays of numbers "
                raise FileFormatError(msg + "and lists of texts are opened.", parameter="variable")
            if variable not in self.numbers:
                held = ", ".join(map(_called, self.numbers)) or "no array of numbers"
                msg = f"{source}: no array named {variable!r}. It holds: {held}."
                raise FileFormatError(msg, parameter="variable")
            return variable
        fit = [k for k, v in self.numbers.items() if v.ndim == ndim and min(v.shape) > 1]
        if len(fit) == 1:
            return fit[0]
        held = ", ".join(f"{_called(k)} {v.shape}" for k, v in self.numbers.items())
        closed = ", ".join(f"{_called(k)} ({w}, not opened)" for k, w in self.closed.items())
        held = ", ".join(x for x in (held, closed) if x) or "nothing"
        what = "table of numbers" if ndim == 2 else "stack of matrices"
        msg = f"{source}: expected one {what}; it holds {held}."
        if fit:
            msg += " Choose one (variable)."
        raise FileFormatError(msg, parameter="variable" if fit else ())

    def names_of(self, chosen: str) -> tuple[str, ...] | None:
        """The list of texts that names the columns of an array, if there is exactly one.

        QSIRecon's ``atlas_A_region_labels`` goes with ``atlas_A_…``; CONN's ``names`` with ``Z``.
        """
        width = self.numbers[chosen].shape[-1]
        square = self.numbers[chosen].shape[0]
        lists = {k: v for k, v in self.texts.items() if len(v) in (width, square)}
        own = [k for k in lists if k.endswith("_region_labels")
               and chosen.startswith(k.removesuffix("region_labels"))]  # fmt: skip
        usual = [k for k in ("names", "labels", "region_labels", "name") if k in lists]
        for keys in (own, usual, list(lists) if len(lists) == 1 else []):
            if keys:
                return lists[max(keys, key=len) if keys is own else keys[0]]
        return None


def _called(name: str) -> str:
    """The name of an array for a message, shortened and made printable."""
    return visible(name if len(name) <= _NAME else f"{name[: _NAME - 1]}…")


def read_arrays(path: Path) -> Arrays:
    """The arrays of a .npy, .npz or .mat file; Python and MATLAB objects are never opened."""
    suffix = path.suffix.lower()
    try:
        check_size(path.stat().st_size, f"{path.name}: the file")
        if suffix == ".mat":
            content = path.read_bytes()
            if content[:4] == b"\x89HDF" or content[512:516] == b"\x89HDF":
                msg = f"{path.name}: cannot be read as .mat (it is HDF5).{_NEWER}"
                raise FileFormatError(msg)
            found = load_mat(content, path.name)
            return Arrays(found.arrays, found.texts, found.points, found.closed)
        return _load_numpy(path)
    except (TooLargeError, FileFormatError):
        raise
    except (ValueError, OSError, EOFError, KeyError, TypeError) as error:
        hint = ""
        if "pickle" in str(error):
            hint = " It holds Python objects, which are never loaded; save plain numbers."
        msg = f"{path.name}: cannot be read as {suffix} ({error}).{hint}"
        raise FileFormatError(msg) from error
    except Exception as error:  # damaged zip files raise various exceptions
        msg = f"{path.name}: cannot be read as {suffix} ({type(error).__name__}: {error})."
        raise FileFormatError(msg) from error


def _load_numpy(path: Path) -> Arrays:
    # allow_pickle=False makes NumPy refuse objects instead of unpickling them.
    content = path.read_bytes()
    if content.startswith(b"PK"):
        with open_zip(content, path.name) as archive:
            check_zip(archive, path.name)
    loaded = np.load(io.BytesIO(content), allow_pickle=False)
    if isinstance(loaded, np.ndarray):
        return Arrays({"array": loaded})
    with loaded:
        arrays = {name: loaded[name] for name in loaded.files}
    arrays = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
    texts = {k: v for k, v in arrays.items() if v.dtype.kind in "U" and v.ndim == 1}
    return Arrays(
        {k: v for k, v in arrays.items() if k not in texts},
        {k: tuple(map(str, v.tolist())) for k, v in texts.items()},
    )


def _as_table(array: npt.NDArray[Any], source: str) -> npt.NDArray[np.float64]:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        msg = f"{source}: expected a table of real numbers; got shape {array.shape}, {array.dtype}."
        raise FileFormatError(msg)
    check_size(8.0 * array.size, f"{source}: its {array.shape[0]} × {array.shape[1]} numbers")
    return array.astype(np.float64)
