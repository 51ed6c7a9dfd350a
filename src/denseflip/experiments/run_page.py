"""Write what a run of experiments gives: rows, times, and one HTML page of tables and pictures.

The same results give the same bytes in every file but ``run.json``, which holds the times.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from denseflip.experiments.plan import Skipped
from denseflip.experiments.records import TIMES
from denseflip.experiments.result_columns import COLUMNS
from denseflip.experiments.results import KEYS, Row, list_table
from denseflip.experiments.table import Table, TableContext
from denseflip.files import write_whole
from denseflip.report.html import Context
from denseflip.report.page_figures import PageFigure
from denseflip.runs.run import Failure, Outcome

_SAID = re.compile(r"[:;] (?![^(]*\))")  # what follows a title's colon explains it


@dataclass(frozen=True)
class Picture:
    """A picture of the page: its headline, what is drawn, and the figures that it shows."""

    name: str
    figure: PageFigure
    table: TableContext | None = None


@dataclass(frozen=True)
class Section:
    """A table of the page, in as many parts as it takes to fit a screen; its name in contents."""

    short: str
    title: str
    parts: tuple[TableContext, ...]


@dataclass(frozen=True)
class IndexContext(Context):
    """The page of all tables and pictures of a run; long tables and cells are folded."""

    template: ClassVar = "tables.html.j2"
    title: str
    intro: tuple[str, ...]
    tables: tuple[Section, ...]
    pictures: tuple[Picture, ...]
    rows_at_once: int = 30
    letters_at_once: int = 160


def write_rows(rows: Sequence[Row], folder: Path) -> None:
    """Every explanation, one line each, without times."""
    columns = [*KEYS, *COLUMNS]
    list_table(rows, columns).write(folder, ("csv",))


def sum_times(outcome: Outcome) -> dict[str, Any]:
    """Sums over all explanations of a run: seconds, seconds of the oracle, queries, ratios."""
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
    """Times, questions and ratios: the one file that differs from run to run."""
    text = json.dumps(sum_times(outcome), indent=2) + "\n"
    write_whole(folder / "run.json", text)


def write_index(
    path: Path,
    title: str,
    intro: Sequence[str],
    tables: Sequence[Table],
    pictures: Sequence[Picture] = (),
) -> None:
    """One self-contained HTML page: contents, pictures, then tables, none wider than a screen.

    Parameters
    ----------
    path, title, intro : where to, and what stands above.
    tables, pictures : what it holds.
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
    """What went wrong, each reason once."""
    if not failures:
        return []
    reasons: dict[str, list[str]] = {}
    for one in failures:
        data, oracle = one.spec.sources
        reasons.setdefault(one.message, []).append(f"{data.name}, {oracle.name}")
    return [
        f"{len(failures)} of {total} runs failed and are not shown; the same command tries them "
        "again.",
        *(
            f"Failed, {len(places)} of them ({'; '.join(dict.fromkeys(places))}): {reason}"
            for reason, places in reasons.items()
        ),
    ]


def left_out(skipped: Sequence[Skipped], called: Callable[[str], str] = str) -> list[str]:
    """What was not run, each reason once."""
    reasons: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for one in skipped:
        methods, names = reasons.setdefault(one.reason, ({}, {}))
        methods[called(one.method)] = None
        names[called(one.data)] = None
    return [
        f"Left out: {', '.join(methods)} on {', '.join(names)}: {reason}."
        for reason, (methods, names) in reasons.items()
    ]


def summary_lines(outcome: Outcome, jobs: int) -> list[str]:
    """What a run came to, in words: how much, how long, how much of it was the oracle."""
    times = sum_times(outcome)
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
