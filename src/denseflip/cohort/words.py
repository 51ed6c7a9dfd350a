"""The sentences about a group. They say no more than was tested."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from denseflip.story.wording.constraint_words import constraints_in_words

if TYPE_CHECKING:
    from denseflip.cohort.cohort import CellRow, Cohort
    from denseflip.cohort.shared import SharedChange

_LISTED = 5  # cells named in a sentence


class Words(NamedTuple):
    """What patients, connections and classes are called."""

    noun: str
    units: str
    class_names: Sequence[str]


def place_words(name: str, units: str) -> str:
    """``connections between A and B``, or ``connections within A``.

    >>> place_words("Front – Back", "connections"), place_words("Front", "connections")
    ('connections between Front and Back', 'connections within Front')
    """
    first, dash, second = name.partition(" – ")
    return f"{units} between {first} and {second}" if dash else f"{units} within {first}"


def statement(cohort: Cohort) -> tuple[str, ...]:
    """What can be said of a group, sentence by sentence."""
    return tuple(_sentences(cohort))


def _sentences(cohort: Cohort) -> Iterator[str]:
    yield _accuracy(cohort)
    if cohort.verdict == "chance":
        yield (
            "So nothing is said about the groups: what would change the answers of a classifier "
            "that guesses is no news about them."
        )
        return
    if cohort.verdict == "confounded":
        assert cohort.evaluation is not None
        assert cohort.evaluation.confounds is not None
        yield (
            "So nothing is said about the groups: what would change its answers may be a trace of "
            f"{_and(cohort.evaluation.confounds.columns)} and not of what sets the groups apart."
        )
        return
    if cohort.evaluation is not None and cohort.evaluation.level == "unclear":
        yield "The evidence that it has learnt anything is weak; read what follows as hypotheses."
    yield _who(cohort)
    if terms := constraints_in_words(cohort.settings.constraints):
        yield f"Changes were looked for on these terms only: {'; '.join(terms)}."
    if cohort.verdict == "named":
        for row in cohort.named[:_LISTED]:
            yield _named(cohort, row)
        if len(cohort.named) > _LISTED:
            yield f"{len(cohort.named) - _LISTED} more are in the table."
    elif cohort.verdict == "nothing":
        yield _nothing(cohort)
    else:
        yield from _untested(cohort)
    if cohort.p_more is not None and cohort.settings.confounds:
        yield _confounds(cohort)
    for change in cohort.shared:
        yield shared_words(cohort, change)
    yield from _beside(cohort)


def _accuracy(cohort: Cohort) -> str:
    if cohort.evaluation is None:
        return (
            f"How good {cohort.oracle} is on {cohort.noun} it has not seen is not known: it came "
            "trained, and nobody judged it here."
        )
    judged = cohort.evaluation.dataset
    where = f" on {judged}" if judged == cohort.dataset else f", judged on {judged}, not here"
    return f"{cohort.oracle}{where}: {cohort.evaluation.verdict}"


def _who(cohort: Cohort) -> str:
    seen = cohort.observed
    total = sum(cohort.class_counts.values())
    by = (
        "each by a classifier that has not seen it"
        if cohort.refitted
        else "by the classifier as it is, which may have been trained on them"
    )
    whose = ""
    if cohort.settings.group is not None:
        whose, total = f"{cohort.settings.group} ", cohort.class_counts[cohort.settings.group]
    chosen = " (the redraws that it was chosen by)" if cohort.settings.method == "scan" else ""
    return (
        f"{seen.explained} of {total} {whose}{cohort.noun} were explained, {by}; {seen.right} are "
        f"rightly classified, and for {seen.told} of these a change was found that holds for other "
        f"{cohort.units} of the same places, too{chosen}."
    )


def _confounds(cohort: Cohort) -> str:
    """What the p-values hold of the confounds, and what not."""
    left = [name for name in cohort.settings.confounds if name not in cohort.held]
    parts = [f"Labels were permuted within {_and(cohort.held)} only."] if cohort.held else []
    if left:
        parts.append(
            f"The p-values do not hold {_and(left)}: a pair of regions that follows "
            f"{'it' if len(left) == 1 else 'them'} and not the classes could be named."
        )
    return " ".join(parts)


def _and(names: Sequence[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _named(cohort: Cohort, row: CellRow) -> str:
    spoken = cohort.class_names[cohort.spoken]
    kind = "family-wise" if cohort.correction == "max" else "false discovery rate"
    least = f"{cohort.smallest_p:.2g} the smallest possible"
    if cohort.correction == "bh" and cohort.smallest_p is not None:
        alone = min(1.0, 2 * len(cohort.cell_names) * cohort.smallest_p)
        least = f"one alone could not be below {alone:.2g}"
    return (
        f"In {row.patients} of {cohort.observed.explained} the decision turns on "
        f"{place_words(row.name, cohort.units)}: {row.direction} of them speak for {spoken} "
        f"(a change of {row.amount:g} on the median; p = {row.p:.3g}, {kind}, "
        f"{cohort.permutations} permutations of the labels, {least})."
    )


def _nothing(cohort: Cohort) -> str:
    text = (
        f"Of no pair of regions is it shown that it is used in more {cohort.noun} than chance "
        f"would give (level {cohort.level:g}, {cohort.permutations} permutations of the labels"
    )
    if cohort.correction == "bh" and cohort.smallest_p is not None:
        alone = 2 * len(cohort.cell_names) * cohort.smallest_p
        if alone > cohort.level:
            text += f", too few to name one alone: its adjusted p could not be below {alone:.2g}"
    if cohort.rows:
        top = cohort.rows[0]
        text += (
            f"; the most used, {place_words(top.name, cohort.units)}, in {top.patients} of "
            f"{cohort.observed.explained}, p = {top.p:.3g}"
        )
    return f"{text})."


def _untested(cohort: Cohort) -> Iterator[str]:
    if not cohort.refitted:
        yield (
            "The classifier cannot be trained anew, so there are no p-values: whether this is more "
            "than chance would give cannot be said."
        )
    else:
        yield "No permutations were asked for, so there are no p-values."
    if cohort.rows:
        top = cohort.rows[0]
        yield (
            f"Most used: {place_words(top.name, cohort.units)}, in {top.patients} of "
            f"{cohort.observed.explained}."
        )


def shared_words(cohort: Cohort, change: SharedChange) -> str:
    """What one change does to those who were not used to find it."""
    source = cohort.class_names[change.source]
    if not any(half.amounts for half in change.halves):
        return (
            f"No change of at most {cohort.settings.max_cells} pairs of regions that flips "
            f"{source} {cohort.noun} together was found."
        )
    said = [
        change_words(cohort, half.amounts, half.reading) for half in change.halves if half.amounts
    ]
    said = list(dict.fromkeys(said))
    chosen = (
        said[0] if len(said) == 1 else f"{said[0]} (from one half) or {said[1]} (from the other)"
    )
    for half in change.halves:
        if not half.amounts and half.of:
            chosen += " (from one half; from the other none was found, which flips nobody)"
        elif not half.amounts:
            chosen += f" (from one half; the other's classifier calls none of its own {source})"
    low, high = change.interval
    seen = (
        "neither the choice nor the classifier had seen them"
        if change.unseen
        else "the choice had not seen them; the classifier may have"
    )
    return (
        f"One change for all, {chosen}, chosen on one half of the {cohort.noun} and tried on the "
        f"other, then the halves swapped, flips {change.flipped} of the {change.counted} rightly "
        f"classified {source} {cohort.noun} (95 % interval {100 * low:.0f} to {100 * high:.0f} %; "
        f"{seen})."
    )


def change_words(cohort: Cohort, amounts: object, reading: str) -> str:
    """A change in words: ``36 more connections between A and B``."""
    typical = " typical of the other class" if reading == "typical" else ""
    parts = []
    assert isinstance(amounts, dict)
    for cell, amount in amounts.items():
        direction = "more" if amount > 0 else "fewer"
        units = f"{direction} {cohort.units}"
        parts.append(f"{abs(amount):,} {place_words(cohort.cell_names[cell], units)}{typical}")
    return " and ".join(parts)


def _beside(cohort: Cohort) -> Iterator[str]:
    spoken = cohort.class_names[cohort.spoken]
    if cohort.p_difference is not None:
        clear = cohort.differing
        if clear:
            listed = "; ".join(
                f"{row.name} ({row.direction} in {spoken}, p = {row.p_difference:.3g})"
                for row in clear[:3]
            )
            rest = f"; {len(clear) - 3} others" if len(clear) > 3 else ""
            yield f"The groups themselves differ in the density of {listed}{rest}."
        else:
            yield "The groups themselves differ clearly in the density of no pair of regions."
    if cohort.agreement is not None:
        text = (
            "What the classifier goes by agrees with what the groups differ in to "
            f"{cohort.agreement:.2f} (rank correlation over all pairs of regions"
        )
        if cohort.null_agreement is not None:
            text += f"; under permuted labels {cohort.null_agreement:.2f} on the median"
        yield f"{text})."
