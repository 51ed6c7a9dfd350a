"""`explain`: find a counterfactual of one graph. Validate, open, search, post-process, package."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from denseflip.constraints import Constraints
from denseflip.counterfactual import Counterfactual, Status, Target
from denseflip.errors import InvalidParameterError, whole_number
from denseflip.graph import Edits, Graph, Nodes
from denseflip.graph.inputs import as_graph, ignored_weights, match_nodes
from denseflip.graph.pairs import decode
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession, BudgetSpentError, Event
from denseflip.oracles.progress import FlipRecorder
from denseflip.oracles.protocol import Oracle, about_graph
from denseflip.oracles.session import MAX_BATCH, Session, confidences_of
from denseflip.oracles.tensors import check_own_rows
from denseflip.request import Request, takes_request
from denseflip.search.claims.stability import check_refits, with_stability
from denseflip.search.constraints.bound_constraints import BoundConstraints, bind_constraints
from denseflip.search.constraints.constrained_session import GAVE_UP, ConstrainedSession
from denseflip.search.core.engine import CHANGED_AFTERWARDS, must_be_in_range, search
from denseflip.search.core.large_graphs import budget_for, note_default_budget
from denseflip.search.core.method import Method, check_needs
from denseflip.search.core.problem import CONFIDENCE, OUT_OF_TIME, Problem, Walk
from denseflip.search.core.refinement import Candidate, MinimalRefine, shrink_groups
from denseflip.search.core.target import as_target, check_target_seen
from denseflip.search.core.towards import check_information, information_note
from denseflip.search.methods.registry import method_for, takes
from denseflip.search.postprocess.diverse import KEPT, RepeatedSearch, diversify
from denseflip.search.postprocess.plausible import exchanged_trace
from denseflip.search.postprocess.requirements import Requirements
from denseflip.search.postprocess.robust_claim import make_claim_robust
from denseflip.search.postprocess.weights import complete, with_weights

_OF_METHOD: dict[str, Any] = dict.fromkeys(
    ("language", "objective", "max_cells", "in_range", "balance", "reference", "stable")
)
SHRINK_SPENT = "The budget was spent while the size of the answer was reduced."


@takes_request()
def explain(
    graph: Graph | Any,
    oracle: Oracle | Any,
    request: Request,
    *,
    nodes: Nodes | None = None,
    background: Any = None,
    refits: Any = None,
    batch: int = MAX_BATCH,
    on_event: Callable[[Event], object] | None = None,
) -> Counterfactual:
    """Find a graph close to the given one that the classifier labels differently.

    Parameters
    ----------
    graph : the graph to explain: a `Graph`, an adjacency array, a SciPy sparse matrix or a networkx
        graph.
    oracle : the classifier: anything with ``predict(graphs)``, or a function of an adjacency array
        (see `as_oracle` for other forms).
    nodes : names and regions of the nodes. Some methods need regions.
    background : graphs of the data set. Methods that compare classes need them. Pass one
        `Background` when you explain many graphs, so that its labels are queried only once.
    refits : the classifier trained again on resampled data (`make_refits`), or a list of such
        classifiers. ``stable`` needs them. With them the result says for how many its claim holds.
    batch : largest number of graphs per call of the classifier. Changes speed, never the result.
    on_event : called with an `Event` at every query, answer, step and new smallest
        counterfactual, for progress and logs.
    {options}
    request : all options as one `Request`; options given by name replace its fields.

    Returns
    -------
    Counterfactual
        Found or not: see its ``found`` and ``status``.

    Examples
    --------
    >>> g = Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> result = explain(g, lambda a: int(a[0, 1]), "tri")
    >>> result.found, result.label_before, result.label_after
    (True, 1, 0)
    """
    started = time.perf_counter()
    case = _validate(graph, oracle, request, nodes, background, refits, batch)
    run = _open(case, on_event, started)
    if run.is_reached:
        return _package(run, _Answer(Status.NOT_NEEDED))
    answer = _postprocess(run, _search(run))
    return _package(run, answer)


@dataclass(frozen=True)
class _Case:
    """What `explain` was called with, checked and resolved.

    Attributes
    ----------
    given_oracle : the classifier as it was given; ``oracle`` is its view of this graph.
    constraints : those of the request (`constraints_for`).
    bound : the constraints bound to the graph, or None.
    bound_of_pairs : the same for an answer described pair by pair; see `_bound_of_pairs`.
    """

    graph: Graph
    oracle: Oracle
    given_oracle: Oracle
    request: Request
    method: Method
    target: Target
    nodes: Nodes | None
    background: Background | None
    constraints: Constraints
    bound: BoundConstraints | None
    bound_of_pairs: BoundConstraints | None
    requirements: Requirements
    batch: int
    notes: tuple[str | None, ...]
    refits: tuple[Oracle, ...]


@dataclass
class _Run:
    """One explanation under way."""

    case: _Case
    session: BaseSession
    problem: Problem
    recorder: FlipRecorder | None
    on_event: Callable[[Event], object] | None
    started: float
    is_reached: bool = False
    search_calls: int | None = None


@dataclass
class _Answer:
    """The parts of the result that are not in `_Run`."""

    status: Status
    walk: Walk | None = None
    facts: dict[str, Any] = field(default_factory=dict)


# ---- validate -------------------------------------------------------------------------------


def _validate(
    graph: Any, oracle: Any, request: Request, nodes: Any, background: Any, refits: Any, batch: Any
) -> _Case:
    """Check everything that can be checked before the first query."""
    notes = (ignored_weights(graph), *getattr(refits, "notes", ()))
    graph = as_graph(graph)
    given = coerce_oracle(oracle)
    check_own_rows(graph, given, "the graph")
    method = method_for(request)
    batch = whole_number("batch", batch, minimum=1)
    target = as_target(request.target, given)
    request.check_front(request.front or getattr(method.search, "front", False) is True)
    if nodes is not None:
        if not isinstance(nodes, Nodes):
            msg = f"nodes must be a Nodes table; got {type(nodes).__name__}."
            raise InvalidParameterError(msg, parameter="nodes")
        nodes.check_fits(graph.n_nodes)
    nodes = match_nodes(graph, nodes)
    known = None if background is None else Background.of(background)
    known = known and known.check_fits(graph).check_rows(given).named_like(graph)
    constraints = constraints_for(request, nodes)
    bound = bind_constraints(constraints, graph, nodes, known) if constraints else None
    return _Case(
        graph,
        about_graph(given, graph, target),
        given,
        request,
        method,
        target,
        nodes,
        known,
        constraints,
        bound,
        _bound_of_pairs(request, graph, nodes, known) or bound,
        Requirements.of(request, graph),
        batch,
        notes,
        check_refits(refits, getattr(method.search, "stable", None)),
    )


def constraints_for(request: Request, nodes: Nodes | None) -> Constraints:
    """The constraints of a request, with ``max_cells`` for a method that does not take it.

    A method that takes it names no more places, in the regions or nodes that it chooses.
    """
    if request.max_cells is None or takes(request.method, "max_cells"):
        return request.constraints
    return _within_cells(request)


def _within_cells(request: Request) -> Constraints:
    regions = request.regions if isinstance(request.regions, str) else None
    own = request.constraints
    return replace(own, max_cells=request.max_cells, regions=regions or own.regions)


def _bound_of_pairs(
    request: Request, graph: Graph, nodes: Nodes | None, background: Background | None
) -> BoundConstraints | None:
    """The constraints of an answer without a sentence, by a method that was given ``max_cells``.

    Such an answer is a list of pairs. They must lie in no more region pairs than that, where there
    are regions and nothing else was asked for.
    """
    named = takes(request.method, "max_cells") and request.max_cells is not None
    counted = nodes is not None and bool(nodes.regions)
    if not named or not counted or request.front or request.language in ("nodes", "pairs"):
        return None
    return bind_constraints(_within_cells(request), graph, nodes, background)


# ---- open -----------------------------------------------------------------------------------


def _open(case: _Case, on_event: Callable[[Event], object] | None, started: float) -> _Run:
    """Open the session, query the original, and state the problem."""
    request, bound = case.request, case.bound
    keep = KEPT if request.n > 1 and not case.requirements.changes else 0
    recorder = FlipRecorder(on_event, keep=keep) if keep or on_event is not None else None
    session: BaseSession = Session(
        case.oracle,
        budget=budget_for(request, case.graph),
        time_limit=request.time_limit,
        max_batch=case.batch,
        confidence=CONFIDENCE in case.method.needs
        or request.confidence is not None
        or request.information == "probabilities",
        information=request.information,
        on_event=on_event if recorder is None else recorder,
    )
    own = session.query(case.graph)
    if bound is not None or request.confidence is not None:
        session = ConstrainedSession(session, own, bound, request.confidence)
    known = case.background
    truth = known if getattr(case.method.search, "reference", None) == "true" else None
    typed = known is not None and known.by_type
    problem = Problem(
        case.graph,
        own.label,
        case.target,
        case.nodes,
        None if typed else known,
        np.random.default_rng(request.seed),
        label_background=lambda: () if known is None else known.labels(session),
        check_time=session.check_time,
        constraints=bound,
        refits=case.refits,
        true_labels=None if truth is None else partial(truth.true_labels, session),
        by_type=known if typed else None,
    )
    known_note = None if known is None else known.note
    for note in (*case.notes, known_note, getattr(case.oracle, "input_note", None)):
        if note:
            problem.note(note)
    run = _Run(case, session, problem, recorder, on_event, started)
    if case.target is not None and problem.accepts(own.label):
        least, sure = request.confidence, own.confidence
        if least is not None and sure is not None and sure < least:
            problem.note(
                f"The graph already has the target class, with a confidence of {sure:.2f}, which "
                f"is less than {least:g}. No search was run."
            )
        run.is_reached = True
        return run
    check_information(case.method, request.information, session)
    check_target_seen(problem, case.oracle)
    check_needs(case.method, case.nodes, known)
    if recorder is not None:
        recorder.original = case.graph
        recorder.accepts = lambda answer: problem.accepts(session.apply_confidence(answer).label)
    return run


# ---- search ---------------------------------------------------------------------------------


def _search(run: _Run) -> Walk:
    """Run the method."""
    found = search(run.problem, run.case.method.search, run.session)
    run.search_calls = run.session.calls
    note_default_budget(run.problem, run.case.request, run.session)
    # How much of the generator the search drew depends on how far it looked ahead.
    run.problem.rng = np.random.default_rng((run.case.request.seed, 1))
    return found


# ---- post-process ---------------------------------------------------------------------------


def _postprocess(run: _Run, found: Walk) -> _Answer:
    """Refine the counterfactual, reduce it to its bounds, and meet the other requirements."""
    case, session, problem, bound = run.case, run.session, run.problem, run.case.bound
    seed, noise, robustness = case.request.seed, case.requirements.noise, None
    if noise is not None and found.in_range and found.verified and not case.method.refiners:
        found, robustness = make_claim_robust(found, problem, session, noise, seed)
    facts: dict[str, Any] = {
        "minimal": found.minimal,
        "as_read": found.as_read,
        "stability": found.stability,
        "iterations": max((step.iteration for step in found.trace), default=0),
    }
    if found.status is Status.FOUND:
        candidate = Candidate(problem, found, session)
        try:
            for refine in case.method.refiners:
                refine(candidate)
        except BudgetSpentError:
            problem.note("The budget was spent during refinement; the result may be refined more.")
        if found.as_read is None or found.as_read.language == "pairs":
            bound = problem.constraints = case.bound_of_pairs
        size = None if bound is None else _shrink(candidate, bound)
        if bound is not None and size is not None:
            problem.note(bound.bound(size=size, smallest=candidate.graph))
            spent = SHRINK_SPENT in problem.notes
            status = Status.BUDGET if spent else Status.EXHAUSTED
            return _Answer(status, facts={"iterations": facts["iterations"]})
        facts |= case.requirements.fulfil(candidate, case.method, seed, found, robustness)
        regions = None if found.as_read is None else found.as_read.regions
        kept = exchanged_trace(candidate, found, regions) if candidate.steps else None
        session.confirm([case.graph, candidate.graph], times=case.request.confirm)
        if candidate.steps and kept is None:  # what was seen of the graph before it was refined
            found.notes = ()
            if found.as_read is not None and found.as_read.language != "pairs":
                facts["as_read"] = facts["stability"] = None
            if must_be_in_range(case.method.search):
                problem.note(CHANGED_AFTERWARDS)
                return _Answer(Status.EXHAUSTED, facts={"iterations": facts["iterations"]})
        # A certificate of minimality is valid for one graph only.
        if case.method.refiners or candidate.graph != found.graph:
            facts["minimal"] = candidate.minimal
        found.graph, found.label = candidate.graph, candidate.label
        found.trace = found.trace + candidate.steps if kept is None else kept
    elif bound is not None and (why := bound.bound()):
        problem.note(why)
    if session.gave_up:
        problem.note(GAVE_UP)
    if used := information_note(case.request.information, session):
        problem.note(used)
    return _Answer(found.status, found, facts)


def _shrink(candidate: Candidate, bound: BoundConstraints) -> str | None:
    """Reduce a counterfactual to the bounds on its size; return the bound it still exceeds."""
    try:
        if bound.too_large(candidate.graph) == "max_cells":
            split = bound.cells.split(candidate.graph.difference(bound.graph), fullest_first=True)
            n = bound.graph.n_nodes
            shrink_groups([decode(codes, n) for codes in reversed(split.values())], candidate)
        if bound.too_large(candidate.graph) is not None:
            MinimalRefine()(candidate)
    except BudgetSpentError:
        candidate.problem.note(SHRINK_SPENT)
    return bound.too_large(candidate.graph)


# ---- package --------------------------------------------------------------------------------


def _package(run: _Run, answer: _Answer) -> Counterfactual:
    """The result, with its Pareto front and its other answers."""
    case, found = run.case, answer.walk
    if found is None:
        return _result(run, answer.status, answer.facts, None)
    result = _result(
        run,
        answer.status,
        {
            "edits": Edits.between(case.graph, found.graph),
            "label_after": found.label,
            "trace": tuple(found.trace),
            "chosen": found.chosen,
            **answer.facts,
        },
        found.graph,
    )
    notes = (*result.notes, *found.notes)
    answers = _front(result, found, run.session)
    if case.bound is not None:
        answers = tuple(a for a in answers if case.bound.too_large(a.counterfactual) is None)
    result = with_weights(replace(result, notes=notes, front=answers), case.oracle)
    if case.refits and result.found:
        result = _stable(run, result)
    return result if case.request.n == 1 else _diverse(run, result)


def _stable(run: _Run, result: Counterfactual) -> Counterfactual:
    """The result with its stability, and with that of every answer of its front."""
    case = run.case
    level = getattr(case.method.search, "stable", None)
    known = (run.session, case.nodes, case.background, case.bound)
    result = with_stability(result, case.refits, *known, wanted=level)
    # The same refits for all answers of a front: those that no search has used.
    judges = case.refits if level is None else case.refits[1::2]
    answers = (
        replace(one, stability=result.stability)
        if (one.edits, one.as_read) == (result.edits, result.as_read)
        else with_stability(one, judges, *known, wanted=None)
        for one in result.front
    )
    return replace(result, front=tuple(answers))


def _diverse(run: _Run, result: Counterfactual) -> Counterfactual:
    """The result with other answers in other places."""
    case = run.case
    alone = replace(
        case.request, method=case.method, parameters={}, target=case.target, n=1, **_OF_METHOD
    )

    def search_again(**limits: Any) -> Counterfactual:
        return explain(
            case.graph,
            case.given_oracle,
            nodes=case.nodes,
            background=case.background,
            refits=case.refits or None,
            batch=case.batch,
            on_event=run.on_event,
            request=replace(alone, **limits),
        )

    again = RepeatedSearch(case.request.budget, case.request.time_limit, result, search_again)
    flips = []
    if run.recorder is not None and not must_be_in_range(case.method.search):
        flips = run.recorder.flips()
    if case.bound is not None:
        flips = [flip for flip in flips if case.bound.too_large(flip[0]) is None]
    result = diversify(result, case.request.n, case.nodes, case.constraints, flips, again)
    return replace(result, diverse=tuple(complete(one, run.session) for one in result.diverse))


def _front(result: Counterfactual, found: Walk, session: BaseSession) -> tuple[Counterfactual, ...]:
    """The answers of the Pareto front as results; all share calls and most notes."""
    return tuple(
        replace(
            result,
            edits=Edits.between(result.original, walk.graph),
            label_after=walk.label,
            iterations=max((step.iteration for step in walk.trace), default=0),
            trace=tuple(walk.trace),
            minimal=walk.minimal,
            as_read=walk.as_read,
            stability=walk.stability,
            chosen=walk.chosen,
            notes=(*result.notes, *walk.notes),
            confidence_after=confidences_of(session, walk.graph)[0],
        )
        for walk in found.front
    )


def _result(
    run: _Run, status: Status, facts: dict[str, Any], ended: Graph | None
) -> Counterfactual:
    case, session, problem = run.case, run.session, run.problem
    if status is Status.BUDGET and session.out_of_time:
        problem.note(OUT_OF_TIME)
    flips = () if ended is None else ended.difference(problem.graph)
    after = problem.graph.toggle_codes(flips)
    before, then = confidences_of(session, problem.graph, after)
    bound = problem.constraints
    if run.search_calls is not None:
        facts["search_calls"] = run.search_calls
        facts["refine_calls"] = session.calls - run.search_calls
    return Counterfactual(
        status=status,
        original=problem.graph,
        label_before=problem.label,
        target=problem.target,
        method=case.method.name,
        parameters=case.method.parameters,
        seed=case.request.seed,
        background_calls=session.background_calls,
        distinct_calls=session.distinct,
        notes=tuple(problem.notes),
        elapsed=time.perf_counter() - run.started,
        confidence_before=before,
        confidence_after=then,
        confidence=session.required_confidence,
        constraints={} if bound is None else bound.constraints.given,
        refused={} if bound is None else dict(bound.refused),
        **{"edits": Edits(), "label_after": problem.label, **facts},
    )
