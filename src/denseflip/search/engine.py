"""The engine: walk a method's stream of steps until the oracle's label changes.

A stream does not depend on the oracle's answers until a flip, so the engine may look ahead: it
builds 1, 2, 4, … graphs and has them evaluated in one batch. What it reports, the result and the
number of calls, is that of the walk one question at a time, whatever the size of the batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from denseflip.counterfactual import Ask, Label, Status, Step
from denseflip.graph import Graph
from denseflip.oracles.session import BudgetSpentError, Session
from denseflip.search.problem import Problem

MAX_BATCH = 64
_MAX_LOOK_AHEAD_EDGES = 8_000_000  # graphs held at once, counted in edges: bounds the memory


@dataclass
class Walk:
    """Where a walk ended."""

    status: Status
    graph: Graph
    label: Label
    trace: list[Step]


def walk(
    problem: Problem, stream: Iterator[Step], session: Session, *, max_batch: int = MAX_BATCH
) -> Walk:
    """Walk the stream, ask the oracle, stop at the first flip.

    Steps after the last question are dropped: nobody has seen the graph they lead to.
    """
    ended = Walk(Status.EXHAUSTED, problem.graph, problem.label, [])
    batch, tip = 1, problem.graph
    cap = max(1, min(max_batch, _MAX_LOOK_AHEAD_EDGES // max(1, problem.graph.n_edges)))
    while True:
        ahead = _look_ahead(stream, tip, min(batch, cap))
        if not ahead:
            return ended
        tip = ahead[-1][0]
        try:
            # Never evaluate what the budget would not let the walk ask.
            allowed = int(min(len(ahead), max(session.remaining, 1)))
            if not session.out_of_time:
                session.prefetch([graph for graph, _ in ahead[:allowed]])
            for graph, steps in ahead:
                ask = steps[-1].ask
                label = session.peek(graph) if ask is Ask.KNOWN else session.ask(graph)
                ended.graph, ended.label = graph, label
                ended.trace.extend(steps)
                if ask is not Ask.IGNORED and problem.accepts(label):
                    ended.status = Status.FOUND
                    return ended
        except BudgetSpentError:
            ended.status = Status.BUDGET
            return ended
        batch *= 2


def _look_ahead(
    stream: Iterator[Step], tip: Graph, n_questions: int
) -> list[tuple[Graph, list[Step]]]:
    """The next graphs to ask about, each with the steps that lead to it from the one before."""
    ahead: list[tuple[Graph, list[Step]]] = []
    steps: list[Step] = []
    n = tip.n_nodes
    pending: set[int] = set()
    while len(ahead) < n_questions and (step := next(stream, None)) is not None:
        steps.append(step)
        pending.symmetric_difference_update([u * n + v for u, v in step.toggled])
        if step.ask is not Ask.NO:
            tip = tip.toggle_codes(np.fromiter(pending, dtype=np.int64, count=len(pending)))
            ahead.append((tip, steps))
            steps, pending = [], set()
    return ahead
