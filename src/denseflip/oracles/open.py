"""`open_oracle`: open a classifier by name, whatever its kind.

Each kind is one small record in a registry. This module registers the user's functions and models,
ONNX files and services. Other packages register theirs (trained files and presets, the paper's
classifier) in modules that are imported by name when the first oracle is opened.
"""

from __future__ import annotations

import importlib
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qsl

from denseflip.errors import FileFormatError, InvalidParameterError, UnknownNameError, check_name
from denseflip.graph import Nodes
from denseflip.oracles.adapt import AUTO, FUNCTIONS, INPUTS, adapters, as_oracle
from denseflip.oracles.protocol import Oracle

#: Modules that register kinds on import.
PLUG_INS = (
    "denseflip.classifiers.classifier_plugins",
    "denseflip.paper.paper_plugin",
)
#: Endings of Python's serialised files, which run code when they are opened.
UNSAFE = (".pt", ".pth", ".pt2", ".ckpt", ".pkl", ".pickle", ".joblib", ".jit")


class Opener(Protocol):
    """Builds an oracle from a text that its kind matched."""

    def __call__(self, text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
        """The oracle; `dataset` is None if there is none."""
        ...


@dataclass(frozen=True)
class OracleKind:
    """One kind of classifier that can be opened by name.

    Attributes
    ----------
    name : the name of the kind, for example ``"file"``.
    summary : one-line description.
    words : how it is written: the names themselves, or one pattern such as ``module:function``.
    example : a text that opens one, in a folder that holds what it names.
    matches : whether a text names this kind. Must be cheap; nothing is opened.
    open : builds the oracle.
    aliases : another name → the one of ``words`` to suggest for it.
    """

    name: str
    summary: str
    words: tuple[str, ...]
    example: str
    matches: Callable[[str], bool]
    open: Opener
    aliases: Mapping[str, str] = field(default_factory=dict)


_kinds: dict[str, OracleKind] = {}


def register_oracle_kind(kind: OracleKind) -> OracleKind:
    """Register a kind; an existing name is an error."""
    if kind.name in _kinds and _kinds[kind.name] is not kind:
        msg = f"There already is an oracle kind {kind.name!r} ({_kinds[kind.name].summary})."
        raise InvalidParameterError(msg)
    _kinds[kind.name] = kind
    return kind


def oracle_kinds() -> tuple[OracleKind, ...]:
    """All kinds, in the order in which they are matched.

    A function comes last: any text with a colon looks like one.
    """
    for module in PLUG_INS:
        _import_if_there(module)
    return tuple(sorted(_kinds.values(), key=lambda kind: kind is FUNCTION))


def _import_if_there(module: str) -> None:
    """Import a module if it exists; errors raised inside it are not hidden."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        absent = error.name or ""
        if module != absent and not module.startswith(f"{absent}."):
            raise


def open_oracle(
    text: str, *, dataset: Any = None, input: str = "auto", batch: bool = False
) -> Oracle:
    """Open the classifier that a text names.

    Parameters
    ----------
    text : a file written by `denseflip train`; your own ``module:function`` (or a model, with its
        options after a question mark: ``module:model?features=degree``); an ONNX file
        (``onnx:FILE``); a service (``https://…``); or the name of a classifier to train on
        `dataset`, for example ``edges-svm``. `oracle_kinds` lists all.
    dataset : the data set that a named classifier is trained on. A function that takes networkx
        graphs receives them with its node names.
    input, batch : the form of graph that a function takes, as in `as_oracle`; for functions only.

    Raises
    ------
    UnknownNameError
        If the text names no kind of oracle; the message lists similar names and all kinds.
    MissingInputError
        If the kind needs a data set and none is given.

    Examples
    --------
    >>> from denseflip.graph import Graph
    >>> oracle = open_oracle("builtins:len", input="networkx")  # the number of nodes
    >>> oracle.predict([Graph.from_edges(3, [(0, 1)])])
    [3]
    """
    if not isinstance(text, str):
        msg = (
            f"open_oracle takes a text, for example 'module:function' or 'study.dfo'; got "
            f"{type(text).__name__}. Pass an oracle or a function directly, without open_oracle."
        )
        raise InvalidParameterError(msg)
    check_name("oracle input", input, INPUTS)
    return kind_of(text).open(text, dataset=dataset, input=input, batch=batch)


def kind_of(text: str) -> OracleKind:
    """The kind of oracle that a text names; nothing is opened.

    Raises
    ------
    UnknownNameError
        If it names none.
    """
    kinds = oracle_kinds()
    _refuse_unsafe(text)
    for kind in kinds:
        if kind.matches(text):
            return kind
    words = [word for kind in kinds for word in kind.words]
    if Path(text).is_file():
        msg = f"{text}: not a file of a known kind of oracle. Known: {', '.join(words)}."
        raise FileFormatError(msg)
    aliases = {word: name for kind in kinds for word, name in kind.aliases.items()}
    raise UnknownNameError("oracle", text, words, aliases=aliases)


def _refuse_unsafe(text: str) -> None:
    """Raise if the text names a saved model that would run its author's code when opened."""
    name = text.removeprefix("torch:")
    if name == text and not (Path(text).suffix.lower() in UNSAFE and Path(text).is_file()):
        return
    msg = (
        f"{name}: opening a saved model of this kind can run any code of its author, so "
        "denseflip does not open it. Load it yourself in a module, say my_model.py: "
        "`model = Net(); model.load_state_dict(torch.load("
        f"{Path(name).name!r}, weights_only=True)); model.eval()`, and pass "
        "my_model:model?features=degree. Or export it to ONNX: onnx:model.onnx?features=degree."
    )
    raise FileFormatError(msg)


def _open_function(text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
    nodes = getattr(dataset, "nodes", None)
    return import_oracle(text, input, batch=batch, nodes=nodes)


FUNCTION = register_oracle_kind(
    OracleKind(
        name="function",
        summary="your own function, model or oracle, in a module of this folder or installed",
        words=("module:function", "module:model?features=NAME"),
        example="my_classifier:label",
        matches=lambda text: re.fullmatch(r"[^\s:/\\?]+:[\w.]*(\?.*)?", text) is not None,
        open=_open_function,
    )
)


_ONNX = "onnx:"
_ONNX_OPTIONS = ("features", "output", "max_batch", "class_names")


def _open_onnx(text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
    from denseflip.oracles.networks import OnnxOracle

    path, _, query = text.removeprefix(_ONNX).partition("?")
    return OnnxOracle(path, **parse_options(text, query, _ONNX_OPTIONS))


def _open_service(text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
    from denseflip.oracles.service import open_service

    return open_service(text)


ONNX = register_oracle_kind(
    OracleKind(
        name="onnx",
        summary="a network in an ONNX file; its node features follow the question mark",
        words=("onnx:FILE?features=NAME",),
        example="onnx:network.onnx?features=degree",
        matches=lambda text: text.startswith(_ONNX),
        open=_open_onnx,
    )
)
SERVICE = register_oracle_kind(
    OracleKind(
        name="service",
        summary="a classifier behind HTTP; its token is read from the environment",
        words=("http://HOST/PATH", "https://HOST/PATH"),
        example="http://127.0.0.1:8765/predict",
        matches=lambda text: text.startswith(("http://", "https://")),
        open=_open_service,
    )
)


# ---- module:name --------------------------------------------------------------------------------


def import_oracle(
    text: str, input: str = AUTO, *, batch: bool = False, nodes: Nodes | None = None
) -> Oracle:
    """The oracle that ``module:name`` names: a function, a model, or an object with ``predict``.

    The current folder is searched first, so that a script next to the user is found. ``input``,
    ``batch`` and ``nodes`` are those of `as_oracle`; its other options may follow a question mark:
    ``module:name?features=degree&class_names=ill,well``. Features that begin with a dot name a
    function or an array in the module.
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
    """The object that ``module:name`` names; the current folder is searched first.

    Parameters
    ----------
    text : the name; anything after a question mark is ignored here.
    what : the kind of object expected, for messages.
    """
    module_name, _, path = text.partition("?")[0].partition(":")
    see_current_folder()
    head = f"{what.capitalize()} {text}"
    try:
        value: Any = importlib.import_module(module_name)
    except ImportError as error:
        msg = (
            f"{head}: cannot import the module {module_name!r} ({error}). "
            "Write it as module:function, with the module in this folder or installed."
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
    """File and line of an error in the user's code, in brackets; empty if unknown."""
    if isinstance(error, SyntaxError) and error.filename:
        return ""  # its own message says where
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({frames[-1].filename}, line {frames[-1].lineno})" if frames else ""


def _is_numbered(nodes: Nodes) -> bool:
    return nodes.names == tuple(map(str, range(nodes.n_nodes)))


def _is_function(value: Any) -> bool:
    """Whether `as_oracle` treats an object as a function."""
    return next((a for a in adapters() if a.matches(value)), None) is FUNCTIONS


def _is_model(value: Any) -> bool:
    return any(adapter.matches(value) for adapter in adapters())


#: Options of `as_oracle` that can follow a question mark.
WORD_OPTIONS = ("features", "output", "device", "max_batch", "class_names", "input", "batch")


def parse_options(text: str, query: str, known: Sequence[str] = WORD_OPTIONS) -> dict[str, Any]:
    """The options after the question mark, as arguments of `as_oracle`.

    >>> parse_options("net:model", "features=degree&class_names=ill,well")
    {'features': 'degree', 'class_names': ['ill', 'well']}
    """
    options: dict[str, Any] = {}
    try:
        pairs = parse_qsl(query, strict_parsing=True, keep_blank_values=True) if query else []
    except ValueError as error:
        msg = f"Oracle {text}: write options after the question mark as name=value&name=value."
        raise InvalidParameterError(msg) from error
    for name, value in pairs:
        options[check_name(f"option of the oracle {text.partition('?')[0]}", name, known)] = value
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
