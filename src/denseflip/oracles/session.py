"""`Session`: the only door to an oracle. It counts, caches, keeps the budget and checks answers.

Engine, refiners, certificates, sentence tests and measures all ask through one; what looking ahead
costs and how far it goes is in `pace`.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import islice
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from denseflip.counterfactual import Label
from denseflip.errors import DenseflipError, InvalidParameterError, OracleError, whole_number
from denseflip.graph import Graph
from denseflip.oracles.lookahead import FlipOdds, pace_of
from denseflip.oracles.protocol import (
    Answer,
    Oracle,
    check_answers,
    classes_of,
    clean_label,
    clean_labels,
    clean_probabilities,
    predict_edits_of,
)

T = TypeVar("T")

MAX_BATCH = 64
MAX_REFUSED = 5000  # graphs in a row that the user's terms forbid, after which a search ends
_FEW_LABELS = 256  # labels whose answers are kept ready
_MAX_EDGES_AHEAD = 8_000_000  # graphs held at once, counted in edges: bounds the memory


class BudgetSpentError(Exception):
    """Signals, inside a search, that no further question may be asked. Never reaches a user."""


class Event(NamedTuple):
    """What happened in a session, for progress bars, live pages and logs.

    Attributes
    ----------
    kind : ``"question"``, graphs go to the oracle; ``"answer"``, one question of the walk was
        answered; ``"step"``, a search made a step; ``"best"``, a counterfactual with fewer edits
        than all before was found.
    calls : questions counted so far.
    graph : the graph that the event is about; of several, the last.
    answer : the oracle's answer, if it is about one.
    value : the number of graphs of a question; the `Step` of a step; the number of edits of a best.
    """

    kind: str
    calls: int
    graph: Graph | None = None
    answer: Answer | None = None
    value: Any = None


class Guard(Protocol):
    """Says which graphs a session may not ask about, and what is answered in their place."""

    no: Answer | None

    def forbids(self, graph: Graph) -> bool:
        """Whether the graph is forbidden."""
        ...

    def refuse(self, graph: Graph) -> None:
        """Note that a search has come to a forbidden graph; looking ahead is not coming there."""
        ...


class Hit(NamedTuple, Generic[T]):
    """The first accepted candidate: what it is, its graph, and the oracle's answer."""

    item: T
    graph: Graph
    answer: Answer


class Session:
    """Ask an oracle on behalf of one search.

    Every question of the one-by-one walk counts, whether the cache answers it or the oracle, so
    that the number of calls depends on nothing but the method. Looking ahead counts nothing.

    Parameters
    ----------
    oracle : the black box.
    budget : how many questions may be counted; None for no limit.
    time_limit : seconds after which no further question is asked; None for no limit.
    max_batch : look ahead by at most so many graphs; 1 to ask one by one. Changes speed only.
    confidence : whether to ask for probabilities too (`Answer.confidence`); the oracle must then
        offer ``predict_proba`` and ``classes``.
    on_event : called with an `Event` whenever something happens.

    Attributes
    ----------
    calls : questions counted so far.
    background_calls : questions about background graphs, counted apart.
    evaluations : graphs that the oracle was given, looking ahead included.
    predictions : how often the oracle was called, with however many graphs.
    pace : what is known of the oracle's speed; only look-ahead goes by it.
    guard : the user's constraints, if any (`denseflip.search.constraints.bound_constraints`). A
        graph that they forbid is neither queried nor counted: it gets the original's answer.
    gave_up : whether a search was ended because too many graphs in a row were forbidden.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        budget: int | None = None,
        time_limit: float | None = None,
        max_batch: int = MAX_BATCH,
        confidence: bool = False,
        on_event: Callable[[Event], object] | None = None,
    ) -> None:
        if time_limit is not None and not (isinstance(time_limit, (int, float)) and time_limit > 0):
            msg = f"time_limit must be a positive number of seconds; got {time_limit!r}."
            raise InvalidParameterError(msg)
        self.oracle = oracle
        self.on_event = on_event
        self._budget = None
        if budget is not None:  # more than Python counts to is as good as none
            self._budget = min(whole_number("budget", budget, minimum=1), sys.maxsize)
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self._max_batch = whole_number("batch", max_batch, minimum=1)
        self._classes = classes_of(oracle) if confidence else None
        self._predict_edits = predict_edits_of(oracle)
        self.pace = pace_of(oracle)
        self._answers: dict[int, Answer] = {}
        self._counted: set[int] = set()
        self._plain: dict[tuple[type, Any], Answer] = {}
        self.guard: Guard | None = None
        self._demand: tuple[Label, float] | None = None
        self._in_a_row = 0  # graphs refused since the last question
        self.gave_up = False
        self._walked = 0  # graphs evaluated for the walk, asked about or not; kept under a budget
        self.calls = 0
        self.background_calls = 0
        self.evaluations = 0
        self.predictions = 0

    # ---- how it stands ------------------------------------------------------------------

    @property
    def distinct(self) -> int:
        """How many different graphs the counted questions were about."""
        return len(self._counted)

    @property
    def remaining(self) -> float:
        """Questions left in the budget (infinite without one)."""
        return math.inf if self._budget is None else self._budget - self.calls

    @property
    def tells_confidence(self) -> bool:
        """Whether answers come with the oracle's confidence."""
        return self._classes is not None

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self._deadline is not None and time.monotonic() > self._deadline

    @property
    def timed(self) -> bool:
        """Whether there is a time limit."""
        return self._deadline is not None

    def check_time(self) -> None:
        """Raise `BudgetSpentError` if the time limit has passed."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise BudgetSpentError

    def tell(self, kind: str, graph: Graph | None = None, value: Any = None) -> None:
        """Let the listener know of something that is not a question, such as a step."""
        if self.on_event is not None:
            self.on_event(Event(kind, self.calls, graph, None, value))

    # ---- questions that count -----------------------------------------------------------

    def ask(self, graph: Graph) -> Answer:
        """The oracle's answer, as one counted question.

        Raises
        ------
        BudgetSpentError
            If the budget or the time is spent.
        """
        if self._deadline is not None and self.calls:  # one question is always asked
            self.check_time()
        if self.guard is not None and self.guard.no is not None and self.guard.forbids(graph):
            self.guard.refuse(graph)
            self._refuse()
            return self.guard.no
        self._in_a_row = 0
        if self._budget is not None and self.calls >= self._budget:
            raise BudgetSpentError
        self.calls += 1
        key = graph.key
        self._counted.add(key)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._one(graph)
        if self.on_event is not None:
            self.on_event(Event("answer", self.calls, graph, answer))
        return answer if self._demand is None else self.judged(answer)

    def _refuse(self) -> None:
        """Count a graph that may not be asked about; too many in a row end the search."""
        self._in_a_row += 1
        if self._in_a_row >= MAX_REFUSED:
            self._in_a_row, self.gave_up = 0, True
            raise BudgetSpentError

    def demand(self, label: Label, confidence: float) -> None:
        """From here on heed another label than this one only where it is so sure at least.

        `ask` then answers with this label for graphs of which the oracle is less sure. The session
        must have been made with ``confidence=True``.
        """
        self._demand = (label, confidence)

    @property
    def demanded(self) -> float | None:
        """The confidence that is asked for, if any (`demand`)."""
        return None if self._demand is None else self._demand[1]

    def judged(self, answer: Answer) -> Answer:
        """An answer as `ask` gives it: too little confidence in another label is none."""
        if self._demand is None or answer.confidence is None:
            return answer
        label, least = self._demand
        if answer.label == label or answer.confidence >= least - 1e-12:
            return answer
        chances = answer.probabilities or {}
        return Answer(label, chances.get(label), answer.probabilities)

    def judge(self, graph: Graph) -> Answer:
        """What `ask` would answer, uncounted: for graphs whose label is known."""
        if self.guard is not None and self.guard.no is not None and self.guard.forbids(graph):
            self.guard.refuse(graph)
            return self.guard.no
        return self.judged(self.peek(graph))

    def _permitted(self, graphs: Sequence[Graph]) -> Sequence[Graph]:
        """Those of the graphs that may be asked about."""
        guard = self.guard
        if guard is None or guard.no is None:
            return graphs
        return [graph for graph in graphs if not guard.forbids(graph)]

    def ask_all(self, graphs: Iterable[Graph]) -> list[Answer]:
        """The answers about several graphs, evaluated together; each counts as one question.

        With a budget that ends before the last of them, none is asked.
        """
        graphs = list(graphs)
        self.check_time()
        asked = self._permitted(graphs)
        if len(asked) > self.remaining:
            raise BudgetSpentError
        for start in range(0, len(asked), self._max_batch):
            self._prefetch(asked[start : start + self._max_batch])
        return [self.ask(graph) for graph in graphs]

    def first(
        self,
        candidates: Iterable[tuple[T, Graph]],
        accept: Callable[[Answer], bool],
        *,
        odds: FlipOdds | None = None,
    ) -> Hit[T] | None:
        """The first candidate whose answer is accepted, or None if there is none.

        Parameters
        ----------
        candidates : pairs of anything and a graph, made lazily, as if every answer were no: which
            graph comes next may not depend on the answers about those before.
        accept : says whether an answer is a yes.
        odds : how likely a yes is; give the same one to calls that belong together.

        Notes
        -----
        Result and number of calls are those of the walk one by one, whatever the look-ahead.
        """
        odds = FlipOdds() if odds is None else odds
        walk = self.ahead(candidates, odds)
        for item, graph in walk:
            answer = self.ask(graph)
            if accept(answer):
                walk.close()
                odds.count(0, yes=1)
                return Hit(item, graph, answer)
        return None

    def ahead(
        self, candidates: Iterable[tuple[T, Graph]], odds: FlipOdds | None = None
    ) -> Generator[tuple[T, Graph], None, None]:
        """Hand candidates through, the next few evaluated together before they come out.

        The caller asks about each as it comes, and stops asking for more at a yes. An error that
        making the candidates raises is kept until the walk gets there.
        """
        pace = self.pace
        odds = FlipOdds() if odds is None else odds
        source = iter(candidates)
        cap = self._max_batch
        going = False
        while True:
            n = min(odds.best_batch(pace), cap)
            failure: Exception | None = None
            some: list[tuple[T, Graph]] = []
            started = time.perf_counter()
            try:
                if n > 1:
                    for candidate in islice(source, n):
                        some.append(candidate)  # noqa: PERF402 - kept if a later one fails
                else:
                    some.extend(islice(source, 1))
            except Exception as error:  # for the walk to raise when, and if, it gets there
                failure = error
            if some:
                if going:  # the first one's making includes all that is set up once
                    pace.record_making(len(some), time.perf_counter() - started)
                going = True
                if len(some) > 1:
                    self._prefetch_allowed(self._permitted([graph for _, graph in some]))
                    cap = min(cap, max(1, _MAX_EDGES_AHEAD // max(1, some[0][1].root.n_edges)))
            handed = 0
            try:
                for candidate in some:
                    handed += 1
                    yield candidate
            finally:
                odds.count(handed)
            if failure is not None:
                raise failure
            if len(some) < n:
                return

    # ---- questions that are counted elsewhere -------------------------------------------

    def peek(self, graph: Graph) -> Answer:
        """The oracle's own answer, uncounted, whatever the guard or the demand."""
        key = graph.key
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._one(graph)
        return answer

    def label_background(self, graphs: Sequence[Graph]) -> list[Label]:
        """Labels of background graphs, counted apart from the search."""
        self._prefetch(graphs)
        labels = [self.peek(g).label for g in graphs]
        self.background_calls += len(graphs)
        return labels

    def remember(self, graphs: Sequence[Graph], labels: Sequence[Label]) -> None:
        """Take over labels of background graphs that the oracle gave in another session."""
        if self._classes is None:
            for g, label in zip(graphs, labels, strict=True):
                self._answers.setdefault(g.key, Answer(label))
        self.background_calls += len(graphs)

    def charge_background(self, graphs: Sequence[Graph]) -> None:
        """Count a question per background graph as part of the search itself (`dat`)."""
        self.charge(len(graphs))
        self._counted.update(g.key for g in graphs)

    def charge(self, n: int) -> None:
        """Count ``n`` questions without asking anything: all of them, or none past the budget."""
        self.check_time()
        if n > self.remaining:
            raise BudgetSpentError
        self.calls += n

    def confirm(self, graphs: Sequence[Graph], *, times: int = 1) -> None:
        """Ask again, past the cache, so many times; raise if the oracle changes its mind."""
        for _ in range(times):
            self._confirm(graphs)

    def _confirm(self, graphs: Sequence[Graph]) -> None:
        answers = clean_labels(self._call(self.oracle.predict, graphs, graphs), len(graphs))
        for graph, again in zip(graphs, answers, strict=True):
            known = self._answers.get(graph.key)
            if known is not None and again != known.label:
                msg = (
                    f"The oracle changed its mind: it labelled the same graph {known.label!r} at "
                    f"first and {again!r} when asked again. A counterfactual of an oracle that is "
                    "not deterministic means nothing: fix its seed, or switch off dropout and the "
                    "like."
                )
                raise OracleError(msg)

    # ---- the oracle itself --------------------------------------------------------------

    def _prefetch_allowed(self, graphs: Sequence[Graph]) -> None:
        """Look ahead, but not when time is up, nor once so many graphs as the budget allows to ask
        about have been evaluated: what was looked at in vain is not to be had twice.
        """
        if self._budget is not None:
            known, spent = self._answers, max(self.calls, self._walked)
            new = list(islice((g for g in graphs if g.key not in known), self._budget - spent))
            self._walked = spent + len(new)
            graphs = new
        if not self.out_of_time:
            self._prefetch(graphs)

    def _prefetch(self, graphs: Sequence[Graph]) -> None:
        """Evaluate those graphs that are not in the cache, in one batch.

        Graphs on which the oracle fails are left out: the error is for the question itself, which
        the walk may never come to.
        """
        known = self._answers
        new = {key: g for g in graphs if (key := g.key) not in known}
        if len(new) < 2:  # nothing to gain over the question itself
            return
        ahead = list(new.values())
        self._tell_question(ahead)
        try:
            given = self._evaluate(ahead)
        except DenseflipError:
            return
        # The wrong number of answers is an error at once: the oracle does not do what it should.
        for key, answer in zip(new, check_answers(given, len(ahead)), strict=True):
            try:
                known[key] = self._clean(answer)
            except OracleError:
                continue

    def _one(self, graph: Graph) -> Answer:
        self._tell_question([graph])
        return self._clean(check_answers(self._evaluate([graph]), 1)[0])

    def _clean(self, answer: Any) -> Answer:
        """An answer of what the oracle said; of plain labels, which are few, one and the same."""
        if self._classes is not None:
            return clean_probabilities([answer], 1, self._classes)[0]
        kind = (type(answer), answer)
        try:
            return self._plain[kind]
        except (KeyError, TypeError):
            made = Answer(clean_label(answer))
            if type(answer) in (int, str, bool) and len(self._plain) < _FEW_LABELS:
                self._plain[kind] = made
            return made

    def _tell_question(self, graphs: Sequence[Graph]) -> None:
        if self.on_event is not None:
            self.on_event(Event("question", self.calls, graphs[-1], None, len(graphs)))

    def _evaluate(self, graphs: Sequence[Graph]) -> Any:
        """What the oracle says of these graphs, as it says it."""
        started = time.perf_counter()
        root = graphs[0].root
        if self._classes is not None:
            given = self._call(self.oracle.predict_proba, graphs, graphs)  # type: ignore[attr-defined]
        elif self._predict_edits is not None and all(
            g.root is root and g is not root for g in graphs
        ):
            edits = [g.difference(root) for g in graphs]
            given = self._call(self._predict_edits, graphs, root, edits)
        else:
            given = self._call(self.oracle.predict, graphs, graphs)
        self.pace.record(len(graphs), time.perf_counter() - started)
        return given

    def _call(self, function: Callable[..., Any], graphs: Sequence[Graph], *given: Any) -> Any:
        self.evaluations += len(graphs)
        self.predictions += 1
        try:
            return function(*given)
        except DenseflipError:
            raise
        except Exception as error:
            first = graphs[0]
            rows = hasattr(self.oracle, "get_params")  # scikit-learn's own
            wrap = f"as_oracle({'estimator, features=…' if rows else 'function, input=…, batch=…'})"
            msg = (
                f"The oracle raised {type(error).__name__}: {error} (asked about {len(graphs)} "
                f"graph(s) with {first.n_nodes} nodes; the first has {first.n_edges} edges). "
                f"It was given {getattr(self.oracle, 'given', 'a list of denseflip Graphs')}; if "
                f"it wants another form, wrap it: {wrap}."
            )
            raise OracleError(msg) from error


def open_session(oracle: Oracle | Session, **options: Any) -> Session:
    """A session of its own for an oracle; one that is given already, as it is."""
    return oracle if isinstance(oracle, Session) else Session(oracle, **options)
