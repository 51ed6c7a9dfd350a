from __future__ import annotations

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
from matplotlib.collections import PathCollection
from matplotlib.text import Text

from denseflip import plot_comparison
from denseflip.counterfactual import Status
from denseflip.errors import InvalidParameterError
from stories import make_story


def texts(figure) -> list[str]:
    return [t.get_text() for t in figure.findobj(Text) if t.get_text() and t.get_visible()]


def lines(figure, kind: str) -> list[int]:
    found = figure.findobj(lambda a: isinstance(a, PathCollection) and a.get_gid() == kind)
    return [len(c.get_paths()) for c in found]


def test_each_method_has_its_picture_its_counts_and_its_bars(brain, busy):
    pytest.importorskip("nilearn")
    figure = plot_comparison([brain, busy], max_edges=None)
    said = texts(figure)
    for story in (brain, busy):
        assert story.result.method in said
        assert f"REM {len(story.result.removed)}" in said
        assert f"ADD {len(story.result.added)}" in said
    assert lines(figure, "removed") == [10, len(busy.result.removed)]
    widths = figure.findobj(lambda a: getattr(a, "get_gid", str)() == "bar-removed")
    assert sum(b.get_width() for b in widths) == pytest.approx(200)
    assert said.count("Frontal Lobe") == 3  # legend, and the same row in both bar plots


def test_says_what_was_left_out_and_what_was_not_found(sided):
    lost = make_story(sided.nodes, [(0, 1)], [(2, 3)], status=Status.BUDGET, method="edg")
    said = texts(plot_comparison([sided, lost], max_edges=3))
    assert any(t.startswith("blocks: 3 of 5 edits drawn") for t in said)
    assert "none found within the limits" in said


def test_names_can_be_given_and_repeated_methods_are_numbered(sided):
    assert {"mine", "yours"} <= set(texts(plot_comparison({"mine": sided, "yours": sided})))
    assert {"blocks", "blocks (2)"} <= set(texts(plot_comparison([sided, sided])))


@pytest.mark.parametrize("count", [1, 2, 5])
def test_any_number_of_methods_fits(sided, count):
    figure = plot_comparison([sided] * count, columns=3)
    width, height = figure.get_size_inches()
    assert width < 11
    assert len(lines(figure, "added")) == count
    # Nothing written outside the paper.
    figure.canvas.draw()
    for text in figure.texts:
        box = text.get_window_extent().transformed(figure.transFigure.inverted())
        assert box.y0 > -0.01, (count, text.get_text())
        assert box.y1 < 1.01
    assert height > 3


def test_works_without_regions(plain):
    assert {"REM 1", "ADD 2"} <= set(texts(plot_comparison([plain])))


def test_bad_input(sided):
    with pytest.raises(InvalidParameterError, match="at least one"):
        plot_comparison([])
    with pytest.raises(InvalidParameterError, match="columns must be"):
        plot_comparison([sided], columns=0)


def test_writes(sided, tmp_path):
    plot_comparison([sided], path=tmp_path / "c.svg")
    assert "<svg" in (tmp_path / "c.svg").read_text(encoding="utf-8")
    with pytest.raises(InvalidParameterError, match="exists already"):
        plot_comparison([sided], path=tmp_path / "c.svg")
