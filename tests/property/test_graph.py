"""Graphs and kernels against their definitions, on any small graph."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from itertools import combinations, islice

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.graph import Edits, Graph, density, pairs
from denseflip.oracles.background import Contrast, pair_counts
from denseflip.search.methods import orders
from strategies import graphs, graphs_with_toggles, node_tables

# ---- the value --------------------------------------------------------------------------


@given(graphs_with_toggles())
def test_toggling_twice_is_the_identity(case):
    g, toggles = case
    once = g.toggle(toggles)
    assert set(once.edges()) == set(g.edges()) ^ set(toggles)
    assert once.toggle(toggles) == g
    assert hash(once.toggle(toggles)) == hash(g)
    assert (once == g) == (not toggles)


@given(st.sets(st.integers(0, 5000), max_size=2000), st.sets(st.integers(0, 5000), max_size=40))
def test_both_ways_to_toggle_give_the_symmetric_difference(codes, toggles):
    have = np.array(sorted(codes), dtype=np.int64)
    flip = np.array(list(toggles), dtype=np.int64)
    expected = sorted(codes ^ toggles)
    if toggles:
        assert pairs.toggled(have, flip).tolist() == expected
    assert pairs._splice(have, np.sort(flip)).tolist() == expected
    assert pairs.count_shared(have, np.sort(flip)) == len(codes & toggles)


@given(graphs(max_nodes=7), st.data())
def test_distances_follow_their_definition(g, data):
    h = data.draw(graphs(g.n_nodes, g.n_nodes))
    a, b = set(g.edges()), set(h.edges())
    assert g.distance(h) == len(a ^ b)
    assert (g ^ h) == sorted(a ^ b)
    assert g.relative_distance(h) == (len(a ^ b) / len(a | b) if a | b else 0.0)
    edits = Edits.between(g, h)
    assert (edits.added, edits.removed) == (tuple(sorted(b - a)), tuple(sorted(a - b)))
    assert edits.apply(g) == h
    assert edits.inverse().apply(h) == g
    assert len(edits + edits.inverse()) == 0


@given(graphs())
def test_every_form_leads_back(g):
    assert Graph.from_edges(g.n_nodes, g.edges()) == g
    assert Graph.from_edges(g.n_nodes, g.pairs) == g
    assert Graph.from_adjacency(g.to_adjacency()) == g
    assert Graph.from_adjacency(g.to_adjacency(bool)) == g
    assert Graph.from_sparse(g.to_sparse()) == g
    assert Graph.from_networkx(g.to_networkx()) == g
    assert Graph.from_dict(json.loads(json.dumps(g.to_dict()))) == g
    assert pickle.loads(pickle.dumps(g)) == g
    assert pickle.loads(pickle.dumps(g)).digest == g.digest


@given(graphs(min_nodes=1))
def test_adjacency_and_membership_agree(g):
    a = g.to_adjacency()
    assert (a == a.T).all()
    assert a.trace() == 0
    assert g.degrees().tolist() == a.sum(axis=1).tolist()
    joined = {(u, v) for u in range(g.n_nodes) for v in range(g.n_nodes) if g.has_edge(u, v)}
    assert joined == set(zip(*(x.tolist() for x in np.nonzero(a)), strict=True))


@given(graphs(max_nodes=6), st.data())
def test_edits_compose_like_changes(g, data):
    h = data.draw(graphs(g.n_nodes, g.n_nodes))
    k = data.draw(graphs(g.n_nodes, g.n_nodes))
    assert Edits.between(g, h) + Edits.between(h, k) == Edits.between(g, k)


# ---- kernels against brute force --------------------------------------------------------


@given(graphs())
def test_triangles_dense_and_sparse(g):
    expected = [0] * g.n_nodes
    for trio in combinations(range(g.n_nodes), 3):
        if all(g.has_edge(*p) for p in combinations(trio, 2)):
            for v in trio:
                expected[v] += 1
    assert density.count_triangles(g).tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(density, "_DENSE_NODES", -1)
        for paths in (1, 7, 10**6):
            patch.setattr(density, "_PATHS_PER_PART", paths)
            assert density.count_triangles(g).tolist() == expected


@given(graphs())
def test_clustering_and_cores_equal_networkx(g):
    other = g.to_networkx()
    expected = nx.clustering(other)
    assert density.clustering(g) == pytest.approx([expected[v] for v in range(g.n_nodes)])
    # A node's core number by its definition: peel nodes of degree below k until none is left.
    cores = [0] * g.n_nodes
    for k in range(1, g.n_nodes):
        inside = set(range(g.n_nodes))
        while low := {v for v in inside if sum(g.has_edge(v, w) for w in inside) < k}:
            inside -= low
        for v in inside:
            cores[v] = k
    assert density.core_numbers(g).tolist() == cores


@given(graphs())
def test_harmonic_centrality_is_exact(g):
    hops = dict(nx.all_pairs_shortest_path_length(g.to_networkx()))
    expected = [
        float(sum(Fraction(1, d) for w, d in hops[v].items() if w != v)) for v in range(g.n_nodes)
    ]
    assert density.harmonic_centrality(g).tolist() == expected


@given(graphs(min_nodes=1))
def test_two_hop_is_distance_at_most_two(g):
    near = density.NeighbourSets(g)
    assert [near[v] for v in range(g.n_nodes)] == [
        set(g.to_networkx()[v]) for v in range(g.n_nodes)
    ]
    for v in range(g.n_nodes):
        reach = nx.single_source_shortest_path_length(g.to_networkx(), v, cutoff=2)
        assert density.two_hop(v, near) == set(reach)


@given(graphs(min_nodes=1), st.data())
def test_region_densities_count_edges(g, data):
    taxonomy = data.draw(node_tables(g.n_nodes)).taxonomy("first*second")
    got = density.region_densities(g, taxonomy)
    for r in range(len(taxonomy.regions)):
        inside = set(taxonomy.members(r).tolist())
        size = len(inside)
        edges = sum(inside.issuperset(pair) for pair in g.edges())
        pairs_inside = size * (size - 1) // 2
        assert got[r] == (edges / pairs_inside if pairs_inside else 0)


@given(graphs(min_nodes=1), st.randoms(use_true_random=False))
def test_kernels_follow_the_nodes_when_they_are_renumbered(g, random):
    new = list(range(g.n_nodes))
    random.shuffle(new)
    h = Graph.from_edges(g.n_nodes, [(new[u], new[v]) for u, v in g.edges()])
    kernels = (
        Graph.degrees,
        density.count_triangles,
        density.clustering,
        density.core_numbers,
        density.harmonic_centrality,
    )
    for kernel in kernels:
        assert kernel(h)[new].tolist() == kernel(g).tolist()


# ---- orders of pairs --------------------------------------------------------------------


@given(graphs(), st.data(), st.booleans())
def test_node_sum_orders_are_sorted_tuples(g, data, descending):
    n = g.n_nodes
    values = data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    score = orders.NodeSum(np.array(values, dtype=np.int64))
    everything = [(values[u] + values[v], (u, v)) for u, v in combinations(range(n), 2)]
    everything.sort(reverse=descending)
    edges = [p for _, p in everything if g.has_edge(*p)]
    free = [p for _, p in everything if not g.has_edge(*p)]
    assert list(orders.joined(g, score, descending=descending)) == edges
    assert list(score.unjoined(g, descending=descending)) == free
    assert list(score.unjoined_lazily(g, descending=descending)) == free
    assert list(islice(score.unjoined_lazily(g, descending=descending), 3)) == free[:3]


@st.composite
def _classes(draw):
    g = draw(graphs(min_nodes=1, max_nodes=6))
    same = graphs(g.n_nodes, g.n_nodes)
    current = draw(st.lists(same, max_size=7))
    return g, current, draw(st.lists(same, min_size=1, max_size=7))


@given(_classes(), st.booleans())
def test_contrast_is_exact_and_orders_are_sorted_tuples(case, descending):
    g, current, target = case

    def exact(pair):
        a = Fraction(sum(h.has_edge(*pair) for h in current), max(len(current), 1))
        return a - Fraction(sum(h.has_edge(*pair) for h in target), len(target))

    contrast = Contrast.between(current, target)
    n = g.n_nodes
    everything = sorted(((exact(p), p) for p in combinations(range(n), 2)), reverse=descending)
    codes = np.array([u * n + v for _, (u, v) in everything], dtype=np.int64)
    got = [Fraction(int(x), contrast.scale) for x in contrast.at(codes)]
    assert got == [value for value, _ in everything]
    score = orders.ContrastScore(contrast)
    assert list(orders.joined(g, score, descending=descending)) == [
        p for _, p in everything if g.has_edge(*p)
    ]
    assert list(score.unjoined(g, descending=descending)) == [
        p for _, p in everything if not g.has_edge(*p)
    ]


@given(st.lists(graphs(5, 5), max_size=6))
def test_pair_counts(several):
    codes, counts = pair_counts(several)
    expected = {}
    for g in several:
        for u, v in g.edges():
            expected[u * 5 + v] = expected.get(u * 5 + v, 0) + 1
    assert dict(zip(codes.tolist(), counts.tolist(), strict=True)) == expected
    assert codes.tolist() == sorted(expected)


def test_the_lazy_order_on_a_large_graph_begins_like_the_sorted_one():
    rng = np.random.default_rng(0)
    n = 2500
    values = rng.integers(0, 50, n)
    u, v = np.triu_indices(n, 1)
    keep = rng.random(len(u)) < 0.002
    g = Graph.from_edges(n, np.stack((u[keep], v[keep]), axis=1))
    score = orders.NodeSum(values)
    assert g.n_pairs > orders._DENSE_PAIRS
    free = orders.all_unjoined(g)
    order = np.lexsort((free, score.at(free, n)))
    for descending in (False, True):
        expected = pairs.decode(free[order[::-1] if descending else order][:3000], n)
        lazy = score.unjoined(g, descending=descending)
        assert list(islice(lazy, 3000)) == expected
