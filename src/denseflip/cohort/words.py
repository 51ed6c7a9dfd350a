"""The sentences about a group. They state only what was tested."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from denseflip.story.wording.constraint_words import constraints_in_words
from denseflip.story.wording.methods_text import verdict_words
from denseflip.story.wording.naming import join_words, members_of

if TYPE_CHECKING:
    from denseflip.cohort.cohort import CellRow, Cohort
    from denseflip.cohort.shared import HalfChange, SharedChange

_LISTED = 5  # cells named in a sentence


def place_words(name: str, units: str) -> str:
    """``connections between A and B``, or ``connections within A``.

    >>> place_words("Front – Back", "connections"), place_words("Front", "connections")
    ('connections between Front and Back', 'connections within Front')
    """
    first, dash, second = name.partition(" – ")
    return f"{units} between {first} and {second}" if dash else f"{units} within {first}"


def statement(cohort: Cohort) -> Iterator[str]:
    """The statement about a group, sentence by sentence."""
    yield accuracy_words(cohort)
    if cohort.verdict == "chance":
        yield (
            "No conclusions about the groups are drawn: what changes the answers of a classifier "
            "at chance level says nothing about them."
        )
        return
    if cohort.verdict == "confounded":
        assert cohort.evaluation is not None
        assert cohort.evaluation.confounds is not None
        yield (
            "No conclusions about the groups are drawn: what changes its answers may reflect "
            f"{join_words(cohort.evaluation.confounds.columns)} instead of a difference between "
            "the groups."
        )
        return
    if cohort.evaluation is not None and cohort.evaluation.level == "unclear":
        yield (
            "There is only weak evidence that the classifier is better than chance; treat the "
            "following as hypotheses."
        )
    yield who_words(cohort)
    yield from believable_words(cohort)
    if terms := constraints_in_words(cohort.settings.constraints):
        yield f"The search for changes was constrained: {'; '.join(terms)}."
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
        yield confound_words(cohort)
    for change in cohort.shared:
        yield shared_words(cohort, change)
    if halves := halves_words(cohort):
        yield halves
    yield from _beside(cohort)


def accuracy_words(cohort: Cohort, *, prose: bool = False) -> str:
    """The held-out accuracy of the classifier with its own p-value, if known."""
    if cohort.evaluation is None:
        return (
            f"The accuracy of {cohort.oracle} on unseen {cohort.noun} is not known: it was already "
            "trained and has not been evaluated here."
        )
    data = cohort.evaluation.dataset
    where = f" on {data}" if data == cohort.dataset else f", evaluated on {data}, not on this data"
    if prose:
        return verdict_words(f"{cohort.oracle}{where}", cohort.evaluation.verdict)
    return f"{cohort.oracle}{where}: {cohort.evaluation.verdict}"


def who_words(cohort: Cohort) -> str:
    """How many were explained, by which classifiers, and for how many a change was found."""
    seen = cohort.observed
    total = sum(cohort.class_counts.values())
    by = (
        "each with a classifier that was not trained on it"
        if cohort.refitted
        else "with the given classifier, which may have been trained on them"
    )
    whose = cohort.noun
    if (group := cohort.settings.group) is not None:
        whose, total = members_of(group, cohort.noun), cohort.class_counts[group]
    chosen = " (the search chose it by these tests)" if cohort.settings.method == "scan" else ""
    every = "each" if seen.told == seen.right else seen.told
    return (
        f"{seen.explained} of {total} {whose} were explained, {by}. It is right about {seen.right} "
        f"of them. For {every} of these, a change was found that also "
        f"flips the classifier with other {cohort.units} in the same places{chosen}."
    )


def believable_words(cohort: Cohort) -> Iterator[str]:
    """Say how many changes are in range, keep the number of edges, and hold after retraining."""
    seen = cohort.observed
    if not seen.told:
        return
    inside, asked = seen.in_range, cohort.settings.in_range
    unknown = sum(p.told and p.in_range is None for p in seen.patients)
    text = (
        f"{_share(inside, seen.told)} changes are in range of real {cohort.noun} of the other class"
    )
    if unknown:
        text += f" ({unknown} cannot be judged: too few {cohort.noun} are classified as that class)"
    if inside < seen.told and asked != "ignore":
        text += "; otherwise none in range was found"
    if seen.balanced:
        kept = _share(seen.balanced, seen.told)
        text += (
            f", and {kept} keep the number of {cohort.units}: as many change elsewhere in the "
            f"{cohort.whole}"
        )
    yield f"{text[0].upper()}{text[1:]}."
    if seen.stability is not None:
        text = (
            f"On average, {100 * seen.stability:.0f} % of the redraws of a change also flip "
            "classifiers trained again on resampled data"
        )
        if seen.stability < 0.5:
            text += ": the changes tell of these very classifiers, not of the groups"
        yield f"{text}."


def _share(some: int, all_of: int) -> str:
    return f"all {all_of}" if some == all_of else f"{some} of {all_of}"


def confound_words(cohort: Cohort) -> str:
    """Say which confounds the p-values account for, and which they do not."""
    left = [name for name in cohort.settings.confounds if name not in cohort.held]
    parts = [f"Labels were permuted within {join_words(cohort.held)} only."] if cohort.held else []
    if left:
        parts.append(
            f"The p-values do not account for {join_words(left)}: a region pair may be named "
            f"because it depends on {'it' if len(left) == 1 else 'them'} and not on the classes."
        )
    return " ".join(parts)


def p_value_words(cohort: Cohort) -> str:
    """Where the p-values of region pairs come from, and how they are corrected."""
    pairs = f"all {len(cohort.cell_names):,} region pairs and both directions"
    how = (
        f"the maximum over {pairs} (Westfall–Young): if the labels carry no information, any "
        f"region pair is named with a probability of at most {100 * cohort.level:g} %"
        if cohort.correction == "max"
        else f"the false discovery rate over {pairs} (Benjamini–Hochberg)"
    )
    return (
        f"The p-values of region pairs come from {cohort.permutations:,} permutations of the "
        "labels. Each time the classifier is trained and explained again. They are corrected by "
        f"{how}."
    )


def differing_words(cohort: Cohort) -> str:
    """In how many region pairs the groups differ, whatever the classifier uses."""
    pairs = f"{len(cohort.differing):,} of {len(cohort.cell_names):,} region pairs"
    return (
        f"The groups themselves differ significantly in {pairs} (second matrix), whatever the "
        "classifier uses."
    )


def _named(cohort: Cohort, row: CellRow) -> str:
    spoken = cohort.class_names[cohort.spoken]
    kind = "family-wise" if cohort.correction == "max" else "false discovery rate"
    least = f"smallest possible p {cohort.smallest_p:.3g}"
    if cohort.correction == "bh" and cohort.smallest_p is not None:
        alone = min(1.0, 2 * len(cohort.cell_names) * cohort.smallest_p)
        least = f"smallest possible p for a single region pair {alone:.3g}"
    return (
        f"In {row.patients} of {cohort.observed.explained} {cohort.noun} the decision depends on "
        f"{place_words(row.name, cohort.units)}: {row.direction} of them move the answer "
        f"towards {spoken} (median change {row.amount:,.0f}, in range in {row.in_range}; p of "
        f"the region pair = {row.p:.3g}, {kind}, {cohort.permutations} label permutations, "
        f"{least}). {usual_words(cohort, row)}"
    )


def usual_words(cohort: Cohort, row: CellRow) -> str:
    """What the classes have in a cell: median, interval and effect size."""
    parts = []
    for name, usual in cohort.usual.items():
        there = usual[row.cell]
        text = f"{members_of(name, cohort.noun)} usually have {there.median:,.0f}"
        if there.low is not None and there.high is not None:
            text += f" (95 % between {there.low:,} and {there.high:,})"
        parts.append(text)
    effect = "" if row.effect is None else f"; effect size g = {row.effect:.1f}"
    return f"There, {join_words(parts)}{effect}."


def _nothing(cohort: Cohort) -> str:
    text = (
        "No region pair is used more often than expected by chance "
        f"(p > {cohort.level:g}, {cohort.permutations} label permutations"
    )
    if cohort.correction == "bh" and cohort.smallest_p is not None:
        alone = 2 * len(cohort.cell_names) * cohort.smallest_p
        if alone > cohort.level:
            text += (
                ", too few to name a single region pair: its adjusted p cannot be below "
                f"{alone:.3g}"
            )
    if cohort.rows:
        top = cohort.rows[0]
        text += (
            f"; most used: {place_words(top.name, cohort.units)}, in {top.patients} of "
            f"{cohort.observed.explained} {cohort.noun}, p of the region pair = {top.p:.3g}"
        )
    return f"{text})."


def _untested(cohort: Cohort) -> Iterator[str]:
    if not cohort.refitted:
        yield (
            "The classifier was not retrained, so there are no p-values: the results cannot be "
            "compared with chance."
        )
    else:
        yield "No permutations were requested, so there are no p-values."
    if cohort.rows:
        top = cohort.rows[0]
        yield (
            f"Most used: {place_words(top.name, cohort.units)}, in {top.patients} of "
            f"{cohort.observed.explained} {cohort.noun}."
        )


def shared_words(cohort: Cohort, change: SharedChange) -> str:
    """Describe how many held-out patients one shared change flips, and whether it is in range."""
    source = cohort.class_names[change.source]
    if not any(half.amounts for half in change.halves):
        required = " and is in range" if cohort.settings.in_range == "require" else ""
        return (
            f"No shared change of at most {cohort.settings.max_cells} region pairs that flips "
            f"{members_of(source, cohort.noun)}{required} was found."
        )
    low, high = change.interval
    seen = (
        "used neither to choose the change nor to train the classifier"
        if change.unseen
        else "not used to choose the change, but possibly to train the classifier"
    )
    right = "that the classifier is right about"
    if cohort.refitted:
        right = "that a classifier trained on the other half is right about"
    return (
        f"One shared change was chosen on one half of the {cohort.noun} and tested on the other, "
        f"then with the halves swapped. It flips {change.flipped} of the {change.counted} "
        f"{members_of(source, cohort.noun)} {right} (95 % confidence interval {100 * low:.0f} to "
        f"{100 * high:.0f} %; {seen}). {_chosen(cohort, change)} {_shared_range(change)}".rstrip()
    )


def _chosen(cohort: Cohort, change: SharedChange) -> str:
    """The change of each half in a sentence."""
    changes = [change_words(cohort, half) for half in change.halves if half.amounts]
    changes = list(dict.fromkeys(changes))
    if len(changes) > 1:
        return f"The change is {changes[0]} (from one half), or {changes[1]} (from the other)."
    chosen = changes[0]
    for half in change.halves:
        if not half.amounts and half.of:
            chosen += " (from one half; on the other half no change was found)"
        elif not half.amounts:
            source = cohort.class_names[change.source]
            chosen += f" (from one half; the other half's classifier labels none of it {source})"
    return f"The change is {chosen}."


def halves_words(cohort: Cohort) -> str:
    """That the two halves of a cohort led to different shared changes; empty if they agree."""
    sources = []
    for change in cohort.shared:
        chosen = [frozenset(half.amounts) for half in change.halves if half.amounts]
        if len(set(chosen)) > 1 or 0 < len(chosen) < len(change.halves):
            sources.append(members_of(cohort.class_names[change.source], cohort.noun))
    if not sources:
        return ""
    of = " and ".join(sources)
    return (
        f"The two halves of the {cohort.noun} lead to different shared changes for {of}: do not "
        "read either of them as a property of the group."
    )


def _shared_range(change: SharedChange) -> str:
    """Whether a shared change is in range for those that it flips, ending with a space."""
    fallen = [half.fallback for half in change.halves if half.amounts]
    text = ""
    if change.flipped:
        each = f"all {change.flipped}" if change.in_range == change.flipped else change.in_range
        text = f"It is in range for {each or 'none'} of them"
    if any(fallen):
        where = "" if all(fallen) else " on one half"
        none = f"o shared change in range was found{where}"
        text = f"{text}: n{none}" if text else f"N{none}"
    if change.limited:
        many = "all" if change.limited == change.flipped > 1 else f"{change.limited}"
        part = (
            f"In {many} of them, only a part of it was made: the range or the graph allows no more"
        )
        text = f"{text}. {part}" if text else part
    return f"{text}." if text else ""


def change_words(cohort: Cohort, half: HalfChange) -> str:
    """Describe a change: ``36 more connections between A and B``."""
    parts = []
    for cell, amount in half.amounts.items():
        direction = "more" if amount > 0 else "fewer"
        units = f"{direction} {cohort.units}"
        parts.append(f"{abs(amount):,} {place_words(cohort.cell_names[cell], units)}")
    text = join_words(parts)
    comma = ""
    if half.reading == "typical":
        comma, every = (",", ", all") if len(parts) > 1 else ("", "")
        text += f"{every} typical of the other class"
    net = sum(half.amounts.values())
    if half.balanced and net:
        direction = "fewer" if net > 0 else "more"
        text += f"{comma} and as many {direction} elsewhere in the {cohort.whole}"
    return text


def _others_words(n: int) -> str:
    """How many region pairs are not listed, and where they are; empty if there are none."""
    if n < 1:
        return ""
    return f"; and {'one other pair' if n == 1 else f'{n} other pairs'} (in cells.tsv)"


def _beside(cohort: Cohort) -> Iterator[str]:
    spoken = cohort.class_names[cohort.spoken]
    if cohort.p_difference is not None:
        clear = cohort.differing
        if clear:
            listed = "; ".join(
                f"{row.name} ({row.direction} in {spoken}, p of the difference = "
                f"{row.p_difference:.3g})"
                for row in clear[:3]
            )
            rest = _others_words(len(clear) - 3)
            yield f"The densities of the groups differ significantly in {listed}{rest}."
        else:
            yield "The densities of the groups differ significantly in no region pair."
    if cohort.agreement is not None:
        text = (
            "The rank correlation between what the classifier uses and how the groups differ is "
            f"{cohort.agreement:.2f} over all region pairs"
        )
        if cohort.null_agreement is not None:
            text += f" (median under permuted labels: {cohort.null_agreement:.2f})"
        yield f"{text}."
