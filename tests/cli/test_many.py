"""`denseflip explain` of many graphs: the table, the folder, a stop at any moment."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cohorts import make_cohort
from denseflip.cli.command_tree import app
from denseflip.cli.common import run

TOYS = """
import time

def label(a):
    return int(a[:4, :4].sum() >= a[4:8, 4:8].sum())

def slow(a):
    time.sleep(0.01)
    return label(a)

def words(a):
    return "A" if label(a) == 0 else "B"

def fussy(a):
    if a.astype(int).ravel().tolist() == {first}:
        raise ValueError("cannot read this graph")
    return label(a)

def batched(stack):
    return [label(a) for a in stack]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a data set and classifiers."""
    monkeypatch.chdir(tmp_path)
    cohort = make_cohort(2)
    cohort.save("toy.dfd")
    first = cohort[0].graph.to_adjacency(int).ravel().tolist()
    Path("many_toys.py").write_text(TOYS.replace("{first}", str(first)))
    monkeypatch.delitem(sys.modules, "many_toys", raising=False)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    code = run(app, ["explain", *args])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


TOY = ("toy.dfd", "--oracle", "many_toys:label", "--method", "tri", "--engine", "serial")


def test_a_table_of_all_graphs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, *TOY, "--all")
    assert code == 0, err
    for id in make_cohort(2).ids:
        assert id in out
    assert "counterfactuals found" in err


@pytest.mark.parametrize(
    ("words", "ids"),
    [
        (("g0002", "0"), ["g0002", "g0000"]),
        (("--class", "b"), ["g0001", "g0003"]),
        (("--class", "B", "--class", "A"), ["g0000", "g0001", "g0002", "g0003"]),
        (("--class", "0"), ["g0000", "g0002"]),
    ],
)
def test_graphs_are_chosen_by_id_or_class(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], ids: list[str]
) -> None:
    code, out, err = call(capsys, *TOY, *words, "--format", "csv")
    assert code == 0, err
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["id"] for row in rows] == ids
    assert all(row["sentence"].startswith("Graph") or row["sentence"] for row in rows)


def test_other_forms_hold_the_same(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = {}
    for form, sign in (("csv", ","), ("tsv", "\t")):
        _, out, _ = call(capsys, *TOY, "--all", "--format", form)
        tables[form] = list(csv.DictReader(io.StringIO(out), delimiter=sign))
    _, out, _ = call(capsys, *TOY, "--all", "--json")
    assert tables["csv"] == tables["tsv"]
    assert [row["id"] for row in json.loads(out)] == [row["id"] for row in tables["csv"]]
    assert [str(row["edits"] or "") for row in json.loads(out)] == [
        row["edits"] for row in tables["csv"]
    ]


def test_the_table_has_confidences_stability_and_the_effect_of_the_places(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    preset = ["toy.dfd", "g0000", "g0001", "--oracle", "regions-logistic", "--format", "csv"]
    code, out, err = call(capsys, *preset)
    assert code == 0, err
    for row in csv.DictReader(io.StringIO(out)):
        assert 0.5 < float(row["confidence_before"]) <= 1
        assert 0.5 < float(row["confidence_after"]) <= 1
        assert float(row["smallest_effect"]) >= 0
        assert 0 <= int(row["refits_holding"]) <= int(row["refits_agreeing"]) <= 20
        assert 0 <= float(row["stability"]) <= 1
    code, out, err = call(capsys, *TOY, "g0000", "g0001", "--format", "csv")  # a function
    assert code == 0, err
    for row in csv.DictReader(io.StringIO(out)):
        assert row["confidence_before"] == row["refits_agreeing"] == row["stability"] == ""


def test_one_graph_as_a_table_of_edits(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = TOY[:-2]  # engines are for many graphs
    _, whole, _ = call(capsys, *one, "g0001", "--json")
    _, out, _ = call(capsys, *one, "g0001", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    result = json.loads(whole)
    assert len(rows) == result["distance"]
    pairs = {(row["change"], int(row["node_1"]), int(row["node_2"])) for row in rows}
    assert pairs == {(kind, *p) for kind in ("added", "removed") for p in result[kind]}
    assert {row["region_1"] for row in rows} <= {"Front", "Back"}


def test_a_function_of_batches(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("toy.dfd", "--method", "tri", "--json", "--engine", "serial", "--all")
    _, one, _ = call(capsys, *given, "--oracle", "many_toys:label")
    code, many, err = call(capsys, *given, "--oracle", "many_toys:batched", "--batch")
    assert code == 0, err
    assert json.loads(one) == json.loads(many)


def test_a_target_by_name_whatever_the_oracle_answers(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, out, _ = call(capsys, *TOY, "--all", "--target", "B", "--format", "json")
    rows = json.loads(out)
    assert {row["status"] for row in rows} <= {"found", "not-needed"}
    assert {row["after"] for row in rows} <= {"B", None}


def test_a_graph_that_fails_is_a_row(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ("toy.dfd", "--oracle", "many_toys:fussy", "-m", "cli", "--all", "--format", "json")
    code, out, err = call(capsys, *args, "--out", "o", "--pages", "none", "--engine", "serial")
    rows = json.loads(out)
    assert code == 1
    assert rows[0]["status"] == "failed"
    assert "cannot read this graph" in rows[0]["failure"]
    assert [row["status"] for row in rows].count("failed") == 1
    assert "retry them" in err
    assert "cannot read this graph" in Path("o/index.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("g0001", "g0009"), "Unknown graph id 'g0009' in data set 'cohort'. Did you mean 'g000"),
        (("g0001", "g0001"), "'g0001' is given twice"),
        (("g0001", "1"), "twice (as 'g0001' and '1')"),
        (("--all", "g0001"), "Got ids and every. On the command line: ID after"),
        (("--all", "--class", "A"), "Got every and classes."),
        (("--class", "AA"), "Unknown class 'AA' in data set 'cohort'"),
        (("--all", "--front"), "'tri' has no parameter front"),
        (("--all", "--percentile", "90"), "--percentile applies to a graph file"),
        (("--all", "--pages", "ful"), "Did you mean 'full'?"),
        (("--all", "--format", "cvs"), "Did you mean 'csv'?"),
        (("--all", "--json", "--format", "csv"), "contradict each other"),
        (("--all", "--format", "svg"), "the format of the pictures in --out. Give --out FOLDER."),
        (("--all", "--format", "svg", "--out", "o"), "--format svg applies to one graph"),
        (("--all", "--engine", "dusk"), "Did you mean 'dask'?"),
        (("--all", "--regions", "lobes"), "Did you mean 'lobe'?"),
        (("--all", "--method", "trii"), "Did you mean 'tri'?"),
        (("--all", "--oracle", "many_toys:labl"), "labl"),
        (("--all", "--oracle", "edges-svm", "--target", "C"), "Unknown target class 'C'"),
    ],
)
def test_bad_words_get_one_clear_message(
    folder: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], message: str
) -> None:
    code, out, err = call(capsys, *TOY, *words)
    assert code == 1
    assert out == "" or "labl" in words[-1]
    assert message in err or message in out


def test_a_folder_of_others_is_left_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("mine").mkdir()
    Path("mine/index.html").write_text("mine")
    code, _, err = call(capsys, *TOY, "--all", "--out", "mine")
    assert code == 1
    assert "nothing was changed" in err
    assert "--force" in err
    assert Path("mine/index.html").read_text() == "mine"
    assert os.listdir("mine") == ["index.html"]
    code, _, _ = call(capsys, *TOY, "--all", "--out", "mine", "--force", "--pages", "none")
    assert code == 0
    assert "4 graphs of cohort" in Path("mine/index.html").read_text()


def test_a_store_is_not_taken_for_another_question(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, err = call(capsys, *TOY, "--all", "--out", "o", "--pages", "none")
    assert "4 explained:" in err
    _, _, err = call(capsys, *TOY, "--all", "--out", "o", "--pages", "none")
    assert "4 of them reused" in err
    _, _, err = call(capsys, *TOY, "--all", "--out", "o", "--pages", "none", "--seed", "1")
    assert "of them reused" not in err


# ---- pages, and a kill ------------------------------------------------------------------------


def timeless(path: Path) -> str:
    """A page without what differs from run to run: how long the search took."""
    text = re.sub(r'"elapsed": ?[\d.e+-]+', '"elapsed":0', path.read_text(encoding="utf-8"))
    return re.sub(r"<dd>[\d.]+ s</dd>", "<dd>… s</dd>", text)


def stamps(out: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in (out / "pages").glob("*.html")}


@pytest.mark.slow
def test_killed_and_continued_gives_the_same_pages(folder: Path) -> None:
    # As slow as a classifier of one's own may be: there is time to kill it.
    words = [
        *("explain", "toy.dfd", "--all", "--oracle", "many_toys:slow", "--method", "cli"),
        *("--jobs", "2", "--engine", "serial", "--pages", "still", "--out", "out"),
    ]
    command = [sys.executable, "-m", "denseflip", *words]
    paths = [str(folder), *(str(Path(p).absolute()) for p in sys.path if p)]
    given = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def start(place: Path) -> subprocess.Popen[bytes]:
        place.mkdir(exist_ok=True)
        (place / "toy.dfd").write_bytes((folder / "toy.dfd").read_bytes())
        return subprocess.Popen(
            command, cwd=place, env=given, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    whole, killed = folder / "whole", folder / "killed"
    assert start(whole).wait() == 0

    def killed_when(ready: str) -> None:
        process = start(killed)
        latest = time.monotonic() + 60
        while not list(killed.glob(ready)) and time.monotonic() < latest:
            time.sleep(0.005)
        assert process.poll() is None, "it was done before it could be killed"
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    killed_when("out/store/store.json")  # at work
    killed_when("out/pages/*.html")  # writing
    before = stamps(killed / "out")
    assert 0 < len(before) < 4
    assert start(killed).wait() == 0
    names = sorted(path.name for path in (whole / "out" / "pages").glob("*.html"))
    assert len(names) == 4
    for name in names:
        ours, theirs = (place / "out" / "pages" / name for place in (killed, whole))
        assert timeless(ours) == timeless(theirs)
    for name in ("index.html", "explanations.csv", "edits.csv", "explanations.json"):
        assert (killed / "out" / name).read_bytes() == (whole / "out" / name).read_bytes()
    assert not list((killed / "out").rglob(".*"))


def test_ids_that_are_no_file_names_get_pages_all_the_same(folder: Path) -> None:
    from dataclasses import replace

    from denseflip.experiments.explain_many import gather, plan_many
    from denseflip.experiments.many_outputs import write_many
    from denseflip.runs.result_store import Store
    from denseflip.runs.run import run_specs

    ids = ("../../up", "<b>x</b>", "CON", "con")
    odd = replace(make_cohort(2), ids=ids)
    specs = plan_many(odd, "many_toys:label", method="tri")
    many = gather(specs, run_specs(specs, Store("s")))
    write_many(many, specs, "o", pages="still")
    text = Path("o/index.html").read_text()
    assert "<b>x</b>" not in text
    links = re.findall(r'<th scope="row"><a href="([^"]+)"', text)
    assert len(set(links)) == 4
    for link in links:
        assert (Path("o") / link).is_file()
        assert Path("o").resolve() in (Path("o") / link).resolve().parents
    assert not (folder.parent / "up.html").exists()
    # What is there is not written again; what was taken away is.
    before = stamps(Path("o"))
    Path("o", links[0]).unlink()
    write_many(many, specs, "o", pages="still")
    after = stamps(Path("o"))
    assert {name for name in before if before[name] != after[name]} == {Path(links[0]).name}
