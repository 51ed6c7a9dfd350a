"""Turn a classifier of any make into an oracle."""

from __future__ import annotations

import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from denseflip.counterfactual import Label
from denseflip.errors import InvalidParameterError, UnknownNameError, shown
from denseflip.graph import Graph, Nodes
from denseflip.graph.convert import stack_adjacency
from denseflip.limits import max_size
from denseflip.oracles.function_form import form_asked_for, form_known, keep_form
from denseflip.oracles.protocol import ClassNames, Oracle, check_answers, name_classes

# One graph in the form a callable wants to see it.
FORMS: dict[str, Callable[[Graph], Any]] = {
    "adjacency": lambda g: g.to_adjacency(),
    "networkx": lambda g: g.to_networkx(),
    "sparse": lambda g: g.to_sparse(),
    "graph": lambda g: g,
}


AUTO = "auto"  # the form is found out
INPUTS = (AUTO, *FORMS)
_WORDS = {  # of a form: one graph, and several
    "adjacency": ("NumPy adjacency array of shape (n, n)", "NumPy array of shape (k, n, n)"),
    "networkx": ("networkx graph", "networkx graphs"),
    "sparse": ("SciPy sparse matrix", "SciPy sparse matrices"),
    "graph": ("denseflip Graph", "denseflip Graphs"),
}


@dataclass(frozen=True)
class CallableOracle:
    """A function as an oracle; made by `as_oracle`."""

    function: Callable[[Any], Any]
    input: str = AUTO
    batch: bool = False
    names: tuple[Any, ...] | None = None
    class_names: Mapping[Label, str] | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        # What is found out is no field: the oracle stays the same one.
        known = (self.input, "") if self.input != AUTO else form_known(self.function)
        self._settle(*known)

    def _settle(self, form: str | None, how: str) -> None:
        self.__dict__.update(_form=form, _how=how)

    @property
    def form(self) -> str | None:
        """The form in which the function is given a graph; None before it is found out."""
        form: str | None = self.__dict__["_form"]
        return form

    @property
    def input_note(self) -> str:
        """How the form was found out, for the notes of a result; else empty."""
        how = self.__dict__["_how"]
        return f"The classifier is given {self.given}: {how}." if how else ""

    @property
    def given(self) -> str:
        """What the function is given, in words, for messages."""
        one, many = _WORDS[self.form or "adjacency"]
        if not self.batch:
            return f"one {one}"
        return f"a list of {many}" if self.form not in (None, "adjacency") else f"one {many}"

    @property
    def wrapping_hint(self) -> str:
        """How to say that it wants another form, as arguments of `as_oracle`, for messages."""
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
        """The first call: an array, and if the error shows that it must be another form, that."""
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
                # An attribute that arrays lack settles it; an error of networkx may be about
                # the graph, and then it is the first one that helps.
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
        """One graph in this form, over names where they are known."""
        if self.names is not None and graph.names is None and form in ("networkx", "graph"):
            graph = graph.named(self.names)
        return FORMS[form](graph)


def at_once(graphs: Sequence[Graph]) -> int:
    """How many of the graphs fit into one array that is not too large; at least one."""
    each = 8 * max((g.n_nodes for g in graphs), default=0) ** 2
    return max(1, max_size() // max(each, 1))


# ---- kinds of models ------------------------------------------------------------------------

#: Modules that register adapters when they are imported.
PLUG_INS = ("denseflip.oracles.neural", "denseflip.classifiers.estimators")


@dataclass(frozen=True)
class Adapter:
    """One make of classifier that `as_oracle` takes.

    Attributes
    ----------
    name : what it is called in messages, for example ``"a torch module"``.
    takes : the options of `as_oracle` that mean something for it.
    matches : whether an object is of this make. Cheap: a library that is not imported yet cannot
        have made it.
    make : from the object, and all the options it takes by name, to the oracle.
    """

    name: str
    takes: tuple[str, ...]
    matches: Callable[[Any], bool]
    make: Callable[..., Oracle]


_adapters: dict[str, Adapter] = {}


def register_adapter(adapter: Adapter) -> Adapter:
    """Add a make of classifier; one of the same name is replaced."""
    _adapters[adapter.name] = adapter
    return adapter


def adapters() -> tuple[Adapter, ...]:
    """All makes, in the order in which they are asked; functions come last."""
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
    """Make an oracle of a classifier: a function, a scikit-learn estimator, a network.

    Parameters
    ----------
    model : a function that takes one graph and returns its label (with ``batch`` it takes several
        and returns a sequence of labels); a fitted scikit-learn estimator or pipeline; a torch or
        PyTorch Geometric module in evaluation mode; an ``onnxruntime.InferenceSession``. An oracle
        stays as it is.
    input : the form in which a function wants a graph: ``"adjacency"`` (a NumPy array of shape
        (n, n); with ``batch`` one array of shape (k, n, n)), ``"networkx"``, ``"sparse"`` (SciPy
        CSR) or ``"graph"`` (`Graph` itself). ``"auto"`` takes the annotation of its first
        parameter, such as ``networkx.Graph``. Without one, the function gets an adjacency array;
        if it asks this array for an attribute of another form, it gets that form from then on, and
        the notes of the result say so. A network's inputs are known by their names.
    batch : whether the function takes many graphs at once, which is faster where the classifier is.
    features : what the model sees of each graph, made anew from every edited one. For an estimator:
        ``"edges"``, ``"degrees"``, ``"spectral"``, ``"regions"``, ``"graphs"`` (the `Graph` objects
        themselves) or a function that gives the row of one graph (``input`` and ``batch`` are
        then those of this function). For a network, one row per node: ``"profile"`` (the row of
        the adjacency matrix), ``"degree"``, ``"identity"``, ``"constant"`` (ones), a fixed array,
        or a function of the adjacency array.
    nodes : what the nodes are called, for a function that looks them up by name in a networkx
        graph: a node table or a list. Graphs that come from networkx have their names anyway. For
        ``features="regions"`` of an estimator, the node table.
    output : what a network gives: ``"logits"``, ``"probabilities"``, ``"logit"`` or
        ``"probability"`` (one number, of class 1), ``"labels"``, or a function from what it returns
        to scores of shape (k, classes). By default seen from the first answers.
    device : where a torch module answers: ``"cpu"``, ``"cuda"`` or ``"auto"``; by default where it
        is.
    max_batch : the most graphs that a network is given at once.
    class_names : name of each label: a mapping, or a sequence in the order of the classes.

    Examples
    --------
    >>> oracle = as_oracle(lambda a: int(a.sum() > 4))
    >>> oracle.predict([Graph.from_edges(3, [(0, 1), (1, 2), (0, 2)])])
    [1]
    """
    if input not in INPUTS:
        raise UnknownNameError("oracle input", str(input), INPUTS)
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
        msg += f" Words are opened by open_oracle({shown(model)})."
    raise InvalidParameterError(msg)


def _refuse_others(adapter: Adapter, given: Mapping[str, Any]) -> None:
    """Say which of the options that were given mean nothing for this make."""
    usual = {"input": (AUTO, "adjacency"), "batch": (False,)}
    for name, value in given.items():
        idle = value in usual.get(name, ())
        if name not in adapter.takes and value is not None and not idle:
            others = [a.name for a in adapters() if name in a.takes]
            msg = f"{name} is for {' and '.join(others)}; this is {adapter.name}. Leave it out."
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
    """An oracle with names for its labels; all else is the oracle's own."""

    def __init__(self, oracle: Oracle, class_names: Mapping[Label, str] | None) -> None:
        self.oracle = oracle
        self.class_names = class_names

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """One label per graph."""
        return self.oracle.predict(graphs)

    @property
    def predict_edits(self) -> Callable[..., Any]:
        """The oracle's answers about edits, if it gives any."""
        offered: Callable[..., Any] = self.oracle.predict_edits  # type: ignore[attr-defined]
        return offered

    def __getattr__(self, name: str) -> Any:
        if name in ("oracle", "class_names") or name.startswith("__"):  # it is being unpickled
            raise AttributeError(name)
        return getattr(self.oracle, name)


def coerce_oracle(oracle: object) -> Oracle:
    """Return an oracle as it is; wrap a bare function or model as `as_oracle` does."""
    if isinstance(oracle, Oracle):
        return oracle
    if callable(oracle):
        return as_oracle(oracle)
    msg = (
        f"oracle must have a method predict(graphs) or be a function of an adjacency array; got "
        f"{type(oracle).__name__}. See denseflip.as_oracle."
    )
    raise InvalidParameterError(msg)


# ---- by words -------------------------------------------------------------------------------


def import_oracle(
    text: str, input: str = AUTO, *, batch: bool = False, nodes: Nodes | None = None
) -> Oracle:
    """The oracle that ``module:name`` names: a function, a model, or an object with ``predict``.

    The module is looked for in the current folder first: a script beside the user is what they
    mean. ``input``, ``batch`` and ``nodes`` are those of `as_oracle`; its other options may stand
    behind a question mark: ``module:name?features=degree&class_names=ill,well``. Features that
    begin with a dot are those of that name in the module, a function or an array.
    """
    place, _, query = text.partition("?")
    module_name = place.partition(":")[0]
    options = parse_options(text, query)
    value = import_value(text)
    own = options.get("features", "")
    if own.startswith("."):
        own = own[1:]
        if not hasattr(sys.modules[module_name], own):
            names = [n for n in dir(sys.modules[module_name]) if not n.startswith("_")]
            raise UnknownNameError(f"features in {module_name}", own, names)
        options["features"] = getattr(sys.modules[module_name], own)
    plain = not options and isinstance(value, Oracle) and not isinstance(value, type)
    by_name = input == "networkx" or (input == AUTO and _is_function(value))
    named = by_name and nodes is not None and not _is_numbered(nodes)
    if named or options.get("features") == "regions":
        options["nodes"] = nodes
    if plain and not _is_model(value):
        return value  # type: ignore[no-any-return]
    return as_oracle(value, **{"input": input, "batch": batch, **options})


def import_value(text: str, what: str = "oracle") -> Any:
    """What ``module:name`` names, the module looked for in the current folder first.

    Parameters
    ----------
    text : the words; what stands behind a question mark is left to others.
    what : what it is meant to be, for messages.
    """
    module_name, _, path = text.partition("?")[0].partition(":")
    see_current_folder()
    head = f"{what.capitalize()} {text}"
    try:
        value: Any = importlib.import_module(module_name)
    except ImportError as error:
        msg = (
            f"{head}: cannot import the module {module_name!r} ({error}). "
            "Give it as module:function, with the module in this folder or installed."
        )
        raise InvalidParameterError(msg, parameter=what) from error
    except Exception as error:
        where = _raised_at(error)
        msg = f"{head}: importing {module_name!r} raised {type(error).__name__}: {error}{where}."
        raise InvalidParameterError(msg, parameter=what) from error
    for part in path.split("."):
        if not hasattr(value, part):
            names = [n for n in dir(value) if not n.startswith("_")]
            raise UnknownNameError(f"{what} in {module_name}", path, names)
        value = getattr(value, part)
    return value


def _raised_at(error: Exception) -> str:
    """File and line of an error of the user's code, in brackets; empty if they are not known."""
    if isinstance(error, SyntaxError) and error.filename:
        return ""  # its own words say where
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def _is_numbered(nodes: Nodes) -> bool:
    return nodes.names == tuple(map(str, range(nodes.n_nodes)))


def _is_function(value: Any) -> bool:
    """Whether `as_oracle` takes an object as a function."""
    return next((a for a in adapters() if a.matches(value)), None) is FUNCTIONS


def _is_model(value: Any) -> bool:
    return any(adapter.matches(value) for adapter in adapters())


#: Options of `as_oracle` that words can give.
WORD_OPTIONS = ("features", "output", "device", "max_batch", "class_names", "input", "batch")


def parse_options(text: str, query: str, known: Sequence[str] = WORD_OPTIONS) -> dict[str, Any]:
    """What stands behind the question mark of words, as options of `as_oracle`.

    >>> parse_options("net:model", "features=degree&class_names=ill,well")
    {'features': 'degree', 'class_names': ['ill', 'well']}
    """
    options: dict[str, Any] = {}
    try:
        pairs = parse_qsl(query, strict_parsing=True, keep_blank_values=True) if query else []
    except ValueError as error:
        msg = f"Oracle {text}: behind the question mark stand options as name=value&name=value."
        raise InvalidParameterError(msg) from error
    for name, value in pairs:
        if name not in known:
            raise UnknownNameError(f"option of the oracle {text.partition('?')[0]}", name, known)
        options[name] = value
    if "class_names" in options:
        options["class_names"] = options["class_names"].split(",")
    if "max_batch" in options:
        number = options["max_batch"]
        options["max_batch"] = int(number) if number.isdecimal() else number
    if "batch" in options:
        options["batch"] = options["batch"].lower() in ("true", "yes", "1")
    return options


def see_current_folder() -> None:
    """Let Python import modules of the current folder."""
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
