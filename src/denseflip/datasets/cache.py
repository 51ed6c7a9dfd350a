"""Locate downloaded files: a folder named by the user, the cache, or the network.

Files are only handled as bytes here, and used only after their hash was checked.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from denseflip.errors import DatasetError, HashMismatchError

DATA_VARIABLE = "DENSEFLIP_DATA"
CACHE_VARIABLE = "DENSEFLIP_CACHE"
OFFLINE_VARIABLE = "DENSEFLIP_OFFLINE"
RETRIES = 3
TIMEOUT = 30

#: Creates a progress bar for a file: an object with ``total``, ``update``, ``reset``, ``close``.
Progress = Callable[[str], Any]


@dataclass(frozen=True)
class RemoteFile:
    """A file on the network and the SHA-256 it must have."""

    name: str
    url: str
    sha256: str


def data_folder() -> Path | None:
    """The folder in DENSEFLIP_DATA, if it is set."""
    value = os.environ.get(DATA_VARIABLE, "").strip()
    if not value:
        return None
    folder = Path(value).expanduser()
    if not folder.is_dir():
        msg = (
            f"{DATA_VARIABLE} names the folder {folder}, which does not exist. Correct or unset it."
        )
        raise DatasetError(msg)
    return folder


def cache_folder() -> Path:
    """Where downloads and converted files are kept (``DENSEFLIP_CACHE`` or the user's cache)."""
    value = os.environ.get(CACHE_VARIABLE, "").strip()
    if value:
        return Path(value).expanduser()
    import pooch

    return Path(pooch.os_cache("denseflip"))


def is_offline() -> bool:
    """Whether DENSEFLIP_OFFLINE forbids the network."""
    return os.environ.get(OFFLINE_VARIABLE, "").strip().lower() not in {"", "0", "false", "no"}


def find_file(file: RemoteFile) -> Path | None:
    """The path of the file on this machine (its content not yet checked), or None."""
    folder = data_folder()
    for place in (folder, cache_folder()):
        if place is not None and (place / file.name).is_file():
            return place / file.name
    return None


def read_checked(path: Path, file: RemoteFile) -> bytes:
    """The bytes of a file with the correct hash.

    Raises
    ------
    HashMismatchError
        With both hashes. A wrong file in the cache is moved aside; a user's own file is kept.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        msg = f"{path}: cannot be read ({error.strerror})."
        raise DatasetError(msg) from error
    got = hashlib.sha256(content).hexdigest()
    if got == file.sha256:
        return content
    if path.parent == cache_folder():
        aside = path.with_name(f"{path.name}.mismatch-{got[:12]}")
        path.replace(aside)
        done = f"It was moved aside to {aside} and will not be used."
        remedy = "Download it again; if the same happens, the file has changed at its source."
    else:
        done = "It was not changed and will not be used."
        remedy = f"Replace it with the file at {file.url}, or unset {DATA_VARIABLE}."
    msg = (
        f"{path} is not the expected file.\n  expected SHA-256 {file.sha256}\n"
        f"  got SHA-256      {got}\n{done} {remedy}"
    )
    raise HashMismatchError(msg)


def obtain(file: RemoteFile, *, progress: Progress | None = None) -> bytes:
    """The bytes of the file: from DENSEFLIP_DATA, the cache, or the network, in this order."""
    path = find_file(file)
    if path is None:
        path = _download(file, progress)
    return read_checked(path, file)


def _download(file: RemoteFile, progress: Progress | None) -> Path:
    if is_offline():
        raise unavailable(file, f"{OFFLINE_VARIABLE} is set, so it is not downloaded")
    import pooch

    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"the cache folder {folder} cannot be created: {error.strerror}"
        raise unavailable(file, reason) from error
    part = folder / f"{file.name}.{os.getpid()}.part"
    try:
        for attempt in range(1, RETRIES + 1):
            bar = progress(file.name) if progress else False
            try:
                pooch.HTTPDownloader(progressbar=bar, timeout=TIMEOUT)(file.url, str(part), None)
                break
            except (OSError, ValueError) as error:  # errors of requests are OSErrors
                if attempt == RETRIES:
                    reason = f"the download failed {RETRIES} times: {_short(error)}"
                    raise unavailable(file, reason) from error
                time.sleep(2.0 ** (attempt - 1))
        part.replace(folder / file.name)
    finally:
        part.unlink(missing_ok=True)
    return folder / file.name


def unavailable(file: RemoteFile, reason: str) -> DatasetError:
    """The error for a file that cannot be downloaded, with instructions."""
    return DatasetError(
        f"{file.name} is not on this machine, and {reason}.\n"
        f"Download it manually from\n  {file.url}\n"
        f"and save it as {file.name} in\n  {cache_folder()}\n"
        f"or in a folder of your choice, named by the environment variable {DATA_VARIABLE}. "
        f"Its SHA-256 must be {file.sha256}.\n"
        "The data sets 'mice' and 'synthetic' need no download."
    )


def _short(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:160]}"
