"""The subject table of a data set: age, sex, site, motion …, one value per graph.

A column is a tuple of numbers, or of texts if any of its values is not a number; None is a missing
value. `evaluate` reads its confounds from this table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from denseflip.checks import text_of
from denseflip.errors import DatasetError, shown
from denseflip.text_tables import is_missing

Value = float | str | None
Column = tuple[Value, ...]


def column_of(values: Iterable[Any]) -> Column:
    """Values as a column: all numbers, or all texts; missing values become None.

    >>> column_of(["31", 28.5, "n/a"]), column_of(["F", "M", ""])
    ((31.0, 28.5, None), ('F', 'M', None))
    """
    cells = [_cell(value) for value in values]
    numbers = [None if cell is None else _number(cell) for cell in cells]
    if any(c is not None and x is None for c, x in zip(cells, numbers, strict=True)):
        return tuple(None if cell is None else text_of(cell) for cell in cells)
    return tuple(numbers)


def subject_table(rows: Mapping[str, Mapping[str, Any]], ids: Sequence[str]) -> dict[str, Column]:
    """The columns of a table that was read row by row, in the order of a data set's ids.

    Parameters
    ----------
    rows : id → column name → value; a graph without a row has no values.
    ids : the ids of the graphs.
    """
    names = dict.fromkeys(name for row in rows.values() for name in row)
    return {
        text_of(name): column_of(rows.get(key, {}).get(name) for key in ids)
        for name in names
        if name
    }


def check_subjects(table: Any, n_graphs: int, dataset: str) -> dict[str, Column]:
    """Check the subject table of a data set with this many graphs."""
    if not isinstance(table, Mapping):
        msg = (
            f"Data set {dataset!r}: subjects must be a mapping from a column's name to one value "
            f"per graph; got {shown(table)}."
        )
        raise DatasetError(msg)
    found = {}
    for name, values in table.items():
        listed = not isinstance(values, (str, bytes, Mapping)) and isinstance(values, Iterable)
        column = column_of(values) if listed else None
        if column is None or len(column) != n_graphs:
            got = shown(values) if column is None else f"{len(column)} values"
            msg = (
                f"Data set {dataset!r}: the column {text_of(name)!r} of subjects needs one value "
                f"per graph ({n_graphs}); got {got}."
            )
            raise DatasetError(msg)
        found[text_of(name)] = column
    return found


def _cell(value: Any) -> Any:
    """A value, or None if it is missing."""
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, str):
        return None if is_missing(value) else value.strip()
    return value


def _number(cell: Any) -> float | None:
    """The value as a finite number, or None."""
    if isinstance(cell, bool):
        return None
    try:
        number = float(cell)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
