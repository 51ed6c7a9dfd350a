"""Checks at the door that every room needs."""

from __future__ import annotations

from pathlib import Path

from denseflip.errors import DenseflipError, InvalidParameterError


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
            "overwriting (--force on the command line; in Python force=True or overwrite=True)."
        )
        raise error(msg)
    if not target.parent.is_dir():
        msg = f"{target}: the folder {target.parent} does not exist. Create it first."
        raise error(msg)
    return target
