"""`Rule`: one constraint in executable form, on pairs or on changed graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from denseflip.errors import DenseflipError, InvalidParameterError, said, shown
from denseflip.graph import Codes, Graph

Predicate = Callable[[Graph], bool]


class Rule(NamedTuple):
    """One constraint: its name, and a function that tells which pairs or graphs it allows."""

    name: str
    allows: Callable[..., Any]


def degrees_within(limit: int, holds: Any) -> Callable[[Graph, Codes], bool]:
    """Whether the degree of every node with a changed pair is within a bound.

    A node of the original that is out of bounds may stay unchanged.
    """

    def within(graph: Graph, flipped: Codes) -> bool:
        touched = np.unique(np.concatenate(np.divmod(flipped, graph.n_nodes)))
        return bool(holds(graph.degrees()[touched], limit).all())

    return within


def checked(predicate: Predicate) -> Callable[[Graph, Codes], bool]:
    """A user's predicate; an exception in it, or another result than a bool, is reported."""

    def holds(graph: Graph, _: Codes) -> bool:
        try:
            answer = predicate(graph)
        except DenseflipError:
            raise
        except Exception as error:
            msg = (
                f"The predicate of the constraints raised {type(error).__name__}: {said(error)} "
                f"(for a graph with {graph.n_nodes} nodes and {graph.n_edges} edges). It gets a "
                "denseflip Graph and must return True if that graph is allowed, else False."
            )
            raise InvalidParameterError(msg, parameter="predicate") from error
        if not isinstance(answer, (bool, np.bool_)):
            msg = f"The predicate of the constraints must return a bool; got {shown(answer)}."
            raise InvalidParameterError(msg, parameter="predicate")
        return bool(answer)

    return holds
