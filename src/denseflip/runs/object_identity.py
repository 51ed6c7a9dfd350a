"""Plain values or digests that represent Python objects in the identity of a run.

A resumed run must recognise what it runs. A name identifies a preset, and a digest identifies a
file. A Python object is described by its fields, the source of its functions and, where these are
not enough, by its pickle.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import uuid
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from denseflip.errors import InvalidParameterError, said
from denseflip.graph import Graph
from denseflip.request import Request

_PLAIN = (bool, int, float, str, type(None))


def describe_given(value: Any, what: str, *, lasting: bool = True) -> Any:
    """Return a JSON-ready form that is the same for the same value, also in a later process.

    Parameters
    ----------
    value : anything.
    what : name of the value for messages: ``"oracle"``, ``"constraints"`` …
    lasting : whether the form must be valid in a later process too. If not, a value that cannot be
        described gets a unique form.

    Raises
    ------
    InvalidParameterError
        If it must last and the value can neither be described nor pickled.

    Examples
    --------
    >>> describe_given({"regions": ("Frontal", "Parietal"), "most": 3}, "constraints")
    {'regions': ['Frontal', 'Parietal'], 'most': 3}
    """
    if isinstance(value, _PLAIN):
        return str(value) if isinstance(value, float) and not math.isfinite(value) else value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype != object:
        shape = [*value.shape, str(value.dtype)]
        return {"array": _sha(np.ascontiguousarray(value).tobytes()), "shape": shape}
    if isinstance(value, Graph):
        return {"graph": value.digest.hex()}
    if isinstance(value, (list, tuple)):
        return [describe_given(item, what, lasting=lasting) for item in value]
    if isinstance(value, (set, frozenset)):
        items = (describe_given(item, what, lasting=lasting) for item in value)
        return {"set": sorted(items, key=repr)}
    if isinstance(value, Mapping):
        return {str(k): describe_given(v, what, lasting=lasting) for k, v in value.items()}
    if _is_importable(value):
        name = f"{value.__module__}:{value.__qualname__}"
        return {"function": name, "source": source_digest(value.__module__)}
    if is_dataclass(value) and not isinstance(value, type):
        inner = {
            f.name: describe_given(getattr(value, f.name), what, lasting=lasting)
            for f in fields(value)
        }
        kind = _kind(type(value))
        more = {} if "source" not in kind else dict(getattr(value, "__dict__", {}))
        for name in inner:  # other attributes, for example set by training
            more.pop(name, None)
        left = {"state": describe_given(more, what, lasting=lasting)} if more else {}
        return {**kind, **left, **inner}
    return {**_kind(type(value)), "pickle": _pickled(value, what, lasting=lasting)}


def describe_request(request: Request, *, lasting: bool = True) -> dict[str, Any]:
    """Return the options that differ from the defaults, except method, seed and budget."""
    apart = ("method", "seed", "budget")
    given = {key: getattr(request, key) for key in request.given if key not in apart}
    out = {key: describe_given(value, key, lasting=lasting) for key, value in given.items()}
    if "constraints" in out:  # only what is constrained
        named = request.constraints.given
        out["constraints"] = {key: out["constraints"][key] for key in named}
    return dict(sorted(out.items()))


def describe_untrained(value: Any, what: str, *, lasting: bool = True) -> Any:
    """Describe an estimator that is not trained yet: its class and its settings.

    Pickles of equal estimators may differ, and their repr omits long values.
    """
    if isinstance(value, (list, tuple)):
        return [describe_untrained(item, what, lasting=lasting) for item in value]
    if isinstance(value, type) or not callable(getattr(value, "get_params", None)):
        return describe_given(value, what, lasting=lasting)
    settings = value.get_params(deep=False)
    inner = {k: describe_untrained(settings[k], what, lasting=lasting) for k in sorted(settings)}
    return {**_kind(type(value)), "settings": inner}


def _kind(made: type) -> dict[str, str]:
    """Return the name of a class, and its source if it is not part of this package."""
    name = f"{made.__module__}.{made.__qualname__}"
    if made.__module__.partition(".")[0] == "denseflip":
        return {"type": name}  # covered by the versions of a spec
    return {"type": name, "source": source_digest(made.__module__)}


def _is_importable(value: Any) -> bool:
    """Whether a function or a class can be imported again by its name."""
    if not (inspect.isfunction(value) or inspect.isclass(value) or inspect.isbuiltin(value)):
        return False
    name = str(getattr(value, "__qualname__", ""))
    module = getattr(value, "__module__", None)
    return bool(module) and module != "__main__" and "<" not in name


def _pickled(value: Any, what: str, *, lasting: bool) -> str:
    try:
        return _sha(pickle_anything(value))
    except Exception as error:  # pickling can raise anything
        if not lasting:
            return uuid.uuid4().hex
        msg = (
            f"{what}: this {type(value).__name__} cannot be recognised by a later run, nor sent to "
            f"another process ({said(error, 120)}). Give it as module:function or as a file, or "
            "leave out the store and work in this process (jobs=1)."
        )
        raise InvalidParameterError(msg, parameter=("store", "jobs")) from error


def pickle_anything(value: Any) -> bytes:
    """Pickle a value as the engines do, including local functions."""
    from joblib.externals.loky.cloudpickle_wrapper import dumps

    data: bytes = dumps(value)
    return data


@cache
def source_digest(module: str) -> str:
    """Hash the source file of a module, so that an edited one is run again; empty without one.

    What the module imports or reads is not included.
    """
    import sys

    place = getattr(sys.modules.get(module), "__file__", None)
    if not place or not Path(place).is_file():
        return ""
    return _sha(Path(place).read_bytes())


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:32]
