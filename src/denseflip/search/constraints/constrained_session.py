"""`ConstrainedSession`: a session that enforces constraints and a required confidence."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping
from typing import Any, TypeVar

from denseflip.constraints import Constraints
from denseflip.counterfactual import Counterfactual
from denseflip.errors import DenseflipError, MissingInputError
from denseflip.graph import Graph, Nodes
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession, BudgetSpentError, SessionView
from denseflip.oracles.lookahead import FlipOdds
from denseflip.oracles.protocol import Answer
from denseflip.oracles.session import Session
from denseflip.search.constraints.bound_constraints import BoundConstraints, bind_constraints

T = TypeVar("T")
MAX_REFUSED = 5000  # forbidden graphs in a row after which a search is stopped
GAVE_UP = (
    f"The search was stopped because the constraints rejected {MAX_REFUSED:,} graphs in a row. "
    "Loosen the constraints, or choose another method."
)
_NOT_SAVED = ("allowed", "predicate")  # a result keeps only a description of these


class ConstrainedSession(SessionView):
    """A view of a session that refuses forbidden graphs and labels of low confidence.

    A graph that the constraints forbid is neither evaluated nor counted: the answer is that about
    the original. Another label than the original's needs the required confidence; otherwise the
    answer is the original's label.

    Parameters
    ----------
    session : the session that queries are passed on to. With a required confidence it must give
        confidences.
    original : the oracle's answer about the original.
    constraints : the constraints, bound to the original; None for none.
    confidence : the required confidence; None for none.
    """

    gave_up = False

    def __init__(
        self,
        session: BaseSession,
        original: Answer,
        constraints: BoundConstraints | None = None,
        confidence: float | None = None,
    ) -> None:
        super().__init__(session)
        self._original = original
        self._constraints = constraints
        self.required_confidence = confidence
        self._refused_in_a_row = 0

    def permits(self, graph: Graph) -> bool:
        """Whether the constraints allow a graph."""
        constraints = self._constraints
        return (constraints is None or not constraints.forbids(graph)) and self._session.permits(
            graph
        )

    def query(self, graph: Graph) -> Answer:
        """Query the oracle about a graph that is allowed; counts as one call."""
        session, constraints = self._session, self._constraints
        if constraints is not None:
            if session.timed and session.calls:
                session.check_time()
            if constraints.forbids(graph):
                constraints.refuse(graph)
                self._count_refused()
                return self._original
            self._refused_in_a_row = 0
        answer = session.query(graph)
        return answer if self.required_confidence is None else self.apply_confidence(answer)

    def _count_refused(self) -> None:
        """Count a forbidden graph; stop the search after too many in a row."""
        self._refused_in_a_row += 1
        if self._refused_in_a_row >= MAX_REFUSED:
            self._refused_in_a_row, self.gave_up = 0, True
            raise BudgetSpentError

    def look_ahead(
        self,
        candidates: Iterable[tuple[T, Graph]],
        odds: FlipOdds | None = None,
        *,
        permits: Callable[[Graph], bool] | None = None,
    ) -> Generator[tuple[T, Graph], None, None]:
        """Pass candidates through; only allowed graphs are evaluated ahead."""
        if self._constraints is None:
            return self._session.look_ahead(candidates, odds, permits=permits)
        mine = self.permits
        both = mine if permits is None else lambda graph: permits(graph) and mine(graph)
        return self._session.look_ahead(candidates, odds, permits=both)

    def recall(self, graph: Graph) -> Answer:
        """The answer that `query` would give, not counted."""
        constraints = self._constraints
        if constraints is not None and constraints.forbids(graph):
            constraints.refuse(graph)
            return self._original
        return self.apply_confidence(self._session.recall(graph))

    def apply_confidence(self, answer: Answer) -> Answer:
        """The answer, or the original's label if another label lacks the required confidence."""
        answer = self._session.apply_confidence(answer)
        if self.required_confidence is None or answer.confidence is None:
            return answer
        label = self._original.label
        if answer.label == label or answer.confidence >= self.required_confidence - 1e-12:
            return answer
        probabilities = answer.probabilities or {}
        return Answer(label, probabilities.get(label), answer.probabilities)

    def without_constraints(self) -> BaseSession:
        """The same session with all graphs permitted; the required confidence stays."""
        session = self._session.without_constraints()
        if self.required_confidence is None:
            return session
        return ConstrainedSession(session, self._original, None, self.required_confidence)


def constrain(
    session: BaseSession, result: Counterfactual, constraints: BoundConstraints | None
) -> BaseSession:
    """A session that enforces the constraints and the required confidence of a result.

    If the result requires a confidence and the session gives none, a new session is opened.
    """
    if result.confidence is not None and not session.has_confidence:
        session = Session(session.oracle, confidence=True)
    if constraints is None and result.confidence is None:
        return session
    original = Answer(result.label_before)
    return ConstrainedSession(session, original, constraints, result.confidence)


def constraints_of(
    result: Counterfactual,
    nodes: Nodes | None = None,
    background: Background | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
) -> tuple[BoundConstraints | None, tuple[str, ...]]:
    """Bind the constraints of a result to its graph again.

    Parameters
    ----------
    result : a result, fresh or read from a file.
    nodes, background : the node table and the data set, where constraints refer to them.
    constraints : the constraints that the search was given. A result keeps only a description of
        ``allowed`` and ``predicate``; they are taken from here if the description is the same.

    Returns
    -------
    BoundConstraints or None
        The constraints as far as they are known; None if the result has none.
    tuple of str
        The names of those that are not known.
    """
    if not result.constraints:
        return None, ()
    given = Constraints.of(constraints)
    described = given.given
    known = dict(result.constraints)
    for name in _NOT_SAVED:
        if name in known and described.get(name) == known[name]:
            known[name] = getattr(given, name)
        else:
            known.pop(name, None)
    bound = _bind(known, result, nodes, background)
    if bound is None:  # leave out what cannot be bound here
        kept: dict[str, Any] = {}
        for name, value in known.items():
            if _bind({**kept, name: value}, result, nodes, background) is not None:
                kept[name] = value
        known, bound = kept, _bind(kept, result, nodes, background)
    return bound, tuple(name for name in result.constraints if name not in known)


def known_constraints_of(
    result: Counterfactual,
    nodes: Nodes | None = None,
    background: Background | None = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
) -> BoundConstraints | None:
    """Bind the constraints of a result to its graph again; see `constraints_of`.

    Raises
    ------
    MissingInputError
        If some of them are not known here.
    """
    bound, unknown = constraints_of(result, nodes, background, constraints)
    if unknown:
        msg = (
            f"The result was found under constraints that cannot be applied here: "
            f"{', '.join(unknown)}. Pass the constraints of the search (constraints=), and the "
            "node table (nodes=) or data set (background=) that they refer to."
        )
        raise MissingInputError(msg, parameter=("constraints", "nodes", "background"))
    return bound


def _bind(
    given: Mapping[str, Any],
    result: Counterfactual,
    nodes: Nodes | None,
    background: Background | None,
) -> BoundConstraints | None:
    try:
        return bind_constraints(Constraints.of(given), result.original, nodes, background)
    except DenseflipError:
        return None
