"""MATLAB files (version 4, 5 to 7): arrays of numbers, lists of texts, lists of points.

The parser is our own and checks all bounds, because a damaged file can crash SciPy's compiled
reader. Nothing else in a file is ever opened, in particular no objects and no function handles.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.datasets.arrays import Arrays
from denseflip.errors import FileFormatError, TooLargeError
from denseflip.limits import PER_CELL, check_size

_MATRIX, _PACKED = 14, 15
_CELL, _CHAR, _SPARSE = 1, 4, 5
_COMPLEX, _LOGICAL = 0x08, 0x02
#: Numeric array classes and their types; logical arrays are stored as bytes.
_NUMBERS = {5: "f8", 6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4",
            14: "i8", 15: "u8"}  # fmt: skip
#: Classes that are not data; never opened, but named if they are requested.
_CLOSED = {2: "a struct", 3: "an object", 16: "a function handle", 17: "an object"}
_OPAQUE = 17  # has no shape
_LONGEST = 64_000_000  # bytes of a list of names
_AXES = 32  # of an array at most; bounds the product of its sizes
#: Types in which numbers are stored, whatever their class.
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8",
          13: "u8"}  # fmt: skip
_OLD_TYPES = ("f8", "f4", "i4", "i2", "u2", "u1")  # of version 4
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}

Numbers = npt.NDArray[Any]


def load_mat(content: bytes, source: str) -> Arrays:
    """Read a MATLAB file's bytes.

    Raises
    ------
    TooLargeError, FileFormatError
        If its content, unpacked, is too large, or it is damaged.
    """
    found = Arrays()
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    try:
        if order is None:
            _read_old(content, source, found)
        else:
            for body in _matrices(content[128:], order, source):
                _read_matrix(body, order, source, found)
    except TooLargeError:
        raise
    except (struct.error, zlib.error, ValueError, IndexError, UnicodeError) as error:
        msg = f"{source}: damaged, or not a MATLAB file ({error!s:.80})."
        raise FileFormatError(msg) from error
    return found


# ---- arrays -----------------------------------------------------------------------------


def _matrices(data: bytes, order: str, source: str) -> Iterator[bytes]:
    """The content of the arrays of a file, unpacked; skips overlong lists."""
    total = 0.0
    for kind, body in _elements(data, order):
        if kind == _MATRIX:
            yield body
        if kind != _PACKED:
            continue
        unpack = zlib.decompressobj()
        pieces: list[bytes] = []
        rest, size = body, 0
        while not unpack.eof:
            piece = unpack.decompress(rest, 1 << 22)
            rest = unpack.unconsumed_tail
            if not piece and not rest and not unpack.eof:
                msg = "it ends in the middle of compressed data"
                raise ValueError(msg)
            size += len(piece)
            total += len(piece)
            check_size(total, f"{source}: its content, unpacked,")
            if size <= _LONGEST or _is_number(pieces[0], order):
                pieces.append(piece)
        if sum(map(len, pieces)) < size:
            continue  # too long for a list of names
        for inside, unpacked in _some(b"".join(pieces), order, 1):
            if inside == _MATRIX:
                yield unpacked


def _is_number(start: bytes, order: str) -> bool:
    """Whether the first bytes of an unpacked element are those of an array of numbers."""
    return len(start) >= 20 and struct.unpack_from(f"{order}I", start, 16)[0] & 0xFF in _NUMBERS


def _read_matrix(body: bytes, order: str, source: str, found: Arrays) -> None:
    """Add the content of one array to `found`."""
    parts = list(_some(body, order, 3))
    if len(parts) < 2 or len(parts[0][1]) < 4:
        return
    flags = struct.unpack_from(f"{order}I", parts[0][1])[0]
    kind, flags = flags & 0xFF, flags >> 8 & 0xFF
    if kind == _OPAQUE:
        name = parts[1][1].decode("latin-1")
        _check_new(name, found)
        found.closed[name] = _CLOSED[kind]
        return
    if len(parts) < 3:
        return
    name = parts[2][1].decode("latin-1")
    shape = _shape(parts[1][1], order)
    if not name:
        return  # where MATLAB stores data of its functions
    _check_new(name, found)
    if kind in _CLOSED:
        found.closed[name] = _CLOSED[kind]
    elif kind in _NUMBERS and flags & _COMPLEX:
        found.closed[name] = "complex numbers"
    elif kind in _NUMBERS:
        if len(shape) < 2 or min(shape) < 0:
            msg = f"an array of the shape {shape}"
            raise ValueError(msg)
        _check_room(shape, name, source, found)
        stored = [part for _, part in zip(range(6), _elements(body, order), strict=False)][3:]
        read = _sparse if kind == _SPARSE else _full
        to = "u1" if flags & _LOGICAL else _NUMBERS[kind]
        found.numbers[name] = read(stored, shape, order).astype(to)
    elif (items := _list_of(body, kind, shape, order, f"{source}: its cell {name!r:.40}")) is None:
        return
    elif all(isinstance(x, str) for x in items):
        found.texts[name] = tuple(x.strip() for x in items)
    elif all(isinstance(x, tuple) and len(x) == 3 for x in items):
        found.points[name] = tuple((x[0], x[1], x[2]) for x in items)
    else:
        found.closed[name] = "a cell with other content than texts"


def _check_new(name: str, found: Arrays) -> None:
    """Raise if there already is a variable of that name, which would be ambiguous."""
    if any(name in held for held in (found.numbers, found.texts, found.points, found.closed)):
        msg = f"two variables are called {name!r:.40}"
        raise ValueError(msg)


def _shape(data: bytes, order: str) -> list[int]:
    if len(data) > 4 * _AXES:
        msg = f"an array of {len(data) // 4:,} axes"
        raise ValueError(msg)
    return [int(x) for x in np.frombuffer(data, dtype=f"{order}i4")]


def _check_room(shape: list[int], name: str, source: str, found: Arrays) -> None:
    """Raise if an array is too large, alone or together with those read before it.

    A few bytes can describe a sparse array of any shape, and a small file can hold many of them.
    """
    before = float(sum(array.nbytes for array in found.numbers.values()))
    beside = ", and those before it," if before else ""
    needed = before + 8.0 * math.prod(map(float, shape))
    check_size(needed, f"{source}: its array {name!r:.40}{beside}")


def _numbers(part: tuple[int, bytes], order: str) -> Numbers:
    kind, data = part
    if kind not in _TYPES:
        msg = f"numbers of the type {kind}"
        raise ValueError(msg)
    return np.frombuffer(data, dtype=f"{order}{_TYPES[kind]}")


def _full(stored: list[tuple[int, bytes]], shape: list[int], order: str) -> Numbers:
    count = math.prod(shape)
    if not count:
        return np.zeros(shape)
    numbers = _numbers(stored[0], order)
    if len(numbers) != count:
        msg = f"{len(numbers):,} numbers for the shape {shape}"
        raise ValueError(msg)
    return numbers.reshape(shape, order="F")


def _sparse(stored: list[tuple[int, bytes]], shape: list[int], order: str) -> Numbers:
    """A matrix stored by columns: rows of the entries, where columns begin, the entries."""
    if len(stored) < 3 or len(shape) != 2:
        msg = f"a sparse array of the shape {shape} in {len(stored)} parts"
        raise ValueError(msg)
    rows, begins, values = (_numbers(part, order) for part in stored)
    if rows.dtype.kind not in "iu" or begins.dtype.kind not in "iu":
        msg = "positions in a sparse array that are not whole numbers"
        raise ValueError(msg)
    counts: npt.NDArray[np.int64] = begins[1:].astype(np.int64) - begins[:-1].astype(np.int64)
    if len(begins) != shape[1] + 1 or begins[0] or (counts < 0).any():
        msg = f"columns of a sparse array that begin at {begins[:9].tolist()}"
        raise ValueError(msg)
    rows, values = rows[: begins[-1]].astype(np.int64), values[: begins[-1]]
    if not len(rows) == len(values) == begins[-1] or (rows < 0).any() or (rows >= shape[0]).any():
        msg = f"entries of a sparse array outside its shape {shape}"
        raise ValueError(msg)
    dense = np.zeros(shape, dtype=values.dtype)
    dense[rows, np.repeat(np.arange(shape[1]), counts)] = values
    return dense


def _read_old(content: bytes, source: str, found: Arrays) -> None:
    """Version 4: a header of five numbers, a name, and the numbers, one array after another."""
    at = 0
    while at < len(content) or not at:
        for order in "<>":
            kind, rows, columns, imaginary, length = struct.unpack_from(f"{order}5i", content, at)
            known = kind in range(1000 * (order == ">"), 1000 * (order == ">") + 100)
            if known and kind % 100 // 10 < len(_OLD_TYPES) and kind % 10 <= 2:
                break
        else:
            msg = f"its first bytes are {content[:20]!r}" if not at else f"at byte {at:,}"
            raise ValueError(msg)
        form = np.dtype(f"{order}{_OLD_TYPES[kind % 100 // 10]}")
        size = rows * columns * form.itemsize
        name = content[at + 20 : at + 20 + length].rstrip(b"\0").decode("latin-1")
        _check_new(name, found)
        at += 20 + length
        if min(rows, columns, length - 1) < 0 or at + size * (1 + bool(imaginary)) > len(content):
            msg = f"an array of {rows} × {columns} numbers that is cut off"
            raise ValueError(msg)
        table = np.frombuffer(content, form, rows * columns, at).reshape((rows, columns), order="F")
        at += size * (1 + bool(imaginary))
        if imaginary or (kind % 10 == 2 and columns == 4):
            found.closed[name] = "complex numbers"
        elif kind % 10 == 1:
            found.closed[name] = "a text"
        elif kind % 10 == 2:
            found.numbers[name] = _old_sparse(table, name, source, found)
        else:
            _check_room([rows, columns], name, source, found)
            found.numbers[name] = table.astype(form.newbyteorder("="))


def _old_sparse(table: Numbers, name: str, source: str, found: Arrays) -> Numbers:
    """Rows, columns and values of entries, the shape in the last line."""
    if table.shape[1:] != (3,) or not len(table) or not (abs(table[:, :2]) < 2**53).all():
        msg = f"a sparse array of {table.shape[1]} columns, or its indices"
        raise ValueError(msg)
    shape = table[-1, :2].astype(np.int64).tolist()
    at = table[:-1, :2].astype(np.int64) - 1
    if min(shape) < 0 or (at < 0).any() or (at >= shape).any():
        msg = f"entries of a sparse array outside its shape {shape}"
        raise ValueError(msg)
    _check_room(shape, name, source, found)
    dense = np.zeros(shape)
    dense[at[:, 0], at[:, 1]] = table[:-1, 2]
    return dense


# ---- elements and lists -----------------------------------------------------------------


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The elements of a stream, type and content; all but packed ones are padded to eight bytes."""
    at = 0
    while at + 8 <= len(data):
        first, size = struct.unpack_from(f"{order}II", data, at)
        if first >> 16:  # a small element: its size and content are in the tag
            yield first & 0xFFFF, data[at + 4 : at + 4 + min(first >> 16, 4)]
            at += 8
            continue
        if at + 8 + size > len(data):
            msg = f"it ends in the middle: {size:,} bytes should follow, {len(data) - at - 8:,} do"
            raise ValueError(msg)
        yield first, data[at + 8 : at + 8 + size]
        at += 8 + size + (-size % 8 if first != _PACKED else 0)


def _list_of(body: bytes, kind: int, shape: list[int], order: str, source: str) -> list[Any] | None:
    """The items of a cell or of a table of characters; None for anything else."""
    if kind == _CHAR:
        parts = list(_some(body, order, 4))
        return _characters(parts[3], shape, order) if len(parts) > 3 else None
    count = math.prod(shape)
    if kind != _CELL or count < 1 or max(shape) != count:
        return None
    check_size(float(count) * PER_CELL, f"{source}, {count} items,")
    items = [_item(data, order) for kind, data in _elements(body, order) if kind == _MATRIX]
    return items if len(items) == count else None


def _some(body: bytes, order: str, most: int) -> Iterator[tuple[int, bytes]]:
    for i, element in enumerate(_elements(body, order)):
        if i == most:
            return
        yield element


def _item(body: bytes, order: str) -> str | tuple[float, ...] | None:
    """A text or a few numbers in a cell; None for anything else, which is not opened."""
    parts = list(_some(body, order, 4))
    if len(parts) < 4 or len(parts[0][1]) < 4:
        return None
    kind = struct.unpack_from(f"{order}I", parts[0][1])[0] & 0xFF
    shape = _shape(parts[1][1], order)
    if kind == _CHAR:
        rows = _characters(parts[3], shape, order)
        return rows[0] if len(rows) == 1 else None
    if kind in _NUMBERS and kind != _SPARSE and math.prod(shape) <= 3:
        return tuple(float(x) for x in _numbers(parts[3], order))
    return None


def _characters(part: tuple[int, bytes], shape: list[int], order: str) -> list[str]:
    """The rows of a table of characters, which MATLAB stores column by column."""
    kind, data = part
    code = _TEXTS.get(kind, "latin-1")
    suffix = "" if code in ("latin-1", "utf-8") else ("-le" if order == "<" else "-be")
    text = data.decode(code + suffix, errors="replace")
    rows = shape[0] if shape else 0
    if rows > len(text):  # a damaged size, which would cause a long empty loop
        msg = f"{rows} rows of {len(text)} characters"
        raise ValueError(msg)
    if rows <= 1:
        return [text] if rows else []
    return ["".join(text[i::rows]) for i in range(rows)]
