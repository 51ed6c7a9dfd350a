"""`Graph`: an immutable graph over a fixed node set.

See also `pairs`, `edits`, `convert`, `density` (counting kernels), `nodes` and `node_types`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from denseflip.errors import InvalidGraphError
from denseflip.graph.pairs import (
    Codes,
    Pair,
    are_among,
    check_n_nodes,
    count_shared,
    decode,
    encode_pairs,
    key_of,
    odd_ones,
    read_only,
    sealed,
    toggled,
)

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp

    from denseflip.graph.node_types import NodeTypes

Names = tuple[Any, ...] | None
X = npt.NDArray[Any] | None
_GIVEN = ("_n", "_names", "_types", "_x", "_root", "_line", "_far")
_ON_DEMAND = ("_codes", "_pairs", "_key", "_digest", "_fresh", "_difference")
_SIBLINGS = 32  # up to this many flips are compared as sets
_NEAR = 1024  # a copy may always have this many flips relative to its root
_NOTHING: Codes = sealed(np.empty(0, dtype=np.int64))


class Graph:
    """An immutable, undirected, simple graph over the fixed nodes ``0 .. n_nodes - 1``.

    It is stored as one sorted array of pair codes ``u * n_nodes + v`` with ``u < v``, so memory
    grows with the number of edges. A changed copy is lazy: it stores its parent and the flipped
    pairs, and computes the array on first use. Graphs with equal content are equal and have equal
    hashes.

    Build one with `from_edges` or another ``from_`` constructor; they check their input.

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

    # A root has its codes from the start. A copy has a parent and the pairs flipped since, and the
    # root at the end of that line. Slots that are empty are filled when somebody asks, by any
    # thread: what belongs together is one slot, and a root is never exchanged for another.
    __slots__ = ("__weakref__", *_GIVEN, *_ON_DEMAND)

    _n: int
    _names: Names  # of a root; its copies have the same
    _types: NodeTypes | None  # likewise
    _x: X  # likewise
    _codes: Codes
    _root: Graph
    _line: tuple[Graph, tuple[int, ...] | Codes] | None  # the parent, and what was flipped since
    _far: int  # how many flips lie between this graph and its root, repeats counted
    _fresh: Graph  # the same graph as a root of its own, for copies of a graph that has got far
    _difference: Codes
    _key: int | None  # None until needed: an empty slot would cost more than the rest of a query
    _digest: bytes
    _pairs: Codes

    def __init__(
        self, n_nodes: int, codes: Codes, names: Names = None, types: NodeTypes | None = None
    ) -> None:
        """Wrap sorted, unique, valid codes. Internal: use the ``from_`` constructors."""
        _set_n(self, n_nodes)
        _set_names(self, names)
        _set_types(self, types)
        _set_x(self, None)
        _set_codes(self, sealed(codes))
        _set_root(self, self)
        _set_line(self, None)
        _set_key(self, None)
        _set_far(self, 0)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"Graph is immutable; cannot set {name!r}. Use toggle() to get a changed copy."
        raise AttributeError(msg)

    # ---- constructors -------------------------------------------------------------------

    @classmethod
    def from_edges(
        cls, n_nodes: int, edges: Iterable[Iterable[int]], *, source: str = "edges"
    ) -> Self:
        """Build a graph from node pairs; the order within a pair does not matter.

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
        """Build a graph from a SciPy sparse adjacency matrix without making it dense."""
        from denseflip.graph import convert

        n, codes = convert.codes_from_sparse(matrix, source)
        return cls(n, codes)

    @classmethod
    def from_networkx(
        cls,
        graph: nx.Graph,
        *,
        order: Iterable[Any] | None = None,
        weight: str | None = "weight",
        threshold: float | None = None,
        source: str = "networkx graph",
    ) -> Self:
        """Build a graph from a networkx graph and keep its node names (`names`).

        Parameters
        ----------
        graph : an undirected, simple graph.
        order : the nodes in the order of their numbers; by default ``0..n-1`` if the nodes are
            these numbers, else the order of the graph.
        weight : the edge attribute with the weights. Weights other than 0 and 1 need a threshold,
            as for an array. None takes every listed edge.
        threshold : edges with a weight at or above it are kept.
        source : the name used in error messages.

        Examples
        --------
        >>> import networkx as nx
        >>> g = Graph.from_networkx(nx.Graph([("TP53", "MDM2"), ("MDM2", "MDM4")]))
        >>> g.names, g.edges()
        (('TP53', 'MDM2', 'MDM4'), [(0, 1), (1, 2)])
        """
        from denseflip.graph import convert

        nodes, codes = convert.codes_from_networkx(graph, order, weight, threshold, source)
        return cls(len(nodes), codes, convert.names_of(nodes))

    # ---- size and content ---------------------------------------------------------------

    @property
    def n_nodes(self) -> int:
        """Number of nodes, isolated ones included."""
        return self._n

    @property
    def names(self) -> Names:
        """The original names of the nodes, if they are not 0, 1, 2 …; copies keep them."""
        return self._root._names

    def named(self, names: Iterable[Any] | None) -> Graph:
        """The same graph with these distinct names; None for no names."""
        from denseflip.graph import convert

        given = None if names is None else convert.check_names(names, self._n)
        other = given != self.names
        return Graph(self._n, self.codes, given, self.types).with_x(self.x) if other else self

    @property
    def types(self) -> NodeTypes | None:
        """The types and features of the nodes, where nodes have no identity; copies keep them."""
        return self._root._types

    def typed(self, types: NodeTypes) -> Graph:
        """The same graph with types for its nodes; two graphs of other types are not equal."""
        return Graph(self._n, self.codes, self.names, types.check_fits(self._n)).with_x(self.x)

    @property
    def x(self) -> X:
        """Node features of the PyG ``Data`` that it was made from; equality ignores them."""
        return self._root._x

    def with_x(self, x: X) -> Graph:
        """The same graph with node features, one row per node; None for none."""
        copy = Graph(self._n, self.codes, self.names, self.types)
        _set_x(copy, x if x is None else read_only(x))
        return copy

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        try:
            return len(self._codes)
        except AttributeError:
            differ, before = self._since_root(), self._root._codes
            gone = int(are_among(differ, before).sum())
            return len(before) + len(differ) - 2 * gone

    @property
    def n_pairs(self) -> int:
        """Number of node pairs, joined or not."""
        return self._n * (self._n - 1) // 2

    @property
    def codes(self) -> Codes:
        """Sorted, read-only array of pair codes ``u * n_nodes + v``, ``u < v``."""
        try:
            return self._codes
        except AttributeError:
            codes = sealed(toggled(self._root.codes, self._since_root()))
            _set_codes(self, codes)
            return codes

    @property
    def pairs(self) -> Codes:
        """Read-only array of shape (n_edges, 2) with ``u < v`` in each row, sorted."""
        try:
            return self._pairs
        except AttributeError:
            both = np.stack(np.divmod(self.codes, max(self._n, 1)), axis=1)
            pairs = sealed(both.ravel()).reshape(-1, 2)
            _set_pairs(self, pairs)
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
        root = self._root
        joined = bool(are_among(code, root._codes))
        return joined if root is self else joined != bool(are_among(code, self._since_root()))

    def degrees(self) -> Codes:
        """Number of neighbours of every node."""
        return np.bincount(self.pairs.ravel(), minlength=self._n).astype(np.int64)

    @property
    def key(self) -> int:
        """A 128-bit hash of the content; may change between versions of denseflip.

        It combines one word per edge by exclusive or, so the key of a copy costs O(flips). For
        files and ids use `digest`, which never changes.
        """
        known = self._key
        if known is not None:
            return known
        key, line = 0, self._line
        while line is not None:  # up to a graph with a known key, or to the root
            parent, flipped = line
            key ^= key_of(flipped)
            known = parent._key
            if known is not None:
                key ^= known
                break
            line = parent._line
        else:
            key ^= key_of(self._root._codes) ^ key_of((self._n,), salt=1)
            key ^= 0 if self.types is None else self.types.key
        _set_key(self, key)
        return key

    @property
    def digest(self) -> bytes:
        """A 16-byte hash of the content: equal graphs have equal digests on any machine."""
        try:
            return self._digest
        except AttributeError:
            content = self.codes.astype("<i8", copy=False).tobytes()
            content += b"" if self.types is None else self.types.key.to_bytes(16, "little")
            digest = hashlib.sha256(self._n.to_bytes(8, "little") + content).digest()[:16]
            _set_digest(self, digest)
            return digest

    # ---- change -------------------------------------------------------------------------

    def toggle(self, pairs: Iterable[Iterable[int]]) -> Graph:
        """Return the graph with each of these pairs flipped: removed if present, else added."""
        return self.toggle_codes(encode_pairs(pairs, self._n, source="pairs to toggle"))

    def toggle_codes(self, codes: tuple[int, ...] | Codes) -> Graph:
        """`toggle` for pairs already encoded (valid, unique, in any order). O(len(codes))."""
        if not len(codes):
            return self
        # Copy: later changes of the caller's array must not change this graph.
        codes = sealed(codes) if isinstance(codes, np.ndarray) else tuple(codes)
        parent: Graph = self
        if parent._far > _NEAR and parent._far > 2 * len(parent._root._codes):
            parent = parent._as_root()
        copy = _new(Graph)
        _set_n(copy, parent._n)
        _set_root(copy, parent._root)
        _set_line(copy, (parent, codes))
        _set_far(copy, parent._far + len(codes))
        _set_key(copy, None)
        return copy

    @property
    def root(self) -> Graph:
        """The graph that this one is a near copy of; itself if it is not a copy."""
        return self._root

    def difference(self, other: Graph) -> Codes:
        """Sorted codes of the pairs on which the two graphs differ.

        O(differences) if one is a near copy of the other, as in a search, else O(n_edges).
        """
        other = self.check_same_nodes(other)
        if self._root is other._root:
            if other._root is other:
                return self._since_root()
            return toggled(self._since_root(), other._since_root())
        return toggled(self.codes, other.codes)

    def flips_from(self, other: Graph) -> tuple[int, ...] | Codes | None:
        """Codes by which this graph differs from a near relative; None if it is not one.

        Like `difference` but unsorted, and faster for a parent, a child or a sibling.
        """
        if other._root is not self._root:
            return None
        if self is other:
            return ()
        mine, others = self._line, other._line
        if mine is not None and mine[0] is other:
            return mine[1]
        if others is not None and others[0] is self:
            return others[1]
        if mine is None or others is None:
            return toggled(self._since_root(), other._since_root())
        if mine[0] is others[0] and len(mine[1]) + len(others[1]) <= _SIBLINGS:
            return tuple(set(mine[1]) ^ set(others[1]))
        return toggled(self._since_root(), other._since_root())

    def _since_root(self) -> Codes:
        """Sorted codes of the pairs flipped between the root and this graph."""
        try:
            return self._difference
        except AttributeError:
            pass
        flips: list[tuple[int, ...] | Codes] = []
        known, line = _NOTHING, self._line
        while line is not None:
            parent, flipped = line
            flips.append(flipped)
            try:
                known = parent._difference
                break
            except AttributeError:
                line = parent._line
        if len(flips) > 1:
            flipped = odd_ones(np.concatenate([np.asarray(f, dtype=np.int64) for f in flips]))
        else:
            flipped = np.asarray(flips[0] if flips else (), dtype=np.int64)
        known = sealed(toggled(known, flipped))
        _set_difference(self, known)
        # Now the root serves as parent, so the graphs in between can be freed.
        if self._line is not None:
            _set_key(self, self.key)  # as long as it costs one step
            _set_line(self, (self._root, known))
        return known

    def _as_root(self) -> Graph:
        """The same graph as a new root, for a graph with more flips than edges."""
        try:
            return self._fresh
        except AttributeError:
            fresh = self.with_x(self.x)
            _set_key(fresh, self.key)
            _set_fresh(self, fresh)
            return fresh

    def __xor__(self, other: Graph) -> list[Pair]:
        """Pairs on which the two graphs differ, sorted."""
        return decode(self.difference(other), self._n)

    def distance(self, other: Graph) -> int:
        """Number of pairs on which the two graphs differ, ``|E △ E'|``."""
        if self._root is self.check_same_nodes(other)._root:
            return len(self.difference(other))
        return self.n_edges + other.n_edges - 2 * count_shared(self.codes, other.codes)

    def relative_distance(self, other: Graph) -> float:
        """`distance` over ``|E ∪ E'|``; 0 if both graphs are empty."""
        d = self.distance(other)
        return d / union if (union := (self.n_edges + other.n_edges + d) // 2) else 0.0

    def check_same_nodes(self, other: Graph) -> Graph:
        """Return ``other``, or raise if it has a different number of nodes."""
        if other._n != self._n:
            msg = f"The graphs have different node sets: {self._n} and {other._n} nodes."
            raise InvalidGraphError(msg)
        return other

    # ---- forms --------------------------------------------------------------------------

    def to_adjacency(self, dtype: npt.DTypeLike = np.float64) -> npt.NDArray[Any]:
        """Dense symmetric 0/1 matrix of shape (n, n), a new copy each time."""
        from denseflip.graph import convert

        return convert.to_adjacency(self, dtype)

    def to_sparse(self) -> sp.csr_array:
        """SciPy CSR array of shape (n, n) with ones at both ends of every edge."""
        from denseflip.graph import convert

        return convert.to_sparse(self)

    def to_networkx(self) -> nx.Graph:
        """A networkx graph over the nodes' `names`, or over ``0 .. n - 1`` without names."""
        from denseflip.graph import convert

        return convert.to_networkx(self)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: ``{"n_nodes": n, "edges": [[u, v], …]}``, and plain names."""
        from denseflip.graph import convert

        return convert.to_dict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Inverse of `to_dict`, with the checks of `from_edges`."""
        from denseflip.graph import convert

        return cls(*convert.parts_of(data))

    # ---- identity -----------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        # Equal content implies equal keys; the codes are compared too, since keys are only hashes.
        if self is other or self.key != other.key or self._n != other._n:
            return self is other
        return not len(self.difference(other))

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Graph(n_nodes={self._n}, n_edges={self.n_edges})"

    def _repr_html_(self) -> str:
        from denseflip.graph import convert

        return convert.to_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        plain = (type(self), (self._n, self.codes.copy(), self.names, self.types))
        return plain if self.x is None else (Graph.with_x, (self.with_x(None), self.x))


_new = object.__new__


def _setters(*slots: str) -> Any:
    """Setters that bypass `__setattr__`, which makes the graph immutable."""
    return (Graph.__dict__[slot].__set__ for slot in slots)


_set_n, _set_names, _set_types, _set_x, _set_root, _set_line, _set_far = _setters(*_GIVEN)
_set_codes, _set_pairs, _set_key, _set_digest, _set_fresh, _set_difference = _setters(*_ON_DEMAND)
