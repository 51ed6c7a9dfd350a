"""Cells of regions as blocks; the expected edits were worked out on paper."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given

from denseflip import DCS, Nodes, explain, make_method
from denseflip.errors import DenseflipError, MissingInputError
from denseflip.graph import Cells
from denseflip.search.core.problem import Problem
from graphs import complete, empty, graph, halves
from strategies import problems

LOBES = Nodes(tuple("abcdef"), {"lobe": ("F", "F", "F", "P", "P", "O"), "side": tuple("LRLRLR")})
G = graph(6, [(0, 1), (0, 2), (3, 4), (0, 3), (4, 5)])
# F 2 of 3 pairs, P 1 of 1, F – P 1 of 6, P – O 1 of 2, F – O 0 of 3.


def by_number(problem):
    return range(problem.graph.n_nodes)


def steps(g, nodes, n=None, **blocks):
    method = DCS(**{"rank": by_number, "sparsify": "cell", "densify": "cell", **blocks})
    return [(s.name, s.toggled) for s in islice(method(Problem(g, 0, None, nodes)), n)]


def nothing(state, node):
    return ()


def test_the_densest_cell_of_the_nodes_region_is_emptied_first():
    taken = steps(G, LOBES, densify=nothing)
    assert taken == [
        ("F", ((0, 1), (0, 2))),  # node 0: 2 of 3
        ("F – P", ((0, 3),)),  # node 1, the same region: 1 of 6
        ("P", ((3, 4),)),  # node 2 has nothing left; node 3
        ("P – O", ((4, 5),)),
    ]


def test_the_sparsest_cell_of_the_nodes_region_is_filled_with_as_many():
    first, second = steps(G, LOBES, 2)
    assert first == ("F", ((0, 1), (0, 2)))
    # The last node, 5, is O: F – O has no edge. Node 0 was in a removed structure, and so were 1
    # and 2; so all three pairs are alike, and those of nodes late in the ranking come first.
    assert second == ("F – O", ((1, 5), (2, 5)))


def test_a_full_cell_is_followed_by_the_next():
    g = graph(6, [(0, 1), (0, 2), (1, 2), (3, 4), (0, 5), (1, 5), (3, 5)])
    first, second, third = steps(g, LOBES, 3)
    assert first == ("F", ((0, 1), (0, 2), (1, 2)))
    # Round node 5 (O): P – O lacks 1 of 2, F – O 1 of 3.
    assert second == ("P – O", ((4, 5),))
    assert third == ("F – O", ((2, 5),))


def test_other_regions_and_crossed_ones():
    by_side = make_method("cell", regions="side")
    result = explain(G, lambda a: int(a[0, 2]), by_side, nodes=LOBES)
    assert result.found
    crossed = make_method("cell", regions="lobe*side", rank="degree")
    assert explain(G, lambda a: int(a[0, 2]), crossed, nodes=LOBES).found
    with pytest.raises(DenseflipError, match="'network'"):
        explain(G, lambda a: 0, make_method("cell", regions="network"), nodes=LOBES)


def test_without_regions_it_says_so():
    with pytest.raises(MissingInputError, match="'cell' needs to know which region"):
        explain(G, lambda a: 0, "cell")


@pytest.mark.parametrize("g", [empty(1), empty(4), complete(4), complete(2)])
def test_small_graphs(g):
    one_region = Nodes(tuple(map(str, range(g.n_nodes))), {"all": ("x",) * g.n_nodes})
    for nodes in (halves(g.n_nodes), one_region):
        result = explain(g, lambda a: int(a.sum()) == 2 * g.n_edges, "cell", nodes=nodes)
        assert result.found == (g.n_edges > 0)


@given(problems())
def test_what_is_emptied_is_empty_and_what_is_put_in_was_missing(given):
    g, _, nodes, _ = given
    cells = Cells(nodes.taxonomy("first"))
    current = g
    for step in DCS(sparsify="cell", densify="cell")(Problem(g, 0, None, nodes)):
        removed = step.block == "sparsify"
        assert all(current.has_edge(*pair) == removed for pair in step.toggled)
        assert {cells.name(cells.cell(*pair)) for pair in step.toggled} == {step.name}
        current = current.toggle(step.toggled)
        if removed:
            [cell] = {cells.cell(*pair) for pair in step.toggled}
            left = np.intersect1d(cells.members(cell), np.intersect1d(g.codes, current.codes))
            assert not left.size
