"""Run the comparisons of ``docs/sentences.md`` and update its tables.

    python scripts/make_sentence_tables.py [--only as-read] [--out FOLDER] [--no-run]

The script runs ``denseflip bench`` on ``examples/sentences.toml``, ``examples/as-read.toml`` and
``examples/edits.toml`` (minutes each; a stopped run resumes). ``--no-run`` updates the page from
stored results. It needs the paper's data files (``DENSEFLIP_DATA``).
"""

from __future__ import annotations

import argparse
import csv
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from markers import fill

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "sentences.md"
Row = dict[str, str]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run, and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", choices=TABLES, help="one of the comparisons")
    parser.add_argument(
        "--out", type=Path, default=Path("sentences-out"), help="folder for results"
    )
    parser.add_argument("--no-run", action="store_true", help="take the results that are there")
    options = parser.parse_args(arguments)
    for name in [options.only] if options.only else TABLES:
        folder = options.out / name
        if not options.no_run:
            config = ROOT / "examples" / f"{name}.toml"
            command = [sys.executable, "-m", "denseflip", "bench"]
            subprocess.run([*command, "--config", str(config), "--out", str(folder)], check=True)
        with (folder / "sentences.csv").open(encoding="utf-8", newline="") as handle:
            rows = list(csv.DictReader(handle))
        fill(PAGE, name, TABLES[name](rows).splitlines())


def sentences_table(rows: Sequence[Row]) -> str:
    """One row per data set, classifier and method."""
    head = (
        "data set", "classifier", "method", "told", "in", "read as any", "cells", "words", "edits",
        "d%", "queries", "as read", "planted first", "alone",
    )  # fmt: skip
    lines = []
    for row in rows:
        n = int(row["n"])
        spoken = [f"{row[k]} {k}" for k in ("regions", "nodes", "pairs") if row[k] != "0"]
        planted = [_count(row.get(k, ""), n) for k in ("planted_first", "planted_alone")]
        lines.append(
            (
                row["data"].replace(":strength=", ", "),
                f"`{row['oracle']}`",
                f"`{row['method']}`",
                f"{_count(row['told'], n)}",
                ", ".join(spoken),
                row["any"],
                _number(row["cells"]),
                _number(row["words"]),
                _number(row["distance"]),
                _share(row["relative_distance"], places=3),
                _number(row["calls"]),
                _share(row["as_read"]),
                *planted,
            )
        )
    return markdown(head, lines)


def as_read_table(rows: Sequence[Row]) -> str:
    """Methods against data sets: share of redraws that flip, and how many decisions are told."""
    there = {row["data"] for row in rows}
    datasets = [d for d in ("aut", "bip", "adhd", "adhdm", "ohsu", "pek", "kki") if d in there]
    methods = sorted(dict.fromkeys(row["method"] for row in rows), key=ORDER.index)
    by = {(row["method"], row["data"]): row for row in rows}

    def cell(method: str, data: str) -> str:
        row = by.get((method, data))
        if row is None:
            return "–"
        told = round(float(row["told"]) * int(row["n"]))
        return f"{_share(row['as_read'])} · {told}/{row['n']}"

    lines = [(f"`{m}`", *(cell(m, d) for d in datasets)) for m in methods]
    return markdown(("method", *(d.upper() for d in datasets)), lines)


def edits_table(rows: Sequence[Row]) -> str:
    """Methods against data sets: how many were found, median edits, median queries."""
    by = {(row["method"], row["data"]): row for row in rows}
    datasets = list(dict.fromkeys(row["data"] for row in rows))
    methods = sorted(dict.fromkeys(row["method"] for row in rows), key=ORDER.index)

    def cell(method: str, data: str) -> str:
        row = by[method, data]
        return f"{row['found']} · {_number(row['distance'])} · {_number(row['calls'])}"

    lines = [(f"`{m}`", *(cell(m, d) for d in datasets)) for m in methods]
    return markdown(("method", *(d.upper() for d in datasets)), lines)


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table as Markdown."""
    rows = [head, ["---"] * len(head), *lines]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _number(text: str) -> str:
    return (
        "" if text == "" else f"{float(text):,.4g}" if float(text) < 1000 else f"{float(text):,.0f}"
    )


def _share(text: str, places: int = 2) -> str:
    if text == "":
        return "–"
    shown = f"{float(text):.{places}f}"
    return shown.removeprefix("0") if shown.startswith("0.") else shown


def _count(text: str, n: int) -> str:
    return "" if text == "" else f"{round(float(text) * n)} of {n}"


ORDER = (
    "edg", "tri", "cli", "rcli", "rcli+bw", "dat", "dat+bw", "obs", "dbs", "tri+min", "dat+min",
    "obs+min", "con", "blocks", "medoid", "race", "tight", "best", "brief", "auto",
)  # fmt: skip
TABLES: dict[str, Callable[[Sequence[Row]], str]] = {
    "sentences": sentences_table,
    "as-read": as_read_table,
    "edits": edits_table,
}

if __name__ == "__main__":
    main()
