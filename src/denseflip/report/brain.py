"""The human brain: glass-brain views from the side, the back and the top, and its surface.

The surface is for interactive figures. The meshes of nilearn cover only the cortex, so cerebellar
nodes would lie outside; ours covers the whole brain and comes with the package (see
``data/README.md`` for its source).
"""

from __future__ import annotations

import base64
import importlib
import importlib.util
from functools import cache
from importlib.resources import files
from pathlib import Path as FilePath
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidParameterError
from denseflip.report.canvas import draw_edges, draw_nodes, words
from denseflip.report.circle import spread
from denseflip.report.palette import BRAIN, PAPER, QUIET
from denseflip.report.scene import Scene

AXES = {"x": (1, 2), "y": (0, 2), "z": (0, 1)}  # coordinates that each view shows
_EXTENT = {"x": (-109.0, 79.0), "y": (-76.0, 76.0), "z": (-76.0, 76.0)}  # mm, horizontally
_HEIGHT = 190.0  # mm, the tallest view
_MIDDLE = {"x": 6.0, "y": 6.0, "z": -15.0}
_LETTER = 3.1  # mm, the width of a letter of a node's name


def check_views(views: str) -> str:
    """Check the views of a glass brain: x (side), y (back), z (top)."""
    if not views or any(v not in AXES for v in views) or len(set(views)) != len(views):
        msg = (
            f"views must be one or more of x (side), y (back), z (top), each once, "
            f"for example 'xyz' or 'z'; got {views!r}."
        )
        raise InvalidParameterError(msg)
    return views


def views_rows(views: str, *, narrow: bool) -> list[str]:
    """Group the views into rows: one row, or two if the figure is narrow.

    >>> views_rows("xyz", narrow=False), views_rows("xyz", narrow=True)
    (['xyz'], ['z', 'xy'])
    """
    if not narrow or len(views) == 1:
        return [views]
    first = "z" if "z" in views else views[0]
    return [first, views.replace(first, "")]


def views_aspect(views: str, *, narrow: bool = False) -> float:
    """Aspect ratio of the views: height over width."""
    return sum(_HEIGHT / _across(row) for row in views_rows(views, narrow=narrow))


def _across(row: str) -> float:
    """Width of a row in millimetres; a single view leaves space for names at both sides."""
    return sum(_EXTENT[v][1] - _EXTENT[v][0] for v in row)


def draw_glass(ax: Any, scene: Scene, *, views: str, labels: bool, narrow: bool = False) -> None:
    """Draw the edits on a glass brain in empty axes, views side by side, or stacked if narrow.

    The views share these axes, and their nodes: axes for each would take a tenth of the time of a
    page.
    """
    from matplotlib.patches import PathPatch

    ax.set_axis_off()
    ax.set_aspect("equal")
    ax.set_xlim(0, 1)
    ax.set_ylim(0, views_aspect(views, narrow=narrow))
    assert scene.points is not None
    rows = views_rows(views, narrow=narrow)
    wide = rows[0]  # names are written in the first row
    named = max(wide, key=lambda v: _room(scene, v)) if labels and len(scene.touched) else ""
    ends = {
        kind: np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        for kind, pairs in (("removed", scene.removed), ("added", scene.added))
    }
    places = []
    for view, to_axes in _maps(rows).items():
        low, high = _EXTENT[view]
        flat = scene.points[:, list(AXES[view])]
        places.append(to_axes.transform(flat))
        draw_edges(ax, {kind: places[-1][pairs] for kind, pairs in ends.items()})
        outline = brain_outline(view).transformed(to_axes)
        ax.add_artist(PathPatch(outline, fill=False, ec=BRAIN, lw=0.7, zorder=0))
        if view == named:
            _name_nodes(ax, scene, flat, view, to_axes)
        if view != "x":
            style = {"color": QUIET, "fontsize": 9, "va": "center", "ha": "center"}
            height = _MIDDLE[view] + _HEIGHT * 0.38
            for x, side in ((low + 8, "L"), (high - 8, "R")):
                ax.text(*to_axes.transform((x, height)), side, **style)
    draw_nodes(ax, scene, *places)


def _maps(rows: list[str]) -> dict[str, Any]:
    """For each view, the map from millimetres to axes that are one unit wide."""
    from matplotlib.transforms import Affine2D

    maps, top = {}, sum(_HEIGHT / _across(row) for row in rows)
    for row in rows:
        scale, left = 1 / _across(row), 0.0
        top -= scale * _HEIGHT
        for view in row:
            low, high = _EXTENT[view]
            below = _MIDDLE[view] - _HEIGHT / 2
            maps[view] = Affine2D().translate(-low, -below).scale(scale).translate(left, top)
            left += scale * (high - low)
    return maps


def _room(scene: Scene, view: str) -> float:
    """How far apart a view shows the changed nodes; names go to the view with most space."""
    assert scene.points is not None
    flat = scene.points[scene.touched][:, list(AXES[view])]
    apart = np.abs(flat[:, None, :] - flat[None, :, :]).sum(axis=2)
    return float(np.minimum(apart, 20.0).mean()) * (1.2 if view == "z" else 1.0)


def _name_nodes(
    ax: Any, scene: Scene, flat: npt.NDArray[np.float64], view: str, to_axes: Any
) -> None:
    import matplotlib.patheffects as effects

    # Two columns at the margins, each name level with its node, so that no name covers an edge.
    left, right = _EXTENT[view]
    low, high = _MIDDLE[view] - _HEIGHT / 2, _MIDDLE[view] + _HEIGHT / 2
    nodes = scene.touched
    order = np.argsort(flat[nodes, 0], kind="stable")
    halves = nodes[order[: len(nodes) // 2]], nodes[order[len(nodes) // 2 :]]
    for half, edge, align in zip(halves, (left + 1, right - 1), ("left", "right"), strict=True):
        reach = np.array([_LETTER * len(scene.nodes.names[node]) + 4 for node in half])
        covered = np.abs(flat[half, 0] - edge) < reach  # the name would cover its own node
        heights = spread(flat[half, 1] + np.where(covered, 8.0, 0.0), 8.0, low + 20, high - 20)
        for node, height in zip(half, heights, strict=True):
            ax.annotate(
                words(scene.nodes.names[node].replace("_", " ")),
                to_axes.transform(flat[node]),
                to_axes.transform((edge, height)),
                fontsize=7.5,
                ha=align,
                va="center",
                zorder=7,
                arrowprops={"arrowstyle": "-", "lw": 0.4, "color": QUIET, "shrinkA": 1},
                path_effects=[effects.withStroke(linewidth=2, foreground=PAPER)],
            )


@cache
def brain_outline(view: str) -> Any:
    """Nilearn's outline of a brain from one direction, as a single path in millimetres.

    Nilearn draws hundreds of small patches; a single path is ten times faster.
    """
    from matplotlib.path import Path

    patches = _Patches()
    _schematics().plot_brain_schematics(patches, view)
    return Path.make_compound_path(
        *(p.get_path().transformed(p.get_transform()) for p in patches.listed)
    )


class _Patches:
    """What nilearn draws on, instead of axes: it lists the patches, in millimetres."""

    def __init__(self) -> None:
        from matplotlib.transforms import IdentityTransform

        self.transData = IdentityTransform()
        self.listed: list[Any] = []

    def get_facecolor(self) -> str:
        """The background."""
        return PAPER

    def add_patch(self, patch: Any) -> None:
        """Keep a patch."""
        self.listed.append(patch)


@cache
def _schematics() -> Any:
    """Nilearn's module of outlines, loaded alone: its package takes half a second to import."""
    found = importlib.util.find_spec("nilearn")
    for place in (found and found.submodule_search_locations) or ():
        path = FilePath(place) / "plotting" / "glass_brain.py"
        if path.is_file():
            spec = importlib.util.spec_from_file_location("denseflip_glass_brain", path)
            if spec is not None and spec.loader is not None:
                module = importlib.util.module_from_spec(spec)
                spec.loader.exec_module(module)
                return module
    return importlib.import_module("nilearn.plotting.glass_brain")


@cache
def packed_surface() -> dict[str, str]:
    """The surface for ``surface.js``, as base64 of little-endian numbers of 16 bits.

    Vertices are tenths of a millimetre in MNI space, faces three vertex numbers each.

    >>> sorted(packed_surface())
    ['faces', 'vertices']
    """
    kinds = {"vertices": "<i2", "faces": "<u2"}
    with (files("denseflip.report") / "data" / "mni152_surface.npz").open("rb") as handle:
        archive = np.load(handle, allow_pickle=False)
        return {
            name: base64.b64encode(archive[name].astype(kind).tobytes()).decode("ascii")
            for name, kind in kinds.items()
        }
