"""`tight`: the fewest edits, for classifiers that are about linear.

A question about many edits at once says something about each of them. `tight` always asks about a
draw from the best-looking pairs, just so many that yes and no are equally likely; learns how much
pairs count from every answer (`Belief`), the background's labels included; and draws from fewer
and fewer pairs. A yes with fewer edits than before is the new answer. At the end the best-looking
ones are asked about directly, one fewer than the answer has, and every edit that is left is shown
to be needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from denseflip.errors import whole_number
from denseflip.graph import Codes
from denseflip.graph.pairs import are_among
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import Answer
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import NO_CODES, Probe, certify
from denseflip.search.core.problem import CONFIDENCE, SPENT, Problem, StopSearch, Walk
from denseflip.search.methods.belief import Belief, Floats, Ints
from denseflip.search.methods.contrast import helpful_changes

MOST_PAIRS = 60_000  # pairs that are weighed; in larger graphs those that differ come first
MOST_GRAPHS = 400  # background graphs that are learnt from
MOST_CELLS = 2000  # more are not thought of as cells
IN_CELLS = 0.5  # of the variance of weights, where cells count
STEP = 0.15  # how near the first look along an order comes, of the edits it needs
MANY = 256  # edits from which on it is found exactly
LARGE = 64  # edits of an answer from which on whole stretches are dropped before single ones
STRETCHES = 32  # how fine these are at last
COARSE = 4  # the same where a score has said more than stretches would
MISSES = 40  # direct questions in vain, one after the other, after which it is left at that
NEAREST = 3  # graphs of the wanted class that are walked towards under the user's terms
DRAWS = 6  # choices that are compared before one is asked about
SURE = 30.0  # log-odds beyond which a probability says no more than a label


@dataclass(frozen=True)
class Tight(Conversation):
    """The fewest edits by learnt weights; made by ``tight``."""

    questions: int = 320
    guided: bool = False
    pool: int | None = None

    def __post_init__(self) -> None:
        whole_number("questions", self.questions, minimum=1)
        if self.pool is not None:
            whole_number("pool", self.pool, minimum=1)

    @property
    def needs(self) -> frozenset[str]:
        """A confidence, if guided by one."""
        return frozenset({CONFIDENCE}) if self.guided else frozenset()

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Search, and certify what was found."""
        talk = _Talk(problem, session, self)
        talk.begin()
        talk.narrow()
        talk.go_direct()
        if talk.short_of_questions:
            problem.note(SPENT)
        return talk.finish()


@dataclass(frozen=True)
class _Pace:
    """How the draws narrow: what measured best on linear rules.

    Attributes
    ----------
    wide, narrow : pairs that the first and the last draws are from.
    direct : questions kept for asking directly for one edit fewer.
    """

    wide: int
    narrow: int
    direct: int


BY_LABELS = _Pace(600, 16, 30)
BY_SCORES = _Pace(2500, 30, 10)  # a score says more than a label: more pairs can be heard


class _Talk:
    """One search of `tight`: what is asked, learnt and found."""

    def __init__(self, problem: Problem, session: BaseSession, plan: Tight) -> None:
        self.problem, self.session, self.plan = problem, session, plan
        self.probe = Probe(problem, session)
        self.turns = 1  # that about the original
        self.asked: dict[int, bool] = {}
        self.best: Codes | None = None
        self.others = self._other_graphs()
        self.codes = self._candidates()
        self.free = np.flatnonzero(are_among(self.codes, problem.free(self.codes)))
        self.beliefs = self._first_beliefs()
        self._learn(NO_CODES, session.peek(problem.graph))
        for i in problem.rng.permutation(len(self.others)):
            self._learn(*self.others[i])

    # ---- what is known before the first question ----------------------------------------

    def _other_graphs(self) -> list[tuple[Codes, Answer]]:
        """The background: how each of its graphs differs from the original, and its answer."""
        background, graph = self.problem.background, self.problem.graph
        if background is None or not len(background):
            return []
        _ = self.problem.background_labels  # asked together, and counted apart
        known = [
            (g.difference(graph), self.session.apply_confidence(self.session.peek(g)))
            for g in background.graphs
            if g != graph
        ]
        known.sort(key=lambda one: len(one[0]))
        for codes, answer in known:
            if self.problem.accepts(answer.label) and self._may_be(codes):
                self.best = codes
                self.probe.best = (codes, answer.label)
                self.problem.keep(self.probe.graph(codes), answer.label)
                break
        return known[:MOST_GRAPHS]

    def _may_be(self, codes: Codes) -> bool:
        """Whether the user's terms allow the graph that these edits lead to."""
        terms = self.problem.terms
        return terms is None or terms.broken(self.probe.graph(codes)) is None

    def _candidates(self) -> Codes:
        """The pairs that are weighed, sorted."""
        graph, n = self.problem.graph, self.problem.graph.n_nodes
        if graph.n_pairs <= MOST_PAIRS:
            u, v = np.triu_indices(n, 1)
            return (u * n + v).astype(np.int64)
        first = NO_CODES if self.best is None else self.best
        seen = np.concatenate([graph.codes, *(codes for codes, _ in self.others)])
        pairs, counts = np.unique(seen, return_counts=True)
        pairs = pairs[np.argsort(-counts, kind="stable")]
        chance = np.sort(self.problem.rng.integers(n, size=(MOST_PAIRS, 2)), axis=1)
        chance = chance[chance[:, 0] < chance[:, 1]]
        listed = np.concatenate([first, pairs, chance[:, 0] * n + chance[:, 1]])
        _, places = np.unique(listed, return_index=True)
        return np.unique(listed[np.sort(places)][: max(MOST_PAIRS, len(first))])

    def _first_beliefs(self) -> list[Belief]:
        """That every pair counts for itself; and, if there are regions, that cells count too."""
        joined = are_among(self.codes, self.problem.graph.codes)
        signs = np.where(joined, -1.0, 1.0)
        share = joined.astype(float)
        if self.others:
            for codes, _ in self.others:
                there = self._places(codes)
                share[there] += signs[there]  # a pair that differs is there, or not, the other way
            counted = joined + (share - joined) / (len(self.others) + 1)
            share = np.clip(counted, 0.0, 1.0)
        start = signs * (joined - share)
        level = sqrt(max(float((share * (1 - share)).sum()), float(self.problem.graph.n_edges), 1))
        self.signs = signs
        beliefs = [Belief(start, level=level, unit=self._unit(level))]
        if (cells := self._cells()) is not None:
            spread = self._spread_by_cells(cells, signs * start)
            level = sqrt((1 - IN_CELLS) * level**2 + IN_CELLS * max(spread, level**2))
            beliefs.append(
                Belief(
                    start,
                    level=level,
                    unit=self._unit(level),
                    cells=(cells, signs),
                    share=IN_CELLS,
                )
            )
        return beliefs

    def _unit(self, level: float) -> float:
        """What a gain of 1 is in log-odds, by how much the graphs of the data set differ."""
        if not self.plan.guided:
            return 1.0
        scores = [self._score(answer) for _, answer in self.others]
        known = [s for s in scores if abs(s) < SURE]
        own = self._score(self.session.peek(self.problem.graph))
        return (float(np.std(known)) if len(known) > 1 else abs(own)) / level or 1.0

    def _cells(self) -> Ints | None:
        """The pair of regions that every candidate is in; None without regions."""
        nodes, n = self.problem.nodes, self.problem.graph.n_nodes
        if nodes is None or not nodes.regions:
            return None
        taxonomy = nodes.taxonomy()
        region = taxonomy.array
        ends = np.sort(np.stack([region[self.codes // n], region[self.codes % n]]), axis=0)
        listed, cells = np.unique(ends[0] * len(taxonomy.regions) + ends[1], return_inverse=True)
        return cells if 1 < len(listed) <= MOST_CELLS else None

    def _spread_by_cells(self, cells: Ints, away: Floats) -> float:
        """How far graphs are from the middle, counted by cells, squared; the mean over all."""
        own = np.bincount(cells, away)
        squares = [float(own @ own)]
        for codes, _ in self.others:
            there = self._places(codes)
            other = own + np.bincount(cells[there], self.signs[there], minlength=len(own))
            squares.append(float(other @ other))
        return float(np.mean(squares))

    @property
    def belief(self) -> Belief:
        """The one that the answers so far speak for."""
        return max(self.beliefs, key=lambda belief: belief.evidence)

    # ---- asking and learning ------------------------------------------------------------

    def _places(self, codes: Codes) -> Ints:
        """Where these pairs stand among the candidates; others are left out."""
        codes = codes[are_among(codes, self.codes)] if len(codes) else codes
        return np.searchsorted(self.codes, codes)

    def _score(self, answer: Answer) -> float:
        """The log-odds of the labels that are accepted, against the others."""
        assert answer.probabilities is not None
        sides = [1e-300, 1e-300]
        for label, probability in answer.probabilities.items():
            side = self.problem.accepts(label)
            sides[side] = max(sides[side], probability)
        return log(sides[True]) - log(sides[False])

    def _learn(self, codes: Codes, answer: Answer) -> bool:
        flips, places = self.problem.accepts(answer.label), self._places(codes)
        score = self._score(answer) if self.plan.guided else SURE
        for belief in self.beliefs:
            if abs(score) < SURE:
                belief.learn_score(places, score)
            else:
                belief.learn(places, flips)
        return flips

    def ask(self, codes: Codes) -> bool:
        """Whether these edits flip; learn from it, and keep it if it is better."""
        self.turns += 1
        key = self.probe.graph(codes).key
        if key in self.asked:
            return self.asked[key]
        answer, terms = self.probe.answer(codes), self.problem.terms
        if terms is not None and terms.forbids(self.probe.graph(codes)):
            self.asked[key] = False  # nobody was asked: there is nothing to learn
            return False
        self.asked[key] = flips = self._learn(codes, answer)
        if flips and (self.best is None or len(codes) < len(self.best)):
            self.best = codes
        return flips

    @property
    def answer(self) -> Codes:
        """The best answer so far; there is one since `begin`."""
        assert self.best is not None
        return self.best

    @property
    def left(self) -> float:
        """Questions that may still be asked, so that each edit can be certified afterwards."""
        n = LARGE if self.best is None else min(len(self.best) + 2, LARGE)
        if self.plan.guided and self.best is not None and len(self.best) > self.plan.questions:
            n = 2 * COARSE  # so many edits are not certified
        return min(self.plan.questions - self.turns, self.session.remaining) - n

    @property
    def short_of_questions(self) -> bool:
        """Whether the budget, and not the plan, has said how many questions there are."""
        return self.session.remaining < self.plan.questions - self.turns

    # ---- the search ---------------------------------------------------------------------

    def begin(self) -> None:
        """Find a flip, and a short way there: where many edits are needed, that is most of it."""
        if self.best is None:
            self._begin_anywhere()
        for order in self._orders():
            self._shorten(order)

    def _begin_anywhere(self) -> None:
        """Without a flip in the background: larger and larger draws of several kinds."""
        rng, joined = self.problem.rng, self.signs[self.free] < 0
        everything = self.free
        orders = [rng.permutation(everything[chosen]) for chosen in (joined, ~joined)]
        orders += [rng.permutation(everything) for _ in range(4)]
        if self.problem.terms is not None:  # there may be flips that none may go all the way to
            orders = [self._places(order) for order in self._ways_there()] + orders
        size = 1
        while size < 2 * len(self.codes):
            for order in orders:
                if size < 2 * len(order) and self.ask(self.codes[order[:size]]):
                    return
            size *= 2
        self.problem.note(
            "No flip was found among the background graphs, nor by toggling up to all pairs in "
            f"{len(orders)} orders."
        )
        raise StopSearch

    def _ways_there(self) -> Iterator[Codes]:
        """Edits that may be made, towards the wanted class and its nearest graphs."""
        near = [codes for codes, answer in self.others if self.problem.accepts(answer.label)]
        if near:
            yield helpful_changes(self.problem, "tight")
        for codes in near[:NEAREST]:
            yield self.problem.rng.permutation(self.problem.free(codes))

    def _orders(self) -> Iterator[Codes]:
        """Orders of edits that may flip early: by contrast, and by what is believed."""
        if any(self.problem.accepts(answer.label) for _, answer in self.others):
            yield helpful_changes(self.problem, "tight")
        yield self._ranked()

    def _ranked(self) -> Codes:
        """The candidates that look helpful, the best first."""
        gains = self.belief.gains()
        ranked = self._by_gain(gains)
        return self.codes[ranked[: int((gains[ranked] > 0).sum())]]

    def _by_gain(self, gains: Floats) -> Ints:
        """Where the pairs that may change stand among the candidates, the best first."""
        return self.free[np.argsort(-gains[self.free], kind="stable")]

    def _shorten(self, order: Codes) -> None:
        """Look along an order for a flip that is shorter than the answer.

        Where some hundred edits do, learning finds fewer: the place is found roughly only.
        """
        longest = min(len(self.answer) - 1, len(order))
        low, high = 0, min(LARGE, longest)
        while high and self.left > 0 and not self.ask(np.sort(order[:high])):
            if high == longest:
                return
            low, high = high, min(2 * high, longest)
        while high - low > max(0 if low > MANY else STEP * high, 1) and self.left > 0:
            middle = (low + high) // 2
            if self.ask(np.sort(order[:middle])):
                high = middle
            else:
                low = middle

    def narrow(self) -> None:
        """Ask about draws from fewer and fewer pairs."""
        pace = BY_SCORES if self.plan.guided else BY_LABELS
        wide = min(self.plan.pool or pace.wide, len(self.free))
        rng, total = self.problem.rng, max(self.left - pace.direct, 1.0)
        while (left := self.left - pace.direct) > 0 and len(self.answer) > 1:
            narrow = min(max(pace.narrow, len(self.answer)), wide)
            n = round(exp(log(narrow) + log(wide / narrow) * min(left / total, 1.0)))
            gains = self.belief.gains()
            ranked = self._by_gain(gains)
            reach = self.belief.level() + np.cumsum(gains[ranked])
            if reach[n - 1] < 0:  # so few cannot do: twice what the best would take
                n = min(2 * int(np.argmax(reach >= 0)) + 2, len(ranked)) if reach.max() >= 0 else n
            order = rng.permutation(ranked[:n])
            likely = np.flatnonzero(self.belief.level() + np.cumsum(gains[order]) >= 0)
            k = int(likely[0]) + 1 if len(likely) else n
            self.ask(np.sort(self.codes[order[:k]]))

    def go_direct(self) -> None:
        """Ask about the best-looking pairs, one fewer than the answer has."""
        rng, missed = self.problem.rng, 0
        if len(self.answer) > LARGE:
            self._shorten(self._ranked())
        while self.left > 0 and len(self.answer) > 1 and missed < MISSES:
            gains, k = self.belief.gains(), len(self.answer) - 1
            pool = self._by_gain(gains)[: 3 * k + 8]
            spreads = self.belief.spreads()[pool]
            choices = [pool[:k]]
            for _ in range(DRAWS):
                drawn = gains[pool] + spreads * rng.normal(size=len(pool))
                choices.append(pool[np.argsort(-drawn, kind="stable")[:k]])
            scores = [self.belief.score(choice) for choice in choices]
            ranked = sorted(range(len(choices)), key=lambda i: -scores[i][0] / scores[i][1])
            for i in ranked:
                codes = np.sort(self.codes[choices[i]])
                if self.probe.graph(codes).key not in self.asked:
                    break
            missed = 0 if self.ask(codes) else missed + 1

    def finish(self) -> Walk:
        """Leave out what is not needed, and certify that."""
        gains = dict(zip(self.codes.tolist(), self.belief.gains().tolist(), strict=True))
        listed = sorted(self.answer.tolist(), key=lambda code: (-gains[code], code))

        def enough(some: Sequence[int]) -> bool:
            codes = np.array(sorted(some), dtype=np.int64)
            return self.probe.flips(codes)

        if len(listed) > LARGE:
            coarse = self.plan.guided and len(listed) > self.plan.questions
            listed = _thinned(listed, enough, COARSE if coarse else STRETCHES)
        certified = len(listed) <= self.plan.questions
        if certified:
            listed = certify(listed, enough)
        else:
            self.problem.note(
                f"Whether each of the {len(listed)} edits is needed was not asked, which would "
                "take as many questions more; 'tight+min' does."
            )
        found = np.array(sorted(listed), dtype=np.int64)
        graph = self.probe.graph(found)
        walk = self.problem.end(graph, self.session.peek(graph).label)
        walk.minimal = True if certified else None
        return walk


def _thinned(things: list[int], enough: Callable[[Sequence[int]], bool], finest: int) -> list[int]:
    """Leave out whole stretches, the last first: halves, quarters, … of what there was."""
    kept, size = list(things), len(things) // 2
    while size >= max(len(things) // finest, 1):
        for stop in range(len(kept), 0, -size):
            rest = kept[: max(stop - size, 0)] + kept[stop:]
            if rest and enough(rest):
                kept = rest
        size //= 2
    return kept
