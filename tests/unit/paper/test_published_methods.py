"""The published readings on graphs small enough to follow by hand."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.counterfactual import Ask
from denseflip.errors import UnknownNameError
from denseflip.graph import Graph, Nodes, Taxonomy
from denseflip.oracles.background import Background
from denseflip.paper.published_methods import (
    LOBES,
    PUBLISHED,
    PublishedDensify,
    PublishedRegionDensify,
    PublishedRegionRank,
    PublishedSparsify,
    PublishedSwaps,
    looped_densities,
    published_distance,
    published_measures,
    published_method,
)
from denseflip.paper.published_orders import HashTable, looped_edges, looped_swaps
from denseflip.search.core.problem import Problem
from denseflip.search.explain import explain
from denseflip.search.methods.blocks import State

PAIRS = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=120)
TRIANGLE = Graph.from_edges(6, [(0, 1), (0, 2), (1, 2)])


def state_of(graph: Graph) -> State:
    return State(Problem(graph, 0), np.arange(graph.n_nodes))


@given(PAIRS, PAIRS)
def test_a_table_holds_what_a_set_holds(a, b):
    first, second = HashTable(a), HashTable(b)
    assert list(first) == list(set(a))  # nothing was removed: every CPython agrees
    difference = first.symmetric_difference(second)
    assert len(difference) == len(set(a) ^ set(b))
    assert set(difference) == set(a) ^ set(b)
    assert set(second) == set(b)


def test_a_removed_pair_leaves_a_gap_that_is_not_filled():
    table = HashTable([(0, 1)])
    assert table.discard((0, 1))
    assert not table.discard((0, 1))
    table.add((0, 1))
    assert list(table) == [(0, 1)]


def test_swaps_hold_the_loops_and_start_anew_for_every_graph():
    removals, additions = looped_swaps(Problem(TRIANGLE, 0))
    assert sorted(removals) == sorted(looped_edges(TRIANGLE))
    assert len(removals) == 3 + 6
    assert len(additions) == 15 - 3
    random.seed(1)  # nobody's generator but its own
    assert looped_swaps(Problem(TRIANGLE, 0)) == (removals, additions)


def test_a_loop_taken_away_leaves_only_the_addition():
    removals, additions = looped_swaps(Problem(TRIANGLE, 0))
    steps = list(PublishedSwaps()(Problem(TRIANGLE, 0)))
    assert len(steps) == len(removals)  # nine removals for twelve additions
    assert sum(len(step.toggled) == 1 for step in steps) == TRIANGLE.n_nodes
    assert [step.toggled[-1] for step in steps] == additions[:9]
    assert [step.iteration for step in steps] == list(range(1, 10))


def test_swaps_say_when_their_limit_bites():
    problem = Problem(TRIANGLE, 0)
    assert len(list(PublishedSwaps(2)(problem))) == 2
    assert problem.notes == ["The iteration limit of 2 was reached."]


def test_densities_with_a_loop_at_every_node():
    regions = Taxonomy("t", ("A", "B", "no node"), (0, 0, 0, 1, 1, 1))
    # Three edges and three loops of six; three loops of six; nothing of nothing.
    assert looped_densities(TRIANGLE, regions).tolist() == [1, 1 / 2, 0]


def test_a_lobe_counts_a_loop_per_node():
    # Plainly the pair is densest (1 of 1), with loops the triangle is as dense: 6 of 6, 3 of 3.
    graph = Graph.from_edges(6, [(0, 1), (2, 3), (2, 4), (3, 4)])
    frontal, fossa = LOBES[0], LOBES[-1]
    table = (fossa, fossa, frontal, frontal, frontal, "Elsewhere")
    order = PublishedRegionRank()(Problem(graph, 0, nodes=Nodes(tuple("abcdef"), {"lobe": table})))
    # Equally dense (a lone node is all loop): the legend's order, then the node table's.
    assert order.tolist() == [2, 3, 4, 0, 1, 5]
    sparse = graph.toggle([(2, 3)])
    order = PublishedRegionRank()(Problem(sparse, 0, nodes=Nodes(tuple("abcdef"), {"lobe": table})))
    assert order.tolist() == [0, 1, 5, 2, 3, 4]


def test_distance_counts_a_loop_at_every_node():
    other = TRIANGLE.toggle([(0, 1), (3, 4)])
    assert published_distance(TRIANGLE, other) == round(2 / (4 + 6), 3)
    assert published_distance(TRIANGLE, TRIANGLE) == 0


def test_a_lone_node_is_a_clique_of_one():
    state = state_of(TRIANGLE)
    (step,) = PublishedSparsify(Ask.NO)(state, 5)
    assert (step.toggled, step.nodes, step.ask) == ((), (5,), Ask.NO)
    assert state.counts.tolist() == [0, 0, 0, 0, 0, 1]
    (step,) = PublishedSparsify(Ask.YES)(state, 0)
    assert step.toggled == ((0, 1), (0, 2), (1, 2))


def test_one_clique_is_added_with_an_edge_for_every_loop():
    state = state_of(TRIANGLE)
    state.start_iteration()
    (gone,) = PublishedSparsify(Ask.NO)(state, 0)
    state.apply(gone)
    (new,) = PublishedDensify()(state, 5)
    # Three edges and three loops: a clique of four, the near node first, used nodes last.
    assert new.nodes == (0, 3, 4, 5)
    assert len(new.toggled) == 6


def test_region_densify_grows_until_a_size_pays_back():
    state = state_of(TRIANGLE)
    state.start_iteration()
    (gone,) = PublishedSparsify(Ask.YES)(state, 0)
    state.apply(gone)
    sizes = []
    for step in PublishedRegionDensify()(state, 5):
        state.apply(step)
        sizes.append(len(step.nodes))
    assert sizes == [3]  # three new edges for three removed
    state.start_iteration()
    assert list(PublishedRegionDensify()(state, 5)) == []  # nothing was removed


def test_every_published_method_finds_its_way_and_says_what_was_drawn():
    square = Graph.from_edges(6, [(2, 3), (3, 4), (4, 5), (2, 5)])
    background = Background.of([TRIANGLE, square])
    for name in ("tri", "edg", "dat", "dat+bw", "cli"):
        result = explain(
            TRIANGLE, lambda a: int(a[0, 1]), published_method(name), background=background
        )
        drawn = published_measures(result)
        assert drawn["flipped"] == result.found
        assert drawn["d"] == published_distance(TRIANGLE, result.counterfactual)
        expected = {"tri": max(1, result.iterations - 1), "edg": result.iterations}
        expected["dat+bw"] = result.calls - 3
        assert drawn["calls"] == expected.get(name, result.calls)


def test_an_unknown_method_is_said_to_be_unknown():
    with pytest.raises(UnknownNameError, match="published method"):
        published_method("blocks")
    assert set(PUBLISHED) == {"edg", "tri", "cli", "rcli", "rcli+bw", "dat", "dat+bw"}
