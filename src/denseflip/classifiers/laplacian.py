"""Normalised Laplacians as dense matrices, quick for many near copies of one graph.

A search asks about graphs that are a few flips away from where it started: degrees and products are
then taken for all of them together. Every entry is the same product of the same numbers as in a
matrix made by itself, so a matrix depends on its graph alone, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import numpy.typing as npt

from denseflip.graph import Codes, Graph

Matrix = npt.NDArray[np.float64]

_FEW = 4  # copies below which each is quicker by itself
_NEAR = 4  # copies with more flips than one in so many edges are quicker by themselves


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

    The diagonal and what is below it are filled, and zeros above it.

    Parameters
    ----------
    stack : array of shape (k, n * n).
    graphs : k graphs with n nodes.
    self_loops : use ``A + I`` in place of ``A``.
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
    """Fill the matrices of copies of one root together; False if that would not be quicker."""
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
