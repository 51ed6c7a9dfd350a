"""The columns of a result: facts of the explanation and every measure of `MEASURES`, JSON-ready."""

from __future__ import annotations

from typing import Any

from denseflip.metrics import MEASURES, Case

# Times are stored separately, since they differ between runs; stability needs many explanations.
_MEASURED = [m for m in MEASURES.values() if m.name != "elapsed" and "seeds" not in m.needs]
_FIRST = ("status", "found", "label_before", "label_after")

# Description: the chosen method, the language, the reading in which it is true.
_SPOKEN = ("chosen", "language", "reading")

# In the order of tables and exports. Those after `notes` are of found counterfactuals only, but
# for ``d`` and ``C``: what the reading of a method calls distance and calls.
COLUMNS = (
    *_FIRST,
    *(m.name for m in _MEASURED if m.always and m.name not in _FIRST),
    "notes",
    *(m.name for m in _MEASURED if not m.always),
    *_SPOKEN,
    "label_true",  # the data set's
    "d",
    "C",
)


def columns_of(case: Case) -> dict[str, Any]:
    """Return all columns of a case except ``d`` and ``C``, which depend on the reading."""
    result = case.result
    row: dict[str, Any] = dict.fromkeys(COLUMNS[: COLUMNS.index("d")])
    row.update((m.name, m(case)) for m in _MEASURED)
    row.update(
        status=str(result.status),
        label_before=result.label_before,
        label_after=result.label_after,
        notes=list(result.notes),
        chosen=result.chosen,
        language=None if case.claim is None else case.claim.spoken,
        reading=case.true_reading,
    )
    return row
