"""Dense structures other than cliques: how to find one at a node, and how to complete one.

A *structure* is a frozen dataclass. Its fields are the parameters, ``find`` returns the structure
at a node, ``fill`` the pairs to add so that nodes become one. A class and a line in `STRUCTURES`
give a sparsifier, a densifier and a method of that name, and their tests. Definitions and sources
are in docs/methods.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Protocol

from denseflip.errors import InvalidParameterError, check_choice, counted, whole_number
from denseflip.graph import Pair
from denseflip.graph.cliques import Neighbours
from denseflip.graph.communities import communities, has_igraph
from denseflip.graph.peel import core_at, densest, truss_at
from denseflip.graph.relaxed_cliques import (
    Dense,
    join_at_least,
    lack_no_more,
    largest_club,
    largest_lacking,
    plex_need,
    quasi_need,
    star,
)
from denseflip.search.core.problem import Problem


class RemainingGraph:
    """The edges of the original that were not removed yet.

    Attributes
    ----------
    near : for each node, the nodes it is still joined with.
    nodes : all nodes.
    problem : what is explained.
    seed : drawn once for each search, for structures that are found at random.
    """

    def __init__(self, near: Neighbours, nodes: Iterable[int], problem: Problem, seed: int) -> None:
        self.near = near
        self.nodes = nodes
        self.problem = problem
        self.seed = seed


class Structure(Protocol):
    """A kind of dense structure. It must be hashable: a frozen dataclass is."""

    @property
    def name(self) -> str:
        """The name, one word."""
        ...

    def __hash__(self) -> int: ...

    def find(self, left: RemainingGraph, node: int) -> Dense | None:
        """The structure at a node, or None to skip the node."""
        ...

    def fill(self, nodes: Sequence[int], near: Neighbours, level: float) -> list[Pair]:
        """The missing pairs that make these nodes such a structure, of about this level."""
        ...


@dataclass(frozen=True)
class Plex:
    """The largest k-plex at a node: each member is joined with all but k - 1 others.

    Exact by branch and bound among the nodes within two steps. If that takes more than
    ``max_branches``, the largest found so far, with a note.

    Parameters
    ----------
    k : number of members that a member may not be joined with, itself included; 1 is a clique.
    max_branches : bound of the search at one node.
    """

    name: ClassVar[str] = "plex"
    visits: ClassVar[int] = 0
    k: int = 2
    max_branches: int = 1000

    def __post_init__(self) -> None:
        whole_number("k", self.k, minimum=1)
        whole_number("max_branches", self.max_branches, minimum=1)

    def find(self, left: RemainingGraph, node: int) -> Dense | None:
        """One of the largest k-plexes through the node."""
        return _largest(self, left, node, largest_lacking, plex_need(self.k), "plex")

    def fill(self, nodes: Sequence[int], near: Neighbours, level: float) -> list[Pair]:
        """Leave each node k - 1 missing pairs."""
        return lack_no_more(nodes, near, self.k - 1)


@dataclass(frozen=True)
class Quasi:
    """The largest γ-quasi-clique at a node: each member is joined with γ of the others.

    γ is at least one half, so any two members are joined or have a neighbour in common, and the
    search stays within two steps. Exact up to ``max_branches``, as for `Plex`.

    Parameters
    ----------
    gamma : the share, from 0.5 to 1; 1 is a clique.
    max_branches : bound of the search at one node.
    """

    name: ClassVar[str] = "quasi"
    visits: ClassVar[int] = 0
    gamma: float = 0.8
    max_branches: int = 1000

    def __post_init__(self) -> None:
        _share("gamma", self.gamma, 0.5)
        whole_number("max_branches", self.max_branches, minimum=1)

    def find(self, left: RemainingGraph, node: int) -> Dense | None:
        """One of the largest γ-quasi-cliques through the node."""
        return _largest(self, left, node, largest_lacking, quasi_need(self.gamma), "quasi-clique")

    def fill(self, nodes: Sequence[int], near: Neighbours, level: float) -> list[Pair]:
        """Leave each node the share 1 - γ of missing pairs."""
        size = len(nodes)
        return lack_no_more(nodes, near, size - 1 - quasi_need(self.gamma)(size))


@dataclass(frozen=True)
class Core:
    """The innermost core of a node: each member is joined with at least k of the others.

    The connected component of the core that contains the node. Exact, in linear time.

    Parameters
    ----------
    k : the order; None for the highest order that contains the node. With a k, nodes outside the
        k-core are skipped.
    """

    name: ClassVar[str] = "core"
    visits: ClassVar[int] = 1
    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None:
            whole_number("k", self.k, minimum=1)

    def find(self, left: RemainingGraph, node: int) -> Dense | None:
        """The k-core that contains the node."""
        return core_at(node, left.nodes, left.near, self.k)

    def fill(self, nodes: Sequence[int], near: Neighbours, level: float) -> list[Pair]:
        """Join each node with k of the others: a core of the order that was removed."""
        return join_at_least(nodes, near, self.least_degree(len(nodes), level))

    def least_degree(self, size: int, level: float) -> int:
        """The number of others that each of ``size`` nodes is joined with."""
        return self.k or round(level)


@dataclass(frozen=True)
class Truss:
    """The innermost truss of a node: each edge closes at least k - 2 triangles inside.

    The k-truss community: all edges connected to the node's edges through triangles. Exact, in time
    linear in the number of triangles.

    Parameters
    ----------
    k : the order, at least 3; None for the highest order that contains the node (2, a single edge,
        if it is in no triangle). With a k, nodes outside the k-truss are skipped.
    """

    name: ClassVar[str] = "truss"
    visits: ClassVar[int] = 4
    k: int | None = None

    def __post_init__(self) -> None:
        if self.k is not None:
            whole_number("k", self.k, minimum=3)

    def find(self, left: RemainingGraph, node: int) -> Dense | None:
        """The k-truss community of the node."""
        check = left.problem.check_time
        return truss_at(node, left.nodes, left.near, self.k, check=check)

    def fill(self, nodes: Sequence[int], near: Neighbours, level: float) -> list[Pair]:
        """Add pairs until any two nodes have k - 2 neighbours in common."""
        return lack_no_more(nodes, near, max(0, len(nodes) - (self.k or round(level))) // 2)


@dataclass(frozen=True)
class Club:
    """The largest k-club at a node: any two members are at most k steps apart inside it.

    Exact by branch and bound among the nodes within k steps, up to ``max_branches`` as for `Plex`.

    Parameters
    ----------
    k : the largest diameter, at least 2.
    max_branches : bound of the search at one node.
    """

    name: ClassVar[str] = "club"
    visits: ClassVar[int] = 0
    k: int = 2
    max_branches: int = 100

    def __post_init__(self) -> None:
        whole_number("k", self.k, minimum=2)
        whole_number("max_branches", self.max_branches, minimum=1)

    def find(self, left: RemainingGraph, node: int) -> Dense | None:
        """One of the largest k-clubs through the node."""
        return _largest(self, left, node, largest_club, self.k, "club")

    def fill(self, nodes: Sequence[int], near: Neighbours, level: float) -> list[Pair]:
        """Join one node with all the others: the cheapest club."""
        return star(nodes, near)


@dataclass(frozen=True)
class Densest:
    """The densest subgraph: no other set of nodes has more edges per node.

    Of the whole graph, whatever the node; if there are several, their union. Exact by minimum cuts
    as long as 2 × nodes × edges is below 2³¹; beyond that by peeling, with at least half of the
    largest density and a note.
    """

    name: ClassVar[str] = "densest"
    visits: ClassVar[int] = 4

    def find(self, left: RemainingGraph, node: int) -> Dense | None:
        """The densest part of the remaining graph."""
        found = densest(left.nodes, left.near)
        if found is not None and not found.exact:
            left.problem.note(
                "The graph is too large for the exact densest subgraph; the one used was found by "
                "peeling and has at least half of the largest density."
            )
        return found

    def fill(self, nodes: Sequence[int], near: Neighbours, level: float) -> list[Pair]:
        """Add pairs until there are as many edges per node as in the removed structure."""
        return join_at_least(nodes, near, self.least_degree(len(nodes), level))

    def least_degree(self, size: int, level: float) -> int:
        """The number of others that each of ``size`` nodes is joined with."""
        return math.ceil(2 * Fraction(level).limit_denominator(10**6))


@dataclass(frozen=True)
class Community:
    """The community of a node: nodes with more edges among them than degrees would give.

    By modularity, over the whole remaining graph: Louvain or Leiden. If at most 7 nodes have edges,
    every partition is tried.

    Parameters
    ----------
    by : ``"louvain"``, ``"leiden"`` (needs igraph), or ``"auto"``: Leiden if igraph is installed.
    resolution : above 1 for more and smaller communities, below 1 for fewer.
    """

    name: ClassVar[str] = "community"
    visits: ClassVar[int] = 30
    by: str = "louvain"
    resolution: float = 1.0

    def __post_init__(self) -> None:
        check_choice("by", self.by, ("louvain", "leiden", "auto"))
        _share("resolution", self.resolution, 0, math.inf)

    def find(self, left: RemainingGraph, node: int) -> Dense | None:
        """The community that the node belongs to."""
        near = left.near
        if not near[node]:
            return None
        if self.by == "auto" and has_igraph():
            left.problem.note("Communities were found by Leiden (igraph is installed).")
        parts = communities(
            left.nodes,
            near,
            by=self.by,
            resolution=self.resolution,
            seed=left.seed,
            check=left.problem.check_time,
        )
        members = next(part for part in parts if node in part)
        inside = sum(len(near[v] & set(members)) for v in members)
        if not inside:
            return None
        return Dense(members, inside / (len(members) * (len(members) - 1)))

    def fill(self, nodes: Sequence[int], near: Neighbours, level: float) -> list[Pair]:
        """Join each node with the share of the others that was joined in the removed structure."""
        return join_at_least(nodes, near, self.least_degree(len(nodes), level))

    def least_degree(self, size: int, level: float) -> int:
        """The number of others that each of ``size`` nodes is joined with."""
        return math.ceil(Fraction(level).limit_denominator(10**6) * (size - 1))


def _largest(
    structure: Plex | Quasi | Club,
    left: RemainingGraph,
    node: int,
    find: Callable[..., Dense],
    wanted: Any,
    word: str,
) -> Dense | None:
    """The largest structure at a node that ``find`` finds; a note says if it may not be."""
    if not left.near[node]:
        return None
    most, check = structure.max_branches, left.problem.check_time
    found = find(node, left.near, wanted, max_branches=most, check=check)
    if not found.exact:
        left.problem.note(
            f"At some nodes the search for the largest {word} stopped after "
            f"{counted(most, 'branch', 'branches')} with the largest found so far. Raise "
            "max_branches to search further."
        )
    return found


def _share(name: str, value: object, low: float, high: float = 1.0) -> None:
    number = value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
    if not (0 < number < math.inf and low <= number <= high):
        allowed = f"a number from {low} to {high}" if math.isfinite(high) else "a positive number"
        raise InvalidParameterError(f"{name} must be {allowed}; got {value!r}.", parameter=name)


STRUCTURES: Mapping[str, type[Structure]] = {
    "plex": Plex,
    "quasi": Quasi,
    "core": Core,
    "truss": Truss,
    "club": Club,
    "densest": Densest,
    "community": Community,
}
