"""The names of all measures and a line on each: what tables print in their heads and notes."""

from __future__ import annotations

from dataclasses import dataclass

from denseflip.errors import UnknownNameError


@dataclass(frozen=True)
class MetricInfo:
    """A measure: its name, what it is, whether less or more is better, and what it needs."""

    name: str
    summary: str
    better: str = ""  # "low", "high" or "" where neither is
    needs: str = ""


ALL: dict[str, MetricInfo] = {
    info.name: info
    for info in (
        MetricInfo("flip_rate", "share of graphs with a counterfactual, per class", "high"),
        MetricInfo("distance", "changed pairs, |E △ E'|", "low"),
        MetricInfo("relative_distance", "d%: changed pairs over |E ∪ E'|", "low"),
        MetricInfo("calls", "C: questions to the oracle, one by one", "low"),
        MetricInfo("iterations", "iterations of the method", "low"),
        MetricInfo("n_added", "edges added"),
        MetricInfo("n_removed", "edges removed"),
        MetricInfo("elapsed", "seconds", "low"),
        MetricInfo("regions_touched", "regions with an end of an edit", "low", "regions"),
        MetricInfo("regions_to_cover", "fewest regions that hold 80 % of edits", "low", "regions"),
        MetricInfo(
            "region_pairs_to_cover",
            "fewest region pairs that hold 80 % of edits",
            "low",
            "regions",
        ),
        MetricInfo("region_entropy", "entropy of edits over regions, 0 to 1", "low", "regions"),
        MetricInfo("density_drift", "|E'| / |E|"),
        MetricInfo(
            "plausibility", "d% to the nearest real graph of the target class", "low", "background"
        ),
        MetricInfo(
            "robustness", "share of random perturbations that keep the label", "high", "oracle"
        ),
        MetricInfo(
            "seed_stability", "mean Jaccard similarity of the edits over seeds", "high", "seeds"
        ),
        MetricInfo("is_minimal", "no single edit can be undone", "high", "oracle"),
        MetricInfo(
            "statement_verified", "the sentence alone, applied, changes the label", "high", "oracle"
        ),
    )
}


def describe_metric(name: str) -> MetricInfo:
    """What is known about a measure by its name."""
    if name not in ALL:
        raise UnknownNameError("metric", name, ALL)
    return ALL[name]
