"""What is wished for beside the flip, on one small data set, exactly: what was found, at what cost.

Robust, plausible, several, sure, within bounds and budgets. Such answers are kept to their promises
elsewhere; here they are kept as they are, so that a change of a search does not go unseen.
`make golden` writes the file anew; look at the difference before you commit it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from denseflip import Background, Counterfactual, Graph, explain
from graphs import halves

FILE = Path(__file__).parent / "toy" / "wishes.json"
N = 14
NODES = halves(N)


def drawn(seed: int) -> Graph:
    """Every other graph is denser on the left."""
    chance = np.full((N, N), 0.3)
    chance[: N // 2, : N // 2] = 0.2 if seed % 2 else 0.6
    joined = np.triu(np.random.default_rng(seed).random((N, N)) < chance, 1)
    return Graph.from_adjacency((joined | joined.T).astype(int))


class Linear:
    """Weights in quarters, so that sums are exact: the left counts most."""

    classes = ("sparse", "dense")

    def __init__(self) -> None:
        u, v = np.triu_indices(N, 1)
        left = (u < N // 2) & (v < N // 2)
        self.weights = np.where(left, 4 + (u * 7 + v * 13) % 5, (u * 5 + v * 3) % 3 - 1) / 4
        self.upper = (u, v)

    def scores(self, graphs: list[Graph]) -> np.ndarray[Any, Any]:
        """Above 0 for dense."""
        sums = [(self.weights * g.to_adjacency()[self.upper]).sum() for g in graphs]
        return np.array(sums) - 12.0

    def predict(self, graphs: list[Graph]) -> list[str]:
        """A label per graph."""
        return ["dense" if s > 0 else "sparse" for s in self.scores(graphs)]

    def predict_proba(self, graphs: list[Graph]) -> np.ndarray[Any, Any]:
        """A probability per graph and class."""
        p = 1 / (1 + np.exp(-self.scores(graphs) / 2))
        return np.stack([1 - p, p], axis=1)


def odd(a: np.ndarray[Any, Any]) -> int:
    """Not linear at all: two corners that must agree."""
    return int((a[:5, :5].sum() // 2) % 3 == 1) ^ int(a[9:, 9:].sum() > 8)


LINEAR, BACKGROUND = Linear(), Background([drawn(seed) for seed in range(20)])
BOUNDS: dict[str, dict[str, Any]] = {
    "freeze a region": {"freeze": ["side: Right"]},
    "freeze a node and a pair": {"freeze": [3, (0, 1)]},
    "freeze a cell": {"freeze": ["Odd x Even"]},
    "only add": {"only": "add"},
    "only remove": {"only": "remove"},
    "few edits": {"max_edits": 6},
    "one cell": {"max_cells": 1, "regions": "parity"},
    "density": {"keep_density": 10},
    "connected": {"keep_connected": True, "only": "remove"},
    "degrees": {"min_degree": 2, "max_degree": 7},
    "seen": {"allow_seen": 30},
    "predicate": {"predicate": lambda graph: graph.n_edges % 2 == 0},
}
WISHES: dict[str, dict[str, Any]] = {
    "robust": {"robust": 0.9, "noise": 0.05},
    "plausible": {"plausible": True},
    "not implausible": {"max_implausible": 0.9},
    "hardly implausible": {"max_implausible": 0.4},
    "a little implausible": {"max_implausible": 0.7, "plausible": True},
    "robust and plausible": {"robust": 0.8, "noise": 0.03, "plausible": True},
    "three": {"n": 3},
    "sure": {"confidence": 0.8},
    "a budget": {"budget": 60},
    "plausible within bounds": {"plausible": True, "constraints": {"max_edits": 12, "freeze": [2]}},
    "two within bounds": {"n": 2, "constraints": {"only": "remove", "freeze": ["side: Right"]}},
    "robust within bounds": {"robust": 0.8, "noise": 0.05, "constraints": {"max_cells": 2}},
    **{name: {"constraints": bounds} for name, bounds in BOUNDS.items()},
}
OF_AUTO: dict[str, dict[str, Any]] = {
    "front": {"method": "best", "front": True},
    "edits": {"method": "best", "objective": "edits"},
    "balanced": {"method": "best", "objective": "balanced"},
    "best with little": {"method": "best", "budget": 90},
    "nodes": {"method": "auto", "language": "nodes"},
    "pairs": {"method": "auto", "language": "pairs"},
    "parity": {"method": "auto", "regions": "parity"},
    "two cells": {"method": "brief", "max_cells": 2},
}
RUNS: dict[str, dict[str, Any]] = {
    **{
        f"{method}, {wish}": {"method": method, **given}
        for method in ("con+min", "tri", "tight", "brief")
        for wish, given in WISHES.items()
    },
    **{
        f"{method}, {wish}": {"method": method, **WISHES[wish]}
        for method in ("auto", "best", "race", "blocks")
        for wish in ("robust", "plausible", "three", "sure", "a budget", "few edits", "only add")
    },
    **OF_AUTO,
    **{f"odd, {m}": {"method": m, "oracle": odd} for m in ("race", "best", "tight", "con+min")},
    **{
        f"alone, {wish}": {"method": "tri+min", "background": None, **WISHES[wish]}
        for wish in ("robust", "plausible", "three", "degrees")
    },
}


def told(result: Counterfactual) -> dict[str, Any]:
    """What is pinned of an answer."""
    facts: dict[str, Any] = {
        "status": str(result.status),
        "edits": [list(pair) for pair in (*result.added, *result.removed)],
        "calls": [result.search_calls, result.refine_calls, result.distinct_calls],
    }
    if result.notes:
        facts["notes"] = list(result.notes)
    if result.minimal is not None:
        facts["minimal"] = result.minimal
    if result.as_read is not None:
        said = result.as_read
        facts["as_read"] = [said.language, said.regions, said.reading, said.draws, said.flips]
    if result.robustness is not None:
        facts["robustness"] = [result.robustness.draws, result.robustness.flips]
    if result.plausibility is not None and result.plausibility.implausible is not None:
        facts["implausible"] = round(result.plausibility.implausible, 6)
    for word in ("diverse", "front"):
        if some := getattr(result, word):
            facts[word] = [[list(pair) for pair in one.edits.pairs] for one in some]
    return facts


def run(name: str) -> dict[str, Any]:
    given = {"oracle": LINEAR, "nodes": NODES, "background": BACKGROUND, **RUNS[name]}
    oracle, background = given.pop("oracle"), given.pop("background")
    if oracle is odd:
        background = list(BACKGROUND.graphs)  # labels of another oracle
    return told(explain(drawn(2), oracle, background=background, seed=5, **given))


@pytest.fixture(scope="module")
def golden(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.config.getoption("--regenerate-golden"):
        rows = ",\n".join(f" {json.dumps(name)}: {json.dumps(run(name))}" for name in RUNS)
        FILE.write_text("{\n" + rows + "\n}\n", encoding="utf-8")
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", RUNS)
def test_every_wish_gives_exactly_what_it_gave(golden: dict[str, Any], name: str) -> None:
    assert run(name) == golden[name]


def test_the_golden_file_holds_every_wish_and_nothing_else(golden: dict[str, Any]) -> None:
    assert set(golden) == set(RUNS)
