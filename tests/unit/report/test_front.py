"""The picture of a front, and the words for how true a sentence is."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
from denseflip.counterfactual import AsRead, Status
from denseflip.graph import Nodes
from denseflip.report.front import (
    beside,
    draw_front,
    language_words,
    named_words,
    read_cell,
    told,
    truth_words,
)
from denseflip.report.page import make_page
from denseflip.search.claims.reference import PlaceReference
from denseflip.story.story import Story
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
            "true of any edges there: 20 of 20 random choices flip the answer",
            "yes, 20 of 20",
        ),
        (
            read("typical", 19),
            "true of edges typical of Patient: 19 of 20 random choices flip the answer",
            "yes (typical), 19 of 20",
        ),
        (
            read("distinctive"),
            "true of edges that Patient has more often than Control & <Normal>: 20 of 20 random "
            "choices flip the answer",
            "yes (distinctive), 20 of 20",
        ),
        (
            read(flips=3),
            "true of those listed only: 3 of 20 random choices flip the answer",
            "no, 3 of 20",
        ),
        (None, "not tested as read", "–"),
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


# ---- the picture ------------------------------------------------------------------------


def front() -> list[Story]:
    return [story(9, read()), story(6, read("typical")), story(4, read(flips=2), places=2)]


def test_a_point_for_each_answer_in_its_place():
    stories = front()
    picture = draw_front(stories, stories[1])
    assert picture is not None
    first, second, third = picture.answers
    assert [a.count for a in picture.answers] == ["9", "6", "4"]
    assert [a.kind for a in picture.answers] == ["any", "typical", "listed"]
    assert first.x == second.x < third.x  # more places lie further right
    assert first.y < second.y < third.y  # fewer edits lie lower
    assert [a.current for a in picture.answers] == [False, True, False]
    assert [tick.text for tick in picture.ticks] == ["1", "2"]
    assert [mark.kind for mark in picture.legend] == ["any", "typical", "listed"]
    for answer in picture.answers:
        assert 0 < answer.x < picture.width
        assert 0 < answer.y < picture.base
        assert answer.truth in picture.alt


def test_a_front_of_one_answer_needs_no_picture():
    assert draw_front(front()[:1], front()[0]) is None
    assert draw_front((), front()[0]) is None


def test_points_keep_apart_however_different_the_others_are():
    stories = [story(9, read()), story(8, read("typical")), story(2, read(flips=2), places=2)]
    picture = draw_front(stories, stories[0])
    assert picture is not None
    heights = sorted(a.y for a in picture.answers)
    assert min(b - a for a, b in pairwise(heights)) > 28  # a label's height


def test_answers_of_the_same_size_stand_in_the_middle():
    same = [story(3, read()), story(3, read("typical"))]
    picture = draw_front(same, same[0])
    assert picture is not None
    assert len({(a.x, a.y) for a in picture.answers}) == 1


# ---- on the page ------------------------------------------------------------------------


def test_the_page_shows_the_front_and_its_sentences_one_click_apart():
    stories = front()
    text = make_page(stories[0], front=stories, interactive=False)
    assert text.count('<details name="front"') == 3
    assert text.count('<details name="front" open') == 1
    for i in (1, 2, 3):
        assert f'<a href="#answer-{i}">' in text
        assert text.count(f'id="answer-{i}"') == 1
    assert text.count('class="here"') == 2  # the point, and what it means
    assert "Shorter, or with fewer edits" not in make_page(stories[0], interactive=False)


@pytest.mark.parametrize(
    ("test", "evaluation", "in_range", "good"),
    [
        (read(), BETTER, True, True),
        (read(), BETTER, False, False),
        (read(), BETTER, None, False),
        (read(flips=3), BETTER, True, False),
        (None, BETTER, True, False),
        (read(), {"accuracy": 0.5, "level": "chance", "verdict": "Not better."}, True, False),
        (read(), None, True, False),
    ],
)
def test_only_a_sentence_that_is_true_and_in_range_of_a_good_classifier_is_green(
    test, evaluation, in_range, good
):
    ends = (None, None) if in_range is None else (2, 4)
    place = PlaceReference(("a", "b"), 9, 0, 3, (2, 3, 4), (0, 0, 1), *ends, in_range, 2.0)
    one = replace(story(3, test), evaluation=evaluation, reference=(place,))
    text = make_page(one, interactive=False)
    assert ('class="chip good"' in text) is good
    assert one.badge.text in text


def test_the_same_graph_under_each_classifier():
    stories = {"svm <1>": story(9, read()), "forest": story(4, read(flips=1), places=2)}
    first = stories["svm <1>"]
    text = make_page(first, classifiers=stories, card={"preset": "svm <1>"}, interactive=False)
    assert text.count('<article class="under"') == 2
    assert "svm <1>" not in text
    assert "classifier <b>svm &lt;1&gt;</b> · explained above" in text
    assert "classifier <b>forest</b></p>" in text
    assert text.count(BETTER["verdict"]) >= 2
    assert "What each classifier takes, and where." in text
