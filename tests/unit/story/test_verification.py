"""The test of a sentence: order, stopping, counting, honesty."""

from __future__ import annotations

import json
import time

import pytest

from denseflip import Counterfactual, Edits, Graph, Nodes, Story, as_oracle, describe
from denseflip.counterfactual import Status
from denseflip.errors import DenseflipError, OracleError
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import Amount

# Regions of three nodes; edits: inside North 3 removed, North–South 2 added, inside South 1 added.
NODES = Nodes(tuple("abcdef"), regions={"part": ("North",) * 3 + ("South",) * 3})
ORIGINAL = Graph.from_edges(6, [(0, 1), (0, 2), (1, 2)])
EDITS = Edits(added=((0, 3), (1, 4), (3, 4)), removed=((0, 1), (0, 2), (1, 2)))
NORTH, BOTH, SOUTH = Amount((0, 0), 0, 3), Amount((0, 1), 2, 0), Amount((1, 1), 1, 0)


class Counting:
    """An oracle of a rule that remembers what it was asked."""

    def __init__(self, rule) -> None:
        self.rule, self.asked = rule, []

    def predict(self, graphs):
        self.asked += graphs
        return [self.rule(g) for g in graphs]


class Distant(Counting):
    """Takes as long for many graphs as for one."""

    def predict(self, graphs):
        time.sleep(0.003)
        return super().predict(graphs)


def found(**facts) -> Counterfactual:
    values = {"label_before": 0, "label_after": 1, "method": "any", **facts}
    return Counterfactual(Status.FOUND, ORIGINAL, EDITS, **values)


def test_names_only_what_is_enough() -> None:
    oracle = Counting(lambda g: int(not g.has_edge(0, 1)))
    check = describe(found(), NODES, oracle).verification
    assert check.verified
    assert check.claim.amounts == (NORTH,)
    assert check.edits == Edits(removed=EDITS.removed)
    assert check.questions == 2
    assert not check.all_needed
    assert check.n_cells == 3


def test_names_what_is_needed_and_not_what_came_before_it() -> None:
    oracle = Counting(lambda g: int(g.has_edge(0, 3)))
    check = describe(found(), NODES, oracle).verification
    assert check.claim.amounts == (BOTH,)
    assert check.minimal
    assert check.tried == 3  # North; North and both; both


def test_says_so_if_all_are_needed() -> None:
    oracle = Counting(lambda g: int(g.has_edge(3, 4) and g.has_edge(0, 3) and g.n_edges == 3))
    story = describe(found(), NODES, oracle)
    assert story.claim.amounts == (NORTH, BOTH, SOUTH)
    assert story.verification.all_needed
    assert "all are needed: no region pair can be left out" in story.tested
    assert story.rest is None


def test_of_a_part_it_says_that_none_of_it_can_be_left_out() -> None:
    story = describe(found(), NODES, Counting(lambda g: int(g.has_edge(0, 3) > g.has_edge(0, 1))))
    assert story.claim.amounts == (NORTH, BOTH)
    assert "2 of 3 region pairs; no region pair named can be left out." in story.tested


def test_a_session_that_is_given_is_asked_and_pays() -> None:
    oracle = Counting(lambda g: int(g.has_edge(0, 3)))
    session = Session(oracle)
    session.query(ORIGINAL)
    check = describe(found(), NODES, session, draws=0).verification
    assert (check.questions, session.calls) == (4, 5)
    assert check == describe(found(), NODES, oracle, draws=0).verification


def test_one_of_many_is_found_in_few_batches() -> None:
    n = 200
    pairs = tuple((i, i + 1) for i in range(0, n, 2))
    nodes = Nodes.from_groups(n, {f"Part {i}": [i, i + 1] for i in range(0, n, 2)})
    empty = Graph.from_edges(n, [])
    result = Counterfactual(Status.FOUND, empty, Edits(pairs), 0, 1, method="any")
    session = Session(Distant(lambda g: int(g.has_edge(n - 2, n - 1))))
    check = describe(result, nodes, session, draws=0).verification
    assert check.claim.amounts == (Amount((99, 99), 1, 0),)
    assert check.questions == 1 + n // 2 + 1
    assert session.predictions <= check.questions / 2


def test_a_single_cell_is_not_called_needed_in_words() -> None:
    result = Counterfactual(Status.FOUND, ORIGINAL, Edits(removed=EDITS.removed), 0, 1)
    story = describe(result, NODES, as_oracle(lambda a: int(not a[0, 1])))
    assert "They are all changes (3 connections in one region pair)." in story.tested


def test_the_target_decides_what_counts_as_a_flip() -> None:
    def rule(g):
        if g == ORIGINAL:
            return 0
        return 1 if g.has_edge(3, 4) else 2

    check = describe(found(), NODES, Counting(rule)).verification
    assert (check.claim.label, check.claim.amounts) == (2, (NORTH,))
    check = describe(found(target=1), NODES, Counting(rule)).verification
    assert (check.claim.label, check.claim.amounts) == (1, (SOUTH,))


def test_the_sentence_gives_the_class_that_the_named_edits_lead_to() -> None:
    def rule(g):
        return 0 if g == ORIGINAL else 1 if g.has_edge(3, 4) else 2

    story = describe(found(), NODES, Counting(rule), class_names=("well", "ill", "odd"))
    assert story.statement.endswith("would have been classified as odd.")


def test_without_an_oracle_everything_is_named_and_called_untested() -> None:
    story = describe(found(), NODES)
    assert not story.verified
    assert not story.verification.tested
    assert story.verification.questions == 0
    assert story.verification.edits == EDITS
    assert not story.verification.all_needed
    assert story.tested.startswith("Not tested, because no classifier was given")
    assert any(note.startswith("Not tested") for note in story.footnotes)


def test_another_oracle_is_noticed_at_the_original() -> None:
    with pytest.raises(OracleError, match="gives 1 for the original graph, but the result says 0"):
        describe(found(), NODES, as_oracle(lambda a: 1))


def test_another_oracle_is_noticed_at_the_counterfactual() -> None:
    with pytest.raises(OracleError, match="gives 0 for the counterfactual, but the result says 1"):
        describe(found(), NODES, as_oracle(lambda a: 0))


def test_a_share_is_named_even_if_less_would_do() -> None:
    oracle = as_oracle(lambda a: int(not a[0, 1]))
    story = describe(found(), NODES, oracle, share=0.8)
    assert story.claim.amounts == (NORTH, BOTH)
    assert story.verified
    assert story.verification.questions == 2


def test_a_share_of_everything_does_not_claim_that_all_is_needed() -> None:
    story = describe(found(), NODES, as_oracle(lambda a: int(not a[0, 1])), share=1.0)
    assert len(story.claim.amounts) == 3
    assert not story.verification.all_needed
    assert "can be left out" not in story.tested


def test_a_spent_budget_names_everything_and_does_not_claim_that_all_is_needed() -> None:
    oracle = Counting(lambda g: int(g.has_edge(3, 4)))
    story = describe(found(), NODES, oracle, budget=3)
    assert story.claim.amounts == (NORTH, BOTH, SOUTH)
    assert story.verified
    assert story.verification.questions == 3
    assert not story.verification.all_needed
    assert any("before it was clear whether a shorter sentence" in n for n in story.footnotes)


def test_a_spent_session_leaves_the_sentence_untested() -> None:
    session = Session(Counting(lambda g: int(g.has_edge(3, 4))), budget=1)
    story = describe(found(), NODES, session)
    assert not story.verified
    assert story.verification.edits == EDITS
    assert "Not tested: the session's budget of queries was spent." in story.footnotes


def test_the_rest_is_said_to_be_unneeded_only_when_tested() -> None:
    story = describe(found(), NODES, as_oracle(lambda a: int(not a[0, 1])))
    assert story.rest == (
        "The whole counterfactual also has 2 more connections between North and South, and 1 "
        "connection changed elsewhere, which is not needed to flip the classifier."
    )
    assert describe(found(), NODES).rest is None


def test_verification_survives_its_dictionary() -> None:
    check = describe(found(), NODES, as_oracle(lambda a: int(not a[0, 1]))).verification
    claim = check.claim
    assert check.saved.restore(claim.language, claim.taxonomy) == check


@pytest.mark.parametrize("value", [None, "x", -1, 1.5, True, [], {}, [[0]], [["a", "b"]], [{}]])
def test_a_verification_that_does_not_fit_is_refused_or_can_be_described(value) -> None:
    """Whatever one entry of it holds, a story is refused with a message, or can be shown."""
    story = describe(found(), NODES, as_oracle(lambda a: int(not a[0, 1])))
    data = json.loads(json.dumps(story.to_dict()))
    refused = 0
    for key in data["verification"]:
        try:
            made = Story.from_dict({**data, "verification": {**data["verification"], key: value}})
        except DenseflipError:
            refused += 1
        else:
            assert str(made)
    assert refused


def test_of_what_was_not_found_nothing_is_tested_or_verified() -> None:
    nothing = Counterfactual(Status.EXHAUSTED, ORIGINAL, Edits(), 0, 0)
    check = describe(nothing, NODES, as_oracle(lambda a: 0)).verification
    assert (check.verified, check.tested, check.claim.amounts, check.questions) == (
        False,
        False,
        (),
        0,
    )
    untold = describe(found(), NODES).verification
    assert (untold.verified, untold.tested) == (False, False)
    assert untold.claim.amounts == (NORTH, BOTH, SOUTH)
