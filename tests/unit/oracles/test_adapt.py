from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from denseflip import as_oracle, explain
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph import Graph
from denseflip.oracles.adapt import FORMS, at_once, coerce_oracle
from graphs import complete, path

GRAPHS = [path(4), complete(4)]
EDGES = [3, 6]

ONE = {
    "adjacency": lambda a: int(a.sum() / 2),
    "networkx": lambda g: g.number_of_edges(),
    "sparse": lambda a: a.nnz // 2,
    "graph": lambda g: g.n_edges,
}
TYPES = {"adjacency": np.ndarray, "networkx": nx.Graph, "sparse": sp.csr_array, "graph": Graph}


@pytest.mark.parametrize("form", FORMS)
def test_one_graph_in_every_form(form):
    seen = []
    oracle = as_oracle(lambda g: (seen.append(type(g)), ONE[form](g))[1], form)
    assert oracle.predict(GRAPHS) == EDGES
    assert seen == [TYPES[form]] * 2


@pytest.mark.parametrize("form", FORMS)
def test_many_graphs_in_every_form(form):
    oracle = as_oracle(lambda several: [ONE[form](g) for g in several], form, batch=True)
    assert list(oracle.predict(GRAPHS)) == EDGES


def test_a_batch_of_matrices_is_one_array():
    shapes = []

    def label(stack):
        shapes.append(stack.shape)
        return stack.sum(axis=(1, 2))

    assert as_oracle(label, batch=True).predict(GRAPHS).tolist() == [6, 12]
    assert shapes == [(2, 4, 4)]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("batch", [False, True])
def test_every_form_explains_alike(form, batch):
    function = (
        (lambda several: [ONE[form](g) > 4 for g in several])
        if batch
        else (lambda g: ONE[form](g) > 4)
    )
    result = explain(path(6), as_oracle(function, form, batch=batch), "cli")
    expected = explain(path(6), lambda a: a.sum() > 8, "cli")
    assert result.edits == expected.edits
    assert result.calls == expected.calls


@pytest.mark.parametrize("form", ["adjacency", "networkx", "sparse"])
def test_an_oracle_that_changes_what_it_is_shown_changes_nothing_here(form):
    """As the embedding library of the published runs did (D10)."""

    def spoils(g):
        label = ONE[form](g) > 4
        if form == "adjacency":
            np.fill_diagonal(g, 1)
        elif form == "networkx":
            g.add_edges_from((v, v) for v in list(g))
        else:
            g.data[:] = 9
        return label

    result = explain(path(6), as_oracle(spoils, form), "cli")
    assert result.edits == explain(path(6), lambda a: a.sum() > 8, "cli").edits
    assert result.original == path(6)


def test_what_cannot_be_an_oracle_is_refused():
    with pytest.raises(InvalidParameterError, match=r"must be a function, .*; got int\."):
        as_oracle(3)
    with pytest.raises(UnknownNameError, match=r"Unknown oracle input 'adjaceny'. Did you mean"):
        as_oracle(len, "adjaceny")
    with pytest.raises(InvalidParameterError, match=r"oracle must have a method predict.*got str"):
        coerce_oracle("svm")


def test_an_oracle_stays_as_it_is_and_a_function_is_wrapped():
    oracle = as_oracle(len, "graph")
    assert coerce_oracle(oracle) is oracle
    assert coerce_oracle(len) == as_oracle(len)


def test_what_a_function_is_given_is_said_in_words():
    def told(form: str, batch: bool) -> str:
        return as_oracle(lambda g: 0, form, batch=batch).given

    assert told("adjacency", False) == "one NumPy adjacency array of shape (n, n)"
    assert told("adjacency", True) == "one NumPy array of shape (k, n, n)"
    assert told("graph", False) == "one denseflip Graph"
    assert told("graph", True) == "a list of denseflip Graphs"
    assert told("networkx", True) == "a list of networkx graphs"
    assert told("sparse", True) == "a list of SciPy sparse matrices"


def test_a_batch_that_is_too_large_at_once_is_given_in_parts(monkeypatch):
    sizes = []
    oracle = as_oracle(lambda a: (sizes.append(len(a)), a.sum((1, 2)) / 2)[1], batch=True)
    monkeypatch.setattr("denseflip.oracles.adapt.at_once", lambda graphs: 2)
    assert list(oracle.predict([*GRAPHS, *GRAPHS, path(4)])) == [*EDGES, *EDGES, 3]
    assert sizes == [2, 2, 1]
    assert list(oracle.predict(GRAPHS)) == EDGES
    assert sizes == [2, 2, 1, 2]


def test_as_many_graphs_at_once_as_an_array_may_hold_and_at_least_one(monkeypatch):
    small, large = path(10), path(100)
    monkeypatch.setattr("denseflip.oracles.adapt.max_size", lambda: 8000)
    assert at_once([small]) == at_once([small, small]) == 10
    assert at_once([small, large]) == at_once([large]) == 1
    assert at_once([]) == 8000
