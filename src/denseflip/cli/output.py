"""What commands write into an output folder, and the tables they print."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.errors import InvalidParameterError

if TYPE_CHECKING:
    from denseflip.story.compare import Compared
    from denseflip.story.story import Story

PAGE, RESULT = "report.html", "result.json"


def check_out(out: Path | None, force: bool) -> None:
    """Refuse, before any work is done, to write into a folder that holds something."""
    if out is None or force:
        return
    if out.is_file():
        msg = f"--out {out} is a file; give a folder."
        raise InvalidParameterError(msg)
    if out.is_dir() and any(out.iterdir()):
        msg = f"--out {out} exists and is not empty; nothing was written. Add --force to overwrite."
        raise InvalidParameterError(msg)


def write_outputs(
    stories: Sequence[Story], out: Path, oracle: Any, *, compared: Sequence[Compared] = ()
) -> list[Path]:
    """Write the page and the result, and the pictures where matplotlib is there."""
    from denseflip.report.page import write_page
    from denseflip.story.compare import told

    out.mkdir(parents=True, exist_ok=True)
    data = [row.to_dict() for row in compared] or told(stories[0])
    (out / RESULT).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    page = write_page(
        stories[0],
        out / PAGE,
        force=True,
        stories=list(stories) if len(stories) > 1 else None,
        card=dict(getattr(oracle, "card", {}) or {}),
        command=shlex.join(["denseflip", *sys.argv[1:]]),
    )
    return [Path(page), out / RESULT]


def comparison_table(rows: Sequence[Compared]) -> Any:
    """The table of a comparison: status, distance, calls, regions, verified."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("method")
    table.add_column("status")
    for head in ("d", "d%", "calls", "pairs for 80 %", "named"):
        table.add_column(head, justify="right")
    table.add_column("verified")
    for row in rows:
        if row.story is None:
            table.add_row(row.method, "not applicable", "", "", "", "", "", "")
            continue
        r, check = row.story.result, row.story.verification
        table.add_row(
            row.method,
            str(r.status),
            str(r.distance) if r.found else "–",
            f"{r.relative_distance:.3f}" if r.found else "–",
            str(r.calls),
            "–" if row.n_regions is None or not r.found else str(row.n_regions),
            f"{len(check.named)} of {check.n_cells}" if r.found else "–",
            "yes" if row.story.verified else "no" if r.found else "–",
        )
    return table
