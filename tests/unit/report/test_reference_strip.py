"""The reference strip: what is drawn, on pages and as a figure, and the marks beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
from denseflip import plot_reference
from denseflip.counterfactual import AsRead
from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.report.canvas import svg_text
from denseflip.report.facts import badge_chip, marks_of
from denseflip.report.front import told
from denseflip.report.html import environment
from denseflip.report.many_page import make_index
from denseflip.report.page import make_page
from denseflip.report.palette import DARK, PAGE, contrast
from denseflip.report.strip_layout import (
    Lane,
    make_small_strip,
    make_strip,
    spread,
    strip_html,
    tick_marks,
)
from denseflip.search.claims.reference import PlaceReference
from denseflip.search.methods.registry import methods
from denseflip.story.story import Story
from denseflip.story.wording.marks import range_mark
from denseflip.web.payload import row_of, view_of
from denseflip.workflow.compare import Compared
from stories import make_story, plain_nodes, sided_nodes

BETTER = {"accuracy": 0.9, "level": "better", "verdict": "Better than chance: 90 %."}
CHANCE = {"accuracy": 0.5, "level": "chance", "verdict": "Not better than chance."}
READ = AsRead("regions", "region", "any", 60, 60)
PLACE = PlaceReference(
    place=("left A & <b>", "right A & <b>"), size=100, before=10, after=40,
    group=(30, 38, 38, 41, 52), same=(5, 9, 10), low=20, high=60, in_range=True, effect=2.0,
)  # fmt: skip


def story(*places: PlaceReference, evaluation=BETTER, as_read=READ) -> Story:
    """A story whose sentence names one place, or two."""
    added = [(u, v) for u in (0, 1, 2) for v in (6, 7, 8)][:5]
    added += [(0, 1)] if len(places) > 1 else []
    made = make_story(
        sided_nodes(),
        (),
        added,
        oracle=lambda a: int(sum(a[u, v] for u, v in added) >= len(added)),
        evaluation=evaluation,
    )
    return replace(made, as_read=as_read, reference=places)


def range_text(made: Story) -> str:
    """The mark of the range, with its figure."""
    return range_mark(made).text


RANGE = "the range of real graphs"
IN, OUT = f"named place in {RANGE}", f"named place out of {RANGE}"
ALL_IN, ALL_OUT = f"named places in {RANGE}", f"named places out of {RANGE}"
OTHER = replace(PLACE, place=("left A & <b>", "left A & <b>"), before=40, after=10, in_range=False)


class Drawn(HTMLParser):
    """The elements of a fragment."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def of(self, kind: str) -> list[dict[str, str | None]]:
        return [a for _, a in self.elements if kind in (a.get("class") or "").split()]


# ---- the strip of a page ------------------------------------------------------------------


def test_every_graph_is_a_dot_and_the_arrow_ends_at_the_numbers():
    row = make_strip(story(PLACE)).rows[0]
    assert (len(row.same), len(row.group)) == (3, 5)
    scale = (row.group[-1].x - row.group[0].x) / (52 - 30)  # percent per edge
    start = row.group[0].x - 30 * scale
    assert row.start == pytest.approx(start + 10 * scale, abs=0.05)
    assert row.end == pytest.approx(start + 40 * scale, abs=0.05)
    assert row.low == pytest.approx(start + 20 * scale, abs=0.05)
    assert row.width == pytest.approx(40 * scale, abs=0.05)
    assert row.median == pytest.approx(start + 38 * scale, abs=0.05)
    assert (row.before, row.after, row.way) == ("10", "40", "right")
    assert [label.text for label in row.labels] == ["20", "38", "60"]


def test_the_fragment_draws_what_was_laid_out_and_says_it_in_words():
    text = strip_html(story(PLACE, OTHER))
    drawn = Drawn(text)
    assert sum(tag == "circle" for tag, _ in drawn.elements) == 2 * (3 + 5 + 1)
    assert len(drawn.of("strip-range")) == len(drawn.of("strip-median")) == 2
    alts = [a["aria-label"] for tag, a in drawn.elements if tag == "svg" and "aria-label" in a]
    assert alts[0] == (
        "left A & <b> – right A & <b>: Patient 9 has 10 before and 40 after. 5 Patient graphs: "
        "median 38, 30 to 52, 95 % prediction interval 20 to 60. 3 Control & <Normal> graphs: "
        "median 9, 5 to 10. In range."
    )
    assert alts[1].startswith("within left A & <b>: ")
    assert alts[1].endswith("Out of range.")
    assert "<b>" not in text
    assert "style=" not in text  # the policy of the app forbids it


def test_without_a_reference_there_is_no_strip():
    none = story()
    assert make_strip(none) is None
    assert make_small_strip(none) is None
    assert strip_html(none) == strip_html(none, small=True) == ""
    assert 'class="strip"' not in make_page(none, interactive=False)
    with pytest.raises(MissingInputError, match="with a background"):
        plot_reference(none)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_small_groups_have_no_interval(n):
    few = replace(PLACE, group=PLACE.group[:n], low=None, high=None, in_range=None, effect=None)
    text = strip_html(story(few))
    assert "strip-range" not in text
    assert "Whether in range is not known." in text
    assert "95 %" not in text
    assert ("strip-median" in text) is (n > 0)
    assert strip_html(story(few), small=True)
    assert plot_reference(story(few))
    words = range_text(story(few))
    assert words == f"range not known: {n} reference graph{'' if n == 1 else 's'}"


def test_equal_counts_are_drawn_too():
    flat = replace(PLACE, group=(7,) * 5, same=(7,), before=7, after=7, low=7, high=7)
    row = make_strip(story(flat)).rows[0]
    assert row.way == "none"
    assert len({dot.y for dot in row.group}) == 5
    assert plot_reference(story(flat))


def test_a_class_keeps_its_colour_whichever_way_the_change_goes():
    one = story(PLACE)
    back = replace(one, class_names=dict(reversed(one.class_names.items())))
    strips = make_strip(one), make_strip(back)
    assert (strips[0].same.kind, strips[0].group.kind) == ("class-1", "class-2")
    assert (strips[1].same.kind, strips[1].group.kind) == ("class-2", "class-1")


@pytest.mark.parametrize("colours", [PAGE, DARK])
@pytest.mark.parametrize("kind", ["class-1", "class-2"])
def test_dots_stand_out_in_light_and_dark(colours, kind):
    assert contrast(colours[kind], colours["paper"]) >= 3
    assert contrast(colours["ink"], colours["range"]) >= 4.5


@given(st.lists(st.floats(0, 500), max_size=80) | st.just([7.0] * 900))
def test_dots_stay_in_their_lane(at):
    out = spread(at, 6.5, 20)
    assert len(out) == len(at)
    assert all(abs(y) <= 10 + 1e-9 for y in out)


def test_numbers_below_the_axis_do_not_overlap():
    assert [text for _, text, _ in tick_marks(PLACE)] == ["20", "38", "60"]
    narrow = replace(PLACE, after=400, low=36, high=40)
    assert [text for _, text, _ in tick_marks(narrow)] == ["36", "40"]
    assert [at for *_, at in tick_marks(narrow)] == ["end", "start"]
    wider = replace(PLACE, after=100)  # two fit, three would not
    assert [text for _, text, _ in tick_marks(wider)] == ["20", "60"]
    assert [at for *_, at in tick_marks(wider)] == ["middle"] * 2


# ---- pages and tables -----------------------------------------------------------------------


def test_the_page_has_sentence_marks_and_strip_before_all_else():
    one = story(PLACE)
    text = make_page(one, interactive=False)
    assert re.search(
        r'</blockquote>(?s:.{,300}?)<ul class="chips">.*</ul>\s*<figure class="strip">', text
    )
    assert text.index('class="strip"') < text.index('class="footnotes"')


def test_comparisons_have_a_strip_for_each_sentence():
    one, other = story(PLACE), story(PLACE, OTHER)
    text = make_page(one, classifiers={"a": one, "b": other}, interactive=False)
    assert text.count('<figure class="strip">') == 2  # that of the explained one is above
    text = make_page(one, stories={"a": one, "b": other}, interactive=False)
    assert text.count('<div class="strip-small">') == 2


class Entry:
    def __init__(self, story: Story) -> None:
        self.id, self.label, self.story, self.failure = "a", "b", story, ""


def test_the_index_has_small_strips_of_a_few_places():
    small = make_small_strip(story(*[PLACE] * 5))
    assert len(small.rows) == 3
    assert small.more == "2 more places not shown."
    many = replace(PLACE, group=tuple(range(20, 60)) * 20)
    text = strip_html(story(many), small=True)
    assert len(text) < 2500
    page = make_index([Entry(story(PLACE)), Entry(story())], name="toy")
    assert page.count('<div class="strip-small">') == 1
    assert "Strips: a tick is" in page
    assert "Strips:" not in make_index([Entry(story())], name="toy")


# ---- the figure -----------------------------------------------------------------------------


def by_gid(figure, gid):
    return [a for axes in figure.axes for a in axes.get_children() if a.get_gid() == gid]


@pytest.mark.parametrize("narrow", [False, True])
def test_the_figure_draws_every_graph_the_interval_and_the_arrow(narrow):
    figure = plot_reference(story(PLACE, OTHER), narrow=narrow)
    assert len(figure.axes) == 2
    group, same = by_gid(figure, "group")[0], by_gid(figure, "same")[0]
    assert [x for x, _ in group.get_offsets()] == list(PLACE.group)
    assert [x for x, _ in same.get_offsets()] == list(PLACE.same)
    box = by_gid(figure, "interval")[0]
    assert (box.get_x(), box.get_x() + box.get_width()) == (20, 60)
    assert list(by_gid(figure, "median")[0].get_xdata()) == [38, 38]
    arrow = by_gid(figure, "arrow")[1]
    assert (arrow.xyann[0], arrow.xy[0]) == (40, 10)
    texts = [t.get_text() for t in figure.legends[0].get_texts()]
    assert texts[:2] == [
        "a graph classified as Control & <Normal>",
        "a graph classified as Patient",
    ]
    assert "95 % prediction interval of the filled dots" in texts
    assert svg_text(figure)


def test_graphs_grouped_by_their_true_class_are_not_said_to_be_classified():
    made = story(PLACE)
    searched = made.result.parameters | {"search": {"reference": "true"}}
    real = replace(made, result=replace(made.result, parameters=searched))
    assert real.result.by_true_labels
    text = strip_html(real)
    assert "shaded: 95 % prediction interval of graphs whose true class is Patient" in text
    assert "classified as" not in text
    texts = [t.get_text() for t in plot_reference(real).legends[0].get_texts()]
    assert "a graph whose true class is Patient" in texts
    assert not any("classified" in text for text in texts)


def test_many_places_are_cut_and_counted():
    many = story(*[PLACE] * 10)
    assert len(make_strip(many).rows) == 8
    assert "2 more places not shown." in strip_html(many)
    figure = plot_reference(many, top=9)
    assert len(figure.axes) == 9
    assert "1 more place not shown." in [text.get_text() for text in figure.texts]
    assert "not shown" not in strip_html(story(PLACE))
    with pytest.raises(InvalidParameterError, match="top must be"):
        plot_reference(many, top=0)


@pytest.mark.parametrize("form", ["svg", "pdf", "png"])
def test_the_figure_is_written_for_print(tmp_path, form):
    path = tmp_path / f"strip.{form}"
    plot_reference(story(PLACE), path=path)
    content = path.read_bytes()
    if form == "pdf":  # TrueType letters, embedded
        assert b"/FontFile2" in content
        assert b"/Type3" not in content
    elif form == "png":
        from PIL import Image

        with Image.open(path) as picture:
            assert round(picture.info["dpi"][0]) == 300
    else:
        assert b"<text" not in content  # letters are outlines


# ---- marks ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (PLACE, f"{IN}: 40 within 20–60"),
        (replace(PLACE, after=60), f"{IN}: 60 at the limit of 20–60"),
        (replace(PLACE, after=20), f"{IN}: 20 at the limit of 20–60"),
        (replace(PLACE, before=90, after=70), f"{IN}: 70 towards 20–60"),
        (replace(PLACE, after=70, in_range=False), f"{OUT}: 70 outside 20–60"),
        (
            replace(PLACE, in_range=False),
            f"{OUT}: changed by more than they differ",
        ),
    ],
)
def test_the_mark_of_the_range_says_its_figure(place, said):
    assert range_text(story(place)) == said


def test_the_footnote_says_where_a_change_only_moves_towards_the_interval():
    inside, towards = story(PLACE), story(replace(PLACE, before=90, after=70))
    notes = [next(n for n in s.footnotes if n.startswith("In range")) for s in (inside, towards)]
    assert ["moves towards it" in note for note in notes] == [False, True]


def test_marks_of_several_places_count_them():
    assert range_text(story(PLACE, PLACE)) == f"{ALL_IN}: 2 of 2"
    limit = replace(PLACE, after=60)
    assert range_text(story(PLACE, limit)) == f"{ALL_IN}: 2 of 2, 1 at the limit"
    alts = strip_html(story(PLACE, limit)).split("aria-label=")[1:]
    assert ["In range, at the limit." in alt for alt in alts] == [False, True]
    assert range_text(story(PLACE, OTHER)) == f"{ALL_OUT}: 1 of 2"


def test_a_place_in_range_by_itself_is_not_counted_as_out():
    """The number of edges of the whole graph is out: that is no fault of any place."""
    whole = replace(PLACE, in_range=False, exceeds=("total",))
    out = replace(OTHER, exceeds=("interval", "total"))
    far = replace(whole, exceeds=("difference", "total"))
    assert range_text(story(whole, out)) == f"{ALL_OUT}: 1 of 2"
    assert range_text(story(far, out)) == f"{ALL_OUT}: 2 of 2"
    in_all = f"out of {RANGE}: number of connections in all"
    assert range_text(story(whole, whole)) == range_text(story(whole)) == in_all
    meant = replace(PLACE, in_range=False, exceeds=("meant",))
    assert range_text(story(meant)).endswith("more of the connections meant than they have")
    note = next(n for n in story(far, out).footnotes if n.startswith("Out of range"))
    assert note.startswith("Out of range in 2 of 2 places: outside the 95 % range of the 5 graphs")
    assert f"than any of these graphs differs by: {' – '.join(PLACE.place)};" in note
    assert "the number of connections in all, " in note
    alone = next(n for n in story(whole, out).footnotes if n.startswith("Out of range"))
    assert "differs by" not in alone
    alts = strip_html(story(whole, out)).split("aria-label=")[1:]
    assert ["Out of range." in alt for alt in alts] == [False, True]


def test_a_place_that_loses_edges_is_still_above_and_not_more_than_any():
    more = replace(PLACE, after=70, in_range=False, exceeds=("interval",))
    less = replace(more, before=90)
    assert "more than any of the 5 Patient" in story(more, OTHER).statement
    assert "still above all of the 5 Patient" in story(less, OTHER).statement
    assert "which have 30–52" in story(less, OTHER).statement


def test_a_comparison_does_not_repeat_that_stability_was_not_tested():
    made = story(PLACE)
    row = row_of(Compared("dat", made))
    texts = [chip["text"] for chip in row["chips"]]
    assert "holds with other connections there: 60 of 60 random choices" in texts
    assert not any("retraining" in text for text in texts)
    assert row["retrained"] is None
    assert row["inRange"] is True


def test_in_a_comparison_the_same_fact_has_one_colour():
    out = replace(PLACE, after=70, in_range=False, exceeds=("interval",))
    rows = [row_of(Compared("tri", story(place))) for place in (PLACE, out)]
    kinds = [{chip["text"]: chip["kind"] for chip in row["chips"]} for row in rows]
    shared = kinds[0].keys() & kinds[1].keys()
    assert "holds with other connections there: 60 of 60 random choices" in shared
    assert all(kinds[0][text] == kinds[1][text] for text in shared)
    assert [row["inRange"] for row in rows] == [True, False]
    assert any(kind == "listed" for text, kind in kinds[1].items() if "range" in text)


def test_a_comparison_says_what_a_method_and_its_refinement_do():
    known = {one.name: one.summary for one in methods()}
    row = row_of(Compared("dat+bw", None, "It needs a background."))
    assert row["summary"] == f"{known['dat']} {known['+bw']}"


def test_the_strip_labels_its_shading_and_says_by_whom_the_dots_are_classified():
    text = strip_html(story(PLACE, OTHER))
    assert text.count("shaded: 95 % prediction interval of graphs classified as Patient") == 1
    assert "Each dot is one of the graphs classified as Patient or Control" in text


def test_a_classifier_at_chance_is_said_once_above_the_sentence():
    text = make_page(story(PLACE, evaluation=CHANCE), interactive=False)
    said = (
        "This classifier is no better than guessing (50 % of unseen graphs right): its explanations"
    )
    assert text.count(said) == 1
    assert text.index(said) < text.index("<blockquote")
    assert "the classifier is at chance: " not in text.partition('class="folds"')[0]
    assert 'class="chip good"' not in text
    assert "no better than guessing" not in make_page(story(PLACE), interactive=False)


@pytest.mark.parametrize(
    ("made", "kinds"),
    [
        (story(PLACE), ["good", "good", "good", "plain"]),
        (story(replace(PLACE, in_range=False)), ["plain", "plain", "listed", "plain"]),
        (story(PLACE, evaluation=CHANCE), ["listed", "plain", "plain", "plain"]),
        (story(PLACE, evaluation=None), ["plain", "plain", "plain", "plain"]),
        (story(PLACE, as_read=replace(READ, flips=3)), ["plain", "listed", "plain", "plain"]),
        (story(), ["plain", "plain", "plain", "plain"]),
    ],
)
def test_marks_are_green_only_together(made, kinds):
    marks = marks_of(made)
    assert [mark.kind for mark in marks] == kinds
    assert (badge_chip(made).kind == "good") is ("good" in kinds)
    text = make_page(made, interactive=False)
    assert ('class="chip good"' in text) is ("good" in kinds)


def test_each_mark_says_its_figure():
    assert [mark.text for mark in marks_of(story(PLACE))] == [
        "classifier better than chance: 90 % of unseen graphs right",
        "holds with other connections there: 60 of 60 random choices",
        f"{IN}: 40 within 20–60",
        "after retraining: not tested",
    ]
    assert marks_of(story(PLACE, evaluation=CHANCE))[0].text == (
        "the classifier is at chance: 50 % of unseen graphs right"
    )


def test_nothing_found_has_no_marks():
    none = make_story(plain_nodes(), [(0, 1)], [(2, 3)])
    assert "classifier: not evaluated" in [mark.text for mark in marks_of(none)]
    lost = replace(none, result=replace(none.result, status="exhausted", label_after=0))
    assert marks_of(lost) == ()


def test_a_mark_that_warns_says_what_it_means_and_one_that_does_not_keeps_it_in_a_tooltip():
    text = make_page(story(PLACE, as_read=replace(READ, flips=3)), interactive=False)
    assert text.count('class="meaning"') == 1
    assert '<p class="meaning">It is about exactly these connections' in text
    text = make_page(story(PLACE), interactive=False)
    assert (
        'title="Other connections of the same places change the answer too (true as read)."' in text
    )
    assert 'class="meaning"' not in text


def test_a_sentence_out_of_range_says_so_before_its_list():
    out = story(replace(PLACE, in_range=False))
    said = "Out of the range of real graphs: it shows what the classifier reacts to, not a "
    assert told(out).warning.startswith(said)
    assert told(story(PLACE)).warning == ""
    listed = replace(told(out), items=("one", "two"))
    html = environment().get_template("pieces.html.j2").module.statement_of(listed)
    assert html.index("</p>") < html.index(said) < html.index("<li>one")
    page = make_page(out, interactive=False)
    assert page.count('class="meaning"') == 1
    assert page.index("<blockquote") < page.index(said) < page.index("</blockquote>")
    assert view_of(out)["answers"][0]["warning"] == told(out).warning
    assert said in marks_of(out)[2].meaning  # as a tooltip in tables, which have no sentence


def test_a_long_class_keeps_its_number_and_both_ends_of_its_name():
    lane = Lane("Typically developing controls of the second wave", "1,204", "class-1")
    label = lane.fitting(32)
    assert len(label) <= 32
    assert label.startswith("Typically")
    assert label.endswith("wave (1,204)")
    assert Lane("B6", "8", "class-1").fitting(32) == "B6 (8)"


@pytest.mark.parametrize("name", ["Autism Spectrum Disorder", "Typically developing", "B6"])
def test_a_long_class_keeps_its_number_in_a_narrow_figure(name):
    made = story(PLACE)
    names = {k: name if v == "Patient" else v for k, v in made.class_names.items()}
    made = replace(made, class_names=names)
    axes = plot_reference(made, narrow=True).axes[0]
    label = axes.get_yticklabels()[0].get_text()
    assert label.endswith("(5)")
    assert label.count("\n") <= 1
