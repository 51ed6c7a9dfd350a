"""The command ``cohort``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from denseflip.cli.app import app
from denseflip.cli.common import run
from denseflip.experiments import cohort as module
from groups import by_density, cohort

SHORT = ["--permutations", "19", "--patients", "10", "--engine", "serial"]


@pytest.fixture(autouse=True)
def short_judgement(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module, "_REPEATS", 2)
    monkeypatch.setattr(module, "_SHUFFLES", 19)
    monkeypatch.chdir(tmp_path)
    cohort(10).save(tmp_path / "toy.dfd")


def test_statement_page_tables_and_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["cohort", "toy.dfd", *SHORT, "--out", "out"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("regions-logistic on toy: Better than chance")
    assert "more of them speak for B" in said.out
    assert "20 labellings of 10 patients each: about" in said.err  # told before, and not asked
    names = {path.name for path in Path("out").iterdir()}
    assert names >= {
        "index.html", "cohort.json", "cells.tsv", "patients.tsv", "matrix.png", "chords.png",
        "patients.png", "store",
    }  # fmt: skip
    first = Path("out/cohort.json").read_bytes()
    assert run(app, ["cohort", "toy.dfd", *SHORT, "--out", "out", "--json"]) == 0  # from the store
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(first)
    assert printed["verdict"] == "named"


def test_a_file_has_no_p_values(capsys: pytest.CaptureFixture[str]) -> None:
    by_density(cohort(10)).save("a.dfo")
    assert run(app, ["cohort", "toy.dfd", "--oracle", "a.dfo", *SHORT, "--out", "out"]) == 0
    said = capsys.readouterr().out
    assert "no p-values" in said
    assert "p = " not in said


def test_a_long_run_is_asked_about_only_at_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from denseflip.cli import cohort as command

    monkeypatch.setattr(command, "_LONG", 0.0)
    asked: list[str] = []

    def no(text: str, **_: Any) -> bool:
        asked.append(text)
        return False

    monkeypatch.setattr(command.typer, "confirm", no)
    monkeypatch.setattr(command, "_at_terminal", lambda: True)
    assert run(app, ["cohort", "toy.dfd", *SHORT, "--out", "out"]) == 0
    assert asked == ["Go on?"]
    assert "speak for" not in capsys.readouterr().out
    assert run(app, ["cohort", "toy.dfd", *SHORT, "--out", "out", "--yes"]) == 0
    assert asked == ["Go on?"]
    assert "speak for" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--permutations", "5"], "5 permutations cannot give"),
        (["--class", "C"], "Unknown class 'C'. Known: A, B. On the command line: --class."),
        (["--regions", "lobes"], "Unknown taxonomy 'lobes'"),
        (["--method", "scann"], "Unknown method 'scann'"),
        (["--correction", "fdr"], "Unknown correction 'fdr'"),
        (["--level", "2"], "level must be a number between 0 and 1"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(app, ["cohort", "toy.dfd", *SHORT, *words, "--out", "out"]) == 1
    error = capsys.readouterr().err
    assert said in " ".join(error.split())
    assert "Traceback" not in error


def test_a_folder_with_other_things_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out").mkdir()
    Path("out/notes.txt").write_text("mine", encoding="utf-8")
    assert run(app, ["cohort", "toy.dfd", *SHORT, "--out", "out"]) == 1
    assert "--force" in capsys.readouterr().err
