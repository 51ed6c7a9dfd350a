"""Edits as rows with names, and rows as a pandas table, for whoever goes on with them elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from denseflip.errors import MissingExtraError
from denseflip.graph.edits import Edits
from denseflip.graph.nodes import Nodes, Taxonomy

Row = tuple[Any, ...]


def list_edits(
    edits: Edits, nodes: Nodes | None = None, regions: Taxonomy | None = None
) -> tuple[tuple[str, ...], list[Row]]:
    """Columns and rows of edits, one row each, removals first.

    Parameters
    ----------
    edits : what was changed.
    nodes : for the names of the nodes.
    regions : for their regions.

    Examples
    --------
    >>> columns, rows = list_edits(Edits(added=((0, 2),), removed=((1, 2),)))
    >>> columns
    ('change', 'node_1', 'node_2')
    >>> rows
    [('removed', 1, 2), ('added', 0, 2)]
    """
    columns: tuple[str, ...] = ("change", "node_1", "node_2")
    if nodes is not None:
        columns += ("name_1", "name_2")
    if regions is not None:
        columns += ("region_1", "region_2")
    rows = []
    for change, pairs in (("removed", edits.removed), ("added", edits.added)):
        for u, v in pairs:
            row: Row = (change, u, v)
            if nodes is not None:
                row += (nodes.names[u], nodes.names[v])
            if regions is not None:
                row += (regions.region_of(u), regions.region_of(v))
            rows.append(row)
    return columns, rows


def make_frame(columns: Sequence[str], rows: Iterable[Row]) -> Any:
    """Rows as a pandas ``DataFrame``.

    Raises
    ------
    MissingExtraError
        If pandas is not installed; the message says how to get it.
    """
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise MissingExtraError("pandas", "frames") from error
    return DataFrame(list(rows), columns=list(columns))
