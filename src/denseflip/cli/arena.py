"""The command ``arena``: a benchmark of graph explainers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from denseflip.checks import check_new_folder
from denseflip.cli.experiments import end, paper, run_stored, show_file, split_words
from denseflip.cli.options import documented

SHORT_EXPLAINERS = "auto,race,con,gradient,random,greedy,GNNExplainer,saliency,integrated-gradients"


@documented(paper)
def arena(
    explainers: str = "",
    datasets: str = "",
    classifiers: str = "",
    gretel: Path | None = None,
    short: bool = False,
    graphs: Annotated[int | None, typer.Option(min=1)] = None,
    seeds: Annotated[int | None, typer.Option(min=1)] = None,
    trainings: Annotated[int | None, typer.Option(min=1)] = None,
    repeated: Annotated[int | None, typer.Option(min=0)] = None,
    slow: Annotated[int | None, typer.Option(min=1)] = None,
    budget: Annotated[int | None, typer.Option(min=1)] = None,
    time_limit: Annotated[float | None, typer.Option(min=0.1)] = None,
    engine: str | None = "auto",
    jobs: Annotated[int | None, typer.Option(min=1)] = None,
    scheduler: str | None = None,
    out: Path = Path("denseflip-arena"),
    force: bool = False,
) -> None:
    """Compare graph explainers on the same frozen classifiers, graphs and call budget.

    Classifiers are trained from fixed seeds and kept in the folder of --out. The command can be
    interrupted; run it again to continue.

    What to compare
    ---------------
    explainers : Comma-separated: methods of denseflip (also auto@gradients, auto@any-range,
        best@edits), random, greedy, GNNExplainer, PGExplainer, saliency, integrated-gradients,
        DiCE-kdtree, DiCE-genetic, DiCE-random, GRETEL-OBS, GRETEL-iRand, or your own
        module:function. Default: all that are installed.
    datasets : Comma-separated data sets, by name or file, also with their classifiers, such as
        mice@linear@gcn. Default: synthetic, mice, aut and synthetic:strength=0.
    classifiers : Comma-separated kinds: linear, knn, forest, gcn, gin. Default: those of the
        protocol, or all on a data set that is not part of it.
    gretel : Folder with the source of GRETEL v2, to include its explainers.
    short : A small run of at most three minutes: two data sets, two graphs of each.

    Protocol
    --------
    graphs : Graphs per data set. Default: 30.
    repeated : Graphs that are explained again with other seeds, with renumbered nodes and on the
        other trainings. Default: 4.
    slow : Graphs that slow explainers (DiCE, GRETEL-iRand) run on. Default: 3.
    seeds : Seeds of stochastic explainers. Default: 5.
    trainings : Trainings of each classifier. Default: 3.
    budget : Largest number of forward and backward passes per explanation. Default: 2000.
    time_limit : Seconds of processor time per explanation. Default: 30.

    Output
    ------
    out : Folder for classifiers, results, tables and charts.
    """
    from denseflip.arena.arena_page import write_arena
    from denseflip.arena.peers import default_explainers
    from denseflip.arena.plan import SHORT, Settings, choose_sides, make_arena_plan

    # A run that was interrupted while it trained has classifiers and no results yet.
    begun = (out / "classifiers").is_dir() and not (out / "store").exists()
    check_new_folder(out, force=force or begun, resumable=True)
    names = split_words(explainers) or split_words(SHORT_EXPLAINERS if short else "")
    settings = Settings(
        explainers=tuple(names) or default_explainers(gretel),
        checkout=None if gretel is None else gretel.resolve(),
    )
    if short:
        settings = replace(settings, **SHORT)
    data, kinds = split_words(datasets), tuple(split_words(classifiers))
    given = {
        "sides": choose_sides(settings.sides, data, kinds) if data or kinds else None,
        "graphs": graphs,
        "repeated": repeated,
        "slow": slow,
        "seeds": seeds,
        "trainings": trainings,
        "budget": budget,
        "seconds": time_limit,
    }
    changed = {key: value for key, value in given.items() if value is not None}
    settings = replace(settings, **changed)  # type: ignore[arg-type]
    plan = make_arena_plan(settings, out / "classifiers", say=lambda t: typer.echo(t, err=True))
    for one in plan.skipped:
        typer.echo(f"Skipped: {one.name}: {one.reason}", err=True)
    outcome = run_stored(plan.trials, out, engine or "auto", jobs, scheduler)
    write_arena(plan, outcome, out)
    typer.echo(
        f"{len(outcome.records)} of {outcome.total} trials, {outcome.reused} reused; "
        f"{outcome.wall:.0f} s with {outcome.workers} workers.",
        err=True,
    )
    show_file(out / "winners.md")
    typer.echo(f"All tables and charts: {out / 'index.html'}")
    end(outcome)
