"""Options of commands: those of a request, built from `Request`, and those that commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from denseflip.cli.literal_help import LiteralCommand
from denseflip.option import Option
from denseflip.request import Request, default_of, list_options

INPUT = "Data and classifier"
EVALUATION = "Evaluation"
MANY = "Many graphs"
PARALLEL = "Parallel runs"
OUTPUT = "Output"
#: Options that the short help of `explain`, `compare` and `cohort` leaves out.
RARE = frozenset(
    {
        *("input", "batch", "threshold", "edges", "evaluation", "refits"),
        *("engine", "scheduler", "pages"),
        *(name for name, option in list_options().items() if not option.common),
    }
)


class GroupedCommand(LiteralCommand):
    """A command whose ``--help`` shows the common options and ``--help-all`` all of them."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; rare options only with ``--help-all``."""
        hidden = () if ctx.meta.get("denseflip.help_all") else RARE
        rare = [p for p in self.params if p.name in hidden and not getattr(p, "hidden", False)]
        for p in rare:
            p.hidden = True  # type: ignore[attr-defined]
        try:
            super().format_help(ctx, formatter)
        finally:
            for p in rare:
                p.hidden = False  # type: ignore[attr-defined]


def _show_all(context: typer.Context, value: bool) -> None:
    if value:
        context.meta["denseflip.help_all"] = True
        typer.echo(context.get_help())
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        "--help-all", callback=_show_all, is_eager=True, help="Show all options and exit."
    ),
]


def flag_of(name: str) -> str:
    """Return the command-line option of a field of a request."""
    option = list_options().get(name)
    words = (option.flag if option else "") or name.replace("_", "-")
    return f"--{words}"


def request_options(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Give a command with a parameter ``request`` one option for each field of a request.

    Parameters
    ----------
    without : fields that the command does not take, or defines itself.
    """
    taken = {name: o for name, o in list_options().items() if name not in without}

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**values: Any) -> None:
            values.pop("help_all", None)
            asked = {name: _value(taken[name], values.pop(name)) for name in taken}
            command(request=Request.build(**asked), **values)

        plain = inspect.signature(command, eval_str=True).parameters
        kinds = inspect.Parameter
        added = [_parameter(name, option) for name, option in taken.items()]
        added.append(kinds("help_all", kinds.KEYWORD_ONLY, default=False, annotation=HelpAll))
        own = [p.replace(kind=kinds.KEYWORD_ONLY) for p in plain.values() if p.name != "request"]
        first = next((i for i, p in enumerate(plain.values()) if p.name == "request"), len(own))
        own[first:first] = added
        call.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
        call.__annotations__ = {p.name: p.annotation for p in own}
        return call

    return decorate


def _parameter(name: str, option: Option) -> inspect.Parameter:
    kind, default = _typed(name, option)
    text = option.text(flag_of)
    if option.choices:
        text += f" One of: {', '.join(option.choices)}."
    if option.kind in ("names", "settings"):
        text += " Repeatable."
    flags = [flag_of(name), *([option.short] if option.short else [])]
    info = typer.Option(
        *flags,
        help=text,
        rich_help_panel=option.group,
        metavar=option.unit or None,
        show_default=default not in (None, False, "auto"),
    )
    keyword = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, keyword, default=default, annotation=Annotated[kind, info])


def _typed(name: str, option: Option) -> tuple[Any, Any]:
    """Return the type and the default of an option for typer."""
    if option.kind in ("names", "settings"):
        return list[str] | None, None
    kinds: dict[str, Any] = {"whole": int, "number": float, "flag": bool}
    kind, default = kinds.get(option.kind, str), default_of(name)
    return (kind | None if default is None else kind), default


def _value(option: Option, value: Any) -> Any:
    """Convert a value of the command line to what a request takes."""
    if option.kind == "settings":
        from denseflip.workflow.subject import parse_settings

        return parse_settings(value or [])
    return (list(value) or None) if option.kind == "names" and value else value or _empty(value)


def _empty(value: Any) -> Any:
    """Return None for an empty list or text; keep 0 and False."""
    return None if value in ([], "") else value


# ---- options that do not apply ----------------------------------------------------------------


def only_for_files(**given: object) -> None:
    """Refuse options that only a graph file can use."""
    for name, value in given.items():
        if value is not None:
            refuse(name, "applies to a graph file; the graphs of a data set are ready")


def refuse(name: str, reason: str) -> None:
    """Refuse an option that does not apply to what was given."""
    from denseflip.errors import InvalidParameterError

    msg = f"{flag_of(name)} {reason}. Leave it out."
    raise InvalidParameterError(msg)


# ---- options outside a request --------------------------------------------------

Oracle = Annotated[
    str | None,
    typer.Option(
        "--oracle",
        rich_help_panel=INPUT,
        help="Classifier to explain: a preset trained on the data (edges-svm, regions-logistic, "
        "published …), a file written by `denseflip train`, module:function (your own code; a "
        "model with its inputs: 'module:model?features=degree'), onnx:FILE, or a service "
        "(https://…).",
    ),
]
Input = Annotated[
    str,
    typer.Option(
        rich_help_panel=INPUT,
        help="What module:function takes: adjacency (NumPy array), networkx, sparse or graph; auto "
        "detects it.",
    ),
]
Batch = Annotated[
    bool,
    typer.Option(
        "--batch", rich_help_panel=INPUT, help="module:function takes a list of graphs at once."
    ),
]
Nodes = Annotated[
    Path | None,
    typer.Option(rich_help_panel=INPUT, help="Node table (CSV: name, regions …, x, y, z)."),
]
Background = Annotated[
    str | None,
    typer.Option(rich_help_panel=INPUT, help="For a graph file: the data set that it belongs to."),
]
Percentile = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=INPUT,
        help="For a weighted matrix: keep pairs at or above this percentile, e.g. 90.",
    ),
]
Threshold = Annotated[
    float | None,
    typer.Option(
        rich_help_panel=INPUT, help="For a weighted matrix: keep pairs at or above this value."
    ),
]
Edges = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=INPUT, help="For a weighted matrix: keep this many of the strongest pairs."
    ),
]
Evaluation = Annotated[
    Path | None,
    typer.Option(
        rich_help_panel=INPUT,
        help="Evaluation of the classifier: a file written by `denseflip evaluate --out`.",
    ),
]
Refits = Annotated[
    str,
    typer.Option(
        "--refits",
        rich_help_panel=INPUT,
        metavar="N|DIR|module:function",
        help="Classifiers trained again on resampled data, to test whether the sentence holds for "
        "them too: a number, a folder of models (.dfo), or your own fit(dataset). 0 for none. "
        "Default: 20 of a preset if that takes at most 10 s.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out",
        rich_help_panel=OUTPUT,
        help="Folder for the page, the pictures and the result.",
    ),
]
Force = Annotated[
    bool, typer.Option("--force", rich_help_panel=OUTPUT, help="Overwrite what is in --out.")
]
Json = Annotated[bool, typer.Option("--json", rich_help_panel=OUTPUT, help="Print JSON.")]
Format = Annotated[
    str,
    typer.Option(
        "--format",
        rich_help_panel=OUTPUT,
        help="Output format: text, json, csv or tsv. csv and tsv print a row per edit for one "
        "graph, a row per graph for many.",
    ),
]
All = Annotated[
    bool,
    typer.Option("--all", rich_help_panel=MANY, help="Explain every graph of the data set."),
]
Class = Annotated[
    list[str] | None,
    typer.Option(
        "--class",
        rich_help_panel=MANY,
        help="Explain every graph of this class of the data set. Repeatable.",
        metavar="NAME",
    ),
]
Engine = Annotated[str, typer.Option(rich_help_panel=MANY, help="auto, serial, processes or dask.")]
Jobs = Annotated[
    int | None,
    typer.Option(min=1, rich_help_panel=MANY, help="Worker processes. Default: all cores."),
]
Scheduler = Annotated[
    str | None, typer.Option(rich_help_panel=MANY, help="Address of a Dask scheduler.")
]
Pages = Annotated[
    str,
    typer.Option(
        rich_help_panel=MANY,
        help="Pages in --out: full (less than 1 MB each), still (without the interactive picture) "
        "or none.",
    ),
]
