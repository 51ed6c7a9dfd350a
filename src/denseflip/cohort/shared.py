"""The shared change: one change that flips many, chosen on one half and tested on the other.

A change is a few cells with an amount each, never particular connections. For every patient the
connections are redrawn among those that the patient has or lacks there, and the change flips a
patient only if nine of ten redraws do. The classifier is trained on the choosing half alone (if it
can be trained), so neither it nor the choice has seen the patients of the test. Then the halves
are swapped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from denseflip.cohort.labelling import Fit, folds_of
from denseflip.cohort.scan import amount_of, most_pairs, spreads_of
from denseflip.cohort.settings import CohortSettings, cells_of, group_of, terms_of
from denseflip.cohort.stats import group_difference
from denseflip.counterfactual import Reading, wilson_interval
from denseflip.datasets import Dataset
from denseflip.graph import Cells, Codes, Graph
from denseflip.oracles.background import Frequencies
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import Amount, Amounts, Place
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.repeats import Repeats
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.core.probing import boundary, certify, gallop, lexmin
from denseflip.serialise import Serialisable

READINGS: tuple[Reading, ...] = ("any", "typical")  # strongest claim first
DRAWS, LEAST = 20, 18  # redraws per patient, and how many must flip
_CHECKS = 3  # redraws while choosing
_LEVELS = tuple(0.25 * 2 ** (k / 2) for k in range(18))  # standard deviations


@dataclass(frozen=True)
class HalfChange(Serialisable, named="a change that was chosen on half a cohort"):
    """A change chosen on one half and tested on the other.

    Attributes
    ----------
    amounts : cell number → connections added (or, below 0, removed).
    reading : which connections are drawn: ``"any"`` of the cell, or those ``"typical"`` of the
        class that it leads to (for removals, untypical); see `AsRead`.
    reached, of : number of patients of the choosing half that it flips, out of how many.
    flipped, counted : ids of the other half that it flips, and of all that it was tested on:
        correctly classified patients of the class that it leads away from.
    members : number of patients of that class in the other half.
    """

    amounts: Mapping[int, int]
    reading: Reading
    reached: int
    of: int
    flipped: tuple[str, ...]
    counted: tuple[str, ...]
    members: int

    def __post_init__(self) -> None:
        if not set(self.flipped) <= set(self.counted):
            msg = "a flipped patient is not among those counted"
            raise ValueError(msg)


@dataclass(frozen=True)
class SharedChange(
    Serialisable,
    named="a change that a cohort shares",
    keys=(..., "flipped", "counted", "coverage", "interval"),
):
    """One direction: the change chosen on each half, and the patients of the other that it flips.

    Attributes
    ----------
    source : the class that it leads away from.
    halves : the two changes, or fewer if a half has no patients to choose on.
    unseen : whether the patients counted were used neither to train the classifier nor to choose
        the change; False if the classifier could not be retrained.

    Examples
    --------
    >>> half = HalfChange({3: 20}, "any", 5, 5, ("a", "b", "c"), ("a", "b", "c", "d"), 5)
    >>> change = SharedChange(1, (half,), True)
    >>> change.flipped, change.counted, [round(x, 2) for x in change.interval]
    (3, 4, [0.3, 0.95])
    """

    source: int
    halves: tuple[HalfChange, ...]
    unseen: bool

    @property
    def flipped(self) -> int:
        """Number of patients flipped by a change that was chosen without them."""
        return sum(len(half.flipped) for half in self.halves)

    @property
    def counted(self) -> int:
        """Number of patients that it was tested on."""
        return sum(len(half.counted) for half in self.halves)

    @property
    def members(self) -> int:
        """Number of patients of the class, correctly classified or not."""
        return sum(half.members for half in self.halves)

    @property
    def coverage(self) -> float | None:
        """Share of the counted patients that is flipped; None if none was counted."""
        return self.flipped / self.counted if self.counted else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % confidence interval of the coverage, for independent patients."""
        return (
            wilson_interval(self.flipped / self.counted, self.counted) if self.counted else (0, 1)
        )

    @property
    def alike(self) -> bool:
        """Whether both halves chose the same cells in the same directions."""
        chosen = [{c: n > 0 for c, n in half.amounts.items()} for half in self.halves]
        return len(chosen) == 2 and bool(chosen[0]) and chosen[0] == chosen[1]


class Shared(NamedTuple):
    """The shared change away from each class, and the number of queries for all of them."""

    shared: tuple[SharedChange, ...]
    questions: int


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
        for source in sources:
            mine = _recognised(choosing, source, session)
            theirs = _recognised(other, source, session)
            away = choosing.label_array() != source
            typical = Frequencies.of(choosing.subset(away).graphs)
            order = _order(choosing, away, cells)

            def person(
                graph: Graph,
                reading: Reading,
                source: int = source,
                session: Session = session,
                typical: Frequencies = typical,
            ) -> _Person:
                bound = None if terms is None else bind_constraints(terms, graph, dataset.nodes)
                redraw = Redraw(Places(graph, cells.taxonomy, bound), reading, None, typical)
                return _Person(redraw, source, session, rng)

            best: tuple[int, Reading, Amounts] = (0, "any", ())
            for reading in READINGS:
                people = [person(choosing.graphs[i], reading) for i in mine]
                chooser = _Chooser(people, cells, spreads, settings, order)
                claim = chooser.choose() if people else ()
                if chooser.reached > best[0]:
                    best = (chooser.reached, reading, claim)
                if best[0] >= chooser.goal:
                    break
            reached, reading, claim = best
            flipped = [
                i for i in theirs if claim and person(other.graphs[i], reading).verdict(claim)
            ]
            found[source].append(
                HalfChange(
                    {cells.number(_cell(a)): a.added - a.removed for a in claim},
                    reading,
                    reached,
                    len(mine),
                    tuple(other.ids[i] for i in flipped),
                    tuple(other.ids[i] for i in theirs),
                    int((other.label_array() == source).sum()),
                )
            )
        questions += session.calls
    changes = tuple(SharedChange(s, tuple(parts), not fixed) for s, parts in found.items())
    return Shared(changes, questions)


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
        self, redraw: Redraw, label: int, session: Session, rng: np.random.Generator
    ) -> None:
        self.redraw, self.label, self.session, self.rng = redraw, label, session, rng
        self.graph, self.terms = redraw.places.graph, redraw.places.terms
        self.most = None if self.terms is None else most_pairs(self.terms)
        self.repeats = Repeats(redraw, rng, draws=_CHECKS, misses=0)

    def room(self, unit: Place, *, adding: bool) -> int:
        """Number of pairs of a place that may be added, or removed, in this graph."""
        room = self.redraw.room(unit, adding=adding)
        return room if self.most is None else min(room, self.most)

    def fitted(self, claim: Amounts) -> Amounts:
        """The claim, with amounts limited to the pairs that this graph has or lacks."""
        out = []
        for unit, added, removed in claim:
            added = min(added, self.room(unit, adding=True)) if added else 0
            removed = min(removed, self.room(unit, adding=False)) if removed else 0
            if added or removed:
                out.append(Amount(unit, added, removed))
        return tuple(out)

    def flips(self, claims: Sequence[Amounts], which: int = 0) -> list[bool]:
        """Whether one redraw of each claim flips."""
        return self._ask([self.repeats.codes(self.fitted(claim), which) for claim in claims])

    def steady(self, claim: Amounts) -> bool:
        """Whether all of a few redraws of the claim flip."""
        return all(self.flips([claim], which)[0] for which in range(_CHECKS))

    def verdict(self, claim: Amounts) -> bool:
        """Whether nine of ten new redraws flip."""
        mine = self.fitted(claim)
        draws = 1 if self.redraw.fixed(mine) else DRAWS
        flipped = self._ask([self.redraw.draw(mine, self.rng) for _ in range(draws)])
        return sum(flipped) >= (LEAST if draws == DRAWS else 1)

    def _ask(self, choices: Sequence[Codes]) -> list[bool]:
        graphs = [self.graph.toggle_codes(c) if len(c) else self.graph for c in choices]
        may = [self._allows(graph) for graph in graphs]
        answers = iter(self.session.query_all([g for g, ok in zip(graphs, may, strict=True) if ok]))
        return [ok and next(answers).label != self.label for ok in may]

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
