"""The app in a browser: every path a visitor takes, on a desk and on a phone."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

pytest.importorskip("fastapi", reason="the app needs the extra 'web'")

from desks import DESK, PHONE, choose, press, reveal
from serving import wait

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("default")]


SIZES = [{"width": 1440, "height": 900}, {"width": 1024, "height": 768}]


@pytest.mark.parametrize("viewport", SIZES, ids=["large", "small"])
def test_the_first_screen_has_an_answer_and_the_button(desk, viewport):
    window = desk(viewport)
    page = window.open(unfold=False)
    page.wait_for_selector("#circle[data-ready=true]")
    assert page.evaluate("scrollY") == 0
    assert "#" not in page.url
    for part in ("#explain", "#example-note", "#sentence", "#chips", "#circle"):
        box = page.locator(part).bounding_box()
        assert box["y"] < viewport["height"] - (200 if part == "#circle" else box["height"]), part
    assert page.locator("#chips li").count() == 4
    assert page.locator("#strip svg").count() >= 1
    window.quiet()


def test_the_first_two_screens_of_a_phone_have_sentence_and_picture(desk):
    window = desk({"width": 390, "height": 844})
    page = window.open(unfold=False)
    page.wait_for_selector("#circle[data-ready=true]")
    explain = page.locator("#explain").bounding_box()
    assert explain["y"] + explain["height"] <= 844  # in reach without scrolling
    sentence, picture = (page.locator(x).bounding_box() for x in ("#sentence", "#circle canvas"))
    assert sentence["y"] < 844 / 3  # the form is one line
    assert sentence["y"] + sentence["height"] < 844
    asked = page.evaluate("[denseflipApp.set.name, denseflipApp.set.subjects[0].name]")
    assert page.inner_text("#asked-said").split(" · ")[:2] == asked
    assert page.is_hidden("#step-data")
    page.click("#asked > summary")
    assert page.is_visible("#step-data")
    page.click("#asked > summary")
    assert "Ctrl" not in page.inner_text(".df-hint")
    assert picture["y"] + picture["height"] < 2 * 844
    assert window.sideways() <= 0
    window.quiet()


def test_a_link_opens_at_the_answer_on_a_phone(desk, served):
    asked = {"dataset": "small", "subject": "g0001", "classifier": "edges-logistic"}
    with httpx.Client(base_url=served, timeout=60) as client:
        job = client.post("/api/jobs", json=asked).json()
        assert wait(client, job["id"])["status"] == "done"
    window = desk(PHONE)
    page = window.open(f"#job={job['id']}")
    page.wait_for_selector("#story:not([hidden])")
    assert -2 <= page.locator("#story-title").bounding_box()["y"] < 120
    assert page.is_hidden("#example-note")
    window.quiet()


def test_steps_fold_once_they_are_answered_and_say_what_is_chosen(desk):
    window = desk()
    page = window.page
    page.goto(window.url)
    page.wait_for_selector("html[data-ready=true]")
    assert (
        page.locator("#step-data[open], #step-classifier[open], #step-options[open]").count() == 0
    )
    page.click("#step-data > summary")
    page.select_option("#dataset", "small")
    page.focus("#subject")
    page.wait_for_selector("#step-data:not([open])")
    assert "24 graphs" in page.inner_text("#data-said")
    page.select_option("#subject", "g0003")
    assert "g0003" in page.inner_text("#subject-said")
    window.quiet()


def test_explain_stays_in_reach_when_steps_are_open(desk):
    window = desk({"width": 1024, "height": 768})
    page = window.open()
    page.evaluate(
        "document.querySelectorAll('.step, #more').forEach((one) => { one.open = true; })"
    )
    for y in (0, 400):
        page.evaluate("y => scrollTo(0, y)", y)
        box = page.locator("#explain").bounding_box()
        assert 0 <= box["y"] <= 768 - box["height"]
    window.quiet()


def test_six_methods_come_first(desk):
    page = desk().open()
    first = page.locator("#option-method > option").all_inner_texts()
    assert first[0] == "auto"
    assert len(first) == 6
    assert page.locator("#option-method > optgroup > option").count() > 10


def test_what_if_says_when_a_place_leaves_the_range_of_real_graphs(desk):
    window = desk()
    page = window.open()
    window.explain("brains", "case-001")
    page.click("#tab-whatif")
    page.wait_for_selector(".wi-row .wi-band input")
    row = page.locator(".wi-row").first
    assert "in range" in row.locator(".wi-range").inner_text()
    number = row.locator("input[type=number]:not([disabled])").first
    number.fill(number.get_attribute("max"))
    number.press("Tab")
    page.wait_for_selector(".wi-row.wi-out")
    assert "out of range" in row.locator(".wi-range").inner_text()
    window.quiet()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_from_a_question_to_every_picture(desk, viewport):
    window = desk(viewport)
    page = window.open()
    assert page.locator("#option-method").input_value() == "auto"
    window.explain("brains", "case-001")
    assert "classified" in page.inner_text("#sentence")
    assert page.locator("#chips li").count() >= 2
    strip = page.locator("#strip .strip-row svg[role=img]").first
    assert "95 % prediction interval" in strip.get_attribute("aria-label")
    assert strip.locator(".strip-head").bounding_box()["width"] > 5
    assert "held-out graphs" in page.text_content("#worth")
    assert page.locator("#tested[open]").count() == 0  # what is not needed at once is folded
    page.wait_for_selector("#brain[data-ready=true]")
    before = page.evaluate("denseflipApp.brain.canvas.toDataURL()")
    page.focus("#brain canvas")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("old => denseflipApp.brain.canvas.toDataURL() !== old", arg=before)
    page.wait_for_function("() => denseflipApp.brain.layout.surface")  # it is fetched later
    for tab, inside in (
        ("circle", "#circle:not([data-added='0']) canvas"),
        ("matrix", "#matrix rect.cell"),
        ("edits", "#edits tbody tr"),
        ("replay", "#replay-picture[data-ready=true] canvas"),
        ("whatif", "#whatif .wi-verdict strong"),
    ):
        page.click(f"#tab-{tab}")
        page.wait_for_selector(inside, state="attached")
        assert window.sideways() <= 0, tab
    window.quiet()


def test_the_replay_ends_in_the_other_class(desk):
    window = desk()
    page = window.open()
    window.explain("brains", "case-001")
    page.click("#tab-replay")
    frames = page.evaluate("denseflipApp.view.replay.map((frame) => frame.label)")
    page.evaluate("document.getElementById('step').value = 0")
    page.dispatch_event("#step", "input")
    assert frames[0] in page.inner_text("#step-label")
    assert frames[0] != frames[-1]
    page.focus("#step")
    page.keyboard.press("End")
    assert frames[-1] in page.inner_text("#step-label")
    window.quiet()


@pytest.mark.parametrize(
    ("classifier", "subject"), [("regions-logistic", "g0001"), ("sf-knn", "g0000")]
)
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_what_if_by_hand(desk, viewport, classifier, subject):
    """Of a classifier whose weights are in the page, and of one that is asked on the server."""
    window = desk(viewport)
    page = window.open()
    window.explain("small", subject, classifier)
    page.click("#tab-whatif")
    page.click(".wi-tools >> text=Original")
    page.wait_for_function("() => document.getElementById('whatif').dataset.flips === '0/1'")
    page.select_option("[aria-label='first region']", label="Front")
    page.select_option("[aria-label='second region']", label="Front")
    page.click(".wi-add")
    slider = page.locator("[data-cell='0-0'] input[type=range]").first
    slider.focus()
    page.keyboard.press("End")
    page.wait_for_function("() => denseflipApp.panel.answer.added > 3")
    label = page.inner_text(".wi-label strong")
    answer = page.evaluate(
        """async () => {
          const panel = denseflipApp.panel, asked = denseflipApp.request, n = panel.data.n;
          const pairs = panel.answer.codes.map((code) => [Math.floor(code / n), code % n]);
          const got = await fetch('/api/whatif', {method: 'POST',
            headers: {'content-type': 'application/json'},
            body: JSON.stringify({dataset: asked.dataset, subject: asked.subject,
              classifier: asked.classifier, pairs})});
          return got.json();
        }"""
    )
    assert answer["label"] == label
    page.click(".wi-save")
    assert page.locator(".wi-saved tbody tr").count() == 1
    page.click(".wi-tools >> text=Undo")
    page.wait_for_function("() => denseflipApp.panel.answer.added === 0")
    page.click(".wi-tools >> text=Redo")
    page.fill("[aria-label='first node']", "n0")
    page.fill("[aria-label='second node']", "n7")
    page.click(".wi-flip")
    page.wait_for_selector(".wi-pairs li")
    page.fill("[aria-label='second node']", "n0")
    page.click(".wi-flip")
    assert "two different nodes" in page.inner_text("#whatif")
    assert window.sideways() <= 0
    window.quiet()


@pytest.mark.parametrize(
    ("classifier", "subject", "reading"),
    [
        ("regions-logistic", "g0001", "any"),
        ("edges-logistic", "g0006", "distinctive"),
        ("sf-knn", "g0019", "typical"),  # the server is queried
        ("sf-knn", "g0001", "distinctive"),
    ],
)
def test_what_if_opens_with_the_claim_of_the_sentence(desk, classifier, subject, reading):
    window = desk()
    page = window.open()
    window.explain("small", subject, classifier)
    found = page.evaluate(
        "fetch(`/api/jobs/${denseflipApp.job}/files/result.json`).then((got) => got.json())"
    )
    test = found["as_read"]
    assert (test["reading"], test["true"]) == (reading, True)
    page.click("#tab-whatif")
    page.wait_for_function(
        "flips => document.getElementById('whatif').dataset.flips === flips",
        arg=f"{test['flips']}/{test['draws']}",
    )
    assert page.inner_text(".wi-label strong") == page.evaluate("denseflipApp.view.after")
    assert page.locator(".wi-cells select").first.input_value() == reading
    rows = {
        row.get_attribute("data-cell"): [
            int(row.locator(f".wi-{way} input[type=number]").input_value())
            for way in ("more", "fewer")
        ]
        for row in page.locator(".wi-row").all()
    }
    regions = page.evaluate("denseflipApp.panel.data.regions")
    named = found["story"]["verification"]["named"]
    assert rows == {
        f"{regions.index(p['region_a'])}-{regions.index(p['region_b'])}": [p["added"], p["removed"]]
        for p in named
    }
    if test["draws"] > 1:
        assert f"{test['flips']} of {test['draws']} random" in page.inner_text(".wi-redraws")
        page.click(".wi-tools >> text=Redraw")
        page.wait_for_function(
            "() => /^(18|19|20).20$/.test(document.getElementById('whatif').dataset.flips)"
        )
    # A link to it opens in the same reading.
    page.reload()
    page.wait_for_selector("#whatif .wi-verdict strong")
    page.wait_for_function("() => denseflipApp.panel && !denseflipApp.opening")
    assert page.evaluate("denseflipApp.panel.state.reading") == reading
    window.quiet()


@pytest.mark.parametrize("classifier", ["regions-logistic", "sf-knn"])
def test_what_if_keeps_the_number_of_connections_if_the_sentence_does(desk, served, classifier):
    """In the page for a linear classifier; the server is queried for the other."""
    asked = {"dataset": "small", "subject": "g0001", "classifier": classifier}
    with httpx.Client(base_url=served, timeout=60) as client:
        job = client.post("/api/jobs", json=asked | {"method": "brief", "balance": "on"}).json()
        assert wait(client, job["id"])["status"] == "done"
    window = desk()
    page = window.open(f"#job={job['id']}")
    page.wait_for_selector("#story:not([hidden])")
    page.click("#tab-whatif")
    page.wait_for_function("() => denseflipApp.panel && !denseflipApp.opening")
    test = page.evaluate("denseflipApp.panel.data.start.test")
    page.wait_for_function(
        "flips => document.getElementById('whatif').dataset.flips === flips",
        arg=f"{test['flips']}/{test['draws']}",
    )
    box = page.get_by_label(
        "Keep the number of connections (as many change outside the places chosen)"
    )
    assert box.is_checked()
    assert "outside the places chosen" in page.inner_text("#whatif")
    page.click(".wi-tools >> text=Redraw")
    page.wait_for_function(
        "() => /^(18|19|20).20$/.test(document.getElementById('whatif').dataset.flips)"
    )
    answer = page.evaluate("denseflipApp.panel.answer")
    assert answer["added"] == answer["removed"] > 0
    page.reload()  # the link opens it in the same way
    page.wait_for_function("() => denseflipApp.panel?.answer && !denseflipApp.opening")
    page.wait_for_function("seed => denseflipApp.panel.state.seed === seed", arg=2)
    assert box.is_checked()
    box.uncheck()
    page.wait_for_function(
        "() => denseflipApp.panel.answer.added !== denseflipApp.panel.answer.removed"
    )
    page.click(".wi-tools >> text=Original")
    assert box.is_checked()
    assert window.sideways() <= 0
    window.quiet()


def test_what_happens_is_in_sight_wherever_one_has_scrolled_to(desk):
    window = desk({"width": 1300, "height": 500})
    page = window.open()
    choose(page, "#dataset", "small")
    page.wait_for_function("() => denseflipApp.set.key === 'small'")
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert page.evaluate("scrollY") > 100
    at = "(id) => document.getElementById(id).getBoundingClientRect().top"
    page.evaluate("document.getElementById('progress').hidden = false")
    assert 0 <= page.evaluate(at, "progress") < 480
    page.evaluate("document.getElementById('progress').hidden = true")
    page.click("#explain")
    page.wait_for_selector("#sentence:not(:empty)")
    page.wait_for_function("() => document.activeElement.id === 'answer'")
    assert 0 <= page.evaluate(at, "story-title") < 400
    window.quiet()


def test_pictures_of_ones_own_choice_are_said_to_be(desk):
    window = desk()
    page = window.open()
    window.explain("small", "g0001")
    edits = "Object.values(denseflipApp.circle?.pairs ?? {}).flat().length"
    page.click("#tab-circle")
    page.wait_for_function(f"{edits} > 0")
    assert page.locator("#by-hand").is_hidden()
    page.click("#tab-whatif")
    page.click(".wi-tools >> text=Original")
    page.wait_for_function("() => document.getElementById('whatif').dataset.flips === '0/1'")
    page.click("#tab-circle")
    assert "(0 added, 0 removed), not the explanation" in page.inner_text("#by-hand")
    assert page.evaluate(edits) == 0
    page.click("#by-hand-end")
    page.wait_for_function(f"{edits} > 0")
    assert page.locator("#by-hand").is_hidden()
    assert "hand=" not in page.url
    window.quiet()


def test_a_link_restores_the_view(desk):
    window = desk()
    page = window.open()
    window.explain("small", "g0002", "edges-logistic")
    page.click("#tab-whatif")
    page.click(".wi-tools >> text=Original")
    page.fill("[aria-label='first node']", "n1")
    page.fill("[aria-label='second node']", "n2")
    page.click(".wi-flip")
    page.wait_for_selector(".wi-pairs li")
    said = page.inner_text(".wi-pairs li")
    link = page.url
    other = desk()
    other.page.goto(link)
    other.page.wait_for_selector(".wi-pairs li")
    assert other.page.inner_text(".wi-pairs li") == said
    assert other.page.inner_text("#sentence") == page.inner_text("#sentence")
    for broken in ("#job=zzz", f"{link.partition('hand=')[0][len(window.url) + 1 :]}hand=%7B"):
        third = desk()
        third.open(broken)
        third.quiet()
    other.quiet()


def test_constraints_target_and_comparison(desk):
    window = desk()
    page = window.open()
    choose(page, "#dataset", "small")
    page.wait_for_function("() => denseflipApp.set.key === 'small'")
    page.select_option("#option-only", "remove")
    page.click("#option-freeze-choose summary")
    page.click("#option-freeze button >> text=Back")
    page.click("#option-target button >> text=B")
    window.explain("small", "g0000", "edges-logistic")
    view = page.evaluate("denseflipApp.view")
    assert view["found"]
    assert view["after"] == "B"
    assert [answer["added"] for answer in view["answers"]] == [[]] * len(view["answers"])
    ends = [node for answer in view["answers"] for pair in answer["removed"] for node in pair]
    assert ends
    assert max(ends) < 6  # nothing touches the frozen half
    assert page.inner_text("#option-freeze button[aria-pressed=true]") == "Back"  # as requested
    press(page, "#compare")
    page.wait_for_selector("#comparison:not([hidden])")
    assert page.locator("#comparison tbody tr").count() >= 4
    assert "in range" in page.locator("#comparison thead th").all_inner_texts()
    first = page.locator("#comparison tbody th").first
    assert first.inner_text().startswith("auto")
    assert len(first.locator("small").inner_text()) > 10  # what it does
    window.quiet()


def test_what_all_have_in_common(desk):
    window = desk(PHONE)
    page = window.open()
    choose(page, "#dataset", "small")
    page.wait_for_function("() => denseflipApp.set.key === 'small'")
    reveal(page, "#permutations").fill("19")
    press(page, "#cohort")
    page.wait_for_selector("#together:not([hidden])", timeout=180_000)
    assert page.locator("#together-said p").count() == 1  # one sentence
    pictures = page.locator("#together-pictures img")
    assert pictures.count() == 3
    for i in range(3):  # drawn for a phone, not shrunk
        picture = pictures.nth(i)
        picture.scroll_into_view_if_needed()
        drawn = picture.evaluate("async (one) => { await one.decode(); return one.currentSrc; }")
        wide = picture.evaluate("one => one.getAttribute('src')")
        assert drawn == picture.evaluate("one => one.parentElement.children[0].srcset")
        assert drawn != wide
    row = page.locator("#together-rows tbody tr").first
    assert row.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert row.locator("td[data-label]").count() == row.locator("td").count()
    assert "19 permutations of the labels" in page.inner_text("#together-lines")
    assert page.locator("#together-notes").is_hidden()
    page.click("#together-more summary")
    assert page.locator("#together-notes li").count() > 1
    assert window.sideways() <= 0
    window.quiet()


def test_progress_is_shown_and_a_search_can_be_cancelled(desk):
    window = desk()
    page = window.open()
    page.route("**/events", lambda route: route.continue_())
    choose(page, "#dataset", "brains")
    page.wait_for_function("() => denseflipApp.set.key === 'brains'")
    choose(page, "#classifier", "sf-knn")
    page.select_option("#option-method", "best")
    page.click("#explain")
    page.wait_for_selector("#progress:not([hidden])")
    page.click("#cancel")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "Cancelled" in page.inner_text("#trouble")
    page.click("#history summary")
    page.wait_for_selector("#jobs >> text=cancelled")
    window.quiet()


def test_taking_away(desk, tmp_path: Path):
    window = desk()
    page = window.open()
    window.explain("brains", "case-002")
    got = {}
    for name, button in (
        ("denseflip.svg", "#save-svg"),
        ("denseflip.png", "#save-png"),
        ("edits.csv", "[data-file='edits.csv']"),
        ("brain.node", "[data-file='brain.node']"),
        ("report.html", "[data-file='report.html']"),
    ):
        with page.expect_download() as waiting:
            press(page, button)
        target = tmp_path / name
        waiting.value.save_as(target)
        got[name] = target.read_bytes()
    assert got["denseflip.svg"].startswith(b"<svg")
    assert got["denseflip.png"].startswith(b"\x89PNG")
    assert got["edits.csv"].startswith(b"id,change,")
    assert len(got["brain.node"].splitlines()) == 116
    page.click("#tab-circle")
    with page.expect_download() as waiting:
        press(page, "#save-png")
    waiting.value.save_as(tmp_path / "circle.png")
    assert (tmp_path / "circle.png").read_bytes().startswith(b"\x89PNG")
    window.quiet()


def test_uploads_are_taken_or_refused_in_words(desk):
    window = desk()
    page = window.open()
    press(page, "#bring summary")
    page.set_input_files(
        "#file", files=[{"name": "a.pkl", "mimeType": "x/y", "buffer": b"\x80\x04N."}]
    )
    press(page, "#upload")
    page.wait_for_selector("#upload-said[role=alert] >> text=can run code")
    choose(page, "#dataset", "small")
    page.wait_for_function("() => denseflipApp.set.key === 'small'")
    rows = "\n".join(
        ",".join("1" if i != j and i + j < 9 else "0" for j in range(12)) for i in range(12)
    )
    name = "<img src=x onerror=document.title=1>.csv"
    page.set_input_files(
        "#file", files=[{"name": name, "mimeType": "text/csv", "buffer": rows.encode()}]
    )
    press(page, "#upload")
    page.wait_for_selector("#upload-said >> text=Uploaded")
    assert "<img src=" in page.inner_text("#subject option:checked")
    assert page.locator("img").count() == 0
    assert page.title() == "denseflip"
    window.quiet()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_a_failed_upload_dims_the_answer_of_another_subject(desk, viewport):
    window = desk(viewport)
    page = window.open()
    story = page.locator("#story")
    faint = "getComputedStyle(document.getElementById('story')).opacity"

    def fail() -> None:
        reveal(page, "#file").set_input_files(
            {"name": "patient-12.csv", "mimeType": "text/csv", "buffer": b"0,1,1\n1,0,x\n1,0,0\n"}
        )
        press(page, "#upload")
        page.wait_for_selector("#unread:not([hidden])")

    fail()
    said = "patient-12.csv was not read. Below is still the answer for Mouse sub-54811."
    assert page.inner_text("#unread-said") == said
    remedy = "Correct it from the original data, or export the file again."
    assert page.inner_text("#upload-said").endswith(remedy)
    assert story.evaluate("one => one.inert")
    assert float(page.evaluate(faint)) < 0.5
    page.click("#unread-end")  # the reader wants the old answer
    assert page.locator("#unread").is_hidden()
    assert float(page.evaluate(faint)) == 1
    fail()
    window.explain("small", "g0001")  # a new answer is not that of the file either
    assert page.locator("#unread").is_hidden()
    assert not story.evaluate("one => one.inert")
    assert window.sideways() == 0
    window.quiet()


LETTERS = """() => [...document.querySelectorAll("#matrix .on-cell")].map((text) => {
  const linear = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const levels = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map((c) => Number(c) / 255);
  const light = (rgb) => [0.2126, 0.7152, 0.0722].reduce((s, w, i) => s + w * linear(rgb[i]), 0);
  const cell = text.previousSibling, opacity = Number(cell.getAttribute("fill-opacity"));
  const paper = levels(getComputedStyle(document.body).backgroundColor);
  const fill = levels(getComputedStyle(cell).fill);
  const ground = light(fill.map((c, i) => opacity * c + (1 - opacity) * paper[i]));
  const ink = light(levels(getComputedStyle(text).fill));
  return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
})"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_in_the_matrix_can_be_read_in_both_schemes(desk, scheme):
    window = desk(color_scheme=scheme)
    page = window.open()  # the worked example: three pairs of regions
    page.click("#tab-matrix")
    page.wait_for_selector("#matrix .on-cell")
    assert min(page.evaluate(LETTERS)) >= 4.5
    page.click("#theme")
    assert min(page.evaluate(LETTERS)) >= 4.5
    # Both scales end at the largest number, so that equal numbers are equally dark.
    cells = page.evaluate(
        """() => Object.fromEntries(["added", "removed"].map((way) => [way,
          [...document.querySelectorAll(`#matrix .cell.${way}`)].map((cell) =>
            Number(cell.nextSibling.textContent.replace(",", "")))]))"""
    )
    most = max(number for numbers in cells.values() for number in numbers)
    for way in cells:
        key = page.inner_text(f".colour-key > span:has(.{way})")
        assert key.endswith(f" {most}")
    dark = page.evaluate(
        """() => [...document.querySelectorAll("#matrix .cell:not(.none)")].map((cell) =>
          [Number(cell.nextSibling.textContent.replace(",", "")),
           Number(cell.getAttribute("fill-opacity"))])"""
    )
    for number, shade in dark:
        assert shade == pytest.approx(0.25 + 0.75 * number / most)
    window.quiet()


def test_long_names_of_subjects_are_cut_in_the_middle_with_their_class(desk):
    window = desk({"width": 1024, "height": 768})
    page = window.open()
    page.evaluate(
        """() => { const one = document.querySelector("#subject option");
        one.dataset.name = "sub-Centre07-0000004_ses-baseline_run-01";
        one.dataset.class = "Typically developing controls";
        dispatchEvent(new Event("resize")); }"""
    )
    text = page.locator("#subject option").first.text_content()
    assert text.startswith("sub-")
    assert "-01 (" in text
    assert text.endswith("ols)")
    assert len(text) < 36
    wide = """() => { const pen = document.createElement("canvas").getContext("2d");
      const list = document.getElementById("subject"); pen.font = getComputedStyle(list).font;
      return Math.max(...[...list.options].map((one) => pen.measureText(one.textContent).width))
        / list.clientWidth; }"""
    assert page.evaluate(wide) < 1
    page.evaluate(
        """() => { [...document.querySelectorAll("#subject option")].forEach((one, i) => {
        one.dataset.name = `sub-Centre07-0000${100 + i}_ses-baseline_run-01`; });
        dispatchEvent(new Event("resize")); }"""
    )
    texts = page.locator("#subject option").all_text_contents()
    assert len(set(texts)) == len(texts)  # what differs is kept, as a whole
    assert texts[0].startswith("…0000100…")
    window.quiet()


@pytest.mark.parametrize("viewport", [PHONE, {"width": 1024, "height": 768}], ids=["phone", "mid"])
def test_the_list_of_edits_has_one_column_for_both_nodes_if_it_is_narrow(desk, viewport):
    window = desk(viewport)
    page = window.open()
    page.click("#tab-edits")
    page.wait_for_selector("#edits tbody tr")
    assert page.locator("#edits tbody tr").first.locator("td:visible").count() == 3
    after = "getComputedStyle(document.querySelector('#edits td[data-other]'), '::after').content"
    assert page.evaluate(after).strip('"').startswith(" – ")
    table = page.locator("#edits .scroll")
    assert table.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    window.quiet()


def test_the_list_of_edits_fits_its_column_on_a_desk(desk):
    window = desk({"width": 1440, "height": 900})
    page = window.open()
    page.click("#tab-edits")
    page.wait_for_selector("#edits tbody tr")
    cells = page.locator("#edits tbody tr").first.locator("td:visible")
    assert cells.count() == 4
    assert cells.nth(1).locator("small:visible").count() == 1  # its region
    table = page.locator("#edits .scroll")
    assert table.evaluate("one => one.scrollWidth - one.clientWidth") <= 0
    window.quiet()


def test_an_upload_error_is_not_behind_the_button_of_a_phone(desk):
    window = desk(PHONE)
    page = window.open()
    reveal(page, "#file").set_input_files(
        {"name": "p.csv", "mimeType": "text/csv", "buffer": b"0,1,1\n1,0,x\n1,0,0\n"}
    )
    press(page, "#upload")
    page.wait_for_selector("#upload-said[role=alert]")
    page.wait_for_function(
        """() => document.getElementById("upload-said").getBoundingClientRect().bottom
          <= document.querySelector(".actions").getBoundingClientRect().top"""
    )
    window.quiet()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_a_slider_says_where_it_ends_and_how_many_connections_are_possible(desk, viewport):
    window = desk(viewport)
    page = window.open()
    window.explain("brains", "case-001")
    page.click("#tab-whatif")
    page.wait_for_selector(".wi-row .wi-band input")
    slider = page.locator("#whatif .wi-slider.wi-more").first
    far = slider.locator("input[type=range]").get_attribute("max")
    assert slider.locator(".wi-far").inner_text().replace(",", "") == far
    most = slider.locator("input[type=number]").get_attribute("max")
    said = slider.locator(".wi-quiet")
    assert said.is_visible()
    assert said.inner_text().replace(",", "") == f"of {most} possible"
    window.quiet()


def test_dark_and_light_are_remembered(desk):
    window = desk(color_scheme="dark")
    page = window.open()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.inner_text("#theme") == "Light mode"  # what it will do
    page.click("#theme")
    assert page.inner_text("#theme") == "Dark mode"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "light"


def test_classes_that_are_called_by_numbers_are_not_mixed_up(desk):
    window = desk()
    page = window.open()
    window.explain("numbers", "g0000", "sf-knn")  # the server is asked, and answers with names
    page.click("#tab-whatif")
    page.click(".wi-tools >> text=Original")
    page.wait_for_function("() => document.getElementById('whatif').dataset.flips === '0/1'")
    view = page.evaluate("denseflipApp.view")
    assert page.inner_text(".wi-label strong") == view["before"]
    page.click(".wi-save")
    assert page.inner_text(".wi-saved tbody td") == view["before"]
    window.quiet()


def test_what_is_judged_or_runs_meanwhile_does_not_change_what_is_shown(desk):
    window = desk()
    page = window.open()
    choose(page, "#dataset", "small")
    page.wait_for_function("() => denseflipApp.set.key === 'small'")
    page.click("#more summary")
    page.check("#option-front")
    window.explain("small", "g0002", "edges-logistic")
    shown = page.evaluate("denseflipApp.job")
    choose(page, "#subject", "g0005")
    choose(page, "#classifier", "edges-svm")
    press(page, "#judge")
    page.wait_for_function("() => document.getElementById('judge').hidden")
    page.wait_for_selector("#progress", state="hidden")
    assert page.evaluate("denseflipApp.job") == shown
    page.click("#tab-whatif")
    page.wait_for_selector("#whatif .wi-verdict strong")
    assert page.evaluate("denseflipApp.panel.data.subject") == "g0002"
    front = page.evaluate("denseflipApp.view.answers.length")
    assert front > 1
    for choice in page.locator("#front button").all():
        choice.click()
        assert choice.get_attribute("aria-pressed") == "true"
        page.wait_for_function("() => denseflipApp.panel && !denseflipApp.opening")
        answer = page.evaluate("denseflipApp.view.answers[denseflipApp.answer]")
        if page.evaluate("denseflipApp.panel.data.start.pairs.length"):
            said = page.evaluate("denseflipApp.panel.answer.codes.length")
            assert said == len(answer["said"])
    window.quiet()


def test_a_panel_that_opens_late_is_not_shown_under_another_answer(desk):
    window = desk()
    page = window.open()
    window.explain("small", "g0002", "edges-logistic")
    first = page.evaluate("denseflipApp.job")
    window.explain("small", "g0003", "edges-logistic")
    page.evaluate("() => document.getElementById('tab-whatif').click()")  # asks for g0003
    page.evaluate("job => { location.hash = `job=${job}&tab=whatif`; }", first)
    page.wait_for_function("job => denseflipApp.job === job && denseflipApp.panel", arg=first)
    assert page.evaluate("denseflipApp.panel.data.subject") == "g0002"
    window.quiet()


def test_a_link_about_pairs_that_are_not_there_changes_what_is_there_only(desk):
    window = desk()
    page = window.open()
    window.explain("small", "g0002", "edges-logistic")
    page.click("#tab-whatif")
    page.wait_for_selector("#whatif .wi-verdict strong")
    page.evaluate("""() => denseflipApp.panel.restore({ reading: 'any', seed: 1,
      pairs: [1, 1, 12, 13, 143, 9999], cells: { '0-0': { more: 999, fewer: 0 },
      '5-9': { more: 1, fewer: 1 } } })""")
    state = page.evaluate("denseflipApp.panel.state")
    assert state["pairs"] == [1]
    assert list(state["cells"]) == ["0-0"]
    absent = page.evaluate("""() => { const { choices } = denseflipApp.panel;
      return choices.cells.get('0-0').absent.filter((code) => code !== 1).length; }""")
    assert state["cells"]["0-0"]["more"] == absent
    assert page.evaluate("denseflipApp.panel.answer.codes.length") == absent + 1
    window.quiet()
