"""The drawing of the circle: nodes by region, the edits between them as chords or ribbons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from denseflip.report.canvas import draw_edges, draw_kind, draw_nodes, words
from denseflip.report.circle import Group, circle_layout, controls, on_circle, spread
from denseflip.report.palette import BRAIN, INK, PAPER, QUIET
from denseflip.report.ribbons import RIBBONS, Ribbon, ribbons_of
from denseflip.report.scene import Scene

LETTERS = 34  # of a region's name beside the circle
ALL_NAMED = 40  # nodes without regions are all named up to this many
_NAMED = 22  # arcs named on each side at most
_UPRIGHT = 3  # letters: shorter names, such as numbers, are not turned
_LETTER = 0.065  # inches, the width of a letter of a node's name
_SPOTS = (0.5, 0.35, 0.65)  # where along a ribbon its number may be
_SPOTS_WITHIN = (0.2, 0.8, 0.5)  # within an arc; others cross it in the middle
_SIZE = 8.8  # points, of a number


def draw_circle(
    ax: Any,
    scene: Scene,
    *,
    labels: bool,
    names: bool = True,
    narrow: bool = False,
    ribbons: bool = False,
) -> None:
    """Draw the edits as chords of a circle; its arcs are the regions, if there are any.

    ``labels`` names the changed nodes (all of them if there are no regions). ``names`` names the
    regions; in a narrow figure the legend does. ``ribbons`` draws one ribbon for all edits between
    two arcs.
    """
    from matplotlib.patches import Wedge

    circle = circle_layout(scene)
    points = circle.points
    ax.set_axis_off()
    ax.set_aspect("equal")
    if not ribbons:
        segments = {
            "removed": controls(points, scene.removed),
            "added": controls(points, scene.added),
        }
        draw_edges(ax, segments)
    draw_nodes(ax, scene, points, scale=float(np.clip(90 / max(len(points), 1), 0.22, 1.2)))
    for group in circle.groups if scene.has_regions else ():
        start, end = (90 - np.degrees(a) for a in (group.end, group.start))
        colour = scene.colours[group.region]
        ax.add_patch(Wedge((0, 0), 1.09, start, end, width=0.05, color=colour, lw=0))
    reach = 1.2
    if labels:
        letters, half = (11, 1.7) if narrow else (18, 2.95)  # half of the picture, in inches
        every = not scene.has_regions and scene.nodes.n_nodes <= ALL_NAMED
        nodes = range(scene.nodes.n_nodes) if every else scene.touched
        texts = {int(n): words(scene.nodes.names[n].replace("_", " "), letters) for n in nodes}
        radius = 1.16 if scene.has_regions else 1.1
        for node, text in texts.items():
            _radial(ax, text, float(circle.angles[node]), radius)
        longest = min(max(map(len, texts.values()), default=1), letters)
        reach = (radius + 0.05) / (1 - _LETTER * longest / half)
    elif names and scene.has_regions and not narrow:
        _name_arcs(ax, scene, circle.groups)
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-reach, reach)
    if ribbons:
        _draw_ribbons(ax, ribbons_of(scene, circle))
    if any(g.side for g in circle.groups):
        for side, x in (("L", -1), ("R", 1)):
            ax.text(x * 0.98, 0.98, side, color=QUIET, fontsize=9, ha="center", va="center")


def _radial(ax: Any, text: str, angle: float, radius: float) -> None:
    if len(text) <= _UPRIGHT:
        x, y = on_circle(np.array([angle]), radius)[0]
        ax.text(x, y, text, fontsize=8, ha="center", va="center")
        return
    write_outwards(ax, text, angle, radius, fontsize=8)


def write_outwards(ax: Any, text: str, angle: float, radius: float, *, fontsize: float) -> None:
    """Write a text from a circle outwards, never upside down."""
    x, y = on_circle(np.array([angle]), radius)[0]
    flipped = x < -1e-9
    ax.text(
        x, y, text, fontsize=fontsize, rotation=90 - np.degrees(angle) + (180 if flipped else 0),
        rotation_mode="anchor", ha="right" if flipped else "left", va="center",
    )  # fmt: skip


def _name_arcs(ax: Any, scene: Scene, groups: Sequence[Group]) -> None:
    sided = any(g.side for g in groups)  # then regions without a side are at the bottom
    below = [g for g in groups if sided and not g.side and np.cos(g.middle) < -0.98][:1]
    for group in below:
        text = words(scene.taxonomy.regions[group.region], LETTERS)
        ax.text(np.sin(group.middle), -1.17, text, fontsize=8.8, ha="center", va="center")
    for right in (True, False):
        here = [g for g in groups if (np.sin(g.middle) >= 0) == right and g not in below]
        here = _busiest(scene, here)
        wanted = np.array([1.12 * np.cos(g.middle) for g in here])
        for group, height in zip(here, spread(wanted, 0.1, -1.15, 1.15), strict=True):
            ax.annotate(
                words(scene.taxonomy.regions[group.region], LETTERS),
                on_circle(np.array([group.middle]), 1.1)[0],
                (1.18 if right else -1.18, height),
                fontsize=8.8,
                ha="left" if right else "right",
                va="center",
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "lw": 0.5, "color": BRAIN, "shrinkB": 0},
            )


def _busiest(scene: Scene, groups: list[Group]) -> list[Group]:
    """The arcs to name if there is not enough space for all: those with most changes."""
    if len(groups) <= _NAMED:
        return groups
    total = scene.ends
    chosen = sorted(groups, key=lambda g: (-total[g.region], g.start))[:_NAMED]
    return sorted((g for g in chosen if total[g.region]), key=lambda g: g.start)


def _draw_ribbons(ax: Any, ribbons: tuple[Ribbon, ...]) -> None:
    """Draw ribbons on the unit circle, with the numbers of the widest. The limits must be set."""
    from matplotlib.patches import Circle as Disc

    ax.apply_aspect()
    across = ax.transData.transform([(0, 0), (1, 0)])
    radius = float(across[1, 0] - across[0, 0]) * 72 / ax.figure.dpi  # in points
    for kind in ("added", "removed"):
        own = [ribbon for ribbon in ribbons if ribbon.kind == kind]
        if own:
            widths = np.array([ribbon.width * radius for ribbon in own])
            lines = draw_kind(ax, kind, np.stack([r.path for r in own]), widths, opacity=0.78)
            lines.set_clip_path(Disc((0, 0), 0.99, transform=ax.transData))  # ends follow the ring
    taken: list[tuple[float, float, float]] = []
    for ribbon in ribbons[: int(RIBBONS["numbered"])]:
        text = f"{'−' if ribbon.kind == 'removed' else '+'}{ribbon.n:,}"
        long, high = 0.62 * _SIZE * len(text) / radius, 1.4 * _SIZE / radius
        for t in _SPOTS_WITHIN if ribbon.arcs[0] == ribbon.arcs[1] else _SPOTS:
            x, y = np.array([(1 - t) ** 2, 2 * t * (1 - t), t * t]) @ ribbon.path
            if all(abs(x - a) > (long + wide) / 2 or abs(y - b) > high for a, b, wide in taken):
                taken.append((float(x), float(y), long))
                _write(ax, float(x), float(y), text)
                break


def _write(ax: Any, x: float, y: float, text: str) -> None:
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground=PAPER)]
    ax.text(
        x, y, text, fontsize=_SIZE, color=INK, ha="center", va="center", weight="bold",
        zorder=6, path_effects=halo,
    )  # fmt: skip
