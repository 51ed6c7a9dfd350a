"""The table of edits: one schema for data frames, CSV files, pages and BrainNet files."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from denseflip.errors import MissingExtraError
from denseflip.graph.edits import Edits
from denseflip.graph.nodes import Nodes, Taxonomy
from denseflip.graph.pairs import Pair

Row = tuple[Any, ...]


def list_edits(
    edits: Edits,
    nodes: Nodes | None = None,
    regions: Taxonomy | None = None,
    *,
    weights: Iterable[tuple[int, int, float, float]] = (),
    named: Collection[Pair] | None = None,
) -> tuple[tuple[str, ...], list[Row]]:
    """Columns and rows of the table of edits: one row for each edit, removals first.

    All tables of edits have these columns. Columns without data are left out.

    Parameters
    ----------
    edits : the added and removed edges.
    nodes : adds ``name_1`` and ``name_2``.
    regions : adds ``region_1`` and ``region_2``.
    weights : (node, node, before, after) of each edit, for a classifier that uses weights; adds
        ``weight_before`` and ``weight_after``.
    named : the edits that a sentence names; adds ``named``, which is true for these.

    Examples
    --------
    >>> columns, rows = list_edits(Edits(added=((0, 2),), removed=((1, 2),)))
    >>> columns
    ('change', 'node_1', 'node_2')
    >>> rows
    [('removed', 1, 2), ('added', 0, 2)]
    """
    weighed = {(u, v): (before, after) for u, v, before, after in weights}
    columns: tuple[str, ...] = ("change", "node_1", "node_2")
    if nodes is not None:
        columns += ("name_1", "name_2")
    if regions is not None:
        columns += ("region_1", "region_2")
    if weighed:
        columns += ("weight_before", "weight_after")
    if named is not None:
        columns += ("named",)
        named = set(named)
    rows = []
    for change, pairs in (("removed", edits.removed), ("added", edits.added)):
        for u, v in pairs:
            row: Row = (change, u, v)
            if nodes is not None:
                row += (nodes.names[u], nodes.names[v])
            if regions is not None:
                row += (regions.region_of(u), regions.region_of(v))
            if weighed:
                row += weighed.get((u, v), (None, None))
            if named is not None:
                row += ((u, v) in named,)
            rows.append(row)
    return columns, rows


def make_frame(columns: Sequence[str], rows: Iterable[Row]) -> Any:
    """Rows as a pandas ``DataFrame``.

    Raises
    ------
    MissingExtraError
        If pandas is not installed; the message says how to install it.
    """
    try:
        from pandas import DataFrame
    except ImportError as error:
        raise MissingExtraError("pandas", "frames") from error
    return DataFrame(list(rows), columns=list(columns))
