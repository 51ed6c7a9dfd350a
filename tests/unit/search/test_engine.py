"""The walk: what it asks, counts, keeps and forgets."""

from __future__ import annotations

import time

import numpy as np
import pytest

from denseflip import Step, explain
from denseflip.counterfactual import Ask, Status
from denseflip.errors import InvalidParameterError, OracleError
from denseflip.oracles import session
from denseflip.oracles.lookahead import FlipOdds
from denseflip.search.core import engine
from denseflip.search.methods.registry import make_method
from graphs import complete, empty, graph, path


def remove_one_by_one(problem):
    for i, pair in enumerate(problem.graph.edges(), start=1):
        yield Step("sparsify", "edge", (pair,), iteration=i)


class Counting:
    """Labels a graph by whether it still has a pair; counts what it is asked."""

    def __init__(self, pair):
        self.pair, self.batches = pair, []

    def predict(self, graphs):
        self.batches.append(len(graphs))
        return [int(g.has_edge(*self.pair)) for g in graphs]


class Timed(Counting):
    """An oracle that takes its time by a clock of its own."""

    def __init__(self, pair, cost, monkeypatch):
        super().__init__(pair)
        self.cost, self.now = cost, 0.0
        monkeypatch.setattr(session.time, "perf_counter", lambda: self.now)

    def predict(self, graphs):
        self.now += self.cost(len(graphs))
        return super().predict(graphs)


def test_batches_grow_where_a_call_is_dear_up_to_the_largest_allowed(monkeypatch):
    oracle = Timed((38, 39), lambda n: 1.0, monkeypatch)  # the last pair of 780
    result = explain(complete(40), oracle, remove_one_by_one, batch=16)
    assert oracle.batches[:3] == [1, 1, 1]
    assert max(oracle.batches) == 16
    assert len(oracle.batches) < 160
    assert result.calls == 781
    assert result.found


def test_a_batch_that_helps_nothing_is_not_made(monkeypatch):
    oracle = Timed((38, 39), lambda n: n**1.2, monkeypatch)
    explain(complete(40), oracle, remove_one_by_one)
    assert max(oracle.batches) <= 4
    assert set(oracle.batches[40:-1]) == {1, 2}  # two now and then: the clock may have been wrong
    assert oracle.batches[40:-1].count(2) < len(oracle.batches) / 30


def test_nothing_is_evaluated_beyond_the_budget():
    for budget in range(1, 12):
        oracle = Counting((10, 11))
        result = explain(complete(12), oracle, remove_one_by_one, budget=budget)
        assert result.status is Status.BUDGET
        assert result.calls == budget
        assert sum(oracle.batches) == budget


def test_a_budget_that_just_reaches_the_flip_is_enough():
    g = path(6)  # (2, 3) is the third edge: original, three questions
    assert explain(g, Counting((2, 3)), remove_one_by_one).calls == 4
    assert explain(g, Counting((2, 3)), remove_one_by_one, budget=4).found
    short = explain(g, Counting((2, 3)), remove_one_by_one, budget=3)
    assert short.status is Status.BUDGET
    assert short.removed == ((0, 1), (1, 2))  # the last graph asked about
    assert short.label_after == short.label_before == 1


def test_the_look_ahead_is_bounded_in_edges(monkeypatch):
    monkeypatch.setattr(session, "_MAX_EDGES_AHEAD", 3 * 780)
    monkeypatch.setattr(FlipOdds, "best_batch", lambda self, pace: 50)
    oracle = Counting((38, 39))
    explain(complete(40), oracle, remove_one_by_one)
    assert max(oracle.batches[2:]) == 3


def test_steps_not_asked_about_are_joined_and_those_at_the_end_dropped():
    def method(problem):
        yield Step("sparsify", "edge", ((0, 1),), Ask.NO)
        yield Step("sparsify", "edge", ((1, 2),), Ask.YES)
        yield Step("sparsify", "edge", ((2, 3),), Ask.NO)

    result = explain(path(4), lambda a: 0, method)
    assert result.calls == 2
    assert result.removed == ((0, 1), (1, 2))
    assert len(result.trace) == 2


def test_an_answer_that_is_not_heeded_counts_but_does_not_end_the_search():
    def steps(problem):
        yield Step("sparsify", "edge", ((0, 1),), name="deaf")
        yield Step("sparsify", "edge", ((1, 2),))

    def method(problem, session):
        return engine.walk(problem, steps(problem), session, may_stop=lambda s: s.name != "deaf")

    result = explain(path(4), lambda a: int(a[0, 1]), method)
    assert result.found
    assert result.calls == 3
    assert result.removed == ((0, 1), (1, 2))


def test_a_known_answer_is_heeded_but_not_counted():
    def method(problem):
        yield Step("replace", "graph", ((0, 1),), Ask.KNOWN)

    result = explain(path(4), lambda a: int(a[0, 1]), method, budget=1)
    assert result.found
    assert result.calls == 1


def test_a_pair_toggled_twice_before_a_question_is_untouched():
    def method(problem):
        yield Step("densify", "edge", ((0, 2),), Ask.NO)
        yield Step("sparsify", "edge", ((0, 2), (0, 1)), Ask.YES)

    result = explain(path(4), lambda a: int(a[0, 1]), method)
    assert result.removed == ((0, 1),)
    assert result.added == ()
    assert result.replay() == result.counterfactual


def test_repeated_graphs_count_as_calls_but_not_as_distinct():
    def method(problem):
        for _ in range(3):
            yield Step("densify", "edge", ((0, 2),))
            yield Step("sparsify", "edge", ((0, 2),))

    oracle = Counting((0, 1))
    result = explain(path(4), oracle, method)
    assert result.calls == 7
    assert result.distinct_calls == 2
    assert sum(oracle.batches) == 2


def test_time_runs_out_between_questions():
    def slow(a):
        time.sleep(0.02)
        return 0

    result = explain(path(40), slow, "edg", time_limit=0.1, batch=1)
    assert result.status is Status.BUDGET
    assert 1 <= result.calls < 10


def test_time_runs_out_also_while_steps_are_being_made():
    made = []

    def slow(problem):
        for pair in problem.graph.edges():
            time.sleep(0.02)
            made.append(pair)
            yield Step("sparsify", "edge", (pair,), Ask.NO)

    result = explain(complete(20), lambda a: 0, slow, time_limit=0.1)
    assert result.status is Status.BUDGET
    assert len(made) < 20  # of 190


@pytest.mark.parametrize("batch", [1, 2, 7, 64])
def test_remarks_and_errors_beyond_the_flip_do_not_matter(batch):
    def method(problem):
        for i, pair in enumerate(problem.graph.edges()):
            problem.note(f"remark {i}")
            yield Step("sparsify", "edge", (pair,))
            if i == 8:
                msg = "a block that breaks down"
                raise RuntimeError(msg)

    g = path(15)
    early = explain(g, Counting((3, 4)), method, batch=batch)
    assert early.found
    assert early.notes == tuple(f"remark {i}" for i in range(4))
    with pytest.raises(RuntimeError, match="breaks down"):
        explain(g, Counting((13, 14)), method, batch=batch)


@pytest.mark.parametrize("batch", [1, 2, 7, 64])
def test_an_oracle_that_fails_beyond_the_flip_does_not_matter(batch):
    def fragile(a):
        if a.sum() < 10:
            msg = "too few edges"
            raise ValueError(msg)
        return float("nan") if a.sum() < 14 else int(a[1, 2])

    g = path(12)  # 11 edges, sum 22; flips at 18
    result = explain(g, fragile, remove_one_by_one, batch=batch)
    assert result.found
    assert result.calls == 3
    with pytest.raises(OracleError, match="nan"):
        explain(g, fragile, remove_one_by_one, target=7, batch=batch)


def test_the_iteration_limit_is_not_said_of_a_search_that_flipped_before():
    g = path(6)
    for batch in (1, 64):
        flips = explain(g, lambda a: int(a.sum() == 10 and a[4, 5]), "edg", batch=batch)
        assert flips.notes == ()
    limited = make_method("edg", max_iterations=2)
    assert explain(g, lambda a: 0, limited).notes == ("The iteration limit of 2 was reached.",)


@pytest.mark.parametrize("batch", [1, 2, 7, 64])
def test_refinement_does_not_depend_on_how_much_randomness_the_search_drew(batch):
    def draws(problem):
        for pair in problem.rng.permutation(problem.graph.edges()).tolist():
            problem.rng.random(3)
            yield Step("sparsify", "edge", (tuple(pair),))

    from denseflip.search.core.method import Method
    from denseflip.search.core.refinement import BackwardRefine

    recipe = Method("draws", draws, (BackwardRefine(),))
    g = complete(9)
    expected = explain(g, lambda a: int(a[2, 3]), recipe, batch=1)
    got = explain(g, lambda a: int(a[2, 3]), recipe, batch=batch)
    assert expected.refine_calls > 1
    assert got.edits == expected.edits
    assert got.trace == expected.trace


def test_a_large_graph_is_walked_like_a_small_one():
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(400, 1)
    keep = rng.random(len(u)) < 0.1  # 8,000 edges: toggles are spliced in
    g = graph(400, zip(u[keep].tolist(), v[keep].tolist(), strict=True))
    result = explain(g, lambda a: int(a.sum() < 2 * g.n_edges - 20), remove_one_by_one)
    assert result.found
    assert result.distance == 11
    assert result.replay() == result.counterfactual


def test_an_empty_stream_is_a_result():
    result = explain(empty(3), lambda a: 0, lambda problem: ())
    assert (result.status, result.calls, result.distance) == (Status.EXHAUSTED, 1, 0)


@pytest.mark.parametrize("batch", [1, 64])
def test_a_pair_twice_in_one_step_is_refused_whether_a_question_follows_or_not(batch):
    def twice(problem):
        yield Step("swap", "edge", ((0, 1),))
        yield Step("swap", "edge", ((0, 2), (0, 2)), ask="no")

    with pytest.raises(InvalidParameterError, match="may toggle each pair"):
        explain(path(4), lambda a: 1, twice, batch=batch)


def test_nodes_may_be_whole_numbers_of_numpy():
    def stream(problem):
        for u, v in problem.graph.pairs:
            yield Step("sparsify", "edge", ((u, v),))

    result = explain(path(400), lambda a: int(a[397, 398]), stream)
    assert result.removed[-1] == (397, 398)


def test_iterations_are_the_searchs_whatever_it_calls_its_steps():
    def stream(problem):
        yield Step("refine", "edge", ((0, 1),), iteration=3)

    assert explain(path(4), lambda a: int(a[0, 1]), stream).iterations == 3


def test_a_time_limit_that_is_over_at_once_is_a_status():
    result = explain(path(5), lambda a: 0, "tri", time_limit=1e-9)
    assert (result.status, result.calls, result.distance) == (Status.BUDGET, 1, 0)
