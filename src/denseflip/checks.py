"""Checks of input and output that every package needs."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields
from numbers import Integral, Real
from pathlib import Path
from types import NoneType
from typing import Any, ParamSpec, TypeVar

from denseflip.errors import (
    DenseflipError,
    FileFormatError,
    InvalidParameterError,
    said,
    shown,
)

P = ParamSpec("P")
R = TypeVar("R")

LARGEST = 10**100  # of a whole number from outside; one of 5,000 digits cannot be written
STORE, STORE_HEAD = "store", "store.json"  # of a run that can be continued, in its output folder


# What a terminal obeys, what turns the direction of what follows, what cannot be seen, and what
# cannot be written: C0 and C1 controls, bidirectional controls, zero widths, fillers, tags,
# surrogates. What joins letters, or chooses the form of a sign, stays.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)


def visible(text: str, *, lines: bool = False) -> str:
    """The text with every character that is obeyed or cannot be seen written as its code.

    Names from files pass through here where they come in, so that terminals, pages and files that
    show them later are safe. Letters of any script stay as they are.

    Parameters
    ----------
    text : a name, or several lines.
    lines : whether line breaks and tabs may stay.

    Examples
    --------
    >>> print(visible("left\\x1b[31m \\u202egnp.exe"))
    left\\x1b[31m \\u202egnp.exe
    """
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(
        lambda found: (
            found[0]
            if lines and found[0] in "\n\t"
            else found[0].encode("unicode_escape").decode("ascii")
        ),
        text,
    )


def in_markdown(text: str) -> str:
    """A text for Markdown, with nothing in it that begins markup: ``<none>`` would not be shown.

    >>> in_markdown("p < .05 in <none>")
    'p < .05 in &lt;none>'
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def visible_tree(data: Any, *, lines: bool = True) -> Any:
    """Plain data, as read from JSON, with every text in it made `visible`."""
    if isinstance(data, str):
        return visible(data, lines=lines)
    if isinstance(data, Mapping):
        return {visible_tree(k, lines=False): visible_tree(v, lines=lines) for k, v in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)(visible_tree(x, lines=lines) for x in data)
    return data


def text_of(value: object) -> str:
    """A value as a visible text; one that has none (an int of 5,000 digits) is said so."""
    try:
        return visible(str(value))
    except (RecursionError, ValueError) as error:
        raise InvalidParameterError(f"{shown(value)}.") from error


def typed(data: Mapping[str, Any], name: str, *kinds: type) -> Any:
    """A field of a dictionary that must be of one of these kinds; True is no number here.

    A text is made `visible`. For `from_dict`, which turns a `KeyError` or a `TypeError` into its
    own error (`parsing`).
    """
    value = data[name]
    wrong = not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)
    if wrong or (isinstance(value, int) and abs(value) > LARGEST):
        msg = f"{name} cannot be {shown(value)}"
        raise TypeError(msg)
    return visible(value) if isinstance(value, str) else value


_PLAIN = {"str": str, "int": Integral, "float": Real, "bool": bool, "None": NoneType}


def plain_fields(kind: Any, data: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a dataclass that are texts, numbers or yes and no, `typed`, from a dictionary.

    Those that have a default may be missing.
    """
    found = {}
    for field in fields(kind):
        kinds = [_PLAIN.get(word) for word in str(field.type).split(" | ")]
        if None in kinds or (field.name not in data and field.default is not MISSING):
            continue
        found[field.name] = typed(data, field.name, *filter(None, kinds))
    return found


@contextmanager
def parsing(what: str) -> Iterator[None]:
    """Say of a dictionary whose parts are wrong, whatever that leads to, that it is not `what`.

    >>> with parsing("a step"):
    ...     typed({}, "name", str)
    Traceback (most recent call last):
    denseflip.errors.FileFormatError: Not a step: KeyError: 'name'.
    """
    try:
        yield
    except FileFormatError as error:  # of a part
        if str(error).startswith(f"Not {what}: "):
            raise
        msg = f"Not {what}: {error}"
        raise FileFormatError(msg) from error
    except (
        ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError,
    ) as error:  # fmt: skip
        msg = f"Not {what}: {said(error)}."
        raise FileFormatError(msg) from error


_FILE_NAME = 120  # characters of a name, an ending to come


def check_file_name(
    name: str, what: str, *, error: type[DenseflipError] = InvalidParameterError
) -> str:
    """Return a name that is to become a file's, or say that it cannot be one on every system.

    Parameters
    ----------
    name : the name, without a folder.
    what : what it is the name of, for the message: ``"The id"``.
    error : the kind of error to raise.

    Examples
    --------
    >>> check_file_name("../elsewhere", "The id")
    Traceback (most recent call last):
    denseflip.errors.InvalidParameterError: The id '../elsewhere' cannot be a file's name: it ...
    """
    reserved = re.fullmatch(r"(?i:con|prn|aux|nul|com\d|lpt\d)", name.partition(".")[0].strip())
    why = (
        "it is empty"
        if not name.strip()
        else "it begins with a dot"
        if name.startswith(".")
        else "it would lead to another folder"
        if re.search(r"[/\\]", name)
        else "not every system takes such a sign in one"
        if visible(name) != name or re.search(r'[<>:"|?*]', name)
        else "not every system takes it"
        if reserved or name != name.strip() or name.endswith(".")
        else f"it is longer than {_FILE_NAME} characters"
        if len(name.encode("utf-8", "replace")) > _FILE_NAME
        else ""
    )
    if why:
        msg = f"{what} '{visible(name[:80])}' cannot be a file's name: {why}. Give another one."
        raise error(msg)
    return name


def check_no_pipe(path: Path, *, error: type[DenseflipError] = InvalidParameterError) -> None:
    """Say so if a path that is to be read is there and no file: a pipe hangs, a device never ends.

    What is not there at all is left to whoever opens it.
    """
    if path.exists() and not path.is_file():
        msg = f"{path}: cannot be read, for it is no file but a folder, a pipe or a device."
        raise error(msg)


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
    if target.exists() and not target.is_file():
        msg = f"{target} is a pipe or a device, which would be replaced; give the name of a file."
        raise error(msg)
    if os.path.lexists(target) and not force:  # a link to nowhere is somebody's, too
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
    path: str | Path,
    *,
    force: bool = False,
    resumable: bool = False,
    error: type[DenseflipError] = InvalidParameterError,
) -> Path:
    """Return the path of a folder to write into, or say, before any work is done, why not.

    A folder may be written into if it does not exist, if it is empty, if an earlier run of the same
    kind can be continued there, or with ``force``.

    Parameters
    ----------
    path : the folder.
    force : whether a folder with other content may be written into.
    resumable : whether the run keeps its results in the subfolder `STORE`, and so can continue a
        run that has one.
    error : the kind of error to raise.
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        msg = f"{target} is a file; give a folder to write into."
        raise error(msg)
    if force or (resumable and _has_store(target)):
        return target
    if target.is_dir() and any(target.iterdir()):
        other = " and holds no run to continue" if resumable else ""
        msg = (
            f"{target} is not empty{other}; nothing was changed. Choose another folder, or allow "
            "overwriting (force=True)."
        )
        raise error(msg, parameter="force")
    return target


def _has_store(folder: Path) -> bool:
    store = folder / STORE
    if (store / STORE_HEAD).is_file():
        return True
    # A run that was killed before it wrote the head leaves the subfolder alone.
    return store.is_dir() and list(folder.iterdir()) == [store]
