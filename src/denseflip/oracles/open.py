"""`open_oracle`: from words to an oracle, whatever kind of classifier the words mean.

Each kind is one small record in a registry. This module registers functions and models of the
user, ONNX files and services. Later packages add theirs (trained files and presets, the paper's
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

#: Modules that register kinds when they are imported.
PLUG_INS = (
    "denseflip.classifiers.classifier_plugins",
    "denseflip.paper.paper_plugin",
)
#: Endings of files that run code when they are opened, in Python's own way of keeping things.
UNSAFE = (".pt", ".pth", ".pt2", ".ckpt", ".pkl", ".pickle", ".joblib", ".jit")


class Opener(Protocol):
    """Makes an oracle of words that its kind matched."""

    def __call__(self, text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
        """The oracle; `dataset` is None where there is none."""
        ...


@dataclass(frozen=True)
class OracleKind:
    """One kind of classifier that words can mean.

    Attributes
    ----------
    name : what the kind is called, for example ``"file"``.
    summary : one line for people.
    words : how it is written: the names themselves, or one pattern such as ``module:function``.
    example : words that open one, in a folder that holds what they name.
    matches : whether words mean this kind. Cheap; nothing is opened.
    open : makes the oracle.
    aliases : other word → the one of ``words`` to suggest for it.
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
    """Add a kind; one of the same name is an error."""
    if kind.name in _kinds and _kinds[kind.name] is not kind:
        msg = f"There is an oracle kind {kind.name!r} already ({_kinds[kind.name].summary})."
        raise InvalidParameterError(msg)
    _kinds[kind.name] = kind
    return kind


def oracle_kinds() -> tuple[OracleKind, ...]:
    """All kinds, in the order in which they are asked whether words mean them.

    A function comes last: any text with a colon looks like one.
    """
    for module in PLUG_INS:
        _import_if_there(module)
    return tuple(sorted(_kinds.values(), key=lambda kind: kind is FUNCTION))


def _import_if_there(module: str) -> None:
    """Import a module; harmless if it does not exist, but its own failures are not hidden."""
    try:
        importlib.import_module(module)
    except ModuleNotFoundError as error:
        absent = error.name or ""
        if module != absent and not module.startswith(f"{absent}."):
            raise


def open_oracle(
    text: str, *, dataset: Any = None, input: str = "auto", batch: bool = False
) -> Oracle:
    """The oracle that words mean.

    Parameters
    ----------
    text : a file written by `denseflip train`, a ``module:function`` of your own (or a model, with
        what it needs behind a question mark: ``module:model?features=degree``), an ONNX file
        (``onnx:FILE``), a service (``https://…``), or the name of a classifier to be trained on
        `dataset`, for example ``edges-svm``; `oracle_kinds` lists all.
    dataset : the data set that a named classifier is trained on; a function that takes networkx
        graphs gets them over its node names.
    input, batch : how a function wants its graphs, as in `as_oracle`; for functions alone.

    Raises
    ------
    UnknownNameError
        If the words mean no kind of oracle; near names and all kinds are in the message.
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
            f"open_oracle takes words, for example 'module:function' or 'study.dfo'; got "
            f"{type(text).__name__}. An oracle or a function needs no opening: pass it as it is."
        )
        raise InvalidParameterError(msg)
    if input not in INPUTS:
        raise UnknownNameError("oracle input", str(input), INPUTS)
    return kind_of(text).open(text, dataset=dataset, input=input, batch=batch)


def kind_of(text: str) -> OracleKind:
    """The kind of oracle that words mean; nothing is opened.

    Raises
    ------
    UnknownNameError
        If they mean none.
    """
    kinds = oracle_kinds()
    _refuse_unsafe(text)
    for kind in kinds:
        if kind.matches(text):
            return kind
    words = [word for kind in kinds for word in kind.words]
    if Path(text).is_file():
        msg = f"{text}: a file that no kind of oracle reads. Known: {', '.join(words)}."
        raise FileFormatError(msg)
    aliases = {word: name for kind in kinds for word, name in kind.aliases.items()}
    raise UnknownNameError("oracle", text, words, aliases=aliases)


def _refuse_unsafe(text: str) -> None:
    """Raise if the words name a saved model that would run code of its maker's when opened."""
    name = text.removeprefix("torch:")
    if name == text and not (Path(text).suffix.lower() in UNSAFE and Path(text).is_file()):
        return
    msg = (
        f"{name}: a saved model like this is a program and may run any code of its maker's on this "
        "machine, so denseflip opens none. Open it yourself, in a module that you "
        "trust, say my_model.py: `model = Net(); model.load_state_dict(torch.load("
        f"{Path(name).name!r}, weights_only=True)); model.eval()`, and name that: "
        "my_model:model?features=degree. Or export it to ONNX: onnx:model.onnx?features=degree."
    )
    raise FileFormatError(msg)


def _open_function(text: str, *, dataset: Any, input: str, batch: bool) -> Oracle:
    nodes = getattr(dataset, "nodes", None)
    return import_oracle(text, input, batch=batch, nodes=nodes)


FUNCTION = register_oracle_kind(
    OracleKind(
        name="function",
        summary="a function, model or oracle of your own, in a module of this folder or installed",
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
        summary="a network in an ONNX file; how its nodes are described behind the question mark",
        words=("onnx:FILE?features=NAME",),
        example="onnx:network.onnx?features=degree",
        matches=lambda text: text.startswith(_ONNX),
        open=_open_onnx,
    )
)
SERVICE = register_oracle_kind(
    OracleKind(
        name="service",
        summary="a classifier behind HTTP; its token in the environment",
        words=("http://HOST/PATH", "https://HOST/PATH"),
        example="http://127.0.0.1:8765/predict",
        matches=lambda text: text.startswith(("http://", "https://")),
        open=_open_service,
    )
)
