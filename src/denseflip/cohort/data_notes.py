"""Notes on a cohort's data: that they are made up, and that all graphs have the same edge count."""

from __future__ import annotations

import numpy as np

from denseflip.datasets import Dataset
from denseflip.search.claims.reference import STEADY

MADE_UP = "Made-up data: the difference was built in."
_TOTAL = "so more of them in one place means fewer in others"


def data_notes(dataset: Dataset, units: str) -> tuple[str, ...]:
    """The notes on these data; none if there is nothing to say.

    ``units`` are the edges in words: ``connections``.
    """
    notes = (MADE_UP,) if _is_made_up(dataset) else ()
    edges = np.array([graph.n_edges for graph in dataset.graphs], dtype=float)
    if edges.std() > STEADY * edges.mean():
        return notes
    nearly = "" if np.ptp(edges) == 0 else "nearly "
    return (
        *notes,
        f"All graphs have {nearly}the same number of {units}, {_TOTAL}: a region pair may differ "
        "only because another one does.",
    )


def total_note(notes: tuple[str, ...]) -> str:
    """The note that all graphs have the same number of edges; empty if they have not."""
    return next((note for note in notes if _TOTAL in note), "")


def _is_made_up(dataset: Dataset) -> bool:
    """Whether the data are synthetic, with a difference between the classes."""
    known = dataset.attributes
    return "planted" in known and bool(dict(known.get("parameters") or {}).get("strength"))
