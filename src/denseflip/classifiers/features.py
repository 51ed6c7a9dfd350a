"""Features: a graph as a row of numbers.

`SpectralFeatures` has its own module; the other three are here, with the table of names. A new
kind is one frozen dataclass with `transform` and `to_dict`, and one line in `FEATURES`. The three
here are sums over the edges and implement `PairwiseFeatures`, which makes linear classifiers fast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from denseflip.classifiers.spectral import SpectralFeatures
from denseflip.errors import (
    FileFormatError,
    InvalidGraphError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
    check_name,
    shown,
)
from denseflip.graph import Cells, Codes, Graph, Nodes, NodeTypes, Taxonomy
from denseflip.graph.nodes import TYPE
from denseflip.limits import check_size
from denseflip.serialise import Serialisable

Matrix = npt.NDArray[np.float64]


@runtime_checkable
class Features(Protocol):
    """Turns graphs into rows of numbers; a row depends on its graph alone."""

    @property
    def name(self) -> str:
        """The name that users type."""
        ...

    @property
    def any_size(self) -> bool:
        """Whether graphs with different numbers of nodes give rows of the same length."""
        ...

    def transform(self, graphs: Sequence[Graph]) -> Matrix:
        """One row per graph."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form, with the name under ``"name"``."""
        ...


@dataclass(frozen=True)
class EdgeFeatures(
    Serialisable, named="a description of features", keys=("name", ...), closed=True
):
    """Every node pair, 1 if joined, else 0: the upper triangle, row by row.

    >>> EdgeFeatures().transform([Graph.from_edges(3, [(0, 2)])]).tolist()
    [[0.0, 1.0, 0.0]]
    """

    name: ClassVar[str] = "edges"
    any_size: ClassVar[bool] = False

    def transform(self, graphs: Sequence[Graph]) -> Matrix:
        """Rows of length ``n (n - 1) / 2``."""
        n = _one_size(graphs)
        check_size(4.0 * n * n * len(graphs), f"Every pair of {n} nodes as a feature")
        out = np.zeros((len(graphs), n * (n - 1) // 2))
        for row, graph in zip(out, graphs, strict=True):
            u = graph.codes // max(n, 1)
            row[graph.codes - (u + 1) * (u + 2) // 2] = 1
        return out

    def pair_weights(self, slopes: Matrix, codes: Codes, n_nodes: int) -> Matrix:
        """What an edge at each code adds to each linear score."""
        u = codes // max(n_nodes, 1)
        found: Matrix = slopes[:, codes - (u + 1) * (u + 2) // 2]
        return found

    def largest(self, n_nodes: int) -> float:
        """The largest value that a column can have."""
        return 1.0


@dataclass(frozen=True)
class DegreeFeatures(
    Serialisable, named="a description of features", keys=("name", ...), closed=True
):
    """Number of neighbours of every node.

    >>> DegreeFeatures().transform([Graph.from_edges(3, [(0, 2)])]).tolist()
    [[1.0, 0.0, 1.0]]
    """

    name: ClassVar[str] = "degrees"
    any_size: ClassVar[bool] = False

    def transform(self, graphs: Sequence[Graph]) -> Matrix:
        """Rows of length ``n``."""
        n = _one_size(graphs)
        if not graphs:
            return np.zeros((0, n))
        return np.stack([g.degrees() for g in graphs]).astype(np.float64)

    def pair_weights(self, slopes: Matrix, codes: Codes, n_nodes: int) -> Matrix:
        """What an edge at each code adds to each linear score."""
        u, v = np.divmod(codes, max(n_nodes, 1))
        found: Matrix = slopes[:, u] + slopes[:, v]
        return found

    def largest(self, n_nodes: int) -> float:
        """The largest value that a column can have."""
        return float(max(n_nodes - 1, 0))


@dataclass(frozen=True)
class SavedRegions(
    Serialisable, named="a description of features", keys=("name", ...), closed=True
):
    """The saved form of `RegionFeatures`: each node's region by its number."""

    name: ClassVar[str] = "regions"

    taxonomy: str
    regions: tuple[str, ...]
    index: tuple[int, ...]

    def __post_init__(self) -> None:
        if any(not 0 <= i < len(self.regions) for i in self.index):
            msg = f"a number in 'index' does not match any of the {len(self.regions)} regions"
            raise InvalidParameterError(msg)


@dataclass(frozen=True)
class RegionFeatures:
    """Density inside every region and between every two: edges over possible edges.

    Blocks follow the upper triangle of the region × region matrix, row by row; a block without a
    possible edge (a region of one node with itself) is left out.

    Attributes
    ----------
    taxonomy : the regions. Build with `from_nodes` from a node table.

    Examples
    --------
    >>> nodes = Nodes(("a", "b", "c"), regions={"lobe": ("Front", "Front", "Back")})
    >>> features = RegionFeatures.from_nodes(nodes)
    >>> features.blocks
    (('Front', 'Front'), ('Front', 'Back'))
    >>> features.transform([Graph.from_edges(3, [(0, 2)])]).tolist()
    [[0.0, 0.5]]
    """

    name: ClassVar[str] = "regions"
    any_size: ClassVar[bool] = False

    taxonomy: Taxonomy

    @classmethod
    def from_nodes(cls, nodes: Nodes, regions: str | None = None) -> RegionFeatures:
        """Features for a taxonomy of a node table; by default the first one."""
        return cls(nodes.taxonomy(regions))

    @cached_property
    def _cells(self) -> tuple[Cells, npt.NDArray[np.intp]]:
        """The cells, and the numbers of those with a column."""
        cells = Cells(self.taxonomy)
        return cells, np.flatnonzero(cells.sizes)

    @property
    def blocks(self) -> tuple[tuple[str, str], ...]:
        """The two regions of each column."""
        cells, columns = self._cells
        names = self.taxonomy.regions
        return tuple((names[a], names[b]) for a, b in cells.at(columns))

    def transform(self, graphs: Sequence[Graph]) -> Matrix:
        """Rows with one density per block."""
        n = _one_size(graphs)
        if graphs and n != len(self.taxonomy.index):
            msg = (
                f"The graphs have {n} nodes, but the regions of these features "
                f"({self.taxonomy.name!r}) are known for {len(self.taxonomy.index)} nodes."
            )
            raise InvalidGraphError(msg)
        cells, columns = self._cells
        out = np.empty((len(graphs), len(columns)))
        for row, graph in zip(out, graphs, strict=True):
            row[:] = cells.densities(graph)[columns]
        return out

    def pair_weights(self, slopes: Matrix, codes: Codes, n_nodes: int) -> Matrix:
        """What an edge at each code adds to each linear score."""
        cells, columns = self._cells
        by_cell = np.zeros((len(slopes), len(cells)))
        by_cell[:, columns] = slopes / cells.sizes[columns]
        found: Matrix = by_cell[:, cells.numbers(codes)]
        return found

    def largest(self, n_nodes: int) -> float:
        """The largest value that a column can have."""
        return 1.0

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary; `from_dict` reads it back."""
        regions = self.taxonomy
        return SavedRegions(regions.name, regions.regions, regions.index).to_dict()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RegionFeatures:
        """Inverse of `to_dict`."""
        found = SavedRegions.from_dict(data)
        return cls(Taxonomy(found.taxonomy, found.regions, found.index))


@dataclass(frozen=True)
class TypeFeatures(
    Serialisable, named="a description of features", keys=("name", ...), closed=True
):
    """Number of nodes of every type, then number of edges between every two types.

    The region features of graphs whose nodes have types of their own (`Graph.types`): graphs of
    different sizes give rows of the same length.

    Attributes
    ----------
    types : the types of the data set. Blocks follow the upper triangle of types × types.

    Examples
    --------
    >>> water = Graph.from_edges(3, [(0, 1), (1, 2)]).typed(NodeTypes(("H", "O"), (0, 1, 0)))
    >>> TypeFeatures(("H", "O")).transform([water]).tolist()
    [[2.0, 1.0, 0.0, 2.0, 0.0]]
    """

    name: ClassVar[str] = "types"
    any_size: ClassVar[bool] = True

    types: tuple[str, ...]

    def transform(self, graphs: Sequence[Graph]) -> Matrix:
        """Rows of counts: nodes by type, edges by pair of types."""
        k = len(self.types)
        upper = np.triu_indices(k)
        out = np.empty((len(graphs), k + len(upper[0])))
        for i, (row, graph) in enumerate(zip(out, graphs, strict=True)):
            own = graph.types
            if own is None or own.names != self.types:
                got = "none" if own is None else ", ".join(own.names)
                msg = (
                    f"This classifier was trained on graphs with the node types "
                    f"{', '.join(self.types)}; graph {i} has {got}."
                )
                raise InvalidGraphError(msg)
            row[:k] = np.bincount(own.index, minlength=k)
            row[k:] = own.count_edges(graph)[upper]
        return out

    def blank(self) -> Graph:
        """A graph without nodes that has these types."""
        return Graph.from_edges(0, []).typed(NodeTypes(self.types, ()))


FEATURES: dict[str, type[Any]] = {
    "spectral": SpectralFeatures,
    "edges": EdgeFeatures,
    "regions": RegionFeatures,
    "degrees": DegreeFeatures,
}


def make_features(
    features: str | Features,
    nodes: Nodes | None = None,
    *,
    regions: str | None = None,
    types: Sequence[str] = (),
) -> Features:
    """Features by name; other features are returned unchanged.

    Parameters
    ----------
    features : one of ``spectral``, ``edges``, ``regions``, ``degrees``, or an object with
        ``transform(graphs)``.
    nodes : the node table; required for ``regions``.
    regions : which taxonomy of the table, for ``regions`` only.
    types : the node types of a data set without a node table; ``regions`` are then these types.
    """
    if not isinstance(features, str):
        if not isinstance(features, Features):
            msg = (
                f"'features' must be a name ({', '.join(FEATURES)}) or an object with name, "
                f"any_size, transform and to_dict; got {type(features).__name__}."
            )
            raise InvalidParameterError(msg)
        return features
    if features not in FEATURES:
        raise UnknownNameError("features", features, FEATURES)
    if features == "regions":
        if types:
            check_name("taxonomy", regions or TYPE, (TYPE,), parameter="regions")
            return TypeFeatures(tuple(types))
        if nodes is None or not nodes.regions:
            msg = (
                "Region features need the region of each node, and this data set has none. "
                "Pass a node table with a region column (nodes=Nodes.read_csv('nodes.csv')), or "
                "use 'edges', 'spectral' or 'degrees'."
            )
            raise MissingInputError(msg, parameter="nodes")
        return RegionFeatures.from_nodes(nodes, regions)
    if regions is not None:
        msg = f"A taxonomy (regions={regions!r}) requires the features 'regions'; got {features!r}."
        raise InvalidParameterError(msg)
    made: Features = FEATURES[features]()
    return made


def features_from_dict(data: Mapping[str, Any]) -> Features:
    """Inverse of the features' `to_dict`."""
    name = data.get("name") if isinstance(data, Mapping) else None
    if not isinstance(name, str):
        must = "it must be a dictionary with a name"
        msg = f"Not a description of features: {must}; got {shown(data)}."
        raise FileFormatError(msg)
    known: dict[str, type[Any]] = {**FEATURES, TypeFeatures.name: TypeFeatures}
    if name not in known:
        raise UnknownNameError("features", name, known)
    made: Features = known[name].from_dict(data)
    return made


def _one_size(graphs: Sequence[Graph]) -> int:
    """The number of nodes that all graphs share (0 for no graphs)."""
    sizes = {g.n_nodes for g in graphs}
    if len(sizes) > 1:
        msg = (
            f"These features need graphs over the same nodes; got graphs with {min(sizes)} to "
            f"{max(sizes)} nodes."
        )
        raise InvalidGraphError(msg)
    return sizes.pop() if sizes else 0
