from __future__ import annotations

import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from denseflip import as_oracle, explain
from denseflip.errors import InvalidParameterError, OracleError, UnknownNameError
from denseflip.graph import Graph
from denseflip.oracles.adapt import FORMS, at_once, coerce_oracle
from denseflip.runs.identity import describe_given
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


# ---- a function that does not say what it takes -------------------------------------------------


def counting(function):
    """The function, and the types of what it is given."""
    seen = []

    def ask(given):
        seen.append(type(given))
        return function(given)

    return ask, seen


@pytest.mark.parametrize("form", FORMS)
def test_the_form_is_found_out_with_one_call_that_fails(form):
    function, seen = counting(ONE[form])
    oracle = as_oracle(function)
    assert oracle.predict(GRAPHS) == EDGES
    wasted = [] if form == "adjacency" else [np.ndarray]
    assert seen == [*wasted, TYPES[form], TYPES[form]]
    assert oracle.form == form
    assert bool(oracle.input_note) == (form != "adjacency")
    again = as_oracle(function)  # as every call of explain with a bare function does
    assert again == oracle
    assert again.predict(GRAPHS) == EDGES
    assert seen[len(wasted) + 2 :] == [TYPES[form]] * 2
    assert again.input_note == oracle.input_note


@pytest.mark.parametrize("form", ["networkx", "graph", "sparse"])
def test_the_form_of_a_batch_is_found_out(form):
    calls = []

    def label(several):
        calls.append(type(several))
        return [ONE[form](g) for g in several]

    oracle = as_oracle(label, batch=True)
    assert list(oracle.predict(GRAPHS)) == EDGES
    assert list(oracle.predict(GRAPHS)) == EDGES
    assert calls == [np.ndarray, list, list]


@pytest.mark.parametrize("transitivity", [nx.transitivity, nx.average_clustering])
def test_networkx_functions_explain_a_networkx_graph_and_a_note_says_so(transitivity):
    club = nx.karate_club_graph()

    def classify(graph):
        return "knit" if transitivity(graph) > 0.2 else "loose"

    result = explain(club, classify, "edg", seed=1)
    expected = explain(club, as_oracle(classify, input="networkx"), "edg", seed=1)
    assert (result.edits, result.calls) == (expected.edits, expected.calls)
    [note] = [note for note in result.notes if "networkx graph:" in note]
    assert note.startswith("The classifier receives one networkx graph: it accessed 'is_")
    assert note in explain(club, classify, "edg", seed=1).notes
    assert note not in expected.notes


def annotated_networkx(graph: nx.Graph) -> int:
    assert isinstance(graph, nx.Graph)
    return len(graph.edges)


def annotated_adjacency(a: np.ndarray) -> int:
    return int(a.sum() / 2)


def annotated_graph(graph: Graph) -> int:
    assert isinstance(graph, Graph)
    return graph.n_edges


def annotated_sparse(a: sp.csr_array) -> int:
    assert sp.issparse(a)
    return int(a.sum() / 2)


def annotated_list(graphs: list[nx.Graph]) -> list[int]:
    return [len(g.edges) for g in graphs]


class Annotated:
    def __call__(self, graph: nx.Graph) -> int:
        return annotated_networkx(graph)


@pytest.mark.parametrize(
    ("function", "form"),
    [
        (annotated_networkx, "networkx"),
        (annotated_adjacency, "adjacency"),
        (annotated_graph, "graph"),
        (annotated_sparse, "sparse"),
        (Annotated(), "networkx"),
        (Annotated().__call__, "networkx"),
    ],
)
def test_an_annotation_settles_it_without_a_call_and_without_a_note(function, form):
    oracle = as_oracle(function)
    assert oracle.form == form
    assert oracle.predict(GRAPHS) == EDGES
    assert oracle.input_note == ""
    assert explain(path(4), function, "edg").label_before == 3


def test_annotations_that_name_no_form_say_nothing():
    def of_number(x: int) -> int:
        return x

    def of_unknown(x: Unheard) -> int:  # noqa: F821
        return 0

    assert as_oracle(annotated_list, batch=True).form == "networkx"
    for function in (of_number, of_unknown, len, int, lambda: 0):
        assert as_oracle(function).form is None


def test_a_form_that_is_given_is_not_questioned():
    def classify(graph):
        return graph.number_of_edges()

    with pytest.raises(OracleError, match=r'wrap it: as_oracle\(classify, input="networkx"\)\.'):
        explain(path(4), as_oracle(classify, input="adjacency"), "edg")
    oracle = as_oracle(annotated_networkx, input="graph")
    assert oracle.form == "graph"


@pytest.mark.parametrize(
    "broken",
    [
        lambda a: a.edgez,  # nobody has such an attribute
        lambda a: a["TP53"],  # an IndexError, of names
        lambda a: (0).nodes,  # something else lacks the attribute
        lambda a: a.sum(axis=0).nodes,
        lambda a: 1 / 0,
    ],
)
def test_other_errors_are_told_at_once_and_name_the_call_that_helps(broken):
    function, seen = counting(broken)
    with pytest.raises(OracleError, match=r'as_oracle\(ask, input="networkx"\)') as caught:
        explain(path(4), function, "edg")
    assert "It received one NumPy adjacency array of shape (n, n)" in str(caught.value)
    assert seen == [np.ndarray]


def test_a_function_that_fails_on_networkx_graphs_too_is_told_of_these():
    def classify(graph):
        graph.number_of_nodes()
        raise ValueError("no model")

    with pytest.raises(OracleError, match="ValueError: no model") as caught:
        explain(path(4), classify, "edg")
    assert "It received one networkx graph" in str(caught.value)


def test_an_error_of_networkx_about_the_graph_is_not_taken_for_the_wrong_form():
    seen = []

    def diameter(a):
        seen.append(type(a))
        return nx.diameter(nx.from_numpy_array(a))

    apart = Graph.from_edges(4, [(0, 1)])
    oracle = as_oracle(diameter)
    for _ in range(2):
        with pytest.raises(OracleError, match="NetworkXError: Found infinite path length"):
            explain(apart, oracle, "edg")
    assert seen == [np.ndarray, nx.Graph, np.ndarray]  # tried once
    assert oracle.predict([path(4)]) == [3]


def test_an_error_of_networkx_on_an_array_leads_to_networkx_graphs():
    def strict(graph):
        if not isinstance(graph, nx.Graph):
            raise nx.NetworkXError("not a graph")
        return graph.number_of_edges()

    oracle = as_oracle(strict)
    assert oracle.predict(GRAPHS) == EDGES
    assert "an adjacency array led to NetworkXError" in oracle.input_note


def test_what_was_found_out_is_no_part_of_what_the_oracle_is():
    fresh, used = (as_oracle(edges_of) for _ in range(2))
    before = describe_given(fresh, "oracle")
    used.predict(GRAPHS)
    assert used.form == "networkx"
    assert describe_given(used, "oracle") == before
    assert used == fresh
    assert hash(used) == hash(fresh)
    sent = pickle.loads(pickle.dumps(used))
    assert (sent.form, sent.input_note) == ("networkx", used.input_note)


def edges_of(graph):
    return graph.number_of_edges()


def test_a_callable_that_cannot_be_remembered_is_found_out_by_each_wrapper():
    class Unhashable:
        __hash__ = None

        def __call__(self, graph):
            return graph.number_of_edges()

    function = Unhashable()
    oracle = as_oracle(function)
    assert oracle.predict(GRAPHS) == oracle.predict(GRAPHS) == EDGES
    assert as_oracle(function).form is None


def test_a_large_batch_is_asked_in_parts_while_the_form_is_found_out(monkeypatch):
    monkeypatch.setattr("denseflip.oracles.adapt.at_once", lambda graphs: 2)
    calls = []

    def label(several):
        calls.append((type(several), len(several)))
        return [g.number_of_edges() for g in several]

    assert as_oracle(label, batch=True).predict([*GRAPHS, *GRAPHS, path(4)]) == [*EDGES, *EDGES, 3]
    assert calls == [(np.ndarray, 2), (list, 2), (list, 3)]
