"""The notes of a sentence: footnotes, advice on what to try next, and the badge.

Advice names the library's parameters. They are also returned separately, so that the command line
and the app can add their own names.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from denseflip.counterfactual import Counterfactual, Label, Status
from denseflip.errors import counted
from denseflip.graph.readable_names import readable
from denseflip.result_scores import Stability
from denseflip.search.claims.claim import ALL_REGIONS, net
from denseflip.search.claims.redraw import FEW_CELLS
from denseflip.search.claims.reference import CLEAR, PlaceReference
from denseflip.search.constraints.constrained_session import GAVE_UP
from denseflip.search.core.engine import NOT_IN_RANGE
from denseflip.search.core.problem import OUT_OF_TIME
from denseflip.story.wording.badge import judged_better, known
from denseflip.story.wording.constraint_words import confidence_note, terms_note
from denseflip.story.wording.difference import is_faint
from denseflip.story.wording.naming import with_article

if TYPE_CHECKING:
    from denseflip.story.wording.statement import Sentences


_REGIONS_HINT = (
    "No regions are known, so the sentence names nodes. For regions, pass a node table with a "
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
    names = tuple(name for name in result.constraints if name != "regions")
    values = ", ".join(_constraint(name, result.constraints[name]) for name in names)
    if NOT_IN_RANGE in result.notes:
        text = 'Next: pass in_range="prefer" to accept a sentence out of range.'
        return Advice(text, ("in_range",))
    if reached := _limit(result):
        # A batch of tests is not started if the budget is too small for it, so the number of
        # queries may be far below the budget.
        enough = max(_BUDGET, 10 * result.calls)
        used = counted(result.calls, "query was", "queries were")
        first = reached if reached == "time_limit" else f"budget ({used} used; try {enough})"
        others = f"loosen {values} and " if names else ""  # no budget helps if they are too tight
        return Advice(f"Next: {others}raise {first}.", (*names, reached))
    if names:
        text = f"Next: loosen {values}; if that does not help, use another method."
        return Advice(text, names)
    if _chooses(result):
        if not result.background_calls:
            return Advice(f"Next: pass a background with {graphs}.", ("background",))
        if result.target is not None:
            return Advice(
                f"Next: pass a background with {graphs}, or omit target.",
                ("background", "target"),
            )
        return Advice(
            f"Next: pass a larger background with {graphs}. If there are none, the classifier may "
            "give every graph the same label.",
            ("background",),
        )
    limit = iteration_limit(result)
    raised = ""
    knobs: tuple[str, ...] = ("method", "background")
    if limit is not None and result.iterations >= limit:
        raised = f"raise max_iterations (it was {limit:,}; try {10 * limit}), or "
        knobs = ("max_iterations", *knobs)
    return Advice(
        f"Next: {raised}use the method auto, which tries several searches, with a background that "
        f"has {graphs}.",
        knobs,
    )


def _constraint(name: str, value: Any) -> str:
    """A constraint by the name of its parameter, with its value if that is a number or a word."""
    short = isinstance(value, (int, float, str)) and not isinstance(value, bool)
    return f"{name} (now {value})" if short else name


def _limit(result: Counterfactual) -> str:
    """The parameter whose limit ended the search; empty if it did not end at a limit."""
    if result.status is not Status.BUDGET or GAVE_UP in result.notes:
        return ""
    return "time_limit" if OUT_OF_TIME in result.notes else "budget"


def iteration_limit(result: Counterfactual) -> int | None:
    """The iteration limit of the method, if it has one."""
    search = result.parameters.get("search")
    limit = search.get("max_iterations") if isinstance(search, dict) else None
    return limit if isinstance(limit, int) else None


def not_found(sentences: Sentences) -> str:
    """How far a search went that found nothing, in sentences."""
    result = sentences.result
    if result.status is Status.NOT_NEEDED:
        return f"{sentences.opening} This is the target class already, so nothing has to change."
    if len(result.edits):
        far = (
            f"It went as far as {sentences.counts(len(result.added), len(result.removed))} "
            f"({100 * result.relative_distance:.1f} % of the edges of either graph) in "
            f"{many(result.iterations, 'iteration')} and "
            f"{many(result.calls, 'query')}; the answer there was "
            f"{sentences.class_name(result.label_after)}."
        )
    else:
        far = f"It asked the classifier {counted(result.calls, 'time', 'times')}."
    wanted, how = wanted_class(result, sentences.class_name), _ending(result)
    who = "the search" if _chooses(result) else sentences.method
    if NOT_IN_RANGE in result.notes:
        return (
            f"{sentences.opening} No change that leads to {wanted} was found whose sentence is in "
            f"range, as required; {who} found changes out of range. {far} {sentences.advice.text}"
        )
    return (
        f"{sentences.opening} No change that leads to {wanted} was found: {who} {how} "
        f"{far} {sentences.advice.text}"
    )


def _ending(result: Counterfactual) -> str:
    if reached := _limit(result):
        return f"reached the {'time limit' if reached == 'time_limit' else 'limit on queries'}."
    if GAVE_UP in result.notes:
        return "stopped because the constraints rejected every graph that it tried."
    limit = iteration_limit(result)
    if limit is not None and result.iterations >= limit:
        return f"reached its limit of {many(limit, 'iteration')}."
    return "ran out of changes to try."


def many(n: int, what: str) -> str:
    """A number with its noun.

    >>> many(1, "query"), many(2, "query"), many(2, "pair of nodes")
    ('1 query', '2 queries', '2 pairs of nodes')
    """
    first, _, rest = what.partition(" of ")
    plural = f"{first[:-1]}ies" if first == "query" else f"{first}s"
    return f"{n:,} {first if n == 1 else plural}" + (f" of {rest}" if rest else "")


# ---- footnotes ----------------------------------------------------------------------------


def classifier_note(evaluation: Any) -> str | None:
    """The evaluation of the classifier (or its dictionary) in words, or that there is none."""
    if evaluation is None:
        return (
            "The accuracy of the classifier on unseen graphs is not known. Evaluate it first "
            "(evaluate): an explanation is worth no more than the classifier it explains."
        )
    if judged_better(evaluation):
        return str(known(evaluation, "verdict") or "") or None
    verdict = known(evaluation, "verdict") or "The classifier is not better than chance."
    warning = known(evaluation, "warning")
    return f"{verdict} {warning}" if warning else str(verdict)


def differing_words(places: Sequence[PlaceReference]) -> str:
    """Where the classes clearly differ, of the places of a sentence; empty if nowhere.

    That few retrained classifiers agree does not mean that the groups are alike there.
    """
    n = sum(place.effect is not None and abs(place.effect) >= CLEAR for place in places)
    if not n:
        return ""
    where = "there" if n == len(places) else f"in {n} of the {len(places)} places"
    return f"the groups do differ {where}, but the change needed is specific to this classifier."


def stability_note(seen: Stability | None, places: Sequence[PlaceReference] = ()) -> str | None:
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
    return f"{first} of {n} {trained} {agree}{fresh}{apart}: {differing_words(places) or only}"


def stable_advice(result: Counterfactual, seen: Stability | None) -> Advice:
    """To search for a stable sentence, if few refits agree and none was requested; else empty."""
    if not result.found or seen is None or seen.wanted is not None or not seen.agreeing:
        return Advice()
    if 2 * seen.holds >= seen.agreeing:
        return Advice()
    if _chooses(result):
        return Advice("Next: search again with stable=0.8.", ("stable",))
    text = "Next: search again with the method auto, a background and stable=0.8."
    return Advice(text, ("method", "background", "stable"))


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
            parts.append(f"the {word} {one} from {before:.2f} to {after:.2f} (median)")
    return (
        f"The classifier uses weights: {', and '.join(parts)}. A removed connection gets its "
        "typical weight below the threshold, an added one its typical weight above the threshold "
        "in the target class. All others keep their weight."
    )


def footnotes(
    sentences: Sentences, evaluation: Any, stability: Stability | None = None
) -> tuple[str, ...]:
    """The footnotes of the sentence, most important first."""
    result, words = sentences.result, sentences.words
    stable = stability_note(stability, sentences.reference) if result.found else None
    if further := stable_advice(result, stability).text:
        stable = f"{stable} {further}"
    notes: list[str | None] = [
        classifier_note(evaluation),
        stable,
        terms_note(result),
        confidence_note(result, sentences.class_name),
    ]
    if result.found:
        notes += [
            _wide_note(sentences),
            _range_note(sentences),
            _level_note(sentences),
            _balance_note(sentences),
        ]
        notes += [sentences.tested, sentences.read, sentences.listed, sentences.rest]
        if result.minimal is True:
            notes.append(
                f"Minimal: none of the {words.count(result.distance)} of the counterfactual can be "
                "undone alone without losing the flip."
            )
        elif result.minimal is False:
            notes.append("Minimality could not be certified: a single change may be unnecessary.")
        notes.append(_lasting(result))
        if result.plausibility is not None:
            notes.append(f"Plausibility of the changed graph: {result.plausibility}.")
    notes.append(weights_note(result))
    notes.extend(sentences.verification.remarks)
    notes.extend(note for note in result.notes if note != OUT_OF_TIME)  # the statement says so
    notes += [sentences.language, sentences.truth]
    notes.append(shape_advice(sentences).text)
    notes.append(words.caveat)
    return tuple(note for note in notes if note)


def _wide_note(sentences: Sentences) -> str | None:
    """What all regions are, if the sentence names one region with all of them."""
    claim = sentences.claim
    if not claim.with_all:
        return None
    region = readable(claim.taxonomy)[claim.places[0][0]]
    return f"Connections within {with_article(region)} are among those with {ALL_REGIONS}."


def _range_note(sentences: Sentences) -> str | None:
    """Whether the change stays within what real graphs have; None if there is none to name."""
    if not sentences.reference:
        return None
    after = sentences.class_name(sentences.claim.label)
    n = len(sentences.reference[0].group)
    puts = f"that the classifier puts in {after}"
    if sentences.result.by_true_labels:
        puts = f"whose true class is {after}"
    group = f"the {'one graph' if n == 1 else f'{n:,} graphs'} of the data set {puts}"
    if sentences.in_range is None:
        return f"Whether this is in range is not known: there are too few graphs ({group})."
    if sentences.in_range:
        nearer = [" – ".join(p.place) for p in sentences.reference if not p.is_inside]
        moved = f", or moves towards it ({', '.join(nearer)})" if nearer else ""
        text = (
            f"In range: every place that is named ends within the 95 % range of {group}{moved},"
            " and no more is changed there than some of them differ by."
        )
    else:
        text = _out_of_range(sentences, group)
    same = [" – ".join(place.place) for place in sentences.reference if is_faint(place)]
    if same:
        text += f" The two classes hardly differ in {', '.join(same)} (Hedges' g below 0.2)."
    return text


def _out_of_range(sentences: Sentences, group: str) -> str:
    """Which places are out of range, by which condition, and whether the whole graph is."""
    result, units, places = sentences.result, sentences.words.units, sentences.reference
    if not any(place.exceeds for place in places):  # a story of an earlier version
        where = ", ".join(" – ".join(p.place) for p in places if p.is_out) or "the whole graph"
        return f"Out of range ({where}): a graph with this change would be unlike {group}."
    conditions = {
        "interval": f"outside the 95 % range of {group}",
        "difference": f"more {units} changed than any of these graphs differs by",
        "meant": f"more of the {units} meant changed than the 95 % range allows",
    }
    parts = []
    for name, what in conditions.items():
        if out := [" – ".join(place.place) for place in places if name in place.exceeds]:
            parts.append(f"{what}: {', '.join(out)}")
    if all("total" in place.exceeds for place in places):
        edges = result.original.n_edges
        after = edges + net(sentences.claim.amounts)
        one_way = {"add": "additions", "remove": "removals"}.get(result.constraints.get("only", ""))
        why = f" ({one_way} alone cannot keep it)" if one_way else ""
        parts.append(
            f"the number of {units} in all, {edges:,} → {after:,}, is outside the 95 % range"
            f"{'' if parts else f' of {group}'}{why}"
        )
    n = sum(place.is_out for place in places)
    count = f" in {n:,} of {len(places):,} places" if len(places) > 1 and n else ""
    return (
        f"Out of range{count}: {'; '.join(parts)}. No sentence in range was found, or none was "
        "searched for."
    )


def _level_note(sentences: Sentences) -> str | None:
    """Whether the sentence also holds at the level that is usual for the new class."""
    seen = sentences.level
    if seen is None:
        return None
    after = sentences.class_name(sentences.claim.label)
    usual = f"at the level usual for {after} (the median in every place that is named)"
    count = f"{seen.flips} of {seen.draws} random choices change the answer"
    return f"Also {usual}: {count}." if seen.true else f"Not {usual}: only {count}."


def _balance_note(sentences: Sentences) -> str | None:
    """How the number of edges is kept; None if it is not."""
    number = abs(sentences.claim.elsewhere)
    if not number:
        return None
    words, edges = sentences.words, sentences.result.original.n_edges
    adding = sentences.claim.elsewhere > 0
    return (
        f"The number of {words.units} stays at {edges:,}: {words.count(number)} "
        f"{'are' if number > 1 else 'is'} {'added' if adding else 'removed'} outside the named "
        f"places, drawn anew in every test. {words.units.capitalize()} that the data set "
        f"{'often' if adding else 'seldom'} has are drawn more often."
    )


def _lasting(result: Counterfactual) -> str | None:
    """The robustness of the change, if requested."""
    seen = result.robustness
    if seen is None:
        return None
    if not seen.draws:
        return "The robustness to noise was requested but could not be measured."
    low, high = seen.interval
    short = "" if seen.reached else f", less than the {100 * seen.wanted:g} % requested"
    n = result.distance
    whole = "The change survives" if n == 1 else f"All {n:,} changes together survive"
    return (
        f"{whole} noise in {seen.flips} of {seen.draws} trials{short}: each flips "
        f"{100 * seen.noise:g} % of all pairs at random (95 % interval: {100 * low:.0f} to "
        f"{100 * high:.0f} %)."
    )


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
                "With the graphs of a data set as background, the method searches for a short "
                "sentence about regions.",
                ("background",),
            )
        return Advice()
    if len(sentences.claim.amounts) <= FEW_CELLS and (test is None or test.true):
        return Advice()
    return Advice(
        f"The method auto, with a background, searches for a sentence of at most {FEW_CELLS} "
        "places that is true as read.",
        ("method", "background"),
    )


def _chooses(result: Counterfactual) -> bool:
    """Whether the method itself searches for short sentences."""
    return result.method.split("+")[0] in ("auto", "best", "brief")


# ---- remarks on the tests -------------------------------------------------------------------

CUT_SHORT = (
    "The budget of queries was spent before it was clear whether a shorter sentence is enough."
)
SPENT = "Not tested: the session's budget of queries was spent."
SPENT_AS_READ = "Not fully tested as read: the session's budget of queries was spent."
NO_DRAWS = "Whether it is true as read was not tested (draws=0)."


def too_few_left(left: int, needed: int, *, begun: bool) -> str:
    """The remark that the budget is too small for a test as read, or for another one."""
    return (
        f"{'Not fully' if begun else 'Not'} tested as read: {left:,} queries of the "
        f"budget were left, and a test takes {needed:,}."
    )
