"""Find what to explain: the graph, its data set and the target class."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from denseflip.counterfactual import Label, Target
from denseflip.datasets import (
    Dataset,
    Keep,
    fetch_dataset,
    list_datasets,
    load_dataset,
    read_graph,
)
from denseflip.datasets.atlas import read_nodes
from denseflip.datasets.dataset_file import SUFFIX
from denseflip.datasets.registry import DATASET_WORDS
from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError, nearest
from denseflip.graph import Graph, Nodes
from denseflip.oracles.protocol import Oracle
from denseflip.oracles.session import Session
from denseflip.reading import Reading
from denseflip.search.core.target import class_names_of

Fetch = Callable[[str], Dataset]

_NUMBER = re.compile(r"[0-9]+")
_LISTED = 3  # ids named in a message


@dataclass(frozen=True)
class Subject:
    """A graph to explain, with its nodes and data set.

    Attributes
    ----------
    graph : the graph.
    name : its id, or the name of its file.
    nodes : names and regions of its nodes, if they are known.
    dataset : the data set that it belongs to, if there is one.
    source : name of the data set, or of the file.
    notes : sentences about how its file was read.
    """

    graph: Graph
    name: str
    nodes: Nodes | None = None
    dataset: Dataset | None = None
    source: str = ""
    notes: tuple[str, ...] = ()

    @property
    def background(self) -> Dataset | None:
        """The data set, if there is one: its graphs with their true labels."""
        return self.dataset

    @property
    def class_names(self) -> dict[Label, str] | None:
        """Label → class name, if there is a data set."""
        return None if self.dataset is None else dict(enumerate(self.dataset.class_names))

    @property
    def true_class(self) -> str | None:
        """The name of the true class of the graph in the data set.

        None if unknown, for a graph that is not part of the data set, such as one from a file.

        >>> find_subject("mice", 0).true_class
        'B6'
        """
        data = self.dataset
        if data is None:
            return None
        if self.name in data.ids and data[self.name].graph is self.graph:
            return data.class_names[data[self.name].label]
        found = {x for g, x in zip(data.graphs, data.labels, strict=True) if g is self.graph}
        return data.class_names[found.pop()] if len(found) == 1 else None

    def names_for(self, oracle: Any) -> dict[Label, str] | None:
        """Map the labels of an oracle to class names.

        They are those of the data set, unless the oracle has the same names for other labels, or
        names that the data set does not have.
        """
        names = self.class_names or {}
        own = class_names_of(oracle)
        known = set(names.values())
        otherwise = any(own.get(label, name) in known - {name} for label, name in names.items())
        foreign = bool(own and known) and not known & set(own.values())
        return own if otherwise or foreign else self.class_names

    def label_of(self, words: str | Sequence[str] | None, oracle: Oracle | None = None) -> Target:
        """Return the label of a target: a class name of the data set, else a number or a word.

        Several targets give a tuple of labels. A custom classifier without ``classes`` is queried
        about the graph: if its answer is a word, class names are its labels. It may give labels
        that the data set does not have, so any word is accepted for it.
        """
        if words is None or isinstance(words, str):
            return None if words is None else self._one_label(words, oracle)
        labels = tuple(dict.fromkeys(self._one_label(word, oracle) for word in words))
        return labels if len(labels) > 1 else next(iter(labels), None)

    def _one_label(self, words: str, oracle: Oracle | None) -> Label:
        names = (self.class_names if oracle is None else self.names_for(oracle)) or {}
        classes = (() if oracle is None else getattr(oracle, "classes", None)) or ()
        for label, name in names.items():
            if words.lower() == name.lower():
                return name if oracle is not None and self._speaks_names(oracle) else label
        value: Label = parse_value(words)
        given = class_names_of(oracle) if oracle is not None else {}
        own = oracle is not None and (value in classes or words in classes or not classes)
        named = any(words.lower() == name.lower() for name in given.values())
        if names and value not in names and not own and not named:
            known = [*names.values(), *map(str, names)]
            raise UnknownNameError("target class", words, known, parameter="target")
        return words if words in classes or (named and value not in classes) else value

    def _speaks_names(self, oracle: Oracle) -> bool:
        """Whether an oracle answers with class names instead of numbers."""
        classes = getattr(oracle, "classes", None)
        if classes is None:
            classes = [Session(oracle).peek(self.graph).label]
        return all(isinstance(label, str) for label in classes)


def open_dataset(name: str | Path, *, fetch: Fetch = fetch_dataset) -> Dataset:
    """Load a data set by name or from a file; fetch it if it is not on this machine.

    Parameters
    ----------
    name : as in `load_dataset`.
    fetch : downloads a data set; may show a progress bar.
    """
    missing = {info.name for info in list_datasets() if not info.offline}
    return fetch(str(name)) if str(name) in missing else load_dataset(name)


def find_subject(
    source: str | Path | Dataset,
    graph_id: str | int | None = None,
    *,
    nodes: str | Path | Nodes | None = None,
    background: str | Path | Dataset | None = None,
    keep: Keep | None = None,
    reading: Reading | None = None,
    fetch: Fetch = fetch_dataset,
) -> Subject:
    """Find a graph of a data set by its id, or read a graph file.

    Parameters
    ----------
    source : a data set (object, name or file) if an id is given, else a graph file.
    graph_id : the id of a graph of that data set, or its position, counted from 0. A number as
        text may also be the number in an id; if the two differ, it is refused (`position_of`).
    nodes : a node table, a file with one, or the name of an atlas; by default that of the data set.
    background : for a graph file, the data set that it belongs to.
    keep : for a weighted matrix, which pairs become edges.
    reading : how the file is read if it can be read in several ways.
    fetch : as in `open_dataset`.

    Examples
    --------
    >>> find_subject("mice", 0).name
    'sub-54790'
    """
    table = read_nodes(nodes)[0] if isinstance(nodes, (str, Path)) else nodes
    if graph_id is not None:
        whole = source if isinstance(source, Dataset) else open_dataset(source, fetch=fetch)
        example = whole[position_of(whole, graph_id)]
        return Subject(
            example.graph, example.id, table or whole.nodes_of(example.graph), whole, whole.name
        )
    path = _graph_file(source)
    dataset = background
    if dataset is not None and not isinstance(dataset, Dataset):
        dataset = open_dataset(dataset, fetch=fetch)
    table = table or (None if dataset is None else dataset.nodes)
    # A data set may lack nodes that some of its files had no data for (its report lists them).
    lacks = table is not None and dataset is not None and table is dataset.nodes
    notes: list[str] = []
    graph = read_graph(
        path,
        nodes=table,
        keep=keep,
        subset=lacks,
        on_note=notes.append,
        **asdict(reading or Reading()),
    )
    return Subject(graph, path.stem, table, dataset, path.name, tuple(notes))


def position_of(dataset: Dataset, graph_id: str | int) -> int:
    """Return the position of a graph, given by its id, the number in its id, or its position.

    Parameters
    ----------
    dataset : the data set.
    graph_id : text is an id; if no graph has it, a number in one (``"2"`` for ``sub-02``) or a
        position, counted from 0 (as in the paper). An ``int`` is always a position.

    Raises
    ------
    InvalidParameterError
        If a number as text means one graph by its id and another one by its position.
    UnknownNameError
        If there is no such graph.

    Examples
    --------
    >>> from denseflip.datasets import load_dataset
    >>> mice = load_dataset("mice")
    >>> position_of(mice, 1), position_of(mice, "1"), position_of(mice, mice.ids[1])
    (1, 1, 1)
    """
    text = str(graph_id)
    typed = isinstance(graph_id, str)
    if (typed and text in dataset.ids) or not (text.isascii() and text.isdecimal()):
        return dataset.index_of(text)
    number = int(text)
    at = [number] if number < len(dataset) else []
    if not typed:
        return number if at else dataset.index_of(text)
    named = [i for i, x in enumerate(dataset.ids) if number in map(int, _NUMBER.findall(x))]
    if len(named) == len(dataset):  # such as a session: it distinguishes no graph
        named = []
    if len({*named, *at}) == 1:
        return [*named, *at][0]
    if not named:
        return dataset.index_of(text)
    ids = [dataset.ids[i] for i in named]
    listed = f"{', '.join(ids[:_LISTED])}{' …' if len(ids) > _LISTED else ''}"
    means = [f"by the number in the id it is {listed}"]
    means += [f"by position, counted from 0, it is {dataset.ids[i]}" for i in at]
    msg = f"The graph {text!r} of data set {dataset.name!r} is ambiguous: {', and '.join(means)}. "
    msg += f"Give the id: {' or '.join(dict.fromkeys([*ids[:1], *(dataset.ids[i] for i in at)]))}."
    raise InvalidParameterError(msg, parameter="graph_id")


def choose_ids(
    dataset: Dataset, ids: Sequence[str] = (), *, every: bool = False, classes: Sequence[str] = ()
) -> list[str]:
    """Choose graphs: by id, all of them, or those of some classes.

    Parameters
    ----------
    dataset : the data set.
    ids : ids or numbers.
    every : all graphs.
    classes : names of classes of the data set, or their numbers.

    Raises
    ------
    InvalidParameterError
        If not exactly one of the three is given, or a class has no graph.
    UnknownNameError
        If there is no such class.
    """
    asked = [
        word for word, given in (("ids", ids), ("every", every), ("classes", classes)) if given
    ]
    if len(asked) != 1:
        got = " and ".join(asked) or "none of them"
        msg = (
            "Choose graphs in exactly one way: by id (ids), all (every=True), or by class "
            f"(classes). Got {got}."
        )
        raise InvalidParameterError(msg, parameter=("ids", "every", "classes"))
    if ids:
        return list(ids)
    if every:
        return list(dataset.ids)
    names = {name.lower(): label for label, name in enumerate(dataset.class_names)}
    labels = set()
    for word in classes:
        number = int(word) if word.isdecimal() and int(word) < dataset.n_classes else None
        label = names.get(word.lower(), number)
        if label is None:
            known = dataset.class_names
            where = f"in data set {dataset.name!r}"
            raise UnknownNameError("class", word, known, where, parameter="classes")
        labels.add(label)
    chosen = [example.id for example in dataset if example.label in labels]
    if not chosen:
        msg = f"Data set {dataset.name!r} has no graph of {', '.join(classes)}."
        raise InvalidParameterError(msg, parameter="classes")
    return chosen


def _graph_file(source: str | Path | Dataset) -> Path:
    """Return the path of a graph file; raise an error with advice if there is none."""
    path = None if isinstance(source, Dataset) else Path(source)
    if path is not None and path.is_file() and path.suffix.lower() != SUFFIX:
        return path
    name = source.name if isinstance(source, Dataset) else str(source)
    names = [info.name for info in list_datasets()]
    if path is None or path.is_file() or name in names:
        msg = f"{name!r} is a data set. Choose one of its graphs, by id or by number (graph_id)."
        raise MissingInputError(msg, parameter="graph_id")
    near = nearest(name, names, aliases=DATASET_WORDS)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    msg = f"No graph file and no data set is named {name!r}.{hint} Data sets: "
    raise MissingInputError(f"{msg}{', '.join(names)}.")


# ---- parsing values --------------------------------------------------------------------


def parse_settings(settings: Iterable[str]) -> dict[str, Any]:
    """``["max_iterations=50", "strength=full"]`` → a dictionary with plain values.

    >>> parse_settings(["max_iterations=50", "reverse=true", "strength=full"])
    {'max_iterations': 50, 'reverse': True, 'strength': 'full'}
    """
    out: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or not key:
            msg = f"A setting must be key=value, for example max_iterations=50; got {text!r}."
            raise InvalidParameterError(msg, parameter="parameters")
        out[key.strip().replace("-", "_")] = parse_value(value.strip())
    return out


def parse_value(text: str) -> Any:
    """Convert a word to None, a boolean or a number, or leave it."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
