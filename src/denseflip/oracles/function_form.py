"""Detect the form of graph that a function takes, if the user did not state it.

The annotation of its first parameter decides. Without one the function receives an adjacency
array; if it then accesses an attribute of another form, it receives that form.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from denseflip.graph import Graph

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
