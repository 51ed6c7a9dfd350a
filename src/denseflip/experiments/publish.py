"""Write what a run of experiments gives: rows, times, and one HTML page of tables and pictures.

The same results give the same bytes in every file but ``run.json``, which holds the times.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from denseflip.experiments.measures import COLUMNS
from denseflip.experiments.results import KEYS, Row, list_table
from denseflip.experiments.run import Outcome
from denseflip.experiments.tables import Table, TableContext
from denseflip.files import write_whole
from denseflip.report.html import Context, data_uri

_MIME = {".svg": "image/svg+xml", ".png": "image/png"}


@dataclass(frozen=True)
class Picture:
    """A picture of the page: what it is called, what it shows, and an address that holds it."""

    name: str
    source: str
    caption: str = ""


@dataclass(frozen=True)
class IndexContext(Context):
    """The page of all tables and pictures of a run; long tables and cells are folded."""

    template: ClassVar = "tables.html.j2"
    title: str
    intro: tuple[str, ...]
    tables: tuple[TableContext, ...]
    pictures: tuple[Picture, ...]
    rows_at_once: int = 24
    letters_at_once: int = 160


def write_rows(rows: Sequence[Row], folder: Path) -> None:
    """Every explanation, one line each, without times."""
    columns = [*KEYS, *COLUMNS]
    list_table(rows, columns).write(folder, ("csv",))


def write_times(outcome: Outcome, folder: Path) -> None:
    """Times, questions and ratios: the one file that differs from run to run."""
    text = json.dumps(outcome.times(), indent=2) + "\n"
    write_whole(folder / "run.json", text)


def write_index(
    path: Path,
    title: str,
    intro: Sequence[str],
    tables: Sequence[Table],
    pictures: Sequence[Path] = (),
    captions: Mapping[str, str] | None = None,
) -> None:
    """One self-contained HTML page: contents, pictures, then tables.

    Parameters
    ----------
    path, title, intro : where to, and what stands above.
    tables, pictures : what it holds.
    captions : file name of a picture, without its ending → what it shows.
    """
    page = IndexContext(
        title=title,
        intro=tuple(intro),
        tables=tuple(table.context() for table in tables),
        pictures=tuple(_picture(picture, captions or {}) for picture in pictures),
    )
    write_whole(path, page.render())


def _picture(path: Path, captions: Mapping[str, str]) -> Picture:
    source = data_uri(path.read_bytes(), _MIME[path.suffix])
    return Picture(path.stem.replace("-", " "), source, captions.get(path.stem, ""))


def summary_lines(outcome: Outcome, jobs: int) -> list[str]:
    """What a run came to, in words: how much, how long, how much of it was the oracle."""
    times: dict[str, Any] = outcome.times()
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
