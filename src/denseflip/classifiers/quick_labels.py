"""Labels of nearest neighbours on spectral features, from eigenvalues in single precision.

Single precision takes two thirds of the time. Its eigenvalues, as one vector, lie within a known
distance of those in double precision (`error_of`), so every distance to a training row does too. If
that cannot change the vote, the label is that of double precision; otherwise the caller computes it
in double precision. So no label ever differs.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.heads import NeighbourHead, Positions
from denseflip.classifiers.spectral import STACK_BELOW, SpectralFeatures, scales_of
from denseflip.graph import Graph
from denseflip.graph.density import count_components

Single = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float64]

SMALLEST = 64  # nodes; below, calls cost more than the eigenvalues
_AFTER = 500  # graphs whose saving pays for importing scipy.linalg
_ENOUGH, _WORTH = 64, 0.3  # graphs to try, and the share of unsure ones that is still worth it
_SAFETY = 8  # times n units in the last place; the largest error over all walks is 0.3 times
_BLOCK = 16  # columns reduced together; LAPACK's own choice, 32, takes 6 to 9 % longer
_UNIT = float(np.finfo(np.float32).eps)
_NEARLY_ZERO = 1e-3  # below it, single precision cannot tell an eigenvalue from 0


def error_of(n_nodes: int) -> float:
    """How far the eigenvalues in single precision may be from the true ones, as one vector.

    The matrix has norm at most 2. The error of Householder reductions grows like √n times the
    Frobenius norm, itself about √n, in units in the last place. This is eight times that.

    >>> f"{error_of(116):.1e}"
    '1.1e-04'
    """
    return _SAFETY * n_nodes * _UNIT


class QuickLabels:
    """Positions of classes that single precision is sure of."""

    def __init__(self, features: SpectralFeatures, head: NeighbourHead) -> None:
        self.features, self.head = features, head
        self._asked = self._tried = self._unsure = 0
        self._solvers: dict[int, tuple[Any, Any, int]] = {}
        self._root: tuple[Graph, Single, Matrix] | None = None  # the last one

    def serves(self, n_nodes: int, count: int) -> bool:
        """Whether single precision is faster for this many more graphs of this size."""
        if not SMALLEST <= n_nodes < STACK_BELOW or self.head.k >= len(self.head.rows):
            return False
        self._asked += count
        if self._tried >= _ENOUGH and self._unsure > _WORTH * self._tried:
            return False
        return self._asked > _AFTER or "scipy.linalg" in sys.modules

    def position(self, graph: Graph) -> int | None:
        """Position of a graph's class; None if single precision cannot tell."""
        found = self._decide(graph)
        self._tried += 1
        self._unsure += found is None
        return found

    def _decide(self, graph: Graph) -> int | None:
        found = self._distances(graph)
        return None if found is None else self._winner(*found)

    def votes(self, graph: Graph) -> Positions | None:
        """Votes per class; None if single precision cannot tell who votes."""
        found = self._distances(graph)
        if found is None:
            return None
        (apart, doubt), k = found, self.head.k
        order = apart.argpartition(k)
        nearest = order[:k]
        if not apart.item(order[k]) - float(apart[nearest].max()) > doubt:
            return None
        return np.bincount(self.head.labels[nearest], minlength=self.head.n_classes)

    def _distances(self, graph: Graph) -> tuple[Matrix, float] | None:
        """Distance to each training row, and how far two of them may be from their difference."""
        row = self.row(graph)
        if row is None:
            return None
        columns, squares, _, reach = self.head.expanded
        length = float(row @ row)
        near = squares - row[: len(columns)] @ columns
        near += length
        apart = np.sqrt(np.maximum(near, 0, out=near), out=near)
        # The square root of a rounding error of the squares is part of the error.
        rounding = math.sqrt(self.head.slack(math.sqrt(length) + reach))
        return apart, 2 * (error_of(graph.n_nodes) + rounding)

    def _winner(self, apart: Matrix, doubt: float) -> int | None:
        """Winner of the vote if it is the same for all distances that may be this much apart."""
        head = self.head
        k, labels = head.k, head.labels
        order = apart.argpartition(k)
        nearest = order[:k]
        last = float(apart[nearest].max())
        votes = np.bincount(labels[nearest], minlength=head.n_classes)
        winner = int(votes.argmax())
        if apart.item(order[k]) - last > doubt:
            return winner
        possible = np.bincount(labels[apart <= last + doubt], minlength=head.n_classes)
        others = int(possible.sum()) - int(possible[winner])
        least = k - others  # votes that the winner has in any case
        for rival, most in enumerate(possible.tolist()):
            if rival != winner and not (least > most or (least == most and winner < rival)):
                return None
        return winner

    # ---- eigenvalues ----------------------------------------------------------------------

    def row(self, graph: Graph) -> Matrix | None:
        """The row of features, to single precision; None if it cannot be computed."""
        features, n = self.features, graph.n_nodes
        matrix, degree = self._laplacian(graph)
        reduce, solve, work = self._solver(n)
        _, diagonal, beside, _, failed = reduce(matrix.T, lower=1, lwork=work, overwrite_a=1)
        values, failed_too = solve(diagonal, beside, overwrite_d=1, overwrite_e=1)
        if failed or failed_too:
            return None
        left_out = 1
        if not features.drop_smallest:
            # Every component has the eigenvalue 0 once. There are at least this many components …
            isolated = n - int(np.count_nonzero(degree))
            left_out = isolated + (isolated < n)
            if values.searchsorted(_NEARLY_ZERO) > left_out:  # … and perhaps more
                left_out = count_components(graph)
        row = np.zeros(features.width)
        features.put(row, values[left_out:])
        return row

    def _solver(self, n: int) -> tuple[Any, Any, int]:
        known = self._solvers.get(n)
        if known is None:
            from scipy.linalg import lapack

            known = self._solvers[n] = (lapack.ssytrd, lapack.ssterf, _BLOCK * n)
        return known

    def _laplacian(self, graph: Graph) -> tuple[Single, Matrix]:
        """The normalised Laplacian of a graph, diagonal and above, and the degrees."""
        n = graph.n_nodes
        root, spread, degree = self._of_root(graph.root)
        flipped = graph is not root
        if flipped:
            flips = graph.difference(root)
            u = flips // n
            v = flips - u * n
            there = spread[u, v]  # -1 for an edge of the root
            step = 1.0 + 2.0 * there
            degree = degree + np.bincount(u, step, n) + np.bincount(v, step, n)
        scale, diagonal = scales_of(degree, self_loops=self.features.self_loops)
        thin = scale.astype(np.float32)
        matrix = spread * thin
        matrix *= thin[:, None]
        if flipped:
            matrix[u, v] = (-1 - there) * thin[u] * thin[v]
        matrix.reshape(-1)[:: n + 1] = diagonal
        return matrix, degree

    def _of_root(self, root: Graph) -> tuple[Graph, Single, Matrix]:
        """A root, its adjacency with -1 for an edge, and its degrees."""
        known = self._root
        if known is None or known[0] is not root:
            spread = -root.to_adjacency(np.float32)
            known = self._root = (root, spread, -spread.sum(axis=1, dtype=np.float64))
        return known
