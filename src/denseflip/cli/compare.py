"""``denseflip compare``: all methods on one graph."""

from __future__ import annotations

from typing import Annotated

import typer

from denseflip.cli.common import err_console, out_console, print_json
from denseflip.cli.explain import (
    BackgroundOption,
    BudgetOption,
    EdgesOption,
    ForceOption,
    InputOption,
    JsonOption,
    NodesOption,
    OracleOption,
    OutOption,
    PercentileOption,
    RegionsOption,
    SeedOption,
    ShareOption,
    TargetOption,
    ThresholdOption,
    evaluation_of,
)


def compare(
    source: Annotated[
        str, typer.Argument(help="A data set (name or file), or a graph file.", metavar="SOURCE")
    ],
    graph_id: Annotated[
        str | None,
        typer.Argument(help="Id of a graph of the data set, or its number from 0.", metavar="[ID]"),
    ] = None,
    methods: Annotated[
        str, typer.Option(help="Comma-separated methods, e.g. blocks,tri,cli+min.")
    ] = "blocks,tri,cli,rcli,con,edg,dat,dat+bw",
    oracle: OracleOption = None,
    input: InputOption = "adjacency",
    nodes: NodesOption = None,
    background: BackgroundOption = None,
    percentile: PercentileOption = None,
    threshold: ThresholdOption = None,
    edges: EdgesOption = None,
    target: TargetOption = None,
    budget: BudgetOption = None,
    seed: SeedOption = 0,
    regions: RegionsOption = None,
    share: ShareOption = 0.0,
    out: OutOption = None,
    force: ForceOption = False,
    json: JsonOption = False,
) -> None:
    """Explain one graph by several methods and set their answers side by side.

        denseflip compare mice sub-54811 --methods blocks,tri,con,dat+bw --out compared/

    d is the number of changed edges, d% that in percent of the edges of either graph; calls are
    questions to the classifier; the last columns say how many region pairs hold 80 % of the
    changes, how many the sentence had to name, and whether those alone were tested to flip it.
    """
    from denseflip.search.methods import make_method
    from denseflip.workflow import resolve
    from denseflip.workflow.compare import compare as run_all
    from denseflip.workflow.output import check_out, comparison_table, write_outputs

    recipes = [make_method(name) for name in methods.split(",") if name.strip()]
    check_out(out, force)
    keep = resolve.find_keep(percentile, threshold, edges)
    subject = resolve.find_subject(source, graph_id, nodes=nodes, background=background, keep=keep)
    box = resolve.find_oracle(oracle, subject, input=input)
    with err_console().status("…") as status:
        rows = list(
            run_all(
                subject.graph,
                box,
                recipes,
                nodes=subject.nodes,
                background=subject.background,
                target=resolve.parse_target(target, subject),
                budget=budget,
                seed=seed,
                progress=lambda name: status.update(f"{name} searches …"),
                taxonomy=regions,
                subject=subject.name,
                class_names=subject.class_names,
                evaluation=evaluation_of(box),
                share=share,
            )
        )
    if json:
        print_json([row.to_dict() for row in rows])
    else:
        out_console().print(comparison_table(rows))
        for row in rows:
            typer.echo(f"\n{row.method}: {row.sentence}")
    stories = [row.story for row in rows if row.story is not None]
    if out is not None and stories:
        for path in write_outputs(stories, out, box, dataset=subject.dataset, compared=rows):
            err_console().print(f"Wrote {path}", style="dim")
