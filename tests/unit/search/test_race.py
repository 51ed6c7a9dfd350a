"""Orders that run side by side, and sessions in which nothing is counted twice."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from denseflip import Background, explain, make_method
from denseflip.counterfactual import Status
from denseflip.errors import InvalidParameterError
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.session import BudgetSpentError, Session
from denseflip.search.core.probing import SharedSession
from denseflip.search.core.problem import Problem
from denseflip.search.methods.baselines import helpful_changes
from denseflip.search.methods.race import Race
from graphs import complete, empty, graph, halves, path, two_cliques


def problem_of(g, background=None, label=0):
    labels = [label] * len(background or ())
    if labels:
        labels[-1] = 1 - label
    known = None if background is None else Background(background)
    return Problem(g, label, background=known, label_background=lambda: labels)


# ---- con as one list --------------------------------------------------------------------


def test_helpful_changes_come_by_the_size_of_their_contrast():
    g = path(4)  # 0-1, 1-2, 2-3
    others = graph(4, [(0, 1), (0, 3)])
    background = [g, graph(4, [(1, 2), (0, 3)]), others]
    problem = problem_of(g, background)
    # Contrast: 0-1 half less 1, 1-2 whole, 2-3 half, 0-3 half less 1: the last is an addition.
    codes = [divmod(int(c), 4) for c in helpful_changes(problem, "con")]
    assert codes[0] == (1, 2)
    assert set(codes[1:]) == {(2, 3), (0, 3)}  # 0-1 is there, and the other class has it more


def test_con_takes_a_logarithm_of_the_questions_and_stops_at_the_boundary():
    g, other = complete(12), empty(12)  # 66 edges, all of them helpful to remove
    result = explain(g, lambda a: int(a.sum() / 2 > 29), "con", background=[g, other])
    assert result.distance == 37
    assert result.added == ()
    assert result.calls <= 1 + 7 + 5  # the original; 1, 2, 4 … 64; bisection between 32 and 64


def test_con_says_so_when_its_list_ends():
    g, one, two = path(5), graph(5, [(0, 4)]), graph(5, [(1, 3)])

    class Oracle:
        def predict(self, graphs):
            return [int(h in (one, two)) for h in graphs]

    assert explain(g, Oracle(), "con", background=[g, one]).counterfactual == one
    given = {"background": [g, one, two]}  # the list leads to the two put together
    lost = explain(g, Oracle(), "con", **given)
    assert lost.status is Status.EXHAUSTED
    assert "No prefix of 1, 2, 4, … of the 6 changes" in lost.notes[0]
    assert "'race'" in lost.notes[0]
    assert explain(g, Oracle(), "race", **given).found  # the advice is good


# ---- a shared session -------------------------------------------------------------------


def test_a_shared_session_counts_a_graph_once():
    session = Session(coerce_oracle(lambda a: int(a.sum() > 6)))
    shared = SharedSession(session)
    assert shared.query(path(5)).label == shared.query(path(5)).label == 1
    assert [a.label for a in shared.query_all([path(5), empty(5), empty(5)])] == [1, 0, 0]
    assert session.calls == shared.calls == 2
    assert SharedSession(shared).query(empty(5)).label == 0
    assert session.calls == 2


def test_a_part_of_the_budget_ends_before_the_whole():
    session = Session(coerce_oracle(lambda a: 0), budget=5)
    part = SharedSession(session, 2)
    assert part.remaining == 2
    part.query(path(3))
    part.query(path(4))
    part.query(path(4))  # known: free
    with pytest.raises(BudgetSpentError):
        part.query(path(5))
    with pytest.raises(BudgetSpentError):
        part.query_all([path(6), path(7)])
    assert session.calls == 2
    assert session.remaining == 3
    assert SharedSession(part).remaining == 0  # a part of it ends with it
    assert SharedSession(SharedSession(session, 3), 1).remaining == 1
    session.query(path(5))
    assert session.calls == 3


# ---- race -------------------------------------------------------------------------------


def test_the_orders_of_a_race():
    g = two_cliques()
    names = [order.name for order in Race().orders(problem_of(g, [g, path(8), empty(8)]))]
    assert names == [
        *("tri", "tri reversed"),
        *("tri, additions", "tri, removals", "tri reversed, additions", "tri reversed, removals"),
        *("con", "towards a graph"),
        *["swaps"] * 4,
    ]
    for order in Race(nearest=1, swaps=1).orders(problem_of(g, [g, path(8), empty(8)])):
        codes = order.codes.tolist()
        assert len(set(codes)) == len(codes)
        present = np.isin(order.codes, g.codes)
        if "additions" in order.name:
            assert not present.any()
            assert len(codes) == g.n_pairs - g.n_edges
        if "removals" in order.name:
            assert present.all()
            assert len(codes) == g.n_edges
    alone = [order.name for order in Race().orders(problem_of(g))]
    assert "con" not in alone
    assert len(alone) == 10


def test_a_race_finds_the_one_edge_that_matters():
    result = explain(two_cliques(), lambda a: int(a[2, 3]), "race")
    assert result.removed == ((2, 3),)
    assert result.added == ()
    assert result.minimal
    assert any("gave the smallest of" in note for note in result.notes)


def test_a_race_ends_at_the_background_where_nothing_else_flips():
    """The only other graph there is: it has been walked towards to the end."""
    g = path(6)
    other = graph(6, [(0, 2), (1, 3), (2, 4), (3, 5)])

    class Oracle:
        def predict(self, graphs):
            return [int(h == other) for h in graphs]

    result = explain(g, Oracle(), "race", background=[g, other])
    assert result.counterfactual == other
    assert result.minimal
    lost = explain(g, Oracle(), "race")
    assert lost.status is Status.EXHAUSTED
    assert "None of 10 orders flips the label" in lost.notes[0]
    assert "pass a background" in lost.notes[0]


def test_a_race_is_not_beaten_by_the_orders_that_run_in_it():
    """Labels that come and go along an order: a parity of edges inside a part."""
    g = two_cliques()

    def strange(a):
        return int(a[:4, :4].sum() / 2 % 3 == 1)

    background = [g, path(8), complete(8), graph(8, [(0, 1)])]
    race = explain(g, strange, "race", nodes=halves(8), background=background)
    assert race.found
    for method in ("tri+min", "dat+min"):
        other = explain(g, strange, method, background=background)
        assert other.found
        assert race.distance <= other.distance


@pytest.mark.parametrize("budget", range(1, 40, 3))
def test_the_budget_ends_a_race_with_what_it_has(budget):
    g = complete(7)

    def few(a):
        return int(a.sum() / 2 < 16)

    result = explain(g, few, "race", budget=budget)
    assert result.calls <= budget
    if result.found:
        assert few(result.counterfactual.to_adjacency()) == 1
        if not result.minimal:
            assert any("budget" in note for note in result.notes)
    full = explain(g, few, "race")
    assert full.minimal
    assert full.distance == 6
    for pair in full.edits.pairs:
        assert few(full.counterfactual.toggle([pair]).to_adjacency()) == 0


def test_the_parameters_of_a_race_are_checked():
    for wrong in ({"nearest": -1}, {"swaps": "many"}, {"finalists": 0}):
        with pytest.raises(InvalidParameterError, match=next(iter(wrong))):
            make_method("race", **wrong)
    assert make_method("race", nearest=0, swaps=0).search.nearest == 0


def test_all_pairs_of_a_tiny_graph_are_reached():
    """Whatever single pair the oracle looks at, the race finds it, and only it."""
    g = two_cliques()
    for pair in combinations(range(8), 2):
        result = explain(g, lambda a, pair=pair: int(a[pair]), "race")
        assert result.edits.pairs == (pair,) or set(result.edits.pairs) == {pair}
