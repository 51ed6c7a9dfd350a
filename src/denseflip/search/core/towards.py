"""Gradients as searches use them: how much each edit brings a graph towards a flip."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from denseflip.errors import GradientError, InvalidParameterError
from denseflip.graph import Codes, Graph
from denseflip.graph.node_order import pair_places
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.gradients import CALLS, PairGradient
from denseflip.oracles.session import NO_GRADIENT
from denseflip.search.core.method import Method
from denseflip.search.core.problem import CONFIDENCE, GRADIENT, Problem


def gains_at(
    problem: Problem, session: BaseSession, graph: Graph, *, required: bool = False
) -> PairGradient | None:
    """How much flipping each pair of a graph brings it towards a flip; None if not known.

    The score is positive if the graph is a counterfactual. With one class to reach it is the margin
    of that class, otherwise minus the margin of the original's class.

    Raises
    ------
    GradientError
        If gradients are required, and the classifier has none for this graph.
    """
    if not session.offers_gradient or not session.permits(graph):
        return None
    if nearly_spent(session) and session.information == "auto":
        return None
    single = problem.target is not None and not isinstance(problem.target, tuple)
    label = problem.target if single else problem.label
    assert label is not None
    assert not isinstance(label, tuple)
    try:
        found = session.gradient(graph, label)
    except GradientError as error:
        if required or session.information == "gradients":
            raise
        problem.note(f"Labels were used instead of gradients. {error}")
        return None
    if found.note:
        problem.note(found.note)
    if single:
        return found
    score = None if found.score is None else -found.score
    return replace(found, values=-found.values, score=score)


def nearly_spent(session: BaseSession) -> bool:
    """Whether the budget leaves no query after another gradient."""
    return session.remaining <= CALLS


def check_information(method: Method, information: str, session: BaseSession) -> None:
    """Raise if a method and what it may use of the classifier do not fit together."""
    base, usable = method.name.split("+")[0], getattr(method.search, "uses", ())
    needs_gradient = GRADIENT in method.needs
    if information in ("probabilities", "gradients") and information not in usable:
        msg = (
            f"The method {base!r} does not use {information}. Choose a method that does, such as "
            "'auto' or 'tight', or omit information."
        )
        raise InvalidParameterError(msg, parameter=("information", "method"))
    if information == "labels" and (needs_gradient or CONFIDENCE in method.needs):
        kind = "gradients" if needs_gradient else "probabilities"
        msg = f"The method {base!r} needs {kind}, but information='labels' excludes them."
        raise InvalidParameterError(msg, parameter=("information", "method"))
    if (needs_gradient or information == "gradients") and not session.offers_gradient:
        raise GradientError(NO_GRADIENT, parameter=("information", "method"))


def information_note(information: str, session: BaseSession) -> str:
    """What the search used of the classifier, in words; empty for labels by default."""
    n = session.gradients
    if n:
        many = "gradient" if n == 1 else "gradients"
        return f"Used {n} {many} of the classifier; each counts as two queries or more."
    if information == "probabilities":
        return "Used the probabilities of the classifier."
    return "" if information == "auto" else "Used only the labels of the classifier."


def ordered(problem: Problem, codes: Codes, gains: npt.NDArray[np.float64]) -> Codes:
    """The pairs that may change and have a positive gain, the largest gain first.

    Ties are in an order that does not depend on the node numbers.
    """
    chosen = gains > 0
    codes, gains = codes[chosen], gains[chosen]
    codes = codes[np.lexsort((pair_places(codes, problem.places), -gains))]
    return problem.free(codes)
