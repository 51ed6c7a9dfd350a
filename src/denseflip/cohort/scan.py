"""`Scan`: the fast search of the cohort's test, the same for true and for permuted labels.

It finds the one region pair that needs the smallest change to flip the classifier. Changes are
measured in standard deviations over the cohort, regardless of class: a region pair that varies much
between people may change much. If no region pair suffices alone, `brief` searches for a few.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Step
from denseflip.graph import Cells, Graph
from denseflip.oracles.base_session import BaseSession
from denseflip.search.claims.claim import Amount, Amounts, Place
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.repeats import Repeats
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import Probe, gallop
from denseflip.search.core.problem import BACKGROUND, REGIONS, Problem, StopSearch, Walk
from denseflip.search.methods.brief import Brief, unsuitable

DRAWS = 5  # redraws of a claim; all must flip
_LOWEST, _STEP, _LEVELS = 0.25, math.sqrt(2), 18  # standard deviations, 0.25 to 90
_RUNNERS = 4  # candidate places at the lowest level
_GROWTH, _TRIES = 1.2, 8  # growth of a claim that fails its redraws, and number of attempts


@dataclass(frozen=True)
class Scan(Conversation):
    """Finds the one cell that flips the label with the smallest change, in standard deviations.

    The background should be the graphs that the classifier was trained on: their standard
    deviation is the unit, and `brief` learns from them if it is called.

    Parameters
    ----------
    regions : the taxonomy; None for the node table's first.
    max_cells : maximum number of cells in a sentence, if one is not enough.
    spreads : the result of `spreads_of`, if already known; else it is computed.
    """

    regions: str | None = None
    max_cells: int = 5
    spreads: tuple[float, ...] | None = field(default=None, repr=False)

    @property
    def needs(self) -> frozenset[str]:
        """Regions and the data set."""
        return frozenset({REGIONS, BACKGROUND})

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Search; the result flips in all of five redraws, or is true as `brief` defines it."""
        taxonomy = problem.taxonomy(self.regions, "scan")
        if wrong := unsuitable(taxonomy):
            problem.note(wrong)
            raise StopSearch
        assert problem.background is not None
        places = Places(problem.graph, taxonomy, problem.constraints)
        probe = Probe(problem, session)
        repeats = Repeats(Redraw(places), problem.rng, draws=DRAWS, misses=0)
        spreads = self.spreads
        if spreads is None:
            spreads = tuple(spreads_of(places.cells, problem.background.graphs).tolist())
        most = None if problem.constraints is None else most_pairs(problem.constraints)
        found = _Single(probe, places, repeats, spreads, most).search()
        if found is None:
            if self.max_cells == 1:
                problem.note("No single region pair is enough.")
                raise StopSearch
            return Brief(
                regions=taxonomy.name, max_cells=self.max_cells, in_range="ignore", balance="off"
            )(problem, session)
        codes = repeats.codes((found,))
        name = places.cells.name((found.place[0], found.place[1] or 0))
        n = problem.graph.n_nodes
        block = "densify" if found.added else "sparsify"
        toggled = tuple(divmod(int(code), n) for code in codes)
        step = Step(block, "block", toggled, name=name, iteration=1)
        walk = problem.end(problem.graph.toggle_codes(codes), probe.answer(codes).label, [step])
        walk.as_read = repeats.redraw.outcome([True] * DRAWS)
        return walk


class _Single:
    """The changes of single cells, in both directions, and the smallest of them that flips."""

    def __init__(
        self,
        probe: Probe,
        places: Places,
        repeats: Repeats,
        spreads: Sequence[float],
        most: int | None = None,
    ) -> None:
        self.probe, self.places, self.repeats = probe, places, repeats
        self.moves: list[tuple[Place, bool, int, float]] = []  # place, adding, room, spread
        rooms = zip(places.addable.tolist(), places.removable.tolist(), strict=True)
        for unit, both, spread in zip(places.every, rooms, spreads, strict=True):
            for adding, room in zip((True, False), both, strict=True):
                if most is not None:
                    room = min(room, most)
                if room:
                    self.moves.append((unit, adding, room, spread))

    def amount(self, i: int, deviations: float) -> Amount:
        """The amount for a number of standard deviations, limited to the pairs available."""
        unit, adding, room, spread = self.moves[i]
        pairs = max(1, round(deviations * spread))
        return amount_of(unit, adding, min(room, pairs))

    def size(self, amount: Amount, i: int) -> float:
        """The amount in standard deviations."""
        return amount.total / self.moves[i][3]

    def search(self) -> Amount | None:
        """The smallest amount that flips, or None if no single cell does."""
        full = [amount_of(unit, adding, room) for unit, adding, room, _ in self.moves]
        able = [i for i, yes in enumerate(self._flips([(a,) for a in full])) if yes]
        if not able:
            return None
        flipped: dict[int, list[int]] = {}

        def any_flips(level: int) -> bool:
            claims = [(self.amount(i, _deviations(level)),) for i in able]
            flipped[level] = [i for i, yes in zip(able, self._flips(claims), strict=True) if yes]
            return bool(flipped[level])

        level = gallop(_LEVELS, any_flips, start=4)
        if level is None:  # the label is not monotone: only the largest amount flips
            runners = [(full[i], i) for i in able]
        else:
            low = _deviations(level - 1) if level > 1 else 0.0
            high = _deviations(level)
            runners = [(self._least(i, low, high), i) for i in flipped[level]]
        runners.sort(key=lambda runner: (self.size(*runner), runner[1]))
        held: list[tuple[float, int, Amount]] = []
        for amount, i in runners[:_RUNNERS]:
            if held and self.size(amount, i) >= held[0][0]:
                break
            steady = self._steady(amount, i)
            if steady is not None:
                held.append((self.size(steady, i), i, steady))
                held.sort(key=lambda one: one[:2])
        return held[0][2] if held else None

    def _flips(self, claims: Sequence[Amounts]) -> list[bool]:
        return self.repeats.screened(claims, self.probe)

    def _least(self, i: int, low: float, high: float) -> Amount:
        """Bisect the amount between a level at which nothing flips and one at which it does."""
        small, large = (self.amount(i, z).total if z else 0 for z in (low, high))
        unit, adding, _, _ = self.moves[i]
        while large - small > max(1, 0.02 * large):
            middle = (small + large) // 2
            if self._flips([(amount_of(unit, adding, middle),)])[0]:
                large = middle
            else:
                small = middle
        return amount_of(unit, adding, large)

    def _steady(self, amount: Amount, i: int) -> Amount | None:
        """The amount, raised until all redraws flip."""
        unit, adding, room, _ = self.moves[i]
        for _ in range(_TRIES):
            if self.repeats.holds((amount,), self.probe):
                return amount
            if amount.total == room:
                return None
            more = max(amount.total + 1, round(amount.total * _GROWTH))
            amount = amount_of(unit, adding, min(room, more))
        return None


def most_pairs(terms: BoundConstraints) -> int | None:
    """Maximum number of pairs to add, or remove, in a single place; None for no limit."""
    given, n_edges = terms.constraints, terms.graph.n_edges
    bounds = [] if given.max_edits is None else [given.max_edits]
    if given.keep_density is not None:
        bounds.append(int(given.keep_density / 100 * n_edges + 1e-9))
    return min(bounds, default=None)


def spreads_of(cells: Cells, graphs: tuple[Graph, ...]) -> npt.NDArray[np.float64]:
    """Standard deviation of the number of edges in each cell that holds a pair; at least one edge.

    It does not depend on labels. The lower limit keeps a change of one edge small, even if a few
    graphs are very similar.
    """
    counts = np.stack([cells.count(graph) for graph in graphs])[:, cells.sizes > 0]
    spreads: npt.NDArray[np.float64] = np.sqrt(counts.var(axis=0) + 1.0)
    return spreads


def _deviations(level: int) -> float:
    return float(_LOWEST * _STEP ** (level - 1))


def amount_of(unit: Place, adding: bool, pairs: int) -> Amount:
    """An amount that adds, or removes, this number of pairs."""
    return Amount(unit, pairs, 0) if adding else Amount(unit, 0, pairs)
