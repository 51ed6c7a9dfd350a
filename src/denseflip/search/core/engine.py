"""The engine: run a search until the label changes.

The engine follows a stream: it applies the steps, queries the oracle where a step says so, and
stops at the first answer that is a counterfactual. The session looks ahead meanwhile. The result
and the number of calls are the same as with one query at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from denseflip.counterfactual import Ask, Status, Step
from denseflip.errors import InvalidParameterError
from denseflip.graph import Graph
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.core.method import Conversation, Stream
from denseflip.search.core.problem import SPENT, Problem, StopSearch, Walk

NOT_IN_RANGE = (
    "The label was flipped, but not by a sentence that is true as read and in range, as required. "
    'To accept it, pass in_range="prefer".'
)
CHANGED_AFTERWARDS = (
    "A sentence in range was found, but refinement or another requirement (max_edits, robust, "
    "plausible) changed the answer, so it no longer holds. Leave that out, or pass "
    'in_range="prefer".'
)


def must_be_in_range(method: Stream | Conversation) -> bool:
    """Whether a search may only return what real graphs of the new class have."""
    return getattr(method, "in_range", None) == "require"


def search(problem: Problem, method: Stream | Conversation, session: BaseSession) -> Walk:
    """Run a search of either kind, and return where it ended."""
    if method.kind == "stream":
        return walk(problem, method(problem), session)
    try:
        ended = method(problem, session)
    except BudgetSpentError:
        if problem.best is None or problem.best.status is not Status.FOUND:
            return Walk(Status.BUDGET, problem.graph, problem.label)
        if not session.gave_up:  # that has a note of its own
            problem.note(SPENT)
        ended = problem.best
    except StopSearch:
        ended = problem.best or Walk(Status.EXHAUSTED, problem.graph, problem.label)
    if must_be_in_range(method) and isinstance(ended, Walk) and ended.status is Status.FOUND:
        ended.front = tuple(walk for walk in ended.front if walk.in_range)
        if not ended.in_range:
            problem.note(NOT_IN_RANGE)
            spent = SPENT in problem.notes or session.gave_up
            return Walk(Status.BUDGET if spent else Status.EXHAUSTED, problem.graph, problem.label)
    if not isinstance(ended, Walk):
        msg = (
            "A conversation must return a Walk, made by problem.end(graph, label); got "
            f"{type(ended).__name__}."
        )
        raise InvalidParameterError(msg)
    constraints = problem.constraints
    if constraints is not None and constraints.forbids(ended.graph):
        constraints.refuse(ended.graph)
        return Walk(Status.EXHAUSTED, problem.graph, problem.label)
    if ended.status is Status.FOUND:
        label = session.recall(ended.graph).label
        if label != ended.label or not problem.accepts(label):
            msg = (
                f"The search returned a graph as found, with the label {ended.label!r}; the oracle "
                f"labels it {label!r} and the original {problem.label!r}. A conversation must "
                f"return the labels that it received: problem.end(graph, "
                f"session.query(graph).label)."
            )
            raise InvalidParameterError(msg)
    return ended


def walk(
    problem: Problem,
    stream: Iterable[Step],
    session: BaseSession,
    *,
    may_stop: Callable[[Step], bool] | None = None,
) -> Walk:
    """Follow a stream, query the oracle, and stop at the first flip.

    Steps after the last query are dropped, because the graph they lead to was never queried.

    Parameters
    ----------
    problem, stream, session : what is explained, the steps, and the session to query through.
    may_stop : whether a flip after this step ends the walk; by default every flip does. Queries
        that may not end it are counted like any other.
    """
    ended = Walk(Status.EXHAUSTED, problem.graph, problem.label)
    trace = ended.trace
    notes, before = problem.notes, session.calls
    n_notes = len(notes)  # remarks up to the last query
    constraints, length = problem.constraints, 0  # steps up to the last graph that was queried
    try:
        queries = _queries(problem, stream, session)
        for (steps, made), graph in session.look_ahead(queries, session.timing.walk_odds()):
            n_notes, last = made, steps[-1]
            # The answer about a background graph was counted before: use it, count nothing.
            answer = session.recall(graph) if last.ask is Ask.KNOWN else session.query(graph)
            trace.extend(steps)
            if constraints is not None and constraints.forbids(graph):
                continue
            ended.graph, ended.label = graph, answer.label
            length = len(trace)
            if session.on_event is not None:
                session.notify("step", graph, last)
            if problem.accepts(answer.label) and (may_stop is None or may_stop(last)):
                ended.status = Status.FOUND
                break
        else:
            if not notes:
                problem.note(
                    f"The search ran to its end ({session.calls - before:,} queries) and found no "
                    f"flip. Another method may find one, for example 'race', which tries many "
                    f"orders of edits."
                )
            n_notes = len(notes)
    except BudgetSpentError:
        ended.status = Status.BUDGET
    session.timing.record_walk(session.calls - before)
    del trace[length:]
    del notes[n_notes:]  # remarks on steps after the end of the walk
    return ended


def _queries(
    problem: Problem, stream: Iterable[Step], session: BaseSession
) -> Iterator[tuple[tuple[list[Step], int], Graph]]:
    """Graphs to query, each with the steps that lead to it and the number of remarks so far."""
    tip, n, notes = problem.graph, problem.graph.n_nodes, problem.notes
    steps: list[Step] = []
    codes: list[int] = []
    check_time = session.check_time if session.timed else None
    constraints = problem.constraints
    static = None if constraints is None or constraints.any_pair else constraints
    try:
        for step in stream:
            if type(step) is not Step or type(step.ask) is not Ask:
                step = _cleaned(step)
            for u, v in step.toggled:
                if not 0 <= u < v < n:
                    raise _wrong(step, n)
            if static is not None and step.toggled:
                step = _allowed(step, n, static)
                if not step.toggled and not codes:
                    continue  # the graph before it was queried
            steps.append(step)
            codes.extend(u * n + v for u, v in step.toggled)
            if step.ask is not Ask.NO:
                if len(codes) > 1 and len(set(codes)) < len(codes):
                    codes = _net_codes(steps, n)
                tip = tip.toggle_codes(tuple(codes))
                yield (steps, len(notes)), tip
                steps, codes = [], []
            elif len(set(step.toggled)) != len(step.toggled):
                raise _wrong(step, n)
            if check_time is not None:
                check_time()
    except StopSearch:
        return


def _allowed(step: Step, n: int, constraints: BoundConstraints) -> Step:
    """A step without pairs that may not change; a known answer does not hold for it."""
    codes = np.array([u * n + v for u, v in step.toggled], dtype=np.int64)
    free = constraints.may_change(codes)
    if free.all():
        return step
    left = tuple(pair for pair, good in zip(step.toggled, free.tolist(), strict=True) if good)
    ask = Ask.YES if step.ask is Ask.KNOWN else step.ask
    return step._replace(toggled=left, ask=ask)


def _net_codes(steps: list[Step], n: int) -> list[int]:
    """Pairs toggled by the steps between two queries; a pair toggled twice is unchanged."""
    pending: set[int] = set()
    for step in steps:
        once = {u * n + v for u, v in step.toggled}
        if len(once) != len(step.toggled):
            raise _wrong(step, n)
        pending ^= once
    return sorted(pending)


def _cleaned(step: object) -> Step:
    """A step as a user's block may yield it, with ``ask`` as a plain string."""
    if not isinstance(step, Step):
        msg = f"A method or block must yield steps (denseflip.Step); got {type(step).__name__}."
        raise InvalidParameterError(msg)
    try:
        return step._replace(ask=Ask(step.ask))
    except ValueError as error:
        msg = f"A step's ask must be one of {', '.join(Ask)}; got {step.ask!r}."
        raise InvalidParameterError(msg) from error


def _wrong(step: Step, n_nodes: int) -> InvalidParameterError:
    return InvalidParameterError(
        f"A step may toggle each pair (u, v) once, with 0 <= u < v < {n_nodes}; the block "
        f"{step.block!r} yielded {step.toggled!r:.80}."
    )
