"""`gallop`, `lexmin` and `certify`: tools for searches that query the oracle themselves.

They look for a short list of items (edits, cells, amounts) that is enough, according to a function
``enough``. `Probe` provides the usual one: whether the original with some edits flips. It never
queries the same graph twice. `fewest_parts` finds the parts of a counterfactual that are enough.
`SharedSession` lets several searches share answers and a part of the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from math import inf
from typing import NamedTuple, TypeVar, overload

import numpy as np

from denseflip.counterfactual import Counterfactual, Label
from denseflip.graph import Codes, Graph
from denseflip.oracles.base_session import BaseSession, BudgetSpentError, SessionView
from denseflip.oracles.gradients import CALLS, PairGradient
from denseflip.oracles.lookahead import FlipOdds
from denseflip.oracles.protocol import Answer
from denseflip.search.core.problem import Problem

T = TypeVar("T")
NO_CODES: Codes = np.empty(0, dtype=np.int64)


class Probe:
    """Queries the original with some pairs toggled, and remembers every answer.

    A graph that was queried before is not queried or counted again. The flip with the fewest edits
    is stored, also in the problem in case the budget ends.

    Parameters
    ----------
    problem, session : what is explained, and the session to query through.
    keep : whether to store that flip as the problem's best; False for a search with another
        criterion.
    """

    def __init__(self, problem: Problem, session: BaseSession, *, keep: bool = True) -> None:
        self.problem = problem
        self.session = session
        self.best: tuple[Codes, Label] | None = None
        self._keep = keep
        self._answers: dict[int, Answer] = {problem.graph.key: Answer(problem.label)}

    def graph(self, codes: Codes) -> Graph:
        """The original with these pairs toggled."""
        return self.problem.graph.toggle_codes(codes) if len(codes) else self.problem.graph

    def answer(self, codes: Codes) -> Answer:
        """The oracle's answer about the original with these pairs toggled."""
        graph = self.graph(codes)
        known = self._answers.get(graph.key)
        return self._learn(graph, codes, self.session.query(graph)) if known is None else known

    def answers(self, choices: Iterable[Codes]) -> list[Answer]:
        """The answers about several choices, those that are new evaluated together."""
        choices = list(choices)
        graphs = [self.graph(codes) for codes in choices]
        new: dict[int, tuple[Graph, Codes]] = {}
        for graph, codes in zip(graphs, choices, strict=True):
            if graph.key not in self._answers:
                new.setdefault(graph.key, (graph, codes))
        given = self.session.query_all([graph for graph, _ in new.values()]) if new else []
        for (graph, codes), answer in zip(new.values(), given, strict=True):
            self._learn(graph, codes, answer)
        return [self._answers[graph.key] for graph in graphs]

    def flips(self, codes: Codes) -> bool:
        """Whether the original with these pairs toggled is a counterfactual."""
        return self.problem.accepts(self.answer(codes).label)

    def expect(self, choices: Iterable[Codes]) -> list[bool]:
        """Whether each of several choices flips; a probe with gradients may predict it."""
        return [self.problem.accepts(answer.label) for answer in self.answers(choices)]

    def first(self, choices: Iterable[Codes], odds: FlipOdds | None = None) -> int | None:
        """The index of the first choice that flips, evaluated in batches; None if none does.

        The choices are generated lazily and may not depend on the answers.
        """

        def graphs() -> Iterator[tuple[tuple[int, Codes], Graph]]:
            for i, codes in enumerate(choices):
                yield (i, codes), self.graph(codes)

        walk = self.session.look_ahead(graphs(), odds)
        for (i, codes), graph in walk:
            answer = self._answers.get(graph.key)
            if answer is None:
                answer = self._learn(graph, codes, self.session.query(graph))
            if self.problem.accepts(answer.label):
                walk.close()
                if odds is not None:
                    odds.count(0, yes=1)
                return i
        return None

    def _learn(self, graph: Graph, codes: Codes, answer: Answer) -> Answer:
        self._answers[graph.key] = answer
        if self.problem.accepts(answer.label) and (
            self.best is None or len(codes) < len(self.best[0])
        ):
            self.best = (np.asarray(codes, dtype=np.int64), answer.label)
            if self._keep:
                self.problem.keep(graph, answer.label)
        return answer


def joined(parts: Iterable[Codes]) -> Codes:
    """Concatenate several sets of pair codes."""
    listed = list(parts)
    return np.concatenate(listed) if listed else NO_CODES


def gallop(n: int, enough: Callable[[int], bool], *, start: int = 1) -> int | None:
    """Find a k from 1 to n that is enough while k - 1 is not.

    Tries ``start``, twice that, … up to n, and then bisects: about 2 log2(k) queries. If `enough`
    is monotone, k is the smallest number that is enough. None if no number tried is enough.

    >>> gallop(100, lambda k: k >= 37)
    37
    """
    low, high = 0, min(start, n)
    while high and not enough(high):
        if high == n:
            return None
        low, high = high, min(2 * high, n)
    return boundary(low, high, enough) if high else None


def boundary(low: int, high: int, enough: Callable[[int], bool]) -> int:
    """Find a k with low < k <= high that is enough while k - 1 is not.

    It is known that ``high`` is enough and ``low`` is not.
    """
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high


@overload
def lexmin(order: Sequence[T], enough: Callable[[Sequence[T]], bool]) -> list[T]: ...
@overload
def lexmin(
    order: Sequence[T], enough: Callable[[Sequence[T]], bool], *, most: int
) -> list[T] | None: ...
def lexmin(
    order: Sequence[T], enough: Callable[[Sequence[T]], bool], *, most: int | None = None
) -> list[T] | None:
    """Find a small part of an order that is enough, preferring items that come first.

    It is known that the whole order is enough. The last item of the shortest prefix that is enough
    is needed: it is kept, and the items behind it are dropped. This is repeated with the kept items
    in front. About m log2(n) queries for m items kept.

    If `enough` is monotone, no item of the result can be left out. With ``most``, the result is
    None as soon as more items than that are needed.

    >>> lexmin(range(10), lambda some: sum(some) >= 12)
    [5, 4, 2, 1]
    """
    kept: list[T] = []
    rest = list(order)
    while rest and not (kept and enough(kept)):
        if len(kept) == most:
            return None
        k = boundary(0, len(rest), lambda k: enough([*kept, *rest[:k]]))
        kept.append(rest[k - 1])
        del rest[k - 1 :]
    return kept


def certify(items: Sequence[T], enough: Callable[[Sequence[T]], bool]) -> list[T]:
    """Leave items out, the last first, in repeated passes, until none can be left out.

    >>> certify([5, 4, 3, 1], lambda some: sum(some) >= 12)
    [5, 4, 3]
    """
    kept = list(items)
    changed = True
    while changed and len(kept) > 1:
        changed = False
        for i in reversed(range(len(kept))):
            if len(kept) > 1 and enough(kept[:i] + kept[i + 1 :]):
                del kept[i]
                changed = True
    return kept


class SufficientParts(NamedTuple):
    """Parts whose edits flip the oracle by themselves.

    Attributes
    ----------
    chosen : their indices, ascending.
    label : the oracle's label of the original with only their edits.
    tried : how many choices of parts were queried.
    minimal : whether it was certified that none can be left out, except those that were `kept`.
    """

    chosen: tuple[int, ...]
    label: Label
    tried: int
    minimal: bool


def fewest_parts(
    result: Counterfactual,
    parts: Sequence[Codes],
    session: BaseSession,
    *,
    kept: int = 0,
    budget: int | None = None,
    shorten: bool = True,
) -> SufficientParts | None:
    """Find a few parts of a counterfactual that flip; None if not even all of them do.

    Finds the shortest prefix that flips, reduces it to the parts that are needed (`lexmin`), and
    checks that none can be left out (`certify`). The flip is never lost, even if the labels are not
    monotone.

    Parameters
    ----------
    result : the counterfactual.
    parts : its edits as pair codes, in order of preference.
    session : the session to query through; every choice of parts is one query.
    kept : how many of the first parts are chosen in any case.
    budget : the largest number of queries, at least 1; when it is spent, the shortest choice that
        flipped is returned.
    shorten : False to query only all parts together.
    """
    everything = tuple(range(len(parts)))
    chosen: dict[tuple[int, ...], Label] = {}  # choices that flip
    queried: set[tuple[int, ...]] = set()

    def changed(some: Sequence[int]) -> Graph:
        return result.original.toggle_codes(np.unique(joined(parts[i] for i in some)))

    def prefixes() -> Iterator[tuple[int, Graph]]:
        most = len(parts) if budget is None else min(len(parts), kept + budget - 1)
        for k in range(kept + 1, most + 1):
            yield k, changed(range(k))

    def flips(some: Sequence[int]) -> bool:
        key = tuple(sorted(some))
        if key not in queried:
            reserved = 0 if chosen or key == everything else 1  # one query about all parts
            if budget is not None and len(queried) + reserved >= budget:
                raise BudgetSpentError
            label = session.query(changed(key)).label
            queried.add(key)
            if result.accepts(label):
                chosen[key] = label
        return key in chosen

    best: tuple[int, ...] | None = None
    if shorten:
        with suppress(BudgetSpentError):
            k = kept if kept and flips(range(kept)) else 0
            if not k:
                # The shortest prefix first: if labels are not monotone, longer ones may not flip.
                walk = session.look_ahead(prefixes())
                k = next((n for n, _ in walk if flips(range(n))), 0) or len(parts)
                walk.close()
            if not flips(range(k)):
                return None
            best = _needed(k, kept, flips)
    minimal = best is not None
    if best is None:
        if not chosen and not (everything and flips(everything)):
            return None
        best = min(chosen, key=lambda key: (len(key), key))
    return SufficientParts(best, chosen[best], len(queried), minimal or len(best) == 1)


def _needed(k: int, kept: int, flips: Callable[[Sequence[int]], bool]) -> tuple[int, ...]:
    """Which of the first k parts, which flip together, are needed beside those that are kept."""
    first = list(range(kept))
    if k == kept:
        return tuple(first)
    needed = lexmin(range(kept, k), lambda some: flips([*first, *some]))
    needed = certify(sorted(needed), lambda some: flips([*first, *some]))
    return tuple(sorted(first + needed))


class SharedSession(SessionView):
    """A view of a session in which no graph is counted twice.

    Budget, cache and counts are those of the session it was made of. A graph that was queried
    before is answered from the cache and not counted.

    Parameters
    ----------
    session : the session whose answers are shared.
    limit : the largest number of new queries through this view; None for all that are left.
    """

    def __init__(self, session: BaseSession, limit: int | None = None) -> None:
        end = inf if limit is None else session.calls + limit
        if isinstance(session, SharedSession):  # one level is enough, and it is quicker
            end = min(end, session._end)
            session = session._session
        super().__init__(session)
        self._end: float = end

    @property
    def remaining(self) -> float:
        """Number of queries left in this part of the budget."""
        session = self._session
        return min(session.remaining, self._end - session.calls)

    def query(self, graph: Graph) -> Answer:
        """Query the oracle about a graph; counts as one call if the graph was never queried."""
        session = self._session
        if session.was_queried(graph):
            return session.recall(graph)
        if self.remaining < 1:
            raise BudgetSpentError
        return session.query(graph)

    def query_all(self, graphs: Iterable[Graph]) -> list[Answer]:
        """Query several graphs; those that were never queried are evaluated together."""
        graphs = list(graphs)
        session = self._session
        new = {graph.key: graph for graph in graphs if not session.was_queried(graph)}
        if new:
            super().query_all(new.values())
        return [session.recall(graph) for graph in graphs]

    def gradient(self, graph: Graph, label: Label) -> PairGradient:
        """How much a label's score changes for each flipped pair, within this part."""
        self._check_covers(CALLS)
        return self._session.gradient(graph, label)

    def without_constraints(self) -> BaseSession:
        """The same part of the budget with all graphs permitted."""
        session = SharedSession(self._session.without_constraints())
        session._end = self._end
        return session

    def charge(self, n: int) -> None:
        """Count ``n`` calls without a query; if this part does not cover all, count none."""
        self._check_covers(n)
        super().charge(n)

    def charge_background(self, graphs: Sequence[Graph]) -> None:
        """Count one call for each background graph."""
        self._check_covers(len(graphs))
        super().charge_background(graphs)

    def _check_covers(self, n: int) -> None:
        if n > self.remaining:
            raise BudgetSpentError
