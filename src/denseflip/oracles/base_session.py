"""`BaseSession`: what searches, refinements and tests may do with an oracle.

`denseflip.oracles.session.Session` implements it. A `SessionView` passes everything on to another
session and changes a few operations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from denseflip.counterfactual import Label
from denseflip.graph import Graph
from denseflip.oracles.lookahead import FlipOdds, QueryTiming
from denseflip.oracles.protocol import Answer, Oracle

T = TypeVar("T")


class BudgetSpentError(Exception):
    """Raised inside a search when no further query is allowed. Never reaches a user."""


class Event(NamedTuple):
    """What happened in a session, for progress bars, live pages and logs.

    Attributes
    ----------
    kind : ``"question"``, graphs are passed to the oracle; ``"answer"``, one query of the search
        was answered; ``"step"``, a search made a step; ``"best"``, a better counterfactual was
        found.
    calls : number of queries counted so far.
    graph : the graph that the event is about; the last one if there are several.
    answer : the oracle's answer, if the event is about one.
    value : the number of graphs of a question, the `Step` of a step, the number of edits of a best.
    """

    kind: str
    calls: int
    graph: Graph | None = None
    answer: Answer | None = None
    value: Any = None


class Hit(NamedTuple, Generic[T]):
    """The first accepted candidate: the item, its graph, and the oracle's answer."""

    item: T
    graph: Graph
    answer: Answer


class BaseSession(ABC):
    """The access to an oracle, with the queries counted.

    Attributes
    ----------
    oracle : the classifier.
    on_event : called with an `Event` whenever something happens, or None.
    timing : measured speed of the oracle; used only to choose how far to look ahead.
    calls : number of queries counted so far.
    background_calls : number of queries about background graphs, counted apart.
    """

    # ---- state --------------------------------------------------------------------------

    oracle: Oracle
    on_event: Callable[[Event], object] | None
    timing: QueryTiming

    @property
    @abstractmethod
    def calls(self) -> int:
        """Number of queries counted so far."""

    @property
    @abstractmethod
    def background_calls(self) -> int:
        """Number of queries about background graphs."""

    @property
    @abstractmethod
    def distinct(self) -> int:
        """Number of different graphs among the counted queries."""

    @property
    @abstractmethod
    def remaining(self) -> float:
        """Number of queries left in the budget; infinite without a budget."""

    @property
    @abstractmethod
    def has_confidence(self) -> bool:
        """Whether answers come with the oracle's confidence."""

    @property
    def required_confidence(self) -> float | None:
        """The confidence that another label must have to be accepted, or None."""
        return None

    @property
    def gave_up(self) -> bool:
        """Whether a search was stopped because too many graphs in a row were forbidden."""
        return False

    @property
    @abstractmethod
    def timed(self) -> bool:
        """Whether there is a time limit."""

    @property
    @abstractmethod
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""

    @abstractmethod
    def check_time(self) -> None:
        """Raise `BudgetSpentError` if the time limit has passed."""

    @abstractmethod
    def notify(self, kind: str, graph: Graph | None = None, value: Any = None) -> None:
        """Send an event that is not a query (a step, a best so far) to the listener."""

    # ---- counted queries ----------------------------------------------------------------

    @abstractmethod
    def query(self, graph: Graph) -> Answer:
        """Query the oracle about a graph; counts as one call.

        Raises
        ------
        BudgetSpentError
            If the budget or the time is spent.
        """

    def query_all(self, graphs: Iterable[Graph]) -> list[Answer]:
        """Query several graphs, evaluated together; each counts as one call.

        If the budget does not cover all of them, none is queried.
        """
        graphs = list(graphs)
        self.check_time()
        allowed = [graph for graph in graphs if self.permits(graph)]
        if len(allowed) > self.remaining:
            raise BudgetSpentError
        self.prefetch(allowed)
        return [self.query(graph) for graph in graphs]

    def first(
        self,
        candidates: Iterable[tuple[T, Graph]],
        accept: Callable[[Answer], bool],
        *,
        odds: FlipOdds | None = None,
    ) -> Hit[T] | None:
        """Find the first candidate whose answer is accepted; None if there is none.

        Parameters
        ----------
        candidates : pairs of any item and a graph, generated lazily. Which graph comes next may
            not depend on the answers about those before.
        accept : whether an answer is accepted.
        odds : how likely an answer is accepted; pass the same object to calls that belong together.

        Notes
        -----
        The result and the number of calls do not depend on how far the session looks ahead.
        """
        odds = FlipOdds() if odds is None else odds
        walk = self.look_ahead(candidates, odds)
        for item, graph in walk:
            answer = self.query(graph)
            if accept(answer):
                walk.close()
                odds.count(0, yes=1)
                return Hit(item, graph, answer)
        return None

    @abstractmethod
    def look_ahead(
        self,
        candidates: Iterable[tuple[T, Graph]],
        odds: FlipOdds | None = None,
        *,
        permits: Callable[[Graph], bool] | None = None,
    ) -> Generator[tuple[T, Graph], None, None]:
        """Pass candidates through, the next few evaluated together before they are yielded.

        The caller queries each candidate as it is yielded and stops at the first one accepted. An
        error raised while candidates are generated is raised when that candidate is due.

        Parameters
        ----------
        candidates, odds : as in `first`.
        permits : which graphs may be evaluated; by default all.
        """

    # ---- queries that are not counted ---------------------------------------------------

    def permits(self, graph: Graph) -> bool:
        """Whether a graph may be evaluated by the oracle."""
        return True

    @abstractmethod
    def was_queried(self, graph: Graph) -> bool:
        """Whether a counted query was about this graph."""

    @abstractmethod
    def peek(self, graph: Graph) -> Answer:
        """The oracle's own answer, not counted; ignores constraints and required confidence."""

    def recall(self, graph: Graph) -> Answer:
        """The answer that `query` would give, not counted; for graphs whose label is known."""
        return self.peek(graph)

    def apply_confidence(self, answer: Answer) -> Answer:
        """The answer as `query` gives it: another label needs the required confidence."""
        return answer

    def without_constraints(self) -> BaseSession:
        """The same session with all graphs permitted; counts and cache are shared."""
        return self

    @abstractmethod
    def prefetch(self, graphs: Sequence[Graph]) -> None:
        """Evaluate graphs in batches, not counted, so that later queries are answered at once."""

    @abstractmethod
    def label_background(self, graphs: Sequence[Graph]) -> list[Label]:
        """Labels of background graphs, counted apart from the search."""

    @abstractmethod
    def remember(self, graphs: Sequence[Graph], labels: Sequence[Label]) -> None:
        """Store labels of background graphs that the oracle gave in another session."""

    @abstractmethod
    def charge(self, n: int) -> None:
        """Count ``n`` calls without a query; if the budget does not cover all, count none."""

    @abstractmethod
    def charge_background(self, graphs: Sequence[Graph]) -> None:
        """Count one call for each background graph as part of the search itself (`dat`)."""

    @abstractmethod
    def confirm(self, graphs: Sequence[Graph], *, times: int = 1) -> None:
        """Query graphs again, past the cache, ``times`` times; raise if an answer has changed."""


class SessionView(BaseSession):
    """A session that passes every operation on to another one.

    Subclasses override what they change. Budget, counts, cache and listener are those of the
    session it was made of.

    Parameters
    ----------
    session : the session that operations are passed on to.
    """

    def __init__(self, session: BaseSession) -> None:
        self._session = session
        self.oracle = session.oracle
        self.on_event = session.on_event
        self.timing = session.timing

    @property
    def calls(self) -> int:
        """Number of queries counted so far."""
        return self._session.calls

    @property
    def background_calls(self) -> int:
        """Number of queries about background graphs."""
        return self._session.background_calls

    @property
    def distinct(self) -> int:
        """Number of different graphs among the counted queries."""
        return self._session.distinct

    @property
    def remaining(self) -> float:
        """Number of queries left in the budget."""
        return self._session.remaining

    @property
    def has_confidence(self) -> bool:
        """Whether answers come with the oracle's confidence."""
        return self._session.has_confidence

    @property
    def required_confidence(self) -> float | None:
        """The confidence that another label must have to be accepted, or None."""
        return self._session.required_confidence

    @property
    def gave_up(self) -> bool:
        """Whether a search was stopped because too many graphs in a row were forbidden."""
        return self._session.gave_up

    @property
    def timed(self) -> bool:
        """Whether there is a time limit."""
        return self._session.timed

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self._session.out_of_time

    def check_time(self) -> None:
        """Raise `BudgetSpentError` if the time limit has passed."""
        self._session.check_time()

    def notify(self, kind: str, graph: Graph | None = None, value: Any = None) -> None:
        """Send an event to the listener."""
        self._session.notify(kind, graph, value)

    def query(self, graph: Graph) -> Answer:
        """Query the oracle about a graph; counts as one call."""
        return self._session.query(graph)

    def look_ahead(
        self,
        candidates: Iterable[tuple[T, Graph]],
        odds: FlipOdds | None = None,
        *,
        permits: Callable[[Graph], bool] | None = None,
    ) -> Generator[tuple[T, Graph], None, None]:
        """Pass candidates through, the next few evaluated together."""
        return self._session.look_ahead(candidates, odds, permits=permits)

    def permits(self, graph: Graph) -> bool:
        """Whether a graph may be evaluated by the oracle."""
        return self._session.permits(graph)

    def was_queried(self, graph: Graph) -> bool:
        """Whether a counted query was about this graph."""
        return self._session.was_queried(graph)

    def peek(self, graph: Graph) -> Answer:
        """The oracle's own answer, not counted."""
        return self._session.peek(graph)

    def recall(self, graph: Graph) -> Answer:
        """The answer that `query` would give, not counted."""
        return self._session.recall(graph)

    def apply_confidence(self, answer: Answer) -> Answer:
        """The answer as `query` gives it."""
        return self._session.apply_confidence(answer)

    def without_constraints(self) -> BaseSession:
        """The same session with all graphs permitted."""
        return self._session.without_constraints()

    def prefetch(self, graphs: Sequence[Graph]) -> None:
        """Evaluate graphs in batches, not counted."""
        self._session.prefetch(graphs)

    def label_background(self, graphs: Sequence[Graph]) -> list[Label]:
        """Labels of background graphs, counted apart from the search."""
        return self._session.label_background(graphs)

    def remember(self, graphs: Sequence[Graph], labels: Sequence[Label]) -> None:
        """Store labels of background graphs that the oracle gave in another session."""
        self._session.remember(graphs, labels)

    def charge(self, n: int) -> None:
        """Count ``n`` calls without a query."""
        self._session.charge(n)

    def charge_background(self, graphs: Sequence[Graph]) -> None:
        """Count one call for each background graph."""
        self._session.charge_background(graphs)

    def confirm(self, graphs: Sequence[Graph], *, times: int = 1) -> None:
        """Query graphs again, past the cache; raise if an answer has changed."""
        self._session.confirm(graphs, times=times)
