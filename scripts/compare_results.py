"""Compare two ``results.csv`` files of `denseflip paper` or `denseflip bench`, value by value.

    python scripts/compare_results.py BEFORE.csv AFTER.csv [--ignore COLUMN ...] [--subset]

Rows are matched by data set, oracle, method, parameters, seed, graph, profile and budget; run times
are ignored. The script prints the number of differing values per column with the first few of them,
and exits with 0 only if nothing differs. With ``--subset`` the second file may lack rows of the
first (a run with ``--limit`` or ``--datasets``).
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

KEYS = ("data", "oracle", "method", "parameters", "seed", "graph", "profile", "budget")
TIMES = ("elapsed",)
SHOWN = 5  # differing values shown per column

Key = tuple[str, ...]
Row = dict[str, str]


@dataclass
class Comparison:
    """What differs between two files.

    Attributes
    ----------
    n_rows : rows in both.
    n_values : values compared.
    lacking, extra : keys of rows that only the first, only the second file has.
    columns : what differs in the list of columns, in words.
    values : column → (key, before, after) of every value that differs.
    """

    n_rows: int = 0
    n_values: int = 0
    lacking: list[Key] = field(default_factory=list)
    extra: list[Key] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    values: dict[str, list[tuple[Key, str, str]]] = field(default_factory=dict)

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not (self.lacking or self.extra or self.columns or self.values)

    def lines(self) -> Iterable[str]:
        """The comparison in words."""
        yield f"{self.n_rows} rows in both, {self.n_values} values compared"
        yield from self.columns
        for what, keys in (("second", self.lacking), ("first", self.extra)):
            if keys:
                yield f"{len(keys)} rows are not in the {what} file, such as {_words(keys[0])}"
        for column, found in self.values.items():
            yield f"{column}: {len(found)} values differ"
            for key, before, after in found[:SHOWN]:
                yield f"    {_words(key)}: {before or '(empty)'} → {after or '(empty)'}"
        yield "the same" if self.same else "NOT the same"


def read_rows(path: Path) -> tuple[list[str], dict[Key, Row]]:
    """Columns of a file, and its rows by what was run."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or ())
        missing = [key for key in KEYS if key not in columns]
        if missing:
            sys.exit(f"{path}: no results.csv of denseflip; it lacks {', '.join(missing)}.")
        rows: dict[Key, Row] = {}
        for row in reader:
            key = tuple(row[k] for k in KEYS)
            if key in rows:
                sys.exit(f"{path}: two rows for {_words(key)}.")
            rows[key] = row
    return columns, rows


def compare(
    before: tuple[list[str], dict[Key, Row]],
    after: tuple[list[str], dict[Key, Row]],
    *,
    ignore: Sequence[str] = (),
    subset: bool = False,
) -> Comparison:
    """Compare two files that were read with `read_rows`.

    Parameters
    ----------
    ignore : columns to leave out, beside the times.
    subset : whether the second may lack rows of the first.
    """
    out = Comparison()
    left_out = {*KEYS, *TIMES, *ignore}
    (names, rows), (other_names, other_rows) = before, after
    wanted, there = ([c for c in x if c not in left_out] for x in (names, other_names))
    if wanted != there:
        lost = [c for c in wanted if c not in there]
        new = [c for c in there if c not in wanted]
        parts = [f"without {', '.join(lost)}"] * bool(lost) + [f"with {', '.join(new)}"] * bool(new)
        out.columns = [f"columns of the second file: {' and '.join(parts) or 'in another order'}"]
    if not subset:
        out.lacking = [key for key in rows if key not in other_rows]
    out.extra = [key for key in other_rows if key not in rows]
    shared = [column for column in wanted if column in there]
    for key, row in rows.items():
        if key not in other_rows:
            continue
        out.n_rows += 1
        out.n_values += len(shared)
        other = other_rows[key]
        for column in shared:
            if row[column] != other[column]:
                out.values.setdefault(column, []).append((key, row[column], other[column]))
    return out


def _words(key: Key) -> str:
    return " / ".join(part for part in key if part)


def main(words: Sequence[str] | None = None) -> int:
    """Read the options, compare, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--ignore", nargs="*", default=[], metavar="COLUMN")
    parser.add_argument("--subset", action="store_true", help="the second may lack rows")
    options = parser.parse_args(words)
    found = compare(
        read_rows(options.before),
        read_rows(options.after),
        ignore=options.ignore,
        subset=options.subset,
    )
    for line in found.lines():
        sys.stdout.write(f"{line}\n")
    return 0 if found.same else 1


if __name__ == "__main__":
    sys.exit(main())
