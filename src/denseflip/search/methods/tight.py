"""`tight`: the fewest edits, for classifiers that are approximately linear.

A query about many edits at once is informative about each of them. `tight` queries random draws
from the pairs with the largest estimated weights, with as many edits as make a flip as likely as
not. It learns weights from every answer (`Belief`), including the labels of the background, and
draws from fewer and fewer pairs. A flip with fewer edits than before is the new answer. Finally the
pairs with the largest weights are queried directly, one fewer than the answer has, and every edit
of the answer is certified to be needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import exp, log, sqrt
from typing import ClassVar

import numpy as np

from denseflip.errors import whole_number
from denseflip.graph import Codes
from denseflip.graph.pairs import all_pairs, are_among
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import Answer
from denseflip.search.core.method import Conversation
from denseflip.search.core.probing import NO_CODES, Probe, certify
from denseflip.search.core.problem import CONFIDENCE, SPENT, Problem, StopSearch, Walk
from denseflip.search.methods.baselines import helpful_changes
from denseflip.search.methods.belief import Belief, Floats, Ints
from denseflip.search.methods.gradient import GradientRun, GradientSearch

MOST_PAIRS = 60_000  # candidate pairs; in larger graphs those that differ most come first
MOST_GRAPHS = 400  # background graphs to learn from
MOST_CELLS = 2000  # with more cells, weights are not shared within cells
IN_CELLS = 0.5  # share of the variance of weights that is common to a cell
STEP = 0.15  # relative precision of the first search along an order
MANY = 256  # number of edits from which the search along an order is exact
LARGE = 64  # number of edits from which whole stretches are dropped before single edits
STRETCHES = 32  # the finest stretches are this part of the answer
COARSE = 4  # the same if scores were learnt from, which say more than labels
MISSES = 40  # direct queries in a row without a flip, after which the search stops
NEAREST = 3  # graphs of the target class to follow the differences to, under constraints
DRAWS = 6  # random choices that are compared before one is queried
SURE = 30.0  # log-odds beyond which a probability says no more than a label


@dataclass(frozen=True)
class Tight(Conversation):
    """The fewest edits, by weights learnt from the answers; for nearly linear classifiers.

    Parameters
    ----------
    questions : the number of queries, apart from certificates.
    guided : whether to learn from probabilities instead of labels.
    pool : the number of pairs that the first draws are from; None for the default.
    """

    questions: int = 320
    guided: bool = False
    pool: int | None = None
    uses: ClassVar[tuple[str, ...]] = ("probabilities", "gradients")

    def __post_init__(self) -> None:
        whole_number("questions", self.questions, minimum=1)
        if self.pool is not None:
            whole_number("pool", self.pool, minimum=1)

    @property
    def needs(self) -> frozenset[str]:
        """A confidence, if guided by one."""
        return frozenset({CONFIDENCE}) if self.guided else frozenset()

    def __call__(self, problem: Problem, session: BaseSession) -> Walk:
        """Search, and certify the answer."""
        if session.information == "probabilities":
            return replace(self, guided=True)._search(problem, session)
        return self._search(problem, session)

    def _search(self, problem: Problem, session: BaseSession) -> Walk:
        known = self._along_gradient(problem, session) if session.offers_gradient else None
        if known is not None and known.exact and problem.constraints is None:
            return known.finish()  # no other edits can be fewer
        search = _TightSearch(problem, session, self, known)
        search.begin()
        search.narrow()
        search.query_directly()
        if search.limited_by_budget:
            problem.note(SPENT)
        return search.finish()

    def _along_gradient(self, problem: Problem, session: BaseSession) -> GradientRun | None:
        """An answer along the gradient, to begin with; None if there is none."""
        notes = list(problem.notes)
        search = GradientRun(problem, session, GradientSearch(), required=False)
        if not search.find():
            problem.notes[:] = [n for n in problem.notes if n in notes or "gradient" in n]
            return None
        search.shorten()
        return search


@dataclass(frozen=True)
class _DrawSizes:
    """How the draws narrow; these values were best on linear rules.

    Attributes
    ----------
    wide, narrow : number of pairs that the first and the last draws are from.
    direct : number of queries reserved for direct queries with one edit fewer.
    """

    wide: int
    narrow: int
    direct: int


BY_LABELS = _DrawSizes(600, 16, 30)
BY_SCORES = _DrawSizes(2500, 30, 10)  # a score says more than a label, so pools are larger


class _TightSearch:
    """One search of `tight`: its queries, what it has learnt, and the best answer."""

    def __init__(
        self, problem: Problem, session: BaseSession, plan: Tight, known: GradientRun | None = None
    ) -> None:
        self.problem, self.session, self.plan, self.known = problem, session, plan, known
        self.probe = Probe(problem, session)
        self.n_queries = 1  # that about the original
        self.queried: dict[int, bool] = {}
        self.best: Codes | None = None
        self.others = self._other_graphs()
        self.codes = self._candidates()
        if known is not None and (self.best is None or len(known.best) < len(self.best)):
            self.best = known.best
            self.probe.answer(self.best)  # known, and kept as the best so far
            self.codes = np.union1d(self.codes, self.best)
        self.free = np.flatnonzero(are_among(self.codes, problem.free(self.codes)))
        self.beliefs = self._first_beliefs()
        self._learn(NO_CODES, session.peek(problem.graph))
        for i in problem.rng.permutation(len(self.others)):
            self._learn(*self.others[i])

    # ---- before the first query ---------------------------------------------------------

    def _other_graphs(self) -> list[tuple[Codes, Answer]]:
        """The differences of the background graphs to the original, with the answers."""
        background, graph = self.problem.background, self.problem.graph
        if background is None or not len(background):
            return []
        _ = self.problem.background_labels  # queried together, and counted apart
        known = [
            (g.difference(graph), self.session.apply_confidence(self.session.peek(g)))
            for g in background.graphs
            if g != graph
        ]
        known.sort(key=lambda one: len(one[0]))
        for codes, answer in known:
            if self.problem.accepts(answer.label) and self._is_allowed(codes):
                self.best = codes
                self.probe.best = (codes, answer.label)
                self.problem.keep(self.probe.graph(codes), answer.label)
                break
        return known[:MOST_GRAPHS]

    def _is_allowed(self, codes: Codes) -> bool:
        """Whether the constraints allow the graph that these edits lead to."""
        constraints = self.problem.constraints
        return constraints is None or constraints.broken(self.probe.graph(codes)) is None

    def _candidates(self) -> Codes:
        """The candidate pairs, sorted."""
        graph, n = self.problem.graph, self.problem.graph.n_nodes
        if graph.n_pairs <= MOST_PAIRS:
            return all_pairs(n)
        first = NO_CODES if self.best is None else self.best
        seen = np.concatenate([graph.codes, *(codes for codes, _ in self.others)])
        pairs, counts = np.unique(seen, return_counts=True)
        pairs = pairs[np.argsort(-counts, kind="stable")]
        drawn = np.sort(self.problem.rng.integers(n, size=(MOST_PAIRS, 2)), axis=1)
        drawn = drawn[drawn[:, 0] < drawn[:, 1]]
        listed = np.concatenate([first, pairs, drawn[:, 0] * n + drawn[:, 1]])
        _, places = np.unique(listed, return_index=True)
        return np.unique(listed[np.sort(places)][: max(MOST_PAIRS, len(first))])

    def _first_beliefs(self) -> list[Belief]:
        """One belief with independent weights; with regions, one that shares weights in cells."""
        joined = are_among(self.codes, self.problem.graph.codes)
        signs = np.where(joined, -1.0, 1.0)
        share = joined.astype(float)
        if self.others:
            for codes, _ in self.others:
                there = self._places(codes)
                share[there] += signs[there]  # a pair that differs is joined in one graph only
            counted = joined + (share - joined) / (len(self.others) + 1)
            share = np.clip(counted, 0.0, 1.0)
        start = signs * (joined - share)
        level = sqrt(max(float((share * (1 - share)).sum()), float(self.problem.graph.n_edges), 1))
        self.signs = signs
        prior = self._prior()
        beliefs = [Belief(start, level=level, unit=self._unit(level), prior=prior)]
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
                    prior=prior,
                )
            )
        return beliefs

    def _prior(self) -> tuple[float, Floats] | None:
        """The level and the gains by the gradient, in units of the spread of a gain."""
        if self.known is None:
            return None
        effects = self.known.effect
        gains = effects.at(self.codes)
        unit = float(np.sqrt(np.mean(gains**2))) or 1.0
        return (effects.score or 0.0) / unit, gains / unit

    def _unit(self, level: float) -> float:
        """A gain of 1 in log-odds, from the spread of the scores of the data set."""
        if not self.plan.guided:
            return 1.0
        scores = [self._score(answer) for _, answer in self.others]
        known = [s for s in scores if abs(s) < SURE]
        own = self._score(self.session.peek(self.problem.graph))
        return (float(np.std(known)) if len(known) > 1 else abs(own)) / level or 1.0

    def _cells(self) -> Ints | None:
        """The cell (pair of regions) of every candidate; None without regions."""
        nodes, n = self.problem.nodes, self.problem.graph.n_nodes
        if nodes is None or not nodes.regions:
            return None
        taxonomy = nodes.taxonomy()
        region = taxonomy.array
        ends = np.sort(np.stack([region[self.codes // n], region[self.codes % n]]), axis=0)
        listed, cells = np.unique(ends[0] * len(taxonomy.regions) + ends[1], return_inverse=True)
        return cells if 1 < len(listed) <= MOST_CELLS else None

    def _spread_by_cells(self, cells: Ints, away: Floats) -> float:
        """The mean squared distance of graphs from the mean graph, counted by cells."""
        own = np.bincount(cells, away)
        squares = [float(own @ own)]
        for codes, _ in self.others:
            there = self._places(codes)
            other = own + np.bincount(cells[there], self.signs[there], minlength=len(own))
            squares.append(float(other @ other))
        return float(np.mean(squares))

    @property
    def belief(self) -> Belief:
        """The belief with the larger evidence."""
        return max(self.beliefs, key=lambda belief: belief.evidence)

    # ---- querying and learning ----------------------------------------------------------

    def _places(self, codes: Codes) -> Ints:
        """The indices of these pairs among the candidates; other pairs are left out."""
        codes = codes[are_among(codes, self.codes)] if len(codes) else codes
        return np.searchsorted(self.codes, codes)

    def _score(self, answer: Answer) -> float:
        """The log-odds of the accepted labels against the others."""
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

    def query(self, codes: Codes) -> bool:
        """Whether these edits flip; learn from the answer, and keep the edits if they are fewer."""
        self.n_queries += 1
        key = self.probe.graph(codes).key
        if key in self.queried:
            return self.queried[key]
        answer, constraints = self.probe.answer(codes), self.problem.constraints
        if constraints is not None and constraints.forbids(self.probe.graph(codes)):
            self.queried[key] = False  # the oracle was not queried: there is nothing to learn
            return False
        self.queried[key] = flips = self._learn(codes, answer)
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
        """Queries left, apart from those reserved to certify each edit."""
        n = LARGE if self.best is None else min(len(self.best) + 2, LARGE)
        if self.plan.guided and self.best is not None and len(self.best) > self.plan.questions:
            n = 2 * COARSE  # so many edits are not certified
        return min(self.plan.questions - self.n_queries, self.session.remaining) - n

    @property
    def limited_by_budget(self) -> bool:
        """Whether the budget, and not the plan, limits the number of queries."""
        return self.session.remaining < self.plan.questions - self.n_queries

    # ---- the search ---------------------------------------------------------------------

    def begin(self) -> None:
        """Find a flip, and shorten it along a few orders of edits."""
        if self.best is None:
            self._find_flip()
        for order in self._orders():
            self._shorten(order)

    def _find_flip(self) -> None:
        """Find a flip without the background: larger and larger draws of several kinds."""
        rng, joined = self.problem.rng, self.signs[self.free] < 0
        everything = self.free
        orders = [rng.permutation(everything[chosen]) for chosen in (joined, ~joined)]
        orders += [rng.permutation(everything) for _ in range(4)]
        if self.problem.constraints is not None:  # background graphs that flip may be forbidden
            orders = [self._places(order) for order in self._allowed_orders()] + orders
        size = 1
        while size < 2 * len(self.codes):
            for order in orders:
                if size < 2 * len(order) and self.query(self.codes[order[:size]]):
                    return
            size *= 2
        self.problem.note(
            "No flip was found among the background graphs, nor by toggling up to all pairs in "
            f"{len(orders)} orders."
        )
        raise StopSearch

    def _allowed_orders(self) -> Iterator[Codes]:
        """Allowed edits, towards the target class and its nearest graphs."""
        near = [codes for codes, answer in self.others if self.problem.accepts(answer.label)]
        if near:
            yield helpful_changes(self.problem, "tight")
        for codes in near[:NEAREST]:
            yield self.problem.rng.permutation(self.problem.free(codes))

    def _orders(self) -> Iterator[Codes]:
        """Orders of edits that may flip early: by contrast, and by learnt weights."""
        if any(self.problem.accepts(answer.label) for _, answer in self.others):
            yield helpful_changes(self.problem, "tight")
        yield self._ranked()

    def _ranked(self) -> Codes:
        """The candidates with a positive gain, the largest first."""
        gains = self.belief.gains()
        ranked = self._by_gain(gains)
        return self.codes[ranked[: int((gains[ranked] > 0).sum())]]

    def _by_gain(self, gains: Floats) -> Ints:
        """The indices of the pairs that may change, the largest gain first."""
        return self.free[np.argsort(-gains[self.free], kind="stable")]

    def _shorten(self, order: Codes) -> None:
        """Search along an order for a flip with fewer edits than the answer.

        For up to a few hundred edits the length is found approximately, because learning will find
        fewer edits anyway.
        """
        longest = min(len(self.answer) - 1, len(order))
        low, high = 0, min(LARGE, longest)
        while high and self.left > 0 and not self.query(np.sort(order[:high])):
            if high == longest:
                return
            low, high = high, min(2 * high, longest)
        while high - low > max(0 if low > MANY else STEP * high, 1) and self.left > 0:
            middle = (low + high) // 2
            if self.query(np.sort(order[:middle])):
                high = middle
            else:
                low = middle

    def narrow(self) -> None:
        """Query draws from fewer and fewer pairs."""
        sizes = BY_SCORES if self.plan.guided else BY_LABELS
        wide = min(self.plan.pool or sizes.wide, len(self.free))
        rng, total = self.problem.rng, max(self.left - sizes.direct, 1.0)
        while (left := self.left - sizes.direct) > 0 and len(self.answer) > 1:
            narrow = min(max(sizes.narrow, len(self.answer)), wide)
            n = round(exp(log(narrow) + log(wide / narrow) * min(left / total, 1.0)))
            gains = self.belief.gains()
            ranked = self._by_gain(gains)
            reach = self.belief.level() + np.cumsum(gains[ranked])
            if reach[n - 1] < 0:  # too few to flip: twice as many as the best would take
                n = min(2 * int(np.argmax(reach >= 0)) + 2, len(ranked)) if reach.max() >= 0 else n
            order = rng.permutation(ranked[:n])
            likely = np.flatnonzero(self.belief.level() + np.cumsum(gains[order]) >= 0)
            k = int(likely[0]) + 1 if len(likely) else n
            self.query(np.sort(self.codes[order[:k]]))

    def query_directly(self) -> None:
        """Query the pairs with the largest gains, one fewer than the answer has."""
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
                if self.probe.graph(codes).key not in self.queried:
                    break
            missed = 0 if self.query(codes) else missed + 1

    def finish(self) -> Walk:
        """Leave out edits that are not needed, and certify the others."""
        gains = dict(zip(self.codes.tolist(), self.belief.gains().tolist(), strict=True))
        # In a large graph, an answer may have pairs that are no candidates: no gain is learnt.
        listed = sorted(self.answer.tolist(), key=lambda code: (-gains.get(code, 0.0), code))

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
                f"The {len(listed)} edits were not certified one by one, which would take as many "
                f"queries again; 'tight+min' certifies them."
            )
        found = np.array(sorted(listed), dtype=np.int64)
        graph = self.probe.graph(found)
        walk = self.problem.end(graph, self.session.peek(graph).label)
        walk.minimal = True if certified else None
        return walk


def _thinned(items: list[int], enough: Callable[[Sequence[int]], bool], finest: int) -> list[int]:
    """Leave out whole stretches, the last first: halves, quarters, … of the items."""
    kept, size = list(items), len(items) // 2
    while size >= max(len(items) // finest, 1):
        for stop in range(len(kept), 0, -size):
            rest = kept[: max(stop - size, 0)] + kept[stop:]
            if rest and enough(rest):
                kept = rest
        size //= 2
    return kept
