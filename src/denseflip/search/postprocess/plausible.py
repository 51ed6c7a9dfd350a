"""Plausible answers: counterfactuals that look like real graphs of their class.

An edit is plausible if many real graphs of the answer's class have that pair; among equals, if its
nodes have many common neighbours. As an objective, edits are exchanged for more plausible ones of
the same place while the flip holds: the number of edits and the sentence stay the same. As a bound,
the answer is moved towards the nearest real graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Step
from denseflip.errors import MissingInputError, shown
from denseflip.graph import Codes, Graph
from denseflip.graph.cells import Cells
from denseflip.graph.pairs import all_pairs, are_among
from denseflip.oracles.background import Background, Frequencies
from denseflip.oracles.base_session import BudgetSpentError
from denseflip.result_scores import Plausibility
from denseflip.search.core.probing import boundary
from denseflip.search.core.problem import Problem, Walk
from denseflip.search.core.refinement import Candidate

Floats = npt.NDArray[np.float64]
QUERIES = 64  # the largest number of queries for exchanges
_DENSE = 4096  # nodes up to which common neighbours are counted
_ROWS = 4096  # pairs that are counted at a time


class Realism:
    """What the real graphs of a class are like, by the background.

    Parameters
    ----------
    problem : what is explained.
    label : the class.
    """

    def __init__(self, problem: Problem, label: Any) -> None:
        self.problem = problem
        background = problem.background or Background(())
        labels = problem.background_labels if len(background) else ()
        self._chosen = [i for i, given in enumerate(labels) if given == label]
        self._background = background
        self.graphs = [
            g for g in (background.graphs[i] for i in self._chosen) if g != problem.graph
        ]

    @cached_property
    def _shares(self) -> Frequencies:
        return self._background.frequencies(self._chosen)

    @cached_property
    def usual(self) -> float | None:
        """The median distance of these graphs to the nearest other one."""
        if len(self.graphs) < 2:
            return None
        distances = np.array([[a.relative_distance(b) for b in self.graphs] for a in self.graphs])
        np.fill_diagonal(distances, np.inf)
        return float(np.median(distances.min(axis=1)))

    def nearest(self, graph: Graph) -> tuple[float, Graph] | None:
        """The distance to the nearest real graph, and that graph; None without any."""
        if not self.graphs:
            return None
        distances = [graph.relative_distance(other) for other in self.graphs]
        best = int(np.argmin(distances))
        return distances[best], self.graphs[best]

    def implausible(self, graph: Graph) -> float | None:
        """The distance to the nearest real graph, as a multiple of the usual distance."""
        near = self.nearest(graph)
        return None if near is None or not self.usual else near[0] / self.usual

    def shares(self, codes: Codes) -> Floats:
        """The share of the real graphs that have each pair; zeros without any."""
        return self._shares.at(codes) if self._chosen else np.zeros(len(codes), dtype=np.float64)

    @property
    def seen(self) -> Codes:
        """The pairs that at least one of the real graphs has."""
        return self._shares.codes

    def likely(self, codes: Codes) -> Floats:
        """A score to compare pairs: the share of real graphs, then common neighbours."""
        shared = self.neighbours(codes)
        likely: Floats = self.shares(codes) + 1e-3 * shared / (1 + shared.max(initial=0))
        return likely

    def neighbours(self, codes: Codes) -> Floats:
        """Common neighbours of each pair in the original; zeros if the graph is too large."""
        graph, out = self.problem.graph, np.zeros(len(codes))
        if graph.n_nodes > _DENSE:
            return out
        joined = self._joined
        for start in range(0, len(codes), _ROWS):
            u, v = np.divmod(codes[start : start + _ROWS], graph.n_nodes)
            out[start : start + _ROWS] = (joined[u] & joined[v]).sum(axis=1)
        return out

    @cached_property
    def _joined(self) -> npt.NDArray[np.bool_]:
        joined: npt.NDArray[np.bool_] = self.problem.graph.to_adjacency(bool)
        return joined

    def figure(self, graph: Graph, *, swapped: int = 0, most: float | None = None) -> Plausibility:
        """The plausibility of a counterfactual."""
        original = self.problem.graph
        changed = graph.difference(original)
        there = are_among(changed, original.codes)
        added, removed = changed[~there], changed[there]
        near = self.nearest(graph)
        known = bool(self.graphs)
        return Plausibility(
            n_graphs=len(self.graphs),
            nearest=None if near is None else near[0],
            usual=self.usual,
            added=float(self.shares(added).mean()) if known and len(added) else None,
            removed=float(self.shares(removed).mean()) if known and len(removed) else None,
            neighbours=float(self.neighbours(added).mean()) if len(added) else None,
            swapped=swapped,
            most=most,
        )


def make_plausible(
    candidate: Candidate,
    accept: Callable[[Graph], Any],
    *,
    swap: bool,
    most: float | None,
    regions: str | None = None,
) -> Plausibility:
    """Make a counterfactual more plausible, as objective (``swap``) or up to a bound (``most``).

    Parameters
    ----------
    candidate : the counterfactual; moved.
    accept : returns the label of a graph if it is acceptable as an answer, else None; queries the
        oracle.
    swap : whether to exchange edits for more plausible ones of the same place.
    most : the largest `Plausibility.implausible` that is allowed, or None.
    regions : the taxonomy of the places that exchanges keep to; None for the first.
    """
    problem = candidate.problem
    real = Realism(problem, candidate.label)
    if most is not None and real.usual is None:
        msg = (
            "max_implausible compares with real graphs of the answer's class, and the background "
            f"has {len(real.graphs)} of {shown(candidate.label)}; at least two are needed. Pass a "
            "larger background."
        )
        raise MissingInputError(msg, parameter=("max_implausible", "background"))
    swapped = 0
    try:
        if most is not None:
            _approach(candidate, real, accept, most)
        if swap:
            swapped = _exchange(candidate, real, accept, most, regions)
    except BudgetSpentError:
        problem.note("The budget was spent while the answer was made more plausible.")
    figure = real.figure(candidate.graph, swapped=swapped, most=most)
    if not figure.reached:
        far = figure.implausible
        best = "differs from the real graphs of its class, which are all the same"
        if far is not None:
            best = f"has {far:.2f} and lies on the way to the nearest real graph of its class"
        problem.note(
            f"Not reached: max_implausible={most:g} was requested; the best answer found {best}."
        )
    return figure


def exchanged_trace(candidate: Candidate, found: Walk, regions: str | None) -> list[Step] | None:
    """The steps of a search with the edits that replace its own; None if places have changed.

    A claim says how many connections change in which places. If the answer changed only inside
    these places, with equal numbers, the claim still holds.
    """
    nodes, graph = candidate.problem.nodes, candidate.problem.graph
    test = found.as_read
    if nodes is None or regions is None or test is None or test.language != "regions":
        return None
    cells = Cells(nodes.taxonomy(regions))

    def sides(codes: Codes) -> list[tuple[int, int]]:
        joined = are_among(codes, graph.codes)
        return list(zip(cells.numbers(codes).tolist(), joined.tolist(), strict=True))

    pools: dict[tuple[int, int], list[int]] = {}
    changed = candidate.graph.difference(graph)
    for code, side in zip(changed.tolist(), sides(changed), strict=True):
        pools.setdefault(side, []).append(code)
    n, steps = graph.n_nodes, []
    for step in found.trace:
        codes = np.array([u * n + v for u, v in step.toggled], dtype=np.int64)
        new = [pools[side].pop() if pools.get(side) else None for side in sides(codes)]
        taken = [divmod(code, n) for code in new if code is not None]
        if len(taken) < len(new):
            return None
        steps.append(step._replace(toggled=tuple(sorted(taken))))
    return None if any(pools.values()) else steps


# ---- as a bound ---------------------------------------------------------------------------------


def _approach(
    candidate: Candidate, real: Realism, accept: Callable[[Graph], Any], most: float
) -> None:
    """Move the answer towards the nearest real graph until it is near enough."""
    start, problem = candidate.graph, candidate.problem
    near = real.nearest(start)
    if near is None or near[0] / (real.usual or 1) <= most:
        return
    order = problem.free(near[1].difference(start))
    joins = ~are_among(order, start.codes)
    likely = real.shares(order)
    order = order[np.argsort(np.where(joins, -likely, likely - 1), kind="stable")]

    def at(k: int) -> Graph:
        return start.toggle_codes(np.sort(order[:k]))

    def far(k: int) -> float:
        return real.implausible(at(k)) or 0.0

    if not len(order) or far(len(order)) > most:
        return
    k, stride = boundary(0, len(order), lambda k: far(k) <= most), 1  # distances need no queries
    while True:
        label = accept(at(k)) if far(k) <= most else None
        if label is not None:
            candidate.move(at(k), label, "plausible")
            return
        if k == len(order):
            return
        k, stride = min(k + stride, len(order)), 2 * stride


# ---- as an objective ----------------------------------------------------------------------------


def _exchange(
    candidate: Candidate,
    real: Realism,
    accept: Callable[[Graph], Any],
    most: float | None,
    regions: str | None,
) -> int:
    """Exchange edits for more plausible ones of the same cell; return how many.

    With a bound, an exchange may not lead past it: pairs that are plausible one by one may together
    be far from every real graph.
    """

    def far(graph: Graph) -> float:
        return real.implausible(graph) or 0.0

    bound = None if most is None else max(most, far(candidate.graph))
    swaps = list(_exchanges(candidate, real, regions))
    swaps.sort(key=lambda swap: (-swap[0], swap[1], swap[2]))
    left, done = QUERIES, 0
    parts = [swaps] if swaps else []
    while parts and left:
        part = parts.pop()
        toggled = np.array(sorted(code for _, *pair in part for code in pair), dtype=np.int64)
        graph = candidate.graph.toggle_codes(toggled)
        label = None
        if bound is None or far(graph) <= bound:
            left -= 1
            label = accept(graph)
        if label is not None:
            candidate.move(graph, label, "plausible")
            done += len(part)
        elif len(part) > 1:
            half = len(part) // 2
            parts += [part[half:], part[:half]]
    return done


def _exchanges(
    candidate: Candidate, real: Realism, regions: str | None
) -> Iterator[tuple[float, int, int]]:
    """Exchanges that make the answer more plausible: the gain, the old pair, the new pair.

    Both pairs are in one cell, and both are added or both removed, so that a sentence about cells
    and numbers stays the same.
    """
    problem = candidate.problem
    original = problem.graph
    changed = candidate.graph.difference(original)
    there = are_among(changed, original.codes)
    for adds in (True, False):
        now = changed[there != adds]
        if not len(now):
            continue
        pool = _pool(problem, real, adds)
        pool = problem.free(pool[~are_among(pool, np.sort(changed))]) if len(pool) else pool
        if not len(pool):
            continue
        sign = 1.0 if adds else -1.0
        worth_now, worth_then = sign * real.likely(now), sign * real.likely(pool)
        place_now, place_then = (_places(problem, codes, regions) for codes in (now, pool))
        for place in np.unique(place_now):
            mine = np.flatnonzero(place_now == place)
            other = np.flatnonzero(place_then == place)
            mine = mine[np.argsort(worth_now[mine], kind="stable")]
            other = other[np.argsort(-worth_then[other], kind="stable")]
            for i, j in zip(mine.tolist(), other.tolist(), strict=False):
                gain = float(worth_then[j] - worth_now[i])
                if gain <= 1e-9:
                    break
                yield gain, int(now[i]), int(pool[j])


def _pool(problem: Problem, real: Realism, adds: bool) -> Codes:
    """Pairs that could be added, or removed, instead of others."""
    graph = problem.graph
    if not adds:
        return graph.codes
    if real.graphs:
        seen = real.seen
    elif graph.n_nodes <= _DENSE // 2:
        seen = all_pairs(graph.n_nodes)
    else:
        return np.empty(0, dtype=np.int64)
    return seen[~are_among(seen, graph.codes)]


def _places(problem: Problem, codes: Codes, regions: str | None) -> npt.NDArray[np.int64]:
    """The cell of each pair; without regions all pairs are in one."""
    if problem.nodes is None or not problem.nodes.regions:
        return np.zeros(len(codes), dtype=np.int64)
    return Cells(problem.nodes.taxonomy(regions)).numbers(codes)
