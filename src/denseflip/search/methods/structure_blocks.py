"""Blocks that remove or add a pair, a clique, or another dense structure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Ask, Step
from denseflip.errors import check_choice, whole_number
from denseflip.graph import Graph, Pair
from denseflip.graph.cliques import Cliques, CliquesThrough, Overlaps
from denseflip.graph.density import NeighbourSets, two_hop
from denseflip.graph.relaxed_cliques import count_joined, first_to_join
from denseflip.search.core.problem import BACKGROUND, Problem
from denseflip.search.methods.blocks import (
    DENSIFY,
    SPARSIFY,
    TRIANGLE,
    State,
    StatefulBlock,
    StopSearch,
    Turn,
)
from denseflip.search.methods.orders import (
    ContrastScore,
    NodeSum,
    PairScore,
    free_unjoined,
    joined,
)
from denseflip.search.methods.structures import RemainingGraph, Structure


@dataclass(frozen=True)
class _PairBlock(StatefulBlock):
    """A block that changes the next pair of an order, whatever node it is called with."""

    score: str = "triangles"
    reverse: bool = False

    @property
    def needs(self) -> frozenset[str]:
        """The background, if the score needs it."""
        return _NEEDS[self.score]

    def __post_init__(self) -> None:
        check_choice("score", self.score, _NEEDS)


@dataclass(frozen=True)
class PairSparsify(_PairBlock):
    """Remove the next edge of an order of all edges, whatever node it is called with.

    Parameters
    ----------
    score : ``"triangles"``, the sum of the triangles through the two nodes of an edge (paper: TRI),
        or ``"contrast"``, how much more often the current class has the edge.
    reverse : take the lowest score first instead of the highest (D1).
    """

    def start(self, state: State) -> Turn:
        """Start the order of edges."""

        def order() -> Iterator[Pair]:
            score = pair_score(state, self.score)
            return joined(state.original, score, descending=not self.reverse)

        return pair_turn(order, SPARSIFY, state)


@dataclass(frozen=True)
class PairDensify(_PairBlock):
    """Add the next pair of an order of all unjoined pairs; see `PairSparsify`.

    Parameters
    ----------
    score : ``"triangles"`` (paper: TRI) or ``"contrast"`` (`con`); the lowest first.
    reverse : the highest first instead (D1).
    """

    def start(self, state: State) -> Turn:
        """Start the order of unjoined pairs."""

        def order() -> Iterator[Pair]:
            score = pair_score(state, self.score)
            return free_unjoined(state.problem, score, descending=self.reverse)

        return pair_turn(order, DENSIFY, state)


def pair_turn(make_order: Callable[[], Iterator[Pair]], block: str, state: State) -> Turn:
    """A block that changes the next pair of an order, whatever node it is called with.

    The order is made on the first call, because it may need the labels of the background.
    """
    order: Iterator[Pair] | None = None

    def turn(node: int) -> tuple[Step]:
        nonlocal order
        if order is None:
            order = state.problem.free_pairs(make_order())
        pair = next(order, None)
        if pair is None:
            raise StopSearch
        return (Step(block, "edge", (pair,), Ask.YES, pair, "", state.iteration),)

    return turn


_NEEDS = {"triangles": frozenset[str](), "contrast": frozenset({BACKGROUND})}


def pair_score(state: State, name: str) -> PairScore:
    """The named score of pairs."""
    if name == "triangles":
        return NodeSum(state.problem.triangles)
    return ContrastScore(state.problem.contrast("con"))


@dataclass(frozen=True)
class CliqueSparsify(StatefulBlock):
    """Remove a maximal clique of the original through the node (paper: SparsifyCLI; D4).

    The first one is the largest; later ones have the smallest maximal overlap with a clique removed
    before. Ties go to the larger clique, then to the lexicographically smallest list of nodes.

    Parameters
    ----------
    select : ``"overlap"`` as above, or ``"contrast"``: the clique whose pairs have the largest
        total contrast, that is, which the target class has least often.
    max_cliques : the largest number of cliques through one node that are compared; a note says so
        if there are more.
    """

    select: str = "overlap"
    max_cliques: int = 100_000

    @property
    def needs(self) -> frozenset[str]:
        """The background, if cliques are chosen by contrast."""
        return frozenset({BACKGROUND}) if self.select == "contrast" else frozenset()

    def __post_init__(self) -> None:
        check_choice("select", self.select, ("overlap", "contrast"))
        whole_number("max_cliques", self.max_cliques, minimum=1)

    def start(self, state: State) -> Turn:
        """Start with no clique found."""
        cliques = Cliques(
            state.removable_neighbours, limit=self.max_cliques, check=state.problem.check_time
        )
        choose = _by_contrast(state) if self.select == "contrast" else _by_overlap(state)

        def turn(node: int) -> tuple[Step, ...]:
            found = cliques.through(node)
            if not len(found):
                return ()
            if not found.complete:
                state.problem.note(
                    f"Node {node} lies in more than {self.max_cliques} maximal cliques; only the "
                    f"first {self.max_cliques} were compared. Raise max_cliques to compare more."
                )
            clique = found[choose(found)]
            return state.removal("clique", state.present(clique), clique)

        return turn


Choice = Callable[[CliquesThrough], int]  # the index of one clique among those through a node


def _by_overlap(state: State) -> Choice:
    """The clique with the smallest maximal overlap with a structure removed before."""
    taken = Overlaps()

    def choose(found: CliquesThrough) -> int:
        for nodes in state.removed_structures[len(taken) :]:
            taken.add(nodes)
        return taken.least(found)

    return choose


def _by_contrast(state: State) -> Choice:
    """The clique with the largest total contrast of its pairs, whatever was removed before."""
    n = state.original.n_nodes
    chosen: dict[int, int] = {}

    def choose(found: CliquesThrough) -> int:
        if found.node not in chosen:
            nodes = np.array([found.node, *found.others])
            u, v = np.minimum.outer(nodes, nodes), np.maximum.outer(nodes, nodes)
            contrast = state.problem.contrast("select=contrast")
            values = contrast.at((u * n + v).ravel()).reshape(u.shape)
            chosen[found.node] = found.heaviest(values)
        return chosen[found.node]

    return choose


def tie_places(state: State, ties: str) -> npt.NDArray[np.int64]:
    """The rank of each node among those with equal counts, by harmonic centrality or ranking."""
    tie = state.problem.harmonic if ties == "harmonic" else -state.position
    place = np.empty(len(tie), dtype=np.int64)
    place[np.argsort(tie, kind="stable")] = np.arange(len(tie))
    return place


@dataclass(frozen=True)
class CliqueDensify(StatefulBlock):
    """Join a set of little-used nodes near the given one into a clique (paper: DensifyCLI).

    The nodes within two hops of the given one come first, then all others. Each group is sorted by
    how often the nodes were in removed cliques (D), then from the sparse end of the ranking. As
    many nodes are taken as give the edges still missing in this iteration (D6), and this is
    repeated until as many edges were added as removed. A choice that would add nothing is extended
    node by node, up to ``slack`` more nodes than the removed clique had.

    Parameters
    ----------
    slack : the paper's b.
    step : what an added clique adds to the counts of its nodes: -1 as in the pseudocode, 0, or +1
        as the prose suggests (D5).
    ties : the order of nodes with equal counts: ``"rank"`` or ``"harmonic"`` (centrality in the
        original, lowest first: the periphery).
    """

    slack: int = 10
    step: int = -1
    ties: str = "rank"

    def __post_init__(self) -> None:
        check_choice("ties", self.ties, ("rank", "harmonic"))
        whole_number("slack", self.slack)
        check_choice("step", self.step, (-1, 0, 1))

    def start(self, state: State) -> Turn:
        """Fix the order of nodes with equal counts."""
        place = tie_places(state, self.ties)

        def turn(node: int) -> Iterator[Step]:
            wanted, added = state.lacking, 0
            while added < wanted:
                chosen = self._choose(state, node, wanted - added, place)
                if chosen is None:
                    return
                new = state.missing(chosen)
                state.counts[chosen] += self.step
                added += len(new)
                nodes = tuple(sorted(chosen))
                yield Step(DENSIFY, "clique", new, Ask.YES, nodes, "", state.iteration)

        return turn

    def _choose(
        self, state: State, node: int, lacking: int, place: npt.NDArray[np.int64]
    ) -> list[int] | None:
        """The nodes to join, or None if no allowed choice adds an edge."""
        k = state.last_size or TRIANGLE
        cap = min(k + self.slack, state.original.n_nodes)
        m = min(max(2, clique_size(lacking)), cap)
        order = _least_used(state, node, place, cap)
        near = state.neighbours
        inside: set[int] = set()  # these are all joined with one another
        for size, v in enumerate(order, start=1):
            if not near[v] >= inside and (not state.bound or state.missing(order[:size])):
                return order[: max(size, m)]
            inside.add(v)
        return None


def _least_used(state: State, node: int, place: npt.NDArray[np.int64], count: int) -> list[int]:
    """The first nodes of the order: near ones, then the others, each by count, then by rank.

    All nodes are sorted only if too few are near, which is rare in a large graph.
    """
    n = state.original.n_nodes
    close = two_hop(node, state.neighbours)
    near = np.fromiter(close, dtype=np.int64, count=len(close))
    constraints = state.problem.constraints if state.bound else None
    if constraints is not None:
        closed = constraints.closed
        near, count = near[~closed[near]], min(count, n - int(closed.sum()))
    order = near[np.argsort(state.counts[near] * n + place[near])]
    first: list[int] = order[:count].tolist()
    if len(first) < count:
        keys = state.counts * n + place
        keys[near] = np.iinfo(np.int64).max
        if constraints is not None:
            keys[constraints.closed] = np.iinfo(np.int64).max
        rest = np.argpartition(keys, count - len(first) - 1)[: count - len(first)]
        first += rest[np.argsort(keys[rest])].tolist()
    return first


def clique_size(n_edges: int) -> int:
    """Smallest m with m(m-1)/2 at least ``n_edges``.

    >>> [clique_size(s) for s in (0, 1, 2, 3, 4, 6, 7)]
    [1, 2, 3, 3, 4, 4, 5]
    """
    m = (1 + math.isqrt(1 + 8 * max(n_edges, 0))) // 2
    return m if m * (m - 1) // 2 >= n_edges else m + 1


@dataclass(frozen=True)
class StructureSparsify(StatefulBlock):
    """Remove the edges of the structure at the node, in the remaining part of the original.

    Edges that the search added are ignored, so it never removes them, and the structures of a
    search have no edge in common.

    Parameters
    ----------
    structure : the kind of structure.
    """

    structure: Structure

    def start(self, state: State) -> Turn:
        """Start with the whole original."""
        near = state.removable_neighbours.copy()
        nodes = range(state.original.n_nodes)
        seed = int(state.problem.rng.integers(2**31))
        left = RemainingGraph(near, nodes, state.problem, seed)

        # Structures of the whole graph say how often, about, they visit each node and edge.
        visits: int = getattr(self.structure, "visits", 0)
        visited = visits * (len(near) + state.original.n_edges)

        def turn(node: int) -> tuple[Step, ...]:
            state.work(visited)
            found = self.structure.find(left, node)
            if found is None:
                return ()
            members = set(found.nodes)
            pairs = ((u, v) for u in found.nodes for v in sorted(near[u] & members) if u < v)
            removed = tuple(pairs)
            if not removed:
                return ()
            for u in found.nodes:
                near[u] -= members
            state.last_level = (self.structure.name, found.level)
            return state.removal(self.structure.name, removed, found.nodes)

        return turn


@dataclass(frozen=True)
class StructureDensify(StatefulBlock):
    """Join little-used nodes near the given one into a structure.

    The nodes come in the order of `CliqueDensify`. As many are taken as such a structure needs to
    have the edges still missing in this iteration. Missing pairs are added until it is one, and
    this is repeated until as many edges were added as removed. A choice that would add nothing is
    extended node by node, up to ``slack`` more nodes than the removed structure had.

    Parameters
    ----------
    structure : the kind of structure; as dense as the one removed last, if the kind has levels.
    slack, step, ties : as in `CliqueDensify`.
    """

    structure: Structure
    slack: int = 10
    step: int = -1
    ties: str = "rank"

    def __post_init__(self) -> None:
        CliqueDensify(self.slack, self.step, self.ties)  # checks all three

    def start(self, state: State) -> Turn:
        """Fix the order of nodes with equal counts."""
        n = state.original.n_nodes
        place = tie_places(state, self.ties)

        def turn(node: int) -> Iterator[Step]:
            wanted, added = state.lacking, 0
            while added < wanted:
                cap = min((state.last_size or TRIANGLE) + self.slack, n)
                order = _least_used(state, node, place, cap)
                nodes, new = self._choose(state, order, wanted - added)
                if not new:
                    return
                state.counts[nodes] += self.step
                added += len(new)
                kind, members = self.structure.name, tuple(sorted(nodes))
                yield Step(DENSIFY, kind, tuple(new), Ask.YES, members, "", state.iteration)

        return turn

    def _choose(self, state: State, order: list[int], lacking: int) -> tuple[list[int], list[Pair]]:
        """The nodes to join and the pairs that are missing; no pairs if no choice adds any."""
        kind, level = state.last_level
        if kind != self.structure.name:  # another kind was removed: as dense as a clique
            level = _level_of_clique(self.structure, state.last_size or TRIANGLE)
        size = _size_for(self.structure, lacking, level, len(order))
        first = self._first_to_fill(state, order, level)
        while True:
            wider = first(size)
            for visited in range(size, 1 + (wider or len(order))):
                state.problem.check_time()
                state.work(visited)
            if wider is None:
                return [], []
            new = self.structure.fill(order[:wider], state.neighbours, level)
            if state.bound:
                new = list(state.may_change(new))
            if new:
                return order[:wider], new
            size = wider + 1

    def _first_to_fill(
        self, state: State, order: list[int], level: float
    ) -> Callable[[int], int | None]:
        """The smallest size, from a given one, for which ``fill`` may add pairs."""
        least = _least_degree(self.structure)
        if least is None:
            return lambda size: size if size <= len(order) else None
        return first_to_join(order, state.neighbours, lambda size: least(size, level))


def _least_degree(structure: Structure) -> Callable[[int, float], int] | None:
    """With how many others each node of a structure is joined, at a level; None if not offered.

    A structure that offers ``least_degree`` is filled by `join_at_least`. Its edges can be counted
    without making them, which matters with thousands of nodes.
    """
    return getattr(structure, "least_degree", None)


@lru_cache(maxsize=4096)
def _size_for(structure: Structure, n_edges: int, level: float, largest: int) -> int:
    """The smallest number of nodes, at least two, for which the structure has so many edges."""
    low = high = min(2, largest)
    while high < largest and _edges_of(structure, high, level) < n_edges:
        low, high = high + 1, min(2 * high, largest)
    while low < high:
        middle = (low + high) // 2
        if _edges_of(structure, middle, level) < n_edges:
            low = middle + 1
        else:
            high = middle
    return low


@lru_cache(maxsize=4096)
def _edges_of(structure: Structure, size: int, level: float) -> int:
    """The number of edges of such a structure with so many nodes."""
    least = _least_degree(structure)
    if least is not None:
        return count_joined(size, least(size, level))
    return len(structure.fill(range(size), [frozenset()] * size, level))


@lru_cache(maxsize=4096)
def _level_of_clique(structure: Structure, size: int) -> float:
    """The level of a clique in the measure of this kind."""
    pairs = [(u, v) for v in range(size) for u in range(v)]
    near = NeighbourSets(Graph.from_edges(size, pairs))
    found = structure.find(
        RemainingGraph(near, range(size), Problem(Graph.from_edges(size, []), 0), 0), 0
    )
    return 0.0 if found is None else found.level
