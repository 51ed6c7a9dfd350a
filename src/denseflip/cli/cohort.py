"""The command ``cohort``: what the explanations of a group have in common."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denseflip.checks import STORE, check_new_folder
from denseflip.cli.common import print_json
from denseflip.cli.experiments import paper, reporter, stopped
from denseflip.cli.explain import explain
from denseflip.cli.options import check_pictures, documented, request_options
from denseflip.cli.train import train
from denseflip.constraints import Constraints
from denseflip.request import OF_COHORT, Request, list_options

if TYPE_CHECKING:
    from denseflip.cohort.cohort import Cohort
    from denseflip.cohort.explain_cohort import Estimate
    from denseflip.datasets import Dataset

_LONG = 60  # seconds; ask before longer runs


#: The options of a request that a cohort takes.
_TAKEN = (*OF_COHORT, *(f.name for f in fields(Constraints)))


@request_options(without=tuple(name for name in list_options() if name not in _TAKEN))
@documented(paper, explain, train)
def cohort(
    data: Annotated[str, typer.Argument(metavar="DATA")],
    group: Annotated[str | None, typer.Option("--class")] = None,
    oracle: str | None = None,
    permutations: Annotated[int | None, typer.Option(min=0)] = None,
    level: float = 0.05,
    correction: str = "max",
    patients: int | None = None,
    method: str = "scan",
    confounds: Annotated[str | None, typer.Option(metavar="COLUMNS")] = None,
    site: Annotated[str | None, typer.Option(metavar="COLUMN")] = None,
    input: str = "auto",
    batch: bool = False,
    *,
    request: Request,
    engine: str | None = "auto",
    jobs: Annotated[int | None, typer.Option(min=1)] = None,
    scheduler: str | None = None,
    out: Path = Path("denseflip-cohort"),
    yes: Annotated[bool, typer.Option("--yes", "-y")] = False,
    as_json: Annotated[bool, typer.Option("--json")] = False,
    pictures: Annotated[str, typer.Option("--format")] = "png",
    force: bool = False,
) -> None:
    """Find what the explanations of a group have in common, and test it against chance.

    The classifier is evaluated on held-out graphs first. If it is no better than chance, nothing
    is concluded about the groups.

    The command can be interrupted; run it again to continue.

    Arguments
    ---------
    data : A data set by name or file.

    Data and classifier
    -------------------
    group : Explain the patients of this class. Default: both classes of two.
    oracle : Classifier: a preset or a FILE of one (retrained for each permutation), or
        module:function (not retrained: no p-values). Default: as in `denseflip explain`.

    Test against chance
    -------------------
    permutations : Permutations of the labels; 0 for no p-values. Default: 200 if the classifier
        can be retrained, else 0.
    level : Significance level of the test.
    correction : Correction for multiple tests: max (family-wise) or bh (false discovery rate).
    patients : Explain at most this many patients per permutation. Faster, and still valid.
    method : Search method of the test: scan, or any other.

    Parallel runs
    -------------
    yes : Do not ask before a long run.

    Output
    ------
    out : Folder for the page, tables, pictures and a methods paragraph (methods.txt).
    as_json : Print everything as JSON.
    pictures : Format of the pictures in --out: png (300 dpi), svg or pdf.
    """
    from denseflip.cohort.explain_cohort import explain_cohort
    from denseflip.cohort.settings import MAX_CELLS
    from denseflip.runs.run import default_jobs
    from denseflip.runs.sources import data_of

    check_pictures(pictures)
    check_new_folder(out, force=force, resumable=True)
    workers = 1 if engine == "serial" else jobs or default_jobs()

    def confirm(estimate: Estimate) -> bool:
        typer.echo(str(estimate), err=True)
        if yes or estimate.wall < _LONG or not _at_terminal():
            return True
        return typer.confirm("Continue?", default=True, err=True)

    typer.echo("Evaluating the classifier on held-out patients …", err=True)
    try:
        with ExitStack() as stack:
            bars: list[Callable[[int, int], None]] = []

            def report(done: int, total: int) -> None:
                if not bars:  # not before the run is confirmed
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
                in_range=request.in_range,
                balance=request.balance,
                vocabulary=request.vocabulary,
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
        typer.echo(stopped(out), err=True)
        raise
    write_cohort(found, out, pictures, data_of(data).given)
    if as_json:
        print_json(found.to_dict())
        return
    for sentence in found.sentences:
        typer.echo(sentence)
    typer.echo(f"Page, tables, pictures and methods paragraph: {out / 'index.html'}", err=True)


def _at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def write_cohort(
    found: Cohort, out: Path, pictures: str = "png", dataset: Dataset | None = None
) -> None:
    """Write page, tables, JSON, methods paragraph and pictures of a cohort into a folder."""
    from denseflip.errors import MissingExtraError
    from denseflip.files import write_whole
    from denseflip.report.cohort_page import write_cohort_page
    from denseflip.report.cohort_pictures import (
        plot_cohort_chords,
        plot_cohort_matrix,
        plot_cohort_patients,
    )
    from denseflip.workflow.outputs import METHODS

    found.write(out / "cohort.json", force=True)
    found.write(out / "cells.tsv", force=True)
    write_whole(out / "patients.tsv", found.patients_tsv())
    write_whole(out / METHODS, found.methods_text(dataset) + "\n")
    write_cohort_page(found, out / "index.html", dataset=dataset, force=True)
    if not found.observed.explained:
        return
    try:
        plot_cohort_matrix(found, path=out / f"matrix.{pictures}", force=True)
        plot_cohort_chords(found, path=out / f"chords.{pictures}", force=True)
        plot_cohort_patients(found, path=out / f"patients.{pictures}", force=True)
    except MissingExtraError as error:
        typer.echo(f"No pictures: {error}", err=True)
