"""`PairGradient`: how much a label's score changes if a pair is flipped, for every pair at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.errors import GradientError
from denseflip.graph import Codes, Graph
from denseflip.graph.pairs import all_pairs

Floats = npt.NDArray[np.float64]
#: Calls that a forward and a backward pass count as.
CALLS = 2


@dataclass(frozen=True, eq=False)
class PairGradient:
    """The change of a label's score for each pair, to first order, if the pair is flipped.

    The score of a label is its margin: its log-odds or logit minus the largest one of the other
    labels. It is positive if the classifier gives the label.

    Attributes
    ----------
    n_nodes : number of nodes of the graph.
    values : the change of the score if the pair is flipped: added where it is not an edge, removed
        where it is one.
    codes : the pairs (``u * n + v`` with ``u < v``), sorted; None for all pairs in that order.
    score : the score of the label now; None if not known.
    exact : whether the score is linear in the edges, so that the values of several pairs add up.
    linear : whether this is so as long as the strongest other label stays the same.
    note : what the gradient does not cover; else empty.
    passes : number of forward and backward passes that it took.

    Examples
    --------
    >>> gradient = PairGradient(3, np.array([0.5, -1.0, 2.0]))
    >>> gradient.at(np.array([1, 5])).tolist()  # the pairs (0, 1) and (1, 2)
    [0.5, 2.0]
    """

    n_nodes: int
    values: Floats
    codes: Codes | None = None
    score: float | None = None
    exact: bool = False
    linear: bool = False
    note: str = ""
    passes: int = 1

    @property
    def pairs(self) -> Codes:
        """The codes of the pairs that it covers, sorted."""
        return all_pairs(self.n_nodes) if self.codes is None else self.codes

    def at(self, codes: Codes) -> Floats:
        """The values of some pairs; 0 for pairs that it does not cover."""
        codes = np.asarray(codes, dtype=np.int64)
        if self.codes is None:
            u = codes // max(self.n_nodes, 1)
            found: Floats = self.values[codes - (u + 1) * (u + 2) // 2]
            return found
        if not len(self.codes):
            return np.zeros(len(codes))
        where = np.minimum(np.searchsorted(self.codes, codes), len(self.codes) - 1)
        return np.where(self.codes[where] == codes, self.values[where], 0.0)


def clean_gradient(given: Any, graph: Graph) -> PairGradient:
    """Convert what an oracle returned as a gradient, or raise an error.

    Parameters
    ----------
    given : a `PairGradient`, or an array: of shape (n, n), symmetric, or one value per pair.
    graph : the graph that it belongs to.
    """
    n = graph.n_nodes
    made = given if isinstance(given, PairGradient) else PairGradient(n, _values_of(given, n))
    _check(made, graph)
    return made


def _check(given: PairGradient, graph: Graph) -> None:
    n = graph.n_nodes
    expected = graph.n_pairs if given.codes is None else len(given.codes)
    if given.n_nodes != n or given.values.shape != (expected,):
        msg = (
            f"The classifier's gradient has {given.values.size:,} values over {given.n_nodes} "
            f"nodes; expected {expected:,} over {n}, one per pair."
        )
        raise GradientError(msg)
    bad = ~np.isfinite(given.values)
    if bad.any() or not (given.score is None or np.isfinite(given.score)):
        msg = (
            f"The classifier's gradient is not finite ({int(bad.sum()):,} of {expected:,} values "
            "are NaN or infinite), so it cannot be used. A division by zero or the root of zero "
            "inside the model has no derivative."
        )
        raise GradientError(msg)
    if not len(given.values) or not given.values.any():
        msg = (
            "The classifier's gradient is zero for every pair, so it says nothing about edits. The "
            "model ignores the edges here, or its output is saturated or rounded."
        )
        raise GradientError(msg)


def _values_of(given: Any, n: int) -> Floats:
    if hasattr(given, "detach"):
        given = given.detach().cpu().numpy()
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        msg = f"The classifier returned a {type(given).__name__} as a gradient; expected an array."
        raise GradientError(msg) from error
    if values.shape == (n, n):
        if not np.allclose(values, values.T, rtol=1e-4, atol=1e-8, equal_nan=True):
            msg = (
                "The classifier's gradient is not symmetric. Return the change of the score if the "
                "pair is flipped in both directions: gradient + gradient.T."
            )
            raise GradientError(msg)
        return np.asarray(values[np.triu_indices(n, 1)])
    if values.shape == (n * (n - 1) // 2,):
        return values
    msg = (
        f"The classifier returned a gradient of shape {values.shape}; expected ({n}, {n}) or "
        f"({n * (n - 1) // 2},), one value per pair."
    )
    raise GradientError(msg)
