"""Help texts are shown as they are written: nothing in square brackets is taken for markup."""

from __future__ import annotations

import re
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from denseflip.cli.command_tree import app
from denseflip.cli.options import show_literally

BRACKETS = re.compile(r"\[[^\[\]]+\]")


def commands(command: Any, words: tuple[str, ...] = ()) -> dict[tuple[str, ...], Any]:
    found = {words: command}
    for name, one in getattr(command, "commands", {}).items():
        found |= commands(one, (*words, name))
    return found


ALL = commands(get_command(app))


def help_of(words: tuple[str, ...], shown: typer.Typer = app) -> str:
    done = CliRunner().invoke(shown, [*words, "--help"], env={"COLUMNS": "250"})
    assert done.exit_code == 0, done.output
    return done.output


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_shows_everything_in_square_brackets(words):
    command = ALL[words]
    texts = [command.help, *(getattr(p, "help", None) for p in command.params)]
    output = help_of(words)
    for bracket in (hit for text in texts for hit in BRACKETS.findall(text or "")):
        assert bracket in output


def test_serve_says_how_to_install_what_it_needs():
    assert 'pip install "denseflip[web]"' in help_of(("serve",))
    assert 'pip install "denseflip[web]"' in ALL[("serve",)].help  # the docs are made of this


def test_brackets_of_arguments_options_groups_and_summaries_are_kept():
    inner, outer = typer.Typer(name="inner", help="Install denseflip[group]."), typer.Typer()

    @inner.command()
    def one(
        thing: Annotated[str, typer.Argument(help="An [argument] here.")],
        much: Annotated[int, typer.Option(help="An [option] there.")] = 1,
    ) -> None:
        """Needs denseflip[summary].

        And denseflip[body], too.
        """

    @inner.command()
    def other() -> None:
        """Nothing."""

    outer.add_typer(inner)
    outer.command("plain")(other)
    show_literally(outer)
    assert "denseflip[group]" in help_of((), outer)
    assert "denseflip[summary]" in help_of(("inner",), outer)
    for text in ("denseflip[summary]", "denseflip[body]", "An [argument]", "An [option]"):
        assert text in help_of(("inner", "one"), outer)


def test_a_path_with_brackets_is_told_whole(tmp_path):
    folder = tmp_path / "new[red]"
    done = CliRunner().invoke(
        app, ["explain", "mice", "0", "--oracle", "edges-svm", "-m", "con", "--out", str(folder)]
    )
    assert done.exit_code == 0, done.output
    assert "new[red]" in re.sub(r"\s", "", done.output)
