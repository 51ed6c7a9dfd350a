"""How far to look ahead: what the clock and the answers make of it."""

from __future__ import annotations

import pytest

from denseflip.oracles.lookahead import FlipOdds, QueryTiming, pace_of


def timed(call, graph, sizes=(1, 2, 1, 3, 4, 2, 8, 6)):
    pace = QueryTiming()
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
    pace = QueryTiming()
    for size in (1, 2, 1, 3, 4, 2, 5):
        pace.record(size, size**1.5)
    odds = FlipOdds()
    odds.count(10_000)
    assert pace.ratio == 0.0
    assert odds.best_batch(pace) == 1


def test_until_the_clock_has_seen_batches_a_call_is_taken_to_cost_a_graph():
    pace = QueryTiming()
    for _ in range(50):
        pace.record(1, 3.0)
    assert pace.ratio == 1.0


def test_the_longer_no_yes_came_the_further_one_looks():
    pace, odds = timed(50.0, 1.0), FlipOdds()
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
        odds, at = FlipOdds(), 0
        while at < end:
            n = odds.best_batch(pace)
            evaluated += n
            odds.count(min(n, end - at))
            at += n
        asked += end
    assert 1.0 <= evaluated / asked <= 1.10


def test_old_answers_are_forgotten_where_asked():
    odds = FlipOdds(memory=16)
    for _ in range(50):
        odds.count(1, yes=True)
    assert odds.chance > 0.9
    odds.count(200)
    assert odds.chance < 0.1


@pytest.mark.parametrize(("call", "graph"), [(0.0, 2.0), (10.0, 1.0), (3.0, 0.5)])
def test_a_graph_more_costs_what_the_line_says(call, graph):
    pace = timed(call, graph)
    assert pace.graph == pytest.approx(graph)
    pace.record_making(2, 4.0)
    assert pace.making == pytest.approx(0.2)  # a tenth of what was measured, the rest to come
    assert pace.graph == pytest.approx(graph + 0.2)


def test_where_all_sizes_are_alike_a_graph_costs_its_share():
    assert QueryTiming().graph == float("inf")
    assert timed(6.0, 1.0, sizes=(4,) * 6).graph == pytest.approx(2.5)


def test_batches_and_calls_alone_are_counted():
    pace = timed(1.0, 1.0, sizes=(1, 1, 2, 1, 3, 1, 1, 1))
    assert (pace.batches, pace.alone) == (2, 3)
    pace.record(2, 1.0)
    assert (pace.batches, pace.alone) == (3, 0)


def test_a_hiccup_counts_for_no_more_than_twice_the_usual():
    calm, troubled = timed(0.0, 1.0), timed(0.0, 1.0)
    calm.record(4, 8.0)
    troubled.record(4, 8000.0)
    assert (troubled.graph, troubled.ratio) == (calm.graph, calm.ratio)
    early, late = QueryTiming(), QueryTiming()
    for pace in (early, late):
        pace.record(2, 2.0)
    early.record(2, 200.0)  # too early to know what is usual
    assert early.graph > 10 * late.graph


def test_after_many_calls_alone_two_are_tried_once_more():
    pace, odds = timed(0.0, 1.0, sizes=(2, 2, 2, 2, 2)), FlipOdds()
    odds.count(100)
    sizes = []
    for _ in range(240):
        sizes.append(odds.best_batch(pace))
        pace.record(sizes[-1], 1.0 * sizes[-1])
    assert sizes[0] > 2  # all sizes were alike so far: what a call costs is not known
    assert [i for i, size in enumerate(sizes) if size == 2] == [33, 98, 227]
    certain = FlipOdds()
    certain.count(10, yes=9)
    for _ in range(40):
        pace.record(1, 1.0)
    assert certain.best_batch(pace) == 1


def test_a_batch_that_nobody_notices_is_free():
    pace = timed(0.0, 1e-4)
    assert FlipOdds().best_batch(pace) == 1
    assert FlipOdds(freely=32).best_batch(pace) == 10
    assert FlipOdds(freely=5).best_batch(pace) == 5
    assert FlipOdds(freely=32).best_batch(timed(0.0, 1.0)) == 1


def test_a_batch_that_is_slower_than_graphs_alone_is_not_free():
    pace = QueryTiming()
    for size in (1, 2, 1, 3, 1, 2, 1, 4):
        pace.record(size, 1e-5 * size * (1.0 if size == 1 else 1.6))
    assert pace.slower
    assert pace.ratio == 0
    assert FlipOdds(freely=32).best_batch(pace) == 1
    assert not timed(0.0, 1e-5).slower  # the same either way
    assert not timed(1e-5, 1e-5).slower


def test_a_walk_begins_where_usual_walks_lead():
    pace = QueryTiming()
    assert pace.walk_odds().asked == 0
    for _ in range(200):
        pace.record_walk(80)
    assert pace.usual == pytest.approx(80)
    assert pace.walk_odds().asked == pytest.approx(20, abs=1)
    once = QueryTiming()
    once.record_walk(16)
    assert once.usual == 2.0


def test_what_is_known_of_an_oracle_is_kept_as_long_as_it_lives():
    def oracle(a):
        return 0

    pace = pace_of(oracle)
    assert pace_of(oracle) is pace
    assert pace_of(3) is not pace_of(3)


def test_larger_batches_that_take_no_longer_cost_nothing_but_the_making():
    pace = QueryTiming()
    for size in (1, 2, 4, 8):
        pace.record(size, 10.0 - size)
    assert pace.graph == pace.making == 0.0
