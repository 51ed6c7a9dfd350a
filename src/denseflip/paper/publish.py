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
from denseflip.paper.claims import claims_table, patient_claims
from denseflip.paper.printed import PATIENTS
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
    tables.insert(2, claims_table(rows, [source.spec.name for source in plan.sources]))
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
        *left_out(plan),
        *([f"Only some graphs were explained of: {', '.join(part)}."] if part else []),
        *([f"{missing} results are missing; run the command again."] if missing else []),
    ]
    title = "Counterfactual Explanations through the Lenses of Density: the paper's tables again"
    write_index(folder / "index.html", title, intro, tables, pictures, captions(plan))
    write_times(outcome, folder)
    return remarks


def left_out(plan: PaperPlan) -> list[str]:
    """What was not run, each reason once."""
    reasons: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for skipped in plan.runs.skipped:
        methods, names = reasons.setdefault(skipped.reason, ({}, {}))
        methods[skipped.method.upper()] = None
        names[skipped.data.upper()] = None
    return [
        f"Left out: {', '.join(methods)} on {', '.join(names)}: {reason}."
        for reason, (methods, names) in reasons.items()
    ]


def captions(plan: PaperPlan) -> dict[str, str]:
    """What each picture shows, by the name of its file."""
    found = {}
    for source in plan.sources:
        name, classes = source.spec.name, source.dataset.class_names
        found[f"distributions-{name}"] = (
            f"{name.upper()}: symmetric difference between original and counterfactual (d%, left) "
            f"and questions to the classifier (C, right, on a logarithmic axis), by method; blue: "
            f"predicted {classes[0]}, red: predicted {classes[1]}. Boxes from the first to the "
            "third quartile."
        )
    for name, index in PATIENTS.items():
        found[f"patient-{name}-{index}"] = (
            f"Patient {index} of {name.upper()}: the counterfactual of each method. Red: "
            "connections removed, blue: added. Bars: share of the changed ends in each lobe, "
            "divided by the number of its regions of interest."
        )
    return found


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
    tables = [patient_claims(stories), patient_table(stories)]
    return made + plot_patients(stories, place), [t for t in tables if t.rows]
