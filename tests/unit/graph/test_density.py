"""Kernels on graphs whose counts a person can check; any graph is checked in tests/property."""

from __future__ import annotations

import numpy as np
import pytest

from denseflip.graph import Graph, Taxonomy, density
from graphs import complete, empty, graph, path, star, triangle_with_tail, two_cliques


def test_triangles():
    assert density.count_triangles(triangle_with_tail()).tolist() == [1, 1, 1, 0, 0]
    assert density.count_triangles(complete(5)).tolist() == [6] * 5
    assert density.count_triangles(star(5)).tolist() == [0] * 5


def test_triangles_of_a_large_graph():
    n = 5000
    ring = [(v, (v + d) % n) for v in range(n) for d in (1, 2)]
    g = Graph.from_edges(n, ring)
    assert g.n_nodes > density._DENSE_NODES
    assert set(density.count_triangles(g).tolist()) == {3}


def test_both_ways_to_count_triangles_agree(monkeypatch):
    rng = np.random.default_rng(0)
    for n, share in ((1, 0.0), (40, 0.0), (40, 0.1), (60, 0.5), (30, 1.0)):
        u, v = np.triu_indices(n, k=1)
        chosen = rng.random(len(u)) < share
        g = Graph.from_edges(n, np.stack((u, v), axis=1)[chosen])
        a = g.to_adjacency(np.int64)
        expected = np.diag(a @ a @ a) // 2
        for parts in (1, 50, 1 << 18):
            monkeypatch.setattr(density, "_PATHS_PER_PART", parts)
            assert density._triangles_by_paths(g, g.degrees()).tolist() == expected.tolist()
        for weight in (0, 1 << 40):  # never a matrix, always one
            monkeypatch.setattr(density, "_PRODUCTS_PER_PATH", weight)
            assert density.count_triangles(g).tolist() == expected.tolist()


def test_triangles_at_a_hub_are_counted_exactly():
    n = 2000  # a wheel: the hub is in as many triangles as there are other nodes
    rim = [(v, v + 1) for v in range(1, n - 1)] + [(1, n - 1)]
    g = graph(n, [(0, v) for v in range(1, n)], rim)
    assert density.count_triangles(g).tolist() == [n - 1] + [2] * (n - 1)


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


def test_neighbours_are_made_when_asked_for():
    near = density.NeighbourSets(two_cliques())
    assert len(near) == 0
    assert (near[3], near[7]) == ({0, 1, 2, 4}, set())
    assert near[3] is near[3]
    assert set(near) == {3, 7}
    for nobody in (-1, 8):
        with pytest.raises(KeyError):
            near[nobody]


def test_a_copy_of_neighbours_has_sets_of_its_own():
    near = density.NeighbourSets(two_cliques())
    near[3].add(7)
    fresh = near.copy()
    assert fresh[3] == {0, 1, 2, 4}
    fresh[4].clear()
    assert near[4] == {3, 5, 6}


def test_two_hops():
    near = density.NeighbourSets(path(6))
    assert density.two_hop(0, near) == {0, 1, 2}
    assert density.two_hop(3, near) == {1, 2, 3, 4, 5}


def test_region_densities():
    regions = Taxonomy("t", ("A", "B", "no node"), (0, 0, 0, 1, 1))
    g = triangle_with_tail()
    assert density.region_densities(g, regions).tolist() == [1, 0, 0]
