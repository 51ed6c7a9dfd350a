"""DCS: rank, sparsify, densify and schedule composed into one stream of steps.

Also the schedules, and the methods that differ from `cli` in their structure only.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import cycle, repeat, takewhile
from typing import Any

import numpy as np

from denseflip.counterfactual import Ask, Status, Step
from denseflip.errors import (
    InvalidParameterError,
    check_choice,
    whole_number,
)
from denseflip.graph import Graph, Nodes
from denseflip.graph.node_order import Ints, pair_places
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.core.engine import walk
from denseflip.search.core.method import Conversation, Stream, needs_of
from denseflip.search.core.problem import Problem, Walk
from denseflip.search.core.refinement import Refine, by_name
from denseflip.search.methods.blocks import (
    DENSIFY,
    RANKS,
    SPARSIFY,
    Block,
    Rank,
    RegionRank,
    Schedule,
    State,
    StopSearch,
    Turn,
    check_ranking,
)
from denseflip.search.methods.cell import CellDensify, CellSparsify
from denseflip.search.methods.structure_blocks import (
    CliqueDensify,
    CliqueSparsify,
    PairDensify,
    PairSparsify,
    StructureDensify,
    StructureSparsify,
)
from denseflip.search.methods.structures import STRUCTURES, Structure

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
        check_choice("questions", self.questions, ("each", "iteration"))
        if self.max_iterations is not None:
            whole_number("max_iterations", self.max_iterations)
        ranks = {name: make for name, (make, _) in RANKS.items()}
        schedules = {name: make for name, (make, _) in SCHEDULES.items()}
        for kind, known in (
            ("rank", ranks),
            (SPARSIFY, SPARSIFIERS),
            (DENSIFY, DENSIFIERS),
            ("schedule", schedules),
        ):
            object.__setattr__(self, kind, by_name(kind, getattr(self, kind), known))

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


# ---- schedules ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Alternate:
    """One of each per iteration, as in the paper: the number of edges stays about the same."""

    def __call__(self, problem: Problem) -> Iterator[tuple[str, ...]]:
        """Sparsify, then densify, without end."""
        return repeat((SPARSIFY, DENSIFY))


@dataclass(frozen=True)
class DensitySchedule:
    """One block per iteration; the sparser the graph, the more often densify (paper, end of §4).

    The share of densify is ``r / (r + d)`` with d the graph's density and r the mean density of
    the background; without a background it is ``1 - d``. The turns are spread by error diffusion: a
    running sum grows by the share in each iteration; when it reaches one half, densify is called
    and one is subtracted. So the sequence is deterministic and deviates from the share by at most
    one turn.
    """

    def __call__(self, problem: Problem) -> Iterator[tuple[str, ...]]:
        """Yield one block per iteration, without end."""
        share = densify_share(problem)
        owed = 0.0
        while True:
            owed += share
            if owed >= 0.5:
                owed -= 1.0
                yield (DENSIFY,)
            else:
                yield (SPARSIFY,)


def densify_share(problem: Problem) -> float:
    """Share of the iterations that densify under `DensitySchedule`."""
    pairs = max(problem.graph.n_pairs, 1)
    density = problem.graph.n_edges / pairs
    if problem.background is None or not len(problem.background):
        return 1 - density
    graphs = problem.background.graphs
    usual = sum(g.n_edges for g in graphs) / len(graphs) / pairs
    return usual / (usual + density) if usual + density else 0.5


SCHEDULES: dict[str, tuple[Callable[[], Schedule], str]] = {
    "alternate": (Alternate, "one of each per iteration (the paper's choice)"),
    "density": (DensitySchedule, "the sparser the graph, the more often densify"),
}


# ---- ties broken by structure -------------------------------------------------------------------


@dataclass(frozen=True)
class Renumbered(Stream):
    """A stream that runs with the nodes renumbered by structure; its steps have the old numbers.

    `tri`, `cli` and `rcli` break ties by node number, as the paper does. With renumbered nodes they
    break ties by structure instead (``ties_by="structure"``).
    """

    search: Stream

    @property
    def needs(self) -> frozenset[str]:
        """The needs of the search."""
        return needs_of(self.search)

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield the steps of the search, renumbered."""
        places = problem.places
        old = np.argsort(places).tolist()
        moved = _moved_problem(problem, places, old)
        for step in self.search(moved):
            pairs = tuple(
                sorted((min(old[u], old[v]), max(old[u], old[v])) for u, v in step.toggled)
            )
            yield step._replace(toggled=pairs, nodes=tuple(sorted(old[v] for v in step.nodes)))


def _moved_problem(problem: Problem, places: Ints, old: list[int]) -> Problem:
    def moved(graph: Graph) -> Graph:
        return Graph(graph.n_nodes, np.sort(pair_places(graph.codes, places)))

    def picked(values: Any) -> Any:
        return tuple(values[v] for v in old)

    nodes, background = problem.nodes, problem.background
    if nodes is not None:
        nodes = Nodes(
            picked(nodes.names),
            {name: picked(labels) for name, labels in nodes.regions.items()},
            None if nodes.coordinates is None else picked(nodes.coordinates),
        )
    constraints = problem.constraints
    if constraints is not None:
        constraints = constraints.renumbered(moved(problem.graph), np.array(old))
    return replace(
        problem,
        graph=moved(problem.graph),
        constraints=constraints,
        nodes=nodes,
        background=None if background is None else Background(map(moved, background.graphs)),
        label_background=lambda: problem.background_labels,
    )


# ---- methods of dense structures ----------------------------------------------------------------


def method_of(kind: type[Structure]) -> Callable[..., DCS]:
    """The function that builds the method of a structure.

    Its parameters are those of the structure, then those that all of these methods have.
    """

    def build(
        *,
        rank: str | Rank = "triangles",
        schedule: str | Schedule = "alternate",
        ties: str = "rank",
        slack: int = 10,
        max_iterations: int = 200,
        **own: Any,
    ) -> DCS:
        structure = kind(**own)
        return DCS(
            rank=rank,
            sparsify=StructureSparsify(structure),
            densify=StructureDensify(structure, slack=slack, ties=ties),
            schedule=schedule,
            max_iterations=max_iterations,
        )

    only = inspect.Parameter.KEYWORD_ONLY
    taken = [p.replace(kind=only) for p in inspect.signature(kind).parameters.values()]
    common = [p for p in inspect.signature(build).parameters.values() if p.kind is only]
    build.__signature__ = inspect.Signature(taken + common)  # type: ignore[attr-defined]
    build.__name__ = build.__qualname__ = kind.__name__.lower()
    build.__doc__ = inspect.getdoc(kind)
    return build


def cell(
    *,
    regions: str | None = None,
    rank: str | Rank | None = None,
    schedule: str | Schedule = "alternate",
    max_iterations: int = 200,
) -> DCS:
    """Empty the densest cell of regions, fill the sparsest; a cell is two regions or one."""
    return DCS(
        rank=RegionRank(() if regions is None else (regions,)) if rank is None else rank,
        sparsify=CellSparsify(regions),
        densify=CellDensify(regions),
        schedule=schedule,
        max_iterations=max_iterations,
    )
