"""gallop, lexmin and certify against brute force; a probe that never asks twice."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.graph import Graph
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.session import BudgetSpentError, Session
from denseflip.search.core.probing import Probe, SharedSession, certify, gallop, joined, lexmin
from denseflip.search.core.problem import Problem

WEIGHTS = st.lists(st.integers(0, 9), min_size=1, max_size=7)


@given(st.integers(0, 60), st.integers(1, 70), st.integers(1, 8))
def test_gallop_finds_the_smallest_number_of_a_monotone_question(n, least, start):
    asked = []
    found = gallop(n, lambda k: asked.append(k) or k >= least, start=start)
    assert found == (least if least <= n else None)
    assert len(asked) <= 2 * max(1, n).bit_length() + 2
    assert all(1 <= k <= n for k in asked)


@given(st.lists(st.booleans(), min_size=1, max_size=40))
def test_gallop_stands_on_a_boundary_whatever_the_answers(enough):
    found = gallop(len(enough), lambda k: enough[k - 1])
    if found is None:
        assert not enough[-1]
    else:
        assert enough[found - 1]
        assert found == 1 or not enough[found - 2]


@given(WEIGHTS, st.data())
def test_lexmin_prefers_as_brute_force_does(weights, data):
    need = data.draw(st.integers(1, max(1, sum(weights))))
    if sum(weights) < need:
        return
    order = list(range(len(weights)))

    def enough(some):
        return sum(weights[i] for i in some) >= need

    kept = lexmin(order, enough)
    assert enough(kept)
    assert all(not enough([i for i in kept if i != out]) for out in kept)
    # Of all sets that are enough, the one whose last member comes first; then the last but one …
    sets = [s for k in range(1, len(order) + 1) for s in combinations(order, k) if enough(s)]
    minimal = [s for s in sets if all(not enough([i for i in s if i != out]) for out in s)]
    assert sorted(kept, reverse=True) == min(sorted(s, reverse=True) for s in minimal)


@given(WEIGHTS, st.data())
def test_certify_leaves_nothing_that_can_go(weights, data):
    need = data.draw(st.integers(1, max(1, sum(weights))))
    if sum(weights) < need:
        return
    kept = certify(range(len(weights)), lambda some: sum(weights[i] for i in some) >= need)
    assert sum(weights[i] for i in kept) >= need
    assert len(kept) == 1 or all(sum(weights[i] for i in kept if i != o) < need for o in kept)


def probe_of(function):
    graph = Graph.from_edges(5, [(0, 1), (1, 2)])
    session = Session(as_oracle(function))
    return Probe(Problem(graph, session.query(graph).label), session)


def test_a_probe_asks_each_question_once_and_keeps_the_shortest_flip():
    probe = probe_of(lambda a: int(a.sum() / 2 >= 4))
    three, two = np.array([2, 3, 4]), np.array([2, 3])
    assert probe.flips(three)
    assert probe.flips(three)
    assert probe.session.calls == 2
    assert probe.flips(two)
    assert not probe.flips(np.array([2]))
    assert probe.best is not None
    assert probe.best[0].tolist() == [2, 3]
    assert probe.problem.best.graph == probe.graph(two)
    assert [a.label for a in probe.answers([three, two, joined([]), two])] == [1, 1, 0, 1]
    assert probe.session.calls == 4  # the original, and three questions
    assert probe.first([np.array([2]), np.array([3]), two, three]) == 2
    assert probe.session.calls == 5


@pytest.mark.parametrize("batch", [1, 64])
def test_the_first_that_flips_is_found_whatever_the_batches(batch):
    probe = probe_of(lambda a: int(a[0, 3]))
    probe.session._max_batch = batch
    assert probe.first([np.array([2]), np.array([4]), np.array([3]), np.array([3, 4])]) == 2
    assert probe.session.calls == 4
    assert probe.first([np.array([2])]) is None


def test_a_part_of_a_part_has_no_more_than_is_left():
    graph = Graph.from_edges(4, [])
    session = Session(as_oracle(lambda a: 0), budget=100)
    part = SharedSession(session, 3)
    inner = SharedSession(part)
    assert inner.remaining == 3
    assert SharedSession(part, 2).remaining == 2
    for pair in ((0, 1), (0, 2), (0, 3)):
        inner.query(graph.toggle([pair]))
    with pytest.raises(BudgetSpentError):
        inner.query(graph.toggle([(1, 2)]))
    assert part.remaining == 0
    assert session.remaining == 97


@given(WEIGHTS, st.integers(1, 20), st.integers(0, 7))
def test_lexmin_gives_up_where_more_things_are_needed_than_may_be(weights, level, most):
    order = list(range(len(weights)))

    def enough(some):
        return sum(weights[i] for i in some) >= level

    if not enough(order):
        return
    free = lexmin(order, enough)
    limited = lexmin(order, enough, most=most)
    assert limited == (free if len(free) <= most else None)
