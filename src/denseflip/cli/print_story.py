"""How `explain` prints a story and a Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import typer

from denseflip.cli.common import out_console

if TYPE_CHECKING:
    from denseflip.story.story import Story


def print_story(story: Story) -> None:
    """Print the sentence, whether it is true, and its footnotes."""
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
    """Print the Pareto front, or the diverse answers: a table, then the sentences."""
    from rich.table import Table

    from denseflip.report.front import read_cell, told

    diverse = bool(story.result.diverse)
    if len(answers) == 1:
        if diverse:
            return  # the notes say why
        typer.echo("\nNo other answer found names fewer places, needs fewer edits or is truer.")
        return
    typer.echo(
        "\nEach of these answers suffices by itself. The main places of one are left unchanged by "
        "the others:\n"
        if diverse
        else "\nThe Pareto front: no other answer found is at least as good in places, edits and "
        "truth:\n"
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    for head in ("", "named", "edits"):
        table.add_column(head, justify="right")
    table.add_column("language")
    table.add_column("true as read")
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
