"""What commands write into an output folder, and the tables they print."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.errors import InvalidParameterError, MissingExtraError

if TYPE_CHECKING:
    from denseflip.datasets.base import Dataset
    from denseflip.story.story import Story
    from denseflip.workflow.compare import Compared

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
    stories: Sequence[Story],
    out: Path,
    oracle: Any,
    *,
    dataset: Dataset | None = None,
    compared: Sequence[Compared] = (),
) -> list[Path]:
    """Write the page, the result and, where the extra is installed, the pictures."""
    from denseflip.report.page import write_page
    from denseflip.workflow.compare import told

    out.mkdir(parents=True, exist_ok=True)
    data = [row.to_dict() for row in compared] or told(stories[0])
    (out / RESULT).write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")
    page = write_page(
        stories[0],
        out / PAGE,
        force=True,
        stories=list(stories) if len(stories) > 1 else None,
        card=dict(getattr(oracle, "card", {}) or {}),
        dataset=None if dataset is None else dataset.card,
        command=shlex.join(["denseflip", *sys.argv[1:]]),
    )
    return [page, out / RESULT, *_write_pictures(stories, out)]


def _write_pictures(stories: Sequence[Story], out: Path) -> list[Path]:
    from denseflip.report.comparison import plot_comparison
    from denseflip.report.plot import plot_connectome, plot_regions

    found = [story for story in stories if story.result.found]
    try:
        if len(stories) > 1 and found:
            plot_comparison(found, path=out / "comparison.png", force=True)
            return [out / "comparison.png"]
        if not found:
            return []
        plot_connectome(found[0], path=out / "connectome.png", force=True)
        if found[0].taxonomy is None:
            return [out / "connectome.png"]
        plot_regions(found[0], path=out / "regions.png", force=True)
        return [out / "connectome.png", out / "regions.png"]
    except MissingExtraError:
        return []  # the page says how to get the pictures


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
            f"{100 * r.relative_distance:.1f}" if r.found else "–",
            str(r.calls),
            "–" if row.n_regions is None or not r.found else str(row.n_regions),
            f"{len(check.named)} of {check.n_cells}" if r.found else "–",
            "yes" if row.story.verified else "no" if r.found else "–",
        )
    return table
