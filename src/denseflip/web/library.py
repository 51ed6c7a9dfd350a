"""Data sets and classifiers by key: all that a request can name.

A key was given at start, or assigned to an upload. No word
of a request is ever taken for a path, a module or a function.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from denseflip.checks import visible
from denseflip.classifiers.fitted import FittedOracle
from denseflip.classifiers.presets import PRESET_WORDS, PRESETS, default_preset
from denseflip.datasets import Dataset, list_datasets, load_dataset
from denseflip.datasets.registry import DATASET_WORDS
from denseflip.errors import FileFormatError, InvalidParameterError, UnknownNameError
from denseflip.files import write_whole
from denseflip.graph import Graph
from denseflip.limits import read_json
from denseflip.oracles.open import open_oracle
from denseflip.oracles.protocol import Oracle
from denseflip.runs.identity import dataset_digest
from denseflip.web.server_config import ServerSettings
from denseflip.web.single_flight import SingleFlight
from denseflip.workflow.subject import Subject, find_subject

KEEP = 8  # data sets kept in memory, and twice as many classifiers
_UPLOADED = "upload-"


@dataclass
class Entry:
    """A data set by key: how to load it, and its path if it was uploaded."""

    key: str
    title: str
    load: Callable[[], Dataset]
    path: Path | None = None


@dataclass(frozen=True)
class Classifier:
    """An open classifier by key, with the lock to hold while using it."""

    key: str
    oracle: Oracle
    lock: AbstractContextManager[Any] = field(default_factory=nullcontext)


class Library:
    """The data sets and classifiers of this server.

    Parameters
    ----------
    settings : of the server; its data folder is created if missing.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.folder = settings.data
        self.graphs = self.folder / "graphs"
        self.sets = self.folder / "datasets"
        for folder in (self.graphs, self.sets):
            folder.mkdir(parents=True, exist_ok=True)
        self._entries: dict[str, Entry] = {}
        self._titles = self.folder / "titles.json"
        self._loaded: SingleFlight[tuple[str, str], tuple[Dataset, str]] = SingleFlight(KEEP)
        self._opened: SingleFlight[tuple[str, str], Oracle] = SingleFlight(KEEP * 2)
        self._lock = threading.Lock()  # of `_entries`; held briefly
        self._own: dict[str, tuple[str, threading.Lock]] = {}
        for words in settings.oracles:
            if words not in PRESETS:
                self._own[_slug(words, self._own)] = (words, threading.Lock())
        names = settings.datasets or tuple(i.name for i in list_datasets() if i.offline)
        for name in dict.fromkeys(names):
            self._add_named(name)
        self.refresh()
        if settings.datasets:  # report problems at start
            for name in settings.datasets:
                self._entries[_key_of(name)].load()

    def _add_named(self, name: str) -> None:
        key = _key_of(name)
        if key in self._entries:
            msg = (
                f"{name!r} and {self._entries[key].title!r} would both be named {key!r} here. "
                "Rename one of the files, or serve them separately, each with its own data folder."
            )
            raise InvalidParameterError(msg, parameter="datasets")
        self._entries[key] = Entry(key, name, lambda: _load(name))

    def refresh(self) -> None:
        """Add and remove uploaded data sets as another process of this server did."""
        there = {path.stem: path for path in sorted(self.sets.glob(f"{_UPLOADED}*.dfd"))}
        with self._lock:
            gone = [k for k, e in self._entries.items() if e.path is not None and k not in there]
        for key in gone:
            self._forget(key)
        for key in sorted(there.keys() - set(self.all_keys())):
            self.add_upload(there[key])

    def add_upload(self, path: Path) -> str:
        """Add an uploaded data set by its file in the data folder; return its key."""
        key = path.stem
        with self._lock:
            self._entries[key] = Entry(key, key, lambda: _load(path), path)
        return key

    def uploads(self) -> dict[Path, int]:
        """Return the files of all uploads with their sizes."""
        found = {}
        for path in (
            *self.sets.glob(f"{_UPLOADED}*.dfd"),
            *self.graphs.glob(f"*.{_UPLOADED}*.json"),
        ):
            with suppress(FileNotFoundError):  # just deleted
                found[path] = path.stat().st_size
        return found

    def remove_graph(self, key: str, id: str) -> None:
        """Delete a graph that was uploaded to a data set."""
        self._entry(key)
        if id not in [known for known, _ in self.extras(key)]:
            msg = f"The graph {id!r} of {key!r} was not uploaded and cannot be deleted."
            raise InvalidParameterError(msg, parameter="subject")
        (self.graphs / f"{key}.{id}.json").unlink(missing_ok=True)

    def remove(self, key: str) -> None:
        """Delete an uploaded data set and its file."""
        with self._lock:
            entry = self._entry(key)
            if entry.path is None:
                msg = f"The data set {key!r} was not uploaded and cannot be deleted."
                raise InvalidParameterError(msg, parameter="dataset")
            entry.path.unlink(missing_ok=True)
            for graph in self.graphs.glob(f"{key}.*.json"):
                graph.unlink(missing_ok=True)
            if (titles := self.titles()).pop(key, None):
                write_whole(self._titles, json.dumps(titles, indent=1))
        self._forget(key)

    def _forget(self, key: str) -> None:
        with self._lock:
            self._entries.pop(key, None)
        self._loaded.drop(lambda pair: pair[0] == key)
        self._opened.drop(lambda pair: pair[0] == key)

    # ---- data sets ------------------------------------------------------------------------

    def _entry(self, key: str) -> Entry:
        try:
            return self._entries[key]
        except KeyError:
            raise UnknownNameError(
                "data set", key, self._entries, aliases=DATASET_WORDS, parameter="dataset"
            ) from None

    def all_keys(self) -> list[str]:
        """Keys of all data sets."""
        with self._lock:
            return list(self._entries)

    def uploaded(self, key: str) -> bool:
        """Whether a data set was uploaded."""
        return self._entry(key).path is not None

    def dataset(self, key: str) -> Dataset:
        """Return a data set."""
        return self.marked(key)[0]

    def identity(self, key: str) -> str:
        """Return the key with a digest of the content, since the content of a key may change."""
        return self.marked(key)[1]

    def marked(self, key: str) -> tuple[Dataset, str]:
        """Return a data set and its identity, from the same read."""
        entry = self._entry(key)
        title = self.titles().get(key, "")

        def load() -> tuple[Dataset, str]:
            found = entry.load()
            named = replace(found, name=title) if title else found
            return named, f"{key}@{dataset_digest(found)}"

        return self._loaded.get((key, title), load)

    def titles(self) -> dict[str, str]:
        """Return the titles that were given to data sets here, by key."""
        try:
            found = read_json(self._titles.read_bytes(), self._titles.name)
        except FileNotFoundError:
            return {}
        return {str(key): str(title) for key, title in found.items()}

    def rename(self, key: str, title: str) -> None:
        """Call a data set by another title on this server; its file stays as it is."""
        self._entry(key)
        words = " ".join(visible(title).split())
        if not words:
            msg = "The title of a data set must not be empty. Type a few words, such as its study."
            raise InvalidParameterError(msg, parameter="title")
        with self._lock:
            write_whole(self._titles, json.dumps(self.titles() | {key: words}, indent=1))

    def subject(self, key: str, id: str) -> Subject:
        """Return a graph of a data set by its id, or one that was uploaded to it."""
        dataset = self.dataset(key)
        if id not in dataset.ids and re.fullmatch(rf"{_UPLOADED}[0-9a-f]+", id):
            return self._extra(key, dataset, id)
        return find_subject(dataset, id)

    def extras(self, key: str) -> list[tuple[str, str]]:
        """Return ids and names of the graphs that were uploaded to a data set."""
        found = []
        for path in sorted(self.graphs.glob(f"{key}.{_UPLOADED}*.json")):
            with suppress(FileNotFoundError):  # just deleted
                data = read_json(path.read_bytes(), path.name)
                found.append((path.name.split(".")[-2], str(data["name"])))
        return found

    def _extra(self, key: str, dataset: Dataset, id: str) -> Subject:
        path = self.graphs / f"{key}.{id}.json"
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            raise UnknownNameError("graph", id, [x for x, _ in self.extras(key)]) from None
        data = read_json(content, path.name)
        try:
            graph = Graph.from_dict(data["graph"])
            return Subject(graph, str(data["name"]), dataset.nodes, dataset, dataset.name)
        except (KeyError, TypeError) as error:
            msg = f"{path.name}: not a graph of this server."
            raise FileFormatError(msg) from error

    # ---- classifiers ------------------------------------------------------------------------

    def classifiers(self, key: str) -> list[str]:
        """Keys of the classifiers available for a data set."""
        dataset = self.dataset(key)
        fit = [p for p in PRESETS.values() if p.features != "regions" or dataset.nodes.regions]
        order = ("regions-logistic", "edges-svm", "edges-logistic", "sf-knn")
        presets = sorted(
            (p.name for p in fit), key=lambda n: order.index(n) if n in order else len(order)
        )
        return [*self._own, *presets]

    def default_classifier(self, key: str) -> str:
        """Return the classifier used if a request names none: the user's own, else the default."""
        return next(iter(self._own), default_preset(self.dataset(key)))

    def classifier(
        self, key: str, name: str, *, waiting: Callable[[], None] | None = None
    ) -> Classifier:
        """Return a classifier by its key, trained on the data set if it is a preset.

        Each thread gets its own copy of a trained classifier, which caches answers. A classifier
        of the user is queried by one thread at a time.

        Parameters
        ----------
        key, name : of the data set, and of the classifier.
        waiting : called repeatedly while another thread trains it; may raise.
        """
        known = self.classifiers(key)
        if name not in known:
            raise UnknownNameError(
                "classifier", name, known, aliases=PRESET_WORDS, parameter="classifier"
            )
        dataset = self.dataset(key)
        words, lock = self._own.get(name, (name, None))
        oracle = self._opened.get(
            (key, name), lambda: open_oracle(words, dataset=dataset), waiting=waiting
        )
        if lock is not None:
            return Classifier(name, oracle, lock)
        return Classifier(name, replace(oracle) if isinstance(oracle, FittedOracle) else oracle)

    def words_of(self, name: str) -> str:
        """Return what `open_oracle` takes for a classifier."""
        return self._own[name][0] if name in self._own else name

    def is_preset(self, name: str) -> bool:
        """Whether a classifier is a preset, which can be evaluated by retraining."""
        return name not in self._own


def _key_of(name: str) -> str:
    """Return the key of a data set that was named at start.

    >>> _key_of("mice"), _key_of("mice:sex"), _key_of("lab/study.dfd")
    ('mice', 'mice-sex', 'study')
    """
    return _slug(Path(name).stem if name.endswith(".dfd") else name, {})


def _slug(text: str, taken: dict[str, Any]) -> str:
    base = re.sub(r"[^A-Za-z0-9._]+", "-", Path(text).name).strip("-.") or "own"
    key, n = base, 1
    while key in taken or key in PRESETS:
        n += 1
        key = f"{base}-{n}"
    return key


def _load(name: str | Path) -> Dataset:
    """A data set that the pages can show: they list its nodes and regions once for all graphs."""
    return load_dataset(name).check_shared_nodes("The app")
