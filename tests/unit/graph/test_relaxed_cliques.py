from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.graph.density import NeighbourSets, two_hop
from denseflip.graph.relaxed_cliques import (
    count_joined,
    first_to_join,
    join_at_least,
    lack_no_more,
    largest_lacking,
    plex_need,
    quasi_need,
)
from graphs import clique, complete, empty, graph, path, subsets_with
from strategies import graphs


def is_plex(members, near, k):
    """Seidman & Foster's definition, word by word."""
    return all(len(near[v] & set(members)) >= len(members) - k for v in members)


def is_quasi(members, near, tenths):
    """At least so many tenths of the others, in whole numbers."""
    return all(10 * len(near[v] & set(members)) >= tenths * (len(members) - 1) for v in members)


@given(graphs(min_nodes=1), st.integers(1, 4))
def test_no_plex_through_a_node_and_near_it_is_larger(g, k):
    near = NeighbourSets(g)
    for node in range(min(g.n_nodes, 3)):
        found = largest_lacking(node, near, plex_need(k))
        assert found.exact
        assert node in found.nodes
        assert list(found.nodes) == sorted(set(found.nodes))
        assert is_plex(found.nodes, near, k)
        largest = next(s for s in subsets_with(node, two_hop(node, near)) if is_plex(s, near, k))
        assert len(found.nodes) == len(largest)


@given(graphs(min_nodes=1), st.sampled_from([5, 6, 7, 8, 9, 10]))
def test_no_quasi_clique_through_a_node_is_larger_wherever_it_lies(g, tenths):
    near = NeighbourSets(g)
    for node in range(min(g.n_nodes, 3)):
        found = largest_lacking(node, near, quasi_need(tenths / 10))
        assert found.exact
        assert node in found.nodes
        assert is_quasi(found.nodes, near, tenths)
        everywhere = subsets_with(node, range(g.n_nodes))
        largest = next(s for s in everywhere if is_quasi(s, near, tenths))
        assert len(found.nodes) == len(largest)


@given(graphs(min_nodes=1), st.integers(1, 3))
def test_a_search_that_is_cut_short_gives_a_set_that_nothing_can_be_added_to(g, k):
    near = NeighbourSets(g)
    found = largest_lacking(0, near, plex_need(k), max_branches=1)
    assert is_plex(found.nodes, near, k)
    for v in two_hop(0, near) - set(found.nodes):
        assert not is_plex([*found.nodes, v], near, k)


def test_a_large_plex_is_found_and_a_cut_is_owned_up_to():
    # Twelve nodes in a ring of missing pairs: a 3-plex, and no clique of more than six.
    ring = {(i, (i + 1) % 12) for i in range(12)}
    missing = {tuple(sorted(pair)) for pair in ring}
    core = [p for p in clique(*range(12)) if p not in missing]
    g = graph(20, core, [(0, v) for v in range(12, 20)])
    near = NeighbourSets(g)
    assert largest_lacking(0, near, plex_need(3)).nodes == tuple(range(12))
    assert len(largest_lacking(0, near, plex_need(1)).nodes) == 6
    cut = largest_lacking(0, near, plex_need(2), max_branches=2)
    assert not cut.exact
    assert is_plex(cut.nodes, near, 2)


def test_the_clock_is_looked_at():
    class TimeIsUp(Exception):
        pass

    def check():
        raise TimeIsUp

    missing = {(i, i + 1) for i in range(0, 24, 2)} | {(i, i + 1) for i in range(1, 24, 3)}
    g = graph(25, [p for p in clique(*range(25)) if p not in missing])
    with pytest.raises(TimeIsUp):
        largest_lacking(0, NeighbourSets(g), plex_need(1), max_branches=10**6, check=check)


@given(graphs(min_nodes=1), st.integers(0, 5), st.randoms())
def test_what_is_filled_lacks_no_more_and_no_new_pair_could_stay_away(g, may_lack, chance):
    near = NeighbourSets(g)
    nodes = list(range(g.n_nodes))
    chance.shuffle(nodes)
    new = lack_no_more(nodes, near, may_lack)
    assert new == sorted(set(new))
    assert all(u < v and not g.has_edge(u, v) for u, v in new)

    def lacks(graph_now):
        return g.n_nodes - 1 - graph_now.degrees()

    after = g.toggle(new)
    assert (lacks(after) <= may_lack).all()
    for pair in new:
        assert (lacks(after.toggle([pair])) > may_lack).any()


@given(graphs(min_nodes=1), st.integers(0, 9), st.randoms())
def test_each_is_joined_with_at_least_so_many(g, least, chance):
    nodes = list(range(g.n_nodes))
    chance.shuffle(nodes)
    new = join_at_least(nodes, NeighbourSets(g), least)
    assert new == sorted(set(new))
    assert all(u < v and not g.has_edge(u, v) for u, v in new)
    degrees = g.toggle(new).degrees()
    assert (degrees >= min(least, g.n_nodes - 1)).all()
    # Nothing is joined for nothing: one end at least was in need.
    before = g.degrees()
    assert all(min(before[u], before[v]) < least for u, v in new)


@pytest.mark.parametrize("n", range(2, 14))
def test_nodes_without_edges_become_one_piece_with_as_few_edges_as_can_be(n):
    for least in range(1, n):
        new = join_at_least(range(n), NeighbourSets(empty(n)), least)
        assert len(new) <= -(-n * least // 2) + 1  # an odd one out may take one more
        if least > 1:
            assert nx.is_connected(nx.Graph(new))


def test_pairs_are_counted_without_making_them():
    for size in range(48):
        for least in range(50):
            made = join_at_least(range(size), [frozenset()] * size, least)
            assert count_joined(size, least) == len(made), (size, least)


@given(graphs(min_nodes=1), st.integers(0, 6), st.integers(1, 9), st.booleans(), st.randoms())
def test_sizes_that_need_no_pair_are_skipped(g, least, size, grows, chance):
    near = NeighbourSets(g)
    nodes = list(range(g.n_nodes))
    chance.shuffle(nodes)

    def wanted(n):
        return least * n // 4 if grows else least

    first = first_to_join(nodes, near, wanted)
    sizes = range(size, g.n_nodes + 1)
    adding = [n for n in sizes if join_at_least(nodes[:n], near, wanted(n))]
    found = []
    while (n := first(size)) is not None:
        found.append(n)
        size = n + 1
    assert found == adding


def test_shares_are_taken_as_they_are_written():
    for tenths in range(5, 11):
        for size in range(1, 60):
            exact = -(-tenths * (size - 1) // 10)
            assert quasi_need(tenths / 10)(size) == exact


def test_graphs_without_or_with_all_edges():
    assert largest_lacking(0, NeighbourSets(empty(4)), plex_need(2)).nodes == (0,)
    assert largest_lacking(1, NeighbourSets(complete(5)), quasi_need(0.5)).nodes == (0, 1, 2, 3, 4)
    assert largest_lacking(2, NeighbourSets(path(6)), plex_need(1)).nodes == (1, 2)
