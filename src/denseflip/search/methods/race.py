"""`race`: many orders of edits side by side; the first few that flip are refined.

For classifiers whose labels are not monotone, such as nearest neighbours. For them no order is best
for every graph, and one more helpful edit may undo the flip. So many orders are followed in
parallel: one edit of each, two of each, four of each … until a few have flipped. Those are refined,
and the smallest is returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np

from denseflip.counterfactual import Label
from denseflip.errors import whole_number
from denseflip.graph import Codes, Pair
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.oracles.gradients import PairGradient
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import Probe, SharedSession
from denseflip.search.core.problem import SPENT, Problem, StopSearch, Walk
from denseflip.search.core.refinement import Candidate, MinimalRefine
from denseflip.search.core.towards import gains_at, ordered
from denseflip.search.methods.baselines import helpful_changes, shuffled
from denseflip.search.methods.orders import NodeSum, free_unjoined, joined

_ALL_PAIRS = 2_000_000  # up to here orders hold every pair of the graph
_LONGEST = 1 << 16  # the length of an order over a larger graph
_AT_LEAST = 64  # queries for refining each answer after the first


@dataclass(frozen=True)
class EditOrder:
    """One order of edits that `race` follows."""

    name: str
    codes: Codes

    def prefix(self, length: int) -> Codes:
        """The first edits."""
        return self.codes[:length]


@dataclass(frozen=True)
class Race(Conversation):
    """Many orders of edits in parallel; the first few that flip are refined.

    Prefixes of all orders are queried, level by level.

    The orders are: `tri` in both directions, each also with its additions alone and its removals
    alone; the list of `con`; the differences to the nearest graphs of another class, shuffled; and
    random swaps. Without a background there are fewer. With gradients, their order is one more.

    Parameters
    ----------
    nearest : number of graphs of another class to follow the differences to.
    swaps : number of random orders of swaps.
    finalists : number of orders that flip and are refined; the smallest result is returned.
    """

    nearest: int = 3
    swaps: int = 4
    finalists: int = 3
    uses: ClassVar[tuple[str, ...]] = ("gradients",)

    def __post_init__(self) -> None:
        whole_number("nearest", self.nearest)
        whole_number("swaps", self.swaps)
        whole_number("finalists", self.finalists, minimum=1)

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Follow the orders, and refine the first that flip."""
        session = SharedSession(session)
        orders = list(self.orders(problem, gains_at(problem, session, problem.graph)))
        finals = self.first_flips(problem, Probe(problem, session), orders)
        if not finals:
            problem.note(
                f"None of {len(orders)} orders flips the label, even if followed to the end"
                + ("; pass a background." if problem.background is None else ".")
            )
            return problem.end(problem.graph, problem.label)
        return _smallest(problem, session, finals)

    def orders(self, problem: Problem, gains: PairGradient | None = None) -> Iterator[EditOrder]:
        """The orders to follow; that of the gradient first, if there is one."""
        graph, rng = problem.graph, problem.rng
        if gains is not None:
            yield EditOrder("gradient", ordered(problem, gains.pairs, gains.values))
        dense, sparse = _by_triangles(problem, reverse=False), _by_triangles(problem, reverse=True)
        if not problem.one_way:  # otherwise they equal the next ones
            yield EditOrder("tri", _alternating(*dense))
            yield EditOrder("tri reversed", _alternating(*sparse))
        for name, (removals, additions) in (("tri", dense), ("tri reversed", sparse)):
            yield EditOrder(f"{name}, additions", additions)
            yield EditOrder(f"{name}, removals", removals)
        if problem.background is not None and len(problem.background):
            try:
                _, others = problem.split_background("race")
            except StopSearch:
                others = []
            if others:
                yield EditOrder("con", helpful_changes(problem, "race"))
            others = sorted(others, key=graph.relative_distance)
            for other in others[: self.nearest]:
                yield EditOrder(
                    "towards a graph", rng.permutation(problem.free(graph.difference(other)))
                )
        for _ in range(self.swaps):
            removals, additions = (_codes(problem, pairs) for pairs in shuffled(problem))
            if problem.one_way:
                yield EditOrder("at random", np.concatenate((removals, additions)))
            else:
                yield EditOrder("swaps", _alternating(removals, additions))

    def first_flips(
        self, problem: Problem, probe: Probe, orders: Sequence[EditOrder]
    ) -> list[tuple[EditOrder, Codes, Label]]:
        """The first orders that flip, with the edits and the label; shorter ones first."""
        finals: list[tuple[EditOrder, Codes, Label]] = []
        active = [order for order in orders if len(order.codes)]
        length = 1
        while active and len(finals) < self.finalists:
            try:
                answers = probe.answers([order.prefix(length) for order in active])
            except BudgetSpentError:
                if finals:  # the rest of the budget goes to their refinement
                    problem.note(SPENT)
                    return finals
                for order in active:  # the budget does not cover the whole level
                    probe.answer(order.prefix(length))
                raise
            remaining = []
            for order, answer in zip(active, answers, strict=True):
                if problem.accepts(answer.label):
                    finals.append((order, order.prefix(length), answer.label))
                elif length < len(order.codes):
                    remaining.append(order)
            active, length = remaining, 2 * length
        return finals[: self.finalists]


def _smallest(
    problem: Problem, session: BaseSession, finals: Sequence[tuple[EditOrder, Codes, Label]]
) -> Walk:
    """Refine the finalists, and return the smallest one, certified.

    The first is refined completely. Each of the others gets at most as many queries as that took,
    and is refined completely only if it is the smallest even so.
    """
    best, name, most = None, "", None
    for order, codes, label in finals:
        started = session.calls
        graph = problem.graph.toggle_codes(codes)
        candidate = Candidate(problem, problem.end(graph, label), SharedSession(session, most))
        refine_to_the_end(candidate, session)
        most = max(_AT_LEAST, most or 0, session.calls - started)
        if best is None or len(candidate.pairs) < len(best.pairs):
            best, name = candidate, order.name
    assert best is not None
    if not best.minimal:
        best.session = session
        refine_to_the_end(best, session)
    problem.note(f"race: the order {name!r} gave the smallest of {len(finals)} refined answers.")
    ended = problem.end(best.graph, best.label)
    ended.minimal = best.minimal
    return ended


def refine_to_the_end(candidate: Candidate, session: BaseSession) -> None:
    """Refine a candidate until it is minimal, or until its part of the queries is spent.

    The result is stored in the problem if it is the smallest so far. Only the end of the whole
    budget raises an error.
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
        _codes(problem, free_unjoined(problem, score, descending=reverse)),
    )


def _codes(problem: Problem, pairs: Iterator[Pair]) -> Codes:
    """The codes of an order of pairs; on a large graph only its first part."""
    n, pairs = problem.graph.n_nodes, problem.free_pairs(pairs)
    if problem.graph.n_pairs > _ALL_PAIRS:
        pairs = islice(pairs, _LONGEST)
    return np.fromiter((u * n + v for u, v in pairs), dtype=np.int64)


def _alternating(removals: Codes, additions: Codes) -> Codes:
    """One of each alternately, up to the end of the shorter list."""
    n = min(len(removals), len(additions))
    return np.column_stack((removals[:n], additions[:n])).ravel()
