"""The labels file of an import: which graph belongs to which class."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from denseflip.datasets.text_cells import is_number
from denseflip.errors import (
    FileFormatError,
    InvalidParameterError,
    UnknownNameError,
    counted,
    shown,
)
from denseflip.text_tables import is_missing, read_cells

_ID_COLUMNS = ("id", "file", "filename", "file_name", "file_id", "graph", "subject", "subject_id",
               "sub_id", "participant_id", "participant", "name")  # fmt: skip
_LABEL_COLUMNS = ("label", "class", "group", "diagnosis", "dx", "dx_group", "y", "target")
#: Words that mean a missing class; never a class themselves, unless ``na`` is set.
NA = ("n/a", "na", "nan", "#n/a", "null")
#: What ABIDE's table has in place of the name of a file that does not exist.
_NO_FILE = "no_filename"
#: ABIDE's code of a missing measurement.
_NO_VALUE = "-9999"


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
    notes : sentences about how the file was read.
    no_id : what rows without an id have in its place, and how many there are.
    """

    classes: dict[str, str]
    problems: tuple[str, ...] = ()
    others: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[str, ...] = ()
    columns: tuple[str, str] | None = None
    notes: tuple[str, ...] = ()
    no_id: tuple[str, ...] = ()


def read_labels(
    path: str | Path,
    *,
    ids: Iterable[str] = (),
    id_column: str | None = None,
    label_column: str | None = None,
    na: Iterable[str] | None = None,
) -> Labels:
    """Read a CSV, TSV or Excel file with one row per graph.

    A row whose id is missing (``no_filename`` in ABIDE's table) is left out and listed.

    Parameters
    ----------
    path : the file. With a header, the columns are found by their usual names (``id``, ``file``,
        ``subject`` …; ``label``, ``class``, ``group`` …); among several id columns, the one with
        the most of ``ids``, and any other column if none has them. Without a header the first two
        are used.
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
    lines = read_cells(source)
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
    notes = []
    known_no = {x.lower() for x in known}
    without = [row for _, row in lines if len(row) > id_at and _no_id(row[id_at], known_no)]
    if without:
        lines = [x for x in lines if len(x[1]) <= id_at or not _no_id(x[1][id_at], known_no)]
    again = []
    coded = 0
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
            cells = {
                names[at]: "" if cell == _NO_VALUE else cell
                for at, cell in enumerate(row)
                if at in names and at not in (id_at, label_at)
            }
            coded += _NO_VALUE in row
            classes[row[id_at]] = row[label_at]
            if others.setdefault(row[id_at], cells) != cells:
                again.append(row[id_at])
    if coded:
        notes.append(f"{_NO_VALUE} in {source.name} is a missing value ({coded} rows).")
    if again:
        some = ", ".join(dict.fromkeys(again[:5]))
        notes.append(f"{source.name} has several rows for {some}; the first was used.")
    head = rows[0] if has_header and len(rows[0]) > max(id_at, label_at) else None
    columns = None if head is None else (head[id_at], head[label_at])
    listed = tuple(row[id_at] for _, row in lines if len(row) > id_at and row[id_at])
    words = Counter(row[id_at] for row in without)
    no_id = tuple(f"{word} ({counted(n, 'row', 'rows')})" for word, n in words.items())
    return Labels(classes, tuple(problems), others, missing, listed, columns, tuple(notes), no_id)


def _no_id(text: str, ids: Collection[str]) -> bool:
    """Whether a table says that a row has no graph; an empty cell is a mistake instead."""
    low = text.lower()
    return low not in ids and bool(text) and (low == _NO_FILE or is_missing(text))


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

    best = max(usual, key=known)
    if ids and not known(best):  # no usual name: the column that has the ids, such as ScanDir ID
        best = max((best, *range(len(header))), key=known)
    return best


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
    near = [x for x in header if x.lower() == wanted.strip().lower()]
    if wanted not in header and len(near) == 1:
        return list(header).index(near[0])
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
    """Label id → graph id: by id, path, file name or stem, else by `plain_id`.

    File names are used only if they belong to one graph, `plain_id` only if it joins exactly one
    graph and one label.
    """
    listed = list(given)
    times = Counter(p.name for p in paths.values())
    exact = {
        name: key for key, p in paths.items() if times[p.name] == 1 for name in (p.stem, p.name)
    }
    for key, p in paths.items():  # SITE/0001.csv, SITE/0001, SITE_0001
        exact.update({f"{p.parent.name}/{x}": key for x in (p.name, p.stem)})
        exact.setdefault(f"{p.parent.name}_{p.stem}", key)
    exact.update({key: key for key in paths})
    out = {}
    for x in listed:
        last = "/".join(x.replace("\\", "/").split("/")[-2:])
        hit = next((y for y in (x, last, Path(x).name) if y in exact), None)
        if hit is not None and (hit != Path(x).name or hit == x or times[Path(x).name] <= 1):
            out[x] = exact[hit]
    free = Counter(plain_id(key) for key in paths if key not in set(out.values()))
    asked = Counter(plain_id(x) for x in listed if x not in out)
    place = {plain_id(key): key for key in paths if key not in set(out.values())}
    for x in listed:
        short = plain_id(x)
        if x not in out and free[short] == 1 and asked[short] == 1:
            out[x] = place[short]
    return out


def join_spellings(
    given: Mapping[str, str], wanted: Sequence[str] | None = None
) -> tuple[dict[str, str], list[str]]:
    """Classes that are one class in several spellings, joined: ``Control``/``control``, 1/1.0.

    The most frequent spelling is kept; a spelling that ``wanted`` lists is always kept. Returns the
    classes and a sentence for each class that was joined.

    >>> join_spellings({"a": "Control", "b": "control", "c": "control", "d": "patient"})[0]
    {'a': 'control', 'b': 'control', 'c': 'control', 'd': 'patient'}
    """
    listed = {text.partition("=")[0].strip() for text in wanted or ()} | set(wanted or ())
    counts = Counter(given.values())
    alike: dict[object, list[str]] = {}
    for word in counts:
        number = is_number(word) and not is_missing(word)
        plain = float(word) if number else " ".join(word.lower().split())
        alike.setdefault(plain, []).append(word)
    new = {}
    notes = []
    for words in alike.values():
        kept = [x for x in words if x in listed]
        if len(words) == 1 or len(kept) > 1:
            continue
        best = kept[0] if kept else max(words, key=lambda x: (counts[x], -len(x), x))
        new.update(dict.fromkeys(words, best))
        found = ", ".join(f"{x!r} ({counts[x]})" for x in sorted(words))
        notes.append(f"The classes {found} were read as one class, {best!r}.")
    return {key: new.get(value, value) for key, value in given.items()}, notes


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
