"""Shared by all commands: consoles, error messages, small parsers."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import typer

from denseflip.checks import visible
from denseflip.cli.newcomers import find_page
from denseflip.errors import DenseflipError
from denseflip.limits import allow

EXIT_FAILURE = 1
EXIT_INTERRUPTED = 130


def out_console() -> Any:
    """Console for results (standard output)."""
    from rich.console import Console

    terminal = sys.stdout.isatty()
    return Console(highlight=False, soft_wrap=not terminal, force_terminal=terminal)


def err_console() -> Any:
    """Console for progress, warnings and errors (standard error), without markup.

    A notebook asks for colours (``FORCE_COLOR``) but is no terminal: it cannot redraw a line.
    """
    from rich.console import Console

    terminal = sys.stderr.isatty()
    return Console(stderr=True, highlight=False, markup=False, force_terminal=terminal)


def plain_table(*heads: str, right: Collection[str] = (), **look: Any) -> Any:
    """A table without lines, with these headings; numbers are aligned to the right."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", **look)
    for head in heads:
        table.add_column(head, justify="right" if head in right else "left")
    return table


def say_written(*paths: Path) -> None:
    """Say which files were written, on standard error."""
    for path in paths:
        err_console().print(f"Wrote {path}", style="dim")


def print_json(data: Any) -> None:
    """Print data as JSON on standard output."""
    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))


def this_command() -> str:
    """Return the command line of this run, quoted for a shell."""
    import shlex

    return shlex.join(["denseflip", *sys.argv[1:]])


def progress(description: str = "") -> Any:
    """A progress bar on standard error, removed when done; nothing if not a terminal."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        SpinnerColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    console = err_console()
    return Progress(
        SpinnerColumn(),
        TextColumn(
            "{task.description}" if not description else f"{description} {{task.description}}",
            markup=False,
        ),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


#: Parameters of the library whose command-line options have other names.
_OPTIONS = {
    "dataset": ("background",),
    "folder": ("out",),
    "graph_id": ("graph_id", "ids"),
    "keep": ("percentile", "threshold", "edges"),
    "method": ("method", "methods"),
}
#: How a value looks, for options whose name does not suggest it.
_VALUES = {
    "background": "DATASET",
    "graph_id": "after the data set's name (`denseflip data show DATASET --ids` lists them)",
    "ids": "after the data set's name (`denseflip data show DATASET --ids` lists them)",
    "axis": "first|last",
    "decimal": "point|comma",
    "first_node": "0|1",
    "header": "none|row|column|both",
    "classes": "A,B",
    "drop_subjects": "ID,ID or incomplete",
    "files": "PATTERN",
    "id_column": "NAME",
    "stable": "0.8",
    "id_pattern": "REGEX",
    "kind": "KIND",
    "label_column": "NAME",
    "labels": "FILE",
    "match": "position",
    "name_column": "NAME",
    "nodes": "nodes.csv",
    "oracle": "module:function or FILE",
    "percentile": "90",
    "region_columns": "A,B",
    "variable": "NAME",
}


def spell(app: Callable[..., Any], args: Sequence[str], parameters: Sequence[str]) -> str:
    """Say which options of the command that was run set these parameters of the library.

    Parameters that the command does not have are left out.
    """
    if not parameters:
        return ""
    if "max_size" in parameters:  # every command has it
        return " On the command line: --max-size SIZE."
    options = _options(app, args)
    names = [o for p in parameters for o in _OPTIONS.get(p, (p,))]
    names = list(dict.fromkeys(names))
    spelled = [f"{options[o]} {_VALUES.get(o, '')}".strip() for o in names if o in options]
    if "drop_subjects" in parameters and "drop_subjects" not in options:  # of the import
        spelled.append("denseflip data import … --drop-subjects ID,ID")
    if "parameters" in options:
        from denseflip.search.methods.registry import methods

        known = {p for method in methods() for p in method.parameters} - set(options)
        spelled += [f"{options['parameters']} {o}=VALUE" for o in names if o in known]
    return f" On the command line: {', '.join(spelled)}." if spelled else ""


def _options(app: Callable[..., Any], args: Sequence[str]) -> dict[str, str]:
    """Map each parameter of the command in ``args`` to its flag or argument name."""
    command: Any = typer.main.get_command(app) if isinstance(app, typer.Typer) else app
    for word in args:
        command = getattr(command, "commands", {}).get(word, command)
    return {
        p.name: p.opts[0] if p.opts[0][0] == "-" else str(p.metavar).strip("[].")
        for p in getattr(command, "params", ())
    }


def take_option(args: Sequence[str], option: str) -> tuple[list[str], str | None]:
    """Split off an option that every command has: the other arguments, and its value.

    >>> take_option(["data", "show", "a.dfd", "--max-size", "8GB"], "--max-size")
    (['data', 'show', 'a.dfd'], '8GB')
    """
    rest: list[str] = []
    value: str | None = None
    words = iter(args)
    for word in words:
        if word == option:
            value = next(words, "")
        elif word.startswith(f"{option}="):
            value = word.partition("=")[2]
        else:
            rest.append(word)
    return rest, value


def run(app: Callable[..., Any], argv: Sequence[str] | None = None) -> int:
    """Run a typer app; turn errors into one message and an exit code, without a traceback.

    ``--debug`` (or ``DENSEFLIP_DEBUG=1``) shows the traceback. ``--max-size`` sets the limit of
    `denseflip.limits`.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in args or os.environ.get("DENSEFLIP_DEBUG", "") not in {"", "0"}
    args = [a for a in args if a != "--debug"]
    try:
        args, size = take_option(args, "--max-size")
        with allow(size) if size is not None else nullcontext():
            app(args=args, prog_name="denseflip")
    except SystemExit as stop:
        if stop.code == EXIT_INTERRUPTED:  # click has caught Ctrl-C itself
            typer.echo("Interrupted.", err=True)
        return stop.code if isinstance(stop.code, int) else EXIT_FAILURE
    except KeyboardInterrupt:
        typer.echo("Interrupted.", err=True)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed the pipe (`| head`): not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            raise
        solving = getattr(error, "parameters", ())
        advice = spell(app, args, solving)
        typer.echo(f"Error: {_message(error)}{advice}", err=True)
        if "force" not in solving and (page := find_page(getattr(error, "page", ""))):
            typer.echo(f"Help: {page}", err=True)
        return EXIT_FAILURE
    return 0


def _message(error: Exception) -> str:
    """Say what went wrong."""
    if isinstance(error, DenseflipError):
        return visible(str(error), lines=True)
    if isinstance(error, OSError):
        where = f"{visible(str(error.filename))}: " if error.filename else ""
        return f"{where}{visible(str(error.strerror or error))}."
    if isinstance(error, MemoryError):
        return "not enough memory."
    text = f"{type(error).__name__}: {visible(str(error), lines=True)}"
    return f"{text}\nUnexpected error. Please report it with the output of --debug."
