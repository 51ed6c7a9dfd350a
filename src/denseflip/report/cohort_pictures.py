"""Figures of a cohort: a matrix of signed effects, chords, and a strip of patients.

Blue means that more connections indicate the reference class, red that fewer do. Significant cells
are marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import combinations_with_replacement
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from denseflip.report.circle_drawing import write_outwards
from denseflip.report.palette import (
    ADDED,
    AXIS,
    INK,
    PALE,
    PAPER,
    QUIET,
    REMOVED,
    REMOVED_DASH,
    region_colours,
)
from denseflip.report.region_charts import (
    LETTER,
    LETTERS,
    POINT,
    draw_scale,
    draw_signed_matrix,
    layout_matrix,
    short_lines,
)

if TYPE_CHECKING:
    from denseflip.cohort.cohort import Cohort

_REGIONS, _FEW = 30, 14  # of a matrix, at most, and on a phone: those most used
_KEYED = 4  # regions from which the scale fits into the corner of a matrix
_CHORDS = 60
_CLIP = 2.5  # a scale of colours ends here, in upper quartiles of what it shows
_LEVEL, _NAMED = 16, 60  # regions up to which names lie level, and up to which all are written
Floats = npt.NDArray[np.float64]


def _check(cohort: Any) -> None:
    """Raise an error if this is not a cohort, or matplotlib is not installed."""
    from denseflip.cohort.cohort import Cohort

    if not isinstance(cohort, Cohort):
        msg = (
            "The figures of a cohort need the result of explain_cohort(dataset); got "
            f"{type(cohort).__name__}. For one graph use plot_connectome or plot_regions."
        )
        raise InvalidParameterError(msg)
    need("matplotlib")


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
    _check(cohort)
    shown = _shown_regions(cohort, _FEW if narrow else _REGIONS)
    names = [cohort.region_names[r] for r in shown]
    n = len(cohort.region_names)
    explained = max(1, cohort.observed.explained)
    more, fewer = np.array(cohort.observed.more), np.array(cohort.observed.fewer)
    used = _square(np.where(more >= fewer, more, -fewer) / explained, n, shown)
    counts = _square(np.maximum(more, fewer), n, shown)
    named = _square(_flags(cohort, cohort.named), n, shown)
    apart = _square(np.asarray(cohort.observed.difference), n, shown)
    clear = _square(_flags(cohort, cohort.differing), n, shown)
    spoken = cohort.class_names[cohort.spoken]
    largest = max(1e-9, float(np.abs(apart).max()))
    span = min(largest, _clip(apart))
    scaled = "t" if len(names) >= _KEYED else f"t, full colour from ±{span:.1f}"
    panels = (
        (used, counts, named, 1.0, f"decisions that depend on it, of {explained:,} {cohort.noun}"),
        (apart, None, clear, span, f"how the groups differ ({scaled})"),
    )
    text = f"Blue: more {cohort.units} indicate {spoken}, or {spoken} has more; red: fewer."
    if cohort.p_more is not None:
        text += f" Framed, with a dot: significant (level {cohort.level:g})."
    if span < largest:
        text += f" The colours of t end at ±{span:.1f}; the largest is {largest:.1f}."
    if len(shown) < n:
        text += f" The {len(shown)} most used of {n} regions."
    look = layout_matrix(names, narrow)
    gap = max(look.size + 0.5, 0.2 + 8.5 * LETTER * max(len(p[4]) for p in panels))
    width = NARROW if narrow else max(6.0, look.left + 2 * gap)
    step = look.size + 0.3 + look.low
    start = look.left if narrow else look.left + (width - look.left - 2 * gap) / 2
    body = (2 if narrow else 1) * step
    with _frame(cohort, title, text, width, body) as (figure, foot, height):
        for k, (values, numbers, marks, most, caption) in enumerate(panels):
            left = start if narrow else start + k * gap
            bottom = foot + look.low + ((1 - k) * step if narrow else 0.0)
            box = (left / width, bottom / height, look.size / width, look.size / height)
            ax = figure.add_axes(box)
            draw_signed_matrix(ax, values, numbers, marks, most, look, rows=narrow or not k)
            if numbers is None and len(names) >= _KEYED:
                draw_scale(ax, most, clipped=span < largest)
            if narrow:  # the matrices take the whole width
                place = (bottom + look.size + 0.1) / height
                figure.text(0.5, place, words(caption, 60), ha="center", fontsize=8.5)
            else:
                ax.set_title(words(caption, 90), fontsize=8.5, color=INK, loc="left")
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
    _check(cohort)
    from matplotlib.patches import PathPatch, Wedge
    from matplotlib.path import Path as Curve

    n = len(cohort.region_names)
    colours = region_colours(cohort.region_names)
    angles = 2 * np.pi * np.arange(n) / max(1, n)
    points = on_circle(angles)
    named = {(row.cell, row.direction) for row in cohort.named}
    rows = sorted(cohort.rows, key=lambda row: row.patients)[-_CHORDS:]
    most = max((row.patients for row in rows), default=1)
    ends = list(combinations_with_replacement(range(n), 2))
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
    texts, reach = _circle_names(names, width, n, narrow=narrow)
    up = _upward(texts, angles, width, reach, n)
    tall = width * up / reach
    with _frame(cohort, title, text, width, tall) as (figure, foot, height):
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
    return save_figure(figure, path, force=force)


# ---- helpers --------------------------------------------------------------------------------


@contextmanager
def _frame(
    cohort: Cohort,
    title: str | None,
    text: str,
    width: float,
    body: float,
    heads: tuple[float, float] = (0.45, 0.1),
) -> Iterator[tuple[Any, float, float]]:
    """A figure with headline and notes around a body; sizes are in inches.

    ``heads`` are the heights above the body with and without a title. Yields the figure, the
    height below the body, and the height of the figure.
    """
    with style():
        notes = note_lines(text, width)
        foot = 0.2 + 0.18 * len(notes)
        height = heads[title == ""] + body + foot
        figure = new_figure(width, height)
        about = f"{cohort.dataset}, {cohort.oracle}: what decisions depend on"
        write_headline(figure, f"{about}, number of {cohort.noun}" if title is None else title)
        yield figure, foot, height
        for k, line in enumerate(notes):
            place = (foot - 0.2 - 0.18 * k) / height
            figure.text(0.5, place, words(line), ha="center", fontsize=NOTE, color=QUIET)


def _flags(cohort: Cohort, rows: Iterable[Any]) -> Floats:
    """1 for the cells of these rows, else 0."""
    return np.isin(np.arange(len(cohort.cell_names)), [row.cell for row in rows]).astype(float)


def _clip(values: Floats) -> float:
    """Where a scale ends so that one large value does not make the others pale."""
    some = np.abs(values[values != 0])
    return max(1e-9, _CLIP * float(np.quantile(some, 0.75))) if len(some) else 1.0


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
    ends = list(combinations_with_replacement(range(n), 2))
    marked, used, apart = np.zeros(n), np.zeros(n), np.zeros(n)
    for row in (*cohort.named, *cohort.differing):
        marked[list(ends[row.cell])] = 1
    counts = np.add(cohort.observed.more, cohort.observed.fewer)
    for (a, b), count, gap in zip(ends, counts, cohort.observed.difference, strict=True):
        for r in {a, b}:
            used[r] += count
            apart[r] = max(apart[r], abs(gap))
    return sorted(np.lexsort((-apart, -used, -marked))[:most].tolist())


def _circle_names(
    names: Mapping[int, str], width: float, n: int, *, narrow: bool
) -> tuple[dict[int, str], float]:
    """Write names around the circle; return the extent that keeps all of them visible."""
    if n <= _LEVEL:
        letters, lines = (13, 3 if n <= 8 else 2) if narrow else (18, 3)
        texts = {
            r: "\n".join(map(words, short_lines(name, letters, lines))) for r, name in names.items()
        }
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
    if not level:
        write_outwards(ax, name, angle, 1.1, fontsize=7.5)
        return
    x, y = on_circle(np.array([angle]), 1.1)[0]
    # position of the corner nearest to the circle
    side = "center" if abs(x) < 0.12 else "left" if x > 0 else "right"
    up = "center" if abs(y) < 0.35 else "bottom" if y > 0 else "top"
    ax.text(x, y, name, fontsize=7.5, ha=side, va=up, linespacing=0.95)


_STRIPS = 12  # cells
_COLUMNS = 300  # patients; half of them on a phone


def plot_cohort_patients(
    cohort: Cohort,
    *,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    narrow: bool = False,
) -> Any:
    """Draw a strip of patients: which cells flip each, and whether the shared change does.

    One column per patient, classes side by side; one row per cell, most used first. Blue:
    connections are added to flip the answer; red: removed. Grey: misclassified. If there are many
    patients, an evenly spaced sample is drawn.

    Parameters
    ----------
    cohort, title, path, force, narrow : as in `plot_cohort_matrix`.
    """
    _check(cohort)
    from matplotlib.patches import Rectangle

    used = list(dict.fromkeys(row.cell for row in cohort.rows))
    cells = used[:_STRIPS]
    place = {cell: k for k, cell in enumerate(cells)}
    patients = sorted(
        cohort.observed.patients,
        key=lambda p: (p.label, min((place.get(c, 99) for c in p.changes), default=99), p.id),
    )
    total, most = len(patients), _COLUMNS // (2 if narrow else 1)
    if total > most:
        patients = [patients[i] for i in np.linspace(0, total - 1, most).round().astype(int)]
    flipped = {x for change in cohort.shared for half in change.halves for x in half.flipped}
    counted = {x for change in cohort.shared for half in change.halves for x in half.counted}
    labels = [cohort.cell_names[c] for c in cells] + ["the shared change"]
    letters = 36 if narrow else LETTERS + 12
    shown = [
        "\n".join(map(words, short_lines(name, 18, 2))) if narrow else words(name, letters)
        for name in labels
    ]
    across = NARROW if narrow else 9.0
    longest = max(len(line) for name in shown for line in name.split("\n"))
    size = 6.5 if narrow else 8
    margin = min(size * LETTER * longest + 0.25, 1.5 if narrow else 3.8)
    note = (
        "Blue: added; red, hatched: removed. Grey: misclassified. ● flipped by the shared change "
        "chosen on the other half, ○ not flipped."
    )
    if total > most:
        note += f" {most} of {total:,} {cohort.noun}, evenly sampled."
    if len(used) > len(cells):
        note += f" The {len(cells)} most used of {len(used)} region pairs."
    step = 0.28 if narrow else 0.24
    body, heads = step * len(labels), (0.7, 0.35)
    with _frame(cohort, title, note, across, body, heads) as (figure, foot, height):
        long = across - margin - 0.1
        box = (margin / across, foot / height, long / across, body / height)
        ax = figure.add_axes(box)
        n = max(1, len(patients))
        column = long / n * POINT  # points of a patient's width
        ax.add_patch(Rectangle((0, 0), n, len(labels), facecolor=PALE, lw=0))
        for x, patient in enumerate(patients):
            for cell, change in patient.changes.items() if patient.told else ():
                if cell in place:
                    colour = ADDED if change > 0 else REMOVED
                    ax.add_patch(
                        Rectangle(
                            (x, place[cell]), 1, 1, facecolor=colour, edgecolor=PAPER, lw=0,
                            hatch="" if change > 0 else "/////", gid="changed",
                        )
                    )  # fmt: skip
            if not patient.right:
                ax.add_patch(
                    Rectangle((x, 0), 1, len(cells), facecolor=AXIS, alpha=0.6, lw=0, gid="wrong")
                )
            if patient.id in counted:
                full = patient.id in flipped
                ax.plot(
                    x + 0.5, len(cells) + 0.5, marker="o", ms=max(0.6, min(3.2, 0.7 * column)),
                    color=INK, mfc=INK if full else PAPER, mew=min(0.7, 0.2 * column), zorder=5,
                )  # fmt: skip
        ax.hlines(range(len(labels) + 1), 0, n, color=PAPER, lw=0.8, zorder=3)
        ax.vlines(range(n + 1), 0, len(labels), color=PAPER, lw=min(0.6, 0.1 * column), zorder=3)
        ax.set_xlim(0, n)
        ax.set_ylim(len(labels), 0)
        ax.set_yticks([k + 0.5 for k in range(len(labels))], shown, fontsize=size, linespacing=0.95)
        ax.set_xticks([])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        start = 0
        for label, name in enumerate(cohort.class_names):
            size = sum(p.label == label for p in patients)
            if size:
                fits = max(4, int(size / n * long / (8.5 * LETTER)))
                ax.text(
                    start + size / 2, -0.25, words(name, min(24, fits)), ha="center", va="bottom",
                    fontsize=8.5,
                )  # fmt: skip
                start += size
                ax.axvline(start, color=AXIS, lw=0.8, zorder=4)
    return save_figure(figure, path, force=force)
