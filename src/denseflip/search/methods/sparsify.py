"""Blocks that remove a dense structure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from denseflip.counterfactual import Ask, Step
from denseflip.errors import InvalidParameterError, whole_number
from denseflip.graph import Pair
from denseflip.graph.cliques import Cliques, CliquesThrough, Overlaps
from denseflip.search.core.problem import BACKGROUND
from denseflip.search.methods.blocks import SPARSIFY, State, StopSearch, Turn
from denseflip.search.methods.orders import ContrastScore, NodeSum, PairScore, joined


@dataclass(frozen=True)
class PairSparsify:
    """Remove the next edge of an order of all edges, whatever node it is called with.

    Parameters
    ----------
    score : ``"triangles"``, the sum of the triangles through the two nodes of an edge (paper: TRI),
        or ``"contrast"``, how much more often the current class has the edge.
    reverse : take the lowest score first instead of the highest (D1).
    """

    score: str = "triangles"
    reverse: bool = False

    @property
    def needs(self) -> frozenset[str]:
        """The background, if the score needs it."""
        return _NEEDS[self.score]

    def __post_init__(self) -> None:
        check_score(self.score)

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield the removal of one edge."""
        return state.turn(self)(node)

    def start(self, state: State) -> Turn:
        """Start the order of edges."""

        def order() -> Iterator[Pair]:
            score = pair_score(state, self.score)
            edges = joined(state.original, score, descending=not self.reverse)
            return state.problem.free_pairs(edges)

        return pair_turn(order, SPARSIFY, state)


def pair_turn(make_order: Callable[[], Iterator[Pair]], block: str, state: State) -> Turn:
    """A block that changes the next pair of an order, whatever node it is called with.

    The order is made on the first call, because it may need the labels of the background.
    """
    order: Iterator[Pair] | None = None

    def turn(node: int) -> tuple[Step]:
        nonlocal order
        if order is None:
            order = make_order()
        pair = next(order, None)
        if pair is None:
            raise StopSearch
        return (Step(block, "edge", (pair,), Ask.YES, pair, "", state.iteration),)

    return turn


_NEEDS = {"triangles": frozenset[str](), "contrast": frozenset({BACKGROUND})}


def check_score(name: str) -> None:
    """Raise an error if there is no score of pairs of this name."""
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
        if self.select not in {"overlap", "contrast"}:
            msg = f"select must be 'overlap' or 'contrast'; got {self.select!r}."
            raise InvalidParameterError(msg)
        whole_number("max_cliques", self.max_cliques, minimum=1)

    def __call__(self, state: State, node: int) -> Iterable[Step]:
        """Yield the removal of one clique, or nothing at a node without edges."""
        return state.turn(self)(node)

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
            state.removed_structures.append(frozenset(clique))
            state.counts[list(clique)] += 1
            state.last_size = len(clique)
            removed = state.present(clique)
            return (Step(SPARSIFY, "clique", removed, Ask.YES, clique, "", state.iteration),)

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
