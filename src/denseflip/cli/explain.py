"""``denseflip methods`` and ``denseflip explain``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from denseflip.cli.common import err_console, out_console, print_json, spell, this_command
from denseflip.cli.data import fetch_one
from denseflip.cli.watch import Watch

if TYPE_CHECKING:
    from denseflip.story.story import Story

MethodOption = Annotated[
    str,
    typer.Option(
        "--method", "-m", help="Search method, e.g. tri, dat+bw; `denseflip methods` lists them."
    ),
]
OracleOption = Annotated[
    str | None,
    typer.Option(
        "--oracle",
        help="The classifier: module:function (your own code), a file written by `denseflip "
        "train`, or a preset such as edges-svm or published (the paper's), trained on the data.",
    ),
]
InputOption = Annotated[
    str,
    typer.Option(
        help="What module:function takes: adjacency (NumPy array), networkx, sparse or graph."
    ),
]
NodesOption = Annotated[
    Path | None, typer.Option(help="Node table (CSV: name, regions …, x, y, z).")
]
BackgroundOption = Annotated[
    str | None, typer.Option(help="For a graph file: the data set that it belongs to.")
]
PercentileOption = Annotated[
    float | None,
    typer.Option(help="For a weighted matrix: keep pairs from this percentile up, e.g. 90."),
]
ThresholdOption = Annotated[
    float | None, typer.Option(help="For a weighted matrix: keep pairs from this value up.")
]
EdgesOption = Annotated[
    int | None, typer.Option(help="For a weighted matrix: keep this many pairs, the strongest.")
]
TargetOption = Annotated[
    list[str] | None,
    typer.Option(
        help="The class wanted, by name or label; repeat it for several that will do. Default: "
        "any other than the graph's.",
        metavar="CLASS",
    ),
]
ConfidenceOption = Annotated[
    float | None,
    typer.Option(
        help="How sure of the other class the classifier must be, 0 to 1; needs one that gives "
        "probabilities, such as regions-logistic."
    ),
]
BudgetOption = Annotated[
    int | None, typer.Option(min=1, help="Ask the classifier at most this often.")
]
TimeOption = Annotated[float | None, typer.Option(help="Stop after so many seconds.")]
ConfirmOption = Annotated[
    int,
    typer.Option(
        min=0, help="Ask so often again about the final pair; catches classifiers that throw dice."
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of the search.")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="A parameter of the method: key=value. May be given often."),
]
RegionsOption = Annotated[
    str | None,
    typer.Option(
        help="Taxonomy that the sentence speaks in, e.g. lobe or lobe*hemisphere, and that the "
        "method works with, if it takes one."
    ),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        help="What the sentence may name: regions, nodes or pairs of nodes; auto takes the first "
        "that tells it."
    ),
]
CellsOption = Annotated[
    int | None,
    typer.Option(min=1, help="Name at most so many pairs of regions (or nodes); default: 5."),
]
ObjectiveOption = Annotated[
    str | None,
    typer.Option(help="What is best: sentence (the shortest), edits (the fewest) or balanced."),
]
FrontOption = Annotated[
    bool,
    typer.Option("--front", help="Show every answer that no other beats in words and in edits."),
]
VocabularyOption = Annotated[
    str,
    typer.Option(
        help="Words of the sentence: auto, brain, connectome, network, mouse, graph, or paper "
        "(activation and co-activation, as the paper has it)."
    ),
]
ShareOption = Annotated[
    float,
    typer.Option(
        min=0,
        max=1,
        help="Let the sentence name at least this share of the changes, needed or not; the "
        "paper's own sentences name about 0.8.",
    ),
]
EvaluationOption = Annotated[
    Path | None,
    typer.Option(
        help="What is known of the classifier: a file written by `denseflip evaluate --out`."
    ),
]
OutOption = Annotated[
    Path | None, typer.Option("--out", help="Folder for the page, the pictures and the result.")
]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite what is in --out.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def methods(json: JsonOption = False) -> None:
    """List the search methods and the refinements that may follow them with a +."""
    from denseflip.search.methods import methods as listed

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
    graph_id: Annotated[
        str | None,
        typer.Argument(help="Id of a graph of the data set, or its number from 0.", metavar="[ID]"),
    ] = None,
    method: MethodOption = "auto",
    oracle: OracleOption = None,
    input: InputOption = "adjacency",
    nodes: NodesOption = None,
    background: BackgroundOption = None,
    percentile: PercentileOption = None,
    threshold: ThresholdOption = None,
    edges: EdgesOption = None,
    target: TargetOption = None,
    confidence: ConfidenceOption = None,
    budget: BudgetOption = None,
    time_limit: TimeOption = None,
    confirm: ConfirmOption = 1,
    seed: SeedOption = 0,
    settings: SetOption = None,
    regions: RegionsOption = None,
    language: LanguageOption = None,
    max_cells: CellsOption = None,
    objective: ObjectiveOption = None,
    front: FrontOption = False,
    vocabulary: VocabularyOption = "auto",
    share: ShareOption = 0.0,
    evaluation: EvaluationOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Find and tell what would have changed the classifier's mind about one graph.

    A graph of a data set, explained with a classifier trained on the spot:

        denseflip explain mice sub-54811 --out mouse/

    A graph file (adjacency CSV/NPY, GraphML, edge list) and your own classifier:

        denseflip explain brain.csv --oracle mymodel:predict --json

    For a correlation matrix say which pairs are edges: --percentile 90, or --threshold 0.4.
    """
    from denseflip.checks import check_new_folder
    from denseflip.classifiers.evaluation import read_evaluation
    from denseflip.classifiers.presets import DEFAULT_PRESET
    from denseflip.datasets.connectome import make_keep
    from denseflip.story.vocabulary import Vocabulary
    from denseflip.workflow.outputs import write_outputs
    from denseflip.workflow.subject import find_subject, parse_settings
    from denseflip.workflow.tell import method_for, oracle_for, record, tell, tell_front

    search = method_for(
        method,
        regions=regions,
        language=language,
        max_cells=max_cells,
        objective=objective,
        front=front,
        settings=parse_settings(settings or []),
    )
    if vocabulary != "auto":
        Vocabulary.named(vocabulary)  # a wrong word is told before the search, not after
    if out is not None:
        check_new_folder(out, force=force)
    judged = None if evaluation is None else read_evaluation(evaluation)
    subject = find_subject(
        source,
        graph_id,
        nodes=nodes,
        background=background,
        keep=make_keep(percentile, threshold, edges),
        fetch=fetch_one,
    )
    box = oracle_for(subject, oracle, input=input)
    if oracle is None:
        err_console().print(
            f"No --oracle given: explaining {DEFAULT_PRESET}, trained on {subject.source}.",
            style="dim",
        )
    wanted = subject.label_of(target, box)
    with Watch(search.name, wanted) as watch:
        story = tell(
            subject,
            box,
            search,
            target=wanted,
            confidence=confidence,
            budget=budget,
            seed=seed,
            time_limit=time_limit,
            confirm=confirm,
            regions=regions,
            share=share,
            vocabulary=vocabulary,
            evaluation=judged,
            on_event=watch.listener,
        )
    answers = tell_front(story, box, background=subject.background) if front else ()
    if json:
        print_json(record(story, answers))
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
        ):
            err_console().print(f"Wrote {path}", style="dim")


def print_story(story: Story) -> None:
    """The sentence, how true it is, and its footnotes."""
    from denseflip.report.front import beside, told

    sentence, (read, footnotes) = told(story), beside(story)
    typer.echo(sentence.lead)
    for item in sentence.items:
        typer.echo(f"  - {item}")
    if story.result.found:
        typer.echo(f"\n[{story.badge.text}] {read}".rstrip())
    typer.echo("")
    for note in footnotes:
        typer.echo(f"* {note}")


def print_front(story: Story, answers: Sequence[Story]) -> None:
    """The answers that no other beats: a table, then their sentences."""
    from rich.table import Table

    from denseflip.report.front import read_cell, told

    if len(answers) == 1:
        typer.echo("\nNo other answer that was found names less, takes fewer edits or is truer.")
        return
    typer.echo(
        "\nNo other answer that was found beats one of these in what it names, in edits and in "
        "truth:\n"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("", "named", "edits"):
        table.add_column(head, justify="right")
    table.add_column("told in")
    table.add_column("true as read")
    for number, one in enumerate(answers, 1):
        where = one.taxonomy.name if one.taxonomy is not None else str(one.language)
        shown = "*" if one is story else ""
        named, edits = len(one.verification.named), one.result.distance
        table.add_row(f"{shown}{number}", f"{named:,}", f"{edits:,}", where, read_cell(one))
    out_console().print(table)
    for number, one in enumerate(answers, 1):
        sentence = told(one, 5)
        typer.echo(f"\n{number}. {sentence.lead}")
        for item in sentence.items:
            typer.echo(f"   - {item}")
