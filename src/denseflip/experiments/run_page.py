"""Write the output of a run: rows, times, and one HTML page of tables and charts.

The same results give the same bytes in every file except ``run.json``, which holds the times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from denseflip.errors import counted
from denseflip.experiments.plan import Skipped
from denseflip.experiments.records import TIMES
from denseflip.experiments.result_columns import COLUMNS
from denseflip.experiments.results import KEYS, Row, list_table
from denseflip.experiments.table import Table, TableContext
from denseflip.files import write_whole
from denseflip.report.html import Context
from denseflip.report.page_figures import PageFigure
from denseflip.runs.run import Failure, Outcome

_SAID = re.compile(r"[:;] (?![^(]*\))")  # text after the colon of a title is its explanation


@dataclass(frozen=True)
class Picture:
    """A chart of the page: its title, the drawing, and the table of its values."""

    name: str
    figure: PageFigure
    table: TableContext | None = None


@dataclass(frozen=True)
class Section:
    """A table of the page, split to fit a screen, and its name in the contents."""

    short: str
    title: str
    parts: tuple[TableContext, ...]


@dataclass(frozen=True)
class IndexContext(Context):
    """The page of all tables and charts of a run; long tables and cells are folded."""

    template: ClassVar = "tables.html.j2"
    title: str
    intro: tuple[str, ...]
    tables: tuple[Section, ...]
    pictures: tuple[Picture, ...]
    rows_at_once: int = 30
    letters_at_once: int = 160


def write_rows(rows: Sequence[Row], folder: Path) -> None:
    """Write every explanation, one line each, without times."""
    columns = [*KEYS, *COLUMNS]
    list_table(rows, columns).write(folder, ("csv",))


def sum_times(outcome: Outcome) -> dict[str, Any]:
    """Sum over all explanations of a run: seconds, seconds of the oracle, queries, ratios."""
    rows = [r for r in outcome.records.values() if r["spec"]["kind"] == "run"]
    sums = {key: sum(r["times"][key] for r in rows) for key in TIMES}
    total = sums["search"] + sums["measures"]
    return {
        "explanations": len(rows),
        "reused": outcome.reused,
        "questions": sum(r["result"]["calls"] for r in rows),
        "oracle_evaluations": sums["evaluations"],
        "seconds": total,
        "oracle_seconds": sums["oracle"],
        "ratio": total / sums["oracle"] if sums["oracle"] else None,
        "search_seconds": sums["search"],
        "search_oracle_seconds": sums["search_oracle"],
        "search_ratio": sums["search"] / sums["search_oracle"] if sums["search_oracle"] else None,
        "wall_seconds": outcome.wall,
    }


def write_times(outcome: Outcome, folder: Path) -> None:
    """Write times, queries and ratios: the only file that differs from run to run."""
    text = json.dumps(sum_times(outcome), indent=2) + "\n"
    write_whole(folder / "run.json", text)


def write_index(
    path: Path,
    title: str,
    intro: Sequence[str],
    tables: Sequence[Table],
    pictures: Sequence[Picture] = (),
) -> None:
    """Write one self-contained HTML page: contents, charts, then tables that fit a screen.

    Parameters
    ----------
    path, title, intro : file, title and introduction.
    tables, pictures : content of the page.
    """
    page = IndexContext(
        title=title,
        intro=tuple(intro),
        tables=tuple(
            Section(
                _SAID.split(table.title)[0],
                table.title,
                tuple(part.context() for part in table.for_page()),
            )
            for table in tables
        ),
        pictures=tuple(pictures),
    )
    write_whole(path, page.render())


def failed(failures: Sequence[Failure], total: int) -> list[str]:
    """Describe the failures, each reason once."""
    if not failures:
        return []
    reasons: dict[str, list[str]] = {}
    for one in failures:
        data, oracle = one.spec.sources
        reasons.setdefault(one.message, []).append(f"{data.name}, {oracle.name}")
    return [
        f"{len(failures)} of {total} runs failed and are not shown. Run the same command to retry "
        "them.",
        *(
            f"Failed, {len(places)} of them ({'; '.join(dict.fromkeys(places))}): {reason}"
            for reason, places in reasons.items()
        ),
    ]


def left_out(skipped: Sequence[Skipped], called: Callable[[str], str] = str) -> list[str]:
    """Describe the skipped combinations, each reason once."""
    reasons: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for one in skipped:
        methods, names = reasons.setdefault(one.reason, ({}, {}))
        methods[called(one.method)] = None
        names[called(one.data)] = None
    return [
        f"Skipped: {', '.join(methods)} on {', '.join(names)}: {reason}."
        for reason, (methods, names) in reasons.items()
    ]


def summary_lines(outcome: Outcome, jobs: int) -> list[str]:
    """Summarise a run: number of results, duration, and the share of the oracle."""
    times = sum_times(outcome)
    new = len(outcome.records) - outcome.reused
    lines = [
        f"{len(outcome.records)} of {outcome.total} results: {new} new, {outcome.reused} "
        f"reused; {times['questions']} queries in total.",
    ]
    if times["ratio"] is not None:
        lines.append(
            f"{outcome.wall:.1f} s with {counted(jobs, 'worker', 'workers')}. Computing time "
            f"{times['seconds']:.1f} s, of which the classifier {times['oracle_seconds']:.1f} s: "
            f"ratio {times['ratio']:.2f} (search alone {times['search_ratio'] or 0:.2f})."
        )
    return lines
