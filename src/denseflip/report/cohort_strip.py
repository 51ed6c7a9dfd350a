"""The strip of a cohort's patients: which cells flip each, and whether the shared change does."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from denseflip.report.canvas import (
    NARROW,
    need,
    new_figure,
    note_lines,
    save_figure,
    style,
    words,
    write_headline,
)
from denseflip.report.cohort_pictures import (
    LETTER,
    POINT,
    check_cohort,
    cohort_title,
    short_lines,
    write_notes,
)
from denseflip.report.palette import ADDED, AXIS, INK, PALE, PAPER, REMOVED
from denseflip.report.region_charts import LETTERS

if TYPE_CHECKING:
    from denseflip.cohort.cohort import Cohort

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
    check_cohort(cohort)
    need("matplotlib")
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
        "\n".join(short_lines(name, 18, 2)) if narrow else words(name, letters) for name in labels
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
    with style():
        notes = note_lines(note, across)
        step = 0.28 if narrow else 0.24
        head, foot = (0.7 if title != "" else 0.35), 0.2 + 0.18 * len(notes)
        height = head + step * len(labels) + foot
        figure = new_figure(across, height)
        write_headline(figure, title if title is not None else cohort_title(cohort))
        long = across - margin - 0.1
        box = (margin / across, foot / height, long / across, step * len(labels) / height)
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
        for spine in ax.spines.values():
            spine.set_visible(False)
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
        write_notes(figure, notes, foot)
    return save_figure(figure, path, force=force)
