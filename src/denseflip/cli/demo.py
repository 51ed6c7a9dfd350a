"""``denseflip demo``: the whole product on the embedded mouse brains."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from denseflip.cli.common import err_console, out_console, progress, this_command

CANDIDATES = ("regions-logistic", "edges-svm", "sf-knn")
BUDGET = 1000  # questions per method: keeps the demo under a minute


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("denseflip-demo"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite what is there.")] = False,
) -> None:
    """Explain one mouse brain by every method, from data to page; needs no network.

    Loads 16 mouse connectomes (B6 and BTBR; BTBR mice are born without a corpus callosum), trains
    and honestly evaluates three classifiers, and asks what would have made a BTBR mouse a B6.
    """
    from denseflip.checks import check_new_folder
    from denseflip.cli.compare import comparison_table
    from denseflip.datasets.registry import load_dataset
    from denseflip.workflow.choose import choose_classifier
    from denseflip.workflow.compare import COMPARED, compare
    from denseflip.workflow.outputs import write_outputs
    from denseflip.workflow.subject import Subject

    check_new_folder(out, force=force)
    console, log = out_console(), err_console()
    mice = load_dataset("mice")
    console.print(
        f"[bold]Data[/]  {len(mice)} mouse brains, {mice.nodes.n_nodes} regions, "
        f"{' and '.join(mice.class_names)}"
    )
    mouse = mice[mice.labels.index(1)]
    subject = Subject(mouse.graph, f"Mouse {mouse.id}", mice.nodes, mice, mice.name)
    with log.status("Three classifiers are trained and judged on mice they have not seen …"):
        choice = choose_classifier(mice, CANDIDATES)
    console.print("[bold]Classifiers[/]")
    console.print(_judged(choice))
    console.print(f"{choice.reason}\n")
    rows = []
    with progress() as bar:
        task = bar.add_task("", total=len(COMPARED))
        for row in compare(
            subject,
            choice.oracle,
            budget=BUDGET,
            evaluation=choice.evaluation,
            progress=lambda name: bar.update(task, description=f"{name} searches"),
        ):
            rows.append(row)
            bar.advance(task)
    console.print(f"[bold]{subject.name}[/], at most {BUDGET} questions per method")
    console.print(comparison_table(rows))
    for row in rows:
        if row.story is not None:
            console.print(f"\n[bold]{row.method}[/]  {row.sentence}", soft_wrap=True)
    written = write_outputs(
        rows, out, choice.oracle, dataset=mice, command=this_command(), force=force
    )
    console.print(f"\n[bold]Page[/]  {written[0]} (open it in a browser)", soft_wrap=True)


def _judged(choice: Any) -> Any:
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("classifier")
    for head in ("held-out accuracy", "95 % interval", "p"):
        table.add_column(head, justify="right")
    for row in choice.rated:
        e = row.evaluation
        table.add_row(
            row.preset,
            f"{e.accuracy:.2f}",
            f"{e.interval[0]:.2f}–{e.interval[1]:.2f}",
            "–" if e.p_value is None else f"{e.p_value:.3f}",
        )
    return table
