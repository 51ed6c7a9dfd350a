"""What every command shares: an error of the library, said as one would mend it on this command."""

from __future__ import annotations

import pytest

from denseflip.cli.command_tree import app
from denseflip.cli.common import run, spell
from denseflip.errors import InvalidParameterError


@pytest.mark.parametrize(
    ("args", "parameters", "sentence"),
    [
        (["explain", "mice"], (), ""),
        (["explain", "mice"], ("force",), " On the command line: --force."),
        (["data", "import", "folder"], ("variable",), " On the command line: --variable NAME."),
        (
            ["explain", "brain.csv"],
            ("keep",),
            " On the command line: --percentile 90, --threshold, --edges.",
        ),
        (
            ["explain", "brain.csv"],
            ("max_cliques",),
            " On the command line: --set max_cliques=VALUE.",
        ),
        (["compare", "brain.csv"], ("max_cliques",), ""),  # it has no --set
        (["methods"], ("force",), ""),  # it has no --force
        (["nonsense"], ("force",), ""),
    ],
)
def test_parameters_are_spelt_as_the_command_takes_them(args, parameters, sentence):
    assert spell(app, args, parameters) == sentence


def test_an_error_ends_with_the_command_lines_spelling(capsys):
    def failing(**_):
        raise InvalidParameterError("It is there already (force=True).", parameter="force")

    assert run(failing, ["explain"]) == 1
    assert capsys.readouterr().err == "Error: It is there already (force=True).\n"
