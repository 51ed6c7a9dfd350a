"""`SpectralFeatures`: the eigenvalues of the normalised Laplacian, in both forms of the paper.

Graphs below `STACK_BELOW` nodes are solved as one stack of dense matrices, which is fastest at the
size of brain graphs. Larger ones are solved per connected component by a dense or a sparse solver,
whichever is faster for its size and the number of values (`sparse_is_quicker`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidParameterError
from denseflip.graph import Codes, Graph
from denseflip.serialise import Serialisable
from denseflip.threads import single_thread

Matrix = npt.NDArray[np.float64]

STACK_BELOW = 600  # nodes; larger graphs are split into components
_STACK_BYTES = 64_000_000  # dense matrices held at once
# A connected graph's smallest positive eigenvalue is at least 1 / (diameter * 2 edges), which is
# above 4e-9 for fewer than 600 nodes; dense solvers err by about 1e-14.
_ZERO = 1e-10
_FEW = 4  # with fewer copies of a graph, each is faster alone
_NEAR = 4  # copies with more flips than one in this many edges are faster alone


@dataclass(frozen=True)
class SpectralFeatures(
    Serialisable, named="a description of features", keys=("name", ...), closed=True
):
    """Smallest eigenvalues of ``I - D^-1/2 A D^-1/2``, ascending, zero-padded to `width`.

    The defaults follow the text of the paper: positive eigenvalues only. Its printed numbers come
    from another form, ``SpectralFeatures(200, self_loops=True, drop_smallest=True,
    front_zero=True)`` (decision D11). The row of an isolated node is zero.

    Attributes
    ----------
    width : number of features.
    self_loops : use ``A + I`` instead of ``A``.
    drop_smallest : leave out only the smallest eigenvalue instead of all zeros.
    front_zero : put one 0 in front (it counts towards the width).

    Examples
    --------
    The triangle has the eigenvalues 0, 3/2 and 3/2:

    >>> triangle = Graph.from_edges(3, [(0, 1), (1, 2), (0, 2)])
    >>> SpectralFeatures(4).transform([triangle]).round(6).tolist()
    [[1.5, 1.5, 0.0, 0.0]]
    """

    name: ClassVar[str] = "spectral"
    any_size: ClassVar[bool] = True

    width: int = 200
    self_loops: bool = False
    drop_smallest: bool = False
    front_zero: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.width, bool) or not isinstance(self.width, int) or self.width < 1:
            msg = f"'width' of spectral features must be a whole number from 1; got {self.width!r}."
            raise InvalidParameterError(msg)

    def transform(self, graphs: Sequence[Graph]) -> Matrix:
        """One row per graph. A row depends on its graph alone, to the last bit."""
        out = np.zeros((len(graphs), self.width))
        by_size: dict[int, list[int]] = {}
        for i, graph in enumerate(graphs):
            by_size.setdefault(graph.n_nodes, []).append(i)
        with single_thread():
            for n, rows in by_size.items():
                if n == 0:
                    continue
                if n < STACK_BELOW:
                    step = max(1, _STACK_BYTES // (8 * n * n))
                    for start in range(0, len(rows), step):
                        self._fill_dense(out, graphs, rows[start : start + step])
                else:
                    for i in rows:
                        self.put(out[i], self._large(graphs[i]))
        return out

    # ---- dense ----------------------------------------------------------------------------

    def _fill_dense(self, out: Matrix, graphs: Sequence[Graph], rows: list[int]) -> None:
        n = graphs[rows[0]].n_nodes
        stack = np.empty((len(rows), n * n))
        fill_laplacians(stack, [graphs[i] for i in rows], self_loops=self.self_loops)
        values = np.linalg.eigvalsh(stack.reshape(-1, n, n), UPLO="L")
        for spectrum, i in zip(values, rows, strict=True):
            left_out = 1 if self.drop_smallest else int(spectrum.searchsorted(_ZERO))
            self.put(out[i], spectrum[left_out:])

    def put(self, row: Matrix, values: npt.NDArray[Any]) -> None:
        """Write the eigenvalues that are not left out, ascending, into an empty row."""
        start = int(self.front_zero)
        count = min(len(values), self.width - start)
        row[start : start + count] = values[:count]

    # ---- large graphs ---------------------------------------------------------------------

    def _large(self, graph: Graph) -> Matrix:
        """Smallest eigenvalues of a large graph, ascending, without those to be left out.

        The spectrum is the union of the components' spectra, and each component has the
        eigenvalue 0 exactly once, so the sparse solver cannot miss a copy of it.
        """
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = graph.n_nodes
        u, v = ends_of(graph.codes, n)
        scale, diagonal = scales_of(degrees_of(u, v, n), self_loops=self.self_loops)
        weight = scale[u] * scale[v]
        _, component = connected_components(graph.to_sparse(), directed=False)
        order = np.argsort(component, kind="stable")
        sizes = np.bincount(component)
        first = np.concatenate(([0], np.cumsum(sizes)))
        local = np.empty(n, dtype=np.int64)
        local[order] = np.arange(n) - np.repeat(first[:-1], sizes)
        edge_order = np.argsort(component[u], kind="stable")
        edge_first = np.concatenate(
            ([0], np.cumsum(np.bincount(component[u], minlength=len(sizes))))
        )
        positive: list[Matrix] = []
        for c, size in enumerate(sizes.tolist()):
            if size == 1:
                continue  # an isolated node adds its 0 and nothing else
            mine = edge_order[edge_first[c] : edge_first[c + 1]]
            rows, cols, data = local[u[mine]], local[v[mine]], weight[mine]
            nodes = order[first[c] : first[c + 1]]
            own = 1 - diagonal[nodes]
            spread = coo_array(
                (
                    np.concatenate((data, data, own)),
                    (
                        np.concatenate((rows, cols, np.arange(size))),
                        np.concatenate((cols, rows, np.arange(size))),
                    ),
                ),
                shape=(size, size),
            ).tocsr()
            positive.append(_smallest(spread, self.width + 1)[1:])
        values = np.sort(np.concatenate(positive)) if positive else np.empty(0)
        if self.drop_smallest:
            return np.concatenate((np.zeros(len(sizes) - 1), values))
        return values


def sparse_is_quicker(size: int, count: int) -> bool:
    """Whether Lanczos beats a dense solver for the `count` smallest eigenvalues of `size` nodes.

    Measured on graphs of degree 10 and 20 with one thread: they break even at about 500, 880, 1,370
    and 2,150 nodes for 21, 51, 101 and 201 values.

    >>> sparse_is_quicker(2_000, 201), sparse_is_quicker(2_500, 201), sparse_is_quicker(1_000, 21)
    (False, True, True)
    """
    return size >= STACK_BELOW and size > 68 * count**0.65


def _smallest(spread: Any, count: int) -> Matrix:
    """The `count` smallest eigenvalues of ``I - spread``, ascending (all, if fewer exist)."""
    from scipy.sparse.linalg import ArpackNoConvergence, eigsh

    size = spread.shape[0]
    if sparse_is_quicker(size, count):
        # A fixed start vector makes the result reproducible.
        start = np.random.default_rng(0).random(size) + 0.5
        try:
            top = eigsh(spread, k=count, which="LA", v0=start, return_eigenvectors=False)
            return np.sort(1 - top)
        except ArpackNoConvergence:
            pass  # fall back to the dense solver
    found: Matrix = np.linalg.eigvalsh(np.eye(size) - spread.toarray())
    return found[:count]


# ---- normalised Laplacians --------------------------------------------------------------------
# A search queries graphs that are a few flips away from its start: degrees and products are then
# computed for all of them together. Every entry is the same product of the same numbers as in a
# matrix computed alone, so a matrix depends on its graph alone, to the last bit.


def ends_of(codes: Codes, n_nodes: int) -> tuple[Codes, Codes]:
    """Both ends of every pair, the smaller first."""
    u = codes // max(n_nodes, 1)
    return u, codes - u * n_nodes


def degrees_of(u: Codes, v: Codes, n_nodes: int) -> Codes:
    """Number of neighbours of every node."""
    return np.bincount(u, minlength=n_nodes) + np.bincount(v, minlength=n_nodes)


def scales_of(degree: Codes | Matrix, *, self_loops: bool) -> tuple[Matrix, Matrix]:
    """``D^-1/2`` (0 for a node without neighbours) and the Laplacian's diagonal."""
    if self_loops:
        scale = 1 / np.sqrt(degree + 1)
        return scale, 1 - scale * scale
    scale = 1 / np.sqrt(np.maximum(degree, 1))
    scale[degree == 0] = 0
    return scale, (degree > 0).astype(np.float64)


def fill_laplacians(stack: Matrix, graphs: Sequence[Graph], *, self_loops: bool) -> None:
    """Write ``I - D^-1/2 A D^-1/2`` of each graph into a matrix of the stack.

    The stack has shape (k, n * n) for k graphs with n nodes. The diagonal and the lower triangle
    are filled, and zeros above.
    """
    start = 0
    for _, run in groupby(graphs, key=lambda graph: id(graph.root)):
        copies = list(run)
        stop = start + len(copies)
        if not _fill_copies(stack[start:stop], copies, self_loops):
            for matrix, graph in zip(stack[start:stop], copies, strict=True):
                _fill(matrix, graph, self_loops)
        start = stop


def _fill(matrix: Matrix, graph: Graph, self_loops: bool) -> None:
    n = graph.n_nodes
    u, v = ends_of(graph.codes, n)
    scale, diagonal = scales_of(degrees_of(u, v, n), self_loops=self_loops)
    matrix.fill(0)
    matrix[v * n + u] = -(scale[u] * scale[v])
    matrix[:: n + 1] = diagonal


def _fill_copies(stack: Matrix, graphs: Sequence[Graph], self_loops: bool) -> bool:
    """Fill the matrices of copies of one root together; False if that would not be faster."""
    root, k = graphs[0].root, len(graphs)
    if k < _FEW:
        return False
    flips = [graph.difference(root) for graph in graphs]
    lengths = [len(codes) for codes in flips]
    if _NEAR * sum(lengths) > k * root.n_edges:
        return False
    n, held, flipped = root.n_nodes, root.codes, np.concatenate(flips)
    u, v = ends_of(held, n)
    a, b = ends_of(flipped, n)
    owner = np.repeat(np.arange(k), lengths)
    there = held.take(held.searchsorted(flipped), mode="clip") == flipped
    step = np.where(there, -1.0, 1.0)
    change = np.bincount(owner * n + a, step, k * n) + np.bincount(owner * n + b, step, k * n)
    degree = degrees_of(u, v, n) + change.reshape(k, n)
    scale, diagonal = scales_of(degree, self_loops=self_loops)
    products = scale.take(u, axis=1)
    products *= scale.take(v, axis=1)
    np.negative(products, out=products)
    below = v * n + u
    for matrix, entries in zip(stack, products, strict=True):
        matrix.fill(0)
        matrix[below] = entries
    stack[owner, b * n + a] = np.where(there, 0.0, -(scale[owner, a] * scale[owner, b]))
    stack[:, :: n + 1] = diagonal
    return True
