from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from denseflip.errors import InvalidGraphError
from denseflip.graph import Graph, convert
from denseflip.graph.convert import stack_adjacency
from graphs import complete, path, triangle_with_tail


def test_a_threshold_makes_a_graph_of_a_correlation_matrix():
    matrix = np.array([[1, 0.6, 0.2], [0.6, 1, 0.5], [0.2, 0.5, 1]])
    assert Graph.from_adjacency(matrix, threshold=0.5).edges() == [(0, 1), (1, 2)]
    assert Graph.from_adjacency(matrix, threshold=0.51).edges() == [(0, 1)]
    with pytest.raises(InvalidGraphError, match=r"threshold must be a finite number; got nan"):
        Graph.from_adjacency(matrix, threshold=float("nan"))


def test_rounding_noise_is_not_asymmetry():
    matrix = np.array([[0, 0.3], [0.3 + 1e-15, 0]])
    assert Graph.from_adjacency(matrix, threshold=0.2).n_edges == 1


def test_the_source_is_named():
    with pytest.raises(InvalidGraphError, match=r"^brain.npy: "):
        Graph.from_adjacency(np.ones((2, 3)), source="brain.npy")


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(3, dtype=complex), "real numbers; got values of type complex128"),
        (np.array([["a"]]), "real numbers"),
        (np.zeros((2, 2, 2)), "square; got shape"),
        (np.full((2, 2), -1), "got -1 at row 0, column 1, counted from 0 .4 such entr"),
        (
            np.array([[0.9, 0.25], [0.25, 0.9]]),
            r"got 0\.25 at row 0, column 1, counted from 0 .*another rule that selects .*\(keep\)",
        ),
        (np.diag([2.0, 0.0]), r"got 2\.0 at row 0, column 0, counted from 0 \(1 such entry\)"),
    ],
)
def test_what_is_no_adjacency_matrix_is_refused(matrix, message):
    with pytest.raises(InvalidGraphError, match=message):
        Graph.from_adjacency(matrix)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(3), "expected a SciPy sparse matrix; got ndarray"),
        (sp.csr_array(np.zeros((2, 3))), r"square; got shape \(2, 3\)"),
        (sp.csr_array([[0, 2.0], [2.0, 0]]), "only 0 and 1; got 2.0 at row 0, column 1"),
        (sp.csr_array([[0, np.nan], [np.nan, 0]]), "only 0 and 1; got nan"),
        (sp.csr_array([[0, 1, 0], [0, 0, 0], [0, 0, 0]]), r"entries \(0, 1\) and \(1, 0\) differ"),
        (sp.coo_array(([1, 1, 1], ([0, 0, 1], [1, 1, 0])), shape=(2, 2)), "only 0 and 1; got 2"),
    ],
)
def test_what_is_no_sparse_adjacency_is_refused(matrix, message):
    with pytest.raises(InvalidGraphError, match=message):
        Graph.from_sparse(matrix)


def test_explicit_zeros_are_no_edges_and_the_input_stays_as_it_was():
    matrix = sp.coo_array(([1, 1, 0, 0], ([0, 1, 0, 2], [1, 0, 2, 0])), shape=(3, 3))
    before = matrix.copy()
    assert Graph.from_sparse(matrix).edges() == [(0, 1)]
    assert matrix.nnz == before.nnz
    assert (matrix.row == before.row).all()


def test_networkx_nodes_keep_their_number_or_get_one():
    assert Graph.from_networkx(nx.Graph([(2, 1), (1, 0)])).edges() == [(0, 1), (1, 2)]
    named = nx.Graph([("b", "a"), ("a", "c")])
    assert Graph.from_networkx(named).edges() == [(0, 1), (1, 2)]
    assert Graph.from_networkx(named, order="abc").edges() == [(0, 1), (0, 2)]
    with pytest.raises(InvalidGraphError, match=r"lacks 'c' \(1 node in all\)"):
        Graph.from_networkx(named, order="ab")
    with pytest.raises(InvalidGraphError, match=r"has a node twice"):
        Graph.from_networkx(named, order="abca")
    with pytest.raises(InvalidGraphError, match=r"got MultiGraph.*networkx.Graph"):
        Graph.from_networkx(nx.MultiGraph([(0, 1)]))


def test_a_stack_of_matrices():
    stack = stack_adjacency([path(5), triangle_with_tail(), complete(5)])
    assert stack.shape == (3, 5, 5)
    assert (stack[1] == triangle_with_tail().to_adjacency()).all()


def test_an_interrupt_leaves_no_half_written_matrix_behind(monkeypatch):
    start = path(4)
    start.to_adjacency()
    with monkeypatch.context() as m:
        m.setattr(convert, "divmod", _interrupted_at_the_second(), raising=False)
        with pytest.raises(KeyboardInterrupt):
            start.toggle([(0, 1), (0, 2)]).to_adjacency()
    assert Graph.from_adjacency(start.to_adjacency()) == start


def _interrupted_at_the_second():
    calls = []

    def interrupted(a, b):
        calls.append(a)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return divmod(a, b)

    return interrupted


def test_a_stack_of_nothing_has_no_nodes():
    assert stack_adjacency([]).shape == (0, 0, 0)
