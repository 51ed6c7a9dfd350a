"""`Redraw`: redraws the connections of a claim and queries the classifier again.

The reader of a claim does not know which connections are meant. So as many other pairs in the same
places are drawn at random, and the classifier is queried again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import AsRead, Reading
from denseflip.graph import Codes
from denseflip.oracles.background import Frequencies
from denseflip.search.claims.claim import Amounts, Place, net
from denseflip.search.claims.places import Places
from denseflip.search.core.probing import Probe, joined

DRAWS = 20  # redraws of a test
# (redraws, how many of them must flip for the test to continue): a clear no costs one query.
STAGES = ((1, 1), (3, 3), (6, 5), (DRAWS, 18))


class TooFewError(Exception):
    """A claim needs more pairs than a place has; None stands for all other places."""

    def __init__(self, place: Place | None, wanted: int, there: int, *, adding: bool) -> None:
        super().__init__(place, wanted, there, adding)
        self.place, self.wanted, self.there, self.adding = place, wanted, there, adding


@dataclass(frozen=True)
class Elsewhere:
    """Pairs outside the places of a claim, which change so that the number of edges stays the same.

    Pairs are added in proportion to how often the data set has them, and removed in proportion to
    how seldom.

    Parameters
    ----------
    places : the places of the original.
    current, target : how often the original's class and the target class join each pair.
    """

    places: Places
    current: Frequencies
    target: Frequencies

    def wanted(self, amounts: Amounts) -> int:
        """How many pairs have to be added elsewhere; a negative number is removed."""
        return -net(amounts)

    @cached_property
    def _pairs(self) -> tuple[_Pool, _Pool]:
        """The pairs to remove and to add, with their weights and places."""
        graph, terms = self.places.graph, self.places.terms
        seen = np.union1d(self.current.codes, self.target.codes)
        out = []
        for codes in (graph.codes, np.setdiff1d(seen, graph.codes, assume_unique=True)):
            free = codes if terms is None else codes[terms.may_change(codes)]
            out.append(free)
        n = max(1, self.current.n_graphs + self.target.n_graphs)
        removable, addable = out
        return (
            _Pool(removable, n + 1 - self._count(removable), self._numbers(removable)),
            _Pool(addable, self._count(addable), self._numbers(addable)),
        )

    def _count(self, codes: Codes) -> npt.NDArray[np.float64]:
        """How many graphs join each pair."""
        one, other = self.current, self.target
        return one.at(codes) * one.n_graphs + other.at(codes) * other.n_graphs

    def _numbers(self, codes: Codes) -> Codes:
        """The numbers of the cells of pairs, or in the language of nodes nothing."""
        return codes if self.places.taxonomy is None else self.places.cells.numbers(codes)

    def queue(self, rng: np.random.Generator, *, adding: bool) -> _Pool:
        """All pairs to add, or to remove, in the order of one redraw."""
        pool = self._pairs[int(adding)]
        order = np.argsort(rng.exponential(size=len(pool.codes)) / pool.weights)
        return _Pool(pool.codes[order], pool.weights, pool.numbers[order])

    def take(
        self,
        queue: _Pool,
        amounts: Amounts,
        *,
        adding: bool,
        wanted: int | None = None,
        without: Codes | None = None,
    ) -> Codes:
        """The first pairs of a queue that are outside the places of a claim.

        Parameters
        ----------
        queue, adding : a queue of pairs to add, or to remove.
        amounts : the places; in one claim either cells or nodes, by hand also both.
        wanted : how many pairs; by default as many as keep the number of edges.
        without : pairs that are not taken either.
        """
        wanted = abs(self.wanted(amounts)) if wanted is None else wanted
        nodes = [a for (a, b), _, _ in amounts if b is None]
        cells = [self.places.cells.number((a, b)) for (a, b), _, _ in amounts if b is not None]
        inside = np.isin(queue.numbers, cells)
        if nodes:
            u, v = np.divmod(queue.codes, self.places.graph.n_nodes)
            inside |= np.isin(u, nodes) | np.isin(v, nodes)
        if without is not None:
            inside |= np.isin(queue.codes, without)
        found = np.flatnonzero(~inside)[:wanted]
        if len(found) < wanted:
            raise TooFewError(None, wanted, len(found), adding=adding)
        return queue.codes[found]


class _Pool(NamedTuple):
    codes: Codes
    weights: npt.NDArray[np.float64]
    numbers: Codes


@dataclass(frozen=True)
class Redraw:
    """Redraws the pairs of a claim.

    Parameters
    ----------
    places : the places to draw pairs from.
    reading : which pairs are drawn; see `AsRead`.
    current, target : how often the original's class and the target class join each pair; all
        readings except ``"any"`` need them.
    elsewhere : where pairs change to keep the number of edges; None if it is not kept.
    """

    places: Places
    reading: Reading = "any"
    current: Frequencies | None = None
    target: Frequencies | None = None
    elsewhere: Elsewhere | None = None
    _rooms: dict[tuple[Place, bool], int] = field(default_factory=dict, repr=False, compare=False)

    def weights(self, codes: Codes, *, adding: bool) -> npt.NDArray[np.float64]:
        """The weight of each pair in a draw; 0 for pairs that the reading does not mean."""
        if self.reading == "any":
            return np.ones(len(codes))
        assert self.target is not None
        has = self.target.at(codes)
        if self.reading == "typical":
            return has if adding else 1.0 - has
        assert self.current is not None
        more = has - self.current.at(codes)
        return np.maximum(more if adding else -more, 0.0)

    def room(self, place: Place, *, adding: bool) -> int:
        """How many pairs of a place the reading can add, or remove."""
        known = self._rooms.get((place, adding))
        if known is None:
            codes = self.places.absent(place) if adding else self.places.present(place)
            known = int(np.count_nonzero(self.weights(codes, adding=adding)))
            self._rooms[place, adding] = known
        return known

    def draw(self, amounts: Amounts, rng: np.random.Generator) -> Codes:
        """Codes of the pairs of one redraw.

        Raises
        ------
        TooFewError
            If a place has fewer pairs than the claim needs.
        """
        return np.sort(joined(self.parts(amounts, rng)))

    def parts(self, amounts: Amounts, rng: np.random.Generator) -> list[Codes]:
        """The pairs of one redraw by place, in the order of the claim; last, those elsewhere."""
        drawn: list[Codes] = []
        for place, added, removed in amounts:
            here: list[Codes] = []
            for adding, wanted in ((True, added), (False, removed)):
                if not wanted:
                    continue
                codes = self.places.absent(place) if adding else self.places.present(place)
                if place[1] is None and drawn:  # two nodes share the pair between them
                    codes = np.setdiff1d(codes, joined(drawn), assume_unique=True)
                here.append(self._some(codes, place, wanted, rng, adding=adding))
            drawn.append(joined(here))
        if self.elsewhere is not None and (net := self.elsewhere.wanted(amounts)):
            queue = self.elsewhere.queue(rng, adding=net > 0)
            drawn.append(self.elsewhere.take(queue, amounts, adding=net > 0))
        return drawn

    def _some(
        self, codes: Codes, place: Place, wanted: int, rng: np.random.Generator, *, adding: bool
    ) -> Codes:
        if self.reading == "any":
            if wanted > len(codes):
                raise TooFewError(place, wanted, len(codes), adding=adding)
            return codes[rng.choice(len(codes), size=wanted, replace=False, shuffle=False)]
        weights = self.weights(codes, adding=adding)
        codes, weights = codes[weights > 0], weights[weights > 0]
        if wanted > len(codes):
            raise TooFewError(place, wanted, len(codes), adding=adding)
        # The k shortest exponential waiting times are k weighted draws without replacement.
        waits = rng.exponential(size=len(codes)) / weights
        return codes[np.argpartition(waits, wanted - 1)[:wanted]]

    def queue(self, place: Place, rng: np.random.Generator, *, adding: bool) -> Codes:
        """The pairs that the reading means in a place, in the order of one redraw.

        Its first k pairs are a redraw of k pairs, so redraws of increasing amounts are nested.
        """
        codes = self.places.absent(place) if adding else self.places.present(place)
        if self.reading == "any":
            return rng.permutation(codes)
        weights = self.weights(codes, adding=adding)
        codes, weights = codes[weights > 0], weights[weights > 0]
        return codes[np.argsort(rng.exponential(size=len(codes)) / weights)]

    def fixed(self, amounts: Amounts) -> bool:
        """Whether all redraws are the same, because each place is filled or emptied completely."""
        if self.elsewhere is not None and self.elsewhere.wanted(amounts):
            return False
        return all(
            added in (0, self.room(place, adding=True))
            and removed in (0, self.room(place, adding=False))
            for place, added, removed in amounts
        )

    def test(
        self, amounts: Amounts, probe: Probe, rng: np.random.Generator, *, draws: int = DRAWS
    ) -> AsRead:
        """Query redraws in one batch; only one if all are the same."""
        if self.fixed(amounts):
            return self.outcome([probe.flips(self.draw(amounts, rng))], only=True)
        answers = probe.answers([self.draw(amounts, rng) for _ in range(draws)])
        return self.outcome(probe.problem.accepts(answer.label) for answer in answers)

    def holds(
        self,
        amounts: Amounts,
        probe: Probe,
        rng: np.random.Generator,
        *,
        stages: Sequence[tuple[int, int]] = STAGES,
    ) -> AsRead:
        """The test in stages: after so many redraws so many must have flipped, else it ends.

        The outcome is ``true`` only if the last stage was passed.
        """
        if self.fixed(amounts):
            return self.test(amounts, probe, rng, draws=stages[-1][0])
        flipped: list[bool] = []
        for upto, least in stages:
            drawn = [self.draw(amounts, rng) for _ in range(upto - len(flipped))]
            answers = probe.answers(drawn)
            flipped += [probe.problem.accepts(answer.label) for answer in answers]
            if sum(flipped) < least:
                # An early end is always below the level: 0 of 1, 2 of 3, 4 of 6.
                return self.outcome(flipped)
        return self.outcome(flipped)

    def outcome(self, flipped: Iterable[bool], *, only: bool = False) -> AsRead:
        """The outcome of redraws, or of the only possible one."""
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
    """A few redraws that are shared by all claims tested, for selection during a search.

    The redraws of a claim contain those of smaller claims, so claims are compared without random
    differences between draws. Selection on these redraws is biased upwards; a claim is therefore
    verified on fresh redraws (`Redraw.test`).

    Parameters
    ----------
    redraw : draws the pairs.
    rng : the generator; each queue is drawn when it is first needed.
    draws : the number of redraws.
    misses : how many of them may fail.
    """

    def __init__(
        self, redraw: Redraw, rng: np.random.Generator, *, draws: int = DRAWS, misses: int = 1
    ) -> None:
        self.redraw = redraw
        self.misses = misses
        self._rng = rng
        self._queues: list[dict[tuple[Place, bool], Codes]] = [{} for _ in range(draws)]
        self._elsewhere: list[dict[bool, _Pool]] = [{} for _ in range(draws)]
        self._failed = [0] * draws
        self._held: dict[Amounts, bool] = {}

    def codes(self, amounts: Amounts, which: int = 0) -> Codes:
        """Codes of the pairs of one redraw."""
        queues = self._queues[which]
        parts: list[Codes] = []
        for place, added, removed in amounts:
            for adding, wanted in ((True, added), (False, removed)):
                if not wanted:
                    continue
                if (place, adding) not in queues:
                    queues[place, adding] = self.redraw.queue(place, self._rng, adding=adding)
                codes = queues[place, adding]
                if place[1] is None and parts:  # two nodes share the pair between them
                    codes = codes[~np.isin(codes, joined(parts))]
                if wanted > len(codes):
                    raise TooFewError(place, wanted, len(codes), adding=adding)
                parts.append(codes[:wanted])
        elsewhere = self.redraw.elsewhere
        if elsewhere is not None and (net := elsewhere.wanted(amounts)):
            pools, adding = self._elsewhere[which], net > 0
            if adding not in pools:
                pools[adding] = elsewhere.queue(self._rng, adding=adding)
            parts.append(elsewhere.take(pools[adding], amounts, adding=adding))
        return np.sort(joined(parts))

    def screened(self, several: Sequence[Amounts], probe: Probe) -> list[bool]:
        """Whether the first redraw of each claim flips: one query per claim, in one batch.

        A claim that needs more pairs than there are does not flip, and is not queried.
        """
        drawn: dict[int, Codes] = {}
        for i, amounts in enumerate(several):
            with suppress(TooFewError):
                drawn[i] = self.codes(amounts)
        answers = dict(zip(drawn, probe.answers(list(drawn.values())), strict=True))
        accepts = probe.problem.accepts
        return [i in answers and accepts(answers[i].label) for i in range(len(several))]

    def seems(self, amounts: Amounts, probe: Probe, *, draws: int = 3) -> bool:
        """Whether the first few redraws all flip."""
        if self.redraw.fixed(amounts):
            draws = 1
        return all(probe.flips(self.codes(amounts, i)) for i in range(draws))

    def holds(self, amounts: Amounts, probe: Probe) -> bool:
        """Whether all but a few redraws flip; stops as soon as too many have failed.

        Redraws that failed most often come first, so that a claim that fails needs few queries.
        """
        if amounts in self._held:
            return self._held[amounts]
        if self.redraw.fixed(amounts):
            held = probe.flips(self.codes(amounts))
        else:
            order = sorted(range(len(self._failed)), key=lambda i: -self._failed[i])
            left, held = self.misses, True
            for batch in (order[:2], order[2:6], order[6:]):
                answers = probe.answers([self.codes(amounts, i) for i in batch])
                for i, answer in zip(batch, answers, strict=True):
                    if not probe.problem.accepts(answer.label):
                        self._failed[i] += 1
                        left -= 1
                if left < 0:
                    held = False
                    break
        self._held[amounts] = held
        return held
