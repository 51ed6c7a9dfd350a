"""The labels file of an import: which graph belongs to which class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from denseflip.datasets.text_cells import is_number, read_lines
from denseflip.errors import FileFormatError, InvalidParameterError, UnknownNameError, shown

_ID_COLUMNS = ("id", "file", "filename", "file_name", "file_id", "graph", "subject", "subject_id",
               "sub_id", "participant_id", "participant", "name")  # fmt: skip
_LABEL_COLUMNS = ("label", "class", "group", "diagnosis", "dx", "dx_group", "y", "target")
#: Words that mean a missing class; never a class themselves, unless ``na`` is set.
NA = ("n/a", "na", "nan", "#n/a", "null")


@dataclass(frozen=True)
class Labels:
    """Graph id → class, in the order of the file, and the problems of the file.

    Attributes
    ----------
    classes : id → class.
    problems : sentences.
    others : id → the other columns of its row, by name; only for a file with a header.
    missing : id → the entry in place of its class, such as ``n/a``.
    rows : the ids of all rows that have one, in order.
    columns : the columns of ids and classes, if the file has a header.
    """

    classes: dict[str, str]
    problems: tuple[str, ...] = ()
    others: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[str, ...] = ()
    columns: tuple[str, str] | None = None


def read_labels(
    path: str | Path,
    *,
    ids: Iterable[str] = (),
    id_column: str | None = None,
    label_column: str | None = None,
    na: Iterable[str] | None = None,
) -> Labels:
    """Read a CSV or TSV file with one row per graph.

    Parameters
    ----------
    path : the file. With a header, the columns are found by their usual names (``id``, ``file``,
        ``subject`` …; ``label``, ``class``, ``group`` …); among several id columns, the one with
        the most of ``ids``. Without a header the first two are used.
    ids : the existing ids; a first row with one of them is not a header.
    id_column, label_column : the columns to use, by name.
    na : the words that mean a missing class, ignoring case; default: `NA`.

    Raises
    ------
    FileFormatError
        If the file does not exist, or the column of the classes is ambiguous.
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
        id_at = _id_column(rows, id_column, known)
        label_at = _label_column(rows[0], label_column, id_at, source)
        for name in (rows[0][at] for at in (id_at, label_at) if at < len(rows[0])):
            if name and rows[0].count(name) > 1:
                msg = f"{source}: two columns are named {shown(name)}; rename or remove one."
                raise FileFormatError(msg)
        lines = lines[1:]
    else:
        id_at, label_at = 0, 1
    names = dict(enumerate(rows[0])) if has_header else {}
    others: dict[str, dict[str, str]] = {}
    classes: dict[str, str] = {}
    problems = []
    none = {x.strip().lower() for x in (NA if na is None else na)} - {""}
    missing: dict[str, str] = {}
    for i, row in lines:
        if len(row) > max(id_at, label_at) and row[id_at] and row[label_at].lower() in none:
            missing[row[id_at]] = row[label_at]
        elif max(id_at, label_at) >= len(row) or not row[id_at] or not row[label_at]:
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
    head = rows[0] if has_header and len(rows[0]) > max(id_at, label_at) else None
    columns = None if head is None else (head[id_at], head[label_at])
    listed = tuple(row[id_at] for _, row in lines if len(row) > id_at and row[id_at])
    return Labels(classes, tuple(problems), others, missing, listed, columns)


def _is_header(rows: Sequence[Sequence[str]], ids: set[str]) -> bool:
    """Whether the first row is a header; not if it has a known id or a class of other rows."""
    first = rows[0]
    if first[0] in ids or Path(first[0]).stem in ids:
        return False
    if {*_ID_COLUMNS, *_LABEL_COLUMNS}.intersection(x.lower() for x in first):
        return True
    others = {row[1] for row in rows[1:] if len(row) > 1}
    return len(rows) > 1 and (len(first) < 2 or first[1] not in others)


def _id_column(rows: Sequence[Sequence[str]], wanted: str | None, ids: set[str]) -> int:
    header = rows[0]
    if wanted is not None:
        return _named(header, wanted, "id_column")
    head = [x.lower() for x in header]
    usual = [head.index(x) for x in _ID_COLUMNS if x in head] or [0]
    short = {plain_id(x) for x in ids}

    def known(at: int) -> int:
        return sum(len(row) > at and plain_id(row[at]) in short for row in rows[1:])

    return max(usual, key=known)


def _label_column(header: Sequence[str], wanted: str | None, id_at: int, source: Path) -> int:
    if wanted is not None:
        return _named(header, wanted, "label_column")
    head = [x.lower() for x in header]
    usual = next((head.index(x) for x in _LABEL_COLUMNS if x in head), None)
    if usual is not None:
        return usual
    others = [i for i in range(len(header)) if i != id_at]
    if len(others) > 1:
        msg = (
            f"{source.name}: the column with the classes is ambiguous; set label_column. Columns: "
            f"{', '.join(header[i] for i in others)}."
        )
        raise FileFormatError(msg, parameter="label_column")
    return others[0] if others else 1


def _named(header: Sequence[str], wanted: str, parameter: str) -> int:
    if wanted not in header:
        raise UnknownNameError("column of the labels file", wanted, header, parameter=parameter)
    return list(header).index(wanted)


def plain_id(text: str) -> str:
    """An id without common additions: ``sub-``, capitals, leading zeros of a number.

    >>> plain_id("sub-007"), plain_id("7"), plain_id("Pitt_0050003")
    ('7', '7', 'pitt_0050003')
    """
    short = text.strip().lower().removeprefix("sub-")
    return short.lstrip("0") or "0" if short.isdecimal() else short


def match_ids(given: Iterable[str], paths: Mapping[str, Path]) -> dict[str, str]:
    """Label id → graph id: by id, file name or stem, else by `plain_id`.

    `plain_id` is used only if it joins exactly one graph and one label.
    """
    listed = list(given)
    exact = {name: key for key, p in paths.items() for name in (p.stem, p.name)}
    exact.update({key: key for key in paths})
    out = {x: exact[Path(x).name] for x in listed if Path(x).name in exact}
    free = Counter(plain_id(key) for key in paths if key not in set(out.values()))
    asked = Counter(plain_id(x) for x in listed if x not in out)
    place = {plain_id(key): key for key in paths if key not in set(out.values())}
    for x in listed:
        short = plain_id(x)
        if x not in out and free[short] == 1 and asked[short] == 1:
            out[x] = place[short]
    return out


def choose_classes(
    given: Mapping[str, str], wanted: Sequence[str] | None
) -> tuple[dict[str, str], tuple[str, ...] | None, list[str]]:
    """Apply the requested classes: their order, a selection, and new names (``1=autism``).

    Returns the class of each graph that stays, the order, and the graphs that are left out.
    """
    if wanted is None:
        return dict(given), None, []
    found = set(given.values())
    pairs = [(text, "") if text in found else text.partition("=")[::2] for text in wanted]
    names = {old.strip(): (new or old).strip() for old, new in pairs}
    if len(names) < len(wanted) or len(set(names.values())) < len(names) or not set(names) <= found:
        msg = f"The classes in the labels file are {sorted(found)}; got the order {list(wanted)}."
        raise InvalidParameterError(msg, parameter="classes")
    kept = {key: names[value] for key, value in given.items() if value in names}
    return kept, tuple(names.values()), [key for key in given if key not in kept]


def class_order(classes: Iterable[str]) -> tuple[str, ...]:
    """The class names in order: numbers by value, else alphabetically.

    >>> class_order(["10", "9", "9"])
    ('9', '10')
    """
    found = set(classes)
    numbers = all(is_number(x) for x in found)
    return tuple(sorted(found, key=(lambda x: (float(x), x)) if numbers else None))
