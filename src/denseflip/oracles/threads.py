"""Keep linear algebra on one thread: small problems are quicker so, and sums come out the same."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_lock = Lock()
_inside = 0  # blocks entered and not left, over all threads of this process
_limits: list[Any] = []  # set by the blocks now entered, in order
_known: tuple[Any, tuple[bool, ...]] | None = None  # libraries found, and for which packages

_PACKAGES = ("scipy.linalg", "sklearn", "torch")  # each brings a library with threads of its own


@contextmanager
def single_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread inside the block.

    Workers wrap their whole run in it: on a busy machine two threads make small eigenproblems many
    times slower. The spectral features use it for every batch, because the number of threads
    changes the last bits of an eigenvalue (seen at 332 nodes), and an answer must not depend on
    the machine's load or on the process that asks.

    The limit is the process's, so the first block to be entered sets it and the last one to be
    left lifts it; blocks inside blocks cost nothing.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _inside, _known
    with _lock:
        loaded = tuple(name in sys.modules for name in _PACKAGES)
        fresh = _known is None or _known[1] != loaded
        if _known is None or fresh:
            # Looking up the loaded libraries takes milliseconds: only when there may be new ones.
            from threadpoolctl import ThreadpoolController

            _known = ThreadpoolController(), loaded
        if _inside == 0 or fresh:
            _limits.append(_known[0].limit(limits=1))
        _inside += 1


def _leave() -> None:
    global _inside
    with _lock:
        _inside -= 1
        while _inside == 0 and _limits:
            _limits.pop().restore_original_limits()
