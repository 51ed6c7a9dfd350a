"""The command ``cohort``."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.cohort import cohort_parts as parts
from denseflip.runs.result_store import Store
from groups import by_density, cohort

SHORT = ["--permutations", "19", "--patients", "10", "--engine", "serial"]


@pytest.fixture(autouse=True)
def short_judgement(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(parts, "_REPEATS", 2)
    monkeypatch.setattr(parts, "_SHUFFLES", 19)
    monkeypatch.chdir(tmp_path)
    cohort(10).save(tmp_path / "toy.dfd")


def test_statement_page_tables_and_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["cohort", "toy.dfd", *SHORT, "--out", "out"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("regions-logistic on toy: Better than chance")
    assert "more of them move the answer towards B" in said.out
    assert "20 labellings of 10 subjects each: about" in said.err  # told before, and not asked
    names = {path.name for path in Path("out").iterdir()}
    assert names >= {
        "index.html", "cohort.json", "cells.tsv", "patients.tsv", "matrix.png", "chords.png",
        "patients.png", "methods.txt", "store",
    }  # fmt: skip
    methods = Path("out/methods.txt").read_text(encoding="utf-8").strip()
    assert "The p-values of region pairs come from 19 permutations of the labels." in methods
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert f'<p id="methods-text">{methods}</p>' in unescape(page)
    assert 'data-copy="methods-text"' in page
    first = Path("out/cohort.json").read_bytes()
    assert run(app, ["cohort", "toy.dfd", *SHORT, "--out", "out", "--json"]) == 0  # from the store
    printed = json.loads(capsys.readouterr().out)
    assert printed == json.loads(first)
    assert printed["verdict"] == "named"


def test_only_changes_in_range_if_required(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--permutations", "0", "--in-range", "require", "--balance", "off"]
    assert run(app, ["cohort", "toy.dfd", "--engine", "serial", *words, "--out", "out"]) == 0
    assert "changes are in range of real graphs of the other class." in capsys.readouterr().out
    found = json.loads(Path("out/cohort.json").read_text(encoding="utf-8"))
    assert (found["settings"]["in_range"], found["settings"]["balance"]) == ("require", "off")
    told = [p for p in found["observed"]["patients"] if p["changes"]]
    assert told
    assert all(p["in_range"] and not p["balanced"] for p in told)
    assert found["in_range"] == sum(p["answer"] == p["label"] for p in told)
    page = Path("out/index.html").read_text(encoding="utf-8")
    assert "edges kept" in page


def test_words_of_the_statement_and_page(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["cohort", "toy.dfd", "--permutations", "0", "--engine", "serial", "--out", "out"]
    assert run(app, words) == 0
    assert "20 of 20 graphs were explained" in capsys.readouterr().out
    assert run(app, [*words, "--vocabulary", "mouse"]) == 0  # from the store: only words differ
    assert "20 of 20 mice were explained" in capsys.readouterr().out
    assert "All explained mice" in Path("out/index.html").read_text(encoding="utf-8")
    assert "has 20 mice (10 A, 10 B)" in Path("out/methods.txt").read_text(encoding="utf-8")


def test_a_file_of_a_preset_is_retrained_unless_no_permutations_are_wanted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    by_density(cohort(10)).save("a.dfo")
    words = ["cohort", "toy.dfd", "--oracle", "a.dfo", *SHORT]
    assert run(app, [*words, "--out", "tested"]) == 0
    assert "19 label permutations" in capsys.readouterr().out
    assert run(app, [*words, "--permutations", "0", "--out", "out"]) == 0
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
    assert asked == ["Continue?"]
    assert "of them move the answer" not in capsys.readouterr().out
    assert run(app, ["cohort", "toy.dfd", *SHORT, "--out", "out", "--yes"]) == 0
    assert asked == ["Continue?"]
    assert "of them move the answer" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--permutations", "5"], "5 permutations cannot give"),
        (["--class", "C"], "Unknown class 'C'. Known: A, B. On the command line: --class."),
        (["--regions", "lobes"], "Unknown taxonomy 'lobes'"),
        (["--method", "scann"], "Unknown method 'scann'"),
        (["--correction", "fdr"], "Unknown correction 'fdr'"),
        (["--level", "2"], "level must be a number between 0 and 1"),
        (["--confounds", "age"], "has no subject table"),
        (["--freeze", "W"], "W"),
        (["--in-range", "always"], "in_range"),
        (["--vocabulary", "brian"], "Unknown vocabulary 'brian'. Did you mean 'brain'?"),
        (["--balance", "on", "--only", "add"], "Use one of the two options."),
        (["--method", "tri", "--in-range", "require"], "has no parameter in_range"),
    ],
)
def test_bad_input_is_one_line(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(app, ["cohort", "toy.dfd", *SHORT, *words, "--out", "out"]) == 1
    error = capsys.readouterr().err
    assert said in " ".join(error.split())
    assert "Traceback" not in error
    assert not Path("out").exists()  # nothing was begun


def test_a_folder_with_other_things_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out").mkdir()
    Path("out/notes.txt").write_text("mine", encoding="utf-8")
    assert run(app, ["cohort", "toy.dfd", *SHORT, "--out", "out"]) == 1
    assert "--force" in capsys.readouterr().err


KILLED = """
import sys, time
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.cohort import cohort_parts as parts
from denseflip.runs import run as runs

parts._REPEATS, parts._SHUFFLES, runs._BATCH = 2, 19, 1
work, done = parts.run_labelling, []

def some(*given):
    if len(done) == 6:
        print("in the middle", flush=True)
        time.sleep(600)
    done.append(work(*given))
    return done[-1]

parts.run_labelling = some
run(app, sys.argv[1:])
"""


def test_killed_without_warning_and_continued_gives_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["cohort", "toy.dfd", *SHORT, "--patients", "4", "--out"]
    started = [sys.executable, "-c", KILLED, *words, "killed"]
    with subprocess.Popen(started, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "in the middle\n"
        finally:
            child.kill()  # SIGKILL: nothing is told, nothing is tidied up
    assert child.returncode == -signal.SIGKILL
    before = [record["spec"]["part"] for record in Store("killed/store").records()]
    left = 20 - before.count("labels")
    assert 0 < left < 20
    assert not Path("killed/index.html").exists()
    assert run(app, [*words, "killed"]) == 0  # no lock is left in the way
    assert f"{left} labellings of 4 subjects each" in capsys.readouterr().err
    assert run(app, [*words, "whole"]) == 0
    for name in ("cohort.json", "cells.tsv", "patients.tsv", "index.html"):
        assert (Path("killed") / name).read_bytes() == (Path("whole") / name).read_bytes()


def test_terms_and_confounds_on_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    data = cohort(10)
    table = {
        "site": tuple("ns"[i % 4 < 2] for i in range(20)),
        "motion": tuple(float(10 * label + i % 3) for i, label in enumerate(data.labels)),
    }
    replace(data, subjects=table).save("people.dfd")
    words = ["cohort", "people.dfd", *SHORT]
    assert run(app, [*words, "--confounds", "motion", "--out", "moved"]) == 0
    said = capsys.readouterr().out
    assert "does not beat its confounds" in said
    assert "may reflect motion instead of a difference between the groups" in said
    assert "of them move the answer" not in said
    terms = ["--only", "add", "--freeze", "X x X", "--confounds", "site"]
    assert run(app, [*words, *terms, "--out", "out"]) == 0
    said = capsys.readouterr().out
    assert "was constrained: leaving X x X as it is; by additions only." in said
    assert "Labels were permuted within site only." in said
    found = json.loads(Path("out/cohort.json").read_text(encoding="utf-8"))
    changes = [n for p in found["observed"]["patients"] for n in p["changes"].values()]
    assert changes
    assert min(changes) > 0
    assert found["held"] == ["site"]
    assert "labels permuted within site" in Path("out/index.html").read_text(encoding="utf-8")
