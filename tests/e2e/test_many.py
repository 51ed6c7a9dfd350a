"""The index of many patients, what is frozen by click, and pictures of 57 regions, in a browser."""

from __future__ import annotations

import csv
import io

import pytest

pytest.importorskip("fastapi", reason="the app needs the extra 'web'")

from desks import DESK, PHONE, choose, press

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.filterwarnings("default")]


def change_set(page, key):
    """Another data set."""
    choose(page, "#dataset", key)
    page.wait_for_function("key => denseflipApp.set && denseflipApp.set.key === key", arg=key)


def chips(page):
    """What is chosen, as the chips say it."""
    return [text.rstrip(" ×") for text in page.locator("#chosen li").all_inner_texts()]


def on_circle(page, script):
    """Where something is in the window: a script about ``picture`` that gives a place on it."""
    page.wait_for_selector("#circle[data-ready=true]")
    page.locator("#circle canvas").scroll_into_view_if_needed()
    box = page.locator("#circle canvas").bounding_box()
    x, y = page.evaluate(f"() => {{ const picture = denseflipApp.circle; return {script}; }}")[:2]
    return box["x"] + x, box["y"] + y


def click_band(page, region):
    """Click the middle of a region's band on the circle."""
    arc = f"picture.data.circle.arcs.find((arc) => arc.region === {region})"
    middle = f"({arc}.start + {arc}.end) / 2"
    page.mouse.click(*on_circle(page, f"picture.layout.place({middle}, picture.layout.out)"))


def with_back_frozen(desk):
    """An explanation in which the second region was clicked: the window and its page."""
    window = desk()
    page = window.open()
    window.explain("small", "g0000", "edges-logistic")
    page.click("#tab-circle")
    click_band(page, 1)
    return window, page


def test_an_index_of_many_patients(desk):
    window = desk()
    page = window.open()
    change_set(page, "small")
    choose(page, "#classifier", "edges-logistic")
    page.select_option("#option-method", "con")
    choose(page, "#many-whom", "B")
    press(page, "#many")
    page.wait_for_selector("#index:not([hidden])")
    rows = page.locator(".index tbody tr:visible")
    assert rows.count() == 12
    page.click(".index thead button >> text=edits")
    edits = [int(text) for text in page.locator(".index td[data-label=edits]").all_inner_texts()]
    assert edits == sorted(edits)
    page.click(".index thead button >> text=edits")
    assert page.get_attribute(".index th[aria-sort]", "aria-sort") == "descending"
    page.fill("#index-find", "g0003")
    assert page.inner_text("#index-count") == "1 of 12 subjects"
    link = page.evaluate("location.href")
    with page.expect_download() as waiting:
        press(page, "#index-files >> text='CSV'")
    listed = list(csv.DictReader(io.StringIO(waiting.value.path().read_text())))
    assert len(listed) == 12
    page.click(".index tbody tr:visible a")  # opens that patient
    page.wait_for_selector("#to-index")
    assert page.inner_text("#story-title").startswith("g0003: B")
    assert page.evaluate("denseflipApp.request.of") in link
    page.go_back()
    page.wait_for_selector("#index:not([hidden])")
    assert page.inner_text("#index-count") == "1 of 12 subjects"
    other = desk(PHONE)
    other.page.goto(link)  # in another window: the same rows, in the same order
    other.page.wait_for_selector("#index:not([hidden])")
    assert other.page.inner_text("#index-count") == "1 of 12 subjects"
    assert other.page.locator(".index th[aria-sort=descending]").count() == 1
    other.page.select_option("#index-kind", "none")
    assert other.page.locator("#index-count").inner_text().endswith("of 12 subjects")
    assert other.sideways() <= 0
    page.click("#history summary")
    page.once("dialog", lambda asked: asked.accept())
    page.click("#jobs li:has-text('many subjects') >> text=delete")  # the one that is shown
    page.wait_for_selector("#example-note:not([hidden])")
    assert page.is_hidden("#index")
    page.wait_for_selector("#jobs li:has-text('many subjects')", state="detached")
    window.quiet()
    other.quiet()


def test_many_can_be_cancelled(desk):
    window = desk()
    page = window.open()
    change_set(page, "brains")
    press(page, "#many")
    page.wait_for_function(
        "() => /of 16 explained/.test(document.getElementById('progress-words').textContent)"
    )
    page.click("#cancel")
    page.wait_for_selector("#trouble >> text=Cancelled")
    window.quiet()


def test_regions_and_nodes_are_frozen_by_click(desk):
    window, page = with_back_frozen(desk)
    assert chips(page) == ["❄ Back"]
    assert page.is_visible("#newer")
    click_band(page, 1)
    assert chips(page) == []
    page.click("#tab-matrix")
    page.click("#matrix text.pick[data-region='1']")
    page.click("#tab-circle")
    place = on_circle(page, "picture.positions[3]")
    page.mouse.click(*place)
    node = page.inner_text("#picked-said").split(" ")[0]
    page.keyboard.press("Escape")
    assert page.is_hidden("#picked")
    page.mouse.click(*on_circle(page, "picture.positions[3]"))
    page.click("#picked-node")
    page.click("#option-freeze-choose summary")
    page.fill("#option-freeze-new", "n0")
    page.keyboard.press("Enter")
    page.fill("#option-freeze-new", "nobody")
    page.click("#option-freeze-add")
    assert "no node" in page.inner_text("#option-freeze-said")
    page.select_option("#option-only", "remove")
    removals = "Allowed changes: remove"
    assert chips(page) == ["❄ Back", f"❄ node {node}", "❄ node n0", removals]
    before = page.evaluate("denseflipApp.job")
    page.click("#newer-explain")
    page.wait_for_function("old => denseflipApp.job !== old", arg=before)
    asked = page.evaluate("denseflipApp.request")
    assert asked["freeze"] == ["lobe: Back", f"node: {node}", "node: n0"]
    assert page.is_hidden("#newer")
    view = page.evaluate("denseflipApp.view")
    stays = {0, int(node[1:]), *range(6, 12)}
    for answer in view["answers"]:
        assert answer["added"] == []
        assert not stays & {end for pair in answer["removed"] for end in pair}
    # Every chip is taken back from the keyboard, and the keyboard stays among them.
    page.focus("#chosen button")
    for left in (3, 2, 1, 0):
        page.keyboard.press("Enter")
        assert len(chips(page)) == left
    assert page.evaluate("document.activeElement.id") == "explain"
    window.quiet()


def test_a_late_word_about_the_classifiers_does_not_take_the_keyboard(desk):
    window, page = with_back_frozen(desk)
    held = []
    page.route("**/api/datasets/small", lambda route: held.append(route))  # asked anew, no answer
    before = page.evaluate("denseflipApp.job")
    with page.expect_request("**/api/datasets/small"):
        page.click("#newer-explain")
        page.wait_for_function("old => denseflipApp.job !== old", arg=before)
    assert page.evaluate("document.activeElement.id") == "answer"
    page.focus("#chosen button")
    with page.expect_response("**/api/datasets/small"):
        for route in held:
            route.continue_()
    page.wait_for_function("new Promise(done => setTimeout(() => done(true), 200))")
    page.keyboard.press("Enter")
    assert chips(page) == []
    window.quiet()


def test_a_node_of_the_brain_is_frozen_with_its_region(desk):
    window = desk()
    page = window.open()
    window.explain("brains", "case-001")
    page.wait_for_selector("#brain[data-ready=true]")
    page.wait_for_function("() => denseflipApp.brain.layout.surface")
    page.wait_for_timeout(300)
    page.locator("#brain canvas").scroll_into_view_if_needed()
    box = page.locator("#brain canvas").bounding_box()
    x, y = page.evaluate("denseflipApp.brain.positions.at(-1)")[:2]
    page.mouse.click(box["x"] + x, box["y"] + y)
    region = page.inner_text("#picked-region").removeprefix("Freeze ")
    page.click("#picked-region")
    assert chips(page) == [f"❄ {region}"]
    inside = page.evaluate(
        """name => { const { view, brain } = denseflipApp;
      const own = view.index.filter((i) => view.regions[i].name === name);
      return brain.frozen.size === own.length; }""",
        region,
    )
    assert inside
    window.quiet()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_57_regions_and_400_nodes_stay_legible(desk, viewport):
    window = desk(viewport)
    page = window.open()
    page.select_option("#option-method", "con")
    window.explain("areas", "g0001", "edges-svm")
    edits, touched = page.evaluate("""() => { const { view } = denseflipApp, one = view.answers[0];
      const pairs = [...one.removed, ...one.added];
      return [pairs.length, new Set(pairs.flat().map((node) => view.index[node])).size]; }""")
    matrix_first = edits > 150 and touched > 20  # lines would cover each other
    first = "tab-matrix" if matrix_first else "tab-brain"
    assert page.get_attribute("[role=tab][aria-selected=true]", "id") == first
    page.click("#tab-matrix")
    drawn = page.locator("#matrix text.column").count()
    assert page.locator("#matrix .left-out").count() == (drawn < 57)
    if drawn < 57:
        assert f"{drawn} of 57 regions shown; " in page.inner_text("#matrix .left-out")
    if page.locator("#matrix text.column").count() < 57:
        page.check("#all-regions")
    tall, apart = page.evaluate("""() => {
      const texts = [...document.querySelectorAll('#matrix text.region:not(.column)')];
      const tops = texts.map((t) => t.getBoundingClientRect().top).sort((a, b) => a - b);
      return [parseFloat(getComputedStyle(texts[0]).fontSize),
        Math.min(...tops.slice(1).map((top, i) => top - tops[i]))]; }""")
    assert page.locator("#matrix text.region:not(.column)").count() == 57
    assert tall >= 10
    assert apart >= tall  # no line meets the next
    page.click("#tab-circle")
    page.wait_for_selector("#circle[data-ready=true]")
    labels, size = page.evaluate("""() => { const { labels, width, height } = denseflipApp.circle;
      return [labels, [width, height]]; }""")
    boxes = [label["box"] for label in labels]
    assert len(boxes) > 30
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert min(left, top) >= 0
        assert right <= size[0]
        assert bottom <= size[1]
        assert not any(
            left < b[2] - 2 and b[0] < right - 2 and top < b[3] - 2 and b[1] < bottom - 2
            for b in boxes[:i]
        )
    numbers = [text for text in page.locator("#circle .df-number").all_text_contents() if text]
    assert len(numbers) == (57 if page.evaluate("denseflipApp.circle.layout.numbered") else 0)
    page.click("#tab-whatif")
    page.wait_for_selector("#whatif .wi-verdict strong")
    assert "1,653 region pairs" in page.inner_text("#whatif")
    page.fill(".wi-find", "area 3 area 40")
    page.click("[data-find='3-40']")
    assert page.evaluate("document.activeElement.closest('[data-cell]').dataset.cell") == "3-40"
    assert page.locator(".wi-found li").count() == 0
    page.click("#tab-brain")
    page.wait_for_selector("#brain[data-ready=true]")
    assert page.is_hidden("#brain .df-regions")  # 57 switches are folded away
    page.click("#brain .df-folded > summary")
    page.click("#brain .df-panel summary")
    page.click("#brain .df-buttons >> text=none")
    assert page.locator("#brain .df-regions input:checked").count() == 0
    assert window.sideways() <= 0
    window.quiet()
