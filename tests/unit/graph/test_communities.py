from __future__ import annotations

import sys
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.errors import MissingExtraError
from denseflip.graph import communities as module
from denseflip.graph.communities import communities, modularity
from denseflip.graph.density import NeighbourSets
from graphs import clique, empty, graph
from strategies import graphs


def ring_of_cliques(n: int, size: int):
    parts = [range(i * size, (i + 1) * size) for i in range(n)]
    bridges = [((i + 1) * size - 1, (i + 1) * size % (n * size)) for i in range(n)]
    ends = [tuple(sorted(pair)) for pair in bridges]
    return graph(n * size, *(clique(*part) for part in parts), ends), [tuple(p) for p in parts]


@given(graphs(max_nodes=6), st.sampled_from([0.5, 1.0, 2.0]))
def test_no_partition_of_a_small_graph_has_a_larger_modularity(g, resolution):
    near = NeighbourSets(g)
    found = communities(range(g.n_nodes), near, resolution=resolution)
    kept = [v for v in range(g.n_nodes) if near[v]]
    assert sorted(v for part in found for v in part) == kept
    assert found == sorted(found)
    if not kept:
        return
    # Newman's formula over every colouring: 2m·A - r·d·d, over the pairs of one colour.
    a = g.to_adjacency(np.int64)[np.ix_(kept, kept)]
    ends = a.sum()
    gain = ends * a - resolution * np.outer(a.sum(0), a.sum(0))
    colours = np.array(list(product(range(len(kept)), repeat=len(kept) - 1)), dtype=np.int64)
    colours = np.hstack([np.zeros((len(colours), 1), dtype=np.int64), colours])
    same = colours[:, :, None] == colours[:, None, :]
    best = (same * gain).sum(axis=(1, 2)).max() / ends**2
    assert float(modularity(found, near, resolution)) == pytest.approx(best)


@given(graphs(min_nodes=8, max_nodes=9), st.integers(0, 5))
def test_larger_graphs_are_parted_at_least_as_well_as_not_at_all(g, seed):
    near = NeighbourSets(g)
    found = communities(range(g.n_nodes), near, seed=seed)
    assert sorted(v for part in found for v in part) == [v for v in range(g.n_nodes) if near[v]]
    assert modularity(found, near) >= 0  # that of one part
    assert found == communities(range(g.n_nodes), near, seed=seed)


def test_cliques_on_a_ring_are_the_communities():
    g, parts = ring_of_cliques(5, 4)
    assert communities(range(20), NeighbourSets(g)) == parts
    whole = communities(range(20), NeighbourSets(g), resolution=0.01)
    assert whole == [tuple(range(20))]


def test_the_clock_is_looked_at():
    def check():
        raise TimeoutError

    g, _ = ring_of_cliques(3, 4)
    with pytest.raises(TimeoutError):
        communities(range(12), NeighbourSets(g), check=check)


def test_no_edges_no_communities():
    assert communities(range(4), NeighbourSets(empty(4))) == []


def test_leiden_without_igraph_says_what_to_install(monkeypatch):
    g, _ = ring_of_cliques(3, 4)
    monkeypatch.setattr(module, "has_igraph", lambda: False)
    with pytest.raises(MissingExtraError, match=r'igraph.*pip install "denseflip\[leiden\]"'):
        communities(range(12), NeighbourSets(g), by="leiden")
    louvain = communities(range(12), NeighbourSets(g), by="louvain")
    assert communities(range(12), NeighbourSets(g), by="auto") == louvain


def test_leiden_is_asked_in_numbers_of_its_own_with_the_seed(monkeypatch):
    """igraph is not needed here: a stand-in hears what is asked and answers."""
    heard = {}

    class Stand:
        def __init__(self, n, edges):
            heard.update(n=n, edges=edges)

        def community_leiden(self, objective, *, resolution, n_iterations):
            heard.update(objective=objective, resolution=resolution, first=heard["rng"].random())
            return [range(4), range(4, 8)]

    generators = []
    stand_in = SimpleNamespace(Graph=Stand, set_random_number_generator=generators.append)
    real_append = generators.append

    def keep(generator):
        heard.setdefault("rng", generator)
        real_append(generator)

    stand_in.set_random_number_generator = keep
    monkeypatch.setattr(module, "has_igraph", lambda: True)
    monkeypatch.setitem(sys.modules, "igraph", stand_in)
    g = graph(10, clique(1, 2, 3, 4), clique(5, 6, 7, 8), [(4, 5)])  # 0 and 9 have no edge
    for by in ("leiden", "auto"):
        found = communities(range(10), NeighbourSets(g), by=by, resolution=1.5, seed=3)
        assert found == [(1, 2, 3, 4), (5, 6, 7, 8)]
    assert heard["n"] == 8
    assert len(heard["edges"]) == 13
    assert (0, 1) in heard["edges"]
    assert (heard["objective"], heard["resolution"]) == ("modularity", 1.5)
    import random

    assert generators[-1] is random  # handed back
