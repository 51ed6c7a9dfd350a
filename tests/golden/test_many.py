"""Every method on many little questions, exactly: answers, costs and sentences.

`test_toy` and `test_wishes` show what was found on a few; here are many more, each as a line of
figures and the head of a hash, so that no change of a search or a sentence goes unseen.
`make golden` writes the file anew; look at the difference before you commit it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from denseflip import Background, Counterfactual, Graph, Nodes, describe, explain, methods
from denseflip.search.core.problem import CONFIDENCE
from denseflip.search.methods.registry import make_method

FILE = Path(__file__).parent / "toy" / "many.json"
PARTS = ("Front", "Mid", "Back", "Deep")
Rule = Callable[[np.ndarray[Any, Any]], int]


def drawn(n: int, seed: int, p: float = 0.35) -> Graph:
    """Every other graph is denser at its first nodes, the rest at its last ones."""
    chance = np.full((n, n), p)
    some = slice(0, n // 2) if seed % 2 else slice(n // 2, n)
    chance[some, some] += 0.3
    joined = np.triu(np.random.default_rng([n, seed]).random((n, n)) < chance, 1)
    return Graph.from_adjacency((joined | joined.T).astype(int))


def named(n: int) -> Nodes:
    """Regions of unequal sizes, in two taxonomies."""
    part = tuple(PARTS[(v * v // 3 + v) % 4] for v in range(n))
    side = tuple("Left" if 5 * v < 2 * n else "Right" for v in range(n))
    return Nodes(tuple(f"v{v}" for v in range(n)), regions={"part": part, "side": side})


class Ruled:
    """A rule that counts in whole numbers: the same on every machine. Sure the further it is."""

    classes = (0, 1)

    def __init__(self, counts: Rule, cut: int) -> None:
        self.counts, self.cut = counts, cut

    def _margins(self, graphs: list[Graph]) -> np.ndarray[Any, Any]:
        return np.array([self.counts(g.to_adjacency()) - self.cut for g in graphs])

    def predict(self, graphs: list[Graph]) -> list[int]:
        """1 above the cut."""
        return [int(m > 0) for m in self._margins(graphs)]


class Surely(Ruled):
    """The same, with probabilities."""

    def predict_proba(self, graphs: list[Graph]) -> np.ndarray[Any, Any]:
        """A quarter of a step to either side, and then further, never 0 or 1."""
        m = self._margins(graphs)
        one = 0.5 + 0.5 * (m - 0.5) / (8 + np.abs(m - 0.5))
        return np.stack([1 - one, one], axis=1)


def ends(a: np.ndarray[Any, Any]) -> int:
    """First nodes against last ones."""
    h = len(a) // 2
    return int(a[:h, :h].sum() - a[h:, h:].sum()) // 2


def weights(a: np.ndarray[Any, Any]) -> int:
    """Every pair has a weight of its own."""
    u, v = np.triu_indices(len(a), 1)
    return int((((u * 7 + v * 13) % 11 - 5) * a[u, v]).sum())


def triangles(a: np.ndarray[Any, Any]) -> int:
    """How many there are."""
    whole = a.astype(int)
    return int(np.trace(whole @ whole @ whole)) // 6


def busiest(a: np.ndarray[Any, Any]) -> int:
    """The highest degree, less the lowest."""
    degrees = a.astype(int).sum(axis=0)
    return int(degrees.max() - degrees.min())


def agree(a: np.ndarray[Any, Any]) -> int:
    """Two corners that must agree."""
    return int((a[:5, :5].sum() // 2) % 3 == 1) ^ int(a[-5:, -5:].sum() > 10)


def across(a: np.ndarray[Any, Any]) -> int:
    """Between first and last nodes."""
    h = 2 * len(a) // 5
    return int(a[:h, h:].sum())


def parts(a: np.ndarray[Any, Any]) -> int:
    """Front with Back counts twice, Mid against it."""
    table = named(len(a)).taxonomy("part")
    of = {name: np.array([table.region_of(v) == name for v in range(len(a))]) for name in PARTS}
    front = 2 * a[np.ix_(of["Front"], of["Back"])].sum()
    return int(front - a[np.ix_(of["Mid"], of["Mid"])].sum())


@dataclass(frozen=True)
class Question:
    """A graph, a rule and what else is given."""

    n: int
    seed: int
    rule: Rule
    cut: int | None = None  # without one, that of the graph itself: it is just not a 1
    surely: bool = False
    alone: bool = False  # without regions and background
    given: dict[str, Any] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        """The one to explain."""
        return drawn(self.n, self.seed)

    @property
    def oracle(self) -> Ruled:
        """The rule as a classifier."""
        cut = self.rule(self.graph.to_adjacency()) - 1 if self.cut is None else self.cut
        return (Surely if self.surely else Ruled)(self.rule, cut)


QUESTIONS = {
    "ends": Question(12, 1, ends, 0),
    "ends, sure": Question(12, 2, ends, 0, surely=True),
    "weights": Question(11, 3, weights, 0),
    "weights, sure": Question(13, 4, weights, 2, surely=True, given={"confidence": 0.6}),
    "triangles": Question(12, 5, triangles),
    "busiest": Question(10, 6, busiest, 4),
    "agree": Question(12, 7, agree, 0),
    "across": Question(15, 8, across, surely=True),
    "alone": Question(9, 9, weights, 3, alone=True),
    "alone, sure": Question(10, 10, triangles, surely=True, alone=True),
    "little": Question(12, 11, ends, 0, given={"budget": 40}),
    "parts": Question(20, 13, parts, -3),
    "parts, other way": Question(20, 14, parts, -11, surely=True),
    "parts, robust": Question(16, 15, parts, 1, given={"robust": 0.8, "noise": 0.04}),
    "weights, two": Question(14, 16, weights, 0, given={"n": 2, "plausible": True}),
    "bound": Question(12, 12, ends, 0, given={"constraints": {"max_edits": 9, "freeze": [1]}}),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "tri, reverse": {"reverse": True},
    "tri, both": {"direction": "both"},
    "tri, structure": {"ties_by": "structure"},
    "tri+bw": {},
    "tri+bw1": {},
    "tri+min": {},
    "cli, contrast": {"select": "contrast"},
    "cli, density": {"schedule": "density", "slack": 2},
    "cli, harmonic": {"ties": "harmonic", "counts": 1},
    "cli, structure": {"ties_by": "structure"},
    "cli+min": {},
    "cli+bw": {},
    "rcli, side": {"regions": "side", "counts": 0},
    "rcli+bw1": {},
    "con+min": {},
    "blocks, side": {"regions": "side", "strength": 0.5},
    "blocks+min": {},
    "race, few": {"nearest": 1, "swaps": 1, "finalists": 1},
    "best, edits": {"objective": "edits"},
    "best, balanced": {"objective": "balanced"},
    "best, side": {"regions": "side", "max_cells": 1},
    "brief, side": {"regions": "side"},
    "brief, one": {"max_cells": 1},
    "brief, nodes": {"language": "nodes"},
    "auto, pairs": {"language": "pairs"},
    "auto, side": {"regions": "side"},
    "obs, two": {"batch": 2},
    "dbs, two": {"batch": 2},
    "dat+min": {},
    "dat+bw": {},
    "medoid+bw1": {},
    "tight, guided": {"guided": True},
    "tight, few": {"questions": 60},
    "tight, pool": {"pool": 20},
    "cell, side": {"regions": "side"},
    "plex, 3": {"k": 3},
    "quasi, half": {"gamma": 0.5},
}
BY_LABELS = [m.name for m in methods() if not m.suffix and "gradient" not in m.needs]
NAMES = [*BY_LABELS, *OPTIONS]


@cache
def background(name: str) -> Background:
    """Twelve other graphs, whose labels are asked once."""
    return Background([drawn(QUESTIONS[name].n, seed) for seed in range(20, 32)])


def digest(text: str) -> str:
    """Enough of a hash to see a change by."""
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def line(result: Counterfactual, nodes: Nodes | None, oracle: Ruled) -> str:
    """An answer, what it cost, how it is read and told."""
    edits = repr([list(map(int, pair)) for pair in (*result.added, *result.removed)])
    words = [
        str(result.status),
        f"{len(result.added)}+{len(result.removed)}",
        digest(edits),
        f"{result.search_calls}/{result.refine_calls}/{result.distinct_calls}",
        f"{result.iterations}",
    ]
    if (said := result.as_read) is not None:
        words.append(f"{said.language} {said.regions} {said.reading} {said.flips}/{said.draws}")
    words.append(digest(repr(result.notes)))
    if result.found:
        story = describe(result, nodes, oracle, subject="G")
        words += [digest(story.statement), digest(f"{story.short} {story.detailed} {story}")]
    return "; ".join(words)


def run(name: str) -> dict[str, str]:
    """One method on every question that it can be put to."""
    method = make_method(name.split(",")[0], **OPTIONS.get(name, {}))
    lines = {}
    for title, asked in QUESTIONS.items():
        if (asked.alone and method.needs - {CONFIDENCE}) or (
            CONFIDENCE in method.needs and not asked.surely
        ):
            continue
        nodes, some = (None, None) if asked.alone else (named(asked.n), background(title))
        oracle = asked.oracle
        result = explain(
            asked.graph, oracle, method, nodes=nodes, background=some, seed=3, **asked.given
        )
        lines[title] = line(result, nodes, oracle)
    return lines


@pytest.fixture(scope="module")
def golden(request: pytest.FixtureRequest) -> dict[str, Any]:
    if request.config.getoption("--regenerate-golden"):
        FILE.write_text(json.dumps({name: run(name) for name in NAMES}, indent=1) + "\n", "utf-8")
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", NAMES)
def test_every_method_answers_many_questions_as_it_did(golden: dict[str, Any], name: str) -> None:
    assert run(name) == golden[name]


def test_the_golden_file_holds_every_method_and_no_other(golden: dict[str, Any]) -> None:
    assert set(golden) == set(NAMES)
