"""`Elsewhere`: pairs outside the places of a claim, which keep the number of edges the same."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from denseflip.graph import Codes
from denseflip.graph.pairs import are_among, count_each
from denseflip.oracles.background import Frequencies, values_at
from denseflip.search.claims.claim import Amounts, Place, is_with_all, net
from denseflip.search.claims.places import Places
from denseflip.search.claims.queue import Queue, Weights


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
        """The pairs to remove and to add, with their weights."""
        graph, free = self.places.graph, self.places.free
        seen, counts = self._seen
        new = ~are_among(seen, graph.codes)
        new[new] = free.among(seen[new])
        n = max(1, self.current.n_graphs + self.target.n_graphs)
        removable = free.present
        return (
            Pool(removable, Weights((n + 1 - values_at(removable, seen, counts)).astype(float))),
            Pool(seen[new], Weights(counts[new].astype(float))),
        )

    @cached_property
    def _seen(self) -> tuple[Codes, Codes]:
        """The pairs that some graph joins, and how many graphs join each."""
        one, other = self.current, self.target
        if not len(one.codes) or not len(other.codes):
            known = one if len(one.codes) else other
            return known.codes, known.counts
        codes, _ = count_each((one.codes, other.codes))
        return codes, values_at(codes, one.codes, one.counts) + values_at(
            codes, other.codes, other.counts
        )

    def queue(self, rng: np.random.Generator, *, adding: bool) -> Queue:
        """All pairs to add, or to remove, in the order of one redraw."""
        pool = self._pairs[int(adding)]
        return Queue(pool.codes, rng, pool.weights)

    def take(
        self,
        queue: Queue,
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
        amounts : the places; in one claim all of one kind, by hand also of several.
        wanted : how many pairs; by default as many as keep the number of edges.
        without : pairs that are not taken either.
        """
        wanted = abs(self.wanted(amounts)) if wanted is None else wanted
        regions = self.places.taxonomy
        nodes = [a for (a, b), _, _ in amounts if b is None]
        wide = [a for (a, b), _, _ in amounts if is_with_all((a, b), regions)]
        cells = [
            (a, b)
            for (a, b), _, _ in amounts
            if b is not None and not (wide and is_with_all((a, b), regions))
        ]
        named = self.places.cells.marked(cells) if cells else None
        whole = None  # by node: whether its region is one of those with all regions
        if wide and regions is not None:
            whole = np.isin(regions.array, wide)

        def outside(codes: Codes) -> npt.NDArray[np.bool_]:
            inside = np.zeros(len(codes), dtype=bool)
            if named is not None:
                inside = named[self.places.cells.numbers(codes)]
            if nodes or whole is not None:
                u, v = np.divmod(codes, self.places.graph.n_nodes)
                for node in nodes:
                    inside |= (u == node) | (v == node)
                if whole is not None:
                    inside |= whole[u] | whole[v]
            if without is not None:
                inside |= np.isin(codes, without)
            return ~inside

        found = queue.take(wanted, outside)
        if len(found) < wanted:
            raise TooFewError(None, wanted, len(found), adding=adding)
        return found


class Pool(NamedTuple):
    """Pairs that may change, with their weights in a draw."""

    codes: Codes
    weights: Weights
