"""Pictures of a cohort: cells with signed effect and marks, chords, and a strip of patients.

Blue is where more connections speak for the class that is spoken of, red where fewer do; a mark
stands where that is more than chance would give.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

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
from denseflip.report.charts import LETTERS, numbered
from denseflip.report.circle import on_circle
from denseflip.report.palette import (
    ADDED,
    AXIS,
    INK,
    PALE,
    PAPER,
    QUIET,
    REMOVED,
    REMOVED_DASH,
    ink_on,
    region_colours,
)

if TYPE_CHECKING:
    from denseflip.cohort.cohort import Cohort

MARK = "●"
_REGIONS = 30  # of a matrix, at most: those most used
_CHORDS = 60
_STRIPS = 12  # cells of the strip
Floats = npt.NDArray[np.float64]


def plot_cohort_matrix(
    cohort: Cohort,
    *,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    narrow: bool = False,
) -> Any:
    """Draw what decides and where the groups differ, region by region.

    On the left in how many patients a cell is what decides, blue where more connections speak for
    the class, red where fewer do; on the right how the groups' densities differ. A dot marks what
    is more than chance would give, a frame what is named.

    Parameters
    ----------
    cohort : what `explain_cohort` gave.
    title, path, force : as in `plot_connectome`.
    narrow : for the width of a phone: the two matrices one above the other.

    Returns
    -------
    matplotlib.figure.Figure
    """
    need("matplotlib")
    shown = _shown_regions(cohort)
    names = [cohort.region_names[r] for r in shown]
    n = len(cohort.region_names)
    explained = max(1, cohort.observed.explained)
    used = _square((cohort.observed.more - cohort.observed.fewer) / explained, n, shown)
    counts = _square(np.maximum(cohort.observed.more, cohort.observed.fewer), n, shown)
    named = _square(_flags(cohort, {row.cell for row in cohort.named}), n, shown)
    apart = _square(np.asarray(cohort.observed.difference), n, shown)
    clear = _square(_flags(cohort, {row.cell for row in cohort.differing}), n, shown)
    spoken = cohort.class_names[cohort.spoken]
    panels = (
        (used, counts, named, 1.0, f"{cohort.noun} in whom it decides, of {explained}"),
        (apart, None, clear, max(1e-9, float(np.abs(apart).max())), "difference of the groups (t)"),
    )
    size = 0.28 * len(names) + 0.3
    label = min(0.075 * max(map(len, names), default=1), 2.4) + 0.2
    with style():
        notes = note_lines(
            f"Blue: more speak for {spoken}, or {spoken} has more; red: fewer. {MARK}: more than "
            f"chance would give (level {cohort.level:g}).",
            NARROW if narrow else 8,
        )
        head = 0.45 if title != "" else 0.1
        foot = 0.15 + 0.18 * len(notes)
        low = 0.35 if narrow else label * 0.75 + 0.1
        if narrow:
            size = max(1.2, NARROW - 1.75)
            width, height = NARROW, head + foot + 2 * (size + 0.3 + low)
        else:
            width, height = label + 2 * size + 0.9, head + 0.25 + size + low + foot
            width = max(width, 6.0)
        figure = new_figure(width, height)
        write_headline(figure, title if title is not None else _title(cohort))
        for k, (values, numbers, marks, most, caption) in enumerate(panels):
            left = 1.55 if narrow else label + k * (size + 0.5)
            bottom = foot + low + ((1 - k) * (size + 0.3 + low) if narrow else 0.0)
            box = (left / width, bottom / height, size / width, size / height)
            ax = figure.add_axes(box)
            _draw_matrix(
                ax, values, numbers, marks, most, names, rows=narrow or not k, narrow=narrow
            )
            ax.set_title(words(caption, 60), fontsize=8.5, color=INK)
        for k, line in enumerate(notes):
            place = (foot - 0.17 - 0.18 * k) / height
            figure.text(0.5, place, words(line), ha="center", fontsize=NOTE, color=QUIET)
    return save_figure(figure, path, force=force)


def plot_cohort_chords(
    cohort: Cohort,
    *,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    narrow: bool = False,
) -> Any:
    """Draw the cells that decide as chords between regions, as wide as they have patients.

    What is named stands in full colour, the rest is faint. A region by itself is a loop.

    Parameters
    ----------
    cohort, title, path, force, narrow : as in `plot_cohort_matrix`.
    """
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
    width = NARROW if narrow else 6.4
    with style():
        note = note_lines(
            f"Width: {cohort.noun} in whom it decides (widest {most} of "
            f"{cohort.observed.explained}). Blue, solid: more {cohort.units} speak for "
            f"{cohort.class_names[cohort.spoken]}; red, dashed: fewer. Faint: no more than chance "
            "would give."
            if cohort.p_more is not None
            else f"Width: {cohort.noun} in whom it decides. There are no p-values.",
            width,
        )
        head, foot = (0.45 if title != "" else 0.1), 0.15 + 0.18 * len(note)
        height = width + head + foot
        figure = new_figure(width, height)
        write_headline(figure, title if title is not None else _title(cohort))
        ax = figure.add_axes((0, foot / height, 1, width / height))
        ax.set_axis_off()
        ax.set_aspect("equal")
        for row in rows:
            a, b = ends[row.cell]
            more = row.direction == "more"
            if a == b:
                side = (
                    on_circle(angles[[a]] + 0.16, 0.62)[0],
                    on_circle(angles[[a]] - 0.16, 0.62)[0],
                )
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
                lw=0.6 + (4.5 if narrow else 7.0) * row.patients / most,
                alpha=0.9 if bold else 0.3,
                zorder=3 if bold else 2,
            )
            chord.set_gid(f"chord-{row.direction}{'-named' if bold else ''}")
            ax.add_patch(chord)
        half = 180 / max(1, n)
        for r in range(n):
            middle = 90 - np.degrees(angles[r])
            span = max(half * 0.85, 1.0)
            ax.add_patch(
                Wedge(
                    (0, 0), 1.05, middle - span, middle + span, width=0.06, color=colours[r], lw=0
                )
            )
            _name_region(ax, cohort.region_names[r], float(angles[r]), letters=12 if narrow else 26)
        reach = 1.75 if narrow else 1.85
        ax.set_xlim(-reach, reach)
        ax.set_ylim(-reach, reach)
        for k, line in enumerate(note):
            place = (foot - 0.17 - 0.18 * k) / height
            figure.text(0.5, place, words(line), ha="center", fontsize=NOTE, color=QUIET)
    return save_figure(figure, path, force=force)


def plot_cohort_patients(
    cohort: Cohort,
    *,
    title: str | None = None,
    path: str | Path | None = None,
    force: bool = False,
    narrow: bool = False,
) -> Any:
    """Draw a strip of patients: who is flipped by what, and whom the shared change flips.

    One column per patient, classes side by side; a row per cell, most used first. Blue: there
    connections are added for the answer to change, red: removed. Hatched: wrongly classified.

    Parameters
    ----------
    cohort, title, path, force, narrow : as in `plot_cohort_matrix`.
    """
    need("matplotlib")
    from matplotlib.patches import Rectangle

    cells = list(dict.fromkeys(row.cell for row in cohort.rows))[:_STRIPS]
    place = {cell: k for k, cell in enumerate(cells)}
    patients = sorted(
        cohort.observed.patients,
        key=lambda p: (p.label, min((place.get(c, 99) for c in p.changes), default=99), p.id),
    )
    flipped = {x for change in cohort.shared for half in change.halves for x in half.flipped}
    counted = {x for change in cohort.shared for half in change.halves for x in half.counted}
    labels = [cohort.cell_names[c] for c in cells] + ["the shared change"]
    across = NARROW if narrow else 9.0
    margin = 1.35 if narrow else min(0.075 * max(map(len, labels)), 3.6) + 0.2
    with style():
        step = 0.24
        head, foot = (0.7 if title != "" else 0.35), 0.45
        height = head + step * len(labels) + foot
        figure = new_figure(across, height)
        write_headline(figure, title if title is not None else _title(cohort))
        box = (
            margin / across,
            foot / height,
            1 - (margin + 0.1) / across,
            step * len(labels) / height,
        )
        ax = figure.add_axes(box)
        for x, patient in enumerate(patients):
            for y in range(len(labels)):
                ax.add_patch(Rectangle((x, y), 1, 1, facecolor=PALE, edgecolor=PAPER, lw=0.6))
            for cell, change in patient.changes.items() if patient.told else ():
                if cell in place:
                    colour = ADDED if change > 0 else REMOVED
                    hatch = "" if change > 0 else "/////"
                    ax.add_patch(
                        Rectangle(
                            (x, place[cell]), 1, 1, facecolor=colour, edgecolor=PAPER, lw=0.6,
                            hatch=hatch, gid="changed",
                        )
                    )  # fmt: skip
            if not patient.right:
                ax.add_patch(
                    Rectangle(
                        (x, 0), 1, len(cells), facecolor="none", edgecolor=AXIS, lw=0, hatch="xxx",
                        gid="wrong",
                    )
                )  # fmt: skip
            if patient.id in counted:
                full = patient.id in flipped
                ax.plot(
                    x + 0.5, len(cells) + 0.5, marker="o", ms=3.2, color=INK,
                    mfc=INK if full else PAPER, mew=0.7,
                )  # fmt: skip
        ax.set_xlim(0, max(1, len(patients)))
        ax.set_ylim(len(labels), 0)
        ax.set_yticks(
            [k + 0.5 for k in range(len(labels))],
            [words(name, 18 if narrow else LETTERS + 12) for name in labels],
            fontsize=7 if narrow else 8,
        )
        ax.set_xticks([])
        ax.tick_params(length=0)
        for spine in ax.spines.values():
            spine.set_visible(False)
        start = 0
        for label, name in enumerate(cohort.class_names):
            size = sum(p.label == label for p in patients)
            if size:
                ax.text(
                    start + size / 2, -0.25, words(name, 24), ha="center", va="bottom", fontsize=8.5
                )
                start += size
                ax.axvline(start, color=AXIS, lw=0.8)
        note = "Blue: added, red: removed there; crossed: wrongly classified; ●: flipped, unseen."
        figure.text(
            0.5, 0.12 / height, words(note), ha="center", fontsize=6.5 if narrow else NOTE,
            color=QUIET,
        )  # fmt: skip
    return save_figure(figure, path, force=force)


# ---- helpers --------------------------------------------------------------------------------


def _title(cohort: Cohort) -> str:
    return f"{cohort.dataset}, {cohort.oracle}: what decides, in how many {cohort.noun}"


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


def _shown_regions(cohort: Cohort) -> list[int]:
    n = len(cohort.region_names)
    if n <= _REGIONS:
        return list(range(n))
    total = np.zeros(n)
    for (a, b), count in zip(
        _cell_ends(n), cohort.observed.more + cohort.observed.fewer, strict=True
    ):
        total[a] += count
        total[b] += count
    return sorted(np.argsort(-total, kind="stable")[:_REGIONS].tolist())


def _draw_matrix(
    ax: Any,
    values: Floats,
    numbers: Floats | None,
    marks: Floats,
    most: float,
    names: list[str],
    *,
    rows: bool,
    narrow: bool,
) -> None:
    from matplotlib.colors import LinearSegmentedColormap, to_hex
    from matplotlib.patches import Rectangle

    blue = LinearSegmentedColormap.from_list("more", [PALE, ADDED])
    red = LinearSegmentedColormap.from_list("fewer", [PALE, REMOVED])
    size = len(names)
    for i in range(size):
        for j in range(i + 1):
            value = float(values[i, j])
            ground = to_hex((blue if value >= 0 else red)(min(1.0, abs(value) / most)))
            marked = bool(marks[i, j])
            ax.add_patch(
                Rectangle(
                    (j - 0.5, i - 0.5), 1, 1, facecolor=ground, edgecolor=INK if marked else PAPER,
                    lw=1.4 if marked else 1.0, zorder=3 if marked else 2,
                    gid="cell-marked" if marked else "cell",
                )
            )  # fmt: skip
            text = MARK if marked else ""
            if numbers is not None and numbers[i, j]:
                text = f"{numbers[i, j]:.0f}{MARK if marked else ''}"
            if text:
                ax.text(
                    j, i, text, ha="center", va="center", fontsize=6.2 if size > 10 else 7.5,
                    color=ink_on(ground), zorder=4,
                )  # fmt: skip
    ax.set_xlim(-0.6, size - 0.4)
    ax.set_ylim(size - 0.4, -0.6)
    if narrow:
        ax.set_xticks(range(size), [str(i + 1) for i in range(size)], fontsize=6.5)
        ax.set_yticks(range(size), numbered(names), fontsize=6.5, linespacing=0.95)
    else:
        turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        shown = [words(name, LETTERS) for name in names]
        ax.set_xticks(range(size), shown, fontsize=7.5, **turned)
        ax.set_yticks(range(size), shown if rows else [""] * size, fontsize=7.5)
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _name_region(ax: Any, name: str, angle: float, *, letters: int) -> None:
    x, y = on_circle(np.array([angle]), 1.1)[0]
    turn = 90 - float(np.degrees(angle))
    flipped = x < -1e-9
    ax.text(
        x, y, words(name, letters), fontsize=7.5, rotation=turn + (180 if flipped else 0),
        rotation_mode="anchor", ha="right" if flipped else "left", va="center",
    )  # fmt: skip
