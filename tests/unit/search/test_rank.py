from __future__ import annotations

import numpy as np
import pytest

from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.graph import Nodes
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.core.problem import Problem
from denseflip.search.methods.blocks import RegionRank, check_ranking
from denseflip.search.methods.dcs import DCS
from graphs import clique, complete, graph, halves, triangle_with_tail


def ranked(name, g, **facts):
    return DCS(rank=name).rank(Problem(g, 0, **facts)).tolist()


def test_triangles_then_number():
    g = graph(6, clique(2, 3, 4), clique(3, 4, 5))  # 3 and 4 lie in two triangles
    assert ranked("triangles", g) == [3, 4, 2, 5, 0, 1]


def test_degree_then_number():
    assert ranked("degree", triangle_with_tail()) == [2, 0, 1, 3, 4]


def test_clustering_then_number():
    assert ranked("clustering", triangle_with_tail()) == [0, 1, 2, 3, 4]  # 1, 1, 1/3, 0, 0


def test_core_then_number():
    g = graph(6, clique(3, 4, 5), [(0, 3)])
    assert ranked("core", g) == [3, 4, 5, 0, 1, 2]


def test_harmonic_then_number():
    g = graph(5, [(0, 1), (1, 2), (2, 3)])  # a path: its middle is closest to all
    assert ranked("harmonic", g) == [1, 2, 0, 3, 4]


def test_random_is_a_permutation_of_the_seed():
    g = complete(8)
    one = ranked("random", g, rng=np.random.default_rng(1))
    assert sorted(one) == list(range(8))
    assert one == ranked("random", g, rng=np.random.default_rng(1))
    assert one != ranked("random", g, rng=np.random.default_rng(2))


def contrast_problem(g, current, target):
    class Oracle:
        def predict(self, graphs):
            return [int(h in target) for h in graphs]

    known = Background([*current, *target])
    return Problem(g, 0, background=known, label_background=lambda: known.labels(Session(Oracle())))


def test_contrast_sums_over_the_pairs_of_a_node():
    current, target = [graph(4, [(0, 1), (0, 2)])], [graph(4, [(0, 2), (2, 3)])]
    # (0, 1) counts +1, (2, 3) counts -1: nodes 0 and 1 first, 2 and 3 last.
    problem = contrast_problem(graph(4), current, target)
    assert DCS(rank="contrast").rank(problem).tolist() == [0, 1, 2, 3]


def test_regions_are_ordered_by_density_not_by_edges():  # D8
    # The large region has four edges of ten, the small one its only one.
    g = graph(7, [(0, 1), (0, 2), (0, 3), (0, 4)], [(5, 6)])
    nodes = Nodes.from_groups(7, {"large": range(5), "small": (5, 6)})
    assert ranked("regions", g, nodes=nodes) == [5, 6, 0, 1, 2, 3, 4]


def test_inside_a_region_nodes_are_ordered_by_triangles():
    g = graph(8, clique(1, 2, 3), [(5, 6), (6, 7), (5, 7), (4, 5), (4, 6), (4, 7)])
    assert ranked("regions", g, nodes=halves(8)) == [4, 5, 6, 7, 1, 2, 3, 0]


def test_equally_dense_regions_keep_the_order_of_the_table():
    g, nodes = graph(4), Nodes(tuple("abcd"), {"r": ("X", "Y", "Z", "X")})
    assert ranked("regions", g, nodes=nodes) == [0, 3, 1, 2]


def test_regions_may_have_several_levels():
    g = graph(8, [(0, 2)], [(4, 5), (5, 7), (4, 6), (4, 7)])
    # Side: right has 4 of 6 pairs, left 1 of 6. Inside: right odd (5, 7) joined 1/1, right even
    # (4, 6) joined 1/1, left even (0, 2) 1/1, left odd 0. Equal ones in the order of the table.
    assert RegionRank(("side", "parity"))(Problem(g, 0, nodes=halves(8))).tolist() == [
        4,
        6,
        5,
        7,
        0,
        2,
        1,
        3,
    ]


def test_no_regions_no_ranking():
    with pytest.raises(MissingInputError, match="no regions were given"):
        ranked("regions", complete(4))


def test_an_unknown_rank_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'triangles'"):
        DCS(rank="triangle")
    with pytest.raises(InvalidParameterError, match="rank must be a name or a callable; got int"):
        DCS(rank=5)


@pytest.mark.parametrize("bad", [[0, 1], [0, 1, 1], [1, 2, 3], [[0, 1, 2]], [0.0, 1.5, 2.0]])
def test_a_ranking_must_name_every_node_once(bad):
    with pytest.raises(InvalidParameterError, match="every node"):
        check_ranking(bad, 3)
