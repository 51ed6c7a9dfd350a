"""Options of commands: those of a request, built from `Request`, and those of a docstring."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from typing import Annotated, Any, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

from denseflip.option import Option, option_of
from denseflip.reading import Reading
from denseflip.reading import reading_options as reading_options_of
from denseflip.request import Request, default_of, list_options


def _literal(command: Any) -> Any:
    """Copy a command or a parameter with its help texts escaped for rich."""
    from rich.markup import escape

    shown = copy.copy(command)
    for name in ("help", "short_help", "epilog"):
        if text := getattr(shown, name, None):
            setattr(shown, name, escape(text))
    if hasattr(shown, "params"):
        shown.params = [_literal(parameter) for parameter in shown.params]
    if hasattr(shown, "commands"):
        shown.commands = {name: _literal(one) for name, one in shown.commands.items()}
    return shown


class LiteralCommand(TyperCommand):
    """A command whose help texts are shown literally."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text."""
        TyperCommand.format_help(_literal(self), ctx, formatter)


class LiteralGroup(TyperGroup):
    """A group of commands whose help texts are shown literally."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text."""
        TyperGroup.format_help(_literal(self), ctx, formatter)


def show_literally(app: typer.Typer) -> None:
    """Show the help texts of an app and of everything registered in it literally."""
    app.info.cls = LiteralGroup
    for command in app.registered_commands:
        if not issubclass(command.cls or TyperCommand, LiteralCommand):
            command.cls = LiteralCommand
    for group in app.registered_groups:
        group.cls = LiteralGroup
        if group.typer_instance is not None:
            show_literally(group.typer_instance)


#: Options that the short help of `explain`, `compare` and `cohort` leaves out.
RARE = frozenset(
    {
        *("input", "batch", "threshold", "edges", "evaluation", "refits"),
        *("engine", "scheduler", "pages"),
        *reading_options_of(),
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


def documented(*like: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Take the help of the options of a command from its docstring.

    A section of the docstring is a help panel, unless its title is Arguments or Options: a title,
    a line of dashes, and entries ``name : help``. Parameters without an entry have that of the
    first of ``like`` with one: a command, or a dataclass whose fields declare options.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        text, *sections = re.split(
            r"\n\n(?=[^\n]+\n-{3,}\n)", inspect.cleandoc(command.__doc__ or "")
        )
        helps: dict[str, tuple[str, str]] = {}
        for section in sections:
            title, _, entries = section.split("\n", 2)
            for entry in re.split(r"\n(?=\w+ : )", entries):
                name, _, words = entry.partition(" : ")
                helps[name] = (title, " ".join(words.split()))
        command.__doc__, command.helps = text, helps  # type: ignore[attr-defined]
        for p in inspect.signature(command, eval_str=True).parameters.values():
            known = (_helps(one) for one in (command, *like))
            title, words = next((h[p.name] for h in known if p.name in h), ("", ""))
            if title:
                command.__annotations__[p.name] = _with_help(p, title, words)
        return command

    return decorate


def _helps(source: Any) -> dict[str, tuple[str, str]]:
    """The title and the help of each option of a command, or of a dataclass that declares them."""
    if is_dataclass(source):
        options = {f.name: option_of(f) for f in fields(source)}
        return {name: (one.group, one.text(flag_of)) for name, one in options.items()}
    return dict(source.helps)


def _with_help(parameter: inspect.Parameter, title: str, words: str) -> Any:
    """Return the annotation of a parameter for typer, with its help."""
    kind, *given = get_args(parameter.annotation) or (parameter.annotation,)
    if get_origin(parameter.annotation) is not Annotated:
        kind, given = parameter.annotation, []
    if given:
        info = copy.copy(given[0])
    elif parameter.default is parameter.empty:
        info = typer.Argument()
    else:  # a flag that is off by default has no opposite
        info = typer.Option(*[flag_of(parameter.name)] * (parameter.default is False))
    info.help = words
    info.rich_help_panel = None if title in ("Arguments", "Options") else title
    return Annotated[kind, info]


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
    added = [_parameter(name, option, default_of(name)) for name, option in taken.items()]
    keyword = inspect.Parameter.KEYWORD_ONLY
    added.append(inspect.Parameter("help_all", keyword, default=False, annotation=HelpAll))

    def build(values: dict[str, Any]) -> Request:
        return Request.build(**{name: _value(o, values[name]) for name, o in taken.items()})

    return _in_place_of("request", added, build)


def reading_options(*, without: tuple[str, ...] = ()) -> Callable[[Callable[..., Any]], Any]:
    """Give a command with a parameter ``reading`` one option for each field of `Reading`.

    Parameters
    ----------
    without : fields that the command defines itself.
    """
    taken = {name: o for name, o in reading_options_of().items() if name not in without}
    added = [_parameter(name, option, getattr(Reading, name)) for name, option in taken.items()]
    return _in_place_of("reading", added, lambda values: Reading(**values))


def _in_place_of(
    replaced: str, added: list[inspect.Parameter], build: Callable[[dict[str, Any]], Any]
) -> Callable[[Callable[..., Any]], Any]:
    """Give a command options in place of a parameter, whose value is built from theirs."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def call(**values: Any) -> None:
            given = {p.name: values.pop(p.name) for p in added}
            command(**{replaced: build(given)}, **values)

        plain = inspect.signature(command, eval_str=True).parameters.values()
        own = [x for p in plain for x in (added if p.name == replaced else [p])]
        own = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in own]
        call.__signature__ = inspect.Signature(own)  # type: ignore[attr-defined]
        call.__annotations__ = {p.name: p.annotation for p in own}
        return call

    return decorate


def _parameter(name: str, option: Option, default: Any) -> inspect.Parameter:
    kind, default = _typed(option, default)
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


def _typed(option: Option, default: Any) -> tuple[Any, Any]:
    """Return the type and the default of an option for typer."""
    if option.kind in ("names", "settings"):
        return list[str] | None, None
    kinds: dict[str, Any] = {"whole": int, "number": float, "flag": bool}
    kind = kinds.get(option.kind, str)
    return (kind | None if default is None else kind), default


def _value(option: Option, value: Any) -> Any:
    """Convert a value of the command line to what a request takes."""
    if option.kind == "settings":
        from denseflip.workflow.subject import parse_settings

        return parse_settings(value or [])
    return None if value in ([], "") else value  # keeps 0 and False


# ---- options that do not apply ----------------------------------------------------------------


def check_pictures(form: str) -> None:
    """Refuse an unknown format of pictures."""
    from denseflip.errors import check_name
    from denseflip.report.canvas import FORMATS

    check_name("picture format", form, FORMATS, parameter="pictures")


def refuse(name: str, reason: str) -> None:
    """Refuse an option that does not apply to what was given."""
    from denseflip.errors import InvalidParameterError

    msg = f"{flag_of(name)} {reason}. Leave it out."
    raise InvalidParameterError(msg)
