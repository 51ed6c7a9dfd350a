"""How much may be unpacked from a file, or filled in when a graph goes dense, before we say no.

A few bytes can stand for many: a zip of zeros, an edge list that names node 100,000,000, a sparse
graph as a matrix. What something will take is reckoned from its headers before any of it is made.
There is one limit for all, in bytes: `DEFAULT`, or what the environment variable
``DENSEFLIP_MAX_SIZE`` says (``8GB``), which worker processes see as well; `allow` raises it for a
while. It bounds each single thing, so that a process may take some times as much.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from denseflip.errors import DenseflipError, FileFormatError, InvalidParameterError, TooLargeError

VARIABLE = "DENSEFLIP_MAX_SIZE"
DEFAULT = 1 << 30
PER_NODE = 150  # bytes that a node without a table takes: its name, and the places it is kept in
PER_GRAPH = 500  # bytes that a graph takes beside its edges
PER_CELL = 64  # bytes that a cell of a text table takes until it is a number
PER_CHARACTER = 24  # bytes that a character of JSON may become: "[]," is a list in a list
PER_MEMBER = 1_500  # bytes that a member of an archive takes where its members are listed
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_PLAIN = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_LISTED = b"PK\1\2"  # what every entry in the list of an archive's members begins with
_CHUNK = 1 << 20
_DEPTH = 4  # archives in archives: a classifier's file holds one that may hold arrays


def parse_size(text: str | int) -> int:
    """A number of bytes, with or without a unit.

    >>> parse_size("1.5 GB"), parse_size(4096)
    (1500000000, 4096)
    """
    found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,6})?)\s*([KMGT]?B|)\s*", str(text).upper())
    size = int(float(found[1]) * _UNITS[found[2]]) if found else 0
    if size < 1 or isinstance(text, bool):
        msg = f"max_size must be a number of bytes such as '8GB' or 500000000; got {text!r:.40}."
        raise InvalidParameterError(msg, parameter="max_size")
    return size


def max_size() -> int:
    """The limit in bytes."""
    said = os.environ.get(VARIABLE, "").strip()
    if not said:
        return DEFAULT
    try:
        return parse_size(said)
    except InvalidParameterError as error:
        msg = f"The environment variable {VARIABLE} should be a size such as 8GB; got {said!r:.40}."
        raise InvalidParameterError(msg) from error


@contextmanager
def allow(size: str | int) -> Iterator[None]:
    """Let this much be unpacked or filled in meanwhile, by this process and those it starts.

    >>> with allow("8GB"):
    ...     max_size()
    8000000000
    """
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = str(parse_size(size))
    try:
        yield
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before


def check_size(needed: float, what: str) -> None:
    """Say so if something would take more bytes than may be.

    Raises
    ------
    TooLargeError
        With what it would take, what may be, and how to allow more.
    """
    limit = max_size()
    if needed > limit:
        enough = f"{max(1, -(-int(min(needed, 1e18)) // 10**9))}GB"
        msg = (
            f"{what} would take about {show_size(needed)} of memory; more than "
            f"{show_size(limit)} is not begun unasked. If it is meant, allow it (max_size): "
            f"denseflip.limits.allow('{enough}'), or {VARIABLE}={enough}."
        )
        raise TooLargeError(msg, parameter="max_size")


def show_size(size: float) -> str:
    """A number of bytes for people.

    >>> show_size(6_900_000_000), show_size(12)
    ('6.9 GB', '12 bytes')
    """
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}" if size < 1e15 else "more than 1000 TB"
    return f"{size:.0f} bytes"


def check_dense(n_nodes: int, what: str, *, count: int = 1, itemsize: int = 8) -> None:
    """Say so if so many matrices, a row and a column per node, would take too much."""
    several = f"{count} matrices" if count > 1 else "a matrix"
    check_size(float(n_nodes) * n_nodes * count * itemsize, f"{what}: {several} of {n_nodes} nodes")


# ---- archives ---------------------------------------------------------------------------


@contextmanager
def open_zip(source: Path | bytes, where: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive, unless the mere list of its members would take too much.

    They are counted before Python lists them; no more than that is looked at. What they would be
    unpacked is told by `check_zip`.

    Raises
    ------
    TooLargeError
        If there are too many of them.
    """
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        n_members = _count_members(file)
        check_size(float(PER_MEMBER) * n_members, f"{where}: a list of its {n_members:,} members")
        with zipfile.ZipFile(file) as archive:
            yield archive


def _count_members(file: IO[bytes]) -> int:
    """How many members an archive lists at most: how often an entry begins, or seems to."""
    count, rest = 0, b""
    while chunk := file.read(_CHUNK):
        count += (rest + chunk).count(_LISTED)
        rest = chunk[-len(_LISTED) + 1 :]
    return count


def check_zip(archive: zipfile.ZipFile, where: str) -> int:
    """What an archive holds, unpacked, in bytes; an error if that is too much or oddly packed.

    Raises
    ------
    TooLargeError, FileFormatError
        Nothing was unpacked then.
    """
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        msg = f"{where}: holds two members of one name."
        raise FileFormatError(msg)
    for member in members:
        if member.flag_bits & 0x1:
            msg = f"{where}: its member {member.filename!r:.60} is encrypted; save it without."
            raise FileFormatError(msg)
        if member.compress_type not in _PLAIN:
            msg = (
                f"{where}: its member {member.filename!r:.60} is packed in a way that is not read "
                f"here (number {member.compress_type}); plain zip compression is."
            )
            raise FileFormatError(msg)
    total = sum(member.file_size for member in members)
    check_size(total, f"{where}: its content, unpacked,")
    return total


def read_member(archive: zipfile.ZipFile, name: str, where: str) -> bytes:
    """A member's bytes, no more than its header says, whatever its packed content would give."""
    with archive.open(name) as member:
        size = archive.getinfo(name).file_size
        content = member.read(size)  # a limit: without one, two gigabytes may come first
    if len(content) != size:
        msg = f"{where}: its member {name!r:.60} is shorter than it says."
        raise FileFormatError(msg)
    return content


def repack_zip(data: bytes, where: str) -> bytes:
    """The same archive with members that are just as long as they say, for readers who trust it.

    Archives inside, such as arrays in ``.npz``, are looked at as well.
    """
    fresh = io.BytesIO()
    with (
        open_zip(data, where) as archive,
        zipfile.ZipFile(fresh, "w", zipfile.ZIP_STORED) as out,
    ):
        check_zip(archive, where)
        total = 0
        for name in archive.namelist():
            content = read_member(archive, name, where)
            total += len(content) + _nested(content, where)
            check_size(total, f"{where}: its content, unpacked,")
            out.writestr(name, content)
    return fresh.getvalue()


def _nested(content: bytes, where: str, depth: int = 1) -> int:
    """What an archive in an archive holds, unpacked; 0 if the bytes are none."""
    if not content.startswith(b"PK"):
        return 0
    if depth > _DEPTH:
        msg = f"{where}: holds archives in archives in archives."
        raise FileFormatError(msg)
    with open_zip(content, where) as archive:
        total = check_zip(archive, where)
        for name in archive.namelist():
            total += _nested(read_member(archive, name, where), where, depth + 1)
    return total


# ---- JSON -------------------------------------------------------------------------------


def read_json(text: str | bytes, where: str, error: type[DenseflipError] = FileFormatError) -> Any:
    """The value of a JSON text, or one message whatever is wrong with it."""
    check_size(float(len(text)) * PER_CHARACTER, f"{where}: what its JSON says")
    try:
        return json.loads(text)
    except RecursionError as problem:
        msg = f"{where}: its JSON is nested too deeply to be read."
        raise error(msg) from problem
    except ValueError as problem:  # no JSON, no UTF-8, or a number of thousands of digits
        msg = f"{where}: cannot be read as JSON ({problem})."
        raise error(msg) from problem
