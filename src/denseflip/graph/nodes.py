"""`Nodes`: names, regions and coordinates of the node set that a data set shares."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from denseflip.checks import check_no_pipe, text_of
from denseflip.errors import (
    InvalidNodesError,
    MissingInputError,
    TooLargeError,
    UnknownNameError,
    counted,
    shown,
)
from denseflip.files import write_whole
from denseflip.limits import PER_NODE, check_size
from denseflip.notebook import ROWS, html_table
from denseflip.serialise import Serialisable

if TYPE_CHECKING:
    import networkx as nx

CROSS = "*"  # joins two taxonomies in a name: "lobe*hemisphere"
_AXES = ("x", "y", "z")
_WORDS = {"side": "hemisphere", "sides": "hemisphere"}  # aliases of taxonomy names, for suggestions


@dataclass(frozen=True)
class Taxonomy:
    """One partition of all nodes into regions.

    Attributes
    ----------
    name : the name of the partition, for example ``"lobe"``.
    regions : the region names, in order of first appearance.
    index : for each node, the position of its region in ``regions``.
    """

    name: str
    regions: tuple[str, ...]
    index: tuple[int, ...]

    @classmethod
    def from_labels(cls, name: str, labels: Sequence[str]) -> Self:
        """Build a taxonomy from one region name per node."""
        regions = tuple(dict.fromkeys(labels))
        position = {region: i for i, region in enumerate(regions)}
        return cls(name, regions, tuple(position[x] for x in labels))

    @cached_property
    def array(self) -> npt.NDArray[np.int64]:
        """`index` as an array."""
        return np.asarray(self.index, dtype=np.int64)

    def members(self, region: int) -> npt.NDArray[np.int64]:
        """Sorted nodes of the region at this position."""
        return np.flatnonzero(self.array == region)

    def region_of(self, node: int) -> str:
        """Name of the node's region."""
        return self.regions[self.index[node]]


@dataclass(frozen=True)
class Nodes(Serialisable, named="a node table", partial=True):
    """Names, regions and coordinates of a node set; only the names are required.

    Attributes
    ----------
    names : one name per node.
    regions : taxonomy name → one region name per node; the first taxonomy is the default one.
    coordinates : one ``(x, y, z)`` per node in millimetres (MNI for human brains), or None.

    Examples
    --------
    >>> nodes = Nodes(("a", "b", "c"), regions={"lobe": ("Front", "Front", "Back")})
    >>> nodes.taxonomy().regions
    ('Front', 'Back')
    >>> nodes.taxonomy("lobe").region_of(2)
    'Back'
    """

    names: tuple[str, ...]
    regions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    coordinates: tuple[tuple[float, float, float], ...] | None = None

    def __post_init__(self) -> None:
        names = tuple(text_of(x) for x in _listed(self.names, "names"))
        object.__setattr__(self, "names", names)
        if len(set(names)) < len(names):
            twice = {x: count for x, count in Counter(names).items() if count > 1}
            listed = ", ".join(f"{x!r} ({count} times)" for x, count in list(twice.items())[:20])
            more = f" and {len(twice) - 20} more" if len(twice) > 20 else ""
            msg = (
                f"Node names must be unique; {counted(len(twice), 'name occurs', 'names occur')} "
                f"more "
                f"than once: {listed}{more}. Make each one distinct, for example by adding its "
                "hemisphere or its number."
            )
            raise InvalidNodesError(msg)
        if not isinstance(self.regions, Mapping):
            msg = f"regions must map a taxonomy's name to regions; got {shown(self.regions)}."
            raise InvalidNodesError(msg)
        regions = {
            text_of(k): tuple(text_of(x) for x in _listed(v, f"taxonomy {shown(k)}"))
            for k, v in self.regions.items()
        }
        for taxonomy, labels in regions.items():
            if CROSS in taxonomy:
                msg = f"A taxonomy's name may not contain {CROSS!r}; got {taxonomy!r}."
                raise InvalidNodesError(msg)
            self._same_length(labels, f"taxonomy {taxonomy!r}")
            if "" in labels:
                msg = f"Taxonomy {taxonomy!r}: node {labels.index('')} has no region."
                raise InvalidNodesError(msg)
        object.__setattr__(self, "regions", regions)
        if self.coordinates is not None:
            try:
                points = tuple(tuple(float(c) for c in p) for p in self.coordinates)
            except (TypeError, ValueError, OverflowError) as error:
                msg = f"Coordinates must be three finite numbers per node ({error!s:.80})."
                raise InvalidNodesError(msg) from error
            self._same_length(points, "coordinates")
            for i, p in enumerate(points):
                if len(p) != 3 or not all(np.isfinite(p)):
                    msg = f"Coordinates of node {i} must be three finite numbers; got {p!r}."
                    raise InvalidNodesError(msg)
            object.__setattr__(self, "coordinates", points)

    def _same_length(self, values: Sequence[Any], what: str) -> None:
        if len(values) != len(self.names):
            msg = f"There are {len(self.names)} node names but {len(values)} entries in {what}."
            raise InvalidNodesError(msg)

    # ---- constructors -------------------------------------------------------------------

    @classmethod
    def numbered(cls, n_nodes: int) -> Self:
        """Nodes without names, only numbers."""
        check_size(float(n_nodes) * PER_NODE, f"{n_nodes} nodes")
        return cls(tuple(str(i) for i in range(n_nodes)))

    @classmethod
    def from_groups(
        cls,
        n_nodes: int,
        groups: Mapping[str, Iterable[int]],
        name: str = "region",
        rest: str = "Other",
    ) -> Self:
        """Nodes from region → node numbers. A node in two regions keeps the first (D9)."""
        labels: list[str | None] = [None] * n_nodes
        for region, members in groups.items():
            for node in members:
                if not 0 <= node < n_nodes:
                    msg = f"Region {region!r} names node {node}; nodes are 0..{n_nodes - 1}."
                    raise InvalidNodesError(msg)
                labels[node] = labels[node] or region
        return cls(tuple(str(i) for i in range(n_nodes)), {name: tuple(x or rest for x in labels)})

    @classmethod
    def from_networkx(
        cls, graph: nx.Graph, *, order: Iterable[Any] | None = None, regions: Iterable[str] = ()
    ) -> Self:
        """The node names of a networkx graph, with regions and coordinates from its attributes.

        Parameters
        ----------
        graph : the graph; if all nodes have the attributes ``x``, ``y``, ``z``, they are
            coordinates.
        order : as in `Graph.from_networkx`, so that the node numbers agree.
        regions : the node attributes to use as taxonomies, the default one first. By default all
            attributes that are texts at all nodes.

        Examples
        --------
        >>> import networkx as nx
        >>> g = nx.Graph([("TP53", "MDM2")])
        >>> nx.set_node_attributes(g, {"TP53": "nucleus", "MDM2": "cytosol"}, "place")
        >>> Nodes.from_networkx(g).regions
        {'place': ('nucleus', 'cytosol')}
        """
        nodes = list(graph.nodes) if order is None else list(order)
        if order is None and set(nodes) == set(range(len(nodes))):
            nodes.sort()
        absent = [x for x in nodes if x not in graph.nodes]
        if absent:
            msg = f"The graph has no node {absent[0]!r} ({len(absent)} such names in the order)."
            raise InvalidNodesError(msg)
        facts = [dict(graph.nodes[x]) for x in nodes]
        wanted = list(regions)
        for name in wanted:
            lacking = [x for x, fact in zip(nodes, facts, strict=True) if fact.get(name) is None]
            if lacking:
                msg = f"{counted(len(lacking), 'node has', 'nodes have')} no attribute {name!r}: "
                msg += f"{', '.join(map(repr, lacking[:5]))}. It cannot be used as a taxonomy."
                raise InvalidNodesError(msg)
        if not wanted and facts:
            wanted = [
                name
                for name in facts[0]
                if isinstance(name, str)
                and CROSS not in name
                and all(isinstance(fact.get(name), str) and fact[name] for fact in facts)
            ]
        placed = bool(facts) and all(
            isinstance(fact.get(axis), (int, float)) for fact in facts for axis in _AXES
        )
        return cls(
            tuple(nodes),
            {name: tuple(fact[name] for fact in facts) for name in wanted},
            tuple((f["x"], f["y"], f["z"]) for f in facts) if placed else None,
        )

    @classmethod
    def read_csv(cls, path: str | Path) -> Self:
        """Read a node table: a column ``name``, optional ``x y z``, any other column a taxonomy.

        A column ``index``, if present, must count 0, 1, 2 …
        """
        path = Path(path)
        check_no_pipe(path, error=InvalidNodesError)
        try:
            check_size(20.0 * path.stat().st_size, f"{path}: its rows")
            with path.open(newline="", encoding="utf-8-sig") as handle:
                reader = csv.DictReader(handle)
                rows = list(reader)
                columns = reader.fieldnames or ()
        except TooLargeError:
            raise
        except (OSError, ValueError, csv.Error) as error:
            msg = f"{path}: cannot read the node table ({error})."
            raise InvalidNodesError(msg) from error
        if not rows or "name" not in rows[0]:
            got = ", ".join(map(str, rows[0])) if rows else "an empty file"
            msg = f"{path}: a node table needs a header line with a column 'name'; got {got}."
            raise InvalidNodesError(msg)
        twice = [name for name, times in Counter(columns).items() if times > 1]
        if twice:
            msg = f"{path}: two columns are named {shown(twice[0])}; rename or remove one."
            raise InvalidNodesError(msg)
        for i, row in enumerate(rows):
            if None in row or None in row.values():
                msg = f"{path}: line {i + 2} has a different number of columns than the header."
                raise InvalidNodesError(msg)
            if row.get("index", str(i)).strip() != str(i):
                msg = f"{path}: line {i + 2}: index must be {i}; got {row['index']!r}."
                raise InvalidNodesError(msg)
        coordinates = None
        if all(axis in rows[0] for axis in _AXES):
            try:
                coordinates = tuple((float(r["x"]), float(r["y"]), float(r["z"])) for r in rows)
            except ValueError as error:
                msg = f"{path}: the columns x, y, z must hold numbers ({error})."
                raise InvalidNodesError(msg) from error
        taxonomies = [c for c in rows[0] if c not in {"name", "index", *_AXES}]
        try:
            return cls(
                tuple(r["name"] for r in rows),
                {c: tuple(r[c] for r in rows) for c in taxonomies},
                coordinates,
            )
        except InvalidNodesError as error:
            msg = f"{path}: {error}"
            raise InvalidNodesError(msg) from error

    def write_csv(self, path: str | Path) -> None:
        """Write a table that `read_csv` can read."""
        header = ["index", "name", *self.regions, *(_AXES if self.coordinates else ())]
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(header)
        for i, name in enumerate(self.names):
            place = self.coordinates[i] if self.coordinates else ()
            writer.writerow([i, name, *(v[i] for v in self.regions.values()), *place])
        write_whole(path, text.getvalue())

    # ---- access -------------------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.names)

    @property
    def taxonomies(self) -> tuple[str, ...]:
        """Names of the taxonomies, default first."""
        return tuple(self.regions)

    def taxonomy(self, name: str | None = None) -> Taxonomy:
        """The named taxonomy, the default one, or two crossed (``"lobe*hemisphere"``).

        Raises
        ------
        MissingInputError
            If these nodes have no regions at all.
        UnknownNameError
            If there is no taxonomy of that name.
        """
        if not self.regions:
            msg = (
                "These nodes have no regions. Give a node table with a region column: "
                "Nodes.read_csv('nodes.csv'), or Nodes(names, regions={'region': (...)})."
            )
            raise MissingInputError(msg, parameter="nodes")
        name = name or self.taxonomies[0]
        columns = []
        for part in name.split(CROSS):
            if part not in self.regions:
                raise UnknownNameError(
                    "taxonomy", part, self.regions, aliases=_WORDS, parameter="regions"
                )
            columns.append(self.regions[part])
        crossed = list(zip(*columns, strict=True))
        labels = [" ".join(parts) for parts in crossed]
        if len(set(labels)) < len(set(crossed)):  # "a b" with "c" is not "a" with "b c"
            labels = [" / ".join(parts) for parts in crossed]
        return Taxonomy.from_labels(name, labels)

    def ordered(self, names: Iterable[str]) -> Self:
        """The table with its rows in the order of these names, a subset of its own."""
        wanted = list(names)
        place = {name: i for i, name in enumerate(self.names)}
        unknown = [name for name in wanted if name not in place]
        if unknown:
            raise UnknownNameError("node", unknown[0], self.names)
        at = [place[name] for name in wanted]
        return replace(
            self,
            names=tuple(wanted),
            regions={k: tuple(v[i] for i in at) for k, v in self.regions.items()},
            coordinates=self.coordinates and tuple(self.coordinates[i] for i in at),
        )

    def check_fits(self, n_nodes: int, what: str = "graph") -> None:
        """Raise if the table and a graph have different numbers of nodes."""
        if n_nodes != self.n_nodes:
            msg = (
                f"The {what} has {n_nodes} nodes, but the node table describes {self.n_nodes}. "
                "Use the node table of the same parcellation."
            )
            raise InvalidNodesError(msg)

    def __hash__(self) -> int:
        return hash((self.names, tuple(self.regions.items()), self.coordinates))

    def __repr__(self) -> str:
        return f"Nodes(n_nodes={self.n_nodes}, taxonomies={list(self.regions)})"

    def _repr_html_(self) -> str:
        """The first nodes, as a table for notebooks."""
        points = self.coordinates
        kinds = [f"{name} ({len(set(x))})" for name, x in self.regions.items()]
        title = f"{self.n_nodes:,} nodes; {', '.join(kinds) or 'no regions'}"
        rows = [
            (self.names[i], *(x[i] for x in self.regions.values()), *(points[i] if points else ()))
            for i in range(min(self.n_nodes, ROWS))
        ]
        columns = ("name", *self.regions, *(_AXES if points else ()))
        return html_table(title, columns, rows, total=self.n_nodes)


def _listed(values: Any, what: str) -> tuple[Any, ...]:
    """Values as a tuple, one per node; a text is one value, not its letters."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        msg = f"The {what} must be listed one per node; got {shown(values)}."
        raise InvalidNodesError(msg)
    return tuple(values)
