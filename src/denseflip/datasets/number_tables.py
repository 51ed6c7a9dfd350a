"""Tables of numbers from CSV, TSV, whitespace text, NPY, NPZ and MAT files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.datasets.arrays import Arrays, called
from denseflip.datasets.mat73 import is_hdf5, load_mat73
from denseflip.datasets.matlab import load_mat
from denseflip.datasets.parse_tables import parse_table
from denseflip.datasets.table_shapes import NumberTable, settle
from denseflip.datasets.text_cells import read_cells
from denseflip.errors import FileFormatError, MissingExtraError, TooLargeError
from denseflip.limits import check_size, check_zip, open_zip

TEXT = (".csv", ".tsv", ".txt", ".1d", ".dat", ".edge")
BINARY = (".npy", ".npz", ".mat")


def read_table(
    path: str | Path,
    *,
    variable: str | None = None,
    kind: str = "auto",
    header: str = "auto",
    decimal: str = "auto",
) -> NumberTable:
    """Read one table of numbers.

    Parameters
    ----------
    path : a .csv, .tsv, .txt, .1D, .dat, .edge, .npy, .npz or .mat file.
    variable : the array to read from a .npz or .mat file that holds several.
    kind : ``matrix`` or ``timeseries`` if it is known; ``auto`` finds out.
    header : which of the first row and the first column hold names (`denseflip.reading.HEADERS`).
    decimal : the decimal sign of a text file: ``auto``, ``point`` or ``comma``.
    """
    source = Path(path)
    suffix = source.suffix.lower()
    if not source.is_file():
        msg = f"{source}: there is no such file."
        raise FileFormatError(msg)
    if suffix in BINARY:
        arrays = read_arrays(source)
        chosen = arrays.choose(variable, source.name)
        values = _as_table(arrays.numbers[chosen], source.name)
        names = arrays.names_of(chosen)
        if names is not None and len(names) != values.shape[1]:
            msg = (
                f"{source.name}: its list of {len(names)} names fits the rows of {called(chosen)} "
                f"{values.shape}, not the columns. Time series need a row per time point and a "
                "column per region: transpose the array."
            )
            raise FileFormatError(msg)
        table = NumberTable(values, names)
        top, left = header in ("row", "both"), header in ("column", "both")
        if header != "auto":
            table = NumberTable(values[int(top) :, int(left) :], names)
        return settle(table, source.name, kind=kind, fixed=(header != "auto",) * 2)
    if suffix in TEXT:
        cells = read_cells(source, decimal=decimal)
        return parse_table(cells, source.name, kind=kind, header=header)
    msg = f"{source}: unknown file type {suffix!r}. Known: {', '.join(TEXT + BINARY)}."
    raise FileFormatError(msg)


def read_arrays(path: Path) -> Arrays:
    """The arrays of a .npy, .npz or .mat file; Python and MATLAB objects are never opened."""
    suffix = path.suffix.lower()
    try:
        check_size(path.stat().st_size, f"{path.name}: the file")
        if suffix == ".mat":
            content = path.read_bytes()
            return load_mat73(path) if is_hdf5(content) else load_mat(content, path.name)
        return _load_numpy(path)
    except (TooLargeError, FileFormatError, MissingExtraError):
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
    if {"format", "shape", "data"} <= set(arrays):
        return Arrays({"array": _sparse(arrays, path.name)})
    texts = {k: v for k, v in arrays.items() if v.dtype.kind in "U" and v.ndim == 1}
    return Arrays(
        {k: v for k, v in arrays.items() if k not in texts},
        {k: tuple(map(str, v.tolist())) for k, v in texts.items()},
    )


def _sparse(arrays: Mapping[str, npt.NDArray[Any]], source: str) -> npt.NDArray[np.float64]:
    """The dense matrix of the arrays that `scipy.sparse.save_npz` writes."""
    form = arrays["format"].item()
    form = form.decode("ascii", "replace") if isinstance(form, bytes) else str(form)
    parts = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}
    if form not in parts or not set(parts[form]) <= set(arrays):
        msg = (
            f"{source}: a SciPy sparse matrix of the format {form!r:.20}, which is not read; save "
        )
        msg += "it with format='csr'."
        raise FileFormatError(msg)
    shape = [int(x) for x in arrays["shape"].ravel().tolist()]
    data = arrays["data"].ravel()
    first, second = (arrays[k].ravel() for k in parts[form])
    if len(shape) != 2 or min(shape) < 0 or data.dtype.kind not in "biuf":
        msg = f"{source}: a sparse matrix of the shape {shape!r:.60}, {data.dtype}."
        raise FileFormatError(msg)
    check_size(8.0 * shape[0] * shape[1], f"{source}: its {shape[0]} × {shape[1]} numbers")
    if first.dtype.kind not in "iu" or second.dtype.kind not in "iu":
        msg = "positions that are not whole numbers"
        raise ValueError(msg)
    rows, columns = first.astype(np.int64), second.astype(np.int64)
    if form != "coo":
        counts = np.diff(columns)
        lines = shape[0] if form == "csr" else shape[1]
        if len(counts) != lines or (counts < 0).any() or counts.sum() != len(rows):
            msg = "its rows do not add up"
            raise ValueError(msg)
        lined = np.repeat(np.arange(lines), counts)
        rows, columns = (lined, rows) if form == "csr" else (rows, lined)
    if not len(rows) == len(columns) == len(data):
        msg = "its parts differ in length"
        raise ValueError(msg)
    if len(rows) and not (
        0 <= rows.min() <= rows.max() < shape[0] and 0 <= columns.min() <= columns.max() < shape[1]
    ):
        msg = f"entries outside its shape {shape}"
        raise ValueError(msg)
    dense = np.zeros(shape)
    np.add.at(dense, (rows, columns), data.astype(np.float64))
    return dense


def _as_table(array: npt.NDArray[Any], source: str) -> npt.NDArray[np.float64]:
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        msg = f"{source}: expected a table of real numbers; got shape {array.shape}, {array.dtype}."
        raise FileFormatError(msg)
    check_size(8.0 * array.size, f"{source}: its {array.shape[0]} × {array.shape[1]} numbers")
    return array.astype(np.float64)
