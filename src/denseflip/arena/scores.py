"""From the records of trials to the tables of the benchmark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import combinations
from statistics import fmean, median
from typing import Any

from denseflip.arena.frozen import Card
from denseflip.arena.trial import KIND
from denseflip.experiments.table import Table
from denseflip.runs.result_store import Record

Row = dict[str, Any]
_COMMON = 0.5  # validity from which an explainer decides which graphs are commonly solved
_VALID = 0.9  # validity that a winner must have
_TRUE = 0.9  # share of redraws of a sentence that must flip
SIDES = ("in range", "between", "beyond")


def trial_rows(records: Iterable[Record]) -> list[Row]:
    """One flat row per trial, in a fixed order."""
    rows = []
    for record in records:
        spec = record["spec"]
        if spec.get("kind") != KIND:
            continue
        rows.append(
            {
                "id": record["id"],
                "data": spec["data"]["name"],
                "oracle": spec["oracle"]["kind"],
                "training": spec["oracle"]["training"],
                "weights": spec["oracle"]["weights"],
                "explainer": spec["explainer"],
                **{
                    key: spec[key]
                    for key in ("track", "removal_only", "graph", "seed", "renumbering", "budget")
                },
                **record["result"],
                "seconds": record["times"]["search"],
                "training_seconds": record["times"]["training"],
            }
        )
    keys = ("data", "oracle", "training", "explainer", "graph", "seed", "renumbering")
    return sorted(rows, key=lambda row: tuple(row[key] for key in keys))


def oracle_table(cards: Sequence[Card]) -> Table:
    """The frozen classifiers: accuracy on held-out graphs and hash."""
    columns = ("data", "kind", "training", "held_out", "n_held_out", "majority", "weights")
    rows = tuple(tuple(asdict(card)[column] for column in columns) for card in cards)
    return Table("classifiers", "Frozen classifiers", columns, rows, keys=3)


def score_table(rows: Sequence[Row]) -> Table:
    """Validity, size and price of the answers, by data set, classifier and explainer."""
    cells = []
    for side, by_name in _grouped(rows):
        common = _common_graphs(by_name)
        for name, members in by_name.items():
            valid = [row for row in members if row["found"]]
            shared = [r["ged"] for r in valid if r["graph"] in common and _is_first(r)]
            cells.append(
                (
                    *side,
                    name,
                    members[0]["track"],
                    members[0]["removal_only"],
                    _n_graphs(members),
                    len(members),
                    _mean(members, "found"),
                    _middle(valid, "ged"),
                    median(shared) if len(shared) == len(common) > 0 else None,
                    len(common),
                    _mean(valid, "sparsity"),
                    _mean(valid, "fidelity_plus"),
                    _mean(valid, "fidelity_minus"),
                    _middle(members, "calls"),
                    _middle(members, "backwards"),
                    _middle(members, "background_calls"),
                    _middle(members, "training_calls"),
                    _middle(members, "seconds"),
                    _middle(members, "training_seconds"),
                )
            )
    columns = (
        *("data", "classifier", "explainer", "track", "removal only", "graphs", "trials"),
        *("validity", "GED", "GED common", "n common", "sparsity", "fidelity+", "fidelity-"),
        *("calls", "of these backward", "background calls", "training calls", "seconds"),
        "training seconds",
    )
    notes = (
        "Each graph and training counts once: seeds are averaged first. Validity is the share of "
        "answers whose hard-edited graph gets another label. GED, sparsity (1 - GED / node pairs) "
        "and fidelity are of valid answers; medians, and means for shares. GED common is over the "
        f"graphs that every explainer with a validity of at least {_COMMON} solves (training 0, "
        "seed 0); explainers that ran on fewer graphs are left out. Fidelity+ and - are those of "
        "the removed edges as an explanation. Calls are graphs passed forward or backward by the "
        "search; labels of the data set and training are counted separately. Seconds are "
        "processor time.",
    )
    return Table("scores", "Scores by classifier and explainer", columns, tuple(cells), notes, 3)


def trust_table(rows: Sequence[Row]) -> Table:
    """What can be said about the answers, and how stable they are."""
    cells = []
    for side, by_name in _grouped(rows, renumbered=True):
        for name, members in by_name.items():
            valid = [row for row in members if row["found"]]
            told = [row for row in valid if "cells" in row]
            sides = [row["side"] for row in told if row["side"]]
            cells.append(
                (
                    *side,
                    name,
                    len(told),
                    _middle(told, "cells"),
                    share_true(told),
                    _mean(told, "told"),
                    *(sides.count(s) / len(sides) if sides else None for s in SIDES),
                    _mean(told, "robustness_1"),
                    _mean(told, "kept"),
                    _mean(told, "planted_first"),
                    instability(valid, "seed"),
                    instability(valid, "renumbering"),
                    instability(valid, "training"),
                )
            )
    columns = (
        *("data", "classifier", "explainer", "n", "places named", "true as read"),
        *("in at most 5 places", *SIDES, "stable to noise", "stable to retraining"),
        *("planted first", "instability seeds", "instability numbering"),
        "instability retraining",
    )
    notes = (
        "n counts the valid answers that were described: training 0, seed 0. True as read: at "
        f"least {_TRUE:.0%} of 20 redraws of the shortest sentence flip the label. In range, "
        "between and beyond: where the region pairs that the sentence names end, compared with the "
        "graphs of the new label and of both. Stable to noise: the label survives random flips of "
        "1 % of all pairs. Stable to retraining: the change also flips the other trainings. "
        "Instability: one minus the Jaccard similarity of the edits, 0 for the same edits.",
    )
    return Table("trust", "Trust by classifier and explainer", columns, tuple(cells), notes, 3)


def winner_table(rows: Sequence[Row]) -> Table:
    """Who wins where: fewest edits by track, fewest calls, best sentences."""
    cells = []
    for side, by_name in _grouped(rows):
        most = max(map(_n_graphs, by_name.values()))
        good = {
            name: [row for row in members if row["found"]]
            for name, members in by_name.items()
            if _n_graphs(members) == most and (_mean(members, "found") or 0) >= _VALID
        }
        edits = {name: _middle(valid, "ged") for name, valid in good.items()}
        for track in ("labels", "probabilities", "gradients"):
            of_track = {n: v for n, v in edits.items() if by_name[n][0]["track"] == track}
            cells.append((*side, f"fewest edits, {track}", *_best(of_track, min)))
        calls = {name: _middle(by_name[name], "calls") for name in good}
        cells.append((*side, "fewest calls", *_best(calls, min)))
        told = {name: [r for r in valid if "cells" in r] for name, valid in good.items()}
        for title, share in TRUST.items():
            cells.append((*side, title, *_best({n: share(v) for n, v in told.items()}, max)))
    columns = ("data", "classifier", "measure", "explainer", "value")
    notes = (f"Of explainers that ran on all graphs with a validity of at least {_VALID}.",)
    return Table("winners", "Who wins where", columns, tuple(cells), notes, 3)


def overall_table(rows: Sequence[Row]) -> Table:
    """Every explainer over all classifiers: its edits relative to the fewest, calls and trust."""
    first = [row for row in rows if _is_first(row)]
    fewest: dict[tuple[str, str, str], int] = {}
    for row in first:
        if row["found"]:
            fewest[_case(row)] = min(row["ged"], fewest.get(_case(row), row["ged"]))
    by_name: dict[str, list[Row]] = {}
    for row in first:
        by_name.setdefault(row["explainer"], []).append(row)
    cells = []
    for name, members in by_name.items():
        valid = [row for row in members if row["found"]]
        ratios = [row["ged"] / max(1, fewest[_case(row)]) for row in valid]
        calls = [row["calls"] for row in members if row["calls"] is not None]
        cells.append(
            (
                name,
                members[0]["track"],
                members[0]["removal_only"],
                len({(row["data"], row["oracle"]) for row in members}),
                len(members),
                fmean(row["found"] for row in members),
                median(ratios) if ratios else None,
                median(calls) if calls else None,
                *(share(valid) for share in TRUST.values()),
            )
        )
    cells.sort(key=lambda row: (row[6] is None, row[6]))
    columns = (
        *("explainer", "track", "removal only", "classifiers", "graphs", "validity"),
        *("edits / fewest", "calls", *TRUST),
    )
    notes = (
        "Over all classifiers that the explainer can explain, seed 0 and training 0. Edits / "
        "fewest: its edits divided by the fewest of any explainer on the same graph, median.",
    )
    return Table("overall", "All classifiers together", columns, tuple(cells), notes, 1)


def problem_table(rows: Sequence[Row]) -> Table:
    """Why answers were not found: crashes, time-outs, old labels, spent budgets."""
    counts: dict[tuple[str, str, str, str], int] = {}
    for row in rows:
        if not row["found"]:
            reason = row["problem"] or "no answer"
            key = (row["data"], row["oracle"], row["explainer"], reason)
            counts[key] = counts.get(key, 0) + 1
    columns = ("data", "classifier", "explainer", "reason", "trials")
    cells = tuple((*key, n) for key, n in sorted(counts.items()))
    return Table("not-found", "Not found: reasons", columns, cells, keys=4)


def share_true(rows: Sequence[Row]) -> float | None:
    """Share of the described answers whose sentence is true as read."""
    known = [row["as_read"] for row in rows if row.get("as_read") is not None]
    return sum(share >= _TRUE for share in known) / len(known) if known else None


def share_in_range(rows: Sequence[Row]) -> float | None:
    """Share of the described answers whose named region pairs all end in range."""
    known = [row["side"] == "in range" for row in rows if row.get("side")]
    return fmean(known) if known else None


#: Measures of sentences and answers for which more is better: title → its value for some rows.
TRUST: dict[str, Callable[[Sequence[Row]], float | None]] = {
    "true as read": share_true,
    "in range": share_in_range,
    "stable to noise": lambda rows: _mean(rows, "robustness_1"),
    "stable to retraining": lambda rows: _mean(rows, "kept"),
}


def instability(rows: Sequence[Row], by: str) -> float | None:
    """Mean Jaccard distance of the edits of one graph between two seeds, numberings or trainings.

    Only trials that differ in nothing else are compared.
    """
    others = [key for key in ("seed", "renumbering", "training") if key != by]
    groups: dict[str, list[set[int]]] = {}
    for row in rows:
        if not any(row[key] for key in others):
            groups.setdefault(row["graph"], []).append(set(row["edits"]))
    far = [
        1 - len(a & b) / len(a | b)
        for members in groups.values()
        for a, b in combinations(members, 2)
        if a | b
    ]
    return fmean(far) if far else None


def _grouped(
    rows: Sequence[Row], *, renumbered: bool = False
) -> list[tuple[tuple[str, str], dict[str, list[Row]]]]:
    """Rows by data set and classifier, then by explainer."""
    sides: dict[tuple[str, str], dict[str, list[Row]]] = {}
    for row in rows:
        if renumbered or not row["renumbering"]:
            by_name = sides.setdefault((row["data"], row["oracle"]), {})
            by_name.setdefault(row["explainer"], []).append(row)
    return list(sides.items())


def _is_first(row: Row) -> bool:
    """Whether a trial has the first seed, training and numbering."""
    return not (row["seed"] or row["training"] or row["renumbering"])


def _case(row: Row) -> tuple[str, str, str]:
    return row["data"], row["oracle"], row["graph"]


def _n_graphs(rows: Sequence[Row]) -> int:
    return len({row["graph"] for row in rows})


def _common_graphs(by_name: dict[str, list[Row]]) -> set[str]:
    """The graphs that all explainers of some validity solve, of those that ran on all graphs."""
    most = max(map(_n_graphs, by_name.values()))
    solved = []
    for members in by_name.values():
        first = [row for row in members if _is_first(row)]
        found = {row["graph"] for row in first if row["found"]}
        if _n_graphs(first) == most and len(found) >= _COMMON * len(first):
            solved.append(found)
    return set.intersection(*solved) if solved else set()


def _best(
    values: dict[str, float | None], choose: Callable[..., Any]
) -> tuple[str | None, float | None]:
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return None, None
    best = choose(known.values())
    if choose is max and not best:
        return None, best  # a share that nobody has any of
    return ", ".join(name for name, value in known.items() if value == best), best


def _by_unit(rows: Sequence[Row], column: str) -> list[list[float]]:
    """The numbers of a column by classifier, graph and training, where there are any."""
    units: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        if isinstance(row.get(column), (bool, int, float)):
            units.setdefault((*_case(row), row["training"]), []).append(float(row[column]))
    return list(units.values())


def _middle(rows: Sequence[Row], column: str) -> float | None:
    units = _by_unit(rows, column)
    return median(median(unit) for unit in units) if units else None


def _mean(rows: Sequence[Row], column: str) -> float | None:
    units = _by_unit(rows, column)
    return fmean(fmean(unit) for unit in units) if units else None
