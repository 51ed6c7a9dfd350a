"""`open_oracle`: open a classifier by name, whatever its kind.

Each kind is one small record in a registry. This module registers the user's functions and models,
ONNX files and services. Other packages register theirs (trained files and presets, the paper's
classifier) in modules that are imported by name when the first oracle is opened.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from denseflip.errors import FileFormatError, InvalidParameterError, UnknownNameError
from denseflip.oracles.adapt import INPUTS, import_oracle
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
    if input not in INPUTS:
        raise UnknownNameError("oracle input", str(input), INPUTS)
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
    from denseflip.oracles.adapt import parse_options
    from denseflip.oracles.onnx_model import OnnxOracle

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
