"""Read folders in the TU format: NAME_A.txt, NAME_graph_indicator.txt and labels.

Nodes and graphs are numbered from 1 there; see https://chrsmrrs.github.io/datasets/docs/format.

The graphs share one node set if they have the same nodes in the same order, or if the node labels
name each node of a graph (brain data are stored like this: a node is a region). Otherwise nodes
have no identity, as in molecules: the node labels are types, and each graph carries its own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from denseflip.datasets.import_job import Whole
from denseflip.datasets.number_tables import read_table
from denseflip.errors import DatasetError, FileFormatError, InvalidParameterError, counted
from denseflip.graph import Graph, NodeTypes

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_LARGEST = 2**31  # a node's or graph's number; the product of two then fits into 64 bits
_MOST_TYPES = 1000  # more are names of nodes rather than types
_README = ("README.txt", "readme.txt", "README.md", "label_readme.txt")
_NAMED = re.compile(r"\s*(-?\d+)\s*[:=,]?\s+(\S.*?)\s*")


def tu_name(folder: Path) -> str | None:
    """The name of the TU data set in a folder, or None if there is none."""
    for path in sorted(folder.glob("*_graph_indicator.txt")):
        name = path.name.removesuffix("_graph_indicator.txt")
        if (folder / f"{name}_A.txt").is_file():
            return name
    return None


def read_tu(
    folder: str | Path, node_types: Sequence[str] = (), notes: list[str] | None = None
) -> Whole:
    """The graphs of a folder in the TU format, and their labels.

    Parameters
    ----------
    folder : the folder.
    node_types : names of the node labels: ``["0=C", "1=N"]``, or names in the order of the labels.
        By default the list "Node labels" in the folder's README, else ``type 0``, ``type 1`` …
    notes : a list to which sentences about what was found are added.

    Raises
    ------
    FileFormatError
        With the file, the line and the remedy.
    """
    source = Path(folder)
    name = tu_name(source)
    if name is None:
        msg = f"{source}: no TU data set found: NAME_A.txt and NAME_graph_indicator.txt are needed."
        raise FileFormatError(msg)
    return _Reader(source, name, tuple(node_types), [] if notes is None else notes).read()


@dataclass(frozen=True)
class _Reader:
    """A TU folder while it is read."""

    source: Path
    name: str
    node_types: tuple[str, ...]
    notes: list[str]

    def read(self) -> Whole:
        n_graphs = int(self.owner[-1]) + 1
        path = self._path("graph_labels")
        labels = None
        if path.is_file():
            labels = [str(x) for x in _column(path).tolist()]
            self._check_length(path, len(labels), n_graphs, "graph", "graph_indicator")
        place, sizes = self._shared() or (None, self.sizes)
        if place is not None:
            if self.node_types:
                msg = (
                    f"{self.name}: the graphs share one node set, so node_types does not apply. "
                    "Leave it out, or give names and regions of the nodes (nodes)."
                )
                raise InvalidParameterError(msg, parameter="node_types")
            graphs = [self._graph(i, place, int(sizes[i])) for i in range(n_graphs)]
        else:
            graphs = self._typed()
        return Whole(graphs=graphs, labels=labels)

    # ---- files --------------------------------------------------------------------------

    def _path(self, part: str) -> Path:
        return self.source / f"{self.name}_{part}.txt"

    def _check_length(self, path: Path, got: int, wanted: int, what: str, other: str) -> None:
        """Raise if a file does not have one line for each line of another."""
        if got == wanted:
            return
        where = f"line {got + 1} is missing" if got < wanted else f"line {wanted + 1} is too much"
        msg = (
            f"{path.name}: {counted(got, 'line', 'lines')} for {counted(wanted, what, what + 's')} "
            f"({self._path(other).name}): {where}. The file needs one line per {what}; download or "
            "export the data set again, or add the missing lines."
        )
        raise FileFormatError(msg)

    @cached_property
    def owner(self) -> Ints:
        """The graph of each node, counted from 0."""
        path = self._path("graph_indicator")
        owner = _column(path) - 1
        if len(owner) == 0 or owner.min() < 0 or owner.max() >= len(owner):
            msg = f"{path.name}: expected the number of a graph, from 1, for each node."
            raise FileFormatError(msg)
        steps = np.diff(owner, prepend=-1)
        odd = np.flatnonzero((steps < 0) | (steps > 1))
        if len(odd):
            at = int(odd[0])
            msg = (
                f"{path.name}: line {at + 1}: graphs must be numbered 1, 2, 3 … without gaps, in "
                f"order; got {owner[at] + 1}. Sort the nodes by graph and number the graphs anew."
            )
            raise FileFormatError(msg)
        return owner

    @cached_property
    def sizes(self) -> Ints:
        """The number of nodes of each graph."""
        return np.bincount(self.owner)

    @cached_property
    def local(self) -> Ints:
        """The number of each node within its graph."""
        first = np.searchsorted(self.owner, np.arange(len(self.sizes)))
        return np.asarray(np.arange(len(self.owner)) - first[self.owner])

    @cached_property
    def pairs(self) -> Ints:
        """The two nodes of each line of NAME_A.txt, counted from 0."""
        path, owner = self._path("A"), self.owner
        pairs = _whole(_plain_table(path), path.name) - 1
        if pairs.shape[1] != 2 or (len(pairs) and not 0 <= pairs.min() <= pairs.max() < len(owner)):
            msg = f"{path.name}: expected two columns with nodes 1..{len(owner)}."
            raise FileFormatError(msg)
        apart = owner[pairs[:, 0]] != owner[pairs[:, 1]]
        if apart.any():
            at = int(np.flatnonzero(apart)[0])
            msg = f"{path.name}: line {at + 1} joins nodes of two different graphs."
            raise FileFormatError(msg)
        return pairs

    @cached_property
    def edge_of_line(self) -> Ints:
        """For each line of NAME_A.txt the number of its edge, the same in both directions."""
        edges = np.sort(self.pairs, axis=1)
        return np.unique(edges, axis=0, return_inverse=True)[1].ravel()

    @cached_property
    def node_labels(self) -> Ints | None:
        """The label of each node; None without a file."""
        path = self._path("node_labels")
        if not path.is_file():
            return None
        table = _whole(_plain_table(path), path.name)
        self._check_length(path, len(table), len(self.owner), "node", "graph_indicator")
        if table.shape[1] > 1:
            self.notes.append(f"{path.name}: the first of {table.shape[1]} columns is used.")
        return table[:, 0]

    def _attributes(self, part: str, wanted: int, what: str, other: str) -> Floats | None:
        """The numbers of a file with a line per node or per line of NAME_A.txt, if it exists."""
        path = self._path(part)
        if not path.is_file():
            return None
        rows = _plain_table(path)
        self._check_length(path, len(rows), wanted, what, other)
        if not np.isfinite(rows).all():
            at = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            msg = f"{path.name}: line {at + 1}: expected finite numbers; got {rows[at].tolist()}."
            raise FileFormatError(msg)
        return rows

    def _graph(self, i: int, place: Ints, n: int) -> Graph:
        ends = np.sort(place[self.pairs[self.owner[self.pairs[:, 0]] == i]], axis=1)
        return Graph.from_edges(n, np.unique(ends, axis=0), source=f"{self.name}, graph {i + 1}")

    # ---- one node set -------------------------------------------------------------------

    def _shared(self) -> tuple[Ints, Ints] | None:
        """The number of every node in a shared node set, and its size; None for typed nodes."""
        sizes, owner, labels = self.sizes, self.owner, self.node_labels
        same_size = bool((sizes == sizes[0]).all())
        if same_size and (
            labels is None or (labels.reshape(len(sizes), -1) == labels[: sizes[0]]).all()
        ):
            return self.local, sizes
        if labels is None:
            path = self._path("node_labels")
            msg = (
                f"{path.name} is missing, and the graphs have different sizes ({sizes.min()} to "
                f"{sizes.max()} nodes), so nothing says which nodes are alike. Add the file, with "
                "the type of one node per line (whole numbers; the same number on every line if "
                "all nodes are alike)."
            )
            raise DatasetError(msg)
        if labels.min() >= 0:
            width = int(labels.max()) + 1
            if len(np.unique(owner * width + labels)) == len(labels):
                low = int(labels.min())
                return labels - low, np.full(len(sizes), width - low)
        return None

    # ---- typed nodes --------------------------------------------------------------------

    def _typed(self) -> list[Graph]:
        """Graphs that carry the types and features of their own nodes."""
        labels = self.node_labels
        assert labels is not None
        low = int(labels.min())
        width = int(labels.max()) - low + 1
        if width > _MOST_TYPES:
            msg = (
                f"{self._path('node_labels').name}: labels from {low} to {labels.max()}, more than "
                f"{_MOST_TYPES} types, and some graph has a label twice. Use few types, or labels "
                "that are different for every node of a graph."
            )
            raise FileFormatError(msg)
        names = self._type_names(low, width)
        index = labels - low
        n_nodes, n_lines = len(index), len(self.pairs)
        attributes = self._attributes("node_attributes", n_nodes, "node", "graph_indicator")
        rows = self._edge_rows(n_lines)
        known = Counter(names[i] for i in index.tolist())
        listed = ", ".join(f"{name} ({n:,})" for name, n in known.most_common(12))
        self.notes.append(
            f"Graphs of {self.sizes.min()} to {self.sizes.max()} nodes. Nodes have no identity; "
            f"their types are {listed}{' …' if len(known) > 12 else ''}."
        )
        if attributes is not None:
            self.notes.append(f"Node attributes: {attributes.shape[1]} per node.")
        first = np.concatenate(([0], np.cumsum(self.sizes)))
        starts = self.owner[self.pairs[:, 0]]
        new_edge = None if rows is None else self._new_edges(index, rows, len(names))
        graphs = []
        for i, n in enumerate(self.sizes.tolist()):
            nodes = slice(first[i], first[i + 1])
            graph = self._graph(i, self.local, n)
            edge_rows = None
            if rows is not None:
                lines = np.flatnonzero(starts == i)
                ends = np.sort(self.local[self.pairs[lines]], axis=1)
                _, at = np.unique(ends[:, 0] * n + ends[:, 1], return_index=True)
                edge_rows = rows[lines[at]]
            graphs.append(
                graph.typed(
                    NodeTypes(
                        names,
                        index[nodes],
                        None if attributes is None else attributes[nodes],
                        graph.codes if edge_rows is not None else (),
                        edge_rows,
                        new_edge,
                    )
                )
            )
        return graphs

    def _type_names(self, low: int, width: int) -> tuple[str, ...]:
        """The name of each label: as given, else those of the README, else numbers."""
        given = dict(enumerate(self.node_types, low))
        if self.node_types and all("=" in x for x in self.node_types):
            given = {}
            for text in self.node_types:
                number, _, word = text.partition("=")
                try:
                    given[int(number)] = word.strip()
                except ValueError:
                    msg = f"node_types must be names, or label=name such as 0=C; got {text!r}."
                    raise InvalidParameterError(msg, parameter="node_types") from None
        found = given or self._readme()
        used = set() if self.node_labels is None else set(self.node_labels.tolist())
        unknown = sorted(used - set(found))
        unused = sorted(set(given) - set(range(low, low + width)))
        if given and (unknown or unused):
            what = f"no name for {unknown}" if unknown else f"names for {unused}"
            msg = (
                f"node_types has {what}; the labels in {self._path('node_labels').name} are "
                f"{sorted(used)}."
            )
            raise InvalidParameterError(msg, parameter="node_types")
        if unknown:
            found = {}
        return tuple(found.get(x, f"type {x}") for x in range(low, low + width))

    def _readme(self) -> dict[int, str]:
        """The names of node labels that a README lists under "Node labels"."""
        for path in (self.source / x for x in _README):
            if not path.is_file():
                continue
            found: dict[int, str] = {}
            text = path.read_text(encoding="utf-8", errors="replace")
            rest = re.split(r"(?im)^\W*node labels\W*$", text, maxsplit=1)[1:]
            for line in rest[0].splitlines() if rest else ():
                named = _NAMED.fullmatch(line)
                if named is not None:
                    found[int(named[1])] = named[2]
                elif line.strip():
                    break
            if found and len(set(found.values())) == len(found):
                self.notes.append(f"The names of the node types are from {path.name}.")
                return found
        return {}

    def _edge_rows(self, n_lines: int) -> Floats | None:
        """Features of each line of NAME_A.txt: attributes, then labels as one-hot columns."""
        what = ("edge", "A")
        labels = self._attributes("edge_labels", n_lines, *what)
        attributes = self._attributes("edge_attributes", n_lines, *what)
        parts = []
        if attributes is not None:
            parts.append(self._both_ways(attributes))
        if labels is not None:
            path = self._path("edge_labels")
            kinds = _whole(labels[:, :1], path.name)[:, 0]
            self._check_both_ways(kinds, path)
            low, high = int(kinds.min(initial=0)), int(kinds.max(initial=0))
            if high - low >= _MOST_TYPES:
                msg = f"{path.name}: labels from {low} to {high}; at most {_MOST_TYPES} are read."
                raise FileFormatError(msg)
            parts.append(np.eye(high - low + 1)[kinds - low])
        if not parts:
            return None
        rows = np.concatenate(parts, axis=1)
        self.notes.append(
            f"Edge features: {rows.shape[1]} per edge. An added edge gets those that edges between "
            "its two types usually have."
        )
        return rows

    def _check_both_ways(self, kinds: Ints, path: Path) -> None:
        """Raise if the two directions of an edge have different labels."""
        same = self.edge_of_line
        first = np.full(same.max(initial=0) + 1, -1)
        first[same[::-1]] = np.arange(len(kinds))[::-1]
        odd = np.flatnonzero(kinds != kinds[first[same]])
        if len(odd):
            at, before = int(odd[0]), int(first[same[odd[0]]])
            msg = (
                f"{path.name}: lines {before + 1} and {at + 1} give the two directions of one edge "
                f"different labels ({kinds[before]} and {kinds[at]}). Graphs are undirected here: "
                "give both lines the same label."
            )
            raise FileFormatError(msg)

    def _both_ways(self, rows: Floats) -> Floats:
        """Attributes of an edge: the mean of its two directions."""
        same = self.edge_of_line
        count = np.bincount(same)
        sums = np.stack([np.bincount(same, column) for column in rows.T], axis=1)
        return np.asarray((sums / count[:, None])[same])

    def _new_edges(self, index: Ints, rows: Floats, k: int) -> Floats:
        """The features of an added edge between two types: those that are most usual there."""
        ends = np.sort(index[self.pairs], axis=1)
        out = np.empty((k, k, rows.shape[1]))
        out[:] = _usual(rows)
        for a, b in np.unique(ends, axis=0).tolist():
            out[a, b] = out[b, a] = _usual(rows[(ends == (a, b)).all(axis=1)])
        return out


def _usual(rows: Floats) -> Floats:
    """The most frequent row if there are few, else the mean of the rows."""
    if not len(rows):
        return np.zeros(rows.shape[1])
    each, counts = np.unique(rows, axis=0, return_counts=True)
    return np.asarray(
        each[counts.argmax()] if set(np.unique(rows)) <= {0, 1} else rows.mean(axis=0)
    )


def _plain_table(path: Path) -> Floats:
    """The numbers of a table that has neither names nor another meaning than the format's."""
    return read_table(path, kind="timeseries", header="none").values


def _column(path: Path) -> Ints:
    values = _plain_table(path)
    if values.shape[1] != 1:
        msg = f"{path.name}: expected one whole number per line."
        raise FileFormatError(msg)
    return _whole(values, path.name)[:, 0]


def _whole(values: Floats, source: str) -> Ints:
    with np.errstate(invalid="ignore"):
        fine = np.isfinite(values) & (values % 1 == 0) & (np.abs(values) < _LARGEST)
    if not fine.all():
        at = int(np.flatnonzero(~fine.all(axis=1))[0])
        msg = f"{source}: expected whole numbers; got {values[at].tolist()!r:.60} (row {at})."
        raise FileFormatError(msg)
    return values.astype(np.int64)
