"""The command tree. One module per command group; this one only joins them."""

from __future__ import annotations

from typing import Annotated

import typer

from denseflip._version import __version__
from denseflip.cli import data as data_commands
from denseflip.cli import experiments as experiment_commands
from denseflip.cli import train as train_commands
from denseflip.cli.arena import arena
from denseflip.cli.cohort import cohort
from denseflip.cli.compare import compare
from denseflip.cli.demo import demo
from denseflip.cli.explain import explain, methods
from denseflip.cli.options import GroupedCommand, show_literally
from denseflip.cli.serve import serve

app = typer.Typer(
    name="denseflip",
    help="Explain graph classifiers: find the smallest change in dense regions that changes the "
    "decision, verify it, and describe it in a sentence.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"denseflip {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Explain graph classifiers by counterfactuals in terms of dense regions.

    All commands also take --debug, to show the traceback of an error, and --max-size 8GB, to
    allow more than 1 GB of unpacked or allocated data at once.
    """


app.command("demo")(demo)
app.command("methods")(methods)
app.command("explain", cls=GroupedCommand)(explain)
app.command("compare", cls=GroupedCommand)(compare)
app.command("serve")(serve)
app.command("cohort", cls=GroupedCommand)(cohort)
app.command("train")(train_commands.train)
app.command("evaluate")(train_commands.evaluate)
app.command("paper")(experiment_commands.paper)
app.command("bench")(experiment_commands.bench)
app.command("arena")(arena)
app.command("results")(experiment_commands.results)
app.add_typer(data_commands.app)
show_literally(app)
