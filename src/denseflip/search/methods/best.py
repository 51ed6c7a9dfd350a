"""`best`: a portfolio of searches over one session, and the best answer by a stated objective.

The searches share all answers. Cheap ones run first; one that can no longer win is not started. If
any of them, or the background itself, has an answer, there is a result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar

import numpy as np

from denseflip.as_read import READINGS
from denseflip.counterfactual import AsRead, Status
from denseflip.errors import check_name
from denseflip.graph import Codes, Graph
from denseflip.oracles.base_session import BaseSession, BudgetSpentError
from denseflip.request import OBJECTIVES
from denseflip.search.claims.verified_claim import Marks, pareto_front
from denseflip.search.core.engine import search
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import Probe, SharedSession
from denseflip.search.core.problem import SPENT, Problem, StopSearch, Walk
from denseflip.search.core.refinement import Candidate
from denseflip.search.core.towards import gains_at
from denseflip.search.methods.baselines import ContrastList, first_allowed
from denseflip.search.methods.brief import (
    Brief,
    check_sentence_options,
    unsuitable,
    with_stable,
)
from denseflip.search.methods.gradient import GradientSearch
from denseflip.search.methods.race import Race, refine_to_the_end
from denseflip.search.methods.tight import Tight

PAIRS = AsRead("pairs", None, "any", 0, 0)  # single pairs leave nothing to redraw
_LINEAR = 0.9  # linearity from which `tight` runs before `race`
_NOT_LINEAR = 0.4  # linearity below which `tight` does not run
_NEAREST = 3  # background graphs that are tried as far as the constraints allow
_ROUGH = 32  # answers of `con` are refined up to this number of edits


@dataclass(frozen=True)
class MemberAnswer:
    """An answer of one search of the portfolio.

    Attributes
    ----------
    member : the name of the search.
    walk : where it ended.
    edits : number of edits.
    """

    member: str
    walk: Walk
    edits: int

    @classmethod
    def of(cls, problem: Problem, walk: Walk, member: str = "") -> MemberAnswer:
        """An answer with its edits counted."""
        return cls(member or walk.chosen, walk, problem.graph.distance(walk.graph))

    @property
    def cells(self) -> int:
        """Number of places that a sentence names: those of a claim, or every pair by itself."""
        test = self.walk.as_read
        if test is None or test.language == "pairs":
            return self.edits
        return len({step.name for step in self.walk.trace if step.name}) or 1

    @property
    def is_sentence(self) -> bool:
        """Whether a sentence about places was found to be true as read."""
        test = self.walk.as_read
        return test is not None and test.language != "pairs" and test.true

    @property
    def rank(self) -> int:
        """Rank of the reading, 0 for the most general; lists of pairs come last."""
        test = self.walk.as_read
        if not self.is_sentence or test is None:
            return len(READINGS)
        return READINGS.index(test.reading)

    @property
    def costs(self) -> Marks:
        """What a Pareto front compares; less is better."""
        return self.cells, self.edits, self.rank, int(self.walk.in_range is False)


@dataclass(frozen=True)
class Best(Conversation):
    """Several searches that share all queries; the best answer by the objective is returned.

    Parameters
    ----------
    objective : ``"sentence"``, the fewest places that are true as read, then the fewest edits;
        ``"edits"``, the fewest edits; ``"balanced"``, the smallest product of the two, where an
        answer in pairs names as many places as it has edits.
    regions : the taxonomy of the sentence; None for the first of the node table.
    max_cells : the largest number of places that a sentence may name; None for 5, or 8 if no
        shorter sentence is in range.
    front : whether to return the Pareto front.
    in_range, balance, reference, stable : see `Brief`; ``stable`` only for a sentence.
    """

    objective: str = "sentence"
    regions: str | None = None
    max_cells: int | None = None
    front: bool = False
    in_range: str = "prefer"
    balance: str = "auto"
    reference: str = "classifier"
    stable: float | None = None
    uses: ClassVar[tuple[str, ...]] = ("probabilities", "gradients")

    def __post_init__(self) -> None:
        check_name("objective", self.objective, OBJECTIVES)
        check_sentence_options(self)

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Run the searches, and choose the best answer."""
        # For the fewest edits, a front only adds searches after those of the answer without it.
        if self.front and self.objective != "edits":
            return front_of(self, problem, SharedSession(session), self._search)
        return self._search(problem, session)

    def _search(self, problem: Problem, session: BaseSession) -> Walk:
        portfolio = _Portfolio(self, problem, SharedSession(session))
        try:
            portfolio.run()
        except BudgetSpentError:
            portfolio.spent = True
        return portfolio.choose()

    def key(self, answer: MemberAnswer) -> tuple[float, ...]:
        """The sort key of an answer; the smallest is best by the objective."""
        if self.objective == "edits":
            return answer.edits, answer.cells, answer.rank
        if self.objective == "balanced":
            return answer.edits * answer.cells, answer.edits, answer.rank
        if self.stable is not None and answer.walk.stability is not None:
            return (-1,)  # the answer that was searched for
        # Among equally short sentences the first: `brief` returns its best one first.
        return (0, answer.cells) if answer.is_sentence else (1, answer.edits)


@dataclass
class _Portfolio:
    """One run of a portfolio.

    Attributes
    ----------
    plan, problem, session : what is searched, and how.
    answers : the answers so far.
    remarks : what each search found, in words.
    spent : whether the budget is spent.
    cut : whether a search got less of the budget than it would have used.
    """

    plan: Best
    problem: Problem
    session: BaseSession
    answers: list[MemberAnswer] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    spent: bool = False
    cut: bool = False

    def __post_init__(self) -> None:
        self._random_state = self.problem.rng.bit_generator.state

    def run(self) -> None:
        """Run cheap searches first, and none that cannot win."""
        plan = self.plan
        self._use_background()
        if plan.objective == "sentence" and self._has_regions():
            self._run("brief", self._brief, part=0.5)
            if any(answer.is_sentence for answer in self.answers) and not plan.front:
                self._leave_out("con, race and tight", "a sentence is true as read")
                return
        self._fewest_edits()
        sentence = plan.front or (plan.objective == "balanced" and self._fewest() > 1)
        if sentence and plan.objective != "sentence" and self._has_regions():
            self._run("brief", self._brief, part=1.0)

    def _fewest_edits(self) -> None:
        """Run the searches for few edits that suit the classifier, until one edit is enough."""
        if self.session.offers_gradient:
            self._run("gradient", GradientSearch().search, part=0.5, refine=True)
            if any(a.member == "gradient" and a.walk.minimal for a in self.answers) and (
                self.problem.constraints is None and self._is_exact()
            ):
                self._leave_out("the other searches", "no answer has fewer edits")
                return
        linearity = estimate_linearity(Probe(self.problem, self.session, keep=False))
        if self._has_background():
            self._run("con", ContrastList(), part=0.25, refine=True)
        if linearity is not None and linearity >= _LINEAR:
            before = self.session.calls
            self._run("tight", Tight(), part=0.75)
            # Unlikely to find a better answer, so it gets no more queries than `tight` took.
            self._run("race", Race(), part=1.0, most=self.session.calls - before)
            return
        not_linear = linearity is not None and linearity < _NOT_LINEAR
        for number in range(3 if not_linear else 2):
            search = Race() if not number else Race(nearest=6, swaps=8)
            self._run("race", search, part=0.75, again=number > 1)
        if not not_linear:
            self._run("tight", Tight(), part=1.0)
        elif self._fewest() > 1:
            share = round(100 * (1 - (linearity or 0)))
            self._leave_out(
                "tight",
                f"{share} % of the mixtures of two graphs of that class are classified differently",
            )

    def _is_exact(self) -> bool:
        """Whether the classifier is linear in the edges, by its own gradient."""
        gains = gains_at(self.problem, self.session, self.problem.graph)
        return gains is not None and gains.exact

    # ---- the searches -------------------------------------------------------------------

    def _use_background(self) -> None:
        """Take the nearest background graph of the target class as an answer."""
        if not self._has_background():
            return
        try:
            _, others = self.problem.split_background("best")
        except StopSearch:
            return
        problem = self.problem
        if problem.constraints is not None and not problem.constraints.any_pair:
            n_notes = len(problem.notes)
            near = problem.nearest(others)[:_NEAREST]
            walk = first_allowed(problem, near, self.session)
            del problem.notes[n_notes:]
            if walk.status is Status.FOUND:
                self._add("the background", walk)
            return
        nearest = min(others, key=problem.graph.relative_distance)
        label = self.session.recall(nearest).label
        if problem.accepts(label):
            self._add("the background", problem.end(nearest, label))

    def _brief(self, problem: Problem, session: BaseSession) -> Walk:
        plan = self.plan
        return Brief(
            plan.regions,
            max_cells=plan.max_cells,
            front=plan.front,
            in_range=plan.in_range,
            balance=plan.balance,
            stable=plan.stable if plan.objective == "sentence" else None,
        )(problem, session)

    def _run(
        self,
        name: str,
        search: Conversation | Callable[[Problem, BaseSession], Walk],
        *,
        part: float,
        most: int | None = None,
        refine: bool = False,
        again: bool = False,
    ) -> None:
        """Run a search with its part of the remaining budget, if it can still win.

        It draws the same random numbers as alone, unless the same search ran before.
        """
        if name != "brief" and self._fewest() <= 1:
            return
        if not again:
            self.problem.rng.bit_generator.state = self._random_state
        problem, started = self.problem, self.session.calls
        left = self.session.remaining
        if not math.isinf(left):
            share = max(1, math.ceil(part * left))
            most = share if most is None else min(most, share)
        session = SharedSession(self.session, most)
        problem.best, n_notes, short = None, len(problem.notes), False
        try:
            walk = search(problem, session)
            if refine and walk.status is Status.FOUND:
                walk = self._refined(walk, session)
        except (BudgetSpentError, StopSearch) as error:
            walk = problem.best or Walk(Status.EXHAUSTED, problem.graph, problem.label)
            short = isinstance(error, BudgetSpentError)
        short = short or SPENT in problem.notes[n_notes:] or session.remaining < 1
        self.cut = self.cut or (short and not math.isinf(left))
        del problem.notes[n_notes:]  # remarks of that search alone
        queries = self.session.calls - started
        if walk.status is Status.FOUND:
            self._add(name, walk, queries)
            for other in walk.front:
                self._add(name, other, None)
        else:
            self.remarks.append(f"{name}, no answer ({_counted(queries, 'query', 'queries')})")
        if self.session.remaining < 1 or self.session.out_of_time:
            raise BudgetSpentError

    def _refined(self, walk: Walk, session: BaseSession) -> Walk:
        """Make a rough answer minimal, if it has few edits."""
        if self.problem.graph.distance(walk.graph) > _ROUGH:
            return walk
        candidate = Candidate(self.problem, walk, session)
        with suppress(BudgetSpentError):
            refine_to_the_end(candidate, session)
        ended = self.problem.end(candidate.graph, candidate.label)
        ended.minimal = candidate.minimal
        return ended

    def _add(self, name: str, walk: Walk, queries: int | None = 0) -> None:
        if walk.as_read is None:
            walk.as_read = PAIRS
        walk.chosen = "dat" if name == "the background" else name
        answer = MemberAnswer.of(self.problem, walk, name)
        self.answers.append(answer)
        if queries is not None:
            cells = f" in {_counted(answer.cells, 'cell', 'cells')}" if answer.is_sentence else ""
            cost = "" if not queries else f" ({_counted(queries, 'query', 'queries')})"
            edits = _counted(answer.edits, "edit", "edits")
            self.remarks.append(f"{name}, {edits}{cells}{cost}")

    # ---- what is available --------------------------------------------------------------

    def _has_background(self) -> bool:
        return self.problem.background is not None and len(self.problem.background) > 0

    def _has_regions(self) -> bool:
        """Whether `brief` can run: there are a background and suitable regions."""
        nodes = self.problem.nodes
        if not self.problem.others or nodes is None or not nodes.regions:
            return False
        return not unsuitable(nodes.taxonomy(self.plan.regions))

    def _fewest(self) -> int:
        """The fewest edits of any answer so far."""
        return min((answer.edits for answer in self.answers), default=self.problem.graph.n_pairs)

    def _leave_out(self, names: str, why: str) -> None:
        self.remarks.append(f"{names} left out because {why}")

    # ---- the end ------------------------------------------------------------------------

    def choose(self) -> Walk:
        """The best answer by the objective, with a note on what each search found."""
        problem, plan = self.problem, self.plan
        if not self.answers:
            if self.spent:
                problem.best = None
                raise BudgetSpentError
            tried = "; ".join(self.remarks) or "nothing, because no search could run"
            problem.note(f"best: tried {tried}.")
            return problem.end(problem.graph, problem.label)
        best = min(self.answers, key=plan.key)
        ended = self._certified(best.walk)
        if plan.front:
            # The certified answer may have fewer edits now, and dominate others.
            certified = MemberAnswer.of(problem, ended, best.member)
            answers = [certified if answer is best else answer for answer in self.answers]
            kept = pareto_front([answer.costs for answer in answers])
            ended.front = tuple(answers[i].walk for i in kept)
            if plan.stable is not None and ended.stability is not None:
                with_stable(Walk(ended.status, ended.graph, ended.label, front=ended.front), ended)
        problem.note(
            f"best: {best.member} gave the best answer for {plan.objective!r}. Tried: "
            f"{'; '.join(self.remarks)}."
        )
        if self.spent or self.cut:
            problem.note(SPENT)
        return ended

    def _certified(self, walk: Walk) -> Walk:
        """Make an answer that lists pairs minimal: every pair should be needed."""
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


def front_of(
    plan: Conversation,
    problem: Problem,
    session: BaseSession,
    find: Callable[[Problem, BaseSession], Walk],
) -> Walk:
    """The answer without a front, which is searched for first, with the front around it.

    Parameters
    ----------
    plan : the search, with ``front`` set.
    problem, session : what is searched; the session shares its answers.
    find : searches for the front.

    Returns
    -------
    Walk
        The answer without a front. Its front contains it, even if another answer beats it there:
        whoever asked for choices also sees what they would have been given without.
    """
    n_notes = len(problem.notes)
    plain = search(problem, replace(plan, front=False), session)  # type: ignore[type-var]
    if plain.status is not Status.FOUND:
        return plain
    notes = problem.notes[n_notes:]
    del problem.notes[n_notes:]
    problem.best, ended = None, None
    try:
        ended = find(problem, session)
    except (BudgetSpentError, StopSearch):
        if problem.best is not None and problem.best.as_read is not None:
            ended = problem.best
    walks = [plain]
    if ended is not None and ended.status is Status.FOUND:
        walks += ended.front or (ended,)
    answers = [MemberAnswer.of(problem, walk) for walk in walks]
    kept = {0, *pareto_front([answer.costs for answer in answers])}
    problem.notes[n_notes:] = notes
    for walk in walks:
        walk.front = ()
    problem.best = plain
    if len(kept) > 1 or answers[0].is_sentence:
        plain.front = tuple(walks[i] for i in sorted(kept, key=lambda i: (answers[i].costs, i)))
    return plain


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


_GRAPHS = 4  # graphs of the other class that are mixed, each with the next
_POINTS = (0.25, 0.5, 0.75)  # shares of the second graph in a mixture


def estimate_linearity(probe: Probe) -> float | None:
    """The share of mixtures of the nearest graphs of the other class that are in it as well.

    Takes twelve queries if the background has four such graphs, fewer if it has fewer. None if it
    has fewer than two, or if there is no background.

    Measured (16 graphs each, the mean): edges-svm on AUT, BIP and mice 1.0; random linear rules
    over AUT .97 (every pair weighs) and .82 (400 pairs do); sf-knn on AUT .62, on ADHD 0.
    """
    problem = probe.problem
    if problem.background is None or not len(problem.background):
        return None
    try:
        _, others = problem.split_background("best")
    except StopSearch:
        return None
    near = problem.nearest(others)[:_GRAPHS]
    near = list({g.key: g for g in near}.values())
    constraints = problem.constraints
    if constraints is not None:  # with only the allowed differences they may not flip
        near = [g for g in near if probe.flips(problem.graph.difference(g))]
    if len(near) < 2:
        return None
    neighbours = list(pairwise([*near, near[0]] if len(near) > 2 else near))
    mixed = [codes for a, b in neighbours for codes in _mixtures(probe, a, b)]
    if constraints is not None:
        mixed = [codes for codes in mixed if not constraints.forbids(probe.graph(codes))]
    kept = [problem.accepts(answer.label) for answer in probe.answers(mixed)]
    return sum(kept) / len(kept) if kept else None


def _mixtures(probe: Probe, a: Graph, b: Graph) -> list[Codes]:
    """Edits of the original that lead to mixtures of two graphs, in one random order."""
    start = probe.problem.graph.difference(a)
    chain = probe.problem.rng.permutation(a.difference(b))
    return [np.setxor1d(start, chain[: round(point * len(chain))]) for point in _POINTS]
