"""Write what a run of experiments gives: rows, times, and one HTML page of tables and pictures.

The same results give the same bytes in every file but ``run.json``, which holds the times.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from denseflip.experiments.measures import COLUMNS
from denseflip.experiments.results import KEYS, Row, list_table
from denseflip.experiments.run import Outcome
from denseflip.experiments.tables import Table

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:76rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;margin:1rem 0;font-size:13px;display:block;overflow-x:auto}
caption{text-align:left;font-weight:600;padding:.4rem 0}
th,td{border-bottom:1px solid #ddd;padding:.25rem .5rem;text-align:left;vertical-align:top}
thead th{border-bottom:2px solid #888}.note{font-size:13px;color:#555;margin:.2rem 0}
img{max-width:100%;height:auto}
"""
_MIME = {".svg": "image/svg+xml", ".png": "image/png"}


def write_rows(rows: Sequence[Row], folder: Path) -> None:
    """Every explanation, one line each, without times."""
    columns = [*KEYS, *COLUMNS]
    list_table(rows, columns).write(folder, ("csv",))


def write_times(outcome: Outcome, folder: Path) -> None:
    """Times, questions and ratios: the one file that differs from run to run."""
    text = json.dumps(outcome.times(), indent=2) + "\n"
    (folder / "run.json").write_text(text, encoding="utf-8")


def write_index(
    path: Path,
    title: str,
    intro: Sequence[str],
    tables: Sequence[Table],
    pictures: Sequence[Path] = (),
) -> None:
    """One self-contained HTML page with all tables and pictures."""
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>{html.escape(title)}</title><style>{_STYLE}</style></head><body>",
        f"<h1>{html.escape(title)}</h1>",
        *(f"<p>{html.escape(line)}</p>" for line in intro),
        *(table.to_html() for table in tables),
        *(_picture(picture) for picture in pictures),
        "</body></html>\n",
    ]
    path.write_text("\n".join(parts), encoding="utf-8")


def _picture(path: Path) -> str:
    name = html.escape(path.stem.replace("-", " "))
    data = base64.b64encode(path.read_bytes()).decode("ascii")
    return f"<h2>{name}</h2><img alt='{name}' src='data:{_MIME[path.suffix]};base64,{data}'>"


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
