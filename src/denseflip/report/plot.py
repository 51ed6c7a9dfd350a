"""Static pictures of one story. Each returns a matplotlib figure and can write it.

Shared arguments: ``taxonomy`` picks the regions, ``max_edges`` how many edits are drawn at most,
``title`` the headline (None makes one, an empty text leaves it out), ``path`` writes the picture
(.png, .svg or .pdf; an existing file only with ``force``), ``ax`` draws into axes of yours.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.report.canvas import (
    need,
    new_figure,
    save_figure,
    style,
    words,
    write_headline,
)
from denseflip.report.charts import (
    BARS,
    LETTERS,
    bar_handles,
    bar_regions,
    bar_table,
    draw_bars,
    draw_matrix,
    touched_regions,
)
from denseflip.report.circle import draw_circle
from denseflip.report.draw import (
    LABELLED,
    check_views,
    draw_glass,
    edge_handles,
    region_handles,
    views_aspect,
)
from denseflip.report.palette import QUIET
from denseflip.report.scene import MAX_EDGES, Scene, make_scene

if TYPE_CHECKING:
    from denseflip.story.story import Story

MATRIX = 16  # regions shown at most


def plot_connectome(
    story: Story,
    *,
    taxonomy: str | None = None,
    max_edges: int | None = MAX_EDGES,
    views: str = "xyz",
    labels: bool | None = None,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    ax: Any = None,
) -> Any:
    """Draw the edits on a glass brain: removed dashed red, added solid blue.

    Nodes without coordinates in MNI space are drawn round a circle instead (`plot_circle`).

    Parameters
    ----------
    story : the told counterfactual, from `describe`.
    taxonomy : regions to colour by; None takes the story's.
    max_edges : draw at most so many edits, an even sample of each pair of regions; the picture
        says how many were left out. None draws all.
    views : any of ``x`` (side), ``y`` (back), ``z`` (top), in this order.
    labels : name the changed nodes; None does so where they are few.
    title, path, force, ax : see the module.

    Returns
    -------
    matplotlib.figure.Figure
    """
    check_views(views)
    need("matplotlib")
    scene = make_scene(story, taxonomy=taxonomy, max_edges=max_edges, title=title)
    if not scene.in_mni:
        return plot_circle(
            story, taxonomy=taxonomy, max_edges=max_edges, labels=labels, title=title,
            path=path, force=force, ax=ax,
        )  # fmt: skip
    need("nilearn")
    named = len(scene.touched) <= LABELLED if labels is None else labels
    with style():
        if ax is not None:
            draw_glass(ax, scene, views=views, labels=named)
            _inside(ax, scene)
            return save_figure(ax.figure, path, force=force)
        width = 9.2 if len(views) > 1 else 5.2
        body = (width - 0.3) * views_aspect(views)
        figure, host = _framed(scene, width, body)
        draw_glass(host, scene, views=views, labels=named)
    return save_figure(figure, path, force=force)


def plot_circle(
    story: Story,
    *,
    taxonomy: str | None = None,
    max_edges: int | None = MAX_EDGES,
    labels: bool | None = None,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    ax: Any = None,
) -> Any:
    """Draw the edits as chords of a circle of nodes, sorted by region, left and right mirrored.

    Arguments as in `plot_connectome`.
    """
    need("matplotlib")
    scene = make_scene(story, taxonomy=taxonomy, max_edges=max_edges, title=title)
    named = len(scene.touched) <= LABELLED if labels is None else labels
    with style():
        if ax is not None:
            draw_circle(ax, scene, labels=named)
            _inside(ax, scene)
            return save_figure(ax.figure, path, force=force)
        longest = max((min(len(r), 34) for r in scene.taxonomy.regions), default=0)
        width = 6.6 if named or not scene.has_regions else 5.9 + 2 * 0.085 * longest
        figure, host = _framed(scene, width, 5.9, regions=named)
        draw_circle(host, scene, labels=named)
    return save_figure(figure, path, force=force)


def plot_regions(
    story: Story,
    *,
    taxonomy: str | None = None,
    top: int = BARS,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    ax: Any = None,
) -> Any:
    """Draw the share of changed ends that lies in each region: red removed, blue added.

    The red bars add up to 100 %, and so do the blue ones, as in the paper.

    Parameters
    ----------
    top : regions shown at most; the smallest are summed up in one bar.
    """
    need("matplotlib")
    _positive("top", top)
    scene = _with_regions(story, taxonomy, title)
    regions = bar_regions([scene], top)
    with style():
        if ax is not None:
            draw_bars(ax, scene, regions)
            ax.set_title(words(scene.title), fontsize=10)
            return save_figure(ax.figure, path, force=force)
        names, _ = bar_table(scene, regions)
        body = 0.42 * max(len(names), 2) + 0.1
        height = body + (1.35 if scene.title else 0.95)
        figure = new_figure(7.6, height)
        margin = min(max((len(n) for n in names), default=8) * 0.078 + 0.25, 3.5)
        host = figure.add_axes(
            (margin / 7.6, 0.85 / height, 1 - (margin + 0.3) / 7.6, body / height)
        )
        draw_bars(host, scene, regions)
        host.set_xlabel("share of changed ends, % of each kind", fontsize=8, color=QUIET)
        write_headline(figure, scene.title)
        figure.legend(
            handles=bar_handles(scene), loc="lower center", ncols=2, frameon=False, fontsize=8
        )
    return save_figure(figure, path, force=force)


def plot_region_matrix(
    story: Story,
    *,
    taxonomy: str | None = None,
    top: int = MATRIX,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
) -> Any:
    """Draw how many edges are removed and added between each two regions, one panel each.

    Parameters
    ----------
    top : regions shown at most, those with the most edits.
    """
    need("matplotlib")
    _positive("top", top)
    scene = _with_regions(story, taxonomy, title)
    shown = touched_regions(scene, top)
    names = [words(scene.taxonomy.regions[r], LETTERS) for r in shown]
    tables = {
        "removed": scene.matrix(scene.removed)[shown][:, shown],
        "added": scene.matrix(scene.added)[shown][:, shown],
    }
    scale = max((int(t.max(initial=0)) for t in tables.values()), default=1)
    with style():
        cell = float(min(max(2.6 / max(len(names), 1), 0.27), 0.5))
        side = cell * max(len(names), 2)
        margin = min(max((len(n) for n in names), default=8) * 0.072 + 0.25, 3.2)
        width = margin + 2 * side + 0.75
        top_margin = 0.75 if scene.title else 0.32
        height = side + 0.66 * margin + top_margin + 0.25
        figure = new_figure(max(width, 5.2), height)
        width = figure.get_figwidth()
        base = (height - side - top_margin) / height
        for i, (kind, count) in enumerate((("removed", scene.n_removed), ("added", scene.n_added))):
            left = margin + i * (side + 0.45)
            host = figure.add_axes((left / width, base, side / width, side / height))
            draw_matrix(host, tables[kind], names, kind=kind, scale=scale, rows=i == 0)
            short = "REM" if kind == "removed" else "ADD"
            host.set_title(f"{short} {count} {kind}", fontsize=9, loc="left")
        write_headline(figure, scene.title)
        hidden = len(touched_regions(scene, len(scene.taxonomy.regions))) - len(shown)
        if hidden:
            note = f"{hidden} regions with fewer edits are left out."
            figure.text(0.01, 0.01, note, fontsize=7, color=QUIET)
    return save_figure(figure, path, force=force)


# ---- frames -------------------------------------------------------------------------------


def _framed(scene: Scene, width: float, body: float, *, regions: bool = True) -> tuple[Any, Any]:
    """A figure with headline, legend and note round an empty place of ``body`` inches."""
    handles = region_handles(scene) if regions and scene.has_regions else []
    longest = max((len(h.get_label()) for h in handles), default=1)
    columns = max(1, min(len(handles), int((width - 0.4) / (0.075 * longest + 0.45))))
    rows = -(-len(handles) // columns) if handles else 0
    note = 0.24 if scene.note else 0.0
    bottom = 0.36 + 0.21 * rows + note
    height = body + bottom + (0.42 if scene.title else 0.08)
    figure = new_figure(width, height)
    host = figure.add_axes((0.15 / width, bottom / height, 1 - 0.3 / width, body / height))
    write_headline(figure, scene.title)
    place = {"frameon": False, "handletextpad": 0.5, "columnspacing": 1.4, "borderpad": 0.1}
    figure.legend(
        handles=edge_handles(scene), loc="center", ncols=2, fontsize=10, handlelength=3.2,
        bbox_to_anchor=(0.5, (bottom - 0.16) / height), **place,
    )  # fmt: skip
    if handles:
        figure.legend(
            handles=handles, loc="center", ncols=columns, fontsize=8,
            bbox_to_anchor=(0.5, (note + 0.04 + 0.105 * rows) / height), **place,
        )  # fmt: skip
    if scene.note:
        figure.text(0.5, 0.07 / height, scene.note, ha="center", fontsize=7.5, color=QUIET)
    return figure, host


def _inside(ax: Any, scene: Scene) -> None:
    ax.set_title(words(scene.title), fontsize=10)
    ax.legend(
        handles=edge_handles(scene), loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2,
        frameon=False, fontsize=8,
    )  # fmt: skip
    if scene.note:
        ax.text(0.5, -0.1, scene.note, transform=ax.transAxes, ha="center", fontsize=6, color=QUIET)


def _with_regions(story: Story, taxonomy: str | None, title: str | None) -> Scene:
    scene = make_scene(story, taxonomy=taxonomy, title=title)
    if not scene.has_regions:
        msg = (
            "This picture counts edits by region, but the nodes have no regions. Give a node table "
            "with a region column: --nodes nodes.csv (in Python Nodes.read_csv('nodes.csv'))."
        )
        raise MissingInputError(msg)
    return scene


def _positive(name: str, value: int) -> None:
    if isinstance(value, bool) or value < 1:
        msg = f"{name} must be a number of regions, 1 or more; got {value!r}."
        raise InvalidParameterError(msg)
