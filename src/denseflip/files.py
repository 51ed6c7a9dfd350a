"""Atomic writes of files and folders: write to a temporary place, then rename it."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

_TORN = re.compile(r"\..+\.[a-z0-9_]{8}")  # as mkstemp names them
_HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # errors if another process has the lock


@contextmanager
def whole_file(path: str | Path, *, sync: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing that gets its name only when it is complete.

    A reader never sees an incomplete file. After an error, a full disk or a kill, the previous
    file is still there. With ``sync``, the file survives a power failure.
    """
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            if sync:
                os.fsync(out.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if sync:
        _sync_folder(target.parent)


def write_whole(path: str | Path, content: str | bytes, *, sync: bool = False) -> Path:
    """Write a text (UTF-8) or bytes atomically; returns the path."""
    with whole_file(path, sync=sync) as out:
        out.write(content.encode("utf-8") if isinstance(content, str) else content)
    return Path(path)


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A temporary folder whose content replaces that of `target` when the block ends.

    `target` gets everything or, after an error, nothing. What it holds under other names stays; a
    link in it is replaced, never followed.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as temporary:
        fresh = Path(temporary)
        yield fresh
        target.mkdir(exist_ok=True)
        for part in fresh.iterdir():
            old = target / part.name
            if old.is_dir() and not old.is_symlink():
                shutil.rmtree(old)
            elif os.path.lexists(old):
                old.unlink()
            part.replace(old)


def clear_torn(folder: Path) -> None:
    """Remove temporary files that killed writers of `whole_file` left in a folder."""
    for path in folder.glob(".*"):
        if _TORN.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink()


def try_lock(handle: IO[Any]) -> bool:
    """Lock an open file; False if it is locked through another open file.

    The lock ends when the file is closed or the process ends. On Windows, other processes cannot
    read a locked file, so keep the content elsewhere. Some network disks do not support locks; then
    it raises the ``OSError``.
    """
    try:
        try:
            import fcntl
        except ImportError:  # Windows
            import msvcrt

            handle.seek(0)
            msvcrt.locking(handle.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # Windows cannot sync folders
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
