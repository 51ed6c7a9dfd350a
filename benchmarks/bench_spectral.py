"""Time per graph of the spectral features, as a ratio to SciPy's sparse solver.

Run it as ``python benchmarks/bench_spectral.py``. The reference does what the paper's library did:
a sparse Laplacian per graph and all eigenvalues but one from a Lanczos solver. One thread
throughout; ratios, not times, are to be compared between machines. Exits with 1 if the batched
path is less than 8 times as fast at 116 nodes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np
from scipy.sparse import csgraph
from scipy.sparse.linalg import eigsh
from sklearn.neighbors import KNeighborsClassifier

from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.spectral import SpectralFeatures
from denseflip.graph import Graph
from denseflip.oracles.threads import single_thread

EXPECTED = 8.0  # at 116 nodes


def make_graphs(n: int, density: float, count: int) -> list[Graph]:
    """Random graphs of one size."""
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(n, 1)
    masks = (rng.random(len(u)) < density for _ in range(count))
    return [Graph.from_edges(n, np.column_stack((u[m], v[m]))) for m in masks]


def reference(graphs: Sequence[Graph]) -> None:
    """SciPy, one graph at a time."""
    for graph in graphs:
        laplacian = csgraph.laplacian(graph.to_sparse(), normed=True)
        start = np.ones(graph.n_nodes)
        eigsh(laplacian, k=graph.n_nodes - 1, which="LM", v0=start, return_eigenvectors=False)


def per_graph(call: Callable[[], object], count: int, rounds: int = 5) -> float:
    """Best time of several rounds, per graph, in milliseconds."""
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - begin)
    return 1000 * best / count


def main() -> int:
    """Print the table; 0 if the ratio at 116 nodes is as expected."""
    features = SpectralFeatures(200)
    good = True
    print("nodes  density  sparse ms  batched ms  ratio  single ms  ratio")
    with single_thread():
        for n, density in ((116, 0.1), (190, 0.01), (332, 0.1)):
            graphs = make_graphs(n, density, 32)
            slow = per_graph(lambda g=graphs[:8]: reference(g), 8, rounds=3)
            batch = per_graph(lambda g=graphs: features.transform(g), 32)
            one = per_graph(lambda g=graphs: [features.transform([x]) for x in g], 32)
            print(
                f"{n:5d}  {density:7.2f}  {slow:9.2f}  {batch:10.3f}  {slow / batch:5.1f}  "
                f"{one:9.3f}  {slow / one:5.1f}"
            )
            if n == 116:
                good = slow / batch >= EXPECTED
        graphs = make_graphs(116, 0.1, 100)
        rows = features.transform(graphs)
        bare = per_graph(lambda: [features.transform([g]) for g in graphs], 100)
        fitted = KNeighborsClassifier(5).fit(rows, np.arange(100) % 2)
        oracle = FittedOracle(features, fitted, ("a", "b"), 116)
        asked = per_graph(lambda: [oracle.predict([g]) for g in graphs], 100)
        plain = per_graph(
            lambda: [fitted.predict(features.transform([g])) for g in graphs], 100, rounds=2
        )
    print(
        f"one question, one graph of 116 nodes: {asked / bare:.2f} times its features "
        f"(through scikit-learn's predict {plain / bare:.2f})"
    )
    if not good:
        print(f"slower than expected: the ratio at 116 nodes should be at least {EXPECTED:g}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
