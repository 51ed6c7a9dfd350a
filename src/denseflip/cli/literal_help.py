"""Help texts shown as they are written: ``denseflip[web]`` is not taken for markup.

Typer reads help texts as rich markup, in which a word in square brackets is a style.
"""

from __future__ import annotations

import copy
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


def _literal(command: Any) -> Any:
    """A copy of a command or a parameter whose help texts are escaped for rich."""
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
    """A command whose help texts are no markup."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text."""
        TyperCommand.format_help(_literal(self), ctx, formatter)


class LiteralGroup(TyperGroup):
    """A group of commands whose help texts are no markup."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help text."""
        TyperGroup.format_help(_literal(self), ctx, formatter)


def show_literally(app: typer.Typer) -> None:
    """Let an app and everything registered in it show its help texts as they are written."""
    app.info.cls = LiteralGroup
    for command in app.registered_commands:
        command.cls = LiteralCommand
    for group in app.registered_groups:
        group.cls = LiteralGroup
        if group.typer_instance is not None:
            show_literally(group.typer_instance)
