"""Robust answers: a flip that survives noise.

The search starts at a counterfactual and continues past the decision boundary until enough random
perturbations of the graph keep the label. Then it undoes the edits that are not needed for that.
Each quick test is sequential and ends as soon as its outcome is certain. The level in the result is
measured on fresh perturbations.
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
from denseflip.search.methods.baselines import helpful_changes

DRAWS = 100  # perturbations for the level in the result
QUICK_DRAWS = 32  # perturbations of one quick test during the search
BATCH = 8  # perturbations that are queried together
STRETCHES = 16  # the finest stretches of edits to undo are this part of all edits
MEASURES = 3  # levels measured at most: repeating until one passes would bias the test
_MOST_NODES = 4096  # in larger graphs cells are not listed
MOST_STEPS = 4096  # steps of the method that are followed past its flip


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
    """Perturbs graphs, and queries whether they are still counterfactuals.

    Parameters
    ----------
    problem, session : what is explained, and the session to query through.
    wanted : the noise that an answer has to survive.
    rng : the generator of the perturbations.
    """

    def __init__(
        self, problem: Problem, session: BaseSession, wanted: Noise, rng: np.random.Generator
    ) -> None:
        # A perturbed graph is not an answer, so the constraints do not apply to it.
        self.problem, self.session = problem, session.without_constraints()
        self.wanted, self.rng = wanted, rng
        self.n_pairs = max(1, round(wanted.noise * problem.graph.n_pairs))
        # A quick test is stricter than the level, so that the search does not stop by luck.
        self.failures = floor((1 - wanted.level) * QUICK_DRAWS / 2)

    def quick_test(self, graph: Graph) -> tuple[bool, Robustness]:
        """Whether the flip seems to survive often enough, and the counts so far.

        Ends as soon as the outcome is certain.
        """
        kept = lost = 0
        while lost <= self.failures and kept + self.failures < QUICK_DRAWS:
            survived = self._count_survivors(graph, BATCH)
            kept, lost = kept + survived, lost + BATCH - survived
        return lost <= self.failures, self._robustness(kept + lost, kept)

    def measure(self, graph: Graph) -> Robustness:
        """The level of a graph, measured on fresh perturbations."""
        kept = sum(self._count_survivors(graph, DRAWS // 4) for _ in range(4))
        return self._robustness(DRAWS, kept)

    @property
    def not_measured(self) -> Robustness:
        """The robustness without any perturbation."""
        return self._robustness(0, 0)

    def _robustness(self, draws: int, kept: int) -> Robustness:
        return Robustness(self.wanted.level, self.wanted.noise, draws, kept)

    def _count_survivors(self, graph: Graph, n: int) -> int:
        n_nodes = graph.n_nodes
        perturbed = [
            graph.toggle_codes(random_codes(n_nodes, self.n_pairs, self.rng)) for _ in range(n)
        ]
        answers = self.session.query_all(perturbed)
        return sum(self.problem.accepts(answer.label) for answer in answers)


def make_robust(
    candidate: Candidate,
    method: Method,
    wanted: Noise,
    seed: int,
    came_from: Graph,
    regions: str | None = None,
) -> Robustness:
    """Move a counterfactual past the boundary until it is robust, and back as far as it stays so.

    Parameters
    ----------
    candidate : the counterfactual; moved to the robust one.
    method : the method that found it.
    wanted : the noise that it has to survive.
    seed : the seed of the search.
    came_from : where the method ended, before any refinement.
    regions : the taxonomy that the answer is described in, if its search chose one: then more edits
        in the same places are tried first, so that the sentence stays as short.

    Returns
    -------
    Robustness
        The level, measured on fresh perturbations. If it is below the requested level, the
        candidate is the best answer found and the notes of the problem say why.
    """
    if candidate.problem.graph.n_pairs < 1:
        return Robustness(wanted.level, wanted.noise, 0, 0)
    search = _RobustSearch(candidate, wanted, np.random.default_rng((seed, 2)))
    try:
        search.run(_paths(candidate, method, seed, came_from, regions))
    except BudgetSpentError:
        search.spent = True
    search.finish()
    return search.robustness


class _RobustSearch:
    """One search for a robust answer.

    Attributes
    ----------
    best, robustness : the best graph so far, and its robustness.
    spent : whether the budget is spent.
    why : why the level was not reached.
    measured : keys of the graphs whose level was measured.
    labels : labels of the graphs that flipped, by key.
    """

    def __init__(self, candidate: Candidate, wanted: Noise, rng: np.random.Generator) -> None:
        self.candidate, self.wanted = candidate, wanted
        self.problem, self.session = candidate.problem, candidate.session
        self.test = PerturbationTest(self.problem, self.session, wanted, rng)
        self.robustness = Robustness(wanted.level, wanted.noise, 0, 0)
        self.best = candidate.graph
        self.spent = False
        self.why = ""
        self.measured: set[int] = set()
        self.labels: dict[int, Any] = {candidate.graph.key: candidate.label}

    def run(self, paths: Iterable[EditPath | str]) -> None:
        """Follow the paths, the first that leads to a robust answer, and measure its level."""
        start = self.best
        passed, self.robustness = self.test.quick_test(start)
        if passed and self._passes(start):
            return
        for path in paths:
            if isinstance(path, str):
                self.why = path
            elif self._follow(path):
                self.why = ""
                return
        quick = self.robustness.draws < DRAWS  # a quick test guided the search: it is no level
        if start.key not in self.measured and (quick or not self.robustness.reached):
            self._passes(start)

    def _follow(self, path: EditPath) -> bool:
        """Follow a path up to a robust answer; whether there is one."""
        k, low = self._gallop(path, max(1, len(self.candidate.pairs) // 10), 0)
        measures = 0
        while k is not None and measures < MEASURES:
            k = boundary(low, k, lambda k: self.enough(path.at(k)))
            grown = path.at(k)
            for graph in (self._thinned(grown), grown):
                measures += 1
                if self._passes(graph):
                    return True
                if measures == MEASURES:
                    break
            if measures == MEASURES:
                break
            k, low = self._gallop(path, k + max(1, k // 2), k)
        last = path.at(path.n)
        if k is None and last.key in self.labels and self._passes(last):
            return True
        if self.robustness.draws == DRAWS and self.robustness.reached:
            return True
        self.why = (
            f"{path.words}, followed to its end ({counted(path.n, 'step', 'steps')}), leads to no "
            "graph that survives often enough"
            if k is None
            else f"{path.words} leads to graphs that pass the quick test and fail the measurement"
        )
        return False

    def _gallop(self, path: EditPath, first: int, low: int) -> tuple[int | None, int]:
        """A step that is enough, found by doubling, and the last one before it that is not."""
        k = min(first, path.n)
        while k > low:
            if self.enough(path.at(k)):
                return k, low
            if k == path.n:
                break
            low, k = k, min(2 * k, path.n)
        return None, low

    def enough(self, graph: Graph) -> bool:
        """Whether a graph is allowed, flips, and passes the quick test."""
        bound = self.problem.constraints
        if bound is not None and (bound.too_large(graph) or bound.forbids(graph)):
            return False
        label = self.session.query(graph).label
        if not self.problem.accepts(label):
            return False
        self.labels[graph.key] = label
        passed, seen = self.test.quick_test(graph)
        if passed and self.robustness.draws < DRAWS:  # in case the budget ends before a measurement
            self.best, self.robustness = graph, seen
        return passed

    def _thinned(self, graph: Graph) -> Graph:
        """Undo stretches of edits, the least useful first, while the graph stays robust."""
        original, n = self.problem.graph, self.problem.graph.n_nodes
        walk = self.problem.end(graph, self.labels[graph.key])
        pairs = Candidate(self.problem, walk, self.session).ordered()
        kept = [u * n + v for u, v in pairs]
        size = max(len(kept) // 2, 1)
        while True:
            start = 0
            while start < len(kept) and self.session.remaining > DRAWS + QUICK_DRAWS:
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

    def _passes(self, graph: Graph) -> bool:
        """Measure the level of a graph, keep it if it is the best, and return whether it passes.

        It must exceed the level by a third of the distance to 1. Otherwise, of several graphs that
        are measured, the one that passes would be the lucky one.
        """
        seen = self.test.measure(graph)
        self.measured.add(graph.key)
        best = self.robustness
        if best.draws < DRAWS or self._quality(seen, graph) > self._quality(best, self.best):
            self.best, self.robustness = graph, seen
        level = self.wanted.level
        return seen.flips >= (level + (1 - level) / 3) * seen.draws - 1e-9

    def _quality(self, seen: Robustness, graph: Graph) -> tuple[bool, float, int]:
        """The sort key of answers: level reached; share that survives; fewer edits."""
        return (seen.reached, seen.share or 0.0, -len(graph.difference(self.problem.graph)))

    def finish(self) -> None:
        """Move the candidate to the best graph, and note what was not reached and why."""
        seen = self.robustness = replace(self.robustness, wanted=self.wanted.level)
        if self.best.key in self.labels:
            self.candidate.move(self.best, self.labels[self.best.key], "robust")
        problem = self.problem
        if self.spent:
            problem.note("The budget was spent before a robust answer was found.")
        if seen.draws and seen.draws < DRAWS:
            problem.note(
                f"The robustness was measured in the last quick test ({seen.draws} perturbations), "
                "which also selected the answer; on new perturbations it may be lower."
            )
        elif len(self.measured) > 1:
            problem.note(
                f"The robustness is that of the best of {len(self.measured)} answers that were "
                "measured; on new perturbations it may be slightly lower."
            )
        if not seen.reached:
            share = "was not measured" if seen.share is None else f"is {seen.share:.2f}"
            why = self.why or ("the budget was spent" if self.spent else "the noise is too strong")
            problem.note(
                f"Not reached: the flip was required to survive a share of {self.wanted.level:g} "
                f"of the perturbations; the share of the best answer found {share}: {why}."
            )


# ---- paths past the boundary --------------------------------------------------------------------


@dataclass(frozen=True)
class EditPath:
    """A sequence of graphs further and further past the decision boundary.

    Attributes
    ----------
    n : the number of graphs.
    at : returns the k-th graph, from 1.
    words : a description of the path.
    """

    n: int
    at: Callable[[int], Graph]
    words: str


def _paths(
    candidate: Candidate, method: Method, seed: int, came_from: Graph, regions: str | None
) -> Iterator[EditPath | str]:
    """Paths from a counterfactual past the boundary; or, in words, why there is none."""
    problem = candidate.problem
    if regions is not None and len(more := _more_of_the_same(candidate, regions)):
        yield _along(candidate, more, "More edits in the same places")
    background = problem.background
    if background is not None and len(background):
        try:
            order = helpful_changes(problem, "robust")
        except StopSearch:
            order = np.empty(0, dtype=np.int64)
        order = _allowed(candidate, order)
        if len(order):
            yield _along(candidate, order, "The list of differences between the classes")
            return
    search = method.search
    if search.kind == "conversation":
        yield (
            f"without background graphs of the target class the method {method.name!r} has no "
            "further steps; pass a background"
        )
        return
    graphs = list(_later_steps(problem, search, seed, came_from))
    if not graphs:
        yield f"the method {method.name!r} has no further steps, and there is no background"
        return
    yield EditPath(len(graphs), lambda k: graphs[k - 1], f"The method {method.name!r}")


def _along(candidate: Candidate, order: Codes, words: str) -> EditPath:
    start = candidate.graph
    return EditPath(len(order), lambda k: start.toggle_codes(np.sort(order[:k])), words)


def _more_of_the_same(candidate: Candidate, regions: str) -> Codes:
    """Pairs of the cells that the answer changes, in the main direction of change of each cell."""
    problem, n = candidate.problem, candidate.problem.graph.n_nodes
    if problem.nodes is None or n > _MOST_NODES:
        return np.empty(0, dtype=np.int64)
    cells = Cells(problem.nodes.taxonomy(regions))
    changed = candidate.graph.difference(problem.graph)
    signs = np.where(are_among(changed, problem.graph.codes), -1, 1)
    net = np.bincount(cells.numbers(changed), signs, minlength=len(cells))
    u, v = np.triu_indices(n, 1)
    codes = (u * n + v).astype(np.int64)
    net = net[cells.numbers(codes)]
    joined = are_among(codes, problem.graph.codes)
    codes = codes[np.where(joined, net < 0, net > 0)]
    gains = np.zeros(len(codes))
    if (contrast := problem.known_contrast()) is not None:
        gains = np.where(are_among(codes, problem.graph.codes), 1, -1) * contrast.at(codes)
    return _allowed(candidate, codes[np.lexsort((pair_places(codes, problem.places), -gains))])


def _allowed(candidate: Candidate, order: Codes) -> Codes:
    """The part of an order that may still be changed: allowed, and not changed before."""
    problem, start = candidate.problem, candidate.graph
    changed = start.difference(problem.graph)
    order = problem.free(order)
    order = order[~are_among(order, np.sort(changed))] if len(order) else order
    bound = problem.constraints
    if bound is None:
        return order
    if bound.constraints.max_cells is not None and len(order):
        inside = np.isin(bound.cells.numbers(order), bound.cells.numbers(changed))
        order = order[inside]
    most = bound.constraints.max_edits
    return order if most is None else order[: max(most - len(changed), 0)]


def _later_steps(problem: Problem, search: Stream, seed: int, came_from: Graph) -> Iterator[Graph]:
    """The graphs that a stream would have reached after its flip."""
    again = replace(problem, rng=np.random.default_rng(seed), notes=[], best=None)
    tip, n, reached = problem.graph, problem.graph.n_nodes, False
    before = tip
    steps = 0
    try:
        for step in search(again):
            codes = np.array([u * n + v for u, v in step.toggled], dtype=np.int64)
            tip = tip.toggle_codes(np.sort(problem.free(codes)))
            if reached and tip != before:
                yield tip
                steps += 1
            reached = reached or tip == came_from
            before = tip
            if steps >= MOST_STEPS:
                return
            problem.check_time()
    except StopSearch:
        return
