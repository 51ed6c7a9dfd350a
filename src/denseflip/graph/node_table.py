"""From the rows of a node table to `Nodes`: which column holds names, regions, codes, coordinates.

A laboratory's table has more columns than these. Those that are not used are listed, with the
reason, so that the report of an import can name them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from denseflip.errors import InvalidNodesError, UnknownNameError, counted, shown
from denseflip.text_tables import Line, is_missing

if TYPE_CHECKING:
    from denseflip.graph.nodes import Nodes

OTHER = "other"  # the region of a node whose region is missing
MOST = 60  # regions of a sensible taxonomy
#: A heading with one of these prefixes says what its column is; `Nodes.write_csv` writes them if
#: the column would be taken for something else.
REGION, CODE = "region:", "id:"
_NAMES = ("name", "label", "roi", "roi_name", "region_name", "region", "parcel", "parcel_name",
          "node", "area", "abbreviation", "gene")  # fmt: skip
#: Known tables without a header, by which of their columns hold numbers: BrainNet Viewer's .node
#: files, AAL's list, and the look-up tables of MRtrix3 and FreeSurfer.
_BARE = {
    (True, True, True, True, True, False): ["x", "y", "z", "color", "size", "name"],
    (False, False, True): ["abbreviation", "name", "code"],
    (True, False, False, True, True, True, True): [
        *("index", "abbreviation", "name"), *("r", "g", "b", "a")
    ],
    (True, False, True, True, True, True): ["index", "name", "r", "g", "b", "a"],
}  # fmt: skip
_FIRST = ("network", "network_label", "networks", "lobe", "region", "module", "system")
_SIDES = ("hemisphere", "hemi", "side", "lateralisation", "lateralization")
_UNUSED = ("color", "colour", "mapping", "r", "g", "b", "a", "alpha")
_INDEX = ("index", "", "unnamed: 0")
_BACKGROUND = re.compile(r"(?i)background|unknown|clear label|outside|\?*|none")
_AXIS = re.compile(
    r"(?i)(?P<mni>mni)?[ ._-]?(?P<axis>[xyz])[ ._-]?(?P<after>mni)?"
    r"(?:[ ._-]?(?:coord\w*|\(?mm\)?))?"
)
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
#: The heading of a table that has only one column. Any other first line is the first name.
_HEADING = re.compile(
    r"(?i)(?:.*[ _.-])?(?:name|label|roi|region|parcel|node|area|abbreviation|gene|id|index)s?"
)
_WHOLE = re.compile(r"[-+]?\d+(?:\.0*)?")


@dataclass
class _Reading:
    """A table while its columns are sorted."""

    source: str
    header: list[str]
    rows: list[Line]
    notes: list[str] = field(default_factory=list)
    left: dict[str, list[str]] = field(default_factory=dict)

    def column(self, at: int) -> list[str]:
        return [row[at] for _, row in self.rows]

    def leave(self, why: str, name: str) -> None:
        self.left.setdefault(why, []).append(name)

    def wrong(self, text: str, *parameters: str) -> InvalidNodesError:
        return InvalidNodesError(f"{self.source}: {text}", parameter=parameters)


def sort_columns(
    lines: Sequence[Line],
    source: str,
    *,
    name_column: str | None = None,
    region_columns: Iterable[str] | None = None,
    number_names: bool = False,
) -> tuple[Nodes, list[str]]:
    """The node table of these rows, and sentences about how its columns were used.

    Parameters
    ----------
    lines : the rows with their line numbers, the header first; cells without surrounding blanks.
    source : the file's name, for messages.
    name_column : the column of the node names; by default one that is named so.
    region_columns : the columns that are taxonomies, the default first; by default every column of
        words in which several nodes share a value.
    number_names : number equal names (``Vermis 1``, ``Vermis 2``) instead of refusing them.
    """
    from denseflip.graph.nodes import Nodes

    table = _checked(lines, source)
    lower = [x.lower() for x in table.header]
    _drop_background(table, lower)
    points, axes = _coordinates(table, lower)
    name_at = _name_column(table, lower, name_column, number_names)
    names = table.column(name_at)
    for (i, _), name in zip(table.rows, names, strict=True):
        if not name:
            raise table.wrong(f"line {i} has no {table.header[name_at]}.", "name_column")
    if number_names and len(set(names)) < len(names):
        twice = sum(count for count in Counter(names).values() if count > 1)
        names = list(numbered_names(names))
        table.notes.append(f"{twice} nodes with equal names were numbered, as requested.")
    asked = None if region_columns is None else [_find(table, x) for x in region_columns]
    regions: dict[str, tuple[str, ...]] = {}
    ids: dict[str, tuple[str, ...]] = {}
    for at, head in enumerate(table.header):
        if at == name_at or at in axes:
            continue
        if head.lower().startswith(CODE):
            ids[head[len(CODE) :].strip()] = tuple(table.column(at))
        elif (asked is not None and at in asked) or head.lower().startswith(REGION):
            named = head[len(REGION) :].strip() if head.lower().startswith(REGION) else head
            regions[named] = _regions(table, at)
        else:
            _sort_one(table, at, regions if asked is None else None, ids)
    if asked is not None:
        order = [table.header[at] for at in asked]
        regions = {x: regions[x] for x in order if x in regions}
    elif not any(head.lower().startswith(REGION) for head in table.header):
        regions = in_sensible_order(regions)
    try:
        nodes = Nodes(tuple(names), regions, points, ids)
    except InvalidNodesError as error:
        raise table.wrong(str(error), *error.parameters) from error
    return nodes, [*_told(nodes, table, name_at), *table.notes]


# ---- rows and names -----------------------------------------------------------------------


def _checked(lines: Sequence[Line], source: str) -> _Reading:
    if len(lines) < 2:
        got = ", ".join(lines[0][1]) if lines else "an empty file"
        msg = f"{source}: a node table needs a header line and a row per node; got {got}."
        raise InvalidNodesError(msg)
    header = _header(lines, source)
    named = header == lines[0][1]
    body = lines[1:] if named else lines
    table = _Reading(source, header, [(i, list(row)) for i, row in body])
    if not named:
        what = "a name" if header == ["name"] else ", ".join(header)
        table.notes.append(f"{source} has no header; each line is read as {what}.")
    twice = [x for x, times in Counter(x.lower() for x in header if x).items() if times > 1]
    if twice:
        raise table.wrong(f"two columns are named {shown(twice[0])}; rename or remove one.")
    for i, row in table.rows:
        if len(row) != len(header):
            raise table.wrong(
                f"line {i} has {counted(len(row), 'column', 'columns')}, the header {len(header)}."
            )
    return table


def _header(lines: Sequence[Line], source: str) -> list[str]:
    """The names of the columns: the first row or, for known tables without a header, these."""
    at, first = lines[0]
    if len(first) == 1:
        return first if _HEADING.fullmatch(first[0]) else ["name"]
    shapes = {tuple(_is_number(x) for x in row) for _, row in lines}
    if len(shapes) == 1 and (known := _BARE.get(next(iter(shapes)))):
        return known
    if 2 * sum(map(_is_number, first)) >= len(first):
        msg = (
            f"{source}: line {at} holds numbers ({', '.join(first[:4]):.60}), so it is no header. "
            "Add a first line with the names of the columns, such as name,x,y,z,lobe."
        )
        raise InvalidNodesError(msg)
    return first


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _drop_background(table: _Reading, lower: Sequence[str]) -> None:
    """Leave out the row of the background, which segmentations list as number 0."""
    at = next((lower.index(x) for x in _INDEX if x in lower), None)
    where = [lower.index(x) for x in _NAMES if x in lower]
    if at is None or not where:
        return
    kept = [
        (i, row)
        for i, row in table.rows
        if not (row[at] in ("0", "0.0") and _BACKGROUND.fullmatch(row[where[0]]) is not None)
    ]
    if kept and len(kept) < len(table.rows):
        table.rows = kept
        table.notes.append(f"The background (index 0) of {table.source} is not a node.")
    if table.header in _BARE.values():  # MRtrix3 lists other names of a node below it
        first = {row[at]: (i, row) for i, row in reversed(table.rows)}
        again = [row[where[0]] for i, row in table.rows if first[row[at]][0] != i]
        if again:
            table.rows = [first[x] for x in dict.fromkeys(table.column(at))]
            table.notes.append(f"Other names of nodes were left out: {', '.join(again)}.")


def _name_column(
    table: _Reading, lower: Sequence[str], wanted: str | None, number_names: bool
) -> int:
    if wanted is not None:
        return _find(table, wanted, "name_column")
    usual = [lower.index(x) for x in _NAMES if x in lower]
    if not usual and len(lower) == 1:
        usual = [0]  # names, labels …
    if not usual:
        raise table.wrong(
            f"a node table needs a column 'name'; got {', '.join(table.header)}. If the names are "
            "in another column, set name_column.",
            "name_column",
        )
    unique = [at for at in usual if len(set(table.column(at))) == len(table.rows)]
    if not unique or number_names:
        return usual[0]
    if unique[0] != usual[0]:
        table.notes.append(
            f"Nodes are named by the column {table.header[unique[0]]!r}, since "
            f"{table.header[usual[0]]!r} names several nodes alike."
        )
    return unique[0]


def _find(table: _Reading, wanted: str, parameter: str = "region_columns") -> int:
    """The position of a column by its name, exactly or ignoring case and blanks."""
    plain = [x.lower().removeprefix(REGION).strip() for x in table.header]
    if wanted in table.header:
        return table.header.index(wanted)
    if wanted.strip().lower() in plain:
        return plain.index(wanted.strip().lower())
    raise UnknownNameError(
        f"column of {table.source}", wanted, [x for x in table.header if x], parameter=parameter
    )


def numbered_names(names: Sequence[str]) -> tuple[str, ...]:
    """Names in which equal ones are numbered in order.

    >>> numbered_names(["Vermis", "Pons", "Vermis"])
    ('Vermis 1', 'Pons', 'Vermis 2')
    """
    times = Counter(names)
    taken = {x for x, count in times.items() if count == 1}
    seen: Counter[str] = Counter()
    out = []
    for name in names:
        new = name
        while times[name] > 1 and (new == name or new in taken):
            seen[name] += 1
            new = f"{name} {seen[name]}"
        taken.add(new)
        out.append(new)
    return tuple(out)


# ---- coordinates --------------------------------------------------------------------------


def _coordinates(
    table: _Reading, lower: Sequence[str]
) -> tuple[tuple[tuple[float, float, float], ...] | None, set[int]]:
    """The coordinates, and the positions of their columns; MNI coordinates first."""
    found: dict[bool, dict[str, int]] = {True: {}, False: {}}
    for at, head in enumerate(lower):
        if match := _AXIS.fullmatch(head):
            mni = bool(match["mni"] or match["after"])
            found[mni].setdefault(match["axis"], at)
    chosen = next((x for x in (found[True], found[False]) if len(x) == 3), None)
    if chosen is None:
        return None, set()
    points = []
    for i, row in table.rows:
        try:
            points.append(tuple(float(row[chosen[axis]].replace(",", ".")) for axis in "xyz"))
        except ValueError:
            got = ", ".join(row[chosen[axis]] or "nothing" for axis in "xyz")
            raise table.wrong(
                f"line {i}: the columns x, y, z must hold numbers; got {got}. Fill them in, or "
                "remove the three columns."
            ) from None
    return tuple((x, y, z) for x, y, z in points), set(chosen.values())


# ---- regions and codes --------------------------------------------------------------------


def _regions(table: _Reading, at: int) -> tuple[str, ...]:
    values = table.column(at)
    lost = sum(map(is_missing, values))
    if lost:
        table.notes.append(
            f"{counted(lost, 'node has', 'nodes have')} no {table.header[at]} in {table.source}; "
            f"its region is {OTHER!r}."
        )
    return tuple(OTHER if is_missing(x) else x for x in values)


def _sort_one(
    table: _Reading,
    at: int,
    regions: dict[str, tuple[str, ...]] | None,
    ids: dict[str, tuple[str, ...]],
) -> None:
    """Use a column as a taxonomy or for matching, or leave it and note why."""
    head, values = table.header[at], table.column(at)
    known = [x for x in values if not is_missing(x)]
    different = len(set(known))
    whole = all(_WHOLE.fullmatch(x) for x in known)
    if head.lower() in _INDEX and _counts(table, head, values):
        return
    if not head:
        return
    if not known or head.lower() in _UNUSED or all(map(_COLOUR.fullmatch, known)):
        return
    if different == len(values) and len(values) > 1:
        if whole or not _are_numbers(known):
            ids[head] = tuple(values)
            if not whole:
                table.leave("different in every row, so names and not regions", head)
        else:
            table.leave("numbers", head)
    elif regions is None:
        return
    elif _are_numbers(known):
        table.leave("numbers", head)
    elif different + (len(known) < len(values)) < 2:
        table.leave("the same in every row", head)
    elif different > MOST and different * 2 > len(values):
        table.leave("different in most rows", head)
    else:
        regions[head] = _regions(table, at)


def _are_numbers(values: Iterable[str]) -> bool:
    return all(_is_number(x.replace(",", ".")) for x in values)


def _counts(table: _Reading, head: str, values: Sequence[str]) -> bool:
    """Whether a column counts the rows; raises if it does so in another order."""
    plain = [x.removesuffix(".0") for x in values]
    n = len(plain)
    for first in (0, 1):
        counted_ = [str(i + first) for i in range(n)]
        if plain == counted_:
            return True
        if n > 1 and sorted(plain) == sorted(counted_):
            at = next(i for i, (x, y) in enumerate(zip(plain, counted_, strict=True)) if x != y)
            raise table.wrong(
                f"line {table.rows[at][0]}: {head or 'index'} must be {counted_[at]}; got "
                f"{plain[at]!r}. Either the rows are in the order of the nodes: remove the column; "
                "or the column is: sort the rows by it."
            )
    return False


def in_sensible_order(regions: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """The taxonomies in their order, but the default first: one with 2 to 60 regions.

    Networks and lobes are preferred to other columns, and these to hemispheres.
    """

    def place(name: str) -> tuple[bool, bool, bool]:
        size = len(set(regions[name]))
        low = name.lower()
        return not 2 <= size <= MOST, low in _SIDES, low not in _FIRST

    first = min(regions, key=place, default=None)
    return {name: regions[name] for name in sorted(regions, key=lambda x: x != first)}


def _told(nodes: Nodes, table: _Reading, name_at: int) -> list[str]:
    notes = []
    if nodes.regions:
        sizes = [f"{name!r} ({len(set(x))})" for name, x in nodes.regions.items()]
        others = f"; also {', '.join(sizes[1:])}" if len(sizes) > 1 else ""
        notes.append(f"Regions of {table.source}: {sizes[0]} is the default{others}.")
    for why, heads in table.left.items():
        ask = "; to use one of them, set region_columns" if why != "the same in every row" else ""
        notes.append(
            f"Columns of {table.source} not used as regions ({why}): {', '.join(heads)}{ask}."
        )
    return notes
