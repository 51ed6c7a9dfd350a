"""What a sentence could say of each place: which way to move it, how far a usual graph of the
target class is, and how far one can go.

None of this asks the oracle anything: it is the prior of the searches for claims, made of how often
the two classes join each pair.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from denseflip.graph import Graph
from denseflip.search.claims import Amount, Redraw, Unit


@dataclass(frozen=True)
class Move:
    """A change of one place, of any size up to what there is room for.

    Attributes
    ----------
    unit : the place.
    usual : pairs added and removed to come to what the target class usually has.
    most : pairs that the reading could add and remove there at most.
    worth : what it is expected to do for the flip at its most; only the order counts.
    """

    unit: Unit
    usual: tuple[int, int]
    most: tuple[int, int]
    worth: float = 0.0

    def times(self, factor: float) -> Amount:
        """So many times the usual change, as far as there is room; at least one pair."""
        added, removed = (
            min(most, max(1, round(factor * usual))) if usual else 0
            for usual, most in zip(self.usual, self.most, strict=True)
        )
        return Amount(self.unit, added, removed)

    @property
    def full(self) -> Amount:
        """All that there is room for, in the directions of the usual change."""
        added, removed = (
            most if usual else 0 for usual, most in zip(self.usual, self.most, strict=True)
        )
        return Amount(self.unit, added, removed)


def moves_of(redraw: Redraw, others: Sequence[Graph]) -> list[Move]:
    """The moves of every place that are expected to help, the most promising first.

    Under the reading ``"any"`` a place gets more pairs or fewer. The other readings say which pairs
    are meant, so that a place may get some and lose others.

    Parameters
    ----------
    redraw : the places, the reading, the frequencies of both classes.
    others : background graphs of the target class.
    """
    return _net(redraw) if redraw.reading == "any" else _both(redraw)


def _net(redraw: Redraw) -> list[Move]:
    places, current, target = redraw.places, redraw.current, redraw.target
    assert current is not None
    assert target is not None
    found: list[tuple[Move, float, float]] = []
    for unit in places.units:
        members = places.members(unit)
        has, lacks = places.present(unit), places.absent(unit)
        wanted, usual = target.at(members), current.at(members)
        away = float(wanted.sum()) - len(has)  # of this graph from the target class
        apart = float(wanted.sum() - usual.sum())  # of the classes from each other
        spread = np.sqrt(float((wanted * (1 - wanted) + usual * (1 - usual)).sum()) / 2 + 1.0)
        for adding in (True, False):
            sign = 1 if adding else -1
            room = len(lacks) if adding else len(has)
            if not room or max(sign * away, sign * apart) <= 0:
                continue
            amount = min(room, max(1, round(max(sign * away, sign * apart))))
            pair = (amount, 0) if adding else (0, amount)
            most = (room, 0) if adding else (0, room)
            # A classifier by density moves with apart over spread, and by the room there is.
            clear = sign * apart / spread
            found.append((Move(unit, pair, most, clear), sign * away, clear * room / len(members)))
    by_size = sorted(found, key=lambda part: -part[1])
    by_worth = sorted(found, key=lambda part: -part[2])
    return _woven([part[0] for part in by_size], [part[0] for part in by_worth])


def _both(redraw: Redraw) -> list[Move]:
    places, current, target = redraw.places, redraw.current, redraw.target
    assert current is not None
    assert target is not None
    found: list[tuple[Move, float]] = []
    for unit in places.units:
        usual, most, gain, expected = [0, 0], [0, 0], 0.0, 0.0
        for side, adding in enumerate((True, False)):
            codes = places.absent(unit) if adding else places.present(unit)
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
            move = Move(unit, (usual[0], usual[1]), (most[0], most[1]), gain)
            found.append((move, expected))
    by_worth = sorted(found, key=lambda part: -part[0].worth)
    by_expected = sorted(found, key=lambda part: -part[1])
    return _woven([part[0] for part in by_worth], [part[0] for part in by_expected])


def _woven(*orders: Sequence[Move]) -> list[Move]:
    """Several orders as one, taking from each in turn what is not there yet."""
    out: dict[Move, None] = {}
    for row in zip_longest(*orders):
        out.update((move, None) for move in row if move is not None)
    return list(out)


def one_each(moves: Sequence[Move]) -> list[Move]:
    """The first move of every place."""
    out: dict[Unit, Move] = {}
    for move in moves:
        out.setdefault(move.unit, move)
    return list(out.values())
