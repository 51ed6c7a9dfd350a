"""`race`: many orders of edits side by side, and the first that flip made as small as they go.

For classifiers whose labels are not monotone, nearest neighbours above all: there no order is right
for every graph, and one more helpful edit may undo the flip. So the orders run against one another:
one edit of each, two of each, four of each … until a few have flipped; those are refined, and the
smallest wins.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from denseflip.counterfactual import Label
from denseflip.errors import whole_number
from denseflip.graph import Codes, Pair
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import SPENT, Problem, StopSearch, Walk
from denseflip.search.core.refinement import Candidate, MinimalRefine
from denseflip.search.core.shared_session import SharedSession
from denseflip.search.methods.baselines import shuffled
from denseflip.search.methods.contrast import helpful_changes
from denseflip.search.methods.orders import NodeSum, joined

_ALL_PAIRS = 2_000_000  # up to here orders hold every pair of the graph
_LONGEST = 1 << 16  # of an order over a larger one
_AT_LEAST = 64  # questions that every runner-up gets to be made smaller with


@dataclass(frozen=True)
class Runner:
    """One order of edits in the race."""

    name: str
    codes: Codes

    def at(self, length: int) -> Codes:
        """Its first edits."""
        return self.codes[:length]


@dataclass(frozen=True)
class Race(Conversation):
    """Ask about prefixes of many orders, level by level; refine the first few that flip.

    The orders: `tri` both ways, each also with its additions alone and its removals alone; the
    changes of `con` as one list; the differences to the nearest graphs of another class, shuffled;
    random swaps. Without a background there are fewer.

    Parameters
    ----------
    nearest : how many graphs of another class are walked towards.
    swaps : how many random orders of swaps run with the others.
    finalists : how many orders that flip are refined; the smallest result is given back.
    """

    nearest: int = 3
    swaps: int = 4
    finalists: int = 3

    def __post_init__(self) -> None:
        whole_number("nearest", self.nearest)
        whole_number("swaps", self.swaps)
        whole_number("finalists", self.finalists, minimum=1)

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Run the race."""
        session = SharedSession(session)
        runners = list(self.runners(problem))
        finals = self.first_flips(problem, Probe(problem, session), runners)
        if not finals:
            problem.note(
                f"None of {len(runners)} orders flips the label, however far it is followed"
                + ("; give a background." if problem.background is None else ".")
            )
            return problem.end(problem.graph, problem.label)
        return _smallest(problem, session, finals)

    def runners(self, problem: Problem) -> Iterator[Runner]:
        """The orders that run."""
        graph, rng = problem.graph, problem.rng
        dense, sparse = _by_triangles(problem, reverse=False), _by_triangles(problem, reverse=True)
        if not problem.one_way:  # else they are what follows
            yield Runner("tri", _in_turn(*dense))
            yield Runner("tri reversed", _in_turn(*sparse))
        for name, (removals, additions) in (("tri", dense), ("tri reversed", sparse)):
            yield Runner(f"{name}, additions", additions)
            yield Runner(f"{name}, removals", removals)
        if problem.background is not None and len(problem.background):
            try:
                _, others = problem.split_background("race")
            except StopSearch:
                others = []
            if others:
                yield Runner("con", helpful_changes(problem, "race"))
            others = sorted(others, key=graph.relative_distance)
            for other in others[: self.nearest]:
                yield Runner(
                    "towards a graph", rng.permutation(problem.free(graph.difference(other)))
                )
        for _ in range(self.swaps):
            removals, additions = (_codes(problem, pairs) for pairs in shuffled(problem))
            if problem.one_way:
                yield Runner("at random", np.concatenate((removals, additions)))
            else:
                yield Runner("swaps", _in_turn(removals, additions))

    def first_flips(
        self, problem: Problem, probe: Probe, runners: Sequence[Runner]
    ) -> list[tuple[Runner, Codes, Label]]:
        """The first orders that flip, with the edits that do it; shorter ones first."""
        finals: list[tuple[Runner, Codes, Label]] = []
        running = [runner for runner in runners if len(runner.codes)]
        length = 1
        while running and len(finals) < self.finalists:
            try:
                answers = probe.answers([runner.at(length) for runner in running])
            except BudgetSpentError:
                if finals:  # what has flipped is made smaller with what is left
                    problem.note(SPENT)
                    return finals
                for runner in running:  # the level does not fit into the budget as a whole
                    probe.answer(runner.at(length))
                raise
            still = []
            for runner, answer in zip(running, answers, strict=True):
                if problem.accepts(answer.label):
                    finals.append((runner, runner.at(length), answer.label))
                elif length < len(runner.codes):
                    still.append(runner)
            running, length = still, 2 * length
        return finals[: self.finalists]


def _smallest(
    problem: Problem, session: BaseSession, finals: Sequence[tuple[Runner, Codes, Label]]
) -> Walk:
    """Refine the finalists, and give back the smallest, certified.

    The first is refined for as long as it takes. A runner-up that is not done after as many
    questions as that took is left as it is, and seen to only if it is the smallest even so.
    """
    best, name, most = None, "", None
    for runner, codes, label in finals:
        started = session.calls
        graph = problem.graph.toggle_codes(codes)
        candidate = Candidate(problem, problem.end(graph, label), SharedSession(session, most))
        refine_to_the_end(candidate, session)
        most = max(_AT_LEAST, most or 0, session.calls - started)
        if best is None or len(candidate.pairs) < len(best.pairs):
            best, name = candidate, runner.name
    assert best is not None
    if not best.minimal:
        best.session = session
        refine_to_the_end(best, session)
    problem.note(f"race: the order {name!r} gave the smallest of {len(finals)} answers refined.")
    ended = problem.end(best.graph, best.label)
    ended.minimal = best.minimal
    return ended


def refine_to_the_end(candidate: Candidate, session: BaseSession) -> None:
    """Refine a candidate to a minimal one, or to the end of its part of the questions.

    What was reached is kept in the problem if nothing smaller is there; only the end of the whole
    budget is an error.
    """
    try:
        MinimalRefine()(candidate)
    except BudgetSpentError:
        if session.remaining < 1 or session.out_of_time:
            raise
    finally:
        problem = candidate.problem
        kept = problem.best
        if kept is None or problem.graph.distance(kept.graph) > len(candidate.pairs):
            problem.keep(candidate.graph, candidate.label).minimal = candidate.minimal


def _by_triangles(problem: Problem, *, reverse: bool) -> tuple[Codes, Codes]:
    """Removals and additions in the order of `tri`."""
    graph, score = problem.graph, NodeSum(problem.triangles)
    return (
        _codes(problem, joined(graph, score, descending=not reverse)),
        _codes(problem, score.unjoined(graph, descending=reverse)),
    )


def _codes(problem: Problem, pairs: Iterator[Pair]) -> Codes:
    """An order of pairs as far as a race goes: on a large graph not to its end."""
    n, pairs = problem.graph.n_nodes, problem.free_pairs(pairs)
    if problem.graph.n_pairs > _ALL_PAIRS:
        pairs = islice(pairs, _LONGEST)
    return np.fromiter((u * n + v for u, v in pairs), dtype=np.int64)


def _in_turn(removals: Codes, additions: Codes) -> Codes:
    """One of each in turn, up to the end of the shorter list."""
    n = min(len(removals), len(additions))
    return np.column_stack((removals[:n], additions[:n])).ravel()
