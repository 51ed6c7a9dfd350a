"""`explain`: the one call that most people need."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from denseflip.counterfactual import Counterfactual, Status
from denseflip.errors import InvalidGraphError, InvalidParameterError, whole_number
from denseflip.graph import Edits, Graph, Nodes
from denseflip.graph.inputs import as_graph, match_nodes
from denseflip.graph.pairs import decode
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession, BudgetSpentError, Event
from denseflip.oracles.protocol import Oracle, about_graph
from denseflip.oracles.session import MAX_BATCH, Session
from denseflip.search.constraints.bound_constraints import BoundConstraints, Constraints
from denseflip.search.constraints.constrained_session import MAX_REFUSED, ConstrainedSession
from denseflip.search.core.engine import search
from denseflip.search.core.method import Conversation, Method, Stream
from denseflip.search.core.problem import CONFIDENCE, Problem, Walk, check_given
from denseflip.search.core.refinement import Candidate, MinimalRefine, shrink_groups
from denseflip.search.core.target import as_target, check_confidence, check_target_seen
from denseflip.search.methods.registry import as_method
from denseflip.search.postprocess.diverse import FlipRecorder, RepeatedSearch, diversify
from denseflip.search.postprocess.requirements import Requirements

GAVE_UP = (
    f"The constraints forbade {MAX_REFUSED:,} graphs in a row, and the search was ended there: it "
    "does not lead where they hold. Loosen them, or take another method."
)
SHRINK_SPENT = "The budget was spent while the answer was made smaller."


def explain(
    graph: Graph | Any,
    oracle: Oracle | Any,
    method: str | Method | Stream | Conversation = "auto",
    *,
    nodes: Nodes | None = None,
    background: Any = None,
    target: Any = None,
    confidence: float | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    budget: int | None = None,
    seed: int = 0,
    time_limit: float | None = None,
    regions: str | None = None,
    language: str | None = None,
    max_cells: int | None = None,
    objective: str | None = None,
    front: bool = False,
    robust: float | None = None,
    noise: float | None = None,
    plausible: bool = False,
    max_implausible: float | None = None,
    n: int = 1,
    batch: int = MAX_BATCH,
    confirm: int = 1,
    on_event: Callable[[Event], object] | None = None,
) -> Counterfactual:
    """Find a graph close to the given one that the oracle labels differently.

    Parameters
    ----------
    graph : the graph to explain: a `Graph`, or an adjacency array, SciPy sparse matrix or networkx
        graph, which are converted.
    oracle : the classifier: anything with ``predict(graphs)``, or a function of an adjacency array
        (see `as_oracle` for other forms).
    method : a name (``denseflip.methods()`` lists them), possibly with refinements behind ``+``;
        or a `DCS`, or any callable: of a problem, that yields steps, or of a problem and a session,
        that asks for itself (see `denseflip.search.core.problem`). The default, `auto`, looks for
        the shortest sentence that is true as read, and for few edits where there is no background
        to learn from; the notes say what it chose and why.
    nodes : names and regions of the nodes; some methods need regions.
    background : the data set's graphs, for the methods that look at them. Keep one
        `Background` when explaining many graphs: its labels are asked only once.
    target : the class wanted, by its label or by its name (where the oracle has ``class_names``),
        or several that will do; by default any other than the graph's own.
    confidence : how sure of it the oracle must be, between 0 and 1; needs one with
        ``predict_proba`` and ``classes``.
    constraints : what may change and what the answer must be like: a `Constraints`, or a mapping
        of its fields. Guaranteed, whatever the method.
    budget : the largest number of questions to the oracle.
    seed : seed of the one random generator of the search.
    time_limit : seconds after which the search stops with what it has.
    regions, language, max_cells, objective, front : parameters of a method that takes them, such
        as `auto`, given to it by its name: the taxonomy; ``"regions"``, ``"nodes"``, ``"pairs"`` or
        ``"auto"``; the most cells that a sentence may name; what is best
        (``"sentence"``, ``"edits"``, ``"balanced"``); and whether to give all answers that no
        other beats (`Counterfactual.front`).
    robust, noise : the share of random perturbations that the flip has to survive, such as 0.9, and
        the share of all pairs that each of them flips (by default 0.01). Where that is out of
        reach the best that was found is given, with the level that it reaches
        (`Counterfactual.robustness`).
    plausible : whether edits are exchanged for more plausible ones of the same place, of those that
        flip: pairs that graphs of the target class have more often.
    max_implausible : how far the answer may be from the nearest real graph of its class, as a
        multiple of what is usual between these (`Plausibility.implausible`).
    n : how many answers in different places (pairs of regions; without regions, of nodes) to look
        for (`Counterfactual.diverse`).
    batch : look ahead by at most this many graphs; changes speed only, never the result.
    confirm : how often the oracle is asked again, past the cache, about the original and the
        counterfactual before it is given back. An oracle that then changes its mind is an error;
        the more often, the more surely one that is not deterministic is caught. Not counted as
        calls; 0 for not at all.
    on_event : called with an `Event` at every question, answer and step, for progress and logs.

    Returns
    -------
    Counterfactual
        Found or not: look at its ``found`` and ``status``.

    Examples
    --------
    >>> g = Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> result = explain(g, lambda a: int(a[0, 1]), "tri")
    >>> result.found, result.label_before, result.label_after
    (True, 1, 0)
    """
    started = time.perf_counter()
    graph = as_graph(graph)
    oracle = coerce_oracle(oracle)
    ready = as_method(
        method,
        regions=regions,
        language=language,
        max_cells=max_cells,
        objective=objective,
        front=front or None,
    )
    seed = whole_number("seed", seed)
    batch = whole_number("batch", batch, minimum=1)
    confirm = whole_number("confirm", confirm)
    wanted = as_target(target, oracle)
    several = front or getattr(ready.search, "front", False) is True
    wishes = Requirements.of(robust, noise, plausible, max_implausible, n, several)
    met = FlipRecorder(on_event) if wishes.n > 1 and not wishes.changes else None
    box = oracle
    oracle = about_graph(oracle, graph, wanted)
    terms = Constraints.of(constraints)
    if confidence is not None:
        confidence = check_confidence(confidence)
    if nodes is not None:
        if not isinstance(nodes, Nodes):
            msg = f"nodes must be a Nodes table; got {type(nodes).__name__}."
            raise InvalidParameterError(msg)
        nodes.check_fits(graph.n_nodes)
    nodes = match_nodes(graph, nodes)
    known = None if background is None else Background.of(background)
    if known is not None and len(known) and known.graphs[0].n_nodes != graph.n_nodes:
        msg = f"The graph has {graph.n_nodes} nodes, the background {known.graphs[0].n_nodes}."
        raise InvalidGraphError(msg)
    known = known and known.named_like(graph)
    bound = terms.bind(graph, nodes, known) if terms else None
    session: BaseSession = Session(
        oracle,
        budget=budget,
        time_limit=time_limit,
        max_batch=batch,
        confidence=CONFIDENCE in ready.needs or confidence is not None,
        on_event=on_event if met is None else met,
    )
    own = session.query(graph)
    if bound is not None or confidence is not None:
        session = ConstrainedSession(session, own, bound, confidence)
    problem = Problem(
        graph,
        own.label,
        wanted,
        nodes,
        known,
        np.random.default_rng(seed),
        label_background=lambda: () if known is None else known.labels(session),
        check_time=session.check_time,
        constraints=bound,
    )
    if wanted is not None and problem.accepts(own.label):
        if confidence is not None and own.confidence is not None and own.confidence < confidence:
            problem.note(
                f"The graph is of the class wanted already, with a confidence of "
                f"{own.confidence:.2f}: less than {confidence:g}, and no other was looked for."
            )
        return _result(problem, session, ready, seed, started, status=Status.NOT_NEEDED)
    check_target_seen(problem, oracle)
    for need in sorted(ready.needs, reverse=True):
        check_given(need, ready.name.split("+")[0], nodes, known)
    if met is not None:
        met.original = graph
        met.accepts = lambda answer: problem.accepts(session.apply_confidence(answer).label)
    found = search(problem, ready.search, session)
    searched = session.calls
    iterations = max((step.iteration for step in found.trace), default=0)
    # How much of the generator the search drew depends on how far it looked ahead.
    problem.rng = np.random.default_rng((seed, 1))
    facts: dict[str, Any] = {"minimal": found.minimal, "as_read": found.as_read}
    if found.status is Status.FOUND:
        candidate = Candidate(problem, found, session)
        try:
            for refine in ready.refiners:
                refine(candidate)
        except BudgetSpentError:
            problem.note("The budget was spent during refinement; the result may be refined more.")
        size = None if bound is None else _shrink(candidate, bound)
        if bound is not None and size is not None:
            problem.note(bound.bound(size=size, smallest=candidate.graph))
            return _result(
                problem,
                session,
                ready,
                seed,
                started,
                status=Status.BUDGET if SHRINK_SPENT in problem.notes else Status.EXHAUSTED,
                search_calls=searched,
                refine_calls=session.calls - searched,
                iterations=iterations,
            )
        facts |= wishes.fulfil(candidate, ready, seed, found.graph, _told_in(found))
        session.confirm([graph, candidate.graph], times=confirm)
        if candidate.steps:  # what was seen of the graph before it was refined
            found.notes = ()
            if found.as_read is not None and found.as_read.language != "pairs":
                facts["as_read"] = None
        if ready.refiners or candidate.graph != found.graph:  # a certificate is of one graph
            facts["minimal"] = candidate.minimal
        found.graph, found.label = candidate.graph, candidate.label
        found.trace += candidate.steps
    elif bound is not None and (why := bound.bound()):
        problem.note(why)
    if session.gave_up:
        problem.note(GAVE_UP)
    result = _result(
        problem,
        session,
        ready,
        seed,
        started,
        status=found.status,
        edits=Edits.between(graph, found.graph),
        label_after=found.label,
        search_calls=searched,
        refine_calls=session.calls - searched,
        iterations=iterations,
        trace=tuple(found.trace),
        chosen=found.chosen,
        **facts,
    )
    notes = (*result.notes, *found.notes)
    answers = _front(result, found, session)
    if bound is not None:
        answers = tuple(one for one in answers if bound.too_large(one.counterfactual) is None)
    result = with_weights(replace(result, notes=notes, front=answers), oracle)
    if wishes.n == 1:
        return result
    again = RepeatedSearch(
        budget,
        time_limit,
        result,
        partial(
            explain,
            graph,
            box,
            ready,
            nodes=nodes,
            background=known,
            target=wanted,
            confidence=confidence,
            seed=seed,
            robust=robust,
            noise=noise,
            plausible=plausible,
            max_implausible=max_implausible,
            batch=batch,
            confirm=confirm,
            on_event=on_event,
        ),
    )
    flips = () if met is None else met.flips()
    if bound is not None:
        flips = [flip for flip in flips if bound.too_large(flip[0]) is None]
    result = diversify(result, wishes.n, nodes, terms, flips, again)
    weighed = tuple(one if one.weights else with_weights(one, oracle) for one in result.diverse)
    return replace(result, diverse=weighed)


def with_weights(result: Counterfactual, oracle: Oracle) -> Counterfactual:
    """The result with the weights that the oracle saw at its edits, if it sees weights."""
    see = getattr(oracle, "edge_weights", None)
    if see is None or not result.edits:
        return result
    n, after = result.original.n_nodes, result.counterfactual
    pairs = (*result.added, *result.removed)
    places = [u * n + v - (u + 1) * (u + 2) // 2 for u, v in pairs]
    old, new = see(result.original), see(after)
    notes = result.notes
    others = np.delete(new - old, places)
    if others.any():
        notes += (
            "The counterfactual is a graph of the data set, asked about with its own weights: "
            f"those of {np.count_nonzero(others):,} pairs beside the edits differ, too.",
        )
    weights = tuple(
        (u, v, float(old[at]), float(new[at])) for (u, v), at in zip(pairs, places, strict=True)
    )
    front = tuple(with_weights(one, oracle) for one in result.front)
    return replace(result, weights=weights, notes=notes, front=front)


def _told_in(found: Walk) -> str | None:
    """The taxonomy that an answer is told in, if the search saw to that."""
    return None if found.as_read is None else found.as_read.regions


def _shrink(candidate: Candidate, terms: BoundConstraints) -> str | None:
    """Bring a counterfactual within the bounds on its size; the bound that it still breaks."""
    try:
        if terms.too_large(candidate.graph) == "max_cells":
            split = terms.cells.split(candidate.graph.difference(terms.graph), fullest_first=True)
            n = terms.graph.n_nodes
            shrink_groups([decode(codes, n) for codes in reversed(split.values())], candidate)
        if terms.too_large(candidate.graph) is not None:
            MinimalRefine()(candidate)
    except BudgetSpentError:
        candidate.problem.note(SHRINK_SPENT)
    return terms.too_large(candidate.graph)


def _front(result: Counterfactual, found: Walk, session: BaseSession) -> tuple[Counterfactual, ...]:
    """The answers that no other beats as results of their own; all share calls and most notes."""
    return tuple(
        replace(
            result,
            edits=Edits.between(result.original, walk.graph),
            label_after=walk.label,
            iterations=max((step.iteration for step in walk.trace), default=0),
            trace=tuple(walk.trace),
            minimal=walk.minimal,
            as_read=walk.as_read,
            chosen=walk.chosen,
            notes=(*result.notes, *walk.notes),
            confidence_after=_confidence(session, walk.graph)[0],
        )
        for walk in found.front
    )


def _result(
    problem: Problem,
    session: BaseSession,
    method: Method,
    seed: int,
    started: float,
    *,
    status: Status,
    **facts: Any,
) -> Counterfactual:
    after = facts.get("edits", Edits()).apply(problem.graph)
    before, then = _confidence(session, problem.graph, after)
    bound = problem.constraints
    return Counterfactual(
        status=status,
        original=problem.graph,
        label_before=problem.label,
        target=problem.target,
        method=method.name,
        parameters=method.parameters,
        seed=seed,
        background_calls=session.background_calls,
        distinct_calls=session.distinct,
        notes=tuple(problem.notes),
        elapsed=time.perf_counter() - started,
        confidence_before=before,
        confidence_after=then,
        confidence=session.required_confidence,
        constraints={} if bound is None else bound.constraints.given,
        refused={} if bound is None else dict(bound.refused),
        **{"edits": Edits(), "label_after": problem.label, **facts},
    )


def _confidence(session: BaseSession, *graphs: Graph) -> tuple[float | None, ...]:
    """How sure the oracle is of its labels of these graphs; None where it does not say."""
    oracle = session.oracle
    if not hasattr(oracle, "predict_proba") or getattr(oracle, "classes", None) is None:
        return tuple(None for _ in graphs)
    other = Session(oracle, confidence=True)
    sure = []
    for graph in graphs:
        answer, label = other.peek(graph), session.peek(graph).label
        sure.append((answer.probabilities or {}).get(label))
    return tuple(sure)
