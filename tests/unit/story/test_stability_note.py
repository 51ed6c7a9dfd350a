"""What a story says about classifiers trained again."""

from __future__ import annotations

import pytest

from denseflip import describe, explain, fit_oracle, make_refits
from denseflip.result_scores import Stability
from denseflip.story.story import Story
from denseflip.story.wording.notes import stability_note
from denseflip.workflow.explain_and_describe import explain_and_describe, json_record
from denseflip.workflow.subject import Subject
from groups import NODES, cohort

DATA = cohort(10, gap=4)
ORACLE = fit_oracle(DATA, "regions-logistic")
REFITS = make_refits(DATA, ORACLE, 6)
TRAINED = "trained again on resampled data"
ONLY = "this describes this one classifier rather than the groups."


def shares(holding: int, failing: int = 0) -> tuple[float, ...]:
    return (1.0,) * holding + (0.2,) * failing


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (None, None),
        (Stability(0, (), 0), f"Whether it also holds for classifiers {TRAINED} is not known."),
        (Stability(20, shares(19, 1), 20), f"It also holds for 19 of 20 classifiers {TRAINED}."),
        (Stability(20, shares(10, 10), 20), f"It also holds for 10 of 20 classifiers {TRAINED}."),
        (Stability(20, shares(5, 15), 20), f"Only 5 of 20 classifiers {TRAINED} agree: {ONLY}"),
        (Stability(20, shares(1, 19), 20), f"Only 1 of 20 classifiers {TRAINED} agrees: {ONLY}"),
        (Stability(20, shares(0, 20), 20), f"None of 20 classifiers {TRAINED} agrees: {ONLY}"),
        (
            Stability(20, shares(9, 10), 20),
            f"Only 9 of 19 classifiers {TRAINED} agree (1 more gives the original another class): "
            f"{ONLY}",
        ),
        (
            Stability(10, shares(8), 20, 0.8, held_out=True),
            f"It also holds for 8 of 8 classifiers {TRAINED}, none of which the search used (2 "
            "more give the original another class).",
        ),
        (
            Stability(20, (), 20),
            f"All 20 classifiers {TRAINED} give the original another class: {ONLY}",
        ),
    ],
)
def test_the_words(seen, words):
    assert stability_note(seen) == words


def test_describe_tests_the_sentence_and_the_story_keeps_it():
    result = explain(DATA.graphs[0], ORACLE, "con+min", nodes=NODES, background=DATA.graphs)
    known = {"background": DATA.graphs, "class_names": DATA.class_names}
    story = describe(result, NODES, ORACLE, refits=REFITS, **known)
    assert story.stability.refits == 6
    assert stability_note(story.stability, story.reference) in story.footnotes
    assert Story.from_dict(story.to_dict()) == story
    assert json_record(story)["story"]["stability"] == story.stability.to_dict()
    plain = describe(result, NODES, ORACLE, **known)
    assert plain.stability is None
    assert not any("trained again" in note for note in plain.footnotes)


def test_describe_uses_what_the_search_measured():
    known = {"background": DATA.graphs, "refits": REFITS}
    result = explain(DATA.graphs[0], ORACLE, nodes=NODES, **known)
    assert describe(result, NODES, ORACLE, **known).stability == result.stability


def test_a_preset_is_trained_again_by_default():
    subject = Subject(DATA.graphs[0], "g0", NODES, DATA, DATA.name)
    story = explain_and_describe(subject, ORACLE)
    assert story.stability.refits == 20
    assert explain_and_describe(subject, ORACLE, refits=0).stability is None
    assert explain_and_describe(subject, ORACLE, refits=4).stability.refits == 4
    assert explain_and_describe(subject, ORACLE, refits=REFITS).stability.refits == 6


def test_of_a_classifier_that_cannot_be_trained_again_nothing_is_known():
    subject = Subject(DATA.graphs[0], "g0", NODES, DATA, DATA.name)
    story = explain_and_describe(subject, lambda a: int(a[:4, 4:8].sum() > 6))
    assert story.stability == Stability(0, (), 0)
    assert any("is not known" in note for note in story.footnotes)


def test_a_stable_sentence():
    subject = Subject(DATA.graphs[0], "g0", NODES, DATA, DATA.name)
    story = explain_and_describe(subject, ORACLE, stable=0.8)
    assert story.stability.held_out
    assert story.stability.refits == 10
