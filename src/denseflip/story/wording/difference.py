"""Whether a sentence names a difference between the groups, or only what the classifier uses."""

from __future__ import annotations

from collections.abc import Sequence

from denseflip.search.claims.reference import PlaceReference

FAINT = 0.2  # Hedges' g below which two groups hardly differ in a place
_ONLY = "this describes this classifier rather than the groups."


def is_faint(place: PlaceReference) -> bool:
    """Whether the groups hardly differ in a place."""
    return place.effect is not None and abs(place.effect) < FAINT


def _leads_away(place: PlaceReference) -> bool:
    """Whether the change takes a place further from the median of the new group."""
    median = place.median
    return median is not None and abs(place.after - median) > abs(place.before - median)


def doubt_reason(places: Sequence[PlaceReference]) -> str:
    """Why a sentence is no difference between the groups, in a few words; empty if it may be one.

    The groups hardly differ in every place that it names, or every place moves away from what is
    usual for the new group.
    """
    if not places:
        return ""
    if all(map(is_faint, places)):
        return "the groups hardly differ there"
    if all(map(_leads_away, places)):
        return "away from what is usual"
    return ""


def doubt_words(places: Sequence[PlaceReference], group: str) -> str:
    """The same as a sentence for readers; empty if the sentence may be a difference.

    ``group`` is the new group: ``B6 mice``.
    """
    if not (reason := doubt_reason(places)):
        return ""
    if all(map(is_faint, places)):
        return f"{reason[0].upper()}{reason[1:]}: {_ONLY}"
    return f"It moves away from what {group} usually have: {_ONLY}"


def smallest_effect(places: Sequence[PlaceReference]) -> float | None:
    """The smallest |g| between the groups in the named places; None if it is not known there."""
    sizes = [abs(place.effect) for place in places if place.effect is not None]
    return min(sizes) if sizes else None
