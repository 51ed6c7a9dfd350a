"""The interactive picture as a page of its own."""

from __future__ import annotations

import pytest

pytest.importorskip("plotly", reason="interactive pictures need the extra 'brain'")

from denseflip import view_connectome
from stories import brain_nodes, complete, make_story, plain_nodes

pytestmark = [pytest.mark.browser, pytest.mark.slow]


def test_the_brain_is_drawn_in_three_dimensions(visit, tmp_path):
    story = make_story(brain_nodes(), complete((2, 3, 4, 5)), complete((90, 91, 92)))
    target = view_connectome(story).save_as_html(tmp_path / "view.html")
    seen = visit(target)
    seen.page.wait_for_selector("#view[data-ready=true]", timeout=60_000)
    assert seen.page.locator(".df-plot canvas").count() >= 1
    assert seen.page.locator("#view").get_attribute("data-removed") == "6"
    hover = seen.page.evaluate(
        """() => document.querySelector('.df-plot').data
        .find((t) => t.name === 'removed hover').text[0]"""
    )
    assert "Frontal Sup L" in hover
    assert "within Frontal Lobe" in hover
    assert colours(seen.page) >= {"red", "blue"}
    seen.quiet()


def test_nodes_without_regions_have_no_region_switches(visit, tmp_path):
    target = view_connectome(make_story(plain_nodes(), [(0, 1)], [(2, 3)])).save_as_html(
        tmp_path / "view.html"
    )
    seen = visit(target, width=360, height=700)
    seen.page.wait_for_selector("#view[data-removed='1'][data-added='1']", timeout=60_000)
    assert seen.page.locator("fieldset").count() == 1
    assert seen.sideways() <= 0
    seen.quiet()


def test_old_browsers_are_told(visit, tmp_path):
    target = tmp_path / "view.html"
    view = view_connectome(make_story(plain_nodes(), [(0, 1)], [(2, 3)]))
    target.write_text(
        view.html.replace(
            '<script>\n"use strict"', '<script>delete window.DecompressionStream;\n"use strict"'
        ),
        encoding="utf-8",
    )
    seen = visit(target)
    seen.page.wait_for_selector(".df-message")
    seen.page.get_by_text("cannot unpack").wait_for()


def colours(page) -> set[str]:
    """Which of the two colours of edits are on the screen."""
    import io

    import numpy as np
    from PIL import Image

    page.wait_for_timeout(800)
    image = np.asarray(Image.open(io.BytesIO(page.locator(".df-plot").screenshot())).convert("RGB"))
    red, green, blue = np.moveaxis(image.astype(int), -1, 0)
    found = set()
    if ((red > 190) & (green < 130) & (blue < 120)).sum() > 60:
        found.add("red")
    if ((red < 90) & (green < 130) & (blue > 120)).sum() > 60:
        found.add("blue")
    return found
