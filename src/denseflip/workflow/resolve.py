"""Turn words of the command line into oracles, methods, nodes and graphs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from denseflip.errors import InvalidParameterError, MissingInputError, UnknownNameError

if TYPE_CHECKING:
    from denseflip.datasets.base import Dataset
    from denseflip.datasets.connectome import Keep
    from denseflip.graph import Graph, Nodes
    from denseflip.oracles.protocol import Oracle
    from denseflip.search.methods import Method

PUBLISHED = "published"  # the classifier that the paper's printed numbers show was run (D11)


@dataclass
class Subject:
    """What is to be explained, and what is known around it."""

    graph: Graph
    name: str
    nodes: Nodes | None = None
    dataset: Dataset | None = None
    source: str = ""

    @property
    def background(self) -> Any:
        """The data set's graphs, if there is a data set."""
        return None if self.dataset is None else self.dataset.graphs

    @property
    def class_names(self) -> dict[Any, str] | None:
        """Label → class name, if there is a data set."""
        return None if self.dataset is None else dict(enumerate(self.dataset.class_names))


def find_subject(
    source: str,
    graph_id: str | None,
    *,
    nodes: Path | None = None,
    background: str | None = None,
    keep: Keep | None = None,
) -> Subject:
    """The graph of a data set by its id, or the graph of a file.

    Parameters
    ----------
    source : a data set (a name, or a file of `denseflip data import`) if an id is given, else a
        graph file.
    graph_id : the id of a graph of that data set, or its number, counted from 0.
    nodes : a node table (CSV) to use.
    background : for a graph file, the data set it belongs to.
    keep : for a weighted matrix, which pairs become edges.
    """
    from denseflip.cli.data import open_dataset
    from denseflip.graph import Nodes

    table = None if nodes is None else Nodes.read_csv(nodes)
    if graph_id is not None:
        whole = open_dataset(source)
        example = whole[_position(whole, graph_id)]
        return Subject(example.graph, example.id, table or whole.nodes, whole, whole.name)
    if not Path(source).is_file():
        raise _not_a_file(source)
    from denseflip.datasets.importers import read_graph
    from denseflip.datasets.store import SUFFIX

    if Path(source).suffix.lower() == SUFFIX:
        raise _which_graph(source)
    dataset = None if background is None else open_dataset(background)
    table = table or (None if dataset is None else dataset.nodes)
    graph = read_graph(source, nodes=table, keep=keep)
    return Subject(graph, Path(source).stem, table, dataset, Path(source).name)


def _position(dataset: Dataset, graph_id: str) -> int:
    """Where a graph stands: by its id, else by its number counted from 0 (the paper's way)."""
    if graph_id not in dataset.ids and graph_id.isdecimal() and int(graph_id) < len(dataset):
        return int(graph_id)
    return dataset.index_of(graph_id)


def _not_a_file(source: str) -> MissingInputError:
    from denseflip.datasets.registry import list_datasets

    names = [info.name for info in list_datasets()]
    if source in names:
        return _which_graph(source)
    msg = f"There is no graph file {source!r}, and no data set of that name ({', '.join(names)})."
    return MissingInputError(msg)


def _which_graph(source: str) -> MissingInputError:
    msg = (
        f"{source!r} is a data set: say which of its graphs, for example "
        f"`denseflip explain {source} ID`. `denseflip data show {source} --ids` lists the ids."
    )
    return MissingInputError(msg)


def find_keep(percentile: float | None, threshold: float | None, edges: int | None) -> Keep | None:
    """The rule that makes edges of a weighted matrix, if one was given."""
    from denseflip.datasets.connectome import Keep

    if percentile is None and threshold is None and edges is None:
        return None
    return Keep(percentile, threshold, edges)


def find_oracle(text: str | None, subject: Subject, *, input: str = "adjacency") -> Oracle:
    """An oracle from words: ``module:function``, a file of `denseflip train`, or a preset.

    A preset, or ``published`` (the paper's own classifier), is trained on the subject's data set.
    """
    from denseflip.classifiers.presets import DEFAULT_PRESET, PRESETS, fit_oracle

    if text is None:
        if subject.dataset is None:
            msg = (
                "Say which classifier to explain: --oracle module:function, or --oracle FILE "
                "written by `denseflip train`."
            )
            raise MissingInputError(msg)
        text = DEFAULT_PRESET
    if text in PRESETS or text == PUBLISHED:
        if subject.dataset is None:
            msg = f"The preset {text!r} must be trained on a data set: add --background DATASET."
            raise MissingInputError(msg)
        if text == PUBLISHED:
            from denseflip.paper.classifier import published_oracle

            return published_oracle(subject.dataset)
        return fit_oracle(subject.dataset, preset=text)
    if Path(text).is_file():
        from denseflip.classifiers.persist import load_oracle

        return load_oracle(text)
    if ":" in text:
        from denseflip.oracles.adapt import import_oracle

        return import_oracle(text, input)
    raise UnknownNameError("oracle (no file, no module:function, no preset)", text, PRESETS)


def find_method(name: str, settings: list[str]) -> Method:
    """A method from its name and ``key=value`` settings."""
    from denseflip.search.methods import make_method

    return make_method(name, **parse_settings(settings))


def parse_settings(settings: list[str]) -> dict[str, Any]:
    """``["max_iterations=50", "strength=full"]`` → a dictionary with plain values.

    >>> parse_settings(["max_iterations=50", "reverse=true", "strength=full"])
    {'max_iterations': 50, 'reverse': True, 'strength': 'full'}
    """
    out: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals or not key:
            msg = f"--set takes key=value, for example max_iterations=50; got {text!r}."
            raise InvalidParameterError(msg)
        out[key.strip().replace("-", "_")] = parse_value(value.strip())
    return out


def parse_value(text: str) -> Any:
    """A word as none, true, false, a number, or itself."""
    words = {"none": None, "true": True, "false": False}
    if text.lower() in words:
        return words[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def parse_target(text: str | None, subject: Subject) -> Any:
    """A target label: a class name of the data set, else a number or a word."""
    if text is None:
        return None
    names = subject.class_names or {}
    for label, name in names.items():
        if text.lower() == name.lower():
            return label
    value = parse_value(text)
    if names and value not in names:
        raise UnknownNameError("target class", text, [*names.values(), *map(str, names)])
    return value
