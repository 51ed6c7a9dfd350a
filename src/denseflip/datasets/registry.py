"""Data sets by name. A new one is one loader and one line in `_ENTRIES`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from denseflip.datasets.base import Dataset
from denseflip.datasets.brain import BRAINS, fetch_brain, is_local, load_brain
from denseflip.datasets.cache import Progress
from denseflip.datasets.dataset_file import SUFFIX, read_dataset
from denseflip.datasets.mice import load_mice
from denseflip.datasets.synthetic import make_synthetic
from denseflip.errors import DatasetError, InvalidParameterError, UnknownNameError
from denseflip.serialise import Serialisable


@dataclass(frozen=True)
class DatasetInfo(Serialisable, named="an entry of the list of data sets"):
    """One entry of `list_datasets`.

    Attributes
    ----------
    name : the name to load it by.
    summary : one-line description.
    origin : where it comes from: ``embedded``, ``generated``, ``local`` or ``download``.
    offline : whether it can currently be loaded without a network.
    n_graphs, n_nodes : sizes.
    variants : further forms of the name, such as ``mice:sex``.
    """

    name: str
    summary: str
    origin: str
    offline: bool
    n_graphs: int
    n_nodes: int
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Entry:
    summary: str
    load: Callable[..., Dataset]
    sizes: tuple[int, int]
    short: str = ""  # the option that a bare word after the colon sets
    variants: tuple[str, ...] = ()
    fetch: Callable[..., Dataset] | None = None
    local: Callable[[], bool] = field(default=lambda: True)
    origin: str = "embedded"


def _brain_entry(name: str, summary: str) -> _Entry:
    brain = BRAINS[name]

    def load() -> Dataset:
        return load_brain(name)

    def fetch(progress: Progress | None = None) -> Dataset:
        return fetch_brain(name, progress=progress)

    return _Entry(
        summary,
        load,
        (brain.n_graphs, brain.n_nodes),
        fetch=fetch,
        local=lambda: is_local(name),
        origin="download",
    )


_ENTRIES: dict[str, _Entry] = {
    "mice": _Entry(
        "mouse connectomes (diffusion MRI): strain B6 or BTBR, which lacks a corpus callosum",
        load_mice,
        (16, 332),
        short="task",
        variants=("mice:strain", "mice:sex", "mice:CAST-DBA2"),
    ),
    "synthetic": _Entry(
        "synthetic cohort over AAL-116 with one planted pair of regions: a known answer",
        make_synthetic,
        (60, 116),
        short="effect",
        variants=("synthetic:hypo", "synthetic:strength=0.5,seed=3"),
        origin="generated",
    ),
    "aut": _brain_entry("aut", "children: Autism Spectrum Disorder or typically developed"),
    "bip": _brain_entry("bip", "bipolar or typically developed"),
    "adhd": _brain_entry("adhd", "adults: ADHD in childhood or typically developed"),
    "adhdm": _brain_entry("adhdm", "the same adults: marijuana used or not"),
    "ohsu": _brain_entry("ohsu", "ADHD or control, 190 unnamed regions, sparse"),
    "pek": _brain_entry("pek", "hyperactive-impulsive or control, 190 unnamed regions, sparse"),
    "kki": _brain_entry("kki", "female or male, 190 unnamed regions, very sparse"),
}
#: Synonyms of data sets: not accepted as names, but used for suggestions.
DATASET_WORDS = {
    "mouse": "mice",
    "simulated": "synthetic",
    "artificial": "synthetic",
    "planted": "synthetic",
    "autism": "aut",
    "abide": "aut",
    "bipolar": "bip",
    "marijuana": "adhdm",
    "cannabis": "adhdm",
    "peking": "pek",
    "beijing": "pek",
}


def list_datasets() -> list[DatasetInfo]:
    """All named data sets; uses no network.

    >>> [info.name for info in list_datasets()][:2]
    ['mice', 'synthetic']
    """
    found = []
    for name, entry in _ENTRIES.items():
        here = entry.local()
        origin = "local" if here and entry.origin == "download" else entry.origin
        n_graphs, n_nodes = entry.sizes
        found.append(
            DatasetInfo(name, entry.summary, origin, here, n_graphs, n_nodes, entry.variants)
        )
    return found


def load_dataset(name: str | Path, **options: Any) -> Dataset:
    """Load a data set by name, or from a file written by `Dataset.save`.

    Parameters
    ----------
    name : a name from `list_datasets`, optionally with options after a colon (``"mice:sex"``,
        ``"synthetic:hypo,strength=2"``), or the path of a data set file.
    options : options of the data set's loader: ``task`` or ``classes`` for mice; see
        `make_synthetic` for synthetic.

    Raises
    ------
    UnknownNameError
        If the name or an option does not exist.
    DatasetError
        If the data set cannot be downloaded; the message explains how to do it manually.

    Examples
    --------
    >>> load_dataset("mice").class_counts()
    {'B6': 8, 'BTBR': 8}
    """
    text = str(name)
    base, _, rest = text.partition(":")
    if base not in _ENTRIES:
        path = Path(text).expanduser()
        if path.is_file():
            _no_options(options, text)
            return read_dataset(path)
        if path.suffix == SUFFIX or len(path.parts) > 1:
            msg = f"{path}: there is no such file. `denseflip data list` shows the known names."
            raise DatasetError(msg)
        raise UnknownNameError("data set", base, _ENTRIES, aliases=DATASET_WORDS)
    entry = _ENTRIES[base]
    options = {**_parse(rest, entry, base), **options}
    known = list(inspect.signature(entry.load).parameters)
    for option in options:
        if option not in known:
            raise UnknownNameError(f"option of the data set {base!r}", option, known)
    return entry.load(**options)


def fetch_dataset(name: str, *, progress: Progress | None = None) -> Dataset:
    """Download a data set if necessary, and return it.

    Parameters
    ----------
    name : a name from `list_datasets`. Embedded and generated ones need no download.
    progress : creates a progress bar for a file name (an object like tqdm's); silent by default.
    """
    check_name(name)
    entry = _ENTRIES[name]
    return entry.fetch(progress=progress) if entry.fetch else entry.load()


def check_name(name: str) -> None:
    """Raise if there is no data set of this name."""
    if name not in _ENTRIES:
        raise UnknownNameError("data set", name, _ENTRIES, aliases=DATASET_WORDS)


def _parse(text: str, entry: _Entry, name: str) -> dict[str, Any]:
    """The options written after the colon of a name."""
    options: dict[str, Any] = {}
    for part in filter(None, (x.strip() for x in text.split(","))):
        key, equals, value = part.partition("=")
        if not equals:
            key, value = entry.short, part
            if not key:
                msg = f"The data set {name!r} has no variants; got {name}:{text}."
                raise InvalidParameterError(msg)
        try:
            options[key.strip()] = json.loads(value)
        except ValueError:
            options[key.strip()] = value.strip()
    return options


def _no_options(options: dict[str, Any], path: str) -> None:
    if options:
        msg = f"{path} is a file and takes no options; got {', '.join(options)}."
        raise InvalidParameterError(msg)
