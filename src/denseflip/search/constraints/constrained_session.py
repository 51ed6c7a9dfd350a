"""The terms of a result once more: what is told of it, and tested, keeps to them as well."""

from __future__ import annotations

from typing import Any

from denseflip.constraints import Constraints
from denseflip.counterfactual import Counterfactual, Label
from denseflip.errors import DenseflipError
from denseflip.graph import Nodes
from denseflip.oracles.background import Background
from denseflip.oracles.protocol import Answer
from denseflip.oracles.session import Guard, Session
from denseflip.search.constraints.bound_constraints import BoundConstraints, bind_constraints

_UNSAVED = ("allowed", "predicate")  # a result that was written down knows of these by name only


def terms_of(
    result: Counterfactual, nodes: Nodes | None = None, background: Background | None = None
) -> tuple[BoundConstraints | None, str]:
    """The terms that a result was found on, and a remark where some are not known any more.

    A result fresh from a search still has them. One that was read from a file has what could be
    written: they are bound anew, and a mask of pairs, a predicate, or names without a node table
    are told as left out.
    """
    if not result.constraints:
        return None, ""
    terms = result.terms
    if not isinstance(terms, BoundConstraints):
        kept: dict[str, Any] = {}
        for name, value in result.constraints.items():
            if name not in _UNSAVED and _binds({**kept, name: value}, result, nodes, background):
                kept[name] = value
        lost = [name for name in result.constraints if name not in kept]
        terms = bind_constraints(Constraints.of(kept), result.original, nodes, background)
        terms.no = Answer(result.label_before)
        if lost:
            return terms, (
                f"The test of the sentence does not keep to {' and '.join(lost)}: what was meant "
                "is not known any more here."
            )
    return terms, ""


def _binds(
    given: dict[str, Any],
    result: Counterfactual,
    nodes: Nodes | None,
    background: Background | None,
) -> bool:
    try:
        bind_constraints(Constraints.of(given), result.original, nodes, background)
    except DenseflipError:
        return False
    return True


class ConstrainedSession(Session):
    """A session that keeps to the terms of one result; otherwise it is the one it is made of.

    Parameters
    ----------
    session : whose questions these are.
    guard : what may not be asked about.
    demand : the label and the confidence, as in `Session.demand`; None for none.
    """

    __slots__ = ("_demand", "guard")

    def __init__(
        self, session: Session, guard: Guard | None, demand: tuple[Label, float] | None
    ) -> None:
        self.__dict__ = session.__dict__
        self.guard = guard
        self._demand = demand


def abiding(session: Session, result: Counterfactual, terms: BoundConstraints | None) -> Session:
    """A session in which a graph that breaks the terms of a result, or of which the oracle is less
    sure than was asked for, is no flip.

    Where confidence was asked for and the session does not ask for it, it is one of its own.
    """
    demand = None
    if result.confidence is not None:
        demand = (result.label_before, result.confidence)
        if not session.tells_confidence:
            session = Session(session.oracle, confidence=True)
    if terms is None and demand is None:
        return session
    return ConstrainedSession(session, terms, demand)
