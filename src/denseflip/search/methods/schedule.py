"""Schedules: how often each block is called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat

from denseflip.errors import UnknownNameError, check_callable
from denseflip.search.core.problem import Problem
from denseflip.search.methods.blocks import DENSIFY, SPARSIFY, Schedule


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


def as_schedule(schedule: str | Schedule) -> Schedule:
    """A schedule by name, or a callable as it is."""
    if isinstance(schedule, str):
        if schedule not in SCHEDULES:
            raise UnknownNameError("schedule", schedule, SCHEDULES)
        return SCHEDULES[schedule][0]()
    return check_callable("schedule", schedule)
