from __future__ import annotations

import numpy as np
import pytest

from denseflip import Background, as_oracle
from denseflip.errors import InvalidGraphError
from denseflip.graph import Graph
from denseflip.graph.pairs import all_pairs
from denseflip.oracles.background import Frequencies, pair_counts
from denseflip.oracles.session import Session
from graphs import complete, empty, path


class Counting:
    def __init__(self):
        self.asked = 0

    def predict(self, graphs):
        self.asked += len(graphs)
        return [g.n_edges for g in graphs]


def test_labels_are_asked_once_per_oracle():
    background = Background([path(4), complete(4)])
    oracle = Counting()
    for _ in range(3):
        session = Session(oracle)
        assert background.labels(session) == [3, 6]
        assert session.background_calls == 2
    assert oracle.asked == 2
    other = Counting()
    assert background.labels(Session(other)) == [3, 6]
    assert other.asked == 2


def test_equal_functions_are_one_oracle_however_often_wrapped():
    asked = []

    def edges(g):
        asked.append(g)
        return g.n_edges

    background = Background([path(4), complete(4)])
    for _ in range(3):
        oracle = as_oracle(edges, "graph")
        background.labels(Session(oracle))
    assert len(asked) == 2
    another_form = as_oracle(lambda g: 0, "graph")
    assert background.labels(Session(another_form)) == [0, 0]


def test_known_labels_need_no_further_question():
    background = Background([path(4), complete(4)])
    oracle = Counting()
    background.labels(Session(oracle))
    session = Session(oracle)
    background.labels(session)
    assert session.peek(complete(4)).label == 6
    assert session.evaluations == 0


def test_whatever_has_graphs_is_a_background():
    class Data:
        graphs = (path(4), empty(4))

    wrapped = Background.of(Data())
    assert wrapped.graphs == Data.graphs
    assert len(wrapped) == 2
    assert Background.of(wrapped) is wrapped
    assert len(Background.of([])) == 0
    assert len(Background(g for g in Data.graphs)) == 2


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([path(4), "x"], "background: entry 1: str is not a graph"),
        ([path(4), path(5)], "graph 1 has 5 nodes, graph 0 has 4. All must share one node set"),
        (3, "background must be a sequence of graphs; got int"),
    ],
)
def test_what_is_no_background_is_refused(graphs, message):
    with pytest.raises(InvalidGraphError, match=message):
        Background.of(graphs)


def test_pair_counts():
    codes, counts = pair_counts([path(3), complete(3), empty(3)])
    assert codes.tolist() == [1, 2, 5]
    assert counts.tolist() == [2, 1, 2]
    assert [len(x) for x in pair_counts([])] == [0, 0]


def test_what_the_classes_differ_in_is_counted_once():
    background = Background([path(3), complete(3), empty(3)])
    contrast = background.contrast([0], [1, 2])
    assert background.contrast((0,), (1, 2)) is contrast
    assert contrast.codes.tolist() == [1, 2, 5]
    assert contrast.values.tolist() == [1, -1, 1]  # in halves: 1 - 1/2, 0 - 1/2, 1 - 1/2
    assert contrast.scale == 2
    assert background.contrast([1, 2], [0]).values.tolist() == [-1, 1, -1]


def test_frequencies_are_shares_of_the_graphs_and_zero_elsewhere():
    graphs = [path(4), path(4), complete(4), empty(4)]
    seen = Frequencies.of(graphs)
    codes = np.array([1, 2, 3, 6, 7, 11])  # 01, 02, 03, 12, 13, 23
    assert seen.at(codes).tolist() == [0.75, 0.25, 0.25, 0.75, 0.25, 0.75]
    assert Frequencies.of([path(4)]).at(codes).tolist() == [1, 0, 0, 1, 0, 1]
    assert Frequencies.of([empty(4)]).at(codes).tolist() == [0] * 6


def test_frequencies_from_a_table_are_those_found_by_bisection(monkeypatch):
    rng = np.random.default_rng(0)
    graphs = [
        empty(9).toggle_codes(np.sort(rng.choice(all_pairs(9), 12, replace=False)))
        for _ in range(3)
    ]
    table = Frequencies.of(graphs)
    assert table._table is not None
    asked = rng.permutation(np.arange(81))  # also codes that are no pairs, and larger ones
    monkeypatch.setattr("denseflip.oracles.background._TABLE", 0)
    bisected = Frequencies.of(graphs)
    assert bisected._table is None
    assert table.at(asked).tolist() == bisected.at(asked).tolist()
    assert table.at(table.codes).tolist() == bisected.at(table.codes).tolist()


def test_named_graphs_are_brought_into_one_order():
    first = Graph.from_edges(3, [(0, 1)]).named("abc")
    other = Graph.from_edges(3, [(1, 2)]).named("cba")  # the same edge, a to b
    background = Background([first, other])
    assert background.graphs[0].codes.tolist() == background.graphs[1].codes.tolist() == [1]
    assert background.frequencies([0, 1]).at(np.array([1, 2, 5])).tolist() == [1, 0, 0]
