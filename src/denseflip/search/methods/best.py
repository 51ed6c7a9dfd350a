"""`best`: several searches over one session, and the answer that serves the stated objective.

Whatever one of them asked, the others know. The cheap ones come first; one that cannot win any more
is not begun. Where any of them, or the background itself, has an answer, there is a result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from denseflip.as_read import READINGS
from denseflip.counterfactual import AsRead, Status
from denseflip.errors import UnknownNameError, whole_number
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.request import OBJECTIVES
from denseflip.search.claims.claim_search import Marks, pareto_front
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import SPENT, Problem, StopSearch, Walk
from denseflip.search.core.refinement import Candidate
from denseflip.search.core.shared_session import SharedSession
from denseflip.search.methods.baselines import first_allowed
from denseflip.search.methods.brief import Brief, unfit
from denseflip.search.methods.contrast import ContrastList
from denseflip.search.methods.linearity import steadiness
from denseflip.search.methods.race import Race, refine_to_the_end
from denseflip.search.methods.tight import Tight

PAIRS = AsRead("pairs", None, "any", 0, 0)  # pairs named one by one are what they are
_FIRM = 0.9  # from this share of mixtures kept on, weights are learnt before anything races
_SHAKY = 0.4  # below it they are not worth learning
_NEAREST = 3  # background graphs that are tried as far as the user's terms allow
_ROUGH = 32  # edits of `con` up to which they are refined; of more a race sees to the best


@dataclass(frozen=True)
class Entry:
    """An answer of a member: its walk, and how many places a sentence about it names."""

    member: str
    walk: Walk
    edits: int

    @classmethod
    def of(cls, problem: Problem, walk: Walk, member: str = "") -> Entry:
        """An answer with its edits counted."""
        return cls(member or walk.chosen, walk, problem.graph.distance(walk.graph))

    @property
    def cells(self) -> int:
        """Places named: those of a claim, or every pair by itself."""
        said = self.walk.as_read
        if said is None or said.language == "pairs":
            return self.edits
        return len({step.name for step in self.walk.trace if step.name}) or 1

    @property
    def told(self) -> bool:
        """Whether a sentence about places was seen to be true as read."""
        said = self.walk.as_read
        return said is not None and said.language != "pairs" and said.true

    @property
    def rank(self) -> int:
        """Truth rank, 0 for the truest; pairs that are only listed come last."""
        said = self.walk.as_read
        return READINGS.index(said.reading) if self.told and said is not None else len(READINGS)

    @property
    def marks(self) -> Marks:
        """What a front compares: cells, edits, truth; less is better."""
        return self.cells, self.edits, self.rank


@dataclass(frozen=True)
class Best(Conversation):
    """A portfolio of searches that share every answer.

    Parameters
    ----------
    objective : ``"sentence"``, the fewest places that are true as read, then the fewest edits;
        ``"edits"``, the fewest edits; ``"balanced"``, the smallest product of the two, where an
        answer in pairs names as many places as it has edits.
    regions : the taxonomy of the sentence; None for the node table's first.
    max_cells : the most places that a sentence may name.
    front : whether to give all answers that no other beats.
    """

    objective: str = "sentence"
    regions: str | None = None
    max_cells: int = 5
    front: bool = False

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise UnknownNameError("objective", str(self.objective), OBJECTIVES)
        object.__setattr__(self, "max_cells", whole_number("max_cells", self.max_cells, minimum=1))

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Run the members, and choose."""
        talk = _Portfolio(self, problem, SharedSession(session))
        try:
            talk.run()
        except BudgetSpentError:
            talk.spent = True
        return talk.choose()

    def key(self, entry: Entry) -> tuple[float, ...]:
        """What is smallest for the answer that serves the objective best."""
        if self.objective == "edits":
            return entry.edits, entry.cells, entry.rank
        if self.objective == "balanced":
            return entry.edits * entry.cells, entry.edits, entry.rank
        # Of sentences as short, the first: `brief` gives the one to tell before the others.
        return (0, entry.cells) if entry.told else (1, entry.edits)


@dataclass
class _Portfolio:
    """One run: who was asked, what came of it."""

    plan: Best
    problem: Problem
    session: BaseSession
    entries: list[Entry] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    spent: bool = False
    cut: bool = False  # whether a member got less than it would have taken

    def run(self) -> None:
        """Cheap members first, and none that cannot win."""
        plan = self.plan
        self._take_background()
        if plan.objective == "sentence" and self._can_tell():
            self._member("brief", self._brief, part=0.5)
            if any(entry.told for entry in self.entries) and not plan.front:
                self._leave_out("con, race and tight", "a sentence is true as read")
                return
        self._fewest_edits()
        words = plan.front or (plan.objective == "balanced" and self._smallest() > 1)
        if words and plan.objective != "sentence" and self._can_tell():
            self._member("brief", self._brief, part=1.0)

    def _fewest_edits(self) -> None:
        """The members that look for few edits, by what suits the classifier; one edit ends it."""
        steady = steadiness(Probe(self.problem, self.session, keep=False))
        if self._knows_background():
            self._member("con", ContrastList(), part=0.25, refine=True)
        if steady is not None and steady >= _FIRM:
            before = self.session.calls
            self._member("tight", Tight(), part=0.75)
            # Likely in vain: no more questions than that took.
            self._member("race", Race(), part=1.0, most=self.session.calls - before)
            return
        shaky = steady is not None and steady < _SHAKY
        for number in range(3 if shaky else 2):
            self._member("race", Race() if not number else Race(nearest=6, swaps=8), part=0.75)
        if not shaky:
            self._member("tight", Tight(), part=1.0)
        elif self._smallest() > 1:
            share = round(100 * (1 - (steady or 0)))
            self._leave_out(
                "tight", f"{share} % of the mixtures of two graphs of that class are not of it"
            )

    # ---- members ------------------------------------------------------------------------

    def _take_background(self) -> None:
        """The nearest graph of the wanted class: an answer that costs nothing more."""
        if not self._knows_background():
            return
        try:
            _, others = self.problem.split_background("best")
        except StopSearch:
            return
        problem = self.problem
        if problem.terms is not None and not problem.terms.any_pair:
            noted = len(problem.notes)
            near = problem.nearest(others)[:_NEAREST]
            walk = first_allowed(problem, near, self.session)
            del problem.notes[noted:]
            if walk.status is Status.FOUND:
                self._add("the background", walk)
            return
        nearest = min(others, key=problem.graph.relative_distance)
        label = self.session.recall(nearest).label
        if problem.accepts(label):
            self._add("the background", problem.end(nearest, label))

    def _brief(self, problem: Problem, session: BaseSession) -> Walk:
        return Brief(self.plan.regions, max_cells=self.plan.max_cells, front=self.plan.front)(
            problem, session
        )

    def _member(
        self,
        name: str,
        search: Conversation | Callable[[Problem, BaseSession], Walk],
        *,
        part: float,
        most: int | None = None,
        refine: bool = False,
    ) -> None:
        """Let a member search with its part of what is left of the budget, if it can win."""
        if name != "brief" and self._smallest() <= 1:
            return
        problem, started = self.problem, self.session.calls
        left = self.session.remaining
        if not math.isinf(left):
            share = max(1, math.ceil(part * left))
            most = share if most is None else min(most, share)
        session = SharedSession(self.session, most)
        problem.best, n_notes = None, len(problem.notes)
        try:
            walk = search(problem, session)
            if refine and walk.status is Status.FOUND:
                walk = self._refined(walk, session)
        except (BudgetSpentError, StopSearch):
            walk = problem.best or Walk(Status.EXHAUSTED, problem.graph, problem.label)
        if not math.isinf(left) and (SPENT in problem.notes[n_notes:] or session.remaining < 1):
            self.cut = True
        del problem.notes[n_notes:]  # a member's remarks on its own search
        questions = self.session.calls - started
        if walk.status is Status.FOUND:
            self._add(name, walk, questions)
            for other in walk.front:
                self._add(name, other, None)
        else:
            self.remarks.append(f"{name}, nothing ({_many(questions, 'question')})")
        if self.session.remaining < 1 or self.session.out_of_time:
            raise BudgetSpentError

    def _refined(self, walk: Walk, session: BaseSession) -> Walk:
        """A rough answer made minimal, if it is near."""
        if self.problem.graph.distance(walk.graph) > _ROUGH:
            return walk
        candidate = Candidate(self.problem, walk, session)
        with suppress(BudgetSpentError):
            refine_to_the_end(candidate, session)
        ended = self.problem.end(candidate.graph, candidate.label)
        ended.minimal = candidate.minimal
        return ended

    def _add(self, name: str, walk: Walk, questions: int | None = 0) -> None:
        if walk.as_read is None:
            walk.as_read = PAIRS
        walk.chosen = "dat" if name == "the background" else name
        entry = Entry.of(self.problem, walk, name)
        self.entries.append(entry)
        if questions is not None:
            where = f" in {_many(entry.cells, 'cell')}" if entry.told else ""
            cost = "" if not questions else f" ({_many(questions, 'question')})"
            self.remarks.append(f"{name}, {_many(entry.edits, 'edit')}{where}{cost}")

    # ---- what is known ------------------------------------------------------------------

    def _knows_background(self) -> bool:
        return self.problem.background is not None and len(self.problem.background) > 0

    def _can_tell(self) -> bool:
        nodes = self.problem.nodes
        if not self._knows_background() or nodes is None or not nodes.regions:
            return False
        return not unfit(nodes.taxonomy(self.plan.regions))

    def _smallest(self) -> int:
        return min((entry.edits for entry in self.entries), default=self.problem.graph.n_pairs)

    def _leave_out(self, names: str, why: str) -> None:
        self.remarks.append(f"{names} left out, since {why}")

    # ---- the end ------------------------------------------------------------------------

    def choose(self) -> Walk:
        """The answer that serves the objective best, with a note on what each member gave."""
        problem, plan = self.problem, self.plan
        if not self.entries:
            if self.spent:
                problem.best = None
                raise BudgetSpentError
            problem.note(
                f"best: tried {'; '.join(self.remarks) or 'nothing, for nothing could be'}."
            )
            return problem.end(problem.graph, problem.label)
        won = min(self.entries, key=plan.key)
        ended = self._certified(won.walk)
        if plan.front:
            # What was certified may have fewer edits by now than others that it had not beaten.
            now = Entry.of(problem, ended, won.member)
            entries = [now if entry is won else entry for entry in self.entries]
            kept = pareto_front([entry.marks for entry in entries])
            ended.front = tuple(entries[i].walk for i in kept)
        problem.note(
            f"best: {won.member} serves the objective {plan.objective!r} best. Tried: "
            f"{'; '.join(self.remarks)}."
        )
        if self.spent or self.cut:
            problem.note(SPENT)
        return ended

    def _certified(self, walk: Walk) -> Walk:
        """The same, or with less; pairs that are listed one by one are all to be needed."""
        if walk.minimal or self.spent or walk.as_read is not PAIRS:
            return walk
        candidate = Candidate(self.problem, walk, self.session)
        try:
            refine_to_the_end(candidate, self.session)
        except BudgetSpentError:
            self.spent = True
        ended = self.problem.end(candidate.graph, candidate.label)
        ended.minimal, ended.as_read, ended.chosen = candidate.minimal, PAIRS, walk.chosen
        return ended


def _many(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
