"""The circle layout: positions of nodes without coordinates, region by region, and its drawing.

If the sides are known, left nodes are drawn on the left and right nodes on the right, mirrored, so
a connection between the hemispheres is a line across.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.graph import Pair
from denseflip.report.canvas import draw_edges, draw_nodes, words
from denseflip.report.palette import BRAIN, QUIET
from denseflip.report.scene import Scene

Points = npt.NDArray[np.float64]
_GAP = 0.25  # of the circle, shared by all gaps between groups, at most
BEND = 0.85  # a chord between neighbours stays this far from the centre; one across meets it
LETTERS = 34  # of a region's name beside the circle
ALL_NAMED = 40  # nodes without regions are all named up to this many
_NAMED = 22  # arcs named on each side at most
_UPRIGHT = 3  # letters: shorter names, such as numbers, are not turned
_LETTER = 0.065  # inches, the width of a letter of a node's name


@dataclass(frozen=True)
class Group:
    """An arc of the circle: the nodes of one region (on one side).

    Angles are in radians, clockwise from the top.
    """

    region: int
    side: str
    start: float
    end: float
    size: int

    @property
    def middle(self) -> float:
        """Angle of the arc's middle."""
        return (self.start + self.end) / 2


@dataclass(frozen=True)
class Circle:
    """Positions of the nodes on the unit circle, and the arcs that they form."""

    angles: Points
    groups: tuple[Group, ...]

    @property
    def points(self) -> Points:
        """``(x, y)`` of each node."""
        return on_circle(self.angles)


def on_circle(angles: Points, radius: float = 1.0) -> Points:
    """``(x, y)`` at these angles, clockwise from the top."""
    return radius * np.column_stack([np.sin(angles), np.cos(angles)])


def circle_layout(scene: Scene) -> Circle:
    """Arrange nodes on a circle by region; mirrored by side if sides are known."""
    index, sides = scene.taxonomy.array, np.asarray(scene.sides)
    mirrored = {"L", "R"} <= set(scene.sides)
    if not mirrored:
        sides = np.full(len(index), "")
    order: list[tuple[int, str]] = []
    n_regions = len(scene.taxonomy.regions)
    for side in ("R", "", "L") if mirrored else ("",):
        regions = range(n_regions) if side != "L" else range(n_regions - 1, -1, -1)
        order.extend((r, side) for r in regions if ((index == r) & (sides == side)).any())
    gap = 2 * np.pi * min(_GAP / max(len(order), 1), 0.012)
    step = (2 * np.pi - gap * len(order)) / max(len(index), 1)
    angles = np.zeros(len(index))
    groups, at = [], gap / 2
    for region, side in order:
        members = np.flatnonzero((index == region) & (sides == side))
        if side == "L":
            members = members[::-1]
        angles[members] = at + step * (np.arange(len(members)) + 0.5)
        groups.append(Group(region, side, at, at + step * len(members), len(members)))
        at += step * len(members) + gap
    return Circle(angles, tuple(groups))


def controls(points: Points, pairs: Sequence[Pair]) -> Points:
    """Start, control point and end of each chord: ``(pairs, 3, 2)``. They bend to the centre."""
    ends = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
    start, stop = points[ends[:, 0]], points[ends[:, 1]]
    middle = (start + stop) / 2
    depth = np.linalg.norm(middle, axis=1, keepdims=True).clip(1e-9, 1.0)  # cosine of half the arc
    control = middle / depth * BEND * (1 - 2 * np.arccos(depth) / np.pi)
    return np.stack([start, control, stop], axis=1)


def spread(wanted: Points, distance: float, low: float, high: float) -> Points:
    """Move positions on a line apart to at least ``distance``, as little as needed, within bounds.

    >>> spread(np.array([0.0, 0.1, 3.0]), 1.0, -1.0, 4.0).round(2).tolist()
    [-0.45, 0.55, 3.0]
    """
    count = len(wanted)
    if count == 0:
        return np.zeros(0)
    distance = min(distance, (high - low) / max(count - 1, 1))
    order = np.argsort(wanted, kind="stable")
    # Pool adjacent violators: clusters of labels that touch are centred on their mean.
    clusters: list[list[float]] = []  # [sum of (wanted - offset), size]
    for i in order:
        clusters.append([float(wanted[i]), 1.0])
        while len(clusters) > 1:
            (a, n), (b, m) = clusters[-2:]
            if a / n + n * distance <= b / m + 1e-12:
                break
            clusters[-2:] = [[a + b - n * m * distance, n + m]]
    placed: list[float] = []
    for total, size in clusters:
        start = min(max(total / size, low), high - (size - 1) * distance)
        placed.extend(start + k * distance for k in range(int(size)))
    for k in range(1, count):  # bounds may have pushed clusters into each other
        placed[k] = max(placed[k], placed[k - 1] + distance)
    overflow = placed[-1] - high
    if overflow > 0:
        placed[-1] = high
        for k in range(count - 2, -1, -1):
            placed[k] = min(placed[k], placed[k + 1] - distance)
    result = np.empty(count)
    result[order] = placed
    return result


# ---- drawing ------------------------------------------------------------------------------


def draw_circle(
    ax: Any, scene: Scene, *, labels: bool, names: bool = True, narrow: bool = False
) -> None:
    """Draw the edits as chords of a circle; its arcs are the regions, if there are any.

    ``labels`` names the changed nodes (all of them if there are no regions). ``names`` names the
    regions; in a narrow figure the legend does.
    """
    from matplotlib.patches import Wedge

    circle = circle_layout(scene)
    points = circle.points
    ax.set_axis_off()
    ax.set_aspect("equal")
    segments = {
        "removed": controls(points, scene.removed),
        "added": controls(points, scene.added),
    }
    draw_edges(ax, segments, size=1.0)
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
    if any(g.side for g in circle.groups):
        for side, x in (("L", -1), ("R", 1)):
            ax.text(x * 0.98, 0.98, side, color=QUIET, fontsize=9, ha="center", va="center")


def _radial(ax: Any, text: str, angle: float, radius: float) -> None:
    x, y = on_circle(np.array([angle]), radius)[0]
    if len(text) <= _UPRIGHT:
        ax.text(x, y, text, fontsize=8, ha="center", va="center")
        return
    turn = 90 - float(np.degrees(angle))
    flipped = x < 0
    ax.text(
        x,
        y,
        text,
        fontsize=8,
        rotation=turn + (180 if flipped else 0),
        rotation_mode="anchor",
        ha="right" if flipped else "left",
        va="center",
    )


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
