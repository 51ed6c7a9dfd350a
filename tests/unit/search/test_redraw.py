"""Claims are redrawn where and as they say, and tested in stages."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip.graph import Edits, Graph, Taxonomy
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.background import Frequencies
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import Amount
from denseflip.search.claims.elsewhere import Elsewhere, TooFewError
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import STAGES, Redraw
from denseflip.search.claims.repeats import Repeats
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import Problem
from strategies import graphs

TWO = Taxonomy.from_labels("half", ["A"] * 4 + ["B"] * 4)
CELL = (0, 1)


def places_of(graph, taxonomy=TWO):
    return Places(graph, taxonomy)


def probe_of(graph, function):
    session = Session(as_oracle(function))
    return Probe(Problem(graph, session.peek(graph).label), session)


@given(graphs(min_nodes=8, max_nodes=8), st.data())
@settings(max_examples=60)
def test_a_redraw_says_what_its_claim_says(graph, data):
    taxonomy = data.draw(st.sampled_from([TWO, None]))
    places = places_of(graph, taxonomy)
    some = data.draw(st.lists(st.sampled_from(places.every), unique=True, min_size=1, max_size=3))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    claim = tuple(
        Amount(
            unit,
            data.draw(st.integers(0, len(places.absent(unit)) // 3)),
            data.draw(st.integers(0, len(places.present(unit)) // 3)),
        )
        for unit in some
    )
    codes = Redraw(places).draw(claim, rng)
    assert len(set(codes.tolist())) == len(codes) == sum(a.total for a in claim)
    changed = graph.toggle_codes(codes)
    assert changed.n_edges - graph.n_edges == sum(a.added - a.removed for a in claim)
    if taxonomy is not None:
        assert sorted(places.amounts(codes)) == sorted(a for a in claim if a.total)
    else:
        assert sum(a.total for a in places.amounts(codes)) == len(codes)


def test_the_claim_of_edits_by_region_and_by_node():
    graph = Graph.from_edges(8, [(0, 1), (0, 4)])
    edits = Edits(added=((0, 5), (0, 6), (2, 7)), removed=((0, 1), (0, 4)))
    assert places_of(graph).amounts(edits) == (Amount((0, 1), 3, 1), Amount((0, 0), 0, 1))
    nodes = places_of(graph, None)
    assert nodes.language == "nodes"
    assert nodes.amounts(edits) == (Amount((0, None), 2, 2), Amount((2, None), 1, 0))


def test_readings_draw_what_they_mean():
    graph = Graph.from_edges(8, [(0, 4), (1, 5)])
    target = Frequencies.of([Graph.from_edges(8, [(0, 5), (0, 4)])] * 3 + [Graph(8, np.array([6]))])
    current = Frequencies.of([Graph.from_edges(8, [(0, 5)])])
    rng = np.random.default_rng(0)

    def drawn(reading, amount):
        redraw = Redraw(places_of(graph), reading, current, target)
        return Counter(tuple(redraw.draw((amount,), rng).tolist()) for _ in range(400))

    assert len(drawn("any", Amount(CELL, 1, 0))) == 14
    typical = drawn("typical", Amount(CELL, 1, 0))
    assert set(typical) == {(5,), (6,)}
    assert 250 < typical[5,] < 350  # three times in four
    assert set(drawn("typical", Amount(CELL, 0, 1))) == {(4,), (13,)}
    # What both classes have sets nothing apart; what only the target lacks may go.
    assert set(drawn("distinctive", Amount(CELL, 1, 0))) == {(6,)}
    redraw = Redraw(places_of(graph), "distinctive", current, target)
    assert redraw.room(CELL, adding=True) == 1
    with pytest.raises(TooFewError) as caught:
        redraw.draw((Amount(CELL, 2, 0),), rng)
    assert (caught.value.place, caught.value.wanted, caught.value.there) == (CELL, 2, 1)


def test_a_full_place_is_said_to_be_full():
    graph = Graph.from_edges(8, [(u, v) for u in range(4) for v in range(4, 8)])
    with pytest.raises(TooFewError) as caught:
        Redraw(places_of(graph)).draw((Amount(CELL, 1, 0),), np.random.default_rng(0))
    assert caught.value.there == 0
    assert caught.value.adding


def test_the_test_in_stages_ends_at_a_clear_no():
    graph = Graph.from_edges(8, [])
    rng = np.random.default_rng(0)
    redraw = Redraw(places_of(graph))
    never = probe_of(graph, lambda a: 0)
    outcome = redraw.holds((Amount(CELL, 4, 0),), never, rng)
    assert (outcome.draws, outcome.flips, outcome.true) == (1, 0, False)
    always = probe_of(graph, lambda a: int(a.sum() >= 8))
    outcome = redraw.holds((Amount(CELL, 4, 0),), always, rng)
    assert (outcome.draws, outcome.flips, outcome.true) == (STAGES[-1][0], 20, True)
    assert outcome.language == "regions"
    assert outcome.regions == "half"
    assert outcome.interval[0] > 0.8


def test_a_claim_that_fills_its_place_is_asked_about_once():
    graph = Graph.from_edges(8, [])
    probe = probe_of(graph, lambda a: int(a[0, 4] and a[1, 5]))
    redraw = Redraw(places_of(graph))
    whole = (Amount(CELL, 16, 0),)
    assert redraw.fixed(whole)
    assert redraw.test(whole, probe, np.random.default_rng(0)).true
    assert probe.session.calls == 1
    assert not redraw.fixed((Amount(CELL, 15, 0),))
    share = redraw.test((Amount(CELL, 8, 0),), probe, np.random.default_rng(0), draws=200).share
    assert 0.12 < share < 0.32  # both pairs among 8 of 16: 7 in 30


@given(graphs(min_nodes=8, max_nodes=8), st.data())
@settings(max_examples=40)
def test_repeats_are_redraws_and_hold_those_of_smaller_claims(graph, data):
    places = places_of(graph, data.draw(st.sampled_from([TWO, None])))
    unit = data.draw(st.sampled_from(places.every))
    more = Amount(unit, len(places.absent(unit)), len(places.present(unit)))
    less = Amount(unit, data.draw(st.integers(0, more.added)), data.draw(st.integers(0, 1)))
    less = less._replace(removed=min(less.removed, more.removed))
    repeats = Repeats(Redraw(places), np.random.default_rng(0), draws=3)
    for i in range(3):
        small, large = repeats.codes((less,), i), repeats.codes((more,), i)
        assert places.count({unit: small}) == (less,)
        assert set(small.tolist()) <= set(large.tolist())
        assert small.tolist() == repeats.codes((less,), i).tolist()  # the same when asked again


def test_two_nodes_share_the_pair_between_them_once():
    places = places_of(Graph.from_edges(8, []), None)
    first, second = places.every[:2]
    repeats = Repeats(Redraw(places, apart=False), np.random.default_rng(0), draws=2)
    for i in range(2):
        codes = repeats.codes((Amount(first, 7, 0), Amount(second, 6, 0)), i).tolist()
        assert len(set(codes)) == len(codes) == 13
    with pytest.raises(TooFewError):
        repeats.codes((Amount(first, 7, 0), Amount(second, 7, 0)))


def test_a_search_leaves_the_pair_of_two_named_nodes_as_it_is():
    """So each node changes by its own amount, and what is counted there is what is said."""
    places = places_of(Graph.from_edges(8, [(0, 2)]), None)
    amounts = (Amount(places.every[0], 5, 1), Amount(places.every[1], 6, 0))
    redraw = Redraw(places)
    repeats = Repeats(redraw, np.random.default_rng(0), draws=3)
    rng = np.random.default_rng(1)
    for codes in [*(repeats.codes(amounts, i) for i in range(3)), redraw.draw(amounts, rng)]:
        ends = np.concatenate(np.divmod(codes, 8)).tolist()
        assert (ends.count(0), ends.count(1)) == (6, 6)
    with pytest.raises(TooFewError):
        redraw.draw((Amount(places.every[0], 6, 0), amounts[1]), rng)


def test_a_claim_too_large_for_the_pairs_elsewhere_does_not_flip():
    """Screening used to raise."""
    graph = Graph.from_edges(8, [(0, 1), (0, 2)])
    places = places_of(graph)
    often = Frequencies.of([graph])
    redraw = Redraw(places, "any", often, often, Elsewhere(places, often, often))
    problem = Problem(graph, 0, 1)
    probe = Probe(problem, Session(as_oracle(lambda a: 1)), keep=False)
    repeats = Repeats(redraw, np.random.default_rng(0))
    assert repeats.screened([(Amount(CELL, 9, 0),), (Amount(CELL, 1, 0),)], probe) == [False, True]


def test_repeats_are_drawn_by_the_weights_of_their_reading():
    graph = Graph.from_edges(8, [])
    target = Frequencies.of([Graph.from_edges(8, [(0, 5)])] * 3 + [Graph(8, np.array([6]))])
    redraw = Redraw(places_of(graph), "typical", Frequencies.of([graph]), target)
    repeats = Repeats(redraw, np.random.default_rng(0), draws=400)
    first = Counter(int(repeats.codes((Amount(CELL, 1, 0),), i)[0]) for i in range(400))
    assert set(first) == {5, 6}
    assert 250 < first[5] < 350  # three times in four
    assert redraw.fixed((Amount(CELL, 2, 0),))
    with pytest.raises(TooFewError):
        repeats.codes((Amount(CELL, 3, 0),))


def test_repeats_end_a_clear_no_early_and_remember():
    graph = Graph.from_edges(8, [])
    probe = probe_of(graph, lambda a: int(a.sum() >= 8))
    repeats = Repeats(Redraw(places_of(graph)), np.random.default_rng(0))
    before = probe.session.calls
    assert not repeats.holds((Amount(CELL, 3, 0),), probe)
    assert probe.session.calls - before == 2  # one may fail, two may not
    assert repeats.holds((Amount(CELL, 4, 0),), probe)
    after = probe.session.calls
    assert repeats.holds((Amount(CELL, 4, 0),), probe)
    assert not repeats.holds((Amount(CELL, 3, 0),), probe)
    assert probe.session.calls == after


def test_a_claim_with_too_few_pairs_elsewhere_does_not_flip_and_is_not_queried():
    graph = Graph.from_edges(8, [(0, 4), (1, 5), (0, 1)])
    seen = Frequencies.of([graph])
    elsewhere = Elsewhere(places_of(graph), seen, seen)
    probe = probe_of(graph, lambda a: int(a[:4, 4:].sum() > 2))
    repeats = Repeats(Redraw(places_of(graph), elsewhere=elsewhere), np.random.default_rng(0))
    claims = [(Amount(CELL, n, 0),) for n in (1, 2, 9)]  # one connection could be removed
    before = probe.session.calls
    assert repeats.screened(claims, probe) == [True, False, False]
    assert probe.session.calls == before + 1
    with pytest.raises(TooFewError):
        repeats.codes(claims[1])


def test_parts_say_which_node_was_meant():
    graph = Graph.from_edges(6, [])
    redraw = Redraw(Places(graph))
    claim = (Amount((0, None), 3, 0), Amount((1, None), 4, 0))
    for seed in range(20):
        parts = redraw.parts(claim, np.random.default_rng(seed))
        assert [len(part) for part in parts] == [3, 4]
        assert len(np.unique(np.concatenate(parts))) == 7
        assert all(0 in divmod(code, 6) for code in parts[0].tolist())
        assert all(1 in divmod(code, 6) for code in parts[1].tolist())


def test_places_without_regions_are_the_nodes_of_a_pair_or_more():
    assert Places(Graph.from_edges(1, [])).every == ()
    assert Places(Graph.from_edges(2, [])).every == ((0, None), (1, None))
    assert len(Places(Graph.from_edges(3, [(0, 1)])).every) == 3
