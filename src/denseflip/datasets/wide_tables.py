"""Correlation graphs of tables with thousands of columns, such as gene expression.

A matrix of all pairs of 20,000 columns takes 3.2 GB. Here it is computed a few rows at a time, and
only the pairs that become edges are kept.
"""

from __future__ import annotations

import numpy as np

from denseflip.datasets.connectome import Keep, Matrix
from denseflip.errors import InvalidGraphError, TooLargeError
from denseflip.graph import Graph
from denseflip.limits import check_size

WIDE = 3_000  # tables with more columns are correlated in blocks
_BLOCK = 4_000_000  # correlations in a block
_PER_EDGE = 64  # bytes per edge while the strongest are chosen


def correlation_graph(series: Matrix, keep: Keep, source: str) -> Graph:
    """The graph of a table's Pearson correlations, equal to that of the full matrix.

    The table has a column per node, none of them constant.

    Examples
    --------
    >>> table = np.array([[1, 2, 0], [2, 4, 5], [3, 7, 1], [4, 8, 0]], dtype=float)
    >>> correlation_graph(table, Keep(edges=1), "a.csv").edges()
    [(0, 1)]
    """
    n = series.shape[1]
    pairs = n * (n - 1) // 2
    wanted = keep.n_edges(n)
    if wanted is not None and wanted > pairs:
        msg = f"{source}: {wanted} edges requested, but {n} nodes have only {pairs} pairs."
        raise InvalidGraphError(msg)
    check_edges(wanted or 0, n, source)
    scaled = series - series.mean(axis=0)
    scaled /= np.sqrt((scaled**2).sum(axis=0))
    codes, values = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.float64)
    bar = -np.inf if keep.threshold is None else float(np.nextafter(keep.threshold, -np.inf))
    high = max(1, _BLOCK // n)
    for first in range(0, n - 1, high):
        found = scaled[:, first : first + high].T @ scaled[:, first:]
        corner = len(found)
        found[:, :corner][np.tri(corner, dtype=bool)] = -np.inf  # the other triangle
        rows, columns = np.nonzero(found > bar)
        codes = np.concatenate((codes, (rows + first) * n + columns + first))
        values = np.concatenate((values, found[rows, columns]))
        if wanted is None:
            check_edges(len(codes), n, source)
        elif len(codes) > wanted:
            bar = float(np.partition(values, len(values) - wanted)[-wanted]) if wanted else np.inf
            kept, equal = values > bar, np.flatnonzero(values == bar)
            # Of equal values the pairs that come first; codes rise from block to block.
            kept[equal[: wanted - np.count_nonzero(kept)]] = True
            codes, values = codes[kept], values[kept]
    return Graph(n, codes)


def check_edges(n_edges: int, n_nodes: int, source: str) -> None:
    """Raise if a graph would have more edges than fit into memory while it is made."""
    try:
        check_size(float(n_edges) * _PER_EDGE, f"{source}: {n_edges:,} of its pairs")
    except TooLargeError as error:
        msg = (
            f"{error} Or keep fewer edges: of {n_nodes:,} columns, edges={7 * n_nodes} keeps 14 "
            "per node on average."
        )
        raise TooLargeError(msg, parameter=("edges", "max_size")) from error
