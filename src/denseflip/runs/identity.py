"""Digests of what a result depends on: content ids, data sets, Python objects, code versions.

A changed default, another file of the same name or another version gives another id, so an old
result is never mistaken for a new one. A name identifies a preset, and a digest identifies a file.
A Python object is described by its fields, the source of its functions and, where these are not
enough, by its pickle.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from denseflip._version import __version__
from denseflip.datasets import Dataset
from denseflip.errors import InvalidParameterError, said
from denseflip.graph import Graph
from denseflip.request import Request

#: Packages that only read or display. The source of all others is part of the ids of results.
_NO_CODE = (
    *("_version.py", "checks.py", "errors.py", "files.py", "limits.py", "option.py"),
    *("arena/arena_page.py", "arena/scores.py", "cli/*", "datasets/*", "report/*", "web/*"),
    *("paper/paper_claims.py", "paper/paper_figures.py", "paper/paper_page.py"),
    *("paper/paper_tables.py",),
)


def canonical_json(data: Any) -> str:
    """Return canonical JSON for identities: sorted keys, no spaces, no NaN."""
    return plain_json(data, sort=True)


def plain_json(data: Any, *, sort: bool = False) -> str:
    """Return JSON on one line with keys in their order, which may matter: the classes of a
    confusion matrix follow its rows.

    >>> plain_json({"control": 9, "case": 11})
    '{"control":9,"case":11}'
    """
    return json.dumps(
        data, sort_keys=sort, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def content_id(data: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 hexadecimal digits.

    >>> content_id({"b": 1, "a": [1.5, None]}) == content_id({"a": [1.5, None], "b": 1})
    True
    """
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()


def dataset_digest(dataset: Dataset) -> str:
    """Hash everything in a data set that a result can depend on.

    Graphs, labels, ids, nodes, and weights if they were kept, since a classifier may use them.
    """
    h = hashlib.sha256()
    for example in dataset:
        h.update(canonical_json([example.id, example.label]).encode())
        h.update(example.graph.digest)
    h.update(canonical_json([list(dataset.class_names), dataset.nodes.to_dict()]).encode())
    for row in () if dataset.weights is None else dataset.weights:
        h.update(row.tobytes())
    return h.hexdigest()[:32]


@cache
def versions() -> Mapping[str, Any]:
    """Return the versions that a result depends on."""
    from importlib.metadata import version

    def minor(package: str) -> str:
        return ".".join(version(package).split(".")[:2])

    return {
        "code": code_digest(),
        "denseflip": __version__,
        "numpy": minor("numpy"),
        "scikit-learn": minor("scikit-learn"),
    }


def code_digest(root: Path | None = None) -> str:
    """Hash the source files that decide results, so that an edited search is run again.

    A new release changes it too. Code that only displays results (tables, pages, commands) does
    not.
    """
    root = root or Path(__file__).parents[1]
    h = hashlib.sha256()
    for path in code_files(root):
        h.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return h.hexdigest()[:16]


def code_files(root: Path) -> list[Path]:
    """List the source files that decide results: all that a worker runs except data loaders.

    The content of a data set is in its digest.
    """
    shown = {path for pattern in _NO_CODE for path in root.glob(pattern)}
    return sorted(path for path in root.rglob("*.py") if path not in shown)


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


def check_sendable(**given: Any) -> None:
    """Raise an error before a run if something cannot be sent to other processes."""
    for what, value in given.items():
        try:
            pickle_anything(value)
        except Exception as error:  # pickling can raise anything
            msg = (
                f"{what}: this {type(value).__name__} cannot be sent to other processes "
                f"({said(error, 120)}). Give it as module:function or as a file, or work in "
                "this process (jobs=1)."
            )
            raise InvalidParameterError(msg, parameter="jobs") from error


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
