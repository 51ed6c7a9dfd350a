"""`Rule`: one constraint at work, on pairs or on changed graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from denseflip.errors import DenseflipError, InvalidParameterError, said, shown
from denseflip.graph import Codes, Graph

Predicate = Callable[[Graph], bool]


class Rule(NamedTuple):
    """A part of the constraints under its name: which pairs, or which graphs, it allows."""

    name: str
    allows: Callable[..., Any]


def degrees_within(limit: int, holds: Any) -> Callable[[Graph, Codes], bool]:
    """Whether the degree of every node that a flipped pair touches is within a bound.

    A node of the original that is out of bounds may stay as it is.
    """

    def within(graph: Graph, flipped: Codes) -> bool:
        touched = np.unique(np.concatenate(np.divmod(flipped, graph.n_nodes)))
        return bool(holds(graph.degrees()[touched], limit).all())

    return within


def guarded(predicate: Predicate) -> Callable[[Graph, Codes], bool]:
    """A user's predicate; what it raises, or gives but yes or no, is an error in plain words."""

    def holds(graph: Graph, _: Codes) -> bool:
        try:
            answer = predicate(graph)
        except DenseflipError:
            raise
        except Exception as error:
            msg = (
                f"The predicate of the constraints raised {type(error).__name__}: {said(error)} "
                f"(asked about a graph of {graph.n_nodes} nodes and {graph.n_edges} edges). It is "
                "given a denseflip Graph and says whether that will do, True or False."
            )
            raise InvalidParameterError(msg, parameter="predicate") from error
        if not isinstance(answer, (bool, np.bool_)):
            msg = f"The predicate of the constraints must say True or False; got {shown(answer)}."
            raise InvalidParameterError(msg, parameter="predicate")
        return bool(answer)

    return holds
