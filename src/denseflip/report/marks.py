"""The head of a story's page: how far to trust it, in a few words, and its key numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from denseflip.report.front import language_words
from denseflip.report.html import Fact
from denseflip.report.scene import status_words
from denseflip.report.strip_layout import range_words
from denseflip.story.wording.badge import judged_better, known

if TYPE_CHECKING:
    from denseflip.story.story import Story

_CHIPS = {"true": "good", "listed": "listed", "none": "plain"}  # a badge's level → its look


@dataclass(frozen=True)
class Chip:
    """A short framed label about the result, styled ``good``, ``listed`` or ``plain``."""

    kind: str
    text: str


def badge_chip(story: Story) -> Chip:
    """How far to trust a story, in one label; the status of the search if nothing was found."""
    if not story.result.found:
        return Chip("plain", status_words(story))
    badge = story.badge
    doubted = judged_better(story.evaluation) is False  # readers must not overlook this
    return Chip("listed" if doubted else _CHIPS[badge.level], badge.text)


def chips_of(story: Story) -> tuple[Chip, ...]:
    """Marks, status and language of a story."""
    chips = [*marks_of(story), Chip("plain", status_words(story))]
    if language := language_words(story):
        chips.append(Chip("plain", language))
    return tuple(chips)


def marks_of(story: Story) -> tuple[Chip, ...]:
    """Each reason to trust a story, or not, with its figure; empty if nothing was found.

    Marks are green only together: if the sentence is true as read and in range and the classifier
    better than chance. A mark that fails is styled ``listed``.
    """
    if not story.result.found:
        return ()
    green = story.badge.level == "true"
    looks = {True: "good" if green else "plain", False: "listed", None: "plain"}
    marks = (
        _read_mark(story),
        (story.in_range, range_words(story)),
        # The stability over retrained classifiers goes here.
        _classifier_mark(story),
    )
    return tuple(Chip(looks[passed], text) for passed, text in marks if text)


def _read_mark(story: Story) -> tuple[bool | None, str]:
    """Whether the sentence is true as read, and in how many redraws."""
    test = story.as_read
    if not story.verified:
        return None, "not tested"
    if test is None or not test.draws:
        return False, "holds for the listed connections"
    tries = "no other choice" if test.only else f"{test.flips:,} of {test.draws:,} redraws"
    return test.true, f"{'true as read' if test.true else 'true of those listed only'}: {tries}"


def _classifier_mark(story: Story) -> tuple[bool | None, str]:
    """Whether the classifier is better than chance, and its accuracy on held-out graphs."""
    better, share = judged_better(story.evaluation), known(story.evaluation, "accuracy")
    figure = "" if share is None else f": {100 * share:.0f} % of held-out graphs"
    if better:
        return True, f"classifier better than chance{figure}"
    if better is False:  # the badge says why
        return False, f"{story.badge.text}{figure}"
    if story.evaluation is None:
        return None, "classifier not judged"
    return None, "classifier judged on graphs it may have seen"


def tiles_of(story: Story) -> tuple[Fact, ...]:
    """The key numbers of a story."""
    r = story.result
    tiles = [
        Fact("edges removed" if r.found else "removed at the end", f"{len(r.removed):,}"),
        Fact("edges added" if r.found else "added at the end", f"{len(r.added):,}"),
        Fact("edits, of the edges of either graph", f"{100 * r.relative_distance:.1f} %"),
        Fact("queries to the classifier", f"{r.calls:,}"),
    ]
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
