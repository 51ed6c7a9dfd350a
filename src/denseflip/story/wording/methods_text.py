"""A paragraph for the methods section of a paper: what was done, with figures and references."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from denseflip.errors import counted
from denseflip.story.wording.badge import known

if TYPE_CHECKING:
    from denseflip.result_scores import Stability
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


# Presets of classifiers in words: the model, and what it uses.
_PRESETS = {
    "sf-knn": ("a k-nearest-neighbours classifier", "the spectrum of the Laplacian"),
    "edges-svm": ("a linear support vector machine", "all pairs of nodes"),
    "edges-logistic": ("a logistic regression", "all pairs of nodes"),
    "regions-logistic": (
        "a logistic regression",
        "the densities of region pairs, after standardisation",
    ),
}
_TYPES = "the numbers of nodes and edges by type, after standardisation"


def methods_text(
    sentences: Sentences,
    evaluation: Any,
    version: str,
    *,
    stability: Stability | None = None,
    description: str = "",
    dataset: Any = None,
) -> str:
    """The methods of one explanation in a paragraph, with its references.

    Every figure in it is one of the explanation. The description of the data set may say how edges
    were made, and the data set how many graphs were excluded.
    """
    result = sentences.result
    method = result.method or "a search"
    if result.chosen and result.chosen != result.method:
        method = f"{method} (which chose {result.chosen})"
    parts = [
        *_data(sentences, evaluation, description),
        *excluded_words(dataset),
        *classifier_words(evaluation, final=True),
        f"Counterfactual explanations of the classifier were computed with denseflip {version} "
        f"[1], method {method}, seed {result.seed}, with "
        f"{counted(result.calls, 'query', 'queries')} of the classifier.",
    ]
    verdict = known(evaluation, "verdict") if evaluation is not None else None
    if verdict:
        parts.append(verdict_words("The classifier", str(verdict)))
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
    if stability is not None:
        parts.append(_stability(stability))
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


def _data(sentences: Sentences, evaluation: Any, description: str) -> Iterator[str]:
    """The graphs, their nodes and regions, and how edges were made, as far as known."""
    n = sentences.result.original.n_nodes
    regions = sentences.claim.regions
    where = f"{counted(n, 'node', 'nodes')}"
    if regions is not None:
        where += f" in {counted(len(regions.regions), 'region', 'regions')} ({regions.name})"
    counts = known(evaluation, "class_counts") if evaluation is not None else None
    if counts:
        each = ", ".join(f"{count:,} {name}" for name, count in counts.items())
        name = known(evaluation, "dataset")
        yield (
            f"The data set{f' {name}' if name else ''} has {sum(counts.values()):,} graphs "
            f"({each}); the explained graph has {where}."
        )
    else:
        yield f"The explained graph has {where}."
    yield from edge_words(description)


def excluded_words(dataset: Any) -> Iterator[str]:
    """How many graphs an import left out, and why, if the data set knows it."""
    report = known(getattr(dataset, "attributes", None), "import")
    left_out = known(report, "left_out") or {}
    parts = [
        f"{len(what):,} ({why})"
        for why, what in left_out.items()
        if what and not why.startswith(("nodes ", "rows "))
    ]
    if parts:
        yield f"Excluded at import: {'; '.join(parts)}."


def verdict_words(who: str, verdict: str) -> str:
    """The verdict of an evaluation as prose.

    >>> verdict_words("It", "Better than chance: 78 % of held-out graphs are right.")
    'It is better than chance; 78 % of held-out graphs are right.'
    """
    opening, colon, rest = verdict.partition(": ")
    return f"{who} is {opening[:1].lower()}{opening[1:]}; {rest}" if colon else verdict


def edge_words(description: str) -> Iterator[str]:
    """How edges were made, if the description of a data set says it."""
    for text in re.split(r"[.;](?:\s|$)", description):
        if found := re.search(r"\bedges(?: are|:) (.+)", text, re.IGNORECASE | re.DOTALL):
            yield f"Edges are {' '.join(found[1].split())}."
            return


def classifier_words(evaluation: Any, *, final: bool) -> Iterator[str]:
    """The classifier, its features, and how it was evaluated, as far as known.

    With ``final``, a preset was then trained on all graphs.
    """
    if evaluation is None:
        yield "The accuracy of the classifier on new graphs is not known."
        return
    features, estimator = known(evaluation, "features"), known(evaluation, "estimator")
    if features and estimator:
        preset = known(evaluation, "preset")
        if preset in _PRESETS:
            model, what = _PRESETS[preset]
            chosen = re.search(r"\b(C|n_neighbors)=([\d.e+-]+)", estimator)
            name = {"C": "C", "n_neighbors": "k"}.get(chosen[1] if chosen else "", "")
            value = f" ({name} = {chosen[2]}, by cross-validation)" if chosen else ""
            what = _TYPES if features == "types" else what
            yield f"The classifier, {preset}, is {model}{value} on {what}."
        else:
            text = f"The classifier{f' ({preset})' if preset else ''} is {estimator} on the "
            yield f"{text}features {features!r}."
    folds, repeats = known(evaluation, "folds"), known(evaluation, "repeats")
    if known(evaluation, "protocol") == "as given":
        yield "It was evaluated as given, on graphs that it may have been trained on."
    elif folds and repeats:
        shuffles = known(evaluation, "permutations")
        test = f", and tested with {shuffles:,} permutations of the labels" if shuffles else ""
        trained = "; the explained classifier was then trained on all graphs"
        then = trained if final and known(evaluation, "preset") else ""
        yield (
            f"It was evaluated on held-out graphs by nested, stratified {folds}-fold "
            f"cross-validation with {counted(repeats, 'repeat', 'repeats')}{test}{then}."
        )


def _stability(stability: Stability) -> str:
    """The level that was requested, and whether the statement holds for classifiers retrained."""
    trained = counted(stability.refits, "classifier", "classifiers")
    again = "trained again on resampled data"
    text = f"The statement was also tested on {trained} {again}: "
    if stability.wanted is not None:
        text = (
            f"A statement was searched for of whose redraws at least {100 * stability.wanted:g} % "
            f"are, on average, also classified as stated by classifiers {again}. The search used "
            "the first, third, fifth, … of these classifiers; the statement was then tested on the "
            f"{stability.refits} others, which the search did not use: "
        )
    if stability.share is None:
        return f"{text}none of them gives the graph its label, so its stability is not known."
    low, high = (f"{100 * end:.0f}" for end in stability.interval)
    give = "gives" if stability.agreeing == 1 else "give"
    text += (
        f"{stability.agreeing} {give} the graph the same label, for {stability.holds} of these the "
        "statement is true as read (at least 90 % of the redraws), and on average "
        f"{100 * stability.share:.0f} % of the redraws are classified as stated"
    )
    if stability.agreeing > 1:
        text += f" (95 % interval {low} to {high} %)"
    if stability.wanted is not None:
        text += f"; the requested level was {'' if stability.reached else 'not '}reached"
    if stability.share < 0.5:
        text += "; the statement describes this classifier and is not stable under resampling"
    return f"{text}."


def _references(*, in_range: bool) -> str:
    return f"[1] {PAPER}" + (f" [2] {CRAWFORD_HOWELL}" if in_range else "")
