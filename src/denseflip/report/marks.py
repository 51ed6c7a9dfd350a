"""What stands at the head of a story: how far to trust it, in a few words, and its figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denseflip.report.front import language_words
from denseflip.report.html import Fact
from denseflip.report.scene import status_words
from denseflip.story.wording.badge import judged_better

if TYPE_CHECKING:
    from denseflip.story.story import Story

_CHIPS = {"true": "good", "listed": "listed", "none": "plain"}  # a badge's level → its look


@dataclass(frozen=True)
class Chip:
    """A word about the result in a small frame: ``good``, ``listed`` or ``plain``."""

    kind: str
    text: str


def chips_of(story: Story) -> tuple[Chip, ...]:
    """How it ended, how far to trust it, and its language. Only what is true as read is green."""
    badge = story.badge
    chips = [Chip("plain", status_words(story))]
    if story.result.found:
        doubted = judged_better(story.evaluation) is False  # what a reader must not overlook
        chips = [Chip("listed" if doubted else _CHIPS[badge.level], badge.text), *chips]
    if language := language_words(story):
        chips.append(Chip("plain", language))
    return tuple(chips)


def tiles_of(story: Story) -> tuple[Fact, ...]:
    """The figures at a glance."""
    r = story.result
    tiles = [
        Fact("edges removed" if r.found else "removed when it stopped", f"{len(r.removed):,}"),
        Fact("edges added" if r.found else "added when it stopped", f"{len(r.added):,}"),
        Fact("of the edges of either graph", f"{100 * r.relative_distance:.1f} %"),
        Fact("questions to the classifier", f"{r.calls:,}"),
    ]
    if story.as_read is not None and story.as_read.draws and not story.only_choice:
        low, high = story.as_read.interval
        meant = f"random choices that do as well (95 %: {100 * low:.0f}–{100 * high:.0f} %)"
        tiles.append(Fact(meant, f"{story.as_read.flips} of {story.as_read.draws}"))
    if r.robustness is not None and r.robustness.draws:
        low, high = r.robustness.interval
        meant = (
            f"random perturbations survived ({100 * r.robustness.noise:g} % of all pairs; "
            f"95 %: {100 * low:.0f}–{100 * high:.0f} %)"
        )
        tiles.append(Fact(meant, f"{r.robustness.flips} of {r.robustness.draws}"))
    if r.plausibility is not None and r.plausibility.implausible is not None:
        meant = "as far from the nearest real graph as is usual in its class"
        tiles.append(Fact(meant, f"{r.plausibility.implausible:.2f} ×"))
    if r.minimal is not None:
        certified = Fact("no change is spare (certified)", "1-minimal")
        tiles.append(certified if r.minimal else Fact("that no change is spare", "unproven"))
    return tuple(tiles)
