"""The memory limit for unpacked files and dense matrices.

A small file can need much memory: a zip of zeros, an edge list that names node 100,000,000, a
sparse graph as a matrix. The size is estimated from headers before anything is allocated. There is
one limit in bytes: `DEFAULT`, or the environment variable ``DENSEFLIP_MAX_SIZE`` (such as
``8GB``), which worker processes inherit. `allow` raises it temporarily. The limit applies to each
object, so a process may use several times as much.
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
PER_NODE = 150  # bytes per node without a table: its name, and references to it
PER_GRAPH = 500  # bytes per graph in addition to its edges
PER_CELL = 64  # bytes per cell of a text table until it is parsed
PER_CHARACTER = 24  # bytes that a character of JSON may need: "[]," is a list in a list
PER_MEMBER = 1_500  # bytes per member in the directory of an archive
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_PLAIN = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_LISTED = b"PK\1\2"  # signature of an entry in the directory of a zip file
_CHUNK = 1 << 20
_DEPTH = 4  # deepest nesting of archives: a classifier file holds one that may hold arrays


def parse_size(text: str | int) -> int:
    """Parse a number of bytes, with or without a unit.

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
    value = os.environ.get(VARIABLE, "").strip()
    if not value:
        return DEFAULT
    try:
        return parse_size(value)
    except InvalidParameterError as error:
        msg = f"The environment variable {VARIABLE} must be a size such as 8GB; got {value!r:.40}."
        raise InvalidParameterError(msg) from error


@contextmanager
def allow(size: str | int) -> Iterator[None]:
    """Change the limit temporarily, for this process and the processes that it starts.

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
    """Raise a `TooLargeError` if something would need more bytes than the limit."""
    limit = max_size()
    if needed > limit:
        enough = f"{max(1, -(-int(min(needed, 1e18)) // 10**9))}GB"
        msg = (
            f"{what} would take about {show_size(needed)} of memory, which exceeds the limit of "
            f"{show_size(limit)}. To allow it, raise the limit (max_size): "
            f"denseflip.limits.allow('{enough}'), or {VARIABLE}={enough}."
        )
        raise TooLargeError(msg, parameter="max_size")


def show_size(size: float) -> str:
    """A number of bytes with a unit.

    >>> show_size(6_900_000_000), show_size(12)
    ('6.9 GB', '12 bytes')
    """
    for unit in ("TB", "GB", "MB", "KB"):
        if size >= _UNITS[unit]:
            return f"{size / _UNITS[unit]:.3g} {unit}" if size < 1e15 else "more than 1000 TB"
    return f"{size:.0f} bytes"


def check_dense(n_nodes: int, what: str, *, count: int = 1, itemsize: int = 8) -> None:
    """Raise if ``count`` dense node × node matrices would exceed the limit."""
    several = f"{count} matrices" if count > 1 else "a matrix"
    check_size(float(n_nodes) * n_nodes * count * itemsize, f"{what}: {several} of {n_nodes} nodes")


# ---- archives ---------------------------------------------------------------------------


@contextmanager
def open_zip(source: Path | bytes, where: str) -> Iterator[zipfile.ZipFile]:
    """Open an archive, unless the list of its members would exceed the limit.

    Members are counted before Python lists them. `check_zip` checks their unpacked size.
    """
    with io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        n_members = _count_members(file)
        check_size(float(PER_MEMBER) * n_members, f"{where}: a list of its {n_members:,} members")
        with zipfile.ZipFile(file) as archive:
            yield archive


def _count_members(file: IO[bytes]) -> int:
    """Upper bound on the members of an archive: the number of entry signatures."""
    count, rest = 0, b""
    while chunk := file.read(_CHUNK):
        count += (rest + chunk).count(_LISTED)
        rest = chunk[-len(_LISTED) + 1 :]
    return count


def check_zip(archive: zipfile.ZipFile, where: str) -> int:
    """The unpacked size of an archive in bytes; raises if it is too large or cannot be read.

    Nothing is unpacked before.
    """
    members = archive.infolist()
    names = [member.filename for member in members]
    if len(set(names)) < len(names):
        msg = f"{where}: the archive has two members with the same name."
        raise FileFormatError(msg)
    for member in members:
        if member.flag_bits & 0x1:
            msg = (
                f"{where}: the member {member.filename!r:.60} is encrypted; save the file without "
                "encryption."
            )
            raise FileFormatError(msg)
        if member.compress_type not in _PLAIN:
            msg = (
                f"{where}: the member {member.filename!r:.60} has an unsupported compression "
                f"(method {member.compress_type}); use plain zip compression."
            )
            raise FileFormatError(msg)
    total = sum(member.file_size for member in members)
    check_size(total, f"{where}: its content, unpacked,")
    return total


@contextmanager
def reading(source: Path, what: str, remedy: str) -> Iterator[None]:
    """Turn every error while a file is read, except `TooLargeError`, into a `FileFormatError`.

    ``what`` is what the file should be: ``"a denseflip data set"``. ``remedy`` ends the message for
    a file that is damaged or of another kind.
    """
    if not source.is_file():
        msg = f"{source}: there is no such file."
        raise FileFormatError(msg)
    try:
        yield
    except TooLargeError:
        raise
    except DenseflipError as error:
        if isinstance(error, FileFormatError) and str(error).startswith(f"{source}: "):
            raise
        msg = f"{source}: {error}"
        raise FileFormatError(msg) from error
    except Exception as error:  # a damaged file can fail in any way
        msg = f"{source}: cannot be read as {what} ({type(error).__name__}: {error}). {remedy}"
        raise FileFormatError(msg) from error


def check_header(
    header: Any, source: Path, what: str, format: str, version: int, remedy: str
) -> None:
    """Raise if a header does not name this format in this version."""
    if not isinstance(header, dict) or header.get("format") != format:
        msg = f"{source}: not {what} (its header does not say {format!r})."
        raise FileFormatError(msg)
    if header.get("version") != version:
        msg = (
            f"{source}: {what} of format version {header.get('version')!r}; this denseflip reads "
            f"version {version}. Upgrade denseflip, or {remedy}."
        )
        raise FileFormatError(msg)


def read_member(archive: zipfile.ZipFile, name: str, where: str) -> bytes:
    """A member's bytes, never more than its header declares."""
    with archive.open(name) as member:
        size = archive.getinfo(name).file_size
        content = member.read(size)  # without a size, gigabytes may be unpacked
    if len(content) != size:
        msg = f"{where}: the member {name!r:.60} is shorter than its header declares."
        raise FileFormatError(msg)
    return content


def repack_zip(data: bytes, where: str) -> bytes:
    """Rewrite an archive so that every member has its declared size, for readers that trust it.

    Nested archives, such as arrays in ``.npz``, are checked as well.
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
    """The unpacked size of a nested archive; 0 if the bytes are not an archive."""
    if not content.startswith(b"PK"):
        return 0
    if depth > _DEPTH:
        msg = f"{where}: archives are nested too deeply."
        raise FileFormatError(msg)
    with open_zip(content, where) as archive:
        total = check_zip(archive, where)
        for name in archive.namelist():
            total += _nested(read_member(archive, name, where), where, depth + 1)
    return total


# ---- JSON -------------------------------------------------------------------------------


def read_json(text: str | bytes, where: str) -> Any:
    """Parse a JSON text; raises `FileFormatError` if it is invalid."""
    check_size(float(len(text)) * PER_CHARACTER, f"{where}: its JSON content")
    try:
        return json.loads(text)
    except RecursionError as problem:
        msg = f"{where}: its JSON is nested too deeply."
        raise FileFormatError(msg) from problem
    except ValueError as problem:  # not JSON, not UTF-8, or a number with thousands of digits
        msg = f"{where}: cannot be read as JSON ({problem})."
        raise FileFormatError(msg) from problem
