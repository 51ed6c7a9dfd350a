"""Turn a classifier of any make into an oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph import Graph
from denseflip.graph.convert import stack_adjacency
from denseflip.oracles.protocol import Oracle

# One graph in the form a callable wants to see it.
FORMS: dict[str, Callable[[Graph], Any]] = {
    "adjacency": lambda g: g.to_adjacency(),
    "networkx": lambda g: g.to_networkx(),
    "sparse": lambda g: g.to_sparse(),
    "graph": lambda g: g,
}


@dataclass(frozen=True)
class CallableOracle:
    """A function as an oracle; made by `as_oracle`."""

    function: Callable[[Any], Any]
    input: str = "adjacency"
    batch: bool = False

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """One label per graph."""
        if not self.batch:
            form = FORMS[self.input]
            return [self.function(form(g)) for g in graphs]
        if self.input == "adjacency":
            return self.function(stack_adjacency(graphs))
        return self.function([FORMS[self.input](g) for g in graphs])


def as_oracle(
    function: Callable[[Any], Any], input: str = "adjacency", *, batch: bool = False
) -> Oracle:
    """Make an oracle of a function that labels graphs.

    Parameters
    ----------
    function : takes one graph and returns its label; with ``batch`` it takes several and returns
        a sequence of labels.
    input : the form in which the function wants a graph: ``"adjacency"`` (a NumPy array of shape
        (n, n); with ``batch`` one array of shape (k, n, n)), ``"networkx"``, ``"sparse"`` (SciPy
        CSR) or ``"graph"`` (`Graph` itself).
    batch : whether the function takes many graphs at once, which is faster where the classifier is.

    Examples
    --------
    >>> oracle = as_oracle(lambda a: int(a.sum() > 4))
    >>> oracle.predict([Graph.from_edges(3, [(0, 1), (1, 2), (0, 2)])])
    [1]
    """
    if not callable(function):
        msg = f"function must be callable; got {type(function).__name__}. "
        raise InvalidParameterError(msg + "For a classifier object pass its predict method.")
    if input not in FORMS:
        raise UnknownNameError("oracle input", str(input), FORMS)
    return CallableOracle(function, input, batch)


def coerce_oracle(oracle: object) -> Oracle:
    """Return an oracle as it is, and a bare function as one on adjacency arrays."""
    if isinstance(oracle, Oracle):
        return oracle
    if callable(oracle):
        return as_oracle(oracle)
    msg = (
        f"oracle must have a method predict(graphs) or be a function of an adjacency array; got "
        f"{type(oracle).__name__}. See denseflip.as_oracle."
    )
    raise InvalidParameterError(msg)
