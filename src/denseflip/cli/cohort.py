"""The command ``cohort``: what a whole group's explanations have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denseflip.checks import STORE, check_new_folder
from denseflip.cli import options
from denseflip.cli.common import print_json
from denseflip.cli.experiments import Engine, Jobs, Scheduler, reporter
from denseflip.cli.options import request_options
from denseflip.cli.train import ConfoundsOption, SiteOption
from denseflip.constraints import Constraints
from denseflip.request import Request, list_options

if TYPE_CHECKING:
    from denseflip.cohort.cohort import Cohort
    from denseflip.cohort.explain_cohort import Estimate

_LONG = 60  # seconds: what takes less is begun without a question


#: The fields of a request that a cohort takes: what may change, where, and the seed.
_TAKEN = ("regions", "max_cells", "seed", *(f.name for f in fields(Constraints)))


@request_options(without=tuple(name for name in list_options() if name not in _TAKEN))
def cohort(
    data: Annotated[str, typer.Argument(help="A data set by name or file.", metavar="DATA")],
    group: Annotated[
        str | None,
        typer.Option("--class", help="Explain the patients of this class; both of two by default."),
    ] = None,
    oracle: Annotated[
        str | None,
        typer.Option(
            help="The classifier: a preset (trained anew for every labelling), FILE or "
            "module:function (taken as they are: no p-values). Default: as in explain."
        ),
    ] = None,
    permutations: Annotated[
        int, typer.Option(help="Permutations of the labels; 0 for no p-values.", min=0)
    ] = 200,
    level: Annotated[float, typer.Option(help="What counts as more than chance.")] = 0.05,
    correction: Annotated[
        str, typer.Option(help="max (family-wise) or bh (false discovery rate).")
    ] = "max",
    patients: Annotated[
        int | None,
        typer.Option(help="Explain at most so many under each labelling; cheaper, still valid."),
    ] = None,
    method: Annotated[
        str, typer.Option(help="The search of the test: scan, or any method by name.")
    ] = "scan",
    confounds: ConfoundsOption = None,
    site: SiteOption = None,
    input: options.Input = "auto",
    batch: options.Batch = False,
    *,
    request: Request,
    engine: Engine = "auto",
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    out: Annotated[Path, typer.Option(help="Folder for results, tables, pictures, page.")] = Path(
        "denseflip-cohort"
    ),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a long run.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    force: options.Force = False,
) -> None:
    """Say what the explanations of a group have in common, and whether that is chance.

    The classifier's honest accuracy comes first; at chance nothing is said about the groups. Stop
    it at any moment: the same command goes on where it stopped.
    """
    from denseflip.cohort.explain_cohort import explain_cohort
    from denseflip.cohort.labelling import MAX_CELLS
    from denseflip.runs.run import default_jobs

    check_new_folder(out, force=force, resumable=True)
    workers = 1 if engine == "serial" else jobs or default_jobs()

    def confirm(estimate: Estimate) -> bool:
        typer.echo(str(estimate), err=True)
        if yes or estimate.wall < _LONG or not _at_terminal():
            return True
        return typer.confirm("Go on?", default=True, err=True)

    typer.echo("Judging the classifier on patients it has not seen …", err=True)
    try:
        with ExitStack() as stack:
            bars: list[Callable[[int, int], None]] = []

            def report(done: int, total: int) -> None:
                if not bars:  # not before the question was answered
                    bars.append(stack.enter_context(reporter(total, "labellings")))
                bars[0](done, total)

            found = explain_cohort(
                data,
                oracle,
                group=group,
                regions=request.regions,
                permutations=permutations,
                level=level,
                correction=correction,
                patients=patients,
                method=method,
                max_cells=request.max_cells or MAX_CELLS,
                seed=request.seed,
                constraints=request.constraints.given,
                confounds=confounds,
                site=site,
                input=input,
                batch=batch,
                engine=engine or "auto",
                jobs=workers,
                scheduler=scheduler,
                store=out / STORE,
                progress=report,
                confirm=confirm,
            )
    except KeyboardInterrupt:
        typer.echo(
            f"Stopped. What is done is kept in {out}; the same command goes on from there.",
            err=True,
        )
        raise
    write_cohort(found, out)
    if as_json:
        print_json(found.to_dict())
        return
    for sentence in found.sentences:
        typer.echo(sentence)
    typer.echo(f"Page, tables and pictures: {out / 'index.html'}", err=True)


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def write_cohort(found: Cohort, out: Path) -> None:
    """Write page, tables, JSON and pictures of a cohort into a folder."""
    from denseflip.errors import MissingExtraError
    from denseflip.files import write_whole
    from denseflip.report.cohort_page import write_cohort_page
    from denseflip.report.cohort_pictures import plot_cohort_chords, plot_cohort_matrix
    from denseflip.report.cohort_strip import plot_cohort_patients

    found.write(out / "cohort.json", force=True)
    found.write(out / "cells.tsv", force=True)
    write_whole(out / "patients.tsv", found.patients_tsv())
    write_cohort_page(found, out / "index.html", force=True)
    if not found.observed.explained:
        return
    try:
        plot_cohort_matrix(found, path=out / "matrix.png", force=True)
        plot_cohort_chords(found, path=out / "chords.png", force=True)
        plot_cohort_patients(found, path=out / "patients.png", force=True)
    except MissingExtraError as error:
        typer.echo(f"No pictures: {error}", err=True)
