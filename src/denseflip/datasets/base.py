"""`Dataset`: labelled graphs over one node set, or with types of their own, and one card.

The neighbouring modules load and import data sets; the file format is in `dataset_file`.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from denseflip.checks import text_of, visible, visible_tree
from denseflip.datasets.subjects import Column, check_subjects
from denseflip.errors import (
    DatasetError,
    DenseflipError,
    InvalidParameterError,
    UnknownNameError,
    counted,
    nearest,
    shown,
)
from denseflip.graph import Graph, Nodes
from denseflip.graph.inputs import settle_names
from denseflip.graph.nodes import TYPE
from denseflip.notebook import html_table
from denseflip.serialise import Serialisable, Text


@dataclass(frozen=True)
class Card(Serialisable, named="the card of a data set", partial=True):
    """Source, licence, citation, sizes and caveats of a data set."""

    source: Text = ""
    licence: Text = ""
    citation: Text = ""
    description: Text = ""
    sizes: Text = ""
    caveats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        caveats = (self.caveats,) if isinstance(self.caveats, str) else self.caveats
        try:
            object.__setattr__(self, "caveats", tuple(text_of(x) for x in caveats))
        except TypeError as error:
            msg = f"The caveats of a card must be a list of sentences; got {shown(caveats)}."
            raise DatasetError(msg) from error
        for part in ("source", "licence", "citation", "description", "sizes"):
            text = getattr(self, part)
            if not isinstance(text, str):
                msg = f"The {part} of a card must be a text; got {shown(text)}."
                raise DatasetError(msg)
            object.__setattr__(self, part, visible(text, lines=True))


@dataclass(frozen=True)
class Example:
    """One graph of a data set, with its id and label."""

    id: str
    graph: Graph
    label: int


@dataclass(frozen=True)
class DatasetSummary(Serialisable, named="the summary of a data set"):
    """The main figures of a data set.

    Attributes
    ----------
    name, n_graphs, n_nodes : name and size of the data set.
    graphs_per_class : class name → number of graphs.
    edges_mean, edges_min, edges_max : edges per graph.
    density : mean edges over possible edges.
    degree_mean, degree_sd, degree_min, degree_max : over all nodes of all graphs.
    isolated_mean : nodes without an edge, per graph.
    taxonomies : taxonomy name → number of regions; the first is the default.
    """

    name: str
    n_graphs: int
    n_nodes: int
    graphs_per_class: dict[str, int]
    edges_mean: float
    edges_min: int
    edges_max: int
    density: float
    degree_mean: float
    degree_sd: float
    degree_min: int
    degree_max: int
    isolated_mean: float
    taxonomies: dict[str, int]


@dataclass(frozen=True)
class Dataset:
    """Labelled graphs that share their nodes, or the types of their nodes. Immutable.

    Where nodes have no identity, as in molecules, graphs may have different sizes: each carries the
    types of its own nodes (`Graph.types`), and `nodes_of` gives its node table.

    Iterating gives an `Example` (id, graph, label) per graph. ``dataset[i]`` and
    ``dataset["id"]`` give one `Example`; a slice, a list of indices or a boolean mask gives a
    smaller `Dataset` with the same classes and nodes.

    Attributes
    ----------
    name : a short name.
    graphs : the graphs, all over the same nodes, or all with types (`is_typed`).
    labels : for each graph the position of its class in ``class_names``.
    class_names : the names of the classes.
    nodes : names, regions and coordinates of the nodes; by default the node names of the graphs,
        else numbers. Graphs with names are reordered to match it, by name.
    ids : one id per graph, all different.
    card : source, licence, citation, sizes and caveats.
    attributes : further facts, JSON-ready; a synthetic data set stores its planted regions here.
    subjects : the subject table: column (age, site …) → one number or text per graph, None for a
        missing value.
    weights : the matrices that the graphs were thresholded from, if kept: one row per graph, the
        upper triangle row by row. Read-only; ignored in comparisons.

    Examples
    --------
    >>> triangle = Graph.from_edges(3, [(0, 1), (1, 2), (0, 2)])
    >>> empty = Graph.from_edges(3, [])
    >>> data = Dataset("toy", (triangle, empty), (0, 1), ("full", "empty"))
    >>> data
    Dataset('toy', 2 graphs, 3 nodes, classes: full 1, empty 1)
    >>> data["g0001"].label
    1
    >>> [example.graph.n_edges for example in data]
    [3, 0]
    """

    name: str
    graphs: tuple[Graph, ...]
    labels: tuple[int, ...]
    class_names: tuple[str, ...]
    nodes: Nodes = field(default_factory=lambda: Nodes(()))
    ids: tuple[str, ...] = ()
    card: Card = field(default_factory=Card)
    attributes: Mapping[str, Any] = field(default_factory=dict)
    subjects: Mapping[str, Column] = field(default_factory=dict)
    weights: npt.NDArray[np.floating[Any]] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "name", text_of(self.name))
        put(self, "graphs", self._listed("graphs", self.graphs))
        put(self, "labels", tuple(map(self._label, self._listed("labels", self.labels))))
        names = self._listed("class_names", self.class_names)
        put(self, "class_names", tuple(text_of(x) for x in names))
        odd = [g for g in self.graphs if not isinstance(g, Graph)]
        if odd:
            msg = (
                f"Data set {self.name!r}: graphs must be Graphs; got {shown(odd[0])}. Convert "
                "arrays, networkx graphs and PyG Data objects first, with "
                "denseflip.graph.as_graph: [as_graph(g) for g in graphs]. Node features (x) are "
                "given to the classifier."
            )
            raise DatasetError(msg)
        if not self.graphs:
            msg = f"Data set {self.name!r} has no graphs; pass at least one."
            raise DatasetError(msg)
        try:
            nodes = self.nodes
            graphs = self.graphs
            if not self.is_typed:
                graphs, nodes = settle_names(self.graphs, self.nodes)
        except DenseflipError as error:
            msg = f"Data set {self.name!r}: {error}"
            raise DatasetError(msg) from error
        put(self, "graphs", graphs)
        put(self, "nodes", nodes)
        if not self.nodes.names and not self.is_typed:
            put(self, "nodes", Nodes.numbered(self.graphs[0].n_nodes))
        width = max(4, len(str(len(self.graphs) - 1)))
        ids = self._listed("ids", self.ids)
        ids = ids or tuple(f"g{i:0{width}d}" for i in range(len(self.graphs)))
        put(self, "ids", tuple(text_of(x) for x in ids))
        if not isinstance(self.attributes, Mapping):
            got = shown(self.attributes)
            msg = f"Data set {self.name!r}: attributes must be a mapping; got {got}."
            raise DatasetError(msg)
        put(self, "attributes", visible_tree(dict(self.attributes)))
        put(self, "subjects", check_subjects(self.subjects, len(self.graphs), self.name))
        if self.weights is not None:
            put(self, "weights", self._checked_weights(self.weights))
        problems = self._problems()
        if problems:
            msg = f"Data set {self.name!r} is inconsistent: " + " ".join(problems)
            raise DatasetError(msg)

    def _listed(self, what: str, values: Any) -> tuple[Any, ...]:
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            msg = f"Data set {self.name!r}: {what} must be a list; got {shown(values)}."
            raise DatasetError(msg)
        return tuple(values)

    def _label(self, value: Any) -> int:
        try:
            return operator.index(value)
        except TypeError:
            if isinstance(value, (float, np.floating)) and float(value).is_integer():
                return int(value)
            msg = (
                f"Data set {self.name!r}: a label must be the position of a class in class_names, "
                f"a whole number; got {shown(value)}."
            )
            raise DatasetError(msg) from None

    def _checked_weights(self, weights: Any) -> npt.NDArray[np.floating[Any]]:
        """The weights as a read-only array of one row of finite numbers per graph."""
        shape = (len(self.graphs), self.graphs[0].n_pairs)
        try:
            array = np.array(weights, dtype=None if hasattr(weights, "dtype") else np.float64)
        except (TypeError, ValueError) as error:
            msg = f"Data set {self.name!r}: weights must be numbers; got {shown(weights)}."
            raise DatasetError(msg) from error
        if array.dtype.kind != "f" or array.shape != shape or not np.isfinite(array).all():
            msg = (
                f"Data set {self.name!r}: weights must be finite numbers of shape {shape}, one row "
                "per graph and one column per pair of nodes (the upper triangle, row by row); got "
                f"{array.dtype} of shape {array.shape}."
            )
            raise DatasetError(msg)
        array.flags.writeable = False
        return array

    def _problems(self) -> list[str]:
        """All inconsistencies, as sentences."""
        n, k, found = len(self.graphs), len(self.class_names), []
        if len(self.labels) != n:
            found.append(f"{n} graphs but {len(self.labels)} labels.")
        if len(self.ids) != n:
            found.append(f"{n} graphs but {len(self.ids)} ids.")
        if len(set(self.ids)) != len(self.ids):
            twice = sorted({x for x in self.ids if self.ids.count(x) > 1})
            found.append(f"ids must be unique; duplicates: {', '.join(twice[:5])}.")
        bad = sorted({x for x in self.labels if not 0 <= x < k})
        if bad:
            found.append(f"labels must be 0..{k - 1} (one per class name); got {shown(bad[:5])}.")
        if len(set(self.class_names)) != k:
            found.append(f"class names must be unique; got {list(self.class_names)}.")
        if self.is_typed:
            return found + self._typed_problems()
        if any(g.types is not None for g in self.graphs):
            found.append("some graphs have node types, but graph 0 has none.")
        size = self.nodes.n_nodes
        odd = [i for i, g in enumerate(self.graphs) if g.n_nodes != size]
        if odd:
            first = odd[0]
            found.append(
                f"the node table describes {size} nodes, but graph {first} has "
                f"{self.graphs[first].n_nodes} ({counted(len(odd), 'such graph', 'such graphs')})."
            )
        return found

    def _typed_problems(self) -> list[str]:
        found = []
        types = [g.types for g in self.graphs]
        without = [i for i, one in enumerate(types) if one is None]
        if without:
            found.append(f"some graphs have node types, but graph {without[0]} has none.")
        if len({one.names for one in types if one is not None}) > 1:
            found.append("all graphs must have the same list of node types.")
        if self.nodes.names:
            found.append("graphs with node types have node tables of their own; leave nodes out.")
        return found

    # ---- size and content ---------------------------------------------------------------

    @property
    def is_typed(self) -> bool:
        """Whether the graphs carry the types of their own nodes and may differ in size."""
        return self.graphs[0].types is not None

    @property
    def node_types(self) -> tuple[str, ...]:
        """The types of nodes; empty if the graphs share their nodes."""
        types = self.graphs[0].types
        return () if types is None else types.names

    def check_shared_nodes(self, what: str) -> Dataset:
        """Return the data set, or raise if its graphs share only the types of their nodes.

        Parameters
        ----------
        what : what needs graphs over the same nodes, as the subject of a sentence.
        """
        if self.is_typed:
            msg = (
                f"{what} needs graphs over the same nodes, but the nodes of {self.name!r} have "
                "types and no identity. Explain its graphs instead, one or many: denseflip explain "
                "DATA ID ID (in Python explain, explain_many)."
            )
            raise DatasetError(msg)
        return self

    def nodes_of(self, graph: Graph) -> Nodes:
        """The node table of one of the graphs: its own if it has types, else the shared one."""
        return self.nodes if graph.types is None else graph.types.nodes

    @property
    def n_nodes(self) -> int:
        """Number of nodes of every graph; of the largest one if they differ."""
        return max(g.n_nodes for g in self.graphs) if self.is_typed else self.nodes.n_nodes

    @property
    def sizes(self) -> str:
        """Number of nodes in words: ``"116"``, or ``"10–28"`` if the graphs differ."""
        least = min(g.n_nodes for g in self.graphs)
        return f"{least:,}–{self.n_nodes:,}" if least < self.n_nodes else f"{self.n_nodes:,}"

    @property
    def n_classes(self) -> int:
        """Number of classes, including those without a graph."""
        return len(self.class_names)

    def label_array(self) -> npt.NDArray[np.int64]:
        """The labels as an array."""
        return np.asarray(self.labels, dtype=np.int64)

    def class_counts(self) -> dict[str, int]:
        """Graphs per class name."""
        counts = np.bincount(self.label_array(), minlength=self.n_classes).tolist()
        return dict(zip(self.class_names, counts, strict=True))

    def index_of(self, id: str) -> int:
        """Position of the graph with this id.

        Raises
        ------
        UnknownNameError
            If there is none; the message shows the most similar ids.
        """
        try:
            return self.ids.index(id)
        except ValueError:
            near = nearest(str(id), self.ids, n=5) or list(self.ids[:5])
            more = [f"… ({len(self.ids)} in all)"] if len(near) < len(self.ids) else []
            where = f"in data set {self.name!r}"
            raise UnknownNameError("graph id", str(id), near + more, where) from None

    def __len__(self) -> int:
        return len(self.graphs)

    def __iter__(self) -> Iterator[Example]:
        return map(Example, self.ids, self.graphs, self.labels)

    @overload
    def __getitem__(self, key: int | str | np.integer[Any]) -> Example: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | npt.NDArray[Any]) -> Dataset: ...
    def __getitem__(self, key: Any) -> Example | Dataset:
        if isinstance(key, str):
            key = self.index_of(key)
        if isinstance(key, slice):
            return self.subset(range(*key.indices(len(self))))
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
            i = int(key)
            if not -len(self) <= i < len(self):
                msg = f"Data set {self.name!r} has graphs 0..{len(self) - 1}; got {i}."
                raise IndexError(msg)
            return Example(self.ids[i], self.graphs[i], self.labels[i])
        return self.subset(key)

    # ---- parts --------------------------------------------------------------------------

    def subset(self, indices: Iterable[int] | npt.NDArray[Any]) -> Dataset:
        """The data set of these graphs, in this order; a boolean mask works too."""
        array = np.asarray(indices if isinstance(indices, np.ndarray) else list(indices))
        if array.dtype == bool:
            if array.shape != (len(self),):
                msg = f"A mask must have one entry per graph ({len(self)}); got {array.shape}."
                raise InvalidParameterError(msg)
            array = np.flatnonzero(array)
        if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
            msg = f"Choose graphs by whole numbers or a boolean mask; got {indices!r:.60}."
            raise InvalidParameterError(msg)
        chosen = [int(i) for i in array]
        bad = [i for i in chosen if not -len(self) <= i < len(self)]
        if bad:
            msg = f"Data set {self.name!r} has graphs 0..{len(self) - 1}; got {bad[:5]}."
            raise InvalidParameterError(msg)
        return replace(
            self,
            graphs=tuple(self.graphs[i] for i in chosen),
            labels=tuple(self.labels[i] for i in chosen),
            ids=tuple(self.ids[i] for i in chosen),
            subjects={k: tuple(column[i] for i in chosen) for k, column in self.subjects.items()},
            weights=None if self.weights is None else self.weights[chosen],
        )

    def split(self, test_size: float | int = 0.25, *, seed: int = 0) -> tuple[Dataset, Dataset]:
        """Two stratified parts, ``(train, test)``: each class has the same share in both.

        Parameters
        ----------
        test_size : share of the graphs (between 0 and 1), or a number of graphs.
        seed : the same seed gives the same parts.
        """
        n = len(self)
        share = isinstance(test_size, float)
        if isinstance(test_size, bool) or not 0 < test_size < (1 if share else n):
            msg = "test_size must be a share between 0 and 1 or a number of graphs from 1 to "
            msg += f"{n - 1}; got {test_size!r}."
            raise InvalidParameterError(msg)
        n_test = min(max(round(test_size * n), 1), n - 1) if share else int(test_size)
        counts = np.bincount(self.label_array(), minlength=self.n_classes)
        wanted = counts * (n_test / n)
        take = np.floor(wanted).astype(np.int64)
        # The remainder after rounding down goes to the classes that lost most; ties to the first.
        order = np.argsort(-(wanted - take), kind="stable")
        take[order[: n_test - int(take.sum())]] += 1
        rng = np.random.default_rng(seed)
        test = np.zeros(n, dtype=bool)
        for label, k in enumerate(take):
            members = np.flatnonzero(self.label_array() == label)
            test[rng.permutation(members)[:k]] = True
        return self.subset(~test), self.subset(test)

    # ---- figures and files --------------------------------------------------------------

    def summary(self) -> DatasetSummary:
        """Graphs per class, nodes, edges, density, spread of degrees and regions."""
        edges = np.asarray([g.n_edges for g in self.graphs])
        each = [g.degrees() for g in self.graphs]
        degrees = np.concatenate(each)
        if not degrees.size:  # graphs without nodes
            degrees = np.zeros(len(self), dtype=np.int64)
        n_pairs = float(np.mean([g.n_pairs for g in self.graphs]))
        taxonomies = {t: len(self.nodes.taxonomy(t).regions) for t in self.nodes.taxonomies}
        return DatasetSummary(
            name=self.name,
            n_graphs=len(self),
            n_nodes=self.n_nodes,
            graphs_per_class=self.class_counts(),
            edges_mean=float(edges.mean()),
            edges_min=int(edges.min()),
            edges_max=int(edges.max()),
            density=float(edges.mean() / max(n_pairs, 1)),
            degree_mean=float(degrees.mean()),
            degree_sd=float(degrees.std()),
            degree_min=int(degrees.min()),
            degree_max=int(degrees.max()),
            isolated_mean=float((degrees == 0).sum() / len(self)),
            taxonomies={TYPE: len(self.node_types)} if self.is_typed else taxonomies,
        )

    def save(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the data set to one file (see `docs/file-format.md`); returns its path.

        Parameters
        ----------
        path : the file, usually ending in ``.dfd``.
        force : whether to overwrite an existing file.
        """
        from denseflip.datasets.dataset_file import write_dataset

        return write_dataset(self, path, force=force)

    @staticmethod
    def load(path: str | Path) -> Dataset:
        """Read a file written by `save`. Reading it runs no code."""
        from denseflip.datasets.dataset_file import read_dataset

        return read_dataset(path)

    def __hash__(self) -> int:
        return hash((self.name, self.graphs, self.labels, self.ids))

    def __repr__(self) -> str:
        classes = ", ".join(f"{name} {count}" for name, count in self.class_counts().items())
        return f"Dataset({self.name!r}, {len(self)} graphs, {self.sizes} nodes, classes: {classes})"

    def _repr_html_(self) -> str:
        """Sizes, classes and source, as a table for notebooks."""
        edges = [g.n_edges for g in self.graphs]
        spread = f"{sum(edges) / len(edges):,.1f} on average ({min(edges):,} to {max(edges):,})"
        same = f"{min(edges):,} in every graph"
        kinds = [f"{name} ({len(set(x))})" for name, x in self.nodes.regions.items()]
        kinds += [f"{TYPE} ({len(self.node_types)})"] if self.is_typed else []
        facts: list[tuple[str, object]] = [
            ("classes", ", ".join(f"{name} {n}" for name, n in self.class_counts().items())),
            ("nodes", self.sizes),
            ("edges", same if min(edges) == max(edges) else spread),
            ("regions", ", ".join(kinds) or None),
            ("subject table", ", ".join(self.subjects) or None),
            ("ids", ", ".join(self.ids[:4]) + (", …" if len(self) > 4 else "")),
            ("source", self.card.source or None),
        ]
        known = [(name, value) for name, value in facts if value is not None]
        return html_table(f"{self.name}: {len(self):,} graphs", (), known, notes=self.card.caveats)
