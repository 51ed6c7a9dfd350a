"""``denseflip explain`` of many graphs: progress, a table, and a folder of pages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from denseflip.cli.common import err_console, out_console, progress, this_command
from denseflip.cli.experiments import reporter, stopped

if TYPE_CHECKING:
    from denseflip.datasets import Dataset
    from denseflip.experiments.explain_many import Explanations

FORMATS = ("text", "json", "csv", "tsv")


def explain_graphs(
    dataset: Dataset,
    ids: Sequence[str],
    oracle: str | None,
    *,
    engine: str,
    jobs: int | None,
    scheduler: str | None,
    pages: str,
    form: str,
    out: Path | None,
    force: bool,
    **asked: Any,
) -> None:
    """Explain these graphs, print a table, write the folder; report failures at the end."""
    from denseflip.checks import STORE, check_new_folder
    from denseflip.experiments.explain_many import check_specs, gather, plan_many
    from denseflip.experiments.many_outputs import check_pages, write_many
    from denseflip.runs.engines import make_engine
    from denseflip.runs.run import default_jobs

    check_pages(pages)
    if out is not None:
        check_new_folder(out, force=force, resumable=True)
    workers = 1 if engine == "serial" else jobs or default_jobs()
    runs = make_engine(engine, workers, scheduler)
    specs = plan_many(dataset, oracle, ids, **asked)
    if engine != "serial":
        check_specs(specs)
    outcome = run_stored(specs, None if out is None else out / STORE, runs, workers)
    many = gather(specs, outcome)
    show_many(many, form)
    if out is not None:
        with progress("pages") as bar:
            task = bar.add_task("", total=len(many))
            files = write_many(
                many,
                specs,
                out,
                pages=pages,
                command=this_command(),
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        for path in files:
            err_console().print(f"Wrote {path}", style="dim")
    end_many(many, resumable=out is not None)


def run_stored(specs: Sequence[Any], store: Path | None, engine: Any, workers: int) -> Any:
    """Run what the store lacks, with progress; if interrupted, say how to continue."""
    from denseflip.errors import counted
    from denseflip.runs.result_store import open_store
    from denseflip.runs.run import run_specs

    started = time.monotonic()
    try:
        with open_store(store) as kept, reporter(len(specs)) as report:
            outcome = run_specs(specs, kept, engine, progress=report, workers=workers)
    except KeyboardInterrupt:
        if store is not None:
            typer.echo(stopped(store.parent), err=True)
        raise
    for damage in outcome.damaged:
        typer.echo(f"Damaged, set aside: {damage.path}: {damage.reason}. Run again.", err=True)
    before = f", {outcome.reused} of them reused" if outcome.reused else ""
    took = (
        f"{time.monotonic() - started:.1f} s with {counted(outcome.workers, 'worker', 'workers')}"
    )
    err_console().print(f"{len(outcome.records)} explained{before}: {took}.", style="dim")
    return outcome


def show_many(many: Explanations, form: str) -> None:
    """Print the table in the requested format."""
    if form != "text":
        typer.echo(many.table().to(form), nl=False)
        return
    from rich.table import Table

    from denseflip.report.front import read_cell

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("graph", no_wrap=True)
    table.add_column("class")
    table.add_column("decision")
    table.add_column("cells", justify="right")
    table.add_column("edits", justify="right")
    table.add_column("true as read")
    table.add_column("in short", overflow="fold", ratio=1)
    for one in many:
        story = one.story
        if story is None:
            table.add_row(one.id, one.label, "failed", "–", "–", "–", one.failure)
            continue
        result, found = story.result, story.result.found
        after = f" → {story.class_name(result.label_after)}" if found else ""
        table.add_row(
            one.id,
            one.label,
            f"{story.class_name(result.label_before)}{after}",
            f"{len(story.claim.amounts):,}" if found else "–",
            f"{result.distance:,}" if found else "–",
            read_cell(story),
            story.short,
        )
    out_console().print(table, markup=False)


def end_many(many: Explanations, *, resumable: bool) -> None:
    """Print how many were found; exit with 1 if any failed."""
    found = sum(story.result.found for story in many.stories)
    typer.echo(f"{found} of {len(many)} counterfactuals found.", err=True)
    if not many.failures:
        return
    again = " Run the command again to retry them." if resumable else ""
    typer.echo(f"{len(many.failures)} of {len(many)} failed: see the table.{again}", err=True)
    raise typer.Exit(1)
