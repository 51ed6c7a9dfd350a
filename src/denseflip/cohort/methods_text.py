"""A paragraph for the methods section of a paper about a group: what was done, with figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from denseflip.cohort.data_notes import total_note
from denseflip.cohort.settings import SCAN
from denseflip.cohort.words import (
    accuracy_words,
    believable_words,
    confound_words,
    p_value_words,
    who_words,
)
from denseflip.errors import counted
from denseflip.search.methods.registry import takes
from denseflip.story.wording.constraint_words import constraints_in_words
from denseflip.story.wording.methods_text import (
    CRAWFORD_HOWELL,
    PAPER,
    classifier_words,
    edge_words,
    excluded_words,
)
from denseflip.story.wording.naming import join_words, members_of

if TYPE_CHECKING:
    from denseflip.cohort.cohort import Cohort

_CORRECTIONS = {
    "max": "Westfall P. H., Young S. S. (1993). Resampling-Based Multiple Testing. Wiley.",
    "bh": "Benjamini Y., Hochberg Y. (1995). Controlling the false discovery rate. Journal of the "
    "Royal Statistical Society B 57(1), 289–300.",
}
_LISTED = 5  # region pairs in the paragraph


def methods_text(cohort: Cohort, version: str, description: str = "", dataset: Any = None) -> str:
    """The methods of a cohort in a paragraph, with its references.

    The description of the data set may say how edges were made, and the data set how many graphs
    were excluded.
    """
    references = [PAPER]
    parts = [*_data(cohort, description), *excluded_words(dataset), *_classifier(cohort)]
    if cohort.observed.explained:
        parts += _search(cohort, version, references)
        parts += _test(cohort, references)
        parts += _shared(cohort)
    else:
        reasons = {
            "chance": ", because the classifier is not better than chance",
            "confounded": ", because the classifier does not beat its confounds",
        }
        why = reasons.get(cohort.verdict, "")
        parts.append(f"No {cohort.noun} were explained with denseflip {version} [1]{why}.")
    return " ".join((*parts, *(f"[{i}] {text}" for i, text in enumerate(references, 1))))


def _data(cohort: Cohort, description: str) -> Iterator[str]:
    each = ", ".join(f"{count:,} {name}" for name, count in cohort.class_counts.items())
    yield (
        f"The data set {cohort.dataset} has {sum(cohort.class_counts.values()):,} {cohort.noun} "
        f"({each}). Its nodes are in {counted(len(cohort.region_names), 'region', 'regions')} "
        f"({cohort.taxonomy}), which form "
        f"{counted(len(cohort.cell_names), 'region pair', 'region pairs')}, each region with "
        "itself included."
    )
    yield from edge_words(description)


def _classifier(cohort: Cohort) -> Iterator[str]:
    if cohort.evaluation is not None:
        yield from classifier_words(cohort.evaluation, final=False)
    yield accuracy_words(cohort, prose=True)


def _search(cohort: Cohort, version: str, references: list[str]) -> Iterator[str]:
    settings, seen = cohort.settings, cohort.observed
    yield (
        f"Counterfactual explanations were computed with denseflip {version} [1], search "
        f"{settings.method}, seed {settings.seed}, with "
        f"{counted(cohort.questions, 'query', 'queries')} of the classifiers in total."
    )
    if settings.method == SCAN:
        yield (
            f"The search looks for the smallest change of the {cohort.units} of one region pair, "
            "in standard deviations of the training graphs, that flips the classifier in five of "
            f"five redraws, and for changes of up to {settings.max_cells} region pairs where one "
            "does not suffice."
        )
    if cohort.refitted:
        yield f"Classifiers were trained on {settings.folds - 1} of {settings.folds} folds."
    if settings.patients is not None:
        yield f"At most {settings.patients} {cohort.noun} were drawn under each labelling."
    yield who_words(cohort)
    if terms := constraints_in_words(settings.constraints):
        yield f"The search for changes was constrained: {'; '.join(terms)}."
    if any(patient.told and patient.in_range is not None for patient in seen.patients):
        references.append(CRAWFORD_HOWELL)
        if settings.method == SCAN or takes(settings.method, "in_range"):
            asked = {"require": "required", "ignore": "not searched for"}
            yield f"Changes in range were {asked.get(settings.in_range or '', 'preferred')}."
        yield (
            f"The range is the 95 % prediction interval for one more graph [{len(references)}], or "
            "for 40 or more graphs the interval between the 2.5 % and 97.5 % quantiles, of the "
            "training graphs that the classifier puts in the other class."
        )
    yield from believable_words(cohort)
    refits = {p.stability.refits for p in seen.patients if p.told and p.stability is not None}
    if seen.stability is not None and refits:
        yield f"For this, each classifier was trained again {max(refits)} times."


def _test(cohort: Cohort, references: list[str]) -> Iterator[str]:
    if not cohort.permutations or cohort.smallest_p is None:
        yield "The region pairs were not tested against chance."
        return
    references.append(_CORRECTIONS[cohort.correction])
    yield f"{p_value_words(cohort).removesuffix('.')} [{len(references)}]."
    yield (
        f"The significance level is {cohort.level:g}; the smallest possible p-value"
        f"{' before correction' if cohort.correction == 'bh' else ''} is {cohort.smallest_p:.3g}."
    )
    if cohort.settings.confounds:
        yield confound_words(cohort)
    if cohort.named:
        listed = "; ".join(
            f"{row.name} ({row.direction} indicate {cohort.class_names[cohort.spoken]}, "
            f"{row.patients} of {cohort.observed.explained} {cohort.noun}, p = {row.p:.3g})"
            for row in cohort.named[:_LISTED]
        )
        rest = len(cohort.named) - _LISTED
        more = f"; {rest} more" if rest > 0 else ""
        yield f"Used more often than expected by chance: {listed}{more}."
    else:
        yield "No region pair was used more often than expected by chance."
    yield (
        "The densities of the groups were compared by Student's t, with the same permutations and "
        "correction."
    )
    if note := total_note(cohort.notes):
        yield note


def _shared(cohort: Cohort) -> Iterator[str]:
    if not cohort.shared:
        return
    found = [change for change in cohort.shared if any(half.amounts for half in change.halves)]
    flips = join_words(
        [
            f"{change.flipped} of {change.counted} "
            f"{members_of(cohort.class_names[change.source], cohort.noun)}"
            for change in found
        ]
    )
    right = "that the classifier is right about"
    if cohort.refitted:
        right = "that a classifier trained on the other half is right about"
    yield (
        f"A shared change of at most {cohort.settings.max_cells} region pairs was searched for on "
        f"one half of the {cohort.noun} and tested on the other, then with the halves swapped: "
        f"{f'it flips {flips} {right}' if found else 'none was found'}."
    )
