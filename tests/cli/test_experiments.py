import csv
import io
import json
import sys
from pathlib import Path

import pytest

from benches import write_bench
from denseflip.cli.command_tree import app
from denseflip.cli.common import run

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "toy_oracles", raising=False)
    return tmp_path


def ok(capsys: Captured, *words: object) -> tuple[str, str]:
    code = run(app, [str(w) for w in words])
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out, said.err


def fails(capsys: Captured, *words: object, code: int = 1) -> str:
    assert run(app, [str(w) for w in words]) == code
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    return said.err


def test_bench_then_results(folder, capsys):
    config = write_bench(folder, methods=["tri", "edg"], title="Mine & yours")
    out, err = ok(capsys, "bench", "--config", config, "--out", "b")
    assert "| cohort | own    | edg" in out
    assert "32 of 32 results: 32 new, 0 reused" in err
    assert "ratio" in err
    assert "Mine &amp; yours" in (folder / "b" / "index.html").read_text()
    assert json.loads((folder / "b" / "run.json").read_text())["explanations"] == 32

    _, err = ok(capsys, "bench", "--config", config, "--out", "b")
    assert "0 new, 32 reused" in err

    out, _ = ok(capsys, "results", "b", "-g", "method", "-m", "calls,plausibility")
    heading = [cell.strip() for cell in out.splitlines()[2].strip("|").split("|")]
    assert heading == ["method", "n", "flip_rate", "calls", "plausibility"]
    out, _ = ok(capsys, "results", "b", "--where", "method=tri", "--all", "-f", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert {r["method"] for r in rows} == {"tri"}
    assert len(rows) == 16
    ok(capsys, "results", "b", "-c", "graph,calls", "-f", "json", "-o", "x.json")
    assert len(json.loads((folder / "x.json").read_text())) == 32
    out, _ = ok(capsys, "results", "b", "-f", "latex")
    assert r"\toprule" in out


def test_results_say_what_is_wrong(folder, capsys):
    assert "no results found" in fails(capsys, "results", folder)
    ok(capsys, "bench", "--config", write_bench(folder, methods=["tri"]), "--out", "b")
    assert "Did you mean 'method'" in fails(capsys, "results", "b", "-w", "metod=tri")
    assert "table form" in fails(capsys, "results", "b", "-f", "excel")
    assert "does not exist" in fails(capsys, "results", "b", "-o", "no/where.csv")
    part = next((folder / "b" / "store" / "parts").iterdir())
    part.write_bytes(b"torn")
    _, err = ok(capsys, "results", "b")
    assert "Damaged" in err
    _, err = ok(capsys, "bench", "--config", "bench.toml", "--out", "b")
    assert "Damaged, set aside" in err


def test_bench_says_what_is_wrong_with_a_configuration(folder, capsys):
    config = write_bench(folder, metods=["tri"])
    assert "Did you mean 'methods'?" in fails(capsys, "bench", "--config", config)
    assert "no such file" in fails(capsys, "bench", "--config", "none.toml")
    good = write_bench(folder)
    assert "Did you mean 'serial'" in fails(capsys, "bench", "--config", good, "--engine", "serail")
    err = fails(capsys, "bench", "--config", good, "--scheduler", "tcp://x:1")
    assert "needs the engine 'dask'" in err


def test_failed_runs_are_listed_and_the_exit_code_is_1(folder, capsys):
    config = write_bench(folder, "broken", methods=["tri"])
    err = fails(capsys, "bench", "--config", config, "--out", "b")
    assert "runs failed:" in err
    assert "cannot read this graph" in err
    assert "retry them" in err


def test_a_store_of_a_newer_version(folder, capsys):
    config = write_bench(folder, methods=["tri"])
    ok(capsys, "bench", "--config", config, "--out", "b")
    head = folder / "b" / "store" / "store.json"
    head.write_text(head.read_text().replace('"version": 1', '"version": 7'))
    assert "newer denseflip" in fails(capsys, "bench", "--config", config, "--out", "b")
    assert "newer denseflip" in fails(capsys, "results", "b")


def test_paper_refuses_names_it_does_not_know(capsys):
    assert "Did you mean 'published'" in fails(capsys, "paper", "--profile", "publishd")
    assert "data set of the paper" in fails(capsys, "paper", "--datasets", "mice")


@pytest.mark.data
def test_paper_on_a_few_graphs(brain_data, folder, capsys):
    words = ("paper", "--profile", "text", "--datasets", "pek", "--methods", "tri,dat", "--limit")
    words = (*words, 2, "--permutations", 0, "--no-figures", "--engine", "serial", "--out", "p")
    out, _ = ok(capsys, *words)
    assert "Table 1, profile text" in out
    assert "| DAT    | 100/" in out or "| DAT    | –/100" in out
    first = {p.name: p.read_bytes() for p in (folder / "p").glob("*.*") if p.name != "run.json"}
    assert {"table1.csv", "table1.md", "table1.tex", "table2.tex", "index.html"} <= set(first)
    _, err = ok(capsys, *words)
    assert "0 new" in err
    again = {p.name: p.read_bytes() for p in (folder / "p").glob("*.*") if p.name != "run.json"}
    assert again == first
