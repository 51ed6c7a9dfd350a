"""From ROI time series to a matrix, and from a matrix to a graph (§12 of the specification)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import (
    InvalidGraphError,
    InvalidParameterError,
    MissingExtraError,
    UnknownNameError,
    counted,
    shown,
    whole_number,
)
from denseflip.graph import Graph
from denseflip.graph.convert import check_matrix
from denseflip.limits import check_dense

Matrix = npt.NDArray[np.float64]

#: Values of ``measure`` → nilearn's names.
MEASURES = {"pearson": "correlation", "partial": "partial correlation", "tangent": "tangent"}


@dataclass(frozen=True)
class Keep:
    """Which pairs of a weighted matrix become edges: exactly one of three rules.

    Attributes
    ----------
    percentile : keep the pairs at or above this percentile of the matrix's own off-diagonal
        values: 0, or from 1 to 100 (0.9 is refused, as it probably means 90). Ties at the cut go
        to the pairs that come first, so the number of edges depends only on the number of nodes:
        667 for 116 nodes and percentile 90.
    threshold : keep the pairs at or above this value.
    edges : keep this many pairs, the strongest; ties as above.

    Examples
    --------
    >>> Keep(percentile=90).n_edges(116)
    667
    >>> Keep(edges=1).apply(np.array([[0, 0.2, 0.5], [0.2, 0, 0.5], [0.5, 0.5, 0]])).edges()
    [(0, 2)]
    """

    percentile: float | None = None
    threshold: float | None = None
    edges: int | None = None

    def __post_init__(self) -> None:
        given = [k for k in ("percentile", "threshold", "edges") if getattr(self, k) is not None]
        if len(given) != 1:
            msg = f"Pass one of percentile, threshold and edges; got {', '.join(given) or 'none'}."
            raise InvalidParameterError(msg)
        for name in given:
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
                msg = f"{name} must be a number; got {shown(value)}."
                raise InvalidParameterError(msg)
        if self.percentile is not None and not 0 <= self.percentile <= 100:
            msg = f"percentile must be between 0 and 100; got {self.percentile!r}."
            raise InvalidParameterError(msg)
        if self.percentile is not None and 0 < self.percentile < 1:
            meant = f"{100 * self.percentile:g}"
            msg = (
                f"percentile runs from 0 to 100; got {self.percentile!r}, which would keep nearly "
                f"every pair: did you mean {meant}? (0 exactly keeps every pair.)"
            )
            raise InvalidParameterError(msg)
        if self.threshold is not None and not math.isfinite(self.threshold):
            msg = f"threshold must be a finite number; got {self.threshold!r}."
            raise InvalidParameterError(msg)
        if self.edges is not None:
            object.__setattr__(self, "edges", whole_number("edges", self.edges))

    def n_edges(self, n_nodes: int) -> int | None:
        """Number of edges of a graph of this size; None if it depends on the values."""
        pairs = n_nodes * (n_nodes - 1) // 2
        if self.percentile is not None:
            # The q-th percentile is at position q/100 * (pairs - 1) of the sorted values; the kept
            # pairs are the positions from there up. Rounding removes noise such as 0.9 * 10.
            place = round(self.percentile / 100 * (pairs - 1), 9)
            return pairs - math.ceil(place) if pairs else 0
        return self.edges

    def apply(self, matrix: npt.ArrayLike, *, source: str = "matrix") -> Graph:
        """The graph of a weighted, symmetric matrix; its diagonal is ignored.

        Raises
        ------
        InvalidGraphError
            If the matrix is not square, symmetric and finite, has fewer pairs than requested, or so
            many zeros that the rule would have to choose among them.
        """
        weights = check_matrix(_tidied(matrix), source)
        if self.threshold is not None:
            return Graph.from_adjacency(weights, threshold=self.threshold, source=source)
        n = len(weights)
        rows, columns = np.triu_indices(n, k=1)
        values = weights[rows, columns].astype(np.float64)
        return self._strongest(n, rows * n + columns, values, source)

    def apply_pairs(
        self, n: int, codes: npt.NDArray[np.int64], weights: Matrix, *, source: str = "edge list"
    ) -> Graph:
        """The graph of weighted pairs (u · n + v, u < v); all other pairs have the weight 0.

        Raises
        ------
        InvalidGraphError
            If a weight is not finite, or as in `apply`.

        Examples
        --------
        >>> Keep(threshold=0.5).apply_pairs(3, np.array([1, 2]), np.array([0.2, 0.9])).edges()
        [(0, 2)]
        """
        wrong = weights[~np.isfinite(weights)]
        if len(wrong):
            msg = f"{source}: the weight of an edge is {wrong[0]}; weights must be finite numbers."
            raise InvalidGraphError(msg)
        order = np.argsort(codes)
        codes, weights = codes[order], weights[order]
        if self.threshold is None:
            return self._strongest(n, codes, weights, source)
        if self.threshold <= 0:
            msg = (
                f"{source}: a threshold of {self.threshold:g} keeps all pairs that the list does "
                "not name, because their weight is 0. Use a threshold above 0."
            )
            raise InvalidGraphError(msg, parameter="threshold")
        return Graph(n, codes[weights >= self.threshold])

    def _strongest(
        self, n: int, codes: npt.NDArray[np.int64], values: Matrix, source: str
    ) -> Graph:
        """The graph of the strongest pairs; those that are not listed have the value 0."""
        k, pairs = self.n_edges(n) or 0, n * (n - 1) // 2
        if k > pairs:
            msg = f"{source}: {k} edges requested, but {n} nodes have only {pairs} pairs."
            raise InvalidGraphError(msg)
        order = np.argsort(-values, kind="stable")[:k]
        weakest = values[order[-1]] if len(order) == k > 0 else -np.inf
        unlisted = pairs - len(values)
        among = weakest <= 0 if unlisted else weakest == 0 and np.count_nonzero(values == 0) > 1
        if k and among:
            strong = int((values > 0).sum())
            msg = (
                f"{source}: {counted(k, 'edge', 'edges')} requested, but only "
                f"{counted(strong, 'pair has', 'pairs have')} a value above 0, so the rest would "
                "be an arbitrary choice among zeros. Request fewer edges (a higher percentile or a "
                "smaller number of edges), or use a threshold."
            )
            raise InvalidGraphError(msg)
        order.sort()
        return Graph(n, codes[order].astype(np.int64))

    def __str__(self) -> str:
        if self.percentile is not None:
            return f"pairs at or above percentile {self.percentile:g} of each matrix"
        if self.threshold is not None:
            return f"pairs at or above {self.threshold:g}"
        return f"the {self.edges} strongest pairs of each matrix"


def _tidied(matrix: npt.ArrayLike) -> npt.ArrayLike:
    """Remove artefacts from a float matrix before it is checked.

    The diagonal is never an edge (Fisher's z is infinite there), and in single precision the two
    halves of a symmetric matrix may differ in the last digits.
    """
    array = np.array(matrix) if isinstance(matrix, np.ndarray) else np.asarray(matrix)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.dtype.kind != "f":
        return array
    np.fill_diagonal(array, 0.0)
    if np.isfinite(array).all():
        scale = float(np.abs(array).max(initial=0.0))
        if np.abs(array - array.T).max(initial=0.0) <= 1e-6 * scale:
            array = (array + array.T) / 2
    return array


def upper_triangles(matrices: Sequence[npt.ArrayLike]) -> Matrix:
    """Symmetric matrices as rows of weights, one per matrix: the upper triangle, row by row.

    >>> upper_triangles([[[0, 1, 2], [1, 0, 3], [2, 3, 0]]]).tolist()
    [[1.0, 2.0, 3.0]]
    """
    tidied = (np.asarray(_tidied(np.asarray(m, dtype=np.float64))) for m in matrices)
    return np.stack([m[np.triu_indices(len(m), k=1)] for m in tidied])


def make_keep(
    percentile: float | None = None, threshold: float | None = None, edges: int | None = None
) -> Keep | None:
    """The rule that was given, or None."""
    given = (percentile, threshold, edges)
    return None if all(x is None for x in given) else Keep(*given)


def check_time_series(series: npt.ArrayLike, source: str) -> Matrix:
    """Check that a table of time points × regions is fit for correlation."""
    array = np.asarray(series, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] < 3 or array.shape[1] < 2:
        msg = (
            f"{source}: a time series needs at least 3 rows (time points) and 2 columns "
            f"(regions); got shape {array.shape}."
        )
        raise InvalidGraphError(msg)
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        r, c = bad[0].tolist()
        msg = f"{source}: value {array[r, c]} at row {r}, column {c}, counted from 0 "
        msg += f"({counted(len(bad), 'such entry', 'such entries')})."
        raise InvalidGraphError(msg)
    flat = np.flatnonzero(np.ptp(array, axis=0) == 0)
    if len(flat):
        msg = (
            f"{source}: column {flat[0]}, counted from 0, is constant "
            f"({counted(len(flat), 'such column', 'such columns')}), so it has no correlation. "
            "Remove these regions from every file and from the node table."
        )
        raise InvalidGraphError(msg)
    return array


def connectivity(series: Sequence[npt.ArrayLike], measure: str = "pearson") -> list[Matrix]:
    """One region × region matrix per subject, by nilearn's ConnectivityMeasure.

    Parameters
    ----------
    series : one array of shape (time points, regions) per subject.
    measure : ``pearson``, ``partial`` (precision from the Ledoit-Wolf covariance), or
        ``tangent`` (each subject against the group mean: it needs several subjects).
    """
    if measure not in MEASURES:
        raise UnknownNameError("measure", measure, MEASURES)
    checked = [check_time_series(x, f"time series {i}") for i, x in enumerate(series)]
    for i, x in enumerate(checked):
        check_dense(x.shape[1], f"time series {i}: its correlations")
    if measure == "tangent" and len(checked) < 2:
        msg = "The tangent measure compares subjects with their mean; pass at least two."
        raise InvalidParameterError(msg)
    try:
        from nilearn.connectome import ConnectivityMeasure
    except ImportError as error:
        raise MissingExtraError("nilearn", "brain") from error
    from sklearn.covariance import EmpiricalCovariance, LedoitWolf

    # Pearson's correlation is the empirical one; the other two invert a covariance, which with few
    # time points is only possible after shrinkage.
    plain = EmpiricalCovariance(store_precision=False)  # nothing inverts it
    estimator: Any = plain if measure == "pearson" else LedoitWolf()
    tool = ConnectivityMeasure(
        kind=MEASURES[measure], cov_estimator=estimator, standardize="zscore_sample"
    )
    return list(np.asarray(tool.fit_transform(checked), dtype=np.float64))
