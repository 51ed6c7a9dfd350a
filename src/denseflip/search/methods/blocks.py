"""The four block protocols of DCS, the state that blocks share, and the rankings of nodes.

A block is any callable of the right signature, such as a function. CONTRIBUTING shows how to write
one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Ask, Step
from denseflip.errors import InvalidParameterError
from denseflip.graph import Graph, Pair
from denseflip.graph.density import NeighbourSets, clustering, core_numbers, region_densities
from denseflip.search.core.problem import BACKGROUND, REGIONS, Problem
from denseflip.search.core.problem import StopSearch as StopSearch

Ints = npt.NDArray[np.int64]
SPARSIFY, DENSIFY = "sparsify", "densify"
TRIANGLE = 3  # edges and nodes of what to add when nothing was removed yet
_MOST_WORK = 20_000_000  # nodes and edges visited: under a minute, and never spent on small graphs
Turn = Callable[[int], Iterable[Step]]  # a block bound to one search: called with a node


class State:
    """What the blocks of one search share and change.

    Attributes
    ----------
    problem, original : what is explained.
    bound : whether the constraints allow only some pairs to change.
    ranking : the nodes, densest first; ``position[v]`` is v's place in it.
    counts : the paper's D: how often each node was in a removed (or, negative, added) clique.
    removed_structures : node sets of the structures removed so far (the paper's L).
    iteration : the number of this iteration, from 1.
    removed_now, added_now : number of edges removed and added in this iteration.
    sparsified_now : whether this iteration has called sparsify.
    last_removed, last_size : number of edges and nodes of the structure removed last.
    last_level : its kind, and its density in the measure of that kind, if there is one.
    """

    def __init__(self, problem: Problem, ranking: npt.NDArray[np.int64]) -> None:
        self.problem = problem
        self.original: Graph = problem.graph
        self.bound = problem.constraints is not None and not problem.constraints.any_pair
        self.ranking = ranking
        self.position = np.empty_like(ranking)
        self.position[ranking] = np.arange(len(ranking))
        self.counts = np.zeros(len(ranking), dtype=np.int64)
        self.removed_structures: list[frozenset[int]] = []
        self.iteration = 0
        self.removed_now = 0
        self.added_now = 0
        self.sparsified_now = False
        self.last_removed = 0
        self.last_size = 0
        self.last_level = ("", 0.0)
        self._work = 0
        self._turns: dict[Any, Turn] = {}
        self._original_neighbours: NeighbourSets | None = None
        self._neighbours: NeighbourSets | None = None
        self._removable: NeighbourSets | None = None
        self._log: list[Pair] = []

    def turn(self, block: Block | StatefulBlock) -> Turn:
        """Bind a block to this search, to be called with a node.

        A block with a state is started once per search. Equal blocks share that state, so it makes
        no difference whether one block is kept or a new one is made for every call.
        """
        start = getattr(block, "start", None)
        if start is None:
            return partial(block, self)
        if block not in self._turns:
            self._turns[block] = start(self)
        return self._turns[block]

    @property
    def original_neighbours(self) -> NeighbourSets:
        """Neighbours of every node in the original; not to be changed."""
        if self._original_neighbours is None:
            self._original_neighbours = NeighbourSets(self.original)
        return self._original_neighbours

    @property
    def neighbours(self) -> NeighbourSets:
        """Neighbours of every node in the current graph; not to be changed by a block."""
        if self._neighbours is None:
            self._neighbours = self.original_neighbours.copy()
            for pair in self._log:
                self._flip(pair)
            self._log.clear()
        return self._neighbours

    def has_edge(self, u: int, v: int) -> bool:
        """Whether u and v are joined in the current graph."""
        return v in self.neighbours[u]

    def missing(self, nodes: Iterable[int]) -> tuple[Pair, ...]:
        """Pairs among these nodes that are not joined now and may be added."""
        near = self.neighbours
        pairs = [(u, v) for u, v in combinations(sorted(nodes), 2) if v not in near[u]]
        return self.may_change(pairs) if self.bound else tuple(pairs)

    def may_change(self, pairs: Iterable[Pair]) -> tuple[Pair, ...]:
        """The pairs that the constraints allow to change."""
        return tuple(self.problem.free_pairs(iter(pairs)))

    @property
    def removable_neighbours(self) -> NeighbourSets:
        """Neighbours in the original by edges that may be removed; not to be changed."""
        if self._removable is None:
            codes, free = self.original.codes, self.problem.free(self.original.codes)
            self._removable = self.original_neighbours
            if len(free) < len(codes):
                self._removable = NeighbourSets(Graph(self.original.n_nodes, free))
        return self._removable

    def present(self, nodes: Iterable[int]) -> tuple[Pair, ...]:
        """Pairs among these nodes that are joined now and may be removed."""
        near = self.neighbours
        pairs = [(u, v) for u, v in combinations(sorted(nodes), 2) if v in near[u]]
        return self.may_change(pairs) if self.bound else tuple(pairs)

    def removal(
        self, kind: str, removed: tuple[Pair, ...], nodes: Sequence[int], name: str = ""
    ) -> tuple[Step]:
        """The step that removes a structure, recorded for the blocks that follow."""
        self.removed_structures.append(frozenset(nodes))
        self.counts[list(nodes)] += 1
        self.last_size = len(nodes)
        return (Step(SPARSIFY, kind, removed, Ask.YES, tuple(nodes), name, self.iteration),)

    @property
    def lacking(self) -> int:
        """How many edges to add so that there are as many as before.

        A schedule may call densify alone: then it balances the last removal.
        """
        return self.removed_now if self.sparsified_now else self.last_removed or TRIANGLE

    def work(self, visited: int) -> None:
        """Count nodes and edges that a block visits; the search ends if there are too many.

        So a search ends on large graphs too, at the same step on every machine.
        """
        self._work += visited
        if self._work > _MOST_WORK:
            self.problem.note(
                f"The graph is too large for this method: it was stopped in iteration "
                f"{self.iteration:,}. Use 'auto', 'race' or 'tri'."
            )
            raise StopSearch

    def start_iteration(self) -> None:
        """Reset the counts of edges for a new iteration."""
        self.iteration += 1
        self.removed_now = self.added_now = 0
        self.sparsified_now = False

    def apply(self, step: Step) -> None:
        """Apply a step that a block has yielded."""
        if step.block == SPARSIFY:
            self.removed_now += len(step.toggled)
            self.last_removed = len(step.toggled)
            self.sparsified_now = True
        else:
            self.added_now += len(step.toggled)
        if self._neighbours is None:
            self._log.extend(step.toggled)
        else:
            for pair in step.toggled:
                self._flip(pair)

    def _flip(self, pair: Pair) -> None:
        u, v = pair
        assert self._neighbours is not None
        self._neighbours[u].symmetric_difference_update((v,))
        self._neighbours[v].symmetric_difference_update((u,))


class Rank(Protocol):
    """Order the nodes: dense regions first, sparse ones last, ties by index."""

    def __call__(self, problem: Problem) -> Sequence[int] | npt.NDArray[np.int64]:
        """Return every node once, densest first."""
        ...


class Block(Protocol):
    """Sparsify or densify at a node: yield the steps, or nothing to skip the node."""

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield steps; each is applied to the state before the next is generated."""
        ...


class StatefulBlock(Block, Protocol):
    """A block with a state between its calls, such as an order of pairs or cliques found before.

    It must be hashable, as a frozen dataclass is.
    """

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield the steps of its turn at a node."""
        return state.turn(self)(node)

    @abstractmethod
    def start(self, state: State) -> Turn:
        """Start a search: return a function of a node that holds the state in a closure."""
        ...


class Schedule(Protocol):
    """Choose which blocks each iteration calls."""

    def __call__(self, problem: Problem) -> Iterable[tuple[str, ...]]:
        """Yield one tuple of ``"sparsify"`` and ``"densify"`` per iteration."""
        ...


# ---- rankings ----------------------------------------------------------------------------------


def _descending(score: npt.NDArray[np.generic]) -> Ints:
    """Nodes by score, highest first, ties by index."""
    return np.lexsort((np.arange(len(score)), -np.asarray(score, dtype=float)))


@dataclass(frozen=True)
class ScoreRank:
    """Nodes by one number each, highest first, ties by index."""

    by: str = "triangles"

    @property
    def needs(self) -> frozenset[str]:
        """The background, for the contrast."""
        return frozenset({BACKGROUND}) if self.by == "contrast" else frozenset()

    def __call__(self, problem: Problem) -> Ints:
        """Every node once, densest first."""
        return _descending(SCORES[self.by](problem))


@dataclass(frozen=True)
class RandomRank:
    """Nodes in random order: a baseline for the other rankings."""

    def __call__(self, problem: Problem) -> Ints:
        """A permutation drawn from the problem's generator."""
        return problem.rng.permutation(problem.graph.n_nodes)


@dataclass(frozen=True)
class RegionRank:
    """Regions by density, densest first; inside a region, nodes by triangles (paper: RCLI).

    Parameters
    ----------
    levels : taxonomies from coarse to fine; empty for the node table's default one.
    """

    needs: ClassVar[frozenset[str]] = frozenset({REGIONS})
    levels: tuple[str, ...] = ()

    def __call__(self, problem: Problem) -> Ints:
        """Every node once: region by region, densest first."""
        keys: list[npt.NDArray[np.generic]] = []
        name: str | None = None
        for level in self.levels or (None,):
            name = level if name is None else f"{name}*{level}"
            taxonomy = problem.taxonomy(name, "rcli")
            density = region_densities(problem.graph, taxonomy)
            keys += [-density[taxonomy.array], taxonomy.array]
        keys += [-problem.triangles, np.arange(problem.graph.n_nodes)]
        return np.lexsort(tuple(reversed(keys)))


def _contrast_at_nodes(problem: Problem) -> Ints:
    contrast = problem.contrast("rank=contrast")
    n = problem.graph.n_nodes
    ends = np.concatenate(np.divmod(contrast.codes, max(n, 1)))
    out: Ints = np.zeros(n, dtype=np.int64)
    np.add.at(out, ends, np.tile(contrast.values, 2))
    return out


SCORES: dict[str, Callable[[Problem], npt.NDArray[np.generic]]] = {
    "triangles": lambda p: p.triangles,
    "degree": lambda p: p.graph.degrees(),
    "clustering": lambda p: clustering(p.graph),
    "core": lambda p: core_numbers(p.graph),
    "harmonic": lambda p: p.harmonic,
    "contrast": _contrast_at_nodes,
}

RANKS: dict[str, tuple[Callable[[], Rank], str]] = {
    "triangles": (ScoreRank, "triangles through the node (the paper's choice)"),
    "degree": (lambda: ScoreRank("degree"), "number of neighbours"),
    "clustering": (lambda: ScoreRank("clustering"), "share of neighbour pairs that are joined"),
    "core": (lambda: ScoreRank("core"), "largest k-core the node lies in"),
    "harmonic": (lambda: ScoreRank("harmonic"), "closeness to all others; low at the periphery"),
    "contrast": (lambda: ScoreRank("contrast"), "how differently the classes use its pairs"),
    "regions": (RegionRank, "regions by density, then triangles inside (needs regions)"),
    "random": (RandomRank, "a random order, as a baseline"),
}


def check_ranking(ranking: object, n_nodes: int) -> Ints:
    """Return a ranking as an array; raise an error if it is not a permutation of the nodes."""
    order = np.asarray(ranking)
    if order.shape != (n_nodes,) or not np.array_equal(np.sort(order), np.arange(n_nodes)):
        msg = (
            f"A rank must return every node 0..{n_nodes - 1} exactly once; got an array of shape "
            f"{order.shape} starting {order.ravel()[:5].tolist()}."
        )
        raise InvalidParameterError(msg)
    return order.astype(np.int64)
