"""Turn a classifier of any make into an oracle."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from denseflip.checks import text_of
from denseflip.counterfactual import Label
from denseflip.errors import InvalidParameterError, UnknownNameError, shown
from denseflip.graph import Graph, Nodes
from denseflip.graph.convert import stack_adjacency
from denseflip.limits import max_size
from denseflip.oracles.protocol import Oracle, check_answers

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
    names: tuple[Any, ...] | None = None
    class_names: Mapping[Label, str] | None = field(default=None, hash=False)

    def _shown(self, graph: Graph) -> Any:
        """One graph in the form that the function wants, over names where they are known."""
        if self.names is not None and graph.names is None:
            graph = graph.named(self.names)
        return FORMS[self.input](graph)

    @property
    def given(self) -> str:
        """What the function is given, in words, for messages."""
        one = {
            "adjacency": "one NumPy adjacency array of shape (n, n)",
            "networkx": "one networkx graph",
            "sparse": "one SciPy sparse matrix",
            "graph": "one denseflip Graph",
        }[self.input]
        if not self.batch:
            return one
        many = "one NumPy array of shape (k, n, n)"
        return many if self.input == "adjacency" else one.replace("one", "a list of", 1)

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """One label per graph."""
        if not self.batch:
            return [self.function(self._shown(g)) for g in graphs]
        if self.input != "adjacency":
            return self.function([self._shown(g) for g in graphs])
        most = self._at_once(graphs)
        if len(graphs) <= most:
            return self.function(stack_adjacency(graphs))
        answers: list[Any] = []
        for start in range(0, len(graphs), most):
            some = graphs[start : start + most]
            answers.extend(check_answers(self.function(stack_adjacency(some)), len(some)))
        return answers

    @staticmethod
    def _at_once(graphs: Sequence[Graph]) -> int:
        """How many of the graphs fit into one array that is not too large; at least one."""
        each = 8 * max((g.n_nodes for g in graphs), default=0) ** 2
        return max(1, max_size() // max(each, 1))


def as_oracle(
    function: Callable[[Any], Any],
    input: str = "adjacency",
    *,
    batch: bool = False,
    nodes: Nodes | Sequence[Any] | None = None,
    class_names: Mapping[Label, str] | Sequence[str] | None = None,
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
    nodes : what the nodes are called, for a function that looks them up by name in a networkx
        graph: a node table or a list. Graphs that come from networkx have their names anyway.
    class_names : name of each label, as a mapping, or as a sequence for the labels 0, 1, 2 …; the
        sentences use them.

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
    names = tuple(nodes.names if isinstance(nodes, Nodes) else nodes) if nodes is not None else None
    return CallableOracle(function, input, batch, names, check_class_names(class_names))


def check_class_names(
    names: Mapping[Label, str] | Sequence[str] | None,
) -> dict[Label, str] | None:
    """Label → class name, from a mapping or from the names of the labels 0, 1, 2 …"""
    if names is None:
        return None
    if isinstance(names, (str, bytes)) or not isinstance(names, (Mapping, Iterable)):
        msg = f"class_names must be a mapping or a sequence of names; got {shown(names)}."
        raise InvalidParameterError(msg, parameter="class_names")
    found = dict(names.items() if isinstance(names, Mapping) else enumerate(names))
    texts = {label: text_of(name) for label, name in found.items()}
    if len(set(texts.values())) < len(texts):
        msg = f"Class names must differ; got {shown(list(texts.values()))}."
        raise InvalidParameterError(msg, parameter="class_names")
    return texts


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


def import_oracle(
    text: str, input: str = "adjacency", *, batch: bool = False, nodes: Nodes | None = None
) -> Oracle:
    """The oracle that ``module:name`` names: an object with ``predict``, or a function.

    The module is looked for in the current folder first: a script beside the user is what they
    mean. ``input``, ``batch`` and ``nodes`` are those of `as_oracle`.
    """
    module_name, _, path = text.partition(":")
    see_current_folder()
    try:
        value: Any = importlib.import_module(module_name)
    except ImportError as error:
        msg = (
            f"Oracle {text}: cannot import the module {module_name!r} ({error}). "
            "Give it as module:function, with the module in this folder or installed."
        )
        raise InvalidParameterError(msg) from error
    except Exception as error:
        msg = f"Oracle {text}: importing {module_name!r} raised {type(error).__name__}: {error}."
        raise InvalidParameterError(msg) from error
    for part in path.split("."):
        if not hasattr(value, part):
            names = [n for n in dir(value) if not n.startswith("_")]
            raise UnknownNameError(f"oracle in {module_name}", path, names)
        value = getattr(value, part)
    if isinstance(value, Oracle) and not isinstance(value, type):
        return value
    return as_oracle(value, input, batch=batch, nodes=nodes)


def see_current_folder() -> None:
    """Let Python import modules of the current folder."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
