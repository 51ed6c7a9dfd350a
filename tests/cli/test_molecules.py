"""From a TU folder to a sentence, with the real commands."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from molecules import BOUNDS, write_molecules

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def molecules(tmp_path: Path, capsys: Captured) -> Path:
    write_molecules(tmp_path / "MOL")
    done(capsys, "data", "import", "MOL", "--classes=-1=inactive,1=active")
    return tmp_path / "MOL.dfd"


def done(capsys: Captured, *words: object) -> str:
    assert run(app, [str(w) for w in words]) == 0, capsys.readouterr().err
    return capsys.readouterr().out


def fails(capsys: Captured, *words: object) -> str:
    assert run(app, [str(w) for w in words]) == 1
    err = capsys.readouterr().err
    assert "Traceback" not in err
    return err


def test_two_commands_lead_from_a_folder_to_a_sentence(tmp_path: Path) -> None:
    write_molecules(tmp_path / "MOL")
    out = ""
    for words in (
        ["data", "import", "MOL", "--classes=-1=inactive,1=active"],
        ["explain", "MOL.dfd", "0001"],
    ):
        command = [sys.executable, "-m", "denseflip", *words]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        out = ended.stdout
    assert re.match(
        r"If molecule 0001 had three fewer N–O bonds \(4 → 1; inactive molecules usually have 0, "
        r"95 % between 0 and 1\), it would have been classified as inactive\.",
        out,
    ), out
    assert "[true as read, in range" in out


def test_import_says_what_it_read(tmp_path: Path, capsys: Captured) -> None:
    write_molecules(tmp_path / "MOL", readme=False)
    types = "0=C,1=N,2=O,3=Cl"
    out = done(capsys, "data", "import", "MOL", "--node-types", types, "--out", "x.dfd")
    assert re.search(r"nodes +12–21", out)
    assert "node types  node type (4): C, N, O, Cl" in out
    assert "Nodes have no identity; their types are C (" in out
    assert "Next: denseflip explain x.dfd 0001" in out


def test_train_evaluate_and_explain_many(molecules: Path, capsys: Captured) -> None:
    few = ("--permutations", 0, "--repeats", 1)
    out = done(capsys, "train", molecules, *few, "--out", "m.dfo", "--json")
    assert json.loads(out)["card"]["preset"] == "regions-logistic"
    assert "regions-logistic on MOL" in done(capsys, "evaluate", molecules, *few)
    out = done(capsys, "explain", molecules, 0, "--oracle", "m.dfo", "--json")
    told = json.loads(out)
    assert told["true_as_read"] is True
    assert told["story"]["taxonomy"] == "node type"
    done(capsys, "explain", molecules, 0, "--oracle", "m.dfo", "--out", "page")
    assert "N–O bonds" in Path("page/report.html").read_text(encoding="utf-8")
    out = done(capsys, "explain", molecules, 0, "0002", "0003", "--jobs", 1, "--format", "csv")
    assert out.count("N–O bonds") == 3


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("cohort MOL.dfd", "A cohort"),
        ("serve MOL.dfd --port 0", "The app"),
        ("bench --config b.toml", "A bench"),
        ("arena --short --datasets MOL.dfd --classifiers gin --out a", "The benchmark"),
    ],
)
def test_what_needs_shared_nodes_is_refused_at_every_command(
    words: str, what: str, molecules: Path, capsys: Captured
) -> None:
    Path("b.toml").write_text(
        '[[datasets]]\nname = "MOL.dfd"\n[[oracles]]\npreset = "regions-logistic"\n'
        '[[methods]]\nname = "tri"\n'
    )
    err = " ".join(fails(capsys, *words.split()).split())
    assert f"{what} needs graphs over the same nodes" in err
    assert "Explain its graphs instead, one or many: denseflip explain DATA ID ID" in err


def test_terms_of_chemistry(molecules: Path, capsys: Captured) -> None:
    out = done(capsys, "explain", molecules, 0, "--degree-bounds", BOUNDS, "--only", "remove")
    assert "Constraints: by removals only; with degrees within C=4, N=3, O=2, Cl=1." in out
    assert "degree_bounds must give" in fails(capsys, "explain", molecules, 0,
                                              "--degree-bounds", "C:4")  # fmt: skip


def test_what_does_not_apply_is_refused_with_a_remedy(molecules: Path, capsys: Captured) -> None:
    err = fails(capsys, "explain", molecules, 0, "--method", "con")
    assert "'auto' or 'brief' (sentences by type)" in err
    assert "Use regions-logistic" in fails(capsys, "explain", molecules, 0, "--oracle", "edges-svm")
    assert "Explain its graphs instead" in fails(capsys, "data", "export", molecules, "--out", "x")
    Path("MOL/MOL_node_labels.txt").unlink()
    err = fails(capsys, "data", "import", "MOL", "--out", "y.dfd")
    assert "MOL_node_labels.txt is missing" in err
    assert "the type of one node per line" in err
