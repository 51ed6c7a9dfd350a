"""How far to look ahead: what the clock and the answers make of it."""

from __future__ import annotations

import pytest

from denseflip.oracles.pace import Odds, Pace


def timed(call, graph, sizes=(1, 2, 1, 3, 4, 2, 8, 6)):
    pace = Pace()
    for size in sizes:
        pace.record(size, call + graph * size)
    return pace


@pytest.mark.parametrize("ratio", [0.0, 0.15, 1.0, 20.0, 300.0])
def test_the_ratio_of_call_to_graph_is_found(ratio):
    assert timed(ratio, 1.0).ratio == pytest.approx(ratio, abs=1e-6)


def test_the_making_of_graphs_counts_as_cost_of_a_graph():
    pace = timed(10.0, 1.0)
    for _ in range(100):
        pace.record_making(4, 4 * 1.0)  # a second each
    assert pace.ratio == pytest.approx(5.0, rel=1e-3)


def test_an_oracle_that_is_slower_in_batches_is_asked_one_by_one():
    pace = Pace()
    for size in (1, 2, 1, 3, 4, 2, 5):
        pace.record(size, size**1.5)
    odds = Odds()
    odds.count(10_000)
    assert pace.ratio == 0.0
    assert odds.best_batch(pace) == 1


def test_until_the_clock_has_seen_batches_a_call_is_taken_to_cost_a_graph():
    pace = Pace()
    for _ in range(50):
        pace.record(1, 3.0)
    assert pace.ratio == 1.0


def test_the_longer_no_yes_came_the_further_one_looks():
    pace, odds = timed(50.0, 1.0), Odds()
    sizes = []
    for _ in range(400):
        sizes.append(odds.best_batch(pace))
        odds.count(1)
    assert sizes[:4] == [1, 1, 1, 1]
    assert sizes == sorted(sizes)
    assert sizes[-1] == int(0.2 * 400)  # bounded by the waste, a tenth on average


@pytest.mark.parametrize("ratio", [0.1, 1.0, 50.0])
def test_a_blind_walk_wastes_no_more_than_a_tenth_on_average(ratio):
    """The walk ends anywhere with the same chance at each length's scale: 1/n to go on."""
    pace = timed(ratio, 1.0)
    evaluated = asked = 0
    for end in range(1, 1500):
        odds, at = Odds(), 0
        while at < end:
            n = odds.best_batch(pace)
            evaluated += n
            odds.count(min(n, end - at))
            at += n
        asked += end
    assert 1.0 <= evaluated / asked <= 1.10


def test_old_answers_are_forgotten_where_asked():
    odds = Odds(memory=16)
    for _ in range(50):
        odds.count(1, yes=True)
    assert odds.chance > 0.9
    odds.count(200)
    assert odds.chance < 0.1
