"""``denseflip compare``: all methods on one graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denseflip.cli import options
from denseflip.cli.common import err_console, out_console, print_json, spell, this_command
from denseflip.cli.data import fetch_one
from denseflip.cli.options import check_pictures, only_for_files, request_options
from denseflip.cli.progress import ProgressLine
from denseflip.option import SEARCH
from denseflip.request import PER_METHOD, Request

if TYPE_CHECKING:
    from denseflip.workflow.compare import Compared


@request_options(without=(*PER_METHOD, "n"))
def compare(
    context: typer.Context,
    source: Annotated[
        str, typer.Argument(help="A data set (name or file), or a graph file.", metavar="SOURCE")
    ],
    graph_id: Annotated[
        str | None,
        typer.Argument(help="Id of a graph of the data set, or its number from 0.", metavar="[ID]"),
    ] = None,
    methods: Annotated[
        str,
        typer.Option(
            rich_help_panel=SEARCH,
            help="Comma-separated methods, e.g. auto,tri,cli+min,mylab:peel.",
        ),
    ] = "auto,blocks,tri,cli,rcli,con,edg,dat,dat+bw",
    oracle: options.Oracle = None,
    input: options.Input = "auto",
    batch: options.Batch = False,
    nodes: options.Nodes = None,
    background: options.Background = None,
    percentile: options.Percentile = None,
    threshold: options.Threshold = None,
    edges: options.Edges = None,
    *,
    request: Request,
    out: options.Out = None,
    force: options.Force = False,
    json: options.Json = False,
    pictures: options.Pictures = "png",
) -> None:
    """Explain one graph by several methods and compare their answers.

        denseflip compare mice sub-54811 --methods auto,tri,con,dat+bw --out compared/

    Columns: d is the number of edits, d% the same as a percentage of the edges of either graph,
    calls the number of queries. Then follow the region pairs that hold 80 % of the edits, the
    places that the sentence names, and whether it is true as read: whether as many other
    connections in the same places, drawn at random, flip the classifier too.
    """
    from denseflip.checks import check_new_folder
    from denseflip.datasets.connectome import make_keep
    from denseflip.search.methods.registry import method_for
    from denseflip.workflow.compare import compare as run_all
    from denseflip.workflow.explain_and_describe import oracle_for
    from denseflip.workflow.outputs import write_outputs
    from denseflip.workflow.subject import find_subject

    names = [name.strip() for name in methods.split(",") if name.strip()]
    for name in names:  # refuse wrong names before anything is loaded
        method_for(replace(request, method=name))
    check_pictures(pictures)
    if out is not None:
        check_new_folder(out, force=force)
    if graph_id is not None:
        only_for_files(
            background=background, percentile=percentile, threshold=threshold, edges=edges
        )
    subject = find_subject(
        source,
        graph_id,
        nodes=nodes,
        background=background,
        keep=make_keep(percentile, threshold, edges),
        fetch=fetch_one,
    )
    classifier = oracle_for(subject, oracle, input=input, batch=batch)
    with ProgressLine("…") as watch:
        rows = list(
            run_all(
                subject,
                classifier,
                names,
                progress=watch.rename,
                on_event=watch.listener,
                request=request,
            )
        )
    if json:
        print_json([row.to_dict() for row in rows])
    else:
        if decided := [row.story.classified for row in rows if row.story and row.story.true_class]:
            typer.echo(f"{decided[0]}\n")
        out_console().print(comparison_table(rows), markup=False)
        for row in rows:
            typer.echo(f"\n{row.method}: {row.sentence}")
        advice = dict.fromkeys(p for row in rows for p in row.parameters)
        if spelled := spell(context.command, (), tuple(advice)):
            typer.echo(f"\n{spelled.strip()}")
    if out is not None:
        for path in write_outputs(
            rows,
            out,
            classifier,
            dataset=subject.dataset,
            command=this_command(),
            force=force,
            pictures=pictures,
        ):
            err_console().print(f"Wrote {path}", style="dim")


def comparison_table(rows: Sequence[Compared]) -> Any:
    """Build the table of a comparison: status, distance, calls, regions, true as read."""
    from rich.table import Table

    from denseflip.report.front import read_cell

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("method")
    table.add_column("status")
    for head in ("d", "d%", "calls", "pairs for 80 %", "named"):
        table.add_column(head, justify="right")
    table.add_column("true as read")
    for row in rows:
        if row.story is None:
            table.add_row(row.method, "not applicable", "", "", "", "", "", "")
            continue
        r, check = row.story.result, row.story.verification
        table.add_row(
            row.method,
            str(r.status),
            str(r.distance) if r.found else "–",
            f"{100 * r.relative_distance:.1f}" if r.found else "–",
            str(r.calls),
            "–" if row.n_regions is None or not r.found else str(row.n_regions),
            f"{len(check.claim.amounts)} of {check.n_cells}" if r.found else "–",
            read_cell(row.story),
        )
    return table
