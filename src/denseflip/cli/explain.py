"""``denseflip methods`` and ``denseflip explain``, and how a story is printed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denseflip.cli.common import (
    err_console,
    out_console,
    plain_table,
    print_json,
    say_written,
    spell,
    this_command,
)
from denseflip.cli.data import fetch_one, find_graph
from denseflip.cli.many import FORMATS, explain_graphs
from denseflip.cli.newcomers import show_example
from denseflip.cli.options import documented, reading_options, refuse, request_options
from denseflip.cli.progress import ProgressLine
from denseflip.reading import Reading
from denseflip.reading import reading_options as reading_options_of
from denseflip.request import Request

if TYPE_CHECKING:
    from denseflip.datasets import Dataset
    from denseflip.story.story import Story


@documented()
def methods(json: bool = False) -> None:
    """List the search methods and the refinements (method+refinement).

    Output
    ------
    json : Print JSON.
    """
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
@reading_options()
@documented()
def explain(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE")],
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...")] = None,
    oracle: str | None = None,
    input: str = "auto",
    batch: bool = False,
    nodes: str | None = None,
    background: str | None = None,
    percentile: float | None = None,
    threshold: float | None = None,
    edges: int | None = None,
    evaluation: Path | None = None,
    refits: Annotated[str, typer.Option(metavar="N|DIR|module:function")] = "auto",
    *,
    reading: Reading,
    request: Request,
    every: Annotated[bool, typer.Option("--all")] = False,
    classes: Annotated[list[str] | None, typer.Option("--class", metavar="NAME")] = None,
    engine: str = "auto",
    jobs: Annotated[int | None, typer.Option(min=1)] = None,
    scheduler: str | None = None,
    pages: str = "full",
    out: Path | None = None,
    bids_out: Path | None = None,
    force: bool = False,
    json: bool = False,
    form: Annotated[str, typer.Option("--format")] = "text",
    example: Annotated[
        bool, typer.Option("--example", callback=show_example, is_eager=True)
    ] = False,
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

    Arguments
    ---------
    source : A data set (name or file), or a graph file.
    ids : Ids of graphs of the data set, the numbers in them, or positions from 0. A number that
        means two graphs is refused.

    Data and classifier
    -------------------
    oracle : Classifier to explain: a preset trained on the data (edges-svm, regions-logistic,
        published …), a file written by `denseflip train`, module:function (your own code; a model
        with its inputs: 'module:model?features=degree'), onnx:FILE, or a service (https://…).
    input : What module:function takes: adjacency (NumPy array), networkx, sparse or graph; auto
        detects it.
    batch : module:function takes a list of graphs at once.
    nodes : Node table (name, regions …, x, y, z), or an atlas: aal, dosenbach, power, seitzman.
    background : For a graph file: the data set that it belongs to.
    percentile : For a weighted matrix: keep pairs at or above this percentile, e.g. 90.
    threshold : For a weighted matrix: keep pairs at or above this value.
    edges : For a weighted matrix: keep this many of the strongest pairs.
    evaluation : Evaluation of the classifier: a file written by `denseflip evaluate --out`.
    refits : Classifiers trained again on resampled data, to test whether the sentence holds for
        them too: a number, a folder of models (.dfo), or your own fit(dataset). 0 for none.
        Default: 20 of a preset if that takes at most 10 s.

    Many graphs
    -----------
    every : Explain every graph of the data set.
    classes : Explain every graph of this class of the data set. Repeatable.
    engine : auto, serial, processes or dask.
    jobs : Worker processes. Default: all cores.
    scheduler : Address of a Dask scheduler.
    pages : Pages in --out: full (about 0.5 MB each), still (without the interactive picture) or
        none.

    Output
    ------
    out : Folder for the page, the pictures, the tables and the result.
    bids_out : Folder for the tables as a BIDS derivative: a folder per participant, with sidecars.
    force : Overwrite what is in --out and --bids-out.
    json : Print JSON.
    form : Output format: text, json, csv or tsv. csv and tsv print a row per edit for one graph, a
        row per graph for many. svg, pdf or png sets the format of the pictures in --out (png by
        default, 300 dpi).
    example : Show a worked example and exit.
    """
    from dataclasses import asdict, replace

    from denseflip.checks import check_new_folder
    from denseflip.classifiers.evaluation import read_evaluation
    from denseflip.datasets.atlas import read_nodes
    from denseflip.errors import InvalidParameterError
    from denseflip.experiments.bids_outputs import write_bids
    from denseflip.experiments.explain_many import Explained
    from denseflip.experiments.story_tables import edit_table, write_tables
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
    from denseflip.workflow.subject import choose_ids, open_dataset

    # Check everything possible before loading or training anything.
    method = method_for(request)
    check_request(request)
    form, pictures = _check_form(form, json, out)
    known = None if evaluation is None else read_evaluation(evaluation)
    if every or classes or len(ids or ()) > 1:
        if pictures is not None:
            msg = f"--format {pictures} applies to one graph; for many, --out has pages only."
            raise InvalidParameterError(msg)
        _only_for_one(
            front=request.front,
            n=request.n > 1,
            background=background,
            percentile=percentile,
            threshold=threshold,
            edges=edges,
            refits=refits != "auto",
            **{name: value not in (None, "auto") for name, value in asdict(reading).items()},
        )
        dataset = open_dataset(source, fetch=fetch_one)
        if oracle is None:
            say_default(dataset, dataset.name)
        if nodes is not None:
            dataset = replace(dataset, nodes=read_nodes(nodes)[0])
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
            bids_out=bids_out,
            force=force,
        )
        return
    _only_for_many(context, ("engine", "jobs", "scheduler", "pages"))
    for folder in (out, bids_out):
        if folder is not None:
            check_new_folder(folder, force=force)
    subject = find_graph(
        source,
        ids[0] if ids else None,
        nodes=nodes,
        background=background,
        percentile=percentile,
        threshold=threshold,
        edges=edges,
        reading=reading,
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
        typer.echo(edit_table([(subject.name, story)]).to(form), nl=False)
    else:
        print_story(story)
        if spelled := spell(context.command, (), story.parameters):
            typer.echo(f"*{spelled}")
        if answers:
            print_front(story, answers)
        typer.echo(f"\n{story.result}")
    if out is not None:
        files = write_outputs(
            story,
            out,
            classifier,
            front=answers,
            dataset=subject.dataset,
            command=this_command(),
            force=force,
            whatif=whatif_data(subject, classifier, story=story),
            pictures=pictures or "png",
        )
        say_written(*files, *write_tables([(subject.name, story)], out))
    if bids_out is not None:
        one = Explained(subject.name, subject.true_class or "", story)
        made = write_bids(
            [one],
            bids_out,
            dataset=subject.dataset,
            oracle=str(oracle or ""),
            command=this_command(),
            force=force,
        )
        say_written(made)


def say_default(dataset: Dataset | None, source: str) -> None:
    """Print which classifier is explained if none was given."""
    from denseflip.classifiers.presets import default_preset

    assert dataset is not None  # without one, a classifier is required
    text = f"No --oracle given: explaining {default_preset(dataset)}, trained on {source}."
    err_console().print(text, style="dim")


def _check_form(form: str, json: bool, out: Path | None) -> tuple[str, str | None]:
    """Return the format of the output and of the pictures; ``--json`` is ``--format json``."""
    from denseflip.errors import InvalidParameterError, UnknownNameError
    from denseflip.report.canvas import FORMATS as PICTURES

    if form in PICTURES:
        if out is None:
            msg = f"--format {form} is the format of the pictures in --out. Give --out FOLDER."
            raise InvalidParameterError(msg)
        return "json" if json else "text", form
    if form not in FORMATS:
        raise UnknownNameError("form", form, (*FORMATS, *PICTURES), parameter="form")
    if json and form not in {"text", "json"}:
        msg = f"--json and --format {form} contradict each other. Give one of them."
        raise InvalidParameterError(msg)
    return "json" if json else form, None


_OF_FILES = ("background", "percentile", "threshold", "edges", *reading_options_of())


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


def print_story(story: Story) -> None:
    """Print the sentence, whether it is true, and its footnotes."""
    from denseflip.report.front import beside, told

    sentence, (read, footnotes) = told(story), beside(story)
    typer.echo(sentence.lead)
    for item in sentence.items:
        typer.echo(f"  - {item}")
    if story.doubt:
        typer.echo(story.doubt)
    if story.result.found:
        typer.echo(f"\n[{story.badge.text}] {read}".rstrip())
    typer.echo("")
    for note in footnotes:
        typer.echo(f"* {note}")


def print_front(story: Story, answers: Sequence[Story]) -> None:
    """Print the Pareto front, or the diverse answers: a table, then the sentences."""
    from denseflip.report.front import read_cell, told

    diverse = bool(story.result.diverse)
    if len(answers) == 1:
        if diverse:
            return  # the notes say why
        typer.echo("\nNo other answer found has fewer places, fewer edits or holds more generally.")
        return
    typer.echo(
        "\nEach of these answers flips the classifier on its own and leaves the main places of "
        "the others unchanged:\n"
        if diverse
        else "\nThe default answer (*) and the Pareto front: no answer found beats one of the "
        "others in places, edits and how generally it holds:\n"
    )
    numbers = ("", "named", "edits")
    table = plain_table(*numbers, "language", "true as read", right=numbers)
    for number, one in enumerate(answers, 1):
        where = one.taxonomy.name if one.taxonomy is not None else str(one.language)
        shown = "*" if one is story else ""
        named, edits = len(one.claim.amounts), one.result.distance
        table.add_row(f"{shown}{number}", f"{named:,}", f"{edits:,}", where, read_cell(one))
    out_console().print(table, markup=False)
    for number, one in enumerate(answers, 1):
        sentence = told(one, 5)
        typer.echo(f"\n{number}. {sentence.lead}")
        for item in sentence.items:
            typer.echo(f"   - {item}")
