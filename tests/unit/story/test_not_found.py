"""What is said when there is no counterfactual."""

from __future__ import annotations

import pytest

from denseflip import Counterfactual, Edits, Graph, Nodes, describe, explain, make_method
from denseflip.counterfactual import Status
from denseflip.errors import InvalidParameterError

GRAPH = Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3)])
NODES = Nodes(tuple("abcde"), regions={"part": ("North", "North", "South", "South", "South")})


def stubborn(adjacency) -> str:
    return "ill"


def test_exhausted_says_what_was_tried_how_far_it_went_and_what_to_do() -> None:
    story = describe(explain(GRAPH, stubborn, "tri"), NODES, stubborn, subject=1)
    assert story.result.status is Status.EXHAUSTED
    assert story.statement.startswith("Graph 1 is classified as ill. No change that leads to")
    assert "If " not in story.statement
    assert "tri tried all that it tries (status: exhausted)." in story.statement
    assert f"{len(story.result.removed)} connections removed" in story.statement
    assert f"{story.result.calls} questions" in story.statement
    assert "Next: take another method (cli; or, with a data set as background," in story.statement
    assert story.parameters == ("method", "background")
    assert not story.verified
    assert story.verification.named == ()
    assert story.detailed == story.statement
    assert story.short == (
        f"Graph 1: ill; no counterfactual found by tri (exhausted, {story.result.calls} questions)."
    )


def test_budget_names_the_budget() -> None:
    story = describe(explain(GRAPH, stubborn, "edg", budget=2), NODES, stubborn)
    assert story.result.status is Status.BUDGET
    assert "spent its budget of questions or time first (status: budget)" in story.statement
    assert "Next: raise budget (it asked 2; try 20) or time_limit, or take" in story.statement
    assert story.parameters == ("budget", "time_limit", "method")


def test_an_iteration_limit_is_named_with_its_value() -> None:
    result = explain(GRAPH, stubborn, make_method("edg", max_iterations=2))
    story = describe(result, NODES)
    text = story.statement
    assert "edg reached its limit of 2 iterations (status: exhausted)." in text
    assert "raise max_iterations (it was 2; try 20), or take another method (tri;" in text
    assert story.parameters == ("max_iterations", "method", "background")


def test_a_limit_that_was_not_reached_is_not_blamed() -> None:
    text = describe(explain(GRAPH, stubborn, "edg"), NODES).statement
    assert "edg tried all that it tries (status: exhausted)." in text
    assert "max_iterations" not in text


def test_a_data_set_method_asks_for_a_better_background() -> None:
    result = Counterfactual(Status.EXHAUSTED, GRAPH, Edits(), 1, 1, method="dat+bw")
    story = describe(result, NODES)
    assert (
        "puts in that class as background, or take another method, such as tri" in story.statement
    )
    assert story.parameters == ("background", "method")


def test_not_needed_is_said_plainly() -> None:
    story = describe(explain(GRAPH, stubborn, "tri", target="ill"), NODES, stubborn)
    assert story.statement == (
        "This graph is classified as ill. That is the class that was asked for, so nothing has to "
        "change."
    )
    assert story.short == "This graph: ill already."


def test_a_wanted_class_is_named() -> None:
    story = describe(explain(GRAPH, stubborn, "tri", target="well"), NODES, stubborn)
    assert "No change that leads to well was found" in story.statement


def test_nothing_changed_claims_nothing() -> None:
    result = Counterfactual(Status.BUDGET, GRAPH, Edits(), 1, 1, method="cli")
    text = describe(result, NODES).statement
    assert "It asked 1 question and kept no change." in text
    assert "had" not in text.replace("it had", "")


def test_a_result_found_without_edits_is_refused() -> None:
    result = Counterfactual(Status.FOUND, GRAPH, Edits(), 1, 0, method="cli")
    with pytest.raises(InvalidParameterError, match="holds no edits"):
        describe(result, NODES)


def test_footnotes_of_nothing_found_speak_of_no_test() -> None:
    story = describe(explain(GRAPH, stubborn, "tri"), NODES, stubborn)
    assert story.tested == "There is no counterfactual to test."
    assert not any("Tested" in note for note in story.footnotes)
