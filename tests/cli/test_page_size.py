"""The largest kinds of pages stay below 1.2 MB: many edits, many steps, a glass brain, weights."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
from denseflip.cli.command_tree import app

MOST = 1_200_000  # bytes


def page_size(folder: Path, *words: str) -> int:
    done = CliRunner().invoke(app, ["explain", *words, "--out", str(folder / "out")])
    assert done.exit_code == 0, done.output
    return (folder / "out" / "report.html").stat().st_size


@pytest.mark.parametrize(
    "options", [("--method", "edg"), ("--oracle", "edges-svm"), ("--front",)], ids=" ".join
)
def test_page_of_a_mouse(options, tmp_path):
    assert page_size(tmp_path, "mice", "sub-54811", *options) < MOST


@pytest.mark.usefixtures("brain_data")
def test_page_of_a_human_brain(tmp_path):
    assert page_size(tmp_path, "bip", "bip-009", "--oracle", "edges-svm") < MOST
