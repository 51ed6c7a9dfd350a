"""Kernels on graphs whose counts a person can check; any graph is checked in tests/property."""

from __future__ import annotations

import pytest

from denseflip.graph import Graph, Taxonomy, density
from graphs import complete, empty, path, star, triangle_with_tail, two_cliques


def test_triangles():
    assert density.count_triangles(triangle_with_tail()).tolist() == [1, 1, 1, 0, 0]
    assert density.count_triangles(complete(5)).tolist() == [6] * 5
    assert density.count_triangles(star(5)).tolist() == [0] * 5


def test_triangles_of_a_large_sparse_graph():
    n = 3000
    ring = [(v, (v + d) % n) for v in range(n) for d in (1, 2)]
    g = Graph.from_edges(n, ring)
    assert g.n_nodes > density._DENSE_NODES
    assert set(density.count_triangles(g).tolist()) == {3}


def test_clustering_cores_and_centrality():
    g = triangle_with_tail()
    assert density.clustering(g).tolist() == [1, 1, pytest.approx(1 / 3), 0, 0]
    assert density.core_numbers(g).tolist() == [2, 2, 2, 1, 0]
    assert density.harmonic_centrality(g).tolist() == [2.5, 2.5, 3, 2, 0]
    assert density.harmonic_centrality(empty(3)).tolist() == [0, 0, 0]


def test_centrality_in_blocks_of_rows():
    g = path(1100)
    values = density.harmonic_centrality(g)
    assert values[0] == values[-1]
    assert values[0] == pytest.approx(sum(1 / k for k in range(1, 1100)))


def test_maximal_cliques():
    near = density.neighbour_sets(two_cliques())
    assert sorted(density.maximal_cliques_through(3, near)) == [(0, 1, 2, 3), (3, 4)]
    assert list(density.maximal_cliques_through(7, near)) == []


def test_cliques_come_lazily():
    n_pairs = 20  # a cocktail party: 2^20 maximal cliques through each node
    n = 2 * n_pairs + 1
    near = [
        {w for w in range(n) if w != v and (w // 2 != v // 2 or n - 1 in (v, w))} for v in range(n)
    ]
    source = density.maximal_cliques_through(n - 1, near)
    assert len(next(source)) == n_pairs + 1


def test_a_clique_larger_than_the_call_stack():
    n = 1500
    near = [set(range(n)) - {v} for v in range(n)]
    assert list(density.maximal_cliques_through(0, near)) == [tuple(range(n))]


def test_two_hops():
    near = density.neighbour_sets(path(6))
    assert density.two_hop(0, near) == {0, 1, 2}
    assert density.two_hop(3, near) == {1, 2, 3, 4, 5}


def test_region_densities_with_and_without_loops():
    regions = Taxonomy("t", ("A", "B", "no node"), (0, 0, 0, 1, 1))
    g = triangle_with_tail()
    assert density.region_densities(g, regions).tolist() == [1, 0, 0]
    loops = density.region_densities(g, regions, self_loops=True)
    assert loops.tolist() == [1, pytest.approx(2 / 3), 0]
