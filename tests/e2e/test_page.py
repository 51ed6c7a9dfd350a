"""The report opened in a browser, as a colleague would."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
pytest.importorskip("nilearn", reason="the glass brain needs the extra 'brain'")

from denseflip import write_page
from denseflip.counterfactual import Status
from stories import brain_nodes, complete, make_story, sided_nodes

pytestmark = [pytest.mark.browser, pytest.mark.slow]
PHONE = {"width": 360, "height": 740}
CONTRAST = """() => {  // WCAG's contrast of every text with what is behind it; the lowest
  const level = (c) => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const light = (colour) => {
    const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
    return .2126 * level(r) + .7152 * level(g) + .0722 * level(b);
  };
  const back = (e) => {
    for (; e; e = e.parentElement) {
      const colour = getComputedStyle(e).backgroundColor;
      if (!/, 0\\)$|transparent/.test(colour)) return colour;
    }
    return 'rgb(255,255,255)';
  };
  let worst = 99;
  const texts = 'p,li,td,th,dt,dd,h1,h2,figcaption,blockquote,code,.mark,summary';
  for (const e of document.querySelectorAll(texts)) {
    if (!e.textContent.trim() || !e.offsetParent) continue;
    const [a, b] = [light(getComputedStyle(e).color), light(back(e))].sort((x, y) => y - x);
    worst = Math.min(worst, (a + .05) / (b + .05));
  }
  return worst;
}"""


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about a human brain, with a comparison."""
    nodes = brain_nodes()
    first = make_story(nodes, complete((2, 3, 4, 5, 6)), complete((42, 43, 48, 49)))
    second = make_story(nodes, [(0, 90)], [(1, 91)], method="edg", status=Status.BUDGET)
    return write_page(
        first,
        tmp_path_factory.mktemp("page") / "report.html",
        stories=[first, second],
        command="denseflip compare aut 9 --methods tri,edg --out a-rather-long-folder-name/of-mine",
    )


@pytest.fixture(scope="module")
def circle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about nodes without coordinates, with awkward names."""
    story = make_story(sided_nodes(), [(0, 1), (3, 4)], [(0, 6), (1, 7), (2, 8)])
    return write_page(story, tmp_path_factory.mktemp("page") / "circle.html")


@pytest.fixture(scope="module")
def fronted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with a front of three answers."""
    front = [
        make_story(sided_nodes(), (), [(u, v) for u in (0, 1, 2) for v in last])
        for last in ((6, 7, 8), (6, 7), (6, 9))
    ]
    path = tmp_path_factory.mktemp("page") / "front.html"
    return write_page(front[0], path, front=front, interactive=False)


@pytest.mark.parametrize("scripts", [True, False])
def test_the_sentences_of_the_front_are_one_click_apart(visit, fronted, scripts):
    seen = visit(fronted, scripts=scripts)
    shown = lambda i: seen.page.locator(f"#answer-{i} .statement").is_visible()  # noqa: E731
    assert [shown(i) for i in (1, 2, 3)] == [True, False, False]
    labels = seen.page.locator(".answers summary").all_inner_texts()
    assert "edits" in labels[1]
    seen.page.locator(".answers summary").nth(2).click()
    assert [shown(i) for i in (1, 2, 3)] == [False, False, True]
    seen.page.locator(".answers summary").nth(1).click()
    assert [shown(i) for i in (1, 2, 3)] == [False, True, False]
    seen.quiet()


def unfold(page):
    """Open everything that is folded, as a reader may."""
    page.evaluate(
        "document.querySelectorAll('details.fold').forEach((one) => { one.open = true; })"
    )
    return page


def test_the_front_fits_a_phone(visit, fronted):
    assert visit(fronted, **PHONE).sideways() <= 0


def test_opens_without_a_complaint_and_fetches_nothing(visit, report):
    seen = visit(report)
    assert seen.page.title().startswith("Patient 9")
    assert seen.page.locator("h1").count() == 1
    sizes = seen.page.eval_on_selector_all("img", "all => all.map(i => i.naturalWidth)")
    assert len(sizes) == 3  # connectome, matrix, comparison; two regions need no bars
    unfold(seen.page)
    assert all(width > 100 for width in sizes)  # every picture is really there
    assert not seen.page.locator(".still").is_visible()  # the interactive one replaces it
    seen.quiet()


@pytest.mark.parametrize("which", ["report", "circle"])
def test_fits_a_phone(visit, request, which):
    seen = visit(request.getfixturevalue(which), **PHONE)
    assert seen.sideways() <= 0
    seen.page.wait_for_selector("#view[data-ready=true]")
    unfold(seen.page)
    assert seen.sideways() <= 0
    shown = seen.page.eval_on_selector_all(
        ".fold figure img", "all => all.map(i => [i.naturalWidth, i.getBoundingClientRect().width])"
    )
    assert all(0.9 < width / natural < 1.3 for natural, width in shown)  # letters stay legible
    size = seen.page.eval_on_selector("body", "b => parseFloat(getComputedStyle(b).fontSize)")
    assert size >= 15
    seen.quiet()


def test_a_phone_shows_the_comparison_as_cards_and_hints_at_what_is_off_screen(visit, report):
    page = unfold(visit(report, **PHONE).page)
    assert page.locator(".swipe").is_visible()
    fits = page.eval_on_selector(".cards", "t => t.scrollWidth <= t.parentElement.clientWidth")
    assert fits
    assert not unfold(visit(report).page).locator(".swipe").is_visible()


def test_reads_without_scripts(visit, report):
    seen = visit(report, scripts=False)
    assert seen.page.locator("blockquote").is_visible()
    assert seen.page.locator(".still img").is_visible()
    for summary in seen.page.locator("details.fold > summary").all():
        summary.click()
    assert seen.page.locator("#edits tbody tr").count() == 16
    assert not seen.page.locator(".filter").is_visible()  # what would not work is not shown
    assert not seen.page.locator("#save-json").is_visible()


def test_the_table_filters(visit, report):
    page = unfold(visit(report).page)
    rows = page.locator("#edits tbody tr:visible")
    assert rows.count() == 16
    page.fill("#edit-filter", "calcarine_l occipital")
    assert rows.count() == 3
    assert page.inner_text("#edit-count") == "3 of 16 edits"
    page.fill("#edit-filter", "")
    page.select_option("#edit-kind", "removed")
    assert rows.count() == 10
    page.fill("#edit-filter", "no such node")
    assert rows.count() == 0


def test_the_table_sorts_both_ways(visit, report):
    page = unfold(visit(report).page)
    head = page.locator("#edits thead th").nth(1)

    def names() -> list[str]:
        return page.locator("#edits tbody tr td:nth-child(2)").all_inner_texts()

    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert names() == sorted(names())
    head.locator("button").focus()
    page.keyboard.press("Enter")  # by keyboard too
    assert head.get_attribute("aria-sort") == "descending"
    assert names() == sorted(names(), reverse=True)


PICTURE = "document.getElementById('view').connectome"


def test_the_interactive_picture_is_there_and_its_switches_work(visit, report):
    seen = visit(report)
    page = seen.page
    page.wait_for_selector("#view[data-ready=true]")
    assert "10 removed" in page.inner_text("#view .df-key")
    assert "Occipital Lobe" in page.inner_text("#view .df-key")  # the colours of changed nodes
    page.click("#view .df-folded summary")
    view = page.locator("#view")
    counts = lambda: (view.get_attribute("data-removed"), view.get_attribute("data-added"))  # noqa: E731
    assert counts() == ("10", "6")
    page.get_by_label("removed (10)").uncheck()
    page.wait_for_selector("#view[data-removed='0']")
    assert counts() == ("0", "6")
    page.get_by_label("removed (0 of 10 shown)").check()
    page.get_by_label("Occipital Lobe").uncheck()
    page.wait_for_selector("#view[data-added='0']")
    assert counts() == ("10", "0")
    assert page.get_by_label("added (0 of 6 shown)").is_checked()
    page.get_by_role("button", name="none").click()
    page.wait_for_selector("#view[data-removed='0']")
    page.get_by_role("button", name="all", exact=True).click()
    page.wait_for_selector("#view[data-removed='10'][data-added='6']")
    assert page.evaluate(f"{PICTURE}.drawn.length") == 16
    assert page.evaluate(f"{PICTURE}.layout.surface.count") == 3002
    seen.quiet()


def test_the_brain_keeps_its_size_and_knows_left_from_right(visit, report):
    page = visit(report).page
    page.wait_for_selector("#view[data-ready=true]")
    page.click("#view .df-folded summary")
    places = f"{PICTURE}.positions"
    before = page.evaluate(places)
    page.get_by_label("brain surface").uncheck()
    page.get_by_role("button", name="none").click()
    page.wait_for_selector("#view[data-removed='0'][data-added='0']")
    assert page.evaluate(places) == before
    page.get_by_role("button", name="top").click()
    page.wait_for_function(f"{PICTURE}.layout.tilt > 1.5")
    page.wait_for_selector("#view[data-sides='both']")
    names = page.evaluate(f"{PICTURE}.data.names")
    page.wait_for_function(f"JSON.stringify({places}) !== {json.dumps(json.dumps(before))}")
    after = dict(zip(names, page.evaluate(places), strict=True))
    # Right is right and the nose is up, as in the still picture.
    assert after["Precentral_L"][0] < after["Precentral_R"][0]
    assert after["Frontal_Sup_L"][1] < after["Occipital_Sup_L"][1]
    for side, letter in (("left", "L"), ("right", "R")):
        page.get_by_role("button", name=side).click()
        page.wait_for_selector(f"#view[data-sides='{letter}']")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_and_pictures_follow_the_scheme_of_the_screen(chromium, report, scheme):
    context = chromium.new_context(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(report.as_uri())
    page.wait_for_selector("#view[data-ready=true]")
    level = page.evaluate(f"{PICTURE}.context.getImageData(4, 4, 1, 1).data[0]")
    assert level == (255 if scheme == "light" else 20)
    assert page.evaluate(CONTRAST) >= 4.5
    page.emulate_media(media="print")  # paper stays white
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == "rgb(255, 255, 255)"
    context.close()


def test_the_circle_is_interactive_too(visit, circle):
    seen = visit(circle)
    seen.page.wait_for_selector("#view[data-removed='2'][data-added='3']")
    seen.page.click("#view .df-folded summary")
    assert seen.page.get_by_label("left A & <b>").is_checked()
    seen.quiet()


def test_the_data_can_be_saved(visit, report, tmp_path):
    page = unfold(visit(report).page)
    with page.expect_download() as waiting:
        page.click("#save-json")
    waiting.value.save_as(tmp_path / "data.json")
    data = json.loads((tmp_path / "data.json").read_text(encoding="utf-8"))
    assert data["story"]["subject"] == "Patient 9"
    assert len(data["story"]["result"]["removed"]) == 10


def test_prints(visit, report):
    seen = visit(report)
    seen.page.emulate_media(media="print")
    assert not seen.page.locator("#view").is_visible()
    assert seen.page.locator(".still img").is_visible()
    assert not seen.page.locator(".filter").is_visible()
    assert seen.page.locator("#edits tbody tr:visible").count() == 16
    assert len(seen.page.pdf()) > 20_000


def test_a_long_table_stops_on_paper_and_says_so(visit, tmp_path):
    story = make_story(brain_nodes(), complete(range(14)))
    path = write_page(story, tmp_path / "long.html", interactive=False)
    seen = visit(path)
    unfold(seen.page)
    rows = seen.page.locator("#edits tbody tr:visible")
    assert rows.count() == 91
    seen.page.emulate_media(media="print")
    assert rows.count() == 60
    assert seen.page.get_by_text("stops after 60 edits").is_visible()


def test_text_has_enough_contrast(visit, report):
    seen = visit(report)
    worst = seen.page.evaluate(CONTRAST)
    assert worst >= 4.5
