"""On which terms `explain`, `compare` and `cohort` are asked for an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from denseflip.errors import InvalidParameterError

if TYPE_CHECKING:
    from denseflip.graph import Nodes

_TERMS = ("max_edits", "keep_density", "allow_seen", "min_degree", "max_degree")


def constraints_of(given: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for, as `Constraints` take it; empty if nothing was.

    ``given`` are the parameters of the command; which of them are terms, this function knows.
    """
    if given["only_add"] and given["only_remove"]:
        msg = "Additions only and removals only leave nothing to change: ask for one of them."
        raise InvalidParameterError(msg, parameter="only")
    # Nought is a term: keep_density=0 leaves the number of edges as it is.
    terms = {key: given[key] for key in _TERMS if given[key] is not None}
    if given["only_add"] or given["only_remove"]:
        terms["only"] = "add" if given["only_add"] else "remove"
    if given["keep_connected"]:
        terms["keep_connected"] = True
    if given["freeze"]:
        terms["freeze"] = list(given["freeze"])
    return terms


def bound_cells(
    terms: dict[str, Any],
    max_cells: int | None,
    nodes: Nodes | None,
    *,
    regions: str | None,
    language: str | None,
    named: bool,
    front: bool = False,
) -> dict[str, Any]:
    """The terms with the bound on cells: a guarantee where there are regions to count.

    Where there are none, where others than regions are to be named, or where a ``front`` shows all
    answers, a method that has such a parameter (``named``) keeps to it in what it names.
    """
    if max_cells is None:
        return terms
    counted = nodes is not None and bool(nodes.regions) and language not in ("nodes", "pairs")
    if named and (front or not counted):
        return terms
    return {**terms, "max_cells": max_cells, **({"regions": regions} if regions else {})}
