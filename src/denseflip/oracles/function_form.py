"""In which form a function wants its graphs, where the user did not say.

The annotation of its first parameter decides. Without one the function is given an adjacency
array; if it then asks that array for an attribute of another form, it is given that form.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from denseflip.graph import Graph

#: What was found out about a function: its form, and how, in words.
_found: WeakKeyDictionary[Any, tuple[str, str]] = WeakKeyDictionary()


def form_known(function: Callable[[Any], Any]) -> tuple[str | None, str]:
    """The form that a function wants, as far as it is known, and how it was found out.

    The second is empty where nothing had to be found out.
    """
    try:
        return _found[function]
    except (KeyError, TypeError):  # new, or no key for a dictionary
        return form_annotated(function), ""


def keep_form(function: Callable[[Any], Any], form: str, how: str) -> None:
    """Remember what was found out, so that the function is not tried again."""
    try:
        _found[function] = (form, how)
    except TypeError:  # an object that cannot be a key: whoever wraps it remembers
        return


def form_annotated(function: Callable[[Any], Any]) -> str | None:
    """The form that the annotation of the first parameter names; None if it names none.

    >>> def dense(a: np.ndarray) -> int: ...
    >>> form_annotated(dense), form_annotated(len)
    ('adjacency', None)
    """
    called = function if inspect.isroutine(function) else getattr(function, "__call__", function)  # noqa: B004
    try:
        first = next(iter(inspect.signature(called).parameters))
        wanted = typing.get_type_hints(called).get(first)
    except Exception:  # no signature, no parameter, names that mean nothing here
        return None
    kinds = [wanted, *typing.get_args(wanted)]  # of list[nx.Graph], too
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
    """The form that a function wants that was given an array and failed, and how that shows.

    Parameters
    ----------
    error : what it raised.
    array : what it was given.

    Returns
    -------
    The form, or None if the error does not show it; and what shows it.
    """
    import networkx as nx

    if type(error).__module__.split(".")[0] == "networkx":
        return "networkx", f"an adjacency array led to {type(error).__name__}"
    if not isinstance(error, AttributeError) or not error.name:
        return None, ""
    if not isinstance(error.obj, np.ndarray) or not np.may_share_memory(error.obj, array):
        return None, ""  # something else lacks the attribute
    name, how = error.name, f"it asked for {error.name!r}, which an adjacency array lacks"
    if hasattr(nx.Graph, name):
        return "networkx", how
    if hasattr(Graph, name):
        return "graph", how
    import scipy.sparse as sp

    return ("sparse", how) if hasattr(sp.csr_array, name) else (None, "")
