"""One known graph written in thousands of layouts, to check that no layout gives another graph.

`layouts` lists the combinations of what real files differ in: delimiter, header, index column,
order of the nodes, triangle, decimal sign, line ends, encoding, blanks, comments, values. `write`
makes the file of one of them. What the file must give is known from the graph alone; nothing of
denseflip is used here.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

SIZE = 7
NAMES = ("V1", "Precentral L", "M1_R", "Heschl-2", "12a", "Area 9", "GP")
CODES = (2001, 2002, 2101, 2102, 2111, 2112, 2201)


@dataclass(frozen=True)
class Layout:
    """One way to write a matrix."""

    values: str  # binary, weights, counts, correlations, fisher
    delimiter: str  # comma, semicolon, tab, space, spaces, mixed
    header: str  # none, names, from 0, from 1, codes
    index: str  # none, names, from 0, from 1, codes
    corner: str  # empty, word, missing
    half: str  # full, upper, lower, upper blank, lower blank
    decimal: str  # point, comma
    ends: str  # unix, windows, mac
    code: str  # utf-8, bom, utf-16
    extra: str  # none, trailing, comments, blank lines, quoted
    order: str  # given, shuffled


CHOICES = {
    "values": ("binary", "weights", "counts", "correlations", "fisher"),
    "delimiter": ("comma", "semicolon", "tab", "space", "spaces", "mixed"),
    "header": ("none", "names", "from 0", "from 1", "codes"),
    "index": ("none", "names", "from 0", "from 1", "codes"),
    "corner": ("empty", "word", "missing"),
    "half": ("full", "upper", "lower", "upper blank", "lower blank"),
    "decimal": ("point", "comma"),
    "ends": ("unix", "windows", "mac"),
    "code": ("utf-8", "bom", "utf-16"),
    "extra": ("none", "trailing", "comments", "blank lines", "quoted"),
    "order": ("given", "shuffled"),
}
assert list(CHOICES) == [f.name for f in fields(Layout)]
_MARKS = {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", "spaces": "   ", "mixed": "\t"}


def layouts(count: int, seed: int = 0) -> Iterator[Layout]:
    """Different layouts that a program can write: all with one line end and encoding, then more.

    The first are every combination of values, delimiter, header, index and half in its plainest
    form; the others are drawn from all combinations.
    """
    seen = set()
    plain = {"corner": "empty", "decimal": "point", "ends": "unix", "code": "utf-8",
             "extra": "none", "order": "given"}  # fmt: skip
    wide = ("values", "delimiter", "header", "index", "half")
    for chosen in itertools.product(*(CHOICES[k] for k in wide)):
        layout = Layout(**plain, **dict(zip(wide, chosen, strict=True)))
        if can_be_written(layout):
            seen.add(layout)
    yield from itertools.islice(sorted(seen, key=repr), count)
    rng = random.Random(seed)
    while len(seen) < count:
        layout = Layout(**{k: rng.choice(v) for k, v in CHOICES.items()})
        if layout not in seen and can_be_written(layout):
            seen.add(layout)
            yield layout


def can_be_written(layout: Layout) -> bool:
    """Whether the cells of a layout can be told apart by a reader at all."""
    by_space = layout.delimiter in ("space", "spaces", "mixed")
    if by_space and ("blank" in layout.half or layout.extra == "trailing"):
        return False  # blank cells vanish between spaces
    named = "names" in (layout.header, layout.index)
    if by_space and named and layout.extra != "quoted":
        return False  # names with blanks in them
    if layout.delimiter == "mixed" and layout.extra == "quoted":
        return False
    if by_space and layout.header != "none" and layout.index != "none":
        return layout.corner != "empty"
    return layout.decimal == "point" or layout.delimiter != "comma" or layout.extra == "quoted"


def matrix(kind: str, seed: int = 1) -> np.ndarray:
    """A symmetric matrix of a kind over `SIZE` nodes."""
    rng = np.random.default_rng(seed)
    if kind in ("correlations", "fisher"):
        full = np.corrcoef(rng.normal(size=(SIZE, 30)))
        if kind == "fisher":
            with np.errstate(divide="ignore"):
                full = np.arctanh(np.clip(full, -1, 1))
            np.fill_diagonal(full, np.inf)
        return np.round(full, 4)
    upper = {
        "binary": rng.integers(0, 2, size=(SIZE, SIZE)),
        "weights": np.round(rng.random((SIZE, SIZE)), 3),
        "counts": rng.integers(0, 5000, size=(SIZE, SIZE)),
    }[kind]
    upper = np.triu(upper, 1).astype(float)
    return upper + upper.T


def write(layout: Layout) -> tuple[bytes, np.ndarray]:
    """The file in a layout, and the symmetric matrix in the order of the file."""
    rng = random.Random(repr(layout))
    order = list(range(SIZE))
    if layout.order == "shuffled":
        rng.shuffle(order)
    full = matrix(layout.values)[np.ix_(order, order)]
    cells = [[_cell(full, i, j, layout) for j in range(SIZE)] for i in range(SIZE)]
    top, side = _words(layout.header, order), _words(layout.index, order)
    if layout.extra == "quoted":
        top = top and [f'"{x}"' for x in top]
        side = side and [f'"{x}"' for x in side]
        if layout.decimal == "comma":
            cells = [[f'"{x}"' for x in row] for row in cells]
    rows = [[side[i], *row] for i, row in enumerate(cells)] if side else cells
    if top:
        corner = {"empty": [""], "word": ["node"], "missing": []}[layout.corner] if side else []
        rows = [[*corner, *top], *rows]
    lines = [_join(row, layout.delimiter, rng) for row in rows]
    if layout.extra == "trailing":
        lines = [line + _MARKS[layout.delimiter] for line in lines]
    if layout.extra == "comments":
        lines = ["# written by a program", "# version 3", *lines]
    if layout.extra == "blank lines":
        lines = ["", *lines, "", ""]
    end = {"unix": "\n", "windows": "\r\n", "mac": "\r"}[layout.ends]
    code = {"utf-8": "utf-8", "bom": "utf-8-sig", "utf-16": "utf-16"}[layout.code]
    return (end.join(lines) + end).encode(code), full


def _cell(full: np.ndarray, i: int, j: int, layout: Layout) -> str:
    half, blank = layout.half.partition(" ")[::2]
    if (half == "upper" and i > j) or (half == "lower" and i < j):
        return "" if blank else "0"
    value = full[i, j]
    text = "Inf" if np.isinf(value) else f"{value:g}" if value % 1 else f"{value:.0f}"
    return text.replace(".", ",") if layout.decimal == "comma" else text


def _words(kind: str, order: list[int]) -> list[str] | None:
    if kind == "none":
        return None
    if kind == "names":
        return [NAMES[i] for i in order]
    if kind == "codes":
        return [str(CODES[i]) for i in order]
    return [str(i + (kind == "from 1")) for i in order]


def _join(row: list[str], delimiter: str, rng: random.Random) -> str:
    if delimiter == "mixed":
        out = row[0]
        for cell in row[1:]:
            out += rng.choice(["\t", " ", "  ", " \t"]) + cell
        return out
    return _MARKS[delimiter].join(row)


# ---- time series ------------------------------------------------------------------------

SERIES = {
    "points": (SIZE + 1, SIZE + 2, SIZE - 1, 30),
    "delimiter": ("comma", "semicolon", "tab", "space", "mixed"),
    "header": ("none", "names", "from 0", "from 1", "codes"),
    "index": ("none", "from 0", "from 1", "clock"),
    "corner": ("empty", "time"),
    "decimal": ("point", "comma"),
    "extra": ("none", "trailing", "comments"),
}


def series_layouts() -> Iterator[dict[str, Any]]:
    """Every combination in which a time series can be written."""
    for chosen in itertools.product(*SERIES.values()):
        layout = dict(zip(SERIES, chosen, strict=True))
        by_space = layout["delimiter"] in ("space", "mixed")
        if layout["decimal"] == "comma" and layout["delimiter"] == "comma":
            continue
        if by_space and (layout["extra"] == "trailing" or layout["header"] == "names"):
            continue
        if by_space and layout["index"] != "none" and layout["corner"] == "empty":
            continue
        yield layout


def write_series(layout: dict[str, Any]) -> tuple[bytes, np.ndarray]:
    """The file in a layout, and the correlations of its regions."""
    rng = random.Random(repr(layout))
    points = layout["points"]
    values = np.round(np.random.default_rng(points).normal(size=(points, SIZE)), 4)
    cells = [[f"{x:.4f}" for x in row] for row in values.tolist()]
    if layout["decimal"] == "comma":
        cells = [[x.replace(".", ",") for x in row] for row in cells]
    side = {
        "none": None,
        "from 0": [str(i) for i in range(points)],
        "from 1": [str(i + 1) for i in range(points)],
        "clock": [str(2 * i) for i in range(points)],
    }[layout["index"]]
    rows = [[side[i], *row] for i, row in enumerate(cells)] if side else cells
    if top := _words(layout["header"], list(range(SIZE))):
        corner = [{"empty": "", "time": "time"}[layout["corner"]]] if side else []
        rows = [[*corner, *top], *rows]
    lines = [_join(row, layout["delimiter"], rng) for row in rows]
    if layout["extra"] == "trailing":
        lines = [line + _MARKS[layout["delimiter"]] for line in lines]
    if layout["extra"] == "comments":
        lines = ["# volumes", *lines]
    return ("\n".join(lines) + "\n").encode(), np.corrcoef(values.T)


# ---- edge lists -------------------------------------------------------------------------

LISTS = {
    "delimiter": ("comma", "semicolon", "tab", "space", "spaces"),
    "nodes": ("from 0", "from 1", "names", "codes"),
    "header": ("none", "source target", "from to", "V1 V2"),
    "weights": ("none", "given"),
    "ways": ("one", "both", "backwards"),
    "order": ("given", "shuffled"),
    "ends": ("unix", "windows"),
    "ending": (".edgelist", ".csv", ".txt"),
}


def list_layouts() -> Iterator[dict[str, str]]:
    """Every combination in which an edge list can be written."""
    for chosen in itertools.product(*LISTS.values()):
        layout = dict(zip(LISTS, chosen, strict=True))
        if layout["nodes"] != "names" or "space" not in layout["delimiter"]:
            yield layout


def write_list(layout: dict[str, str], edges: list[tuple[int, int]]) -> bytes:
    """The edges of a graph over `SIZE` nodes in a layout."""
    rng = random.Random(repr(layout))
    words = _words(layout["nodes"], list(range(SIZE))) or []
    weight = {pair: f"0.{i + 11}" for i, pair in enumerate(edges)}
    lines = [(u, v, weight[u, v]) for u, v in edges]
    if layout["ways"] != "one":
        back = [(v, u, w) for u, v, w in lines]
        lines = back if layout["ways"] == "backwards" else lines + back
    if layout["order"] == "shuffled":
        rng.shuffle(lines)
    rows = [[words[u], words[v], w] for u, v, w in lines]
    if layout["header"] != "none":
        rows = [[*layout["header"].split(), "weight"], *rows]
    if layout["weights"] == "none":
        rows = [row[:2] for row in rows]
    end = "\n" if layout["ends"] == "unix" else "\r\n"
    return (end.join(_MARKS[layout["delimiter"]].join(row) for row in rows) + end).encode()
