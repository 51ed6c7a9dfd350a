"""The tables of `denseflip bench`."""

from __future__ import annotations

from collections.abc import Sequence

from denseflip.experiments.results import Row, group_table
from denseflip.experiments.tables import Table

_MEASURES = (
    "relative_distance",
    "calls",
    "iterations",
    "n_added",
    "n_removed",
    "regions_touched",
    "regions_to_cover",
    "region_pairs_to_cover",
    "region_entropy",
    "density_drift",
    "plausibility",
    "robustness_1",
    "robustness_5",
    "statement_verified",
    "statement_pairs",
    "seed_stability",
)


def bench_tables(rows: Sequence[Row]) -> list[Table]:
    """Flip rates per class, and all measures per method."""
    sides = ("data", "oracle", "method", "parameters")
    return [
        group_table(rows, (*sides, "label_before"), ("relative_distance", "calls"), name="flips"),
        group_table(
            rows,
            sides,
            _MEASURES,
            name="measures",
            title="Medians (of shares: means) over found counterfactuals of all measures",
        ),
    ]
