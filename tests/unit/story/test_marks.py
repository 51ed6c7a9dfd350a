"""The marks of a sentence: what they say, and what they mean for a reader."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from denseflip import Vocabulary
from denseflip.counterfactual import AsRead
from denseflip.story.wording.marks import HOLDS, UNTESTED, read_mark, stability_mark
from stories import make_story, sided_nodes

READ = AsRead("regions", "region", "any", 20, 20)
EXACT = "It is about exactly these connections, not about their regions as a whole."
MAY = "A classifier trained on other subjects may decide for other reasons."


@pytest.mark.parametrize(
    ("holds", "agreeing", "passed", "text", "meaning"),
    [
        (16, 20, True, "holds for retrained classifiers: 16 of 20", "resampled data decide the"),
        (15, 20, None, "holds for some retrained classifiers: 15 of 20", MAY),
        (10, 20, None, "holds for some retrained classifiers: 10 of 20", MAY),
        (9, 20, False, "holds for few retrained classifiers: 9 of 20", "this one classifier"),
        (0, 20, False, "holds for no retrained classifier: 0 of 20", "this one classifier"),
        (0, 0, None, UNTESTED, MAY),
    ],
)
def test_a_sentence_is_stable_if_it_holds_for_most_refits(holds, agreeing, passed, text, meaning):
    seen = SimpleNamespace(holds=holds, agreeing=agreeing)
    words = Vocabulary.named("connectome")
    mark = stability_mark(SimpleNamespace(stability=seen, vocabulary=words))
    assert mark[:2] == (passed, text)
    assert meaning in mark.meaning


@pytest.mark.parametrize(
    ("test", "passed", "text", "meaning"),
    [
        (READ, True, f"{HOLDS}: 20 of 20 random choices", "does not matter which"),
        (replace(READ, only=True), True, f"{HOLDS}: no other choice", "does not matter which"),
        (
            replace(READ, flips=3),
            False,
            "holds for the listed connections only: 3 of 20 random choices",
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
