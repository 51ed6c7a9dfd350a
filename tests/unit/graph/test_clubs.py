from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.graph.density import NeighbourSets
from denseflip.graph.relaxed_cliques import largest_club, star
from graphs import complete, empty, graph, path, subsets_with
from graphs import star as star_graph
from strategies import graphs


def is_club(members, g, k):
    """Mokken's definition: the diameter of what the members span."""
    inside = g.to_networkx().subgraph(members)
    return nx.is_connected(inside) and nx.diameter(inside) <= k


@given(graphs(min_nodes=1, max_nodes=8), st.integers(2, 4))
def test_no_club_through_a_node_is_larger(g, k):
    near = NeighbourSets(g)
    for node in range(min(g.n_nodes, 2)):
        found = largest_club(node, near, k, max_branches=10_000)
        assert found.exact
        assert node in found.nodes
        assert is_club(found.nodes, g, k)
        largest = next(s for s in subsets_with(node, range(g.n_nodes)) if is_club(s, g, k))
        assert len(found.nodes) == len(largest)


@given(graphs(min_nodes=1, max_nodes=9), st.integers(2, 3))
def test_a_search_that_is_cut_short_gives_a_club_that_holds_all_neighbours(g, k):
    near = NeighbourSets(g)
    found = largest_club(0, near, k, max_branches=1)
    assert is_club(found.nodes, g, k)
    if not found.exact:
        assert {0, *near[0]} <= set(found.nodes)


def test_a_club_is_not_a_clique_of_near_nodes():
    # Alba's example: 2 and 3 meet only through 5, which is not near to all the others.
    g = graph(6, [(0, 1), (0, 2), (1, 3), (2, 4), (3, 5), (4, 5)])  # a ring of six
    assert len(largest_club(0, NeighbourSets(g)).nodes) == 3
    assert len(largest_club(0, NeighbourSets(g), 3).nodes) == 6


def test_graphs_without_or_with_all_edges():
    assert largest_club(0, NeighbourSets(empty(3))).nodes == (0,)
    assert largest_club(0, NeighbourSets(complete(5))).nodes == (0, 1, 2, 3, 4)
    assert largest_club(3, NeighbourSets(star_graph(6))).nodes == tuple(range(6))
    assert len(largest_club(0, NeighbourSets(path(6)), 4).nodes) == 5


def test_the_clock_is_looked_at():
    def check():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        largest_club(0, NeighbourSets(path(4)), check=check)


@given(graphs(min_nodes=1))
def test_a_star_makes_any_nodes_a_club(g):
    new = star(range(g.n_nodes), NeighbourSets(g))
    assert all(u < v and not g.has_edge(u, v) for u, v in new)
    assert is_club(range(g.n_nodes), g.toggle(new), 2)
    assert len(new) == g.n_nodes - 1 - g.degrees().max()


@pytest.mark.parametrize(("node", "branches"), [(0, 17), (1, 7), (2, 1)])
def test_the_search_ends_after_so_many_branches_and_says_so(node, branches):
    drawn = nx.gnp_random_graph(14, 0.25, seed=3)
    near = [set(drawn[v]) for v in range(14)]
    whole = largest_club(node, near)
    assert whole.exact
    assert largest_club(node, near, max_branches=branches) == whole
    if branches > 1:
        assert not largest_club(node, near, max_branches=branches - 1).exact
