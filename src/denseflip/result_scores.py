"""Robustness, stability and plausibility of a counterfactual."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import fmean, stdev

from denseflip.as_read import TRUE_AS_READ, DrawCount
from denseflip.errors import InvalidParameterError
from denseflip.serialise import Serialisable


@dataclass(frozen=True)
class Robustness(
    DrawCount,
    Serialisable,
    named="the robustness of a result",
    keys=(..., "share", "interval", "reached"),
):
    """How many random perturbations of a counterfactual keep its label.

    Attributes
    ----------
    wanted : the requested share.
    noise : the share of all pairs that a perturbation flips.
    draws, flips : perturbations queried, and how many of them still have an accepted label.

    Examples
    --------
    >>> seen = Robustness(0.9, 0.01, draws=100, flips=94)
    >>> seen.share, seen.reached, [round(bound, 2) for bound in seen.interval]
    (0.94, True, [0.88, 0.97])
    """

    wanted: float
    noise: float
    draws: int
    flips: int

    @property
    def reached(self) -> bool:
        """Whether the requested share was reached."""
        return self.at_least(self.wanted)

    def __str__(self) -> str:
        if not self.draws:
            return f"not measured at {100 * self.noise:g} % noise"
        low, high = self.interval
        return (
            f"survives {self.flips} of {self.draws} random perturbations of {100 * self.noise:g} % "
            f"of all pairs (95 % interval {low:.2f} to {high:.2f}; requested: {self.wanted:g})"
        )


@dataclass(frozen=True)
class Stability(
    Serialisable,
    named="the stability of a result",
    keys=(..., "agreeing", "share", "interval", "holds", "reached"),
):
    """For how many classifiers trained again on resampled data a sentence holds.

    Attributes
    ----------
    refits : the number of classifiers that were trained again.
    shares : for each of them that gives the original its label, the share of redraws that get the
        label that the sentence names.
    draws : redraws per classifier.
    wanted : the requested mean share, if any.
    held_out : whether a search used other refits to find the sentence.

    Examples
    --------
    >>> seen = Stability(5, (1.0, 0.95, 1.0, 0.65), draws=20)
    >>> seen.agreeing, seen.holds, round(seen.share, 2), [round(end, 2) for end in seen.interval]
    (4, 3, 0.9, [0.63, 1.0])
    """

    refits: int
    shares: tuple[float, ...]
    draws: int
    wanted: float | None = None
    held_out: bool = False

    def __post_init__(self) -> None:
        if len(self.shares) > self.refits or not all(0 <= share <= 1 for share in self.shares):
            msg = f"The shares of at most {self.refits} refits must be between 0 and 1."
            raise InvalidParameterError(msg)

    @property
    def agreeing(self) -> int:
        """How many refits give the original its label; the others cannot be tested."""
        return len(self.shares)

    @property
    def share(self) -> float | None:
        """The mean share of redraws that flip; None if no refit gives the original its label."""
        return fmean(self.shares) if self.shares else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean over refits (Student's t)."""
        n = self.agreeing
        if n < 2:
            return 0.0, 1.0
        from scipy.special import stdtrit

        half = float(stdtrit(n - 1, 0.975)) * stdev(self.shares) / math.sqrt(n)
        return max(0.0, fmean(self.shares) - half), min(1.0, fmean(self.shares) + half)

    @property
    def holds(self) -> int:
        """For how many refits the sentence is true as read: at least .9 of the redraws flip."""
        return sum(share >= TRUE_AS_READ - 1e-9 for share in self.shares)

    @property
    def reached(self) -> bool:
        """Whether the requested mean share is reached; True if none was requested."""
        return self.wanted is None or (self.share or 0.0) >= self.wanted - 1e-9

    def __str__(self) -> str:
        if self.share is None:
            return f"not known: none of {self.refits} refits gives the original its label"
        low, high = self.interval
        asked = "" if self.wanted is None else f"; requested: {self.wanted:g}"
        return (
            f"holds for {self.holds} of {self.agreeing} refits; on average {self.share:.2f} of "
            f"the redraws flip (95 % interval {low:.2f} to {high:.2f}{asked})"
        )


@dataclass(frozen=True)
class Plausibility(
    Serialisable, named="the plausibility of a result", keys=(..., "implausible", "reached")
):
    """How similar a counterfactual is to real graphs of its class.

    Attributes
    ----------
    n_graphs : the number of real graphs that the classifier assigns to the counterfactual's class.
    nearest : the relative edit distance to the nearest of them; None without any.
    usual : the median distance of these graphs to their nearest neighbour in the class; None with
        fewer than two.
    added, removed : the mean share of these graphs that have an added pair, and a removed pair;
        None without such pairs.
    neighbours : the mean number of common neighbours of an added pair in the original.
    swapped : the number of edits exchanged for more plausible ones in the same place.
    most : the requested bound on `implausible`, if any.

    Examples
    --------
    >>> Plausibility(20, nearest=0.3, usual=0.25, added=0.6, removed=0.1, neighbours=7).implausible
    1.2
    """

    n_graphs: int
    nearest: float | None = None
    usual: float | None = None
    added: float | None = None
    removed: float | None = None
    neighbours: float | None = None
    swapped: int = 0
    most: float | None = None

    @property
    def implausible(self) -> float | None:
        """`nearest` over `usual`; above 1 the graph is further from its class than its members."""
        if self.nearest is None or not self.usual:
            return None
        return self.nearest / self.usual

    @property
    def reached(self) -> bool:
        """Whether the requested bound is met; True without one."""
        far = self.implausible
        return self.most is None or (far is not None and far <= self.most + 1e-9)

    def __str__(self) -> str:
        if self.nearest is None:
            return "unknown: the background has no graph of this class"
        parts = [f"{100 * self.nearest:.1f} % from the nearest of {self.n_graphs} real graphs"]
        if self.implausible is not None:
            parts[0] += f", {self.implausible:.2f} times the usual distance in its class"
        for name, share in (("added", self.added), ("removed", self.removed)):
            if share is not None:
                parts.append(f"an average {name} connection is in {100 * share:.0f} % of them")
        if self.swapped:
            parts.append(f"{self.swapped} edits exchanged for more plausible ones")
        return "; ".join(parts)
