"""Figures of a cohort: a matrix of signed effects, and chords; `cohort_strip` shows patients.

Blue means that more connections indicate the reference class, red that fewer do. Significant cells
are marked.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidParameterError
from denseflip.report.canvas import (
    NARROW,
    NOTE,
    need,
    new_figure,
    note_lines,
    save_figure,
    style,
    words,
    write_headline,
)
from denseflip.report.circle import on_circle
from denseflip.report.palette import (
    ADDED,
    INK,
    PALE,
    PAPER,
    QUIET,
    REMOVED,
    REMOVED_DASH,
    ink_on,
    region_colours,
)
from denseflip.report.region_charts import LETTERS, numbered

if TYPE_CHECKING:
    from denseflip.cohort.cohort import Cohort

_REGIONS, _FEW = 30, 14  # of a matrix, at most, and on a phone: those most used
_CHORDS = 60
_LEVEL, _NAMED = 16, 60  # regions up to which names lie level, and up to which all are written
POINT = 72.0  # of an inch
LETTER = 0.0083  # inches of a letter's width, per point of its size
Floats = npt.NDArray[np.float64]


def check_cohort(cohort: Any) -> None:
    """Raise an error if this is not a cohort."""
    from denseflip.cohort.cohort import Cohort

    if not isinstance(cohort, Cohort):
        msg = (
            "The figures of a cohort need the result of explain_cohort(dataset); got "
            f"{type(cohort).__name__}. For one graph use plot_connectome or plot_regions."
        )
        raise InvalidParameterError(msg)


def plot_cohort_matrix(
    cohort: Cohort,
    *,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    narrow: bool = False,
) -> Any:
    """Draw what decisions depend on and how the groups differ, region by region.

    Left: the number of patients whose decision depends on a cell, blue if more connections indicate
    the class, red if fewer do. Right: how the densities of the groups differ. A frame and a dot
    mark significant cells. If there are many regions, only the most used are drawn, and a note says
    how many are left out.

    Parameters
    ----------
    cohort : the result of `explain_cohort`.
    title, path, force : as in `plot_connectome`.
    narrow : lay it out for a phone: the two matrices one above the other.

    Returns
    -------
    matplotlib.figure.Figure
    """
    check_cohort(cohort)
    need("matplotlib")
    shown = _shown_regions(cohort, _FEW if narrow else _REGIONS)
    names = [cohort.region_names[r] for r in shown]
    n = len(cohort.region_names)
    explained = max(1, cohort.observed.explained)
    more, fewer = np.array(cohort.observed.more), np.array(cohort.observed.fewer)
    used = _square(np.where(more >= fewer, more, -fewer) / explained, n, shown)
    counts = _square(np.maximum(more, fewer), n, shown)
    named = _square(_flags(cohort, {row.cell for row in cohort.named}), n, shown)
    apart = _square(np.asarray(cohort.observed.difference), n, shown)
    clear = _square(_flags(cohort, {row.cell for row in cohort.differing}), n, shown)
    spoken = cohort.class_names[cohort.spoken]
    panels = (
        (used, counts, named, 1.0, f"decisions that depend on it, of {explained:,} {cohort.noun}"),
        (apart, None, clear, max(1e-9, float(np.abs(apart).max())), "how the groups differ (t)"),
    )
    text = f"Blue: more {cohort.units} indicate {spoken}, or {spoken} has more; red: fewer."
    if cohort.p_more is not None:
        text += f" Framed, with a dot: significant (level {cohort.level:g})."
    if len(shown) < n:
        text += f" The {len(shown)} most used of {n} regions."
    with style():
        look = _look(names, narrow)
        gap = max(look.size + 0.5, 0.2 + 8.5 * LETTER * max(len(p[4]) for p in panels))
        width = NARROW if narrow else max(6.0, look.left + 2 * gap)
        notes = note_lines(text, width)
        head, foot = (0.45 if title != "" else 0.1), 0.2 + 0.18 * len(notes)
        step = look.size + 0.3 + look.low
        figure = new_figure(width, height := head + foot + (2 if narrow else 1) * step)
        write_headline(figure, title if title is not None else cohort_title(cohort))
        start = look.left if narrow else look.left + (width - look.left - 2 * gap) / 2
        for k, (values, numbers, marks, most, caption) in enumerate(panels):
            left = start if narrow else start + k * gap
            bottom = foot + look.low + ((1 - k) * step if narrow else 0.0)
            box = (left / width, bottom / height, look.size / width, look.size / height)
            ax = figure.add_axes(box)
            _draw_matrix(ax, values, numbers, marks, most, look, rows=narrow or not k)
            if narrow:  # the matrices take the whole width
                place = (bottom + look.size + 0.1) / height
                figure.text(0.5, place, words(caption, 60), ha="center", fontsize=8.5)
            else:
                ax.set_title(words(caption, 90), fontsize=8.5, color=INK, loc="left")
        write_notes(figure, notes, foot)
    return save_figure(figure, path, force=force)


def plot_cohort_chords(
    cohort: Cohort,
    *,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    narrow: bool = False,
) -> Any:
    """Draw the cells that decisions depend on as chords; the width is the number of patients.

    Significant cells are in full colour, the others are faint. A loop is a cell within one region.
    If there are many regions, only those with a chord are named.

    Parameters
    ----------
    cohort, title, path, force, narrow : as in `plot_cohort_matrix`.
    """
    check_cohort(cohort)
    need("matplotlib")
    from matplotlib.patches import PathPatch, Wedge
    from matplotlib.path import Path as Curve

    n = len(cohort.region_names)
    colours = region_colours(cohort.region_names)
    angles = 2 * np.pi * np.arange(n) / max(1, n)
    points = on_circle(angles)
    named = {(row.cell, row.direction) for row in cohort.named}
    rows = sorted(cohort.rows, key=lambda row: row.patients)[-_CHORDS:]
    most = max((row.patients for row in rows), default=1)
    ends = _cell_ends(n)
    width = NARROW if narrow else 4.6 if n <= 4 else 6.4
    text = (
        f"Width: {cohort.noun} whose decision depends on it (widest {most:,} of "
        f"{cohort.observed.explained:,}). Blue, solid: more {cohort.units} indicate "
        f"{cohort.class_names[cohort.spoken]}; red, dashed: fewer. "
    )
    text += (
        "There are no p-values: all are faint."
        if cohort.p_more is None
        else "Faint: not significant."
    )
    if len(cohort.rows) > len(rows):
        text += f" The {len(rows)} most used of {len(cohort.rows)}."
    touched = {r for row in rows for r in ends[row.cell]}
    called = range(n) if n <= (_FEW if narrow else _NAMED) else sorted(touched)
    names = {r: cohort.region_names[r] for r in called}
    with style():
        note = note_lines(text, width)
        texts, reach = _circle_names(names, width, n, narrow=narrow)
        up = _upward(texts, angles, width, reach, n)
        tall = width * up / reach
        head, foot = (0.45 if title != "" else 0.1), 0.2 + 0.18 * len(note)
        height = tall + head + foot
        figure = new_figure(width, height)
        write_headline(figure, title if title is not None else cohort_title(cohort))
        ax = figure.add_axes((0, foot / height, 1, tall / height))
        ax.set_axis_off()
        ax.set_aspect("equal")
        spread = min(0.4, 0.6 * np.pi / max(1, n) + 0.08)
        for row in rows:
            a, b = ends[row.cell]
            more = row.direction == "more"
            if a == b:
                side = [on_circle(angles[[a]] + way, 0.5)[0] for way in (spread, -spread)]
                corners = [0.96 * points[a], *side, 0.96 * points[a]]
                codes = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]
            else:
                corners = [0.96 * points[a], (0.0, 0.0), 0.96 * points[b]]
                codes = [Curve.MOVETO, Curve.CURVE3, Curve.CURVE3]
            bold = (row.cell, row.direction) in named
            chord = PathPatch(
                Curve(corners, codes),
                fill=False,
                edgecolor=ADDED if more else REMOVED,
                linestyle="solid" if more else REMOVED_DASH,
                lw=0.6 + (4.0 if narrow else 7.0) * row.patients / most,
                alpha=0.9 if bold else 0.3,
                zorder=3 if bold else 2,
            )
            chord.set_gid(f"chord-{row.direction}{'-named' if bold else ''}")
            ax.add_patch(chord)
        half = 180 / max(1, n)
        for r in range(n):
            middle = 90 - np.degrees(angles[r])
            span = max(half - min(0.15 * half, 2.0), 1.0)
            ax.add_patch(
                Wedge(
                    (0, 0), 1.05, middle - span, middle + span, width=0.06, color=colours[r], lw=0
                )
            )
        for r, name in texts.items():
            _name_region(ax, name, float(angles[r]), level=n <= _LEVEL)
        ax.set_xlim(-reach, reach)
        ax.set_ylim(-up, up)
        write_notes(figure, note, foot)
    return save_figure(figure, path, force=force)


# ---- helpers --------------------------------------------------------------------------------


def cohort_title(cohort: Cohort) -> str:
    """The headline of a figure."""
    return f"{cohort.dataset}, {cohort.oracle}: what decisions depend on, number of {cohort.noun}"


def write_notes(figure: Any, lines: Sequence[str], foot: float) -> None:
    """Write lines below a figure; the margin is given in inches."""
    height = figure.get_figheight()
    for k, line in enumerate(lines):
        place = (foot - 0.2 - 0.18 * k) / height
        figure.text(0.5, place, words(line), ha="center", fontsize=NOTE, color=QUIET)


def short_lines(name: str, letters: int, most: int) -> list[str]:
    """Wrap a name into a few short lines for matplotlib."""
    lines = textwrap.wrap(" ".join(name.split()), letters) or [""]
    if len(lines) > most:
        lines = [*lines[: most - 1], f"{lines[most - 1][: letters - 2].rstrip()} …"]
    return [words(line) for line in lines]


def _cell_ends(n: int) -> list[tuple[int, int]]:
    a, b = np.triu_indices(n)
    return list(zip(a.tolist(), b.tolist(), strict=True))


def _flags(cohort: Cohort, cells: set[int]) -> Floats:
    return np.array([float(c in cells) for c in range(len(cohort.cell_names))])


def _square(values: Any, n: int, shown: list[int]) -> Floats:
    out = np.zeros((n, n))
    a, b = np.triu_indices(n)
    out[a, b] = out[b, a] = values
    return out[np.ix_(shown, shown)]


def _shown_regions(cohort: Cohort, most: int) -> list[int]:
    """All regions; or, if too many, the significant, then the most used, then the most unlike."""
    n = len(cohort.region_names)
    if n <= most:
        return list(range(n))
    ends = _cell_ends(n)
    marked, used, apart = np.zeros(n), np.zeros(n), np.zeros(n)
    for row in (*cohort.named, *cohort.differing):
        marked[list(ends[row.cell])] = 1
    counts = np.add(cohort.observed.more, cohort.observed.fewer)
    for (a, b), count, gap in zip(ends, counts, cohort.observed.difference, strict=True):
        for r in {a, b}:
            used[r] += count
            apart[r] = max(apart[r], abs(gap))
    return sorted(np.lexsort((-apart, -used, -marked))[:most].tolist())


class _Look(NamedTuple):
    """Layout of a matrix in inches and points: its side, the left and lower margins, its names."""

    size: float
    left: float
    low: float
    cell: float
    rows: list[str]
    columns: list[str]
    font: float
    turned: bool


def _look(names: list[str], narrow: bool) -> _Look:
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
        return _Look(size, left, 0.35, size / n * POINT, rows, columns, font, False)
    cell = min(0.6, max(0.28, 2.4 / n)) if n <= 16 else 4.6 / n
    font = min(7.5, 0.8 * cell * POINT)
    shown = [words(name, LETTERS) for name in names]
    longest = font * LETTER * max(map(len, shown), default=1)
    turned = longest > cell - 0.05
    low = 0.66 * longest + 0.25 if turned else 0.3
    return _Look(cell * n, longest + 0.25, low, cell * POINT, shown, shown, font, turned)


def _draw_matrix(
    ax: Any,
    values: Floats,
    numbers: Floats | None,
    marks: Floats,
    most: float,
    look: _Look,
    *,
    rows: bool,
) -> None:
    from matplotlib.colors import LinearSegmentedColormap, to_hex
    from matplotlib.patches import Rectangle

    blue = LinearSegmentedColormap.from_list("more", [PALE, ADDED])
    red = LinearSegmentedColormap.from_list("fewer", [PALE, REMOVED])
    size, dot = len(values), max(1.5, min(4.0, 0.22 * look.cell))
    digits = max(1, len(f"{np.max(numbers, initial=0):.0f}")) if numbers is not None else 1
    font = min(7.5, 0.62 * look.cell, 1.1 * look.cell / digits)
    for i in range(size):
        for j in range(i + 1):
            value = float(values[i, j])
            ground = to_hex((blue if value >= 0 else red)(min(1.0, abs(value) / most)))
            marked = bool(marks[i, j])
            ax.add_patch(
                Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, facecolor=ground, edgecolor=INK if marked else PAPER,
                    lw=min(1.4, 0.08 * look.cell) if marked else min(1.0, 0.05 * look.cell),
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
    turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if look.turned else {}
    ax.set_xticks(range(size), look.columns, fontsize=look.font, **turned)
    shown = look.rows if rows else [""] * size
    ax.set_yticks(range(size), shown, fontsize=look.font, linespacing=0.95)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _circle_names(
    names: Mapping[int, str], width: float, n: int, *, narrow: bool
) -> tuple[dict[int, str], float]:
    """Write names around the circle; return the extent that keeps all of them visible."""
    if n <= _LEVEL:
        letters, lines = (13, 3 if n <= 8 else 2) if narrow else (18, 3)
        texts = {r: "\n".join(short_lines(name, letters, lines)) for r, name in names.items()}
    else:
        texts = {r: words(name, 14 if narrow else 26) for r, name in names.items()}
    longest = max((len(line) for text in texts.values() for line in text.split("\n")), default=1)
    room = width / 2 - 7.5 * LETTER * longest - 0.05
    return texts, max(1.2, 1.12 * (width / 2) / max(0.4, room))


def _upward(texts: Mapping[int, str], angles: Floats, width: float, reach: float, n: int) -> float:
    """Vertical extent of the figure; horizontal names need less space there."""
    if n > _LEVEL:
        return reach
    lines = max((text.count("\n") + 1 for text in texts.values()), default=1)
    return 1.15 + 0.16 * lines * reach / (width / 2)


def _name_region(ax: Any, name: str, angle: float, *, level: bool) -> None:
    x, y = on_circle(np.array([angle]), 1.1)[0]
    if level:  # position of the corner nearest to the circle
        side = "center" if abs(x) < 0.12 else "left" if x > 0 else "right"
        up = "center" if abs(y) < 0.35 else "bottom" if y > 0 else "top"
        ax.text(x, y, name, fontsize=7.5, ha=side, va=up, linespacing=0.95)
        return
    turn = 90 - float(np.degrees(angle))
    flipped = x < -1e-9
    ax.text(
        x, y, name, fontsize=7.5, rotation=turn + (180 if flipped else 0),
        rotation_mode="anchor", ha="right" if flipped else "left", va="center",
    )  # fmt: skip
