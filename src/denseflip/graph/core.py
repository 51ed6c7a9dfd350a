"""`Graph`: the value everything else is made of.

Pair codes live in `pairs`, changes in `edits`, conversions from and to other libraries' forms in
`convert`, counting kernels in `density`, what is known about the nodes in `nodes`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidGraphError
from denseflip.graph.pairs import (
    Codes,
    Pair,
    check_n_nodes,
    count_shared,
    decode,
    encode_pairs,
    toggled,
)

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp

_LITTLE_ENDIAN = np.dtype("<i8")


class Graph:
    """An immutable, undirected, simple graph over the fixed nodes ``0 .. n_nodes - 1``.

    It is stored as one sorted array of pair codes ``u * n_nodes + v`` with ``u < v``, so memory
    grows with the number of edges. Equal content means equal graphs and equal hashes.

    Build one with `from_edges`, `from_adjacency`, `from_sparse` or `from_networkx`; all of them
    check their input and say what is wrong with it.

    Examples
    --------
    >>> g = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2)])
    >>> g
    Graph(n_nodes=4, n_edges=3)
    >>> g.toggle([(0, 1), (2, 3)]).edges()
    [(0, 2), (1, 2), (2, 3)]
    >>> g.toggle([(0, 1)]).toggle([(0, 1)]) == g
    True
    """

    # No __slots__: cached_property needs a __dict__, and the cached forms are worth it.
    _n: int
    _codes: Codes

    def __init__(self, n_nodes: int, codes: Codes) -> None:
        """Take over sorted, unique, valid codes. Internal: use the ``from_`` constructors."""
        codes.setflags(write=False)
        self.__dict__.update(_n=n_nodes, _codes=codes)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"Graph is immutable; cannot set {name!r}. Use toggle() to get a changed copy."
        raise AttributeError(msg)

    # ---- constructors -------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls, n_nodes: int, edges: Iterable[Iterable[int]], *, source: str = "edges"
    ) -> Self:
        """Build a graph from node pairs; order inside a pair does not matter.

        Raises
        ------
        InvalidGraphError
            For a self-loop, a duplicate pair, or a node outside ``0 .. n_nodes - 1``.
        """
        n = check_n_nodes(n_nodes, source)
        return cls(n, np.sort(encode_pairs(edges, n, source=source)))

    @classmethod
    def from_adjacency(
        cls, matrix: npt.ArrayLike, *, threshold: float | None = None, source: str = "matrix"
    ) -> Self:
        """Build a graph from a square, symmetric matrix.

        Parameters
        ----------
        matrix : array of shape (n, n). Without ``threshold`` it must hold only 0 and 1 and an
            empty diagonal.
        threshold : if given, pairs with a value at or above it become edges; the diagonal is
            then ignored (a correlation matrix has ones there).
        source : the name used in error messages, for example a file name.
        """
        from denseflip.graph import convert

        n, codes = convert.codes_from_adjacency(matrix, threshold, source)
        return cls(n, codes)

    @classmethod
    def from_sparse(cls, matrix: sp.sparray | sp.spmatrix, *, source: str = "matrix") -> Self:
        """Build a graph from a SciPy sparse adjacency matrix, never making it dense."""
        from denseflip.graph import convert

        n, codes = convert.codes_from_sparse(matrix, source)
        return cls(n, codes)

    @classmethod
    def from_networkx(
        cls, graph: nx.Graph, *, order: Iterable[Any] | None = None, source: str = "networkx graph"
    ) -> Self:
        """Build a graph from a networkx graph.

        Nodes are numbered in ``order``; without it, integer nodes ``0..n-1`` keep their number and
        any other nodes are numbered in the graph's own order.
        """
        from denseflip.graph import convert

        n, codes = convert.codes_from_networkx(graph, order, source)
        return cls(n, codes)

    # ---- size and content ---------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes, isolated ones included."""
        return self._n

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return len(self._codes)

    @property
    def n_pairs(self) -> int:
        """Number of node pairs, joined or not."""
        return self._n * (self._n - 1) // 2

    @property
    def codes(self) -> Codes:
        """Sorted, read-only array of pair codes ``u * n_nodes + v``, ``u < v``."""
        return self._codes

    @cached_property
    def pairs(self) -> Codes:
        """Read-only array of shape (n_edges, 2) with ``u < v`` in each row, sorted."""
        pairs = np.stack(np.divmod(self._codes, max(self._n, 1)), axis=1)
        pairs.flags.writeable = False
        return pairs

    def edges(self) -> list[Pair]:
        """The edges as a sorted list of ``(u, v)`` with ``u < v``."""
        return [(int(u), int(v)) for u, v in self.pairs.tolist()]

    def has_edge(self, u: int, v: int) -> bool:
        """Whether ``u`` and ``v`` are joined; False for nodes that do not exist."""
        u, v = (u, v) if u < v else (v, u)
        if u < 0 or v >= self._n:
            return False
        code = u * self._n + v
        at = int(np.searchsorted(self._codes, code))
        return at < len(self._codes) and int(self._codes[at]) == code

    def degrees(self) -> Codes:
        """Number of neighbours of every node."""
        return np.bincount(self.pairs.ravel(), minlength=self._n).astype(np.int64)

    @property
    def digest(self) -> bytes:
        """16 bytes that stand for the content: equal graphs, equal digests, on any machine."""
        # Kept by hand: the lock in `cached_property` costs as much as the rest of a question.
        digest: bytes | None = self.__dict__.get("_digest")
        if digest is None:
            content = self._codes.astype(_LITTLE_ENDIAN, copy=False).tobytes()
            digest = hashlib.sha256(self._n.to_bytes(8, "little") + content).digest()[:16]
            self.__dict__["_digest"] = digest
        return digest

    # ---- change -------------------------------------------------------------------------

    def toggle(self, pairs: Iterable[Iterable[int]]) -> Graph:
        """Return the graph with each of these pairs flipped: removed if present, else added."""
        return self.toggle_codes(encode_pairs(pairs, self._n, source="pairs to toggle"))

    def toggle_codes(self, codes: Codes) -> Graph:
        """`toggle` for pairs already encoded (unique, in any order). O(n_edges)."""
        return Graph(self._n, toggled(self._codes, codes)) if len(codes) else self

    def __xor__(self, other: Graph) -> list[Pair]:
        """Pairs on which the two graphs differ, sorted."""
        return decode(np.setxor1d(self._codes, self.check_same_nodes(other)._codes, True), self._n)

    def distance(self, other: Graph) -> int:
        """Number of pairs on which the two graphs differ, ``|E △ E'|``."""
        shared = count_shared(self._codes, self.check_same_nodes(other)._codes)
        return self.n_edges + other.n_edges - 2 * shared

    def relative_distance(self, other: Graph) -> float:
        """`distance` over ``|E ∪ E'|``; 0 if both graphs are empty."""
        d = self.distance(other)
        union = (self.n_edges + other.n_edges + d) // 2
        return d / union if union else 0.0

    def check_same_nodes(self, other: Graph) -> Graph:
        """Return ``other``, or say that it has another number of nodes."""
        if other._n != self._n:
            msg = f"The graphs have different node sets: {self._n} and {other._n} nodes."
            raise InvalidGraphError(msg)
        return other

    # ---- forms --------------------------------------------------------------------------

    def to_adjacency(self, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """Dense symmetric 0/1 matrix of shape (n, n), a fresh copy each time."""
        n, codes = self._n, self._codes
        out = np.zeros(n * n, dtype=dtype)
        out[codes] = 1  # a code u * n + v is the flat position of (u, v) …
        out[codes * n - codes // max(n, 1) * (n * n - 1)] = 1  # … and this is v * n + u
        return out.reshape(n, n)

    def to_sparse(self) -> sp.csr_array:
        """SciPy CSR array of shape (n, n) with ones at both ends of every edge."""
        from denseflip.graph import convert

        return convert.to_sparse(self)

    def to_networkx(self) -> nx.Graph:
        """A networkx graph over the nodes ``0 .. n - 1``."""
        from denseflip.graph import convert

        return convert.to_networkx(self)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON-ready form: ``{"n_nodes": n, "edges": [[u, v], …]}``."""
        return {"n_nodes": self._n, "edges": self.pairs.tolist()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Inverse of `to_dict`, with the checks of `from_edges`."""
        try:
            n, edges = data["n_nodes"], data["edges"]
        except (KeyError, TypeError) as error:
            msg = f"A graph's dictionary needs the keys 'n_nodes' and 'edges'; got {data!r:.80}."
            raise InvalidGraphError(msg) from error
        return cls.from_edges(n, edges, source="dictionary")

    # ---- identity -----------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self._n == other._n and np.array_equal(self._codes, other._codes)

    def __hash__(self) -> int:
        return int.from_bytes(self.digest[:8], "little", signed=True)

    def __repr__(self) -> str:
        return f"Graph(n_nodes={self._n}, n_edges={self.n_edges})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self._n, self._codes.copy()))
