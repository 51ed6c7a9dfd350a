"""`BatchSize`: how many graphs a network takes at once, chosen by timing its first batches.

On a CPU a large batch of dense graphs may take longer per graph than single graphs, because it does
not fit into the cache. The size changes speed only, never an answer.
"""

from __future__ import annotations

import math

SIZES = (1, 4, 16, 64, 256)
_TRIALS = 2  # timings per size; the least counts
_WORSE = 3.0  # a size that is slower than the best by this factor is not timed again
_NUMBERS = 4_000_000  # numbers (edges times width) in the first batch, before anything is timed


class BatchSize:
    """Chooses a size by the time per graph.

    Parameters
    ----------
    most : the largest size.

    Examples
    --------
    >>> size = BatchSize(64)
    >>> while size.is_open:
    ...     size.record(size.next(1000), 1e-3 if size.next(1000) == 16 else 5e-3)
    >>> size.next(1000)
    16
    """

    def __init__(self, most: int) -> None:
        self.sizes = [size for size in SIZES if size < most] + [most]
        self._least = dict.fromkeys(self.sizes, math.inf)
        self._trials = dict.fromkeys(self.sizes, 0)
        self._first = self.sizes[0]

    def expect(self, numbers: int) -> None:
        """Begin with the size at which a batch holds a few million numbers.

        Parameters
        ----------
        numbers : edges times width of one graph.
        """
        fitting = [size for size in self.sizes if size * numbers <= _NUMBERS]
        self._first = fitting[-1] if fitting else self.sizes[0]

    @property
    def best(self) -> int:
        """The fastest size so far; the first one before anything is timed."""
        timed = [size for size in self.sizes if self._trials[size]]
        return min(timed, key=self._least.__getitem__) if timed else self._first

    @property
    def is_open(self) -> bool:
        """Whether a size next to the best one has still to be timed."""
        return self._untried() is not None

    def _untried(self) -> int | None:
        """A size to time: the best one, then its neighbours."""
        at = self.sizes.index(self.best)
        near = [self.sizes[i] for i in (at, at + 1, at - 1) if 0 <= i < len(self.sizes)]
        for size in near:
            hopeless = self._least[size] > _WORSE * self._least[self.best]
            if self._trials[size] < _TRIALS and not (self._trials[size] and hopeless):
                return size
        return None

    def next(self, waiting: int) -> int:
        """How many of the waiting graphs to take now, at least one."""
        untried = self._untried()
        size = untried if untried is not None and untried <= waiting else self.best
        return max(1, min(size, waiting))

    def record(self, size: int, seconds: float) -> None:
        """Record the seconds that a batch took; only full sizes count."""
        if size in self._least:
            self._trials[size] += 1
            self._least[size] = min(self._least[size], seconds / size)
