from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("plotly", reason="interactive pictures need the extra 'brain'")
from denseflip import view_connectome
from denseflip.errors import InvalidParameterError, MissingExtraError
from denseflip.graph import Nodes
from denseflip.report.scene import make_scene
from denseflip.report.view import view_data
from stories import make_story


def embedded(html: str) -> dict:
    return json.loads(re.search(r'id="view-data">(.*?)</script>', html, re.DOTALL)[1])


def test_a_human_brain_comes_with_its_surface(brain):
    data = embedded(view_connectome(brain).html)
    assert data["kind"] == "brain"
    assert len(data["surface"]["x"]) == 3002
    assert len(data["edges"]["removed"]) == 10
    assert len(data["edges"]["added"]) == 6
    assert data["names"][0] == "Precentral_L"
    assert [r["name"] for r in data["regions"]] == list(brain.taxonomy.regions)
    assert sum(data["changes"]) == 32


def test_nodes_without_coordinates_stand_on_a_circle(sided):
    data = embedded(view_connectome(sided).html)
    assert data["kind"] == "circle"
    assert "surface" not in data
    assert len(data["arcs"]) == 4
    assert len(data["curves"]["added"]) == 3


def test_coordinates_outside_mni_space_are_shown_without_a_brain():
    nodes = Nodes(("a", "b", "c"), coordinates=((0, 0, 0), (1, 0, 0), (0, 500, 0)))
    data = view_data(make_scene(make_story(nodes, [(0, 1)], [(1, 2)])))
    assert data["kind"] == "space"
    assert "surface" not in data
    assert not data["hasRegions"]


def test_names_cannot_break_out_of_the_page(sided):
    html = view_connectome(sided, title="</title><script>alert(1)</script>").html
    assert "<script>alert(1)" not in html
    assert "n<0>" not in html
    assert embedded(html)["names"][0] == "n<0>"


def test_nothing_is_fetched(brain):
    html = view_connectome(brain).html
    assert not re.search(r"""<(script|link|img|iframe)[^>]*(src|href)=["']?(http|//)""", html)
    assert "default-src 'none'" in html


def test_max_edges_and_its_note(busy):
    view = view_connectome(busy, max_edges=30)
    data = embedded(view.html)
    assert len(data["edges"]["removed"]) + len(data["edges"]["added"]) == 30
    assert data["counts"]["removed"] == len(busy.result.removed)
    assert "30 of" in view.html


def test_saves_and_never_overwrites_unasked(sided, tmp_path):
    target = tmp_path / "view.html"
    view = view_connectome(sided, path=target)
    assert target.read_text(encoding="utf-8") == view.html
    with pytest.raises(InvalidParameterError, match="exists already"):
        view.save_as_html(target)
    assert view.save_as_html(target, force=True) == target


def test_shows_itself_in_a_notebook(sided):
    frame = view_connectome(sided)._repr_html_()
    assert frame.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;')
    assert "title=" in frame
    assert "MB of HTML" in repr(view_connectome(sided))


def test_missing_plotly_is_named(without, brain):
    without("plotly")
    with pytest.raises(MissingExtraError, match=r"denseflip\[brain\]"):
        view_connectome(brain)
