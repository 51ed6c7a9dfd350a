"""The cost of trained classifiers per query, as ratios to the minimal work of an answer.

- *Spectral features* compared with the paper's library: a sparse Laplacian per graph and all
  eigenvalues but one from SciPy's Lanczos solver. The batched path must be 8 times as fast at 116
  nodes.
- *A query of the spectral classifier* compared with the eigenvalues alone (NumPy's `eigvalsh` of a
  ready matrix).
- *A query of the linear classifiers* (two pairs of a known graph flipped, one query at a
  time and 32 together) beside one dot product of a ready row.
- *Large graphs*: the features with 200 values, beside a dense and a sparse solver called directly.

Run it with ``python benchmarks/bench_oracles.py [--quick] [--before CHECKOUT]``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csgraph, eye_array
from scipy.sparse.linalg import eigsh

from denseflip import Graph, fit_oracle, load_dataset
from measuring import Figures, Line, autism, least, main

EXPECTED = 8.0  # spectral features at 116 nodes, in batches, against the sparse solver
SHAPES = ((116, 0.1), (190, 0.01), (332, 0.1))  # nodes and density, as in the data sets
LARGE, VALUES = (1_000, 2_000, 3_000), 200
LINEAR = ("edges-svm", "regions-logistic")
TOGETHER = 32


def random_graphs(n: int, density: float, count: int) -> list[Graph]:
    """Random graphs of one size."""
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(n, 1)
    masks = (rng.random(len(u)) < density for _ in range(count))
    return [Graph.from_edges(n, np.column_stack((u[m], v[m]))) for m in masks]


def laplacian(graph: Graph) -> Any:
    """SciPy's normalised Laplacian, sparse."""
    return csgraph.laplacian(graph.to_sparse(), normed=True)


def all_but_one(graph: Graph) -> None:
    """The eigenvalues of one graph, the way the paper's library found them."""
    n = graph.n_nodes
    start = np.random.default_rng(0).random(n)
    eigsh(laplacian(graph), k=n - 1, which="LM", v0=start, return_eigenvectors=False)


def smallest(matrix: Any, count: int) -> None:
    """The smallest eigenvalues of a Laplacian, as the largest of 2 I - L: the end Lanczos finds."""
    n = matrix.shape[0]
    start = np.random.default_rng(0).random(n)
    turned = 2 * eye_array(n, format="csr") - matrix
    eigsh(turned, k=count, which="LA", v0=start, return_eigenvectors=False)


def spectral(features: Any, repeats: int) -> Figures:
    """Features of graphs of the sizes of the data sets, against the sparse solver."""
    figures: Figures = {}
    for n, density in SHAPES:
        graphs = random_graphs(n, density, TOGETHER)
        few = graphs[:4]
        best = least(
            {
                "sparse": lambda g=few: [all_but_one(x) for x in g],
                "together": lambda g=graphs: features.transform(g),
                "alone": lambda g=graphs: [features.transform([x]) for x in g],
            },
            repeats,
        )
        figures[f"{n} sparse"] = best["sparse"] / len(few)
        figures[f"{n} together"] = best["together"] / len(graphs)
        figures[f"{n} alone"] = best["alone"] / len(graphs)
    return figures


def large(features: Any, sizes: Sequence[int], repeats: int) -> Figures:
    """Features of one large graph, and both solvers."""
    figures: Figures = {}
    for n in sizes:
        [graph] = random_graphs(n, 20 / n, 1)
        matrix = laplacian(graph).tocsr()
        array = matrix.toarray()
        best = least(
            {
                "features": lambda g=graph: features.transform([g]),
                "dense": lambda m=array: np.linalg.eigvalsh(m),
                "sparse": lambda m=matrix: smallest(m, VALUES + 1),
            },
            repeats,
        )
        figures |= {f"large {n} {name}": seconds for name, seconds in best.items()}
    return figures


def answers(oracle: Any) -> Callable[[Graph, Sequence[npt.NDArray[np.int64]]], Any]:
    """How a search gets labels of a graph after edits: by the edits if the oracle takes them."""
    if hasattr(oracle, "predict_edits"):
        ask: Callable[..., Any] = oracle.predict_edits
        return ask
    return lambda base, edits: oracle.predict([base.toggle_codes(e) for e in edits])


def questions(oracle: Any, base: Graph, floor: Callable[[], object], repeats: int) -> Figures:
    """Seconds per question alone and together, and of the floor."""
    ask, rng = answers(oracle), np.random.default_rng(0)
    n = base.n_nodes
    u, v = np.triu_indices(n, 1)
    codes = (u * n + v).astype(np.int64)
    edits = [rng.choice(codes, 2, replace=False) for _ in range(TOGETHER)]
    best = least(
        {
            "alone": lambda: [ask(base, [edit]) for edit in edits],
            "together": lambda: ask(base, edits),
            "floor": lambda: [floor() for _ in range(TOGETHER)],
        },
        repeats,
    )
    return {name: seconds / TOGETHER for name, seconds in best.items()}


def measure(quick: bool) -> Figures:
    """All figures."""
    repeats = 5 if quick else 20
    dataset = autism()
    knn = fit_oracle(dataset, preset="sf-knn")
    base = dataset.graphs[0]
    matrix = laplacian(base).toarray()
    asked = questions(knn, base, lambda: np.linalg.eigvalsh(matrix), repeats)
    figures = {f"sf-knn {name}": seconds for name, seconds in asked.items()}
    for preset in LINEAR:
        oracle = fit_oracle(dataset, preset=preset)
        row = oracle.features.transform([base])[0]
        weights = np.random.default_rng(0).random(len(row))
        asked = questions(oracle, base, lambda w=weights, r=row: w @ r, 3 * repeats)
        figures |= {f"{preset} {name}": seconds for name, seconds in asked.items()}
    mice = load_dataset("mice")
    oracle = fit_oracle(mice, preset="edges-svm")
    row = oracle.features.transform(mice.graphs[:1])[0]
    weights = np.random.default_rng(0).random(len(row))
    asked = questions(oracle, mice.graphs[0], lambda: weights @ row, 3 * repeats)
    figures |= {f"edges-svm (332 nodes) {name}": seconds for name, seconds in asked.items()}
    figures |= spectral(knn.features, 2 if quick else 5)
    return figures | large(knn.features, LARGE[:2] if quick else LARGE, 1 if quick else 2)


def lines(figures: Figures) -> list[Line]:
    """The ratios."""
    out = []
    for n, _ in SHAPES:
        sparse, together, alone = (figures[f"{n} {x}"] for x in ("sparse", "together", "alone"))
        aim = EXPECTED if n == SHAPES[0][0] else None
        name = f"features at {n} nodes: sparse solver"
        out.append(Line(f"{name} / {TOGETHER} together", sparse / together, "×", at_least=aim))
        out.append(Line(f"{name} / one alone", sparse / alone, "×"))
    for name in ("sf-knn", *LINEAR, "edges-svm (332 nodes)"):
        alone, together, floor = (figures[f"{name} {x}"] for x in ("alone", "together", "floor"))
        least_work = "eigvalsh" if name == "sf-knn" else "dot product"
        out.append(Line(f"{name}: question alone / {least_work}", alone / floor, "×"))
        out.append(Line(f"{name}: question together / {least_work}", together / floor, "×"))
        out.append(Line(f"{name}: question alone", 1e6 * alone, "µs"))
    for n in LARGE:
        if f"large {n} dense" in figures:
            features, dense, sparse = (
                figures[f"large {n} {x}"] for x in ("features", "dense", "sparse")
            )
            out.append(Line(f"features at {n:,} nodes / eigvalsh", features / dense, "×"))
            out.append(Line(f"eigsh for 201 values / eigvalsh at {n:,} nodes", sparse / dense, "×"))
    return out


if __name__ == "__main__":
    sys.exit(main(__doc__, measure, lines))
