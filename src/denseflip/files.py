"""Files that are there whole or not at all: written beside their place, then put there at once."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO

_TORN = re.compile(r"\..+\.[a-z0-9_]{8}")  # as mkstemp names them
_HELD = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}  # what a lock of somebody else is told by


@contextmanager
def whole_file(path: str | Path, *, sync: bool = False) -> Iterator[BinaryIO]:
    """A file to write to that takes its name only when all of it is written.

    A reader never sees half of it, and what stood there before stays if anything goes wrong, be it
    an error, a full disk or a kill.

    Parameters
    ----------
    path : its name; the folder must be there.
    sync : whether it must outlast a power cut, too.
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
    """Write a text (UTF-8) or bytes as a whole file; gives its path."""
    with whole_file(path, sync=sync) as out:
        out.write(content.encode("utf-8") if isinstance(content, str) else content)
    return Path(path)


def clear_torn(folder: Path) -> None:
    """Remove what killed writers of `whole_file` left in a folder, and nothing else."""
    for path in folder.glob(".*"):
        if _TORN.fullmatch(path.name) and path.is_file() and not path.is_symlink():
            path.unlink()


def try_lock(handle: IO[Any]) -> bool:
    """Lock an open file for this process alone; False if another open file has it locked.

    The lock ends when the file is closed, or when the process ends in whatever way. It says nothing
    about the content: on Windows others cannot read what is locked, so keep that elsewhere.

    Raises
    ------
    OSError
        If files cannot be locked there, as on some network disks.
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
        return  # folders cannot be synced there
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
