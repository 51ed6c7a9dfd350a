"""Uploads: a data set, a folder as zip, one graph, or a saved result.

Each upload is read in a temporary folder, with the limits of `denseflip.limits`, and saved only if
it is valid. Files that can run code or hold objects are refused: pickles, ``.mat`` files,
classifiers. `Quota` limits the number of uploads, and the size of uploads and results. Nothing is
deleted automatically: when the folder is full, uploads and jobs are refused with a message that
says what to do.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import sqlite3
import stat
import tempfile
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path, PurePosixPath
from typing import Any

from denseflip.checks import visible
from denseflip.counterfactual import Counterfactual, Label
from denseflip.datasets import Dataset, read_graph
from denseflip.datasets.atlas import ATLASES
from denseflip.datasets.connectome import Keep
from denseflip.datasets.folder import bids_title, import_folder, import_report
from denseflip.errors import (
    DenseflipError,
    FileFormatError,
    InvalidParameterError,
    StoreError,
    TooLargeError,
    UnknownNameError,
)
from denseflip.files import write_whole
from denseflip.limits import check_zip, open_zip, read_json, read_member, show_size
from denseflip.reading import Reading
from denseflip.story.describe import describe
from denseflip.story.story import Story
from denseflip.table_options import TableOptions, table_options
from denseflip.web.job_store import Store, pack
from denseflip.web.library import Library
from denseflip.web.many_jobs import size, tidy
from denseflip.web.payload import view_of
from denseflip.web.server_config import ServerSettings


class Quota:
    """The use of a data folder, and whether there is room for more.

    Parameters
    ----------
    settings : with `max_uploads` and `max_kept`.
    library, store : counted are uploaded data sets and graphs, jobs with their results, and partial
        results of jobs of many graphs.
    """

    def __init__(self, settings: ServerSettings, library: Library, store: Store) -> None:
        self.most_uploads, self.most_size = settings.max_uploads, settings.max_kept
        self.library, self.store = library, store
        self._lock = threading.Lock()

    def used(self) -> dict[str, Any]:
        """Return what is used, and the limits."""
        files = self.library.uploads()
        return {
            "uploads": len(files) + self.store.count("brought"),
            "bytes": sum(files.values()) + self.store.size() + size(self.library.folder),
            "max_uploads": self.most_uploads,
            "max_bytes": self.most_size,
        }

    @contextmanager
    def room(self, size: int = 0) -> Iterator[None]:
        """Reserve room for one upload of ``size`` bytes while the context is open.

        Raises
        ------
        StoreError
            If there is no room.
        """
        with self._lock:
            tidy(self.library.folder, self.store)
            used = self.used()
            if used["uploads"] >= self.most_uploads:
                msg = (
                    f"Not saved: the server has {used['uploads']:,} uploads and keeps at most "
                    f"{self.most_uploads:,}. Delete some, or restart the server with "
                    f"max_uploads={2 * self.most_uploads or 100}."
                )
                raise StoreError(msg, parameter="max_uploads")
            self._check(used["bytes"], size)
            yield

    def check_job(self) -> None:
        """Raise StoreError if no result can be saved any more."""
        tidy(self.library.folder, self.store)
        self._check(self.used()["bytes"], 1)

    def _check(self, used: int, more: int) -> None:
        if used + more > self.most_size:
            msg = (
                f"Not saved: the server has {show_size(used)} of uploads and results and keeps at "
                f"most {show_size(self.most_size)}. Delete some, or restart the server with "
                f"max_kept='{_more(self.most_size)}'."
            )
            raise StoreError(msg, parameter="max_kept")


def _more(size: int) -> str:
    """Return twice the size, for `parse_size`."""
    return f"{-(-2 * size // 10**6)}MB"


GRAPHS = (".csv", ".tsv", ".txt", ".npy", ".edgelist", ".edges", ".edge", ".graphml")
INSIDE = (*GRAPHS, ".json", ".md", ".1d", ".dat")  # of a folder
UNPACKED = 400_000_000  # bytes of a folder, unpacked
MEMBERS = 5_000  # files of a folder
_PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".dfo", ".skops")
_LABELS = ("labels.csv", "labels.tsv", "participants.tsv", "labels.txt")
_NODES = ("nodes.csv", "nodes.tsv")
_NAME = 120
_INCOMING = ".incoming-"
_BAD_ZIP = (zipfile.BadZipFile, EOFError, OSError, ValueError, NotImplementedError)
FULL = (
    "Not saved: the disk of the server is full. Free disk space, or restart the server with its "
    "data folder on another disk."
)
_FULL = {errno.ENOSPC, errno.EDQUOT}


def take(
    content: bytes,
    name: str,
    quota: Quota,
    *,
    dataset: str | None = None,
    percentile: float | None = None,
    options: str = "",
    reading: Reading | None = None,
) -> dict[str, Any]:
    """Save an upload and return what it is.

    Parameters
    ----------
    content, name : the file. Only the suffix of its name is used; the rest is only displayed.
    quota : with the library and the store where it is saved, if there is room.
    dataset : for one graph or a saved result, the data set that it belongs to.
    percentile : for weighted matrices, keep pairs at or above this percentile.
    options : for a folder, `TableOptions` as a JSON object.
    reading : how graph files are read that can be read in several ways.

    Raises
    ------
    FileFormatError, TooLargeError, InvalidParameterError, StoreError
        If the upload is refused. Nothing is saved then, nor after an OSError (disk full).
    """
    shown = visible(PurePosixPath(name.replace("\\", "/")).name)[:_NAME] or "upload"
    suffix = PurePosixPath(shown).suffix.lower()
    if not content:
        msg = f"{shown}: the file is empty."
        raise FileFormatError(msg)
    _refuse(suffix, shown, content)
    with quota.room():
        pass  # do not unpack if the folder is full
    keep = None if percentile is None else Keep(percentile=percentile)
    how = reading or Reading()
    with _scratch(quota.library.folder, shown, suffix) as scratch:
        if suffix == ".dfd":
            path = scratch / "upload.dfd"
            path.write_bytes(content)
            return _keep_dataset(Dataset.load(path), quota, scratch)
        if suffix == ".zip":
            folder = unpack(content, shown, scratch)
            made = _import(folder, shown, keep, how, options)
            return _keep_dataset(made, quota, scratch)
        if suffix == ".json":
            return _keep_result(content, shown, quota, dataset)
        path = scratch / f"upload{suffix}"
        path.write_bytes(content)
        return _keep_graph(path, shown, quota, dataset, keep, how)


def _refuse(suffix: str, shown: str, content: bytes) -> None:
    if suffix in _PICKLES or content[:2] in (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"):
        msg = (
            f"{shown}: files with Python objects are not accepted, since they can run code when "
            "opened. Save graphs as .csv, .npy, .edgelist, .graphml or .dfd."
        )
        raise FileFormatError(msg)
    if suffix == ".mat":
        msg = (
            f"{shown}: .mat files are not accepted as uploads, since they may hold more than "
            "numbers. Save the matrix as .csv or .npy, or import it on the command line and upload "
            "the .dfd file."
        )
        raise FileFormatError(msg)
    if suffix not in (*GRAPHS, ".dfd", ".zip", ".json"):
        known = ", ".join((".dfd", ".zip", ".json", *GRAPHS))
        kind = f"{suffix} files" if suffix else "files without a suffix"
        msg = f"{shown}: {kind} are not accepted. Accepted are {known}."
        raise FileFormatError(msg)


def is_full(error: BaseException | None) -> bool:
    """Whether an error means that the disk is full."""
    if isinstance(error, sqlite3.Error):
        return getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
    return isinstance(error, OSError) and error.errno in _FULL


def sweep(folder: Path) -> None:
    """Delete incomplete uploads of a killed server. Call it while holding the `FolderLock`."""
    for half in folder.glob(f"{_INCOMING}*"):
        shutil.rmtree(half, ignore_errors=True)
    for place in ("datasets", "graphs"):
        for half in (*(folder / place).glob(".*"), *(folder / place).glob("*.half")):
            half.unlink(missing_ok=True)


@contextmanager
def _scratch(folder: Path, shown: str, suffix: str) -> Iterator[Path]:
    """Create a temporary folder; messages do not mention its path."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=_INCOMING) as made:
        try:
            yield Path(made)
        except DenseflipError as error:
            text = str(error)
            for place in (f"{made}/folder", f"{made}/upload{suffix}", made, f"upload{suffix}"):
                text = text.replace(place, shown)
            error.args = (text,)
            raise


def unpack(content: bytes, shown: str, scratch: Path) -> Path:
    """Unpack a zip archive into its own folder; refuse it if any member is suspicious."""
    folder = scratch / "folder"
    folder.mkdir()
    try:
        with open_zip(content, shown) as archive:
            total = check_zip(archive, shown)
            members = [m for m in archive.infolist() if not m.is_dir()]
            if total > UNPACKED or len(members) > MEMBERS:
                msg = (
                    f"{shown}: {len(members):,} files of {show_size(total)} when unpacked exceed "
                    f"the limit of {MEMBERS:,} files or {show_size(UNPACKED)}. Import the folder "
                    "on the command line and upload the .dfd file."
                )
                raise TooLargeError(msg)
            for member in members:
                _write_member(archive, member, shown, folder)
    except Exception as error:
        if isinstance(error, (FileFormatError, TooLargeError)) or is_full(error):
            raise
        msg = f"{shown}: cannot be unpacked ({type(error).__name__})."
        if isinstance(error, _BAD_ZIP):
            why = error.strerror if isinstance(error, OSError) else None  # without server paths
            msg = f"{shown}: cannot be read as a zip archive ({visible(why or str(error))[:120]})."
        raise FileFormatError(msg) from error
    inside = [p for p in folder.iterdir() if not p.name.startswith(".")]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


def _write_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, shown: str, folder: Path
) -> None:
    name = member.filename
    path = PurePosixPath(name.replace("\\", "/"))
    member_name = visible(name)[:80]
    odd = path.is_absolute() or ".." in path.parts or ":" in name or "\x00" in name
    if odd or stat.S_ISLNK(member.external_attr >> 16):
        msg = f"{shown}: member {member_name!r} points outside the folder. Nothing was unpacked."
        raise FileFormatError(msg)
    if any(part.startswith((".", "__MACOSX")) for part in path.parts):
        return  # files of file managers
    if path.suffix.lower() not in INSIDE:
        _refuse(path.suffix.lower(), f"{shown}: {member_name}", b"")
        msg = f"{shown}: member {member_name!r} is of a type that is not accepted."
        raise FileFormatError(msg)
    content = read_member(archive, name, shown)
    _refuse(path.suffix.lower() if path.suffix.lower() in GRAPHS else ".csv", member_name, content)
    target = folder.joinpath(*(os.fsencode(p).decode("utf-8", "replace") for p in path.parts))
    if not target.resolve().is_relative_to(folder.resolve()):
        msg = f"{shown}: member {member_name!r} points outside the folder. Nothing was unpacked."
        raise FileFormatError(msg)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)


def _import(folder: Path, shown: str, keep: Keep | None, how: Reading, options: str) -> Dataset:
    given = read_json(options.encode(), "The options") if options.strip() else {}
    if not isinstance(given, dict):
        msg = "The options of an import must be a JSON object."
        raise InvalidParameterError(msg, parameter="options")
    asked = TableOptions.of(given).to_parameters()
    if (atlas := asked.pop("nodes", None)) is not None and atlas not in ATLASES:
        raise UnknownNameError("atlas", atlas, ATLASES, parameter="nodes")
    labels = next((p for name in _LABELS if (p := folder / name).is_file()), None)
    nodes = next((p for name in _NODES if (p := folder / name).is_file()), None)
    if atlas is not None and nodes is not None:
        msg = f"{shown}: has a node table, {nodes.name}, and the atlas {atlas} was chosen. Leave "
        raise InvalidParameterError(msg + "one of them out.", parameter="nodes")
    try:
        return import_folder(
            folder,
            labels,
            nodes=nodes or atlas,
            keep=keep,
            name=bids_title(folder) or PurePosixPath(shown).stem[:60],
            **asdict(how),
            **asked,
        )
    except DenseflipError as error:
        known = table_options()
        fields = [f'"{known[x].label}"' for x in error.parameters if x in known]
        if fields:
            error.args = (f"{error} In the form: {', '.join(fields)}.",)
        raise


def _keep_dataset(dataset: Dataset, quota: Quota, scratch: Path) -> dict[str, Any]:
    dataset.check_shared_nodes("The app")
    library = quota.library
    path = library.sets / f"upload-{secrets.token_hex(6)}.dfd"
    made = dataset.save(scratch / "kept.dfd")
    with quota.room(made.stat().st_size):
        made.replace(path)
    found = {"kind": "dataset", "dataset": library.add_upload(path), "name": dataset.name}
    return {**found, "notes": import_report(dataset)}


def _keep_graph(
    path: Path,
    shown: str,
    quota: Quota,
    key: str | None,
    keep: Keep | None,
    how: Reading,
) -> dict[str, Any]:
    library = quota.library
    dataset = library.dataset(_needed(key, shown))
    notes: list[str] = []
    graph = read_graph(path, nodes=dataset.nodes, keep=keep, on_note=notes.append, **asdict(how))
    id = f"upload-{secrets.token_hex(6)}"
    data = {"name": PurePosixPath(shown).stem, "graph": graph.to_dict()}
    text = json.dumps(data)
    with quota.room(len(text)):
        write_whole(library.graphs / f"{key}.{id}.json", text)
    found = {"kind": "graph", "dataset": key, "subject": id, "name": data["name"]}
    return {**found, "notes": notes}


def _keep_result(content: bytes, shown: str, quota: Quota, key: str | None) -> dict[str, Any]:
    try:
        result_data, view = _read_result(content, shown, quota.library, key)
        json.dumps(result_data, ensure_ascii=False, allow_nan=False).encode()
    except FileFormatError as error:
        if str(error).startswith(shown):
            raise
        msg = f"{shown}: {error}"
        raise FileFormatError(msg) from error
    except DenseflipError:
        raise
    except Exception as error:  # values of unexpected types
        msg = f"{shown}: not a saved result, or modified since ({type(error).__name__})."
        raise FileFormatError(msg) from error
    summary = {"found": view["found"], "title": view["title"]}
    with quota.room(len(pack(result_data))):
        job = quota.store.add_done("brought", {"name": shown}, summary, result_data)
    return {"kind": "result", "job": job.id, "name": view["title"]}


def _read_result(
    content: bytes, shown: str, library: Library, key: str | None
) -> tuple[dict[str, Any], dict[str, Any]]:
    data = read_json(content, shown)
    if not isinstance(data, dict):
        msg = f"{shown}: not a saved result; expected a JSON object."
        raise FileFormatError(msg)
    inner = data.get("story")
    if isinstance(inner, dict) and "result" in inner:  # saved from a page
        story = Story.from_dict(inner)
    elif "original" in data:  # the result.json of a command
        result = Counterfactual.from_dict(data)
        dataset = library.dataset(_needed(key, shown))
        dataset.nodes.check_fits(result.original.n_nodes)
        names: dict[Label, str] = dict(enumerate(dataset.class_names))
        told = data.get("story") if isinstance(data.get("story"), dict) else {}
        subject = visible(str((told or {}).get("subject") or "the graph"))[:_NAME]
        truth = (told or {}).get("true_class")
        story = describe(
            result,
            dataset.nodes,
            subject=subject,
            class_names=names,
            true_class=visible(truth)[:_NAME] if isinstance(truth, str) else None,
        )
    else:
        msg = (
            f"{shown}: not a saved result. Upload the JSON file saved from a page or from this "
            "app, or the result.json of a command."
        )
        raise FileFormatError(msg)
    if story.result.front:
        story = replace(story, result=replace(story.result, front=()))
    view = view_of(story) | {"replay": [], "confident": False, "brought": True}
    result_data = {"view": view, "story": story.to_dict(), "front": [], "card": {}}
    return result_data | {"record": story.result.to_dict()}, view


def _needed(key: str | None, shown: str) -> str:
    if key is None:
        msg = f"{shown}: choose the data set that this file belongs to."
        raise InvalidParameterError(msg, parameter="dataset")
    return key
