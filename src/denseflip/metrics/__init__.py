"""Measures of explanations: one function each; `docs/metrics.md` explains every one of them.

`basic` needs nothing but results (the paper's measures are there), `regions` the regions of the
nodes, `quality` the data set or the oracle. `ALL` names them all, `describe_metric` says in a line
what each is.
"""

from denseflip.metrics.basic import (
    METRICS,
    Summary,
    calls,
    distance,
    elapsed,
    flip_rate,
    iterations,
    measure,
    n_added,
    n_removed,
    relative_distance,
    summarise,
)
from denseflip.metrics.catalogue import ALL, describe_metric
from denseflip.metrics.quality import (
    density_drift,
    is_minimal,
    plausibility,
    robustness,
    seed_stability,
)
from denseflip.metrics.regions import (
    region_entropy,
    region_pairs_to_cover,
    regions_to_cover,
    regions_touched,
)

__all__ = [
    "ALL",
    "METRICS",
    "Summary",
    "calls",
    "density_drift",
    "describe_metric",
    "distance",
    "elapsed",
    "flip_rate",
    "is_minimal",
    "iterations",
    "measure",
    "n_added",
    "n_removed",
    "plausibility",
    "region_entropy",
    "region_pairs_to_cover",
    "regions_to_cover",
    "regions_touched",
    "relative_distance",
    "robustness",
    "seed_stability",
    "summarise",
]
