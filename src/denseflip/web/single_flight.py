"""What is dear to make is made once per key: by the first who asks, while the others wait for it.

Whoever asks for another key waits for nobody. Nothing is locked while something is made but the
gate of its own key.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

LOOK = 0.1  # seconds between two looks at whether somebody who waits still wants to


class SingleFlight(Generic[K, V]):
    """Values by key, each made when it is first asked for; the most recently used are kept.

    Parameters
    ----------
    most : how many are kept.

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
        """The value of a key.

        Parameters
        ----------
        key : of a set that is bounded: its gate is kept until it is dropped.
        make : makes it. If it raises, so does this, and the next who waits makes it instead.
        waiting : called again and again while somebody else makes it; may raise to wait no more.
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
                if self._gates.get(key) is gate:  # or it was dropped meanwhile, and is old
                    self._made[key] = made
                    while len(self._made) > self.most:
                        self._made.popitem(last=False)
            return made
        finally:
            gate.release()

    def drop(self, matches: Callable[[K], bool]) -> None:
        """Forget some keys; what is being made of them now is not kept either."""
        with self._lock:
            for key in [k for k in self._gates if matches(k)]:
                del self._gates[key]
                self._made.pop(key, None)
