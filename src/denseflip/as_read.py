"""`AsRead`: the test of a sentence on redrawn connections."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from denseflip.errors import InvalidParameterError, check_choice
from denseflip.serialise import Serialisable

TRUE_AS_READ = 0.9  # the share of redraws that must flip before a sentence may name regions
Language = Literal["regions", "nodes", "pairs"]
Reading = Literal["any", "typical", "distinctive"]
READINGS: tuple[Reading, ...] = get_args(Reading)  # the strongest first
_Z_95 = 1.959963984540054


def wilson_interval(share: float, n: int) -> tuple[float, float]:
    """Wilson interval of a share observed in n independent trials.

    >>> low, high = wilson_interval(1.0, 16)
    >>> round(low, 3), high
    (0.806, 1.0)
    """
    z = _Z_95
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


class DrawCount:
    """How many random draws were queried, and how many of them flipped."""

    draws: int
    flips: int

    def __post_init__(self) -> None:
        if not 0 <= self.flips <= self.draws:
            msg = f"flips must be from 0 to draws ({self.draws}); got {self.flips}."
            raise InvalidParameterError(msg)

    @property
    def share(self) -> float | None:
        """Share of the draws that flip; None without draws."""
        return self.flips / self.draws if self.draws else None

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson 95 % interval of the share."""
        return wilson_interval(self.flips / self.draws, self.draws) if self.draws else (0.0, 1.0)

    def at_least(self, share: float) -> bool:
        """Whether at least this share of the draws flips; False without draws."""
        return self.draws > 0 and self.flips >= share * self.draws - 1e-9


@dataclass(frozen=True)
class AsRead(
    DrawCount,
    Serialisable,
    named="a test of a sentence as read",
    keys=(..., "share", "interval", "true"),
):
    """The test of a sentence as a reader understands it: the share of redraws that flip.

    A redraw changes as many pairs in the same places as the sentence says, but other pairs, drawn
    at random.

    Attributes
    ----------
    language : what the sentence names: ``"regions"``, ``"nodes"`` or ``"pairs"``. Pairs are named
        one by one, so there is nothing to redraw.
    regions : the taxonomy, if the language is ``"regions"``.
    reading : which pairs a redraw takes: ``"any"`` of the place; ``"typical"``, in proportion to
        how often graphs of the target class have (or, for removals, lack) them; ``"distinctive"``,
        in proportion to how much more often than graphs of the original's class.
    draws, flips : the number of redraws that were queried, and how many of them flipped.
    only : whether there is only one choice of that many pairs; then one query is enough.
    places : the places that a search named, each by the names of its regions or of its node.
    balanced : whether each redraw also changes pairs in other places, so that the number of edges
        stays the same.

    Examples
    --------
    >>> test = AsRead("regions", "lobe", "any", draws=20, flips=19)
    >>> test.share, test.true, [round(bound, 2) for bound in test.interval]
    (0.95, True, [0.76, 0.99])
    """

    language: Language
    regions: str | None
    reading: Reading
    draws: int
    flips: int
    only: bool = False
    places: tuple[tuple[str, ...], ...] = ()
    balanced: bool = False

    def __post_init__(self) -> None:
        for name, value, known in (
            ("language", self.language, get_args(Language)),
            ("reading", self.reading, get_args(Reading)),
        ):
            check_choice(name, value, known)
        super().__post_init__()

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson 95 % interval of the share; the share itself if there is only one choice."""
        if self.only and self.draws:
            return self.flips / self.draws, self.flips / self.draws
        return super().interval

    @property
    def true(self) -> bool:
        """Whether the sentence may name places rather than single pairs.

        Always True for a list of pairs.
        """
        return self.language == "pairs" or self.at_least(TRUE_AS_READ)
