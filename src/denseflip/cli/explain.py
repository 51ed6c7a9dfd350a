"""``denseflip methods`` and ``denseflip explain``."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from denseflip.cli import options
from denseflip.cli.common import err_console, out_console, print_json, spell, this_command
from denseflip.cli.data import fetch_one
from denseflip.cli.many import FORMATS, explain_graphs
from denseflip.cli.print_story import print_front, print_story
from denseflip.cli.progress import SearchProgress
from denseflip.cli.terms import bound_cells, constraints_of


def methods(json: options.Json = False) -> None:
    """List the search methods and the refinements that may follow them with a +."""
    from denseflip.search.methods.registry import methods as listed

    if json:
        print_json(
            [
                {
                    "name": m.name,
                    "summary": m.summary,
                    "needs": list(m.needs),
                    "parameters": list(m.parameters),
                    "refinement": m.suffix,
                }
                for m in listed()
            ]
        )
        return
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("method", "what it does", "needs", "parameters (--set)"):
        table.add_column(column, overflow="fold")
    for m in listed():
        table.add_row(m.name, m.summary, ", ".join(m.needs), ", ".join(m.parameters))
    out_console().print(table)


def explain(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(help="A data set (name or file), or a graph file.", metavar="SOURCE")
    ],
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            help="Ids of graphs of the data set, or their numbers from 0.", metavar="[ID]..."
        ),
    ] = None,
    every: options.All = False,
    classes: options.Class = None,
    method: options.Method = "auto",
    oracle: options.Oracle = None,
    input: options.Input = "adjacency",
    batch: options.Batch = False,
    nodes: options.Nodes = None,
    background: options.Background = None,
    percentile: options.Percentile = None,
    threshold: options.Threshold = None,
    edges: options.Edges = None,
    target: options.Target = None,
    confidence: options.Confidence = None,
    freeze: options.Freeze = None,
    only_add: options.Add = False,
    only_remove: options.Remove = False,
    max_edits: options.Edits = None,
    keep_density: options.Density = None,
    keep_connected: options.Connected = False,
    allow_seen: options.Seen = None,
    min_degree: options.LeastDegree = None,
    max_degree: options.MostDegree = None,
    budget: options.Budget = None,
    time_limit: options.Time = None,
    confirm: options.Confirm = 1,
    seed: options.Seed = 0,
    settings: options.Set = None,
    regions: options.Regions = None,
    language: options.Language = None,
    max_cells: options.Cells = None,
    objective: options.Objective = None,
    front: options.Front = False,
    robust: options.Robust = None,
    noise: options.Noise = None,
    plausible: options.Plausible = False,
    max_implausible: options.Implausible = None,
    n: options.Answers = 1,
    vocabulary: options.Vocabulary = "auto",
    share: options.Share = 0.0,
    evaluation: options.Evaluation = None,
    out: options.Out = None,
    force: options.Force = False,
    json: options.Json = False,
    form: options.Format = "text",
    pages: options.Pages = "full",
    engine: options.Engine = "auto",
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = None,
) -> None:
    """Find and tell what would have changed the classifier's mind about one graph, or many.

    A graph of a data set, explained with a classifier trained on the spot:

        denseflip explain mice sub-54811 --out mouse/

    A graph file (adjacency CSV/NPY, GraphML, edge list) and your own classifier:

        denseflip explain brain.csv --oracle mymodel:predict --json

    For a correlation matrix say which pairs are edges: --percentile 90, or --threshold 0.4.

    On your terms, as a guarantee:

        denseflip explain aut 0 --freeze "lobe: Frontal Lobe" --only-remove

    Many graphs, in parallel, with an index page and a page for each; stop it at any moment, the
    same command goes on where it stopped:

        denseflip explain mice --all --jobs 2 --out mice/
    """
    from dataclasses import replace

    from denseflip.checks import check_new_folder
    from denseflip.classifiers.evaluation import read_evaluation
    from denseflip.classifiers.presets import DEFAULT_PRESET
    from denseflip.datasets.connectome import make_keep
    from denseflip.experiments.table import Table
    from denseflip.graph import Nodes
    from denseflip.search.postprocess.requirements import Requirements
    from denseflip.story.wording.vocabulary import Vocabulary
    from denseflip.workflow.explain_and_describe import (
        method_for,
        oracle_for,
        record,
        takes,
        tell,
        tell_front,
    )
    from denseflip.workflow.offline_whatif import whatif_data
    from denseflip.workflow.outputs import write_outputs
    from denseflip.workflow.subject import (
        choose_ids,
        find_subject,
        open_dataset,
        parse_settings,
    )

    terms = constraints_of(context.params)
    named = takes(method, "max_cells")
    counting: dict[str, Any] = {
        "regions": regions,
        "language": language,
        "named": named,
        "front": front,
    }
    search = method_for(
        method,
        regions=regions,
        language=language,
        max_cells=max_cells if named else None,
        objective=objective,
        front=front,
        settings=parse_settings(settings or []),
    )
    Requirements.of(
        robust, noise, plausible, max_implausible, n, front
    )  # before anything is trained
    if vocabulary != "auto":
        Vocabulary.named(vocabulary)  # a wrong word is told before the search, not after
    form = _check_form(form, json)
    telling: dict[str, Any] = {
        "confidence": confidence,
        "budget": budget,
        "seed": seed,
        "time_limit": time_limit,
        "confirm": confirm,
        "regions": regions,
        "share": share,
        "vocabulary": vocabulary,
        "evaluation": None if evaluation is None else read_evaluation(evaluation),
    }
    wishes = {
        "robust": robust,
        "noise": noise,
        "plausible": plausible,
        "max_implausible": max_implausible,
    }
    telling |= {name: value for name, value in wishes.items() if value not in (None, False)}
    if every or classes or len(ids or ()) > 1:
        _only_for_one(
            front=front,
            n=n > 1,
            background=background,
            percentile=percentile,
            threshold=threshold,
            edges=edges,
        )
        dataset = open_dataset(source, fetch=fetch_one)
        if oracle is None:
            say_default(DEFAULT_PRESET, dataset.name)
        if nodes is not None:
            dataset = replace(dataset, nodes=Nodes.read_csv(nodes))
        telling["constraints"] = bound_cells(terms, max_cells, dataset.nodes, **counting) or None
        explain_graphs(
            dataset,
            choose_ids(dataset, ids or (), every=every, classes=classes or ()),
            oracle,
            method=search,
            input=input,
            batch=batch,
            target=target or None,
            **telling,
            engine=engine,
            jobs=jobs,
            scheduler=scheduler,
            pages=pages,
            form=form,
            out=out,
            force=force,
        )
        return
    if out is not None:
        check_new_folder(out, force=force)
    subject = find_subject(
        source,
        ids[0] if ids else None,
        nodes=nodes,
        background=background,
        keep=make_keep(percentile, threshold, edges),
        fetch=fetch_one,
    )
    telling["constraints"] = bound_cells(terms, max_cells, subject.nodes, **counting) or None
    box = oracle_for(subject, oracle, input=input, batch=batch)
    if oracle is None:
        say_default(DEFAULT_PRESET, subject.source)
    wanted = subject.label_of(target, box)
    with SearchProgress(search.name, wanted) as watch:
        story = tell(subject, box, search, target=wanted, n=n, on_event=watch.listener, **telling)
    answers = tell_front(story, box, background=subject.background) if front or n > 1 else ()
    if form == "json":
        print_json(record(story, answers))
    elif form != "text":
        columns, rows = story.edit_rows()
        typer.echo(Table("edits", "", columns, tuple(rows)).to(form), nl=False)
    else:
        print_story(story)
        if spelled := spell(context.command, (), story.parameters):
            typer.echo(f"*{spelled}")
        if answers:
            print_front(story, answers)
        typer.echo(f"\n{story.result}")
    if out is not None:
        for path in write_outputs(
            story,
            out,
            box,
            front=answers,
            dataset=subject.dataset,
            command=this_command(),
            force=force,
            whatif=whatif_data(subject, box, story=story),
        ):
            err_console().print(f"Wrote {path}", style="dim")


def say_default(preset: str, source: str) -> None:
    """Say which classifier is explained where none was named."""
    words = f"No --oracle given: explaining {preset}, trained on {source}."
    err_console().print(words, style="dim")


def _check_form(form: str, json: bool) -> str:
    """The form of what is printed; --json is short for one of them."""
    from denseflip.errors import InvalidParameterError, UnknownNameError

    if form not in FORMATS:
        raise UnknownNameError("form", form, FORMATS, parameter="form")
    if json and form not in {"text", "json"}:
        msg = f"--json and --format {form} ask for two forms; give one of them."
        raise InvalidParameterError(msg)
    return "json" if json else form


def _only_for_one(**given: object) -> None:
    """Say so if options were given that are of no use for many graphs of a data set."""
    from denseflip.errors import InvalidParameterError

    for name, value in given.items():
        if value:
            of_file = name in {"background", "percentile", "threshold", "edges"}
            what = "a graph file" if of_file else "one graph"
            msg = f"{name} is for {what}, not for many graphs of a data set. Leave it out."
            raise InvalidParameterError(msg, parameter=name)
