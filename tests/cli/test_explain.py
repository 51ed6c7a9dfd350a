"""`denseflip methods`, `explain` and `compare`, called as a user calls them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from denseflip import Counterfactual, Graph, load_dataset
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.workflow.subject import parse_settings, parse_value

TRIANGLE = [(0, 1), (1, 2), (0, 2), (2, 3)]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a graph in every file form and a classifier beside it."""
    monkeypatch.chdir(tmp_path)
    graph = Graph.from_edges(5, TRIANGLE)
    np.savetxt("g.csv", graph.to_adjacency(int), fmt="%d", delimiter=",")
    np.save("g.npy", graph.to_adjacency(np.int64))
    Path("g.edges").write_text("\n".join(f"{u} {v}" for u, v in TRIANGLE) + "\n")
    import networkx as nx

    nx.write_graphml(graph.to_networkx(), "g.graphml")
    np.savetxt(
        "weighted.csv", np.array([[1, 0.9, 0.1], [0.9, 1, 0.2], [0.1, 0.2, 1]]), delimiter=","
    )
    Path("lab.dfd").write_bytes(b"")
    Path("box.py").write_text(
        "def first(a):\n    return int(a[0, 1])\n"
        "def edges(g):\n    return int(g.number_of_edges() > 3)\n"
        "def bad(a):\n    return None\n"
        "def boom(a):\n    raise RuntimeError('no GPU')\n"
        "number = 3\n"
    )
    monkeypatch.delitem(sys.modules, "box", raising=False)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = run(app, list(args))
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


def test_methods_lists_every_method_and_suffix(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys, "methods", "--json")
    listed = json.loads(out)
    assert code == 0
    assert {"tri", "cli", "rcli", "con", "blocks", "edg", "obs", "dbs", "dat", "medoid"} < {
        m["name"] for m in listed
    }
    assert {m["name"] for m in listed if m["refinement"]} == {"+bw", "+bw1", "+min"}
    assert call(capsys, "methods")[0] == 0


def test_advice_is_spelled_as_it_is_typed(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("explain", "g.csv", "--oracle", "box:first", "--method", "edg", "--budget", "1")
    code, out, _ = call(capsys, *words)
    assert code == 0
    assert "Next: raise budget (1 query was used; try 1000)" in out
    assert "* On the command line: --budget, --nodes nodes.csv.\n" in out


@pytest.mark.parametrize("name", ["g.csv", "g.npy", "g.graphml"])
def test_explain_reads_a_graph_file_of_any_form(
    folder: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    code, out, err = call(
        capsys, "explain", name, "--oracle", "box:first", "--method", "cli+min", "--json"
    )
    assert code == 0, err
    result = Counterfactual.from_dict(json.loads(out))
    assert result.found
    assert result.removed == ((0, 1),)
    assert result.added == ()
    assert result.minimal


def test_a_correlation_matrix_becomes_a_graph_by_a_rule(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ("explain", "weighted.csv", "--oracle", "box:first", "--json")
    for rule in (("--threshold", "0.5"), ("--edges", "1")):
        code, out, err = call(capsys, *args, *rule)
        assert code == 0, err
        assert json.loads(out)["original"]["edges"] == [[0, 1]]


def test_without_an_oracle_a_data_set_is_explained_with_the_default_preset(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = call(capsys, "explain", "mice", "sub-54811", "-m", "blocks")
    assert code == 0
    assert "explaining regions-logistic, trained on mice" in err
    assert "would have been classified as B6" in out


def test_explain_says_how_true_the_sentence_is_and_which_answers_no_other_beats(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("explain", "mice", "sub-54811", "--oracle", "edges-svm", "--max-cells", "3", "--front")
    code, out, err = call(capsys, *words)
    assert code == 0, err
    assert err == ""  # no terminal, no noise
    assert "[true as read, in range; classifier not evaluated] True as read: " in out
    assert out.count("True as read: ") == 1
    assert "change the answer (95 % interval" in out
    assert "the Pareto front: no answer found beats" in out
    assert "\n1. If mouse sub-54811 had " in out
    assert "cannot be described by 'region' (14 regions)" in out
    code, out, err = call(capsys, *words, "--json", "--out", "front")
    assert code == 0, err
    data = json.loads(out)
    assert data["true_as_read"] is True
    assert data["story"]["as_read"]["flips"] >= 0.9 * data["story"]["as_read"]["draws"]
    cells = [len(one["story"]["verification"]["named"]) for one in data["front"]]
    assert cells == sorted(cells)
    *told, last = data["front"]  # behind the sentences, the fewest edits, pair by pair
    assert last["story"]["as_read"]["language"] == "pairs"
    assert last["distance"] == min(one["distance"] for one in data["front"])
    assert max(cells[:-1]) <= 3
    assert all(one["true_as_read"] for one in told)
    assert all(one["statement"] for one in data["front"])
    assert data["distance"] in [one["distance"] for one in data["front"]]
    page = (folder / "front" / "report.html").read_text()
    assert page.count('<details name="front"') == len(data["front"]) > 1


def test_the_language_is_taken_at_its_word(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("explain", "mice", "sub-54811", "--oracle", "sf-knn", "--language", "pairs", "--json")
    code, out, err = call(capsys, *words)
    assert code == 0, err
    data = json.loads(out)
    assert data["story"]["language"] == "pairs"
    assert data["as_read"]["language"] == "pairs"
    assert data["found"]


def test_an_interrupted_command_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("slow.py").write_text("def stop(a):\n    raise KeyboardInterrupt\n")
    code, out, err = call(capsys, "explain", "g.csv", "--oracle", "slow:stop")
    assert (code, out) == (130, "")
    assert "Interrupted." in err


def test_explain_prints_the_sentence_and_the_facts(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = call(capsys, "explain", "g.csv", "--oracle", "box:first")
    assert code == 0
    assert "would have been labelled 0." in out
    assert "status     found" in out


def test_explain_gives_the_function_the_form_it_wants(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ("explain", "g.csv", "--oracle", "box:edges", "--input", "networkx", "-m", "cli")
    code, out, err = call(capsys, *args, "--json")
    assert code == 0, err
    assert json.loads(out)["label_before"] == 1


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (
            ("nowhere.csv", "--oracle", "box:first"),
            "No graph file and no data set is named 'nowhere.csv'",
        ),
        (("mice",), "ID after the data set's name (`denseflip data show"),
        (("g.csv",), "--oracle module:function"),
        (("g.csv", "--oracle", "box:frist"), "Did you mean 'first'?"),
        (("g.csv", "--oracle", "nobox:first"), "cannot import the module 'nobox'"),
        (("g.csv", "--oracle", "box:number"), "model must be a function"),
        (("g.csv", "--oracle", "box:bad"), "returned None"),
        (("g.csv", "--oracle", "box:boom"), "The classifier raised RuntimeError: no GPU"),
        (("g.csv", "--oracle", "box:first", "-m", "trii"), "Did you mean 'tri'?"),
        (("g.csv", "--oracle", "box:first", "-m", "tri+mni"), "Did you mean 'min'?"),
        (("g.csv", "--oracle", "box:first", "-m", "rcli"), "no regions were given"),
        (("g.csv", "--oracle", "box:first", "-m", "dat"), "needs background graphs"),
        (("g.csv", "--oracle", "box:first", "--set", "foo=1"), "Unknown parameter of 'auto' 'foo'"),
        (
            ("g.csv", "--oracle", "box:first", "--set", "foo"),
            "max_iterations=50; got 'foo'. On the command line: --set.",
        ),
        (("g.csv", "--oracle", "edges-svm"), "On the command line: --background DATASET."),
        (("g.csv", "--oracle", "published"), "On the command line: --background DATASET."),
        (("mice", "sub-1"), "sub-"),
        (
            ("g.csv", "--oracle", "box:first", "-m", "tri", "--language", "nodes"),
            "On the command line: --language, --method.",
        ),
        (
            ("g.csv", "--oracle", "box:first", "-m", "tri", "--max-cells", "2"),
            "max_cells counts pairs of regions, and no regions were given",
        ),
        (("g.csv", "--oracle", "box:first", "--freeze", "Frontal"), "--freeze, --nodes nodes.csv."),
        (("mice", "0", "--freeze", "hindbran"), "Did you mean 'hindbrain'?"),
        (("mice", "0", "--freeze", "isocortex"), "'macrostructure: isocortex' or 'level_3: iso"),
        (("mice", "0", "--freeze", "left hemisfere"), "Did you mean 'left hemisphere'?"),
        (("mice", "0", "--min-degree", "3", "--max-degree", "2"), "--min-degree, --max-degree."),
        (("mice", "0", "--only", "add", "--keep-density", "0"), "--keep-density, --only."),
        (("mice", "0", "--keep-density", "-2"), "keep_density must be a number at least 0; got -2"),
        (("mice", "0", "--freeze", "L", "--freeze", "R"), "leave nothing to change: freeze=L, R"),
        (("g.csv", "--oracle", "box:first", "--confidence", "0.8"), "gives no confidence"),
        (
            ("g.csv", "--oracle", "box:first", "-m", "tri", "--front"),
            "no parameter front",
        ),
        (("g.csv", "--oracle", "box:first", "--vocabulary", "brian"), "Did you mean 'brain'?"),
        (("weighted.csv", "--oracle", "box:first"), "--threshold"),
        (
            ("weighted.csv", "--oracle", "box:first", "--edges", "2", "--threshold", "1"),
            "Pass one of",
        ),
        (("lab.dfd", "--oracle", "box:first"), "Choose one of its graphs"),
    ],
)
def test_bad_words_get_one_clear_message_and_exit_code_1(
    folder: Path, capsys: pytest.CaptureFixture[str], args: tuple[str, ...], message: str
) -> None:
    code, out, err = call(capsys, "explain", *args)
    assert code == 1
    assert out == ""
    assert message in err


def test_the_papers_b_is_set_by_its_name(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("explain", "g.csv", "--oracle", "box:first", "-m", "cli", "--json", "--set")
    code, out, _ = call(capsys, *words, "slack=3")
    assert code == 0
    assert json.loads(out)["parameters"]["search"]["densify"]["slack"] == 3
    code, _, err = call(capsys, *words, "slack=-1")
    assert code == 1
    assert "slack must be a whole number, at least 0; got -1" in err


def test_terms_are_kept_and_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    terms = ("--freeze", "0", "--only", "remove", "--max-edits", "2", "--min-degree", "0")
    code, out, _ = call(capsys, "explain", "g.csv", "--oracle", "box:edges", "--input", "networkx",
                        "-m", "tri+min", *terms, "--json")  # fmt: skip
    data = json.loads(out)
    assert code == 0
    assert data["found"]
    given = {"freeze": ["0"], "only": "remove", "max_edits": 2, "min_degree": 0}
    assert data["constraints"] == given
    assert not data["added"]
    assert all(0 not in pair for pair in data["removed"])
    assert any("leaving node 0 as it is; by removals only" in x for x in data["story"]["footnotes"])


def test_a_region_is_frozen_by_its_name_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("explain", "mice", "0", "--oracle", "regions-logistic", "-m", "gradient", "--json")
    sides = load_dataset("mice").nodes.regions["hemisphere"]
    answers = []
    for name in ("left hemisphere", "hemisphere: L"):
        code, out, _ = call(capsys, *words, "--freeze", name)
        assert code == 0
        data = json.loads(out)
        assert data["constraints"]["freeze"] == [name]
        answers.append([*data["added"], *data["removed"]])
    assert answers[0] == answers[1]
    assert {sides[node] for pair in answers[0] for node in pair} == {"R"}


def test_where_the_terms_bind_it_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("g.csv", "--oracle", "box:first", "-m", "tri", "--freeze", "0 x 1")
    code, out, _ = call(capsys, "explain", *words)
    assert code == 0
    assert "Limited by the constraints: freeze=0 x 1 (9 of 10 pairs may change)." in out
    assert "On the command line: --freeze" in out


def test_terms_hold_for_every_method_of_a_comparison(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("mice", "0", "--methods", "tri,con,dat", "--only", "remove", "--max-cells", "40")
    code, out, _ = call(capsys, "compare", *words, "--oracle", "edges-svm", "--json")
    assert code == 0
    rows = json.loads(out)
    assert [row["constraints"] for row in rows] == [{"only": "remove", "max_cells": 40}] * 3
    assert not any(row["added"] for row in rows)


def test_a_broken_file_is_named_with_the_place(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("bad.csv").write_text("0,1,0\n0,0,1\n0,1,0\n")
    code, _, err = call(capsys, "explain", "bad.csv", "--oracle", "box:first")
    assert code == 1
    assert "bad.csv" in err
    assert "not symmetric" in err


def test_a_folder_that_holds_something_is_never_overwritten(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = folder / "out" / "kept.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    code, _, err = call(capsys, "explain", "g.csv", "--oracle", "box:first", "--out", "out")
    assert code == 1
    assert "On the command line: --force" in err
    assert [p.name for p in kept.parent.iterdir()] == ["kept.txt"]


def test_explain_writes_the_page_and_a_result_that_loads_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = call(capsys, "explain", "g.csv", "--oracle", "box:first", "--out", "out")
    assert code == 0, err
    saved = json.loads((folder / "out" / "result.json").read_text())
    assert Counterfactual.from_dict(saved).found
    assert "<html" in (folder / "out" / "report.html").read_text()


def test_compare_gives_a_row_per_method_even_where_one_does_not_apply(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ("compare", "g.csv", "--oracle", "box:first", "--methods", "tri,rcli,edg+min")
    code, out, err = call(capsys, *args, "--json")
    assert code == 0, err
    rows = json.loads(out)
    assert [r["method"] for r in rows] == ["tri", "rcli", "edg+min"]
    assert rows[1]["status"] == "not-applicable"
    assert "no regions" in rows[1]["reason"]
    for field in ("status", "found", "distance", "relative_distance", "calls", "statement"):
        assert field in rows[0]
    code, out, _ = call(capsys, *args)
    assert code == 0
    assert "not applicable" in out


def test_compare_takes_the_methods_of_the_library_unless_told() -> None:
    import inspect

    from denseflip.cli.compare import compare
    from denseflip.workflow.compare import COMPARED

    assert inspect.signature(compare).parameters["methods"].default == ",".join(COMPARED)
    assert COMPARED[0] == "auto"


def test_compare_spells_the_advice_of_its_rows_once(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ("compare", "g.csv", "--oracle", "box:first", "--methods", "edg,obs", "--budget", "1")
    code, out, err = call(capsys, *args)
    assert code == 0, err
    said = "On the command line: --budget."
    assert out.count("On the command line") == out.count(said) == 1
    code, out, err = call(capsys, *args[:4], "--methods", "cli")
    assert code == 0, err
    assert "On the command line" not in out  # it was found: there is nothing to advise


def test_values_on_the_command_line_become_plain_values() -> None:
    assert [parse_value(x) for x in ("none", "True", "3", "0.5", "full")] == [
        None,
        True,
        3,
        0.5,
        "full",
    ]
    assert parse_settings(["max-iterations=5"]) == {"max_iterations": 5}


def test_usage_errors_exit_with_2_and_help_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(app, ["explain"]) == 2
    assert run(app, ["explain", "--help"]) == 0
    assert "mymodel:predict" in capsys.readouterr().out


def test_pictures_in_the_output_folder_have_the_chosen_format(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="pictures need the extra 'brain'")
    code, _, err = call(capsys, "explain", "mice", "sub-54811", "--out", "drawn", "--format", "svg")
    assert code == 0, err
    names = {path.name for path in (folder / "drawn").iterdir()}
    assert names == {
        "report.html", "result.json", "methods.txt", "connectome.svg", "regions.svg",
        "reference.svg", "edits.csv", "regions.csv", "reference.csv",
    }  # fmt: skip
    code, _, err = call(capsys, "compare", "mice", "sub-54811", "--format", "sgv")
    assert code == 1
    assert "Did you mean 'svg'?" in err
