"""Read the authors' pickles without running any code in them.

A pickle is a small program. This reader lets it build dicts, lists, tuples, numbers and strings.
networkx's Graph is replaced by an inert class that only keeps the adjacency. Every other name
raises at once, before anything is called.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from denseflip.errors import FileFormatError, InvalidGraphError
from denseflip.graph import Graph


class _Inert:
    """Replaces a networkx object: keeps its state, does nothing."""

    def __init__(self) -> None:
        self.state: dict[str, Any] = {}

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            self.__dict__["state"] = state


_ADMITTED = {
    ("networkx.classes.graph", "Graph"): _Inert,
    ("networkx.classes.reportviews", "NodeView"): _Inert,
    ("builtins", "dict"): dict,  # networkx stores it as the factory of its tables
    ("__builtin__", "dict"): dict,
}


class _Reader(pickle.Unpickler):
    """An unpickler that accepts four names."""

    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            msg = f"it refers to {module}.{name}"
            raise pickle.UnpicklingError(msg) from None

    def persistent_load(self, pid: Any) -> Any:
        msg = f"it refers to the outside object {pid!r:.40}"
        raise pickle.UnpicklingError(msg)


def read_plain(content: bytes, source: str) -> Any:
    """The value of a pickle of plain data and graphs.

    Raises
    ------
    FileFormatError
        If the pickle refers to anything else, is truncated, or is not a pickle.
    """
    try:
        return _Reader(io.BytesIO(content)).load()
    except pickle.UnpicklingError as error:
        msg = (
            f"{source}: refused: {error}. Only plain data and networkx graphs are read from a "
            "pickle, since a pickle can run code. No code in it was run."
        )
        raise FileFormatError(msg) from error
    except RecursionError as error:
        msg = f"{source}: refused: nested too deeply to be a list of graphs."
        raise FileFormatError(msg) from error
    except Exception as error:  # a damaged pickle can fail in any way
        msg = (
            f"{source}: cannot be read as a pickle ({type(error).__name__}: {error}). "
            "It is truncated or damaged; download it again."
        )
        raise FileFormatError(msg) from error


def read_graphs(content: bytes, source: str) -> list[tuple[Graph, int]]:
    """The graphs and labels of a pickled list of ``(networkx.Graph, int)``."""
    value = read_plain(content, source)
    if not isinstance(value, list) or not value:
        msg = f"{source}: expected a list of (graph, label); got {type(value).__name__}."
        raise FileFormatError(msg)
    found = []
    for i, item in enumerate(value):
        ok = isinstance(item, tuple) and len(item) == 2 and isinstance(item[0], _Inert)
        if not ok or type(item[1]) is not int:
            msg = f"{source}: entry {i} is not a pair (graph, label); got {item!r:.60}."
            raise FileFormatError(msg)
        found.append((_graph(item[0], f"{source}, graph {i}"), item[1]))
    return found


def _graph(inert: _Inert, source: str) -> Graph:
    """The adjacency that networkx keeps as a dict of dicts; its weights are left out."""
    table = inert.state.get("_adj")
    if not isinstance(table, dict) or set(table) != set(range(len(table))):
        msg = f"{source}: its nodes are not 0, 1, 2 …"
        raise FileFormatError(msg)
    edges: set[tuple[int, int]] = set()
    for u, row in table.items():
        if not isinstance(row, dict):
            msg = f"{source}: node {u} has no table of neighbours."
            raise FileFormatError(msg)
        edges.update((min(u, v), max(u, v)) for v in row)
        one_way = [v for v in row if u not in table.get(v, ())]
        if one_way:
            msg = f"{source}: {u} lists {one_way[0]} as a neighbour but not vice versa."
            raise FileFormatError(msg)
    try:
        return Graph.from_edges(len(table), sorted(edges), source=source)
    except (InvalidGraphError, TypeError) as error:
        raise FileFormatError(str(error)) from error


def read_groups(content: bytes, source: str) -> dict[str, list[int]]:
    """A pickled dict of region name → node numbers; line breaks in names become spaces."""
    value = read_plain(content, source)
    ok = isinstance(value, dict) and all(
        isinstance(k, str) and isinstance(v, list) and all(type(x) is int for x in v)
        for k, v in value.items()
    )
    if not ok:
        msg = f"{source}: expected region names with lists of node numbers."
        raise FileFormatError(msg)
    return {" ".join(k.split()): v for k, v in value.items()}
