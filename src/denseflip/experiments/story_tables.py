"""The tables of explanations: edits, region pairs, and what real graphs have in each place.

The command line, the app and the BIDS folder write these tables, always with the same columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from denseflip.errors import MissingInputError
from denseflip.experiments.table import Table
from denseflip.story.story import Story

#: Column → what it holds, in the order of the tables.
EDIT_COLUMNS = {
    "id": "Graph",
    "change": "Whether the connection is added or removed",
    "node_1": "Number of the first node, counted from 0",
    "node_2": "Number of the second node, counted from 0",
    "name_1": "Name of the first node",
    "name_2": "Name of the second node",
    "region_1": "Region of the first node",
    "region_2": "Region of the second node",
    **{f"{axis}_{i}": f"Coordinate {axis} of the {which} node in millimetres"
       for i, which in ((1, "first"), (2, "second")) for axis in "xyz"},
    "weight_before": "Weight of the connection before the change",
    "weight_after": "Weight of the connection after the change",
    "named": "Whether the sentence names this change",
}  # fmt: skip
REGION_COLUMNS = {
    "id": "Graph",
    "taxonomy": "Name of the partition into regions",
    "region_1": "First region",
    "region_2": "Second region; the same as the first for connections within it",
    "added": "Connections added",
    "removed": "Connections removed",
    "share": "Share of all changes",
}
REFERENCE_COLUMNS = {
    "id": "Graph",
    "place": "Regions, or node, that the sentence names",
    "pairs": "Number of node pairs in the place",
    "before": "Connections of the graph",
    "after": "Connections after the change",
    "median": "Median of the graphs that are classified as the target class",
    "low": "Lower end of their 95 % prediction interval",
    "high": "Upper end of their 95 % prediction interval",
    "in_range": "Whether the change is in range",
    "z": "Distance of the changed graph from these graphs in standard deviations",
    "effect": "Hedges' g between the target class and the class of the graph",
    "graphs": "Number of these graphs",
}

Listed = Iterable[tuple[str, Story]]


def edit_table(listed: Listed) -> Table:
    """One row per edit of each graph, with names, regions and coordinates."""
    rows: list[dict[str, Any]] = []
    known = {"id"}
    for id, story in listed:
        columns, edits = story.edit_rows()
        known.update(columns)
        rows += [{"id": id, **dict(zip(columns, edit, strict=True))} for edit in edits]
    columns = tuple(x for x in EDIT_COLUMNS if x in known)
    cells = tuple(tuple(row.get(column) for column in columns) for row in rows)
    return Table("edits", f"{len(rows)} edits", columns, cells)


def region_table(listed: Listed) -> Table:
    """One row per pair of regions with edits, of each graph whose nodes have regions."""
    rows: list[tuple[Any, ...]] = []
    for id, story in listed:
        try:
            found = story.regions()
        except MissingInputError:
            continue
        name = found.taxonomy.name
        rows += [
            (id, name, pair.region_a, pair.region_b, pair.added, pair.removed, pair.share)
            for pair in found.pairs
        ]
    title = f"{len(rows)} pairs of regions"
    return Table("regions", title, tuple(REGION_COLUMNS), tuple(rows))


def reference_table(listed: Listed) -> Table:
    """One row per place that a sentence names: the graph, and what real graphs have there."""
    rows = tuple(
        (
            id,
            " – ".join(place.place),
            *(place.size, place.before, place.after, place.median, place.low, place.high),
            *(place.in_range, place.z, place.effect),
            len(place.group),
        )
        for id, story in listed
        for place in story.reference
    )
    return Table("reference", f"{len(rows)} places", tuple(REFERENCE_COLUMNS), rows)


def write_tables(listed: Listed, folder: Path) -> list[Path]:
    """Write the tables that have rows as CSV files into an existing folder."""
    told = list(listed)
    tables = (edit_table(told), region_table(told), reference_table(told))
    written = [table for table in tables if table.rows]
    for table in written:
        table.write(folder, ("csv",))
    return [folder / f"{table.name}.csv" for table in written]
