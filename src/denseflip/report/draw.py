"""Drawing into given axes: the glass brain, and what all connectomes share.

Nothing here makes or writes a figure; `plot` and `comparison` do.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidParameterError
from denseflip.report.canvas import words
from denseflip.report.layout import spread
from denseflip.report.palette import ADDED, BRAIN, INK, QUIET, REMOVED, REMOVED_DASH
from denseflip.report.scene import Scene

AXES = {"x": (1, 2), "y": (0, 2), "z": (0, 1)}  # coordinates that each view shows
_EXTENT = {"x": (-109.0, 79.0), "y": (-76.0, 76.0), "z": (-76.0, 76.0)}  # mm, horizontally
_HEIGHT = 190.0  # mm, the tallest view
_MIDDLE = {"x": 6.0, "y": 6.0, "z": -15.0}
_LETTER = 3.1  # mm, the width of a letter of a node's name
_LEGEND = 23  # regions listed at most
LABELLED = 12  # nodes are named by themselves up to this many


def check_views(views: str) -> str:
    """The views of a glass brain: x from the side, y from the back, z from above."""
    if not views or any(v not in AXES for v in views) or len(set(views)) != len(views):
        msg = (
            f"views must be one or more of x (side), y (back), z (top), each once, "
            f"for example 'xyz' or 'z'; got {views!r}."
        )
        raise InvalidParameterError(msg)
    return views


def views_rows(views: str, *, narrow: bool) -> list[str]:
    """Which views stand side by side: all, or on a narrow picture the first on a row of its own.

    >>> views_rows("xyz", narrow=False), views_rows("xyz", narrow=True)
    (['xyz'], ['z', 'xy'])
    """
    if not narrow or len(views) == 1:
        return [views]
    first = "z" if "z" in views else views[0]
    return [first, views.replace(first, "")]


def views_aspect(views: str, *, narrow: bool = False) -> float:
    """Height over width of the views."""
    return sum(_HEIGHT / _across(row) for row in views_rows(views, narrow=narrow))


def _across(row: str) -> float:
    """Width of a row in millimetres; a single view has room for names at both sides."""
    return sum(_EXTENT[v][1] - _EXTENT[v][0] for v in row)


def line_style(n_edges: int) -> tuple[float, float]:
    """Width and opacity that keep few edges bold and many apart."""
    width = float(np.clip(7.0 / np.sqrt(n_edges + 8), 0.5, 2.0))
    return width, float(np.clip(1.05 - 0.1 * np.log10(n_edges + 1) ** 1.6, 0.5, 0.95))


def draw_glass(ax: Any, scene: Scene, *, views: str, labels: bool, narrow: bool = False) -> None:
    """Draw the edits on a glass brain, the views side by side inside ``ax``; if narrow, stacked."""
    from matplotlib.patches import PathPatch

    ax.set_axis_off()
    assert scene.points is not None
    rows = views_rows(views, narrow=narrow)
    wide = rows[0]  # names are written where there is room for them
    named = max(wide, key=lambda v: _room(scene, v)) if labels and len(scene.touched) else ""
    for view, place in _places(rows):
        low, high = _EXTENT[view]
        inset = ax.inset_axes(place)
        inset.set_axis_off()
        inset.set_aspect("equal")
        inset.set_xlim(low, high)
        inset.set_ylim(_MIDDLE[view] - _HEIGHT / 2, _MIDDLE[view] + _HEIGHT / 2)
        inset.set_gid(f"view-{view}")
        inset.add_artist(PathPatch(brain_outline(view), fill=False, ec=BRAIN, lw=0.7, zorder=0))
        flat = scene.points[:, list(AXES[view])]
        segments = {
            "removed": flat[np.asarray(scene.removed, dtype=np.int64).reshape(-1, 2)],
            "added": flat[np.asarray(scene.added, dtype=np.int64).reshape(-1, 2)],
        }
        draw_edges(inset, segments, size=1.0)
        draw_nodes(inset, scene, flat)
        if view == named:
            _name_nodes(inset, scene, flat)
        if view != "x":
            style = {"color": QUIET, "fontsize": 9, "va": "center", "ha": "center"}
            height = _MIDDLE[view] + _HEIGHT * 0.38
            inset.text(low + 8, height, "L", **style)
            inset.text(high - 8, height, "R", **style)


def _places(rows: list[str]) -> list[tuple[str, tuple[float, float, float, float]]]:
    """Where each view stands within the unit square: left, bottom, width, height."""
    heights = [_HEIGHT / _across(row) for row in rows]
    places, top = [], 1.0
    for row, height in zip(rows, heights, strict=True):
        share, left = height / sum(heights), 0.0
        for view in row:
            width = (_EXTENT[view][1] - _EXTENT[view][0]) / _across(row)
            places.append((view, (left, top - share, width, share)))
            left += width
        top -= share
    return places


@cache
def brain_outline(view: str) -> Any:
    """Nilearn's drawing of a brain from one direction, as a single path in millimetres.

    Nilearn draws it as hundreds of small patches; one path is drawn ten times as fast.
    """
    from matplotlib.figure import Figure
    from matplotlib.path import Path
    from nilearn.plotting.glass_brain import plot_brain_schematics

    scratch = Figure().add_subplot()
    plot_brain_schematics(scratch, view)
    back = scratch.transData.inverted()
    return Path.make_compound_path(
        *(p.get_path().transformed(p.get_transform() + back) for p in scratch.patches)
    )


def draw_edges(ax: Any, segments: dict[str, npt.NDArray[np.float64]], *, size: float) -> None:
    """Removed pairs as dashed red, added ones as solid blue lines; one collection each.

    ``segments`` holds two points per straight line, or three per curve (the middle one controls).
    """
    from matplotlib.collections import PathCollection
    from matplotlib.path import Path

    width, opacity = line_style(sum(len(s) for s in segments.values()))
    looks: dict[str, dict[str, Any]] = {
        "added": {"edgecolors": ADDED, "linestyles": "solid", "zorder": 2},
        "removed": {"edgecolors": REMOVED, "linestyles": [REMOVED_DASH], "zorder": 3},
    }
    for kind, look in looks.items():
        if len(segments[kind]):
            curved = segments[kind].shape[1] == 3
            codes = [Path.MOVETO, Path.CURVE3, Path.CURVE3] if curved else None
            lines = PathCollection(
                [Path(points, codes) for points in segments[kind]],
                facecolors="none",
                linewidths=width * size,
                alpha=opacity,
                **look,
            )
            lines.set_gid(kind)
            ax.add_collection(lines, autolim=False)


def draw_nodes(ax: Any, scene: Scene, flat: npt.NDArray[np.float64], scale: float = 1.0) -> None:
    """Nodes in the colour of their region; larger with more changes, faint without any."""
    changes = np.bincount(
        np.asarray([*scene.removed, *scene.added], dtype=np.int64).reshape(-1), minlength=len(flat)
    )
    top = max(int(changes.max(initial=0)), 1)
    for region in range(len(scene.taxonomy.regions)):
        members = scene.taxonomy.members(region)
        look = {"c": scene.colours[region], "marker": scene.markers[region]}
        quiet, busy = members[changes[members] == 0], members[changes[members] > 0]
        ax.scatter(*flat[quiet].T, s=9 * scale, alpha=0.45, linewidths=0, zorder=4, **look)
        sizes = scale * (16 + 44 * np.sqrt(changes[busy] / top))
        ax.scatter(
            *flat[busy].T, s=sizes, edgecolors=INK, linewidths=0.5 * scale**0.5, zorder=5, **look
        )


def _room(scene: Scene, view: str) -> float:
    """How far apart a view shows the changed nodes: names go where there is room for them."""
    assert scene.points is not None
    flat = scene.points[scene.touched][:, list(AXES[view])]
    apart = np.abs(flat[:, None, :] - flat[None, :, :]).sum(axis=2)
    return float(np.minimum(apart, 20.0).mean()) * (1.2 if view == "z" else 1.0)


def _name_nodes(ax: Any, scene: Scene, flat: npt.NDArray[np.float64]) -> None:
    import matplotlib.patheffects as effects

    # In two columns at the edges, each name level with its node: nothing is written over edges.
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    nodes = scene.touched
    order = np.argsort(flat[nodes, 0], kind="stable")
    halves = nodes[order[: len(nodes) // 2]], nodes[order[len(nodes) // 2 :]]
    for half, edge, align in zip(halves, (left + 1, right - 1), ("left", "right"), strict=True):
        reach = np.array([_LETTER * len(scene.nodes.names[node]) + 4 for node in half])
        covered = np.abs(flat[half, 0] - edge) < reach  # the name would lie on its own node
        heights = spread(flat[half, 1] + np.where(covered, 8.0, 0.0), 8.0, low + 20, high - 20)
        for node, height in zip(half, heights, strict=True):
            ax.annotate(
                words(scene.nodes.names[node].replace("_", " ")),
                flat[node],
                (edge, height),
                fontsize=7.5,
                ha=align,
                va="center",
                zorder=7,
                arrowprops={"arrowstyle": "-", "lw": 0.4, "color": QUIET, "shrinkA": 1},
                path_effects=[effects.withStroke(linewidth=2, foreground="white")],
            )


def edge_handles(scene: Scene) -> list[Any]:
    """Legend entries for the two kinds of edit, with the counts of all edits."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], color=REMOVED, linestyle=REMOVED_DASH, lw=2, label=f"REM {scene.n_removed}"),
        Line2D([], [], color=ADDED, lw=2, label=f"ADD {scene.n_added}"),
    ]


def region_handles(scene: Scene) -> list[Any]:
    """Legend entries for the regions; of very many, those with most changes."""
    from matplotlib.lines import Line2D

    total = scene.endpoints(scene.removed) + scene.endpoints(scene.added)
    shown = list(range(len(total)))
    if len(shown) > _LEGEND:
        shown = sorted(sorted(shown, key=lambda r: (-total[r], r))[:_LEGEND])
    handles = [
        Line2D(
            [],
            [],
            color=scene.colours[r],
            marker=scene.markers[r],
            ls="",
            ms=6,
            mec=INK,
            mew=0.5,
            label=words(scene.taxonomy.regions[r], 40),
        )
        for r in shown
    ]
    if len(shown) < len(total):
        text = f"and {len(total) - len(shown)} other regions"
        handles.append(Line2D([], [], ls="", label=text))
    return handles
