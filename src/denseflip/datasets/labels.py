"""The labels file of a lab's own data: which graph belongs to which class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from denseflip.datasets.tables import is_number, read_lines
from denseflip.errors import FileFormatError, InvalidParameterError, UnknownNameError

_ID_COLUMNS = ("id", "file", "filename", "file_name", "graph", "subject", "subject_id", "sub_id",
               "participant_id", "participant", "name")  # fmt: skip
_LABEL_COLUMNS = ("label", "class", "group", "diagnosis", "dx", "dx_group", "y", "target")


@dataclass(frozen=True)
class Labels:
    """Graph id → class, in the order of the file, and what is wrong with the file.

    Attributes
    ----------
    classes : id → class.
    problems : sentences.
    others : id → the other columns of its row, by name; of a file with a header.
    """

    classes: dict[str, str]
    problems: tuple[str, ...] = ()
    others: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def read_labels(
    path: str | Path,
    *,
    ids: Iterable[str] = (),
    id_column: str | None = None,
    label_column: str | None = None,
) -> Labels:
    """Read a CSV or TSV file with one row per graph.

    Parameters
    ----------
    path : the file. With a header, the columns are found by their usual names (``id``, ``file``,
        ``subject`` …; ``label``, ``class``, ``group`` …), else the first two are taken.
    ids : the ids that exist; a first row that names one of them is no header.
    id_column, label_column : the columns to take, by name.
    """
    source = Path(path)
    if not source.is_file():
        msg = f"{source}: there is no such labels file. It needs a row per graph: id,label."
        raise FileFormatError(msg)
    lines = read_lines(source)
    rows = [row for _, row in lines]
    known = set(ids)
    chosen = id_column is not None or label_column is not None
    has_header = chosen or _is_header(rows, known)
    if has_header:
        id_at = _column(rows[0], id_column, _ID_COLUMNS, 0)
        free = 1 if id_at == 0 else 0
        label_at = _column(rows[0], label_column, _LABEL_COLUMNS, free)
        lines = lines[1:]
    else:
        id_at, label_at = 0, 1
    names = dict(enumerate(rows[0])) if has_header else {}
    others: dict[str, dict[str, str]] = {}
    classes: dict[str, str] = {}
    problems = []
    for i, row in lines:
        if max(id_at, label_at) >= len(row) or not row[id_at] or not row[label_at]:
            problems.append(f"{source.name}, line {i}: no id or no label ({','.join(row)!r}).")
        elif row[id_at] in classes and classes[row[id_at]] != row[label_at]:
            problems.append(
                f"{source.name}, line {i}: {row[id_at]!r} has two labels, "
                f"{classes[row[id_at]]!r} and {row[label_at]!r}."
            )
        else:
            classes[row[id_at]] = row[label_at]
            others[row[id_at]] = {
                names[at]: cell
                for at, cell in enumerate(row)
                if at in names and at not in (id_at, label_at)
            }
    return Labels(classes, tuple(problems), others)


def _is_header(rows: Sequence[Sequence[str]], ids: set[str]) -> bool:
    """Whether the first row names columns; a row with a known id or a class of others does not."""
    first = rows[0]
    if first[0] in ids or Path(first[0]).stem in ids:
        return False
    if {*_ID_COLUMNS, *_LABEL_COLUMNS}.intersection(x.lower() for x in first):
        return True
    others = {row[1] for row in rows[1:] if len(row) > 1}
    return len(rows) > 1 and (len(first) < 2 or first[1] not in others)


def _column(header: Sequence[str], wanted: str | None, usual: Sequence[str], default: int) -> int:
    if wanted is not None:
        if wanted not in header:
            raise UnknownNameError("column of the labels file", wanted, header)
        return list(header).index(wanted)
    head = [x.lower() for x in header]
    return next((head.index(x) for x in usual if x in head), default)


def class_order(classes: Iterable[str], wanted: Sequence[str] | None = None) -> tuple[str, ...]:
    """The class names in order: as asked, else numbers by size, else by the alphabet.

    >>> class_order(["10", "9", "9"])
    ('9', '10')
    """
    found = set(classes)
    if wanted is None:
        numbers = all(is_number(x) for x in found)
        return tuple(sorted(found, key=(lambda x: (float(x), x)) if numbers else None))
    if set(wanted) != found or len(set(wanted)) != len(wanted):
        msg = f"The classes in the labels file are {sorted(found)}; got the order {list(wanted)}."
        raise InvalidParameterError(msg)
    return tuple(wanted)
