"""Checks at the door that every room needs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar

from denseflip.errors import DenseflipError, InvalidParameterError, RenamedError

P = ParamSpec("P")
R = TypeVar("R")


def check_new_file(
    path: str | Path, *, force: bool = False, error: type[DenseflipError] = InvalidParameterError
) -> Path:
    """Return the path of a file to be written, or say, before any work is done, why it may not be.

    Parameters
    ----------
    path : the file.
    force : whether a file that exists may be overwritten.
    error : the kind of error to raise.
    """
    target = Path(path)
    if target.is_dir():
        msg = f"{target} is a folder; give the name of a file to write."
        raise error(msg)
    if target.exists() and not force:
        msg = (
            f"{target} exists already and is left as it is. Choose another name, or allow "
            "overwriting (force=True)."
        )
        raise error(msg, parameter="force")
    if not target.parent.is_dir():
        msg = f"{target}: the folder {target.parent} does not exist. Create it first."
        raise error(msg)
    return target


def check_new_folder(
    path: str | Path, *, force: bool = False, error: type[DenseflipError] = InvalidParameterError
) -> Path:
    """Return the path of a folder to write into, or say, before any work is done, why not.

    Parameters
    ----------
    path : the folder; it need not be there.
    force : whether a folder that holds something may be written into.
    error : the kind of error to raise.
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        msg = f"{target} is a file; give a folder to write into."
        raise error(msg)
    if target.is_dir() and any(target.iterdir()) and not force:
        msg = (
            f"{target} exists already and is not empty; it is left as it is. Choose another "
            "folder, or allow overwriting (force=True)."
        )
        raise error(msg, parameter="force")
    return target


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function point from the old names of its parameters to those they have now.

    Parameters
    ----------
    names : old name → new name.

    Examples
    --------
    >>> @renamed(overwrite="force")
    ... def save(path, *, force=False):
    ...     return force
    >>> save("a.dfd", force=True)
    True
    >>> save("a.dfd", overwrite=True)
    Traceback (most recent call last):
    denseflip.errors.InvalidParameterError: save: overwrite is called force now; write force=True.
    """

    def dress(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in names:
                if old in kwargs:
                    raise _renamed_parameter(function, old, names[old], kwargs[old])
            return function(*args, **kwargs)

        return call

    return dress


def _renamed_parameter(function: Any, old: str, new: str, value: object) -> InvalidParameterError:
    shown = repr(value)
    written = f"{new}={shown if len(shown) <= 40 else '…'}"
    return InvalidParameterError(
        f"{function.__qualname__}: {old} is called {new} now; write {written}."
    )


def renamed_names(module: str, names: Mapping[str, str]) -> Callable[[str], NoReturn]:
    """A module's ``__getattr__`` that points from old names to those they have now.

    Parameters
    ----------
    module : the module's ``__name__``.
    names : old name → new name, dotted if it is found elsewhere (``denseflip.oracles.open``).

    Examples
    --------
    In a module: ``__getattr__ = renamed_names(__name__, {"Table": "NumberTable"})``.
    """

    def look_up(name: str) -> NoReturn:
        if name not in names:
            msg = f"module {module!r} has no attribute {name!r}"
            raise AttributeError(msg)
        place, _, new = names[name].rpartition(".")
        msg = f"{module}.{name} is called {new} now: from {place or module} import {new}."
        raise RenamedError(msg)

    return look_up
