"""Views of a session pass operations on and share counts, budget and cache."""

from __future__ import annotations

import pytest

from denseflip import Constraints
from denseflip.oracles.base_session import BaseSession, BudgetSpentError, SessionView
from denseflip.oracles.protocol import Answer
from denseflip.oracles.session import Session
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.constraints.constrained_session import ConstrainedSession
from denseflip.search.core.probing import SharedSession
from graphs import complete, empty, path

A, B, C = path(4), complete(4), empty(4)
DERIVED = {"first", "query_all"}  # built on the operations that a view passes on


class EdgeCount:
    """Labels a graph by its number of edges; remembers what it was given."""

    classes = (0, 1)

    def __init__(self) -> None:
        self.given: list = []

    def predict(self, graphs):
        self.given.extend(graphs)
        return [g.n_edges for g in graphs]


def test_a_view_passes_every_operation_on():
    operations = {name for name in vars(BaseSession) if not name.startswith("_")} - DERIVED
    assert operations <= set(vars(SessionView))


def test_a_view_shares_counts_budget_cache_and_listener():
    oracle, heard = EdgeCount(), []
    session = Session(oracle, budget=5, on_event=heard.append)
    view = SessionView(session)
    assert [a.label for a in view.query_all([A, B])] == [3, 6]
    assert view.first([(0, A), (1, C)], lambda a: a.label == 0).item == 1
    assert (view.calls, view.distinct, view.remaining) == (session.calls, session.distinct, 1)
    assert session.calls == 4
    assert view.peek(A) == view.recall(A) == session.peek(A)
    assert len(oracle.given) == 3
    view.notify("best", A, 2)
    assert heard[-1].kind == "best"
    assert (view.oracle, view.timing, view.on_event) == (oracle, session.timing, heard.append)
    view.charge(1)
    with pytest.raises(BudgetSpentError):
        view.query(A)
    assert view.label_background([A, B]) == [3, 6]
    assert view.background_calls == session.background_calls == 2


def test_a_shared_session_counts_no_graph_twice_and_covers_all_or_nothing():
    session = Session(EdgeCount())
    part = SharedSession(session, 3)
    part.query(A)
    with pytest.raises(BudgetSpentError):
        part.charge_background([A, B, C])
    assert session.calls == 1
    part.charge_background([B, C])
    assert part.query(B).label == 6  # counted before
    with pytest.raises(BudgetSpentError):
        part.charge(1)
    assert session.calls == 3
    assert session.query(path(3)).label == 2  # the session itself has no limit


def test_a_constrained_session_passes_no_forbidden_graph_to_the_oracle():
    oracle = EdgeCount()
    session = Session(oracle)
    original = session.query(A)
    few = bind_constraints(Constraints(predicate=lambda g: g.n_edges < 5), A)
    bound = ConstrainedSession(session, original, few)
    for view in (bound, SharedSession(bound)):
        answers = view.query_all([B, C, B])
        assert [a.label for a in answers] == [3, 0, 3]
        list(view.look_ahead([(0, B), (1, C), (2, B)]))
        assert view.recall(B) is original
        assert not view.permits(B)
        assert view.without_constraints().permits(B)
    assert B not in oracle.given
    assert few.refused == {"predicate": 1}
    assert session.calls == 2


def test_nested_constraints_hold_together():
    session = Session(EdgeCount())
    original = session.query(A)
    few = bind_constraints(Constraints(predicate=lambda g: g.n_edges < 5), A)
    some = bind_constraints(Constraints(predicate=lambda g: g.n_edges > 0), A)
    both = ConstrainedSession(ConstrainedSession(session, original, few), original, some)
    assert [both.permits(g) for g in (A, B, C)] == [True, False, False]
    assert [both.query(g).label for g in (A, B, C)] == [3, 3, 3]
    list(both.look_ahead([(0, B), (1, C), (2, A)]))
    assert both.without_constraints() is session
    assert session.evaluations == 1


class Sure(EdgeCount):
    """Gives the label 1 with a probability of 0.7 for complete graphs, else 0."""

    def predict_proba(self, graphs):
        return [[0.3, 0.7] if g == B else [0.9, 0.1] for g in graphs]


@pytest.mark.parametrize(("confidence", "label"), [(0.6, 1), (0.7, 1), (0.8, 0)])
def test_another_label_needs_the_required_confidence(confidence, label):
    session = Session(Sure(), confidence=True)
    view = ConstrainedSession(session, session.query(A), confidence=confidence)
    assert view.required_confidence == confidence
    assert view.query(B).label == view.recall(B).label == label
    assert view.peek(B).label == 1
    assert view.query(C) == Answer(0, 0.9, {0: 0.9, 1: 0.1})
    free = view.without_constraints()
    assert free.query(B).label == label  # the confidence is required there, too
    assert SharedSession(view).required_confidence == confidence
    assert session.required_confidence is None
