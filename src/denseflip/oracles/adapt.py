"""Wrap a classifier of any kind as an oracle."""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from denseflip.counterfactual import Label
from denseflip.errors import InvalidParameterError, check_name, shown
from denseflip.graph import Graph, Nodes
from denseflip.graph.convert import stack_adjacency
from denseflip.limits import max_size
from denseflip.oracles.protocol import (
    ABILITIES,
    ClassNames,
    Oracle,
    check_answers,
    name_classes,
    own_ability,
)

#: What was detected for a function: its form, and how, in words.
_found: WeakKeyDictionary[Any, tuple[str, str]] = WeakKeyDictionary()


def form_known(function: Callable[[Any], Any]) -> tuple[str | None, str]:
    """The form that a function takes, as far as it is known, and how it was detected.

    The second is empty if nothing had to be detected.
    """
    try:
        return _found[function]
    except (KeyError, TypeError):  # new, or not hashable
        return form_annotated(function), ""


def keep_form(function: Callable[[Any], Any], form: str, how: str) -> None:
    """Remember the detected form, so that the function is not tried again."""
    try:
        _found[function] = (form, how)
    except TypeError:  # not hashable: the wrapper remembers it
        return


def form_annotated(function: Callable[[Any], Any]) -> str | None:
    """The form that the annotation of the first parameter names; None if there is none.

    >>> def dense(a: np.ndarray) -> int: ...
    >>> form_annotated(dense), form_annotated(len)
    ('adjacency', None)
    """
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    try:
        first = next(iter(inspect.signature(called).parameters))
        wanted = typing.get_type_hints(called).get(first)
    except Exception:  # no signature, no parameter, or unresolved names
        return None
    kinds = [wanted, *typing.get_args(wanted)]  # covers list[nx.Graph]
    return next((form for kind in kinds if (form := _form_of(kind)) is not None), None)


def _form_of(kind: Any) -> str | None:
    kind = typing.get_origin(kind) or kind
    if not isinstance(kind, type):
        return None
    if issubclass(kind, Graph):
        return "graph"
    if issubclass(kind, np.ndarray):
        return "adjacency"
    package = kind.__module__.split(".")
    if package[0] == "networkx":
        return "networkx"
    return "sparse" if package[:2] == ["scipy", "sparse"] else None


def form_asked_for(error: Exception, array: Any) -> tuple[str | None, str]:
    """The form that a function takes, inferred from its failure on an array, and the evidence.

    Parameters
    ----------
    error : the error that the function raised.
    array : the array that it received.

    Returns
    -------
    The form, or None if the error does not show it; and the evidence in words.
    """
    import networkx as nx

    if type(error).__module__.split(".")[0] == "networkx":
        return "networkx", f"an adjacency array led to {type(error).__name__}"
    if not isinstance(error, AttributeError) or not error.name:
        return None, ""
    if not isinstance(error.obj, np.ndarray) or not np.may_share_memory(error.obj, array):
        return None, ""  # the attribute was missing on another object
    name, how = error.name, f"it accessed {error.name!r}, which an adjacency array lacks"
    if hasattr(nx.Graph, name):
        return "networkx", how
    if hasattr(Graph, name):
        return "graph", how
    import scipy.sparse as sp

    return ("sparse", how) if hasattr(sp.csr_array, name) else (None, "")


# One graph in the form that a function takes.
FORMS: dict[str, Callable[[Graph], Any]] = {
    "adjacency": lambda g: g.to_adjacency(),
    "networkx": lambda g: g.to_networkx(),
    "sparse": lambda g: g.to_sparse(),
    "graph": lambda g: g,
}


AUTO = "auto"  # detect the form
INPUTS = (AUTO, *FORMS)
_WORDS = {  # each form in words: one graph, and several
    "adjacency": ("NumPy adjacency array of shape (n, n)", "NumPy array of shape (k, n, n)"),
    "networkx": ("networkx graph", "networkx graphs"),
    "sparse": ("SciPy sparse matrix", "SciPy sparse matrices"),
    "graph": ("denseflip Graph", "denseflip Graphs"),
}


@dataclass(frozen=True)
class CallableOracle:
    """A function as an oracle; built by `as_oracle`."""

    function: Callable[[Any], Any]
    input: str = AUTO
    batch: bool = False
    names: tuple[Any, ...] | None = None
    class_names: Mapping[Label, str] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        # The detected form is not a field, so that equality and hash do not change.
        known = (self.input, "") if self.input != AUTO else form_known(self.function)
        self._settle(*known)

    def _settle(self, form: str | None, how: str) -> None:
        self.__dict__.update(_form=form, _how=how)

    @property
    def form(self) -> str | None:
        """The form in which the function receives a graph; None until it is detected."""
        form: str | None = self.__dict__["_form"]
        return form

    @property
    def input_note(self) -> str:
        """How the form was detected, for the notes of a result; else empty."""
        how = self.__dict__["_how"]
        return f"The classifier receives {self.given}: {how}." if how else ""

    @property
    def given(self) -> str:
        """What the function receives, in words, for messages."""
        one, many = _WORDS[self.form or "adjacency"]
        if not self.batch:
            return f"one {one}"
        return f"a list of {many}" if self.form not in (None, "adjacency") else f"one {many}"

    @property
    def wrapping_hint(self) -> str:
        """Arguments of `as_oracle` that select another form, for messages."""
        if self.form not in (None, "adjacency"):
            return "function, input=…, batch=…"
        name = getattr(self.function, "__name__", "function")
        batch = ", batch=True" if self.batch else ""
        return f'{name if name.isidentifier() else "function"}, input="networkx"{batch}'

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """One label per graph."""
        form: str | None = self.__dict__["_form"]
        if form is not None:
            return self._ask(form, graphs)
        n = at_once(graphs) if self.batch else 1
        if not len(graphs) or (self.batch and len(graphs) <= n):
            return self._ask_first(graphs)
        first = check_answers(self._ask_first(graphs[:n]), n)
        return [*first, *check_answers(self.predict(graphs[n:]), len(graphs) - n)]

    def _ask_first(self, graphs: Sequence[Graph]) -> Any:
        """The first call: try an array, then the form that the error points to."""
        if not len(graphs):
            return self._ask("adjacency", graphs)
        array = stack_adjacency(graphs) if self.batch else graphs[0].to_adjacency()
        try:
            answer = self.function(array)
        except Exception as error:
            form, how = form_asked_for(error, array)
            if form is None:
                raise
            try:
                answers = self._ask(form, graphs)
            except Exception:
                # A missing attribute identifies the form. An error of networkx may be about the
                # graph instead; then the first error is more helpful.
                if isinstance(error, AttributeError):
                    self._settle(form, how)
                    raise
                self._settle("adjacency", "")
                raise error from None
            self._settle(form, how)
            keep_form(self.function, form, how)
            return answers
        self._settle("adjacency", "")
        keep_form(self.function, "adjacency", "")
        return answer if self.batch else [answer]

    def _ask(self, form: str, graphs: Sequence[Graph]) -> Any:
        if not self.batch:
            return [self.function(self._shown(form, g)) for g in graphs]
        if form != "adjacency":
            return self.function([self._shown(form, g) for g in graphs])
        most = at_once(graphs)
        if len(graphs) <= most:
            return self.function(stack_adjacency(graphs))
        answers: list[Any] = []
        for start in range(0, len(graphs), most):
            some = graphs[start : start + most]
            answers.extend(check_answers(self.function(stack_adjacency(some)), len(some)))
        return answers

    def _shown(self, form: str, graph: Graph) -> Any:
        """One graph in this form, with node names if they are known."""
        if self.names is not None and graph.names is None and form in ("networkx", "graph"):
            graph = graph.named(self.names)
        return FORMS[form](graph)


def at_once(graphs: Sequence[Graph]) -> int:
    """How many of the graphs fit into one array within the size limit; at least one."""
    each = 8 * max((g.n_nodes for g in graphs), default=0) ** 2
    return max(1, max_size() // max(each, 1))


# ---- kinds of models ------------------------------------------------------------------------

#: Modules that register adapters on import.
PLUG_INS = ("denseflip.oracles.neural", "denseflip.classifiers.estimators")


@dataclass(frozen=True)
class Adapter:
    """One kind of classifier that `as_oracle` accepts.

    Attributes
    ----------
    name : its name in messages, for example ``"a torch module"``.
    takes : the options of `as_oracle` that apply to it.
    matches : whether an object is of this kind. Must be cheap: if the library is not imported yet,
        the object cannot come from it.
    make : builds the oracle from the object and the options in `takes`, passed by name.
    """

    name: str
    takes: tuple[str, ...]
    matches: Callable[[Any], bool]
    make: Callable[..., Oracle]


_adapters: dict[str, Adapter] = {}


def register_adapter(adapter: Adapter) -> Adapter:
    """Register a kind of classifier; replaces one of the same name."""
    _adapters[adapter.name] = adapter
    return adapter


def adapters() -> tuple[Adapter, ...]:
    """All kinds in the order in which they are tried; functions come last."""
    for module in PLUG_INS:
        importlib.import_module(module)
    return tuple(sorted(_adapters.values(), key=lambda adapter: adapter is FUNCTIONS))


def as_oracle(
    model: Any,
    input: str = AUTO,
    *,
    batch: bool = False,
    features: Any = None,
    nodes: Nodes | Sequence[Any] | None = None,
    output: Any = None,
    device: str | None = None,
    max_batch: int | None = None,
    class_names: ClassNames | None = None,
) -> Oracle:
    """Wrap a classifier as an oracle: a function, a scikit-learn estimator or a network.

    Parameters
    ----------
    model : a function that takes one graph and returns its label (with ``batch``: takes several
        graphs and returns a sequence of labels); a fitted scikit-learn estimator or pipeline; a
        torch or PyTorch Geometric module in evaluation mode; an ``onnxruntime.InferenceSession``.
        An oracle is returned unchanged.
    input : the form of graph that a function takes: ``"adjacency"`` (a NumPy array of shape
        (n, n); with ``batch`` one array of shape (k, n, n)), ``"networkx"``, ``"sparse"`` (SciPy
        CSR) or ``"graph"`` (`Graph` itself). ``"auto"`` uses the annotation of its first
        parameter, such as ``networkx.Graph``. Without one, the function receives an adjacency
        array; if it accesses an attribute of another form, it receives that form from then on,
        and the notes of the result say so. The inputs of a network are matched by name.
    batch : whether the function takes many graphs at once. Faster if the classifier is.
    features : what the model receives of each graph, recomputed for every edited graph. For an
        estimator: ``"edges"``, ``"degrees"``, ``"spectral"``, ``"regions"``, ``"graphs"`` (the
        `Graph` objects themselves) or a function that returns the row of one graph (``input`` and
        ``batch`` then describe this function). For a network, one row per node: ``"profile"``
        (the row of the adjacency matrix), ``"degree"``, ``"identity"``, ``"constant"`` (ones), a
        fixed array, or a function of the adjacency array; for graphs that carry them, ``"types"``
        (one column per node type), ``"attributes"`` or ``"attributes+types"``.
    nodes : node names, for a function that looks nodes up by name in a networkx graph: a node
        table or a list. Graphs converted from networkx already have names. For
        ``features="regions"`` of an estimator, the node table.
    output : what a network returns: ``"logits"``, ``"probabilities"``, ``"logit"`` or
        ``"probability"`` (one number, for class 1), ``"labels"``, or a function from the returned
        value to scores of shape (k, classes). By default inferred from the first outputs.
    device : where a torch module runs: ``"cpu"``, ``"cuda"`` or ``"auto"``; by default its current
        device.
    max_batch : the largest number of graphs passed to a network at once.
    class_names : name of each label: a mapping, or a sequence in the order of the classes.

    Examples
    --------
    >>> oracle = as_oracle(lambda a: int(a.sum() > 4))
    >>> oracle.predict([Graph.from_edges(3, [(0, 1), (1, 2), (0, 2)])])
    [1]
    """
    check_name("oracle input", input, INPUTS)
    given = {
        "input": input,
        "batch": batch,
        "features": features,
        "nodes": nodes,
        "output": output,
        "device": device,
        "max_batch": max_batch,
        "class_names": class_names,
    }
    for adapter in (FUNCTIONS,) if inspect.isroutine(model) else adapters():
        if adapter.matches(model):
            _refuse_others(adapter, given)
            return adapter.make(model, **{name: given[name] for name in adapter.takes})
    if isinstance(model, Oracle):
        return model if class_names is None else NamedOracle(model, name_classes(class_names))
    msg = (
        f"model must be a function, a fitted scikit-learn estimator, a torch module or an object "
        f"with predict(graphs); got {type(model).__name__}."
    )
    if isinstance(model, str):
        msg += f" To open a classifier by name, use open_oracle({shown(model)})."
    raise InvalidParameterError(msg)


def _refuse_others(adapter: Adapter, given: Mapping[str, Any]) -> None:
    """Raise if an option was given that does not apply to this kind."""
    usual = {"input": (AUTO, "adjacency"), "batch": (False,)}
    for name, value in given.items():
        idle = value in usual.get(name, ())
        if name not in adapter.takes and value is not None and not idle:
            others = [a.name for a in adapters() if name in a.takes]
            msg = f"{name} applies to {' and '.join(others)}; this is {adapter.name}. Omit it."
            raise InvalidParameterError(msg, parameter=name)


def _adapt_function(
    model: Callable[[Any], Any],
    *,
    input: str,
    batch: bool,
    nodes: Nodes | Sequence[Any] | None,
    class_names: ClassNames | None,
) -> Oracle:
    names = tuple(nodes.names if isinstance(nodes, Nodes) else nodes) if nodes is not None else None
    return CallableOracle(model, input, batch, names, name_classes(class_names))


FUNCTIONS = register_adapter(
    Adapter(
        name="a function",
        takes=("input", "batch", "nodes", "class_names"),
        matches=lambda model: (
            callable(model) and (isinstance(model, type) or not isinstance(model, Oracle))
        ),
        make=_adapt_function,
    )
)


class NamedOracle:
    """An oracle with names for its labels; everything else is passed through."""

    def __init__(self, oracle: Oracle, class_names: Mapping[Label, str] | None) -> None:
        self.oracle = oracle
        self.class_names = class_names

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """One label per graph."""
        return self.oracle.predict(graphs)

    @property
    def predict_edits(self) -> Callable[..., Any]:
        """The oracle's answers for edits, if it has them."""
        return own_ability(self.oracle, "predict_edits")

    @property
    def gradient(self) -> Callable[..., Any]:
        """The oracle's gradient, if it has one."""
        return own_ability(self.oracle, "gradient")

    def __getattr__(self, name: str) -> Any:
        if name in ("oracle", "class_names", *ABILITIES) or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.oracle, name)


def coerce_oracle(oracle: object) -> Oracle:
    """Return an oracle unchanged; wrap a bare function or model with `as_oracle`."""
    if isinstance(oracle, Oracle):
        return oracle
    if callable(oracle):
        return as_oracle(oracle)
    remedy = "See denseflip.as_oracle."
    if isinstance(oracle, str):
        remedy = f"Open the classifier that a text names first: open_oracle({shown(oracle)})."
    msg = (
        f"oracle must have a method predict(graphs) or be a function of an adjacency array; got "
        f"{type(oracle).__name__}. {remedy}"
    )
    raise InvalidParameterError(msg)
