"""The scripts behind the figures about cohorts run, in their smallest form."""

from __future__ import annotations

import importlib.util
import json
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


def load(path: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"cohort_{Path(path).stem}", ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_and_the_picture_of_made_up_cohorts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = load("scripts/make_cohort_tables.py")
    asked = {"null": 2, "power": 1, "permutations": 1, "patients": 2, "per_class": 4}
    args = Namespace(out=tmp_path, engine="serial", jobs=1, early=False, **asked)
    script.synthetic(args)
    head, rule, *rows = (tmp_path / "synthetic.md").read_text(encoding="utf-8").splitlines()[:5]
    assert head.count("|") == rule.count("|") == 9
    assert [row.split("|")[1:3] for row in rows] == [
        [" 0 ", " 2 "], [" 0.5 ", " 1 "], [" 1 ", " 1 "],
    ]  # fmt: skip
    figures = json.loads((tmp_path / "synthetic.json").read_text(encoding="utf-8"))
    assert all(row["p"] in (0.5, 1.0) and not row["named"] for row in figures["rows"])
    picture = tmp_path / "null-p-values.png"
    assert picture.stat().st_size > 3000
    first = (tmp_path / "synthetic.md").read_bytes()
    capsys.readouterr()
    script.synthetic(args)  # from what is stored
    assert "4 reused" in capsys.readouterr().out
    assert (tmp_path / "synthetic.md").read_bytes() == first


def test_a_cohort_is_left_when_nothing_can_be_named_any_more() -> None:
    script = load("scripts/make_cohort_tables.py")
    true, low, high = ({"more": [n, 0], "fewer": [0, 1]} for n in (4, 3, 4))
    assert not script.is_decided([true, low, low], 19)
    assert script.is_decided([true, low, high], 19)  # p is at least 2 / 20
    assert not script.is_decided([true, low, high], 39)  # 2 / 40 would do
    assert script.is_decided([true, high, high], 39)


def test_throughput_against_workers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    script = load("benchmarks/cluster.py")
    monkeypatch.setitem(sys.modules, script.__name__, script)
    words = ["--cost", "0.01", "--tasks", "6", "--workers", "1", "--batch", "4", "--cells", "3"]
    monkeypatch.setattr(sys, "argv", ["cluster.py", *words, "--one-process"])
    script.main()
    record, figures, *costs = capsys.readouterr().out.splitlines()
    assert record.startswith("record ")
    told = json.loads(figures)
    assert (told["workers"], told["batch"], told["ideal_per_second"]) == (1, 4, 100.0)
    assert 0 < told["efficiency"] <= 1
    assert len(costs) == 3
    assert costs[0].endswith("40.6 core hours")
