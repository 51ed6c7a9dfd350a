from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip.graph import Graph
from denseflip.graph.density import NeighbourSets
from denseflip.graph.peel import (
    core_at,
    core_numbers_of,
    densest,
    truss_at,
    truss_numbers,
)
from graphs import clique, complete, empty, graph, path, subsets_with, triangle_with_tail
from strategies import graphs


def degree_inside(members, near):
    return min(len(near[v] & set(members)) for v in members)


@given(graphs(min_nodes=1))
def test_core_numbers_are_the_best_smallest_degree_of_any_set_with_the_node(g):
    near = NeighbourSets(g)
    numbers = core_numbers_of(range(g.n_nodes), near)
    for node in range(min(g.n_nodes, 3)):
        sets = subsets_with(node, range(g.n_nodes))
        assert numbers[node] == max(degree_inside(s, near) for s in sets)


@given(graphs(min_nodes=1), st.none() | st.integers(1, 4))
def test_a_core_is_the_largest_connected_set_of_that_smallest_degree(g, k):
    near = NeighbourSets(g)
    found = core_at(0, range(g.n_nodes), near, k)
    order = core_numbers_of(range(g.n_nodes), near)[0]
    if found is None:
        assert order < (k or 1)
        return
    assert found.level == (k or order)
    asked = [
        s
        for s in subsets_with(0, range(g.n_nodes))
        if degree_inside(s, near) >= found.level and nx.is_connected(g.to_networkx().subgraph(s))
    ]
    assert set(found.nodes) == asked[0]
    assert all(s <= asked[0] for s in asked)  # unions of cores are cores: there is one largest


def trusses_by_hand(g: Graph) -> dict[tuple[int, int], int]:
    """Every set of edges is tried; an edge's number is the best of those that hold it."""
    edges = list(g.edges())
    best = dict.fromkeys(edges, 2)
    for size in range(3, len(edges) + 1):
        for chosen in combinations(edges, size):
            near: dict[int, set[int]] = {v: set() for v in range(g.n_nodes)}
            for u, v in chosen:
                near[u].add(v)
                near[v].add(u)
            k = 2 + min(len(near[u] & near[v]) for u, v in chosen)
            for pair in chosen:
                best[pair] = max(best[pair], k)
    return best


@settings(max_examples=60)
@given(graphs(max_nodes=5))
def test_truss_numbers_are_the_best_of_any_set_of_edges(g):
    assert truss_numbers(range(g.n_nodes), NeighbourSets(g)) == trusses_by_hand(g)


@given(graphs(max_nodes=9))
def test_truss_numbers_agree_with_networkx(g):
    numbers = truss_numbers(range(g.n_nodes), NeighbourSets(g))
    assert set(numbers) == set(g.edges())
    for k in range(2, 10):
        known = {tuple(sorted(pair)) for pair in nx.k_truss(g.to_networkx(), k).edges()}
        assert {pair for pair, number in numbers.items() if number >= k} == known


@given(graphs(min_nodes=1), st.none() | st.integers(3, 5))
def test_a_truss_community_is_what_its_triangles_reach(g, k):
    near = NeighbourSets(g)
    numbers = truss_numbers(range(g.n_nodes), near)
    mine = [number for pair, number in numbers.items() if 0 in pair]
    found = truss_at(0, range(g.n_nodes), near, k)
    if found is None:
        assert max(mine, default=0) < (k or 2)
        return
    assert 0 in found.nodes
    assert found.level == (k or max(mine))
    # The edges of the truss as nodes of a graph, joined where a triangle of the truss holds both.
    kept = {pair for pair, number in numbers.items() if number >= found.level}
    links = nx.Graph()
    links.add_nodes_from(kept)
    for trio in combinations(range(g.n_nodes), 3):
        sides = list(combinations(trio, 2))
        if kept.issuperset(sides):
            links.add_edges_from(combinations(sides, 2))
    reached = [
        tuple(sorted({v for pair in part for v in pair}))
        for part in nx.connected_components(links)
        if any(0 in pair for pair in part)
    ]
    assert found.nodes == min(reached, key=lambda nodes: (-len(nodes), nodes))


@given(graphs())
def test_no_set_is_denser_and_all_that_are_as_dense_are_inside(g):
    near = NeighbourSets(g)
    found = densest(range(g.n_nodes), near)
    if not g.n_edges:
        assert found is None
        return
    sets = [
        set(s) for size in range(1, g.n_nodes + 1) for s in combinations(range(g.n_nodes), size)
    ]
    density = [Fraction(sum(len(near[v] & s) for v in s) // 2, len(s)) for s in sets]
    best = max(density)
    assert found.exact
    assert found.level == float(best)
    assert set(found.nodes) == set().union(
        *(s for s, d in zip(sets, density, strict=True) if d == best)
    )


@given(graphs(min_nodes=2))
def test_peeling_has_at_least_half_of_the_density(g):
    near = NeighbourSets(g)
    exact, peeled = densest(range(g.n_nodes), near), densest(range(g.n_nodes), near, max_work=0)
    if exact is None:
        assert peeled is None
        return
    assert not peeled.exact
    assert peeled.level <= exact.level <= 2 * peeled.level
    inside = sum(len(near[v] & set(peeled.nodes)) for v in peeled.nodes) // 2
    assert peeled.level == inside / len(peeled.nodes)


def test_a_planted_clique_in_a_large_sparse_graph_is_the_densest():
    rng = np.random.default_rng(0)
    sparse = {tuple(sorted(p)) for p in rng.integers(0, 3000, (4000, 2)).tolist() if p[0] != p[1]}
    g = graph(3000, sparse, clique(*range(100, 120)))
    near = NeighbourSets(g)
    assert densest(range(3000), near).nodes == tuple(range(100, 120))
    assert core_at(110, range(3000), near).nodes == tuple(range(100, 120))
    assert truss_at(110, range(3000), near).nodes == tuple(range(100, 120))
    assert truss_at(110, range(3000), near).level == 20


def test_small_graphs():
    assert densest(range(5), NeighbourSets(triangle_with_tail())).nodes == (0, 1, 2, 3)  # all 1.0
    assert core_at(3, range(5), NeighbourSets(triangle_with_tail())).nodes == (0, 1, 2, 3)
    assert core_at(4, range(5), NeighbourSets(triangle_with_tail())) is None
    assert core_at(3, range(5), NeighbourSets(triangle_with_tail()), 2) is None
    assert truss_at(2, range(5), NeighbourSets(triangle_with_tail())).nodes == (0, 1, 2)
    assert truss_at(3, range(5), NeighbourSets(triangle_with_tail())).nodes == (2, 3)
    assert truss_at(3, range(5), NeighbourSets(triangle_with_tail()), 3) is None
    assert densest((), NeighbourSets(empty(0))) is None
    assert core_numbers_of((), NeighbourSets(empty(0))) == {}
    assert densest(range(6), NeighbourSets(complete(6))).level == 2.5
    assert densest(range(6), NeighbourSets(path(6))).nodes == tuple(range(6))


def test_the_clock_is_looked_at():
    def check():
        raise TimeoutError

    with pytest.raises(TimeoutError):
        truss_at(0, range(4), NeighbourSets(complete(4)), check=check)
