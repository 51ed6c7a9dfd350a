"""The page on what sentences are worth: written by a script, from tables that a command gives."""

from __future__ import annotations

import csv
import importlib
from pathlib import Path
from types import ModuleType

import pytest

from denseflip.experiments.bench_config import read_config

ROOT = Path(__file__).resolve().parents[2]
ROW = {
    "data": "synthetic:strength=0.5", "oracle": "edges-svm", "method": "auto", "parameters": "",
    "n": "20", "found": "20", "told": "0.95", "regions": "18", "nodes": "0", "pairs": "1",
    "any": "4", "cells": "1.0", "words": "31.5", "distance": "1234.0",
    "relative_distance": "0.0816", "calls": "512.0", "as_read": "0.987", "as_read_typical": "",
    "planted_first": "1.0", "planted_alone": "0.9",
}  # fmt: skip


@pytest.fixture(scope="module")
def script() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")  # it finds its neighbours as when it is run
        return importlib.import_module("make_sentence_tables")


def test_a_row_of_results_as_a_row_of_the_page(script):
    *_, line = script.sentences_table([ROW]).splitlines()
    assert line == (
        "| synthetic, 0.5 | `edges-svm` | `auto` | 19 of 20 | 18 regions, 1 pairs | 4 | 1 | 31.5 "
        "| 1,234 | .082 | 512 | .99 | 20 of 20 | 18 of 20 |"
    )


def test_methods_against_data_sets(script):
    rows = [
        {**ROW, "data": "aut", "method": "auto", "n": "12", "told": "0.75"},
        {**ROW, "data": "kki", "method": "edg", "n": "12", "told": "0", "as_read": ""},
    ]
    head, _, first, second = script.as_read_table(rows).splitlines()
    assert head == "| method | AUT | KKI |"
    assert first == "| `edg` | – | – · 0/12 |"
    assert second == "| `auto` | .99 · 9/12 | – |"


def test_edits_and_questions(script):
    rows = [
        {**ROW, "data": "aut", "method": name, "found": "25", "distance": edits, "calls": "52.0"}
        for name, edits in (("race", "2.0"), ("tri+min", ""))
    ]
    head, _, first, second = script.edits_table(rows).splitlines()
    assert head == "| method | AUT |"
    assert first == "| `tri+min` | 25 ·  · 52 |"
    assert second == "| `race` | 25 · 2 · 52 |"


def test_the_page_is_written_between_its_markers(script, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    text = "before\n<!-- {0}: begin -->\nstale\n<!-- {0}: end -->\nafter\n"
    page.write_text("".join(text.format(name) for name in script.TABLES), encoding="utf-8")
    monkeypatch.setattr(script, "PAGE", page)
    for name in script.TABLES:
        (tmp_path / "out" / name).mkdir(parents=True)
        with (tmp_path / "out" / name / "sentences.csv").open("w", newline="") as handle:
            table = csv.DictWriter(handle, ROW)
            table.writeheader()
            table.writerow(ROW)
    script.main(["--no-run", "--out", str(tmp_path / "out")])
    written = page.read_text(encoding="utf-8")
    assert "stale" not in written
    assert written.count("before") == written.count("after") == 3
    assert "19 of 20" in written
    script.main(["--no-run", "--only", "sentences", "--out", str(tmp_path / "out")])
    assert page.read_text(encoding="utf-8") == written
    page.write_text("no markers", encoding="utf-8")
    with pytest.raises(SystemExit, match="no place for 'sentences'"):
        script.main(["--no-run", "--out", str(tmp_path / "out")])


def test_the_page_has_a_place_and_a_configuration_for_every_table(script):
    text = (ROOT / "docs" / "sentences.md").read_text(encoding="utf-8")
    for name in script.TABLES:
        assert f"<!-- {name}: begin -->" in text
        assert f"examples/{name}.toml" in text
        methods = {m.name for m in read_config(ROOT / "examples" / f"{name}.toml").methods}
        assert methods <= set(script.ORDER), "a method without a place in the table's order"
