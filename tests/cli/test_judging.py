"""`evaluate --oracle`, `--confounds` and `explain --evaluation` on the command line."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from denseflip.classifiers.persist import load_oracle
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.datasets import make_synthetic

FEW = ("--repeats", "1", "--permutations", "19", "--folds", "3")
COHORT = make_synthetic(strength=1.5, sites=2, n_per_class=8, seed=2)


@pytest.fixture
def cohort(tmp_path, monkeypatch):
    """A data set file and a classifier's module in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    COHORT.save(tmp_path / "c.dfd")
    Path("my_box.py").write_text("def dense(a):\n    return int(a[:20, :20].sum() > 120)\n")
    return "c.dfd"


def test_an_oracle_is_judged_and_the_explanation_carries_it(cohort, capsys):
    words = ["evaluate", cohort, "--oracle", "my_box:dense", "--out", "j.json", *FEW]
    assert run(app, words) == 0
    text, said = capsys.readouterr()
    assert said == "Evaluating my_box:dense on synthetic …\n"
    assert "all graphs (it may have seen them)" in text
    assert "the paper's" not in text
    assert json.loads(Path("j.json").read_text())["protocol"] == "as given"
    words = ["explain", cohort, "control-000", "--oracle", "my_box:dense", "-m", "con"]
    assert run(app, [*words, "--evaluation", "j.json"]) == 0
    assert "may have seen" in capsys.readouterr().out
    assert run(app, [*words, "--evaluation", "none.json"]) == 1
    assert "none.json: there is no such file" in capsys.readouterr().err


def test_a_trained_file_is_trained_anew(cohort, capsys):
    assert run(app, ["train", cohort, "-p", "sf-knn", "-o", "it.dfo", "--skip-evaluation"]) == 0
    assert run(app, ["evaluate", cohort, "--oracle", "it.dfo", "--json", *FEW]) == 0
    by_file = json.loads(capsys.readouterr().out.partition("{")[2].join(["{", ""]))
    assert run(app, ["evaluate", cohort, "-p", "sf-knn", "--json", *FEW]) == 0
    assert json.loads(capsys.readouterr().out) == by_file


def test_confounds_are_printed_and_kept_in_the_card(cohort, capsys):
    words = ["train", cohort, "-p", "regions-logistic", "-o", "it.dfo", *FEW]
    assert run(app, [*words, "--confounds", "age,sex", "--site", "site"]) == 0
    text = capsys.readouterr().out
    assert "held-out graphs, age, sex, site regressed out" in text
    assert "the confounds alone" in text
    assert "leave-site-out (2 sites)" in text
    assert "permuted labels within sites (19 times)" in text
    assert "its confounds" in text
    kept = load_oracle("it.dfo").card["evaluation"]["confounds"]
    assert kept["columns"] == ["age", "sex", "site"]


def test_the_published_classifier_takes_them_too(cohort, capsys):
    words = ["evaluate", cohort, "-p", "published", "--confounds", "site", "--json", *FEW]
    assert run(app, words) == 0
    assert json.loads(capsys.readouterr().out)["confounds"]["site"] == "site"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["evaluate", "c.dfd", "--confounds", "agee"], 1, "Did you mean 'age'?"),
        (["train", "c.dfd", "--confounds", "age", "--skip-evaluation"], 2, "--skip-evaluation"),
        (["evaluate", "c.dfd", "--oracle", "my_box:dense", "--tell", "2"], 2, "to presets only"),
        (["evaluate", "c.dfd", "--oracle", "my_box:nothing"], 1, "nothing"),
    ],
)
def test_bad_words_are_told(cohort, words, code, message, capsys):
    assert run(app, words) == code
    assert message in capsys.readouterr().err


def test_a_missing_confound_leads_to_the_import_without_the_subject(cohort, capsys):
    ages = (None, *range(20, 19 + len(COHORT)))
    replace(COHORT, subjects={"age": ages}).save(Path("gap.dfd"))
    assert run(app, ["evaluate", "gap.dfd", "--confounds", "age", *FEW]) == 1
    err = " ".join(capsys.readouterr().err.split())
    assert f"drop_subjects={COHORT.ids[0]!r}" in err
    assert "denseflip data import … --drop-subjects ID,ID" in err
