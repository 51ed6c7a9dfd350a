"""`SharedChange`: one change that flips many patients, chosen on one half and tested on the other.

A change is a few cells with an amount each, never particular connections. The search for it is in
`shared_search`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from denseflip.counterfactual import Reading, wilson_interval
from denseflip.serialise import Serialisable


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
    target : the class that it leads to; None for any other class.
    in_range : ids of the flipped patients for whom it is in range.
    limited : ids of the flipped patients for whom the amounts were reduced, to stay in range or
        because their graphs have, or lack, fewer connections there.
    balanced : whether as many connections change elsewhere, so that their number is kept.
    fallback : whether it was searched for out of range because none in range was found.
    """

    amounts: Mapping[int, int]
    reading: Reading
    reached: int
    of: int
    flipped: tuple[str, ...]
    counted: tuple[str, ...]
    members: int
    target: int | None = None
    in_range: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()
    balanced: bool = False
    fallback: bool = False

    def __post_init__(self) -> None:
        if not set(self.flipped) <= set(self.counted):
            msg = "a flipped patient is not among those counted"
            raise ValueError(msg)
        if not set(self.in_range) | set(self.limited) <= set(self.flipped):
            msg = "a patient in range, or with less than the whole change, is not flipped"
            raise ValueError(msg)


@dataclass(frozen=True)
class SharedChange(
    Serialisable,
    named="a change that a cohort shares",
    keys=(..., "flipped", "in_range", "counted", "coverage", "interval"),
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
    def in_range(self) -> int:
        """Number of the flipped patients for whom the change is in range."""
        return sum(len(half.in_range) for half in self.halves)

    @property
    def limited(self) -> int:
        """Number of the flipped patients for whom the amounts were reduced."""
        return sum(len(half.limited) for half in self.halves)

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
