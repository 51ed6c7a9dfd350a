"""Ribbons of the circle: all edits between two arcs in one direction, as wide as their number.

`ribbons_of` lays them out in units of the radius. ``circle.js`` does the same for the edits that a
reader chooses to see; it takes its constants from `RIBBONS`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from denseflip.report.circle import Circle, Points, controls, on_circle
from denseflip.report.scene import Scene

#: With more edits than ``from``, single lines are a tangle. ``numbered``: ribbons with their
#: number. ``widest``: largest width, in radii. ``inward``: how far from the centre the control
#: point of a ribbon within an arc is. ``full``: the part of an arc that ribbons may take.
#: ``deep``: the control point of a ribbon of width w is at most 1 - deep * w from the centre, so
#: that it leaves its arc straight.
RIBBONS = {"from": 150, "numbered": 6, "widest": 0.26, "inward": 0.3, "full": 0.94, "deep": 2.2}
_TURN = 2 * np.pi
_THINNEST = 0.006  # radii


@dataclass(frozen=True)
class Ribbon:
    """All edits of one kind between two arcs.

    Attributes
    ----------
    kind : ``removed`` or ``added``.
    arcs : positions of the two arcs among those of the circle, ascending.
    n : number of edits.
    angles : where it meets each arc, in radians, clockwise from the top.
    width : in radii.
    """

    kind: str
    arcs: tuple[int, int]
    n: int
    angles: tuple[float, float]
    width: float

    @property
    def path(self) -> Points:
        """Start, control point and end of its curve on the unit circle."""
        curve: Points = controls(on_circle(np.array(self.angles)), [(0, 1)])[0]
        if self.arcs[0] == self.arcs[1]:
            curve[1] = on_circle(np.array([sum(self.angles) / 2]), RIBBONS["inward"])[0]
            return curve
        far = float(np.hypot(*curve[1]))
        curve[1] *= min(1.0, (1 - RIBBONS["deep"] * self.width) / max(far, 1e-9))
        return curve


def has_ribbons(scene: Scene, circle: Circle) -> bool:
    """Whether single edits would only make a tangle."""
    many = scene.n_removed + scene.n_added > RIBBONS["from"]
    return scene.has_regions and len(circle.groups) > 1 and many


def ribbons_of(scene: Scene, circle: Circle) -> tuple[Ribbon, ...]:
    """The ribbons of the edits of a scene, widest first, on one scale for all."""
    arcs = circle.groups
    arc = np.zeros(len(circle.angles), dtype=np.int64)
    for i, group in enumerate(arcs):
        arc[(circle.angles >= group.start) & (circle.angles <= group.end)] = i
    tally: Counter[tuple[str, int, int]] = Counter()
    for kind, pairs in (("removed", scene.removed), ("added", scene.added)):
        for u, v in pairs:
            a, b = sorted((int(arc[u]), int(arc[v])))
            tally[kind, a, b] += 1
    found = sorted(tally.items(), key=lambda item: -item[1])
    ends: list[list[tuple[int, int]]] = [[] for _ in arcs]  # per arc: ribbon, and which end
    for i, ((_, a, b), _) in enumerate(found):
        ends[a].append((i, 0))
        ends[b].append((i, 1))
    room = [
        RIBBONS["full"] * (g.end - g.start) / max(1, sum(found[i][1] for i, _ in here))
        for g, here in zip(arcs, ends, strict=True)
    ]
    scale = min(*room, RIBBONS["widest"] / max(1, found[0][1] if found else 1))
    angles = [[0.0, 0.0] for _ in found]
    for k, (group, here) in enumerate(zip(arcs, ends, strict=True)):

        def order(end: tuple[int, int], k: int = k) -> tuple[float, int]:
            """Those to the next arc leave at the near end, so that few ribbons cross."""
            i, side = end
            (kind, a, b), _ = found[i]
            if a == b:
                turn = -1.0 if side else _TURN + 1
            else:
                turn = (arcs[a if side else b].middle - arcs[k].middle + 2 * _TURN) % _TURN
            return -turn, (kind == "removed") * (-1 if side else 1)

        here.sort(key=order)
        wide = scale * sum(found[i][1] for i, _ in here)
        gap = (group.end - group.start - wide) / (len(here) + 1)
        at = group.start
        for i, end in here:
            half = found[i][1] * scale / 2
            angles[i][end] = at + gap + half
            at = angles[i][end] + half
    return tuple(
        Ribbon(kind, (a, b), n, (angles[i][0], angles[i][1]), max(_THINNEST, n * scale))
        for i, ((kind, a, b), n) in enumerate(found)
    )
