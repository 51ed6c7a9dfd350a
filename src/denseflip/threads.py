"""Keep linear algebra on one thread: faster for small problems, and sums are reproducible."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any

_lock = Lock()
_inside = 0  # blocks currently entered, over all threads of this process
_limited: list[tuple[Any, int]] = []  # libraries on one thread now, and their threads before
_known: tuple[Any, tuple[bool, ...]] | None = None  # libraries found, and for which packages


class _SingleThread:
    """Sets the limit on entry, lifts it on exit; a plain class because every query enters it."""

    def __enter__(self) -> None:
        global _inside, _known
        with _lock:
            modules = sys.modules
            # Each of these loads a library with its own threads.
            loaded = ("scipy.linalg" in modules, "sklearn" in modules, "torch" in modules)
            if _known is None or _known[1] != loaded:
                # Looking libraries up takes milliseconds: only if there may be new ones.
                from threadpoolctl import ThreadpoolController

                _known = ThreadpoolController(), loaded
                _limit(_known[0])
            elif _inside == 0:
                _limit(_known[0])
            _inside += 1

    def __exit__(self, *_: object) -> None:
        global _inside
        with _lock:
            _inside -= 1
            while _inside == 0 and _limited:
                library, threads = _limited.pop()
                library.set_num_threads(threads)


def _limit(found: Any) -> None:
    """Set libraries to one thread; those that have one already cost a look, as in every worker.

    The context of threadpoolctl does the same, but lists all facts about each library first.
    """
    for library in found.lib_controllers:
        threads = library.get_num_threads()
        if threads is not None and threads != 1:
            _limited.append((library, threads))
            library.set_num_threads(1)


_block = _SingleThread()


def single_thread() -> AbstractContextManager[None]:
    """Limit BLAS and OpenMP to one thread inside a ``with`` block.

    Workers wrap their whole run in it: on a busy machine, two threads make small eigenproblems
    many times slower. The spectral features use it for every batch, because the number of threads
    changes the last bits of an eigenvalue (observed at 332 nodes), and an answer must not depend
    on the machine's load or on the process that queries.

    The limit applies to the process: the first block entered sets it and the last one left lifts
    it. Nested blocks cost nothing.
    """
    return _block
