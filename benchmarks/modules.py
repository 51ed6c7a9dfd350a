"""Networks of modules, as of genes: sparse, of any size, with one pair of modules that differs.

Every graph has the same number of edges, half of them within modules. Graphs of the class "ill"
have three times as many edges between modules 0 and 1 as those of the class "well".
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from denseflip import Graph, Nodes

MODULES, EDGES_PER_NODE = 20, 6.5
_MANY, _FEW = 0.02, 0.006  # share of the edges that are planted between modules 0 and 1
_BETWEEN = 0.5 * 2 / MODULES**2  # share that is there by chance


def module_graph(n_nodes: int, seed: int, *, ill: bool) -> Graph:
    """One graph; node v is in module ``v % MODULES``."""
    rng, n_edges = np.random.default_rng(seed), int(EDGES_PER_NODE * n_nodes)
    planted = int(n_edges * (_MANY if ill else _FEW))
    in_module = n_nodes // MODULES
    one, other = rng.integers(in_module, size=(2, planted)) * MODULES
    own = _codes(one, other + 1, n_nodes)
    codes = own
    while len(codes) < n_edges:
        u, v = rng.integers(n_nodes, size=(2, 2 * n_edges))
        inside = rng.random(len(u)) < 0.5
        v = np.where(inside, rng.integers(in_module, size=len(u)) * MODULES + u % MODULES, v)
        codes = np.union1d(codes, _codes(u, v, n_nodes))
    others = np.setdiff1d(codes, own)
    chosen = rng.choice(others, n_edges - len(own), replace=False, shuffle=False)
    return Graph(n_nodes, np.union1d(own, chosen))


def _codes(u: np.ndarray, v: np.ndarray, n_nodes: int) -> np.ndarray:
    low, high = np.minimum(u, v), np.maximum(u, v)
    return np.unique((low * n_nodes + high)[low != high])


def module_nodes(n_nodes: int) -> Nodes:
    """The node table: a name for each node, and its module."""
    modules = tuple(f"M{v % MODULES}" for v in range(n_nodes))
    return Nodes(tuple(f"g{v}" for v in range(n_nodes)), regions={"module": modules})


class CountingOracle:
    """Counts the edges between modules 0 and 1; knows the processor time that it took."""

    def __init__(self, n_nodes: int) -> None:
        self.level = EDGES_PER_NODE * n_nodes * ((_MANY + _FEW) / 2 + _BETWEEN)
        self.seconds = 0.0

    def predict(self, graphs: Sequence[Graph]) -> list[str]:
        """Labels of the graphs."""
        start = time.process_time()
        labels = []
        for graph in graphs:
            u, v = np.divmod(graph.codes, graph.n_nodes)
            a, b = u % MODULES, v % MODULES
            between = ((a == 0) & (b == 1)) | ((a == 1) & (b == 0))
            labels.append("ill" if np.count_nonzero(between) > self.level else "well")
        self.seconds += time.process_time() - start
        return labels


def module_cohort(n_nodes: int, n_graphs: int = 25) -> list[Graph]:
    """Graphs of both classes in turn, the first of them well."""
    return [module_graph(n_nodes, seed, ill=seed % 2 == 1) for seed in range(n_graphs)]
