"""An append-only store of results that survives a kill at any moment; see decision 0014.

A store is a folder: ``store.json`` (what it is, which version), ``parts/`` (small immutable files
of results) and ``lock``. A part is written to a temporary file, flushed to the disk and renamed, so
it exists completely or not at all. Its first line holds a checksum of the rest.
A part that does not match is moved to ``set-aside/`` and counts as missing.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import json
import os
import re
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from denseflip.checks import STORE, STORE_HEAD, visible, visible_tree
from denseflip.errors import StoreError
from denseflip.files import clear_torn, try_lock, write_whole
from denseflip.limits import PER_CHARACTER, max_size, show_size
from denseflip.runs.identity import canonical_json, content_id, plain_json

FORMAT = "denseflip-results"
VERSION = 1
_SUFFIX = ".jsonl.gz"
_LONGEST_HEAD = 10_000  # largest size of store.json in bytes; ours has fifty
_NUMBER = re.compile("[0-9]{8}")
_ODD = re.compile(rb"\\[ubfnrt]|[\x7f-\xff]")  # beyond plain ASCII, escaped or as it is
Record = dict[str, Any]
CHECKS: dict[str, Callable[[Record], bool]] = {}  # by kind: whether a record has all its parts


class DamagedPartError(Exception):
    """A part is damaged; used inside this module only."""


@dataclass(frozen=True)
class Damage:
    """A damaged part: where it is now and what is wrong with it."""

    path: Path
    reason: str


class Store:
    """Results in a folder; see the module for its format.

    Parameters
    ----------
    folder : created if missing, unless ``create`` is false.
    create : whether a folder without a store may become one.

    Raises
    ------
    StoreError
        If the folder is no store, or was written by a newer version.
    """

    def __init__(self, folder: str | Path, *, create: bool = True) -> None:
        self.folder = Path(folder)
        self.damaged: list[Damage] = []
        head = self.folder / STORE_HEAD
        if head.is_file():
            self._check_head(head)
        elif not create:
            msg = f"{self.folder}: no results found (no {head.name})."
            raise StoreError(msg)
        else:
            with _disk_errors(self.folder):
                (self.folder / "parts").mkdir(parents=True, exist_ok=True)
                text = json.dumps({"format": FORMAT, "version": VERSION}, indent=2) + "\n"
                write_whole(head, text.encode(), sync=True)
        self._parts = self.folder / "parts"

    # ---- reading ------------------------------------------------------------------------

    def records(self, *, repair: bool = False) -> list[Record]:
        """Every result, one per id, sorted by id.

        Damaged parts are left out and listed in ``damaged``; with ``repair`` (inside `writing`)
        they are moved to the folder ``set-aside``.
        """
        found: dict[str, Record] = {}
        self.damaged = []
        for path in self._part_files():
            try:
                for record in _read_part(path):
                    found.setdefault(record["id"], record)
            except DamagedPartError as damage:
                place = self._put_aside(path) if repair else path
                self.damaged.append(Damage(place, str(damage)))
        return [found[key] for key in sorted(found)]

    def _part_files(self) -> list[Path]:
        return sorted(self._parts.glob(f"*{_SUFFIX}")) if self._parts.is_dir() else []

    def _put_aside(self, path: Path) -> Path:
        place = self.folder / "set-aside"
        with _disk_errors(self.folder):
            place.mkdir(exist_ok=True)
            target, n = place / path.name, 1
            while target.exists():
                target, n = place / f"{path.name}.{n}", n + 1
            os.replace(path, target)
        return target

    def _check_head(self, head: Path) -> None:
        try:
            with head.open("rb") as file:
                data = json.loads(file.read(_LONGEST_HEAD))
            kind, version = data["format"], data["version"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            msg = (
                f"{head}: cannot be read as the header of a result store ({error}). To keep the "
                f"results, replace its content by: "
                f'{{"format": "{FORMAT}", "version": {VERSION}}}'
            )
            raise StoreError(msg) from error
        if kind != FORMAT:
            msg = f"{head}: this is a {kind!r}, not a result store ({FORMAT!r})."
            raise StoreError(msg)
        _check_version(version, self.folder)

    # ---- writing ------------------------------------------------------------------------

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Lock the store for writing; the lock ends with the process that holds it.

        Raises
        ------
        StoreError
            If another process is writing to it.
        """
        with _disk_errors(self.folder):
            handle = (self.folder / "lock").open("a+")
        with handle:
            with _disk_errors(self.folder):
                held = try_lock(handle)
            if not held:
                msg = (
                    f"{self.folder}: another process is writing results here. Wait for it to end, "
                    "or use another folder."
                )
                raise StoreError(msg, parameter="folder")
            with _disk_errors(self.folder):
                self._parts.mkdir(exist_ok=True)
                clear_torn(self._parts)  # leftovers of a killed process
            yield

    def append(self, records: Iterable[Record]) -> Path | None:
        """Write results as one part, all or none. Call it inside `writing`."""
        listed = list(records)
        if not listed:
            return None
        lines = [plain_json(record) for record in listed]
        body = "\n".join(lines).encode() + b"\n"
        checksum = hashlib.sha256(body).hexdigest()
        head = {"format": FORMAT, "version": VERSION, "records": len(lines), "sha256": checksum}
        data = gzip.compress(canonical_json(head).encode() + b"\n" + body, mtime=0)
        numbers = [path.name[:8] for path in self._part_files()]
        number = 1 + max((int(x) for x in numbers if _NUMBER.fullmatch(x)), default=-1)
        path = self._parts / f"{number:08d}-{checksum[:12]}{_SUFFIX}"
        with _disk_errors(self.folder):
            write_whole(path, data, sync=True)
        return path


@contextmanager
def open_store(store: str | Path | Store | None) -> Iterator[Store]:
    """Open the store in a folder, or a temporary one that is deleted after the block."""
    if store is not None:
        yield store if isinstance(store, Store) else Store(store)
        return
    with tempfile.TemporaryDirectory(prefix="denseflip-", ignore_cleanup_errors=True) as place:
        yield Store(Path(place) / STORE)


def make_record(identity: Mapping[str, Any], **facts: Any) -> Record:
    """Return a record of the store: id, spec and facts."""
    return {"id": content_id(identity), "spec": dict(identity), **facts}


def _read_part(path: Path) -> list[Record]:
    """Return the records of a part; raises `DamagedPartError` for any damage.

    A part of a newer version is an error for the user instead: it is intact, and moving it aside
    would hide results that a newer denseflip can read.
    """
    try:
        return _parse_part(path)
    except (DamagedPartError, StoreError):
        raise
    except Exception as error:  # the file can be anything
        msg = f"it cannot be read ({type(error).__name__}: {error!s:.120})"
        raise DamagedPartError(visible(msg)) from error


def _unpack(path: Path) -> bytes:
    most = max_size() // PER_CHARACTER
    if not path.is_file():  # opening a pipe would block
        msg = "it is not a regular file"
        raise DamagedPartError(msg)
    try:
        with gzip.open(path) as packed:
            data = packed.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        msg = f"it cannot be unpacked ({error})"
        raise DamagedPartError(msg) from error
    if len(data) > most:
        msg = f"it unpacks to more than {show_size(most)}, the limit of a part"
        raise DamagedPartError(msg)
    return data


def _parse_part(path: Path) -> list[Record]:
    first, _, body = _unpack(path).partition(b"\n")
    try:
        head = json.loads(first)
        kind, version = head["format"], head["version"]
        checksum, count = head["sha256"], head["records"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        msg = "its first line is not the header of a part"
        raise DamagedPartError(msg) from error
    if kind != FORMAT or not isinstance(version, int):
        msg = f"it is a {kind!r:.40} of version {version!r:.40}, not a part of a store"
        raise DamagedPartError(msg)
    _check_version(version, path)
    if hashlib.sha256(body).hexdigest() != checksum:
        msg = "its checksum does not match"
        raise DamagedPartError(msg)
    records = [json.loads(line) for line in body.split(b"\n") if line]
    if len(records) != count:
        msg = f"it should hold {count} results and holds {len(records)}"
        raise DamagedPartError(msg)
    for record in records:
        if record.get("id") != content_id(record.get("spec")):
            msg = f"the result {str(record.get('id'))[:12]!r} does not belong to its spec"
            raise DamagedPartError(msg)
        spec = record["spec"]
        kind = spec.get("kind") if isinstance(spec, dict) else None
        if not isinstance(kind, str) or not CHECKS.get(kind, bool)(record):
            msg = f"the result {record['id'][:12]} is incomplete"
            raise DamagedPartError(msg)
    # Names with control characters or lone surrogates are never written by us.
    return [visible_tree(record) for record in records] if _ODD.search(body) else records


def _check_version(version: object, where: Path) -> None:
    if not isinstance(version, int) or version > VERSION:
        msg = (
            f"{where}: written by a newer denseflip (store version {version!r}; this one reads up "
            f"to {VERSION}). Nothing was changed. Update denseflip, or use another folder."
        )
        raise StoreError(msg)


@contextmanager
def _disk_errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            msg = (
                f"{folder}: the disk is full. Everything written so far is kept. Free some space "
                "and run the same command to continue."
            )
        else:
            msg = (
                f"{folder}: cannot write results here ({error.strerror or error}). "
                "Results written so far are kept. Choose another folder or repair this one, and "
                "run again."
            )
        raise StoreError(msg) from error
