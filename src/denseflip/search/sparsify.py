"""Blocks that take a dense structure away."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np

from denseflip.counterfactual import Ask, Step
from denseflip.errors import InvalidParameterError, whole_number
from denseflip.graph import Pair
from denseflip.graph.density import maximal_cliques_through
from denseflip.search.blocks import SPARSIFY, State, StopSearch, Turn, pairs_among
from denseflip.search.orders import ContrastScore, NodeSum, PairScore, joined
from denseflip.search.problem import BACKGROUND


@dataclass(frozen=True)
class PairSparsify:
    """Remove the next edge of an order over all edges; the node it is called with plays no part.

    Parameters
    ----------
    score : ``"triangles"``, the triangles through an edge's two ends added up (paper: TRI), or
        ``"contrast"``, how much more often the current class has the edge (`con`).
    reverse : take the lowest score first instead of the highest (D1).
    """

    score: str = "triangles"
    reverse: bool = False

    @property
    def needs(self) -> frozenset[str]:
        """The background, where the score is taken from it."""
        return _NEEDS[self.score]

    def __post_init__(self) -> None:
        check_score(self.score)

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Give the removal of one edge."""
        return state.turn(self)(node)

    def start(self, state: State) -> Turn:
        """Begin the order of edges."""
        score = pair_score(state, self.score)
        order = joined(state.original, score, descending=not self.reverse)
        return pair_turn(order, SPARSIFY, state)


def pair_turn(order: Iterator[Pair], block: str, state: State) -> Turn:
    """A block that changes the next pair of an order, whatever node it is called with."""

    def turn(node: int) -> tuple[Step]:
        pair = next(order, None)
        if pair is None:
            raise StopSearch
        return (Step(block, "edge", (pair,), Ask.YES, pair, "", state.iteration),)

    return turn


_NEEDS = {"triangles": frozenset[str](), "contrast": frozenset({BACKGROUND})}


def check_score(name: str) -> None:
    """Say so if there is no score of pairs of this name."""
    if name not in _NEEDS:
        msg = f"score must be 'triangles' or 'contrast'; got {name!r}."
        raise InvalidParameterError(msg)


def pair_score(state: State, name: str) -> PairScore:
    """The named score of pairs."""
    if name == "triangles":
        return NodeSum(state.problem.triangles)
    return ContrastScore(state.problem.contrast("con"))


@dataclass(frozen=True)
class CliqueSparsify:
    """Remove a maximal clique of the original through the node (paper: SparsifyCLI; D4).

    The first time the largest; later the one whose largest overlap with a clique removed before
    is smallest. Ties go to the larger clique, then to the lexicographically smallest vertex list.

    Parameters
    ----------
    select : ``"overlap"`` as above, or ``"contrast"``: the clique whose pairs have the largest
        total contrast, that is, which the target class has least.
    max_cliques : look at no more than this many cliques through one node; the result says so
        when that bites.
    """

    select: str = "overlap"
    max_cliques: int = 100_000

    @property
    def needs(self) -> frozenset[str]:
        """The background, where cliques are chosen by contrast."""
        return frozenset({BACKGROUND}) if self.select == "contrast" else frozenset()

    def __post_init__(self) -> None:
        if self.select not in {"overlap", "contrast"}:
            msg = f"select must be 'overlap' or 'contrast'; got {self.select!r}."
            raise InvalidParameterError(msg)
        whole_number("max_cliques", self.max_cliques, minimum=1)

    def __call__(self, state: State, node: int) -> Iterator[Step]:
        """Yield the removal of one clique; nothing at a node without edges."""
        source = maximal_cliques_through(node, state.original_neighbours)
        cliques = list(islice(source, self.max_cliques))
        if not cliques:
            return
        if next(source, None) is not None:
            state.problem.note(
                f"Node {node} lies in more than {self.max_cliques} maximal cliques; only the first "
                f"{self.max_cliques} were compared. Raise max_cliques to compare more."
            )
        clique = min(cliques, key=self._preference(state))
        state.removed_structures.append(frozenset(clique))
        state.counts[list(clique)] += 1
        state.last_size = len(clique)
        gone = state.present(clique)
        yield Step(SPARSIFY, "clique", gone, nodes=clique)

    def _preference(self, state: State):  # type: ignore[no-untyped-def]
        if self.select == "contrast":
            contrast = state.problem.contrast("select=contrast")
            n = state.original.n_nodes

            def by_contrast(clique: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
                codes = np.array([u * n + v for u, v in pairs_among(clique)], dtype=np.int64)
                return (-int(contrast.at(codes).sum()), -len(clique), clique)

            return by_contrast
        before = [_mask(nodes) for nodes in state.removed_structures]

        def by_overlap(clique: tuple[int, ...]) -> tuple[int, int, tuple[int, ...]]:
            mask = _mask(clique)
            overlap = max([(mask & old).bit_count() for old in before], default=0)
            return (overlap, -len(clique), clique)

        return by_overlap


def _mask(nodes: Iterable[int]) -> int:
    """The nodes as bits of one number: the quickest way to intersect many small sets."""
    return sum(1 << v for v in nodes)
