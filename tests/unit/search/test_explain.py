"""The one call: what it accepts, what it refuses and in which words."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

from denseflip import DCS, Background, explain, make_method
from denseflip.counterfactual import Status
from denseflip.errors import (
    DenseflipError,
    InvalidGraphError,
    InvalidNodesError,
    InvalidParameterError,
    MissingInputError,
    OracleError,
    UnknownNameError,
)
from denseflip.graph import Graph, Nodes
from denseflip.search.methods.structure_blocks import PairDensify, PairSparsify
from graphs import clique, complete, empty, graph, halves, path, triangle_with_tail


def first_pair(a):
    return int(a[0, 1])


def never(a):
    return 0


GOOD = path(4)


def test_four_lines_are_enough():
    matrix = triangle_with_tail().to_adjacency()
    result = explain(matrix, first_pair)
    assert result.found
    assert result.removed == ((0, 1),)
    assert result.method == "auto"
    assert result.chosen
    assert any(result.chosen in note for note in result.notes)  # it says what it chose


@pytest.mark.parametrize(
    "form",
    [
        GOOD,
        GOOD.to_adjacency(),
        GOOD.to_adjacency().tolist(),
        GOOD.to_sparse(),
        sp.coo_matrix(GOOD.to_adjacency()),
        GOOD.to_networkx(),
    ],
)
def test_a_graph_in_any_form_is_taken(form):
    assert explain(form, never).original == GOOD


def raises(error):
    def oracle(a):
        raise error

    return oracle


class Answers:
    def __init__(self, answers):
        self.answers = answers

    def predict(self, graphs):
        return self.answers(graphs) if callable(self.answers) else self.answers


class Fickle:
    """Another answer every time it is asked about a graph."""

    def __init__(self):
        self.asked = 0

    def predict(self, graphs):
        self.asked += len(graphs)
        return [self.asked + i for i in range(len(graphs))]


def asymmetric():
    matrix = np.zeros((4, 4))
    matrix[1, 3] = 1
    return matrix


def with_value(value):
    matrix = np.zeros((3, 3))
    matrix[0, 2] = matrix[2, 0] = value
    return matrix


BAD = [
    # graphs
    ({"graph": np.zeros((3, 4))}, InvalidGraphError, r"graph: .*square; got shape \(3, 4\)"),
    ({"graph": np.zeros(3)}, InvalidGraphError, r"square; got shape \(3,\)"),
    ({"graph": [[0, 1], [1]]}, InvalidGraphError, "graph: not a rectangular table"),
    ({"graph": "brain.csv"}, InvalidGraphError, "str is not a graph. Pass a denseflip"),
    (
        {"graph": asymmetric()},
        InvalidGraphError,
        r"not symmetric: entry \(1, 3\) is 1.0 but \(3, 1\) is 0.0 \(1 such pair; .*symmetrise",
    ),
    (
        {"graph": with_value(np.nan)},
        InvalidGraphError,
        r"value nan at row 0, column 2, counted from 0 \(2 such entries\)",
    ),
    ({"graph": with_value(np.inf)}, InvalidGraphError, "value inf at row 0, column 2"),
    ({"graph": with_value(0.7)}, InvalidGraphError, "only 0 and 1; got .*0.7.* give a threshold"),
    ({"graph": np.eye(3)}, InvalidGraphError, r"self-loop at node 0 \(3 in all\)"),
    ({"graph": nx.DiGraph([(0, 1)])}, InvalidGraphError, "undirected simple graph; got DiGraph"),
    ({"graph": nx.Graph([(0, 0)])}, InvalidGraphError, r"a self-loop .*\(0, 0\)"),
    ({"graph": sp.csr_array(np.eye(3))}, InvalidGraphError, "self-loop at node 0"),
    # nodes, background
    (
        {"nodes": Nodes.numbered(7)},
        InvalidNodesError,
        "has 4 nodes, but the node table describes 7",
    ),
    ({"nodes": ["a", "b", "c", "d"]}, InvalidParameterError, "nodes must be a Nodes table; got l"),
    ({"background": [path(5)]}, InvalidGraphError, "has 4 nodes, the background 5"),
    ({"background": [path(4), path(5)]}, InvalidGraphError, "graph 1 has 5 nodes, graph 0 has 4"),
    ({"background": [object()]}, InvalidGraphError, "background: entry 0: "),
    ({"background": 5}, InvalidGraphError, "must be a sequence of graphs; got int"),
    # methods
    (
        {"method": "trii"},
        UnknownNameError,
        r"Unknown method 'trii'. Did you mean 'tri'\? Known: auto, brief",
    ),
    ({"method": "cli+mni"}, UnknownNameError, r"Unknown refinement 'mni'. Did you mean 'min'\?"),
    ({"method": "tri+"}, UnknownNameError, "Unknown refinement ''"),
    ({"method": ""}, UnknownNameError, "Unknown method ''"),
    ({"method": 7}, InvalidParameterError, "method must be a name, a DCS or a callable; got int"),
    ({"method": "rcli"}, MissingInputError, "'rcli' needs to know which region.*'cli'"),
    ({"method": "rcli", "nodes": Nodes.numbered(4)}, MissingInputError, "no regions were given"),
    (
        {"method": "blocks", "nodes": halves(4)},
        MissingInputError,
        "'blocks' needs background graphs",
    ),
    ({"method": "dat"}, MissingInputError, "'dat' needs background graphs.*none were given"),
    ({"method": "dat", "background": []}, MissingInputError, "needs background graphs"),
    # oracles
    (
        {"oracle": raises(ZeroDivisionError("division by zero"))},
        OracleError,
        r"The classifier raised ZeroDivisionError: division by zero \(queried with 1 graph\(s\) ",
    ),
    ({"oracle": Answers([1, 2])}, OracleError, r"returned 2 label\(s\) for 1 graph\(s\)"),
    ({"oracle": Answers([])}, OracleError, r"returned 0 label\(s\) for 1 graph\(s\)"),
    ({"oracle": Answers(None)}, OracleError, r"returned None; expected 1 label\(s\)"),
    ({"oracle": Answers("0")}, OracleError, "returned '0'; expected a sequence"),
    ({"oracle": Answers(3)}, OracleError, "returned 3; expected a sequence"),
    ({"oracle": lambda a: None}, OracleError, "returned None as a label"),
    ({"oracle": lambda a: float("nan")}, OracleError, "returned nan as a label.*finite"),
    ({"oracle": lambda a: np.float32("inf")}, OracleError, "returned inf as a label.*finite"),
    ({"oracle": lambda a: a}, OracleError, "expected one label"),
    ({"oracle": lambda a: [1, 2]}, OracleError, r"returned \[1, 2\] as a label"),
    ({"oracle": Fickle()}, OracleError, "not deterministic: it labelled the same graph 1 first"),
    ({"oracle": 5}, InvalidParameterError, r"must have a method predict\(graphs\).*got int"),
    # the rest
    ({"budget": 0}, InvalidParameterError, "budget must be a whole number, at least 1; got 0"),
    ({"budget": 2.5}, InvalidParameterError, "budget must be a whole number"),
    ({"budget": "many"}, InvalidParameterError, "budget must be a whole number.*'many'"),
    ({"budget": True}, InvalidParameterError, "budget must be a whole number.*True"),
    ({"seed": -1}, InvalidParameterError, "seed must be a whole number, at least 0; got -1"),
    ({"seed": None}, InvalidParameterError, "seed must be a whole number"),
    ({"batch": 0}, InvalidParameterError, "batch must be a whole number, at least 1; got 0"),
    ({"time_limit": 0}, InvalidParameterError, "time_limit must be a number above 0"),
    ({"time_limit": float("nan")}, InvalidParameterError, "time_limit must be a number above 0"),
    ({"time_limit": "soon"}, InvalidParameterError, "time_limit must be a number above 0"),
    ({"target": float("nan")}, InvalidParameterError, "target must be a label.*got nan"),
    ({"target": [[1]]}, InvalidParameterError, r"target must be a label.*got \[1\]"),
    ({"target": []}, InvalidParameterError, "target is empty"),
    ({"confidence": 1.2}, InvalidParameterError, "above 0 and at most 1; got 1.2"),
    ({"confidence": 0.8}, OracleError, "gives no confidence.*omit confidence="),
    ({"constraints": 3}, InvalidParameterError, "constraints must be Constraints.*int"),
    (
        {"constraints": {"frozen": 1}},
        UnknownNameError,
        "Unknown constraint .frozen.*Did you mean .freeze",
    ),
]


@pytest.mark.parametrize(("given", "error", "message"), BAD)
def test_bad_input_is_refused_in_plain_words(given, error, message):
    given = {"graph": GOOD, "oracle": first_pair, **given}
    with pytest.raises(error, match=message) as caught:
        explain(given.pop("graph"), given.pop("oracle"), **given)
    assert isinstance(caught.value, DenseflipError)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 1), (1, 0)], r"entry 1 is a duplicate pair .*\(1, 0\)"),
        ([(0, 4)], r"entry 0 is a node outside 0..3: \(0, 4\)"),
        ([(0, 1), (-1, 2)], r"entry 1 is a node outside 0..3"),
        ([(2, 2)], r"entry 0 is a self-loop"),
        ([(0, 1, 2)], r"entry 0 must be a pair"),
        ([(0, 1.5)], r"whole numbers; got the pair \(0.0, 1.5\)"),
    ],
)
def test_bad_pairs_are_refused_in_plain_words(edges, message):
    with pytest.raises(InvalidGraphError, match=message):
        Graph.from_edges(4, edges)


def test_a_target_that_holds_already_needs_nothing():
    result = explain(GOOD, first_pair, target=1)
    assert result.status is Status.NOT_NEEDED
    assert not result.found
    assert (result.calls, result.distance, result.label_after) == (1, 0, 1)
    assert result.counterfactual == GOOD
    assert explain(GOOD, first_pair, "blocks", target=1).status is Status.NOT_NEEDED


def test_labels_of_any_plain_kind():
    for labels in (("ill", "well"), (True, False), (0.5, 1.5), (np.int64(3), np.int8(4))):
        result = explain(GOOD, lambda a, labels=labels: labels[int(a[0, 1])])
        assert result.label_before == labels[1]
        assert result.label_after == labels[0]
        assert type(result.label_before) in (str, bool, float, int)


def test_a_background_asks_a_bare_function_once_over_many_explanations():
    asked = []

    def oracle(a):
        asked.append(a)
        return int(a.sum() > 10)

    graphs = [path(6), complete(6), graph(6, clique(0, 1, 2, 3))]
    background = Background(graphs)
    first = explain(path(6), oracle, "dat", background=background)
    n_first = len(asked)
    second = explain(path(6), oracle, "dat", background=background)
    assert first.edits == second.edits
    assert first.calls == second.calls == 4
    assert first.amortised_calls == second.amortised_calls == 1
    assert n_first <= 3 + 2  # every graph once (the original is one of them), two confirmed
    assert len(asked) - n_first <= 3  # the original, and the two to confirm


def test_a_background_asks_another_oracle_again():
    background = Background([path(5), complete(5)])
    assert explain(path(5), lambda a: int(a.sum() > 8), "dat", background=background).found
    assert explain(path(5), lambda a: int(a[0, 2]), "dat", background=background).found


def test_calls_to_the_background_stand_apart_except_where_they_are_the_search():
    graphs = [path(6), complete(6), empty(6), graph(6, clique(0, 1, 2, 3))]

    def label(a):
        return int(a[0, 5])

    con = explain(path(6), label, "con", background=graphs)
    assert con.background_calls == 4
    assert con.search_calls == con.amortised_calls == con.calls > 1
    alternating = DCS(sparsify=PairSparsify("contrast"), densify=PairDensify("contrast"))
    long = explain(path(6), lambda a: int(a.sum() > 29), alternating, background=graphs)
    assert long.background_calls == 4
    assert long.search_calls > 4
    assert long.amortised_calls == long.calls
    dat = explain(path(6), label, "dat", background=graphs)
    assert dat.calls == 5
    assert dat.amortised_calls == 1
    assert dat.distinct_calls == 4  # the original is one of the four


def test_dat_keeps_to_its_budget_and_asks_nothing_beyond():
    asked = []

    def oracle(a):
        asked.append(1)
        return int(a.sum() > 10)

    graphs = [complete(6), empty(6), path(6)]
    result = explain(path(6), oracle, "dat", background=graphs, budget=3)
    assert result.status is Status.BUDGET
    assert result.calls == len(asked) == 1
    assert explain(path(6), oracle, "dat", background=graphs, budget=4).found


def test_parameters_and_seed_are_enough_to_run_it_again():
    method = make_method("cli+min", max_iterations=7, rank="degree")
    result = explain(triangle_with_tail(), never, method, seed=3)
    assert result.method == "cli+min"
    assert result.seed == 3
    assert result.parameters["search"]["max_iterations"] == 7
    assert result.parameters["search"]["rank"] == {"type": "ScoreRank", "by": "degree"}
    assert result.parameters["refine"] == [{"type": "MinimalRefine"}]


@pytest.mark.parametrize("method", ["dat", "medoid", "con", "dbs", "blocks", "dat+min"])
def test_a_background_without_the_other_class_is_a_result_that_says_so(method):
    given = {"nodes": halves(4), "background": [GOOD, complete(4)]}
    result = explain(GOOD, never, method, **given)
    assert result.status is Status.EXHAUSTED
    assert result.distance == 0
    assert "labels all 2 as 0. Pass a larger background." in result.notes[0]
    targeted = explain(GOOD, lambda a: int(a.sum()) % 2, method, target=5, **given)
    assert targeted.status is Status.EXHAUSTED
    assert "graphs of the class 5" in targeted.notes[0]


class Words:
    """Classes by name; says of itself which, or does not."""

    def __init__(self, classes=None):
        if classes is not None:
            self.classes = classes

    def predict(self, graphs):
        """Many edges or few."""
        return ["many" if g.n_edges > 3 else "few" for g in graphs]


def test_a_class_that_nobody_of_the_background_is_in_is_refused_by_its_name():
    with pytest.raises(UnknownNameError, match="gives this label to no graph of the background"):
        explain(GOOD, Words(), "tri", target="none of them", background=[complete(4)])
    with pytest.raises(UnknownNameError, match="target"):
        explain(
            GOOD, Words(("few", "many")), "tri", target="none of them", background=[complete(4)]
        )


def test_a_class_that_somebody_is_in_or_that_cannot_be_judged_is_not():
    assert explain(GOOD, Words(), "edg", target="many", background=[complete(4)]).status
    assert explain(GOOD, Words(), "edg", target="none of them").status is not Status.FOUND
    assert (
        explain(GOOD, Words(), "edg", target="none of them", background=[]).status
        is not Status.FOUND
    )
    known = Words(("few", "many", "all"))
    assert explain(GOOD, known, "edg", target="all", background=[complete(4)]).status


def test_events_tell_every_step_and_every_question():
    seen = []
    result = explain(path(6), first_pair, "edg", seed=4, on_event=seen.append)
    assert result.iterations > 0
    kinds = [event.kind for event in seen]
    assert kinds.count("step") == result.iterations
    assert kinds.count("answer") >= result.distinct_calls
