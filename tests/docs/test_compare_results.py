"""The script that compares two result files sees every difference and nothing else."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
KEY = {"data": "aut", "oracle": "knn", "method": "tri", "parameters": "", "seed": "0"}
KEY |= {"profile": "text", "budget": ""}


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    return importlib.import_module("compare_results")


def write(path: Path, *rows: dict[str, str]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    return path


def row(graph: str, **values: str) -> dict[str, str]:
    return {**KEY, "graph": graph, "calls": "3", "d": "0.1", "elapsed": "1.0", **values}


def test_the_same_values_in_any_order_are_the_same(script, tmp_path, capsys):
    a = write(tmp_path / "a.csv", row("g1"), row("g2"))
    b = write(tmp_path / "b.csv", row("g2", elapsed="7.5"), row("g1"))
    assert script.main([str(a), str(b)]) == 0
    assert capsys.readouterr().out == "2 rows in both, 4 values compared\nthe same\n"


def test_values_that_differ_are_named_by_column_and_row(script, tmp_path, capsys):
    a = write(tmp_path / "a.csv", row("g1"), row("g2"))
    b = write(tmp_path / "b.csv", row("g1", calls="4"), row("g2", d="0.10"))
    assert script.main([str(a), str(b)]) == 1
    said = capsys.readouterr().out
    assert "calls: 1 values differ\n    aut / knn / tri / 0 / g1 / text: 3 → 4\n" in said
    assert "d: 1 values differ" in said, "equal numbers written otherwise are told, too"
    assert said.endswith("NOT the same\n")
    assert script.main([str(a), str(b), "--ignore", "calls", "d"]) == 0


def test_rows_and_columns_that_are_not_in_both_are_told(script, tmp_path, capsys):
    a = write(tmp_path / "a.csv", row("g1"), row("g2"))
    b = write(tmp_path / "b.csv", row("g1"))
    assert script.main([str(a), str(b)]) == 1
    assert "1 rows are not in the second file, such as aut / knn / tri / 0 / g2" in (
        capsys.readouterr().out
    )
    assert script.main([str(a), str(b), "--subset"]) == 0
    assert script.main([str(b), str(a), "--subset"]) == 1
    c = write(tmp_path / "c.csv", {k: v for k, v in row("g1", new="1").items() if k != "d"})
    assert script.main([str(b), str(c)]) == 1
    assert "columns of the second file: without d and with new" in capsys.readouterr().out
    with pytest.raises(SystemExit, match=r"no results\.csv of denseflip"):
        script.main([str(write(tmp_path / "x.csv", {"a": "1"})), str(a)])
