from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from cohorts import make_cohort
from denseflip.classifiers.evaluation import Evaluation
from denseflip.classifiers.persist import load_oracle
from denseflip.classifiers.tellability import Tellability
from denseflip.cli.command_tree import app
from denseflip.cli.common import run

QUICK = ["--repeats", "2", "--permutations", "19"]


@pytest.fixture
def cohort(tmp_path, monkeypatch):
    """A data set file in an empty folder, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    make_cohort(signal=0.7).save(tmp_path / "cohort.dfd")
    return "cohort.dfd"


def test_train_evaluates_prints_and_saves(cohort, tmp_path, capsys):
    assert run(app, ["train", cohort, "--preset", "edges-svm", "--out", "it.dfo", *QUICK]) == 0
    text, said = capsys.readouterr()
    assert said.splitlines() == [
        "Evaluating edges-svm on cohort: cross-validation, 2 times …",
        "Evaluating edges-svm on cohort: permuted labels, 19 times …",
        "Training edges-svm on all 24 graphs of cohort …",
    ]
    assert "held-out graphs (nested 5-fold CV, 2 repeats)" in text
    assert "the paper's protocol (all graphs, including training graphs)" in text
    assert "Better than chance" in text
    assert "saved: it.dfo" in text
    oracle = load_oracle(tmp_path / "it.dfo")
    assert oracle.predict(make_cohort(signal=0.7).graphs)
    assert Evaluation.from_dict(oracle.card["evaluation"]).better_than_chance


def test_train_names_its_file_and_never_overwrites_it(cohort, tmp_path, capsys):
    assert run(app, ["train", cohort, "--skip-evaluation"]) == 0
    captured = capsys.readouterr()
    assert "saved: cohort-regions-logistic.dfo" in captured.out
    assert "Not evaluated" in captured.err
    with zipfile.ZipFile(tmp_path / "cohort-regions-logistic.dfo") as archive:
        assert json.loads(archive.read("card.json"))["card"]["evaluation"] is None
    assert run(app, ["train", cohort, "--skip-evaluation"]) == 1
    assert "exists already" in capsys.readouterr().err
    assert run(app, ["train", cohort, "--skip-evaluation", "--force"]) == 0


def test_an_existing_file_is_noticed_before_the_long_part(cohort, monkeypatch, capsys):
    (make_cohort().save("other.dfd"))
    open("it.dfo", "w").close()

    def refuse(*_args, **_kwargs):
        pytest.fail("the evaluation ran")

    monkeypatch.setattr("denseflip.classifiers.crossval.evaluate", refuse)
    assert run(app, ["train", cohort, "--out", "it.dfo"]) == 1
    assert run(app, ["evaluate", cohort, "--out", "it.dfo"]) == 1


def test_train_prints_json(cohort, capsys):
    arguments = ["train", cohort, "-p", "regions-logistic", "--regions", "side", "--json", *QUICK]
    assert run(app, arguments) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["file"] == "cohort-regions-logistic.dfo"
    assert data["card"]["evaluation"]["verdict"]
    assert load_oracle(data["file"]).features.taxonomy.name == "side"


def test_evaluate_prints_both_protocols_and_warns(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    make_cohort(20, signal=0.0).save("noise.dfd")
    assert run(app, ["evaluate", "noise.dfd", "-p", "edges-svm", "-o", "it.json", *QUICK]) == 0
    text = capsys.readouterr().out
    for words in ("held-out graphs", "the paper's", "always the largest class", "permuted labels"):
        assert words in text
    assert "true class" in text
    assert "Not better than chance" in text
    assert "Warning: On graphs it has not seen" in text
    assert "Written: it.json" in text
    with open("it.json", encoding="utf-8") as handle:
        assert Evaluation.from_dict(json.load(handle)).level == "chance"
    assert not list(tmp_path.glob("*.dfo"))


def test_few_shuffles_are_no_verdict(cohort, capsys):
    few = ["--repeats", "1", "--permutations", "5"]
    assert run(app, ["evaluate", cohort, "-p", "edges-svm", *few]) == 0
    text = capsys.readouterr().out
    assert "Better than chance" in text
    assert "too few label shuffles (5) to test: at least 19 are needed" in text
    assert "p = " not in text


def test_evaluate_json_is_all_there_is_on_standard_output(cohort, capsys):
    assert run(app, ["evaluate", cohort, "--json", "--permutations", "0", "--repeats", "1"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["p_value"] is None
    assert data["preset"] == "regions-logistic"  # as in explain and cohort


def test_the_published_classifier_by_name(cohort, capsys):
    assert run(app, ["train", cohort, "--preset", "published", "--json", *QUICK]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["card"]["preset"] == "published"
    assert data["card"]["evaluation"]["preset"] == "published"
    assert load_oracle(data["file"]).features.self_loops


def test_evaluate_tells_in_how_many_cells(cohort, capsys):
    arguments = ["evaluate", cohort, "-p", "regions-logistic", "--tell", "2", *QUICK]
    assert run(app, arguments) == 0
    text, said = capsys.readouterr()
    assert "Describing decisions of regions-logistic on cohort: 2 held-out graphs …" in said
    assert "of 2 decisions about held-out graphs have a sentence that is true as read" in text
    assert run(app, [*arguments, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["preset"] == "regions-logistic"
    assert Tellability.from_dict(data["tellability"]).n_graphs == 2
    assert Evaluation.from_dict(data).preset == "regions-logistic"


def test_presets_side_by_side(cohort, capsys):
    arguments = ["evaluate", cohort, "-p", "edges-svm, regions-logistic", "--tell", "2", *QUICK]
    assert run(app, [*arguments, "--out", "both.json"]) == 0
    text = capsys.readouterr().out
    assert text.count("decisions about held-out graphs") == 2
    assert "held-out" in text
    assert "Preferred classifier: " in text
    with open("both.json", encoding="utf-8") as handle:
        data = json.load(handle)
    assert [p["preset"] for p in data["presets"]] == ["edges-svm", "regions-logistic"]
    assert data["preferred"] in {"edges-svm", "regions-logistic"}
    assert data["preferred"] in data["reason"]
    assert run(app, ["evaluate", cohort, "-p", "sf-knn,edges-svm", *QUICK]) == 0
    assert "to prefer" not in capsys.readouterr().out, "nobody asked which can be told"


def test_the_card_of_a_trained_classifier_says_whether_it_can_be_told(cohort, tmp_path, capsys):
    arguments = ["train", cohort, "-p", "regions-logistic", "-o", "it.dfo", "--tell", "2", *QUICK]
    assert run(app, arguments) == 0
    assert "of 2 decisions about held-out graphs" in capsys.readouterr().out
    card = load_oracle(tmp_path / "it.dfo").card
    assert Tellability.from_dict(card["tellability"]).preset == "regions-logistic"
    assert run(app, ["train", cohort, "--skip-evaluation", "-o", "other.dfo"]) == 0
    assert "tellability" not in load_oracle(tmp_path / "other.dfo").card


@pytest.mark.parametrize("command", ["train", "evaluate"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cohort.dfd", "--preset", "edge-svm"], "Did you mean 'edges-svm'"),
        (["cohort.dfd", "--folds", "13"], "Too few graphs in data set 'cohort' for 13 folds"),
        (["cohort.dfd", "--folds", "1"], "'folds' must be"),
        (["cohort.dfd", "--repeats", "0"], "'repeats' must be"),
        (["cohort.dfd", "-p", "regions-logistic", "--regions", "lobes"], "taxonomy 'lobes'"),
        (["plain.dfd", "-p", "regions-logistic"], "this data set has none"),
        (["single.dfd"], "belong to one class"),
        (["missing.dfd"], "no such file"),
        (["mise"], "Did you mean 'mice'"),
        (["cohort.dfd", "--out", "no/such/it.dfo"], "does not exist"),
    ],
)
def test_bad_input_is_one_message(command, arguments, message, cohort, capsys):
    make_cohort(regions=False).save("plain.dfd")
    data = make_cohort()
    data.subset([i for i, y in enumerate(data.labels) if y == 0]).save("single.dfd")
    assert run(app, [command, *arguments]) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.startswith("Error: ")
    assert "Traceback" not in captured.err
    assert captured.out == ""


def test_a_newcomers_two_commands(tmp_path, monkeypatch, capsys):
    """A folder of correlation matrices and a labels file → an evaluated, saved classifier."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    rng = np.random.default_rng(0)
    folder = tmp_path / "subjects"
    folder.mkdir()
    lines = ["id,label"]
    for i in range(24):
        series = rng.normal(size=(60, 10))
        if i % 2:  # patients: nodes 0 … 3 move together
            series[:, :4] += 1.5 * rng.normal(size=(60, 1))
        np.savetxt(folder / f"s{i:02}.csv", np.corrcoef(series.T), delimiter=",")
        lines.append(f"s{i:02},{'patient' if i % 2 else 'control'}")
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    imported = ["data", "import", "subjects", "--labels", "labels.csv", "--out", "study.dfd"]
    assert run(app, [*imported, "--percentile", "80"]) == 0
    assert run(app, ["train", "study.dfd", "-p", "edges-svm", "--out", "study.dfo", *QUICK]) == 0
    assert "Better than chance" in capsys.readouterr().out
    oracle = load_oracle("study.dfo")
    assert sorted(oracle.class_names) == ["control", "patient"]
    assert oracle.card["evaluation"]["level"] == "better"


def test_refits_are_saved_beside_the_classifier_and_found_by_explain(tmp_path, capsys) -> None:
    from denseflip import load_dataset
    from denseflip.classifiers.refits import known_refits

    file, folder = tmp_path / "m.dfo", tmp_path / "m-refits"
    words = ["train", "mice", "-p", "regions-logistic", "--skip-evaluation", "-o", str(file)]
    assert run(app, [*words, "--refits", "3"]) == 0
    assert sorted(path.name for path in folder.iterdir()) == [f"refit-00{i}.dfo" for i in (1, 2, 3)]
    mice, oracle = load_dataset("mice"), load_oracle(file)
    refits = known_refits(None, oracle)  # no data set is needed
    assert len(refits) == 3
    assert known_refits(mice, oracle) is refits
    assert refits[0].features is refits[1].features
    capsys.readouterr()
    assert run(app, ["explain", "mice", "sub-54811", "--oracle", str(file)]) == 0
    out, _ = capsys.readouterr()
    assert "of 3 classifiers trained again on resampled data" in " ".join(out.split())
    # Neither replaced nor left beside another classifier without being asked to.
    assert run(app, [*words, "--force"]) == 2
    assert "refits of an earlier" in " ".join(capsys.readouterr()[1].split())
    assert run(app, [*words, "--refits", "2", "--force"]) == 0
    assert len(list(folder.iterdir())) == 2


def test_refits_of_another_classifier_are_refused(tmp_path) -> None:
    from denseflip import fit_oracle, load_dataset, make_refits
    from denseflip.classifiers.refits import known_refits, save_refits
    from denseflip.errors import InvalidParameterError

    mice = load_dataset("mice")
    fit_oracle(mice, "regions-logistic").save(tmp_path / "m.dfo")
    save_refits(make_refits(mice, "edges-svm", 2), tmp_path / "m.dfo")
    with pytest.raises(InvalidParameterError, match=r"refit-001\.dfo is not a refit of .*m\.dfo"):
        known_refits(mice, load_oracle(tmp_path / "m.dfo"))
