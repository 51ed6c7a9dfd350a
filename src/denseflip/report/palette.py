"""All colours of static and interactive figures, of pages and their styles.

Colours are defined only here. Red and blue are reserved for edits, so no region gets either. The
two also differ in lightness and in dash, so they can be told apart in grey print and with most
colour blindness. Pages and figures have a white background, as print has.
"""

from __future__ import annotations

import colorsys
import re
from collections.abc import Mapping, Sequence

# ---- colours with a meaning ---------------------------------------------------------------

REMOVED = "#e0432f"  # red, the lighter of the two
ADDED = "#0b4a8f"  # blue, the darker of the two
REMOVED_INK = "#b92f1d"  # red for text: darker, because letters are thin
REMOVED_DASH = (0, (3.2, 1.6))  # matplotlib's on-off form; added edges are solid
MEASURED = "#2a7f78"  # marks of measures: neither edits nor classes
CLASSES = ("#6b7280", "#6a3fa0")  # the two classes, grey and violet: red and blue are edits
RANGE = "#e2e6ec"  # the interval of a reference group

# ---- ink and paper ------------------------------------------------------------------------

PAPER = "#ffffff"
INK = "#1d1f24"
NOTE = "#43494f"  # secondary text
QUIET = "#5d6470"  # tertiary text
AXIS = "#b9bec7"  # axes, and edges of buttons
GRID = "#e3e7ec"  # lines behind marks
BRAIN = "#aab0ba"  # the outline of a glass brain
NODE = "#8b939d"  # nodes that belong to no region
PALE = "#f6f7f9"  # a matrix cell without edits

PAGE = {  # the custom properties of every page: --ink, --quiet, …
    "paper": PAPER,
    "paper-clear": f"{PAPER}00",
    "ink": INK,
    "note": NOTE,
    "quiet": QUIET,
    "axis": AXIS,
    "line": "#d9dde3",
    "hair": "#eceff3",
    "soft": "#f4f6f8",
    "hover": "#eef1f5",
    "control": "#8d94a0",
    "focus": "#2a6fdb",
    "shadow": f"{INK}40",
    "shadow-clear": f"{INK}00",
    "removed-ink": REMOVED_INK,
    "removed": REMOVED,
    "added": ADDED,
    "glass": "#6f7a88",
    "good": "#1a6b43",
    "good-line": "#3d9a6a",
    "good-edge": "#8fc4a8",
    "good-back": "#eaf6ef",
    "listed": "#6b4a00",
    "warning-line": "#c98a00",
    "warning-back": "#fff8e6",
    "class-1": CLASSES[0],
    "class-2": CLASSES[1],
    "range": RANGE,
}
LETTERS = {  # of the app, on coloured cells: one of the two always has a contrast of 4.5:1
    "dark-letters": "#000000",
    "light-letters": "#ffffff",
}
DARK = {  # the same in dark mode
    **PAGE,
    "paper": "#14171c",
    "paper-clear": "#14171c00",
    "ink": "#eceff3",
    "note": "#cdd3da",
    "quiet": "#a9b1bc",
    "axis": "#5b6470",
    "line": "#39414c",
    "hair": "#272d36",
    "soft": "#1d222a",
    "hover": "#252b35",
    "control": "#7d8793",
    "focus": "#7fb0ff",
    "removed-ink": "#ff9c8c",
    "removed": "#ff7a66",
    "added": "#7db4ff",
    "good": "#7fd6a6",
    "good-line": "#3d9a6a",
    "good-edge": "#3d7a59",
    "good-back": "#15291f",
    "listed": "#f0c36a",
    "warning-line": "#c98a00",
    "warning-back": "#2c2412",
    "glass": "#9aa7b8",
    "class-1": "#98a2b0",
    "class-2": "#cfaef7",
    "range": "#333c48",
}

# ---- regions ------------------------------------------------------------------------------

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
_GRAPHIC = 3.0  # the contrast that WCAG requires for graphics
MARKERS = ("o", "s", "^", "D", "v", "P", "h", "X")
_SIDE = re.compile(
    r"^(?P<a>left|right|l|r)[\s_.-]+(?P<rest1>.+)$|^(?P<rest2>.+?)[\s_.,-]+\(?(?P<b>left|right|l|r)\)?$",
    re.IGNORECASE,
)


def _listed(colours: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


def css_variables() -> str:
    """The page's colours as custom properties, in light and dark mode; print stays white.

    >>> css_variables()[:24]
    ':root { --paper: #ffffff'
    """
    dark = f":root {{ color-scheme: dark; {_listed(DARK)} }}"
    return (
        f":root {{ {_listed(PAGE)} }}\n@media screen and (prefers-color-scheme: dark) {{ {dark} }}"
    )


def app_variables() -> str:
    """The colours of the app as custom properties, in light and dark mode.

    >>> app_variables().count(":root")
    2
    """
    return (
        f":root {{ color-scheme: light; {_listed(PAGE | LETTERS)} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {_listed(DARK)} }}\n"
    )


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours as defined by WCAG, from 1 to 21.

    >>> round(contrast(INK, PAPER), 1), contrast(PAPER, PAPER)
    (16.5, 1.0)
    """
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def ink_on(ground: str) -> str:
    """Ink or paper, whichever has the higher contrast on this background."""
    return max((INK, PAPER), key=lambda ink: contrast(ink, ground))


def _luminance(colour: str) -> float:
    shares = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


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


def on_dark(colour: str) -> str:
    """The colour, lightened as needed for a contrast of 3:1 with the dark background.

    >>> on_dark("#e69f00"), on_dark("#4c376a")
    ('#e69f00', '#6e5d86')
    """
    levels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    while contrast(colour, DARK["paper"]) < _GRAPHIC:
        levels = [min(255, round(level + 0.1 * (255 - level))) for level in levels]
        colour = "#" + "".join(f"{level:02x}" for level in levels)
    return colour


def region_markers(n_regions: int) -> tuple[str, ...]:
    """One marker per region: colour is never the only difference."""
    return tuple(MARKERS[i % len(MARKERS)] for i in range(n_regions))


def _hues(count: int) -> list[str]:
    if count <= len(_HUES):
        return list(_HUES[:count])
    # Further colours: even steps around the hue circle, without red and blue.
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
