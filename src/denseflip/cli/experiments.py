"""The commands ``paper``, ``bench`` and ``results``: long runs that can be resumed."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denseflip.checks import STORE, check_new_file, check_new_folder
from denseflip.cli.common import err_console, progress
from denseflip.cli.options import documented

if TYPE_CHECKING:
    from denseflip.runs.run import Outcome
    from denseflip.runs.spec_base import Spec


@documented()
def paper(
    profile: str = "published",
    datasets: str = "",
    methods: str = "",
    engine: str | None = "auto",
    jobs: Annotated[int | None, typer.Option(min=1)] = None,
    scheduler: str | None = None,
    out: Path = Path("denseflip-paper"),
    limit: Annotated[int | None, typer.Option(min=1)] = None,
    robustness: Annotated[int, typer.Option(min=0)] = 10,
    as_read: Annotated[int, typer.Option(min=0)] = 0,
    permutations: Annotated[int, typer.Option(min=0)] = 200,
    figures: bool = True,
    force: bool = False,
) -> None:
    """Reproduce the paper's tables and figures, next to the printed values.

    The command can be interrupted; run it again to continue.

    Data sets and methods
    ---------------------
    profile : published (the settings behind the printed numbers) or text (the settings that the
        paper describes).
    datasets : Comma-separated data sets. Default: the paper's seven.
    methods : Comma-separated methods. Default: those of the paper.
    limit : Explain at most this many graphs per data set.

    Parallel runs
    -------------
    engine : auto, serial, processes or dask.
    jobs : Worker processes. Default: all cores.
    scheduler : Address of a Dask scheduler, such as tcp://host:8786.

    Measures
    --------
    robustness : Random perturbations per noise level, to measure robustness; 0 turns it off.
    as_read : Redraws per sentence, to test whether it is true as read; 0 turns it off.
    permutations : Label permutations when classifiers are evaluated on held-out graphs.

    Output
    ------
    out : Folder for results, tables and figures.
    figures : Draw the figures.
    force : Overwrite what is in --out.
    """
    from denseflip.experiments.spec import MeasureSpec
    from denseflip.paper.paper_page import write_paper
    from denseflip.paper.paper_specs import plan_paper
    from denseflip.paper.printed import DATASETS, METHODS

    check_new_folder(out, force=force, resumable=True)
    plan = plan_paper(
        profile,
        split_words(datasets) or DATASETS,
        split_words(methods) or METHODS,
        limit=limit,
        measures=MeasureSpec(robustness=robustness, as_read=as_read),
        permutations=permutations,
    )
    outcome = _run(plan.specs, out, engine or "auto", jobs, scheduler)
    for remark in write_paper(plan, outcome, out, figures=figures):
        typer.echo(remark, err=True)
    show_file(out / "table1.md")
    show_file(out / "table2.md")
    typer.echo(f"All tables and figures: {out / 'index.html'}")
    end(outcome)


@documented(paper)
def bench(
    config: Annotated[Path, typer.Option()],
    engine: str | None = None,
    jobs: Annotated[int | None, typer.Option(min=1)] = None,
    scheduler: str | None = None,
    out: Path = Path("denseflip-bench"),
    force: bool = False,
) -> None:
    """Compare methods on data sets and classifiers, as described in a TOML file.

    The command can be interrupted; run it again to continue.

    Options
    -------
    config : A TOML file such as examples/bench.toml.

    Output
    ------
    out : Folder for results and tables.
    """
    from denseflip.experiments.bench_config import make_matrix, read_config
    from denseflip.experiments.plan import make_plan
    from denseflip.experiments.run_page import write_bench

    settings = read_config(config)
    check_new_folder(out, force=force, resumable=True)
    matrix = make_matrix(settings, folder=config.resolve().parent)
    plan = make_plan(matrix)
    for skipped in plan.skipped:
        text = f"Skipped: {skipped.data} / {skipped.method}: {skipped.reason}."
        typer.echo(text, err=True)
    outcome = _run(
        plan.specs,
        out,
        engine or settings.run.engine,
        jobs or settings.run.jobs,
        scheduler or settings.run.scheduler,
    )
    tables, remarks = write_bench(settings.title, matrix, plan, outcome, out)
    for remark in remarks:
        typer.echo(remark, err=True)
    show_file(out / f"{tables[0].name}.md")
    if settings.measures.statement:
        show_file(out / f"{tables[-1].name}.md")
    typer.echo(f"All tables: {out / 'index.html'}")
    end(outcome)


@documented()
def results(
    folder: Path,
    where: Annotated[list[str] | None, typer.Option("--where", "-w")] = None,
    group_by: Annotated[str, typer.Option("--group-by", "-g")] = "",
    metrics: Annotated[str, typer.Option("--metrics", "-m")] = "",
    columns: Annotated[str, typer.Option("--columns", "-c")] = "",
    every: Annotated[bool, typer.Option("--all")] = False,
    form: Annotated[str, typer.Option("--format", "-f")] = "markdown",
    output: Annotated[Path | None, typer.Option("--output", "-o")] = None,
    force: bool = False,
) -> None:
    """Filter, group and export stored results.

    Arguments
    ---------
    folder : A folder written by `paper` or `bench`, or its store.

    Options
    -------
    where : Keep rows where column=value (also !=, <, <=, >, >=). Repeatable.
    group_by : Comma-separated columns to group by.
    metrics : Comma-separated columns whose medians are shown.
    columns : List single rows with these columns.
    every : List single rows with all columns.
    form : markdown, csv, tsv, latex, json or html.
    output : Write to this file instead of standard output.
    force : Overwrite the file of --output.
    """
    from denseflip.experiments.results import (
        DEFAULT_GROUP,
        DEFAULT_METRICS,
        group_table,
        list_table,
        to_rows,
    )
    from denseflip.experiments.results import where as keep
    from denseflip.runs.result_store import Store

    store = Store(folder / STORE if (folder / STORE).is_dir() else folder, create=False)
    rows = to_rows(store.records())
    for damage in store.damaged:
        typer.echo(f"Damaged, left out: {damage.path}: {damage.reason}.", err=True)
    if not rows:
        typer.echo(f"{folder}: no explanations stored yet.", err=True)
    rows = keep(rows, where or [])
    if every or columns:
        table = list_table(rows, split_words(columns))
    else:
        by = split_words(group_by) or list(DEFAULT_GROUP)
        table = group_table(rows, by, split_words(metrics) or list(DEFAULT_METRICS))
    text = table.to(form)
    if output is None:
        typer.echo(text, nl=False)
        return
    from denseflip.files import write_whole

    write_whole(check_new_file(output, force=force), text)
    typer.echo(f"{len(table.rows)} rows written to {output}.", err=True)


# ---- shared -----------------------------------------------------------------------------


def split_words(text: str) -> list[str]:
    """Split a comma-separated list."""
    return [word.strip() for word in text.split(",") if word.strip()]


def show_file(path: Path) -> None:
    """Print a text file."""
    typer.echo(path.read_text(encoding="utf-8"))


def _run(
    specs: list[Spec] | list[Any], out: Path, engine: str, jobs: int | None, scheduler: str | None
) -> Outcome:
    from denseflip.experiments.run_page import summary_lines

    outcome = run_stored(specs, out, engine, jobs, scheduler)
    for line in summary_lines(outcome, outcome.workers):
        typer.echo(line, err=True)
    return outcome


def run_stored(
    specs: Sequence[Any], out: Path | None, engine: str, jobs: int | None, scheduler: str | None
) -> Outcome:
    """Run what the store of a folder lacks, with progress; if interrupted, say how to continue."""
    from denseflip.runs.engines import make_engine
    from denseflip.runs.result_store import open_store
    from denseflip.runs.run import default_jobs, run_specs

    workers = 1 if engine == "serial" else jobs or default_jobs()
    runs = make_engine(engine, workers, scheduler)
    store = None if out is None else out / STORE
    try:
        with open_store(store) as kept, reporter(len(specs)) as report:
            outcome = run_specs(specs, kept, runs, progress=report, workers=workers)
    except KeyboardInterrupt:
        if out is not None:
            typer.echo(stopped(out), err=True)
        raise
    for damage in outcome.damaged:
        typer.echo(f"Damaged, set aside: {damage.path}: {damage.reason}. Run again.", err=True)
    return outcome


def stopped(out: Path) -> str:
    """The message of an interrupted run."""
    return f"Interrupted. Finished results are kept in {out}. Run the same command to continue."


def end(outcome: Outcome) -> None:
    """List the failures of a run, if any, and exit with code 1."""
    if not outcome.failures:
        return
    typer.echo(f"{len(outcome.failures)} of {outcome.total} runs failed:", err=True)
    for failure in outcome.failures[:10]:
        typer.echo(f"  {failure}", err=True)
    if len(outcome.failures) > 10:
        typer.echo(f"  … and {len(outcome.failures) - 10} more", err=True)
    typer.echo("Run the command again to retry them.", err=True)
    raise typer.Exit(1)


class reporter:
    """Progress on standard error: a bar on a terminal, otherwise a line every 10 seconds."""

    def __init__(self, total: int, doing: str = "explaining") -> None:
        self.total, self.doing = total, doing
        self.bar = progress()
        self.started = time.monotonic()
        self.last = self.started
        self.first: int | None = None

    def __enter__(self) -> Callable[[int, int], None]:
        self.bar.__enter__()
        self.task = self.bar.add_task(self.doing, total=self.total)
        return self.report

    def __exit__(self, *problem: object) -> None:
        self.bar.__exit__(*problem)

    def report(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` are done."""
        now = time.monotonic()
        self.first = done if self.first is None else self.first
        rate = (done - self.first) / max(now - self.started, 1e-9)
        text = f"{self.doing}, {rate:.1f}/s"
        self.bar.update(self.task, completed=done, total=total, description=text)
        if err_console().is_terminal or (now - self.last < 10 and done < total):
            return
        self.last = now
        left = f", {_duration((total - done) / rate)} left" if rate > 0 and done < total else ""
        sys.stderr.write(f"{done} of {total} done, {rate:.1f}/s{left}\n")
        sys.stderr.flush()


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"
