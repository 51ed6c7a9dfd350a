"""Files that are there whole or not at all: written beside their place, then put there at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


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


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":
        return  # folders cannot be synced there
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
