"""Draw counts by region into given axes: bars and matrices."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.report.canvas import NARROW, words
from denseflip.report.palette import ADDED, AXIS, INK, PALE, PAPER, QUIET, REMOVED, ink_on
from denseflip.report.scene import Scene

BARS = 12  # maximum number of bars; the remaining regions are combined
REST = "all others"
LETTERS = 40  # of a region's name
SIGNED = (REMOVED, PALE, ADDED)  # colours from the lowest value to the highest
POINT = 72.0  # of an inch
PAD = 3.5  # points between an axis and its labels
_TURNED: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}  # names
LETTER = 0.0083  # inches of a letter's width, per point of its size


def bar_regions(scenes: Sequence[Scene], top: int, *, by_size: bool = False) -> list[int]:
    """Regions with a bar, largest share first; at most ``top``, including one for all others.

    Every scene has the same weight, regardless of its number of edits.
    """
    total = np.zeros(len(scenes[0].taxonomy.regions))
    for scene in scenes:
        ends = scene.ends / region_sizes(scene) if by_size else scene.ends
        total += ends / max(float(ends.sum()), 1e-12)
    order = [int(r) for r in np.argsort(-total, kind="stable") if total[r]]
    return order if len(order) <= top else order[: top - 1]


def bar_table(scene: Scene, regions: Sequence[int]) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Names and ends of removed and added pairs by region; all other regions combined last."""
    counts = np.stack([scene.cells.ends(pairs) for pairs in (scene.removed, scene.added)])
    names = [words(scene.taxonomy.regions[r], LETTERS) for r in regions]
    shown = counts[:, list(regions)]
    rest = counts.sum(axis=1) - shown.sum(axis=1)
    if rest.any():
        return [*names, REST], np.column_stack([shown, rest])
    return names, shown


def region_sizes(scene: Scene) -> npt.NDArray[np.int64]:
    """Number of nodes of each region."""
    return np.bincount(scene.taxonomy.index, minlength=len(scene.taxonomy.regions))


def bar_shares(
    scene: Scene, regions: Sequence[int], *, by_size: bool = False
) -> npt.NDArray[np.float64]:
    """Shares in percent of removed and added ends, in the order of `bar_table`.

    With ``by_size`` the ends of each region are first divided by its number of nodes.
    """
    counts = np.stack([scene.cells.ends(pairs) for pairs in (scene.removed, scene.added)])
    values = counts / region_sizes(scene) if by_size else counts.astype(np.float64)
    values = 100 * values / np.maximum(values.sum(axis=1, keepdims=True), 1e-12)
    shown: npt.NDArray[np.float64] = values[:, list(regions)]
    if counts.sum() == counts[:, list(regions)].sum():
        return shown
    return np.column_stack([shown, values.sum(axis=1) - shown.sum(axis=1)])


def draw_bars(
    ax: Any,
    scene: Scene,
    regions: Sequence[int],
    *,
    rows: int = 0,
    compact: bool = False,
    narrow: bool = False,
    by_size: bool = False,
) -> None:
    """Draw the paper's bars: the share of changed ends in each region, per kind of edit.

    With ``by_size`` it is the share of ends per node of the region, as in the paper. ``rows``
    reserves space for that number of bars, and ``compact`` shows the full scale of 100 %, so that
    bars side by side can be compared. ``narrow`` writes names above the bars.
    """
    names, counts = bar_table(scene, regions)
    if compact:
        names = [name if len(name) <= 24 else f"{name[:23].rstrip()} …" for name in names]
    places = np.arange(len(names))
    every = bar_shares(scene, regions, by_size=by_size)
    size = 7.8 if compact else 9.0
    small = size - 0.8 if compact else size - 1
    height = 0.26 if narrow else 0.36
    looks = (
        (0, "removed", REMOVED, "/////", -height / 2 - 0.01),
        (1, "added", ADDED, "", height / 2 + 0.01),
    )
    alone = (counts == 0).any(axis=0)  # only one kind of edit: centre its bar
    longest = 0.0
    for row, kind, colour, hatch, shift in looks:
        shares = every[row]
        longest = max(longest, float(shares.max(initial=0)))
        at = places + np.where(alone, 0.0, shift)
        bars = ax.barh(at, shares, height=height, color=colour, edgecolor=PAPER, hatch=hatch, lw=0)
        for bar in bars:
            bar.set_gid(f"bar-{kind}")
        for place, share, count in zip(at, shares, counts[row], strict=True):
            if count:
                text = f" {share:.0f} %" if compact else f" {share:.0f} %  ({count})"
                ax.text(share, place, text, va="center", fontsize=small, color=INK)
    ax.yaxis.set_visible(False)
    if narrow:
        for place, name in zip(places, names, strict=True):
            above = place - np.where(alone[place], 0.5, 1) * height - 0.06
            ax.text(0, above, name, va="bottom", fontsize=size)
    else:
        name_rows(ax, names, fontsize=size)
    ax.set_ylim(max(len(names), rows) - (0.6 if narrow else 0.45), -0.7 if narrow else -0.55)
    ax.set_xlim(0, 128 if compact else max(longest, 10) * (1.35 if narrow else 1.2))
    ax.set_xticks([0, 50, 100] if compact else [t for t in ax.get_xticks() if 0 <= t <= 100])
    ax.tick_params(axis="x", labelsize=small, color=AXIS)
    ax.spines[["top", "right", "left"]].set_visible(False)
    if not names:
        ax.text(0.5, 0.5, "no edits", transform=ax.transAxes, ha="center", color=QUIET)


def bar_handles(scene: Scene) -> list[Any]:
    """Legend entries for the bars."""
    from matplotlib.patches import Patch

    white: dict[str, Any] = {"edgecolor": PAPER, "lw": 0}
    removed = f"REM: {2 * scene.n_removed} ends of {scene.n_removed} removed edges"
    added = f"ADD: {2 * scene.n_added} ends of {scene.n_added} added edges"
    return [
        Patch(facecolor=REMOVED, hatch="/////", label=removed, **white),
        Patch(facecolor=ADDED, label=added, **white),
    ]


def touched_regions(scene: Scene, top: int) -> list[int]:
    """Regions with edits, in their own order; only the ``top`` with most if there are more."""
    busiest = [int(r) for r in np.argsort(-scene.ends, kind="stable") if scene.ends[r]]
    return sorted(busiest[:top])


def draw_matrix(
    ax: Any,
    counts: npt.NDArray[np.int64],
    names: list[str],
    *,
    kind: str,
    scale: int,
    rows: bool = True,
    narrow: bool = False,
) -> None:
    """Draw one kind of edit by region pair: the lower triangle, darker with more edits.

    ``narrow`` numbers the regions: rows have number and name, columns only the number.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    if not names:
        ax.set_axis_off()
        ax.text(0.5, 0.5, "no edits", transform=ax.transAxes, ha="center", color=QUIET)
        return
    colour = REMOVED if kind == "removed" else ADDED
    shades = LinearSegmentedColormap.from_list(kind, [PALE, colour])
    size = len(names)
    hidden = np.triu(np.ones((size, size), dtype=bool), 1)
    ax.imshow(
        np.ma.masked_array(counts, hidden), cmap=shades, vmin=0, vmax=max(scale, 1),
        aspect="auto" if narrow else "equal",
    )  # fmt: skip
    font = 8.0 if narrow else float(np.clip(100 / max(size, 1), 6.0, 9.0))
    _frame_cells(ax, size)
    for i in range(size):
        for j in range(i + 1):
            if counts[i, j]:
                ground = to_hex(shades(counts[i, j] / max(scale, 1)))
                ax.text(
                    j, i, f"{counts[i, j]}", ha="center", va="center", fontsize=font,
                    color=ink_on(ground),
                )  # fmt: skip
    for part in (ax.xaxis, ax.yaxis, *ax.spines.values()):
        part.set_visible(False)
    if narrow:
        name_columns(ax, [str(i + 1) for i in range(size)], fontsize=8)
        name_rows(ax, numbered(names), fontsize=8, linespacing=0.95)
    else:
        name_columns(ax, names, fontsize=8.5, **_TURNED)
        if rows:
            name_rows(ax, names, fontsize=8.5)


def name_rows(ax: Any, names: Sequence[str], **look: Any) -> None:
    """Write names where the labels of the y axis would be, at 0, 1, 2 …

    Labels of an axis come with three lines each, which take longer than the text.
    """
    place, va, ha = ax.get_yaxis_text1_transform(PAD)
    for y, name in enumerate(names):
        ax.text(0, y, name, transform=place, **{"va": va, "ha": ha} | look)


def name_columns(ax: Any, names: Sequence[str], **look: Any) -> None:
    """Write names where the labels of the x axis would be, at 0, 1, 2 …"""
    place, va, ha = ax.get_xaxis_text1_transform(PAD)
    for x, name in enumerate(names):
        ax.text(x, 0, name, transform=place, **{"va": va, "ha": ha} | look)


def short_lines(name: str, letters: int, most: int) -> list[str]:
    """Wrap a name into a few short lines."""
    lines = textwrap.wrap(" ".join(name.split()), letters) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1][: letters - 2].rstrip()} …"]
    return lines


def numbered(names: Sequence[str]) -> list[str]:
    """Names with their numbers, in at most two short lines.

    >>> numbered(["Frontal Lobe", "Insula & Cingulate Gyri"])
    ['Frontal Lobe  1', 'Insula & Cingulate\\nGyri  2']
    """
    return ["\n".join(short_lines(name, 18, 2)) + f"  {i}" for i, name in enumerate(names, 1)]


def _frame_cells(ax: Any, size: int) -> None:
    """Draw white lines around the cells of the lower triangle; one collection is fastest."""
    from matplotlib.collections import PolyCollection

    i, j = np.tril_indices(size)
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    squares = np.column_stack((j, i))[:, None, :] + corners
    frames = PolyCollection(squares, facecolors="none", edgecolors=PAPER, linewidths=1.2)
    ax.add_collection(frames, autolim=False)


# ---- signed values --------------------------------------------------------------------------


class MatrixLayout(NamedTuple):
    """Layout of a matrix in inches and points: its side, the left and lower margins, its names."""

    size: float
    left: float
    low: float
    cell: float
    rows: list[str]
    columns: list[str]
    font: float
    turned: bool


def layout_matrix(names: list[str], narrow: bool) -> MatrixLayout:
    """Lay out a matrix with these names; if ``narrow``, its columns are numbered."""
    n = max(1, len(names))
    if narrow:
        font, left = 6.5, 1.55
        size = NARROW - left - 0.2
        fitting = size / n * POINT > 2.1 * font  # two lines in a row
        rows = (
            numbered(names)
            if fitting
            else [f"{words(name, 18)}  {i + 1}" for i, name in enumerate(names)]
        )
        columns = [str(i + 1) for i in range(n)]
        return MatrixLayout(size, left, 0.35, size / n * POINT, rows, columns, font, False)
    cell = min(0.6, max(0.28, 2.4 / n)) if n <= 16 else 4.6 / n
    font = min(7.5, 0.8 * cell * POINT)
    shown = [words(name, LETTERS) for name in names]
    longest = font * LETTER * max(map(len, shown), default=1)
    turned = longest > cell - 0.05
    low = 0.66 * longest + 0.25 if turned else 0.3
    return MatrixLayout(cell * n, longest + 0.25, low, cell * POINT, shown, shown, font, turned)


def draw_signed_matrix(
    ax: Any,
    values: npt.NDArray[np.float64],
    numbers: npt.NDArray[np.float64] | None,
    marks: npt.NDArray[np.float64],
    most: float,
    look: MatrixLayout,
    *,
    rows: bool,
) -> None:
    """Draw the lower triangle: blue above 0, red below, full colour at ``most``, marks framed.

    ``numbers`` are written into their cells. ``rows`` names the rows, too.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_hex
    from matplotlib.patches import Rectangle

    both = LinearSegmentedColormap.from_list("signed", SIGNED)
    size, dot = len(values), max(1.5, min(4.0, 0.22 * look.cell))
    digits = max(1, len(f"{np.max(numbers, initial=0):.0f}")) if numbers is not None else 1
    font = min(7.5, 0.62 * look.cell, 1.1 * look.cell / digits)
    for i in range(size):
        for j in range(i + 1):
            value = float(values[i, j])
            ground = to_hex(both((1 + np.clip(value / most, -1, 1)) / 2))
            marked = bool(marks[i, j])
            ax.add_patch(
                Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, facecolor=ground, edgecolor=INK if marked else AXIS,
                    lw=min(1.4, 0.08 * look.cell) if marked else min(0.6, 0.04 * look.cell),
                    zorder=3 if marked else 2, gid="cell-marked" if marked else "cell",
                )
            )  # fmt: skip
            counted = numbers is not None and numbers[i, j] > 0
            if counted and numbers is not None:
                ax.text(
                    j, i, f"{numbers[i, j]:.0f}", ha="center", va="center_baseline",
                    fontsize=font, color=ink_on(ground), zorder=4,
                )  # fmt: skip
            if marked:
                x, y = (j + 0.33, i - 0.33) if counted else (j, i)
                ax.plot(x, y, "o", ms=dot, color=ink_on(ground), mew=0, zorder=4)
    ax.set_xlim(-0.55, size - 0.45)
    ax.set_ylim(size - 0.45, -0.55)
    turned = _TURNED if look.turned else {}
    ax.set_xticks(range(size), look.columns, fontsize=look.font, **turned)
    shown = look.rows if rows else [""] * size
    ax.set_yticks(range(size), shown, fontsize=look.font, linespacing=0.95)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def draw_scale(ax: Any, most: float, *, clipped: bool = False) -> None:
    """Draw the colours from ``-most`` to ``most`` into the empty corner of a triangular matrix.

    ``clipped`` says that there are values beyond.
    """
    from matplotlib.colors import LinearSegmentedColormap

    bar = ax.inset_axes((0.52, 0.93, 0.46, 0.045), gid="scale")
    colours = LinearSegmentedColormap.from_list("signed", SIGNED)
    bar.imshow(np.linspace(0, 1, 64)[None], cmap=colours, aspect="auto", extent=(-1, 1, 0, 1))
    low, high = ("≤ ", "≥ ") if clipped else ("", "")
    bar.set_xticks([-1, 0, 1], [f"{low}−{most:.1f}", "0", f"{high}{most:.1f}"], fontsize=6.5)
    bar.set_yticks([])
    bar.tick_params(length=0, pad=1.5)
    bar.spines[:].set(color=AXIS, linewidth=0.6)
