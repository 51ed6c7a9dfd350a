"""Edge lists: one edge per line, by number or by name, with or without a header and weights."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denseflip.datasets.number_tables import BINARY, read_table
from denseflip.datasets.text_cells import is_number, read_cells
from denseflip.errors import FileFormatError, counted, nearest, shown
from denseflip.graph import Graph, Nodes
from denseflip.limits import PER_NODE, check_size
from denseflip.text_tables import read_text

if TYPE_CHECKING:
    from denseflip.datasets.import_job import ReadOptions

EDGE_LISTS = (".edgelist", ".edges", ".el")
#: Pairs of column names, in lower case and without digits and punctuation.
_ENDS = (
    ("source", "target"), ("from", "to"), ("fromnode", "tonode"), ("u", "v"), ("i", "j"),
    ("node", "node"), ("nodea", "nodeb"), ("protein", "protein"), ("gene", "gene"),
    ("genea", "geneb"), ("regulator", "target"), ("regulatorygene", "targetgene"),
    ("fromnodeid", "tonodeid"), ("tf", "target"), ("roi", "roi"), ("region", "region"),
    ("v", "v"), ("x", "x"), ("var", "var"), ("x", "y"),
)  # fmt: skip
_WEIGHTS = (
    "weight", "weights", "w", "combined_score", "score", "mi", "importance", "correlation", "value",
    "r", "z", "strength", "count", "counts",
)  # fmt: skip
_DIRECTIONS = ("type", "direction", "directed")
_NETWORKX = re.compile(r"(.+?)[\s,;]+(.+?)[\s,;]+(\{.*\})")
_NUMBERED = re.compile(r"numbered from ([01])\b")
_LARGEST = 2**31  # a node's number; the product of two then fits into 64 bits


@dataclass(frozen=True)
class EdgeLines:
    """The lines of an edge list, without a header.

    Attributes
    ----------
    ends : the two nodes of each edge, as they are written.
    weights : the weight of each edge; None if the file has none.
    lines : the number of each line in the file.
    first_node : the number of the first node, if a comment says it.
    """

    ends: list[tuple[str, str]]
    weights: npt.NDArray[np.float64] | None
    lines: Sequence[int]
    first_node: int | None = None


def says_edges(rows: list[list[str]], header: Sequence[str] | None = None) -> bool:
    """Whether its header, or names in place of numbers, make a table an edge list.

    Parameters
    ----------
    rows : the cells of the table.
    header : a header behind a comment mark.
    """
    for first, rest in ((rows[0], rows[1:]), (header or (), rows)):
        ends = _end_columns(first)
        if ends is not None and rest and max(ends) < len(rest[0]):
            cells = [rest[0][i] for i in ends]
            return all(x and (not is_number(x) or not float(x) % 1) for x in cells)
    if len(rows[0]) not in (2, 3):
        return len(rows[0]) > 3 and rows[0][2].startswith("{")
    if len(rows[0]) == 3 and rows[0][2].startswith("{"):
        return True
    named = [row for row in rows if len(row) > 1 and not any(is_number(x) for x in row[:2])]
    return len(named) == len(rows) and len(rows) > 1


def read_edges(path: Path, options: ReadOptions) -> Graph:
    """A graph from lines ``u v [weight]``; nodes by number, or by name with a node table.

    A list with every pair in both directions is accepted. Without a rule every listed pair is an
    edge, whatever its weight.
    """
    n, keep = options.size, options.keep
    pairs, weights = edge_table(path, options)
    if n is None:
        n = int(pairs.max()) + 1 if len(pairs) else 0
    check_size(float(n) * PER_NODE, f"{path.name}: a graph of {n} nodes (the largest number in it)")
    codes = pairs.min(axis=1) * n + pairs.max(axis=1) if len(pairs) else pairs[:, 0]
    _, first, counts = np.unique(codes, return_index=True, return_counts=True)
    if (counts == 2).all() and len(np.unique(pairs, axis=0)) == len(pairs):
        if weights is not None and keep is not None:
            _check_both_ways(codes, weights, path.name)
        pairs = pairs[np.sort(first)]
        weights = None if weights is None else weights[np.sort(first)]
    graph = Graph.from_edges(n, pairs, source=path.name)
    if keep is None:
        return graph
    codes = pairs.min(axis=1) * n + pairs.max(axis=1)
    values = np.ones(len(codes)) if weights is None else weights
    return keep.apply_pairs(n, codes, values, source=path.name)


def _check_both_ways(codes: Any, weights: Any, source: str) -> None:
    """Raise if the two directions of a pair have different weights."""
    order = np.argsort(codes, kind="stable")
    pairs = weights[order].reshape(-1, 2)
    if not np.allclose(pairs[:, 0], pairs[:, 1], rtol=1e-6, atol=0):
        msg = f"{source}: the two directions of an edge have different weights; denseflip uses "
        raise FileFormatError(msg + "undirected graphs: keep one line per pair.")


def edge_table(
    path: Path, options: ReadOptions
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64] | None]:
    """The pairs of an edge list, shape (k, 2), counted from 0, and their weights.

    The nodes of the list are the names of the node table, else its positions. The number of the
    first node must be given if the list never has 0, unless a comment says it or the number of
    nodes leaves one reading.
    """
    nodes, n_nodes, first_node = options.nodes, options.size, options.reading.first_node
    found = read_edge_lines(path, options)
    names = nodes.names if nodes and names_nodes(nodes) else ()
    place = {name: i for i, name in enumerate(names)}
    if any(x in place for pair in found.ends for x in pair):
        for pair, line in zip(found.ends, found.lines, strict=True):
            unknown = [x for x in pair if x not in place]
            if unknown:
                raise FileFormatError(_unknown(path, line, unknown[0], place))
        pairs = np.array([[place[u], place[v]] for u, v in found.ends], dtype=np.int64)
        return pairs.reshape(-1, 2), found.weights
    pairs = _whole_pairs(found, path, place)
    first = found.first_node if first_node is None else first_node
    if first is None:
        first = first_of(pairs, n_nodes)
        if first is None:
            raise FileFormatError(unclear_first(path.name, pairs, n_nodes), parameter="first_node")
    if first not in (0, 1):
        msg = f"first_node must be 0 or 1; got {shown(first)}."
        raise FileFormatError(msg, parameter="first_node")
    if first and len(pairs) and pairs.min() == 0:
        line = found.lines[int(np.flatnonzero((pairs == 0).any(axis=1))[0])]
        msg = f"{path.name}: line {line} has the node 0, but its nodes are said to count from 1."
        raise FileFormatError(msg, parameter="first_node")
    return pairs - first, found.weights


def names_nodes(nodes: Nodes | None) -> bool:
    """Whether a node table has names, not just the numbers from 0, that an edge list may use."""
    return nodes is not None and any(name != str(i) for i, name in enumerate(nodes.names))


def first_of(pairs: npt.NDArray[np.int64], n_nodes: int | None) -> int | None:
    """The number of the first node, as far as the numbers in a list show it."""
    if not len(pairs) or pairs.min() <= 0:
        return 0
    return 1 if n_nodes is not None and pairs.max() == n_nodes else None


def unclear_first(source: str, pairs: npt.NDArray[np.int64], n_nodes: int | None) -> str:
    """The message about a list that may count its nodes from 0 or from 1."""
    low, high = int(pairs.min()), int(pairs.max())
    size = f"{n_nodes} nodes" if n_nodes is not None else f"{high + 1} or {high} nodes"
    return (
        f"{source}: its nodes are {low} to {high}, without a node 0 ({size}): they count from 1, "
        "or from 0 and the node 0 has no edge. Set first_node=1 or first_node=0."
    )


def edge_names(path: Path, options: ReadOptions) -> list[str] | None:
    """The node names of an edge list, in order; None if it uses numbers."""
    names = [x for pair in read_edge_lines(path, options).ends for x in pair]
    return None if all(is_number(x) for x in names) else list(dict.fromkeys(names))


# ---- lines ------------------------------------------------------------------------------


def read_edge_lines(path: Path, options: ReadOptions) -> EdgeLines:
    """The edges of a file as they are written."""
    if path.suffix.lower() in BINARY:
        values = read_table(path, header="none").values
        if values.shape[1] not in (2, 3):
            raise FileFormatError(_wrong_width(path, values.shape[1]))
        ends = [(f"{u:.17g}", f"{v:.17g}") for u, v in values[:, :2].tolist()]
        weights = values[:, 2] if values.shape[1] == 3 else None
        return EdgeLines(ends, weights, range(1, len(values) + 1))
    cells = read_cells(path, may_be_empty=True, decimal=options.reading.decimal)
    rows, lines = cells.rows, cells.lines
    told = next((m for x in cells.remarks if (m := _NUMBERED.search(x))), None)
    first = None if told is None else int(told[1])
    if not rows:
        return EdgeLines([], None, [], first_node=first)
    if any("{" in x for x in rows[0]):
        rows, lines = _networkx_rows(path)
    ends_at: tuple[int, int] = (0, 1)
    header = None
    if _is_header(rows, set(options.nodes.names) if options.nodes else set()):
        header, rows, lines = tuple(rows[0]), rows[1:], lines[1:]
        ends_at = _end_columns(header) or (0, 1)
    if rows and len(rows[0]) > 3 and not rows[0][-1] and not any(row[-1] for row in rows):
        rows = [row[:-1] for row in rows]  # a trailing delimiter
    width = len(rows[0]) if rows else 2
    for i, row in enumerate(rows):
        if len(row) != width:
            msg = (
                f"{path.name}: line {lines[i]} has {counted(len(row), 'cell', 'cells')}, but line "
            )
            raise FileFormatError(msg + f"{lines[0]} has {width}.")
    if width not in (2, 3) and (header is None or _end_columns(header) is None or width < 2):
        raise FileFormatError(_wrong_width(path, width))
    at = _weight_column(header, ends_at, width, path)
    _check_undirected(header, rows, path)
    u, v = ends_at
    for i, row in enumerate(rows):
        if not row[u] or not row[v]:
            msg = f"{path.name}: line {lines[i]} lacks a node."
            raise FileFormatError(msg)
    weights = None if at is None else _column(rows, at, lines, path)
    return EdgeLines([(row[u], row[v]) for row in rows], weights, lines, first)


def _column(rows: list[list[str]], at: int, lines: Sequence[int], path: Path) -> Any:
    out = np.empty(len(rows))
    for i, row in enumerate(rows):
        if not row[at] or not is_number(row[at]):
            msg = (
                f"{path.name}: line {lines[i]} holds {shown(row[at])} as a weight, which is not a "
            )
            msg += "number."
            if not is_number(row[at]) and len(row) == 3 and len({r[1] for r in rows}) == 1:
                msg += " Of Cytoscape's SIF, keep the first and the last column."
            raise FileFormatError(msg)
        out[i] = float(row[at])
    if not np.isfinite(out).all():
        i = int(np.flatnonzero(~np.isfinite(out))[0])
        msg = f"{path.name}: line {lines[i]} is {rows[i]}; nodes must be whole numbers and weights "
        raise FileFormatError(msg + "finite.")
    return out


def _whole_pairs(found: EdgeLines, path: Path, place: Iterable[str]) -> npt.NDArray[np.int64]:
    """The ends of the edges as numbers."""
    known = list(place)
    out = np.empty((len(found.ends), 2))
    for i, pair in enumerate(found.ends):
        for j, x in enumerate(pair):
            if not is_number(x):
                raise FileFormatError(_unknown(path, found.lines[i], x, known))
            out[i, j] = float(x) if x.lower() not in ("na", "n/a") else np.nan
    with np.errstate(invalid="ignore"):
        odd = ~np.isfinite(out) | (out % 1 != 0) | (np.abs(out) > _LARGEST)
    if odd.any():
        i = int(np.flatnonzero(odd.any(axis=1))[0])
        msg = f"{path.name}: line {found.lines[i]} is {list(found.ends[i])}; nodes must be whole "
        raise FileFormatError(msg + "numbers and weights finite.")
    return out.astype(np.int64)


def _unknown(path: Path, line: int, name: str, known: Iterable[str]) -> str:
    near = nearest(name, known)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    msg = f"{path.name}: line {line} names the node {name!r}, which is neither a number nor in the "
    return f"{msg}node table.{hint}"


def _wrong_width(path: Path, width: int) -> str:
    return (
        f"{path.name}: an edge list must have two or three columns (u, v, weight), or a header "
        f"that names them (source, target, weight); got {counted(width, 'column', 'columns')}."
    )


def _networkx_rows(path: Path) -> tuple[list[list[str]], list[int]]:
    """The rows of a list as networkx writes it: ``0 1 {'weight': 0.5}``."""
    rows, lines = [], []
    for i, line in enumerate(read_text(path).splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        found = _NETWORKX.fullmatch(line.strip())
        try:
            data = ast.literal_eval(found[3]) if found else None
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            data = None
        if found is None or not isinstance(data, dict):
            msg = f"{path.name}: line {i} is not an edge as networkx writes it, u v {{…}}."
            raise FileFormatError(msg)
        weight = [str(data["weight"])] if "weight" in data else []
        rows.append([found[1], found[2], *weight])
        lines.append(i)
    return rows, lines


# ---- headers ----------------------------------------------------------------------------


def _plain(name: str) -> str:
    return re.sub(r"[^a-z]", "", name.lower())


def _end_columns(header: Sequence[str]) -> tuple[int, int] | None:
    """The two columns of a header that hold the nodes, if it is one of an edge list."""
    if len(header) < 2 or any(is_number(x) for x in header[:2]):
        return None
    plain = [_plain(x) for x in header]
    for a, b in _ENDS:  # the first pairs of names also behind other columns
        first = plain.index(a) if a in plain else None
        second = next((i for i, x in enumerate(plain) if x == b and i != first), None)
        if first is None or second is None or (a == b and plain.count(a) > 2):
            continue
        if (first, second) == (0, 1) or (a, b) in _ENDS[:3]:
            return first, second
    return None


def _is_header(rows: list[list[str]], known: set[str]) -> bool:
    """Whether the first line of an edge list is a header: source target, geneA geneB …"""
    first = rows[0]
    words = [x for x in first[:2] if x and not is_number(x)]
    if len(first) < 2 or len(words) < 2 or known.intersection(words):
        return False
    if known or _end_columns(first) is not None:
        return True
    rest = rows[1:]
    if rest and all(is_number(x) for row in rest for x in row[:2]):
        return True
    third = [row[2] for row in rows[:2] if len(row) > 2]
    if len(third) == 2 and not is_number(third[0]) and is_number(third[1]):
        return True
    twins = [x[-1:].lower() for x in first[:2]] in (["a", "b"], ["1", "2"])
    others = {x for row in rest for x in row[:2]}
    return twins and first[0][:-1] == first[1][:-1] and not others.intersection(first[:2])


def _weight_column(
    header: tuple[str, ...] | None, ends: tuple[int, int], width: int, path: Path
) -> int | None:
    """The column with the weights; raises if several may be it."""
    if width == 2:
        return None
    if width == 3:
        return next(i for i in range(3) if i not in ends)
    names = [x.lower().strip() for x in header or ()]
    found = [i for i, x in enumerate(names) if x in _WEIGHTS and i not in ends]
    if len(found) > 1:
        listed = ", ".join((header or ())[i] for i in found)
        msg = f"{path.name}: several columns may hold the weight: {listed}. Keep one of them."
        raise FileFormatError(msg)
    return found[0] if found else None


def _check_undirected(header: tuple[str, ...] | None, rows: list[list[str]], path: Path) -> None:
    """Raise if a column says that the edges are directed."""
    for i, name in enumerate(header or ()):
        says = name.lower() in _DIRECTIONS and any(row[i].lower() == "directed" for row in rows)
        if says:
            msg = f"{path.name}: its column {name!r} says that edges are directed; denseflip uses "
            raise FileFormatError(msg + "undirected graphs.")
