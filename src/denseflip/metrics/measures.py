"""Every measure as one record: `MEASURES`. Columns, tables, documentation and tests follow from it.

A measure is computed from a `Case`: one explanation with the inputs that measures need. To add
one, write its function and one line in `MEASURES`. The paper's own measures (§5.2 of the paper)
are among them: flip rate, edit distance, calls.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any, Literal

import numpy as np

from denseflip.checks import count_words
from denseflip.counterfactual import Counterfactual, Label, Reading
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError
from denseflip.metrics import quality
from denseflip.metrics.case import NEEDS, Case
from denseflip.search.claims import redraw as truth

Value = bool | int | float | None
Better = Literal["low", "high", ""]
Function = Callable[[Case], Value]


@dataclass(frozen=True)
class Measure:
    """A measure of explanations. Call it with a `Case` (or a bare result) to get the value.

    Attributes
    ----------
    name : also the name of its column.
    summary : one-line description.
    better : ``"low"``, ``"high"``, or empty if neither is better.
    needs : required inputs, any of ``"regions"``, ``"background"``, ``"oracle"``, ``"seeds"``.
    average : how values are averaged: ``"median"``, or ``"mean"`` (for shares and yes/no values).
    function : computes the value from a case; returns None if there is no value.
    always : whether it also applies to searches that found nothing.

    Examples
    --------
    >>> from denseflip import Graph, explain
    >>> result = explain(Graph.from_edges(3, [(0, 1)]), lambda a: int(a[0, 1]), "tri")
    >>> MEASURES["distance"](result)
    2
    """

    name: str
    summary: str
    better: Better
    needs: frozenset[str]
    average: Literal["median", "mean"]
    function: Function
    always: bool = False

    def __post_init__(self) -> None:
        if unknown := sorted(set(self.needs) - set(NEEDS)):
            msg = (
                f"Measure {self.name!r} needs {', '.join(unknown)}; a measure may need "
                f"{', '.join(NEEDS)}."
            )
            raise InvalidParameterError(msg)

    def __call__(self, case: Case | Counterfactual) -> Value:
        """The value; None if an input is missing or there is nothing to measure."""
        case = case if isinstance(case, Case) else Case(case)
        if case.missing(self.needs) or not (self.always or case.result.found):
            return None
        return self.function(case)

    def typical(self, values: Iterable[Any]) -> float | None:
        """The average of many values, by `average`; None if none of them is a number."""
        numbers = [float(v) for v in values if isinstance(v, (bool, int, float))]
        if not numbers:
            return None
        return (statistics.fmean if self.average == "mean" else statistics.median)(numbers)


# ---- the records --------------------------------------------------------------------------


def _median(
    name: str, summary: str, better: Better, function: Function, *needs: str, always: bool = False
) -> Measure:
    return Measure(name, summary, better, frozenset(needs), "median", function, always)


def _rate(
    name: str, summary: str, function: Function, *needs: str, always: bool = False
) -> Measure:
    """A share or a yes/no value; higher is better."""
    return Measure(name, summary, "high", frozenset(needs), "mean", function, always)


def _plain(name: str, summary: str, better: Better = "low") -> Measure:
    """A measure that the result itself holds under this name, found or not."""
    of = attrgetter(name)
    return _median(name, summary, better, lambda case: of(case.result), always=True)


def _regional(name: str, summary: str) -> Measure:
    function = getattr(quality, name)
    return _median(
        name, summary, "low", lambda case: function(case.result, case.regions), "regions"
    )


def _minimal(case: Case) -> bool | None:
    if not case.minimality or case.session is None:
        return case.result.minimal
    return quality.is_minimal(case.result, case.session)


def _plausibility(case: Case) -> float | None:
    wanted = case.result.label_after
    same = [graph for graph, label in case.background or () if label == wanted]
    return quality.plausibility(case.result, same)


def _robustness(case: Case, share: float) -> float | None:
    if case.session is None or not case.robustness:
        return None
    return quality.robustness(
        case.result, case.session, share, repeats=case.robustness, seed=case.result.seed
    )


def _share(case: Case, reading: Reading | None = None) -> float | None:
    test = case.as_read(reading)
    return None if test is None else test.share


def _told(case: Case) -> bool | None:
    if case.claim is None or not case.draws:
        return None
    return len(case.claim.amounts) <= truth.FEW_CELLS and case.true_reading is not None


def _planted(case: Case, *, alone: bool) -> bool | None:
    claim, planted = case.claim, case.planted
    if claim is None or planted is None:
        return None
    if claim.regions is None or claim.regions.name != planted.taxonomy:
        return False
    named = claim.region_sets[:1] if not alone else claim.region_sets
    return named == (frozenset(planted.regions),)


def _in_range(case: Case) -> float | None:
    known = [there.in_range for there in case.reference if there.in_range is not None]
    return statistics.fmean(known) if known else None


def _worst_z(case: Case) -> float | None:
    return max((abs(there.z) for there in case.reference if there.z is not None), default=None)


_LIST = (
    _rate(
        "found",
        "a counterfactual was found; its mean is the flip rate",
        lambda case: case.result.found,
        always=True,
    ),
    _plain("distance", "changed pairs, |E △ E'|"),
    _plain("relative_distance", "the paper's d%: changed pairs over |E ∪ E'|"),
    _plain("calls", "the paper's C: queries of the classifier, one per graph"),
    _plain("search_calls", "queries up to the flip"),
    _plain("refine_calls", "queries of the refinement after the flip"),
    _plain("background_calls", "queries about the graphs of the data set"),
    _plain("amortised_calls", "calls once the labels of the data set are known"),
    _plain("distinct_calls", "different graphs queried"),
    _plain("iterations", "iterations of the method"),
    _median("n_added", "edges added", "", lambda case: len(case.result.added), always=True),
    _median("n_removed", "edges removed", "", lambda case: len(case.result.removed), always=True),
    _plain("elapsed", "seconds of the search"),
    _rate("minimal", "no single edit can be undone without losing the flip", _minimal),
    _regional("regions_touched", "regions with an end of at least one edit"),
    _regional("regions_to_cover", "fewest regions that hold 80 % of the edits"),
    _regional("region_pairs_to_cover", "fewest region pairs that hold 80 % of the edits"),
    _regional("region_entropy", "entropy of the edits' ends over all regions, 0 to 1"),
    _median(
        "density_drift",
        "|E'| / |E|; near 1: the density hardly changes",
        "",
        lambda case: quality.density_drift(case.result),
    ),
    _median(
        "plausibility",
        "d% to the nearest real graph of the counterfactual's class",
        "low",
        _plausibility,
        "background",
    ),
    *(
        _rate(
            f"robustness_{percent}",
            f"share of random perturbations of {percent} % of all pairs that keep the label",
            partial(_robustness, share=percent / 100),
            "oracle",
        )
        for percent in (1, 5)
    ),
    _rate(
        "statement_verified",
        "the edits that the sentence names change the label by themselves",
        lambda case: None if case.sentence is None else case.sentence.verified,
        "oracle",
        "regions",
    ),
    _median(
        "statement_pairs",
        "region pairs that the sentence needs to name",
        "low",
        lambda case: None if case.sentence is None else case.sentence.n_named,
        "oracle",
        "regions",
    ),
    _rate(
        "as_read",
        "share of redraws of the sentence that flip, in the reading the sentence claims",
        _share,
        "oracle",
    ),
    _rate(
        "as_read_typical",
        "the same with pairs that are typical of the target class",
        partial(_share, reading="typical"),
        "oracle",
        "background",
    ),
    _median(
        "cells",
        "region pairs (or nodes, or pairs) that the shortest sentence names",
        "low",
        lambda case: None if case.claim is None else len(case.claim.amounts),
        "oracle",
    ),
    _rate(
        "told",
        f"true as read (9 of 10 redraws flip) in at most {truth.FEW_CELLS} cells",
        _told,
        "oracle",
    ),
    _median(
        "words",
        "words of the sentence",
        "low",
        lambda case: None if case.story is None else count_words(case.story.statement),
        "story",
    ),
    *(
        _rate(
            f"planted_{where}",
            f"the planted pair of regions is {what} that the sentence names",
            partial(_planted, alone=where == "alone"),
            "oracle",
            "planted",
        )
        for where, what in (("first", "the first"), ("alone", "all"))
    ),
    _rate(
        "in_range",
        "share of the named places that end within the range of real graphs of the target class",
        _in_range,
        "oracle",
        "background",
    ),
    _median(
        "worst_z",
        "distance of the farthest named place from the target class, in standard deviations",
        "low",
        _worst_z,
        "oracle",
        "background",
    ),
    _rate(
        "towards",
        "share of the named places with |g| ≥ .5 that move towards the target class's median",
        lambda case: statistics.fmean(case.towards) if case.towards else None,
        "oracle",
        "background",
    ),
    _rate(
        "level",
        "the label also flips if each named place gets the target class's median",
        lambda case: None if case.level is None else case.level.true,
        "oracle",
        "background",
    ),
    _rate(
        "cells_in_range",
        "share of all region pairs that end within the range of real graphs of the target class",
        lambda case: case.cells_in_range,
        "background",
        "regions",
    ),
    _rate(
        "seed_stability",
        "mean Jaccard similarity of the edits over seeds",
        lambda case: quality.seed_stability(case.seeds or ()),
        "seeds",
    ),
)
MEASURES: dict[str, Measure] = {measure.name: measure for measure in _LIST}
#: Synonyms of measures: not accepted as names, but used for suggestions.
MEASURE_WORDS = {
    "edits": "distance",
    "edit_distance": "distance",
    "queries": "calls",
    "questions": "calls",
    "time": "elapsed",
    "seconds": "elapsed",
    "runtime": "elapsed",
    "flips": "found",
}


# ---- over many results --------------------------------------------------------------------


def flip_rate(results: Iterable[Counterfactual], label: Label | None = None) -> float:
    """Share of graphs for which a counterfactual was found; NaN if there are no graphs.

    Parameters
    ----------
    results : one result per graph.
    label : count only graphs that the classifier assigns to this class.
    """
    chosen = [r.found for r in results if label is None or r.label_before == label]
    return sum(chosen) / len(chosen) if chosen else float("nan")


def measure(
    results: Iterable[Counterfactual | Case], name: str, label: Label | None = None
) -> list[float]:
    """A measure of every result that found a counterfactual (of one class, if given).

    Parameters
    ----------
    results : results, or cases if the measure needs more than a result.
    name : the measure's name in `MEASURES`.
    label : only graphs that the classifier assigns to this class.

    Raises
    ------
    UnknownNameError
        If there is no measure of that name.
    MissingInputError
        If a case lacks an input that the measure needs.
    """
    if name not in MEASURES:
        raise UnknownNameError("measure", name, MEASURES, aliases=MEASURE_WORDS)
    chosen, values = MEASURES[name], []
    for given in results:
        case = given if isinstance(given, Case) else Case(given)
        if not case.result.found or label not in (None, case.result.label_before):
            continue
        if lacking := case.missing(chosen.needs):
            fields = ", ".join(f"{NEEDS[need]}=…" for need in lacking)
            msg = (
                f"The measure {name!r} needs {' and '.join(lacking)}: pass Case(result, {fields}) "
                "instead of the result."
            )
            raise MissingInputError(msg)
        value = chosen(case)
        if value is not None:
            values.append(float(value))
    return values


@dataclass(frozen=True)
class Quartiles:
    """Mean and quartiles of a measure over the results that found a counterfactual."""

    measure: str
    n: int
    mean: float
    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float


def quartiles(
    results: Sequence[Counterfactual | Case], name: str, label: Label | None = None
) -> Quartiles:
    """Mean and quartiles of a measure over the results that found a counterfactual."""
    values = np.asarray(measure(results, name, label))
    if not len(values):
        nan = float("nan")
        return Quartiles(name, 0, nan, nan, nan, nan, nan, nan)
    low, q1, median, q3, high = np.percentile(values, (0, 25, 50, 75, 100)).tolist()
    return Quartiles(name, len(values), float(values.mean()), low, q1, median, q3, high)
