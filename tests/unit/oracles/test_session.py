from __future__ import annotations

import math

import pytest

from denseflip.errors import InvalidParameterError, NotFittedError, OracleError
from denseflip.oracles.session import BudgetSpentError, Session
from graphs import complete, empty, path

A, B, C = path(4), complete(4), empty(4)


class Recording:
    def __init__(self, fails_at=()):
        self.batches, self.fails_at = [], fails_at

    def predict(self, graphs):
        self.batches.append(list(graphs))
        if any(g in self.fails_at for g in graphs):
            msg = "no idea"
            raise ValueError(msg)
        return [g.n_edges for g in graphs]


def test_a_question_counts_every_time_but_is_evaluated_once():
    oracle = Recording()
    session = Session(oracle)
    assert [session.ask(g) for g in (A, B, A, A)] == [3, 6, 3, 3]
    assert session.calls == 4
    assert session.distinct == 2
    assert session.evaluations == 2
    assert oracle.batches == [[A], [B]]


def test_looking_ahead_evaluates_in_one_batch_and_counts_nothing():
    oracle = Recording()
    session = Session(oracle)
    session.ask(A)
    session.prefetch([A, B, C, B])
    assert oracle.batches == [[A], [B, C]]
    assert session.calls == 1
    assert session.ask(C) == 0
    assert len(oracle.batches) == 2
    session.prefetch([A, B])
    assert len(oracle.batches) == 2


def test_equal_graphs_share_an_answer():
    oracle = Recording()
    session = Session(oracle)
    session.ask(path(4))
    session.ask(path(5).toggle([]).toggle([(3, 4)]))  # five nodes: another graph
    session.ask(path(4).toggle([(0, 2)]).toggle([(0, 2)]))
    assert session.evaluations == 2


def test_the_budget_ends_the_questions_not_the_peeking():
    session = Session(Recording(), budget=2)
    assert session.remaining == 2
    session.ask(A)
    session.ask(A)
    assert session.remaining == 0
    with pytest.raises(BudgetSpentError):
        session.ask(A)
    assert session.calls == 2
    assert session.peek(B) == 6
    assert Session(Recording()).remaining == math.inf


def test_several_questions_are_charged_all_or_none():
    session = Session(Recording(), budget=3)
    session.ask(A)
    with pytest.raises(BudgetSpentError):
        session.charge_background([A, B, C])
    assert session.calls == 1
    session.charge_background([A, B])
    assert (session.calls, session.distinct) == (3, 2)


def test_time_ends_the_questions(monkeypatch):
    from denseflip.oracles import session as module

    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    session = Session(Recording(), time_limit=5)
    session.ask(A)
    assert not session.out_of_time
    now[0] = 105.1
    assert session.out_of_time
    for question in (lambda: session.ask(A), session.check_time, lambda: session.charge(0)):
        with pytest.raises(BudgetSpentError):
            question()
    assert session.calls == 1


def test_the_background_is_counted_apart():
    oracle = Recording()
    session = Session(oracle)
    assert session.label_background([A, B]) == [3, 6]
    assert (session.calls, session.background_calls) == (0, 2)
    other = Session(oracle)
    other.remember([A, B], [3, 6])
    assert other.background_calls == 2
    assert other.ask(B) == 6
    assert other.evaluations == 0


def test_a_failure_ahead_is_kept_for_the_question_itself():
    session = Session(Recording(fails_at=[C]))
    session.prefetch([A, B, C])
    assert session.ask(A) == 3
    with pytest.raises(OracleError, match=r"ValueError: no idea .*with 4 nodes; the first has 0"):
        session.ask(C)
    with pytest.raises(OracleError, match=r"no idea"):
        Session(Recording(fails_at=[B])).label_background([A, B])


def test_a_bad_label_ahead_is_kept_for_the_question_itself():
    class Oracle:
        def predict(self, graphs):
            return [None if g == C else 1 for g in graphs]

    session = Session(Oracle())
    session.prefetch([A, B, C])
    assert session.ask(B) == 1
    assert session.evaluations == 3
    with pytest.raises(OracleError, match=r"None as a label"):
        session.ask(C)


def test_the_wrong_number_of_labels_is_an_error_at_once():
    class Oracle:
        def predict(self, graphs):
            return [1]

    session = Session(Oracle())
    assert session.ask(A) == 1
    with pytest.raises(OracleError, match=r"returned 1 label\(s\) for 2 graph\(s\)"):
        session.prefetch([B, C])


def test_the_librarys_own_errors_pass_through():
    class Oracle:
        def predict(self, graphs):
            msg = "train it first"
            raise NotFittedError(msg)

    with pytest.raises(NotFittedError, match=r"train it first"):
        Session(Oracle()).ask(A)


def test_a_changed_mind_is_noticed():
    class Oracle:
        answers = iter([1, 2, 1, 3])

        def predict(self, graphs):
            return [next(self.answers) for _ in graphs]

    session = Session(Oracle())
    session.ask(A)
    session.ask(B)
    with pytest.raises(
        OracleError, match=r"changed its mind: .* 2 at first and 3 when asked again"
    ):
        session.confirm([A, B])


@pytest.mark.parametrize("budget", [0, -1, 1.5, "3", True, float("inf")])
def test_a_budget_is_a_whole_number(budget):
    with pytest.raises(InvalidParameterError, match=r"budget must be a whole number, at least 1"):
        Session(Recording(), budget=budget)


@pytest.mark.parametrize("limit", [0, -1, float("nan"), "1"])
def test_a_time_limit_is_a_positive_number(limit):
    with pytest.raises(InvalidParameterError, match=r"time_limit must be a positive number of sec"):
        Session(Recording(), time_limit=limit)
