"""`brief`: the shortest sentence that is true as read.

Searches for a claim: a few places with an amount each, such that the label flips in nine of ten
cases, whichever pairs of those places are changed. Single places are tried first, then sets of
them. The amounts are reduced as far as the claim holds. The verdict comes from redraws that the
search did not use. The search itself is in `claim_search`.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from denseflip.as_read import READINGS
from denseflip.counterfactual import Reading
from denseflip.errors import InvalidParameterError, check_name, whole_number
from denseflip.graph import Taxonomy
from denseflip.graph.nodes import TYPE
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.request import BALANCE, IN_RANGE, REFERENCE
from denseflip.search.claims.claim import ALL_REGIONS, net
from denseflip.search.claims.claim_search import ClaimSearch
from denseflip.search.claims.elsewhere import Elsewhere
from denseflip.search.claims.forecast import forecasting_probe
from denseflip.search.claims.intervals import FEWEST
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.reference import Reference, judge_claim
from denseflip.search.claims.stable_search import StableGoal, StableSearch
from denseflip.search.claims.verified_claim import VerifiedClaim, pareto_front, shortest
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import SharedSession
from denseflip.search.core.problem import BACKGROUND, REGIONS, Problem, StopSearch, Walk
from denseflip.search.methods.claim_walk import walk_to

if TYPE_CHECKING:
    from denseflip.search.methods.auto import Auto
    from denseflip.search.methods.best import Best

_FEW_CELLS = 3  # a stable sentence this short is taken without trying finer regions
MAX_CELLS, WIDE_CELLS = 5, 8  # places of a sentence; more if no shorter one is in range
_MOST_REGIONS = 1000  # edges are counted for every pair of regions, in every graph
_IN_RANGE_QUERIES = 1200  # that one language may take to find a sentence in range
_WIDER_QUERIES = 200  # the same, for one region with all regions if cells have none
_ONE_WAY = (
    "Additions alone, or removals alone, change the number of edges, which is nearly the same in "
    "all graphs of the new class, so no such answer is in range. Allow both directions."
)


@dataclass(frozen=True)
class Brief(Conversation):
    """A few region pairs and amounts that flip, whichever connections there are changed.

    In range, one region with all regions is tried too, if no single pair of regions is enough.

    Parameters
    ----------
    regions : the taxonomy, for example ``"lobe"``; None for the first of the node table.
    language : ``"regions"`` (and ``"auto"``) or ``"nodes"``.
    max_cells : the largest number of places that a sentence may name; None for 5, or 8 if no
        shorter sentence is in range.
    readings : which pairs of a place may be meant, tried in this order; see `AsRead`.
    front : whether to search for the Pareto front.
    in_range : whether every place must end within what real graphs of the new class have:
        ``"prefer"``, ``"require"`` or ``"ignore"``.
    balance : whether to keep the number of edges, ``"on"`` or ``"off"``; ``"auto"`` if the graphs
        of the new class have nearly the same number.
    reference : the graphs that give the range: those that the ``"classifier"`` puts in the new
        class, or those whose ``"true"`` class it is.
    stable : the mean share of redraws that must also flip refits of the classifier; None for none.
    """

    regions: str | None = None
    language: str = "auto"
    max_cells: int | None = None
    readings: tuple[Reading, ...] = READINGS
    front: bool = False
    in_range: str = "prefer"
    balance: str = "auto"
    reference: str = "classifier"
    stable: float | None = None
    uses: ClassVar[tuple[str, ...]] = ("gradients",)
    takes_types: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_sentence_options(self)
        if self.language == "pairs":
            msg = "brief describes regions or nodes; for pairs use the method 'tight' or 'race'."
            raise InvalidParameterError(msg, parameter="language")
        check_name("language", self.language, ("auto", "regions", "nodes"))
        given = self.readings
        words = tuple(given.split(",")) if isinstance(given, str) else tuple(given)
        for word in words:
            check_name("reading", word, READINGS, parameter="readings")
        if not words:
            msg = f"readings must name at least one of {', '.join(READINGS)}."
            raise InvalidParameterError(msg, parameter="readings")
        object.__setattr__(self, "readings", words)

    @property
    def needs(self) -> frozenset[str]:
        """Regions, unless it describes nodes; and the data set."""
        return frozenset({BACKGROUND} if self.language == "nodes" else {REGIONS, BACKGROUND})

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Search for claims, and return the walk to the best one."""
        taxonomy = None
        if self.language != "nodes":
            taxonomy = problem.taxonomy(self.regions, "brief")
            if reason := unsuitable(taxonomy):
                msg = f"{reason} Choose another taxonomy, or describe nodes: language='nodes'."
                if self.regions is not None:
                    raise InvalidParameterError(msg, parameter="regions")
                problem.note(msg)
                raise StopSearch
        session, claims = SharedSession(session), []
        stable = None
        if self.stable is not None:
            stable = find_stable(self, problem, session, [taxonomy])
            if stable is not None and not self.front:
                return stable
        for attempt in attempts(self, problem):
            claims += self.find_claims(problem, session, taxonomy, attempt)
            if claims and not self.front:
                break
        if claims:
            return with_stable(self.walk(problem, claims, taxonomy), stable)
        if stable is not None:
            return stable
        problem.note(no_sentence_note(taxonomy, attempt))
        if self.in_range == "require":
            self.note_nearest_miss(problem, session, [taxonomy])
        raise StopSearch

    def note_nearest_miss(
        self, problem: Problem, session: BaseSession, taxonomies: Sequence[Taxonomy | None]
    ) -> None:
        """Note the shortest sentence out of range, if none in range was found."""
        plan = replace(self, in_range="ignore", front=False)
        if not _known_group(problem):
            return
        for attempt, taxonomy in product(list(attempts(plan, problem)), taxonomies):
            try:
                claims = plan.find_claims(problem, session, taxonomy, attempt)
            except BudgetSpentError:
                return
            if claims:
                problem.note(_nearest_miss(problem, shortest(claims), taxonomy))
                return
        problem.note("No sentence out of range was found either.")

    def find_claims(
        self,
        problem: Problem,
        session: BaseSession,
        taxonomy: Taxonomy | None,
        attempt: Attempt,
        goal: StableGoal | None = None,
        *,
        wider: bool = True,
    ) -> list[VerifiedClaim]:
        """All claims of one attempt that were found true as read, each to one class.

        If the claims need several pairs of regions, one region with all regions is tried, unless
        ``wider`` is False.
        """
        if attempt.with_all and not _has_wider(taxonomy):
            return []
        if not attempt.towards and session.remaining < 2 * _IN_RANGE_QUERIES:
            return []  # a short budget is left for any answer at all
        places = Places(problem.graph, taxonomy, problem.constraints, with_all=attempt.with_all)
        most = 1 if attempt.with_all else _most_cells(problem, taxonomy, attempt.max_cells)
        claims: list[VerifiedClaim] = []
        whole = session
        if attempt.in_range and self.in_range == "prefer" and not self.front:
            session = SharedSession(
                session, _WIDER_QUERIES if attempt.with_all else _IN_RANGE_QUERIES
            )
        try:
            for one_class in attempt.classes(problem):
                one_class.split_background("brief")  # ends the search if there are no such graphs
                same, group = one_class.reference_groups("brief")
                reference = Reference(places, same, group)
                if attempt.in_range and not reference.is_known:
                    continue
                balanced = attempt.balance == "on" or (
                    attempt.balance == "auto" and keeps_edges(one_class, reference)
                )
                total = not (attempt.in_range and one_class.one_way and reference.keeps_edges)
                if not total and self.in_range == "require":
                    problem.note(_ONE_WAY)
                    continue
                if attempt.unbalanced_only and not keeps_edges(one_class, reference):
                    continue  # the same search as before
                kind: Any = ClaimSearch if goal is None else partial(StableSearch, goal=goal)
                made = partial(
                    kind,
                    one_class,
                    forecasting_probe(one_class, session),
                    readings=self.readings,
                    thorough=self.front,
                    in_range=attempt.in_range,
                    towards=attempt.towards if goal is None else None,
                    balanced=balanced,
                    total=total,
                )
                search = made(reference, max_cells=most, singles=not attempt.wide)
                search.verified = claims
                if attempt.in_range and not attempt.wide and wider and _has_wider(taxonomy):
                    regions = Reference(replace(places, with_all=True), same, group)
                    search.wider = partial(made, regions, max_cells=1)
                try:
                    search.search()
                finally:
                    _keep_smaller(problem, one_class)
                if claims and not self.front:
                    break
        except BudgetSpentError:
            if whole is not session and whole.remaining >= 1 and not whole.out_of_time:
                return claims  # other languages, and sentences out of range, remain
            if not claims:
                n = session.calls
                problem.note(
                    f"The budget was spent ({n:,} {'query' if n == 1 else 'queries'}) before a "
                    "sentence was found to be true as read. A test is started only if the rest of "
                    "the budget covers it."
                )
            else:
                problem.best = self.walk(problem, claims, taxonomy)
            raise
        return claims

    def walk(
        self, problem: Problem, claims: list[VerifiedClaim], taxonomy: Taxonomy | None
    ) -> Walk:
        """The walk to the best claim, with the Pareto front if it was requested.

        A front compares cells, edits and truth only, and the best claim is chosen from it.
        Otherwise a place in which the classes differ clearly is preferred, even if another place
        takes fewer edits.
        """
        kept = [claims[i] for i in pareto_front([one.marks for one in claims])]
        best = shortest(kept if self.front else claims)
        if not self.front:
            return walk_to(problem, best, taxonomy)
        walks = [walk_to(problem, one, taxonomy) for one in kept]
        ended = walks[kept.index(best)]
        ended.front = tuple(walks)
        return ended


class Attempt(NamedTuple):
    """One of the searches that are tried in turn, from the most to the least believable answer.

    Attributes
    ----------
    in_range : whether every place must end in the interval of the reference group.
    max_cells : the largest number of places.
    balance : whether to keep the number of edges; see `Brief`.
    wide : whether this only allows more places than the attempts before.
    with_all : whether the only places are one region with all regions.
    unbalanced_only : whether this only gives up the number of edges.
    towards : whether places in which the classes clearly differ must move towards the new class.
    others : True for all accepted classes but the nearest, False for the nearest; None for all.
    """

    in_range: bool
    max_cells: int
    balance: str
    wide: bool = False
    with_all: bool = False
    unbalanced_only: bool = False
    towards: bool = True
    others: bool | None = None

    def classes(self, problem: Problem) -> list[Problem]:
        """One problem for each class to search for, the nearest first."""
        listed = problem.by_target()
        return listed if self.others is None else listed[1:] if self.others else listed[:1]


def attempts(plan: Brief | Auto | Best, problem: Problem) -> Iterator[Attempt]:
    """The searches to try in turn.

    In range, the nearest class first; more places; one region with all regions; in range, but not
    towards the new class; out of range.
    """
    most = MAX_CELLS if plan.max_cells is None else plan.max_cells
    if plan.in_range != "ignore":
        by_oracle = problem.true_labels is None
        if not _known_group(problem):
            problem.note(
                "Whether an answer is in range is not known: fewer than "
                f"{FEWEST} background graphs are {'labelled as' if by_oracle else 'of'} the target "
                "class."
            )
        classes = set(filter(problem.accepts, problem.background_labels))
        # If regions were requested, every class is searched for in them before other regions.
        for others in (False, True) if len(classes) > 1 and plan.regions is None else (None,):
            yield Attempt(True, most, plan.balance, others=others)
        if plan.max_cells is None:
            yield Attempt(True, WIDE_CELLS, plan.balance, wide=True)
        yield Attempt(True, most, plan.balance, with_all=True)
        yield Attempt(True, most, plan.balance, towards=False)
    if plan.in_range != "require":
        yield Attempt(False, most, plan.balance)
        if plan.balance == "auto":
            yield Attempt(False, most, "off", unbalanced_only=True)


def find_stable(
    plan: Brief | Auto,
    problem: Problem,
    session: BaseSession,
    taxonomies: Sequence[Taxonomy | None],
) -> Walk | None:
    """The walk to a claim that also holds for refits of the classifier; None if none was found.

    The claim is chosen on one half of the refits. Its stability is that on the other half.
    """
    assert plan.stable is not None
    labels_only = session.information == "labels"
    goal = StableGoal.of(problem, plan.stable, confidence=not labels_only)
    if not goal.search.sessions or not goal.verdict.sessions:
        n, agreeing = len(problem.refits), len(goal.search.sessions) + len(goal.verdict.sessions)
        problem.note(
            f"Only {agreeing} of {n} classifiers trained again give the graph the label "
            f"{problem.label!r}, so no stable answer can be searched for."
        )
        return None
    found: list[VerifiedClaim] = []
    try:
        for attempt in attempts(plan, problem):
            if attempt.wide or attempt.with_all or not attempt.towards:
                continue
            for taxonomy in taxonomies:
                name = None if taxonomy is None else taxonomy.name
                brief = Brief(name, "nodes" if taxonomy is None else "regions", plan.max_cells)
                found += brief.find_claims(problem, session, taxonomy, attempt, goal)
                if any(goal.meets(one) and one.cells <= _FEW_CELLS for one in found):
                    break
            if found:
                break
    except BudgetSpentError:
        if not found:
            raise
        problem.note("The budget was spent while the search was looking for a stable answer.")
    if not found:
        return None
    best = goal.best(found)
    ended = walk_to(problem, best, best.claim.regions)
    ended.stability = goal.judge(best, problem.rng)
    return ended


def with_stable(ended: Walk, stable: Walk | None) -> Walk:
    """The stable answer with the front of the others, which shows what stability costs."""
    if stable is None:
        return ended

    def n_places(walk: Walk) -> float:  # a list of pairs comes last
        return len(walk.as_read.places) if walk.as_read and walk.as_read.places else math.inf

    others = (walk for walk in ended.front if walk.graph != stable.graph)
    stable.front = tuple(sorted((*others, stable), key=n_places))
    return stable


def _known_group(problem: Problem) -> bool:
    """Whether the group of some accepted class is large enough for intervals."""
    labels = problem.background_labels if problem.true_labels is None else problem.true_labels()
    counts = Counter(label for label in labels if problem.accepts(label))
    return any(n >= FEWEST for n in counts.values())


def keeps_edges(problem: Problem, reference: Reference) -> bool:
    """Whether the number of edges has to be kept by default."""
    return reference.keeps_edges and not problem.one_way and problem.by_type is None


def check_sentence_options(plan: Any) -> None:
    """Check the options that `brief`, `auto` and `best` share."""
    if plan.max_cells is not None:
        most = whole_number("max_cells", plan.max_cells, minimum=1)
        object.__setattr__(plan, "max_cells", most)
    stable = getattr(plan, "stable", None)
    if stable is not None and not (isinstance(stable, (int, float)) and 0 < stable <= 1):
        msg = f"stable must be a number above 0 and at most 1; got {stable!r}."
        raise InvalidParameterError(msg, parameter="stable")
    for name, known in (("in_range", IN_RANGE), ("balance", BALANCE), ("reference", REFERENCE)):
        check_name(name, getattr(plan, name), known)


def _most_cells(problem: Problem, taxonomy: Taxonomy | None, most: int) -> int:
    """The largest number of places, also by the constraints if they count the same places."""
    constraints = problem.constraints
    limit = None if constraints is None else constraints.constraints.max_cells
    if constraints is None or limit is None or taxonomy is None:
        return most
    return min(most, limit) if constraints.cells.taxonomy.index == taxonomy.index else most


def _has_wider(taxonomy: Taxonomy | None) -> bool:
    """Whether one region with all regions is a place of its own, with a name of its own."""
    if taxonomy is None or taxonomy.name == TYPE:
        return False
    return len(taxonomy.regions) > 2 and ALL_REGIONS not in taxonomy.regions


def _keep_smaller(problem: Problem, one_class: Problem) -> None:
    """Keep the best answer of a search for one class if it is the smallest so far."""
    new, old = one_class.best, problem.best
    size = problem.graph.distance
    if new is not None and (old is None or size(new.graph) < size(old.graph)):
        problem.best = new


def unsuitable(taxonomy: Taxonomy) -> str:
    """Why these regions cannot describe a change; empty if they can."""
    n = len(taxonomy.regions)
    if n == 1 and len(taxonomy.index) > 1:
        return (
            f"The taxonomy {taxonomy.name!r} has only one region, so a sentence about it would "
            "not say where."
        )
    if n == len(taxonomy.index) and n > 1:
        return (
            f"The taxonomy {taxonomy.name!r} has a region for every node, so its cells are single "
            "pairs and there is nothing to redraw."
        )
    if n > _MOST_REGIONS:
        return (
            f"The taxonomy {taxonomy.name!r} has {n:,} regions, so {n * (n + 1) // 2:,} pairs of "
            f"regions; a search for sentences is limited to {_MOST_REGIONS:,} regions."
        )
    return ""


def phrase(taxonomy: Taxonomy | None) -> str:
    """The language of a sentence as an adverbial phrase; None stands for nodes."""
    if taxonomy is None:
        return "node by node"
    return f"by {taxonomy.name!r} ({len(taxonomy.regions):,} {taxonomy.noun})"


def no_sentence_note(taxonomy: Taxonomy | None, attempt: Attempt) -> str:
    """The note that no sentence was found in this language."""
    max_cells = attempt.max_cells
    most = "one" if max_cells == 1 else f"at most {max_cells}"
    what = ("node" if taxonomy is None else "place") + ("" if max_cells == 1 else "s")
    return (
        f"This decision cannot be described {phrase(taxonomy)}: no sentence of {most} {what} was "
        f"found that is true as read{' and in range' if attempt.in_range else ''}."
    )


def _nearest_miss(problem: Problem, found: VerifiedClaim, taxonomy: Taxonomy | None) -> str:
    """The note that the nearest sentence is out of range, with what real graphs have."""
    claim = found.claim
    problem = next(one for one in problem.by_target() if one.accepts(claim.label))
    same, group = problem.reference_groups("brief")
    current, target = problem.frequencies("brief")
    places = Places.of_claim(problem.graph, claim, problem.constraints)
    elsewhere = Elsewhere(places, current, target) if claim.balanced else None
    redraw = Redraw(places, claim.reading, current, target, elsewhere)
    there = judge_claim(claim, Reference(places, same, group), redraw)
    parts = [
        f"{' – '.join(one.place)} {one.before:,} → {one.after:,} (95 % of the new class have "
        f"{one.low:,} to {one.high:,})"
        for one in there
        if one.low is not None and one.high is not None
    ]
    total = net(claim.amounts)
    if total and not claim.balanced:
        parts.append(f"{abs(total):,} {'more' if total > 0 else 'fewer'} edges in all")
    return (
        f"The shortest sentence that is true as read is out of range: {'; '.join(parts)}. "
        'To accept it, pass in_range="prefer".'
    )
