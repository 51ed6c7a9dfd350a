"""The options of `explain` and `compare` that say on which terms an answer is wanted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from denseflip.errors import InvalidParameterError

if TYPE_CHECKING:
    from denseflip.graph import Nodes

FreezeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--freeze",
        help="Leave this as it is: a region, a node (name or number), or a cell ('Frontal x "
        "Temporal'). May be given often.",
        metavar="NAME",
    ),
]
AddOption = Annotated[bool, typer.Option("--only-add", help="Allow additions only.")]
RemoveOption = Annotated[bool, typer.Option("--only-remove", help="Allow removals only.")]
EditsOption = Annotated[
    int | None, typer.Option("--max-edits", min=1, help="Change at most so many pairs.")
]
CellsOption = Annotated[
    int | None,
    typer.Option(
        "--max-cells",
        min=1,
        help="Change, and name, at most so many pairs of regions (without regions, name at most "
        "so many nodes); by default sentences name at most 5.",
    ),
]
DensityOption = Annotated[
    float | None,
    typer.Option(
        "--keep-density",
        help="Keep the number of edges within so many percent of what it is.",
        metavar="PCT",
    ),
]
ConnectedOption = Annotated[
    bool, typer.Option("--keep-connected", help="Do not let the graph fall into more pieces.")
]
SeenOption = Annotated[
    float | None,
    typer.Option(
        "--allow-seen",
        help="Change only pairs that at least so many percent of the data set's graphs have.",
        metavar="PCT",
    ),
]
LeastDegreeOption = Annotated[
    int | None,
    typer.Option("--min-degree", min=0, help="Leave every node that changes so many edges."),
]
MostDegreeOption = Annotated[
    int | None,
    typer.Option("--max-degree", min=0, help="Give no node that changes more edges than that."),
]


def constraints_of(
    *, only_add: bool, only_remove: bool, freeze: list[str] | None, **given: Any
) -> dict[str, Any]:
    """What was asked for, as `Constraints` take it; empty if nothing was."""
    if only_add and only_remove:
        msg = "Additions only and removals only leave nothing to change: ask for one of them."
        raise InvalidParameterError(msg, parameter="only")
    terms = {key: value for key, value in given.items() if value is not None and value is not False}
    if only_add or only_remove:
        terms["only"] = "add" if only_add else "remove"
    if freeze:
        terms["freeze"] = list(freeze)
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
