"""The result of a cohort in one sentence, for its page and the app."""

from __future__ import annotations

from typing import TYPE_CHECKING

from denseflip.cohort.data_notes import MADE_UP
from denseflip.cohort.words import differing_words, p_value_words, place_words
from denseflip.report.facts import Chip
from denseflip.story.wording.badge import accuracy_words, judged_better

if TYPE_CHECKING:
    from denseflip.cohort.cohort import Cohort

MARKS = {
    "named": "Significant region pairs were found.",
    "nothing": "No region pair is used more often than expected by chance.",
    "chance": "The classifier is at chance: no conclusions about the groups are drawn.",
    "confounded": (
        "The classifier does not beat its confounds: no conclusions about the groups are drawn."
    ),
    "untested": "Descriptive results only: there are no p-values.",
}


def headline_of(cohort: Cohort) -> str:
    """The result in one sentence: the pair that most decisions depend on, or why none is named."""
    if not cohort.named:
        return MARKS[cohort.verdict]
    first, spoken = cohort.named[0], cohort.class_names[cohort.spoken]
    others = len(cohort.named) - 1
    more = f", and {others} more region pair{'' if others == 1 else 's'}" if others else ""
    return (
        f"In {first.patients} of {cohort.observed.explained} {cohort.noun} the decision depends on "
        f"{place_words(first.name, cohort.units)}{more}: {first.direction} of them move "
        f"the answer towards {spoken}."
    )


def lines_of(cohort: Cohort) -> tuple[str, ...]:
    """What a reader has to know beside the headline: made-up data, its words, and the test."""
    lines = [note for note in cohort.notes if note == MADE_UP]
    if cohort.named:
        first, spoken = cohort.named[0], cohort.class_names[cohort.spoken]
        others = [name for name in cohort.class_names if name != spoken]
        lines.append(
            f"Towards {spoken}: with {first.direction} of these {cohort.units}, the classifier "
            f"answers {spoken} rather than {' or '.join(others)}."
        )
    if cohort.p_difference is not None and cohort.verdict in {"named", "nothing"}:
        lines.append(differing_words(cohort))
    if cohort.permutations:
        lines.append(p_value_words(cohort))
    return tuple(lines)


def cohort_marks(cohort: Cohort) -> tuple[Chip, ...]:
    """How far to trust the result: the classifier, how many were explained, and the test."""
    better, right = judged_better(cohort.evaluation), accuracy_words(cohort.evaluation, cohort.noun)
    figure = f": {right}" if right else ""
    names = {
        True: ("good", "classifier better than chance"),
        False: ("listed", "classifier not better than chance"),
        None: ("plain", "classifier not evaluated"),
    }
    kind, name = names[better]
    seen = cohort.observed
    tested = f"{cohort.permutations:,} label permutations" if cohort.permutations else "none"
    return (
        Chip(kind, f"{name}{figure}"),
        Chip("plain", f"explained: {seen.explained:,} of {len(seen.patients):,} {cohort.noun}"),
        Chip("plain" if cohort.permutations else "listed", f"test of region pairs: {tested}"),
    )
