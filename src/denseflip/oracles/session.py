"""`Session`: the only access to an oracle. It counts, caches, keeps the budget and checks answers.

Engine, refiners, certificates, tests of sentences and measures all query through a session. How far
it looks ahead is chosen in `lookahead`.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, TypeVar

from denseflip.counterfactual import Label
from denseflip.errors import (
    DenseflipError,
    GradientError,
    InvalidParameterError,
    OracleError,
    whole_number,
)
from denseflip.graph import Graph
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.base_session import BudgetSpentError as BudgetSpentError
from denseflip.oracles.base_session import Event as Event
from denseflip.oracles.gradients import CALLS, PairGradient, clean_gradient
from denseflip.oracles.lookahead import FlipOdds, pace_of
from denseflip.oracles.protocol import (
    Answer,
    Oracle,
    ability_of,
    check_answers,
    classes_of,
    clean_label,
    clean_labels,
    clean_probabilities,
)

T = TypeVar("T")

MAX_BATCH = 64
NO_GRADIENT = (
    "This classifier offers no gradient: it has no gradient(graph, label). Torch modules and "
    "linear classifiers of pairs, degrees or region densities have one. Use information='auto', or "
    "a method that needs labels only."
)
_FEW_LABELS = 256  # labels whose answers are kept ready
_MAX_EDGES_AHEAD = 8_000_000  # graphs held at once, counted in edges: bounds the memory


class Session(BaseSession):
    """Query an oracle on behalf of one search.

    Every query of the search counts, whether the cache or the oracle answers it, so that the number
    of calls depends on nothing but the method. Looking ahead counts nothing.

    Parameters
    ----------
    oracle : the classifier.
    budget : the largest number of counted queries; None for no limit.
    time_limit : seconds after which no further query is made; None for no limit.
    max_batch : the largest number of graphs evaluated together; changes speed only.
    confidence : whether to query probabilities too (`Answer.confidence`); the oracle must then have
        ``predict_proba`` and ``classes``.
    information : what searches may use of the oracle; see `BaseSession`.
    on_event : called with an `Event` whenever something happens.

    Attributes
    ----------
    calls : number of queries counted so far.
    background_calls : number of queries about background graphs, counted apart.
    evaluations : number of graphs passed to the oracle, looking ahead included.
    predictions : number of calls of the oracle, with any number of graphs.
    timing : measured speed of the oracle; used only to choose how far to look ahead.
    """

    def __init__(
        self,
        oracle: Oracle,
        *,
        budget: int | None = None,
        time_limit: float | None = None,
        max_batch: int = MAX_BATCH,
        confidence: bool = False,
        information: str = "auto",
        on_event: Callable[[Event], object] | None = None,
    ) -> None:
        if time_limit is not None and not (isinstance(time_limit, (int, float)) and time_limit > 0):
            msg = f"time_limit must be a positive number of seconds; got {time_limit!r}."
            raise InvalidParameterError(msg)
        self.oracle = oracle
        self.on_event = on_event
        self._budget = None
        if budget is not None:  # a budget beyond sys.maxsize means no limit
            self._budget = min(whole_number("budget", budget, minimum=1), sys.maxsize)
        self._deadline = None if time_limit is None else time.monotonic() + time_limit
        self._max_batch = whole_number("batch", max_batch, minimum=1)
        self._classes = classes_of(oracle) if confidence else None
        self.has_confidence, self.required_confidence = confidence, None
        self.timed = time_limit is not None
        self.information = information
        self._predict_edits = ability_of(oracle, "predict_edits")
        self.timing = pace_of(oracle)
        self._answers: dict[int, Answer] = {}
        self._counted: set[int] = set()
        self._plain: dict[tuple[type, Any], Answer] = {}
        self._gradients: dict[tuple[int, Label], PairGradient | GradientError] = {}
        self._walked = 0  # graphs evaluated for the search, queried or not; limited by the budget
        self.calls = 0
        self.background_calls = 0
        self.evaluations = 0
        self.predictions = 0
        self.gradients = 0

    # ---- state --------------------------------------------------------------------------

    @property
    def distinct(self) -> int:
        """Number of different graphs among the counted queries."""
        return len(self._counted)

    @property
    def remaining(self) -> float:
        """Number of queries left in the budget; infinite without a budget."""
        return math.inf if self._budget is None else self._budget - self.calls

    @property
    def out_of_time(self) -> bool:
        """Whether the time limit has passed."""
        return self._deadline is not None and time.monotonic() > self._deadline

    def check_time(self) -> None:
        """Raise `BudgetSpentError` if the time limit has passed."""
        if self._deadline is not None and time.monotonic() > self._deadline:
            raise BudgetSpentError

    def notify(self, kind: str, graph: Graph | None = None, value: Any = None) -> None:
        """Send an event that is not a query, such as a step, to the listener."""
        if self.on_event is not None:
            self.on_event(Event(kind, self.calls, graph, None, value))

    # ---- counted queries ----------------------------------------------------------------

    def query(self, graph: Graph) -> Answer:
        """Query the oracle about a graph; counts as one call.

        Raises
        ------
        BudgetSpentError
            If the budget or the time is spent.
        """
        if self._deadline is not None and self.calls:  # one query is always made
            self.check_time()
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
        return answer

    @cached_property
    def _gradient(self) -> Callable[[Graph, Label], Any] | None:
        """The oracle's own gradient, if it may be used."""
        allowed = self.information in ("auto", "gradients")
        return ability_of(self.oracle, "gradient") if allowed else None

    @property
    def offers_gradient(self) -> bool:
        """Whether the oracle offers gradients and they may be used."""
        return self._gradient is not None

    def gradient(self, graph: Graph, label: Label) -> PairGradient:
        """How much the score of a label changes for each flipped pair; counts as two calls."""
        key = graph.key, label
        if key in self._gradients:
            known = self._gradients[key]
            if isinstance(known, GradientError):
                raise known
            return known
        if self._gradient is None:
            raise GradientError(NO_GRADIENT)
        self.charge(CALLS)
        self._notify_evaluation([graph])
        try:
            found = self._new_gradient(graph, label)
        except GradientError as error:
            self._gradients[key] = error  # a search may ask again
            raise
        self._gradients[key] = found
        return found

    def _new_gradient(self, graph: Graph, label: Label) -> PairGradient:
        assert self._gradient is not None
        try:
            given = self._call(self._gradient, [graph], graph, label)
        except GradientError:
            raise
        except OracleError as error:
            msg = f"The gradient of the classifier cannot be computed. {error}"
            raise GradientError(msg) from error
        found = clean_gradient(given, graph)
        self.calls += int(min(CALLS * (found.passes - 1), self.remaining))
        self.gradients += 1
        self._check_side(found, graph, label)
        return found

    def _check_side(self, found: PairGradient, graph: Graph, label: Label) -> None:
        """Raise if the score of a gradient contradicts the label of the graph."""
        known = self._answers.get(graph.key)
        if known is None or found.score is None or abs(found.score) < 1e-3:
            return
        if (known.label == label) != (found.score > 0):
            msg = (
                f"The classifier's gradient contradicts its label: it labels the graph "
                f"{known.label!r}, but the score of {label!r} is {found.score:.3g}. The score of a "
                "label must be positive if the classifier gives this label, and negative otherwise."
            )
            raise GradientError(msg)

    def look_ahead(
        self,
        candidates: Iterable[tuple[T, Graph]],
        odds: FlipOdds | None = None,
        *,
        permits: Callable[[Graph], bool] | None = None,
    ) -> Generator[tuple[T, Graph], None, None]:
        """Pass candidates through, the next few evaluated together; see `BaseSession`."""
        timing = self.timing
        odds = FlipOdds() if odds is None else odds
        source = iter(candidates)
        cap = self._max_batch
        going = False
        while True:
            n = min(odds.best_batch(timing), cap)
            failure: Exception | None = None
            some: list[tuple[T, Graph]] = []
            started = time.perf_counter()
            try:
                if n > 1:
                    for candidate in islice(source, n):
                        some.append(candidate)  # noqa: PERF402 - kept if a later one fails
                else:
                    some.extend(islice(source, 1))
            except Exception as error:  # raised below, once the candidates before it are done
                failure = error
            if some:
                if going:  # generating the first one includes all set-up
                    timing.record_making(len(some), time.perf_counter() - started)
                going = True
                if len(some) > 1:
                    graphs = [graph for _, graph in some if permits is None or permits(graph)]
                    self._prefetch_within_budget(graphs)
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

    # ---- queries that are not counted ---------------------------------------------------

    def was_queried(self, graph: Graph) -> bool:
        """Whether a counted query was about this graph."""
        return graph.key in self._counted

    def peek(self, graph: Graph) -> Answer:
        """The oracle's answer, not counted."""
        key = graph.key
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._one(graph)
        return answer

    def prefetch(self, graphs: Sequence[Graph]) -> None:
        """Evaluate graphs in batches, not counted, so that later queries are answered at once."""
        for start in range(0, len(graphs), self._max_batch):
            self._prefetch(graphs[start : start + self._max_batch])

    def label_background(self, graphs: Sequence[Graph]) -> list[Label]:
        """Labels of background graphs, counted apart from the search."""
        self._prefetch(graphs)
        labels = [self.peek(g).label for g in graphs]
        self.background_calls += len(graphs)
        return labels

    def remember(self, graphs: Sequence[Graph], labels: Sequence[Label]) -> None:
        """Store labels of background graphs that the oracle gave in another session."""
        if self._classes is None:
            for g, label in zip(graphs, labels, strict=True):
                self._answers.setdefault(g.key, Answer(label))
        self.background_calls += len(graphs)

    def charge_background(self, graphs: Sequence[Graph]) -> None:
        """Count one call for each background graph as part of the search itself (`dat`)."""
        self.charge(len(graphs))
        self._counted.update(g.key for g in graphs)

    def charge(self, n: int) -> None:
        """Count ``n`` calls without a query; if the budget does not cover all, count none."""
        self.check_time()
        if n > self.remaining:
            raise BudgetSpentError
        self.calls += n

    def confirm(self, graphs: Sequence[Graph], *, times: int = 1) -> None:
        """Query graphs again, past the cache, ``times`` times; raise if an answer has changed."""
        for _ in range(times):
            self._confirm(graphs)

    def _confirm(self, graphs: Sequence[Graph]) -> None:
        answers = clean_labels(self._call(self.oracle.predict, graphs, graphs), len(graphs))
        for graph, again in zip(graphs, answers, strict=True):
            known = self._answers.get(graph.key)
            if known is not None and again != known.label:
                msg = (
                    f"The classifier is not deterministic: it labelled the same graph "
                    f"{known.label!r} first and {again!r} when queried again. Its counterfactuals "
                    "are meaningless. Fix its seed, or switch off dropout and other random parts."
                )
                raise OracleError(msg)

    # ---- the oracle itself --------------------------------------------------------------

    def _prefetch_within_budget(self, graphs: Sequence[Graph]) -> None:
        """Look ahead, within the time limit and the budget.

        Under a budget, wasted evaluations are not replaced by others.
        """
        if self._budget is not None:
            known, spent = self._answers, max(self.calls, self._walked)
            new = list(islice((g for g in graphs if g.key not in known), self._budget - spent))
            self._walked = spent + len(new)
            graphs = new
        if not self.out_of_time:
            self._prefetch(graphs)

    def _prefetch(self, graphs: Sequence[Graph]) -> None:
        """Evaluate the graphs that are not in the cache, in one batch.

        Graphs on which the oracle fails are left out. The query itself raises the error, if the
        search gets there.
        """
        known = self._answers
        new = {key: g for g in graphs if (key := g.key) not in known}
        if len(new) < 2:  # nothing to gain over the query itself
            return
        ahead = list(new.values())
        self._notify_evaluation(ahead)
        try:
            given = self._evaluate(ahead)
        except DenseflipError:
            return
        # A wrong number of answers is an error at once: the oracle is broken.
        for key, answer in zip(new, check_answers(given, len(ahead)), strict=True):
            try:
                known[key] = self._clean(answer)
            except OracleError:
                continue

    def _one(self, graph: Graph) -> Answer:
        self._notify_evaluation([graph])
        return self._clean(check_answers(self._evaluate([graph]), 1)[0])

    def _clean(self, answer: Any) -> Answer:
        """Check what the oracle returned; equal plain labels share one `Answer`."""
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

    def _notify_evaluation(self, graphs: Sequence[Graph]) -> None:
        if self.on_event is not None:
            self.on_event(Event("question", self.calls, graphs[-1], None, len(graphs)))

    def _evaluate(self, graphs: Sequence[Graph]) -> Any:
        """The oracle's output for these graphs, unchecked."""
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
        self.timing.record(len(graphs), time.perf_counter() - started)
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
            usual = "estimator, features=…" if rows else "function, input=…, batch=…"
            wrap = f"as_oracle({getattr(self.oracle, 'wrapping_hint', usual)})"
            msg = (
                f"The classifier raised {type(error).__name__}: {error} (queried with "
                f"{len(graphs)} graph(s) with {first.n_nodes} nodes; the first has "
                f"{first.n_edges} edges). "
                f"It received {getattr(self.oracle, 'given', 'a list of denseflip Graphs')}; if "
                f"it takes another form, wrap it: {wrap}."
            )
            raise OracleError(msg) from error


def open_session(oracle: Oracle | BaseSession, **options: Any) -> BaseSession:
    """Open a session for an oracle; a session is returned as it is."""
    return oracle if isinstance(oracle, BaseSession) else Session(oracle, **options)


def confidences_of(session: BaseSession, *graphs: Graph) -> tuple[float | None, ...]:
    """The classifier's confidence in its labels of these graphs; None if it gives none."""
    oracle = session.oracle
    if not hasattr(oracle, "predict_proba") or getattr(oracle, "classes", None) is None:
        return tuple(None for _ in graphs)
    other = Session(oracle, confidence=True)
    sure = []
    for graph in graphs:
        answer, label = other.peek(graph), session.peek(graph).label
        sure.append((answer.probabilities or {}).get(label))
    return tuple(sure)
