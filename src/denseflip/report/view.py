"""The interactive picture: turn it, hover for names, switch edits and regions on and off.

One self-contained page, no network: plotly's script is taken from its own package and packed in.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from denseflip.checks import check_new_file
from denseflip.files import write_whole
from denseflip.graph import Nodes, Taxonomy
from denseflip.report.brain import brain_surface
from denseflip.report.canvas import need
from denseflip.report.circle import chords, circle_layout, on_circle
from denseflip.report.html import Context, packed_plotly
from denseflip.report.palette import VIEW
from denseflip.report.scene import MAX_EDGES, Scene, make_scene

if TYPE_CHECKING:
    from denseflip.story.story import Story

_SYMBOLS = {  # matplotlib's markers as plotly names them, in three dimensions and in two
    "o": ("circle", "circle"),
    "s": ("square", "square"),
    "^": ("circle", "triangle-up"),
    "D": ("diamond", "diamond"),
    "v": ("square", "triangle-down"),
    "P": ("cross", "cross"),
    "h": ("diamond", "hexagon"),
    "X": ("x", "x"),
}


@dataclass(frozen=True)
class ViewContext(Context):
    """The page of an interactive picture."""

    template: ClassVar = "view.html.j2"
    title: str
    note: str
    data: dict[str, Any]
    plotly: str


@dataclass(frozen=True)
class FrameContext(Context):
    """A page inside a notebook's cell."""

    template: ClassVar = "frame.html.j2"
    page: str
    height: int


@dataclass(frozen=True)
class View:
    """An interactive page; shown by itself at the end of a notebook cell."""

    html: str
    height: int = 680

    def save_as_html(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the page; an existing file is left as it is unless ``force`` is true."""
        target = Path(path)
        check_new_file(target, force=force)
        write_whole(target, self.html)
        return target

    def _repr_html_(self) -> str:
        """The page in a frame of its own."""
        return FrameContext(self.html, self.height).render()

    def __repr__(self) -> str:
        return f"View({len(self.html) / 1e6:.1f} MB of HTML; save_as_html(path) writes it)"


def view_connectome(
    story: Story | Any,
    *,
    nodes: Nodes | None = None,
    regions: str | Taxonomy | None = None,
    max_edges: int | None = MAX_EDGES,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
) -> View:
    """Show the edits in three dimensions inside a brain, to be turned and filtered.

    Nodes with coordinates outside MNI space are shown without a brain round them; nodes without
    coordinates stand on a circle, by region.

    Parameters
    ----------
    story, nodes, regions, max_edges, title : as in `plot_connectome`.
    path, force : write the page too; an existing file only with ``force``.

    Returns
    -------
    View
        With ``save_as_html(path)``; a notebook shows it by itself.

    Raises
    ------
    MissingExtraError
        If plotly is not installed.
    """
    need("plotly")
    scene = make_scene(story, nodes=nodes, regions=regions, max_edges=max_edges, title=title)
    page = ViewContext(
        title=scene.title or "Connectome",
        note=scene.note,
        data=view_data(scene),
        plotly=packed_plotly(),
    )
    view = View(page.render())
    if path is not None:
        view.save_as_html(path, force=force)
    return view


def view_data(scene: Scene) -> dict[str, Any]:
    """What ``view.js`` draws, as plain data."""
    flat = scene.points is None
    data: dict[str, Any] = {
        "kind": "circle" if flat else "brain" if scene.in_mni else "space",
        "label": scene.title,
        "note": scene.note,
        "colours": VIEW,
        "counts": {"removed": scene.n_removed, "added": scene.n_added},
        "names": list(scene.nodes.names),
        "region": list(scene.taxonomy.index),
        "changes": scene.changes.tolist(),
        "regions": [
            {"name": name, "colour": colour, "symbol": _SYMBOLS[marker][1 if flat else 0]}
            for name, colour, marker in zip(
                scene.taxonomy.regions, scene.colours, scene.markers, strict=True
            )
        ],
        "hasRegions": scene.has_regions,
        "edges": {
            "removed": [list(p) for p in scene.removed],
            "added": [list(p) for p in scene.added],
        },
    }
    if flat:
        data |= _circle(scene)
    else:
        assert scene.points is not None
        data["points"] = scene.points.round(2).tolist()
    if data["kind"] == "brain":
        vertices, faces = brain_surface()
        data["surface"] = {
            **{axis: vertices[:, i].round(1).tolist() for i, axis in enumerate("xyz")},
            **{corner: faces[:, i].tolist() for i, corner in enumerate("ijk")},
        }
    return data


def _circle(scene: Scene) -> dict[str, Any]:
    circle = circle_layout(scene)
    points = circle.points
    arcs = []
    for group in circle.groups:
        count = max(3, int((group.end - group.start) * 20))
        line = on_circle(np.linspace(group.start, group.end, count), 1.06)
        arcs.append({"region": group.region, "line": line.round(3).tolist()})
    return {
        "points": points.round(4).tolist(),
        "arcs": arcs,
        "curves": {
            "removed": chords(points, scene.removed).round(3).tolist(),
            "added": chords(points, scene.added).round(3).tolist(),
        },
    }
