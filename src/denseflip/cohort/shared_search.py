"""The search for a shared change: one change that flips many patients.

A change is a few cells with an amount each, never particular connections. For every patient the
connections are redrawn among those that the patient has or lacks there, and the change flips a
patient only if nine of ten redraws do. The classifier is trained on the choosing half alone (if it
can be trained), so neither it nor the choice has seen the patients of the test. Then the halves
are swapped.

A change is *in range for a patient* by the definition for a single graph (`Limits`). The reference
group are the graphs of the choosing half that its classifier puts in the other class. A patient for
whom the whole amount would leave the range gets the largest amount that does not. So every patient
that a change in range flips is in range.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from denseflip.cohort.labelling import Fit, folds_of
from denseflip.cohort.scan import amount_of, largest_in_range, most_pairs, spreads_of
from denseflip.cohort.settings import CohortSettings, cells_of, group_of, terms_of
from denseflip.cohort.shared import HalfChange, Shared, SharedChange
from denseflip.cohort.stats import group_difference
from denseflip.constraints import Constraints
from denseflip.counterfactual import Reading
from denseflip.datasets import Dataset
from denseflip.graph import Cells, Codes, Graph
from denseflip.oracles.background import Background
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session
from denseflip.request import BALANCE, IN_RANGE
from denseflip.search.claims.claim import Amount, Amounts, Place
from denseflip.search.claims.elsewhere import Elsewhere, TooFewError
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.reference import Limits, Reference
from denseflip.search.claims.repeats import Repeats
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.core.probing import boundary, certify, gallop, lexmin
from denseflip.search.core.problem import Problem
from denseflip.search.methods.brief import Attempt, Brief, attempts, keeps_edges

READINGS: tuple[Reading, ...] = ("any", "typical")  # strongest claim first
DRAWS, LEAST = 20, 18  # redraws per patient, and how many must flip
_CHECKS = 3  # redraws while choosing
_LEVELS = tuple(0.25 * 2 ** (k / 2) for k in range(18))  # standard deviations


def find_shared(dataset: Dataset, settings: CohortSettings, fit: Fit | Oracle) -> Shared:
    """Find the shared change away from each class (or one), and count its queries."""
    cells, group = cells_of(dataset, settings), group_of(dataset, settings)
    terms = terms_of(dataset, settings)
    labels = dataset.label_array()
    rng = np.random.default_rng([settings.seed, 23])
    half = folds_of(labels, 2, rng)
    fixed = hasattr(fit, "predict")
    sources = [group] if group is not None else sorted(set(dataset.labels))
    found: dict[int, list[HalfChange]] = {source: [] for source in sources}
    questions = 0
    for k in (0, 1):
        choosing, other = dataset.subset(half == k), dataset.subset(half != k)
        oracle: Any = fit if fixed else fit(choosing)  # type: ignore[operator]
        spreads = np.zeros(len(cells))
        spreads[cells.sizes > 0] = spreads_of(cells, choosing.graphs)
        session = Session(oracle)
        background = Background(choosing.graphs)
        for source in sources:
            away = choosing.label_array() != source
            search = _Search(
                choosing, source, session, background, terms, cells, spreads, settings,
                _order(choosing, away, cells), rng,
            )  # fmt: skip
            found[source].append(search.half(other))
        questions += session.calls
    changes = tuple(SharedChange(s, tuple(parts), not fixed) for s, parts in found.items())
    return Shared(changes, questions)


@dataclass
class _Search:
    """The search for a shared change on one half, away from one class."""

    choosing: Dataset
    source: int
    session: Session
    background: Background
    terms: Constraints | None
    cells: Cells
    spreads: Any
    settings: CohortSettings
    order: Sequence[tuple[int, bool]]
    rng: np.random.Generator

    def half(self, other: Dataset) -> HalfChange:
        """The change, and whom of the other half it flips."""
        mine = _recognised(self.choosing, self.source, self.session)
        theirs = _recognised(other, self.source, self.session)
        best = self.choose([self.choosing.graphs[i] for i in mine]) if mine else _NONE
        flipped, inside, limited = [], [], []
        for i in theirs if best.claim else ():
            person = self.person(other.graphs[i], best.kind, best.reading)
            if person.verdict(best.claim):
                flipped.append(other.ids[i])
                if person.is_in_range(best.claim):
                    inside.append(other.ids[i])
                if person.fitted(best.claim) != best.claim:
                    limited.append(other.ids[i])
        return HalfChange(
            {self.cells.number(_cell(a)): a.added - a.removed for a in best.claim},
            best.reading,
            best.reached,
            len(mine),
            tuple(flipped),
            tuple(other.ids[i] for i in theirs),
            int((other.label_array() == self.source).sum()),
            best.kind.target,
            tuple(inside),
            tuple(limited),
            best.kind.balanced,
            bool(best.claim) and self.settings.in_range != "ignore" and not best.kind.in_range,
        )

    def choose(self, graphs: Sequence[Graph]) -> _Choice:
        """The change that flips the most patients: in range, if one in range flips any."""
        labels = set(self.background.labels(self.session)) - {self.source}
        targets: list[Any] = sorted(labels) or [None]
        first = self.problem(graphs[0], targets[0])
        plan = Brief(
            max_cells=self.settings.max_cells,
            in_range=self.settings.in_range or IN_RANGE[0],
            balance=self.settings.balance or BALANCE[0],
        )
        for attempt in attempts(plan, first):
            if attempt.with_all or not attempt.towards:  # a shared change names pairs of regions
                continue
            best = _NONE
            for target, reading in product(targets, READINGS if labels else READINGS[:1]):
                kind = self.kind(graphs, target, attempt)
                if kind is None:
                    continue
                people = [self.person(graph, kind, reading) for graph in graphs]
                chooser = _Chooser(people, self.cells, self.spreads, self.settings, self.order)
                claim = chooser.choose()
                if chooser.reached > best.reached:
                    best = _Choice(chooser.reached, reading, claim, kind)
                if best.reached >= chooser.goal:
                    return best
            if best.reached:
                return best
        return _NONE

    def kind(self, graphs: Sequence[Graph], target: Any, attempt: Attempt) -> _Kind | None:
        """What an attempt searches for; None if it cannot be found, or was searched for before."""
        known, kept = True, True
        for graph in graphs:
            problem = self.problem(graph, target)
            reference = self.reference(problem)
            known = known and reference is not None and reference.is_known
            kept = kept and reference is not None and keeps_edges(problem, reference)
        if (attempt.in_range and not known) or (attempt.unbalanced_only and not kept):
            return None
        balanced = attempt.balance == "on" or (attempt.balance == "auto" and kept)
        if balanced and target is None:
            return None
        return _Kind(target, attempt.in_range, balanced)

    def problem(self, graph: Graph, target: Any) -> Problem:
        """The problem of one patient: away from the class, to the target."""
        nodes, terms = self.choosing.nodes, self.terms
        return Problem(
            graph,
            self.source,
            target,
            nodes,
            self.background,
            label_background=lambda: self.background.labels(self.session),
            constraints=None if terms is None else bind_constraints(terms, graph, nodes),
        )

    def reference(self, problem: Problem) -> Reference | None:
        """What the choosing half has in each place; None if no graph of it has the target class."""
        if problem.target is None:
            return None
        places = Places(problem.graph, self.cells.taxonomy, problem.constraints)
        return Reference(places, *problem.split_background("cohort"))

    def person(self, graph: Graph, kind: _Kind, reading: Reading) -> _Person:
        """One patient, and which changes of that kind it can have."""
        problem = self.problem(graph, kind.target)
        reference = self.reference(problem)
        if reference is None:
            redraw = Redraw(Places(graph, self.cells.taxonomy, problem.constraints), reading)
            return _Person(problem, redraw, None, kind, self.session, self.rng)
        sides = problem.frequencies("cohort")
        elsewhere = Elsewhere(reference.places, *sides) if kind.balanced else None
        redraw = Redraw(reference.places, reading, *sides, elsewhere)
        limits = Limits(reference, redraw) if reference.is_known else None
        return _Person(problem, redraw, limits, kind, self.session, self.rng)


class _Kind(NamedTuple):
    """The class that a change leads to, whether it has to be in range, and whether it balances."""

    target: Any
    in_range: bool
    balanced: bool


class _Choice(NamedTuple):
    """A change, and how many patients of the choosing half it flips."""

    reached: int
    reading: Reading
    claim: Amounts
    kind: _Kind


_NONE = _Choice(0, "any", (), _Kind(None, False, False))


def _order(dataset: Dataset, away: Any, cells: Cells) -> list[tuple[int, bool]]:
    """Sort cells by how much the groups differ there, with the direction of the other group."""
    densities = np.stack([cells.densities(graph) for graph in dataset.graphs])
    apart = group_difference(densities, away)
    return [(int(c), bool(apart[c] > 0)) for c in cells.order(apart) if apart[c]]


def _recognised(dataset: Dataset, source: int, session: Session) -> list[int]:
    """Positions of the patients of a class that the classifier assigns to it."""
    members = [i for i, label in enumerate(dataset.labels) if label == source]
    answers = session.query_all([dataset.graphs[i] for i in members])
    return [i for i, a in zip(members, answers, strict=True) if a.label == source]


class _Person:
    """One patient's graph, and tests of which claims flip it."""

    def __init__(
        self,
        problem: Problem,
        redraw: Redraw,
        limits: Limits | None,
        kind: _Kind,
        session: Session,
        rng: np.random.Generator,
    ) -> None:
        self.problem, self.redraw, self.limits = problem, redraw, limits
        self.graph, self.terms = problem.graph, problem.constraints
        self.in_range, self.session, self.rng = kind.in_range, session, rng
        self.most = None if self.terms is None else most_pairs(self.terms, balanced=kind.balanced)
        self.repeats = Repeats(redraw, rng, draws=_CHECKS, misses=0)
        self._rooms: dict[tuple[Place, bool], int] = {}

    def room(self, unit: Place, *, adding: bool) -> int:
        """Number of pairs of a place that may be added, or removed, in this graph."""
        known = self._rooms.get((unit, adding))
        if known is None:
            known = self.redraw.room(unit, adding=adding)
            known = known if self.most is None else min(known, self.most)
            if self.in_range and self.limits is not None:
                known = largest_in_range(self.limits, unit, known, adding=adding)
            self._rooms[unit, adding] = known
        return known

    def fitted(self, claim: Amounts) -> Amounts:
        """The claim, with amounts limited to the pairs that may change in this graph."""
        out = []
        for unit, added, removed in claim:
            added = min(added, self.room(unit, adding=True)) if added else 0
            removed = min(removed, self.room(unit, adding=False)) if removed else 0
            if added or removed:
                out.append(Amount(unit, added, removed))
        return tuple(out)

    def is_in_range(self, claim: Amounts) -> bool:
        """Whether the claim, as fitted to this graph, is in range."""
        return self.limits is not None and self.limits.allow(self.fitted(claim))

    def flips(self, claims: Sequence[Amounts], which: int = 0) -> list[bool]:
        """Whether one redraw of each claim flips."""
        return self._ask([self._codes(claim, which) for claim in claims])

    def _codes(self, claim: Amounts, which: int) -> Codes | None:
        mine = self.fitted(claim)
        if self.in_range and not self.is_in_range(claim):  # too many edges in all
            return None
        with suppress(TooFewError):
            return self.repeats.codes(mine, which)
        return None

    def steady(self, claim: Amounts) -> bool:
        """Whether all of a few redraws of the claim flip."""
        return all(self.flips([claim], which)[0] for which in range(_CHECKS))

    def verdict(self, claim: Amounts) -> bool:
        """Whether nine of ten new redraws flip."""
        mine = self.fitted(claim)
        if self.in_range and not self.is_in_range(claim):
            return False
        draws = 1 if self.redraw.fixed(mine) else DRAWS
        try:
            flipped = self._ask([self.redraw.draw(mine, self.rng) for _ in range(draws)])
        except TooFewError:
            return False
        return sum(flipped) >= (LEAST if draws == DRAWS else 1)

    def _ask(self, choices: Sequence[Codes | None]) -> list[bool]:
        graphs = [
            None if c is None else self.graph.toggle_codes(c) if len(c) else self.graph
            for c in choices
        ]
        may = [graph is not None and self._allows(graph) for graph in graphs]
        asked = [g for g, ok in zip(graphs, may, strict=True) if ok and g is not None]
        answers = iter(self.session.query_all(asked))
        return [ok and self.problem.accepts(next(answers).label) for ok in may]

    def _allows(self, graph: Graph) -> bool:
        """Whether the constraints hold; other graphs are not queried and count as not flipped."""
        terms = self.terms
        return terms is None or not (terms.forbids(graph) or terms.too_large(graph))


class _Chooser:
    """Chooses the fewest cells, then the smallest amounts, that flip enough of the patients."""

    def __init__(
        self,
        people: Sequence[_Person],
        cells: Cells,
        spreads: Any,
        settings: CohortSettings,
        order: Sequence[tuple[int, bool]],
    ) -> None:
        self.people, self.settings = people, settings
        self.goal = int(np.ceil(settings.cover * len(people) - 1e-9))
        self.reached = 0
        numbers = np.flatnonzero(cells.sizes > 0)
        self.moves: list[tuple[tuple[int, int], bool, int, float]] = []
        for number, cell in zip(numbers.tolist(), cells.at(numbers), strict=True):
            for adding in (True, False):
                rooms = [person.room(cell, adding=adding) for person in people]
                if most := max(rooms, default=0):
                    self.moves.append((cell, adding, most, float(spreads[number])))
        self.most = {(cell, adding): most for cell, adding, most, _ in self.moves}
        place = {(cells.number(move[0]), move[1]): i for i, move in enumerate(self.moves)}
        self.order = [place[key] for key in order if key in place]

    def choose(self) -> Amounts:
        """The change; empty if no change flips any patient."""
        claim = self._single() or self._several()
        self.reached = sum(person.steady(claim) for person in self.people) if claim else 0
        return claim

    def _amount(self, i: int, deviations: float) -> Amount:
        cell, adding, size, spread = self.moves[i]
        return amount_of(cell, adding, min(size, max(1, round(deviations * spread))))

    def _full(self, i: int) -> Amount:
        cell, adding, size, _ = self.moves[i]
        return amount_of(cell, adding, size)

    def _counts(self, claims: Sequence[Amounts]) -> Any:
        """Number of patients that each claim flips, one redraw each."""
        return np.sum([person.flips(claims) for person in self.people], axis=0)

    def _single(self) -> Amounts:
        """The cell that flips enough patients with the fewest standard deviations."""
        counts = self._counts([(self._full(i),) for i in range(len(self.moves))])
        able = [i for i in range(len(self.moves)) if counts[i] >= self.goal]
        if not able:
            return ()
        at: dict[int, list[int]] = {}

        def enough(level: int) -> bool:
            claims = [(self._amount(i, _LEVELS[level - 1]),) for i in able]
            counts = self._counts(claims)
            at[level] = [i for i, n in zip(able, counts, strict=True) if n >= self.goal]
            return bool(at[level])

        top = len(_LEVELS)
        level = boundary(0, top, enough) if enough(top) else 0
        if not level:
            return self._raised((self._full(able[0]),))
        low = _LEVELS[level - 2] if level > 1 else 0.0
        best: tuple[float, Amounts] | None = None
        for i in at[level][:4]:
            z = _bisect(low, _LEVELS[level - 1], lambda z, i=i: self._enough((self._amount(i, z),)))
            claim = self._raised((self._amount(i, z),))
            size = claim[0].total / self.moves[i][3] if claim else np.inf
            if claim and (best is None or size < best[0]):
                best = (size, claim)
        return best[1] if best else ()

    def _several(self) -> Amounts:
        """Add cells greedily at their largest amount, each time the one that flips the most."""
        chosen: Amounts = ()
        reached = 0
        while len(chosen) < self.settings.max_cells and reached < self.goal:
            left = [
                i
                for i in range(len(self.moves))
                if all(a.place != self.moves[i][0] for a in chosen)
            ]
            counts = self._counts([(*chosen, self._full(i)) for i in left])
            if not len(counts) or counts.max() <= reached:
                break
            reached = int(counts.max())
            chosen = (*chosen, self._full(left[int(counts.argmax())]))
        if not chosen:
            chosen = self._together()
            reached = int(self._counts([chosen])[0]) if chosen else 0
        if not reached:
            return ()
        goal, self.goal = self.goal, min(self.goal, reached)
        for i in range(len(chosen)):  # minimise the amounts, one place after the other

            def with_less(share: float, i: int = i, now: Amounts = chosen) -> Amounts:
                return (*now[:i], self._scaled(now[i], share), *now[i + 1 :])

            share = _bisect(0.0, 1.0, lambda share: self._enough(with_less(share)))
            chosen = with_less(share)
        chosen = self._raised(chosen) or chosen
        self.goal = goal
        return chosen

    def _together(self) -> Amounts:
        """If no cell flips a patient alone: a few cells in which the groups differ most."""

        def enough(some: Sequence[int]) -> bool:
            return self._enough(tuple(self._full(i) for i in some))

        k = gallop(len(self.order), lambda k: enough(self.order[:k]))
        if k is None:
            return ()
        chosen = lexmin(self.order[:k], enough, most=self.settings.max_cells)
        return () if chosen is None else tuple(self._full(i) for i in certify(chosen, enough))

    def _scaled(self, amount: Amount, factor: float) -> Amount:
        """The scaled amounts, limited to what some patient can change; never 0."""

        def side(n: int, adding: bool) -> int:
            if not n:
                return 0
            new = max(n + 1, round(n * factor)) if factor > 1 else max(1, round(n * factor))
            return min(new, self.most[_cell(amount), adding])

        return Amount(amount.place, side(amount.added, True), side(amount.removed, False))

    def _enough(self, claim: Amounts) -> bool:
        return bool(self._counts([claim])[0] >= self.goal)

    def _raised(self, claim: Amounts) -> Amounts:
        """The claim, raised until enough patients flip in all of a few redraws; else empty."""
        for _ in range(8):
            if sum(person.steady(claim) for person in self.people) >= self.goal:
                return claim
            more = tuple(self._scaled(a, 1.15) for a in claim)
            if more == claim:
                break
            claim = more
        return ()


def _bisect(low: float, high: float, enough: Any) -> float:
    """Bisect for a number in (low, high] that suffices, close to one that does not."""
    for _ in range(6):
        middle = (low + high) / 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


def _cell(amount: Amount) -> tuple[int, int]:
    a, b = amount.place
    assert b is not None
    return a, b
