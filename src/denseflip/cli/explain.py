"""``denseflip methods`` and ``denseflip explain``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denseflip.cli.common import err_console, out_console, print_json, spell, this_command
from denseflip.cli.data import fetch_one
from denseflip.cli.many import (
    FORMATS,
    AllOption,
    ClassOption,
    EngineOption,
    FormatOption,
    JobsOption,
    PagesOption,
    SchedulerOption,
    explain_graphs,
)
from denseflip.cli.story import print_front, print_story
from denseflip.cli.terms import (
    AddOption,
    CellsOption,
    ConnectedOption,
    DensityOption,
    EditsOption,
    FreezeOption,
    LeastDegreeOption,
    MostDegreeOption,
    RemoveOption,
    SeenOption,
    bound_cells,
    constraints_of,
)
from denseflip.cli.watch import Watch

if TYPE_CHECKING:
    pass

MethodOption = Annotated[
    str,
    typer.Option(
        "--method",
        "-m",
        help="Search method, e.g. tri, dat+bw; `denseflip methods` lists them. Or your own: "
        "module:function.",
    ),
]
OracleOption = Annotated[
    str | None,
    typer.Option(
        "--oracle",
        help="The classifier: module:function (your own code; a model, with what it needs: "
        "'module:model?features=degree'), onnx:FILE, a service (https://…), a file written by "
        "`denseflip train`, or a preset such as edges-svm or published (the paper's), trained on "
        "the data.",
    ),
]
InputOption = Annotated[
    str,
    typer.Option(
        help="What module:function takes: adjacency (NumPy array), networkx, sparse or graph."
    ),
]
BatchOption = Annotated[
    bool, typer.Option("--batch", help="module:function takes many graphs at once.")
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
ObjectiveOption = Annotated[
    str | None,
    typer.Option(help="What is best: sentence (the shortest), edits (the fewest) or balanced."),
]
FrontOption = Annotated[
    bool,
    typer.Option("--front", help="Show every answer that no other beats in words and in edits."),
]
RobustOption = Annotated[
    float | None,
    typer.Option(
        help="The share of random perturbations that the flip has to survive, e.g. 0.9 (--noise)."
    ),
]
NoiseOption = Annotated[
    float | None,
    typer.Option(
        help="The share of all pairs that a perturbation flips (--robust). Default: 0.01."
    ),
]
PlausibleOption = Annotated[
    bool,
    typer.Option(
        "--plausible",
        help="Exchange edits for more plausible ones of the same place: pairs that graphs of the "
        "other class have.",
    ),
]
ImplausibleOption = Annotated[
    float | None,
    typer.Option(
        help="How far the answer may be from the nearest real graph of its class, as a multiple "
        "of what is usual there, e.g. 1.2."
    ),
]
AnswersOption = Annotated[
    int, typer.Option("--n", min=1, help="Look for so many answers in different places.")
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
    Path | None,
    typer.Option(
        "--out", help="Folder for the page, the pictures and the result, or for many of them."
    ),
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
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            help="Ids of graphs of the data set, or their numbers from 0.", metavar="[ID]..."
        ),
    ] = None,
    every: AllOption = False,
    classes: ClassOption = None,
    method: MethodOption = "auto",
    oracle: OracleOption = None,
    input: InputOption = "adjacency",
    batch: BatchOption = False,
    nodes: NodesOption = None,
    background: BackgroundOption = None,
    percentile: PercentileOption = None,
    threshold: ThresholdOption = None,
    edges: EdgesOption = None,
    target: TargetOption = None,
    confidence: ConfidenceOption = None,
    freeze: FreezeOption = None,
    only_add: AddOption = False,
    only_remove: RemoveOption = False,
    max_edits: EditsOption = None,
    keep_density: DensityOption = None,
    keep_connected: ConnectedOption = False,
    allow_seen: SeenOption = None,
    min_degree: LeastDegreeOption = None,
    max_degree: MostDegreeOption = None,
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
    robust: RobustOption = None,
    noise: NoiseOption = None,
    plausible: PlausibleOption = False,
    max_implausible: ImplausibleOption = None,
    n: AnswersOption = 1,
    vocabulary: VocabularyOption = "auto",
    share: ShareOption = 0.0,
    evaluation: EvaluationOption = None,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
    form: FormatOption = "text",
    pages: PagesOption = "full",
    engine: EngineOption = "auto",
    jobs: JobsOption = None,
    scheduler: SchedulerOption = None,
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
    from denseflip.experiments.tables import Table
    from denseflip.graph import Nodes
    from denseflip.search.wishes import Wishes
    from denseflip.story.vocabulary import Vocabulary
    from denseflip.workflow.alive import whatif_data
    from denseflip.workflow.outputs import write_outputs
    from denseflip.workflow.subject import (
        choose_ids,
        find_subject,
        open_dataset,
        parse_settings,
    )
    from denseflip.workflow.tell import method_for, oracle_for, record, takes, tell, tell_front

    terms = constraints_of(
        freeze=freeze,
        only_add=only_add,
        only_remove=only_remove,
        max_edits=max_edits,
        keep_density=keep_density,
        keep_connected=keep_connected,
        allow_seen=allow_seen,
        min_degree=min_degree,
        max_degree=max_degree,
    )
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
    Wishes.of(robust, noise, plausible, max_implausible, n, front)  # before anything is trained
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
    with Watch(search.name, wanted) as watch:
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
