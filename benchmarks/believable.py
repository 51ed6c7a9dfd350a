"""Do sentences describe graphs that could exist? The tables of ``docs/believable.md``.

Explains graphs of real and synthetic data sets before and after: with ``in_range="ignore"`` and
``balance="off"``, and with the defaults. Every sentence is then tested on 100 redraws that no
search has seen. Prints Markdown. Run from the root of the repository::

    python benchmarks/believable.py                     # the first table; hours
    python benchmarks/believable.py --paper             # the second: every method of the paper
    python benchmarks/believable.py --stable            # the third: stable=0.8
    python benchmarks/believable.py --planted           # the fourth: is the planted pair named?
    python benchmarks/believable.py --only mice --presets edges-svm --graphs 4
    python benchmarks/believable.py --paper --methods tri,dat
    python benchmarks/believable.py --short             # two graphs of a small data set

The stability of a sentence is that on 20 refits that no search has seen. Results are appended to
``--out``, one line per explanation. A stopped run resumes there, and ``--no-run`` prints the tables
from what is there. ``--write`` puts them on the page. All data sets but the mice and the synthetic
ones need the paper's data files (``DENSEFLIP_DATA``).
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from denseflip import Dataset, describe, evaluate, explain, fit_oracle, load_dataset, make_refits
from denseflip.checks import count_words
from denseflip.classifiers.refits import Refits
from denseflip.errors import MissingInputError, OracleError
from denseflip.experiments.worker import planted_in
from denseflip.metrics import MEASURES, Case
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.claims.places import Places
from denseflip.search.claims.reference import Reference

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "believable.md"
PRESETS = ("regions-logistic", "edges-svm", "sf-knn")
DATA = {  # data set → how many of its graphs
    "mice": 16,
    "mice:task=strain": 16,
    "synthetic:strength=0.5": 20,
    "synthetic:strength=1.0": 20,
    "bip": 20,
    "aut": 20,
    "adhdm": 20,
}
PAPER_DATA = dict.fromkeys(("aut", "bip", "adhd", "adhdm", "ohsu", "pek", "kki"), 12)
FORMS: dict[str, dict[str, Any]] = {
    "before": {"in_range": "ignore", "balance": "off"},
    "after": {},
}
STABLE: dict[str, dict[str, Any]] = {"default": {}, "stable=0.8": {"stable": 0.8}}
PLANTED: dict[str, dict[str, Any]] = {
    "in_range=ignore": FORMS["before"],
    "default": {},
    "stable=0.8": {"stable": 0.8},
}
PAPER = ("edg", "tri", "cli", "rcli", "rcli+bw", "dat", "dat+bw", "obs", "dbs")
OURS = ("race", "blocks", "auto")
BUDGET = 3000  # queries of each method of the second table
DRAWS = 100  # fresh redraws of every sentence
_NAMES = ("told", "as_read", "worst_z", "level", "cells_in_range", "cells", "words")
Row = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """A data set with a classifier that was trained on it."""

    data: str
    preset: str

    @cached_property
    def dataset(self) -> Dataset:
        """The graphs."""
        return load_dataset(self.data)

    @cached_property
    def oracle(self) -> Any:
        """The classifier."""
        return fit_oracle(self.dataset, self.preset)

    @cached_property
    def background(self) -> Background:
        """The graphs, as every search uses them."""
        return Background(self.dataset.graphs)

    def refits(self, seed: int) -> Refits | None:
        """The classifier trained again; None if every refit gives all graphs the same label."""
        if seed not in self._refits:
            try:
                self._refits[seed] = make_refits(self.dataset, self.oracle, seed=seed)
            except OracleError:
                self._refits[seed] = None
        return self._refits[seed]

    @cached_property
    def _refits(self) -> dict[int, Refits | None]:
        return {}

    def chosen(self, n: int) -> list[int]:
        """Numbers of n graphs, as many of each true class as possible, in the data set's order."""
        by_class: dict[Any, list[int]] = {}
        for i, label in enumerate(self.dataset.labels):
            by_class.setdefault(label, []).append(i)
        turns = [i for turn in range(len(self.dataset)) for i in _nth(by_class.values(), turn)]
        return sorted(turns[:n])

    def quality(self) -> Row:
        """How well the classifier does on graphs that it was not trained on."""
        judged = evaluate(self.dataset, preset=self.preset, repeats=3, permutations=99)
        return {"accuracy": judged.accuracy, "level": judged.level}

    def row(self, graph: int, method: str = "auto", **options: Any) -> Row:
        """One explanation, measured."""
        data, began = self.dataset, time.perf_counter()
        if "stable" in options:
            options["refits"] = self.refits(0)
        result = explain(
            data.graphs[graph],
            self.oracle,
            method,
            nodes=data.nodes,
            background=self.background,
            **options,
        )
        row: Row = {"found": result.found, "seconds": time.perf_counter() - began}
        if not result.found:
            return row
        session = Session(self.oracle)
        # Its own regions if the result has some, else the first of the node table.
        story = describe(
            result, data.nodes, session, background=self.background, refits=self.refits(1) or ()
        )
        seen = story.stability
        if "stable" in options:  # its own verdict is on refits of the same seed
            again = replace(result, stability=None)
            known = {"background": self.background, "refits": self.refits(1)}
            seen = describe(again, data.nodes, session, **known).stability
        labels = self.background.labels(session)
        case = Case(
            result,
            regions=data.nodes.taxonomy() if data.nodes.regions else None,
            background=list(zip(data.graphs, labels, strict=True)),
            session=session,
            draws=DRAWS,
            nodes=data.nodes,
            story=story,
            planted=planted_in(data),
        )
        if case.planted is not None:
            row |= {name: MEASURES[name](case) for name in ("planted_first", "planted_alone")}
        row |= {name: MEASURES[name](case) for name in _NAMES}
        known = [there for there in case.reference if there.low is not None]
        return row | {
            "in_range": [bool(there.in_range) for there in known],
            "inside": [_inside(there.low, there.after, there.high) for there in known],
            "towards": list(case.towards),
            "net": result.counterfactual.n_edges - result.original.n_edges,
            "cells_before": _cells_before(case),
            "distance": result.distance,
            "d": result.relative_distance,
            "calls": result.calls,
            "language": None if case.claim is None else case.claim.spoken,
            "reading": case.true_reading,
            "sentence": story.statement,
            "longest": max(map(count_words, re.split(r"\. |\n", story.statement))),
            "stability": None if seen is None else seen.share,
            "holds": None if seen is None or not seen.agreeing else seen.holds / seen.agreeing,
            "held_out": None if result.stability is None else result.stability.share,
        }


def _nth(lists: Iterable[Sequence[int]], n: int) -> list[int]:
    return [one[n] for one in lists if n < len(one)]


def _inside(low: int | None, value: int, high: int | None) -> bool:
    return low is not None and high is not None and low <= value <= high


def _cells_before(case: Case) -> float | None:
    """`cells_in_range` of the original."""
    if case.regions is None:
        return None
    group = [g for g, label in case.background or () if label == case.result.label_after]
    reference = Reference(Places(case.result.original, case.regions), (), group)
    return reference.share_in_range if reference.is_known else None


# ---- runs ---------------------------------------------------------------------------------


class Log:
    """Rows in a file, one line each, by what was run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[tuple[Any, ...], Row] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                stored = json.loads(line)
                self.rows[tuple(stored.pop("key"))] = stored

    def add(self, key: tuple[Any, ...], row: Row) -> None:
        """Keep a row."""
        self.rows[key] = row
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as handle:
            handle.write(json.dumps({"key": key, **row}, ensure_ascii=False) + "\n")


def run(
    log: Log, setting: Setting, n: int, ways: Mapping[str, Mapping[str, Any]], *, judge: bool
) -> None:
    """Explain n graphs in every way that the log does not have yet; judge the classifier."""
    todo = [
        (graph, way)
        for way in ways
        for graph in setting.chosen(n)
        if (setting.data, setting.preset, way, graph) not in log.rows
    ]
    for graph, way in todo:
        try:
            row = setting.row(graph, **ways[way])
        except MissingInputError:  # a method that needs regions, and a data set without
            continue
        log.add((setting.data, setting.preset, way, graph), row)
    if judge and (setting.data, setting.preset) not in log.rows:
        log.add((setting.data, setting.preset), setting.quality())


# ---- tables -------------------------------------------------------------------------------

COLUMNS = (
    "told", "true", "in range", "inside", "net edges", "cells in range", "worst z", "towards",
    "level", "places", "words", "edits", "queries", "stability",
)  # fmt: skip


def figures(rows: Sequence[Row]) -> list[str]:
    """The cells of one line of a table, in the order of `COLUMNS`."""
    found = [row for row in rows if row["found"]]
    judged = [row for row in found if row["in_range"]]
    towards = [yes for row in found for yes in row["towards"]]
    levels = [row["level"] for row in found if row["level"] is not None]
    before, after = ([r[k] for r in found] for k in ("cells_before", "cells_in_range"))
    return [
        _of(sum(bool(row["told"]) for row in found), len(rows)),
        _share([row["as_read"] for row in found]),
        _of(sum(all(row["in_range"]) for row in judged), len(judged)),
        _of(sum(all(row["inside"]) for row in judged), len(judged)),
        _median([abs(row["net"]) for row in found]),
        f"{_share(before)} → {_share(after)}",
        _median([row["worst_z"] for row in found], places=1),
        _of(sum(towards), len(towards)),
        _of(sum(levels), len(levels)),
        *(_median([row[name] for row in found]) for name in ("cells", "words", "distance")),
        _median([row["calls"] for row in found]),
        _share([row.get("stability") for row in found]),
    ]


def first_table(log: Log) -> Iterator[str]:
    """Before and after, by data set and classifier."""
    yield from _head(("data set", "classifier", "", *COLUMNS))
    pooled: dict[str, list[Row]] = {way: [] for way in FORMS}
    for preset in PRESETS:
        for data in DATA:
            quality = log.rows.get((data, preset))
            for way in FORMS:
                rows = [row for key, row in log.rows.items() if key[:3] == (data, preset, way)]
                if not rows:
                    continue
                if quality is not None and quality["level"] == "better":
                    pooled[way] += rows
                named = f"`{preset}`" if quality is None else f"`{preset}` {_of_chance(quality)}"
                yield _line((_spoken(data), named, way, *figures(rows)))
    for way, rows in pooled.items():
        if rows:
            yield _line(("all that beat chance", "", way, *figures(rows)))


def _of_chance(quality: Row) -> str:
    return f"({_share([quality['accuracy']])}{'' if quality['level'] == 'better' else ', chance'})"


def second_table(log: Log) -> Iterator[str]:
    """Every method, over all data sets together."""
    yield from _head(
        ("method", "data sets", "found", "d%", "told", "in range", "both", "places in range",
         "worst z", "stability", "towards", "cells in range", "places", "net edges")
    )  # fmt: skip
    for method in (*PAPER, *OURS):
        rows = [row for key, row in log.rows.items() if key[2:3] == (f"method {method}",)]
        if not rows:
            continue
        found = [row for row in rows if row["found"]]
        n_data = len({key[0] for key in log.rows if key[2:3] == (f"method {method}",)})
        cells = dict(zip(COLUMNS, figures(rows), strict=True))
        places = [yes for row in found for yes in row["in_range"]]
        both = sum(bool(row["told"] and row["in_range"] and all(row["in_range"])) for row in found)
        yield _line(
            (
                f"`{method}`", str(n_data), _of(len(found), len(rows)),
                _median([row["d"] for row in found], places=2), cells["told"], cells["in range"],
                _of(both, len(rows)), _share(places), cells["worst z"], cells["stability"],
                cells["towards"], cells["cells in range"], cells["places"], cells["net edges"],
            )
        )  # fmt: skip


def third_table(log: Log) -> Iterator[str]:
    """With and without ``stable``, judged by refits that neither search has seen."""
    yield from _head(
        ("data set", "classifier", "search", "told", "in range", "held-out share",
         "other refits: share", "holds for", "places", "edits", "queries", "seconds")
    )  # fmt: skip
    for data, preset, way, rows in _by_way(log, STABLE, "stable"):
        found = [row for row in rows if row["found"]]
        cells = dict(zip(COLUMNS, figures(rows), strict=True))
        yield _line(
            (
                _spoken(data), f"`{preset}`", way, cells["told"], cells["in range"],
                _share([row["held_out"] for row in found]), cells["stability"],
                _share([row["holds"] for row in found]), cells["places"], cells["edits"],
                cells["queries"], _median([row["seconds"] for row in found], places=1),
            )
        )  # fmt: skip


def fourth_table(log: Log) -> Iterator[str]:
    """How often the sentence names the planted pair of regions first, and alone."""
    names = ("data set", "classifier", "search", "told", "first", "alone", "places", "stability")
    yield from _head(names)
    for data, preset, way, rows in _by_way(log, PLANTED, "planted"):
        found = [row for row in rows if row["found"]]
        cells = dict(zip(COLUMNS, figures(rows), strict=True))
        named = (sum(bool(r[f"planted_{how}"]) for r in found) for how in ("first", "alone"))
        first, alone = (_of(n, len(rows)) for n in named)
        yield _line(
            (
                _spoken(data), f"`{preset}`", way, cells["told"], first, alone, cells["places"],
                cells["stability"],
            )
        )  # fmt: skip


def _by_way(log: Log, ways: Iterable[str], table: str) -> Iterator[tuple[str, str, str, list[Row]]]:
    """The rows of each line of a table."""
    for preset in PRESETS:
        for data in DATA:
            for way in ways:
                key = (data, preset, f"{table} {way}")
                rows = [row for known, row in log.rows.items() if known[:3] == key]
                if rows:
                    yield data, preset, way, rows


def _spoken(data: str) -> str:
    return data.replace(":strength=", ", ").replace("mice:task=strain", "mice, four strains")


def _head(names: Sequence[str]) -> Iterator[str]:
    yield _line(names)
    yield _line(["---"] * len(names))


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _of(k: int, n: int) -> str:
    return f"{k} of {n}" if n else "–"


def _share(values: Sequence[float | None]) -> str:
    known = [float(value) for value in values if value is not None]
    return f"{statistics.fmean(known):.2f}".removeprefix("0") if known else "–"


def _median(values: Sequence[float | None], places: int = 0) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return "–"
    middle = statistics.median(known)
    return f"{middle:,.{places}f}" if places or middle == int(middle) else f"{middle:,.1f}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the options, run, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--paper", action="store_true", help="the table of the paper's methods")
    parser.add_argument("--stable", action="store_true", help="the table of stable=0.8")
    parser.add_argument("--planted", action="store_true", help="the table of the planted pair")
    parser.add_argument("--graphs", type=int, help="graphs of each data set")
    parser.add_argument("--methods", help="methods of --paper, separated by commas")
    parser.add_argument("--only", help="data sets, separated by commas")
    parser.add_argument("--presets", default=",".join(PRESETS), help="classifiers")
    parser.add_argument("--out", type=Path, default=Path("believable-out/rows.jsonl"))
    parser.add_argument("--short", action="store_true", help="two graphs of one small data set")
    parser.add_argument("--no-run", action="store_true", help="take the results that are there")
    parser.add_argument("--write", action="store_true", help="put the table on the page")
    options = parser.parse_args(arguments)
    log = Log(options.out)
    data = PAPER_DATA if options.paper else DATA
    presets = options.presets.split(",")
    ways: dict[str, dict[str, Any]] = FORMS
    table, marker = first_table, "before-after"
    if options.paper:
        presets, table, marker = ["sf-knn"], second_table, "paper"
        names = options.methods.split(",") if options.methods else (*PAPER, *OURS)
        ways = {f"method {m}": {"method": m, "budget": BUDGET} for m in names}
    elif options.stable:
        table, marker = third_table, "stable"
        ways = {f"stable {way}": STABLE[way] for way in STABLE}
    elif options.planted:
        table, marker = fourth_table, "planted"
        ways = {f"planted {way}": PLANTED[way] for way in PLANTED}
        data = {name: n for name, n in data.items() if name.startswith("synthetic")}
    if options.short:
        data, presets = {"synthetic:strength=1.0": 2}, presets[:1]
    if options.only:
        data = {name: n for name, n in data.items() if name in options.only.split(",")}
    if options.graphs:
        data = dict.fromkeys(data, options.graphs)
    if not options.no_run:
        # The methods of the paper are fast: first one method after the other.
        rounds = [{way: ways[way]} for way in ways] if options.paper else [ways]
        settings = [Setting(name, preset) for preset in presets for name in data]
        for some in rounds:
            for setting in settings:
                run(log, setting, data[setting.data], some, judge=table is first_table)
    lines = list(table(log))
    print("\n".join(lines))
    if options.write:
        sys.path.insert(0, str(ROOT / "scripts"))
        from markers import fill

        fill(PAGE, marker, lines)


if __name__ == "__main__":
    main()
