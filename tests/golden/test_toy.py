"""Every method on two small graphs, exactly: what was found, by which questions.

`make golden` writes the file anew; look at the difference before you commit it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from denseflip import Graph, explain, methods
from graphs import halves, two_cliques

FILE = Path(__file__).parent / "toy" / "methods.json"


def random_graph(seed: int, n: int = 14, p: float = 0.3) -> Graph:
    draws = np.triu(np.random.default_rng(seed).random((n, n)) < p, k=1)
    return Graph.from_adjacency((draws | draws.T).astype(int))


def weighted(a: np.ndarray[Any, Any]) -> int:
    """A linear classifier with whole-number weights: no rounding, the same on every machine."""
    n = len(a)
    weights = np.array([[((u * 7 + v * 13) % 11) - 5 for v in range(n)] for u in range(n)])
    return int((np.triu(a, 1) * weights).sum() > 0)


CASES = {
    "two_cliques": (two_cliques(), lambda a: int(a[:4, :4].sum() >= 12), 8),
    "random": (random_graph(3), weighted, 14),
}
NAMES = [m.name for m in methods() if not m.suffix and "gradient" not in m.needs]
METHODS = NAMES + [
    f"{name}{s}" for name in ("tri", "cli", "rcli", "dat") for s in ("+bw", "+bw1", "+min")
]


def run(case: str, method: str) -> dict[str, Any]:
    graph, oracle, n = CASES[case]
    background = [graph, *(random_graph(seed, n) for seed in range(10, 20))]
    r = explain(graph, oracle, method, nodes=halves(n), background=background, seed=7)
    return {
        "status": str(r.status),
        "added": [list(p) for p in r.added],
        "removed": [list(p) for p in r.removed],
        "labels": [r.label_before, r.label_after],
        "calls": [r.search_calls, r.refine_calls, r.background_calls, r.distinct_calls],
        "iterations": r.iterations,
    }


@pytest.fixture(scope="module")
def golden(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.config.getoption("--regenerate-golden"):
        found = {f"{c}/{m}": run(c, m) for c in CASES for m in METHODS}
        rows = ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
        FILE.write_text("{\n" + rows + "\n}\n", encoding="utf-8")
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("case", CASES)
def test_every_method_gives_exactly_what_it_gave(
    golden: dict[str, Any], case: str, method: str
) -> None:
    assert run(case, method) == golden[f"{case}/{method}"]


def test_the_golden_file_holds_every_method_and_nothing_else(golden: dict[str, Any]) -> None:
    assert set(golden) == {f"{c}/{m}" for c in CASES for m in METHODS}
