"""The tables of the paper from our records, with the printed values for comparison.

Table 1, Table 2, the distributions of the figures, and additional measures.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from denseflip.experiments.results import Row, group_table, sentence_table, to_rows
from denseflip.experiments.table import MISSING, Table
from denseflip.paper.paper_claims import percent
from denseflip.paper.paper_specs import PaperPlan
from denseflip.paper.printed import (
    SOME_GRAPHS,
    TABLE_1,
    Reason,
    flip_reason,
    printed_flip_rate,
    supplement,
    table_1_reason,
)
from denseflip.runs.result_store import Record

_MEASURES = (
    *("d", "C", "regions_touched", "regions_to_cover", "region_pairs_to_cover", "region_entropy"),
    *("density_drift", "plausibility", "robustness_1", "robustness_5", "statement_verified"),
    "statement_pairs",
    "in_range",
    "worst_z",
)
_SAME = Reason("", "")


def paper_tables(plan: PaperPlan, records: Mapping[str, Record]) -> list[Table]:
    """All tables of the paper from the available records, and the tests of its sentences."""
    rows = paper_rows(plan, records)
    further = group_table(
        rows,
        ("data", "method"),
        _MEASURES,
        name="measures",
        title="All measures: medians (means for shares) over found counterfactuals",
    )
    said = [sentence_table(rows, ("data", "method"))] if _told(rows) else []
    measured = [_as_in_the_paper(plan, table) for table in (further, *said)]
    return [
        table_1(plan, records),
        table_2(plan, rows),
        differences(plan, rows),
        distributions(plan, rows),
        *measured,
    ]


def _as_in_the_paper(plan: PaperPlan, table: Table) -> Table:
    """Data sets and methods, the first two columns, in the paper's order and spelling."""
    rows = sorted(table.rows, key=lambda r: (_at(plan, r[0]), plan.methods.index(r[1])))
    called = {"d": "d%"}
    return replace(
        table,
        columns=tuple(called.get(c, c) for c in table.columns),
        rows=tuple((row[0].upper(), row[1].upper(), *row[2:]) for row in rows),
    )


def _told(rows: Sequence[Row]) -> bool:
    return any(row["cells"] is not None or row["words"] is not None for row in rows)


def paper_rows(plan: PaperPlan, records: Mapping[str, Record]) -> list[Row]:
    """One row per explanation, in the paper's order of data sets and methods."""
    rows = to_rows(records[s.id] for s in plan.runs.specs if s.id in records)
    rows.sort(key=lambda r: (_at(plan, r["data"]), plan.methods.index(r["method"])))
    return rows


# ---- Table 1 ----------------------------------------------------------------------------


def table_1(plan: PaperPlan, records: Mapping[str, Record]) -> Table:
    """Sizes, ACC and F1 with the printed values, and the held-out accuracy."""
    rows, notes = [], []
    columns = ("Dataset", "|G|", "second class", "|V|", "avg |E|", "ACC", "F1")
    counts = "predicted first/second"
    for spec in plan.classifiers:
        name = spec.data.name
        record = records.get(spec.id)
        if record is None:
            continue
        r, printed = record["result"], TABLE_1[name]
        share = 100 * r["class_counts"][1] / r["n_graphs"]
        pairs = [
            ("n_graphs", r["n_graphs"], printed.n_graphs, f"{r['n_graphs']}"),
            ("class_1", share, printed.class_1, f"{share:.1f} %"),
            ("n_nodes", r["n_nodes"], printed.n_nodes, f"{r['n_nodes']}"),
            ("mean_edges", r["mean_edges"], printed.mean_edges, f"{r['mean_edges']:.1f}"),
            ("accuracy", r["accuracy"], printed.accuracy, f"{r['accuracy']:.4f}"),
            ("f1", r["f1"], printed.f1, f"{r['f1']:.4f}"),
        ]
        cells: list[str] = []
        for column, ours, theirs, text in pairs:
            mark = ""
            if _differs(ours, theirs):
                reason = table_1_reason(name, column, plan.profile)
                mark = f" {reason.decisions}" if reason.decisions else " *"
                called = columns[1 + len(cells)]
                notes.append(
                    f"{name.upper()}, {called}: ours {text}, printed {_as_printed(theirs)}: "
                    f"{reason.text}."
                )
            cells.append(f"{text} [{_as_printed(theirs)}]{mark}")
        rows.append((name.upper(), *cells, *_honest(r)))
    honest = ("held-out ACC", "95 % interval", "majority", "p", "verdict")
    title = (
        f"Table 1, profile {plan.profile}: ours [printed]. ACC and F1 are on all graphs, training "
        "ones included, as in the paper; held-out ACC is on graphs not used for training (D12)."
    )
    every = (*columns, counts, *honest)
    return Table("table1", title, every, tuple(rows), (_classes(plan), *notes))


def _classes(plan: PaperPlan) -> str:
    """The names of the first and the second class of every data set."""
    named = (f"{s.spec.name.upper()}: {'/'.join(s.dataset.class_names[:2])}" for s in plan.sources)
    return f"Classes: {'; '.join(named)}."


def _as_printed(figure: float) -> str:
    """A value of Table 1 as printed: shares with two decimals."""
    return f"{figure:.2f}" if isinstance(figure, float) else str(figure)


def _differs(ours: float, theirs: float) -> bool:
    """Whether the printed value is neither ours rounded nor ours truncated."""
    digits = 100 if isinstance(theirs, float) else 1
    scaled, printed = ours * digits, round(theirs * digits)
    return printed not in {round(scaled), math.floor(scaled + 1e-9), math.floor(scaled + 0.5)}


def _honest(row: Mapping[str, Any]) -> tuple[Any, ...]:
    predicted = "/".join(map(str, row["predicted"]))
    honest = row["honest"]
    if honest is None:
        return (predicted, None, None, None, None, None)
    low, high = honest["interval"]
    words = {"better": "better than chance", "unclear": "unclear", "chance": "chance"}
    p = honest["p_value"]
    return (
        predicted,
        f"{honest['accuracy']:.3f}",
        f"{low:.3f} – {high:.3f}",
        f"{honest['majority_rate']:.3f}",
        None if p is None else f"{p:.3f}",
        words[honest["level"]],
    )


# ---- Table 2 ----------------------------------------------------------------------------


def flip_cells(rows: Sequence[Row]) -> dict[tuple[str, str, int], tuple[int, int]]:
    """(data, method, class) → (found, all)."""
    cells: dict[tuple[str, str, int], tuple[int, int]] = {}
    for row in rows:
        key = (row["data"], row["method"], row["label_before"])
        found, total = cells.get(key, (0, 0))
        cells[key] = (found + bool(row["found"]), total + 1)
    return cells


def table_2(plan: PaperPlan, rows: Sequence[Row]) -> Table:
    """Flip rates per class, ours and the printed ones."""
    cells = flip_cells(rows)
    names = [s.spec.name for s in plan.sources]
    body = []
    for method in plan.methods:
        line = [method.upper()]
        for name in names:
            counts = [cells.get((name, method, label)) for label in (0, 1)]
            ours = [_rate(cell) for cell in counts]
            if ours == [None, None]:
                line.append(MISSING)
                continue
            printed = [printed_flip_rate(name, method, label) for label in (0, 1)]
            text = "/".join(MISSING if x is None else percent(x) for x in ours)
            theirs = "/".join(MISSING if x is None else str(x) for x in printed)
            same = all(_same_rate(a, b) for a, b in zip(counts, printed, strict=True))
            reason = "" if same else _why(plan, name, method).decisions
            line.append(f"{text} [{theirs}]" + (f" {reason}" if reason else ""))
        body.append(tuple(line))
    title = (
        f"Table 2, profile {plan.profile}: flip rate in percent by predicted class (first/second), "
        "ours [printed], and the decision that explains a difference. ADHD and ADHDM are swapped "
        "back (D13)."
    )
    notes = [_classes(plan)]
    if plan.partial:
        some = ", ".join(name.upper() for name in plan.partial)
        notes.append(f"Differences have no decision where only some graphs were explained: {some}.")
    columns = ("Method", *(n.upper() for n in names))
    return Table("table2", title, columns, tuple(body), tuple(notes))


def differences(plan: PaperPlan, rows: Sequence[Row]) -> Table:
    """Table 2 cell by cell: counts, rates, the printed rate and the reason."""
    named = []
    cells = flip_cells(rows)
    for name, method, label in sorted(
        cells, key=lambda c: (_at(plan, c[0]), plan.methods.index(c[1]), c[2])
    ):
        found, total = cells[name, method, label]
        printed = printed_flip_rate(name, method, label)
        rate = 100 * found / total
        reason = _SAME if _same_rate((found, total), printed) else _why(plan, name, method)
        who = (name.upper(), method.upper(), _class_name(plan, name, label))
        gap = None if printed is None else round(rate - printed, 2)
        ours = (found, total, round(rate, 2))
        named.append((*who, *ours, printed, gap, reason.decisions, reason.text))
    columns = ("data", "method", "class", "found", "graphs", "rate", "printed", "difference")
    title = f"Flip rates, profile {plan.profile}, cell by cell"
    return Table("flips", title, (*columns, "decision", "why"), tuple(named), _sums(named))


def _sums(body: Sequence[tuple[Any, ...]]) -> tuple[str, ...]:
    """The sum of absolute differences from the paper per method, in points."""
    totals: dict[str, float] = {}
    for row in body:
        if row[7] is not None and "+" not in row[1]:
            totals[row[1]] = totals.get(row[1], 0.0) + abs(round(row[5]) - row[6])
    listed = ", ".join(f"{method} {total:.0f}" for method, total in totals.items())
    return (f"Sums of absolute differences, in rounded points: {listed}.",) if listed else ()


def _why(plan: PaperPlan, name: str, method: str) -> Reason:
    """Why a cell differs; if only some graphs were explained, that alone may be the reason."""
    return SOME_GRAPHS if name in plan.partial else flip_reason(name, method, plan.profile)


def _rate(cell: tuple[int, int] | None) -> float | None:
    return None if cell is None else 100 * cell[0] / cell[1]


def _same_rate(cell: tuple[int, int] | None, printed: int | None) -> bool:
    """Whether no other number of graphs is closer to the printed rate."""
    if printed is None or cell is None:
        return True
    found, total = cell
    return found == round(printed * total / 100) or abs(100 * found / total - printed) <= 0.5


# ---- distributions ----------------------------------------------------------------------


def distributions(plan: PaperPlan, rows: Sequence[Row]) -> Table:
    """Quartiles of d% and C per data set, method and class, with those of the supplement."""
    groups: dict[tuple[str, str, int], list[Row]] = {}
    for row in rows:
        if row["found"]:
            groups.setdefault((row["data"], row["method"], row["label_before"]), []).append(row)
    body = []
    for (name, method, label), members in sorted(
        groups.items(),
        key=lambda item: (_at(plan, item[0][0]), plan.methods.index(item[0][1]), item[0][2]),
    ):
        ours = [quartiles([float(r[x]) for r in members]) for x in ("d", "C")]
        printed = supplement().get((name, method, label))
        same = None
        if printed is not None:
            same = _near(ours[0], printed[0], 0.0006, 0) and _near(ours[1], printed[1], 0.51, 0.01)
        reason = "" if same in (None, True) else _why(plan, name, method).decisions
        who = (name.upper(), method.upper(), _class_name(plan, name, label))
        cells: list[Any] = [*who, len(members)]
        for i in (0, 1):
            cells += [_three_numbers(ours[i]), _three_numbers(printed[i] if printed else None)]
        body.append((*cells, same, reason))
    columns = ("data", "method", "class", "n", "d% q1, median, q3", "printed d%")
    title = (
        f"Distributions behind the figures, profile {plan.profile}: quartiles of d% and C over "
        "found counterfactuals, and those of the supplement's box plots"
    )
    more = ("C q1, median, q3", "printed C", "equal", "decision")
    return Table("distributions", title, (*columns, *more), tuple(body))


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """First quartile, median and third quartile, interpolated as box plots do."""
    low, middle, high = np.percentile(np.asarray(values), (25, 50, 75)).tolist()
    return low, middle, high


def _at(plan: PaperPlan, name: str) -> int:
    return next(i for i, s in enumerate(plan.sources) if s.spec.name == name)


def _class_name(plan: PaperPlan, name: str, label: int) -> str:
    """The name of a class of a data set."""
    names = plan.sources[_at(plan, name)].dataset.class_names
    return names[label] if 0 <= label < len(names) else str(label)


def _near(
    ours: tuple[float, float, float], theirs: Sequence[float | None], plus: float, times: float
) -> bool:
    return all(
        t is None or abs(o - t) <= plus + times * abs(t) for o, t in zip(ours, theirs, strict=True)
    )


def _three_numbers(values: Sequence[float | None] | None) -> str | None:
    if values is None:
        return None
    return ", ".join(MISSING if v is None else f"{v:.4g}" for v in values)
