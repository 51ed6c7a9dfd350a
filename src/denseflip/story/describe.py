"""`describe`: from a result to a story, in one call; and the test of its sentence as read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from denseflip.as_read import READINGS
from denseflip.constraints import Constraints
from denseflip.counterfactual import BALANCE, AsRead, Counterfactual, Label, Language
from denseflip.errors import (
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
    whole_number,
)
from denseflip.graph import Nodes, Taxonomy
from denseflip.graph.inputs import match_nodes
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.oracles.protocol import Oracle, about_graph, clean_label
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import ALL_REGIONS, Claim
from denseflip.search.claims.elsewhere import TooFewError
from denseflip.search.claims.places import Places, whole_claim
from denseflip.search.claims.redraw import DRAWS, Redraw, fresh_rng
from denseflip.search.claims.reference import Limits, PlaceReference, judge_claim, limits_of
from denseflip.search.claims.stability import claim_stability
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.constraints.constrained_session import constrain, constraints_of
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import Problem, StopSearch
from denseflip.search.core.target import class_names_of
from denseflip.story.story import Form, Story, reading_of
from denseflip.story.verification import BUDGET, verify
from denseflip.story.wording.notes import NO_DRAWS, SPENT_AS_READ, too_few_left
from denseflip.story.wording.vocabulary import Vocabulary

_LEVEL_STREAM = 3  # makes the redraws at the level of the group differ from those of other tests
FEW_PAIRS = 6  # without regions, up to this many edits are named pair by pair


def describe(
    result: Counterfactual,
    nodes: Nodes | None = None,
    oracle: Oracle | Any = None,
    *,
    regions: str | Taxonomy | None = None,
    vocabulary: str | Vocabulary = "auto",
    subject: str | int | None = None,
    class_names: Mapping[Label, str] | Sequence[str] | None = None,
    evaluation: Any = None,
    share: float = 0.0,
    background: Any = None,
    refits: Any = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    budget: int = BUDGET,
    form: Form = "standard",
    true_class: Label | None = None,
) -> Story:
    """Describe a result in a sentence, and test the sentence.

    The sentence names as few region pairs as possible: the edits inside them flip the oracle by
    themselves, and no pair can be left out. Then the sentence is tested as read: the same number of
    other connections, drawn at random in the same places, should flip the oracle, too. If they do
    not, the sentence says that it holds only for the connections listed.

    Parameters
    ----------
    result : the result of `explain`, found or not.
    nodes : names and regions of the nodes; without regions the sentence names nodes.
    oracle : the classifier of the result, or a session with it. Without it the sentence is not
        tested, and names everything that was changed.
    regions : the regions to name, for example ``"lobe"`` or ``"lobe*hemisphere"``; by default the
        language of the search (regions, nodes or pairs), else the regions of the method, else the
        first of the node table.
    vocabulary : ``"auto"``, one of ``"brain"``, ``"connectome"``, ``"network"``, ``"mouse"``,
        ``"graph"``, ``"paper"``, or a custom `Vocabulary`. ``"auto"`` names connections or edges
        with their numbers; ``"paper"`` names activation, as the paper does.
    subject : the owner of the graph: ``"Subject 9"``; a number gets the vocabulary's noun in front,
        an id such as ``"control-03"`` is used unchanged.
    class_names : name of each label, as a mapping, or as a sequence for the labels 0, 1, 2 …; by
        default those of the oracle.
    evaluation : an `Evaluation` of the classifier or its dictionary; by default that of the
        oracle's card. A footnote reports it, good or bad.
    share : name at least this share of the edits, even if fewer flip the oracle. The sentences of
        the paper name the main changes, needed or not: ``share=0.8`` gives those, tested.
    background : the data set's graphs. With them, a sentence that does not hold for any connections
        of its places is tested for connections typical of the class it leads to, then for those
        that this class has more often than the original's.
    refits : the classifier trained again on resampled data (`make_refits`), or a list of such
        classifiers. A footnote says for how many the sentence holds.
    constraints : the constraints of the search. A result keeps them, except for a mask of pairs
        (``allowed``) and a predicate. Without these here, the tests of the sentence ignore them.
    draws : number of redraws; 0 for none.
    seed : seed of the redraws.
    budget : maximum number of queries of all tests, at least 2; queries for labels of the
        background are counted separately.
    form : the form of ``str()``: ``"short"``, ``"standard"`` or ``"detailed"``.
    true_class : the class of the graph in the data set, as a label or by name. If the classifier
        disagrees, the first sentence says so.

    Examples
    --------
    >>> from denseflip import Graph, explain
    >>> g = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> oracle = lambda a: "linked" if a[1, 2] else "split"
    >>> nodes = Nodes(("a", "b", "c", "d"), regions={"part": ("North", "North", "South", "South")})
    >>> story = describe(explain(g, oracle, "tri"), nodes, oracle, subject="Graph 1")
    >>> story.verified
    True
    """
    if form not in get_args(Form):
        raise UnknownNameError("form", str(form), get_args(Form))
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
        msg = f"share must be a number from 0 to 1; got {share!r}."
        raise InvalidParameterError(msg)
    if isinstance(budget, bool) or not isinstance(budget, int) or budget < 2:
        msg = f"budget must be a whole number of queries, at least 2; got {budget!r}."
        raise InvalidParameterError(msg)
    if result.found and not len(result.edits):
        msg = "The result has the status found, but no edits: there is nothing to describe."
        raise InvalidParameterError(msg)
    whole_number("draws", draws, minimum=0)
    whole_number("seed", seed, minimum=0)
    nodes = match_nodes(result.original, nodes) or Nodes.numbered(result.original.n_nodes)
    nodes.check_fits(result.original.n_nodes)
    taxonomy, language = _language(regions, nodes, result)
    session: BaseSession | None = None
    if isinstance(oracle, BaseSession):
        session, oracle = oracle, oracle.oracle
    elif oracle is not None:
        session = Session(about_graph(coerce_oracle(oracle), result.original, result.target))
    others = None if background is None else Background.of(background)
    bound, unknown = constraints_of(result, nodes, others, constraints)
    if session is not None:
        session = constrain(session, result, bound)
    words = Vocabulary.of(vocabulary, nodes)
    whole, parts = whole_claim(result, language, taxonomy, nodes)
    known = made_for(result, whole) and not share
    check = verify(result, whole, parts, session, share=share, budget=budget, name_all=known)
    as_read: AsRead | None = result.as_read if known else None
    remarks = list(check.remarks)
    if session is not None and not known:
        if check.verified:
            as_read, remark = read_test(
                result,
                check.claim,
                session,
                background=others,
                draws=draws,
                seed=seed,
                budget=budget - check.questions,
                terms=bound,
            )
            remarks += [remark] if remark else []
        if unknown and check.tested:
            remarks.append(
                f"The test of the sentence ignores {' and '.join(unknown)}: the result does not "
                f"contain {'it' if len(unknown) == 1 else 'them'}."
            )
    claim = replace(check.claim, reading=reading_of(as_read))
    check = replace(check, claim=claim, remarks=tuple(remarks))
    reference: tuple[PlaceReference, ...] = ()
    level: AsRead | None = None
    if session is not None and others is not None and claim.amounts:
        limits = limits_of(result, claim, others, session, bound)
        if limits is not None:
            reference = judge_claim(claim, limits.reference, limits.redraw, check.edits)
            in_range = all(place.in_range for place in reference)
            if as_read is not None and as_read.true and in_range and draws:
                level = _level(result, claim, limits, session, draws, seed)
    stable = result.stability if known else None
    if stable is None and session is not None and refits is not None and check.verified:
        stable = claim_stability(result, claim, session, refits, others, bound, seed)
    names = _class_names(class_names, oracle)
    return Story(
        result=result,
        nodes=nodes,
        subject=words.called(subject),
        class_names=names,
        verification=check,
        vocabulary=words,
        evaluation=_evaluation(evaluation, oracle),
        form=form,
        as_read=as_read,
        reference=reference,
        level=level,
        true_class=None if true_class is None else _class_name(clean_label(true_class), names),
        stability=stable,
    )


def _level(
    result: Counterfactual,
    claim: Claim,
    limits: Limits,
    session: BaseSession,
    draws: int,
    seed: int,
) -> AsRead | None:
    """The test as read with the median of the group in every place; None if it is not possible."""
    amounts = limits.at_median(claim.amounts)
    if not amounts:
        return None
    problem = Problem(result.original, result.label_before, claim.label)
    rng = fresh_rng(seed, claim.reading, _LEVEL_STREAM)
    try:
        return limits.redraw.test(amounts, Probe(problem, session, keep=False), rng, draws=draws)
    except (TooFewError, BudgetSpentError):
        return None


def _language(
    wanted: str | Taxonomy | None, nodes: Nodes, result: Counterfactual
) -> tuple[Taxonomy | None, Language]:
    """The regions to name, if any, and the language."""
    stated = result.as_read
    if wanted is None and stated is not None:
        if stated.language != "regions":
            return None, stated.language
        if stated.regions is not None and _has(nodes, stated.regions):
            return nodes.taxonomy(stated.regions), "regions"
    taxonomy = _taxonomy(wanted, nodes, result)
    if taxonomy is not None:
        return taxonomy, "regions"
    return None, "pairs" if len(result.edits) <= FEW_PAIRS else "nodes"


def _has(nodes: Nodes, name: str) -> bool:
    try:
        nodes.taxonomy(name)
    except (MissingInputError, UnknownNameError):
        return False
    return True


def _taxonomy(
    wanted: str | Taxonomy | None, nodes: Nodes, result: Counterfactual
) -> Taxonomy | None:
    if isinstance(wanted, Taxonomy):
        if len(wanted.index) != nodes.n_nodes:
            msg = f"The regions cover {len(wanted.index)} nodes; the graph has {nodes.n_nodes}."
            raise InvalidParameterError(msg, parameter="regions")
        return wanted
    if wanted is not None:
        return nodes.taxonomy(wanted)
    if not nodes.regions:
        return None
    search = result.parameters.get("search")
    used = search.get("regions") if isinstance(search, Mapping) else None
    if isinstance(used, str) and _has(nodes, used):
        return nodes.taxonomy(used)
    return nodes.taxonomy()


def _class_names(
    given: Mapping[Label, str] | Sequence[str] | None, oracle: Any
) -> dict[Label, str]:
    names: Any = getattr(oracle, "class_names", None) if given is None else given
    if isinstance(names, str):
        msg = f"class_names must be a mapping or a sequence of names; got {names!r}."
        raise InvalidParameterError(msg)
    if names is None or not isinstance(names, (Mapping, Iterable)):
        return {}
    if given is None and isinstance(names, Sequence):
        return class_names_of(oracle)
    pairs = names.items() if isinstance(names, Mapping) else enumerate(names)
    return {label: str(name) for label, name in pairs}


def _class_name(label: Label, names: Mapping[Label, str]) -> str:
    """The name of a label; a name is returned unchanged."""
    return names.get(label) or (label if isinstance(label, str) else f"class {label!r}")


def _evaluation(given: Any, oracle: Any) -> Any:
    if given is not None:
        return given
    card = getattr(oracle, "card", None)
    return card.get("evaluation") if isinstance(card, Mapping) else None


def read_test(
    result: Counterfactual,
    claim: Claim,
    session: BaseSession,
    *,
    background: Background | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    budget: int | None = None,
    terms: BoundConstraints | None = None,
) -> tuple[AsRead | None, str]:
    """Test a claim as read; return the outcome, and a remark if it was not tested.

    The claim is tested for any pairs of its places; if that fails and there is a background, for
    pairs typical of the class that the claim leads to, then for those distinctive of it. The first
    reading that is true is returned, else the outcome for any pairs. Only pairs that may change by
    the user's constraints (``terms``) are drawn.
    """
    if claim.language == "pairs":
        return AsRead("pairs", None, "any", 0, 0), ""
    if not draws:
        return None, NO_DRAWS
    places = Places.of_claim(result.original, claim, terms)
    problem = Problem(
        result.original,
        result.label_before,
        claim.label,
        background=background,
        label_background=lambda: [] if background is None else background.labels(session),
    )
    probe = Probe(problem, session, keep=False)
    before, first = session.calls, None
    for reading in READINGS:
        redraw = Redraw(places, reading, apart=False)
        if reading != "any":
            if background is None or not len(background) or background.by_type:
                break
            try:
                redraw = Redraw(places, reading, *problem.frequencies("describe"), apart=False)
            except StopSearch:  # the background has no graph of the class that the claim leads to
                break
        needed = 1 if redraw.fixed(claim.amounts) else draws
        if budget is not None and session.calls - before + needed > budget:
            left = budget - session.calls + before
            return first, too_few_left(left, needed, begun=first is not None)
        try:
            test = redraw.test(claim.amounts, probe, fresh_rng(seed, reading), draws=draws)
        except TooFewError:  # there are fewer such pairs than the claim needs
            continue
        except BudgetSpentError:
            return first, SPENT_AS_READ
        if test.true:
            return test, ""
        first = first or test
    return first, ""


def made_for(result: Counterfactual, whole: Claim) -> bool:
    """Whether the result already contains a test of the claim about all its changes."""
    test = result.as_read
    return (
        test is not None
        and test.language == whole.language
        and test.regions == (None if whole.regions is None else whole.regions.name)
        and (whole.regions is None or _same_cells(result, whole.regions))
    )


def _same_cells(result: Counterfactual, regions: Taxonomy) -> bool:
    """Whether the cells named by the search belong to these regions, not only by name."""
    at, names = regions.index, regions.regions
    wide = {f"{name} – {ALL_REGIONS}": i for i, name in enumerate(names)}
    for step in result.trace:
        if step.block == BALANCE:
            continue
        if step.name in wide and all(wide[step.name] in (at[u], at[v]) for u, v in step.toggled):
            continue
        cells = {tuple(sorted((at[u], at[v]))) for u, v in step.toggled}
        spoken = {names[a] if a == b else f"{names[a]} – {names[b]}" for a, b in cells}
        if spoken != {step.name}:
            return False
    return True
