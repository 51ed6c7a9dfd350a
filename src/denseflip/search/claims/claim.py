"""Claims: "so many more connections here, so many fewer there", and whether they are true as read.

A claim is what a sentence says: places and amounts, not pairs. Its reader does not know which pairs
are meant, so a claim is tested by redrawing: other pairs of the same places, as many of them, drawn
at random, asked about again. A place is a cell of two regions (or of one with itself), or a node
with all the pairs at it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import AsRead, Language, Reading
from denseflip.graph import Cells, Codes, Edits, Graph, Taxonomy
from denseflip.oracles.background import Frequencies
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.core.probing import Probe, joined

Unit = tuple[int, int | None]  # two regions (the same twice for one), or a node and None
DRAWS = 20  # redraws of a test
# Of the first so many redraws, so many must flip, or the test ends: a clear no costs one question.
STAGES = ((1, 1), (3, 3), (6, 5), (DRAWS, 18))


class Amount(NamedTuple):
    """How many pairs a claim adds and removes in one place."""

    unit: Unit
    added: int
    removed: int

    @property
    def total(self) -> int:
        """Pairs changed there."""
        return self.added + self.removed


Claim = tuple[Amount, ...]


class TooFewError(Exception):
    """A claim asks for more pairs than a place has to give."""

    def __init__(self, unit: Unit, wanted: int, there: int, *, adding: bool) -> None:
        super().__init__(unit, wanted, there, adding)
        self.unit, self.wanted, self.there, self.adding = unit, wanted, there, adding


@dataclass(frozen=True)
class Places:
    """What a sentence about one graph can name, and which pairs are there to add or remove.

    Attributes
    ----------
    graph : the original.
    taxonomy : the regions; None to speak of nodes.
    terms : the user's constraints; what may not change is not there to add or remove.

    Examples
    --------
    >>> lobes = Taxonomy.from_labels("lobe", ["Front", "Front", "Back", "Back"])
    >>> places = Places(Graph.from_edges(4, [(0, 1), (0, 2)]), lobes)
    >>> places.absent((0, 1)).tolist(), places.present((0, 1)).tolist()
    ([3, 6, 7], [2])
    """

    graph: Graph
    taxonomy: Taxonomy | None = None
    terms: BoundConstraints | None = field(default=None, repr=False, compare=False)
    _absent: dict[Unit, Codes] = field(default_factory=dict, repr=False, compare=False)
    _present: dict[Unit, Codes] = field(default_factory=dict, repr=False, compare=False)
    _sizes: dict[Unit, tuple[int, int]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def language(self) -> Language:
        """``"regions"`` or ``"nodes"``."""
        return "nodes" if self.taxonomy is None else "regions"

    @cached_property
    def cells(self) -> Cells:
        """The cells of the regions; of nodes there are none."""
        assert self.taxonomy is not None
        return Cells(self.taxonomy)

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Every place that holds at least one pair."""
        if self.taxonomy is None:
            n = self.graph.n_nodes
            return tuple((v, None) for v in range(n)) if n > 1 else ()
        return tuple(self.cells.at(np.flatnonzero(self.cells.sizes)))

    def members(self, unit: Unit) -> Codes:
        """Sorted codes of all pairs of a place, joined or not."""
        a, b = unit
        if b is not None:
            return self.cells.members((a, b))
        n = self.graph.n_nodes
        others = np.delete(np.arange(n, dtype=np.int64), a)
        codes: Codes = np.minimum(others, a) * n + np.maximum(others, a)
        return np.sort(codes)

    def absent(self, unit: Unit) -> Codes:
        """Pairs of a place that could be added."""
        self._sort_out(unit)
        return self._absent[unit]

    def present(self, unit: Unit) -> Codes:
        """Pairs of a place that could be removed."""
        self._sort_out(unit)
        return self._present[unit]

    def counts(self, unit: Unit) -> tuple[int, int]:
        """Pairs of a place, and how many of them are joined, whether they may change or not."""
        self._sort_out(unit)
        return self._sizes[unit]

    def _sort_out(self, unit: Unit) -> None:
        if unit not in self._absent:
            members = self.members(unit)
            there = np.isin(members, self.graph.codes, assume_unique=True)
            self._sizes[unit] = (len(members), int(there.sum()))
            if self.terms is not None:
                free = self.terms.may_change(members)
                members, there = members[free], there[free]
            self._absent[unit], self._present[unit] = members[~there], members[there]

    def claim(self, edits: Edits | Codes) -> Claim:
        """What edits amount to, place by place, the fullest first.

        In the language of nodes an edit is told with whichever of its ends holds most edits.
        """
        return tuple(self.amount(unit, held) for unit, held in self.split(edits).items())

    def amount(self, unit: Unit, codes: Codes) -> Amount:
        """How many of these pairs, all of one place, are added, and how many removed."""
        removed = int(np.isin(codes, self.graph.codes).sum())
        return Amount(unit, len(codes) - removed, removed)

    def split(self, edits: Edits | Codes) -> dict[Unit, Codes]:
        """The pairs that edits change, place by place, the fullest first; see `claim`."""
        n = self.graph.n_nodes
        codes = (
            np.array([u * n + v for u, v in edits.pairs], dtype=np.int64)
            if isinstance(edits, Edits)
            else edits
        )
        return dict(self._by_node(codes) if self.taxonomy is None else self._by_cell(codes))

    def _by_cell(self, codes: Codes) -> Iterator[tuple[Unit, Codes]]:
        yield from self.cells.split(codes, fullest_first=True).items()

    def _by_node(self, codes: Codes) -> Iterator[tuple[Unit, Codes]]:
        n = self.graph.n_nodes
        while len(codes):
            u, v = np.divmod(codes, n)
            node = int(np.argmax(np.bincount(np.concatenate((u, v)), minlength=n)))
            at = (u == node) | (v == node)
            yield (node, None), codes[at]
            codes = codes[~at]


@dataclass(frozen=True)
class Redraw:
    """Draws the pairs of a claim anew.

    Parameters
    ----------
    places : where pairs can be drawn.
    reading : which pairs are drawn; see `AsRead`.
    current, target : how often the original's class and the target class join each pair; the
        readings other than ``"any"`` need them.
    """

    places: Places
    reading: Reading = "any"
    current: Frequencies | None = None
    target: Frequencies | None = None
    _rooms: dict[tuple[Unit, bool], int] = field(default_factory=dict, repr=False, compare=False)

    def weights(self, codes: Codes, *, adding: bool) -> npt.NDArray[np.float64]:
        """How readily each pair is drawn; 0 for those that the reading does not mean."""
        if self.reading == "any":
            return np.ones(len(codes))
        assert self.target is not None
        has = self.target.at(codes)
        if self.reading == "typical":
            return has if adding else 1.0 - has
        assert self.current is not None
        more = has - self.current.at(codes)
        return np.maximum(more if adding else -more, 0.0)

    def room(self, unit: Unit, *, adding: bool) -> int:
        """How many pairs of a place the reading could add, or remove."""
        known = self._rooms.get((unit, adding))
        if known is None:
            codes = self.places.absent(unit) if adding else self.places.present(unit)
            known = int(np.count_nonzero(self.weights(codes, adding=adding)))
            self._rooms[unit, adding] = known
        return known

    def draw(self, claim: Claim, rng: np.random.Generator) -> Codes:
        """Codes of the pairs of one redraw.

        Raises
        ------
        TooFewError
            If a place has fewer pairs than the claim wants.
        """
        return np.sort(joined(self.parts(claim, rng)))

    def parts(self, claim: Claim, rng: np.random.Generator) -> list[Codes]:
        """The pairs of one redraw, place by place in the order of the claim."""
        drawn: list[Codes] = []
        for unit, added, removed in claim:
            here: list[Codes] = []
            for adding, wanted in ((True, added), (False, removed)):
                if not wanted:
                    continue
                codes = self.places.absent(unit) if adding else self.places.present(unit)
                if unit[1] is None and drawn:  # two nodes share the pair between them
                    codes = np.setdiff1d(codes, joined(drawn), assume_unique=True)
                here.append(self._some(codes, unit, wanted, rng, adding=adding))
            drawn.append(joined(here))
        return drawn

    def _some(
        self, codes: Codes, unit: Unit, wanted: int, rng: np.random.Generator, *, adding: bool
    ) -> Codes:
        if self.reading == "any":
            if wanted > len(codes):
                raise TooFewError(unit, wanted, len(codes), adding=adding)
            return codes[rng.choice(len(codes), size=wanted, replace=False, shuffle=False)]
        weights = self.weights(codes, adding=adding)
        codes, weights = codes[weights > 0], weights[weights > 0]
        if wanted > len(codes):
            raise TooFewError(unit, wanted, len(codes), adding=adding)
        # The k first of exponential waiting times are k pairs drawn one by one by weight.
        waits = rng.exponential(size=len(codes)) / weights
        return codes[np.argpartition(waits, wanted - 1)[:wanted]]

    def queue(self, unit: Unit, rng: np.random.Generator, *, adding: bool) -> Codes:
        """The pairs that the reading means in a place, in the order of one redraw.

        Its first k are a redraw of k pairs, so redraws of rising amounts from one queue are nested.
        """
        codes = self.places.absent(unit) if adding else self.places.present(unit)
        if self.reading == "any":
            return rng.permutation(codes)
        weights = self.weights(codes, adding=adding)
        codes, weights = codes[weights > 0], weights[weights > 0]
        return codes[np.argsort(rng.exponential(size=len(codes)) / weights)]

    def fixed(self, claim: Claim) -> bool:
        """Whether every redraw is the same: each place named is filled, or emptied, altogether."""
        return all(
            added in (0, self.room(unit, adding=True))
            and removed in (0, self.room(unit, adding=False))
            for unit, added, removed in claim
        )

    def test(
        self, claim: Claim, probe: Probe, rng: np.random.Generator, *, draws: int = DRAWS
    ) -> AsRead:
        """Ask about so many redraws, all together; once, if all of them are the same."""
        if self.fixed(claim):
            return self.outcome([probe.flips(self.draw(claim, rng))], only=True)
        answers = probe.answers([self.draw(claim, rng) for _ in range(draws)])
        return self.outcome(probe.problem.accepts(answer.label) for answer in answers)

    def holds(
        self,
        claim: Claim,
        probe: Probe,
        rng: np.random.Generator,
        *,
        stages: Sequence[tuple[int, int]] = STAGES,
    ) -> AsRead:
        """The test in stages: after so many redraws so many must have flipped, else it ends.

        The outcome is ``true`` only if the last stage was passed.
        """
        if self.fixed(claim):
            return self.test(claim, probe, rng, draws=stages[-1][0])
        flipped: list[bool] = []
        for upto, least in stages:
            drawn = [self.draw(claim, rng) for _ in range(upto - len(flipped))]
            answers = probe.answers(drawn)
            flipped += [probe.problem.accepts(answer.label) for answer in answers]
            if sum(flipped) < least:
                # What ends a test early lies below the level: 0 of 1, 2 of 3, 4 of 6.
                return self.outcome(flipped)
        return self.outcome(flipped)

    def outcome(self, flipped: Iterable[bool], *, only: bool = False) -> AsRead:
        """The outcome of so many redraws, or of the only one that there is."""
        listed = list(flipped)
        tax = self.places.taxonomy
        return AsRead(
            self.places.language,
            None if tax is None else tax.name,
            self.reading,
            len(listed),
            sum(listed),
            only,
        )


class Repeats:
    """A handful of redraws that are the same for every claim tested: what a search selects on.

    The redraws of a claim hold those of the claims below it, so that two claims are told apart by
    what they say and not by the luck of the draw. Whatever is selected so is too good by as much
    as it was selected; a verdict is asked of fresh redraws (`Redraw.test`).

    Parameters
    ----------
    redraw : draws the pairs.
    rng : the generator; each queue is drawn when it is first needed.
    draws : how many redraws.
    misses : how many of them may fail.
    """

    def __init__(
        self, redraw: Redraw, rng: np.random.Generator, *, draws: int = DRAWS, misses: int = 1
    ) -> None:
        self.redraw = redraw
        self.misses = misses
        self._rng = rng
        self._queues: list[dict[tuple[Unit, bool], Codes]] = [{} for _ in range(draws)]
        self._failed = [0] * draws
        self._held: dict[Claim, bool] = {}

    def codes(self, claim: Claim, which: int = 0) -> Codes:
        """Codes of the pairs of one of the redraws."""
        queues = self._queues[which]
        parts: list[Codes] = []
        for unit, added, removed in claim:
            for adding, wanted in ((True, added), (False, removed)):
                if not wanted:
                    continue
                if (unit, adding) not in queues:
                    queues[unit, adding] = self.redraw.queue(unit, self._rng, adding=adding)
                codes = queues[unit, adding]
                if unit[1] is None and parts:  # two nodes share the pair between them
                    codes = codes[~np.isin(codes, joined(parts))]
                if wanted > len(codes):
                    raise TooFewError(unit, wanted, len(codes), adding=adding)
                parts.append(codes[:wanted])
        return np.sort(joined(parts))

    def screened(self, claims: Sequence[Claim], probe: Probe) -> list[bool]:
        """Whether the first redraw of each claim flips: one question each, asked together."""
        answers = probe.answers([self.codes(claim) for claim in claims])
        return [probe.problem.accepts(answer.label) for answer in answers]

    def seems(self, claim: Claim, probe: Probe, *, draws: int = 3) -> bool:
        """Whether the first few redraws flip, all of them."""
        if self.redraw.fixed(claim):
            draws = 1
        return all(probe.flips(self.codes(claim, i)) for i in range(draws))

    def holds(self, claim: Claim, probe: Probe) -> bool:
        """Whether all redraws but a few flip; ends as soon as that is out of reach.

        Those that failed most come first: where a claim fails, that takes few questions.
        """
        if claim in self._held:
            return self._held[claim]
        if self.redraw.fixed(claim):
            held = probe.flips(self.codes(claim))
        else:
            order = sorted(range(len(self._failed)), key=lambda i: -self._failed[i])
            left, held = self.misses, True
            for batch in (order[:2], order[2:6], order[6:]):
                answers = probe.answers([self.codes(claim, i) for i in batch])
                for i, answer in zip(batch, answers, strict=True):
                    if not probe.problem.accepts(answer.label):
                        self._failed[i] += 1
                        left -= 1
                if left < 0:
                    held = False
                    break
        self._held[claim] = held
        return held
