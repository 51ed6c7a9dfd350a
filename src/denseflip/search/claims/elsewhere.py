"""`Elsewhere`: pairs outside the places of a claim, which keep the number of edges the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.graph import Codes
from denseflip.oracles.background import Frequencies
from denseflip.search.claims.claim import Amounts, Place, Places, net


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
    def _pairs(self) -> tuple[Pool, Pool]:
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
            Pool(removable, n + 1 - self._count(removable), self._numbers(removable)),
            Pool(addable, self._count(addable), self._numbers(addable)),
        )

    def _count(self, codes: Codes) -> npt.NDArray[np.float64]:
        """How many graphs join each pair."""
        one, other = self.current, self.target
        return one.at(codes) * one.n_graphs + other.at(codes) * other.n_graphs

    def _numbers(self, codes: Codes) -> Codes:
        """The numbers of the cells of pairs, or in the language of nodes nothing."""
        return codes if self.places.taxonomy is None else self.places.cells.numbers(codes)

    def queue(self, rng: np.random.Generator, *, adding: bool) -> Pool:
        """All pairs to add, or to remove, in the order of one redraw."""
        pool = self._pairs[int(adding)]
        order = np.argsort(rng.exponential(size=len(pool.codes)) / pool.weights)
        return Pool(pool.codes[order], pool.weights, pool.numbers[order])

    def take(
        self,
        queue: Pool,
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


class Pool(NamedTuple):
    """Pairs that may change, with their weights in a draw and the numbers of their cells."""

    codes: Codes
    weights: npt.NDArray[np.float64]
    numbers: Codes
