"""Data sets by name. A new one is one loader and one line in `_ENTRIES`."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from denseflip.datasets.atlas import DATA, load_mouse_atlas
from denseflip.datasets.base import Dataset
from denseflip.datasets.brain import BRAINS, fetch_brain, is_local, load_brain
from denseflip.datasets.cache import Progress
from denseflip.datasets.cards import MICE
from denseflip.datasets.dataset_file import SUFFIX, read_dataset
from denseflip.datasets.synthetic import make_synthetic
from denseflip.errors import DatasetError, InvalidParameterError, UnknownNameError, shown
from denseflip.serialise import Serialisable

STRAINS = ("B6", "BTBR", "CAST", "DBA2")
SEXES = ("female", "male")
DEFAULT_TASK = "B6-BTBR"


def load_mice(task: str = DEFAULT_TASK, *, classes: Sequence[str] | None = None) -> Dataset:
    """Mouse connectomes: 332 regions, 5,495 edges each.

    Parameters
    ----------
    task : strains joined by ``-`` (default ``"B6-BTBR"``; the first is class 0), ``"strain"`` for
        all four, or ``"sex"``.
    classes : the strains as a sequence, instead of ``task``.

    Examples
    --------
    >>> load_mice()
    Dataset('mice', 16 graphs, 332 nodes, classes: B6 8, BTBR 8)
    >>> load_mice(classes=("CAST", "DBA2")).name
    'mice:CAST-DBA2'
    """
    if classes is not None:
        if task != DEFAULT_TASK:
            msg = f"Pass task or classes, not both; got task={task!r}, classes={classes!r}."
            raise InvalidParameterError(msg)
        task = "-".join([classes] if isinstance(classes, str) else classes)
    if not isinstance(task, str):
        raise UnknownNameError("task or strain of mice", shown(task), (*STRAINS, "strain", "sex"))
    everything = _all_mice()
    if task == "sex":
        sexes = everything.attributes["sex"]
        labels = tuple(SEXES.index(s) for s in sexes)
        return replace(everything, name="mice:sex", labels=labels, class_names=SEXES, attributes={})
    strains = STRAINS if task == "strain" else tuple(task.split("-"))
    known = {s.lower(): s for s in STRAINS}
    for strain in strains:
        if strain.lower() not in known:
            raise UnknownNameError(
                "task or strain of mice", strain, (*STRAINS, "strain", "sex", DEFAULT_TASK)
            )
    strains = tuple(known[s.lower()] for s in strains)
    if len(set(strains)) != len(strains) or len(strains) < 2:
        msg = f"A task needs two or more different strains of {', '.join(STRAINS)}; got {task!r}."
        raise InvalidParameterError(msg)
    task = task if task == "strain" else "-".join(strains)
    name = "mice" if task == DEFAULT_TASK else f"mice:{task}"
    position = {STRAINS.index(s): i for i, s in enumerate(strains)}
    chosen = np.concatenate([np.flatnonzero(everything.label_array() == x) for x in position])
    part = everything.subset(chosen)
    labels = tuple(position[x] for x in part.labels)
    return replace(part, name=name, labels=labels, class_names=strains, attributes={})


@cache
def _all_mice() -> Dataset:
    stored = read_dataset(DATA / "mice.dfd")
    return replace(stored, nodes=load_mouse_atlas(), card=MICE)


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
    return _Entry(
        summary,
        lambda: load_brain(name),
        (brain.n_graphs, brain.n_nodes),
        fetch=partial(fetch_brain, name),
        local=partial(is_local, name),
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
            if options:
                msg = f"{text} is a file and takes no options; got {', '.join(options)}."
                raise InvalidParameterError(msg)
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
