"""Statistics of a cohort: permutation p-values (family-wise, FDR) and group differences.

All take the observed values and the same values under permuted labels, one row per permutation. The
observed labelling counts as one of the permutations, so no p-value is below 1 / (permutations + 1)
and each is valid for any number of permutations.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidParameterError

Floats = npt.NDArray[np.float64]
_TIE = 1e-9  # rounding errors of sums must not break a tie
_LEAST_ERROR = 1e-6  # ties between groups without variation must be ties, too


def smallest_p(permutations: int) -> float:
    """Return the smallest p-value that this number of permutations can give.

    >>> smallest_p(199)
    0.005
    """
    return 1 / (permutations + 1)


def check_permutations(permutations: int, level: float) -> None:
    """Raise an error if there are too few permutations for the significance level."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        msg = f"level must be a number between 0 and 1; got {level!r}."
        raise InvalidParameterError(msg, parameter="level")
    if permutations and smallest_p(permutations) > level + _TIE:
        needed = math.ceil(1 / level - _TIE) - 1
        msg = (
            f"{permutations} permutations cannot give a p-value below "
            f"{smallest_p(permutations):.3g}, so nothing could be significant at level {level:g}. "
            f"Use at least {needed}, or permutations=0 to run without p-values."
        )
        raise InvalidParameterError(msg, parameter=("permutations", "level"))


def single_p(observed: npt.ArrayLike, null: npt.ArrayLike) -> Floats:
    """Return the uncorrected p-value of each value, from the permutations at the same position.

    >>> single_p([5, 1], [[0, 1], [1, 0], [5, 2]]).tolist()
    [0.5, 0.75]
    """
    seen, shuffled = _arrays(observed, null)
    p: Floats = (1 + (shuffled >= seen - _TIE).sum(axis=0)) / (1 + len(shuffled))
    return p


def max_p(observed: npt.ArrayLike, null: npt.ArrayLike) -> Floats:
    """Return the p-value of each value against the maximum over all positions per permutation.

    Westfall and Young's single-step maximum: if the labels are random, the probability that *any*
    value gets a p-value of at most α is at most α.

    >>> max_p([5, 1], [[0, 1], [1, 0], [5, 2]]).tolist()
    [0.5, 1.0]
    """
    seen, shuffled = _arrays(observed, null)
    most = shuffled.max(axis=1, initial=-np.inf)
    p: Floats = (1 + (most[:, None] >= seen - _TIE).sum(axis=0)) / (1 + len(shuffled))
    return p


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """Adjust p-values for the false discovery rate.

    Benjamini and Hochberg (1995). Rejecting at an adjusted value of at most α keeps the false
    discovery rate below α if the values are independent or positively dependent.

    >>> benjamini_hochberg([0.01, 0.04, 0.03, 0.5]).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    values = np.asarray(p, dtype=np.float64)
    n = len(values)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * n / np.arange(1, n + 1)
    out = np.empty(n)
    out[order] = np.minimum.accumulate(scaled[::-1])[::-1].clip(max=1.0)
    return out


def group_difference(values: Floats, inside: npt.NDArray[np.bool_]) -> Floats:
    """Return Student's t of the rows inside against the others, column by column.

    It is 0 for a column without variation. If both groups are constant but different, it is very
    large, not infinite.

    >>> group_difference(np.array([[1.0], [3.0], [5.0], [7.0]]), np.array([0, 0, 1, 1], bool))
    array([2.82842712])
    """
    a, b = values[inside], values[~inside]
    if not len(a) or not len(b):
        return np.zeros(values.shape[1])
    within = ((a - a.mean(axis=0)) ** 2).sum(axis=0) + ((b - b.mean(axis=0)) ** 2).sum(axis=0)
    error = np.sqrt(within / max(1, len(values) - 2) * (1 / len(a) + 1 / len(b)))
    gap = a.mean(axis=0) - b.mean(axis=0)
    out: Floats = np.where(np.abs(gap) > _TIE, gap, 0.0) / np.maximum(error, _LEAST_ERROR)
    return out


def rank_correlation(a: npt.ArrayLike, b: npt.ArrayLike) -> float | None:
    """Return Spearman's rank correlation, with mean ranks for ties; None if one side is constant.

    >>> rank_correlation([1, 2, 3], [10, 20, 15])
    0.5
    """
    x, y = (_ranks(np.asarray(v, dtype=np.float64)) for v in (a, b))
    x, y = x - x.mean(), y - y.mean()
    size = math.sqrt(float((x @ x) * (y @ y)))
    return float(x @ y) / size if size > _TIE else None


def _ranks(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Floats = (last - (counts - 1) / 2)[place]
    return ranks


def _arrays(observed: npt.ArrayLike, null: npt.ArrayLike) -> tuple[Floats, Floats]:
    seen = np.asarray(observed, dtype=np.float64)
    return seen, np.asarray(null, dtype=np.float64).reshape(-1, len(seen))
