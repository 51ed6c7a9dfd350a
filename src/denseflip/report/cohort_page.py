"""The page of a cohort: the statement, its figures, every cell and every patient, in one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from denseflip.checks import check_new_file
from denseflip.cohort.words import halves_words
from denseflip.errors import MissingExtraError
from denseflip.files import write_whole
from denseflip.report.cohort_headline import cohort_marks, headline_of, lines_of
from denseflip.report.cohort_pictures import (
    plot_cohort_chords,
    plot_cohort_matrix,
    plot_cohort_patients,
)
from denseflip.report.facts import Chip
from denseflip.report.html import Context, Fact, TableContext
from denseflip.report.page_figures import PageFigure, page_figure
from denseflip.request import BALANCE, IN_RANGE
from denseflip.story.wording.constraint_words import constraints_in_words

if TYPE_CHECKING:
    from denseflip.cohort.cohort import Cohort, Usual

_LISTED = 1000  # patients of the table


@dataclass(frozen=True)
class CohortContext(Context):
    """The page of a cohort."""

    template: ClassVar = "cohort.html.j2"
    title: str
    verdict: str
    headline: str
    chips: tuple[Chip, ...]
    lines: tuple[str, ...]
    halves: str
    sentences: tuple[str, ...]
    figures: tuple[PageFigure, ...]
    tables: tuple[TableContext, ...]
    details: tuple[Fact, ...]
    notes: tuple[str, ...]
    methods: str


def make_cohort_page(cohort: Cohort, *, title: str | None = None, dataset: Any = None) -> str:
    """Return the page as HTML text; it loads nothing from elsewhere.

    Without the extra ``brain`` it has no figures, and a note says so.
    """
    notes = list(cohort.notes)
    try:
        figures = tuple(cohort_figures(cohort))
    except MissingExtraError as error:
        figures = ()
        notes.append(f"No figures: {error}")
    tables = (_cell_table(cohort), _patient_table(cohort)) if cohort.observed.explained else ()
    return CohortContext(
        title=title or f"{cohort.dataset}: what the explanations have in common",
        verdict=cohort.verdict,
        headline=headline_of(cohort),
        chips=cohort_marks(cohort),
        lines=(lines := lines_of(cohort)),
        halves=(halves := halves_words(cohort)),
        sentences=tuple(x for x in cohort.sentences if x != halves),
        figures=figures,
        tables=tables,
        details=tuple(_facts(cohort)),
        notes=tuple(note for note in notes if note not in lines),
        methods=cohort.methods_text(dataset),
    ).render()


def write_cohort_page(
    cohort: Cohort,
    path: str | Path,
    *,
    title: str | None = None,
    dataset: Any = None,
    force: bool = False,
) -> Path:
    """Write the page of a cohort to a file, and return its path.

    Parameters
    ----------
    cohort : the result of `explain_cohort`.
    path : the file, usually ending in ``.html``.
    title : the headline.
    dataset : the data set or its card; the methods paragraph then says how edges were made.
    force : overwrite an existing file.
    """
    target = check_new_file(Path(path), force=force)
    return write_whole(target, make_cohort_page(cohort, title=title, dataset=dataset))


def cohort_figures(cohort: Cohort) -> Iterator[PageFigure]:
    """The matrix, the chords and the strip of patients; none if nothing was explained."""
    if not cohort.observed.explained:
        return
    spoken = cohort.class_names[cohort.spoken]
    tested = cohort.p_more is not None
    said = ". ".join(
        f"{row.name}: {row.patients} of {cohort.observed.explained}, {row.direction}"
        for row in cohort.rows[:3]
    )
    for draw, alt, caption in (
        (
            plot_cohort_matrix,
            f"Two matrices, region by region. {said}.",
            f"First: number of {cohort.noun} whose decision depends on each region pair"
            f"{' (p of the region pair)' if tested else ''}. Second: how the density of {spoken} "
            f"differs from that of the others{' (p of the group difference)' if tested else ''}.",
        ),
        (
            plot_cohort_chords,
            f"Chords between regions. {said}.",
            f"The same as chords: the width is the number of {cohort.noun}.",
        ),
        (
            plot_cohort_patients,
            f"A strip with a column for each of {cohort.observed.explained} {cohort.noun}. {said}.",
            f"The change that flips each of the {cohort.noun}. {_shared_row(cohort)}",
        ),
    ):
        pictures = [draw(cohort, title="", narrow=narrow) for narrow in (False, True)]
        yield page_figure(pictures, alt, caption)


def _shared_row(cohort: Cohort) -> str:
    """What the last row of the strip shows, in words."""
    counted = sum(change.counted for change in cohort.shared)
    if not counted:
        return ""
    flipped = sum(change.flipped for change in cohort.shared)
    return (
        "Last row, the shared change: the same change for a whole class, chosen without those that "
        f"it is tested on. It flips {flipped:,} of {counted:,} {cohort.noun}."
    )


def _cell_table(cohort: Cohort) -> TableContext:
    spoken = cohort.class_names[cohort.spoken]
    columns = (
        "regions", f"indicates {spoken}", cohort.noun, "in range", "changed (median)",
        "p (region pair)",
        *(f"{name} (median, 95 %)" for name in cohort.usual), "effect (g)", "difference (t)",
        "p (group difference)",
    )  # fmt: skip
    rows = tuple(
        (
            row.name,
            row.direction,
            f"{row.patients} of {cohort.observed.explained}",
            f"{row.in_range} of {row.patients}",
            f"{row.amount:g}",
            _p(row.p),
            *(_usual(usual[row.cell]) for usual in cohort.usual.values()),
            "–" if row.effect is None else f"{row.effect:.2f}",
            f"{row.difference:.2f}",
            _p(row.p_difference),
        )
        for row in cohort.rows
    )
    notes: tuple[str, ...] = (
        f"Median of each class, and the interval in which one more of these {cohort.noun} would "
        f"lie with 95 % probability, in numbers of {cohort.units}.",
    )
    if cohort.permutations:
        notes += (
            "Both p-values are corrected as said above; smallest possible value "
            f"{cohort.smallest_p:.3g}.",
        )
    return TableContext(
        "cells", "All region pairs that a decision depends on", columns, rows, notes
    )


def _patient_table(cohort: Cohort) -> TableContext:
    names = cohort.class_names
    flipped = {x for change in cohort.shared for half in change.halves for x in half.flipped}
    counted = {x for change in cohort.shared for half in change.halves for x in half.counted}
    rows = []
    for patient in cohort.observed.patients[:_LISTED]:
        answer = patient.answer
        known = answer is not None and 0 <= answer < len(names)
        change = "; ".join(
            f"{amount:+d} {cohort.cell_names[cell]}" for cell, amount in patient.changes.items()
        )
        shared = "–" if patient.id not in counted else "yes" if patient.id in flipped else "no"
        told = "yes" if patient.told else "no"
        given = names[answer] if known and answer is not None else str(answer)
        inside = {True: "yes", False: "no", None: "–"}[patient.in_range]
        stable = None if patient.stability is None else patient.stability.share
        row = (patient.id, names[patient.label], given, change or "–", told, inside)
        rows.append((*row, "–" if stable is None else f"{stable:.2f}", shared))
    columns = (
        "id",
        "class",
        "answer",
        "change that flips",
        "counts",
        "in range",
        "stability",
        "flipped by the shared change",
    )
    total = len(cohort.observed.patients)
    if len(rows) == total:
        return TableContext("patients", f"All explained {cohort.noun}", columns, tuple(rows))
    title = f"The first {len(rows):,} of {total:,} explained {cohort.noun}"
    notes = ("The full table is in `Cohort.patients_tsv` and, from the command, patients.tsv.",)
    return TableContext("patients", title, columns, tuple(rows), notes)


def _facts(cohort: Cohort) -> Iterator[Fact]:
    counts = ", ".join(f"{name} {count}" for name, count in cohort.class_counts.items())
    yield Fact("data", f"{cohort.dataset} ({counts})")
    yield Fact("classifier", cohort.oracle)
    yield Fact("regions", f"{cohort.taxonomy}, {len(cohort.region_names)}")
    settings: Any = cohort.settings
    yield Fact("search of the test", settings.method)
    yield Fact("folds", str(settings.folds) if cohort.refitted else "none: not retrained")
    yield Fact("permutations, test of region pairs", f"{cohort.permutations:,}")
    if cohort.evaluation is not None and cohort.evaluation.p_value is not None:
        yield Fact("permutations, test of the accuracy", f"{cohort.evaluation.permutations:,}")
    if terms := constraints_in_words(settings.constraints):
        yield Fact("terms", "; ".join(terms))
    if settings.confounds:
        within = f" (labels permuted within {', '.join(cohort.held)})" if cohort.held else ""
        yield Fact("confounds", f"{', '.join(settings.confounds)}{within}")
    yield Fact("in range", settings.in_range or IN_RANGE[0])
    yield Fact("edges kept", settings.balance or BALANCE[0])
    yield Fact("seed", str(settings.seed))
    yield Fact("queries", f"{cohort.questions:,}")


def _usual(usual: Usual) -> str:
    if usual.low is None or usual.high is None:
        return f"{usual.median:,.0f}"
    return f"{usual.median:,.0f} ({usual.low:,}–{usual.high:,})"


def _p(p: float | None) -> str:
    return "–" if p is None else f"{p:.3g}"
