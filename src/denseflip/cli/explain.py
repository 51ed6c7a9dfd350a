"""``denseflip methods`` and ``denseflip explain``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from denseflip.cli import options
from denseflip.cli.common import err_console, out_console, print_json, spell, this_command
from denseflip.cli.data import fetch_one
from denseflip.cli.many import FORMATS, explain_graphs
from denseflip.cli.options import only_for_files, refuse, request_options
from denseflip.cli.print_story import print_front, print_story
from denseflip.cli.progress import ProgressLine
from denseflip.request import Request

if TYPE_CHECKING:
    from denseflip.datasets import Dataset


def methods(json: options.Json = False) -> None:
    """List the search methods and the refinements (method+refinement)."""
    from denseflip.search.methods.registry import GROUPS
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
                    "group": m.group,
                    "variant_of": m.variant_of,
                }
                for m in listed()
            ]
        )
        return
    from rich.table import Table

    console = out_console()
    for group, title in GROUPS.items():
        table = Table(box=None, pad_edge=False, header_style="bold", expand=True)
        table.add_column("method", width=10, no_wrap=True)
        table.add_column("what it does", ratio=3)
        table.add_column("needs", ratio=1)
        table.add_column("parameters (--set)", ratio=2)
        for m in listed():
            if m.group == group:
                what = f"{m.summary} Same as {m.variant_of}." if m.variant_of else m.summary
                table.add_row(m.name, what, ", ".join(m.needs), ", ".join(m.parameters))
        console.print(f"\n{title}", style="bold", markup=False)
        console.print(table, markup=False)


@request_options()
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
    oracle: options.Oracle = None,
    input: options.Input = "auto",
    batch: options.Batch = False,
    nodes: options.Nodes = None,
    background: options.Background = None,
    percentile: options.Percentile = None,
    threshold: options.Threshold = None,
    edges: options.Edges = None,
    evaluation: options.Evaluation = None,
    refits: options.Refits = "auto",
    *,
    request: Request,
    every: options.All = False,
    classes: options.Class = None,
    engine: options.Engine = "auto",
    jobs: options.Jobs = None,
    scheduler: options.Scheduler = None,
    pages: options.Pages = "full",
    out: options.Out = None,
    force: options.Force = False,
    json: options.Json = False,
    form: options.Format = "text",
) -> None:
    """Find a counterfactual: a small change that flips the decision about one graph, or many.

    A graph of a data set, with a classifier that is trained first:

        denseflip explain mice sub-54811 --out mouse/

    A graph file (adjacency CSV/NPY, GraphML, edge list) and your own classifier:

        denseflip explain brain.csv --oracle mymodel:predict --json

    For a correlation matrix, choose which pairs are edges: --percentile 90, or --threshold 0.4.

    With constraints, which every answer meets:

        denseflip explain aut 0 --freeze "lobe: Frontal Lobe" --only remove

    Many graphs, in parallel, with an index page and a page for each. If the command is
    interrupted, run it again to continue:

        denseflip explain mice --all --jobs 2 --out mice/
    """
    from dataclasses import replace

    from denseflip.checks import check_new_folder
    from denseflip.classifiers.evaluation import read_evaluation
    from denseflip.datasets.connectome import make_keep
    from denseflip.experiments.table import Table
    from denseflip.graph import Nodes
    from denseflip.search.methods.registry import method_for
    from denseflip.workflow.explain_and_describe import (
        check_request,
        describe_answers,
        explain_and_describe,
        json_record,
        oracle_for,
    )
    from denseflip.workflow.offline_whatif import whatif_data
    from denseflip.workflow.outputs import write_outputs
    from denseflip.workflow.subject import choose_ids, find_subject, open_dataset

    # Check everything possible before loading or training anything.
    method = method_for(request)
    check_request(request)
    form = _check_form(form, json)
    known = None if evaluation is None else read_evaluation(evaluation)
    if every or classes or len(ids or ()) > 1:
        _only_for_one(
            front=request.front,
            n=request.n > 1,
            background=background,
            percentile=percentile,
            threshold=threshold,
            edges=edges,
            refits=refits != "auto",
        )
        dataset = open_dataset(source, fetch=fetch_one)
        if oracle is None:
            say_default(dataset, dataset.name)
        if nodes is not None:
            dataset = replace(dataset, nodes=Nodes.read_csv(nodes))
        explain_graphs(
            dataset,
            choose_ids(dataset, ids or (), every=every, classes=classes or ()),
            oracle,
            request=request,
            evaluation=known,
            input=input,
            batch=batch,
            engine=engine,
            jobs=jobs,
            scheduler=scheduler,
            pages=pages,
            form=form,
            out=out,
            force=force,
        )
        return
    _only_for_many(context, ("engine", "jobs", "scheduler", "pages"))
    if out is not None:
        check_new_folder(out, force=force)
    if ids:
        only_for_files(
            background=background, percentile=percentile, threshold=threshold, edges=edges
        )
    subject = find_subject(
        source,
        ids[0] if ids else None,
        nodes=nodes,
        background=background,
        keep=make_keep(percentile, threshold, edges),
        fetch=fetch_one,
    )
    classifier = oracle_for(subject, oracle, input=input, batch=batch)
    if oracle is None:
        say_default(subject.dataset, subject.source)
    with ProgressLine(method.name) as watch:
        story = explain_and_describe(
            subject,
            classifier,
            evaluation=known,
            refits=refits,
            on_event=watch.listener,
            request=request,
        )
    several = request.front or request.n > 1
    answers = describe_answers(story, classifier, background=subject.background) if several else ()
    if form == "json":
        print_json(json_record(story, answers))
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
            classifier,
            front=answers,
            dataset=subject.dataset,
            command=this_command(),
            force=force,
            whatif=whatif_data(subject, classifier, story=story),
        ):
            err_console().print(f"Wrote {path}", style="dim")


def say_default(dataset: Dataset | None, source: str) -> None:
    """Print which classifier is explained if none was given."""
    from denseflip.classifiers.presets import default_preset

    assert dataset is not None  # without one, a classifier is required
    text = f"No --oracle given: explaining {default_preset(dataset)}, trained on {source}."
    err_console().print(text, style="dim")


def _check_form(form: str, json: bool) -> str:
    """Return the output format; ``--json`` is short for ``--format json``."""
    from denseflip.errors import InvalidParameterError, UnknownNameError

    if form not in FORMATS:
        raise UnknownNameError("form", form, FORMATS, parameter="form")
    if json and form not in {"text", "json"}:
        msg = f"--json and --format {form} contradict each other. Give one of them."
        raise InvalidParameterError(msg)
    return "json" if json else form


_OF_FILES = ("background", "percentile", "threshold", "edges")


def _only_for_one(**given: object) -> None:
    """Refuse options that do not apply to many graphs of a data set."""
    for name, value in given.items():
        if value:
            what = "a graph file" if name in _OF_FILES else "one graph"
            refuse(name, f"applies to {what}, not to many graphs of a data set")


def _only_for_many(context: typer.Context, names: tuple[str, ...]) -> None:
    """Refuse options of many graphs for a single graph."""
    for name in names:
        if str(context.get_parameter_source(name)).endswith("COMMANDLINE"):
            refuse(name, "applies to many graphs (--all, --class or several ids)")
