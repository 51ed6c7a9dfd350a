"""Random constraints × every method and refinement × random oracles; the long form is a script."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from denseflip.search.methods.registry import METHODS

SCRIPT = Path(__file__).parents[2] / "scripts" / "fuzz_constraints.py"


@pytest.fixture(scope="module")
def fuzz():
    spec = importlib.util.spec_from_file_location("fuzz_constraints", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["fuzz_constraints"] = module
    spec.loader.exec_module(module)
    return module


def test_no_result_and_no_question_breaks_the_terms(fuzz):
    counts = fuzz.run(2 * (len(METHODS) - 1), seed=7_000_000)
    assert counts["found"] > 10
    assert counts["refused"] > 10
    assert counts["named what bound"] > 0
    assert counts["sentences"] > 0


def test_the_check_notices_a_search_that_is_not_held_to_its_terms(fuzz, monkeypatch):
    """A guard that lets everything pass is found out: the test can fail."""
    from denseflip.search.constraints.bound_constraints import BoundConstraints

    monkeypatch.setattr(BoundConstraints, "forbids", lambda self, graph: False)
    with pytest.raises(AssertionError, match="breaks"):
        fuzz.run(300, seed=7_000_000)


def test_the_check_knows_each_constraint_by_its_plain_meaning(fuzz):
    trial = fuzz.make_trial(1)
    graph = trial.graph
    u, v = graph.edges()[0]
    other = graph.toggle([(u, v)])
    for given, wrong in (
        ({"freeze": [u]}, "freeze"),
        ({"only": "add"}, "only"),
        ({"only": "remove"}, None),
        ({"allow_seen": 101.0}, "allow_seen"),
        ({"keep_density": 0.0}, "keep_density"),
        ({"max_degree": 0}, "max_degree"),
        ({"min_degree": graph.n_nodes}, "min_degree"),
        ({"predicate": lambda g: False}, "predicate"),
        ({"max_edits": 0}, "max_edits"),
        ({"max_cells": 0}, "max_cells"),
    ):
        trial.given = given
        assert fuzz.breaks(trial, other, answer=True) == wrong
