"""Checks of input and output that all packages share."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from denseflip.errors import DenseflipError, InvalidParameterError, shown

LARGEST = 10**100  # largest whole number that is read; Python cannot print one of 5,000 digits
STORE, STORE_HEAD = "store", "store.json"  # of a resumable run, in its output folder


# Characters that control a terminal, change the text direction, are invisible, or cannot be
# encoded: C0 and C1 controls, bidirectional controls, zero-width characters, fillers, tags,
# surrogates. Joiners and variation selectors stay.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]"
)


def visible(text: str, *, lines: bool = False) -> str:
    """Replace control characters and invisible characters by their escape codes.

    Names from files pass through here when they are read, so terminals, pages and files can show
    them safely. Letters of all scripts stay as they are, and with ``lines`` breaks and tabs too.

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
    """Escape HTML tags in a text for Markdown, where ``<none>`` would not be shown.

    >>> in_markdown("p < .05 in <none>")
    'p < .05 in &lt;none>'
    """
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def visible_tree(data: Any, *, lines: bool = True) -> Any:
    """Apply `visible` to every text in plain data, as read from JSON."""
    if isinstance(data, str):
        return visible(data, lines=lines)
    if isinstance(data, Mapping):
        return {visible_tree(k, lines=False): visible_tree(v, lines=lines) for k, v in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)(visible_tree(x, lines=lines) for x in data)
    return data


def text_of(value: object) -> str:
    """A value as a visible text; raises if it has none (an int of 5,000 digits)."""
    try:
        return visible(str(value))
    except (RecursionError, ValueError) as error:
        raise InvalidParameterError(f"{shown(value)}.") from error


_FILE_NAME = 120  # longest name, without the ending that is added later


def check_file_name(
    name: str, what: str, *, error: type[DenseflipError] = InvalidParameterError
) -> str:
    """Return the name, or raise if it is not a valid file name on every operating system.

    >>> check_file_name("../elsewhere", "The id")
    Traceback (most recent call last):
    denseflip.errors.InvalidParameterError: The id '../elsewhere' cannot be a file name: it ...
    """
    reserved = re.fullmatch(r"(?i:con|prn|aux|nul|com\d|lpt\d)", name.partition(".")[0].strip())
    why = (
        "it is empty"
        if not name.strip()
        else "it begins with a dot"
        if name.startswith(".")
        else "it points to another folder"
        if re.search(r"[/\\]", name)
        else "it has a character that some operating systems do not allow"
        if visible(name) != name or re.search(r'[<>:"|?*]', name)
        else "some operating systems do not allow it"
        if reserved or name != name.strip() or name.endswith(".")
        else f"it is longer than {_FILE_NAME} characters"
        if len(name.encode("utf-8", "replace")) > _FILE_NAME
        else ""
    )
    if why:
        msg = f"{what} '{visible(name[:80])}' cannot be a file name: {why}. Choose another one."
        raise error(msg)
    return name


def check_no_pipe(path: Path, *, error: type[DenseflipError] = InvalidParameterError) -> None:
    """Raise if a path exists and is not a file: reading a pipe hangs, a device never ends.

    A path that does not exist passes; opening it raises its own error.
    """
    if path.exists() and not path.is_file():
        msg = f"{path}: cannot be read: it is a folder, a pipe or a device. Give a file."
        raise error(msg)


def check_new_file(
    path: str | Path, *, force: bool = False, error: type[DenseflipError] = InvalidParameterError
) -> Path:
    """Return the path of a file to write, or raise, before any work is done, if it is not allowed.

    Overwriting a file is allowed with ``force``.
    """
    target = Path(path)
    if target.is_dir():
        msg = f"{target} is a folder; give the name of a file to write."
        raise error(msg)
    if target.exists() and not target.is_file():
        msg = f"{target} is a pipe or a device and would be replaced; give the name of a file."
        raise error(msg)
    if os.path.lexists(target) and not force:  # also a dangling link
        msg = (
            f"{target} exists already and was not changed. Choose another name, or allow "
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
    """Return the path of an output folder, or raise, before any work is done, if it is not allowed.

    A folder is allowed if it does not exist, if it is empty, or with ``force``. A ``resumable`` run
    keeps its results in the subfolder `STORE`; it may continue an earlier run.
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        msg = f"{target} is a file; give a folder to write into."
        raise error(msg)
    if force or (resumable and _has_store(target)):
        return target
    if target.is_dir() and any(target.iterdir()):
        other = " and has no run to continue" if resumable else ""
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
    # A run that was killed before it wrote the head leaves only the subfolder.
    return store.is_dir() and list(folder.iterdir()) == [store]


def count_words(text: str) -> int:
    """The number of words of a text; an arrow or a percent sign is none.

    >>> count_words("97 more connections (19 → 116; 95 % 101–225)")
    7
    """
    return sum(any(c.isalnum() for c in word) for word in text.split())
