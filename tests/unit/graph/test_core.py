from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from denseflip.errors import InvalidGraphError
from denseflip.graph import Graph
from graphs import complete, empty, path, triangle_with_tail


def test_edges_are_sorted_whatever_their_order():
    g = Graph.from_edges(4, [(3, 2), (1, 0), (2, 0)])
    assert g.edges() == [(0, 1), (0, 2), (2, 3)]
    assert g.codes.tolist() == [1, 2, 11]
    assert g.pairs.tolist() == [[0, 1], [0, 2], [2, 3]]
    assert (g.n_nodes, g.n_edges, g.n_pairs) == (4, 3, 6)
    assert repr(g) == "Graph(n_nodes=4, n_edges=3)"


def test_equal_content_is_equal_and_hashes_alike():
    a, b = Graph.from_edges(4, [(0, 1), (2, 3)]), Graph.from_edges(4, [(3, 2), (1, 0)])
    assert a == b
    assert hash(a) == hash(b)
    assert a.digest == b.digest
    assert {a: 1}[b] == 1
    assert a != Graph.from_edges(5, [(0, 1), (2, 3)])
    assert a.digest != Graph.from_edges(5, [(0, 1), (2, 3)]).digest
    assert a != "a graph"


def test_the_digest_is_the_same_on_any_machine():
    assert empty(0).digest.hex() == "af5570f5a1810b7af78caf4bc70a660f"
    assert path(4).digest == Graph.from_adjacency(path(4).to_adjacency()).digest


def test_a_graph_cannot_be_changed():
    g = path(4)
    for name in ("_n", "n_nodes", "colour"):
        with pytest.raises(AttributeError, match=r"immutable.*toggle"):
            setattr(g, name, 3)
    with pytest.raises(ValueError, match=r"read-only"):
        g.codes[0] = 5
    with pytest.raises(ValueError, match=r"read-only"):
        g.pairs[0, 0] = 5
    matrix = g.to_adjacency()
    matrix[:] = 7
    assert g == path(4)
    assert g.to_adjacency().max() == 1


def test_toggling_gives_a_new_graph():
    g = path(4)
    h = g.toggle([(0, 1), (0, 3)])
    assert g == path(4)
    assert h.edges() == [(0, 3), (1, 2), (2, 3)]
    assert g.toggle([]) is g
    with pytest.raises(InvalidGraphError, match=r"pairs to toggle: entry 1 is a duplicate"):
        g.toggle([(0, 1), (1, 0)])


def test_has_edge_in_either_order_and_never_beyond_the_nodes():
    g = Graph.from_edges(4, [(1, 2)])
    assert g.has_edge(1, 2)
    assert g.has_edge(2, 1)
    assert not g.has_edge(1, 1)
    assert not g.has_edge(0, 6)  # 0 * 4 + 6 is the code of (1, 2)
    assert not g.has_edge(2, -2)
    assert not g.has_edge(-1, 2)


def test_degrees_and_matrix_of_small_graphs():
    assert triangle_with_tail().degrees().tolist() == [2, 2, 3, 1, 0]
    assert complete(3).to_adjacency().tolist() == [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert complete(3).to_adjacency(np.uint8).dtype == np.uint8
    for n in (0, 1):
        assert empty(n).to_adjacency().shape == (n, n)
        assert empty(n).degrees().tolist() == [0] * n
        assert empty(n).edges() == []


def test_distances_need_the_same_nodes():
    assert path(4).distance(complete(4)) == 3
    assert path(4).relative_distance(complete(4)) == 0.5
    assert empty(3).relative_distance(empty(3)) == 0.0
    for compare in (Graph.distance, Graph.relative_distance, Graph.__xor__):
        with pytest.raises(InvalidGraphError, match=r"different node sets: 4 and 5 nodes"):
            compare(path(4), path(5))


def test_copies_and_pickles_are_equal_and_as_closed():
    g = triangle_with_tail()
    for again in (pickle.loads(pickle.dumps(g)), copy.copy(g), copy.deepcopy(g)):
        assert again == g
        assert hash(again) == hash(g)
        with pytest.raises(ValueError, match=r"read-only"):
            again.codes[0] = 1


def test_a_dictionary_is_checked_like_any_input():
    with pytest.raises(InvalidGraphError, match=r"needs the keys 'n_nodes' and 'edges'"):
        Graph.from_dict({"n": 3})
    with pytest.raises(InvalidGraphError, match=r"dictionary: entry 0 is a node outside"):
        Graph.from_dict({"n_nodes": 3, "edges": [[0, 3]]})


def test_memory_grows_with_the_edges_not_with_the_nodes():
    g = Graph.from_edges(2_000_000_000, [(0, 1_999_999_999)])
    assert g.n_pairs == 2_000_000_000 * 1_999_999_999 // 2
    assert g.has_edge(1_999_999_999, 0)
    assert g.toggle([(0, 1_999_999_999)]).n_edges == 0
