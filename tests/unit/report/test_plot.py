"""Pictures are rendered and looked at: pixels, lines, texts."""

from __future__ import annotations

import io

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
pytest.importorskip("nilearn", reason="the glass brain needs the extra 'brain'")
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from denseflip import (
    plot_circle,
    plot_comparison,
    plot_connectome,
    plot_region_matrix,
    plot_regions,
)
from denseflip.errors import (
    InvalidParameterError,
    MissingExtraError,
    MissingInputError,
    UnknownNameError,
)
from denseflip.graph import Nodes
from stories import brain_nodes, make_story, sided_nodes


def pixels(figure) -> np.ndarray:
    from PIL import Image

    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, facecolor="white")
    return np.asarray(Image.open(buffer).convert("RGB")).astype(int)


def n_red(image) -> int:
    red, green, blue = np.moveaxis(image, -1, 0)
    return int(((red > 200) & (green < 120) & (blue < 110)).sum())


def n_blue(image) -> int:
    red, green, blue = np.moveaxis(image, -1, 0)
    return int(((red < 80) & (green < 120) & (blue > 110)).sum())


def lines(figure, kind: str) -> list[int]:
    """Number of lines of each collection of this kind, one collection per view."""
    found = figure.findobj(lambda a: isinstance(a, PathCollection) and a.get_gid() == kind)
    return [len(c.get_paths()) for c in found]


def texts(figure) -> list[str]:
    return [t.get_text() for t in figure.findobj(Text) if t.get_text() and t.get_visible()]


def test_glass_brain_draws_every_edit_in_every_view(brain):
    figure = plot_connectome(brain)
    assert isinstance(figure, Figure)
    assert lines(figure, "removed") == [10, 10, 10]
    assert lines(figure, "added") == [6, 6, 6]
    image = pixels(figure)
    assert n_red(image) > 300
    assert n_blue(image) > 300


def test_glass_brain_shows_counts_regions_and_title(brain):
    said = texts(plot_connectome(brain))
    assert {"REM 10", "ADD 6", "L", "R"} <= set(said)
    assert set(brain.taxonomy.regions) <= set(said)
    assert any("Patient 9" in t and "→" in t for t in said)


def test_only_what_is_changed_is_coloured():
    blue = make_story(brain_nodes(), [], [(2, 3), (10, 90)])
    image = pixels(plot_connectome(blue))
    legend = n_red(image)  # the legend shows both kinds
    assert legend < 150
    assert n_blue(image) > legend
    assert lines(plot_connectome(blue), "removed") == []


def test_the_two_kinds_can_be_told_apart_without_colour(brain):
    figure = plot_connectome(brain, views="z")
    (removed,) = figure.findobj(lambda a: getattr(a, "get_gid", str)() == "removed")
    (added,) = figure.findobj(lambda a: getattr(a, "get_gid", str)() == "added")
    assert removed.get_linestyle()[0][1] is not None  # dashes
    assert added.get_linestyle()[0][1] is None  # solid


def test_too_many_edges_are_thinned_and_the_picture_says_so(busy):
    figure = plot_connectome(busy, max_edges=50, views="z")
    assert lines(figure, "removed")[0] + lines(figure, "added")[0] == 50
    total = busy.result.distance
    said = texts(figure)
    assert any(f"50 of {total:,} edits drawn" in t for t in said)
    assert f"REM {len(busy.result.removed)}" in said  # counts are of all edits
    everything = plot_connectome(busy, max_edges=None, views="z")
    assert lines(everything, "removed")[0] + lines(everything, "added")[0] == total


def test_few_changed_nodes_are_named():
    story = make_story(brain_nodes(), [(0, 1)], [(2, 42)])
    said = texts(plot_connectome(story))
    assert said.count("Precentral L") == 1  # in one view, where there is room
    assert "Precentral L" not in texts(plot_connectome(story, labels=False))


def test_views_are_checked(brain):
    assert lines(plot_connectome(brain, views="xz"), "removed") == [10, 10]
    for wrong in ("", "q", "zz"):
        with pytest.raises(InvalidParameterError, match="views must be"):
            plot_connectome(brain, views=wrong)


def test_without_coordinates_the_connectome_is_a_circle(sided):
    figure = plot_connectome(sided, labels=False)
    assert lines(figure, "removed") == [2]
    assert lines(figure, "added") == [3]
    assert set(sided.taxonomy.regions) <= set(texts(figure))
    image = pixels(figure)
    assert n_red(image) > 50
    assert n_blue(image) > 100


def test_circle_names_few_nodes_and_works_without_regions(plain):
    said = texts(plot_circle(plain))
    assert {str(i) for i in range(plain.nodes.n_nodes)} <= set(said)  # changed or not
    assert {"REM 1", "ADD 2"} <= set(said)
    many = make_story(Nodes.numbered(41), [(0, 1)], [(2, 3)])
    assert {"0", "3"} <= set(texts(plot_circle(many)))
    assert "6" not in texts(plot_circle(many))


def test_a_circle_without_regions_has_no_ring(plain, sided):
    from matplotlib.patches import Wedge

    assert not plot_circle(plain).findobj(Wedge)
    assert len(plot_circle(sided).findobj(Wedge)) == 4
    image = pixels(plot_circle(plain))
    assert (np.abs(image - [0xE6, 0x9F, 0x00]).sum(axis=-1) < 30).sum() == 0  # nothing orange


@pytest.mark.parametrize("name", ["brain", "busy", "sided", "plain"])
def test_narrow_pictures_can_be_read_on_a_phone(request, name):
    story = request.getfixturevalue(name)
    drawn = [plot_connectome(story, narrow=True), plot_comparison([story, story], narrow=True)]
    if name != "plain":
        drawn += [plot_regions(story, narrow=True), plot_region_matrix(story, narrow=True)]
    for figure in drawn:
        pixels_across = 96 * figure.get_figwidth()
        assert pixels_across < 350  # as wide as the column of a page on a phone
        figure.canvas.draw()
        for text in figure.findobj(Text):
            if text.get_visible() and text.get_text().strip():
                assert text.get_fontsize() * 96 / 72 >= 9.5, text.get_text()
        image = pixels(figure)
        for edge in (image[:, 0], image[:, -1], image[0], image[-1]):
            assert (edge > 240).all()  # nothing runs off the paper


def test_narrow_views_are_stacked(brain):
    figure = plot_connectome(brain, narrow=True)
    assert lines(figure, "removed") == [10, 10, 10]
    assert figure.get_figheight() > figure.get_figwidth()


def test_circle_arcs_have_the_colours_of_their_regions(sided):
    image = pixels(plot_circle(sided, labels=False))
    orange = (np.abs(image - [0xE6, 0x9F, 0x00]).sum(axis=-1) < 12).sum()
    assert orange > 200


def bars(figure, kind: str) -> list[float]:
    found = figure.findobj(lambda a: getattr(a, "get_gid", str)() == f"bar-{kind}")
    return [round(b.get_width(), 3) for b in found]


def test_bars_are_shares_of_ends_and_each_kind_adds_up():
    story = make_story(sided_nodes(), [(0, 1), (0, 3)], [(0, 6)])
    figure = plot_regions(story)
    assert sum(bars(figure, "removed")) == pytest.approx(100)
    assert sum(bars(figure, "added")) == pytest.approx(100)
    assert max(bars(figure, "removed")) == pytest.approx(75)  # three of four ends
    said = " ".join(texts(figure))
    assert "75 %  (3)" in said
    assert "2 removed edges" in said
    image = pixels(figure)
    assert n_red(image) > 500
    assert n_blue(image) > 500


def test_removed_bars_are_hatched(brain):
    figure = plot_regions(brain)
    (bar, *_) = figure.findobj(lambda a: getattr(a, "get_gid", str)() == "bar-removed")
    assert bar.get_hatch()
    (bar, *_) = figure.findobj(lambda a: getattr(a, "get_gid", str)() == "bar-added")
    assert not bar.get_hatch()


def test_small_regions_are_summed_up(busy):
    figure = plot_regions(busy, top=3)
    said = texts(figure)
    assert "all others" in said
    assert sum(r in said for r in busy.taxonomy.regions) == 2
    assert sum(bars(figure, "removed")) == pytest.approx(100, abs=0.01)


def test_matrix_prints_the_count_of_every_pair_of_regions():
    story = make_story(sided_nodes(), [(0, 1)], [(0, 6), (1, 7), (2, 8), (3, 9)])
    figure = plot_region_matrix(story)
    said = texts(figure)
    assert said.count("3") == 1  # left A – right A
    assert said.count("1") == 2  # one within left A, one left C – right C
    assert "REM 1 removed" in said
    assert "ADD 4 added" in said


def test_matrix_leaves_out_quiet_regions(brain, busy):
    said = texts(plot_region_matrix(brain))
    assert "Frontal Lobe" in said
    assert "Parietal Lobe" not in said
    assert any(
        "regions with fewer edits are left out" in t for t in texts(plot_region_matrix(busy, top=2))
    )


def test_other_regions(brain):
    said = texts(plot_regions(brain, regions="hemisphere"))
    assert {"L", "R"} <= set(said)
    with pytest.raises(UnknownNameError, match="Unknown taxonomy"):
        plot_regions(brain, regions="nowhere")


@pytest.mark.parametrize("draw", [plot_regions, plot_region_matrix])
def test_counting_by_region_needs_regions(plain, draw):
    with pytest.raises(MissingInputError, match=r"Nodes\.read_csv"):
        draw(plain)


@pytest.mark.parametrize("draw", [plot_regions, plot_region_matrix])
def test_top_is_checked(brain, draw):
    with pytest.raises(InvalidParameterError, match="top must be"):
        draw(brain, top=0)


def test_title_can_be_given_and_left_out(brain):
    assert "My patient" in texts(plot_connectome(brain, title="My patient"))
    assert not any("Patient 9" in t for t in texts(plot_regions(brain, title="")))


def test_draws_into_given_axes(brain, sided):
    for draw, story in ((plot_connectome, brain), (plot_circle, sided), (plot_regions, brain)):
        figure = Figure()
        axes = figure.add_subplot()
        assert draw(story, ax=axes) is figure
        assert n_red(pixels(figure)) > 20


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_writes_and_never_overwrites_unasked(sided, tmp_path, ending):
    target = tmp_path / f"picture.{ending}"
    plot_circle(sided, path=target)
    first = target.read_bytes()
    assert len(first) > 2000
    with pytest.raises(InvalidParameterError, match="exists already"):
        plot_circle(sided, path=target)
    plot_circle(sided, path=target, force=True)
    assert target.read_bytes() == first  # the same story gives the same file


def test_says_what_is_wrong_with_a_path(sided, tmp_path):
    with pytest.raises(InvalidParameterError, match=r"\.png, \.svg, \.pdf"):
        plot_circle(sided, path=tmp_path / "picture.gif")
    with pytest.raises(InvalidParameterError, match="does not exist"):
        plot_circle(sided, path=tmp_path / "no" / "picture.png")


def test_no_figure_is_left_open_in_pyplot(brain, sided):
    import matplotlib.pyplot as plt

    plot_connectome(brain)
    plot_circle(sided)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(("package", "story"), [("matplotlib", "sided"), ("nilearn", "brain")])
def test_a_missing_extra_is_named(without, request, package, story):
    without(package)
    with pytest.raises(MissingExtraError, match=rf"{package}.*denseflip\[brain\]"):
        plot_connectome(request.getfixturevalue(story))


def test_a_story_without_edits_is_drawn_empty():
    from denseflip.counterfactual import Status

    story = make_story(brain_nodes(), status=Status.NOT_NEEDED)
    assert "REM 0" in texts(plot_connectome(story))
    assert "no edits" in texts(plot_regions(story))
    plot_region_matrix(story)


def awkward(n_regions: int) -> Nodes:
    """Names that matplotlib would read as formulas, hide from legends or run off the paper."""
    names = tuple(f"$x_{i}$ {'long ' * 8}" for i in range(2 * n_regions))
    regions = tuple(f"_{i} $\\frac$ {'word ' * 12}" for i in range(n_regions) for _ in range(2))
    return Nodes(names, regions={"region": regions})


@pytest.mark.parametrize("n_regions", [3, 60])
def test_any_name_can_be_drawn(n_regions):
    pairs = [(0, 2), (1, 5)]
    story = make_story(
        awkward(n_regions), pairs[:1], pairs[1:],
        subject="costs $5 or $6 " * 8, class_names=("$a^$", "_b"),
    )  # fmt: skip
    for figure in (
        plot_circle(story),
        plot_circle(story, labels=False),
        plot_regions(story),
        plot_region_matrix(story),
        plot_comparison([story]),
    ):
        figure.canvas.draw()
        image = pixels(figure)
        assert n_red(image) > 20
        for edge in (image[:, 0], image[:, -1], image[0], image[-1]):
            assert (edge > 240).all()  # nothing runs off the paper


def test_very_many_regions_do_not_flood_the_legend(brain):
    nodes = brain_nodes()
    single = Nodes(nodes.names, {"area": nodes.names}, nodes.coordinates)
    figure = plot_connectome(make_story(single, [(0, 1)], [(2, 42)]))
    assert "and 93 other regions" in texts(figure)
    assert figure.get_figheight() < 8
    assert {"Precentral_L", "Calcarine_L"} <= set(texts(figure))


def test_a_notebook_shows_the_figure(sided):
    assert plot_regions(sided)._repr_png_().startswith(b"\x89PNG")


def test_bars_can_be_divided_by_the_size_of_regions(brain):
    """Four ends in the Frontal Lobe and two in the smaller Occipital Lobe."""
    from denseflip.report.region_charts import bar_shares
    from denseflip.report.scene import make_scene

    story = make_story(brain_nodes(), [(2, 42), (3, 43), (2, 3)], [])
    scene = make_scene(story)
    sizes = {r: scene.taxonomy.index.count(i) for i, r in enumerate(scene.taxonomy.regions)}
    places = [scene.taxonomy.regions.index(r) for r in ("Frontal Lobe", "Occipital Lobe")]
    plain, divided = (bar_shares(scene, places, by_size=x)[0] for x in (False, True))
    assert plain == pytest.approx([100 * 4 / 6, 100 * 2 / 6])
    per = 4 / sizes["Frontal Lobe"], 2 / sizes["Occipital Lobe"]
    assert divided == pytest.approx([100 * x / sum(per) for x in per])
    rest = bar_shares(scene, places[:1], by_size=True)[0]
    assert rest.sum() == pytest.approx(100)
    texts = [t.get_text() for t in plot_regions(story, by_size=True).findobj(Text)]
    assert any("per node of the region" in t for t in texts)
    assert any(t.startswith(f" {divided[0]:.0f} %") for t in texts)
    figure = plot_comparison({"a": story, "b": brain}, by_size=True)
    assert any(t.get_text() == f" {divided[0]:.0f} %" for t in figure.findobj(Text))
