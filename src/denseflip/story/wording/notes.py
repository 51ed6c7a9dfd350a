"""The notes of a sentence: footnotes, and advice on what to try next.

Advice names the library's parameters. They are also returned separately, so that the command line
and the app can add their own names.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from denseflip.counterfactual import Counterfactual, Label, Status
from denseflip.errors import counted
from denseflip.result_scores import Stability
from denseflip.search.claims.redraw_test import FEW_CELLS
from denseflip.story.wording.badge import judged_better, known
from denseflip.story.wording.constraint_words import confidence_note, terms_note

if TYPE_CHECKING:
    from denseflip.story.wording.statement import Sentences

_REGIONS_HINT = (
    "No regions are known, so this speaks of nodes. To speak of regions, give a node table with a "
    "region column as nodes (Nodes.read_csv reads one)."
)


# The smallest budget to suggest: a search for a sentence takes several hundred queries.
_BUDGET = 1000


class Advice(NamedTuple):
    """What to try next, and the parameters that it names."""

    text: str = ""
    parameters: tuple[str, ...] = ()


def wanted_class(result: Counterfactual, class_name: Callable[[Label], str]) -> str:
    """The target class in words: one, several, or any other."""
    return " or ".join(map(class_name, result.targets)) or "another class"


# ---- what to try next ---------------------------------------------------------------------


def next_advice(result: Counterfactual, class_name: Callable[[Label], str]) -> Advice:
    """What to try next if nothing was found; else empty.

    It never suggests what was just tried, or what leads back to it.
    """
    if result.status in (Status.FOUND, Status.NOT_NEEDED):
        return Advice()
    wanted = wanted_class(result, class_name)
    graphs = f"graphs that the classifier puts in {wanted}"
    if result.status is Status.BUDGET:
        # A batch of tests is not started if the budget is too small for it, so the number of
        # queries may be far below the budget.
        enough = max(_BUDGET, 10 * result.calls)
        return Advice(
            f"Next: raise budget (it asked {result.calls:,}; try {enough}) or time_limit.",
            ("budget", "time_limit"),
        )
    if result.constraints:
        names = tuple(name for name in result.constraints if name != "regions")
        return Advice(
            f"Next: loosen the terms ({', '.join(names)}), or take another method.", names
        )
    if _chooses(result):
        if not result.background_calls:
            return Advice(f"Next: give a background that holds {graphs}.", ("background",))
        if result.target is not None:
            return Advice(
                f"Next: give a background that holds {graphs}, or leave the class open (target).",
                ("background", "target"),
            )
        return Advice(
            f"Next: give a larger background, one that holds {graphs}; if there is none, the "
            "classifier may give the same answer to everything.",
            ("background",),
        )
    limit = iteration_limit(result)
    raised = ""
    knobs: tuple[str, ...] = ("method", "background")
    if limit is not None and result.iterations >= limit:
        raised = f"raise max_iterations (it was {limit:,}; try {10 * limit}), or "
        knobs = ("max_iterations", *knobs)
    return Advice(
        f"Next: {raised}take the method auto, which tries several ways; best with a background "
        f"that holds {graphs}.",
        knobs,
    )


def iteration_limit(result: Counterfactual) -> int | None:
    """The iteration limit of the method, if it has one."""
    search = result.parameters.get("search")
    limit = search.get("max_iterations") if isinstance(search, dict) else None
    return limit if isinstance(limit, int) else None


# ---- footnotes ----------------------------------------------------------------------------


def classifier_note(evaluation: Any) -> str | None:
    """The evaluation of the classifier in words, or that there is none.

    Parameters
    ----------
    evaluation : an `Evaluation`, its dictionary form, or anything with ``better_than_chance`` or
        ``level``, and ``verdict``.
    """
    if evaluation is None:
        return (
            "How well the classifier does on graphs it has not seen was not given: judge it first "
            "(evaluate); an explanation is worth no more than what it explains."
        )
    if judged_better(evaluation):
        return str(known(evaluation, "verdict") or "") or None
    verdict = known(evaluation, "verdict") or "The classifier is not better than chance."
    warning = known(evaluation, "warning")
    return f"{verdict} {warning}" if warning else str(verdict)


def stability_note(seen: Stability | None) -> str | None:
    """For how many classifiers trained again the sentence holds; None if that was not tested."""
    if seen is None:
        return None
    trained = "trained again on resampled data"
    if not seen.refits:
        return f"Whether it also holds for classifiers {trained} is not known."
    only = "this describes this one classifier rather than the groups."
    if not seen.agreeing:
        every = counted(seen.refits, "classifier", "classifiers")
        return f"All {every} {trained} give the original another class: {only}"
    n = counted(seen.agreeing, "classifier", "classifiers")
    fresh = ", none of which the search used" if seen.held_out else ""
    others = seen.refits - seen.agreeing
    apart = ""
    if others:
        verb = "more gives" if others == 1 else "more give"
        apart = f" ({others} {verb} the original another class)"
    if 2 * seen.holds >= seen.agreeing:
        return f"It also holds for {seen.holds} of {n} {trained}{fresh}{apart}."
    first = f"Only {seen.holds}" if seen.holds else "None"
    agree = "agrees" if seen.holds < 2 else "agree"
    return f"{first} of {n} {trained} {agree}{fresh}{apart}: {only}"


def weights_note(result: Counterfactual) -> str | None:
    """How the edits change the weights; None if the classifier does not use weights."""
    if not result.weights:
        return None
    parts = []
    cut = len(result.added)
    for word, some in (("added", result.weights[:cut]), ("removed", result.weights[cut:])):
        if some:
            before, after = (statistics.median(entry[i] for entry in some) for i in (2, 3))
            one = counted(len(some), "connection goes", "connections go")
            parts.append(f"the {word} {one} from {before:.2f} to {after:.2f} on the median")
    return (
        f"The classifier sees weights: {', and '.join(parts)}. A removed connection weighs what it "
        "typically does below the threshold, an added one what it typically does above it in the "
        "class that is wanted; all others keep their weight."
    )


def footnotes(
    sentences: Sentences, evaluation: Any, stability: Stability | None = None
) -> tuple[str, ...]:
    """The footnotes of the sentence, most important first."""
    result, words = sentences.result, sentences.words
    notes: list[str | None] = [
        classifier_note(evaluation),
        stability_note(stability) if result.found else None,
        terms_note(result),
        confidence_note(result, sentences.class_name),
    ]
    if result.found:
        notes += [sentences.tested, sentences.read, sentences.listed, sentences.rest]
        if result.minimal is True:
            notes.append(
                f"No single one of the counterfactual's {words.count(result.distance)} can be left "
                "as it was without losing the flip (certified one by one)."
            )
        elif result.minimal is False:
            notes.append("That no single change can be left out could not be certified.")
        notes += [_lasting(result), _likely(result)]
    notes.append(weights_note(result))
    notes.extend(sentences.verification.remarks)
    notes.extend(result.notes)
    notes += [sentences.language, sentences.truth]
    notes.append(shape_advice(sentences).text)
    notes.append(words.caveat)
    return tuple(note for note in notes if note)


def _lasting(result: Counterfactual) -> str | None:
    """The robustness of the change, if requested."""
    seen = result.robustness
    if seen is None:
        return None
    if not seen.draws:
        return "How much noise the change survives was asked for and could not be measured."
    low, high = seen.interval
    short = "" if seen.reached else f", less than the {100 * seen.wanted:g} % that were asked for"
    n = result.distance
    whole = "The change survives" if n == 1 else f"All {n:,} changes together survive"
    return (
        f"{whole} noise in {seen.flips} of {seen.draws} trials{short}: each flips "
        f"{100 * seen.noise:g} % of all pairs at random (95 % interval: {100 * low:.0f} to "
        f"{100 * high:.0f} %)."
    )


def _likely(result: Counterfactual) -> str | None:
    """The plausibility of the changed graph, if requested."""
    figure = result.plausibility
    return None if figure is None else f"How plausible the changed graph is: {figure}."


def shape_advice(sentences: Sentences) -> Advice:
    """How to get a shorter or more general sentence; empty if not needed."""
    if not sentences.nodes.regions:
        return Advice(_REGIONS_HINT, ("nodes",))
    result, test = sentences.result, sentences.as_read
    if not result.found:
        return Advice()
    if _chooses(result):
        if sentences.claim.language == "pairs" and not result.background_calls:
            return Advice(
                "With a data set's graphs as background, a short sentence about regions that is "
                "true as read is looked for.",
                ("background",),
            )
        return Advice()
    if len(sentences.claim.amounts) <= FEW_CELLS and (test is None or test.true):
        return Advice()
    return Advice(
        f"The method auto, given a background, looks for a sentence of at most {FEW_CELLS} places "
        "that is true as read.",
        ("method", "background"),
    )


def _chooses(result: Counterfactual) -> bool:
    """Whether the method itself searches for short sentences."""
    return result.method.split("+")[0] in ("auto", "best", "brief")
