"""Truth as read: redraws, readings, budgets, what a result brings along, and the badge."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from denseflip import Counterfactual, Edits, Graph, Nodes, Story, describe
from denseflip.counterfactual import AsRead, Status, Step
from denseflip.errors import FileFormatError, InvalidParameterError, OracleError
from denseflip.oracles.session import Session

N, HALF = 20, 10
NODES = Nodes(
    tuple(f"n{i}" for i in range(N)),
    regions={"part": ("A",) * HALF + ("B",) * HALF, "all": ("X",) * N},
)
CROSS = [(u, v) for u in range(HALF) for v in range(HALF, N)]
EMPTY = Graph.from_edges(N, [])
GOOD = SimpleNamespace(level="better", better_than_chance=True, verdict="Good.", warning=None)


class Rule:
    """An oracle of a rule about the adjacency matrix; counts what it was asked."""

    def __init__(self, rule) -> None:
        self.rule, self.asked = rule, 0

    def predict(self, graphs):
        self.asked += len(graphs)
        return [self.rule(g.to_adjacency()) for g in graphs]


def found(pairs, **facts) -> Counterfactual:
    return Counterfactual(Status.FOUND, EMPTY, Edits(tuple(pairs)), "no", "yes", **facts)


def enough_between(a) -> str:
    """Any twelve connections between the two halves."""
    return "yes" if a[:HALF, HALF:].sum() >= 12 else "no"


def the_first_twelve(a) -> str:
    """Twelve particular connections."""
    return "yes" if all(a[u, v] for u, v in CROSS[:12]) else "no"


# Of the class "yes": graphs that hold the 25 connections of the first five with the first five.
CORNER = [(u, v) for u in range(5) for v in range(HALF, HALF + 5)]


def corner(a) -> str:
    """Ten connections in one corner of the place."""
    return "yes" if a[:5, HALF : HALF + 5].sum() >= 10 else "no"


def test_what_holds_for_any_connections_is_true_as_read() -> None:
    story = describe(found(CROSS[:12]), NODES, enough_between)
    assert story.as_read == AsRead("regions", "part", "any", 20, 20)
    assert story.true_as_read
    assert story.reading == "any"


def test_what_holds_for_particular_connections_is_not() -> None:
    story = describe(found(CROSS[:12]), NODES, the_first_twelve)
    assert story.verified
    assert story.as_read == AsRead("regions", "part", "any", 20, 0)
    assert not story.true_as_read
    assert story.reading is None


def test_with_a_background_what_is_typical_is_tried() -> None:
    many = Graph.from_edges(N, CORNER)
    oracle = Rule(corner)
    story = describe(found(CORNER[:12]), NODES, oracle, background=[EMPTY, many, many])
    assert story.as_read == AsRead("regions", "part", "typical", 20, 20)
    assert story.true_as_read
    assert describe(found(CORNER[:12]), NODES, oracle).reading is None


def test_what_is_distinctive_comes_last() -> None:
    # All graphs hold the rest of the place too: typical of both classes, distinctive of none.
    rest = [p for p in CROSS if p not in CORNER]
    both = [Graph.from_edges(N, rest), Graph.from_edges(N, CROSS)]
    story = describe(found(CORNER[:12]), NODES, corner, background=both)
    assert story.as_read == AsRead("regions", "part", "distinctive", 20, 20)


def test_a_background_without_the_class_gives_the_outcome_for_any() -> None:
    story = describe(found(CORNER[:12]), NODES, corner, background=[EMPTY])
    assert story.as_read.reading == "any"
    assert not story.true_as_read


def test_too_few_typical_connections_are_no_reading() -> None:
    few = Graph.from_edges(N, CORNER[:10])  # the claim adds twelve
    story = describe(found(CORNER[:12]), NODES, corner, background=[EMPTY, few])
    assert story.as_read.reading == "any"


def test_the_class_that_the_sentence_gives_is_the_one_that_counts() -> None:
    def rule(a) -> str:
        """Twelve particular ones lead to yes, any other twelve to maybe."""
        if the_first_twelve(a) == "yes":
            return "yes"
        return "maybe" if a.any() else "no"

    story = describe(found(CROSS[:12], target="yes"), NODES, rule)
    assert story.as_read.flips == 0


def test_the_same_seed_gives_the_same_redraws() -> None:
    def rule(a) -> str:
        return "yes" if a[0, HALF:].sum() >= 2 or the_first_twelve(a) == "yes" else "no"

    shares = {
        seed: describe(found(CROSS[:12]), NODES, rule, seed=seed).as_read.flips for seed in range(6)
    }
    again = {
        seed: describe(found(CROSS[:12]), NODES, rule, seed=seed).as_read.flips for seed in range(6)
    }
    assert shares == again
    assert len(set(shares.values())) > 1


def test_of_nodes_the_connections_of_the_same_nodes_are_redrawn() -> None:
    star = [(0, v) for v in range(1, 9)]
    plain = Nodes.numbered(N)
    story = describe(found(star), plain, lambda a: "yes" if a[0].sum() >= 8 else "no")
    assert story.as_read == AsRead("nodes", None, "any", 20, 20)
    story = describe(found(star), plain, lambda a: "yes" if a[0, 1:9].all() else "no")
    assert story.as_read.flips == 0


def test_pairs_are_what_they_are() -> None:
    oracle = Rule(lambda a: "yes" if a[0, 1] else "no")
    story = describe(found([(0, 1)]), Nodes.numbered(N), oracle)
    assert story.as_read == AsRead("pairs", None, "any", 0, 0)
    assert story.true_as_read


def test_a_filled_place_is_asked_about_once() -> None:
    oracle = Rule(lambda a: "yes" if a[:HALF, HALF:].all() else "no")
    session = Session(oracle)
    story = describe(found(CROSS), NODES, session)
    assert story.true_as_read
    assert session.calls == 3  # the original, the place, and its only redraw


def test_no_redraws_no_oracle_nothing_found() -> None:
    story = describe(found(CROSS[:12]), NODES, enough_between, draws=0)
    assert story.as_read is None
    assert not story.true_as_read
    assert any("not tested (draws=0)" in note for note in story.footnotes)
    assert describe(found(CROSS[:12]), NODES).as_read is None
    nothing = Counterfactual(Status.EXHAUSTED, EMPTY, Edits(), "no", "no")
    assert describe(nothing, NODES, enough_between).as_read is None


@pytest.mark.parametrize("budget", [2, 5, 21])
def test_a_budget_too_small_for_one_test_is_said(budget) -> None:
    oracle = Rule(enough_between)
    story = describe(found(CROSS[:12]), NODES, oracle, budget=budget)
    assert story.verified
    assert story.as_read is None
    assert oracle.asked <= budget
    left = budget - story.verification.questions
    assert any(
        f"{left} queries of the budget were left, and a test takes 20." in n
        for n in story.footnotes
    )


def test_a_budget_for_one_reading_of_three() -> None:
    many = Graph.from_edges(N, CORNER)
    story = describe(found(CORNER[:12]), NODES, corner, background=[EMPTY, many], budget=25)
    assert story.as_read.reading == "any"
    assert any(note.startswith("Not fully tested as read") for note in story.footnotes)


@pytest.mark.parametrize("bad", [{"draws": -1}, {"draws": 1.5}, {"seed": -1}])
def test_bad_numbers_are_refused(bad) -> None:
    with pytest.raises(InvalidParameterError, match=f"{next(iter(bad))} must be"):
        describe(found(CROSS[:12]), NODES, enough_between, **bad)


# ---- what a result brings along --------------------------------------------------------------


KNOWN = AsRead("regions", "part", "typical", 20, 19)


def test_a_test_that_the_search_made_is_taken_as_it_is() -> None:
    session = Session(Rule(enough_between))
    pairs = [*CROSS[:14], (0, 1)]
    story = describe(found(pairs, as_read=KNOWN), NODES, session)
    assert story.as_read == KNOWN
    assert session.calls == 2  # the original and the counterfactual
    assert len(story.claim.amounts) == 2  # all of it: the claim was tested as a whole
    assert describe(found(pairs, as_read=KNOWN), NODES).as_read == KNOWN


def test_other_regions_are_tested_anew() -> None:
    story = describe(found(CROSS[:12], as_read=KNOWN), NODES, enough_between, regions="all")
    assert story.as_read.regions == "all"
    assert story.as_read.reading == "any"
    story = describe(found([*CROSS[:14], (0, 1)], as_read=KNOWN), NODES, enough_between, share=0.5)
    assert story.as_read.reading == "any"


def test_a_result_is_told_in_the_language_it_was_found_in() -> None:
    coarse = AsRead("regions", "all", "any", 20, 20)
    assert describe(found(CROSS[:12], as_read=coarse), NODES).taxonomy.name == "all"
    nodes = AsRead("nodes", None, "any", 20, 20)
    story = describe(found([(0, v) for v in range(1, 5)], as_read=nodes), NODES)
    assert story.language == "nodes"
    assert story.as_read == nodes
    pairs = AsRead("pairs", None, "any", 0, 0)
    story = describe(found(CROSS[:12], as_read=pairs), NODES, the_first_twelve)
    assert story.language == "pairs"
    assert len(story.claim.amounts) == 12
    told = describe(found(CROSS[:12], as_read=pairs), NODES, the_first_twelve, regions="part")
    assert told.language == "regions"


def test_the_nodes_that_a_search_named_are_those_of_the_sentence() -> None:
    # Both edits touch node 5, but the search speaks of 0 and 1.
    steps = (
        Step("densify", "block", ((0, 5),), name="n0", iteration=1),
        Step("densify", "block", ((1, 5),), name="n1", iteration=2),
    )
    nodes = AsRead("nodes", None, "any", 20, 20)
    result = found([(0, 5), (1, 5)], as_read=nodes, trace=steps)
    story = describe(result, NODES)
    assert [story.claim.name(place) for place in story.claim.places] == ["node n0", "node n1"]
    assert Story.from_dict(json.loads(json.dumps(story.to_dict()))) == story
    # A pair between two of them goes to the one that the search counted it with, and the fuller
    # one is said first.
    steps = (
        Step("densify", "block", ((0, 1),), name="n0", iteration=1),
        Step("densify", "block", ((1, 5), (1, 6)), name="n1", iteration=2),
    )
    both = describe(found([(0, 1), (1, 5), (1, 6)], as_read=nodes, trace=steps), NODES)
    assert [both.claim.name(place) for place in both.claim.places] == ["node n1", "node n0"]
    assert [amount.added for amount in both.claim.amounts] == [2, 1]
    unnamed = describe(replace(result, trace=()), NODES)
    assert [unnamed.claim.name(place) for place in unnamed.claim.places] == ["node n5"]


# ---- the badge -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "evaluation", "level", "text"),
    [
        (enough_between, GOOD, "listed", "true as read, range not known"),
        (the_first_twelve, GOOD, "listed", "holds for the listed connections"),
        (enough_between, None, "none", "true as read, range not known; classifier not evaluated"),
        (
            the_first_twelve,
            None,
            "none",
            "holds for the listed connections; classifier not evaluated",
        ),
        (enough_between, {"level": "chance"}, "none", "the classifier is at chance"),
        (enough_between, {"level": "unclear"}, "none", "not clearly better than chance"),
    ],
)
def test_the_badge_is_the_weakest_link(rule, evaluation, level, text) -> None:
    badge = describe(found(CROSS[:12]), NODES, rule, evaluation=evaluation).badge
    assert badge.level == level
    assert text in str(badge)


def test_what_was_not_tested_or_not_found_gets_no_badge() -> None:
    badge = describe(found(CROSS[:12]), NODES, evaluation=GOOD).badge
    assert (badge.level, badge.text) == ("none", "not tested")
    nothing = Counterfactual(Status.EXHAUSTED, EMPTY, Edits(), "no", "no")
    badge = describe(nothing, NODES, enough_between, evaluation=GOOD).badge
    assert (badge.level, badge.text) == ("none", "nothing found")
    untested = describe(found(CROSS[:12]), NODES, enough_between, draws=0, evaluation=GOOD).badge
    assert untested.level == "listed"


# ---- JSON ------------------------------------------------------------------------------------


def test_json_carries_it_and_brings_it_back() -> None:
    story = describe(found(CROSS[:12]), NODES, enough_between)
    data = json.loads(json.dumps(story.to_dict()))
    assert data["true_as_read"] is True
    assert data["reading"] == "any"
    assert data["as_read"]["interval"] == list(story.as_read.interval)
    assert data["badge"] == {
        "level": "none",
        "text": "true as read, range not known; classifier not evaluated",
    }
    assert data["language"] == "regions"
    again = Story.from_dict(data)
    assert again == story
    assert again.badge == story.badge


@pytest.mark.parametrize("odd", ["nodes", "pairs", "cells", 3])
def test_a_story_in_a_language_that_does_not_fit_its_regions_is_refused(odd) -> None:
    data = describe(found(CROSS[:12]), NODES, enough_between).to_dict()
    with pytest.raises(FileFormatError, match="language"):
        Story.from_dict({**data, "language": odd})


def test_a_sentence_that_claims_to_be_true_is_under_fresh_seeds() -> None:
    """What the test accepts at .9 holds for other redraws, not for those it was tested on only."""
    rng = np.random.default_rng(5)
    held = []
    for _ in range(20):
        weights = rng.random((N, N)) < 0.8

        def rule(a, weights=weights) -> str:
            return "yes" if (a * weights)[:HALF, HALF:].sum() >= 20 else "no"

        pairs = [p for p in CROSS if weights[p]][:30]
        first = describe(found(pairs), NODES, rule, seed=1)
        if first.true_as_read:
            held.append(describe(found(pairs), NODES, rule, seed=2, draws=200).as_read.share)
    assert len(held) > 5
    assert sum(share >= 0.9 for share in held) >= 0.9 * len(held)


def test_regions_of_the_same_name_that_are_others_are_tested_anew() -> None:
    steps = (Step("densify", "block", tuple(CROSS[:12]), name="A – B"),)
    claimed = AsRead("regions", "part", "any", 60, 60)
    result = found(CROSS[:12], as_read=claimed, trace=steps)
    assert describe(result, NODES, the_first_twelve).as_read == claimed
    others = Nodes(NODES.names, regions={"part": tuple("AB"[i % 2] for i in range(N))})
    story = describe(result, others, the_first_twelve)
    assert story.as_read is not None
    assert story.as_read.draws == 20
    assert not story.true_as_read


def test_an_oracle_that_leads_elsewhere_is_not_the_one_of_the_result() -> None:
    def elsewhere(a) -> str:
        return "perhaps" if a[:HALF, HALF:].sum() >= 12 else "no"

    with pytest.raises(OracleError, match=r"'perhaps' for the counterfactual, .* says 'yes'"):
        describe(found(CROSS[:12]), NODES, elsewhere)


def test_a_place_that_is_filled_leaves_nothing_open_and_says_so() -> None:
    def all_of_it(a) -> str:
        return "yes" if a[:HALF, HALF:].all() else "no"

    story = describe(found(CROSS), NODES, all_of_it)
    assert story.true_as_read
    assert any("no other choice" in note for note in story.footnotes)
    assert not any("random choices" in note for note in story.footnotes)
