"""`Reference`: what real graphs of two classes have in each place, and which changes stay in range.

The *reference group* of a claim are the background graphs that the classifier puts in the class
that the claim leads to. A change is in range if every place that it names ends within what one more
graph of that group would have, with 95 % probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Counterfactual
from denseflip.graph import Codes, Edits, Graph
from denseflip.graph.pairs import are_among
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession
from denseflip.search.claims.claim import Amount, Amounts, Claim, Place, net
from denseflip.search.claims.intervals import (
    FEWEST,
    QUANTILES,
    SPREAD,
    Floats,
    Ints,
    hedges_g,
    prediction_interval,
)
from denseflip.search.claims.places import Places, edges_of_all
from denseflip.search.claims.redraw import Redraw, redraw_of
from denseflip.search.claims.sides import Sides
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.serialise import Serialisable

CLEAR = 0.5  # Hedges' g from which the classes clearly differ in a place
STEADY = 0.02  # coefficient of variation below which a group keeps its number of edges
_NEAR = 3 * STEADY  # how far the original may be from that number, as a share of it

# Edges of a place now, the fewest and the most in the end, and the most pairs added and removed.
_Bounds = tuple[int, int, int, int, int]
Exceeded = Literal["interval", "difference", "meant", "total"]


@dataclass(frozen=True, eq=False)
class Reference:
    """How many edges graphs of the original's class and of the target class have in each place.

    Attributes
    ----------
    places : the places of the original.
    same : graphs of the original's class.
    group : graphs of the target class, the reference group.
    """

    places: Places
    same: Sequence[Graph]
    group: Sequence[Graph]

    @property
    def is_known(self) -> bool:
        """Whether the group is large enough for intervals."""
        return len(self.group) >= FEWEST

    def index(self, place: Place) -> int:
        """The column of a place in the arrays."""
        return self.places.column(place)

    @cached_property
    def edges(self) -> tuple[Codes, Ints]:
        """The edges of the group, one graph after the other, and the position of their graph."""
        return edges_of_all(self.group)

    def count(self, which: npt.NDArray[np.bool_]) -> Ints:
        """How many of the chosen `edges` there are, by graph and place."""
        codes, owners = self.edges
        return self.places.tally_each(codes[which], owners[which], len(self.group))

    @cached_property
    def counts(self) -> Floats:
        """Edges of the group, by graph and place."""
        return self.places.edges_of_each(self.group).astype(float)

    @cached_property
    def same_counts(self) -> Floats:
        """Edges of the original's class, by graph and place."""
        return self.places.edges_of_each(self.same or [self.places.graph]).astype(float)

    @cached_property
    def usual(self) -> Floats:
        """The mean number of edges of the group, by place."""
        return np.asarray(self.counts.mean(axis=0))

    @cached_property
    def apart(self) -> Floats:
        """`usual` minus the mean of the original's class."""
        return np.asarray(self.usual - self.same_counts.mean(axis=0))

    @cached_property
    def clarity(self) -> Floats:
        """`apart` in standard deviations within a class."""
        here = self.same_counts
        within = np.concatenate((here - here.mean(axis=0), self.counts - self.usual))
        # One edge more or less is not a difference, however similar a few graphs are.
        spread = np.sqrt((within**2).sum(axis=0) / max(1, len(within) - 2) + 1.0)
        return np.asarray(self.apart / spread)

    @cached_property
    def intervals(self) -> tuple[Ints, Ints]:
        """The prediction interval of the group, by place."""
        return prediction_interval(self.counts, self.places.sizes)

    @cached_property
    def effects(self) -> Floats:
        """Hedges' g between the group and the original's class, by place."""
        return hedges_g(self.counts, self.same_counts)

    @property
    def share_in_range(self) -> float:
        """Share of the places in which the graph lies in the interval of the group."""
        low, high = self.intervals
        now = self.places.joined
        return float(np.mean((low <= now) & (now <= high)))

    @cached_property
    def total(self) -> tuple[int, int]:
        """The prediction interval of the number of edges of the whole graph."""
        edges = [graph.n_edges for graph in self.group]
        low, high = prediction_interval(edges, self.places.graph.n_pairs)
        return int(low), int(high)

    @cached_property
    def keeps_edges(self) -> bool:
        """Whether the group and the original have nearly the same number of edges.

        If the group is too small, all graphs of both classes decide.
        """
        graphs = self.group if self.is_known else (*self.same, *self.group)
        if len(graphs) < FEWEST:
            return False
        edges = np.array([graph.n_edges for graph in graphs], dtype=float)
        mean = edges.mean()
        away = abs(self.places.graph.n_edges - mean)
        return bool(edges.std() < STEADY * mean and away <= _NEAR * mean)

    @cached_property
    def furthest(self) -> tuple[Ints, Ints]:
        """The most pairs that a graph of the group has, or lacks, beside the original, by place."""
        original, places = self.places.graph, self.places
        if original.types is not None:  # no node is the same, so all edges are others
            return self.counts.max(axis=0).astype(np.int64), places.joined
        common = self.count(are_among(self.edges[0], original.codes))
        has = (self.counts.astype(np.int64) - common).max(axis=0, initial=0)
        return has, (places.joined - common).max(axis=0, initial=0)


class Limits:
    """The amounts that keep a claim in range, in one reading.

    Three conditions hold in every place: the number of edges ends in the interval of the group, or
    moves towards it; no more pairs are added, or removed, than some graph of the group differs by;
    and of the pairs that the reading means, the graph ends with no more (after removals, no fewer)
    than the interval of the group. The number of edges of the whole graph ends in its interval too,
    unless it is kept, or unless ``total`` is False.
    """

    def __init__(self, reference: Reference, redraw: Redraw, *, total: bool = True) -> None:
        self.reference, self.redraw, self.total = reference, redraw, total
        self._counts: dict[bool, Floats] = {}
        self._intervals: dict[bool, tuple[Ints, Ints]] = {}
        self._medians: dict[bool, Floats] = {}
        self._bounds: dict[Place, _Bounds] = {}

    def _bounds_of(self, place: Place) -> _Bounds:
        """How far a place may change."""
        known = self._bounds.get(place)
        if known is None:
            at = self.reference.index(place)
            low, high = (int(end[at]) for end in self.reference.intervals)
            size, now = self.redraw.places.counts(place)
            added, removed = (
                min(
                    size,  # a place without pairs has no column of its own
                    int(self.redraw.rooms(adding=adding)[at]),
                    int(self.reference.furthest[not adding][at]),
                    self._of_meant(place, adding=adding),
                )
                for adding in (True, False)
            )
            known = (now, min(low, now), max(high, now), added, removed)
            self._bounds[place] = known
        return known

    def _of_meant(self, place: Place, *, adding: bool) -> int:
        """How many of the pairs that the reading means may be added, or removed."""
        redraw, at = self.redraw, self.reference.index(place)
        if redraw.reading == "any":
            return int(redraw.places.sizes[at])
        if not redraw.n_meant(adding=adding)[at]:
            return 0
        if adding not in self._intervals:
            counts, sizes = self._meant(adding=adding), redraw.n_meant(adding=adding)
            self._intervals[adding] = prediction_interval(counts, sizes)
        low, high = (int(end[at]) for end in self._intervals[adding])
        now = int(redraw.count_meant(redraw.places.graph, adding=adding)[at])
        return max(0, high - now if adding else now - low)

    def _meant(self, *, adding: bool) -> Floats:
        """Edges of the group that the reading means, by graph and place."""
        if self.redraw.reading == "any":
            return self.reference.counts
        if adding not in self._counts:
            meant = self.redraw.has_meant(self.reference.edges[0], adding=adding)
            self._counts[adding] = self.reference.count(meant).astype(float)
        return self._counts[adding]

    def _away(self, place: Place, graph: Graph, *, adding: bool) -> float:
        """How many of the pairs meant the median of the group has more than a graph."""
        at = self.reference.index(place)
        now = self.redraw.count_meant(graph, adding=adding)[at]
        return float(np.median(self._meant(adding=adding)[:, at])) - int(now)

    def towards(self, place: Place, *, adding: bool) -> int:
        """The most pairs to add, or remove, that bring a place nearer to the group's median.

        Of the pairs that the reading means. There is no such limit where the classes do not differ
        clearly.
        """
        at = self.reference.index(place)
        if abs(self.reference.effects[at]) < CLEAR:
            return int(self.reference.places.sizes[at])
        if adding not in self._medians:
            medians = np.median(self._meant(adding=adding), axis=0)
            now = self.redraw.count_meant(self.redraw.places.graph, adding=adding)
            self._medians[adding] = medians - now
        away = float(self._medians[adding][at])
        return max(0, math.ceil(2 * (away if adding else -away)) - 1)

    def at_median(self, amounts: Amounts) -> Amounts:
        """The claim with the amounts that bring each place to the median of the group.

        Of the pairs that the reading means; in the reading ``"any"`` these are all pairs of the
        place, so it may lose pairs where the claim adds some. Places at the median are left out.
        """
        graph, out = self.redraw.places.graph, []
        for place, added, removed in amounts:
            sides = [0, 0]
            for side, adding in enumerate((True, False)):
                if (added, removed)[side] or self.redraw.reading == "any":
                    away = math.floor(self._away(place, graph, adding=adding) + 0.5)
                    room = self.redraw.room(place, adding=adding)
                    sides[side] = min(room, max(0, away if adding else -away))
            if any(sides):
                out.append(Amount(place, *sides))
        return tuple(out)

    def nearer(self, amount: Amount, after: Graph) -> bool:
        """Whether a place of a graph is nearer to the median of the group after a change.

        Of the pairs that the reading means: if it adds some and removes others, the distances from
        both medians are summed.
        """
        sides = [side for side in (True, False) if (amount.added if side else amount.removed)]
        before, then = (
            sum(abs(self._away(amount.place, graph, adding=adding)) for adding in sides)
            for graph in (self.redraw.places.graph, after)
        )
        return then < before

    def clip(self, amount: Amount) -> Amount:
        """The amount, reduced until it is in range, as far as that is possible."""
        place, added, removed = amount
        now, low, high, most_added, most_removed = self._bounds_of(place)
        removed = min(removed, most_removed)
        added = min(added, most_added, max(0, high - now + removed))
        removed = min(removed, max(0, now + added - low))
        return Amount(place, added, removed)

    def exceeded(self, amount: Amount) -> tuple[Exceeded, ...]:
        """The conditions that an amount breaks; empty if `clip` leaves it as it is."""
        place, added, removed = amount
        at = self.reference.index(place)
        now, low, high, _, _ = self._bounds_of(place)
        after = now + added - removed
        sides = ((added, True, 0), (removed, False, 1))
        far = any(n > int(self.reference.furthest[i][at]) for n, _, i in sides)
        meant = any(
            n > min(self.redraw.room(place, adding=up), self._of_meant(place, adding=up))
            for n, up, _ in sides
        )
        broken: dict[Exceeded, bool] = {
            "interval": bool((added and after > high) or (removed and after < low)),
            "difference": far,
            "meant": meant,
        }
        return tuple(name for name, is_broken in broken.items() if is_broken)

    def reach(self, amount: Amount) -> Amount:
        """The amount, increased until the place ends in the interval, as far as that is allowed."""
        place, added, removed = amount
        low, high = (int(end[self.reference.index(place)]) for end in self.reference.intervals)
        _, now = self.redraw.places.counts(place)
        after = now + added - removed
        if added and after < low:
            added += low - after
        elif removed and after > high:
            removed += after - high
        return self.clip(Amount(place, added, removed))

    def allow(self, amounts: Amounts) -> bool:
        """Whether a claim is in range."""
        if self.total and not self.allow_total(amounts):
            return False
        return all(self.clip(amount) == amount for amount in amounts)

    def allow_total(self, amounts: Amounts) -> bool:
        """Whether the number of edges of the whole graph ends in its interval, or nearer to it."""
        if self.redraw.elsewhere is not None:
            return True
        low, high = self.reference.total
        now = self.reference.places.graph.n_edges
        return min(low, now) <= now + net(amounts) <= max(high, now)


@dataclass(frozen=True)
class PlaceReference(Serialisable, named="what real graphs have in a place"):
    """One place of a claim: the graph before and after, and what real graphs have there.

    Attributes
    ----------
    place : the names of its regions, or of its node.
    size : number of pairs in the place.
    before, after : number of edges of the graph before and after the change.
    group : number of edges of each graph of the reference group, ascending.
    same : the same for the graphs of the original's class.
    low, high : the 95 % prediction interval of the group; None for a group of fewer than 3 graphs.
    in_range : whether the change is in range; None if there is no interval.
    effect : Hedges' g between the group and the original's class; None if a class has fewer than 2
        graphs.
    exceeds : why the change is out of range: the number of edges leaves the ``"interval"``; more
        change than the ``"difference"`` to any graph of the group; of the pairs ``"meant"``, it
        ends with more, or fewer, than the group; or the ``"total"`` of the whole graph is out.
    """

    place: tuple[str, ...]
    size: int
    before: int
    after: int
    group: tuple[int, ...]
    same: tuple[int, ...]
    low: int | None = None
    high: int | None = None
    in_range: bool | None = None
    effect: float | None = None
    exceeds: tuple[Exceeded, ...] = ()

    @property
    def is_out(self) -> bool:
        """Whether this place is out of range, and not only the whole graph's number of edges."""
        return self.in_range is False and self.exceeds != ("total",)

    @property
    def median(self) -> float | None:
        """The median of the group; None without graphs."""
        return float(np.median(self.group)) if self.group else None

    @property
    def z(self) -> float | None:
        """How far the graph after the change lies from the group, in standard deviations.

        Below 40 graphs it is the t of Crawford and Howell (1998).
        """
        n = len(self.group)
        if n < FEWEST:
            return None
        spread = max(float(np.std(self.group, ddof=1)), SPREAD)
        if n < QUANTILES:
            spread *= math.sqrt(1 + 1 / n)
        return (self.after - float(np.mean(self.group))) / spread

    @property
    def is_inside(self) -> bool | None:
        """Whether the place ends in the interval; None if there is none.

        A graph that begins outside is also in range if it moves towards the interval.
        """
        if self.low is None or self.high is None:
            return None
        return self.low <= self.after <= self.high

    @property
    def is_at_limit(self) -> bool:
        """Whether the place ends exactly at an end of the interval."""
        return self.after in (self.low, self.high)

    @property
    def is_towards(self) -> bool | None:
        """Whether the change brings the place nearer to the median of the group."""
        if self.median is None:
            return None
        return abs(self.after - self.median) < abs(self.before - self.median)


def judge_claim(
    claim: Claim, reference: Reference, redraw: Redraw, edits: Edits | None = None
) -> tuple[PlaceReference, ...]:
    """What real graphs have in each place of a claim, and whether it is in range there.

    The number of edges of the whole graph is judged in every place alike: a claim after which the
    graph has too many edges is in range nowhere.

    Parameters
    ----------
    claim, reference, redraw : the claim, what real graphs have, and the pairs that it means.
    edits : the edits that the claim is about, if two of its nodes may share one: the claim counts
        it at one of them, and both change.
    """
    made = claim.amounts if edits is None else counted_anew(claim, edits, reference.places)
    limits = Limits(reference, redraw)
    known = reference.is_known
    total = known and limits.allow_total(claim.amounts)
    effects = reference.effects if reference.group else None
    out = []
    for amount, name in zip(made, claim.place_names, strict=True):
        at = reference.index(amount.place)
        size, before = reference.places.counts(amount.place)
        few = min(len(reference.group), len(reference.same)) < 2
        exceeds: tuple[Exceeded, ...] = ()
        if known:
            exceeds = (*limits.exceeded(amount), *(() if total else ("total",)))
        out.append(
            PlaceReference(
                name,
                size,
                before,
                before + amount.added - amount.removed,
                _sorted_ints(reference.counts[:, at]) if reference.group else (),
                _sorted_ints(reference.same_counts[:, at]) if reference.same else (),
                int(reference.intervals[0][at]) if known else None,
                int(reference.intervals[1][at]) if known else None,
                not exceeds if known else None,
                None if few or effects is None else float(effects[at]),
                exceeds,
            )
        )
    return tuple(out)


def counted_anew(claim: Claim, edits: Edits, places: Places) -> Amounts:
    """The amounts of a claim, with an edit that joins two nodes counted at both of them."""
    if claim.language != "nodes":
        return claim.amounts
    n = places.graph.n_nodes
    added, removed = (
        places.tally(np.array([u * n + v for u, v in pairs], dtype=np.int64))
        for pairs in (edits.added, edits.removed)
    )
    at = [place[0] for place in claim.places]
    return tuple(
        Amount(place, int(added[v]), int(removed[v]))
        for v, place in zip(at, claim.places, strict=True)
    )


def limits_of(
    result: Counterfactual,
    claim: Claim,
    background: Background,
    session: BaseSession,
    bound: BoundConstraints | None = None,
) -> Limits | None:
    """The amounts that real graphs allow in the places of a claim; None if they are unknown.

    Parameters
    ----------
    result, claim : the result, and the claim about it.
    background, session : the data set, and the session with the classifier that labels it.
    bound : the constraints of the search.
    """
    if claim.language == "pairs" or (claim.language == "nodes" and background.by_type):
        return None
    by_truth = result.by_true_labels
    labels = background.true_labels(session) if by_truth else background.labels(session)
    sides = Sides.of_background(background, session, result.label_before, claim.label)
    graphs = background.graphs
    same = [g for g, label in zip(graphs, labels, strict=True) if label == result.label_before]
    group = [g for g, label in zip(graphs, labels, strict=True) if label == claim.label]
    if not group:
        return None
    redraw = redraw_of(result, claim, sides, bound)
    return Limits(Reference(redraw.places, same, group), redraw)


def _sorted_ints(values: Floats) -> tuple[int, ...]:
    return tuple(sorted(int(value) for value in values))
