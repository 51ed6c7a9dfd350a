"""The command ``arena``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cohorts import make_cohort
from denseflip.cli.command_tree import app
from denseflip.cli.common import run

FEW = ["--graphs", "2", "--repeated", "0", "--trainings", "1", "--engine", "serial"]


@pytest.fixture(autouse=True)
def place(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    make_cohort(signal=0.5).save(tmp_path / "toy.dfd")


def test_a_run_that_was_interrupted_while_it_trained_can_be_continued(tmp_path, capsys):
    words = ["arena", "--datasets", "toy.dfd", "--classifiers", "linear", "--out", "made", *FEW]
    assert run(app, [*words, "--explainers", "con,gradient"]) == 0
    capsys.readouterr()
    (tmp_path / "made" / "store").rename(tmp_path / "elsewhere")
    assert run(app, [*words, "--explainers", "con,gradient"]) == 0
    said = capsys.readouterr()
    assert "4 of 4 trials, 0 reused" in said.err
    assert "fewest edits, gradients" in said.out
    facts = json.loads((tmp_path / "made" / "arena.json").read_text())
    assert facts["settings"]["sides"] == {"toy.dfd": ["linear"]}


def test_an_unknown_option_of_a_method_is_refused_before_anything_is_trained(tmp_path, capsys):
    assert run(app, ["arena", "--explainers", "auto@quick", "--out", "made"]) == 1
    assert "Known: gradients, any-range, edits" in capsys.readouterr().err
    assert not (tmp_path / "made").exists()
