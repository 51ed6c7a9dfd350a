"""Write what `denseflip paper` gives: tables, figures and one HTML page.

The same results give the same bytes in every file but ``run.json``, which holds the times.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from denseflip._version import __version__
from denseflip.errors import MissingExtraError
from denseflip.experiments.publish import write_index, write_rows, write_times
from denseflip.experiments.results import Row
from denseflip.experiments.run import Outcome
from denseflip.experiments.tables import Table
from denseflip.paper.specs import PaperPlan
from denseflip.paper.tables import paper_rows, paper_tables


def write_paper(
    plan: PaperPlan, outcome: Outcome, folder: Path, *, figures: bool = True
) -> list[str]:
    """Write all files of the paper's reproduction; returns remarks for the user.

    Without matplotlib or nilearn the pictures are left out, and a remark says so.
    """
    folder.mkdir(parents=True, exist_ok=True)
    tables = paper_tables(plan, outcome.records)
    rows = paper_rows(plan, outcome.records)
    pictures, remarks = [], []
    if figures:
        try:
            made, patients = _figures(plan, outcome, rows, folder)
            pictures += made
            tables += patients
        except MissingExtraError as error:
            remarks.append(f"The pictures were left out. {error}")
    for table in tables:
        table.write(folder)
    write_rows(rows, folder)
    missing = len(plan.specs) - sum(s.id in outcome.records for s in plan.specs)
    part = [s.spec.name for s in plan.sources if len(s.ids) < len(s.dataset)]
    intro = [
        f"Profile {plan.profile}, denseflip {__version__}.",
        "Each cell shows ours and, in brackets, the printed value; D1 … D13 name the decision "
        "that explains a difference (docs/decisions).",
        *(f"Left out: {s.data} / {s.method}: {s.reason}." for s in plan.runs.skipped),
        *([f"Only some graphs were explained of: {', '.join(part)}."] if part else []),
        *([f"{missing} results are missing; run the command again."] if missing else []),
    ]
    title = "Counterfactual Explanations through the Lenses of Density: the paper's tables again"
    write_index(folder / "index.html", title, intro, tables, pictures)
    write_times(outcome, folder)
    return remarks


def _figures(
    plan: PaperPlan, outcome: Outcome, rows: Sequence[Row], folder: Path
) -> tuple[list[Path], list[Table]]:
    from denseflip.paper.figures import (
        patient_stories,
        patient_table,
        plot_distributions,
        plot_patients,
    )

    place = folder / "figures"
    place.mkdir(exist_ok=True)
    made = []
    for source in plan.sources:
        path = place / f"distributions-{source.spec.name}.svg"
        zero, one = source.dataset.class_names[:2]
        title = f"{source.spec.name.upper()}, by predicted class: {zero} (blue), {one} (red)"
        plot_distributions(rows, source.spec.name, plan.methods, path, title=title)
        made.append(path)
    stories = patient_stories(plan, outcome.records)
    if not stories:
        return made, []
    return made + plot_patients(stories, place), [patient_table(stories)]
