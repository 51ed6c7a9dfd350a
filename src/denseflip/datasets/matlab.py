"""MATLAB files (version 4, 5 to 7): arrays of numbers, lists of texts, lists of points.

Arrays are read by SciPy, and only those whose header says that they are plain numbers. Lists of
names (cells of texts, tables of characters) and of points (cells of three numbers) are read here,
byte by byte, with bounds: nothing else that a cell may hold, an object or a function handle least
of all, is ever opened.
"""

from __future__ import annotations

import io
import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import FileFormatError
from denseflip.limits import PER_CELL, check_size

_NUMBERS = {"double", "single", "logical", "sparse"} | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
#: What SciPy calls things that are no data; they are left alone and named if they are asked for.
_CLOSED = {"function": "a function handle", "object": "an object", "opaque": "an object",
           "struct": "a struct"}  # fmt: skip
_MATRIX, _PACKED = 14, 15
_CELL, _CHAR = 1, 4
_FIRST_NUMBER, _LAST_NUMBER = 6, 15  # classes double to uint64
_LONGEST = 64_000_000  # bytes of a list of names
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8",
          13: "u8"}  # fmt: skip
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}


@dataclass
class MatFile:
    """What a MATLAB file holds that is read here.

    Attributes
    ----------
    arrays : name → numbers.
    texts : name → a list of names.
    points : name → a list of three numbers each, such as CONN's ``xyz``.
    closed : name → what it is, of things that are never opened.
    """

    arrays: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    texts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    points: dict[str, tuple[tuple[float, float, float], ...]] = field(default_factory=dict)
    closed: dict[str, str] = field(default_factory=dict)


def load_mat(content: bytes, source: str) -> MatFile:
    """Read a MATLAB file's bytes.

    Raises
    ------
    TooLargeError, FileFormatError
        If its content, unpacked, is too large, or it is damaged.
    """
    import scipy.io
    import scipy.sparse as sp

    found = MatFile()
    parts = dict(_lists(content, source))
    names = []
    for name, shape, kind in scipy.io.whosmat(io.BytesIO(content)):
        if kind in _NUMBERS:
            check_size(8.0 * math.prod(map(float, shape)), f"{source}: its array {name!r:.40}")
            names.append(name)
        elif kind in _CLOSED:
            found.closed[name] = _CLOSED[kind]
    for name, value in scipy.io.loadmat(io.BytesIO(content), variable_names=names).items():
        value = value.toarray() if sp.issparse(value) else value
        if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            found.arrays[name] = value
    for name, items in parts.items():
        if all(isinstance(x, str) for x in items):
            found.texts[name] = tuple(x.strip() for x in items)
        elif all(isinstance(x, tuple) and len(x) == 3 for x in items):
            found.points[name] = tuple((x[0], x[1], x[2]) for x in items)
        else:
            found.closed[name] = "a cell of other things than texts"
    return found


# ---- byte by byte -----------------------------------------------------------------------


def _lists(content: bytes, source: str) -> Iterator[tuple[str, list[Any]]]:
    """The lists of texts and points at the top of a file, by name."""
    order = {b"IM": "<", b"MI": ">"}.get(content[126:128])
    if order is None:
        return  # version 4, which packs nothing and has no cells
    total = 0.0
    for kind, data in _elements(content[128:], order):
        elements = [(kind, data)]
        if kind == _PACKED:
            unpack = zlib.decompressobj()
            kept, rest, wanted = b"", data, True
            while rest and not unpack.eof:
                piece = unpack.decompress(rest, 1 << 22)
                total += len(piece)
                check_size(total, f"{source}: its content, unpacked,")
                # Numbers are SciPy's matter; of the rest no more is kept than names can need.
                wanted = wanted and len(kept) < _LONGEST and _is_list(kept or piece, order)
                kept = kept + piece if wanted else b""
                rest = unpack.unconsumed_tail
            elements = list(_elements(kept, order))
        for inside, body in elements[:1]:
            if inside == _MATRIX:
                try:
                    named = _list_of(body, order, source)
                except (struct.error, ValueError, IndexError, UnicodeError) as error:
                    msg = f"{source}: damaged, or no MATLAB file ({error!s:.80})."
                    raise FileFormatError(msg) from error
                if named is not None:
                    yield named


def _is_list(start: bytes, order: str) -> bool:
    """Whether the first bytes of an unpacked element are those of a cell or of characters."""
    if len(start) < 20:
        return True
    return struct.unpack_from(f"{order}I", start, 16)[0] & 0xFF in (_CELL, _CHAR)


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The elements of a stream, type and content; all but packed ones fill eight bytes each."""
    at = 0
    while at + 8 <= len(data):
        first, size = struct.unpack_from(f"{order}II", data, at)
        if first >> 16:  # a small element: its size and content are in the tag
            yield first & 0xFFFF, data[at + 4 : at + 4 + min(first >> 16, 4)]
            at += 8
            continue
        yield first, data[at + 8 : at + 8 + size]
        at += 8 + size + (-size % 8 if first != _PACKED else 0)


def _list_of(body: bytes, order: str, source: str) -> tuple[str, list[Any]] | None:
    """The name and the items of a cell or of a table of characters; None for anything else."""
    parts = list(_some(body, order, 4))
    if len(parts) < 3 or len(parts[0][1]) < 4:
        return None
    kind = struct.unpack_from(f"{order}I", parts[0][1])[0] & 0xFF
    shape = np.frombuffer(parts[1][1], dtype=f"{order}i4").tolist()
    name = parts[2][1].decode("latin-1")
    count = math.prod(shape)
    if kind == _CHAR and len(parts) > 3:
        return name, _characters(parts[3], shape, order)
    if kind != _CELL or count < 1 or max(shape) != count:
        return None
    check_size(float(count) * PER_CELL, f"{source}: the {count} items of its cell {name!r:.40}")
    items = [_item(data, order) for kind, data in _elements(body, order) if kind == _MATRIX]
    return (name, items) if len(items) == count else None


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
    shape = np.frombuffer(parts[1][1], dtype=f"{order}i4").tolist()
    if kind == _CHAR:
        rows = _characters(parts[3], shape, order)
        return rows[0] if len(rows) == 1 else None
    if _FIRST_NUMBER <= kind <= _LAST_NUMBER and parts[3][0] in _TYPES and math.prod(shape) <= 3:
        numbers = np.frombuffer(parts[3][1], dtype=f"{order}{_TYPES[parts[3][0]]}")
        return tuple(float(x) for x in numbers)
    return None


def _characters(part: tuple[int, bytes], shape: list[int], order: str) -> list[str]:
    """The rows of a table of characters, which MATLAB stores column by column."""
    kind, data = part
    code = _TEXTS.get(kind, "latin-1")
    suffix = "" if code in ("latin-1", "utf-8") else ("-le" if order == "<" else "-be")
    text = data.decode(code + suffix, errors="replace")
    rows = shape[0] if shape else 0
    if rows > len(text):  # a damaged size, which would be a long loop over nothing
        msg = f"{rows} rows of {len(text)} characters"
        raise ValueError(msg)
    if rows <= 1:
        return [text] if rows else []
    return ["".join(text[i::rows]) for i in range(rows)]
