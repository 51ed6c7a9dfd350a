"""Write the output of `denseflip paper`: tables, figures and one HTML page.

The same results give the same bytes in every file except ``run.json``, which contains the times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from denseflip._version import __version__
from denseflip.errors import MissingExtraError
from denseflip.experiments.measure_charts import FLIPS, HOW_TO_READ, Picture, Shown, method_charts
from denseflip.experiments.plan import Source
from denseflip.experiments.results import Row
from denseflip.experiments.run_page import left_out, write_index, write_rows, write_times
from denseflip.paper.network_facts import Networks
from denseflip.paper.paper_claims import Figures, claims_tables
from denseflip.paper.paper_figures import (
    patient_classes,
    patient_stories,
    patient_table,
    plot_distributions,
    plot_patient,
)
from denseflip.paper.paper_specs import PaperPlan
from denseflip.paper.paper_tables import paper_rows, paper_tables
from denseflip.paper.patients import patient_claims
from denseflip.report.page_figures import page_figure
from denseflip.runs.run import Outcome
from denseflip.story.story import Story

SENTENCES = (
    FLIPS,
    Shown("d", "d%"),
    Shown("C", "C (queries)", log=True),
    Shown("cells", "cells"),
    Shown("words", "words", log=True),
    Shown("as_read", "true as read", share=True),
)


def write_paper(
    plan: PaperPlan, outcome: Outcome, folder: Path, *, figures: bool = True
) -> list[str]:
    """Write all files of the reproduction, and return remarks for the user.

    Without matplotlib or nilearn the figures are omitted, and a remark says so.
    """
    folder.mkdir(parents=True, exist_ok=True)
    rows = paper_rows(plan, outcome.records)
    stories = patient_stories(plan, outcome.records)
    tables = paper_tables(plan, outcome.records)
    networks = {source.spec.name: Networks(source.dataset.graphs) for source in plan.sources}
    tables[2:2] = claims_tables(rows, list(networks), networks)
    if stories:
        tables += [patient_claims(stories, patient_classes(plan)), patient_table(stories)]
    pictures, remarks = [], []
    if figures:
        try:
            pictures = _pictures(plan, rows, stories, folder / "figures")
        except MissingExtraError as error:
            remarks.append(f"The figures were omitted. {error}")
    for table in tables:
        table.write(folder)
    write_rows(rows, folder)
    missing = len(plan.specs) - sum(s.id in outcome.records for s in plan.specs)
    part = [name.upper() for name in plan.partial]
    intro = [
        f"Profile {plan.profile}, denseflip {__version__}. Each cell shows our value and, in "
        "brackets, the printed value; D1 … D13 refer to the decision that explains a difference "
        "(docs/decisions).",
        *left_out(plan.runs.skipped, str.upper),
        *([f"Only some graphs were explained of: {', '.join(part)}."] if part else []),
        *([f"{missing} results are missing; run the command again."] if missing else []),
        *remarks,
        *([HOW_TO_READ] if pictures and _told(rows) else []),
    ]
    title = "Counterfactual Explanations through the Lenses of Density: reproduction"
    write_index(folder / "index.html", title, intro, tables, pictures)
    write_times(outcome, folder)
    return remarks


def _pictures(
    plan: PaperPlan,
    rows: Sequence[Row],
    stories: Mapping[str, Mapping[str, Story]],
    folder: Path,
) -> list[Picture]:
    """The paper's figures, in its order, and the sentences of its methods."""
    folder.mkdir(exist_ok=True)
    made = [_patient(patient, told, folder) for patient, told in stories.items()]
    made += [_distribution(source, plan, rows, folder) for source in plan.sources]
    if _told(rows):
        made += method_charts(rows, SENTENCES, called=str.upper, folder=folder)
    return made


def _told(rows: Sequence[Row]) -> bool:
    """Whether sentences were tested."""
    return any(row["cells"] is not None for row in rows)


def _patient(patient: str, told: Mapping[str, Story], folder: Path) -> Picture:
    path = folder / f"patient-{patient.lower().replace(' ', '-')}.png"
    drawn = [plot_patient(patient, told, path), plot_patient(patient, told, narrow=True)]
    data, index = patient.split(" ")
    said = "; ".join(
        f"{name}: {len(story.result.removed)} removed, {len(story.result.added)} added"
        for name, story in told.items()
    )
    caption = (
        f"The counterfactual that each method finds for patient {index} of {data}, on the glass "
        "brain: connections to remove in red, to add in blue, their numbers (REM, ADD) above. "
        "Bars (on a wide screen): share of changed edge ends in each lobe, divided by the number "
        "of its regions of interest."
    )
    alt = f"Glass brains and bars of patient {index} of {data}. {said}."
    return Picture(f"Patient {index} of {data}", page_figure(drawn, alt, caption))


def _distribution(source: Source, plan: PaperPlan, rows: Sequence[Row], folder: Path) -> Picture:
    name = source.spec.name
    zero, one = source.dataset.class_names[:2]
    title = f"{name.upper()}, by predicted class: {zero} (blue), {one} (red)"
    path = folder / f"distributions-{name}.svg"
    drawn = [
        plot_distributions(rows, name, plan.methods, path, title=title),
        plot_distributions(rows, name, plan.methods, narrow=True),
    ]
    caption = (
        f"{name.upper()}: how far the counterfactuals of each method are from the originals (d%, "
        "the symmetric difference) and its number of queries (C, on a logarithmic axis). Blue: "
        f"predicted {zero}, red: predicted {one}. Boxes span the first to the third quartile, "
        "whiskers reach the last value within 1.5 boxes."
    )
    of_data = Figures([r for r in rows if r["data"] == name])
    medians = "; ".join(
        f"{m.upper()} {of_data.median(m, 'd'):.3g}, {of_data.median(m, 'C'):.4g}"
        for m in of_data.found(plan.methods)
    )
    alt = f"Box plots of d% and C on {name.upper()}. Medians of both: {medians}."
    return Picture(f"d% and C of {name.upper()}", page_figure(drawn, alt, caption))
