"""Keep linear algebra on one thread: small problems are quicker so, and sums come out the same."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from threading import Lock
from typing import Any

_lock = Lock()
_inside = 0  # blocks entered and not left, over all threads of this process
_limits: list[Any] = []  # set by the blocks now entered, in order
_known: tuple[Any, tuple[bool, ...]] | None = None  # libraries found, and for which packages


class _SingleThread:
    """Entering limits, leaving lifts; made by hand because it is entered at every question."""

    def __enter__(self) -> None:
        global _inside, _known
        with _lock:
            modules = sys.modules
            # Each of these brings a library with threads of its own.
            loaded = ("scipy.linalg" in modules, "sklearn" in modules, "torch" in modules)
            if _known is None or _known[1] != loaded:
                # Looking libraries up takes milliseconds: only when there may be new ones.
                from threadpoolctl import ThreadpoolController

                _known = ThreadpoolController(), loaded
                _limits.append(_known[0].limit(limits=1))
            elif _inside == 0:
                _limits.append(_known[0].limit(limits=1))
            _inside += 1

    def __exit__(self, *_: object) -> None:
        global _inside
        with _lock:
            _inside -= 1
            while _inside == 0 and _limits:
                _limits.pop().restore_original_limits()


_block = _SingleThread()


def single_thread() -> AbstractContextManager[None]:
    """Limit BLAS and OpenMP to one thread inside a ``with`` block.

    Workers wrap their whole run in it: on a busy machine two threads make small eigenproblems many
    times slower. The spectral features use it for every batch, because the number of threads
    changes the last bits of an eigenvalue (seen at 332 nodes), and an answer must not depend on
    the machine's load or on the process that asks.

    The limit is the process's, so the first block to be entered sets it and the last one to be
    left lifts it; blocks inside blocks cost nothing.
    """
    return _block
