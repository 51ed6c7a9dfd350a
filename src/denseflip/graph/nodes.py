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
    DenseflipError,
    FileFormatError,
    InvalidNodesError,
    MissingInputError,
    UnknownNameError,
    counted,
    shown,
)
from denseflip.files import write_whole
from denseflip.graph.node_table import CODE, REGION, numbered_names, sort_columns
from denseflip.limits import PER_NODE, check_size
from denseflip.notebook import ROWS, html_table
from denseflip.serialise import Serialisable
from denseflip.text_tables import read_cells

if TYPE_CHECKING:
    import networkx as nx

TYPE = "node type"  # the taxonomy of graphs that carry the types of their own nodes
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
        """Build a taxonomy from one region name per node.

        Regions are in the order of the nodes. Types of nodes are in alphabetical order, carbon
        first, since every graph has its own nodes.
        """
        regions = tuple(dict.fromkeys(labels))
        if name == TYPE:
            regions = tuple(sorted(regions, key=lambda x: (x != "C", x)))
        position = {region: i for i, region in enumerate(regions)}
        return cls(name, regions, tuple(position[x] for x in labels))

    @property
    def noun(self) -> str:
        """What its parts are called: ``"regions"``, or ``"types"`` of nodes."""
        return "types" if self.name == TYPE else "regions"

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
    ids : column → one code per node, all different. A file whose header has these codes is matched
        by them.

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
    ids: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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
                "hemisphere, or let equal names be numbered (number_names)."
            )
            raise InvalidNodesError(msg, parameter="number_names")
        rule = "regions must map a taxonomy's name to regions"
        regions = _columns(self.regions, "taxonomy", rule)
        for taxonomy, labels in regions.items():
            if CROSS in taxonomy:
                msg = f"A taxonomy's name may not contain {CROSS!r}; got {taxonomy!r}."
                raise InvalidNodesError(msg)
            self._same_length(labels, f"taxonomy {taxonomy!r}")
            if "" in labels:
                msg = f"Taxonomy {taxonomy!r}: node {labels.index('')} has no region."
                raise InvalidNodesError(msg)
        object.__setattr__(self, "regions", regions)
        ids = _columns(self.ids, "ids", "ids must map the name of a column to codes")
        for column, codes in ids.items():
            self._same_length(codes, f"ids {column!r}")
            if len(set(codes)) < len(codes):
                msg = f"The ids {column!r} must be different for every node."
                raise InvalidNodesError(msg)
        object.__setattr__(self, "ids", ids)
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
    def read_csv(
        cls,
        path: str | Path,
        *,
        name_column: str | None = None,
        region_columns: Iterable[str] | None = None,
        number_names: bool = False,
    ) -> Self:
        """Read a node table from a CSV, TSV or Excel file.

        The column ``name`` (or ``label``, ``roi`` …) has the names; ``x``, ``y``, ``z`` are
        coordinates. Every other column of words in which nodes share values is a taxonomy; columns
        that differ in every row are codes (`ids`). Columns of numbers are not used.

        Parameters
        ----------
        path : the file; the case of headings and blanks around cells do not matter.
        name_column : the column of the names.
        region_columns : the columns that are taxonomies, the default first. A column of numbers
            can be one.
        number_names : number equal names instead of refusing them.
        """
        nodes, _ = cls.read_table(
            path,
            name_column=name_column,
            region_columns=region_columns,
            number_names=number_names,
        )
        return nodes

    @classmethod
    def read_table(cls, path: str | Path, **columns: Any) -> tuple[Self, list[str]]:
        """`read_csv`, with sentences about how the columns of the table were used."""
        source = Path(path)
        check_no_pipe(source, error=InvalidNodesError)
        try:
            lines = read_cells(source)
        except FileFormatError as error:
            msg = f"{source}: cannot read the node table: {error}"
            raise InvalidNodesError(msg) from error
        nodes, notes = sort_columns(lines, source.name, **columns)
        return cls(nodes.names, nodes.regions, nodes.coordinates, nodes.ids), notes

    def write_csv(self, path: str | Path) -> None:
        """Write a table that `read_csv` can read."""
        text = self._csv()
        lines = list(enumerate(csv.reader(io.StringIO(text, newline="")), start=1))
        try:
            same = sort_columns(lines, "")[0] == self
        except DenseflipError:
            same = False
        write_whole(path, text if same else self._csv(REGION, CODE))

    def _csv(self, region: str = "", code: str = "") -> str:
        """The table as text; taxonomies and codes are marked with these prefixes."""
        regions = [f"{region}{x}" for x in self.regions]
        header = ["index", "name", *regions, *(f"{code}{x}" for x in self.ids)]
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow([*header, *(_AXES if self.coordinates else ())])
        for i, name in enumerate(self.names):
            place = self.coordinates[i] if self.coordinates else ()
            values = (v[i] for v in (*self.regions.values(), *self.ids.values()))
            writer.writerow([i, name, *values, *place])
        return text.getvalue()

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

        Upper and lower case count only if two names differ in nothing else.

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
        parts = []
        for part in name.split(CROSS):
            alike = [known for known in self.regions if known.lower() == part.lower()]
            if part not in self.regions and len(alike) != 1:
                raise UnknownNameError(
                    "taxonomy", part, self.regions, aliases=_WORDS, parameter="regions"
                )
            parts.append(part if part in self.regions else alike[0])
        name, columns = CROSS.join(parts), [self.regions[part] for part in parts]
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
            ids={k: tuple(v[i] for i in at) for k, v in self.ids.items()},
        )

    def names_of(self, header: Sequence[str]) -> tuple[tuple[str, ...], str]:
        """The node names that a file's header means, and the column of `ids` that it matches.

        A header of codes, or of names that this table has numbered, is translated. It may lack
        nodes of the table, or have more, which keep their codes. Any other header is returned
        unchanged, with an empty text.

        >>> nodes = Nodes(("Insula L", "Insula R"), ids={"code": ("3001", "3002")})
        >>> nodes.names_of(("3002", "3001"))
        (('Insula R', 'Insula L'), 'code')
        """
        words = tuple(header)
        known = set(self.names)
        if _nested(known, words):
            return words, ""
        for column, codes in self.ids.items():
            if _nested(set(codes), words):
                name = dict(zip(codes, self.names, strict=True))
                return tuple(name.get(x, x) for x in words), column
        numbered = numbered_names(words)
        return (numbered, "") if _nested(known, numbered) else (words, "")

    def check_fits(self, n_nodes: int, what: str = "graph") -> None:
        """Raise if the table and a graph have different numbers of nodes."""
        if n_nodes != self.n_nodes:
            msg = (
                f"The {what} has {n_nodes} nodes, but the node table describes {self.n_nodes}. "
                "Use the node table of the same parcellation."
            )
            raise InvalidNodesError(msg)

    def __hash__(self) -> int:
        return hash(
            (self.names, tuple(self.regions.items()), self.coordinates, tuple(self.ids.items()))
        )

    def __repr__(self) -> str:
        return f"Nodes(n_nodes={self.n_nodes}, taxonomies={list(self.regions)})"

    def _repr_html_(self) -> str:
        points = self.coordinates
        kinds = [f"{name} ({len(set(x))})" for name, x in self.regions.items()]
        title = f"{self.n_nodes:,} nodes; {', '.join(kinds) or 'no regions'}"
        rows = [
            (self.names[i], *(x[i] for x in self.regions.values()), *(points[i] if points else ()))
            for i in range(min(self.n_nodes, ROWS))
        ]
        columns = ("name", *self.regions, *(_AXES if points else ()))
        return html_table(title, columns, rows, total=self.n_nodes)


def _nested(known: set[str], words: tuple[str, ...]) -> bool:
    """Whether all words are known, or all that is known is among the words."""
    return known.issuperset(words) or known.issubset(words)


def _columns(given: Any, kind: str, rule: str) -> dict[str, tuple[str, ...]]:
    """Columns by name, one text per node; raises with the rule if they are no mapping."""
    if not isinstance(given, Mapping):
        msg = f"{rule}; got {shown(given)}."
        raise InvalidNodesError(msg)
    return {
        text_of(name): tuple(text_of(x) for x in _listed(values, f"{kind} {shown(name)}"))
        for name, values in given.items()
    }


def _listed(values: Any, what: str) -> tuple[Any, ...]:
    """Values as a tuple, one per node; a text is one value, not its letters."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        msg = f"The {what} must be listed one per node; got {shown(values)}."
        raise InvalidNodesError(msg)
    return tuple(values)
