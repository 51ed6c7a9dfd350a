"""TRI and its classifier in the style of the authors' notebooks, as a reference for speed.

Written from the paper and the specification (TRI, the spectral classifier) with networkx, SciPy and
scikit-learn, without optimisation: graphs are networkx objects that are copied for every change;
all pairs are scored and sorted in Python; the oracle is queried after the removal and again after
the addition, though only the second answer is used; and each query builds one sparse Laplacian and
solves for one graph.

The classifier is the one behind the printed numbers: a self-loop at every node, all eigenvalues of
the normalised Laplacian but the smallest, ascending, a zero in front, zeros behind. So what this
finds is, graph by graph, what the published profile of the library finds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import eigsh

Pair = tuple[int, int]


def spectral_row(graph: nx.Graph, width: int) -> npt.NDArray[np.float64]:
    """A graph's features. Like the library of the authors, it leaves self-loops in the graph."""
    n = graph.number_of_nodes()
    graph.add_edges_from((v, v) for v in range(n))
    laplacian = nx.normalized_laplacian_matrix(graph, nodelist=range(n)).astype(np.float64)
    # A fixed start, so that two runs agree to the last bit.
    start = np.random.default_rng(0).random(n)
    values = eigsh(laplacian, k=n - 1, which="LM", v0=start, return_eigenvectors=False)
    row = np.zeros(width)
    row[1:n] = np.sort(values)
    return row


@dataclass
class SparseOracle:
    """A fitted scikit-learn estimator, queried about one networkx graph at a time.

    Attributes
    ----------
    estimator : trained on rows of `spectral_row`.
    width : length of such a row.
    calls : number of queries.
    """

    estimator: Any
    width: int = 200
    calls: int = field(default=0, init=False)

    def __call__(self, graph: nx.Graph) -> int:
        """The label of one graph."""
        self.calls += 1
        return int(self.estimator.predict(spectral_row(graph, self.width)[None])[0])


def open_triangles(graph: nx.Graph, oracle: SparseOracle) -> tuple[bool, set[Pair]]:
    """TRI: whether the label changed, and the edges of the graph where the search ended.

    The i-th edge from the top of the order by triangles goes and the i-th unjoined pair from its
    bottom comes, for as long as i is less than the number of edges less two (decision D2).
    """
    through = nx.triangles(graph)
    removals, additions = [], []
    for u, v in combinations(sorted(graph), 2):
        listed = removals if graph.has_edge(u, v) else additions
        listed.append((through[u] + through[v], (u, v)))
    removals.sort(reverse=True)
    additions.sort()
    label = oracle(graph.copy())
    changed = graph.copy()
    swaps = zip(removals[: max(0, len(removals) - 2)], additions, strict=False)
    for (_, gone), (_, new) in swaps:
        changed = changed.copy()
        changed.remove_edge(*gone)
        oracle(changed)
        changed = changed.copy()
        changed.add_edge(*new)
        if oracle(changed) != label:
            return True, edges_of(changed)
    return False, edges_of(changed)


def edges_of(graph: nx.Graph) -> set[Pair]:
    """The edges as pairs (u, v) with u < v, self-loops left out."""
    return {(min(u, v), max(u, v)) for u, v in graph.edges if u != v}
