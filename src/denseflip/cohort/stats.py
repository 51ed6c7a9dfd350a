"""The statistics of a cohort: permutation p-values, family-wise and by discovery rate, differences.

All take what was observed and the same figures under permuted labels, one row per permutation. The
observed labelling counts as one of the permutations, so no p-value is below 1 / (permutations + 1)
and each is valid for any number of them.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidParameterError

Floats = npt.NDArray[np.float64]
_TIE = 1e-9  # sums carry rounding; a tie must count as one
_LEAST_ERROR = 1e-6  # so that a tie of groups without variation is seen as one, too


def smallest_p(permutations: int) -> float:
    """The smallest p-value that so many permutations can give.

    >>> smallest_p(199)
    0.005
    """
    return 1 / (permutations + 1)


def check_permutations(permutations: int, level: float) -> None:
    """Say so if no p-value could be as small as the level asked for."""
    if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0 < level < 1:
        msg = f"level must be a number between 0 and 1; got {level!r}."
        raise InvalidParameterError(msg, parameter="level")
    if permutations and smallest_p(permutations) > level + _TIE:
        needed = math.ceil(1 / level - _TIE) - 1
        msg = (
            f"{permutations} permutations cannot give a p-value below "
            f"{smallest_p(permutations):.3g}, so nothing could be named at the level {level:g}. "
            f"Ask for at least {needed}, or for none (permutations=0): then there are no p-values."
        )
        raise InvalidParameterError(msg, parameter=("permutations", "level"))


def single_p(observed: npt.ArrayLike, null: npt.ArrayLike) -> Floats:
    """p of each figure by itself: how often permuted labels give as much at the same place.

    >>> single_p([5, 1], [[0, 1], [1, 0], [5, 2]]).tolist()
    [0.5, 0.75]
    """
    seen, shuffled = _arrays(observed, null)
    p: Floats = (1 + (shuffled >= seen - _TIE).sum(axis=0)) / (1 + len(shuffled))
    return p


def max_p(observed: npt.ArrayLike, null: npt.ArrayLike) -> Floats:
    """p of each figure against the largest anywhere under permuted labels.

    Westfall and Young's single-step maximum: where labels mean nothing, the chance that *any*
    figure gets a p of at most α is at most α.

    >>> max_p([5, 1], [[0, 1], [1, 0], [5, 2]]).tolist()
    [0.5, 1.0]
    """
    seen, shuffled = _arrays(observed, null)
    most = shuffled.max(axis=1, initial=-np.inf)
    p: Floats = (1 + (most[:, None] >= seen - _TIE).sum(axis=0)) / (1 + len(shuffled))
    return p


def benjamini_hochberg(p: npt.ArrayLike) -> Floats:
    """p-values adjusted for the expected share of false names among the named ones.

    Benjamini and Hochberg (1995). What is named at an adjusted value of at most α keeps that share
    below α where the figures are independent or rise and fall together.

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
    """Difference of two groups' means over their pooled standard error, column by column.

    Student's t of the rows inside against the others; 0 for a column without variation. Where the
    groups are each of one value and apart, it is very large, not infinite.

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
    """Spearman's rank correlation, ties at their mean rank; None where one side is constant.

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
