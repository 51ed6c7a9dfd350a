"""``denseflip explain`` of many graphs: progress, a table, and a folder of pages."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from denseflip.cli.common import (
    err_console,
    out_console,
    plain_table,
    progress,
    say_written,
    this_command,
)
from denseflip.cli.experiments import run_stored

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
    bids_out: Path | None,
    force: bool,
    **asked: Any,
) -> None:
    """Explain these graphs, print a table, write the folder; report failures at the end."""
    from denseflip.checks import check_new_folder
    from denseflip.errors import counted
    from denseflip.experiments.bids_outputs import write_bids
    from denseflip.experiments.explain_many import check_specs, gather, plan_many
    from denseflip.experiments.many_outputs import check_pages, write_many
    from denseflip.runs.engines import make_engine
    from denseflip.runs.run import default_jobs

    check_pages(pages)
    if out is not None:
        check_new_folder(out, force=force, resumable=True)
    if bids_out is not None:
        check_new_folder(bids_out, force=force)
    make_engine(engine, jobs or 1, scheduler)  # refuse a wrong one before anything is loaded
    specs = plan_many(dataset, oracle, ids, **asked)
    if engine != "serial":
        check_specs(specs)
    started = time.monotonic()
    outcome = run_stored(specs, out, engine, jobs, scheduler)
    before = f", {outcome.reused} of them reused" if outcome.reused else ""
    took = f"{time.monotonic() - started:.1f} s"
    workers = counted(outcome.workers, "worker", "workers")
    text = f"{len(outcome.records)} explained{before}: {took} with {workers}."
    err_console().print(text, style="dim")
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
                engine=make_engine(
                    "serial" if engine == "serial" else "auto", jobs or default_jobs()
                ),
                progress=lambda done, total: bar.update(task, completed=done, total=total),
            )
        say_written(*files)
    if bids_out is not None:
        made = write_bids(
            many.explained,
            bids_out,
            dataset=many.dataset,
            oracle=specs[0].job.oracle.name,
            command=this_command(),
            force=force,
        )
        say_written(made)
    end_many(many, resumable=out is not None)


def show_many(many: Explanations, form: str) -> None:
    """Print the table in the requested format."""
    if form != "text":
        typer.echo(many.table().to(form), nl=False)
        return
    from denseflip.report.front import read_cell

    heads = ("graph", "class", "decision", "cells", "edits", "true as read")
    table = plain_table(*heads, right=("cells", "edits"))
    table.columns[0].no_wrap = True
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
            f"{story.short} {story.doubt}".rstrip(),
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
