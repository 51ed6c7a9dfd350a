"""Which parts of a counterfactual are enough, against brute force."""

from __future__ import annotations

from itertools import combinations
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip import Counterfactual, Edits, Graph
from denseflip.counterfactual import Status
from denseflip.oracles.session import Session
from denseflip.search.core.probing import fewest_parts

N = 9  # nodes 0-1, 0-2, …: part i is the pair (0, i + 1)
PARTS = [np.array([i]) for i in range(1, N)]


class Rule:
    """Labels a graph by the set of parts that are in it."""

    def __init__(self, flips) -> None:
        self.flips = flips

    def predict(self, graphs):
        return [int(self.flips(frozenset(v - 1 for _, v in g.edges()))) for g in graphs]


def result(n: int) -> Counterfactual:
    edits = Edits(tuple((0, i) for i in range(1, n + 1)))
    return Counterfactual(Status.FOUND, Graph.from_edges(N, []), edits, 0, 1)


def look(rule, n: int, **options):
    session = Session(Rule(rule))
    return fewest_parts(result(n), PARTS[:n], session, **options), session


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 8), st.lists(st.frozensets(st.integers(0, 7), min_size=1), min_size=1))
def test_of_a_monotone_rule_nothing_can_be_left_out(n, causes) -> None:
    causes = [c for c in causes if max(c) < n] or [frozenset(range(n))]

    def flips(some) -> bool:
        return any(c <= some for c in causes)

    found, session = look(flips, n)
    assert flips(frozenset(found.chosen))
    assert found.minimal
    assert found.tried == session.calls
    for left in combinations(found.chosen, len(found.chosen) - 1):
        assert not flips(frozenset(left))
    # Lexmin: what is wanted least of what is chosen comes as early as it can.
    assert max(found.chosen) == min(max(c) for c in causes)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 8), st.integers(0, 99), st.integers(1, 9), st.integers(1, 12))
def test_whatever_the_rule_and_the_budget_the_flip_is_never_lost(n, seed, rarity, budget) -> None:
    everything = frozenset(range(n))

    def flips(some) -> bool:
        if not some or some == everything:
            return bool(some)
        return crc32(bytes(sorted(some)), seed) % rarity == 0

    found, session = look(flips, n, budget=budget)
    assert flips(frozenset(found.chosen))
    assert session.calls <= budget
    if found.minimal and len(found.chosen) > 1:
        assert not any(flips(frozenset(found.chosen) - {i}) for i in found.chosen)


def test_what_is_kept_is_chosen_in_any_case() -> None:
    found, _ = look(lambda some: 4 in some, 6, kept=2)
    assert found.chosen == (0, 1, 4)
    found, session = look(lambda some: 1 in some, 6, kept=2)
    assert found.chosen == (0, 1)
    assert session.calls == 1


def test_all_are_asked_about_only_if_that_is_wanted() -> None:
    found, session = look(lambda some: 1 in some, 6, shorten=False)
    assert (found.chosen, found.minimal, session.calls) == (tuple(range(6)), False, 1)


@pytest.mark.parametrize("options", [{}, {"shorten": False}, {"budget": 1}, {"budget": 3}])
def test_nothing_is_enough(options) -> None:
    found, _ = look(lambda some: False, 6, **options)
    assert found is None


def test_few_questions_for_few_of_many() -> None:
    found, session = look(lambda some: {2, 6} <= some, 8)
    assert found.chosen == (2, 6)
    assert session.calls <= 15
