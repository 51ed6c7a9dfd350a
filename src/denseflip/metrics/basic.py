"""Measures of explanations: one function each, over one result or over many.

The paper's measures are here (§5.2 of the paper): flip rate, edit distance, calls. A measure over
many results looks only at those that found a counterfactual, except the flip rate itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from denseflip.counterfactual import Counterfactual, Label
from denseflip.errors import UnknownNameError


def flip_rate(results: Iterable[Counterfactual], label: Label | None = None) -> float:
    """Share of graphs for which a counterfactual was found; NaN if there are no graphs.

    Parameters
    ----------
    results : one result per graph.
    label : count only graphs that the oracle put in this class.
    """
    chosen = [r.found for r in results if label is None or r.label_before == label]
    return sum(chosen) / len(chosen) if chosen else float("nan")


def distance(result: Counterfactual) -> int:
    """Number of changed pairs, |E △ E'|."""
    return result.distance


def relative_distance(result: Counterfactual) -> float:
    """The paper's edit distance d%: changed pairs over pairs joined in either graph."""
    return result.relative_distance


def calls(result: Counterfactual) -> int:
    """Questions to the oracle in the one-by-one walk, the original's label included (paper: C)."""
    return result.calls


def iterations(result: Counterfactual) -> int:
    """Iterations of the method."""
    return result.iterations


def n_added(result: Counterfactual) -> int:
    """Number of added edges."""
    return len(result.added)


def n_removed(result: Counterfactual) -> int:
    """Number of removed edges."""
    return len(result.removed)


def elapsed(result: Counterfactual) -> float:
    """Seconds that the search took."""
    return result.elapsed


METRICS: dict[str, Callable[[Counterfactual], float]] = {
    "distance": distance,
    "relative_distance": relative_distance,
    "calls": calls,
    "iterations": iterations,
    "n_added": n_added,
    "n_removed": n_removed,
    "elapsed": elapsed,
}


@dataclass(frozen=True)
class Summary:
    """Quartiles of a measure over the results that found a counterfactual."""

    metric: str
    n: int
    mean: float
    minimum: float
    q1: float
    median: float
    q3: float
    maximum: float


def measure(
    results: Iterable[Counterfactual], metric: str, label: Label | None = None
) -> list[float]:
    """A measure of every result that found a counterfactual (of one class, if given)."""
    if metric not in METRICS:
        raise UnknownNameError("metric", metric, METRICS)
    function = METRICS[metric]
    return [
        float(function(r))
        for r in results
        if r.found and (label is None or r.label_before == label)
    ]


def summarise(
    results: Sequence[Counterfactual], metric: str, label: Label | None = None
) -> Summary:
    """Mean and quartiles of a measure over the results that found a counterfactual."""
    values = np.asarray(measure(results, metric, label))
    if not len(values):
        nan = float("nan")
        return Summary(metric, 0, nan, nan, nan, nan, nan, nan)
    low, q1, median, q3, high = np.percentile(values, (0, 25, 50, 75, 100)).tolist()
    return Summary(metric, len(values), float(values.mean()), low, q1, median, q3, high)
