"""`auto`: the sentence in the language that fits.

Regions first, in the taxonomy that was asked for; then the other taxonomies of the node table,
coarse to fine; then nodes; at last the fewest pairs. What was chosen, and why, stands in the notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from denseflip.counterfactual import Status
from denseflip.errors import UnknownNameError, whole_number
from denseflip.graph import Taxonomy
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.request import LANGUAGES, OBJECTIVES
from denseflip.search.core.engine import search
from denseflip.search.core.method import Conversation
from denseflip.search.core.problem import BACKGROUND, REGIONS, Problem, Walk, check_given
from denseflip.search.core.shared_session import SharedSession
from denseflip.search.methods.best import PAIRS, Best, Entry
from denseflip.search.methods.brief import Brief, cannot_be_told, told_in, too_large, unfit

_FRONT_PAIRS = 500  # questions that a front may spend on the fewest edits


@dataclass(frozen=True)
class Auto(Conversation):
    """Tells a decision in the fewest words that are true as read.

    Parameters
    ----------
    regions : the taxonomy to begin with; None for the node table's first.
    language : ``"auto"``, or the only language to try before pairs: ``"regions"``, ``"nodes"``; or
        ``"pairs"``.
    max_cells : the most places that a sentence may name.
    objective : ``"edits"`` for the fewest edits rather than the shortest sentence, ``"balanced"``
        for both; None or ``"sentence"`` for the sentence.
    front : whether to give all answers that no other beats.
    """

    regions: str | None = None
    language: str = "auto"
    max_cells: int = 5
    objective: str | None = None
    front: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "max_cells", whole_number("max_cells", self.max_cells, minimum=1))
        if self.language not in LANGUAGES:
            raise UnknownNameError("language", str(self.language), LANGUAGES)
        if self.objective is not None and self.objective not in OBJECTIVES:
            raise UnknownNameError("objective", str(self.objective), OBJECTIVES)

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Try one language after the other."""
        session = SharedSession(session)  # what one language has asked, the next knows
        if self.objective not in (None, "sentence"):
            return self._pairs(problem, session, f"the objective is {self.objective!r}")
        if self.language == "pairs":
            return self._pairs(problem, session, "pairs were asked for")
        if self.language == "regions":
            check_given(REGIONS, "auto", problem.nodes, problem.background)
        if self.language != "auto":
            check_given(BACKGROUND, "auto", problem.nodes, problem.background)
        if problem.background is None or not len(problem.background):
            return self._pairs(problem, session, "there is no background to learn from")
        if large := too_large(problem):
            problem.note(large)
            return self._pairs(problem, session, "the graph is too large for sentences")
        if not any(problem.accepts(label) for label in problem.background_labels):
            why = "the oracle puts no graph of the background in the class that is wanted"
            return self._pairs(problem, session, why)
        failed: list[Taxonomy | None] = []
        for taxonomy in self._taxonomies(problem):
            brief = Brief(
                None if taxonomy is None else taxonomy.name,
                "nodes" if taxonomy is None else "regions",
                self.max_cells,
                front=self.front,
            )
            try:
                told = brief.tell(problem, session, taxonomy)
            except BudgetSpentError:
                if problem.best is not None and problem.best.as_read is not None:
                    self._say(problem, failed)
                    self._mark(problem, problem.best, taxonomy)
                raise
            if told:
                self._say(problem, failed)
                ended = brief.walk(problem, told, taxonomy)
                self._mark(problem, ended, taxonomy)
                return self._with_pairs(problem, session, ended) if self.front else ended
            if not failed:
                problem.note(cannot_be_told(taxonomy, self.max_cells))
            failed.append(taxonomy)
        self._say(problem, failed)
        why = "nothing shorter was found that is true as read"
        if self.language != "auto":
            why = f"nothing shorter was found, and only {self.language} were to be tried"
        return self._pairs(problem, session, why)

    def _say(self, problem: Problem, failed: Sequence[Taxonomy | None]) -> None:
        """The languages that failed behind the first, in one remark."""
        names = [told_in(one) for one in failed[1:]]
        if names:
            problem.note(f"Nor can it be told {' or '.join(names)}.")

    def _mark(self, problem: Problem, ended: Walk, taxonomy: Taxonomy | None) -> None:
        """Say of an answer, and of its front, in what words it is told, and why in these."""
        why = "a short sentence in them is true as read"
        if taxonomy is None or problem.nodes is None:
            why = "the first words in which a short sentence is true as read"
            if self.language == "nodes":
                why = "nodes were asked for, and a short sentence is true as read"
        elif taxonomy.index != problem.nodes.taxonomy(self.regions).index:
            why = "the first regions in which a short sentence is true as read"
        said = f"Told {told_in(taxonomy)}: {why}. Method: brief."
        for walk in {id(walk): walk for walk in (ended, *ended.front)}.values():
            walk.chosen, walk.notes = "brief", (*walk.notes, said)

    def _taxonomies(self, problem: Problem) -> Iterator[Taxonomy | None]:
        """The taxonomies to try, coarse to fine behind the first; None for nodes."""
        nodes = problem.nodes
        if self.language in ("auto", "regions") and nodes is not None and nodes.regions:
            first = nodes.taxonomy(self.regions)
            others = [nodes.taxonomy(name) for name in nodes.taxonomies]
            others = [other for other in others if other.index != first.index]
            others.sort(key=lambda taxonomy: len(taxonomy.regions))
            for taxonomy in (first, *others):
                if wrong := unfit(taxonomy):
                    problem.note(wrong)
                else:
                    yield taxonomy
        if self.language in ("auto", "nodes"):
            yield None

    def _pairs(self, problem: Problem, session: BaseSession, why: str) -> Walk:
        """The fewest edits that the methods for them find, told pair by pair."""
        if self.objective in (None, "sentence") or self.language == "pairs":
            best = Best("edits")  # sentences were tried, or not wanted
        else:
            best = Best(self.objective, self.regions, self.max_cells, self.front)
        ended = search(problem, best, session)
        if ended.status is Status.FOUND:
            ended.as_read = ended.as_read or PAIRS
            told = "Told pair by pair" if ended.as_read.language == "pairs" else "Told so"
            ended.notes = (*ended.notes, f"{told}: {why}. Method: {ended.chosen}.")
        return ended

    def _with_pairs(self, problem: Problem, session: BaseSession, told: Walk) -> Walk:
        """The front of a sentence, and behind it the fewest edits, which are listed by pairs."""
        notes, problem.best = list(problem.notes), None
        pairs = self._pairs(problem, SharedSession(session, _FRONT_PAIRS), "the fewest edits")
        problem.best, problem.notes[:] = told, notes
        size = problem.graph.distance
        fewest = min(size(walk.graph) for walk in told.front)
        if pairs.status is Status.FOUND and size(pairs.graph) < fewest:
            pairs.front = ()
            # As many places as edits: a list of one pair comes before sentences of two cells.
            told.front = tuple(
                sorted((*told.front, pairs), key=lambda walk: Entry.of(problem, walk).marks)
            )
        return told
