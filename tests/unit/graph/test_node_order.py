"""Orders that renumbering the nodes keeps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from denseflip.graph import Graph, Nodes
from denseflip.graph.node_order import node_colours, node_places, pair_places
from graphs import complete, halves, path, star, two_cliques
from strategies import graphs


def moved(g: Graph, new: list[int]) -> Graph:
    return Graph.from_edges(g.n_nodes, [(new[u], new[v]) for u, v in g.edges()])


def moved_table(nodes: Nodes, new: list[int]) -> Nodes:
    old = np.argsort(new).tolist()
    return Nodes(
        tuple(nodes.names[v] for v in old),
        {name: tuple(labels[v] for v in old) for name, labels in nodes.regions.items()},
    )


def test_nodes_alike_have_one_colour_and_others_another():
    assert len(set(node_colours(complete(5)).tolist())) == 1
    assert len(set(node_colours(star(6)).tolist())) == 2
    assert len(set(node_colours(path(7)).tolist())) == 4  # an end looks like the other end
    assert len(set(node_colours(complete(6), halves(6)).tolist())) == 4  # two taxonomies of two


def test_far_differences_are_seen():
    """Two nodes of degree two, told apart only by what lies three steps away."""
    g = Graph.from_edges(9, [(0, 1), (1, 2), (2, 3), (3, 4), (5, 6), (6, 7), (7, 8), (4, 2)])
    colours = node_colours(g)
    assert colours[0] != colours[5]
    assert colours[1] != colours[6]


@given(g=graphs(min_nodes=1), chance=st.randoms(use_true_random=False))
def test_a_node_keeps_its_place_when_all_are_renumbered(g, chance):
    new = list(range(g.n_nodes))
    chance.shuffle(new)
    nodes = halves(g.n_nodes)
    before, after = node_places(g, nodes), node_places(moved(g, new), moved_table(nodes, new))
    assert sorted(before.tolist()) == list(range(g.n_nodes))
    assert before.tolist() == after[new].tolist()
    # Without names the colour is all there is: it moves with the node.
    assert node_colours(g).tolist() == node_colours(moved(g, new))[new].tolist()


def test_pairs_are_ordered_by_the_places_of_their_ends():
    g = two_cliques()
    places = np.array([7, 6, 5, 4, 3, 2, 1, 0])
    assert pair_places(np.array([0 * 8 + 1, 6 * 8 + 7]), places).tolist() == [6 * 8 + 7, 1]
    assert pair_places(g.codes[:0], places).tolist() == []
    assert node_places(Graph.from_edges(0, [])).tolist() == []
