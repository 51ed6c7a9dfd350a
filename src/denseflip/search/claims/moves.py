"""Candidate changes of each place: the direction, the usual amount and the largest amount.

They are computed from how often the two classes join each pair, without queries, and guide the
search for claims.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from denseflip.search.claims.claim import Amount, Place
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.reference import Limits, Reference


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


def within_limits(moves: Sequence[Move], limits: Limits) -> list[Move]:
    """The moves, reduced to what keeps a claim in range; those that cannot be are left out."""
    out = []
    for move in moves:
        full = limits.clip(move.full)
        usual = (min(move.usual[0], full.added), min(move.usual[1], full.removed))
        if any(usual):
            out.append(replace(move, usual=usual, most=(full.added, full.removed)))
    return out


Rated = tuple[Move, float, float]  # a move and two figures by which it is promising


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
    found = (_net if redraw.reading == "any" else _both)(redraw, reference, check_time)
    return _woven(
        [move for move, _, _ in sorted(found, key=lambda rated: -rated[1])],
        [move for move, _, _ in sorted(found, key=lambda rated: -rated[2])],
    )


def _net(redraw: Redraw, reference: Reference, check_time: Callable[[], None]) -> list[Rated]:
    found: list[Rated] = []
    places = redraw.places
    for place in places.every:
        check_time()
        has, lacks = places.present(place), places.absent(place)
        size, joined = places.counts(place)
        at = reference.index(place)
        apart, away = float(reference.apart[at]), float(reference.usual[at]) - joined
        for adding in (True, False):
            sign = 1 if adding else -1
            room = len(lacks) if adding else len(has)
            wanted = max(sign * away, sign * apart)
            if not room or wanted <= 0:
                continue
            amount = min(room, max(1, round(wanted)))
            clarity = sign * float(reference.clarity[at])
            move = Move(
                place,
                (amount, 0) if adding else (0, amount),
                (room, 0) if adding else (0, room),
                clarity,
            )
            # What matters to a classifier of densities: clarity, and the room for change.
            found.append((move, sign * away, clarity * room / size))
    return found


def _both(redraw: Redraw, reference: Reference, check_time: Callable[[], None]) -> list[Rated]:
    places, current, target = redraw.places, redraw.current, redraw.target
    assert current is not None
    assert target is not None
    found: list[Rated] = []
    for place in places.every:
        check_time()
        usual, most, gain, expected = [0, 0], [0, 0], 0.0, 0.0
        for side, adding in enumerate((True, False)):
            codes = places.absent(place) if adding else places.present(place)
            weights = redraw.weights(codes, adding=adding)
            more = target.at(codes) - current.at(codes)
            helps = weights * (more if adding else -more)
            if not len(codes) or helps.sum() <= 0:
                continue
            most[side] = int(np.count_nonzero(weights))
            usual[side] = min(most[side], max(1, round(float(weights.sum()))))
            gain += float((more if adding else -more)[weights > 0].sum())
            expected += float(helps.sum())
        if any(usual):
            clarity = abs(float(reference.clarity[reference.index(place)]))
            move = Move(place, (usual[0], usual[1]), (most[0], most[1]), clarity)
            found.append((move, gain, expected))
    return found


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
