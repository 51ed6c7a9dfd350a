"""Blocks that add a dense structure where the graph is sparse."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Ask, Step
from denseflip.errors import InvalidParameterError, whole_number
from denseflip.graph import Pair
from denseflip.graph.density import two_hop
from denseflip.search.methods.blocks import DENSIFY, State, Turn
from denseflip.search.methods.sparsify import PairSparsify, check_score, pair_score, pair_turn

_TRIANGLE = 3  # edges to add when nothing was removed yet


@dataclass(frozen=True)
class PairDensify:
    """Add the next pair of an order of all unjoined pairs; see `PairSparsify`.

    Parameters
    ----------
    score : ``"triangles"`` (paper: TRI) or ``"contrast"`` (`con`); the lowest first.
    reverse : the highest first instead (D1).
    """

    score: str = "triangles"
    reverse: bool = False

    @property
    def needs(self) -> frozenset[str]:
        """The background, if the score needs it."""
        return PairSparsify(self.score).needs

    def __post_init__(self) -> None:
        check_score(self.score)

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield the addition of one edge."""
        return state.turn(self)(node)

    def start(self, state: State) -> Turn:
        """Start the order of unjoined pairs."""

        def order() -> Iterator[Pair]:
            score = pair_score(state, self.score)
            pairs = score.unjoined(state.original, descending=self.reverse)
            return state.problem.free_pairs(pairs)

        return pair_turn(order, DENSIFY, state)


def tie_places(state: State, ties: str) -> npt.NDArray[np.int64]:
    """The rank of each node among those with equal counts, by harmonic centrality or ranking."""
    tie = state.problem.harmonic if ties == "harmonic" else -state.position
    place = np.empty(len(tie), dtype=np.int64)
    place[np.argsort(tie, kind="stable")] = np.arange(len(tie))
    return place


@dataclass(frozen=True)
class CliqueDensify:
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
        if self.ties not in ("rank", "harmonic"):
            msg = f"ties must be one of rank, harmonic; got {self.ties!r}."
            raise InvalidParameterError(msg)
        whole_number("slack", self.slack)
        if self.step not in (-1, 0, 1):
            msg = f"step must be -1, 0 or 1; got {self.step!r}."
            raise InvalidParameterError(msg)

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield the addition of one clique, or of several until the iteration is balanced."""
        return state.turn(self)(node)

    def start(self, state: State) -> Turn:
        """Fix the order of nodes with equal counts."""
        place = tie_places(state, self.ties)

        def turn(node: int) -> Iterator[Step]:
            # A schedule may call densify alone: then it balances the last removal.
            wanted = state.removed_now if state.sparsified_now else state.last_removed or _TRIANGLE
            added = 0
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
        k = state.last_size or _TRIANGLE
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
