"""The marks of a sentence: what they say, and what they mean for a reader."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from denseflip import Vocabulary
from denseflip.counterfactual import AsRead
from denseflip.story.wording.marks import UNTESTED, read_mark, stability_mark
from stories import make_story, sided_nodes

READ = AsRead("regions", "region", "any", 20, 20)
EXACT = "It is about exactly these connections, not about their regions as a whole."
SAME = "same answer after retraining"
MAY = "A classifier trained on other subjects may decide for other reasons."


@pytest.mark.parametrize(
    ("holds", "agreeing", "passed", "text", "meaning"),
    [
        (16, 20, True, f"{SAME}: 16 of 20 classifiers", "resampled data decide the"),
        (15, 20, None, f"often the {SAME}: 15 of 20 classifiers", MAY),
        (10, 20, None, f"often the {SAME}: 10 of 20 classifiers", MAY),
        (9, 20, False, f"seldom the {SAME}: 9 of 20 classifiers", "this one classifier"),
        (0, 20, False, f"never the {SAME}: 0 of 20 classifiers", "this one classifier"),
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
        (
            READ,
            True,
            "which connections does not matter: 20 of 20 random choices",
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
