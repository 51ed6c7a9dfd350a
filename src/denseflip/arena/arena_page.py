"""Write the output of a benchmark: tables, charts, a page, and the trials with their hashes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from denseflip._version import __version__
from denseflip.arena import scores
from denseflip.arena.peers import is_own
from denseflip.arena.plan import ArenaPlan
from denseflip.errors import MissingExtraError
from denseflip.experiments.measure_charts import Picture, Shown, method_charts
from denseflip.experiments.run_page import failed, write_index
from denseflip.experiments.table import Table
from denseflip.files import write_whole
from denseflip.report.canvas import new_figure, save_figure, style, words
from denseflip.report.page_figures import page_figure
from denseflip.report.palette import AXIS, GRID, INK, MEASURED, QUIET
from denseflip.runs.identity import canonical_json, content_id, versions
from denseflip.runs.run import Outcome

_SHOWN = (
    Shown("found", "validity", share=True),
    Shown("ged", "edits", log=True),
    Shown("calls", "calls", log=True),
    Shown("told", "true as read", share=True),
    Shown("cells_in_range", "cells in range", share=True),
    Shown("robustness_1", "stable to noise", share=True),
)
_EDITS = "edits / fewest"
_PRICE = ("true as read", "in range", "stable to noise")


def write_arena(plan: ArenaPlan, outcome: Outcome, folder: Path) -> tuple[list[Table], list[str]]:
    """Write all files of a run; return its tables and remarks for the user.

    ``trials.jsonl`` has one trial per line with its edits, and ``arena.json`` the settings, the
    classifiers with their hashes and the SHA-256 of all trials without times.
    """
    rows = scores.trial_rows(outcome.records.values())
    tables = [
        scores.overall_table(rows),
        scores.winner_table(rows),
        scores.score_table(rows),
        scores.trust_table(rows),
        scores.oracle_table(plan.cards),
        scores.problem_table(rows),
    ]
    for table in tables:
        table.write(folder)
    lines = [canonical_json(row) for row in rows]
    write_whole(folder / "trials.jsonl", "\n".join(lines) + "\n")
    write_whole(folder / "arena.json", json.dumps(_facts(plan, rows, outcome), indent=1) + "\n")
    remarks = [f"Skipped: {one.name}: {one.reason}" for one in plan.skipped]
    pictures: list[Picture] = []
    try:
        place = folder / "figures"
        place.mkdir(exist_ok=True)
        pictures = _pictures(rows, place)
    except MissingExtraError as error:
        remarks.append(f"The charts were left out. {error}")
    settings = plan.settings
    intro = [
        f"denseflip {__version__}. {len(rows)} trials; at most {settings.budget:,} calls and "
        f"{settings.seconds:g} s each. {settings.graphs} graphs per data set, {settings.seeds} "
        f"seeds, {settings.trainings} trainings of the small classifiers.",
        *failed(outcome.failures, outcome.total),
        *remarks,
    ]
    write_index(folder / "index.html", "Benchmark of graph explainers", intro, tables, pictures)
    return tables, remarks


def _facts(plan: ArenaPlan, rows: Sequence[scores.Row], outcome: Outcome) -> dict[str, Any]:
    settings = {**asdict(plan.settings), "checkout": bool(plan.settings.checkout)}
    timeless = [
        {key: value for key, value in row.items() if not key.endswith("seconds")} for row in rows
    ]
    return {
        "settings": settings,
        "versions": dict(versions()),
        "sources": plan.sources,
        "classifiers": [asdict(card) for card in plan.cards],
        "skipped": [asdict(one) for one in plan.skipped],
        "trials": len(rows),
        "failures": [str(failure) for failure in outcome.failures],
        "sha256": content_id(timeless),
        "wall_seconds": outcome.wall,
        "workers": outcome.workers,
    }


def _pictures(rows: Sequence[scores.Row], folder: Path) -> list[Picture]:
    plain = [
        {
            **dict.fromkeys(("ged", "told", "cells_in_range", "robustness_1")),
            **row,
            "method": row["explainer"],
            "parameters": "",
        }
        for row in rows
        if not row["renumbering"] and not row["training"]
    ]
    price = plot_price(scores.overall_table(rows))
    if price is None:
        return method_charts(plain, _SHOWN, folder=folder)
    save_figure(price, folder / "price.svg", force=True)
    alt = "Edits of each explainer against truth as read, range and stability of its answers."
    caption = (
        "The price of a sentence, over all classifiers: the edits of each explainer, relative to "
        "the fewest of any explainer on the same graph (median), and the share of its answers that "
        "are true as read, end in the range of real graphs, or survive noise. Methods of denseflip "
        "are green."
    )
    picture = Picture("The price of a sentence", page_figure([price], alt, caption))
    return [picture, *method_charts(plain, _SHOWN, folder=folder)]


def plot_price(overall: Table) -> Any:
    """Draw columns of `scores.overall_table`, one line per explainer; None without any edits."""
    rows = [dict(zip(overall.columns, row, strict=True)) for row in overall.rows]
    known = [row for row in rows if row[_EDITS] is not None]
    if not known:
        return None
    height = 1.0 + 0.2 * len(known)
    with style():
        figure = new_figure(9, height)
        for i, title in enumerate((_EDITS, *_PRICE)):
            place = (0.21 + 0.197 * i, 0.45 / height, 0.175, 1 - 0.85 / height)
            axes = figure.add_axes(place)
            colours = [MEASURED if is_own(row["explainer"]) else QUIET for row in known]
            _draw_price(axes, title, [row[title] for row in known], colours, share=i > 0)
            axes.set_yticks(range(len(known)), [])
        figure.axes[0].set_yticklabels([_name(row) for row in known])
    return figure


def _name(row: dict[str, Any]) -> str:
    limited = " (removals)" if row["removal only"] else ""
    return words(f"{row['explainer']}{limited}", 36)


def _draw_price(
    axes: Any, title: str, values: list[float | None], colours: list[str], *, share: bool
) -> None:
    for y, (x, colour) in enumerate(zip(values, colours, strict=True)):
        if x is not None:
            axes.hlines(y, 0 if share else 1, x, colour, lw=1)
            axes.plot(x, y, "o", ms=5, color=colour, clip_on=False, zorder=3)
    axes.set_ylim(len(values) - 0.5, -0.5)
    if share:
        axes.set_xlim(0, 1)
        axes.set_xticks([0, 0.5, 1], ["0", "50", "100"])
    else:
        highest = max(x for x in values if x is not None)
        ticks = [k for k in (1, 2, 5, 10, 20, 50, 100, 200, 500) if k <= max(2, highest)]
        axes.set_xscale("log")
        axes.set_xlim(0.9, None)
        axes.set_xticks(ticks, map(str, ticks))
        axes.set_xticks([], minor=True)
    axes.tick_params(labelsize=7.5, color=AXIS, labelcolor=INK)
    axes.tick_params(axis="y", length=0)
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_title(
        words(f"{title} (%)" if share else title), fontsize=8.5, weight="bold", loc="left", pad=6
    )
