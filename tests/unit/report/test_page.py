from __future__ import annotations

import base64
import dataclasses
import gzip
import json
import re
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
from denseflip import write_page
from denseflip.counterfactual import Status
from denseflip.datasets.cards import KNOWN_OF_MICE, MICE
from denseflip.errors import InvalidParameterError
from denseflip.graph import Nodes
from denseflip.report import page as page_module
from denseflip.report.facts import confidence_words, marks_of
from denseflip.report.html import environment
from denseflip.report.page import make_page
from denseflip.report.page_figures import PHONE
from denseflip.report.scene import status_words
from denseflip.story.story import Story
from denseflip.story.wording.vocabulary import Vocabulary
from stories import make_story, sided_nodes

VOID = {"meta", "img", "source", "input", "br", "link", "hr"}


class Reader(HTMLParser):
    """Checks that tags close and collects what the tests ask about."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], f"left open: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data):
        if not set(self.open) & {"script", "style"}:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())

    def all(self, tag: str) -> list[dict]:
        return [attributes for name, attributes in self.tags if name == tag]


def embedded(html: str) -> dict:
    return json.loads(re.search(r'id="denseflip-data">(.*?)</script>', html, re.DOTALL)[1])


@pytest.fixture(scope="module")
def tested() -> Story:
    """A story tested with an oracle: the sentence is verified."""
    return make_story(
        sided_nodes(), [(0, 1), (3, 4)], [(0, 6), (1, 7), (2, 8)],
        oracle=lambda a: int(a[0, 6] + a[1, 7] + a[2, 8] >= 2),
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(tested) -> str:
    return make_page(tested, command="denseflip explain 'x & y' 9", interactive=False)


def test_is_well_formed_and_accessible(page):
    reader = Reader(page)
    assert reader.all("html") == [{"lang": "en"}]
    assert len(reader.all("h1")) == 1
    assert len(reader.all("main")) == 1
    assert reader.all("title")
    images = reader.all("img")
    assert len(images) == 3
    assert all(len(i["alt"]) > 30 for i in images)
    levels = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch(r"h\d", tag)]
    assert levels == [1] + [2] * (len(levels) - 1)
    ids = [a["id"] for _, a in reader.tags if "id" in a]
    assert len(ids) == len(set(ids))
    assert all(a.get("scope") == "col" for a in reader.all("th"))


def test_tells_the_sentence_its_test_and_its_footnotes(page, tested):
    text = Reader(page).text
    assert tested.verified
    assert " ".join(tested.statement.split()) in text
    assert all(mark.name in text and mark.figure in text for mark in marks_of(tested))
    for note in tested.footnotes:
        assert " ".join(note.split()) in text


def test_lists_every_edit_by_name(page, tested):
    reader = Reader(page)
    body = page[page.index('id="edits"') :]
    assert body[: body.index("</table>")].count("<tr>") == 1 + tested.result.distance
    for node in ("n<0>", "n<8>"):
        assert node in reader.text
    assert "left A & <b>" in reader.text
    assert "− removed" in reader.text
    assert "+ added" in reader.text


def test_tells_which_edits_the_sentence_stands_for(page, tested):
    said = len(tested.named_edits)
    assert 0 < said < tested.result.distance
    assert page.count("<td>yes</td>") == said
    assert page.count("<td>no</td>") == tested.result.distance - said


def test_says_how_many_of_the_drawn_edits_the_sentence_names(page, tested):
    named, result = tested.named_edits, tested.result
    assert len(named) < result.distance
    said = (
        f"The sentence names {len(named.added)} of the {len(result.added)} added and "
        f"{len(named.removed)} of the {len(result.removed)} removed."
    )
    assert said in Reader(page).text
    assert page.index('class="quiet unnamed"') < page.index('<div class="still">')


def test_says_the_confidence_before_and_after_once_beside_the_marks(tested):
    sure = dataclasses.replace(
        tested,
        result=dataclasses.replace(tested.result, confidence_before=0.83, confidence_after=0.51),
    )
    before, after = map(sure.class_name, (sure.result.label_before, sure.result.label_after))
    assert before != after
    said = f"Confidence: 83 % in {before} before, 51 % in {after} after."
    text = Reader(make_page(sure, interactive=False)).text
    assert text.count(said) == 1
    assert f"0.83 in {before} before, 0.51 in {after} after" in text
    assert said not in make_page(tested, interactive=False)
    judged = {"accuracy": 0.5, "level": "chance", "verdict": "Not better than chance."}
    chance = dataclasses.replace(sure, evaluation=judged)
    assert confidence_words(chance) == said.replace("Confidence", "Confidence of this classifier")


def test_says_what_is_known_of_the_mice_below_the_title(tested):
    of_mice = dataclasses.replace(tested, class_names={0: "B6", 1: "BTBR"})
    text = make_page(of_mice, dataset=MICE, interactive=False)
    said = f'<p class="quiet">{KNOWN_OF_MICE}</p>'
    assert text.index("</h1>") < text.index(said) < text.index("<blockquote")
    assert said not in make_page(tested, dataset=MICE, interactive=False)
    assert said not in make_page(of_mice, interactive=False)


def test_names_method_parameters_and_command(page):
    text = Reader(page).text
    assert "search: rank by triangles" in text
    assert "seed 7" in text
    assert "denseflip explain 'x & y' 9" in text
    assert "Limits of this explanation" in text


def test_settings_are_told_in_words_and_alike(page):
    text = Reader(page).text
    assert "search limit not set" in text
    assert "None" not in text
    assert "{'" not in text


def test_the_share_is_of_the_edges_of_either_graph_everywhere():
    for status in (Status.FOUND, Status.BUDGET):
        story = make_story(sided_nodes(), [(0, 1)], [(2, 3)], status=status)
        text = Reader(make_page(story, interactive=False)).text
        assert "of the edges of either graph" in text
        assert "both graphs" not in text


@pytest.mark.parametrize(
    ("minimal", "tile"),
    [(True, "every edit is needed (certified) 1-minimal"), (False, "not certified"), (None, None)],
)
def test_the_tile_of_a_minimal_counterfactual(tested, minimal, tile):
    story = dataclasses.replace(tested, result=dataclasses.replace(tested.result, minimal=minimal))
    said = Reader(make_page(story, interactive=False)).text
    assert tile in said if tile else "is needed" not in said


def test_charts_come_in_a_wide_and_a_narrow_form(page):
    """The connectome has one form: on a phone, the interactive picture replaces it."""
    reader = Reader(page)
    sources = reader.all("source")
    assert len(sources) == len(reader.all("img")) - 1 == 2
    assert all("max-width: 600px" in s["media"] for s in sources)
    assert all(int(s["width"]) < 350 for s in sources)


def test_the_page_says_what_the_saved_file_is(page):
    assert 'Story.from_dict(data["story"])' in Reader(page).text


def test_everything_from_data_is_escaped(page):
    assert "n<0>" not in page
    assert "Control & <Normal>" not in page
    assert "Control &amp; &lt;Normal&gt;" in page


def test_the_embedded_data_give_the_story_back(page, tested):
    data = embedded(page)
    again = Story.from_dict(data["story"])
    assert again.statement == tested.statement
    assert again.result == tested.result
    assert data["command"] == "denseflip explain 'x & y' 9"


def test_hostile_names_stay_data():
    bad = "</script><script>alert(1)</script>"
    story = make_story(sided_nodes(), [(0, 1)], [(0, 6)], subject=bad, class_names=(bad, "$title"))
    text = make_page(story, command=bad, interactive=False)
    assert "<script>alert(1)" not in text
    Reader(text)


def markup(field: str) -> str:
    return f"<i>{field}</i> & 'x'"


def marked(value, name: str):
    """Data with markup in every text, keys included, each text named by where it stands."""
    if isinstance(value, dict):
        return {markup(f"{name}.{k}"): marked(v, f"{name}.{k}") for k, v in value.items()}
    if isinstance(value, list):
        return [marked(v, f"{name}.{i}") for i, v in enumerate(value)]
    return markup(name) if isinstance(value, str) else value


def hostile_story(status: Status) -> Story:
    """Markup in every text that a story holds."""
    names = [f.name for f in dataclasses.fields(Vocabulary) if f.name not in ("counts", "compound")]
    words = {name: f"<i>{name}</i> & x" for name in names}
    nodes = Nodes(
        tuple(markup(f"name {i}") for i in range(6)),
        regions={markup("taxonomy"): tuple(markup(f"region {i // 2}") for i in range(6))},
    )
    judged = {
        "accuracy": 0.5, "verdict": markup("verdict"), "warning": markup("warning"),
        "class_counts": {markup("class one"): 1, markup("class two"): 1},
        "confusion": [[1, 0], [0, 1]],
    }  # fmt: skip
    story = make_story(
        nodes, [(0, 1)], [(2, 5)], status=status, method=markup("method"),
        subject=markup("subject"), class_names=(markup("before"), markup("after")),
        vocabulary=Vocabulary(**words), evaluation=judged,
    )  # fmt: skip
    told = dataclasses.replace(
        story.result,
        notes=(markup("note"),),
        parameters=marked({"search": {"type": "DCS", "inner": {"by": "x"}}, "list": ["a"]}, "p"),
    )
    return dataclasses.replace(story, result=told)


@pytest.mark.parametrize("status", [Status.FOUND, Status.BUDGET])
def test_markup_in_any_text_of_a_story_stays_text(status):
    story = hostile_story(status)
    text = make_page(
        story,
        stories={markup("first"): story, markup("second"): story},
        card=marked({"preset": "a", "features": {"name": "b"}, "dataset": ["c"]}, "card")
        | {"preset": markup("preset"), "estimator": {"name": markup("estimator"), "C": "<i>1</i>"}},
        dataset=marked({"source": "a", "caveats": ["b", "c"]}, "dataset"),
        command=markup("command"),
        interactive=True,
    )
    reader = Reader(text)
    assert reader.all("i") == []
    assert "<i>" not in text
    shown = (
        ["subject", "before", "method", "note", "p.search", "p.list", "p.search.inner"]
        + ["verdict", "warning", "class one", "class two", "first", "second", "command"]
        + ["preset", "estimator", "dataset.source", "dataset.caveats.1"]
        + [f"name {i}" for i in (0, 1, 2, 5)] + [f"region {i}" for i in (0, 1, 2)]
        + (["after"] if status is Status.FOUND else [])
    )  # fmt: skip
    for field in shown:
        assert markup(field) in reader.text, field
    assert "<i>caveat</i> & x" in reader.text
    data = embedded(text)["story"]
    data["result"]["seed"] = 7  # what is read must be a number
    assert Story.from_dict(data).statement == story.statement


def test_nothing_is_fetched_and_scripts_cannot_fetch(page):
    reader = Reader(page)
    for tag, attributes in reader.tags:
        for name in ("src", "href", "action", "srcset", "data"):
            value = attributes.get(name) or ""
            assert value.startswith("data:") or not value, (tag, value[:60])
    assert "url(" not in page.split("</style>")[0]
    policy = next(m for m in reader.all("meta") if "http-equiv" in m)
    assert "default-src 'none'" in policy["content"]


def test_the_interactive_picture_is_inside_once(brain):
    text = make_page(brain)
    assert text.count('id="view-data"') == 1
    assert text.count("window.denseflipConnectome = ") == 1
    assert 'id="view"' in text
    assert len(text) - len(make_page(brain, interactive=False)) < 150_000
    Reader(text)


def test_comparison_shows_every_method(brain, sided):
    other = make_story(sided.nodes, [(0, 2)], [(5, 6)], method="edg", status=Status.BUDGET)
    text = make_page(sided, stories=[sided, other], interactive=False)
    reader = Reader(text)
    assert "Comparison of methods" in reader.text
    assert "edg" in reader.text
    assert any("Comparison of methods" in i["alt"] for i in reader.all("img"))
    assert set(embedded(text)["comparison"]) == {"blocks", "edg"}


@pytest.mark.parametrize("status", [Status.EXHAUSTED, Status.BUDGET])
def test_nothing_found_says_what_was_tried_and_how_far_it_went(status):
    story = make_story(sided_nodes(), [(0, 1)], [(2, 3), (4, 5)], status=status)
    page = make_page(story, interactive=False)
    reader = Reader(page)
    assert "What was tried" in reader.text
    assert "1 edges removed and 2 added" in reader.text or "1 edge removed and 2" in reader.text
    assert "Iterations 11" in reader.text
    assert "The iteration limit of 11 was reached." in reader.text
    assert 'class="chip good"' not in page
    assert any("last graph tried" in w for w in reader.words)


@pytest.mark.parametrize("status", list(Status))
def test_every_way_a_search_ends_has_a_page_and_words(status):
    edits = () if status is Status.NOT_NEEDED else ([(0, 1)], [(2, 3)])
    story = make_story(sided_nodes(), *edits, status=status)
    reader = Reader(make_page(story, interactive=False))
    said = status_words(story)
    assert said != str(status)
    assert (said in reader.text) is (status is not Status.FOUND)  # the sentence says that


def test_numbers_that_the_style_repeats_are_those_of_the_page():
    style = environment().globals["asset"]("page.css")
    assert f"nth-child(n+{page_module.ON_PAPER + 1})" in style
    assert f"@media (max-width: {PHONE}px)" in style


def test_not_needed_has_no_pictures():
    story = make_story(sided_nodes(), status=Status.NOT_NEEDED)
    reader = Reader(make_page(story))
    assert not reader.all("img")
    assert "already has the target class" in reader.text


def test_no_regions_still_gives_a_page(plain):
    reader = Reader(make_page(plain, interactive=False))
    assert len(reader.all("img")) == 1
    assert "sorted by region" not in reader.text
    assert "region" not in [a.get("aria-label") for a in reader.all("th")]


def test_without_matplotlib_the_page_says_how_to_get_pictures(without, sided):
    without("matplotlib")
    text = make_page(sided, stories=[sided, sided])
    assert "This page has no figures" in text
    assert "denseflip[brain]" in text
    Reader(text)


def test_many_edits_are_cut_in_the_table_but_not_in_the_data(busy, monkeypatch):
    monkeypatch.setattr(page_module, "MAX_ROWS", 20)
    text = make_page(busy, interactive=False, max_edges=40)
    body = text[text.index('id="edits"') :]
    assert body[: body.index("</table>")].count("<tr>") == 21
    assert "The first 20 of" in text
    assert "40 of" in Reader(text).text  # the caption says what the picture leaves out
    assert len(embedded(text)["story"]["result"]["removed"]) == len(busy.result.removed)


def test_shows_the_evaluation_of_the_story(sided):
    judged = make_story(
        sided_nodes(), [(0, 1)], [(0, 6)],
        evaluation={"accuracy": 0.94, "interval": [0.7, 0.99], "level": "better",
                    "verdict": "Better than chance: 94 %.", "majority_rate": 0.5},
    )  # fmt: skip
    assert "Better than chance: 94 %." in Reader(make_page(judged, interactive=False)).text


def test_shows_the_card_of_the_data(sided):
    card = {"citation": "Wang et al. 2020", "caveats": ["small", "male & female"], "empty": ""}
    text = Reader(make_page(sided, dataset=card, interactive=False)).text
    assert "citation Wang et al. 2020" in text
    assert "small male & female" in text


def test_never_overwrites_unasked(sided, tmp_path):
    target = tmp_path / "report.html"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidParameterError, match=r"exists already.*force"):
        write_page(sided, target)
    assert target.read_text(encoding="utf-8") == "mine"
    assert write_page(sided, target, force=True, interactive=False) == target
    assert "<!DOCTYPE html>" in target.read_text(encoding="utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(
    ("name", "message"), [("no/report.html", "does not exist"), ("report.pdf", r"must be \.html")]
)
def test_says_what_is_wrong_with_a_path(sided, tmp_path, name, message):
    with pytest.raises(InvalidParameterError, match=message):
        write_page(sided, tmp_path / name)


def test_the_same_story_gives_the_same_page(sided):
    assert make_page(sided, interactive=False) == make_page(sided, interactive=False)


def test_glass_brain_of_the_page_is_described_for_those_who_cannot_see_it(brain):
    pytest.importorskip("nilearn")
    first = Reader(make_page(brain, interactive=False)).all("img")[0]
    assert "10 edges removed and 6 edges added on a glass brain" in first["alt"]
    assert "Frontal Lobe 100 %" in first["alt"]


def test_long_data_are_compressed(sided, monkeypatch):
    plain = embedded(make_page(sided, interactive=False))
    monkeypatch.setattr("denseflip.report.html.PACKED_FROM", 1)
    html = make_page(sided, interactive=False)
    found = re.search(r'id="denseflip-data" data-packed="gzip">(.*?)</script>', html, re.DOTALL)
    assert json.loads(gzip.decompress(base64.b64decode(found[1]))) == plain


def test_figures_are_rounded_but_their_letters_keep_their_size(sided):
    """The letters of matplotlib's SVG are scaled by a number that must not be rounded."""
    image = Reader(make_page(sided, interactive=False)).all("img")[0]["src"]
    drawn = unquote(image.partition(",")[2])
    assert drawn.startswith("<svg")
    assert "scale(0.015625" in drawn
    assert not re.search(r' d="[^"]*\d\.\d\d', drawn)
