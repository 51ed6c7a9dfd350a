"""Ribbons of the static circle: they count all edits, and keep to their arcs."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
from denseflip import plot_circle
from denseflip.graph import Nodes
from denseflip.report.circle import circle_layout
from denseflip.report.page import make_page
from denseflip.report.ribbons import RIBBONS, has_ribbons, ribbons_of
from denseflip.report.scene import make_scene
from stories import complete, make_story


@pytest.fixture(scope="module")
def many():
    """Four regions of twenty nodes: 190 edits removed within one, 121 added across."""
    regions = [f"{side} {part}" for side in ("left", "right") for part in "AC"]
    names = tuple(f"node {i}" for i in range(80))
    nodes = Nodes(names, regions={"region": tuple(r for r in regions for _ in range(20))})
    across = [(u, v) for u in range(11) for v in range(69, 80)]
    return make_story(nodes, complete(range(20)), across)


def test_ribbons_count_every_edit_once_on_one_scale(many, busy):
    for story in (many, busy):
        scene = make_scene(story)
        found = ribbons_of(scene, circle_layout(scene))
        for kind in ("removed", "added"):
            total = sum(ribbon.n for ribbon in found if ribbon.kind == kind)
            assert total == len(getattr(scene, kind))
        assert [r.n for r in found] == sorted((r.n for r in found), reverse=True)
        assert found[0].width <= RIBBONS["widest"] + 1e-9
        wide = [r for r in found if r.n * found[0].width / found[0].n > 0.006]
        assert len({round(r.width / r.n, 9) for r in wide}) == 1


def test_ribbons_keep_to_their_arcs_and_do_not_overlap_there(many, busy):
    for story in (many, busy):
        scene = make_scene(story)
        circle = circle_layout(scene)
        found = ribbons_of(scene, circle)
        scale = found[0].width / found[0].n
        ends = defaultdict(list)
        for ribbon in found:
            for arc, angle in zip(ribbon.arcs, ribbon.angles, strict=True):
                half = ribbon.n * scale / 2
                ends[arc].append((angle - half, angle + half))
        for arc, spans in ends.items():
            group = circle.groups[arc]
            spans.sort()
            assert group.start <= spans[0][0]
            assert spans[-1][1] <= group.end + 1e-9
            assert all(one[1] <= other[0] + 1e-9 for one, other in pairwise(spans))


def test_a_figure_has_ribbons_only_if_single_lines_would_be_a_tangle(many, sided, plain):
    def written(figure):
        return {text.get_text() for text in figure.findobj() if hasattr(text, "get_text")}

    assert {"−190", "+121"} <= written(plot_circle(many))
    assert not {"−190", "+121"} & written(plot_circle(many, ribbons=False))
    assert {"−2", "+3"} & written(plot_circle(sided)) == set()
    assert {"−2", "+3"} & written(plot_circle(sided, ribbons=True))
    scene = make_scene(plain)
    assert not has_ribbons(scene, circle_layout(scene))


def test_the_page_prints_the_ribbons_and_says_what_they_are(many, sided):
    said = "A ribbon stands for all edits between two regions; its width is their number."
    assert said in make_page(many)
    assert said not in make_page(sided)
