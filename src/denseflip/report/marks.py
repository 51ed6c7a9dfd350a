"""The head of a story's page: how far to trust it, in a few words, and its key numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denseflip.report.front import language_words
from denseflip.report.html import Fact
from denseflip.report.scene import status_words
from denseflip.story.wording.notes import judged_better

if TYPE_CHECKING:
    from denseflip.story.story import Story

_CHIPS = {"true": "good", "listed": "listed", "none": "plain"}  # a badge's level → its look


@dataclass(frozen=True)
class Chip:
    """A short framed label about the result, styled ``good``, ``listed`` or ``plain``."""

    kind: str
    text: str


def chips_of(story: Story) -> tuple[Chip, ...]:
    """Status, trust and language of a story. Only a sentence that is true as read is green."""
    badge = story.badge
    chips = [Chip("plain", status_words(story))]
    if story.result.found:
        doubted = judged_better(story.evaluation) is False  # readers must not overlook this
        chips = [Chip("listed" if doubted else _CHIPS[badge.level], badge.text), *chips]
    if language := language_words(story):
        chips.append(Chip("plain", language))
    return tuple(chips)


def tiles_of(story: Story) -> tuple[Fact, ...]:
    """The key numbers of a story."""
    r = story.result
    tiles = [
        Fact("edges removed" if r.found else "removed at the end", f"{len(r.removed):,}"),
        Fact("edges added" if r.found else "added at the end", f"{len(r.added):,}"),
        Fact("edits, of the edges of either graph", f"{100 * r.relative_distance:.1f} %"),
        Fact("queries to the classifier", f"{r.calls:,}"),
    ]
    if story.as_read is not None and story.as_read.draws and not story.only_choice:
        low, high = story.as_read.interval
        meant = f"redraws that flip, too (95 %: {100 * low:.0f}–{100 * high:.0f} %)"
        tiles.append(Fact(meant, f"{story.as_read.flips} of {story.as_read.draws}"))
    if r.robustness is not None and r.robustness.draws:
        low, high = r.robustness.interval
        meant = (
            f"random perturbations survived ({100 * r.robustness.noise:g} % of all pairs; "
            f"95 %: {100 * low:.0f}–{100 * high:.0f} %)"
        )
        tiles.append(Fact(meant, f"{r.robustness.flips} of {r.robustness.draws}"))
    if r.plausibility is not None and r.plausibility.implausible is not None:
        meant = "distance to the nearest real graph, relative to its class"
        tiles.append(Fact(meant, f"{r.plausibility.implausible:.2f} ×"))
    if r.minimal is not None:
        certified = Fact("every edit is needed (certified)", "1-minimal")
        tiles.append(certified if r.minimal else Fact("every edit is needed", "not certified"))
    return tuple(tiles)
