"""What a claim can name, on six nodes, by hand; and everything that a result changes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from denseflip import Counterfactual, Edits, Graph, Nodes, Step, as_oracle, describe
from denseflip.counterfactual import AsRead, Status
from denseflip.graph.pairs import decode
from denseflip.search.claims.places import Places, whole_claim
from denseflip.story.verification import _holding

NODES = Nodes(tuple("abcdef"), regions={"part": ("A", "A", "B", "B", "C", "C")})
# A with itself: 1 removed; A with B: 2 added, 1 removed; B with C: 1 added
EDITS = Edits(added=((0, 2), (0, 3), (3, 4)), removed=((0, 1), (1, 2)))


ORIGINAL = Graph.from_edges(6, EDITS.removed)
RESULT = Counterfactual(Status.FOUND, ORIGINAL, EDITS, "ill", "well")


def whole(language, regions=None, result=RESULT):
    """The claim of everything, with the pairs of each place."""
    claim, parts = whole_claim(result, language, regions, NODES)
    return claim, [decode(codes, 6) for codes in parts]


def test_region_pairs_come_fullest_first_with_what_is_added_and_removed() -> None:
    claim, parts = whole("regions", NODES.taxonomy())
    assert claim.amounts == (((0, 1), 2, 1), ((0, 0), 0, 1), ((1, 2), 1, 0))
    assert [claim.name(place) for place in claim.places] == ["A – B", "A", "B – C"]
    assert parts == [[(0, 2), (0, 3), (1, 2)], [(0, 1)], [(3, 4)]]
    assert (claim.label, claim.reading, claim.regions) == ("well", "any", NODES.taxonomy())


def test_every_edit_may_be_a_place_of_its_own() -> None:
    claim, parts = whole("pairs")
    assert claim.places == ((0, 1), (0, 2), (0, 3), (1, 2), (3, 4))
    assert claim.amounts[0] == ((0, 1), 0, 1)
    assert claim.name((3, 4)) == "node d – node e"
    assert parts == [[pair] for pair in claim.places]
    assert claim.regions is None


def test_an_edit_is_counted_at_the_end_that_holds_most() -> None:
    # Edits at 0: 3, at 1: 2, at 2: 2, at 3: 2, at 4: 1; without those at 0, one each at 1 to 4.
    claim, parts = whole("nodes")
    assert claim.amounts == (((0, None), 2, 1), ((1, None), 0, 1), ((3, None), 1, 0))
    assert parts == [[(0, 1), (0, 2), (0, 3)], [(1, 2)], [(3, 4)]]
    assert claim.name((3, None)) == "node d"


def test_the_pairs_of_a_place_that_could_be_added_and_removed() -> None:
    pairs = Places(ORIGINAL, pairwise=True)
    assert pairs.language == "pairs"
    assert len(pairs.every) == 15
    assert pairs.present((0, 1)).tolist() == [1]
    assert pairs.absent((0, 1)).tolist() == []
    assert pairs.counts((0, 2)) == (1, 0)
    assert Places(ORIGINAL).counts((1, None)) == (5, 2)


def test_a_pair_of_two_named_nodes_is_counted_where_the_search_drew_it() -> None:
    """Node b was named second, and drew the pair that it shares with a."""
    added = ((0, 2), (0, 1), (1, 3), (1, 4))
    steps = (
        Step("densify", "block", ((0, 2),), name="a", iteration=1),
        Step("densify", "block", ((0, 1), (1, 3), (1, 4)), name="b", iteration=2),
    )
    said = AsRead("nodes", None, "any", 60, 60)
    empty = Graph.from_edges(6, [])
    result = Counterfactual(
        Status.FOUND, empty, Edits(tuple(sorted(added))), 0, 1, as_read=said, trace=steps
    )
    claim, _ = whole_claim(result, "nodes", None, NODES)
    assert claim.amounts == (((1, None), 3, 0), ((0, None), 1, 0))
    assert describe(result, NODES).claim.amounts == claim.amounts
    numbered = replace(result, trace=tuple(s._replace(name=str("ab".index(s.name))) for s in steps))
    assert whole_claim(numbered, "nodes", None, NODES)[0].amounts == claim.amounts


@pytest.mark.parametrize(("share", "k"), [(0.01, 1), (0.6, 1), (0.61, 2), (0.8, 2), (1, 3)])
def test_how_many_hold_a_share(share, k) -> None:
    assert _holding(whole("regions", NODES.taxonomy())[0], share) == k


@pytest.mark.parametrize("language", ["regions", "nodes", "pairs"])
def test_no_edits_are_no_places(language) -> None:
    nothing = replace(RESULT, status=Status.EXHAUSTED, edits=Edits())
    claim, parts = whole(language, NODES.taxonomy(), nothing)
    assert (claim.amounts, claim.total, parts) == ((), 0, [])


def test_many_nodes_without_regions_need_no_node_by_node_table() -> None:
    n = 50_000  # a table of all pairs would take twenty gigabytes
    graph = Graph.from_edges(n, [(0, n - 1), (1, 2)])
    result = Counterfactual(Status.FOUND, graph, Edits(removed=((0, n - 1),)), 1, 0)
    oracle = as_oracle(lambda g: int(g.has_edge(0, n - 1)), "graph")
    story = describe(result, Nodes.numbered(n), oracle)
    assert story.verified
