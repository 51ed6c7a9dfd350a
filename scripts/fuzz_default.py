"""Search for wrong answers of the default method: random cases of all sizes and kinds.

    python scripts/fuzz_default.py --from 0 --to 3000 --log fuzz.jsonl [--seconds 600]

A case has 0 to 20,000 nodes (log-uniform; up to 120 for spectral oracles and 2,000 for nearest
neighbours, which are slow), an oracle of one of eleven kinds, two or three classes with labels of
one of five kinds, a background, taxonomies, constraints and other wishes. Some oracles give
probabilities and gradients too, and some come with refits. Every result is checked by plain
definitions on sets of edges that share nothing with the package: its label, its edits, the number
of queries, the constraints, the probability, the information that was used, the refits, the
robustness, the numbers in its sentence, the wishes about the sentence, new redraws of it, the range
of real graphs, the saved forms, the trace, the same seed again, and renumbered nodes. A refusal is
fine if it is one of the errors of the package. Each case is a line of the log; a run with the same
log continues it.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import t as student

from denseflip import Counterfactual, DenseflipError, Graph, Nodes, Story, describe, explain
from denseflip.oracles.gradients import PairGradient

Edges = Any  # a sorted array of u * n + v, one number per edge
ORACLES = (
    *("linear", "region", "triangle", "spectral", "neighbour", "forest"),
    *("parity", "constant", "noisy", "degree", "components"),
)
LABELS: dict[str, Callable[[int], Any]] = {
    "ints": int,
    "strings": lambda i: ("well", "ill", "odd")[i],
    "bools": bool,
    "numpy ints": np.int64,
    "numpy strings": lambda i: np.str_(("well", "ill", "odd")[i]),
}
MOST_NODES = 20_000
MOST_EDGES = 40_000  # drawn; graphs have up to twice as many
SMALL = 120  # up to this many nodes: spectral oracles, masks, and second runs
REDRAWS = 20


# ---- oracles ----------------------------------------------------------------------------------


def weight(u: Any, v: Any, salt: int) -> Any:
    """A pseudo-random number from -1 to 1 for each pair."""
    x = (u * 2_654_435_761 + v * 40_503 + salt * 97_531) % 1_000_003
    return (x * x % 1_000_003) / 500_001.5 - 1


@dataclass
class Box:
    """An oracle of one kind; its score is compared with a level."""

    kind: str
    n: int
    salt: int
    name: Callable[[int], Any]
    known: list[tuple[Edges, int]] = field(default_factory=list)
    level: float = 0.0
    second: float = np.inf  # above it lies a third class
    noise: Any = None
    queries: int = 0

    def score(self, u: Any, v: Any) -> float:
        """The score of a graph, given the two ends of its edges."""
        kind, n = self.kind, self.n
        if kind in ("linear", "noisy"):
            return float(weight(u, v, self.salt).sum() + 0.05 * len(u))
        if kind == "region":
            return float(np.count_nonzero((u % 3 + v % 3) == self.salt % 3))
        if kind == "degree":
            return float(np.bincount(np.concatenate((u, v)), minlength=1).max())
        if kind == "parity":
            return float(len(u) % 2)
        if kind == "forest":
            votes = 0
            for tree in range(9):
                a, b = (self.salt + tree) % 5, (self.salt * 3 + tree) % 4
                inside = np.count_nonzero((u % 5 == a) | (v % 4 == b))
                votes += inside * (9 - tree) > 0.35 * len(u) * (5 + tree % 3)
            return float(votes)
        if kind == "constant" or not n:
            return 0.0
        both = (np.concatenate((u, v)), np.concatenate((v, u)))
        matrix = coo_array((np.ones(2 * len(u)), both), (n, n)).tocsr()
        if kind == "components":
            return float(connected_components(matrix, directed=False)[0])
        if kind == "triangle":
            return float((matrix @ matrix).multiply(matrix).sum() / 6)
        assert kind == "spectral"
        values = np.linalg.eigvalsh(matrix.toarray())
        return float(values[-1] - values[0]) if n else 0.0

    def label(self, edges: Any) -> Any:
        """The label of a graph, given its edges as sorted numbers."""
        if self.kind == "neighbour":
            apart = []
            for i, (other, _) in enumerate(self.known):
                both = np.sort(np.concatenate((edges, other)), kind="stable")
                apart.append((len(both) - 2 * np.count_nonzero(both[1:] == both[:-1]), i))
            return self.name(self.known[min(apart)[1]][1])
        score = self.score(*np.divmod(edges, max(self.n, 1)))
        if self.noise is not None:
            score += self.noise.normal() * 0.5
        return self.name(int(score > self.level) + int(score > self.second))

    def predict(self, graphs: Sequence[Graph]) -> list[Any]:
        """Labels for the package."""
        self.queries += len(graphs)
        return [self.label(edges_of(g)) for g in graphs]


@dataclass
class SureBox(Box):
    """A box that also gives probabilities; it counts how often it is asked for them."""

    scale: float = 1.0
    asked: Counter[str] = field(default_factory=Counter)

    @property
    def classes(self) -> list[Any]:
        """The two labels."""
        return [self.name(0), self.name(1)]

    def margin(self, edges: Edges) -> float:
        """The log-odds of the second label."""
        score = self.score(*np.divmod(edges, max(self.n, 1)))
        return float(np.clip((score - self.level) / self.scale, -30, 30))

    def chance(self, edges: Edges) -> float:
        """The probability of the second label; above one half if and only if that is the label."""
        margin = self.margin(edges)
        chance = 1 / (1 + np.exp(-margin))
        return float(max(chance, np.nextafter(0.5, 1)) if margin > 0 else chance)

    def predict_proba(self, graphs: Sequence[Graph]) -> list[list[float]]:
        """Probabilities for the package."""
        self.asked["probabilities"] += len(graphs)
        chances = [self.chance(edges_of(g)) for g in graphs]
        return [[1 - chance, chance] for chance in chances]


@dataclass
class SlopeBox(SureBox):
    """A linear box that gives its gradient too: over all pairs, or over the edges if many."""

    def gradient(self, graph: Graph, label: Any) -> PairGradient:
        """What flipping each pair changes of a label's margin."""
        self.asked["gradients"] += 1
        n, there = self.n, edges_of(graph)
        u, v = np.triu_indices(n, 1) if n <= 10 * SMALL else np.divmod(there, n)
        codes = (u * n + v).astype(np.int64)
        sign = 1 if label == self.name(1) else -1
        ways = np.where(np.isin(codes, there), -sign, sign)
        values = ways * (weight(u, v, self.salt) + 0.05) / self.scale
        return PairGradient(n, values, codes, sign * self.margin(there), exact=True)


def edges_of(graph: Graph) -> Edges:
    """The edges as sorted numbers."""
    pairs = np.asarray(graph.pairs, dtype=np.int64)
    return np.sort(pairs[:, 0] * graph.n_nodes + pairs[:, 1])


def numbers(pairs: Any, n: int) -> Edges:
    """Pairs as sorted numbers."""
    array = np.sort(np.array(list(pairs), dtype=np.int64).reshape(-1, 2), axis=1)
    return np.unique(array[:, 0] * n + array[:, 1])


# ---- cases ------------------------------------------------------------------------------------


@dataclass
class Case:
    """What is explained, how, and on which terms."""

    seed: int
    graph: Graph
    background: list[Graph] | None
    nodes: Nodes | None
    box: Box
    given: dict[str, Any]
    wishes: dict[str, Any]
    refits: list[Box] | None = None

    def explain(self) -> Counterfactual:
        """The answer of the package."""
        return explain(
            self.graph,
            self.box,
            nodes=self.nodes,
            background=self.background,
            refits=self.refits,
            constraints=self.given or None,
            seed=self.seed % 1000,
            **self.wishes,
        )


def some_edges(n: int, m: int, rng: np.random.Generator, shift: float) -> Any:
    """Edges of a random graph, of which a share lies in a part of the pairs."""
    if n < 2:
        return np.empty((0, 2), dtype=np.int64)
    u, v = rng.integers(n, size=(2, 2 * m + 8))
    here = rng.random(len(u)) < shift
    u = np.where(here, u - u % 3, u) % n
    v = np.where(here, v - v % 3 + 1, v) % n
    low, high = np.minimum(u, v), np.maximum(u, v)
    return np.stack(np.divmod(np.unique((low * n + high)[low < high]), n), axis=1)


def begin_case(seed: int, most_nodes: int = MOST_NODES) -> tuple[np.random.Generator, str, int]:
    """The generator of a case, the kind of its oracle, and its number of nodes."""
    rng = np.random.default_rng([seed, 23])
    kind = str(rng.choice(ORACLES))
    top = SMALL if kind == "spectral" else 2000 if kind == "neighbour" else most_nodes
    n = int(np.exp(rng.uniform(0, np.log(top + 1)))) if rng.random() > 0.03 else 0
    return rng, kind, n


def make_case(seed: int, most_nodes: int = MOST_NODES) -> Case:
    """The case of a seed."""
    rng, kind, n = begin_case(seed, most_nodes)
    m = min(int(n * rng.choice((0.3, 1.5, 6.5))), MOST_EDGES)
    steady = rng.random() < 0.5
    size = {
        "none": 0,
        "empty": 0,
        "few": 3,
        "one class": 8,
        "many": int(rng.integers(8, 25 if n < 5000 else 13)),
    }
    which = str(rng.choice(list(size), p=(0.08, 0.04, 0.13, 0.1, 0.65)))
    edges = []
    for i in range(max(size[which], 5) + 1):
        pairs = some_edges(n, m, rng, 0.05 + 0.15 * (i % 2))
        if steady and len(pairs) > m:
            pairs = pairs[np.sort(rng.choice(len(pairs), m, replace=False))]
        edges.append(pairs)
    name = LABELS[str(rng.choice(list(LABELS)))]
    made = Box
    if kind not in ("neighbour", "noisy") and rng.random() < 0.35:
        made = SlopeBox if kind == "linear" else SureBox
    box = made(kind, n, int(rng.integers(1, 1000)), name)
    if kind == "neighbour":
        box.known = [(numbers(e, n), i % 2) for i, e in enumerate(edges[:7])]
    else:
        scores = [box.score(e[:, 0], e[:, 1]) if len(e) else 0.0 for e in edges]
        box.level = float(np.median(scores)) if kind != "parity" else 0.5
        if isinstance(box, SureBox):
            box.scale = max(float(np.std(scores)) / 2, 0.5)
    if kind == "noisy":
        box.noise = np.random.default_rng(seed)
    graphs = [Graph.from_edges(n, pairs) for pairs in edges]
    own = box.label(edges_of(graphs[0]))
    background: list[Graph] | None = graphs[1 : size[which] + 1]
    if which == "none":
        background = None
    elif which == "one class":
        background = [g for g in graphs[1:] if box.label(edges_of(g)) == own]
    nodes = some_nodes(n, rng)
    given = some_terms(n, m, nodes, background, rng) if rng.random() < 0.3 else {}
    wishes = some_wishes(name, own, rng)
    if isinstance(box, SureBox) and rng.random() < 0.5:
        wishes["confidence"] = float(rng.uniform(0.5, 0.95))
    if isinstance(box, SureBox) and rng.random() < 0.5:
        wishes["information"] = str(rng.choice(("labels", "probabilities", "gradients", "auto")))
    refits = None
    if kind not in ("neighbour", "noisy") and rng.random() < 0.08:
        around = (1 + rng.normal(size=4) * 0.02) * box.level
        # They share the counter of what is asked.
        refits = [replace(box, level=float(level)) for level in around]
        if rng.random() < 0.7:
            wishes["stable"] = float(rng.uniform(0.3, 0.95))
    case = Case(seed, graphs[0], background, nodes, box, given, wishes, refits)
    add_wishes(case, scores=[] if kind == "neighbour" else scores)
    return case


def add_wishes(case: Case, scores: list[float]) -> None:
    """A third class, several targets, and the rarer options, in some of the cases."""
    rng, box, wishes = np.random.default_rng([case.seed, 24]), case.box, case.wishes
    if type(box) is Box and box.name(2) != box.name(1) and scores and rng.random() < 0.25:
        box.second = float(np.quantile(scores, 0.8)) + 1e-9
        own = box.label(edges_of(case.graph))
        others = [box.name(i) for i in range(3) if box.name(i) != own]
        wishes.pop("target", None)
        if rng.random() < 0.4:
            wishes["target"] = others if rng.random() < 0.5 else others[0]
        for refit in case.refits or ():
            refit.second = box.second
    if "robust" in wishes and rng.random() < 0.5:
        wishes["noise"] = float(rng.choice((0.001, 0.05)))
    taxonomies = list(case.nodes.regions) if case.nodes is not None else []
    makers: dict[str, Callable[[], Any]] = {
        "objective": lambda: str(rng.choice(("sentence", "edits", "balanced"))),
        "confirm": lambda: int(rng.integers(0, 4)),
    }
    if taxonomies:
        makers["regions"] = lambda: str(rng.choice([*taxonomies, "*".join(taxonomies[:2])]))
    if case.background:
        makers["max_implausible"] = lambda: float(rng.uniform(0.8, 3))
    if case.graph.n_nodes > 10 * SMALL:  # to save time
        wishes["budget"] = min(wishes["budget"], 200)
    wishes |= {name: make() for name, make in makers.items() if rng.random() < 0.06}


def some_nodes(n: int, rng: np.random.Generator) -> Nodes | None:
    """A node table with no, one, several or degenerate taxonomies."""
    way = str(
        rng.choice(("none", "names", "one", "several", "degenerate"), p=(0.1, 0.1, 0.4, 0.3, 0.1))
    )
    if way == "none":
        return None
    at = np.arange(n)
    made = {
        "third": tuple(f"T{v % 3}" for v in at),
        "fine": tuple(f"F{v % 17}" for v in at),
        "blocks": tuple(f"B{v * 6 // max(n, 1)}" for v in at),
    }
    if way == "names":
        made = {}
    elif way == "one":
        made = {"third": made["third"]}
    elif way == "degenerate":
        made = {"whole": ("W",) * n, "own": tuple(f"O{v}" for v in at)}
    return Nodes(tuple(f"n{v}" for v in at), regions=made)


def some_terms(
    n: int, m: int, nodes: Nodes | None, background: list[Graph] | None, rng: np.random.Generator
) -> dict[str, Any]:
    """Random constraints."""
    makers: dict[str, Callable[[], Any]] = {
        "only": lambda: str(rng.choice(("add", "remove"))),
        "max_edits": lambda: int(rng.integers(1, max(m, 2))),
        "keep_density": lambda: float(rng.uniform(0, 40)),
        "min_degree": lambda: int(rng.integers(0, 3)),
        "max_degree": lambda: int(rng.integers(5, 60)),
        "predicate": lambda: lambda g: g.n_edges % 7 != 3,
    }
    if n > 3:
        makers["freeze"] = lambda: [int(v) for v in rng.integers(n, size=2)]
        if nodes is not None and "third" in nodes.regions:
            makers["freeze"] = lambda: [str(rng.choice(("T0", "T1 x T2", "T2 x T2", "n1")))]
    if background:
        makers["allow_seen"] = lambda: float(rng.uniform(0, 30))
    if 3 < n <= SMALL:
        upper = np.triu(rng.random((n, n)) < 0.6, 1)
        makers["allowed"] = lambda: upper | upper.T
        makers["keep_connected"] = lambda: True
    chosen = [name for name in makers if rng.random() < 0.2] or [str(rng.choice(list(makers)))]
    return {name: makers[name]() for name in chosen}


def some_wishes(name: Callable[[int], Any], own: Any, rng: np.random.Generator) -> dict[str, Any]:
    """Random options besides constraints, most often none."""
    makers: dict[str, Callable[[], Any]] = {
        "target": lambda: name(int(own == name(0))),
        "robust": lambda: 0.9,
        "n": lambda: 2,
        "front": lambda: True,
        "in_range": lambda: str(rng.choice(("require", "ignore", "prefer"))),
        "balance": lambda: str(rng.choice(("on", "off", "auto"))),
        "language": lambda: str(rng.choice(("auto", "regions", "nodes", "pairs"))),
        "time_limit": lambda: 5.0,
        "plausible": lambda: True,
        "max_cells": lambda: int(rng.integers(1, 4)),
    }
    chosen = [one for one in makers if rng.random() < 0.06]
    wishes = {one: makers[one]() for one in chosen}
    wishes["budget"] = int(rng.choice((20, 300, 1500)))
    return wishes


# ---- plain definitions ------------------------------------------------------------------------


def broken(case: Case, after: Edges) -> str | None:
    """The constraint that an answer breaks, by its plain meaning."""
    given, before, n = case.given, edges_of(case.graph), max(case.graph.n_nodes, 1)
    changed = np.setxor1d(before, after)
    if not len(changed):
        return None
    u, v = np.divmod(changed, n)
    there = np.isin(changed, before)
    if "only" in given and np.any(there != (given["only"] == "remove")):
        return "only"
    for item in given.get("freeze", ()):
        if isinstance(item, int) or item == "n1":
            node = 1 if item == "n1" else item
            frozen = (u == node) | (v == node)
        else:
            third = np.array(case.nodes.regions["third"] if case.nodes else ())
            ends = item.split(" x ")
            if len(ends) == 1:
                frozen = (third[u] == item) | (third[v] == item)
            else:
                a, b = ends
                frozen = ((third[u] == a) & (third[v] == b)) | ((third[u] == b) & (third[v] == a))
        if frozen.any():
            return "freeze"
    if "allowed" in given and not given["allowed"][u, v].all():
        return "allowed"
    if "allow_seen" in given:
        graphs = case.background or []
        seen = sum(np.isin(changed, edges_of(g)).astype(int) for g in graphs)
        if np.any(100 * seen < given["allow_seen"] * len(graphs) - 1e-6):
            return "allow_seen"
    if len(changed) > given.get("max_edits", len(changed)):
        return "max_edits"
    m = len(before)
    if "keep_density" in given and abs(len(after) - m) > given["keep_density"] / 100 * m + 1e-6:
        return "keep_density"
    degrees = np.bincount(np.concatenate(np.divmod(after, n)), minlength=n)
    touched = degrees[np.unique(np.concatenate((u, v)))]
    if touched.min() < given.get("min_degree", 0) or touched.max() > given.get("max_degree", n):
        return "degree"
    if "predicate" in given and len(after) % 7 == 3:
        return "predicate"
    if given.get("keep_connected") and pieces(after, n) > pieces(before, n):
        return "keep_connected"
    return None


def pieces(edges: Edges, n: int) -> int:
    """Number of connected components."""
    parent = list(range(n))

    def root(v: int) -> int:
        while parent[v] != v:
            v = parent[v]
        return v

    for u, v in zip(*(ends.tolist() for ends in np.divmod(edges, n)), strict=True):
        parent[root(u)] = root(v)
    return sum(parent[v] == v for v in range(len(parent)))


def in_place(edges: Edges, place: tuple[str, ...], case: Case, region: Any) -> Any:
    """Which pairs lie in a place, given by the names of two regions, one, or a node."""
    u, v = np.divmod(edges, max(case.graph.n_nodes, 1))
    if region is None:
        node = int(place[0].removeprefix("node ").removeprefix("n"))
        return (u == node) | (v == node)
    a, b = place[0], place[-1]
    x, y = region[u], region[v]
    if b == ALL:
        return (x == a) | (y == a)
    return ((x == a) & (y == b)) | ((x == b) & (y == a))


# ---- checks -----------------------------------------------------------------------------------


def run(case: Case) -> Counter[str]:
    """Explain and check a case; what happened, counted. An `AssertionError` is a wrong answer."""
    counts: Counter[str] = Counter()
    try:
        result = case.explain()
    except DenseflipError as error:
        return Counter({"refused": 1, f"refused: {str(error)[:40]}": 1})
    counts[str(result.status.value)] += 1
    check_queries(case, result)
    counts += check_robustness(case, result)
    counts += check_information(case, 2 + len(result.front) + len(result.diverse))
    check_result(case, result)
    counts += check_refits(case, result)
    for other in (*result.front, *result.diverse):
        check_result(case, other)
        counts["other answers"] += 1
    small = case.graph.n_nodes <= SMALL
    if result.found and case.box.kind != "noisy":
        counts += check_sentence(case, result)
    repeated = small or case.seed % 16 == 0
    if repeated and case.box.kind != "noisy" and "time_limit" not in case.wishes:
        again = case.explain()
        assert again.counterfactual == result.counterfactual, "same seed"
        assert (again.calls, again.notes) == (result.calls, result.notes), "same seed"
        counts["again"] += 1
    if small and case.seed % 3 == 0:
        counts += check_renumbered(case, result)
    return counts


def check_result(case: Case, result: Counterfactual) -> None:
    """Label, edits, constraints, trace and saved form of one answer."""
    before, after = edges_of(result.original), edges_of(result.counterfactual)
    n = case.graph.n_nodes
    assert np.array_equal(before, edges_of(case.graph)), "another original"
    assert np.array_equal(numbers(result.edits.added, n), np.setdiff1d(after, before)), "added"
    assert np.array_equal(numbers(result.edits.removed, n), np.setdiff1d(before, after)), "removed"
    if len(after):
        u, v = np.divmod(after, n)
        assert 0 <= u.min() <= v.max() < n, "no pair of nodes"
        assert (u < v).all(), "no simple graph"
        assert len(np.unique(after)) == len(after), "no simple graph"
    walked = before
    for step in result.trace:
        assert len(numbers(step.toggled, n)) == len(step.toggled), "a pair twice in a step"
        walked = np.setxor1d(walked, numbers(step.toggled, n))
    assert np.array_equal(walked, after), "the trace leads elsewhere"
    copy = Counterfactual.from_dict(json.loads(json.dumps(result.to_dict())))
    assert copy == result, "saved and read"
    if not result.found:
        return
    wrong = broken(case, after)
    assert wrong is None, f"breaks {wrong}"
    if case.box.kind == "noisy":
        return
    label = case.box.label(after)
    assert result.label_before == case.box.label(before), "label before"
    assert result.label_after == label, "label after"
    assert label != result.label_before, "no flip"
    target = case.wishes.get("target", label)
    assert label in (target if isinstance(target, list) else [target]), "another target"
    if isinstance(case.box, SureBox) and "confidence" in case.wishes:
        chance = case.box.chance(after)
        sure = chance if label == case.box.name(1) else 1 - chance
        assert sure >= case.wishes["confidence"] - 1e-9, f"a confidence of {sure}"
        assert result.confidence_after is not None, "no confidence"
        assert abs(result.confidence_after - sure) < 1e-9, "another confidence"


def check_queries(case: Case, result: Counterfactual) -> None:
    """The budget holds, and no more graphs were asked about than were counted."""
    assert result.calls <= case.wishes["budget"], f"{result.calls} queries"
    others = [edges_of(other.counterfactual).tobytes() for other in result.diverse]
    assert len(set(others)) == len(others), "the same answer twice"


def check_robustness(case: Case, result: Counterfactual) -> Counter[str]:
    """New perturbations of an answer that is said to survive 9 of 10."""
    said, n = result.robustness, case.graph.n_nodes
    if said is None or not said.reached or said.draws < 100 or not result.found or n > 500:
        return Counter()
    if case.given or case.box.kind == "noisy":
        return Counter()
    rng, after = np.random.default_rng(case.seed + 2), edges_of(result.counterfactual)
    pairs = np.stack(np.triu_indices(n, 1), axis=1) @ [n, 1]
    flipped = max(1, round(case.wishes.get("noise", 0.01) * len(pairs)))
    target = case.wishes.get("target")
    kept = 0
    for _ in range(40):
        label = case.box.label(np.setxor1d(after, rng.choice(pairs, flipped, replace=False)))
        wanted = target if isinstance(target, list) else [target]
        kept += label != result.label_before if target is None else label in wanted
    # With a true share of .82, 21 or fewer of 40 have a chance of 1 in 100,000.
    assert kept >= 22, f"only {kept} of 40 perturbations keep the label"
    return Counter({"robust": 1})


def check_information(case: Case, reported: int) -> Counter[str]:
    """What was asked of the oracle, against what a search may use and what a result reports."""
    if not isinstance(case.box, SureBox):
        return Counter()
    asked, allowed = case.box.asked, case.wishes.get("information", "auto")
    if allowed == "labels" and "confidence" not in case.wishes:
        assert asked["probabilities"] <= reported, "probabilities were used"
    if allowed in ("labels", "probabilities"):
        assert not asked["gradients"], "gradients were used"
    return Counter({f"asked for {what}": 1 for what, times in asked.items() if times})


def check_refits(case: Case, result: Counterfactual) -> Counter[str]:
    """Which refits were tested: every second one if the search used the others."""
    seen = result.stability
    if seen is None or not case.refits:
        return Counter()
    tested = case.refits[1::2] if "stable" in case.wishes else case.refits
    before = edges_of(case.graph)
    agreeing = sum(refit.label(before) == result.label_before for refit in tested)
    assert (seen.refits, seen.agreeing) == (len(tested), agreeing), "refits"
    wanted = case.wishes.get("stable")
    if wanted is not None and seen.reached:
        assert seen.share is not None, "reached without a share"
        assert seen.share >= wanted - 1e-9, f"a share of {seen.share} is not {wanted}"
    return Counter({"stability": 1})


ALL = "all regions"
_NAME = r"\w+(?: [A-Z]\d+)*"  # a region, or a region of two crossed taxonomies ("T1 F12")
_PLACE = re.compile(
    rf"(?:between (?P<a>{_NAME}) and (?P<b>all regions|{_NAME})"
    rf"|(?:within|of|at) (?:node )?(?P<c>{_NAME}))"
    r"(?: changed to [^()]*)? \((?:[^()→]*: )?(?P<before>[\d,]+) → (?P<after>[\d,]+)"
)


def check_sentence(case: Case, result: Counterfactual) -> Counter[str]:
    """Numbers in the sentence, redraws of what it says, and the range of real graphs."""
    counts: Counter[str] = Counter()
    story = describe(
        result,
        case.nodes,
        case.box,
        background=case.background or None,
        constraints=case.given or None,
    )
    before, n = edges_of(case.graph), case.graph.n_nodes
    told = numbers((*story.named_edits.added, *story.named_edits.removed), n)
    named = np.setxor1d(before, told)
    assert case.box.label(named) != result.label_before, "the sentence does not flip"
    copy = Story.from_dict(json.loads(json.dumps(story.to_dict())))
    assert str(copy) == str(story), "story saved and read"
    claim = story.claim
    wanted = case.wishes.get("language", "auto")
    if result.as_read is not None and wanted != "auto":  # at worst pair by pair, which a note says
        assert claim.language in (wanted, "pairs"), f"told in {claim.language}"
    if claim.language == "pairs":
        return counts
    if story.as_read is not None and story.as_read.true and not story.as_read.only:
        assert len(claim.amounts) <= case.wishes.get("max_cells", 8), "too many places"
    region = None
    if claim.regions is not None and case.nodes is not None:
        columns = [case.nodes.regions[one] for one in claim.regions.name.split("*")]
        region = np.array([" ".join(words) for words in zip(*columns, strict=True)])
        told_by = claim.regions.name
        said = any(f"Described by '{told_by}'" in note for note in result.notes)
        assert said or told_by == case.wishes.get("regions", told_by), f"told by {told_by}"
    text = str(story).split("\n\n[")[0]
    found = list(_PLACE.finditer(text))
    assert found or len(claim.amounts) > 5 or "pair" in text or "(" not in text, text
    for match in found:
        place = (match["c"],) if match["c"] else (match["a"], match["b"])
        now, then = (
            np.count_nonzero(in_place(some, place, case, region)) for some in (before, named)
        )
        said = tuple(int(match[side].replace(",", "")) for side in ("before", "after"))
        assert said == (now, then), f"{match[0]}: counted {now} → {then}"
        counts["numbers"] += 1
    if story.as_read is not None and story.as_read.true:
        counts += check_redraws(case, result, claim, region)
    if claim.balanced:
        assert len(named) == len(before), f"balanced, but {len(before)} → {len(named)} edges"
        counts["balanced"] += 1
    check_range(case, story, claim, region, named)
    counts["in range"] += bool(story.reference) and all(one.in_range for one in story.reference)
    if case.wishes.get("in_range") == "require":
        assert all(one.in_range for one in story.reference), "out of range, though required"
    return counts


def check_redraws(case: Case, result: Counterfactual, claim: Any, region: Any) -> Counter[str]:
    """Draw other connections in the same places by rejection, and ask the oracle."""
    n, rng = case.graph.n_nodes, np.random.default_rng(case.seed + 1)
    before = edges_of(case.graph)
    if case.given or (region is None and len(claim.amounts) > 1):
        return Counter()
    pools = [pools_of(case, result, claim, place, region) for place in claim.place_names]
    flips = 0
    for _ in range(REDRAWS):
        parts = []
        for amount, place, (adding, removing) in zip(
            claim.amounts, claim.place_names, pools, strict=True
        ):
            parts.append(some_of(removing, amount.removed, rng))
            if adding is not None:
                parts.append(some_of(adding, amount.added, rng))
                continue
            one, other = np.array([amount.place[0]]), np.arange(n)
            if region is not None:
                one, other = (
                    np.arange(n) if name == ALL else np.flatnonzero(region == name)
                    for name in (place[0], place[-1])
                )
            new = np.empty(0, dtype=np.int64)
            while len(new) < amount.added:
                u, v = (
                    rng.choice(one, 2 * amount.added + 9),
                    rng.choice(other, 2 * amount.added + 9),
                )
                if region is not None and place[-1] == ALL:  # pairs within are drawn both ways
                    kept = (region[v] != place[0]) | (u < v)
                    u, v = u[kept], v[kept]
                low, high = np.minimum(u, v), np.maximum(u, v)
                drawn = np.setdiff1d((low * n + high)[low < high], before)
                new = np.union1d(new, drawn)
            parts.append(rng.permutation(new)[: amount.added])
        changed = np.concatenate(parts)
        if claim.balanced:
            lost = np.count_nonzero(np.isin(changed, before))
            net = len(changed) - 2 * lost
            changed = np.concatenate((changed, elsewhere(case, result, claim, region, net, rng)))
        flips += case.box.label(np.setxor1d(before, changed)) == claim.label
    # Nine of ten redraws flip; 11 or fewer of 20 would then be a chance below 1 in 10,000.
    assert flips >= 12, f"only {flips} of {REDRAWS} redraws flip"
    return Counter({"redraws": REDRAWS, f"redraws of {claim.reading}": 1})


Pool = tuple[Edges, Any]  # pairs, and their weights in a draw


def pools_of(
    case: Case, result: Counterfactual, claim: Any, place: tuple[str, ...], region: Any
) -> tuple[Pool | None, Pool]:
    """The pairs of a place that a sentence may add, None for any, and those that it may remove."""
    before = edges_of(case.graph)
    here = before[in_place(before, place, case, region)]
    if claim.reading == "any":
        return None, (here, np.ones(len(here)))
    groups = {
        label: [e for e in map(edges_of, case.background or ()) if case.box.label(e) == label]
        for label in (claim.label, result.label_before)
    }

    def share(edges: Edges, label: Any) -> Any:
        group = groups[label]
        return sum(np.isin(edges, e).astype(float) for e in group) / max(len(group), 1)

    def weights(edges: Edges, sign: int) -> Any:
        if claim.reading == "typical":
            has = share(edges, claim.label)
            return has if sign > 0 else 1 - has
        return np.maximum(
            sign * (share(edges, claim.label) - share(edges, result.label_before)), 0.0
        )

    seen = np.setdiff1d(np.unique(np.concatenate(groups[claim.label])), before)
    seen = seen[in_place(seen, place, case, region)]
    return (seen, weights(seen, 1)), (here, weights(here, -1))


def some_of(pool: Pool, wanted: int, rng: np.random.Generator) -> Edges:
    """Some pairs of a pool, each the sooner the more it weighs."""
    edges, weights = pool[0][pool[1] > 0], pool[1][pool[1] > 0]
    assert len(edges) >= wanted, "more pairs than there are"
    return edges[np.argsort(rng.exponential(size=len(edges)) / weights)[:wanted]]


def elsewhere(
    case: Case, result: Counterfactual, claim: Any, region: Any, net: int, rng: Any
) -> Edges:
    """Pairs outside the places that keep the number of edges, by how often graphs have them."""
    before = edges_of(case.graph)
    both = (result.label_before, claim.label)
    graphs = [e for e in map(edges_of, case.background or ()) if case.box.label(e) in both]
    seen, counts = np.unique(np.concatenate(graphs), return_counts=True)
    if net > 0:
        pool = before
        weights = len(graphs) + 1 - sum(np.isin(pool, e).astype(float) for e in graphs)
    else:
        new = ~np.isin(seen, before)
        pool, weights = seen[new], counts[new].astype(float)
    outside = np.ones(len(pool), dtype=bool)
    for place in claim.place_names:
        outside &= ~in_place(pool, place, case, region)
    pool, weights = pool[outside], weights[outside]
    waits = rng.exponential(size=len(pool)) / weights
    return pool[np.argsort(waits)[: abs(net)]]


def check_range(case: Case, story: Any, claim: Any, region: Any, named: Any) -> None:
    """What real graphs have in each place, counted anew."""
    graphs = [edges_of(g) for g in case.background or ()]
    group = [g for g in graphs if case.box.label(g) == claim.label]
    before = edges_of(case.graph)

    def count(edges: Edges, place: tuple[str, ...]) -> int:
        return int(np.count_nonzero(in_place(edges, place, case, region)))

    for one in story.reference or ():
        have = sorted(count(g, one.place) for g in group)
        assert list(one.group) == have, f"{one.place}: real graphs have {have}"
        now, then = count(before, one.place), count(named, one.place)
        assert (one.before, one.after) == (now, then), f"{one.place}: {now} → {then}"
        if 3 <= len(have) < 40:
            x, k = np.array(have, float), len(have)
            half = student.ppf(0.975, k - 1) * max(x.std(ddof=1), 0.5) * np.sqrt(1 + 1 / k)
            low = max(0, int(np.ceil(x.mean() - half - 1e-9)))
            high = max(low, min(one.size, int(np.floor(x.mean() + half + 1e-9))))
            assert (one.low, one.high) == (low, high), f"{one.place}: {low} to {high}"
            if one.in_range:
                towards = low <= then <= high or now <= then < low or high < then <= now
                assert towards, f"{one.place} is not in range"


def check_renumbered(case: Case, result: Counterfactual) -> Counter[str]:
    """The same case with other node numbers: a valid answer, and the same label before."""
    n = case.graph.n_nodes
    if case.nodes is None or case.box.kind == "noisy":
        return Counter()
    if case.refits or {"confidence", "information"} & set(case.wishes):
        return Counter()
    new = np.random.default_rng(case.seed).permutation(n)
    old = np.argsort(new)

    def moved(graph: Graph) -> Graph:
        return Graph.from_edges(n, np.sort(new[graph.pairs], axis=1))

    class Moved:
        classes = getattr(case.box, "classes", None)

        def predict(self, graphs: Sequence[Graph]) -> list[Any]:
            return [case.box.label(numbers(old[g.pairs], n)) for g in graphs]

    names = case.nodes.names
    nodes = Nodes(
        tuple(names[v] for v in old),
        regions={k: tuple(of[v] for v in old) for k, of in case.nodes.regions.items()},
    )
    given = dict(case.given)
    if "freeze" in given:
        given["freeze"] = [int(new[x]) if isinstance(x, int) else x for x in given["freeze"]]
    if "allowed" in given:
        given["allowed"] = given["allowed"][np.ix_(old, old)]
    graphs = None if case.background is None else [moved(g) for g in case.background]
    other = explain(
        moved(case.graph),
        Moved(),
        nodes=nodes,
        background=graphs,
        constraints=given or None,
        seed=case.seed % 1000,
        **case.wishes,
    )
    assert other.label_before == result.label_before, "renumbered: label before"
    if other.found:
        back = numbers(old[other.counterfactual.pairs], n)
        assert broken(case, back) is None, "renumbered: breaks a constraint"
        assert case.box.label(back) == other.label_after, "renumbered: label"
    return Counter({"renumbered": 1})


# ---- runs -------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the cases of a shard; the exit code is 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of a case")
    parser.add_argument("--to", type=int, default=3000, help="the case after the last one")
    parser.add_argument("--most-nodes", type=int, default=MOST_NODES)
    parser.add_argument("--up-to", type=int, default=MOST_NODES, help="leave larger cases out")
    parser.add_argument("--log", type=Path, help="one line per case; cases in it are not run again")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    given = parser.parse_args(arguments)
    done: dict[int, dict[str, Any]] = {}
    if given.log is not None and given.log.exists():
        rows = map(json.loads, given.log.read_text().splitlines())
        done = {row["seed"]: row for row in rows}
    total: Counter[str] = Counter()
    sizes: dict[str, Counter[int]] = {kind: Counter() for kind in ORACLES}
    wrong, begun = 0, time.monotonic()
    for seed in range(given.first, given.to):
        if time.monotonic() - begun > given.seconds:
            break
        row = done.get(seed)
        if row is None and begin_case(seed, given.most_nodes)[2] > given.up_to:
            continue
        if row is None:
            row = run_seed(seed, given.most_nodes)
            if given.log is not None:
                with given.log.open("a") as log:
                    log.write(json.dumps(row) + "\n")
        if row["wrong"]:
            wrong += 1
            print(f"seed {seed} ({row['what']}): {row['wrong']}", flush=True)
        total.update(row["counts"])
        total["cases"] += 1
        sizes[row["kind"]][len(str(row["nodes"]))] += 1
    print(", ".join(f"{name} {number:,}" for name, number in sorted(total.items())))
    print("nodes", "0-9", "10-99", "100-999", "1000-9999", "10000-", sep="\t")
    for kind, counts in sizes.items():
        print(kind, *(counts[digits] for digits in range(1, 6)), sep="\t")
    print(f"{wrong} wrong of {total['cases']:,} cases")
    return int(wrong > 0)


def run_seed(seed: int, most_nodes: int = MOST_NODES) -> dict[str, Any]:
    """One case as a line of the log."""
    case = make_case(seed, most_nodes)
    kind, n = case.box.kind, case.graph.n_nodes
    what = f"{kind}, {n:,} nodes, {case.graph.n_edges:,} edges"
    start, wrong, counts = time.process_time(), "", Counter[str]()
    try:
        counts = run(case)
    except AssertionError as error:
        wrong = f"wrong: {error}"
    except Exception as error:  # whatever is raised is a finding
        last = traceback.extract_tb(error.__traceback__)[-1]
        wrong = f"{type(error).__name__}: {error} ({Path(last.filename).name}:{last.lineno})"
    seconds = round(time.process_time() - start, 2)
    row = {"seed": seed, "what": what, "kind": kind, "nodes": n}
    return {**row, "wrong": wrong, "seconds": seconds, "counts": counts}


if __name__ == "__main__":
    sys.exit(main())
