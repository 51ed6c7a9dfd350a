from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from denseflip import view_connectome
from denseflip.errors import InvalidParameterError
from denseflip.graph import Nodes
from denseflip.report import circle
from denseflip.report.brain import packed_surface
from denseflip.report.circle_drawing import ALL_NAMED
from denseflip.report.palette import MARKERS
from denseflip.report.ribbons import RIBBONS
from denseflip.report.scene import make_scene
from denseflip.report.view import circle_data, page_scene, scene_data, view_data
from stories import make_story

TEMPLATES = files("denseflip.report") / "templates"


def embedded(html: str) -> dict:
    return json.loads(re.search(r'id="view-data">(.*?)</script>', html, re.DOTALL)[1])


def test_a_human_brain_comes_with_its_surface(brain):
    data = embedded(view_connectome(brain).html)
    assert data["kind"] == "brain"
    assert data["surface"] == packed_surface()
    assert len(data["removed"]) == 10
    assert len(data["added"]) == 6
    assert data["names"][0] == "Precentral_L"
    assert [r["name"] for r in data["regions"]] == list(brain.taxonomy.regions)
    assert data["axis"] == [1, 0, 0]


def test_nodes_without_coordinates_are_on_a_circle(sided):
    data = embedded(view_connectome(sided).html)
    assert data["kind"] == "circle"
    assert "surface" not in data
    assert len(data["circle"]["arcs"]) == 4
    assert len(data["circle"]["points"]) == 12
    assert data["circle"]["sided"]
    assert data["axis"] is None


def test_the_circle_is_that_of_the_still_pictures(sided):
    scene = make_scene(sided)
    placed = circle.circle_layout(scene)
    data = circle_data(scene)
    assert np.allclose(data["points"], placed.points, atol=1e-4)
    for arc, group in zip(data["arcs"], placed.groups, strict=True):
        assert arc["region"] == group.region
        assert (arc["start"], arc["end"]) == pytest.approx((group.start, group.end), abs=1e-4)
    script = (TEMPLATES / "circle.js").read_text(encoding="utf-8")
    assert (data["bend"], data["ribbons"]) == (circle.BEND, RIBBONS)
    assert f"const ALL_NAMED = {ALL_NAMED};" in script


def test_the_script_knows_every_marker():
    script = (TEMPLATES / "drawing.js").read_text(encoding="utf-8")
    listed = re.search(r"const MARKERS = \{(.*)\};", script)[1]
    for marker in MARKERS:
        assert re.search(rf'(^|[ "]){re.escape(marker)}"?:', listed), marker


def test_coordinates_outside_mni_space_are_shown_without_a_brain():
    nodes = Nodes(("a", "b", "c"), coordinates=((0, 0, 0), (1, 0, 0), (0, 500, 0)))
    data = view_data(make_scene(make_story(nodes, [(0, 1)], [(1, 2)])))
    assert data["kind"] == "space"
    assert "surface" not in data
    assert not data["hasRegions"]
    assert data["axis"] is None  # nothing says which side is which


@pytest.mark.parametrize(("most", "kind"), [(40, "circle"), (8, "space")])
def test_a_page_draws_many_edits_outside_mni_space_as_ribbons(most, kind):
    """Lines in space would hide each other."""
    nodes = Nodes(
        tuple(f"n{i}" for i in range(most)),
        {"area": tuple("ABCD"[i % 4] for i in range(most))},
        coordinates=tuple((0.0, float(i), 900.0) for i in range(most)),
    )
    added = [(u, v) for u in range(most) for v in range(u + 1, most)]
    made = make_scene(make_story(nodes, (), added))
    assert (len(added) > RIBBONS["from"]) is (kind == "circle")
    drawn = make_scene(make_story(nodes, (), added), max_edges=10)
    data = view_data(page_scene(drawn, made))
    assert data["kind"] == kind
    assert len(data["added"]) == (len(added) if kind == "circle" else 10)
    assert view_data(made)["kind"] == "space"  # the picture by itself keeps the positions


def test_sides_outside_mni_space_are_where_their_nodes_are():
    nodes = Nodes(
        ("a_L", "b_L", "a_R", "b_R"),
        coordinates=((0, 0, 0), (0, 0, 900), (0, 300, 0), (0, 300, 900)),
    )
    story = make_story(nodes, [(0, 1)], [(1, 2)])
    assert scene_data(make_scene(story))["axis"] == [0, 1, 0]


def test_names_cannot_break_out_of_the_page(sided):
    html = view_connectome(sided, title="</title><script>alert(1)</script>").html
    assert "<script>alert(1)" not in html
    assert "n<0>" not in html
    assert embedded(html)["names"][0] == "n<0>"


def test_nothing_is_fetched(brain):
    html = view_connectome(brain).html
    assert not re.search(r"""<(script|link|img|iframe)[^>]*(src|href)=["']?(http|//)""", html)
    assert "default-src 'none'" in html


def test_the_page_is_small(brain, sided):
    assert len(view_connectome(brain).html) < 200_000
    assert len(view_connectome(sided).html) < 100_000


def test_the_drawn_edits_are_in_a_table(brain, plain):
    html = view_connectome(brain).html
    body = html[html.index('id="edits"') : html.index("</table>")]
    assert body.count("<tr>") == 1 + 16
    assert "Calcarine_L" in body
    assert "Occipital Lobe" in body
    assert "region" not in view_connectome(plain).html.partition('id="edits"')[2][:300]


def test_max_edges_and_its_note(busy):
    view = view_connectome(busy, max_edges=30)
    data = embedded(view.html)
    assert len(data["removed"]) + len(data["added"]) == 30
    assert data["counts"]["removed"] == len(busy.result.removed)
    assert "30 of" in view.html


def test_saves_and_overwrites_only_with_force(sided, tmp_path):
    target = tmp_path / "view.html"
    view = view_connectome(sided, path=target)
    assert target.read_text(encoding="utf-8") == view.html
    with pytest.raises(InvalidParameterError, match="exists already"):
        view.save_as_html(target)
    assert view.save_as_html(target, force=True) == target


def test_opens_in_a_browser(sided, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr("denseflip.report.view.webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    view = view_connectome(sided)
    path = view.open_in_browser()
    assert opened == [path.as_uri()]
    assert isinstance(path, Path)
    assert path.read_text(encoding="utf-8") == view.html


def test_a_notebook_displays_it(sided):
    frame = view_connectome(sided)._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert "title=" in frame
    assert "kB of HTML" in repr(view_connectome(sided))


def test_needs_no_extra(without, brain):
    for package in ("matplotlib", "nilearn"):
        without(package)
    assert embedded(view_connectome(brain).html)["kind"] == "brain"


def test_ribbons_count_all_edits(sided):
    """A ribbon has a number, so a page that draws single edits only in part holds them all."""
    data = embedded(view_connectome(sided, max_edges=2).html)
    assert len(data["removed"]) == data["counts"]["removed"]
    assert len(data["added"]) == data["counts"]["added"]
    assert sum(data["counts"].values()) > 2
