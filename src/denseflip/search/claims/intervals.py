"""What is usual in a group: the prediction interval of one more graph, and the effect size."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

FEWEST = 3  # graphs from which an interval is computed
LEVEL = 0.95  # of the prediction interval
QUANTILES = 40  # from this many graphs on, the interval has the quantiles as its ends
SPREAD = 0.5  # smallest standard deviation, in edges

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def prediction_interval(counts: npt.ArrayLike, size: npt.ArrayLike) -> tuple[Ints, Ints]:
    """The 95 % prediction interval of the count of one more graph, for each column of counts.

    Below 40 graphs it is the interval of Crawford and Howell (1998), mean ± t s √(1 + 1/n), with a
    standard deviation of at least half an edge. From 40 graphs on its ends are the 2.5 % and 97.5 %
    quantiles. It is clipped to what a place can hold.

    >>> [int(end) for end in prediction_interval([30, 32, 35, 33], 450)]
    [26, 39]
    """
    from scipy.special import stdtrit

    x = np.asarray(counts, dtype=float)
    n = len(x)
    tail = (1 - LEVEL) / 2
    if n >= QUANTILES:
        low, high = np.quantile(x, [tail, 1 - tail], axis=0)
    else:
        spread = np.maximum(x.std(axis=0, ddof=1), SPREAD)
        half = stdtrit(n - 1, 1 - tail) * spread * math.sqrt(1 + 1 / n)
        low, high = x.mean(axis=0) - half, x.mean(axis=0) + half
    low, high = np.maximum(np.ceil(low), 0), np.minimum(np.floor(high), size)
    return low.astype(np.int64), np.maximum(low, high).astype(np.int64)


def hedges_g(one: Floats, other: Floats) -> Floats:
    """Hedges' g of two groups, by column; 0 where a group has fewer than two graphs.

    >>> round(float(hedges_g(np.array([1.0, 2, 3]), np.array([2.0, 3, 4]))), 2)
    -0.8
    """
    n = len(one) + len(other)
    if min(len(one), len(other)) < 2:
        return np.zeros(one.shape[1:])
    within = one.var(axis=0, ddof=1) * (len(one) - 1) + other.var(axis=0, ddof=1) * (len(other) - 1)
    spread = np.maximum(np.sqrt(within / (n - 2)), SPREAD)
    small_sample = 1 - 3 / (4 * n - 9)
    return np.asarray(small_sample * (one.mean(axis=0) - other.mean(axis=0)) / spread)
