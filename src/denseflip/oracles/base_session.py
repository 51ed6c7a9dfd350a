"""`BaseSession`: what searches, refinements and tests may do with an oracle.

`denseflip.oracles.session.Session` implements it. A `SessionView` passes everything on to another
session and changes a few operations.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

from denseflip.counterfactual import Label
from denseflip.graph import Graph
from denseflip.oracles.gradients import PairGradient
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
    has_confidence : whether answers come with the oracle's confidence.
    timed : whether there is a time limit.
    required_confidence : the confidence that another label must have to be accepted, or None.
    information : what searches may use of the oracle: ``"labels"``, ``"probabilities"``,
        ``"gradients"``, or ``"auto"`` for gradients if the oracle offers them.
    gradients : number of gradients computed so far.
    gave_up : whether a search was stopped because too many graphs in a row were forbidden.
    """

    # ---- state --------------------------------------------------------------------------

    oracle: Oracle
    on_event: Callable[[Event], object] | None
    timing: QueryTiming
    calls: int
    background_calls: int
    has_confidence: bool
    timed: bool
    required_confidence: float | None
    information: str
    gradients: int
    gave_up: bool = False

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

    @property
    @abstractmethod
    def offers_gradient(self) -> bool:
        """Whether the oracle offers gradients and they may be used."""

    @abstractmethod
    def gradient(self, graph: Graph, label: Label) -> PairGradient:
        """How much the score of a label changes for each pair that is flipped.

        Counts as two calls, a forward and a backward pass; repeating it counts nothing.

        Raises
        ------
        GradientError
            If the oracle offers none, or it cannot be used.
        BudgetSpentError
            If the budget or the time is spent.
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


def _passed_on(name: str) -> Any:
    """An attribute or a method of the session that a view was made of."""
    return property(attrgetter(f"_session.{name}"))


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
        self.has_confidence = session.has_confidence
        self.timed = session.timed
        self.required_confidence = session.required_confidence
        self.information = session.information

    calls = _passed_on("calls")
    background_calls = _passed_on("background_calls")
    distinct = _passed_on("distinct")
    remaining = _passed_on("remaining")
    gave_up = _passed_on("gave_up")
    out_of_time = _passed_on("out_of_time")
    check_time = _passed_on("check_time")
    notify = _passed_on("notify")
    query = _passed_on("query")
    gradients = _passed_on("gradients")
    offers_gradient = _passed_on("offers_gradient")
    gradient = _passed_on("gradient")
    look_ahead = _passed_on("look_ahead")
    permits = _passed_on("permits")
    was_queried = _passed_on("was_queried")
    peek = _passed_on("peek")
    recall = _passed_on("recall")
    apply_confidence = _passed_on("apply_confidence")
    without_constraints = _passed_on("without_constraints")
    prefetch = _passed_on("prefetch")
    label_background = _passed_on("label_background")
    remember = _passed_on("remember")
    charge = _passed_on("charge")
    charge_background = _passed_on("charge_background")
    confirm = _passed_on("confirm")
