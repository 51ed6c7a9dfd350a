"""Results of a store: rows from records, filters, groups and tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.experiments.records import COLUMNS, edit_codes
from denseflip.experiments.table import Table
from denseflip.metrics import MEASURES
from denseflip.metrics.measures import MEASURE_WORDS
from denseflip.runs.result_store import Record

KEYS = ("data", "oracle", "method", "parameters", "seed", "graph", "profile", "budget")
TIMES = ("elapsed",)
ALL_COLUMNS = (*KEYS, *COLUMNS, *TIMES)
DEFAULT_GROUP = ("data", "oracle", "method", "label_before")
DEFAULT_METRICS = ("relative_distance", "calls")
_SAY_LITTLE = {  # in addition to flip rate, relative distance and all calls
    *("found", "distance", "search_calls", "refine_calls", "background_calls", "amortised_calls"),
    *("distinct_calls", "elapsed", "minimal"),
}
SIDES = ("data", "oracle", "method", "parameters")
_LANGUAGES = ("regions", "nodes", "pairs")
_SENTENCE = (
    *("cells", "words", "distance", "relative_distance", "calls"),
    *("as_read", "as_read_typical"),
    *("in_range", "worst_z", "towards", "level", "cells_in_range"),
)
_PLANTED = ("planted_first", "planted_alone")
Row = dict[str, Any]


def to_rows(records: Iterable[Record]) -> list[Row]:
    """Return one flat row per explanation, sorted by data set, oracle, method, seed and graph."""
    rows = []
    for record in records:
        spec = record["spec"]
        if spec["kind"] != "run":
            continue
        given = {**spec["method"]["parameters"], **spec["method"].get("constraints", {})}
        row: Row = {
            "data": spec["data"]["name"],
            "oracle": spec["oracle"]["name"],
            "method": spec["method"]["name"],
            "parameters": ", ".join(f"{k}={v}" for k, v in sorted(given.items())),
            "seed": spec["seed"],
            "graph": spec["graph"],
            "profile": spec["profile"],
            "budget": spec["budget"],
        }
        row.update({column: record["result"].get(column) for column in COLUMNS})
        row["elapsed"] = record["times"]["search"]
        row["_record"] = record
        row["_id"] = record["id"]
        rows.append(row)
    rows.sort(
        key=lambda r: (
            *(str(r[k]) for k in ("profile", "data", "oracle", "method", "parameters")),
            r["seed"],
            r["graph"],
            r["_id"],
        )
    )
    return rows


def where(rows: Sequence[Row], conditions: Iterable[str]) -> list[Row]:
    """Return rows that meet all conditions: ``column=value``, ``!=``, ``<``, ``<=``, ``>``, ``>=``.

    >>> rows = [{"method": "tri", "calls": 3}, {"method": "cli", "calls": 30}]
    >>> where(rows, ["calls<10"])
    [{'method': 'tri', 'calls': 3}]
    """
    tests = [_condition(text) for text in conditions]
    return [row for row in rows if all(test(row) for test in tests)]


def _condition(text: str) -> Callable[[Row], bool]:
    for sign in ("!=", "<=", ">=", "=", "<", ">"):  # longer operators first
        column, found, value = text.partition(sign)
        if found:
            break
    else:
        msg = f"A condition must be column=value (or !=, <, <=, >, >=); got {text!r}."
        raise InvalidParameterError(msg)
    column, value = column.strip(), value.strip()
    _check_columns([column])
    if sign in {"=", "!="}:
        return lambda row: _same(row[column], value) == (sign == "=")
    try:
        bound = float(value)
    except ValueError as error:
        msg = f"The condition {text!r} needs a number; got {value!r}."
        raise InvalidParameterError(msg) from error

    def holds(row: Row) -> bool:
        got = row[column]
        if isinstance(got, bool) or not isinstance(got, (int, float)):
            return False
        return {"<": got < bound, "<=": got <= bound, ">": got > bound, ">=": got >= bound}[sign]

    return holds


def _same(got: Any, text: str) -> bool:
    if isinstance(got, bool):
        return text.lower() in ({"true", "yes", "1"} if got else {"false", "no", "0"})
    if got is None:
        return text.lower() in {"none", ""}
    if isinstance(got, (int, float)):
        try:
            return float(text) == got
        except ValueError:
            return False
    return str(got).lower() == text.lower()


def _check_columns(columns: Iterable[str]) -> None:
    for column in columns:
        if column not in ALL_COLUMNS:
            raise UnknownNameError("column", column, ALL_COLUMNS, aliases=MEASURE_WORDS)


def list_table(rows: Sequence[Row], columns: Sequence[str] = ()) -> Table:
    """Return a table with one explanation per row."""
    chosen = tuple(columns) or ALL_COLUMNS
    _check_columns(chosen)
    cells = tuple(tuple(row[c] for c in chosen) for row in rows)
    return Table("results", f"{len(rows)} explanations", chosen, cells)


def group_table(
    rows: Sequence[Row],
    by: Sequence[str] = DEFAULT_GROUP,
    metrics: Sequence[str] = DEFAULT_METRICS,
    *,
    name: str = "summary",
    title: str = "Flip rates, and medians (means for shares) over found counterfactuals",
) -> Table:
    """Return flip rate and medians (means for shares) per group, and ``seed_stability``."""
    _check_columns(by)
    _check_columns(m for m in metrics if m != "seed_stability")
    cells = []
    for key, members in _grouped(rows, by):
        found = [r for r in members if r["found"]]
        values = [
            stability(members) if m == "seed_stability" else typical(m, [r[m] for r in found])
            for m in metrics
        ]
        cells.append((*key, len(members), len(found) / len(members), *values))
    columns = (*by, "n", "flip_rate", *metrics)
    return Table(name, title, columns, tuple(cells), keys=len(by))


def _grouped(rows: Sequence[Row], by: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], list[Row]]]:
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(_hashable(row[k]) for k in by), []).append(row)
    for key in sorted(groups, key=lambda k: tuple((str(type(x)), x) for x in k)):
        yield key, groups[key]


def typical(metric: str, values: Iterable[Any]) -> float | None:
    """Return the median of a column; the mean for shares and booleans."""
    return MEASURES[metric].typical(values) if metric in MEASURES else median(values)


def median(values: Iterable[Any]) -> float | None:
    """Return the median of the numbers among the values (True counts as 1); None without any."""
    numbers = [float(v) for v in values if isinstance(v, (bool, int, float))]
    return statistics.median(numbers) if numbers else None


def bench_tables(
    rows: Sequence[Row], names: Mapping[tuple[str, str], Sequence[str]] | None = None
) -> list[Table]:
    """Return the tables of `denseflip bench`: flip rates per class, all measures, sentences.

    ``names`` are the class names by data set and oracle, for oracles that use these labels.
    """
    sides = SIDES
    title = "All measures: medians (means for shares) over found counterfactuals"
    named = [
        {**row, "label_before": class_name(row["label_before"], (names or {}).get(_side(row), ()))}
        for row in rows
    ]
    return [
        group_table(named, (*sides, "label_before"), DEFAULT_METRICS, name="flips"),
        group_table(
            rows,
            sides,
            [name for name in MEASURES if name not in (*_SAY_LITTLE, *_PLANTED)],
            name="measures",
            title=title,
        ),
        sentence_table(rows, sides),
    ]


def class_name(label: Any, names: Sequence[str]) -> Any:
    """Return the name of a class; its label if it has no name.

    >>> class_name(1, ("well", "ill")), class_name(2, ("well", "ill")), class_name("x", ())
    ('ill', 2, 'x')
    """
    known = isinstance(label, int) and 0 <= label < len(names)
    return names[label] if known else label


def _side(row: Row) -> tuple[str, str]:
    return row["data"], row["oracle"]


def sentence_table(rows: Sequence[Row], by: Sequence[str] = SIDES) -> Table:
    """Summarise the sentences: how many are true as read, in which language, at which cost.

    ``told`` is a share of all explanations, found or not. ``regions``, ``nodes`` and ``pairs``
    count the languages of those told, and ``any`` those that hold for any connections of the
    places. Shares are means; all else are medians over what was found.
    """
    _check_columns(by)
    planted = any(row["planted_first"] is not None for row in rows)
    metrics = (*_SENTENCE, *(_PLANTED if planted else ()))
    cells = []
    for key, members in _grouped(rows, by):
        found = [r for r in members if r["found"]]
        told = [r for r in members if r["told"]]
        spoken = [str(r["language"]).partition(" ")[0] for r in told]
        cells.append(
            (
                *key,
                len(members),
                len(found),
                len(told) / len(members),
                *(spoken.count(name) for name in _LANGUAGES),
                sum(r["reading"] == "any" for r in told),
                *(typical(m, [r[m] for r in found]) for m in metrics),
            )
        )
    columns = (*by, "n", "found", "told", *_LANGUAGES, "any", *metrics)
    title = "Sentences that are true as read in at most 5 cells: share, language and cost"
    return Table("sentences", title, columns, tuple(cells), keys=len(by))


def stability(rows: Sequence[Row]) -> float | None:
    """Mean over graphs of the mean Jaccard similarity of the edits over seeds."""
    groups: dict[tuple[Any, ...], list[set[int]]] = {}
    for row in rows:
        if row["found"]:
            key = tuple(row[k] for k in ("data", "oracle", "method", "parameters", "graph"))
            groups.setdefault(key, []).append(set(edit_codes(row["_record"]).tolist()))
    means = [
        statistics.fmean(_jaccard(a, b) for a, b in combinations(members, 2))
        for members in groups.values()
        if len(members) > 1
    ]
    return statistics.fmean(means) if means else None


def _jaccard(a: set[Any], b: set[Any]) -> float:
    return len(a & b) / len(a | b) if a or b else 1.0


def _hashable(value: Any) -> Any:
    return "; ".join(map(str, value)) if isinstance(value, list) else value
