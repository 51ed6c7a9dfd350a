"""Write the output of `denseflip bench`: tables, charts by method, and one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from denseflip._version import __version__
from denseflip.errors import MissingExtraError
from denseflip.experiments.measure_charts import HOW_TO_READ, method_charts
from denseflip.experiments.plan import Matrix, Plan, Source
from denseflip.experiments.results import bench_tables, to_rows
from denseflip.experiments.run_page import (
    Picture,
    failed,
    left_out,
    write_index,
    write_rows,
    write_times,
)
from denseflip.experiments.table import Table
from denseflip.runs.run import Outcome
from denseflip.runs.sources import OracleSpec, load_oracle_of
from denseflip.search.core.target import class_names_of


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
