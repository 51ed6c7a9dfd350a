"""Static figures of one story. Each function returns a matplotlib figure and can write it.

Shared parameters: ``regions`` chooses the regions for colours and counts, ``max_edges`` limits the
number of edits drawn, ``title`` is the headline (None for a default, an empty text for none),
``path`` writes the figure (.png, .svg or .pdf; an existing file only with ``force``), ``ax`` draws
into existing axes, ``narrow`` lays it out for the width of a phone.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.errors import InvalidParameterError, MissingInputError
from denseflip.graph import Nodes, Taxonomy
from denseflip.report.brain import check_views, draw_glass, views_aspect
from denseflip.report.canvas import (
    NARROW,
    framed,
    inside,
    need,
    new_figure,
    note_lines,
    save_figure,
    style,
    words,
    write_headline,
)
from denseflip.report.circle import circle_layout
from denseflip.report.circle_drawing import ALL_NAMED, draw_circle
from denseflip.report.palette import QUIET
from denseflip.report.region_charts import (
    BARS,
    LETTERS,
    bar_handles,
    bar_regions,
    bar_table,
    draw_bars,
    draw_matrix,
    touched_regions,
)
from denseflip.report.ribbons import has_ribbons
from denseflip.report.scene import MAX_EDGES, Scene, make_scene

if TYPE_CHECKING:
    from denseflip.story.story import Story

LABELLED = 12  # up to this many changed nodes are named by default
MATRIX = 16  # maximum number of regions
_NARROW_MATRIX = 8  # the same in a narrow figure


def plot_connectome(
    story: Story | Any,
    *,
    nodes: Nodes | None = None,
    regions: str | Taxonomy | None = None,
    max_edges: int | None = MAX_EDGES,
    views: str = "xyz",
    labels: bool | None = None,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    ax: Any = None,
    narrow: bool = False,
) -> Any:
    """Draw the edits on a glass brain: removed dashed red, added solid blue.

    Nodes without coordinates in MNI space are drawn on a circle instead (`plot_circle`).

    Parameters
    ----------
    story : the result of `describe`; or a result of `explain`, with its ``nodes``.
    nodes : names, regions and coordinates of a result's nodes; a story has its own.
    regions : regions for the colours, for example ``"lobe"`` or ``"lobe*hemisphere"``; None for
        those of the story.
    max_edges : maximum number of edits to draw, sampled evenly from each region pair; a note says
        how many were left out. None draws all.
    views : any of ``x`` (side), ``y`` (back), ``z`` (top), in this order.
    labels : name the changed nodes; None does so if there are few.
    title, path, force, ax, narrow : see the module.

    Returns
    -------
    matplotlib.figure.Figure
    """
    check_views(views)
    need("matplotlib")
    scene = make_scene(story, nodes=nodes, regions=regions, max_edges=max_edges, title=title)
    if not scene.in_mni:
        return plot_circle(
            story, nodes=nodes, regions=regions, max_edges=max_edges, labels=labels, title=title,
            path=path, force=force, ax=ax, narrow=narrow,
        )  # fmt: skip
    need("nilearn")
    named = len(scene.touched) <= LABELLED if labels is None else labels
    with style():
        if ax is not None:
            ax.set_axis_off()
            own = ax.inset_axes((0, 0, 1, 1))  # the caller's may have another shape, or drawings
            draw_glass(own, scene, views=views, labels=named)
            inside(ax, scene)
            return save_figure(ax.figure, path, force=force)
        width = NARROW if narrow else 9.2 if len(views) > 1 else 5.2
        body = (width - 0.3) * views_aspect(views, narrow=narrow)
        figure, host = framed(scene, width, body)
        draw_glass(host, scene, views=views, labels=named, narrow=narrow)
    return save_figure(figure, path, force=force)


def plot_circle(
    story: Story | Any,
    *,
    nodes: Nodes | None = None,
    regions: str | Taxonomy | None = None,
    max_edges: int | None = MAX_EDGES,
    labels: bool | None = None,
    ribbons: bool | None = None,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    ax: Any = None,
    narrow: bool = False,
) -> Any:
    """Draw the edits on a circle of nodes, sorted by region, left and right mirrored.

    Up to 150 edits are chords. More edits between regions are ribbons, as on the page: one for all
    edits of a kind between two regions (on one side), as wide as their number.

    Parameters
    ----------
    story, nodes, regions, max_edges, labels, title, path, force, ax, narrow : as in
        `plot_connectome`. Ribbons count all edits.
    ribbons : draw ribbons; None does so if there are many edits.

    Returns
    -------
    matplotlib.figure.Figure
    """
    need("matplotlib")
    scene = make_scene(story, nodes=nodes, regions=regions, max_edges=max_edges, title=title)
    whole = make_scene(story, nodes=nodes, regions=regions, title=title)
    wide = has_ribbons(whole, circle_layout(whole)) if ribbons is None else ribbons
    scene = whole if wide else scene
    few = len(scene.touched) <= LABELLED
    if not scene.has_regions:
        few = few or scene.nodes.n_nodes <= ALL_NAMED
    named = few if labels is None else labels
    with style():
        if ax is not None:
            draw_circle(ax, scene, labels=named, ribbons=wide)
            inside(ax, scene)
            return save_figure(ax.figure, path, force=force)
        longest = max((min(len(r), 34) for r in scene.taxonomy.regions), default=0)
        width = 6.6 if named or not scene.has_regions else 5.9 + 2 * 0.085 * longest
        width, body = (NARROW, NARROW - 0.15) if narrow else (width, 5.9)
        figure, host = framed(scene, width, body, regions=named or narrow)
        draw_circle(host, scene, labels=named, narrow=narrow, ribbons=wide)
    return save_figure(figure, path, force=force)


def plot_regions(
    story: Story | Any,
    *,
    nodes: Nodes | None = None,
    regions: str | Taxonomy | None = None,
    top: int = BARS,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    ax: Any = None,
    narrow: bool = False,
    by_size: bool = False,
) -> Any:
    """Draw the share of changed edge ends in each region: red removed, blue added.

    The red bars sum to 100 %, and so do the blue ones, as in the paper.

    Parameters
    ----------
    story, nodes, regions, title, path, force, ax, narrow : as in `plot_connectome`.
    top : maximum number of regions; the smallest are combined in one bar.
    by_size : first divide the ends in each region by its number of nodes, as in the paper, to
        correct for the size of regions.
    """
    need("matplotlib")
    _positive("top", top)
    scene = _with_regions(story, nodes, regions, title)
    shown = bar_regions([scene], top, by_size=by_size)
    with style():
        if ax is not None:
            draw_bars(ax, scene, shown, by_size=by_size)
            ax.set_title(words(scene.title), fontsize=10)
            return save_figure(ax.figure, path, force=force)
        names, _ = bar_table(scene, shown)
        width = NARROW if narrow else 7.6
        body = (0.66 if narrow else 0.42) * max(len(names), 2) + 0.1
        base = 1.05 if narrow else 0.85
        height = body + base + (0.5 if scene.title else 0.1)
        figure = new_figure(width, height)
        margin = min(max((len(n) for n in names), default=8) * 0.081 + 0.25, 3.5)
        margin = 0.12 if narrow else margin
        host = figure.add_axes(
            (margin / width, base / height, 1 - (margin + 0.3) / width, body / height)
        )
        draw_bars(host, scene, shown, narrow=narrow, by_size=by_size)
        what = "changed ends per node of the region" if by_size else "changed ends"
        host.set_xlabel(f"share of {what}, % of each kind", fontsize=8.5, color=QUIET)
        write_headline(figure, scene.title)
        figure.legend(
            handles=bar_handles(scene), loc="lower center", ncols=1 if narrow else 2,
            frameon=False, fontsize=8.5,
        )  # fmt: skip
    return save_figure(figure, path, force=force)


def plot_region_matrix(
    story: Story | Any,
    *,
    nodes: Nodes | None = None,
    regions: str | Taxonomy | None = None,
    top: int = MATRIX,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    narrow: bool = False,
) -> Any:
    """Draw the numbers of edges removed and added for each region pair, one panel each.

    Parameters
    ----------
    story, nodes, regions, title, path, force, narrow : as in `plot_connectome`.
    top : maximum number of regions; those with the most edits are shown.
    """
    need("matplotlib")
    _positive("top", top)
    scene = _with_regions(story, nodes, regions, title)
    shown = touched_regions(scene, min(top, _NARROW_MATRIX) if narrow else top)
    names = [words(scene.taxonomy.regions[r], LETTERS) for r in shown]
    tables = {
        "removed": scene.cells.matrix(scene.removed)[shown][:, shown],
        "added": scene.cells.matrix(scene.added)[shown][:, shown],
    }
    scale = max((int(t.max(initial=0)) for t in tables.values()), default=1)
    hidden = len(touched_regions(scene, len(scene.taxonomy.regions))) - len(shown)
    left_out = f"{hidden} regions with fewer edits are left out." if hidden else ""
    with style():
        figure, hosts = _panels(names, title=scene.title, note=left_out, narrow=narrow)
        counts = {"removed": f"REM {scene.n_removed}", "added": f"ADD {scene.n_added}"}
        for i, (kind, host) in enumerate(zip(tables, hosts, strict=True)):
            draw_matrix(
                host, tables[kind], names, kind=kind, scale=scale, rows=i == 0, narrow=narrow
            )
            host.set_title(f"{counts[kind]} {kind}", fontsize=9.5, loc="left")
    return save_figure(figure, path, force=force)


def _panels(names: list[str], *, title: str, note: str, narrow: bool) -> tuple[Any, list[Any]]:
    """A figure for two matrices: side by side, or one above the other if narrow."""
    count = max(len(names), 2)
    longest = max((len(n) for n in names), default=8)
    lines = note_lines(note, NARROW if narrow else 5.2)
    head, foot = 0.75 if title else 0.34, 0.2 + 0.17 * len(lines)
    if narrow:
        margin = min(longest, 18) * 0.068 + 0.32
        side, tall = min(NARROW - margin - 0.1, 0.5 * count), 0.31 * count
        width, height = NARROW, head + 2 * tall + 0.72 + foot
        corners = [(margin, height - head - tall), (margin, foot + 0.2)]
    else:
        side = tall = float(min(max(2.6 / count, 0.27), 0.5)) * count
        margin = min(longest * 0.076 + 0.25, 3.3)
        width = max(margin + 2 * side + 0.75, 5.2)
        height = head + side + 0.68 * margin + foot
        corners = [(margin + i * (side + 0.45), height - head - side) for i in range(2)]
    figure = new_figure(width, height)
    write_headline(figure, title)
    if lines:
        figure.text(0.02, 0.05 / height, "\n".join(lines), va="bottom", fontsize=8.5, color=QUIET)
    hosts = [
        figure.add_axes((x / width, y / height, side / width, tall / height)) for x, y in corners
    ]
    return figure, hosts


def _with_regions(
    story: Story | Any, nodes: Nodes | None, regions: str | Taxonomy | None, title: str | None
) -> Scene:
    scene = make_scene(story, nodes=nodes, regions=regions, title=title)
    if not scene.has_regions:
        msg = (
            "This figure counts edits by region, but the nodes have no regions. Pass the result "
            "with a node table that has a region column: plot_regions(result, "
            "nodes=Nodes.read_csv('nodes.csv'))."
        )
        raise MissingInputError(msg, parameter="nodes")
    return scene


def _positive(name: str, value: int) -> None:
    if isinstance(value, bool) or value < 1:
        msg = f"{name} must be a number of regions, 1 or more; got {value!r}."
        raise InvalidParameterError(msg)
