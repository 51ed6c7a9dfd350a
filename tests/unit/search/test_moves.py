"""Moves: which way a place may go, how far is usual, and how clearly the classes differ there."""

from __future__ import annotations

import numpy as np
import pytest

from denseflip.graph import Graph, Taxonomy
from denseflip.oracles.background import Frequencies
from denseflip.search.claims.claim import Amount
from denseflip.search.claims.moves import Move, moves_of, one_each
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.reference import Reference

TWO = Taxonomy.from_labels("half", ["A"] * 4 + ["B"] * 4)
FEW = [Graph.from_edges(8, [(0, 4)]), Graph.from_edges(8, [(1, 5), (0, 1)])]
MANY = [Graph.from_edges(8, [(0, v), (1, v), (2, v)]) for v in (4, 5)]


def moves(reading, graph=FEW[0], taxonomy=TWO):
    places = Places(graph, taxonomy)
    redraw = Redraw(places, reading, Frequencies.of(FEW), Frequencies.of(MANY))
    return moves_of(redraw, Reference(places, FEW, MANY))


def test_the_usual_is_what_the_target_class_has_more():
    first, *_ = moves("any")
    assert first == Move((0, 1), (2, 0), (15, 0), first.clarity)
    assert first.clarity == pytest.approx(2.0)  # two edges more, none of spread but the least one
    inside = [move for move in moves("any", FEW[1]) if move.place == (0, 0)]
    assert [(move.usual, move.most) for move in inside] == [((0, 1), (0, 1))]


def test_times_and_full_stay_within_the_room():
    move = Move((0, 1), (2, 0), (15, 0))
    assert move.times(1) == Amount((0, 1), 2, 0)
    assert move.times(0.01) == Amount((0, 1), 1, 0)
    assert move.times(100) == move.full == Amount((0, 1), 15, 0)


def test_readings_say_which_pairs_so_a_place_may_go_both_ways():
    graph = Graph.from_edges(8, [(3, 7), (0, 4)])
    places = Places(graph, TWO)
    current = [Graph.from_edges(8, [(3, 7)])]
    redraw = Redraw(places, "distinctive", Frequencies.of(current), Frequencies.of(MANY))
    (move,) = moves_of(redraw, Reference(places, current, MANY))
    assert move.place == (0, 1)
    assert move.most == (5, 1)  # five pairs of MANY are missing; (3, 7) is only theirs
    assert move.usual == (2, 1)  # each of the five in one of two graphs, rounded to even


def test_nodes_are_places_too():
    found = one_each(moves("any", taxonomy=None))
    assert {move.place for move in found} <= {(v, None) for v in range(8)}
    by_node = {move.place[0]: move for move in found}
    assert by_node[1].usual == (1, 0)
    assert by_node[1].most == (7, 0)


def test_a_class_without_graphs_is_the_graph_itself():
    places = Places(FEW[0], TWO)
    reference = Reference(places, [], MANY)
    assert reference.apart[reference.index((0, 1))] == 2.0
    assert np.isfinite(reference.clarity).all()


def test_the_time_is_looked_at_place_by_place():
    """With fine regions the table of moves alone takes long."""

    class Late(Exception):
        pass

    def late():
        raise Late

    graph = Graph.from_edges(4, [(0, 1), (2, 3)])
    places = Places(graph, Taxonomy.from_labels("side", ["A", "A", "B", "B"]))
    reference = Reference(places, [graph], [Graph.from_edges(4, [(0, 2), (1, 3)])])
    with pytest.raises(Late):
        moves_of(Redraw(places), reference, late)


@pytest.mark.parametrize(("n_edges", "keeps"), [(20, True), (21, True), (25, False), (10, False)])
def test_the_number_of_edges_is_kept_only_if_the_original_has_that_number_too(n_edges, keeps):
    every = [(u, v) for u in range(8) for v in range(u + 1, 8)]
    group = [Graph.from_edges(8, every[i : i + 20]) for i in range(4)]
    places = Places(Graph.from_edges(8, every[:n_edges]), TWO)
    assert Reference(places, [places.graph], group).keeps_edges is keeps
