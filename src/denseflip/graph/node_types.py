"""`NodeTypes`: what the nodes and edges of one graph are, where nodes have no identity.

The atoms of two molecules cannot be matched one by one, but their elements can be compared. A graph
of such a data set carries the types of its own nodes, and the features that models of it use.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denseflip.checks import text_of
from denseflip.errors import InvalidGraphError, shown
from denseflip.graph.nodes import TYPE, Nodes
from denseflip.graph.pairs import Codes

if TYPE_CHECKING:
    from denseflip.graph.core import Graph

Rows = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NodeTypes:
    """The types of a graph's nodes, and the features of its nodes and edges.

    Attributes
    ----------
    names : the types that occur in the data set: ``("C", "N", "O")``.
    index : for each node, the position of its type in ``names``.
    features : one row of numbers per node; None if there are none.
    edges : sorted codes of the edges whose features are known.
    edge_features : one row per edge of ``edges``; None if edges have no features.
    new_edge : types × types × features: the features of an edge that is added between two types.

    Examples
    --------
    >>> water = NodeTypes(("H", "O"), (0, 1, 0))
    >>> water.nodes.names
    ('H 1', 'O 2', 'H 3')
    >>> from denseflip.graph import Graph
    >>> Graph.from_edges(3, [(0, 1), (1, 2)]).typed(water).types is water
    True
    """

    names: tuple[str, ...]
    index: Any
    features: Any = None
    edges: Any = ()
    edge_features: Any = None
    new_edge: Any = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "names", tuple(text_of(x) for x in self.names))
        if len(set(self.names)) < len(self.names) or "" in self.names:
            msg = f"The names of node types must be unique and not empty; got {shown(self.names)}."
            raise InvalidGraphError(msg)
        index = _array(self.index, np.int64, 1, "The types of the nodes")
        if len(index) and not 0 <= index.min() <= index.max() < len(self.names):
            msg = (
                f"The types of the nodes must be numbers from 0 to {len(self.names) - 1}, the "
                f"positions of their names; got {index.min()} to {index.max()}."
            )
            raise InvalidGraphError(msg)
        put(self, "index", index)
        put(self, "edges", _array(self.edges, np.int64, 1, "The edges with features"))
        sizes = {"features": (2, len(index)), "edge_features": (2, len(self.edges))}
        for name, (ndim, n_rows) in {**sizes, "new_edge": (3, len(self.names))}.items():
            given = getattr(self, name)
            if given is None:
                continue
            rows = _array(given, np.float32, ndim, name)
            if len(rows) != n_rows:
                msg = f"{name} must have {n_rows} rows; got {len(rows)}."
                raise InvalidGraphError(msg)
            put(self, name, rows)
        if (self.edge_features is None) != (self.new_edge is None):
            msg = "edge_features and new_edge belong together: give both, or neither."
            raise InvalidGraphError(msg)

    def check_fits(self, n_nodes: int) -> NodeTypes:
        """Return these types, or raise if a graph has another number of nodes."""
        if len(self.index) != n_nodes:
            msg = f"The graph has {n_nodes} nodes, but the types of {len(self.index)} were given."
            raise InvalidGraphError(msg)
        return self

    @cached_property
    def key(self) -> int:
        """A 128-bit hash of the content."""
        h = hashlib.sha256("\n".join(self.names).encode())
        for part in (self.index, self.features, self.edges, self.edge_features, self.new_edge):
            shape = () if part is None else part.shape
            h.update(f"|{shape}|".encode())
            h.update(b"" if part is None else part.astype(part.dtype.newbyteorder("<")).tobytes())
        return int.from_bytes(h.digest()[:16], "little")

    @cached_property
    def nodes(self) -> Nodes:
        """The node table of this graph: its nodes by type and number, and one taxonomy, `TYPE`."""
        types = [self.names[i] for i in self.index.tolist()]
        names = tuple(f"{name} {i}" for i, name in enumerate(types, 1))
        return Nodes(names, {TYPE: tuple(types)})

    @property
    def one_hot(self) -> Rows:
        """One row per node, with a 1 in the column of its type."""
        rows: Rows = np.eye(len(self.names), dtype=np.float32)[self.index]
        return rows

    def rows_of_edges(self, graph: Graph) -> Rows:
        """The features of a graph's edges, in the order of its codes.

        Edges that the original does not have get the features in ``new_edge``.
        """
        if self.new_edge is None:
            msg = "The edges of this graph have no features (no edge labels or edge attributes)."
            raise InvalidGraphError(msg)
        ends = self.index[graph.pairs]
        rows: Rows = self.new_edge[ends[:, 0], ends[:, 1]].copy()
        if len(self.edges):
            at = np.minimum(np.searchsorted(self.edges, graph.codes), len(self.edges) - 1)
            known = self.edges[at] == graph.codes
            rows[known] = self.edge_features[at[known]]
        return rows

    def count_edges(self, graph: Graph) -> Ints:
        """How many edges of a graph join each two types: a symmetric array, types × types."""
        k = len(self.names)
        a, b = np.sort(self.index[graph.pairs], axis=1).T
        upper = np.bincount(a * k + b, minlength=k * k).reshape(k, k)
        return np.asarray(np.triu(upper) + np.triu(upper, 1).T, dtype=np.int64)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form."""
        out: dict[str, Any] = {"names": list(self.names), "index": self.index.tolist()}
        if self.features is not None:
            out["features"] = self.features.tolist()
        if self.edge_features is not None:
            out["edges"] = self.edges.tolist()
            out["edge_features"] = self.edge_features.tolist()
            out["new_edge"] = self.new_edge.tolist()
        return out

    @classmethod
    def from_dict(cls, data: Any) -> NodeTypes:
        """Inverse of `to_dict`."""
        known = ("names", "index", "features", "edges", "edge_features", "new_edge")
        if not isinstance(data, Mapping) or not {"names", "index"} <= set(data) <= set(known):
            msg = f"The types of a graph need 'names' and 'index'; got {shown(data)}."
            raise InvalidGraphError(msg)
        return cls(**{key: data[key] for key in known if key in data})


def _array(values: Any, dtype: Any, ndim: int, what: str) -> Codes | Rows:
    """A read-only array of finite numbers."""
    try:
        array = np.array(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        msg = f"{what} must be numbers; got {shown(values)}."
        raise InvalidGraphError(msg) from error
    if array.ndim != ndim or not np.isfinite(array).all():
        msg = f"{what} must be an array of {ndim} dimensions with finite numbers."
        raise InvalidGraphError(msg)
    array.flags.writeable = False
    found: Codes | Rows = array
    return found
