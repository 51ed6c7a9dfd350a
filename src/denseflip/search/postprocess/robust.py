"""Robust answers: a flip that survives noise.

From a plain counterfactual the search walks on, past the boundary, until enough random
perturbations of the graph keep the label; then it takes back what is not needed for that. Each
look is a sequential test, which ends as soon as its outcome is certain; what the result says of its
level comes from fresh perturbations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from math import floor
from typing import Any

import numpy as np

from denseflip.errors import counted
from denseflip.graph import Codes, Graph
from denseflip.graph.cells import Cells
from denseflip.graph.node_order import pair_places
from denseflip.graph.pairs import are_among, random_codes
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.result_scores import Robustness
from denseflip.search.core.method import Method, Stream
from denseflip.search.core.probing import boundary
from denseflip.search.core.problem import Problem, StopSearch
from denseflip.search.core.refinement import Candidate
from denseflip.search.methods.contrast import helpful_changes

DRAWS = 100  # perturbations that the level in the result is of
LOOK = 32  # perturbations of one look during the search
BATCH = 8  # of these are asked about together
STRETCHES = 16  # how fine the stretches of edits are that are taken back at last
MEASURES = 3  # levels measured at most: repeating that until one will do would be no test
_MOST_NODES = 4096  # beyond so many, cells are not listed
MOST_STEPS = 4096  # a method's own steps that are followed past its flip


@dataclass(frozen=True)
class Noise:
    """What a robust answer has to survive.

    Parameters
    ----------
    level : the share of perturbations that it must survive, above 0 and at most 1.
    noise : the share of all pairs that each of them flips, above 0 and at most 0.5.
    """

    level: float
    noise: float


class PerturbationTest:
    """Shakes graphs, and asks whether they are counterfactuals still.

    Parameters
    ----------
    problem, session : what is explained, and the door to the oracle.
    wanted : what an answer has to survive.
    rng : where the perturbations come from.
    """

    def __init__(
        self, problem: Problem, session: BaseSession, wanted: Noise, rng: np.random.Generator
    ) -> None:
        # A perturbed graph is not an answer, so the constraints do not apply to it.
        self.problem, self.session = problem, session.without_constraints()
        self.wanted, self.rng = wanted, rng
        self.n_pairs = max(1, round(wanted.noise * problem.graph.n_pairs))
        # A look asks for more than the level, lest the search stop at what was lucky.
        self.failures = floor((1 - wanted.level) * LOOK / 2)

    def look(self, graph: Graph) -> tuple[bool, Robustness]:
        """Whether the flip seems to survive often enough, asked until that is certain; and what
        was seen by then.
        """
        kept = lost = 0
        while lost <= self.failures and kept + self.failures < LOOK:
            yes = self._ask(graph, BATCH)
            kept, lost = kept + yes, lost + BATCH - yes
        return lost <= self.failures, self._seen(kept + lost, kept)

    def measure(self, graph: Graph) -> Robustness:
        """The level that is reached, by perturbations of its own."""
        kept = sum(self._ask(graph, DRAWS // 4) for _ in range(4))
        return self._seen(DRAWS, kept)

    @property
    def unknown(self) -> Robustness:
        """What to say where there was no perturbation."""
        return self._seen(0, 0)

    def _seen(self, draws: int, kept: int) -> Robustness:
        return Robustness(self.wanted.level, self.wanted.noise, draws, kept)

    def _ask(self, graph: Graph, n: int) -> int:
        n_nodes = graph.n_nodes
        shaken = [
            graph.toggle_codes(random_codes(n_nodes, self.n_pairs, self.rng)) for _ in range(n)
        ]
        answers = self.session.query_all(shaken)
        return sum(self.problem.accepts(answer.label) for answer in answers)


def make_robust(
    candidate: Candidate,
    method: Method,
    wanted: Noise,
    seed: int,
    came_from: Graph,
    regions: str | None = None,
) -> Robustness:
    """Take a counterfactual past the boundary until it is robust, and back as far as it stays so.

    Parameters
    ----------
    candidate : the plain counterfactual; moved to the robust one.
    method : the method that found it.
    wanted : what it has to survive.
    seed : the seed of the search.
    came_from : where the method ended, before anything was refined.
    regions : the taxonomy that the answer is told in, if its search saw to that: then more of the
        same is tried first, so that the sentence stays as short.

    Returns
    -------
    Robustness
        The level that was reached, and measured on fresh perturbations. If that is less than what
        was asked for, the candidate is at the best that was found and the problem's notes say why.
    """
    if candidate.problem.graph.n_pairs < 1:
        return Robustness(wanted.level, wanted.noise, 0, 0)
    search = _Search(candidate, wanted, np.random.default_rng((seed, 2)))
    try:
        search.run(_ways_on(candidate, method, seed, came_from, regions))
    except BudgetSpentError:
        search.spent = True
    search.settle()
    return search.seen


class _Search:
    """One search for a robust answer: what passed, and the best that was measured."""

    def __init__(self, candidate: Candidate, wanted: Noise, rng: np.random.Generator) -> None:
        self.candidate, self.problem, self.session = (
            candidate,
            candidate.problem,
            candidate.session,
        )
        self.wanted = wanted
        self.shaker = PerturbationTest(self.problem, self.session, wanted, rng)
        self.seen = Robustness(wanted.level, wanted.noise, 0, 0)
        self.best = candidate.graph
        self.spent = False
        self.why = ""
        self.measured: set[int] = set()
        self.labels: dict[int, Any] = {candidate.graph.key: candidate.label}

    def run(self, ways: Iterable[Way | str]) -> None:
        """Walk on, come back, measure; by the first of the ways that will do."""
        start = self.best
        lasts, self.seen = self.shaker.look(start)
        if lasts and self._measured(start):
            return
        for way in ways:
            if isinstance(way, str):
                self.why = way
            elif self._walk_on(start, way):
                self.why = ""
                return
        looked = self.seen.draws < DRAWS  # what a look saw decided the search: it is no level
        if start.key not in self.measured and (looked or not self.seen.reached):
            self._measured(start)

    def _walk_on(self, start: Graph, way: Way) -> bool:
        """Follow a way until it leads to a robust answer; whether it did."""
        k, low = self._gallop(way, max(1, len(self.candidate.pairs) // 10), 0)
        measures = 0
        while k is not None and measures < MEASURES:
            k = boundary(low, k, lambda k: self.enough(way.at(k)))
            grown = way.at(k)
            for graph in (self._thinned(grown), grown):
                measures += 1
                if self._measured(graph):
                    return True
                if measures == MEASURES:
                    break
            if measures == MEASURES:
                break
            k, low = self._gallop(way, k + max(1, k // 2), k)
        last = way.at(way.n)
        if k is None and last.key in self.labels and self._measured(last):
            return True
        if self.seen.draws == DRAWS and self.seen.reached:
            return True
        self.why = (
            f"{way.words}, followed to its end ({counted(way.n, 'step', 'steps')}), leads to no "
            "graph that survives enough"
            if k is None
            else f"{way.words} leads to graphs that survive a look and not the measurement"
        )
        return False

    def _gallop(self, way: Way, first: int, low: int) -> tuple[int | None, int]:
        """A step that is enough, found by doubling, and one before it that is not."""
        k = min(first, way.n)
        while k > low:
            if self.enough(way.at(k)):
                return k, low
            if k == way.n:
                break
            low, k = k, min(2 * k, way.n)
        return None, low

    def enough(self, graph: Graph) -> bool:
        """Whether a graph is allowed, flips, and lasts."""
        terms = self.problem.terms
        if terms is not None and (terms.too_large(graph) or terms.forbids(graph)):
            return False
        label = self.session.query(graph).label
        if not self.problem.accepts(label):
            return False
        self.labels[graph.key] = label
        lasts, seen = self.shaker.look(graph)
        if lasts and self.seen.draws < DRAWS:  # in case the budget ends before a level is measured
            self.best, self.seen = graph, seen
        return lasts

    def _thinned(self, graph: Graph) -> Graph:
        """Take back stretches of edits, the least helpful first, while what is left lasts."""
        original, n = self.problem.graph, self.problem.graph.n_nodes
        pairs = self._ordered(graph)
        kept = [u * n + v for u, v in pairs]
        size = max(len(kept) // 2, 1)
        while True:
            start = 0
            while start < len(kept) and self.session.remaining > DRAWS + LOOK:
                rest = kept[:start] + kept[start + size :]
                changed = np.array(sorted(rest), dtype=np.int64)
                if rest and self.enough(original.toggle_codes(changed)):
                    kept = rest
                else:
                    start += size
            if size <= max(len(pairs) // STRETCHES, 1):
                break
            size = max(size // 2, 1)
        return original.toggle_codes(np.array(sorted(kept), dtype=np.int64))

    def _ordered(self, graph: Graph) -> list[tuple[int, int]]:
        other = Candidate(self.problem, self.problem.end(graph, self._label(graph)), self.session)
        return other.ordered()

    def _label(self, graph: Graph) -> Any:
        return self.labels[graph.key]

    def _measured(self, graph: Graph) -> bool:
        """Measure the level of a graph, keep it if it is the best; whether it will do.

        It has to be above the level by a third of what is left: of several that are measured the
        one that passes would else be the one that was lucky.
        """
        seen = self.shaker.measure(graph)
        self.measured.add(graph.key)
        best = self.seen
        if best.draws < DRAWS or self._worth(seen, graph) > self._worth(best, self.best):
            self.best, self.seen = graph, seen
        level = self.wanted.level
        return seen.flips >= (level + (1 - level) / 3) * seen.draws - 1e-9

    def _worth(self, seen: Robustness, graph: Graph) -> tuple[bool, float, int]:
        """What makes an answer better: the level reached; how much it survives; fewer edits."""
        return (seen.reached, seen.share or 0.0, -len(graph.difference(self.problem.graph)))

    def settle(self) -> None:
        """Move the candidate to the best, and say what was not reached and why."""
        seen = self.seen = replace(self.seen, wanted=self.wanted.level)
        if self.best.key in self.labels:
            self.candidate.move(self.best, self._label(self.best), "robust")
        problem = self.problem
        if self.spent:
            problem.note("The budget was spent on the way to a robust answer.")
        if seen.draws and seen.draws < DRAWS:
            problem.note(
                f"The robustness is that of the last look, {seen.draws} perturbations, by which "
                "the search chose its answer; fresh ones may say less."
            )
        elif len(self.measured) > 1:
            problem.note(
                f"The robustness is that of the best of {len(self.measured)} answers that were "
                "measured; fresh perturbations of it may say a little less."
            )
        if not seen.reached:
            said = "was not measured" if seen.share is None else f"is {seen.share:.2f}"
            why = self.why or ("the budget ended" if self.spent else "the noise is too strong")
            problem.note(
                f"Out of reach: a share of {self.wanted.level:g} of perturbations was to be "
                f"survived; that of the best answer found {said}: {why}."
            )


# ---- ways on ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Way:
    """Graphs that lie further and further past the boundary.

    Attributes
    ----------
    n : how many there are.
    at : the k-th of them, from 1.
    words : what it follows.
    """

    n: int
    at: Callable[[int], Graph]
    words: str


def _ways_on(
    candidate: Candidate, method: Method, seed: int, came_from: Graph, regions: str | None
) -> Iterator[Way | str]:
    """Where to go from a counterfactual; or, in words, why there is no way."""
    problem = candidate.problem
    if regions is not None and len(more := _more_of_the_same(candidate, regions)):
        yield _along(candidate, more, "More of the same in the same places")
    background = problem.background
    if background is not None and len(background):
        try:
            order = helpful_changes(problem, "robust")
        except StopSearch:
            order = np.empty(0, dtype=np.int64)
        order = _permitted(candidate, order)
        if len(order):
            yield _along(candidate, order, "The list of what sets the classes apart")
            return
    search = method.search
    if search.kind == "conversation":
        yield (
            f"without background graphs of the target class the method {method.name!r} has no "
            "further steps; give a background"
        )
        return
    graphs = list(_own_steps(problem, search, seed, came_from))
    if not graphs:
        yield f"the method {method.name!r} has no further steps, and there is no background"
        return
    yield Way(len(graphs), lambda k: graphs[k - 1], f"The method {method.name!r}")


def _along(candidate: Candidate, order: Codes, words: str) -> Way:
    start = candidate.graph
    return Way(len(order), lambda k: start.toggle_codes(np.sort(order[:k])), words)


def _more_of_the_same(candidate: Candidate, regions: str) -> Codes:
    """Pairs of the cells that the answer changes, in the direction it changes most of each."""
    problem, n = candidate.problem, candidate.problem.graph.n_nodes
    if problem.nodes is None or n > _MOST_NODES:
        return np.empty(0, dtype=np.int64)
    cells = Cells(problem.nodes.taxonomy(regions))
    changed = candidate.graph.difference(problem.graph)
    sides = np.where(are_among(changed, problem.graph.codes), -1, 1)
    lean = np.bincount(cells.numbers(changed), sides, minlength=len(cells))
    u, v = np.triu_indices(n, 1)
    codes = (u * n + v).astype(np.int64)
    lean = lean[cells.numbers(codes)]
    joined = are_among(codes, problem.graph.codes)
    codes = codes[np.where(joined, lean < 0, lean > 0)]
    gains = np.zeros(len(codes))
    if (contrast := problem.known_contrast()) is not None:
        gains = np.where(are_among(codes, problem.graph.codes), 1, -1) * contrast.at(codes)
    return _permitted(candidate, codes[np.lexsort((pair_places(codes, problem.places), -gains))])


def _permitted(candidate: Candidate, order: Codes) -> Codes:
    """What of an order may still be changed: by the terms, and not changed before."""
    problem, start = candidate.problem, candidate.graph
    changed = start.difference(problem.graph)
    order = problem.free(order)
    order = order[~are_among(order, np.sort(changed))] if len(order) else order
    terms = problem.terms
    if terms is None:
        return order
    if terms.constraints.max_cells is not None and len(order):
        inside = np.isin(terms.cells.numbers(order), terms.cells.numbers(changed))
        order = order[inside]
    most = terms.constraints.max_edits
    return order if most is None else order[: max(most - len(changed), 0)]


def _own_steps(problem: Problem, search: Stream, seed: int, came_from: Graph) -> Iterator[Graph]:
    """The graphs that a blind search would have come to after its flip."""
    again = replace(problem, rng=np.random.default_rng(seed), notes=[], best=None)
    tip, n, there = problem.graph, problem.graph.n_nodes, False
    before = tip
    steps = 0
    try:
        for step in search(again):
            codes = np.array([u * n + v for u, v in step.toggled], dtype=np.int64)
            tip = tip.toggle_codes(np.sort(problem.free(codes)))
            if there and tip != before:
                yield tip
                steps += 1
            there = there or tip == came_from
            before = tip
            if steps >= MOST_STEPS:
                return
            problem.check_time()
    except StopSearch:
        return
