from __future__ import annotations

import math

import pytest

from denseflip.errors import InvalidParameterError, NotFittedError, OracleError
from denseflip.oracles.lookahead import FlipOdds
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
    assert [session.query(g).label for g in (A, B, A, A)] == [3, 6, 3, 3]
    assert session.calls == 4
    assert session.distinct == 2
    assert session.evaluations == 2
    assert oracle.batches == [[A], [B]]


class Always(FlipOdds):
    """Look ahead by so many, whatever the pace."""

    def __init__(self, n):
        super().__init__()
        self.n = n

    def best_batch(self, pace):
        return self.n


def numbered(*graphs):
    return list(enumerate(graphs))


def test_the_first_yes_is_that_of_the_walk_one_by_one():
    for n in (1, 2, 3, 64):
        oracle = Recording()
        session = Session(oracle)
        hit = session.first(numbered(C, A, B, path(3)), lambda a: a.label == 3, odds=Always(n))
        assert (hit.item, hit.graph, hit.answer.label) == (1, A, 3)
        assert session.calls == session.distinct == 2
        assert session.evaluations >= 2
        none = session.first(numbered(C, A, B), lambda a: a.label == 9, odds=Always(n))
        assert none is None
        assert session.calls == 5
        assert session.first([], lambda a: True) is None


def test_looking_ahead_evaluates_in_one_batch_what_is_not_known():
    oracle = Recording()
    session = Session(oracle)
    session.query(A)
    session.first(numbered(A, B, C, B), lambda a: False, odds=Always(4))
    assert oracle.batches == [[A], [B, C]]
    assert session.calls == 5


def test_candidates_are_drawn_no_further_than_looked_at():
    drawn = []

    def candidates():
        for g in (C, A, B):
            drawn.append(g)
            yield g, g

    Session(Recording()).first(candidates(), lambda a: a.label == 0, odds=Always(2))
    assert drawn == [C, A]


def test_an_error_in_making_candidates_comes_when_the_walk_gets_there():
    def candidates():
        yield 0, C
        yield 1, A
        msg = "no more"
        raise RuntimeError(msg)

    session = Session(Recording())
    assert session.first(candidates(), lambda a: a.label == 3, odds=Always(9)).item == 1
    with pytest.raises(RuntimeError, match="no more"):
        session.first(candidates(), lambda a: False, odds=Always(9))
    assert session.calls == 4


def test_several_questions_at_once_are_all_counted_or_none():
    oracle = Recording()
    session = Session(oracle, budget=4, max_batch=2)
    assert [a.label for a in session.query_all([A, B, A])] == [3, 6, 3]
    assert (session.calls, session.distinct, session.predictions) == (3, 2, 1)
    with pytest.raises(BudgetSpentError):
        session.query_all([A, B])
    assert session.calls == 3


def test_the_listener_hears_of_questions_and_answers():
    heard = []
    session = Session(Recording(), on_event=heard.append)
    session.first(numbered(C, A, B), lambda a: a.label == 3, odds=Always(3))
    session.notify("best", A, 2)
    assert [(e.kind, e.calls, e.value) for e in heard] == [
        ("question", 0, 3),
        ("answer", 1, None),
        ("answer", 2, None),
        ("best", 2, 2),
    ]
    assert heard[1].answer.label == 0
    assert heard[2].graph == A


@pytest.mark.parametrize("wrong", [ValueError, OracleError, BudgetSpentError])
@pytest.mark.parametrize("kind", ["question", "answer"])
def test_what_the_listener_raises_reaches_the_one_who_asks(kind, wrong):
    def listen(event):
        if event.kind == kind:
            raise wrong("enough")

    session = Session(Recording(), on_event=listen)
    with pytest.raises(wrong, match="enough"):
        session.first(numbered(C, A, B), lambda a: False, odds=Always(3))
    assert session.evaluations == (0 if kind == "question" else 3)


def test_near_copies_are_asked_about_by_their_edits_where_the_oracle_can():
    asked = []

    class Linear(Recording):
        def predict_edits(self, base, edits):
            asked.append((base, [e.tolist() for e in edits]))
            return [base.n_edges + 100 + len(e) for e in edits]

    session = Session(Linear())
    assert session.query(A).label == 3
    near = [A.toggle([(0, 2)]), A.toggle([(0, 2)]).toggle([(0, 3)])]
    assert [a.label for a in session.query_all(near)] == [104, 105]
    assert asked == [(A, [[2], [2, 3]])]
    assert session.evaluations == 3


def test_answers_about_edits_are_not_taken_from_somebody_who_knows_another_predict():
    class Linear(Recording):
        def predict_edits(self, base, edits):
            return [base.n_edges + 100 for _ in edits]

    class Turned(Linear):
        def predict(self, graphs):
            return [-label for label in super().predict(graphs)]

    class Around:
        def __init__(self, oracle):
            self.oracle = oracle

        def predict(self, graphs):
            return [-label for label in self.oracle.predict(graphs)]

        def __getattr__(self, name):
            return getattr(self.oracle, name)

    changed = Linear()
    changed.predict = Turned().predict
    for oracle in (Turned(), Around(Linear()), changed):
        assert Session(oracle).query(A.toggle([(0, 2)])).label == -4
    assert Session(Linear()).query(A.toggle([(0, 2)])).label == 103


def test_a_confidence_comes_with_the_label_where_it_is_asked_for():
    class Sure:
        classes = ("few", "many")

        def predict(self, graphs):
            return [self.classes[g.n_edges > 4] for g in graphs]

        def predict_proba(self, graphs):
            return [[1 - g.n_edges / 8, g.n_edges / 8] for g in graphs]

    session = Session(Sure(), confidence=True)
    answer = session.query(A)
    assert answer == ("few", 0.625, {"few": 0.625, "many": 0.375})
    assert [a.confidence for a in session.query_all([B, C])] == [0.75, 1.0]
    assert Session(Sure()).query(A) == ("few", None, None)
    session.confirm([A, B])
    with pytest.raises(OracleError, match="gives no confidence"):
        Session(Recording(), confidence=True)

    class Unsure(Sure):
        def predict_proba(self, graphs):
            return [[0.9, 0.4] for _ in graphs]

    with pytest.raises(OracleError, match="sum to 1"):
        Session(Unsure(), confidence=True).query(A)


def test_equal_graphs_share_an_answer():
    oracle = Recording()
    session = Session(oracle)
    session.query(path(4))
    session.query(path(5).toggle([]).toggle([(3, 4)]))  # five nodes: another graph
    session.query(path(4).toggle([(0, 2)]).toggle([(0, 2)]))
    assert session.evaluations == 2


def test_the_budget_ends_the_questions_not_the_peeking():
    session = Session(Recording(), budget=2)
    assert session.remaining == 2
    session.query(A)
    session.query(A)
    assert session.remaining == 0
    with pytest.raises(BudgetSpentError):
        session.query(A)
    assert session.calls == 2
    assert session.peek(B).label == 6
    assert Session(Recording()).remaining == math.inf


def test_several_questions_are_charged_all_or_none():
    session = Session(Recording(), budget=3)
    session.query(A)
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
    session.query(A)
    assert not session.out_of_time
    now[0] = 105.1
    assert session.out_of_time
    for question in (lambda: session.query(A), session.check_time, lambda: session.charge(0)):
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
    assert other.query(B).label == 6
    assert other.evaluations == 0


def test_a_failure_ahead_is_kept_for_the_question_itself():
    session = Session(Recording(fails_at=[C]))
    assert session.first(numbered(A, B, C), lambda a: a.label == 6, odds=Always(3)).item == 1
    assert session.evaluations == 5  # together, then each by itself
    with pytest.raises(OracleError, match=r"ValueError: no idea .*with 4 nodes; the first has 0"):
        session.query(C)
    with pytest.raises(OracleError, match=r"no idea"):
        Session(Recording(fails_at=[B])).label_background([A, B])


def test_a_bad_label_ahead_is_kept_for_the_question_itself():
    class Oracle:
        def predict(self, graphs):
            return [None if g == C else 1 for g in graphs]

    session = Session(Oracle())
    session.first(numbered(A, B, C), lambda a: True, odds=Always(3))
    assert session.query(B).label == 1
    assert session.evaluations == 3
    with pytest.raises(OracleError, match=r"None as a label"):
        session.query(C)


def test_the_wrong_number_of_labels_is_an_error_at_once():
    class Oracle:
        def predict(self, graphs):
            return [1]

    session = Session(Oracle())
    assert session.query(A).label == 1
    with pytest.raises(OracleError, match=r"returned 1 label\(s\) for 2 graph\(s\)") as error:
        session.query_all([B, C])
    assert type(error.value) is OracleError


def test_the_librarys_own_errors_pass_through():
    class Oracle:
        def predict(self, graphs):
            msg = "train it first"
            raise NotFittedError(msg)

    with pytest.raises(NotFittedError, match=r"train it first"):
        Session(Oracle()).query(A)


def test_a_changed_mind_is_noticed():
    class Oracle:
        answers = iter([1, 2, 1, 3])

        def predict(self, graphs):
            return [next(self.answers) for _ in graphs]

    session = Session(Oracle())
    session.query(A)
    session.query(B)
    with pytest.raises(
        OracleError, match=r"not deterministic: .* 2 first and 3 when queried again"
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
