"""The circle layout: positions of nodes without coordinates, region by region.

If the sides are known, left nodes are drawn on the left and right nodes on the right, mirrored, so
a connection between the hemispheres is a line across.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from denseflip.graph import Pair
from denseflip.report.scene import Scene

Points = npt.NDArray[np.float64]
_GAP = 0.25  # of the circle, shared by all gaps between groups, at most
BEND = 0.85  # a chord between neighbours stays this far from the centre; one across meets it


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
    offsets = distance * np.arange(count)
    clusters: list[tuple[float, int]] = []  # sum and number of the positions without offsets
    for value in wanted[order] - offsets:
        total, size = float(value), 1
        while clusters and clusters[-1][0] / clusters[-1][1] > total / size:
            before, more = clusters.pop()
            total, size = before + total, more + size
        clusters.append((total, size))
    means = np.repeat([total / size for total, size in clusters], [size for _, size in clusters])
    result = np.empty(count)
    result[order] = means.clip(low, high - offsets[-1]) + offsets
    return result
