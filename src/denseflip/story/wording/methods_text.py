"""A paragraph for the methods section of a paper: what was done, with figures and references."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from denseflip.errors import counted
from denseflip.story.wording.badge import known

if TYPE_CHECKING:
    from denseflip.story.wording.statement import Sentences

PAPER = (
    "Abrate C., Preti G., Bonchi F. (2023). Counterfactual Explanations for Graph Classification "
    "Through the Lenses of Density. xAI 2023, arXiv:2307.14849."
)
CRAWFORD_HOWELL = (
    "Crawford J. R., Howell D. C. (1998). Comparing an individual's test score against norms "
    "derived from small samples. The Clinical Neuropsychologist 12(4), 482–486."
)
_READINGS = {
    "any": "any pairs of nodes of the named places",
    "typical": "pairs drawn in proportion to how often graphs of the target class have (for "
    "removals, lack) them",
    "distinctive": "pairs drawn in proportion to how much their frequency differs between the "
    "two classes",
}


def methods_text(sentences: Sentences, evaluation: Any, version: str) -> str:
    """The methods of one explanation in a paragraph, with its references.

    Every figure in it is one of the explanation.
    """
    result = sentences.result
    method = result.method or "a search"
    if result.chosen and result.chosen != result.method:
        method = f"{method} (which chose {result.chosen})"
    parts = [
        f"Counterfactual explanations of the classifier were computed with denseflip {version} "
        f"[1], method {method}, seed {result.seed}, with "
        f"{counted(result.calls, 'query', 'queries')} of the classifier."
    ]
    verdict = known(evaluation, "verdict") if evaluation is not None else None
    if verdict:
        parts.append(str(verdict))
    if not result.found:
        return " ".join([*parts, "No counterfactual was found.", _references(in_range=False)])
    words = sentences.words
    parts.append(
        f"The counterfactual changes {words.count(result.distance)} ({len(result.added):,} added, "
        f"{len(result.removed):,} removed)."
    )
    test = sentences.as_read
    if test is not None and test.draws:
        low, high = (f"{100 * end:.0f}" for end in test.interval)
        parts.append(
            f"The statement was tested on {counted(test.draws, 'redraw', 'redraws')} that change "
            f"the same numbers of connections in the same places, {_READINGS[test.reading]}: "
            f"{test.flips} of {test.draws} are classified as stated (95 % Wilson interval {low} "
            f"to {high} %)."
        )
    if sentences.claim.elsewhere:
        parts.append(
            "The number of edges was kept: each redraw also changes "
            f"{words.count(abs(sentences.claim.elsewhere))} outside these places, additions drawn "
            "in proportion to how often the graphs of the data set have a pair, removals to how "
            "rarely."
        )
    places = sentences.reference
    if places and sentences.in_range is not None:
        n = len(places[0].group)
        how = "2.5 % and 97.5 % quantiles" if n >= 40 else "prediction interval for one more graph"
        cite = "" if n >= 40 else " [2]"
        group = "that the classifier puts in the target class"
        if result.by_true_labels:
            group = "whose true class is the target class"
        ends = "; ".join(
            f"{' – '.join(place.place)} {place.before:,} to {place.after:,} "
            f"({place.low:,} to {place.high:,})"
            for place in places
        )
        parts.append(
            f"The range of real graphs is the 95 % {how}{cite} of the {n:,} graphs {group}: "
            f"{ends}. The change is "
            f"{'in' if sentences.in_range else 'out of'} range."
        )
    small = bool(places) and len(places[0].group) < 40 and sentences.in_range is not None
    return " ".join([*parts, _references(in_range=small)])


def _references(*, in_range: bool) -> str:
    return f"[1] {PAPER}" + (f" [2] {CRAWFORD_HOWELL}" if in_range else "")
