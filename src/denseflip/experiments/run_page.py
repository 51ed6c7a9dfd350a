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

from denseflip._version import __version__
from denseflip.errors import MissingExtraError, counted
from denseflip.experiments.measure_charts import HOW_TO_READ, Picture, method_charts
from denseflip.experiments.plan import Matrix, Plan, Skipped, Source
from denseflip.experiments.records import COLUMNS, TIMES
from denseflip.experiments.results import KEYS, Row, bench_tables, list_table, to_rows
from denseflip.experiments.table import Table
from denseflip.files import write_whole
from denseflip.report.html import Context, TableContext
from denseflip.runs.run import Failure, Outcome
from denseflip.runs.sources import OracleSpec, load_oracle_of
from denseflip.search.core.target import class_names_of

_SAID = re.compile(r"[:;] (?![^(]*\))")  # text after the colon of a title is its explanation


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
    """Write one self-contained HTML page: contents, charts, then tables that fit a screen."""
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


def write_bench(
    title: str, matrix: Matrix, plan: Plan, outcome: Outcome, folder: Path
) -> tuple[list[Table], list[str]]:
    """Write all files of a comparison; return its tables and remarks for the user.

    Without matplotlib the charts are left out, and a remark says so.
    """
    rows = to_rows(outcome.records.values())
    tables = bench_tables(rows, class_names(matrix))
    for table in tables:
        table.write(folder)
    write_rows(rows, folder)
    pictures: list[Picture] = []
    remarks = []
    try:
        place = folder / "figures"
        if rows:
            place.mkdir(exist_ok=True)
        pictures = method_charts(rows, folder=place)
    except MissingExtraError as error:
        remarks.append(f"The charts were left out. {error}")
    intro = [*_intro(matrix, outcome), *left_out(plan.skipped), *remarks]
    intro += [HOW_TO_READ] if pictures else []
    write_index(folder / "index.html", title, intro, tables, pictures)
    write_times(outcome, folder)
    return tables, remarks


def class_names(matrix: Matrix) -> dict[tuple[str, str], Sequence[str]]:
    """Return class names by data set and oracle, where an oracle uses the labels of the data set.

    Presets do, and files with the same names; the labels of others may have another meaning.
    """
    return {
        (source.spec.name, oracle.name): source.dataset.class_names
        for source in matrix.sources
        for oracle in matrix.oracles
        if oracle.kind == "preset" or (oracle.kind == "file" and _same_names(oracle, source))
    }


def _same_names(oracle: OracleSpec, source: Source) -> bool:
    names = class_names_of(load_oracle_of(oracle, source.dataset))
    return names == dict(enumerate(source.dataset.class_names))


def _intro(matrix: Matrix, outcome: Outcome) -> list[str]:
    budgets = {method.request.budget for method in matrix.methods}
    limits = ["no limit" if b is None else f"at most {b:,}" for b in sorted(budgets, key=str)]
    seeds = ", ".join(map(str, matrix.seeds))
    line = (
        f"denseflip {__version__}. Data sets: {', '.join(s.spec.name for s in matrix.sources)}. "
        f"Classifiers: {', '.join(o.name for o in matrix.oracles)}. "
        f"Seed{'' if len(matrix.seeds) == 1 else 's'}: {seeds}. "
        f"Queries per explanation: {' or '.join(limits)}."
    )
    return [line, *failed(outcome.failures, outcome.total)]
