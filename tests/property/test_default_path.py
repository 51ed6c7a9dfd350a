"""The default path on random cases: the short form of `scripts/fuzz_default.py`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz_default.py"


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_default", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_default"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_ten_cases_of_up_to_300_nodes(fuzz, first):
    rows = [fuzz.run_seed(seed, most_nodes=300) for seed in range(first, first + 10)]
    assert [row for row in rows if row["wrong"]] == []


def test_a_case_of_several_thousand_nodes(fuzz):
    """Its oracle counts edges of a region pair, and its answer is told."""
    seed = next(
        seed
        for seed in range(10_000)
        if (case := fuzz.make_case(seed, 8000)).box.kind == "region"
        and case.graph.n_nodes > 2000
        and not case.given
        and len(case.background or ()) > 8
    )
    row = fuzz.run_seed(seed, 8000)
    assert row["wrong"] == ""


def test_an_answer_of_tight_has_pairs_beyond_its_candidates(fuzz):
    """17,765 nodes and a linear oracle: the answer is found among changes that are not learnt."""
    assert fuzz.run_seed(1830)["wrong"] == ""


def test_a_wrong_answer_is_noticed(fuzz, monkeypatch):
    """An oracle that says something else afterwards: the label is asked again."""
    case = next(
        case
        for seed in range(200)
        if (case := fuzz.make_case(seed, 60)).box.kind == "linear" and case.explain().found
    )
    result = case.explain()
    monkeypatch.setattr(case.box, "level", 1e9)
    with pytest.raises(AssertionError, match="label"):
        fuzz.check_result(case, result)
