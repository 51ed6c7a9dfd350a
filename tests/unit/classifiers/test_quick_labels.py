"""Labels from single precision: the same as from double precision, or left to it."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from denseflip import Dataset, Graph, Nodes, fit_oracle
from denseflip.classifiers.heads import NeighbourHead
from denseflip.classifiers.quick_labels import SMALLEST, QuickLabels, error_of
from denseflip.classifiers.spectral import SpectralFeatures

FORMS = (
    SpectralFeatures(200),
    SpectralFeatures(40),
    SpectralFeatures(200, self_loops=True, drop_smallest=True, front_zero=True),
)


def random_graph(rng: np.random.Generator, n: int, density: float) -> Graph:
    u, v = np.triu_indices(n, 1)
    chosen = rng.random(len(u)) < density
    return Graph.from_edges(n, np.column_stack((u[chosen], v[chosen])))


@pytest.mark.parametrize("features", FORMS)
@pytest.mark.parametrize("k", [1, 4, 5])
def test_every_certain_label_is_that_of_double_precision(
    features: SpectralFeatures, k: int
) -> None:
    rng = np.random.default_rng(k)
    n = 80
    # Sparse ones have isolated nodes and several components, whose zeros are left out.
    train = [random_graph(rng, n, density) for density in rng.choice([0.02, 0.05, 0.1], 24)]
    labels = rng.integers(0, 3, len(train))
    head = NeighbourHead(features.transform(train), labels, k, 3)
    quick, certain, counted = QuickLabels(features, head), 0, 0
    for start in train[:6]:
        graph = start
        for _ in range(8):
            u, v = sorted(rng.choice(n, 2, replace=False).tolist())
            graph = graph.toggle([(u, v)])
            row = features.transform([graph])[0]
            near = quick.row(graph)
            assert near is not None
            assert np.linalg.norm(near - row) < error_of(n) / 5
            votes = quick.votes(graph)
            if votes is not None:
                counted += 1
                np.testing.assert_array_equal(votes, head.votes(row[None])[0])
            found = quick.position(graph)
            if found is not None:
                certain += 1
                assert found == head.predict(row[None])[0]
    assert certain > 30
    assert counted > 20


def test_a_tie_is_left_to_double_precision() -> None:
    rng = np.random.default_rng(0)
    features = SpectralFeatures(100)
    graph = random_graph(rng, SMALLEST, 0.1)
    row = features.transform([graph])
    away = np.zeros_like(row)
    away[0, 0] = 1e-5  # nearer than single precision can tell
    rows = np.concatenate((row + away, row - 1.01 * away, row + 5))
    far = NeighbourHead(rows, np.array([0, 1, 1]), 1, 2)
    assert QuickLabels(features, far).position(graph) is None
    same = NeighbourHead(rows, np.array([1, 1, 0]), 1, 2)  # the same class either way
    assert QuickLabels(features, same).position(graph) == 1
    assert QuickLabels(features, same).votes(graph) is None  # who votes is not certain


def test_probabilities_are_those_of_double_precision() -> None:
    rng = np.random.default_rng(3)
    graphs = [random_graph(rng, SMALLEST + 6, d) for d in (0.05, 0.1) for _ in range(12)]
    nodes = Nodes.numbered(SMALLEST + 6)
    dataset = Dataset("made", tuple(graphs), (0, 1) * 12, ("a", "b"), nodes)
    oracle = fit_oracle(dataset, estimator=KNeighborsClassifier(5), features="spectral")
    asked = [graph.toggle([(0, 1), (2, 5)]) for graph in graphs]
    rows = oracle.features.transform(asked)
    import scipy.linalg  # noqa: F401 - otherwise it serves after many graphs only

    one_by_one = np.concatenate([oracle.predict_proba([graph]) for graph in asked])
    np.testing.assert_array_equal(one_by_one, oracle.head.predict_proba(rows))
    np.testing.assert_array_equal(oracle.predict_proba(asked), one_by_one)


def test_a_classifier_that_is_often_unsure_is_asked_in_double_precision() -> None:
    rng = np.random.default_rng(0)
    features = SpectralFeatures(100)
    graphs = [random_graph(rng, SMALLEST, 0.1) for _ in range(2)]
    rows = features.transform(graphs)
    head = NeighbourHead(np.concatenate((rows, rows)), np.array([0, 0, 1, 1]), 1, 2)
    quick = QuickLabels(features, head)
    import scipy.linalg  # noqa: F401 - otherwise it serves after many graphs only

    assert quick.serves(SMALLEST, 1)
    for _ in range(64):
        assert quick.position(graphs[0]) is None
    assert not quick.serves(SMALLEST, 1)


def test_small_and_large_graphs_are_not_served() -> None:
    head = NeighbourHead(np.zeros((3, 4)), np.array([0, 1, 1]), 1, 2)
    quick = QuickLabels(SpectralFeatures(4), head)
    assert not quick.serves(SMALLEST - 1, 10_000)
    assert not quick.serves(600, 10_000)
    everyone = NeighbourHead(np.zeros((3, 4)), np.array([0, 1, 1]), 3, 2)
    assert not QuickLabels(SpectralFeatures(4), everyone).serves(116, 10_000)
