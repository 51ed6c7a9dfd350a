from __future__ import annotations

import copy
import pickle
import sys
from threading import Barrier, Thread

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


# ---- copies of copies ---------------------------------------------------------------------


@pytest.mark.parametrize("start", [empty(60), complete(60)], ids=["empty", "complete"])
def test_thousands_of_toggles_in_a_row(start):
    copy_, pairs = start, set(start.edges())
    for i in range(3000):
        pair = (i % 7, 7 + i * i % 53)
        copy_, pairs = copy_.toggle([pair]), pairs ^ {pair}
    afresh = Graph.from_edges(60, sorted(pairs))
    assert copy_.key == afresh.key  # asked about the last of them first
    assert (copy_, hash(copy_)) == (afresh, hash(afresh))
    assert copy_.edges() == sorted(pairs)
    assert copy_ ^ start == afresh ^ start
    assert copy_.n_edges == len(pairs)
    assert pickle.loads(pickle.dumps(copy_)) == copy_


def test_a_graph_far_from_its_root_keeps_its_relatives():
    start = empty(3)
    far = start
    for _ in range(1101):
        far = far.toggle([(0, 1)])
    near = far.toggle([(1, 2)])  # beyond the limit: a new root
    assert near.root is not start
    assert near ^ far == [(1, 2)]
    assert far ^ start == [(0, 1)]
    assert near ^ start == [(0, 1), (1, 2)]
    assert far.toggle([(1, 2)]).root is near.root
    assert (far.n_edges, near.n_edges) == (1, 2)


@pytest.mark.parametrize("frozen", [False, True])
def test_codes_that_the_caller_changes_later_change_no_graph(frozen):
    mine = np.array([1, 2])
    view = mine[:]
    view.setflags(write=not frozen)
    listed = [1, 2]
    copies = [path(4).toggle_codes(mine), path(4).toggle_codes(view), path(4).toggle_codes(listed)]
    mine[:] = listed[:] = 7, 11
    assert [g.edges() for g in copies] == [[(0, 2), (1, 2), (2, 3)]] * 3


def test_whole_numbers_of_numpy_make_the_same_copy():
    codes = tuple(np.array([3, 11]))
    assert path(4).toggle_codes(codes).key == path(4).toggle_codes((3, 11)).key


def test_the_number_of_nodes_is_not_taken_for_a_code():
    sizes = (2_900_000_002, 2_900_000_004)  # where codes reach beyond 2^62
    graphs = [Graph.from_edges(n, [divmod((1 << 62) + n, n)]) for n in sizes]
    assert graphs[0].key != graphs[1].key


def test_copies_may_be_asked_by_several_threads_at_once():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-7)
    try:
        for _ in range(20):
            chain, wanted, pairs = [empty(8)], [empty(8).key], set()
            for i in range(50):
                some = {(i % 3, 3 + i % 5), (i % 2, 2)}
                pairs ^= some
                chain.append(chain[-1].toggle(some))
                wanted.append(Graph.from_edges(8, sorted(pairs)).key)
            _ask_in_threads(chain)
            assert [g.key for g in chain] == wanted
            assert [Graph.from_adjacency(g.to_adjacency()).key for g in chain] == wanted
    finally:
        sys.setswitchinterval(before)


def _ask_in_threads(chain):
    ready = Barrier(6)

    def ask(order, what):
        ready.wait()
        for g in order:
            what(g)
            g.to_adjacency()

    looks = (lambda g: g.key, lambda g: g.codes, lambda g: None)
    orders = (chain, chain[::-1])
    threads = [Thread(target=ask, args=(order, what)) for order in orders for what in looks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
