"""The four block protocols of DCS and the state that blocks share.

A block is any callable of the right signature, such as a function. CONTRIBUTING shows how to write
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import combinations
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Step
from denseflip.graph import Graph, Pair
from denseflip.graph.density import NeighbourSets
from denseflip.search.core.problem import Problem
from denseflip.search.core.problem import StopSearch as StopSearch

SPARSIFY, DENSIFY = "sparsify", "densify"
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

    It must be hashable, as a frozen dataclass is. To call it directly, use
    ``state.turn(self)(node)``.
    """

    def start(self, state: State) -> Turn:
        """Start a search: return a function of a node that holds the state in a closure."""
        ...


class Schedule(Protocol):
    """Choose which blocks each iteration calls."""

    def __call__(self, problem: Problem) -> Iterable[tuple[str, ...]]:
        """Yield one tuple of ``"sparsify"`` and ``"densify"`` per iteration."""
        ...
