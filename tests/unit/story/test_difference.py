"""Sentences in range that are no difference between the groups."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from denseflip.cli.explain import print_story
from denseflip.counterfactual import AsRead
from denseflip.report.facts import badge_chip, marks_of, shown_marks
from denseflip.report.front import told
from denseflip.report.many_page import make_index
from denseflip.result_scores import Stability
from denseflip.search.claims.reference import PlaceReference
from denseflip.story.story import Story
from denseflip.story.wording.difference import smallest_effect
from stories import make_story, sided_nodes

READ = AsRead("regions", "region", "any", 20, 20)
BETTER = {"level": "better", "accuracy": 0.9, "protocol": "nested"}
FAINT = "The groups hardly differ there: this describes this classifier rather than the groups."
AWAY = (
    "It moves away from what Patient graphs usually have: this describes this classifier rather "
    "than the groups."
)


def place(after: int, effect: float | None, *, inside: bool = True) -> PlaceReference:
    """A place of a graph with 2 edges there; the new group usually has 4."""
    group, same = (3, 4, 4, 5), (3, 3, 4, 4)
    return PlaceReference(("A", "B"), 9, 2, after, group, same, 0, 6, inside, effect)


def story_of(*places: PlaceReference, evaluation: dict[str, object] | None = None) -> Story:
    made = make_story(sided_nodes(), (), [(0, 6)], oracle=lambda a: int(a[0, 6]))
    return replace(made, as_read=READ, reference=places, evaluation=evaluation or BETTER)


@pytest.mark.parametrize(
    ("places", "badge", "words"),
    [
        ([place(3, 0.19)], "but the groups hardly differ there", FAINT),
        ([place(3, -0.1), place(3, 0.0)], "but the groups hardly differ there", FAINT),
        ([place(1, 0.8)], "but away from what is usual", AWAY),
        ([place(3, 0.2)], "", ""),
        ([place(3, 0.1), place(3, 0.9)], "", ""),
        ([place(1, 0.9), place(3, 0.9)], "", ""),
        ([place(3, None)], "", ""),
        ([], "", ""),
    ],
)
def test_the_badge_and_the_mark_are_amber_where_the_groups_are_alike(places, badge, words):
    story = story_of(*places)
    assert story.doubt == words
    if not places:
        return
    chip, (mark,) = (
        badge_chip(story),
        [m for m in marks_of(story) if m.text.startswith("named place")],
    )
    assert story.badge.level == ("listed" if words else "true")
    assert chip.kind == mark.kind == ("listed" if words else "good")
    assert story.badge.text.removeprefix("true as read, in range") == (
        f", {badge}" if badge else ""
    )
    said = mark.text.removeprefix(f"named place{'s' * (len(places) > 1)} ")
    assert said.startswith(f"in range, {badge}" if badge else "in the range of real graphs")
    assert words in mark.meaning


def test_the_line_is_on_the_page_in_the_index_and_on_the_command_line(capsys):
    story = story_of(place(3, 0.1))
    assert told(story).warning == FAINT
    assert FAINT not in [mark.meaning for mark in shown_marks(story)]  # it is said once
    print_story(story)
    assert FAINT in capsys.readouterr().out.splitlines()
    entry = SimpleNamespace(id="s1", label="A", story=story, failure="")
    clear = SimpleNamespace(id="s2", label="A", story=story_of(place(3, 0.9)), failure="")
    page = make_index([entry, clear], name="toy")
    assert page.count(FAINT) == 1
    assert "in range, but no group difference: <b>1</b>" in page


def test_a_change_out_of_range_or_a_classifier_at_chance_has_its_own_warning():
    assert "Out of the range" in told(story_of(place(3, 0.1, inside=False))).warning
    assert story_of(place(3, 0.1), evaluation={"level": "chance"}).doubt == ""


def test_the_smallest_difference_of_the_named_places():
    assert smallest_effect([place(3, -0.4), place(3, 0.9), place(3, None)]) == 0.4
    assert smallest_effect([place(3, None)]) is None


@pytest.mark.parametrize(
    ("seen", "advised"),
    [
        (Stability(20, (1.0,) * 9 + (0.2,) * 11, 20), True),
        (Stability(20, (1.0,) * 10 + (0.2,) * 10, 20), False),
        (Stability(20, (1.0,) * 9 + (0.2,) * 11, 20, 0.8), False),
        (Stability(20, (), 20), False),
        (None, False),
    ],
)
def test_a_sentence_that_is_not_stable_advises_to_search_for_one_that_is(seen, advised):
    made = replace(story_of(place(3, 0.9)), stability=seen)
    method = "Next: search again with the method auto, a background and stable=0.8."
    assert any(note.endswith(method) for note in made.footnotes) is advised
    assert ("stable" in made.parameters) is advised
    auto = replace(made, result=replace(made.result, method="auto"))
    text = "agree: this describes this one classifier rather than the groups."
    notes = [note for note in auto.footnotes if "Next: search again with stable=0.8." in note]
    assert bool(notes) is advised
    assert all(text in note or "do differ" in note for note in notes)
