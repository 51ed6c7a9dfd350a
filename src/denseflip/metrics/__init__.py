"""Measures of explanations; `docs/metrics.md` explains every one of them.

`MEASURES` holds one record per measure, each a callable on a `Case`. Measures that a result does
not compute itself are also functions, in `quality` and `denseflip.search.claims.redraw`.
"""

from denseflip.metrics.case import Case, Planted
from denseflip.metrics.measures import (
    MEASURES,
    Measure,
    Quartiles,
    flip_rate,
    measure,
    quartiles,
)
from denseflip.metrics.quality import (
    density_drift,
    is_minimal,
    plausibility,
    region_entropy,
    region_pairs_to_cover,
    regions_to_cover,
    regions_touched,
    robustness,
    seed_stability,
)
from denseflip.search.claims.redraw import as_read

__all__ = [
    "MEASURES",
    "Case",
    "Measure",
    "Planted",
    "Quartiles",
    "as_read",
    "density_drift",
    "flip_rate",
    "is_minimal",
    "measure",
    "plausibility",
    "quartiles",
    "region_entropy",
    "region_pairs_to_cover",
    "regions_to_cover",
    "regions_touched",
    "robustness",
    "seed_stability",
]


def __getattr__(name: str) -> Measure:
    """Measures that the result itself holds: ``metrics.distance(result)``."""
    if name not in MEASURES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    return MEASURES[name]
