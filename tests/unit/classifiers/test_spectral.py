from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph
from scipy.sparse.linalg import eigsh

from denseflip.classifiers import spectral
from denseflip.classifiers.spectral import SpectralFeatures, fill_laplacians
from denseflip.errors import InvalidParameterError
from denseflip.graph import Graph
from strategies import graphs

PUBLISHED = SpectralFeatures(200, self_loops=True, drop_smallest=True, front_zero=True)


def random_graph(n, p, seed):
    return Graph.from_networkx(nx.gnp_random_graph(n, p, seed=seed))


def sparse_spectrum(graph, self_loops=False):
    """All eigenvalues but the smallest, by SciPy's sparse Laplacian and Lanczos solver."""
    adjacency = graph.to_sparse()
    if self_loops:
        adjacency.setdiag(1)
        # csgraph ignores the diagonal, so the Laplacian of A + I is written out.
        degree = np.asarray(adjacency.sum(axis=1)).ravel()
        scale = 1 / np.sqrt(degree)
        laplacian = -(adjacency.multiply(scale[:, None]).multiply(scale[None, :])).tocsr()
        laplacian.setdiag(laplacian.diagonal() + 1)
    else:
        laplacian = csgraph.laplacian(adjacency, normed=True).tocsr()
    n = graph.n_nodes
    start = np.random.default_rng(1).random(n)
    return np.sort(eigsh(laplacian, k=n - 1, which="LM", v0=start, return_eigenvectors=False))


@pytest.mark.parametrize("seed", range(3))
def test_text_form_equals_scipys_sparse_computation(seed):
    graph = random_graph(116, 0.1, seed)
    assert nx.is_connected(graph.to_networkx())  # so that exactly one eigenvalue is zero
    got = SpectralFeatures(115).transform([graph])[0]
    assert np.abs(got - sparse_spectrum(graph)).max() < 1e-12


@pytest.mark.parametrize("seed", range(3))
def test_published_form_equals_scipys_sparse_computation(seed):
    graph = random_graph(116, 0.1, seed)
    got = PUBLISHED.transform([graph])[0]
    assert got[0] == 0
    assert np.abs(got[1:116] - sparse_spectrum(graph, self_loops=True)).max() < 1e-12
    assert not got[116:].any()


def test_known_spectra():
    """Complete graph: n / (n - 1); cycle: 1 - cos(2 pi j / n); star: ones and one 2."""
    complete = Graph.from_networkx(nx.complete_graph(5))
    cycle = Graph.from_networkx(nx.cycle_graph(5))
    star = Graph.from_networkx(nx.star_graph(4))
    rows = SpectralFeatures(6).transform([complete, cycle, star])
    turns = np.sort(1 - np.cos(2 * np.pi * np.arange(1, 5) / 5))
    np.testing.assert_allclose(rows[0], [1.25] * 4 + [0, 0], atol=1e-14)
    np.testing.assert_allclose(rows[1], [*turns, 0, 0], atol=1e-14)
    np.testing.assert_allclose(rows[2], [1, 1, 1, 2, 0, 0], atol=1e-14)


def test_isolated_nodes_and_components_give_zeros_that_the_text_form_leaves_out():
    graph = Graph.from_edges(7, [(0, 1), (2, 3), (3, 4), (2, 4)])  # two isolated nodes besides
    row = SpectralFeatures(7).transform([graph])[0]
    np.testing.assert_allclose(row, [1.5, 1.5, 2, 0, 0, 0, 0], atol=1e-14)


def test_published_form_keeps_the_zeros_of_further_components():
    graph = Graph.from_edges(4, [(0, 1)])
    row = SpectralFeatures(8, self_loops=True, drop_smallest=True, front_zero=True).transform(
        [graph]
    )[0]
    np.testing.assert_allclose(row, [0, 0, 0, 1, 0, 0, 0, 0], atol=1e-14)


def test_empty_graphs_and_no_graphs():
    rows = SpectralFeatures(3).transform([Graph.from_edges(4, []), Graph.from_edges(0, [])])
    assert rows.tolist() == [[0, 0, 0], [0, 0, 0]]
    assert SpectralFeatures(3).transform([]).shape == (0, 3)


@pytest.mark.parametrize("features", [SpectralFeatures(), PUBLISHED])
def test_a_row_does_not_depend_on_its_batch_to_the_last_bit(features):
    graphs = [random_graph(n, 0.1, s) for s in range(12) for n in (60, 190)]
    together = features.transform(graphs)
    alone = np.concatenate([features.transform([g]) for g in graphs])
    backwards = features.transform(graphs[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)


def test_stacks_are_cut_to_bounded_memory(monkeypatch):
    graphs = [random_graph(30, 0.2, s) for s in range(7)]
    whole = SpectralFeatures(10).transform(graphs)
    monkeypatch.setattr(spectral, "_STACK_BYTES", 8 * 30 * 30 * 2)
    assert np.array_equal(SpectralFeatures(10).transform(graphs), whole)


@pytest.mark.parametrize(
    "features",
    [
        SpectralFeatures(12),
        SpectralFeatures(12, self_loops=True, drop_smallest=True, front_zero=True),
        SpectralFeatures(12, self_loops=True),
    ],
)
def test_large_graphs_give_the_dense_answer(features, monkeypatch):
    """Components: one large, one small, one pair, isolated nodes; solved sparse and dense."""
    blocks = [nx.gnp_random_graph(200, 0.05, seed=3), nx.path_graph(9), nx.path_graph(2)]
    graph = Graph.from_networkx(nx.disjoint_union_all([*blocks, nx.empty_graph(3)]))
    dense = features.transform([graph])
    monkeypatch.setattr(spectral, "STACK_BELOW", 100)
    assert np.abs(dense - features.transform([graph])).max() < 1e-12  # by component
    monkeypatch.setattr(spectral, "sparse_is_quicker", lambda size, count: size >= 100)
    sparse = features.transform([graph])
    assert np.abs(dense - sparse).max() < 1e-12
    assert np.array_equal(sparse, features.transform([graph]))  # no random start


def test_a_thousand_nodes_are_solved_sparse_without_a_dense_matrix(monkeypatch):
    graph = random_graph(1000, 0.01, 0)

    def refuse(*_args, **_kwargs):
        pytest.fail("a dense solver was used")

    expected = sparse_small(graph, 10)
    monkeypatch.setattr(np.linalg, "eigvalsh", refuse)
    got = SpectralFeatures(10).transform([graph])[0]
    assert np.abs(got - expected).max() < 1e-10


@pytest.mark.parametrize(("width", "sparse"), [(200, False), (20, True)])
def test_the_solver_follows_size_and_number_of_values(width, sparse, monkeypatch):
    graph = random_graph(700, 0.02, 0)
    used = []
    eigvalsh = np.linalg.eigvalsh
    monkeypatch.setattr(
        np.linalg, "eigvalsh", lambda *a, **k: (used.append(1), eigvalsh(*a, **k))[1]
    )
    got = SpectralFeatures(width).transform([graph])[0]
    assert bool(used) is not sparse
    assert np.abs(got - sparse_small(graph, width)).max() < 1e-10


def sparse_small(graph, count):
    values = np.linalg.eigvalsh(csgraph.laplacian(graph.to_sparse(), normed=True).toarray())
    return values[values > 1e-9][:count]


@pytest.mark.parametrize("width", [0, -1, 2.5, True])
def test_width_is_checked(width):
    with pytest.raises(InvalidParameterError, match="'width' of spectral features"):
        SpectralFeatures(width)


# ---- normalised Laplacians --------------------------------------------------------------------


def filled(asked, *, self_loops=False):
    n = asked[0].n_nodes
    stack = np.full((len(asked), n * n), np.nan)
    fill_laplacians(stack, asked, self_loops=self_loops)
    return stack.reshape(-1, n, n)


def test_a_path_and_a_node_by_itself():
    """0-1-2 and 3: degrees 1, 2, 1 and 0; what is above the diagonal is zero."""
    path = Graph.from_edges(4, [(0, 1), (1, 2)])
    h = -1 / np.sqrt(2)
    expected = [[1, 0, 0, 0], [h, 1, 0, 0], [0, h, 1, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(filled([path])[0], expected)
    s = 1 / np.sqrt(6)  # with loops the degrees are 2, 3, 2 and 1
    expected = [[1 / 2, 0, 0, 0], [-s, 2 / 3, 0, 0], [0, -s, 1 / 2, 0], [0, 0, 0, 0]]
    np.testing.assert_allclose(filled([path], self_loops=True)[0], expected, atol=1e-15)


@st.composite
def copies(draw):
    """Near and far copies of a graph, in runs with unrelated graphs between them."""
    root = draw(graphs(min_nodes=2, max_nodes=8))
    n = root.n_nodes
    codes = [u * n + v for u in range(n) for v in range(u + 1, n)]
    flips = draw(st.lists(st.lists(st.sampled_from(codes), unique=True, max_size=4), max_size=12))
    near = [root.toggle_codes(np.array(f, dtype=np.int64)) for f in flips]
    others = draw(st.lists(graphs(n, n), max_size=2))
    return [*near[:7], *others, root, *near[7:]]


@pytest.mark.parametrize("self_loops", [False, True])
@pytest.mark.parametrize("few", [1, 4])
@given(asked=copies())
def test_together_is_alone_to_the_last_bit(few, self_loops, asked):
    afresh = [Graph.from_edges(g.n_nodes, g.edges()) for g in asked]
    alone = np.concatenate([filled([g], self_loops=self_loops) for g in afresh])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spectral, "_FEW", few)
        patch.setattr(spectral, "_NEAR", 1)
        together = filled(asked, self_loops=self_loops)
    assert together.tobytes() == alone.tobytes()  # the signs of zeros, too
