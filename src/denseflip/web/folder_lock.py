"""One server to a data folder: a second one would take the jobs of the first for interrupted.

The claim is a lock of the operating system on a file, so it ends with the process that holds it,
however that ends: what a killed server left behind holds nobody up. Beside it lies who has it.
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
    """The right to a data folder, until it is released or this process ends.

    Parameters
    ----------
    folder : made if it is not there.
    address : where this server is found, for whoever comes second.

    Raises
    ------
    StoreError
        If another server has it, with its address; or if nothing can be written there.
    """

    def __init__(self, folder: Path, address: str) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._handle = (folder / LOCK).open("a+b")
        except OSError as error:
            msg = (
                f"{folder}: cannot be the data folder of a server ({error.strerror or error}). "
                "Give one that can be written to (data)."
            )
            raise StoreError(msg, parameter="data") from error
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
            msg = (
                f"{folder}: files cannot be locked there ({error.strerror or error}), so two "
                "servers could spoil each other's jobs. Give a folder on another disk (data)."
            )
            raise StoreError(msg, parameter="data") from error
        if not taken:
            who = _holder(folder)
            said = (
                f"{who['address']} (process {who['pid']}) serves this folder already; open that"
                if who
                else "another server has this folder already; use that"
            )
            msg = f"{folder}: {said}, or give this server a folder of its own (data)."
            raise StoreError(msg, parameter="data")
        self._facts = folder / HOLDER
        facts = {"pid": os.getpid(), "address": address, "since": time.time()}
        try:
            write_whole(self._facts, json.dumps(facts))
        except OSError as error:
            msg = (
                f"{folder}: nothing can be written there ({error.strerror or error}). Make room, "
                "or give another folder (data)."
            )
            raise StoreError(msg, parameter="data") from error

    def release(self) -> None:
        """Let others have it."""
        if self._close.alive:
            self._facts.unlink(missing_ok=True)
            self._close()


def _holder(folder: Path) -> dict[str, Any] | None:
    """Who says that the folder is theirs; None if that cannot be read (yet)."""
    try:
        data = json.loads((folder / HOLDER).read_text(encoding="utf-8"))
        return {"pid": int(data["pid"]), "address": visible(str(data["address"]))[:200]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _leave_in_child() -> None:
    """A process that a classifier forked has no claim, and does not keep ours when we are gone."""
    for claim in list(_held):
        claim._close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_in_child)
