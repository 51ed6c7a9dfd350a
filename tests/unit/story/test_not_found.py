"""What is said when there is no counterfactual."""

from __future__ import annotations

import time

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
    assert "tri ran out of changes to try." in story.statement
    assert f"{len(story.result.removed)} connections removed" in story.statement
    assert f"{story.result.calls} queries" in story.statement
    assert "Next: use the method auto, which tries several searches, with" in story.statement
    assert story.parameters == ("method", "background")
    assert not story.verified
    assert story.claim.amounts == ()
    assert story.detailed == story.statement
    assert story.short == (
        f"Graph 1: ill; no counterfactual found by tri (exhausted, {story.result.calls} queries)."
    )


def test_budget_names_the_budget() -> None:
    story = describe(explain(GRAPH, stubborn, "edg", budget=2), NODES, stubborn)
    assert story.result.status is Status.BUDGET
    assert "reached the limit on queries." in story.statement
    assert story.statement.endswith("Next: raise budget (2 queries were used; try 1000).")
    assert story.parameters == ("budget",)


def test_the_time_limit_is_named_if_it_was_that() -> None:
    def slow(adjacency) -> str:
        time.sleep(0.02)
        return "ill"

    result = explain(GRAPH, slow, "edg", time_limit=0.01, constraints={"max_edits": 3})
    story = describe(result, NODES)
    assert story.result.status is Status.BUDGET
    assert "edg reached the time limit." in story.statement
    assert story.statement.endswith("Next: loosen max_edits (now 3) and raise time_limit.")
    assert story.parameters == ("max_edits", "time_limit")
    assert not any("time limit" in note for note in story.footnotes)  # said once


def test_an_iteration_limit_is_named_with_its_value() -> None:
    result = explain(GRAPH, stubborn, make_method("edg", max_iterations=2))
    story = describe(result, NODES)
    text = story.statement
    assert "edg reached its limit of 2 iterations." in text
    assert "raise max_iterations (it was 2; try 20), or use the method auto" in text
    assert story.parameters == ("max_iterations", "method", "background")


def test_a_limit_that_was_not_reached_is_not_blamed() -> None:
    text = describe(explain(GRAPH, stubborn, "edg"), NODES).statement
    assert "edg ran out of changes to try." in text
    assert "max_iterations" not in text


# ---- the advice is tried: it works, and does not lead back -----------------------------------

RING = Graph.from_edges(8, [(i, (i + 1) % 8) for i in range(8)])
FULL = Graph.from_edges(8, [(u, v) for u in range(8) for v in range(u + 1, 8)])
PARTS = Nodes(tuple("abcdefgh"), regions={"part": ("North",) * 4 + ("South",) * 4})


def hidden(adjacency) -> str:
    """Well only if two pairs that are far apart are joined, and a third is not."""
    a = adjacency
    return "well" if a[0, 4] and a[2, 6] and a.sum() <= 26 else "ill"


def moved(adjacency) -> str:
    """Well if most of the ring is gone, wherever it went."""
    return "well" if sum(adjacency[i, (i + 1) % 8] for i in range(8)) <= 3 else "ill"


def dense(adjacency) -> str:
    return "well" if adjacency.sum() / 2 >= 20 else "ill"


def next_of(result: Counterfactual, **options: object) -> tuple[str, tuple[str, ...]]:
    story = describe(result, PARTS, **options)
    text = story.statement
    assert "Next: " in text
    return text.partition("Next: ")[2], story.parameters


def test_more_budget_is_tried() -> None:
    result = explain(RING, moved, "edg", budget=2)
    text, knobs = next_of(result)
    assert text == "raise budget (2 queries were used; try 1000)."
    assert knobs == ("budget",)
    tries = 0
    while not result.found:
        assert result.status is Status.BUDGET
        result = explain(RING, moved, "edg", budget=1000)
        tries += 1
    assert tries <= 3


def test_a_constraint_is_named_before_the_limit_that_was_reached() -> None:
    result = explain(RING, moved, "edg", budget=2, constraints={"max_edits": 1})
    assert result.status is Status.BUDGET
    text, knobs = next_of(result)
    assert text == "loosen max_edits (now 1) and raise budget (2 queries were used; try 1000)."
    assert knobs == ("max_edits", "budget")


def test_a_search_that_chooses_is_not_named() -> None:
    text = describe(explain(RING, stubborn, "auto", budget=3), PARTS).statement
    assert "was found: the search " in text
    assert "auto" not in text


def test_more_iterations_are_tried() -> None:
    result = explain(RING, moved, make_method("edg", max_iterations=2))
    text, knobs = next_of(result)
    assert text.startswith("raise max_iterations (it was 2; try 20), or use the method auto")
    assert knobs == ("max_iterations", "method", "background")
    again = explain(RING, moved, make_method("edg", max_iterations=20))
    assert again.found


@pytest.mark.parametrize("method", ["tri", "cli", "edg", "tri+min"])
def test_auto_is_tried_after_a_method_of_one_way(method) -> None:
    result = explain(RING, hidden, method)
    if result.found:
        pytest.fail("the case must be one that the method does not find")
    text, knobs = next_of(result)
    assert "use the method auto" in text
    assert "background" in knobs
    seen = Graph.from_edges(8, [(0, 4), (2, 6), (1, 5)])
    assert explain(RING, hidden, "auto", background=[RING, seen], nodes=PARTS).found


def test_auto_is_tried_after_a_data_set_without_the_class() -> None:
    result = explain(RING, dense, "dat", background=[RING, Graph.from_edges(8, [])])
    text, _ = next_of(result)
    assert text.startswith("use the method auto")
    assert "dat" not in text.replace("data", "")
    assert explain(RING, dense, "auto", background=[RING, FULL], nodes=PARTS).found


def test_after_auto_a_background_is_tried_and_auto_never_advised_again() -> None:
    result = explain(RING, hidden, "auto")
    if result.found:
        pytest.fail("the case must be one that auto does not find without a background")
    text, knobs = next_of(result)
    assert text == "pass a background with graphs that the classifier puts in another class."
    assert knobs == ("background",)
    seen = Graph.from_edges(8, [(0, 4), (2, 6), (1, 5)])
    assert explain(RING, hidden, "auto", background=[RING, seen], nodes=PARTS).found


def test_after_auto_with_a_background_the_class_is_the_knob() -> None:
    background = [RING, FULL]

    class Wide:
        classes = ("ill", "well", "odd")  # it knows the class, and gives it to nobody here

        def predict(self, graphs):
            return [dense(graph.to_adjacency()) for graph in graphs]

    result = explain(RING, Wide(), "auto", background=background, target="odd", nodes=PARTS)
    text, knobs = next_of(result)
    assert text.startswith("pass a background with graphs that the classifier puts in odd, or")
    assert knobs == ("background", "target")
    assert explain(RING, dense, "auto", background=background, nodes=PARTS).found


def test_when_everything_was_tried_it_says_what_that_may_mean() -> None:
    result = explain(RING, stubborn, "auto", background=[RING, FULL], nodes=PARTS)
    text, knobs = next_of(result)
    assert "the classifier may give every graph the same label" in text
    assert knobs == ("background",)


def test_a_sentence_that_is_not_true_as_read_points_to_auto_which_makes_one_that_is() -> None:
    def rule(adjacency) -> str:
        """Four of the five first pairs across, or any ten."""
        across = adjacency[:4, 4:]
        return "well" if across.ravel()[:5].sum() >= 4 or across.sum() >= 10 else "ill"

    background = [RING, FULL]
    story = describe(explain(RING, rule, "dat+min", background=background), PARTS, rule)
    assert not story.true_as_read
    assert story.parameters == ("method", "background")
    assert any("The method auto, with a background, searches for" in n for n in story.footnotes)
    told = describe(explain(RING, rule, "auto", background=background, nodes=PARTS), PARTS, rule)
    assert told.true_as_read
    assert told.parameters == ()


def test_pairs_told_by_auto_point_to_a_background() -> None:
    story = describe(explain(RING, dense, "auto", nodes=PARTS), PARTS, dense)
    assert story.language == "pairs"
    assert story.parameters == ("background",)
    told = explain(RING, dense, "auto", nodes=PARTS, background=[RING, FULL])
    assert describe(told, PARTS, dense).language == "regions"


def test_not_needed_is_said_plainly() -> None:
    story = describe(explain(GRAPH, stubborn, "tri", target="ill"), NODES, stubborn)
    assert story.statement == (
        "This graph is classified as ill. This is the target class already, so nothing has to "
        "change."
    )
    assert story.short == "This graph: ill already."


def test_a_wanted_class_is_named() -> None:
    story = describe(explain(GRAPH, stubborn, "tri", target="well"), NODES, stubborn)
    assert "No change that leads to well was found" in story.statement


def test_nothing_changed_claims_nothing() -> None:
    result = Counterfactual(Status.BUDGET, GRAPH, Edits(), 1, 1, method="cli")
    text = describe(result, NODES).statement
    assert "It asked the classifier 1 time." in text
    assert "had" not in text.replace("it had", "")


def test_a_result_found_without_edits_is_refused() -> None:
    result = Counterfactual(Status.FOUND, GRAPH, Edits(), 1, 0, method="cli")
    with pytest.raises(InvalidParameterError, match="but no edits"):
        describe(result, NODES)


def test_footnotes_of_nothing_found_speak_of_no_test() -> None:
    story = describe(explain(GRAPH, stubborn, "tri"), NODES, stubborn)
    assert story.tested == "There is no counterfactual to test."
    assert not any("Tested" in note for note in story.footnotes)
