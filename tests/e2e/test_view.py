"""The interactive picture as a page of its own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from denseflip import view_connectome
from denseflip.graph import Nodes
from denseflip.report.circle import circle_layout
from denseflip.report.ribbons import ribbons_of
from denseflip.report.scene import make_scene
from stories import brain_nodes, complete, make_story, plain_nodes, sided_nodes

pytestmark = [pytest.mark.browser, pytest.mark.slow]
AXE = (Path(__file__).parents[1] / "data" / "axe.min.js").read_text(encoding="utf-8")
PICTURE = "document.getElementById('view').connectome"


@pytest.fixture(scope="module")
def brain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A human brain: six edges removed, three added."""
    story = make_story(brain_nodes(), complete((2, 3, 4, 5)), complete((90, 91, 92)))
    return view_connectome(story).save_as_html(tmp_path_factory.mktemp("view") / "brain.html")


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """400 nodes in 57 regions, 400 edits."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(400, 3)) * (25, 32, 22) + (0, -20, 15)
    nodes = Nodes(
        tuple(f"node {i}" for i in range(400)),
        regions={"area": tuple(f"area {i % 57}" for i in range(400))},
        coordinates=tuple(map(tuple, points.clip(-60, 70).tolist())),
    )
    pairs = [tuple(map(int, rng.choice(400, 2, replace=False))) for _ in range(400)]
    story = make_story(nodes, set(pairs[:200]), set(pairs[200:]) - set(pairs[:200]))
    return view_connectome(story).save_as_html(tmp_path_factory.mktemp("view") / "many.html")


def opened(visit: Any, path: Path, **window: Any) -> Any:
    seen = visit(path, **window)
    seen.page.wait_for_selector("#view[data-ready=true]")
    return seen


def point_of(page: Any, what: str) -> tuple[float, float]:
    """Where something is in the window: a script that gives a place on the canvas."""
    box = page.locator("#view canvas").bounding_box()
    x, y = page.evaluate(what)[:2]
    return box["x"] + x, box["y"] + y


def test_the_brain_is_drawn_in_three_dimensions(visit, brain):
    seen = opened(visit, brain)
    assert seen.page.locator("#view").get_attribute("data-removed") == "6"
    assert colours(seen.page) >= {"red", "blue", "glass"}
    seen.page.get_by_label("brain surface").uncheck()
    assert "glass" not in colours(seen.page)
    seen.quiet()


def test_nodes_and_edges_are_named_on_hover(visit, brain):
    page = opened(visit, brain).page
    tip = page.locator(".df-tip")
    assert not tip.is_visible()
    page.mouse.move(*point_of(page, f"{PICTURE}.positions[2]"))
    assert tip.inner_text().splitlines() == ["Frontal Sup L", "Frontal Lobe", "3 changed edges"]
    page.get_by_label("unchanged nodes").uncheck()
    page.mouse.move(
        *point_of(
            page,
            f"""() => {{ const {{ path }} = {PICTURE}.drawn.find((e) => e.u === 2 && e.v === 5);
            return [0.5 * (path[0] + path[2]), 0.5 * (path[1] + path[3])]; }}""",
        )
    )
    assert tip.inner_text().splitlines()[1:] == ["removed", "within Frontal Lobe"]
    page.mouse.move(2, 2)
    assert not tip.is_visible()


def test_mouse_and_keyboard_rotate_zoom_and_reset(visit, brain):
    page = opened(visit, brain).page
    canvas = page.locator("#view canvas")
    box = canvas.bounding_box()
    view = f"[{PICTURE}.layout.turn, {PICTURE}.layout.tilt, {PICTURE}.zoom, {PICTURE}.shift[0]]"
    start = page.evaluate(view)
    page.mouse.move(box["x"] + 100, box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + 160, box["y"] + 130)
    page.mouse.up()
    turned = page.evaluate(view)
    assert turned[0] == pytest.approx(start[0] + 0.6)
    assert turned[1] == pytest.approx(start[1] + 0.3)
    canvas.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("+")
    page.keyboard.press("Shift+ArrowLeft")
    pressed = page.evaluate(view)
    assert pressed[0] == pytest.approx(turned[0] + 0.15)
    assert pressed[2] == pytest.approx(1.15)
    assert pressed[3] == 24
    page.keyboard.press("0")
    assert page.evaluate(view) == start
    page.get_by_role("button", name="zoom in").click()
    assert page.evaluate(view)[2] == 1.25
    page.mouse.wheel(0, 200)  # the page scrolls; the picture does not zoom
    assert page.evaluate(view)[2] == 1.25
    page.get_by_role("button", name="reset the view").click()
    assert page.evaluate(view) == start


def test_fingers_rotate_and_pinch(chromium, brain):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
    page = context.new_page()
    page.goto(brain.as_uri())
    page.wait_for_selector("#view[data-ready=true]")
    box = page.locator("#view canvas").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    hands = context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        given = [{"x": px, "y": py, "id": i} for i, (px, py) in enumerate(points)]
        hands.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": given})

    turn = page.evaluate(f"{PICTURE}.layout.turn")
    touch("touchStart", (x - 60, y))
    touch("touchMove", (x - 20, y))
    touch("touchMove", (x + 60, y))
    touch("touchEnd")
    assert page.evaluate(f"{PICTURE}.layout.turn") > turn
    touch("touchStart", (x - 30, y), (x + 30, y))
    touch("touchMove", (x - 45, y), (x + 45, y))
    touch("touchMove", (x - 90, y), (x + 90, y))
    touch("touchEnd")
    assert page.evaluate(f"{PICTURE}.zoom") > 1.5
    context.close()


def test_the_keyboard_reads_the_changed_nodes(visit, brain):
    page = opened(visit, brain).page
    page.focus("#view canvas")
    page.keyboard.press("n")
    said = page.locator(".df-said")
    assert said.inner_text().startswith("Frontal Sup L, Frontal Lobe, 3 changed edges: removed to ")
    assert page.locator(".df-tip").is_visible()
    page.keyboard.press("p")
    assert "added to" in said.inner_text()  # the last of them
    page.keyboard.press("Escape")
    assert not page.locator(".df-tip").is_visible()


def test_a_click_keeps_a_node_in_front_and_names_do_not_overlap(visit, brain):
    page = opened(visit, brain).page
    page.mouse.click(*point_of(page, f"{PICTURE}.positions[90]"))
    assert page.evaluate(f"{PICTURE}.marked") == 90
    page.keyboard.press("Escape")
    assert page.evaluate(f"{PICTURE}.marked") == -1
    for side in ("left", "front", "top"):
        page.get_by_role("button", name=side).click()
        page.wait_for_timeout(100)
        labels = page.evaluate(f"{PICTURE}.labels")
        assert len(labels) > 4
        assert overlaps([label["box"] for label in labels]) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_400_nodes_and_57_regions_stay_legible(chromium, crowded, scheme, width):
    context = chromium.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    page.goto(crowded.as_uri())
    page.wait_for_selector("#view[data-ready=true]")
    assert page.locator(".df-regions label").count() == 57
    assert not page.locator(".df-regions").is_visible()  # a long list is folded
    page.click(".df-panel summary")
    page.get_by_role("button", name="none").click()
    page.wait_for_selector("#view[data-removed='0'][data-added='0']")
    wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert page.evaluate(wide) <= 0
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(255, 255, 255)" if scheme == "light" else "rgb(20, 23, 28)")
    assert page.evaluate(
        f"{PICTURE}.context.getImageData(4, 4, 1, 1).data.slice(0, 3).join(', ')"
    ) == ground.removeprefix("rgb(").removesuffix(")")
    context.close()


def test_a_circle_names_its_regions_beside_it(visit, tmp_path):
    story = make_story(sided_nodes(), [(0, 1), (3, 4)], [(0, 6), (1, 7), (2, 8)])
    target = view_connectome(story).save_as_html(tmp_path / "view.html")
    page = opened(visit, target).page
    labels = page.evaluate(f"{PICTURE}.labels")
    # A long name takes several lines.
    words = {word for name in story.taxonomy.regions for word in name.split()}
    assert {word for label in labels for word in label["text"].split()} == words
    assert overlaps([label["box"] for label in labels]) == []
    assert page.locator("#view").get_attribute("data-sides") == "both"
    band = f"{PICTURE}.layout.place(1, {PICTURE}.layout.out)"
    page.mouse.move(*point_of(page, band))
    assert page.locator(".df-tip").inner_text().splitlines()[1] == "3 nodes"
    narrow = opened(visit, target, width=360, height=700)
    labels = narrow.page.evaluate(f"{PICTURE}.labels")
    assert {word for label in labels for word in label["text"].split()} == words
    assert overlaps([label["box"] for label in labels]) == []
    assert narrow.sideways() <= 0
    narrow.quiet()


def test_a_circle_with_many_edits_has_a_ribbon_for_each_place_and_direction(visit, tmp_path):
    nodes = Nodes(
        tuple(f"node {i}" for i in range(60)),
        regions={"half": tuple("front" if i < 30 else "back" for i in range(60))},
    )
    removed = complete(range(15))  # 105 pairs within "front"
    added = [(i, j) for i in range(12) for j in range(30, 37)]  # 84 across
    story = make_story(nodes, removed, added)
    target = view_connectome(story).save_as_html(tmp_path / "view.html")
    seen = opened(visit, target)
    page, view = seen.page, seen.page.locator("#view")
    drawn = page.evaluate(f"{PICTURE}.drawn.map(({{ kind, n, width }}) => [kind, n, width])")
    assert [ribbon[:2] for ribbon in drawn] == [["removed", 105], ["added", 84]]
    assert drawn[0][2] / drawn[1][2] == pytest.approx(105 / 84)  # one scale
    scene = make_scene(story)
    ribbons = ribbons_of(scene, circle_layout(scene))  # those of the static figure
    angles = page.evaluate(f"{PICTURE}.drawn.map(({{ angles }}) => angles)")
    radius = page.evaluate(f"{PICTURE}.layout.radius")
    for ribbon, mine, (_, _, width) in zip(ribbons, angles, drawn, strict=True):
        assert ribbon.angles == pytest.approx(mine, abs=2e-4)
        assert ribbon.width == pytest.approx(width / radius, abs=2e-4)
    texts = {label["text"] for label in page.evaluate(f"{PICTURE}.labels")}
    assert {"−105", "+84"} <= texts
    middle = f"""() => {{ const p = {PICTURE}.drawn[1].path;
        return [0, 1].map((k) => (p[k] + 2 * p[2 + k] + p[4 + k]) / 4); }}"""
    page.mouse.move(*point_of(page, middle))
    assert page.locator(".df-tip").inner_text().splitlines() == ["84 added", "front – back"]
    key = page.locator(".df-key").inner_text()
    assert "105 removed" in key
    assert "84 added" in key
    page.get_by_label("Show single connections").check()
    page.wait_for_selector("#view[data-bundled=false]")
    assert page.evaluate(f"{PICTURE}.drawn.length") == 189
    assert view.get_attribute("data-removed") == "105"
    seen.quiet()


def test_few_edits_on_a_circle_are_single_lines(visit, tmp_path):
    story = make_story(sided_nodes(), [(0, 1)], [(0, 6), (1, 7)])
    page = opened(visit, view_connectome(story).save_as_html(tmp_path / "view.html")).page
    assert page.locator("#view").get_attribute("data-bundled") == "false"
    assert not page.get_by_label("Show single connections").is_visible()


def test_a_narrow_circle_has_a_complete_key(visit, tmp_path):
    nodes = Nodes(
        tuple(f"node {i}" for i in range(28)),
        regions={"area": tuple(f"Region{i // 2:02d}ofthewholecortex" for i in range(28))},
    )
    story = make_story(nodes, [(2 * i, 2 * i + 1) for i in range(14)], [])
    target = view_connectome(story).save_as_html(tmp_path / "view.html")
    page = opened(visit, target, width=390, height=844).page
    key = page.locator(".df-key").inner_text()
    assert all(f"{i + 1} Region{i:02d}ofthewholecortex" in key for i in range(14))
    assert "more regions" not in key


def test_the_key_leaves_out_the_words_that_all_names_begin_with(visit, brain):
    page = opened(visit, brain).page
    apart = "names => denseflipDrawing.apart(names)"
    long = "Superior and middle gyrus of"
    assert page.evaluate(apart, [f"{long} Frontal Lobe", f"{long} Temporal Lobe"]) == [
        "… Frontal Lobe",
        "… Temporal Lobe",
    ]
    numbers = ["Left Long Name of Area 7", "Left Long Name of Area 12"]
    assert page.evaluate(apart, numbers) == ["… Area 7", "… Area 12"]
    for alone in (["Frontal Lobe", "Temporal Lobe"], ["left cortex", "left thalamus"], [long]):
        assert page.evaluate(apart, alone) == alone


@pytest.mark.parametrize(
    ("turn", "said", "marks"),
    [
        ("left", "seen from the left", {"front", "back"}),
        ("right", "seen from the right", {"front", "back"}),
        ("front", "seen from the front", {"L", "R"}),
        ("top", "seen from above", {"L", "R", "front", "back"}),
    ],
)
def test_the_view_is_named_and_only_axes_across_it_are_marked(visit, brain, turn, said, marks):
    page = opened(visit, brain).page
    start = {label["text"] for label in page.evaluate(f"{PICTURE}.labels")}
    assert "seen from the left and the front" in start
    assert not {"L", "R"} & start  # they would lie at the frontal and the occipital pole
    page.get_by_role("button", name=turn).click()
    has = f"() => {PICTURE}.labels.some(({{ text }}) => text === {said!r})"
    page.wait_for_function(has)
    labels = {label["text"]: label["box"] for label in page.evaluate(f"{PICTURE}.labels")}
    assert {"L", "R", "front", "back"} & set(labels) == marks
    if turn == "left":  # the forehead looks to the left
        assert labels["front"][0] < labels["back"][0]
    if turn == "front":  # the patient's left is on the viewer's right
        assert labels["R"][0] < labels["L"][0]


def test_nodes_without_regions_have_no_region_switches(visit, tmp_path):
    target = view_connectome(make_story(plain_nodes(), [(0, 1)], [(2, 3)])).save_as_html(
        tmp_path / "view.html"
    )
    seen = visit(target, width=360, height=700)
    seen.page.wait_for_selector("#view[data-removed='1'][data-added='1']")
    assert seen.page.locator("legend").all_inner_texts() == ["Show", "Save the figure"]
    assert len(seen.page.evaluate(f"{PICTURE}.labels")) == 8  # all of them are named
    assert seen.sideways() <= 0
    seen.quiet()


def test_the_picture_can_be_saved(visit, brain, tmp_path):
    page = opened(visit, brain).page
    for name, head in (("PNG", b"\x89PNG"), ("SVG", b"<svg")):
        with page.expect_download() as waiting:
            page.get_by_role("button", name=name).click()
        waiting.value.save_as(tmp_path / name)
        content = (tmp_path / name).read_bytes()
        assert content.startswith(head)
    assert b"data:image/png;base64," in content  # the brain
    assert b"Frontal Sup L" in content


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_picture_is_accessible(chromium, brain, scheme):
    context = chromium.new_context(
        viewport={"width": 1200, "height": 900}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(brain.as_uri())
    page.wait_for_selector("#view[data-ready=true]")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.tagName") == "CANVAS"
    style = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.evaluate(style) == "solid"
    page.click("main > details summary")
    page.evaluate(AXE)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    assert [(v["id"], v["nodes"][0]["html"][:120]) for v in found] == []
    assert "N and P read the changed nodes" in page.get_attribute("#view canvas", "aria-label")
    words = page.locator("#view .df-hidden").inner_text()
    assert words.startswith("6 removed and 3 added edges among 116 nodes in a brain.")
    assert "Most removed: within Frontal Lobe 6." in words
    context.close()


def test_reads_without_scripts(visit, brain):
    seen = visit(brain, scripts=False)
    seen.page.click("main > details summary")
    assert seen.page.locator("#edits tbody tr").count() == 9
    assert "table below" in seen.page.inner_text("noscript")


def overlaps(boxes: list[list[float]]) -> list[tuple[int, int]]:
    """Which boxes lie on one another."""
    return [
        (i, j)
        for i, a in enumerate(boxes)
        for j, b in enumerate(boxes[:i])
        if a[0] < b[2] - 1 and b[0] < a[2] - 1 and a[1] < b[3] - 1 and b[1] < a[3] - 1
    ]


def colours(page: Any) -> set[str]:
    """Which of the colours of edits and brain are on the canvas."""
    from PIL import Image

    page.wait_for_timeout(400)
    shot = page.locator("#view canvas").screenshot()
    image = np.asarray(Image.open(io.BytesIO(shot)).convert("RGB"))
    red, green, blue = np.moveaxis(image.astype(int), -1, 0)
    seen = {
        "red": (red > 190) & (green < 130) & (blue < 120),
        "blue": (red < 90) & (green < 130) & (blue > 120),
        "glass": (red > 200) & (red < 250) & (abs(red - blue) < 25),
    }
    least = {"red": 60, "blue": 60, "glass": 30_000}  # pixels
    return {name for name, where in seen.items() if where.sum() > least[name]}
