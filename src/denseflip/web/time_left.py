"""`TimeLeft`: how long the rest of a job takes, from the pace of its parts so far."""

from __future__ import annotations

import time
from collections.abc import Callable

_PARTS, _SECONDS = 2, 3.0  # how much must be seen before an estimate is given


class TimeLeft:
    """Estimates the rest of a stage of a job.

    The first part also pays for what is done once (imports, training), so the pace is that of the
    parts after it. There is no estimate before two parts and three seconds.

    Parameters
    ----------
    clock : the time in seconds, for tests.

    Examples
    --------
    >>> now = iter([0.0, 9.0, 11.0, 13.0])
    >>> left = TimeLeft(clock=lambda: next(now))
    >>> [left.seconds("explaining", done, 10) for done in range(4)]
    [None, None, None, 14.0]
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stage = ""
        self._first: tuple[int, float] | None = None  # parts done, and when

    def seconds(self, stage: str, done: int, of: int) -> float | None:
        """Seconds until ``of`` parts are done; None if that cannot be said yet."""
        now = self._clock()
        if stage != self._stage or (self._first is not None and done < self._first[0]):
            self._stage, self._first = stage, None
        if done < 1:
            return None
        if self._first is None:
            self._first = (done, now)
        parts, seconds = done - self._first[0], now - self._first[1]
        if parts < _PARTS or seconds < _SECONDS:
            return None
        return round(seconds / parts * max(0, of - done), 1)
