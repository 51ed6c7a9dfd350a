import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip.datasets import read_graph
from denseflip.datasets.connectome import Keep, check_time_series, connectivity, make_keep
from denseflip.errors import InvalidGraphError, InvalidParameterError, UnknownNameError


def symmetric(n: int, seed: int = 0) -> np.ndarray:
    values = np.triu(np.random.default_rng(seed).standard_normal((n, n)), 1)
    return values + values.T + np.eye(n)


@pytest.mark.parametrize(("n", "q", "edges"), [(116, 90, 667), (116, 80, 1334), (332, 90, 5495)])
def test_percentile_gives_the_known_counts(n: int, q: float, edges: int) -> None:
    assert Keep(percentile=q).n_edges(n) == edges
    assert Keep(percentile=q).apply(symmetric(n)).n_edges == edges


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 20), st.just(0.0) | st.floats(1, 100), st.integers(0, 5))
def test_percentile_equals_numpy_where_values_differ(n: int, q: float, seed: int) -> None:
    matrix = symmetric(n, seed)
    values = matrix[np.triu_indices(n, 1)]
    kept = int((values >= np.percentile(values, q)).sum())
    # Interpolation noise can push NumPy's cut just above the value it lies on.
    assert abs(Keep(percentile=q).apply(matrix).n_edges - kept) <= 1
    assert Keep(percentile=q).apply(matrix).n_edges == Keep(percentile=q).n_edges(n)


def test_a_share_is_not_taken_for_a_percentile() -> None:
    with pytest.raises(InvalidParameterError, match=r"from 0 to 100; got 0\.9.*did you mean 90\?"):
        Keep(percentile=0.9)
    assert Keep(percentile=0).n_edges(5) == 10
    assert Keep(percentile=1).n_edges(5) == 9


def test_ties_go_to_the_first_pairs() -> None:
    matrix = np.ones((5, 5))
    assert Keep(edges=3).apply(matrix).edges() == [(0, 1), (0, 2), (0, 3)]
    assert Keep(percentile=90).apply(matrix).n_edges == Keep(percentile=90).n_edges(5)


def test_strongest_pairs_are_kept() -> None:
    matrix = np.zeros((4, 4))
    for value, (u, v) in zip((0.9, 0.5, -0.9), ((2, 3), (0, 1), (1, 2)), strict=True):
        matrix[u, v] = matrix[v, u] = value
    assert Keep(edges=2).apply(matrix).edges() == [(0, 1), (2, 3)]
    assert Keep(threshold=0.6).apply(matrix).edges() == [(2, 3)]
    assert Keep(edges=0).apply(matrix).n_edges == 0


def test_zeros_are_not_made_edges() -> None:
    matrix = np.zeros((6, 6))
    matrix[0, 1] = matrix[1, 0] = 3
    with pytest.raises(
        InvalidGraphError, match=r"m\.csv: 5 edges requested, but only 1 pair has a value"
    ):
        Keep(edges=5).apply(matrix, source="m.csv")


def test_what_makers_of_matrices_leave_behind() -> None:
    matrix = symmetric(12)
    expected = Keep(edges=9).apply(matrix)
    fisher = matrix.copy()
    np.fill_diagonal(fisher, np.inf)
    single = matrix.astype(np.float32)
    single[3, 4] *= np.float32(1 + 2e-7)
    for other in (fisher, single, np.where(np.eye(12) > 0, np.nan, matrix)):
        assert Keep(edges=9).apply(other) == expected
    assert np.isinf(fisher[0, 0])
    wrong = matrix.copy()
    wrong[3, 4] += 1e-3
    with pytest.raises(InvalidGraphError, match=r"not symmetric: entry \(3, 4\)"):
        Keep(edges=9).apply(wrong)


def test_more_edges_than_pairs() -> None:
    with pytest.raises(InvalidGraphError, match="only 3 pairs"):
        Keep(edges=4).apply(symmetric(3))


@pytest.mark.parametrize(
    "wrong",
    [{}, {"percentile": 90, "edges": 3}, {"percentile": 101}, {"threshold": np.inf}, {"edges": -1}],
)
def test_wrong_rules(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidParameterError):
        Keep(**wrong)  # type: ignore[arg-type]


def test_make_keep() -> None:
    assert make_keep() is None
    assert make_keep(edges=3) == Keep(edges=3)


def test_pearson_is_the_plain_correlation() -> None:
    pytest.importorskip("nilearn")
    rng = np.random.default_rng(1)
    series = [rng.standard_normal((40, 7)) for _ in range(3)]
    for matrix, x in zip(connectivity(series), series, strict=True):
        np.testing.assert_allclose(matrix, np.corrcoef(x.T), atol=1e-12)


@pytest.mark.parametrize("measure", ["partial", "tangent"])
def test_other_measures_are_symmetric_and_finite(measure: str) -> None:
    pytest.importorskip("nilearn")
    rng = np.random.default_rng(1)
    for matrix in connectivity([rng.standard_normal((20, 30)) for _ in range(3)], measure):
        assert matrix.shape == (30, 30)
        assert np.isfinite(matrix).all()
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-10)


def test_tangent_needs_a_group() -> None:
    with pytest.raises(InvalidParameterError, match="at least two"):
        connectivity([np.random.default_rng(0).standard_normal((20, 3))], "tangent")
    with pytest.raises(UnknownNameError, match="Did you mean 'pearson'"):
        connectivity([], "person")


def test_bad_time_series() -> None:
    good = np.random.default_rng(0).standard_normal((10, 4))
    with pytest.raises(InvalidGraphError, match="at least 3 rows"):
        check_time_series(good[:2], "a.csv")
    flat = good.copy()
    flat[:, 2] = 1
    with pytest.raises(
        InvalidGraphError,
        match=r"a\.csv: column 2, counted from 0, is constant \(1 such column\)",
    ):
        check_time_series(flat, "a.csv")
    holes = good.copy()
    holes[5, 1] = np.nan
    with pytest.raises(
        InvalidGraphError, match=r"row 5, column 1, counted from 0 \(1 such entry\)"
    ):
        check_time_series(holes, "a.csv")


@settings(max_examples=80, deadline=None)
@given(st.integers(2, 9), st.integers(0, 20), st.integers(0, 99))
def test_weighted_pairs_give_the_graph_of_their_matrix(n: int, k: int, seed: int) -> None:
    """Or an error where the matrix gives one, or where a pair that is not listed would be taken."""
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    there = rng.random(len(u)) < 0.6
    codes, weights = (u * n + v)[there], rng.integers(-3, 9, size=there.sum()) / 4
    matrix = np.zeros((n, n))
    matrix[u[there], v[there]] = matrix[v[there], u[there]] = weights
    mixed = rng.permutation(len(codes))
    for keep in (Keep(edges=k), Keep(percentile=60), Keep(threshold=0.5)):
        try:
            found = keep.apply_pairs(n, codes[mixed], weights[mixed])
        except InvalidGraphError:
            n_edges = keep.n_edges(n) or 0
            assert n_edges > np.count_nonzero(weights > 0)
            continue
        assert found == keep.apply(matrix)


def test_weights_of_pairs_are_checked() -> None:
    codes = np.array([1, 2])
    with pytest.raises(InvalidGraphError, match="the weight of an edge is nan"):
        Keep(edges=1).apply_pairs(3, codes, np.array([0.5, np.nan]))
    with pytest.raises(InvalidGraphError, match="Use a threshold above 0"):
        Keep(threshold=0).apply_pairs(3, codes, np.array([0.5, 1.0]))
    with pytest.raises(InvalidGraphError, match="only 1 pair has a value above 0"):
        Keep(edges=2).apply_pairs(3, codes, np.array([0.5, -1.0]))


def test_a_weighted_list_of_many_nodes_needs_no_matrix(tmp_path) -> None:
    """A matrix of 20,000 nodes would exceed the limit."""
    rng = np.random.default_rng(0)
    pairs = np.unique(np.sort(rng.integers(20_000, size=(3000, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    weights = rng.permutation(len(pairs))
    lines = [f"{u} {v} {w / 10}" for (u, v), w in zip(pairs.tolist(), weights, strict=True)]
    (tmp_path / "a.edgelist").write_text("\n".join(lines))
    graph = read_graph(tmp_path / "a.edgelist", n_nodes=20_000, first_node=0, keep=Keep(edges=1000))
    strongest = pairs[weights >= len(pairs) - 1000]
    assert graph.edges() == [tuple(x) for x in strongest.tolist()]
