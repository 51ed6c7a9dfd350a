"""Write what `denseflip paper` and `denseflip bench` give: tables, figures and one HTML page.

The same results give the same bytes in every file but ``run.json``, which holds the times.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from denseflip._version import __version__
from denseflip.errors import MissingExtraError
from denseflip.experiments.measures import COLUMNS
from denseflip.paper.specs import PaperPlan
from denseflip.paper.tables import paper_rows, paper_tables
from denseflip.experiments.results import KEYS, Row, list_table
from denseflip.experiments.run import Outcome
from denseflip.experiments.tables import Table

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:1rem 0;font-size:13px;display:block;overflow-x:auto}
caption{text-align:left;font-weight:600;padding:.4rem 0}
th,td{border-bottom:1px solid #ddd;padding:.25rem .5rem;text-align:left;vertical-align:top}
thead th{border-bottom:2px solid #888}.note{font-size:13px;color:#555;margin:.2rem 0}
img{max-width:100%;height:auto}
"""
_MIME = {".svg": "image/svg+xml", ".png": "image/png"}


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
    write_page(folder / "index.html", title, intro, tables, pictures)
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


def write_rows(rows: Sequence[Row], folder: Path) -> None:
    """Every explanation, one line each, without times."""
    columns = [*KEYS, *COLUMNS]
    list_table(rows, columns).write(folder, ("csv",))


def write_times(outcome: Outcome, folder: Path) -> None:
    """Times, questions and ratios: the one file that differs from run to run."""
    text = json.dumps(outcome.times(), indent=2) + "\n"
    (folder / "run.json").write_text(text, encoding="utf-8")


def write_page(
    path: Path,
    title: str,
    intro: Sequence[str],
    tables: Sequence[Table],
    pictures: Sequence[Path] = (),
) -> None:
    """One self-contained HTML page with all tables and pictures."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
        *(f"<p>{html.escape(line)}</p>" for line in intro),
        *(table.to_html() for table in tables),
        *(_picture(picture) for picture in pictures),
        "</body></html>\n",
    ]
    path.write_text("\n".join(parts), encoding="utf-8")


def _picture(path: Path) -> str:
    name = html.escape(path.stem.replace("-", " "))
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f"<h2>{name}</h2><img alt='{name}' src='data:{_MIME[path.suffix]};base64,{data}'>"


def summary_lines(outcome: Outcome, jobs: int) -> list[str]:
    """What a run came to, in words: how much, how long, how much of it was the oracle."""
    times: dict[str, Any] = outcome.times()
    new = len(outcome.records) - outcome.reused
    lines = [
        f"{len(outcome.records)} of {outcome.total} results: {new} new, {outcome.reused} from "
        f"before; {times['questions']} questions in all.",
    ]
    if times["ratio"] is not None:
        lines.append(
            f"{outcome.wall:.1f} s with {jobs} worker(s). Work {times['seconds']:.1f} s, of which "
            f"the oracle alone {times['oracle_seconds']:.1f} s: ratio {times['ratio']:.2f} "
            f"(search alone {times['search_ratio'] or 0:.2f})."
        )
    return lines
