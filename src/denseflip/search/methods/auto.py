"""`auto`: the shortest sentence that is true as read, in the first language that has one.

Regions are tried first, in the requested taxonomy; then the other taxonomies of the node table,
coarse to fine; then nodes; finally the fewest pairs. The notes say what was chosen, and why.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from denseflip.counterfactual import Status
from denseflip.errors import check_name
from denseflip.graph import Taxonomy
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.request import LANGUAGES, OBJECTIVES
from denseflip.search.core.engine import search
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import SharedSession
from denseflip.search.core.problem import (
    BACKGROUND,
    REGIONS,
    Problem,
    StopSearch,
    Walk,
    check_given,
)
from denseflip.search.methods.best import PAIRS, Best, MemberAnswer, front_of
from denseflip.search.methods.brief import (
    Attempt,
    Brief,
    attempts,
    check_sentence_options,
    find_stable,
    no_sentence_note,
    phrase,
    unsuitable,
    with_stable,
)

_FRONT_PAIRS = 500  # queries that a front may spend on the fewest edits


@dataclass(frozen=True)
class Auto(Conversation):
    """The shortest sentence that is true as read, in the language that fits the classifier.

    Where there is none, the fewest edits.

    Parameters
    ----------
    regions : the taxonomy to begin with; None for the first of the node table.
    language : ``"auto"``, or the only language to try before pairs: ``"regions"``, ``"nodes"``; or
        ``"pairs"``.
    max_cells : the largest number of places that a sentence may name; None for 5, or 8 if no
        shorter sentence is in range.
    objective : ``"edits"`` for the fewest edits instead of the shortest sentence, ``"balanced"``
        for both; None or ``"sentence"`` for the sentence.
    front : whether to return the Pareto front.
    in_range, balance, reference, stable : see `Brief`.
    """

    regions: str | None = None
    language: str = "auto"
    max_cells: int | None = None
    objective: str | None = None
    front: bool = False
    in_range: str = "prefer"
    balance: str = "auto"
    reference: str = "classifier"
    stable: float | None = None
    uses: ClassVar[tuple[str, ...]] = ("probabilities", "gradients")

    def __post_init__(self) -> None:
        check_sentence_options(self)
        check_name("language", self.language, LANGUAGES)
        if self.objective is not None:
            check_name("objective", self.objective, OBJECTIVES)

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Try one language after the other."""
        session = SharedSession(session)  # the languages share answers
        if self.front and self.objective in (None, "sentence"):
            return front_of(self, problem, session, self._search)
        return self._search(problem, session)

    def _search(self, problem: Problem, session: BaseSession) -> Walk:
        if self.objective not in (None, "sentence"):
            return self._pairs(problem, session, f"the objective is {self.objective!r}")
        if self.language == "pairs":
            return self._pairs(problem, session, "pairs were requested")
        if self.language == "regions":
            check_given(REGIONS, "auto", problem.nodes, problem.others)
        if self.language != "auto":
            check_given(BACKGROUND, "auto", problem.nodes, problem.others)
        if not problem.others:
            return self._pairs(problem, session, "there is no background to learn from")
        if not any(problem.accepts(label) for label in problem.background_labels):
            why = "the oracle labels no graph of the background as the target class"
            return self._pairs(problem, session, why)
        taxonomies = list(self._taxonomies(problem))
        failed: list[Taxonomy | None] = []
        stable = None
        if self.stable is not None:
            stable = find_stable(self, problem, session, taxonomies)
            if stable is not None:
                regions = None if stable.as_read is None else stable.as_read.regions
                known = {one.name: one for one in taxonomies if one is not None}
                self._note_choice(problem, stable, None if regions is None else known[regions])
                if not self.front:
                    return stable
        for together in self._rounds(problem):
            failed = []
            for taxonomy in _listed(taxonomies, together[0]):
                brief = Brief(
                    None if taxonomy is None else taxonomy.name,
                    "nodes" if taxonomy is None else "regions",
                    self.max_cells,
                    front=self.front,
                    in_range=self.in_range,
                    balance=self.balance,
                )
                try:
                    claims = brief.find_claims(problem, session, taxonomy, together[0])
                    for attempt in together[1:] if claims else ():
                        claims += brief.find_claims(problem, session, taxonomy, attempt)
                except BudgetSpentError:
                    if problem.best is not None and problem.best.as_read is not None:
                        self._note_failed(problem, failed)
                        self._note_choice(problem, problem.best, taxonomy)
                    raise
                if claims:
                    if failed:
                        problem.note(no_sentence_note(failed[0], together[0]))
                    self._note_failed(problem, failed)
                    ended = brief.walk(problem, claims, taxonomy)
                    self._note_choice(problem, ended, taxonomy)
                    if not self.front:
                        return ended
                    return with_stable(self._with_pairs(problem, session, ended), stable)
                failed.append(taxonomy)
        if stable is not None:
            return stable
        if failed:
            problem.note(no_sentence_note(failed[0], together[0]))
        self._note_failed(problem, failed)
        if self.in_range == "require":
            brief = Brief(max_cells=self.max_cells, balance=self.balance)
            brief.note_nearest_miss(problem, session, taxonomies)
        why = "no shorter description is true as read"
        if self.language != "auto":
            why = f"no short sentence about {self.language} was found, and no other was requested"
        return self._pairs(problem, session, why)

    def _rounds(self, problem: Problem) -> list[list[Attempt]]:
        """The attempts to try in turn.

        A front shows answers in and out of range, in the first language that has one in range.
        """
        listed = list(attempts(self, problem))
        if self.front:
            listed = [
                one
                for one in listed
                if one.towards and not (one.wide or one.with_all or one.unbalanced_only)
            ]
            return [listed[i:] for i in range(len(listed))]
        return [[one] for one in listed]

    def _note_failed(self, problem: Problem, failed: Sequence[Taxonomy | None]) -> None:
        """Note the languages that failed after the first."""
        names = [phrase(one) for one in failed[1:]]
        if names:
            problem.note(f"It cannot be described {' or '.join(names)} either.")

    def _note_choice(self, problem: Problem, ended: Walk, taxonomy: Taxonomy | None) -> None:
        """Note in which language an answer and its front are described, and why."""
        true = f"true as read{' and in range' if ended.in_range else ''}"
        parts = "regions" if taxonomy is None else taxonomy.noun
        why = f"a short sentence about these {parts} is {true}"
        if taxonomy is None or problem.nodes is None:
            why = f"the first language in which a short sentence is {true}"
            if self.language == "nodes":
                why = f"nodes were requested, and a short sentence is {true}"
        elif taxonomy.index != problem.nodes.taxonomy(self.regions).index:
            why = f"the first regions in which a short sentence is {true}"
        note = f"Described {phrase(taxonomy)}: {why}. Method: brief."
        for walk in {id(walk): walk for walk in (ended, *ended.front)}.values():
            walk.chosen, walk.notes = "brief", (*walk.notes, note)

    def _taxonomies(self, problem: Problem) -> Iterator[Taxonomy | None]:
        """The taxonomies to try, coarse to fine after the first; None stands for nodes."""
        nodes = problem.nodes
        if self.language in ("auto", "regions") and nodes is not None and nodes.regions:
            first = nodes.taxonomy(self.regions)
            others = [nodes.taxonomy(name) for name in nodes.taxonomies]
            others = [other for other in others if other.index != first.index]
            others.sort(key=lambda taxonomy: len(taxonomy.regions))
            for taxonomy in (first, *others):
                if reason := unsuitable(taxonomy):
                    problem.note(reason)
                else:
                    yield taxonomy
        if self.language in ("auto", "nodes") and problem.by_type is None:
            yield None

    def _pairs(self, problem: Problem, session: BaseSession, why: str) -> Walk:
        """The fewest edits that are found, described pair by pair."""
        if self.objective in (None, "sentence") or self.language == "pairs":
            if self.in_range == "require":  # real graphs give no range for a list of pairs
                problem.note(f"No answer in range was found: {why}.")
                raise StopSearch
            best = Best("edits")  # sentences were tried, or not requested
        else:
            best = Best(
                self.objective,
                self.regions,
                self.max_cells,
                self.front,
                self.in_range,
                self.balance,
                self.reference,
            )
        ended = search(problem, best, session)
        if ended.status is Status.FOUND:
            ended.as_read = ended.as_read or PAIRS
            pairs = ended.as_read.language == "pairs"
            described = "Described pair by pair" if pairs else "Described this way"
            ended.notes = (*ended.notes, f"{described}: {why}. Method: {ended.chosen}.")
        return ended

    def _with_pairs(self, problem: Problem, session: BaseSession, ended: Walk) -> Walk:
        """Add the fewest edits, described pair by pair, to the front of a sentence."""
        if self.in_range == "require":
            return ended
        notes, problem.best = list(problem.notes), None
        pairs = self._pairs(problem, SharedSession(session, _FRONT_PAIRS), "the fewest edits")
        problem.best, problem.notes[:] = ended, notes
        size = problem.graph.distance
        fewest = min(size(walk.graph) for walk in ended.front)
        if pairs.status is Status.FOUND and size(pairs.graph) < fewest:
            pairs.front = ()
            # As many places as edits: a list of one pair comes before sentences of two cells.
            ended.front = tuple(
                sorted((*ended.front, pairs), key=lambda walk: MemberAnswer.of(problem, walk).costs)
            )
        return ended


def _listed(taxonomies: Sequence[Taxonomy | None], attempt: Attempt) -> list[Taxonomy | None]:
    """The taxonomies of an attempt: for wider or more places, the two with the fewest regions."""
    if not (attempt.wide or attempt.with_all):
        return list(taxonomies)
    regions = [taxonomy for taxonomy in taxonomies if taxonomy is not None]
    return list(sorted(regions, key=lambda taxonomy: len(taxonomy.regions))[:2])
