"""What a claim can name, on six nodes, by hand; and everything that a result changes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from denseflip import Constraints, Counterfactual, Edits, Graph, Nodes, Step, as_oracle, describe
from denseflip.counterfactual import AsRead, Status
from denseflip.graph.pairs import decode
from denseflip.oracles.background import Frequencies
from denseflip.search.claims.claim import Amount, Claim, is_with_all
from denseflip.search.claims.elsewhere import Elsewhere
from denseflip.search.claims.places import Places, in_cells, whole_claim
from denseflip.search.constraints.bound_constraints import bind_constraints
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


# ---- one region with all regions ----------------------------------------------------------

WIDE = (0, 3)  # A with all three regions
EVERY = Places(ORIGINAL, NODES.taxonomy(), with_all=True)
STATED = replace(
    RESULT,
    as_read=AsRead("regions", "part", "any", 60, 60, places=(("A", "all regions"),)),
    edits=Edits(added=((0, 2), (0, 3)), removed=((0, 1), (1, 2))),
)


def test_a_region_with_all_regions_holds_the_pairs_with_an_end_in_it() -> None:
    assert EVERY.every == ((0, 3), (1, 3), (2, 3))
    # Of 15 pairs, all but the 6 among the four other nodes.
    assert EVERY.sizes.tolist() == [9, 9, 9]
    assert EVERY.joined.tolist() == [2, 1, 0]  # 0-1 and 1-2
    assert EVERY.counts(WIDE) == (9, 2)
    assert decode(EVERY.present(WIDE), 6) == [(0, 1), (1, 2)]
    absent = list(decode(EVERY.absent(WIDE)[:], 6))
    assert absent == [(0, 2), (0, 3), (0, 4), (0, 5), (1, 3), (1, 4), (1, 5)]
    assert EVERY.addable.tolist() == [7, 8, 9]
    assert EVERY.removable.tolist() == [2, 1, 0]
    values = np.array([1.0, 10.0])
    assert EVERY.total(ORIGINAL.codes, values).tolist() == [11.0, 10.0, 0.0]


def test_frozen_pairs_are_not_in_the_pool_of_a_region_with_all_regions() -> None:
    terms = bind_constraints(Constraints(freeze=(("part", "A", "B"),)), ORIGINAL, NODES)
    places = Places(ORIGINAL, NODES.taxonomy(), terms, with_all=True)
    assert decode(places.absent(WIDE)[:], 6) == [(0, 4), (0, 5), (1, 4), (1, 5)]
    assert decode(places.present(WIDE), 6) == [(0, 1)]
    assert places.counts(WIDE) == (9, 2)  # whether or not they may change


def test_a_result_that_names_a_region_with_all_regions_keeps_that_place() -> None:
    claim, parts = whole("regions", NODES.taxonomy(), STATED)
    assert claim.amounts == ((WIDE, 2, 2),)
    assert (claim.with_all, claim.name(WIDE)) == (True, "A – all regions")
    assert claim.place_names == (("A", "all regions"),)
    assert parts == [[(0, 1), (0, 2), (0, 3), (1, 2)]]
    rows = claim.rows()
    assert Claim.from_rows(rows, "well", "regions", NODES.taxonomy()) == claim
    # By pair of regions, for what counts those.
    assert in_cells(STATED, claim) == (((0, 1), 2, 1), ((0, 0), 0, 1))


def test_what_balances_a_region_with_all_regions_is_apart_from_it() -> None:
    edits = Edits(added=((0, 2), (0, 3), (0, 4)), removed=((2, 3), (4, 5)))
    graph = Graph.from_edges(6, edits.removed)
    result = replace(STATED, original=graph, edits=edits)
    result = replace(result, as_read=replace(STATED.as_read, balanced=True))
    claim, parts = whole("regions", NODES.taxonomy(), result)
    assert (claim.amounts, claim.elsewhere) == (((WIDE, 3, 0),), -3)
    assert parts == [[(0, 2), (0, 3), (0, 4), (2, 3), (4, 5)]]
    seen = Frequencies.of([Graph.from_edges(6, [(0, 1), (2, 4), (3, 5)])])
    elsewhere = Elsewhere(Places(graph, NODES.taxonomy(), with_all=True), seen, seen)
    for seed in range(5):
        queue = elsewhere.queue(np.random.default_rng(seed), adding=False)
        drawn = elsewhere.take(queue, (Amount(WIDE, 2, 0),), adding=False)
        assert decode(np.sort(drawn), 6) == [(2, 3), (4, 5)]


def test_two_regions_have_no_wider_place() -> None:
    two = Nodes(tuple("abcd"), regions={"half": ("A", "A", "B", "B")}).taxonomy()
    assert not is_with_all((0, 2), two)
    assert is_with_all(WIDE, NODES.taxonomy())


@pytest.mark.parametrize("kind", ["cells", "regions with all", "nodes"])
def test_the_edges_of_several_graphs_are_counted_as_those_of_each(kind: str) -> None:
    rng = np.random.default_rng(3)
    every = [(u, v) for u in range(6) for v in range(u + 1, 6)]
    graphs = [Graph.from_edges(6, [p for p in every if rng.random() < x]) for x in (0.2, 0.8, 0.0)]
    taxonomy = None if kind == "nodes" else NODES.taxonomy()
    places = Places(ORIGINAL, taxonomy, with_all=kind == "regions with all")
    each = [places.edges_of(graph).tolist() for graph in graphs]
    assert places.edges_of_each(graphs).tolist() == each
