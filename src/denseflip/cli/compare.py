"""``denseflip compare``: all methods on one graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from denseflip.cli.common import (
    out_console,
    plain_table,
    print_json,
    say_written,
    spell,
    this_command,
)
from denseflip.cli.data import find_graph
from denseflip.cli.experiments import split_words
from denseflip.cli.explain import explain
from denseflip.cli.options import check_pictures, documented, reading_options, request_options
from denseflip.cli.progress import ProgressLine
from denseflip.reading import Reading
from denseflip.request import PER_METHOD, Request

if TYPE_CHECKING:
    from denseflip.workflow.compare import Compared


@request_options(without=(*PER_METHOD, "n"))
@reading_options()
@documented(explain)
def compare(
    context: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SOURCE")],
    graph_id: Annotated[str | None, typer.Argument(metavar="[ID]")] = None,
    methods: str = "auto,blocks,tri,cli,rcli,con,edg,dat,dat+bw",
    oracle: str | None = None,
    input: str = "auto",
    batch: bool = False,
    nodes: str | None = None,
    background: str | None = None,
    percentile: float | None = None,
    threshold: float | None = None,
    edges: int | None = None,
    *,
    reading: Reading,
    request: Request,
    out: Path | None = None,
    force: bool = False,
    json: bool = False,
    pictures: Annotated[str, typer.Option("--format")] = "png",
) -> None:
    """Explain one graph by several methods and compare their answers.

        denseflip compare mice sub-54811 --methods auto,tri,con,dat+bw --out compared/

    Columns: d is the number of edits, d% the same as a percentage of the edges of either graph,
    calls the number of queries. Then follow the region pairs that hold 80 % of the edits, the
    places that the sentence names, and whether it is true as read: whether as many other
    connections in the same places, drawn at random, flip the classifier too.

    Arguments
    ---------
    graph_id : Id of a graph of the data set, the number in it, or its position from 0.

    Search
    ------
    methods : Comma-separated methods, e.g. auto,tri,cli+min,mylab:peel.

    Output
    ------
    pictures : Format of the pictures in --out: png (300 dpi), svg or pdf.
    """
    from denseflip.checks import check_new_folder
    from denseflip.search.methods.registry import method_for
    from denseflip.workflow.compare import compare as run_all
    from denseflip.workflow.explain_and_describe import oracle_for
    from denseflip.workflow.outputs import write_outputs

    names = split_words(methods)
    for name in names:  # refuse wrong names before anything is loaded
        method_for(replace(request, method=name))
    check_pictures(pictures)
    if out is not None:
        check_new_folder(out, force=force)
    subject = find_graph(
        source,
        graph_id,
        nodes=nodes,
        background=background,
        percentile=percentile,
        threshold=threshold,
        edges=edges,
        reading=reading,
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
        files = write_outputs(
            rows,
            out,
            classifier,
            dataset=subject.dataset,
            command=this_command(),
            force=force,
            pictures=pictures,
        )
        say_written(*files)


def comparison_table(rows: Sequence[Compared]) -> Any:
    """Build the table of a comparison: status, distance, calls, regions, true as read."""
    from denseflip.report.front import read_cell

    numbers = ("d", "d%", "calls", "pairs for 80 %", "named")
    table = plain_table("method", "status", *numbers, "true as read", right=numbers)
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
