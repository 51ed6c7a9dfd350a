"""The page, the result and the pictures in one folder."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from denseflip import Counterfactual, compare
from denseflip.errors import InvalidParameterError, MissingExtraError
from denseflip.search.claims.reference import PlaceReference
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.outputs import METHODS, PAGE, RESULT, write_outputs
from denseflip.workflow.subject import Subject
from graphs import halves, two_cliques

SUBJECT = Subject(two_cliques(), "Graph 1", halves(8))


def linked(a):
    return int(a[0, 1])


@pytest.fixture
def without_pictures(monkeypatch):
    """The extra that draws is not installed."""
    from denseflip.report import comparison, plot

    def missing(*_, **__):
        raise MissingExtraError("matplotlib", "brain")

    for module, name in ((plot, "plot_connectome"), (comparison, "plot_comparison")):
        monkeypatch.setattr(module, name, missing)


def test_one_story_becomes_a_page_and_a_result(tmp_path, without_pictures):
    story = explain_and_describe(SUBJECT, linked, "cli")
    written = write_outputs(story, tmp_path / "a" / "out", command="denseflip explain …")
    assert [p.name for p in written] == [PAGE, RESULT, METHODS]
    page = written[0].read_text(encoding="utf-8")
    assert "denseflip explain …" in page
    data = json.loads(written[1].read_text(encoding="utf-8"))
    assert Counterfactual.from_dict(data) == story.result


def test_a_comparison_becomes_a_page_and_all_rows(tmp_path, without_pictures):
    rows = list(compare(SUBJECT, linked, ["cli", "dat", "rcli"]))
    written = write_outputs(rows, tmp_path / "out")
    data = json.loads(written[1].read_text(encoding="utf-8"))
    assert [row["method"] for row in data] == ["cli", "dat", "rcli"]
    assert data[1]["status"] == "not-applicable"


def test_nothing_is_written_where_no_method_applies(tmp_path):
    assert write_outputs(list(compare(SUBJECT, linked, ["dat"])), tmp_path / "out") == []
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path, without_pictures):
    (tmp_path / "kept.txt").write_text("mine")
    story = explain_and_describe(SUBJECT, linked, "cli")
    with pytest.raises(InvalidParameterError, match=r"not empty.*force=True") as caught:
        write_outputs(story, tmp_path)
    assert caught.value.parameters == ("force",)
    assert len(write_outputs(story, tmp_path, force=True)) == 3
    assert (tmp_path / "kept.txt").read_text() == "mine"
    with pytest.raises(InvalidParameterError, match="is a file; give a folder"):
        write_outputs(story, tmp_path / "kept.txt", force=True)


def test_pictures_are_drawn_where_they_can_be(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
    written = write_outputs(explain_and_describe(SUBJECT, linked, "cli"), tmp_path / "one")
    assert {"connectome.png", "regions.png"} <= {p.name for p in written}
    rows = list(compare(SUBJECT, linked, ["cli", "edg"]))
    written = write_outputs(rows, tmp_path / "two")
    assert "comparison.png" in {p.name for p in written}
    assert all(p.is_file() for p in written)


def test_pictures_have_the_format_that_was_chosen(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
    story = explain_and_describe(SUBJECT, linked, "cli")
    place = PlaceReference(("left", "left"), 6, 0, 3, (2, 3, 4), (0, 1), 1, 6, True)
    story = replace(story, reference=(place,) * len(story.claim.amounts))
    names = [p.name for p in write_outputs(story, tmp_path / "svg", pictures="svg")]
    assert names[3:] == ["connectome.svg", "regions.svg", "reference.svg"]
    rows = [replace(row, story=story) for row in compare(SUBJECT, linked, ["cli", "edg"])]
    names = [p.name for p in write_outputs(rows, tmp_path / "pdf", pictures="pdf")]
    assert names[3:] == ["comparison.pdf", "reference.pdf"]
