"""MATLAB 7.3 files, which are HDF5, read with h5py (the extra ``mat73``).

Only what the file itself stores is read: no links, no external or virtual data sets, no objects.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from denseflip.datasets.arrays import Arrays
from denseflip.errors import FileFormatError, MissingExtraError, TooLargeError
from denseflip.limits import PER_CELL, check_size

_MARK = b"\x89HDF\r\n\x1a\n"
_NUMBERS = (
    "double",
    "single",
    "logical",
    *(f"{u}int{n}" for u in ("", "u") for n in (8, 16, 32, 64)),
)


def is_hdf5(content: bytes) -> bool:
    """Whether the bytes of a file are HDF5, with or without MATLAB's own 512 bytes before it."""
    return content.startswith(_MARK) or content[512:520] == _MARK


def load_mat73(path: Path) -> Arrays:
    """Read a MATLAB 7.3 file.

    Raises
    ------
    MissingExtraError
        If h5py is not installed.
    TooLargeError, FileFormatError
        If its content is too large, or it is damaged.
    """
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError("h5py", "mat73") from error

    found = Arrays()
    try:
        with h5py.File(path, "r") as file:
            for name in file:
                if name.startswith("#"):
                    continue  # where MATLAB stores the content of cells
                if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                    found.closed[name] = "a link"
                    continue
                _read(file[name], name, found, path.name, h5py)
    except (TooLargeError, FileFormatError):
        raise
    except Exception as error:  # h5py raises various exceptions for damaged files
        msg = f"{path.name}: damaged, or not a MATLAB 7.3 file ({error!s:.80})."
        raise FileFormatError(msg) from error
    return found


def _read(item: Any, name: str, found: Arrays, source: str, h5py: Any) -> None:
    """Add one variable to `found`."""
    kind = item.attrs.get("MATLAB_class", b"")
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    if isinstance(item, h5py.Group):
        if "MATLAB_sparse" in item.attrs:
            found.numbers[name] = _sparse(item, name, source)
        else:
            found.closed[name] = "a struct" if kind == "struct" else "an object"
        return
    if item.is_virtual or item.external is not None:
        found.closed[name] = "stored in another file"
        return
    if item.attrs.get("MATLAB_empty"):
        found.closed[name] = "empty"
        return
    if item.dtype.kind == "O" and kind == "cell":
        texts = _texts(item, source, name, h5py)
        if texts is None:
            found.closed[name] = "a cell with other content than texts"
        else:
            found.texts[name] = texts
    elif kind == "char":
        check_size(float(item.size) * PER_CELL, f"{source}: its text {name!r:.40}")
        codes = np.atleast_2d(np.asarray(item[()]).T)
        found.texts[name] = tuple("".join(map(chr, row)).strip() for row in codes.tolist())
    elif item.dtype.kind in "biuf" and (kind in _NUMBERS or not kind):
        check_size(8.0 * item.size, f"{source}: its array {name!r:.40}")
        found.numbers[name] = np.asarray(item[()]).T  # MATLAB stores arrays column by column
    else:
        found.closed[name] = (
            "complex numbers" if item.dtype.kind in "Vc" else f"a {kind or 'value'}"
        )


def _texts(item: Any, source: str, name: str, h5py: Any) -> tuple[str, ...] | None:
    """The texts of a cell, each stored elsewhere in the file; None if it holds anything else."""
    check_size(float(item.size) * PER_CELL, f"{source}: its cell {name!r:.40}")
    texts = []
    for link in np.asarray(item[()]).T.ravel(order="F"):
        one = item.file[link] if isinstance(link, h5py.Reference) and link else None
        kind = b"" if one is None else one.attrs.get("MATLAB_class", b"")
        if one is None or kind not in (b"char", "char") or one.size > 10_000:
            return None
        texts.append("".join(map(chr, np.asarray(one[()]).T.ravel().tolist())).strip())
    return tuple(texts)


def _sparse(item: Any, name: str, source: str) -> Any:
    """A sparse matrix: where columns begin (jc), rows (ir) and values (data) of the entries."""
    rows = int(item.attrs["MATLAB_sparse"])
    begins = np.asarray(item["jc"][()], dtype=np.int64)
    columns = len(begins) - 1
    check_size(8.0 * rows * columns, f"{source}: its array {name!r:.40}")
    at = np.asarray(item["ir"][()], dtype=np.int64) if "ir" in item else np.empty(0, np.int64)
    values = np.asarray(item["data"][()]) if "data" in item else np.empty(0)
    counts = np.diff(begins)
    fits = len(at) == len(values) == counts.sum() and not (counts < 0).any()
    if not fits or (len(at) and not 0 <= at.min() <= at.max() < rows):
        msg = f"entries of the sparse array {name!r:.40} do not fit its shape"
        raise ValueError(msg)
    dense = np.zeros((rows, columns))
    dense[at, np.repeat(np.arange(columns), counts)] = values
    return dense
