"""How much one data folder may hold: so many uploads, and so many bytes of uploads and answers.

Nothing is deleted unasked: what is finished is never lost. When the folder is full, uploads and
jobs are refused, with what can be done about it.
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
    """What the data folder of a server holds, and whether there is room for more.

    Parameters
    ----------
    settings : with `max_uploads` and `max_kept`.
    library, store : what is counted: uploaded data sets and graphs, jobs with their results, and
        what jobs of many graphs have done so far.
    """

    def __init__(self, settings: ServerSettings, library: Library, store: Store) -> None:
        self.most_uploads, self.most_size = settings.max_uploads, settings.max_kept
        self.library, self.store = library, store
        self._lock = threading.Lock()

    def used(self) -> dict[str, Any]:
        """How much there is, and how much there may be."""
        files = self.library.uploads()
        return {
            "uploads": len(files) + self.store.count("brought"),
            "bytes": sum(files.values()) + self.store.size() + size(self.library.folder),
            "max_uploads": self.most_uploads,
            "max_bytes": self.most_size,
        }

    @contextmanager
    def room(self, size: int = 0) -> Iterator[None]:
        """Keep one more upload of so many bytes meanwhile; nobody else does at the same time.

        Raises
        ------
        StoreError
            If there is no room, with the remedy.
        """
        with self._lock:
            tidy(self.library.folder, self.store)
            used = self.used()
            if used["uploads"] >= self.most_uploads:
                msg = (
                    f"This server keeps at most {self.most_uploads:,} uploads, and has "
                    f"{used['uploads']:,}: nothing was kept. Delete what is no longer needed, or "
                    f"start it with more (max_uploads={2 * self.most_uploads or 100})."
                )
                raise StoreError(msg, parameter="max_uploads")
            self._check(used["bytes"], size)
            yield

    def check_job(self) -> None:
        """Say so if no answer can be kept any more."""
        tidy(self.library.folder, self.store)
        self._check(self.used()["bytes"], 1)

    def _check(self, used: int, more: int) -> None:
        if used + more > self.most_size:
            msg = (
                f"This server keeps at most {show_size(self.most_size)} of uploads and answers; it "
                f"has {show_size(used)}, and there is no room for this. Delete what is no longer "
                f"needed, or start it with more (max_kept='{_more(self.most_size)}')."
            )
            raise StoreError(msg, parameter="max_kept")


def _more(size: int) -> str:
    """Twice as much, as `parse_size` takes it."""
    return f"{-(-2 * size // 10**6)}MB"
