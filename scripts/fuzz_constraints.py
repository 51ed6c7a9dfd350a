"""Search for violated constraints: random constraints, all methods and refinements, random oracles.

    python scripts/fuzz_constraints.py --results 20000

Each result is checked against the definitions on dense arrays, independently of the code that
enforces them: the edits and every queried graph satisfy the constraints, the oracle gives the
reported label and confidence, the trace leads to the result, and a search without a result names
the constraint that stopped it. For every tenth result the sentence and its redraws are checked as
well. The first violation ends the run and is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from denseflip import Constraints, Counterfactual, Graph, Nodes, describe, explain
from denseflip.errors import InvalidParameterError
from denseflip.search.methods.registry import METHODS

REFINERS = ("", "+min", "+bw", "+bw1", "+bw+min")
KINDS = ("linear", "cell", "several", "odd", "sure", "sure several")
SOMETIMES = 0.2  # how often each constraint is asked for
TOLD = 10  # of so many results one is told


class Box:
    """An oracle of some kind that remembers what it was asked about."""

    def __init__(self, kind: str, n: int, rng: np.random.Generator) -> None:
        self.kind, self.asked = kind, list[Graph]()
        k = 3 if "several" in kind else 2
        w = rng.normal(size=(k, n, n)) * (rng.random((k, n, n)) < 0.5)
        self.weights = np.triu(w, 1)
        if kind == "cell":
            self.weights[:] = 0
            self.weights[1, : n // 2, n // 2 :] = 1
        self.level = np.zeros(k)
        self.classes = tuple(range(k)) if kind.startswith("sure") else None

    def centre(self, graphs: Sequence[Graph]) -> None:
        """Put the boundary into the middle of these graphs."""
        self.level = np.median(self._scores(graphs), axis=0)

    def _scores(self, graphs: Sequence[Graph]) -> Any:
        arrays = np.stack([g.to_adjacency(float) for g in graphs])
        return np.einsum("gij,kij->gk", arrays, self.weights)

    def chances(self, graphs: Sequence[Graph]) -> Any:
        """A probability for every class."""
        scores = self._scores(graphs) - self.level
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        return scores / scores.sum(axis=1, keepdims=True)

    def labels(self, graphs: Sequence[Graph]) -> list[int]:
        """The label of every graph, unrecorded."""
        if self.kind == "odd":  # neither monotone nor near to it
            return [int(g.n_edges % 3 == 0) ^ int(g.degrees().max(initial=0) % 2) for g in graphs]
        return [int(i) for i in self.chances(graphs).argmax(axis=1)]

    def predict(self, graphs: Sequence[Graph]) -> list[int]:
        """The labels."""
        self.asked.extend(graphs)
        return self.labels(graphs)

    def __getattr__(self, name: str) -> Any:
        if name == "predict_proba" and self.__dict__.get("classes"):
            return self._proba
        raise AttributeError(name)

    def _proba(self, graphs: Sequence[Graph]) -> Any:
        self.asked.extend(graphs)
        return self.chances(graphs)


@dataclass
class Trial:
    """One case: what is explained, how, and on which terms."""

    graph: Graph
    others: list[Graph]
    nodes: Nodes
    box: Box
    method: str
    given: dict[str, Any]
    asked: dict[str, Any]


def make_trial(seed: int) -> Trial:
    """The case of a seed."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 10))
    lobes = rng.integers(3, size=n)
    lobes[:3] = (0, 1, 2)
    regions = {
        "lobe": tuple(("Front", "Back", "Base")[i] for i in lobes),
        "side": tuple("lr"[i % 2] for i in range(n)),
    }
    nodes = Nodes(tuple(f"n{i}" for i in range(n)), regions=regions)
    dense = rng.uniform(0.2, 0.7)
    graphs = []
    for _ in range(int(rng.integers(4, 9))):
        upper = np.triu(rng.random((n, n)) < dense, 1)
        graphs.append(Graph.from_adjacency((upper | upper.T).astype(int)))
    box = Box(str(rng.choice(KINDS)), n, rng)
    box.centre(graphs)
    names = sorted(set(METHODS) - {"gradient"})  # the oracles here have no gradients
    # Names and refinements in turn, so that every pair of them comes equally often.
    method = names[seed % len(names)] + REFINERS[seed // len(names) % len(REFINERS)]
    asked: dict[str, Any] = {"budget": int(rng.integers(2, 90)), "seed": seed % 97}
    asked["batch"] = int(rng.choice((1, 64)))
    if box.classes and rng.random() < 0.5:
        asked["confidence"] = float(rng.uniform(0.4, 0.95))
    if "several" in box.kind and rng.random() < 0.6:
        own = box.labels(graphs[:1])[0]
        rest = [label for label in range(3) if label != own]
        asked["target"] = rest if rng.random() < 0.4 else rest[int(rng.integers(2))]
    return Trial(graphs[0], graphs, nodes, box, method, some_terms(rng, n), asked)


def some_terms(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Random constraints, at least one."""

    def frozen() -> Any:
        ways = ("Front", "side: l", "Front x Back", "Base x Base", "n1", int(rng.integers(n)))
        return [ways[int(rng.integers(len(ways)))] for _ in range(int(rng.integers(1, 3)))]

    def mask() -> Any:
        upper = np.triu(rng.random((n, n)) < 0.6, 1)
        return upper | upper.T

    edges = int(rng.integers(1, n * 2))
    makers: dict[str, Any] = {
        "freeze": frozen,
        "only": lambda: str(rng.choice(("add", "remove"))),
        "allowed": mask,
        "allow_seen": lambda: float(rng.uniform(0, 60)),
        "max_edits": lambda: int(rng.integers(1, 8)),
        "max_cells": lambda: int(rng.integers(1, 4)),
        "keep_density": lambda: float(rng.uniform(0, 40)),
        "keep_connected": lambda: True,
        "min_degree": lambda: int(rng.integers(0, 3)),
        "max_degree": lambda: int(rng.integers(3, n)),
        "predicate": lambda: lambda g: g.n_edges != edges,
    }
    chosen = [name for name in makers if rng.random() < SOMETIMES]
    chosen = chosen or [str(rng.choice(list(makers)))]
    return {name: makers[name]() for name in chosen}


# ---- plain definitions ----------------------------------------------------------------------


def breaks(trial: Trial, graph: Graph, *, answer: bool) -> str | None:
    """The constraint that a graph breaks, by its plain meaning; sizes bind an answer only."""
    given, n = trial.given, graph.n_nodes
    before, after = (g.to_adjacency(int) for g in (trial.graph, graph))
    changed = [(u, v) for u in range(n) for v in range(u + 1, n) if before[u, v] != after[u, v]]
    lobe, side = trial.nodes.regions["lobe"], trial.nodes.regions["side"]
    share = 0 * before
    if "allow_seen" in given:
        share = np.mean([g.to_adjacency(float) for g in trial.others], axis=0)
    for u, v in changed:
        for name in given.get("freeze", ()):
            if _frozen(name, u, v, lobe, side):
                return "freeze"
        if given.get("only") == ("add" if before[u, v] else "remove"):
            return "only"
        if "allowed" in given and not given["allowed"][u, v]:
            return "allowed"
        if share[u, v] * 100 < given.get("allow_seen", 0) - 1e-9:
            return "allow_seen"
    if not changed:
        return None
    slack = given.get("keep_density")
    m, k = before.sum() // 2, after.sum() // 2
    if slack is not None and abs(k - m) > slack / 100 * m + 1e-6:
        return "keep_density"
    degrees = after.sum(axis=0)
    for node in {v for pair in changed for v in pair}:
        if degrees[node] < given.get("min_degree", 0):
            return "min_degree"
        if degrees[node] > given.get("max_degree", n):
            return "max_degree"
    if given.get("keep_connected") and _pieces(after) > _pieces(before):
        return "keep_connected"
    if "predicate" in given and not given["predicate"](graph):
        return "predicate"
    if answer and len(changed) > given.get("max_edits", n * n):
        return "max_edits"
    cells = {tuple(sorted((lobe[u], lobe[v]))) for u, v in changed}
    if answer and len(cells) > given.get("max_cells", 99):
        return "max_cells"
    return None


def _frozen(name: Any, u: int, v: int, lobe: Sequence[str], side: Sequence[str]) -> bool:
    if isinstance(name, int):
        return name in (u, v)
    if name == "n1":
        return 1 in (u, v)
    if name == "side: l":
        return "l" in (side[u], side[v])
    ends = name.split(" x ")
    if len(ends) == 1:
        return name in (lobe[u], lobe[v])
    return sorted(ends) == sorted((lobe[u], lobe[v]))


def _pieces(array: Any) -> int:
    left, pieces = set(range(len(array))), 0
    while left:
        pieces += 1
        queue = [left.pop()]
        while queue:
            near = {int(v) for v in np.flatnonzero(array[queue.pop()])} & left
            left -= near
            queue.extend(near)
    return pieces


# ---- one case -------------------------------------------------------------------------------


def check(trial: Trial, *, told: bool = False) -> Counter[str]:
    """Run a case; what happened, counted.

    Raises
    ------
    AssertionError
        If anything does not hold.
    """
    counts: Counter[str] = Counter()
    try:
        result = explain(
            trial.graph,
            trial.box,
            trial.method,
            nodes=trial.nodes,
            background=trial.others,
            constraints=Constraints(**trial.given),
            **trial.asked,
        )
    except InvalidParameterError as error:
        if "constraints" not in str(error):
            raise
        return Counter({"contradictions told": 1})
    counts["results"] += 1
    counts[str(result.status)] += 1
    counts["refused"] += sum(result.refused.values())
    counts["questions"] += result.calls
    _check_asked(trial)
    _check_result(trial, result)
    if result.status == "exhausted" and _could_bind(trial, result):
        assert any("Limited by the constraints" in note for note in result.notes), result.notes
        counts["named what bound"] += 1
    if told and result.found:
        trial.box.asked.clear()
        story = describe(
            result,
            trial.nodes,
            trial.box,
            background=trial.others,
            constraints=trial.given,
        )
        _check_asked(trial)
        wrong = breaks(trial, story.named_edits.apply(trial.graph), answer=True)
        assert wrong is None, f"the sentence breaks {wrong}"
        assert story.verified
        counts["sentences"] += 1
        counts["redraws"] += 0 if story.as_read is None else story.as_read.draws
    return counts


def _check_asked(trial: Trial) -> None:
    known = {g.key for g in trial.others}
    for graph in trial.box.asked:
        if graph.key not in known:
            wrong = breaks(trial, graph, answer=False)
            assert wrong is None, f"a graph was asked about that breaks {wrong}"


def _check_result(trial: Trial, result: Counterfactual) -> None:
    graph = result.counterfactual
    assert result.replay() == graph
    wrong = breaks(trial, graph, answer=result.found)
    assert wrong is None, f"the result breaks {wrong}"
    labels = trial.box.labels([trial.graph, graph])
    assert result.label_before == labels[0]
    for one in (result, *result.front):
        if not one.found:
            continue
        label = trial.box.labels([one.counterfactual])[0]
        assert label == one.label_after
        assert one.accepts(label)
        least = trial.asked.get("confidence", 0)
        if least:
            assert trial.box.chances([one.counterfactual])[0].max() >= least - 1e-9


def _could_bind(trial: Trial, result: Counterfactual) -> bool:
    """Whether there is anything to name: a refusal, or pairs that may not change."""
    n = trial.graph.n_nodes
    if result.refused:
        return True
    singles = (trial.graph.toggle([(u, v)]) for u in range(n) for v in range(u + 1, n))
    static = {"freeze", "only", "allowed", "allow_seen"}
    return any(breaks(trial, g, answer=False) in static for g in singles)


def run(results: int, seed: int, seconds: float = float("inf")) -> Counter[str]:
    """Cases until there are so many results; what happened, counted."""
    counts: Counter[str] = Counter()
    started, i = time.monotonic(), 0
    while counts["results"] < results and time.monotonic() - started < seconds:
        trial = make_trial(seed + i)
        try:
            counts += check(trial, told=i % TOLD == 0)
        except Exception as error:
            msg = f"seed {seed + i}: {trial.method} on {trial.given}, {trial.asked}: {error}"
            raise AssertionError(msg) from error
        i += 1
        if i % 1000 == 0:
            print(f"{counts['results']:,} results, {_spent(started)}", flush=True)
    counts["cases"] = i
    return counts


def _spent(started: float) -> str:
    return f"{time.monotonic() - started:.0f} s, of the processor {time.process_time():.0f} s"


def main(argv: Sequence[str] | None = None) -> int:
    """Run, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    args = parser.parse_args(argv)
    started = time.monotonic()
    counts = run(args.results, args.seed, args.seconds)
    for name, number in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{number:>9,}  {name}")
    print(f"no violation ({_spent(started)})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
