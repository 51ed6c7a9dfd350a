"""The engine: walk a method's stream of steps until the oracle's label changes.

A stream does not depend on the oracle's answers until a flip, so the engine may look ahead: it
builds 1, 2, 4, … graphs and has them evaluated in one batch. What it reports, the result and the
number of calls, is that of the walk one question at a time, whatever the size of the batches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from denseflip.counterfactual import Ask, Label, Status, Step
from denseflip.errors import InvalidParameterError
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
    n_notes = 0
    while True:
        try:
            ahead, failure = _look_ahead(problem, stream, tip, min(batch, cap), session)
            # Never evaluate what the budget would not let the walk ask.
            allowed = int(min(len(ahead), session.remaining))
            if not session.out_of_time:
                session.prefetch([question.graph for question in ahead[:allowed]])
            for question in ahead:
                n_notes, tip = question.n_notes, question.graph
                ask = question.steps[-1].ask
                label = session.peek(tip) if ask is Ask.KNOWN else session.ask(tip)
                ended.graph, ended.label = tip, label
                ended.trace.extend(question.steps)
                if ask is not Ask.IGNORED and problem.accepts(label):
                    ended.status = Status.FOUND
                    break
            else:
                n_notes = len(problem.notes)
                if failure is not None:
                    raise failure
                if ahead:
                    batch *= 2
                    continue
        except BudgetSpentError:
            ended.status = Status.BUDGET
        del problem.notes[n_notes:]  # remarks on what lies beyond the end of the walk
        return ended


class _Question(NamedTuple):
    """A graph to ask about, the steps that lead to it, and the remarks made by then."""

    graph: Graph
    steps: list[Step]
    n_notes: int


def _look_ahead(
    problem: Problem, stream: Iterator[Step], tip: Graph, n_questions: int, session: Session
) -> tuple[list[_Question], Exception | None]:
    """The next questions, and the error that the stream met behind the last of them, if any."""
    ahead: list[_Question] = []
    steps: list[Step] = []
    pending: set[int] = set()
    try:
        while len(ahead) < n_questions and (step := next(stream, None)) is not None:
            if type(step) is not Step or type(step.ask) is not Ask:
                step = _cleaned(step)
            steps.append(step)
            pending ^= _codes(step, tip.n_nodes)
            if step.ask is not Ask.NO:
                tip = tip.toggle_codes(np.fromiter(pending, dtype=np.int64, count=len(pending)))
                ahead.append(_Question(tip, steps, len(problem.notes)))
                steps, pending = [], set()
            session.check_time()
    except Exception as error:  # for the walk to raise when, and if, it gets there
        return ahead, error
    return ahead, None


def _cleaned(step: object) -> Step:
    """A step as a user's own block may yield it: the question as a plain word."""
    if not isinstance(step, Step):
        msg = f"A method or block yields steps (denseflip.Step); got {type(step).__name__}."
        raise InvalidParameterError(msg)
    try:
        return step._replace(ask=Ask(step.ask))
    except ValueError as error:
        msg = f"A step's ask must be one of {', '.join(Ask)}; got {step.ask!r}."
        raise InvalidParameterError(msg) from error


def _codes(step: Step, n_nodes: int) -> set[int]:
    codes = {u * n_nodes + v for u, v in step.toggled if 0 <= u < v < n_nodes}
    if len(codes) != len(step.toggled):
        msg = (
            f"A step may toggle each pair (u, v) once, with 0 <= u < v < {n_nodes}; the block "
            f"{step.block!r} yielded {step.toggled!r:.80}."
        )
        raise InvalidParameterError(msg)
    return codes
