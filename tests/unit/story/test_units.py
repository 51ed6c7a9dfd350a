"""What a sentence can name, on six nodes, by hand."""

from __future__ import annotations

import pytest

from denseflip import Counterfactual, Edits, Graph, Nodes, as_oracle, describe
from denseflip.counterfactual import Status
from denseflip.graph.pairs import decode
from denseflip.story.units import Units

NODES = Nodes(tuple("abcdef"), regions={"part": ("A", "A", "B", "B", "C", "C")})
# A with itself: 1 removed; A with B: 2 added, 1 removed; B with C: 1 added
EDITS = Edits(added=((0, 2), (0, 3), (3, 4)), removed=((0, 1), (1, 2)))


def parts(units: Units) -> list[list[tuple[int, int]]]:
    return [decode(codes, 6) for codes in units.parts]


def test_region_pairs_come_fullest_first_with_what_is_added_and_removed() -> None:
    units = Units.of(EDITS, NODES, NODES.taxonomy())
    assert units.order == ((0, 1), (0, 0), (1, 2))
    assert units.rows == (((0, 1), 2, 1), ((0, 0), 0, 1), ((1, 2), 1, 0))
    assert parts(units) == [[(0, 2), (0, 3), (1, 2)], [(0, 1)], [(3, 4)]]
    assert units.noun == "region pair"


def test_few_edits_without_regions_are_pairs_of_nodes() -> None:
    units = Units.of(EDITS, NODES, None)
    assert units.order == ((0, 1), (0, 2), (0, 3), (1, 2), (3, 4))
    assert units.rows[0] == ((0, 1), 0, 1)
    assert units.noun == "pair of nodes"


def test_an_edit_is_told_with_the_end_that_holds_most() -> None:
    # Edits at 0: 3, at 1: 2, at 2: 2, at 3: 2, at 4: 1; without those at 0, one each at 1 to 4.
    units = Units(Units.of(EDITS, NODES, None).taxonomy, EDITS, hubs=True)
    assert units.order == ((0, None), (1, None), (3, None))
    assert parts(units) == [[(0, 1), (0, 2), (0, 3)], [(1, 2)], [(3, 4)]]
    assert units.rows == (((0, None), 2, 1), ((1, None), 0, 1), ((3, None), 1, 0))
    assert units.first(2) == Edits(added=((0, 2), (0, 3)), removed=((0, 1), (1, 2)))
    assert units.edits_in(((3, None), (5, None))) == Edits(added=((3, 4),))
    assert units.noun == "node"


def test_the_language_may_be_chosen() -> None:
    assert Units.of(EDITS, NODES, NODES.taxonomy()).language == "regions"
    assert Units.of(EDITS, NODES, None).language == "pairs"
    assert Units.of(EDITS, NODES, None, "nodes").language == "nodes"
    many = Edits(tuple((i, j) for i in range(5) for j in range(i + 1, 5)))
    assert Units.of(many, NODES, None).language == "nodes"
    assert len(Units.of(many, NODES, None, "pairs").order) == 10


@pytest.mark.parametrize(("share", "k"), [(0, 1), (0.6, 1), (0.61, 2), (0.8, 2), (1, 3)])
def test_how_many_hold_a_share(share, k) -> None:
    assert Units.of(EDITS, NODES, NODES.taxonomy()).holding(share) == k


def test_no_edits_are_no_units() -> None:
    units = Units.of(Edits(), NODES, NODES.taxonomy())
    assert units.order == units.parts == units.rows == ()
    assert units.holding(1) == 1


def test_many_nodes_without_regions_need_no_node_by_node_table() -> None:
    n = 50_000  # a table of all pairs would take twenty gigabytes
    graph = Graph.from_edges(n, [(0, n - 1), (1, 2)])
    result = Counterfactual(Status.FOUND, graph, Edits(removed=((0, n - 1),)), 1, 0)
    oracle = as_oracle(lambda g: int(g.has_edge(0, n - 1)), "graph")
    story = describe(result, Nodes.numbered(n), oracle)
    assert story.verified
