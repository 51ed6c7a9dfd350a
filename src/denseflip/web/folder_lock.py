"""Lock a data folder: a second server would mark the jobs of the first as interrupted.

The operating system holds the lock on a file and releases it when the process ends, even if it is
killed. A second file names the server that holds the lock.
"""

from __future__ import annotations

import json
import os
import time
import weakref
from pathlib import Path
from typing import Any

from denseflip.checks import visible
from denseflip.errors import StoreError
from denseflip.files import try_lock, write_whole

LOCK = "denseflip-serve.lock"
HOLDER = "denseflip-serve.holder.json"

_held: weakref.WeakSet[FolderLock] = weakref.WeakSet()


class FolderLock:
    """An exclusive lock on a data folder, until it is released or this process ends.

    Parameters
    ----------
    folder : created if missing.
    address : address of this server, for the message to a second server.

    Raises
    ------
    StoreError
        If another server holds the lock (with its address), or the folder is not writable.
    """

    def __init__(self, folder: Path, address: str) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._handle = (folder / LOCK).open("a+b")
        except OSError as error:
            why = f"cannot be used as the data folder ({error.strerror or error})"
            raise _refused(folder, why, "Choose a writable folder.") from error
        self._close = weakref.finalize(self, self._handle.close)
        try:
            self._take(folder, address)
        except BaseException:
            self._close()
            raise
        _held.add(self)

    def _take(self, folder: Path, address: str) -> None:
        try:
            taken = try_lock(self._handle)
        except OSError as error:
            why = f"files cannot be locked there ({error.strerror or error}), so two servers could"
            why += " corrupt each other's jobs"
            raise _refused(folder, why, "Choose a data folder on another disk.") from error
        if not taken:
            holder = _holder(folder)
            server = "another server"
            if holder:
                server = f"the server at {holder['address']} (process {holder['pid']})"
            advice = "Use that server, or choose another data folder."
            raise _refused(folder, f"already in use by {server}", advice)
        self._facts = folder / HOLDER
        facts = {"pid": os.getpid(), "address": address, "since": time.time()}
        try:
            write_whole(self._facts, json.dumps(facts))
        except OSError as error:
            why = f"cannot be written to ({error.strerror or error})"
            advice = "Free disk space, or choose another data folder."
            raise _refused(folder, why, advice) from error

    def release(self) -> None:
        """Release the lock."""
        if self._close.alive:
            self._facts.unlink(missing_ok=True)
            self._close()


def _refused(folder: Path, why: str, advice: str) -> StoreError:
    return StoreError(f"{folder}: {why}. {advice}", parameter="data")


def _holder(folder: Path) -> dict[str, Any] | None:
    """Return the server that holds the lock; None if it cannot be read (yet)."""
    try:
        data = json.loads((folder / HOLDER).read_text(encoding="utf-8"))
        return {"pid": int(data["pid"]), "address": visible(str(data["address"]))[:200]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _leave_in_child() -> None:
    """Close the lock in a forked process, which would keep it after this process ends."""
    for lock in list(_held):
        lock._close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_in_child)
