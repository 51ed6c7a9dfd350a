"""The picture of a front, and the words for how true a sentence is."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
from denseflip.counterfactual import AsRead, Status
from denseflip.graph import Nodes
from denseflip.report.front import (
    answer_labels,
    beside,
    language_words,
    make_front,
    named_words,
    read_cell,
    told,
    truth_words,
)
from denseflip.report.page import make_page
from denseflip.result_scores import Stability
from denseflip.story.story import Story
from denseflip.web.payload import view_of
from stories import make_story, plain_nodes, sided_nodes

BETTER = {"accuracy": 0.9, "level": "better", "verdict": "Better than chance: 90 %."}


def read(reading: str = "any", flips: int = 20) -> AsRead:
    return AsRead("regions", "region", reading, 20, flips)


def story(n_added: int, as_read: AsRead | None = None, *, places: int = 1, **options) -> Story:
    """So many edges added, in one or two places, tested by an oracle that wants them all."""
    across = [(u, v) for u in (0, 1, 2) for v in (6, 7, 8)][: n_added - (places - 1)]
    inside = [(0, 1)] if places == 2 else []
    added = [*across, *inside]
    made = make_story(
        sided_nodes(),
        (),
        added,
        oracle=lambda a: int(sum(a[u, v] for u, v in added) >= len(added)),
        evaluation=BETTER,
        **options,
    )
    return replace(made, as_read=as_read)


# ---- words ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "words", "cell"),
    [
        (
            read(),
            "holds for any edges there: 20 of 20 random choices flip the answer",
            "yes, 20 of 20",
        ),
        (
            read("typical", 19),
            "holds for edges typical of Patient: 19 of 20 random choices flip the answer",
            "yes (typical), 19 of 20",
        ),
        (
            read("distinctive"),
            "holds for edges that Patient has more often than Control & <Normal>: 20 of 20 random "
            "choices flip the answer",
            "yes (distinctive), 20 of 20",
        ),
        (
            read(flips=3),
            "holds for those listed only: 3 of 20 random choices flip the answer",
            "no, 3 of 20",
        ),
        (None, "not tested on other edges", "–"),
    ],
)
def test_how_true_a_sentence_is_in_words(test, words, cell):
    one = story(3, test, vocabulary="graph")
    assert truth_words(one) == words
    assert read_cell(one) == cell


def test_pairs_are_named_one_by_one():
    nodes = plain_nodes()
    one = make_story(nodes, (), [(0, 1), (2, 3)], oracle=lambda a: int(a[0, 1] and a[2, 3]))
    assert one.language == "pairs"
    assert truth_words(one) == "every connection is named"
    assert read_cell(one) == "pair by pair"
    assert language_words(one) == "in terms of node pairs"
    assert named_words(one) == "2 pairs of nodes"


def test_the_language_is_named():
    assert language_words(story(3)) == "in terms of regions (region, 4)"
    assert named_words(story(3)) == "one region pair"
    assert named_words(story(3, places=2)) == "2 region pairs"
    lost = make_story(sided_nodes(), [(0, 1)], status=Status.BUDGET)
    assert language_words(lost) == ""
    assert read_cell(lost) == "–"


def test_how_true_it_is_stands_under_the_sentence_and_is_not_said_twice():
    one = story(3, read())
    said, notes = beside(one)
    assert "20 of 20" in said
    assert "84 to 100 %" in said
    assert said not in notes
    assert sorted([said, *notes]) == sorted(one.footnotes)


def test_a_sentence_is_whole_or_a_lead_and_a_list():
    short = story(3, read())
    assert told(short).lead == short.statement
    assert told(short).items == ()
    names = tuple(f"n{i}" for i in range(40))
    nodes = Nodes(
        names, regions={"region": tuple(f"quite a long name {i // 2}" for i in range(40))}
    )
    added = [(2 * i, 2 * i + 2) for i in range(12)]
    long = make_story(nodes, (), added, oracle=lambda a: int(sum(a[p] for p in added) >= 12))
    sentence = told(long)
    assert len(sentence.items) == 12
    assert sentence.lead in long.statement
    assert told(long, 11).items == long.items
    assert told(long, 10).items == (*long.items[:10], "… and 2 more")
    page = make_page(long, interactive=False)
    assert all(page.count(f"<li>{item}</li>") == 1 for item in sentence.items)


# ---- the choices ------------------------------------------------------------------------


def front() -> list[Story]:
    return [story(9, read()), story(6, read("typical")), story(4, read(flips=2), places=2)]


def test_answers_are_labelled_by_what_sets_them_apart():
    stories = front()
    made = make_front(stories, stories[1])
    assert made is not None
    labels = [answer.label for answer in made.answers]
    assert labels == ["1 place", "1 place, default", "2 places, fewest edits"]
    assert [answer.edits for answer in made.answers] == ["9 edits", "6 edits", "4 edits"]
    assert [answer.current for answer in made.answers] == [False, True, False]


def test_the_most_stable_answer_is_named_if_it_was_tested():
    stories = front()
    held = [Stability(20, (1.0,) * n + (0.0,) * (20 - n), draws=20) for n in (5, 19, 12)]
    tested = [replace(s, stability=h) for s, h in zip(stories, held, strict=True)]
    assert answer_labels(tested, tested[0]) == [
        "1 place, default",
        "1 place, most stable",
        "2 places, fewest edits",
    ]
    made = make_front(tested, tested[0])
    assert made is not None
    assert made.title == "Choose an answer"
    assert [one.edits for one in made.answers] == ["9 edits", "6 edits", "4 edits"]
    assert made.answers[1].held.text == "same answer after retraining: 19 of 20"
    assert [one.held.few for one in made.answers] == [True, False, False]
    untested = make_front(stories, stories[0])
    assert untested is not None
    assert {one.held.text for one in untested.answers} == {""}
    page = make_page(tested[0], front=tested, interactive=False)
    assert re.findall(r'class="few">([^<]*)<', page) == ["same answer after retraining: 5 of 20"]
    assert view_of(tested[0], tested)["answers"][0]["held"]["few"] is True


@pytest.mark.parametrize("holds", [(7, None, None), (7, 5, 12), (18, None, None)])
def test_no_answer_is_the_most_stable_that_is_not_stable_or_has_no_rival(holds):
    known = [
        None if n is None else Stability(20, (1.0,) * n + (0.0,) * (20 - n), draws=20)
        for n in holds
    ]
    tested = [replace(s, stability=h) for s, h in zip(front(), known, strict=True)]
    assert not any("stable" in label for label in answer_labels(tested, tested[0]))


def test_a_front_of_one_answer_needs_no_choices():
    assert make_front(front()[:1], front()[0]) is None
    assert make_front((), front()[0]) is None


# ---- on the page ------------------------------------------------------------------------


def test_the_page_shows_the_front_and_its_sentences_one_click_apart():
    stories = front()
    text = make_page(stories[0], front=stories, interactive=False)
    assert text.count('<details name="front"') == 3
    assert text.count('<details name="front" open') == 1
    for i in (1, 2, 3):
        assert text.count(f'id="answer-{i}"') == 1
    assert text.count("shown above") == 1
    assert 'id="front"' not in make_page(stories[0], interactive=False)


def test_the_same_graph_under_each_classifier():
    stories = {"svm <1>": story(9, read()), "forest": story(4, read(flips=1), places=2)}
    first = stories["svm <1>"]
    text = make_page(first, classifiers=stories, card={"preset": "svm <1>"}, interactive=False)
    assert text.count('<article class="under"') == 2
    assert "svm <1>" not in text
    assert "classifier <b>svm &lt;1&gt;</b> · explained above" in text
    assert "classifier <b>forest</b></p>" in text
    assert BETTER["verdict"] in text
    assert "What each classifier takes, and where." in text
