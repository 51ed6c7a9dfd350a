"""Blocks that put a dense structure where the graph is sparse."""

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

_TRIANGLE = 3  # edges to add when nothing was taken away yet


@dataclass(frozen=True)
class PairDensify:
    """Join the next pair of an order over all unjoined pairs; see `PairSparsify`.

    Parameters
    ----------
    score : ``"triangles"`` (paper: TRI) or ``"contrast"`` (`con`); the lowest first.
    reverse : the highest first instead (D1).
    """

    score: str = "triangles"
    reverse: bool = False

    @property
    def needs(self) -> frozenset[str]:
        """The background, where the score is taken from it."""
        return PairSparsify(self.score).needs

    def __post_init__(self) -> None:
        check_score(self.score)

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Give the addition of one edge."""
        return state.turn(self)(node)

    def start(self, state: State) -> Turn:
        """Begin the order of unjoined pairs."""

        def order() -> Iterator[Pair]:
            score = pair_score(state, self.score)
            pairs = score.unjoined(state.original, descending=self.reverse)
            return state.problem.free_pairs(pairs)

        return pair_turn(order, DENSIFY, state)


def tie_places(state: State, ties: str) -> npt.NDArray[np.int64]:
    """The place of each node among those with equal counts, by harmonic centrality or by rank."""
    tie = state.problem.harmonic if ties == "harmonic" else -state.position
    place = np.empty(len(tie), dtype=np.int64)
    place[np.argsort(tie, kind="stable")] = np.arange(len(tie))
    return place


@dataclass(frozen=True)
class CliqueDensify:
    """Join a set of little-used nodes near the given one into a clique (paper: DensifyCLI).

    The nodes within two hops of the given one come first, then all others; among each by how often
    they were in removed cliques (D), then from the sparse end of the ranking. As many nodes are
    taken as give the edges still missing in this iteration (D6), and the call is repeated until as
    many edges were added as removed. A choice that would add nothing is widened node by node, up
    to ``slack`` more nodes than the removed clique had.

    Parameters
    ----------
    slack : the paper's b.
    step : what a clique added does to its nodes' counts: -1 as in the pseudocode, 0 for nothing,
        +1 as the prose suggests (D5).
    ties : what decides between nodes of equal count: ``"rank"`` or ``"harmonic"`` (centrality in
        the original, lowest first: the periphery).
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
        """Settle the order of nodes with equal counts, which stays."""
        place = tie_places(state, self.ties)

        def turn(node: int) -> Iterator[Step]:
            # A schedule may call densify alone: then it balances the removal before.
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
        inside: set[int] = set()  # joined with one another: one more node, one more look
        for size, v in enumerate(order, start=1):
            if not near[v] >= inside and (not state.bound or state.missing(order[:size])):
                return order[: max(size, m)]
            inside.add(v)
        return None


def _least_used(state: State, node: int, place: npt.NDArray[np.int64], count: int) -> list[int]:
    """The first nodes of the order: near ones, then the others, each by count, then by place.

    All nodes are looked at only where too few are near: on a large graph that is rare.
    """
    n = state.original.n_nodes
    close = two_hop(node, state.neighbours)
    near = np.fromiter(close, dtype=np.int64, count=len(close))
    if state.bound and state.problem.terms is not None:
        shut = state.problem.terms.closed
        near, count = near[~shut[near]], min(count, n - int(shut.sum()))
    order = near[np.argsort(state.counts[near] * n + place[near])]
    first: list[int] = order[:count].tolist()
    if len(first) < count:
        keys = state.counts * n + place
        keys[near] = np.iinfo(np.int64).max
        if state.bound and state.problem.terms is not None:
            keys[state.problem.terms.closed] = np.iinfo(np.int64).max
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
