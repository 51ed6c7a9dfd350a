"""Blocks that remove any dense structure, or add one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from denseflip.counterfactual import Ask, Step
from denseflip.graph import Graph, Pair
from denseflip.graph.density import NeighbourSets
from denseflip.search.core.problem import Problem
from denseflip.search.methods.blocks import DENSIFY, SPARSIFY, State, Turn
from denseflip.search.methods.densify import _TRIANGLE, CliqueDensify, _least_used, tie_places
from denseflip.search.methods.structures import RemainingGraph, Structure


@dataclass(frozen=True)
class StructureSparsify:
    """Remove the edges of the structure at the node, in the remaining part of the original.

    Edges that the search added are ignored, so it never removes them, and the structures of a
    search have no edge in common.

    Parameters
    ----------
    structure : the kind of structure.
    """

    structure: Structure

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield the removal of one structure, or nothing if there is none."""
        return state.turn(self)(node)

    def start(self, state: State) -> Turn:
        """Start with the whole original."""
        near = state.removable_neighbours.copy()
        nodes = range(state.original.n_nodes)
        seed = int(state.problem.rng.integers(2**31))
        left = RemainingGraph(near, nodes, state.problem, seed)

        def turn(node: int) -> tuple[Step, ...]:
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
            state.removed_structures.append(frozenset(members))
            state.counts[list(found.nodes)] += 1
            state.last_size = len(members)
            state.last_level = (self.structure.name, found.level)
            kind = self.structure.name
            return (Step(SPARSIFY, kind, removed, Ask.YES, found.nodes, "", state.iteration),)

        return turn


@dataclass(frozen=True)
class StructureDensify:
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

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield the addition of one structure, or of several until the iteration is balanced."""
        return state.turn(self)(node)

    def start(self, state: State) -> Turn:
        """Fix the order of nodes with equal counts."""
        n = state.original.n_nodes
        place = tie_places(state, self.ties)

        def turn(node: int) -> Iterator[Step]:
            wanted = state.removed_now if state.sparsified_now else state.last_removed or _TRIANGLE
            added = 0
            while added < wanted:
                cap = min((state.last_size or _TRIANGLE) + self.slack, n)
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
            level = _level_of_clique(self.structure, state.last_size or _TRIANGLE)
        size = _size_for(self.structure, lacking, level, len(order))
        for wider in range(size, len(order) + 1):
            state.problem.check_time()
            new = self.structure.fill(order[:wider], state.neighbours, level)
            if state.bound:
                new = list(state.may_change(new))
            if new:
                return order[:wider], new
        return [], []


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
