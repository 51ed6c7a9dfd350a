"""Limits of a data folder: the number of uploads, and the size of uploads and results.

Nothing is deleted automatically. When the folder is full, uploads and jobs are refused with a
message that says what to do.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from denseflip.errors import StoreError
from denseflip.limits import show_size
from denseflip.web.job_store import Store
from denseflip.web.library import Library
from denseflip.web.many_jobs import size, tidy
from denseflip.web.server_config import ServerSettings


class Quota:
    """The use of a data folder, and whether there is room for more.

    Parameters
    ----------
    settings : with `max_uploads` and `max_kept`.
    library, store : counted are uploaded data sets and graphs, jobs with their results, and partial
        results of jobs of many graphs.
    """

    def __init__(self, settings: ServerSettings, library: Library, store: Store) -> None:
        self.most_uploads, self.most_size = settings.max_uploads, settings.max_kept
        self.library, self.store = library, store
        self._lock = threading.Lock()

    def used(self) -> dict[str, Any]:
        """Return what is used, and the limits."""
        files = self.library.uploads()
        return {
            "uploads": len(files) + self.store.count("brought"),
            "bytes": sum(files.values()) + self.store.size() + size(self.library.folder),
            "max_uploads": self.most_uploads,
            "max_bytes": self.most_size,
        }

    @contextmanager
    def room(self, size: int = 0) -> Iterator[None]:
        """Reserve room for one upload of ``size`` bytes while the context is open.

        Raises
        ------
        StoreError
            If there is no room.
        """
        with self._lock:
            tidy(self.library.folder, self.store)
            used = self.used()
            if used["uploads"] >= self.most_uploads:
                msg = (
                    f"Not saved: the server has {used['uploads']:,} uploads and keeps at most "
                    f"{self.most_uploads:,}. Delete some, or restart the server with "
                    f"max_uploads={2 * self.most_uploads or 100}."
                )
                raise StoreError(msg, parameter="max_uploads")
            self._check(used["bytes"], size)
            yield

    def check_job(self) -> None:
        """Raise StoreError if no result can be saved any more."""
        tidy(self.library.folder, self.store)
        self._check(self.used()["bytes"], 1)

    def _check(self, used: int, more: int) -> None:
        if used + more > self.most_size:
            msg = (
                f"Not saved: the server has {show_size(used)} of uploads and results and keeps at "
                f"most {show_size(self.most_size)}. Delete some, or restart the server with "
                f"max_kept='{_more(self.most_size)}'."
            )
            raise StoreError(msg, parameter="max_kept")


def _more(size: int) -> str:
    """Return twice the size, for `parse_size`."""
    return f"{-(-2 * size // 10**6)}MB"
