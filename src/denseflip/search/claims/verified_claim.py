"""`VerifiedClaim`: a claim that was found true as read, and which of several is best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from denseflip.as_read import READINGS
from denseflip.counterfactual import AsRead
from denseflip.graph import Codes
from denseflip.search.claims.claim import Claim
from denseflip.search.claims.redraw import Redraw

if TYPE_CHECKING:
    from denseflip.search.claims.claim_search import ClaimTest

# Number of places, edits, rank of the reading, whether it is out of range: less is better.
Marks = tuple[int, int, int, int]


@dataclass(frozen=True, eq=False)
class VerifiedClaim:
    """A claim that was verified, with the outcome of the test and one redraw that flips.

    Its parts are the pairs of each place and, if it is balanced, those elsewhere. Its effort is the
    number of edits, divided in each place by how clearly the classes differ there. Whether it is in
    range is not known if the reference group is too small. A search for stable claims adds the mean
    share of redraws that flip the refits that it used.
    """

    claim: Claim
    as_read: AsRead
    parts: tuple[Codes, ...]
    effort: float
    in_range: bool | None = None
    test: ClaimTest | None = None
    stable: float | None = None

    @property
    def redraw(self) -> Redraw:
        """What draws the pairs of the claim."""
        assert self.test is not None
        return self.test.redraw

    @property
    def cells(self) -> int:
        """Number of places in the sentence."""
        return len(self.claim.amounts)

    @property
    def edits(self) -> int:
        """Number of pairs that it changes."""
        return self.claim.total + abs(self.claim.elsewhere)

    @property
    def rank(self) -> int:
        """Rank of the reading, 0 for the strongest."""
        return READINGS.index(self.claim.reading)

    @property
    def marks(self) -> Marks:
        """The values that a Pareto front compares."""
        return self.cells, self.edits, self.rank, int(self.in_range is False)


def beats(one: Marks, other: Marks) -> bool:
    """Whether an answer is at least as good in every respect, and better in one."""
    return one != other and all(x <= y for x, y in zip(one, other, strict=True))


def pareto_front(marks: Sequence[Marks]) -> list[int]:
    """Positions of the answers on the Pareto front, fewest cells first; of equal ones the first.

    >>> pareto_front([(2, 9, 0, 0), (1, 30, 0, 0), (1, 40, 0, 0), (2, 9, 0, 0)])
    [1, 0]
    """
    kept: dict[Marks, int] = {}
    for i, one in enumerate(marks):
        if not any(beats(other, one) for other in marks):
            kept.setdefault(one, i)
    return [kept[key] for key in sorted(kept)]


def shortest(verified: Sequence[VerifiedClaim]) -> VerifiedClaim:
    """The claim in range with the fewest cells; a weaker reading must halve the effort."""
    first = [one for one in verified if one.in_range] or list(verified)
    return first[preferred([(one.cells, one.effort, one.rank) for one in first])]


def preferred(answers: Sequence[tuple[int, float, int]]) -> int:
    """The position of the preferred answer, given the cells, effort and rank of each."""
    few = min(cells for cells, _, _ in answers)
    rest = sorted(
        (rank, effort, i) for i, (cells, effort, rank) in enumerate(answers) if cells == few
    )
    best = rest[0]
    for rank, effort, i in rest[1:]:
        if effort * 2 ** (rank - best[0]) <= best[1] and effort < best[1]:
            best = (rank, effort, i)
    return best[2]
