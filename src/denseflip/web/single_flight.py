"""Compute each expensive value once per key, in the first thread; other threads wait for it.

Threads that need another key do not wait: a computation holds only the lock of its own key.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

LOOK = 0.1  # seconds between two calls of `waiting`


class SingleFlight(Generic[K, V]):
    """Values by key, each computed on first use; keeps the most recently used.

    Parameters
    ----------
    most : number of values to keep.

    Examples
    --------
    >>> squares = SingleFlight(2)
    >>> squares.get(3, lambda: 9), squares.get(3, lambda: 1 / 0)
    (9, 9)
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._made: OrderedDict[K, V] = OrderedDict()
        self._gates: dict[K, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, key: K, make: Callable[[], V], *, waiting: Callable[[], None] | None = None) -> V:
        """Return the value of a key.

        Parameters
        ----------
        key : from a bounded set, since its lock is kept until it is dropped.
        make : computes the value. If it raises, so does this, and the next waiting thread tries.
        waiting : called repeatedly while another thread computes; may raise to stop waiting.
        """
        with self._lock:
            if key in self._made:
                self._made.move_to_end(key)
                return self._made[key]
            gate = self._gates.setdefault(key, threading.Lock())
        if waiting is None:
            gate.acquire()
        else:
            while not gate.acquire(timeout=LOOK):
                waiting()
        try:
            with self._lock:
                if key in self._made:
                    return self._made[key]
            made = make()
            with self._lock:
                if self._gates.get(key) is gate:  # otherwise it was dropped meanwhile
                    self._made[key] = made
                    while len(self._made) > self.most:
                        self._made.popitem(last=False)
            return made
        finally:
            gate.release()

    def drop(self, matches: Callable[[K], bool]) -> None:
        """Remove keys; values of them that are being computed are not kept either."""
        with self._lock:
            for key in [k for k in self._gates if matches(k)]:
                del self._gates[key]
                self._made.pop(key, None)
