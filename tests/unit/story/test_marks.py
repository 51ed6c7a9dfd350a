"""The marks of a sentence: what they say, and what they mean for a reader."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from denseflip import Vocabulary
from denseflip.counterfactual import AsRead
from denseflip.result_scores import Stability
from denseflip.search.claims.reference import PlaceReference
from denseflip.story.wording.badge import distrust_words
from denseflip.story.wording.marks import UNTESTED, classifier_mark, read_mark, stability_mark
from denseflip.story.wording.notes import stability_note
from stories import make_story, sided_nodes

READ = AsRead("regions", "region", "any", 20, 20)
EXACT = "It is about exactly these connections, not about their regions as a whole."
SAME = "same answer after retraining"
COUNTED = (
    "Counts the classifiers, trained again on resampled subjects, for which the same sentence "
    "still changes the answer."
)
MAY = "A classifier trained on other subjects may decide for other reasons."


@pytest.mark.parametrize(
    ("holds", "agreeing", "passed", "text", "meaning"),
    [
        (16, 20, True, f"{SAME}: 16 of 20 classifiers", f"{COUNTED} This sentence is stable."),
        (15, 20, None, f"{SAME}: 15 of 20 classifiers", COUNTED),
        (10, 20, None, f"{SAME}: 10 of 20 classifiers", COUNTED),
        (
            9,
            20,
            False,
            f"{SAME}: 9 of 20 classifiers",
            f"{COUNTED} It explains this one classifier.",
        ),
        (0, 20, False, f"{SAME}: 0 of 20 classifiers", "this one classifier"),
        (0, 0, None, UNTESTED, MAY),
    ],
)
def test_a_sentence_is_stable_if_it_holds_for_most_refits(holds, agreeing, passed, text, meaning):
    seen = SimpleNamespace(holds=holds, agreeing=agreeing)
    words = Vocabulary.named("connectome")
    mark = stability_mark(SimpleNamespace(stability=seen, vocabulary=words, reference=()))
    assert mark[:2] == (passed, text)
    assert meaning in mark.meaning


@pytest.mark.parametrize(
    ("effects", "where"),
    [
        ((0.5,), "there"),
        ((-2.0, 1.0), "there"),
        ((-2.0, 0.49, None), "in 1 of the 3 places"),
        ((0.49,), None),
        ((None,), None),
    ],
)
def test_few_refits_do_not_deny_a_difference_that_the_strip_shows(effects, where):
    """The groups clearly differ in a place: only the change is specific to the classifier."""
    places = tuple(PlaceReference(("A", "B"), 9, 1, 2, (), (), effect=g) for g in effects)
    seen = Stability(20, (1.0,) * 5 + (0.2,) * 15, 20)
    words = Vocabulary.named("connectome")
    made = SimpleNamespace(stability=seen, vocabulary=words, reference=places)
    meaning, note = stability_mark(made).meaning, stability_note(seen, places)
    if where is None:
        assert "Do not read it as a difference between the groups." in meaning
        assert note.endswith("this describes this one classifier rather than the groups.")
        return
    said = f"he groups do differ {where}, but the change needed is specific to this classifier."
    assert meaning == f"{COUNTED} T{said}"
    assert note.endswith(f": t{said}")


@pytest.mark.parametrize(
    ("test", "passed", "text", "meaning"),
    [
        (
            READ,
            True,
            "holds with other connections there: 20 of 20 random choices",
            "Other connections of the same places change the answer too",
        ),
        (
            replace(READ, only=True),
            True,
            "no other choice of connections",
            "There are no other such connections.",
        ),
        (
            replace(READ, flips=3),
            False,
            "it matters which connections: 3 of 20 random choices",
            EXACT,
        ),
        (None, False, "holds for the listed connections", EXACT),
    ],
)
def test_the_mark_says_for_which_connections_the_sentence_holds(test, passed, text, meaning):
    made = make_story(sided_nodes(), (), [(0, 6)], oracle=lambda a: int(a[0, 6]))
    mark = read_mark(replace(made, as_read=test))
    assert mark[:2] == (passed, text)
    assert meaning in mark.meaning


@pytest.mark.parametrize(
    ("repeats", "accuracy", "right"),
    [
        (1, 15 / 16, "15 of 16 unseen graphs right"),
        (1, 1.0, "16 of 16 unseen graphs right"),
        (5, 0.9375, "94 % of 16 unseen graphs right"),
    ],
)
def test_the_accuracy_has_its_number_of_graphs_and_the_tooltip_its_interval(
    repeats, accuracy, right
):
    judged = {
        "level": "better", "accuracy": accuracy, "interval": (0.72, 0.99),
        "class_counts": {"A": 8, "B": 8}, "repeats": repeats,
    }  # fmt: skip
    made = make_story(sided_nodes(), (), [(0, 6)], evaluation=judged)
    mark = classifier_mark(made)
    assert mark.text == f"classifier better than chance: {right}"
    assert "(95 % interval of its accuracy: 72 to 99 %)" in mark.meaning
    chance = judged | {"level": "chance"}
    assert f"no better than guessing ({right})" in distrust_words(chance)
    assert "unseen" not in distrust_words(chance | {"protocol": "as given"})
