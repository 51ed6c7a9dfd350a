"""The colours of all pictures: one for what is removed, one for what is added, one per region.

Red and blue belong to the edits alone, so no region is given either. The two differ in lightness
and in dash as well, and so survive a grey print and most colour blindness.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Sequence

REMOVED = "#e0432f"  # red, the lighter of the two
ADDED = "#0b4a8f"  # blue, the darker of the two
REMOVED_DASH = (0, (3.2, 1.6))  # matplotlib's on-off form; added edges are solid
INK = "#1d1f24"
QUIET = "#5d6470"
BRAIN = "#aab0ba"
NODE = "#8b939d"  # nodes that belong to no region

_HUES = (
    "#e69f00",  # orange
    "#009e73",  # green
    "#b65fae",  # magenta
    "#8c5a2b",  # brown
    "#2fb5b5",  # teal
    "#d9c520",  # yellow
    "#6a4c93",  # violet
    "#7d8790",  # grey
    "#86b84c",  # leaf
    "#f2a69b",  # salmon
)
MARKERS = ("o", "s", "^", "D", "v", "P", "h", "X")
_SIDE = re.compile(
    r"^(?P<a>left|right|l|r)[\s_.-]+(?P<rest1>.+)$|^(?P<rest2>.+?)[\s_.,-]+\(?(?P<b>left|right|l|r)\)?$",
    re.IGNORECASE,
)


def split_side(name: str) -> tuple[str, str]:
    """A region's or node's name without its side, and the side: ``"L"``, ``"R"`` or ``""``.

    >>> split_side("left isocortex"), split_side("Insula_R"), split_side("Frontal Lobe")
    (('isocortex', 'L'), ('Insula', 'R'), ('Frontal Lobe', ''))
    """
    match = _SIDE.match(name.strip())
    if match is None:
        return name, ""
    side = (match["a"] or match["b"])[0].upper()
    return (match["rest1"] or match["rest2"]), side


def region_colours(regions: Sequence[str]) -> tuple[str, ...]:
    """One colour per region; the left and the right part of one structure share a hue.

    >>> region_colours(["Front", "Back"])
    ('#e69f00', '#009e73')
    """
    parts = [split_side(region) for region in regions]
    kinds = list(dict.fromkeys(base for base, _ in parts))
    hue = dict(zip(kinds, _hues(len(kinds)), strict=True))
    both = {b for b, s in parts if s == "L"} & {b for b, s in parts if s == "R"}
    return tuple(
        _shade(hue[base], 0.72) if side == "R" and base in both else hue[base]
        for base, side in parts
    )


def region_markers(n_regions: int) -> tuple[str, ...]:
    """One marker per region: colour is never the only difference."""
    return tuple(MARKERS[i % len(MARKERS)] for i in range(n_regions))


def _hues(count: int) -> list[str]:
    if count <= len(_HUES):
        return list(_HUES[:count])
    # Beyond the chosen ones: even steps round the circle, leaving out red and blue.
    colours = []
    for i in range(count):
        place = i / count * 225.0
        degrees = 25 + place if place < 165 else 95 + place
        light = (0.42, 0.58, 0.5)[i % 3]
        red, green, blue = colorsys.hls_to_rgb(degrees / 360, light, 0.6)
        colours.append(f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}")
    return colours


def _shade(colour: str, factor: float) -> str:
    levels = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(level * factor):02x}" for level in levels)
