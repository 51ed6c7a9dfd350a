"""`Scan`: the fast search of the cohort's test, the same for true and for permuted labels.

It finds the one region pair that needs the smallest change to flip the classifier. Changes are
measured in standard deviations over the cohort, regardless of class: a region pair that varies much
between people may change much. If no region pair suffices alone, `brief` searches for a few. Both
search in range first and keep the number of edges where the data keep it, as for a single graph.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import BALANCE, Step
from denseflip.graph import Cells, Graph
from denseflip.oracles.base_session import BaseSession
from denseflip.search.claims.claim import Amount, Amounts, Place
from denseflip.search.claims.elsewhere import Elsewhere, TooFewError
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.reference import Limits, Reference
from denseflip.search.claims.repeats import Repeats
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import Probe, SharedSession, gallop
from denseflip.search.core.problem import BACKGROUND, REGIONS, Problem, StopSearch, Walk
from denseflip.search.methods.brief import (
    Attempt,
    Brief,
    attempts,
    keeps_edges,
    no_sentence_note,
    unsuitable,
)
from denseflip.search.methods.claim_walk import place_name

DRAWS = 5  # redraws of a claim; all must flip
_LOWEST, _STEP, _LEVELS = 0.25, math.sqrt(2), 18  # standard deviations, 0.25 to 90
_RUNNERS = 4  # candidate places at the lowest level
_GROWTH, _TRIES = 1.2, 8  # growth of a claim that fails its redraws, and number of attempts


@dataclass(frozen=True)
class Scan(Conversation):
    """Finds the one cell that flips the label with the smallest change, in standard deviations.

    The background should be the graphs that the classifier was trained on: their standard
    deviation is the unit, they are the reference for the range, and `brief` learns from them if it
    is called.

    Parameters
    ----------
    regions : the taxonomy; None for the node table's first.
    max_cells : maximum number of cells in a sentence, if one is not enough.
    spreads : the result of `spreads_of`, if already known; else it is computed.
    in_range, balance : as in `Brief`.
    """

    needs: ClassVar[frozenset[str]] = frozenset({REGIONS, BACKGROUND})
    regions: str | None = None
    max_cells: int = 5
    spreads: tuple[float, ...] | None = field(default=None, repr=False)
    in_range: str = "prefer"
    balance: str = "auto"

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Search; the result flips in all of five redraws, or is true as `brief` defines it."""
        taxonomy = problem.taxonomy(self.regions, "scan")
        if wrong := unsuitable(taxonomy):
            problem.note(wrong)
            raise StopSearch
        assert problem.background is not None
        places = Places(problem.graph, taxonomy, problem.constraints)
        session = SharedSession(session)  # the attempts share answers
        spreads = self.spreads
        if spreads is None:
            spreads = tuple(spreads_of(places.cells, problem.background.graphs).tolist())
        brief = Brief(
            regions=taxonomy.name,
            max_cells=self.max_cells,
            in_range=self.in_range,
            balance=self.balance,
        )
        for attempt in attempts(brief, problem):
            if attempt.with_all:  # a cohort counts pairs of regions
                continue
            for one_class in attempt.classes(problem) if attempt.towards else ():
                may_waive = self.in_range != "require"
                walk = _single_walk(one_class, session, places, spreads, attempt, may_waive)
                if walk is not None:
                    return walk
            if self.max_cells > 1:
                claims = brief.find_claims(problem, session, taxonomy, attempt, wider=False)
                if claims:
                    return brief.walk(problem, claims, taxonomy)
        problem.note(no_sentence_note(taxonomy, attempt))
        raise StopSearch


def _single_walk(
    problem: Problem,
    session: BaseSession,
    places: Places,
    spreads: Sequence[float],
    attempt: Attempt,
    may_waive: bool,
) -> Walk | None:
    """The walk to the smallest change of one cell that holds; None if there is none.

    With one direction only, the number of edges may leave its range (`may_waive`), as in `brief`.
    """
    reference = None
    if any(problem.accepts(label) for label in problem.background_labels):
        reference = Reference(places, *problem.split_background("scan"))
    kept = reference is not None and keeps_edges(problem, reference)
    balanced = attempt.balance == "on" or (attempt.balance == "auto" and kept)
    if attempt.unbalanced_only and not kept:
        return None  # the same search as before
    if reference is None and (attempt.in_range or balanced):
        return None
    elsewhere = Elsewhere(places, *problem.frequencies("scan")) if balanced else None
    redraw = Redraw(places, elsewhere=elsewhere)
    limits = inner = None
    if reference is not None and reference.is_known:
        limits = inner = Limits(reference, redraw)
        if attempt.in_range and problem.one_way and reference.keeps_edges:
            if not may_waive:
                return None
            inner = Limits(reference, redraw, total=False)
    if attempt.in_range and limits is None:
        return None
    probe = Probe(problem, session, keep=False)
    repeats = Repeats(redraw, problem.rng, draws=DRAWS, misses=0)
    most = None
    if problem.constraints is not None:
        most = most_pairs(problem.constraints, balanced=balanced)
    search = _Single(probe, places, repeats, spreads, most, inner if attempt.in_range else None)
    found = search.search()
    if found is None:
        return None
    codes = repeats.codes((found,))
    a, b = found.place
    assert b is not None
    here = places.cells.numbers(codes) == places.cells.number((a, b))
    n = problem.graph.n_nodes
    steps: list[Step] = []
    for block, part in (("densify" if found.added else "sparsify", here), (BALANCE, ~here)):
        toggled = tuple(divmod(int(code), n) for code in codes[part])
        if toggled:
            name = "" if block == BALANCE else place_name(problem, places.taxonomy, found.place)
            steps.append(Step(block, "block", toggled, name=name, iteration=len(steps) + 1))
    walk = problem.end(problem.graph.toggle_codes(codes), probe.answer(codes).label, steps)
    assert places.taxonomy is not None
    names = tuple(places.taxonomy.regions[r] for r in found.place if r is not None)
    walk.as_read = replace(redraw.outcome([True] * DRAWS), places=(names,), balanced=balanced)
    walk.in_range = None if limits is None else limits.allow((found,))
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
        limits: Limits | None = None,
    ) -> None:
        self.probe, self.places, self.repeats, self.limits = probe, places, repeats, limits
        self.moves: list[tuple[Place, bool, int, float]] = []  # place, adding, room, spread
        rooms = zip(places.addable.tolist(), places.removable.tolist(), strict=True)
        for unit, both, spread in zip(places.every, rooms, spreads, strict=True):
            for adding, room in zip((True, False), both, strict=True):
                if most is not None:
                    room = min(room, most)
                if limits is not None:
                    room = largest_in_range(limits, unit, room, adding=adding)
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
            if self._holds(amount):
                return self._inside(amount)
            if amount.total == room:
                return None
            more = max(amount.total + 1, round(amount.total * _GROWTH))
            amount = amount_of(unit, adding, min(room, more))
        return None

    def _holds(self, amount: Amount) -> bool:
        try:
            return self.repeats.holds((amount,), self.probe)
        except TooFewError:
            return False

    def _inside(self, amount: Amount) -> Amount:
        """The amount, increased if that brings a place from outside into the interval."""
        if self.limits is None:
            return amount
        more = self.limits.reach(amount)
        reached = more != amount and self.limits.allow((more,)) and self._holds(more)
        return more if reached else amount


def most_pairs(terms: BoundConstraints, *, balanced: bool = False) -> int | None:
    """Maximum number of pairs to add, or remove, in a single place; None for no limit."""
    given, n_edges = terms.constraints, terms.graph.n_edges
    bounds = []
    if given.max_edits is not None:  # as many change elsewhere if the number of edges is kept
        bounds.append(given.max_edits // 2 if balanced else given.max_edits)
    if given.keep_density is not None and not balanced:
        bounds.append(int(given.keep_density / 100 * n_edges + 1e-9))
    return min(bounds, default=None)


def largest_in_range(limits: Limits, place: Place, room: int, *, adding: bool) -> int:
    """The most pairs, up to this many, that may be added, or removed, in one place alone."""

    def leaves(pairs: int) -> bool:
        return not limits.allow((amount_of(place, adding, pairs),))

    room = limits.clip(amount_of(place, adding, room)).total
    if not room or not leaves(room):
        return room
    return bisect_left(range(1, room + 1), True, key=leaves)


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
