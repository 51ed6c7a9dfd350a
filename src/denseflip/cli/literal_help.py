"""Help texts shown literally, so that ``denseflip[web]`` is not read as markup.

Typer reads help texts as rich markup, where a word in square brackets is a style.
"""

from __future__ import annotations

import copy
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


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
