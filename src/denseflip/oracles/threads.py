"""Keep linear algebra on one thread: small problems are quicker so, and sums come out the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any


@lru_cache(maxsize=1)
def _controller() -> Any:
    # Looking up the loaded libraries takes milliseconds, setting their limit 20 microseconds.
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextmanager
def single_thread() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread inside the block.

    Workers wrap their whole run in it: on a busy machine two threads make small eigenproblems many
    times slower. The spectral features use it for every batch, because the number of threads
    changes the last bits of an eigenvalue (seen at 332 nodes), and an answer must not depend on
    the machine's load or on the process that asks.
    """
    with _controller().limit(limits=1):
        yield
