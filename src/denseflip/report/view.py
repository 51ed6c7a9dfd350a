"""The interactive figure: rotate, hover for names, show or hide edits and regions.

It is a self-contained page without network access. The report and the web app use the same scripts
(``connectome.js`` and its parts).
"""

from __future__ import annotations

import tempfile
import webbrowser
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from denseflip.checks import check_new_file
from denseflip.files import write_whole
from denseflip.graph import Nodes, Taxonomy
from denseflip.graph.readable_names import readable
from denseflip.report.brain import packed_surface
from denseflip.report.circle import BEND, circle_layout
from denseflip.report.html import Context
from denseflip.report.palette import on_dark
from denseflip.report.ribbons import RIBBONS, has_ribbons
from denseflip.report.scene import MAX_EDGES, Scene, make_scene

if TYPE_CHECKING:
    from denseflip.story.story import Story

_MOST_COUNTED = 20_000  # edits that a page holds so that ribbons can count them


@dataclass(frozen=True)
class ViewContext(Context):
    """The page of an interactive figure, with the drawn edits as a table."""

    template: ClassVar = "view.html.j2"
    title: str
    note: str
    data: dict[str, Any]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class FrameContext(Context):
    """A page inside a notebook cell."""

    template: ClassVar = "frame.html.j2"
    page: str
    height: int


@dataclass(frozen=True)
class View:
    """An interactive page; a notebook displays it at the end of a cell.

    Attributes
    ----------
    html : the whole page.
    height : height of the frame in a notebook, in pixels.
    """

    html: str
    height: int = 720

    def save_as_html(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the page; an existing file is overwritten only if ``force`` is true."""
        return write_whole(check_new_file(Path(path), force=force), self.html)

    def open_in_browser(self) -> Path:
        """Open the page in the default browser, and return its temporary file."""
        target = self.save_as_html(Path(tempfile.mkdtemp(prefix="denseflip-")) / "connectome.html")
        webbrowser.open(target.as_uri())
        return target

    def _repr_html_(self) -> str:
        """The page in a frame."""
        return FrameContext(self.html, self.height).render()

    def __repr__(self) -> str:
        return f"View({len(self.html) / 1e3:.0f} kB of HTML; save_as_html(path) writes it)"


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
    """Show the edits in an interactive figure: rotate, zoom, hover for names, filter.

    Nodes with MNI coordinates are shown inside a brain, nodes with other coordinates in space, and
    nodes without coordinates on a circle, sorted by region.

    Parameters
    ----------
    story, nodes, regions, max_edges, title : as in `plot_connectome`.
    path, force : also write the page; an existing file is overwritten only with ``force``.

    Returns
    -------
    View
        With ``save_as_html(path)`` and ``open_in_browser()``; a notebook displays it.

    Examples
    --------
    >>> from denseflip import describe, explain, view_connectome
    >>> from denseflip.graph import Graph, Nodes
    >>> path = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3)])
    >>> def oracle(adjacency):
    ...     return int(adjacency.sum() > 6)
    >>> story = describe(explain(path, oracle, "edg"), Nodes.numbered(4), oracle)
    >>> view_connectome(story).html.startswith("<!DOCTYPE html>")
    True
    """
    made = partial(make_scene, story, nodes=nodes, regions=regions, title=title)
    scene = with_all_edits(made(max_edges=max_edges), made())
    columns, rows = _table(scene)
    page = ViewContext(
        title=scene.title or "Connectome",
        note=scene.note,
        data=view_data(scene),
        columns=columns,
        rows=rows,
    )
    view = View(page.render())
    if path is not None:
        view.save_as_html(path, force=force)
    return view


def _table(scene: Scene) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Columns and rows of the drawn edits, for screen readers and text search."""
    names, region_of = scene.nodes.names, scene.taxonomy.region_of
    ends = ("node", "region") if scene.has_regions else ("node",)
    rows = []
    for kind, pairs in (("removed", scene.removed), ("added", scene.added)):
        for pair in pairs:
            cells = [
                text
                for node in pair
                for text in (names[node], *([region_of(node)] if scene.has_regions else []))
            ]
            rows.append((kind, *cells))
    return ("change", *ends, *ends), tuple(rows)


# ---- data for the scripts -----------------------------------------------------------------


def view_data(scene: Scene, *, surface: bool = True) -> dict[str, Any]:
    """The data that ``connectome.js`` draws; ``surface`` includes that of the brain."""
    data = scene_data(scene) | {
        "label": scene.title,
        "counts": {"removed": scene.n_removed, "added": scene.n_added},
        "removed": [list(p) for p in scene.removed],
        "added": [list(p) for p in scene.added],
    }
    if data["kind"] == "circle":
        data["circle"] = circle_data(scene)
    if data["kind"] == "brain" and surface:
        data["surface"] = packed_surface()
    return data


def with_all_edits(drawn: Scene, whole: Scene) -> Scene:
    """The scene to draw: that with all edits if ribbons stand for them, since ribbons count them.

    Parameters
    ----------
    drawn, whole : the same scene with a part of the edits, and with all of them.
    """
    ribbons = whole.points is None and whole.has_regions
    return whole if ribbons and whole.n_removed + whole.n_added <= _MOST_COUNTED else drawn


def page_scene(drawn: Scene, whole: Scene) -> Scene:
    """The scene that a page draws, as its still picture does.

    Nodes outside MNI space are on a circle if there are many edits, which then are ribbons: lines
    in space would hide each other.

    Parameters
    ----------
    drawn, whole : as in `with_all_edits`.
    """
    flat = whole.points is not None and not whole.in_mni
    if flat and has_ribbons(whole, circle_layout(whole)):
        drawn, whole = (
            replace(scene, nodes=replace(scene.nodes, coordinates=None)) for scene in (drawn, whole)
        )
    return with_all_edits(drawn, whole)


def scene_data(scene: Scene) -> dict[str, Any]:
    """The nodes of a scene without its edits: names, regions and positions."""
    points = scene.points
    return {
        "kind": "circle" if points is None else "brain" if scene.in_mni else "space",
        "names": list(scene.nodes.names),
        "index": list(scene.taxonomy.index),
        "regions": [
            {
                "name": name,
                "label": label,
                "colour": colour,
                "dark": on_dark(colour),
                "marker": marker,
            }
            for name, label, colour, marker in zip(
                scene.taxonomy.regions,
                readable(scene.taxonomy),
                scene.colours,
                scene.markers,
                strict=True,
            )
        ],
        "hasRegions": scene.has_regions,
        "points": None if points is None else points.round(2).tolist(),
        "axis": _axis(scene),
    }


def circle_data(scene: Scene) -> dict[str, Any]:
    """The nodes of a scene on a unit circle; angles are in radians, clockwise from the top."""
    circle = circle_layout(scene)
    return {
        "points": circle.points.round(4).tolist(),
        "arcs": [
            {"region": g.region, "start": round(g.start, 4), "end": round(g.end, 4)}
            for g in circle.groups
        ],
        "sided": any(g.side for g in circle.groups),
        "bend": BEND,
        "ribbons": RIBBONS,
    }


def _axis(scene: Scene) -> list[float] | None:
    """Direction from left to right, or None if the sides are not known."""
    if scene.points is None:
        return None
    if scene.in_mni:
        return [1.0, 0.0, 0.0]
    sides = np.asarray(scene.sides)
    if not {"L", "R"} <= set(scene.sides):
        return None
    apart = scene.points[sides == "R"].mean(axis=0) - scene.points[sides == "L"].mean(axis=0)
    length = float(np.linalg.norm(apart))
    return (apart / length).round(4).tolist() if length else None
