"""Candidate changes of each place: the direction, the usual amount and the largest amount.

They are computed from how often the two classes join each pair, without queries, and guide the
search for claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

import numpy as np

from denseflip.search.claims.claim import Amount, Place
from denseflip.search.claims.queue import AT_ONCE
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.reference import Limits, Reference

_LARGEST = 50_000  # pairs that a move adds or removes; in large graphs an eighth of the edges
_MOST_NODES = 2000  # nodes that a sentence is chosen from
_TOGETHER = 1 << 24  # pairs of all moves that are put in order


@dataclass(frozen=True)
class Move:
    """A change of one place, of any size up to the pairs that are available.

    Attributes
    ----------
    place : the place.
    usual : pairs to add and remove to reach what the target class usually has.
    most : the largest numbers of pairs that the reading can add and remove there.
    clarity : how clearly the classes differ there, in standard deviations of the number of edges.
    """

    place: Place
    usual: tuple[int, int]
    most: tuple[int, int]
    clarity: float = 0.0

    def times(self, factor: float) -> Amount:
        """A multiple of the usual change, at most the pairs available and at least one."""
        added, removed = (
            min(most, max(1, round(factor * usual))) if usual else 0
            for usual, most in zip(self.usual, self.most, strict=True)
        )
        return Amount(self.place, added, removed)

    @property
    def full(self) -> Amount:
        """The largest change in the directions of the usual change."""
        added, removed = (
            most if usual else 0 for usual, most in zip(self.usual, self.most, strict=True)
        )
        return Amount(self.place, added, removed)


def within_limits(moves: Sequence[Move], limits: Limits, *, towards: bool = True) -> list[Move]:
    """The moves, reduced to what keeps a claim in range; those that cannot be are left out.

    With ``towards``, places in which the classes clearly differ move towards the target class.
    """
    out = []
    for move in moves:
        place, added, removed = move.full
        if towards:
            added = min(added, limits.towards(place, adding=True))
            removed = min(removed, limits.towards(place, adding=False))
        full = limits.clip(Amount(place, added, removed))
        usual = (min(move.usual[0], full.added), min(move.usual[1], full.removed))
        if any(usual):
            out.append(replace(move, usual=usual, most=(full.added, full.removed)))
    return out


class Rated(NamedTuple):
    """A move of a place, and two figures by which it is promising."""

    at: int
    move: Move
    gain: float
    expected: float


def moves_of(
    redraw: Redraw, reference: Reference, check_time: Callable[[], None] = lambda: None
) -> list[Move]:
    """The moves of all places that are expected to help, the most promising first.

    In the reading ``"any"`` a place gains pairs or loses pairs. The other readings say which pairs
    are meant, so a place may gain some and lose others.

    Parameters
    ----------
    redraw : the places, the reading, the frequencies of both classes.
    reference : how many edges both classes have in each place.
    check_time : raises when the time is up; fine taxonomies have very many places.
    """
    found = []
    for rated in (_net if redraw.reading == "any" else _both)(redraw, reference):
        check_time()
        found.append(rated)
    found.sort(key=lambda rated: rated.at)
    moves = _woven(
        [rated.move for rated in sorted(found, key=lambda rated: -rated.gain)],
        [rated.move for rated in sorted(found, key=lambda rated: -rated.expected)],
    )
    if redraw.places.taxonomy is None:
        moves = moves[:_MOST_NODES]
    return _first_of(moves, redraw.places.graph.n_edges)


def _first_of(moves: Sequence[Move], n_edges: int) -> list[Move]:
    """The moves of a large graph, each limited to an amount that a reader would still believe.

    As many are kept as can be drawn together.
    """
    largest = max(_LARGEST, n_edges // 8)
    kept, pairs = [], 0
    for move in moves:
        pairs += min(sum(move.most), AT_ONCE)
        if pairs > _TOGETHER:
            break
        if sum(move.most) > largest:
            most = min(move.most[0], largest), min(move.most[1], largest)
            usual = min(move.usual[0], most[0]), min(move.usual[1], most[1])
            move = replace(move, usual=usual, most=most)
        kept.append(move)
    return kept


def _net(redraw: Redraw, reference: Reference) -> Iterator[Rated]:
    places = redraw.places
    away = reference.usual - places.joined
    for adding in (True, False):
        sign = 1 if adding else -1
        rooms = redraw.rooms(adding=adding)
        wanted = np.maximum(sign * away, sign * reference.apart)
        for at in np.flatnonzero((rooms > 0) & (wanted > 0)).tolist():
            room = int(rooms[at])
            amount = min(room, max(1, round(float(wanted[at]))))
            clarity = sign * float(reference.clarity[at])
            move = Move(
                places.every[at],
                (amount, 0) if adding else (0, amount),
                (room, 0) if adding else (0, room),
                clarity,
            )
            # What matters to a classifier of densities: clarity, and the room for change.
            yield Rated(at, move, sign * float(away[at]), clarity * room / int(places.sizes[at]))


def _both(redraw: Redraw, reference: Reference) -> Iterator[Rated]:
    places, current, target = redraw.places, redraw.current, redraw.target
    assert current is not None
    assert target is not None
    sides = []
    for adding in (True, False):
        codes = redraw.meant(adding=adding).codes
        weights = redraw.weights(codes, adding=adding)
        more = target.at(codes) - current.at(codes)
        more = more if adding else -more
        helps = places.total(codes, weights * more)
        sides.append(
            (
                np.where(helps > 0, redraw.rooms(adding=adding), 0),
                places.total(codes, weights),
                np.where(helps > 0, places.total(codes, more), 0.0),
                np.maximum(helps, 0.0),
            )
        )
    (most_added, added, *one), (most_removed, removed, *other) = sides
    for at in np.flatnonzero(most_added + most_removed).tolist():
        most = int(most_added[at]), int(most_removed[at])
        usual = [
            min(room, max(1, round(float(weight[at])))) if room else 0
            for room, weight in zip(most, (added, removed), strict=True)
        ]
        gain, expected = (float(x[at] + y[at]) for x, y in zip(one, other, strict=True))
        clarity = abs(float(reference.clarity[at]))
        move = Move(places.every[at], (usual[0], usual[1]), most, clarity)
        yield Rated(at, move, gain, expected)


def _woven(*orders: Sequence[Move]) -> list[Move]:
    """Merge several orders into one, taking from each in turn, without repeats."""
    out: dict[Move, None] = {}
    for row in zip_longest(*orders):
        out.update((move, None) for move in row if move is not None)
    return list(out)


def one_each(moves: Sequence[Move]) -> list[Move]:
    """The first move of every place."""
    out: dict[Place, Move] = {}
    for move in moves:
        out.setdefault(move.place, move)
    return list(out.values())
