"""The paper's figures: box plots of d% and C, patients side by side. Drawing needs matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from denseflip.experiments.records import read_result
from denseflip.experiments.results import Row
from denseflip.experiments.table import Table
from denseflip.paper.paper_specs import PaperPlan
from denseflip.paper.printed import PATIENTS
from denseflip.report.canvas import NARROW, need, new_figure, save_figure, style
from denseflip.report.comparison import COLUMNS, plot_comparison
from denseflip.report.palette import CLASSES, GRID, INK
from denseflip.runs.result_store import Record
from denseflip.story.describe import describe
from denseflip.story.story import Story


def plot_distributions(
    rows: Sequence[Row],
    data: str,
    methods: Sequence[str],
    path: Path | None = None,
    *,
    title: str = "",
    narrow: bool = False,
) -> Any:
    """Box plots of d% (linear) and C (on a log scale) per method and class, as in the supplement.

    Boxes span the first to the third quartile, whiskers reach the last value within 1.5 boxes.
    ``narrow`` stacks them for a phone.
    """
    need("matplotlib")
    of_data = [r for r in rows if r["data"] == data]
    shown = [m for m in methods if any(r["method"] == m for r in of_data)]
    with style():
        figure = new_figure(NARROW, 5.6) if narrow else new_figure(9.0, 3.6)
        for panel, (column, label) in enumerate((("d", "d%"), ("C", "C (queries)"))):
            axes = figure.add_subplot(*((2, 1) if narrow else (1, 2)), panel + 1)
            for k in (0, 1):
                _boxes(axes, [r for r in of_data if r["label_before"] == k], shown, column, k)
            if column == "C":
                axes.set_yscale("log")
            else:
                axes.set_ylim(bottom=0)
            axes.set_xticks(np.arange(len(shown)))
            axes.set_xticklabels([m.upper() for m in shown], rotation=30, ha="right")
            axes.set_xlim(-0.6, len(shown) - 0.4)
            axes.set_ylabel(label)
            axes.grid(axis="y", color=GRID, linewidth=0.6)
            axes.set_axisbelow(True)
            for side in ("top", "right"):
                axes.spines[side].set_visible(False)
        if not narrow:
            figure.suptitle(title or f"{data.upper()}: blue class 0, red class 1 (as predicted)")
        figure.tight_layout()
    return save_figure(figure, path, force=True)


def _boxes(axes: Any, rows: Sequence[Row], methods: Sequence[str], column: str, k: int) -> None:
    """Draw the boxes of one class next to those of the other."""
    from matplotlib.cbook import boxplot_stats

    values = [[float(r[column]) for r in rows if r["method"] == m and r["found"]] for m in methods]
    shown = [(i, v) for i, v in enumerate(values) if v]
    if shown:
        axes.bxp(
            boxplot_stats([v for _, v in shown]),
            positions=[i + (k - 0.5) * 0.38 for i, _ in shown],
            widths=0.32,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": CLASSES[k], "alpha": 0.75, "linewidth": 0.8},
            medianprops={"color": INK, "linewidth": 1.2},
            flierprops={"marker": ".", "markersize": 3, "markeredgecolor": CLASSES[k]},
        )


def patient_stories(plan: PaperPlan, records: Mapping[str, Record]) -> dict[str, dict[str, Story]]:
    """The patients of the paper's figures: name → method → story with a tested sentence."""
    from denseflip.experiments.worker import get_context

    out: dict[str, dict[str, Story]] = {}
    by_name = {source.spec.name: source for source in plan.sources}
    for data, index in PATIENTS.items():
        if data not in by_name or index >= len(by_name[data].dataset):
            continue
        dataset = by_name[data].dataset
        graph_id = dataset.ids[index]
        for spec in plan.runs.specs:
            if spec.job.data.name != data or spec.graph != graph_id or spec.id not in records:
                continue
            context = get_context(spec.job.data, spec.job.oracle)
            story = describe(
                read_result(records[spec.id], dataset),
                dataset.nodes,
                context.oracle,
                subject=f"Patient {index}",
                class_names=dataset.class_names,
                share=0.8,
                vocabulary="paper",
                draws=0,
            )
            out.setdefault(f"{data.upper()} {index}", {})[spec.job.method.name.upper()] = story
    return out


def patient_classes(plan: PaperPlan) -> dict[str, str]:
    """The true class of each patient of the paper's figures."""
    found = {}
    for source in plan.sources:
        index, dataset = PATIENTS.get(source.spec.name), source.dataset
        if index is not None and index < len(dataset):
            name = f"{source.spec.name.upper()} {index}"
            found[name] = dataset.class_names[dataset.labels[index]]
    return found


def patient_table(stories: Mapping[str, Mapping[str, Story]]) -> Table:
    """The sentence of each method about the paper's patients."""
    rows = [
        (
            patient,
            method,
            str(story.result.status),
            len(story.result.removed),
            len(story.result.added),
            round(story.result.relative_distance, 4),
            story.verified,
            story.statement,
        )
        for patient, by_method in stories.items()
        for method, story in by_method.items()
    ]
    columns = ("patient", "method", "status", "REM", "ADD", "d%", "verified", "sentence")
    title = "The patients of the paper's figures: changes and sentence of each method"
    return Table("patients", title, columns, tuple(rows))


def plot_patient(
    patient: str, stories: Mapping[str, Story], path: Path | None = None, *, narrow: bool = False
) -> Any:
    """All methods side by side, bars divided by the size of the lobes.

    Three per row, or four if the last row would otherwise have a single figure.
    """
    columns = COLUMNS + 1 if len(stories) % COLUMNS == 1 else COLUMNS
    return plot_comparison(
        dict(stories),
        columns=columns,
        title="" if narrow else patient,
        path=path,
        force=True,
        by_size=True,
        narrow=narrow,
    )
