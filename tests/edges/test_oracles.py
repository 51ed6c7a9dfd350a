"""Oracles that answer oddly, write on what they are given, or throw dice."""

from __future__ import annotations

import importlib
from collections import OrderedDict
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

from denseflip import Graph, as_oracle, explain
from denseflip.errors import InvalidParameterError, OracleError
from denseflip.oracles.protocol import clean_labels, clean_probabilities

GRAPH = Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (3, 4)])


@pytest.mark.parametrize(
    "answers",
    [
        {0: "a", 1: "a"},
        {},
        OrderedDict([(0, 1), (1, 1)]),
        MappingProxyType({0: 1, 1: 1}),
        {"a", "b"},
        frozenset({1, 2}),
        {0: 1, 1: 1}.keys(),
    ],
    ids=lambda x: type(x).__name__,
)
def test_what_has_no_order_is_no_batch_of_answers(answers):
    with pytest.raises(OracleError, match="not in the order of the graphs; expected a seq"):
        clean_labels(answers, 2)


def test_a_series_in_the_order_of_the_graphs_is_a_batch_of_answers_and_no_other():
    pd = pytest.importorskip("pandas")
    for index in ([0, 1], ["b", "a"], [7, 3], [0, "a"]):
        assert clean_labels(pd.Series([4, 5], index=index), 2) == [4, 5]
    with pytest.raises(OracleError, match="returned a Series"):
        clean_labels(pd.Series([4, 5])[::-1], 2)


def test_a_column_of_answers_is_not_labelled_by_its_header():
    pd = pytest.importorskip("pandas")
    oracle = as_oracle(lambda a: pd.DataFrame({"label": [x[0, 1] for x in a]}), batch=True)
    with pytest.raises(OracleError, match="returned a DataFrame"):
        explain(GRAPH, oracle, "edg")


class Unlisted(list):
    def __iter__(self):
        raise RuntimeError

    def __repr__(self):
        raise RuntimeError


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([10**5000], "more than 100 digits"),
        ([-(10**5000)], "more than 100 digits"),
        ([Unlisted()], "Unlisted that cannot be shown"),
        (Unlisted([1]), "cannot be listed"),
        (bytearray(b"1"), "expected a sequence of 1 label"),
        ((x for x in [1]), "expected a sequence of 1 label"),
        (np.array(1), "expected a sequence of 1 label"),
        (np.array([[1]]), "as a label"),
        (np.array([(1,)], dtype=[("a", int)]), "as a label"),
        (({"a": 1},), "as a label"),
        (np.ma.array([1], mask=[True]), "returned None as a label"),
    ],
    ids=range(11),
)
def test_what_is_no_label_is_told(answers, message):
    with pytest.raises(OracleError, match=message):
        clean_labels(answers, 1)


def test_a_constant_classifier_that_answers_by_a_dict_does_not_flip():
    oracle = as_oracle(lambda stack: dict.fromkeys(range(len(stack)), "ill"), batch=True)
    with pytest.raises(OracleError, match="returned a dict"):
        explain(GRAPH, oracle, "edg")


@pytest.mark.parametrize("row", [{0: 0.4, 1: 0.6}, {0, 1}, "01"], ids=["dict", "set", "text"])
def test_keys_do_not_pass_for_probabilities(row):
    with pytest.raises(OracleError, match="expected 2 probabilities, one per class"):
        clean_probabilities([row], 1, (0, 1))


def arrays_of(graph: Graph):
    yield "codes", graph.codes
    yield "pairs", graph.pairs
    yield "difference", graph.difference(graph.root)
    flips = graph.flips_from(graph.root)
    if isinstance(flips, np.ndarray):
        yield "flips", flips


@pytest.mark.parametrize(
    "graph",
    [
        GRAPH,
        GRAPH.toggle([(0, 5)]),
        GRAPH.toggle([(0, 5)]).toggle([(1, 5), (0, 1)]),
        GRAPH.toggle_codes(np.array([4, 5])),
        Graph.from_adjacency(np.zeros((3, 3))),
        Graph(3, np.array([1, 2])),
    ],
    ids=["root", "copy", "copy of a copy", "by codes", "empty", "bare"],
)
def test_no_array_of_a_graph_can_be_made_writable(graph):
    before = graph.edges()
    for name, array in arrays_of(graph):
        owner = array
        while isinstance(owner, np.ndarray):  # nor the array that it is a view of
            assert not owner.flags.writeable, name
            with pytest.raises(ValueError, match="cannot set WRITEABLE flag"):
                owner.setflags(write=True)
            owner = owner.base
        assert isinstance(owner, bytes), name
    assert graph.edges() == before


def test_what_a_caller_does_with_its_codes_later_changes_no_graph():
    codes = np.array([4, 5])
    graph = GRAPH.toggle_codes(codes)
    codes[:] = 3
    assert graph.edges() == sorted([*GRAPH.edges(), (0, 4), (0, 5)])


def test_an_oracle_that_writes_on_its_graph_is_told_so_and_changes_nothing():
    class Scribbler:
        def predict(self, graphs):
            for graph in graphs:
                graph.codes.setflags(write=True)
                graph.codes[:] = 0
            return [0] * len(graphs)

    with pytest.raises(OracleError, match="The classifier raised ValueError: cannot set WRITEABLE"):
        explain(GRAPH, Scribbler(), "edg")
    assert GRAPH.n_edges == 4


class Turncoat:
    """Keeps to its answers until it was asked so many times about a graph, then changes them."""

    def __init__(self, patience: int) -> None:
        self.patience, self.asked = patience, {}

    def predict(self, graphs):
        answers = []
        for graph in graphs:
            self.asked[graph.key] = self.asked.get(graph.key, 0) + 1
            turned = self.asked[graph.key] > self.patience
            answers.append(int(graph.has_edge(0, 1)) if not turned else 7)
        return answers


@pytest.mark.parametrize("times", [0, 1, 2, 5])
def test_the_final_pair_is_asked_again_as_often_as_wanted(times):
    assert explain(GRAPH, Turncoat(1 + times), "edg", confirm=times).found
    if times:
        with pytest.raises(OracleError, match="is not deterministic"):
            explain(GRAPH, Turncoat(times), "edg", confirm=times)


@pytest.mark.parametrize("times", [-1, 1.5, "2", None])
def test_how_often_must_be_a_whole_number(times):
    with pytest.raises(InvalidParameterError, match="confirm must be a whole number, at least 0"):
        explain(GRAPH, lambda a: int(a[0, 1]), "edg", confirm=times)


def test_asking_again_changes_no_result_and_no_count():
    results = [explain(GRAPH, lambda a: int(a[0, 1]), "edg", confirm=n) for n in (0, 1, 9)]
    assert {(r.calls, r.distinct_calls, r.edits) for r in results} == {
        (results[0].calls, results[0].distinct_calls, results[0].edits)
    }


def test_the_more_often_it_is_asked_the_more_noisy_oracles_are_caught(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).resolve().parents[2] / "benchmarks")
    noisy = importlib.import_module("noisy_oracles")
    shares = [noisy.caught(times, runs=60) for times in (0, 1, 5)]
    assert shares[0] == 0
    assert shares[0] < shares[1] < shares[2]
    assert shares[2] >= 0.75
    assert noisy.caught(3, noise=0.0, runs=20) == 0


def test_the_command_asks_again_too(tmp_path, monkeypatch, capsys):
    from cohorts import make_cohort
    from denseflip.cli.command_tree import app
    from denseflip.cli.common import run

    monkeypatch.chdir(tmp_path)
    data = make_cohort()
    data.save("a.dfd")
    source = (
        "asked = {}\n"
        "def label(a):\n"
        "    key = a.tobytes()\n"
        "    asked[key] = asked.get(key, 0) + 1\n"
        "    return int(a[0, 1]) if asked[key] < 4 else 7\n"
    )
    (tmp_path / "turncoat.py").write_text(source)
    words = ["explain", "a.dfd", data.ids[0], "--oracle", "turncoat:label", "--method", "edg"]
    assert run(app, [*words, "--confirm", "9"]) == 1
    assert "is not deterministic" in capsys.readouterr().err
