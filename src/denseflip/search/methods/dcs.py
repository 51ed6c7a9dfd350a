"""DCS: rank, sparsify, densify and schedule composed into one stream of steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import cycle, takewhile

from denseflip.counterfactual import Ask, Status, Step
from denseflip.errors import (
    InvalidParameterError,
    UnknownNameError,
    check_callable,
    whole_number,
)
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.core.engine import walk
from denseflip.search.core.method import Conversation, Stream, needs_of
from denseflip.search.core.problem import Problem, Walk
from denseflip.search.core.refinement import Refine
from denseflip.search.methods.blocks import (
    DENSIFY,
    SPARSIFY,
    Block,
    Rank,
    Schedule,
    State,
    StopSearch,
    Turn,
)
from denseflip.search.methods.cell import CellDensify, CellSparsify
from denseflip.search.methods.densify import CliqueDensify, PairDensify
from denseflip.search.methods.rank import as_rank, check_ranking
from denseflip.search.methods.schedule import as_schedule
from denseflip.search.methods.sparsify import CliqueSparsify, PairSparsify
from denseflip.search.methods.structure_blocks import StructureDensify, StructureSparsify
from denseflip.search.methods.structures import STRUCTURES

SPARSIFIERS: dict[str, Callable[[], Block]] = {
    "triangle": PairSparsify,
    "clique": CliqueSparsify,
    "cell": CellSparsify,
    **{name: partial(StructureSparsify, kind()) for name, kind in STRUCTURES.items()},
}
DENSIFIERS: dict[str, Callable[[], Block]] = {
    "triangle": PairDensify,
    "clique": CliqueDensify,
    "cell": CellDensify,
    **{name: partial(StructureDensify, kind()) for name, kind in STRUCTURES.items()},
}


@dataclass(frozen=True)
class DCS(Stream):
    """Density-based counterfactual search, composed of blocks (paper, Algorithm 1).

    Every iteration removes a dense structure at the next best node of the ranking and adds one at
    the next worst, starting again when the ranking ends. Each block is a name or any callable of
    its protocol (see `denseflip.search.methods.blocks`).

    Parameters
    ----------
    rank : the order of the nodes; a name of `RANKS`, or a callable.
    sparsify : what to remove: ``"clique"``, ``"triangle"``, another of `SPARSIFIERS`, or a
        callable.
    densify : what to add: ``"clique"``, ``"triangle"``, another of `DENSIFIERS`, or a callable.
    schedule : ``"alternate"``, ``"density"``, or a callable.
    refine : how to refine a counterfactual that was found: a refiner, its name, or several.
    max_iterations : the largest number of iterations; None for no limit.
    questions : ``"each"``, query after every step that says so, or ``"iteration"``, query once at
        the end of each iteration (D3).

    Examples
    --------
    >>> from denseflip import Graph, explain
    >>> g = Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> method = DCS(rank="degree", sparsify="clique", densify="clique", refine="min")
    >>> explain(g, lambda a: int(a[0, 1]), method).removed
    ((0, 1),)
    """

    rank: str | Rank = "triangles"
    sparsify: str | Block = "clique"
    densify: str | Block = "clique"
    schedule: str | Schedule = "alternate"
    refine: str | Refine | tuple[str | Refine, ...] = ()
    max_iterations: int | None = 200
    questions: str = "each"

    def __post_init__(self) -> None:
        if self.questions not in {"each", "iteration"}:
            msg = f"questions must be 'each' or 'iteration'; got {self.questions!r}."
            raise InvalidParameterError(msg)
        if self.max_iterations is not None:
            whole_number("max_iterations", self.max_iterations)
        object.__setattr__(self, "rank", as_rank(self.rank))
        object.__setattr__(self, "sparsify", _as_block(self.sparsify, SPARSIFIERS, SPARSIFY))
        object.__setattr__(self, "densify", _as_block(self.densify, DENSIFIERS, DENSIFY))
        object.__setattr__(self, "schedule", as_schedule(self.schedule))

    @property
    def needs(self) -> frozenset[str]:
        """The needs of all blocks."""
        return needs_of(self.rank, self.sparsify, self.densify, self.schedule)

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield the steps of the search."""
        assert not isinstance(self.rank, str)
        assert not isinstance(self.schedule, str)
        n = problem.graph.n_nodes
        ranking = check_ranking(self.rank(problem), n)
        state = State(problem, ranking)
        # A node with nothing to remove is skipped; adding nothing is allowed.
        blocks = {
            SPARSIFY: (state.turn(self.sparsify), cycle(ranking.tolist()), True),  # type: ignore[arg-type]
            DENSIFY: (state.turn(self.densify), cycle(ranking[::-1].tolist()), False),  # type: ignore[arg-type]
        }
        once = self.questions == "iteration"
        limit = math.inf if self.max_iterations is None else self.max_iterations
        idle = 0  # iterations in a row that changed nothing
        for number, turns in enumerate(_allowed(problem, self.schedule(problem)), start=1):
            if number > limit:
                problem.note(f"The iteration limit of {self.max_iterations} was reached.")
                return
            state.start_iteration()
            idle += 1
            steps: Iterable[Step] = _turns(state, turns, blocks)
            try:
                if once:  # the query comes when the iteration is complete
                    steps = _query_last(list(steps))
                for step in steps:
                    idle = 0
                    yield step if step.iteration == number else step._replace(iteration=number)
            except StopSearch:
                return
            if idle > n:
                return


@dataclass(frozen=True)
class BothWays(Conversation):
    """Two streams, of which the one that flips in fewer steps wins (`tri` in both directions).

    The second is followed only as long as it can win. Its queries are counted too.
    """

    first: Stream
    second: Stream

    @property
    def needs(self) -> frozenset[str]:
        """The needs of both."""
        return needs_of(self.first, self.second)

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Follow the first, then the second as long as it can win."""
        n_notes = len(problem.notes)
        one = walk(problem, self.first(problem), session)
        if one.status is Status.BUDGET:
            raise BudgetSpentError
        steps = self.second(problem)
        if one.status is Status.FOUND:
            problem.best = one
            most = one.trace[-1].iteration
            steps = takewhile(lambda step: step.iteration < most, steps)
        else:
            del problem.notes[n_notes:]  # the second may still flip
        n_notes = len(problem.notes)
        two = walk(problem, steps, session)
        if two.status is Status.BUDGET:
            raise BudgetSpentError
        if two.status is not Status.FOUND and one.status is Status.FOUND:
            del problem.notes[n_notes:]  # it was stopped because it could not win
            return one
        return two


def _allowed(problem: Problem, schedule: Iterable[tuple[str, ...]]) -> Iterable[tuple[str, ...]]:
    """The schedule without blocks that the constraints do not allow."""
    constraints = problem.constraints
    if constraints is None or not problem.one_way:
        return schedule
    forbidden, other = (DENSIFY, SPARSIFY) if constraints.can_remove else (SPARSIFY, DENSIFY)
    return (tuple(turn for turn in turns if turn != forbidden) or (other,) for turns in schedule)


def _turns(
    state: State, turns: tuple[str, ...], blocks: Mapping[str, tuple[Turn, cycle[int], bool]]
) -> Iterator[Step]:
    """The steps of one iteration: each block at its next node."""
    for turn in turns:
        if turn not in blocks:
            msg = f"A schedule must yield tuples of 'sparsify' and 'densify'; got {turns!r}."
            raise InvalidParameterError(msg)
        block, nodes, may_skip = blocks[turn]
        for _ in range(state.original.n_nodes):
            acted = False
            for step in block(next(nodes)):
                acted = True
                state.apply(step)
                yield step
            if acted or not may_skip:
                break
        else:
            raise StopSearch


def _query_last(steps: list[Step]) -> list[Step]:
    """The steps of one iteration with a single query, after the last (D3)."""
    last = len(steps) - 1
    for i, step in enumerate(steps):
        ask = Ask.YES if i == last else Ask.NO
        if step.ask is not ask:
            block, structure, toggled, _, nodes, name, iteration = step
            steps[i] = Step(block, structure, toggled, ask, nodes, name, iteration)
    return steps


def _as_block(block: str | Block, known: Mapping[str, Callable[[], Block]], kind: str) -> Block:
    if isinstance(block, str):
        if block not in known:
            raise UnknownNameError(kind, block, known)
        return known[block]()
    return check_callable(kind, block)
