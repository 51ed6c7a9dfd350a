"""`Background`: the graphs of a data set, their labels by an oracle, and how classes differ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import Label
from denseflip.errors import InvalidGraphError, InvalidParameterError, MissingInputError
from denseflip.graph import Codes, Graph
from denseflip.graph.inputs import as_graph, ignored_weights, match_graph
from denseflip.graph.pairs import count_each
from denseflip.oracles.adapt import CallableOracle
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import Oracle, clean_label
from denseflip.oracles.tensors import check_own_rows

_WEIGHTED = "The edges of {} of {} background graphs have weights, which were ignored."


class Background:
    """Graphs over one node set that a search may compare with, or graphs with node types.

    Graphs with types of their own (`Graph.types`) may have different nodes. They are compared by
    their numbers of edges between types, never pair by pair.

    Share one `Background` among all the graphs you explain. Its graphs are then labelled once, and
    the differences between its classes are counted once, instead of once per explanation.

    Attributes
    ----------
    graphs : the graphs.
    truth : the true label of each graph, if known: of a data set, or as passed.
    note : what was ignored in the conversion, for the notes of a result; else empty.
    """

    def __init__(
        self,
        graphs: Iterable[Graph],
        truth: Iterable[Label] | None = None,
        class_names: Sequence[str] = (),
    ) -> None:
        if not isinstance(graphs, Iterable):
            msg = f"background must be a sequence of graphs; got {type(graphs).__name__}."
            raise InvalidGraphError(msg)
        given = list(graphs)
        weighted = sum(ignored_weights(g) is not None for g in given)
        self.note = "" if not weighted else _WEIGHTED.format(weighted, len(given))
        self.graphs: tuple[Graph, ...] = tuple(
            as_graph(g, source=f"background: entry {i}") for i, g in enumerate(given)
        )
        for i, g in enumerate(self.graphs):
            if g.n_nodes != self.graphs[0].n_nodes and not self.by_type:
                msg = (
                    f"background: graph {i} has {g.n_nodes} nodes, graph 0 has "
                    f"{self.graphs[0].n_nodes}. All must share one node set."
                )
                raise InvalidGraphError(msg)
        names = next((g.names for g in self.graphs if g.names is not None), None)
        if names is not None:
            self.graphs = tuple(match_graph(g, names, what="background") for g in self.graphs)
        self.truth = None if truth is None else tuple(map(clean_label, truth))
        self._class_names = tuple(class_names)
        if self.truth is not None and len(self.truth) != len(self.graphs):
            msg = f"background: {len(self.graphs)} graphs but {len(self.truth)} true labels."
            raise InvalidParameterError(msg, parameter="background")
        self._known: tuple[Oracle, list[Label]] | None = None
        self._checked: Oracle | None = None  # the last oracle of `check_rows`
        self._frequencies: dict[tuple[int, ...], Frequencies] = {}
        self._contrasts: dict[tuple[tuple[int, ...], tuple[int, ...]], Contrast] = {}

    @classmethod
    def of(cls, source: Any) -> Background:
        """Return a background unchanged; wrap the graphs of a data set or a sequence."""
        if isinstance(source, Background):
            return source
        if not hasattr(source, "graphs"):
            return cls(source)
        names = getattr(source, "class_names", ())
        return cls(source.graphs, getattr(source, "labels", None), names)

    @property
    def by_type(self) -> bool:
        """Whether the graphs can be compared only by the types of their nodes."""
        return bool(self.graphs) and self.graphs[0].types is not None

    def check_fits(self, graph: Graph) -> Background:
        """Return this background, or raise if a graph cannot be compared with its graphs."""
        first = self.graphs[0] if self.graphs else graph
        if first.types is not None or graph.types is not None:
            names = [() if g.types is None else g.types.names for g in (first, graph)]
            if names[0] != names[1]:
                has = [", ".join(x) or "none" for x in names]
                msg = f"The graph has the node types {has[1]}, the background {has[0]}."
                raise InvalidGraphError(msg)
        elif first.n_nodes != graph.n_nodes:
            msg = f"The graph has {graph.n_nodes} nodes, the background {first.n_nodes}."
            raise InvalidGraphError(msg)
        return self

    def named_like(self, graph: Graph) -> Background:
        """This background with its nodes in the order of a graph's, by name if it has names."""
        names = graph.names
        if names is None or all(g.names == names for g in self.graphs):
            return self
        matched = (match_graph(g, names, what="background") for g in self.graphs)
        ordered = Background(matched, self.truth, self._class_names)
        ordered.note, ordered._checked = self.note, self._checked
        return ordered

    def check_rows(self, oracle: Oracle) -> Background:
        """Return this background, or raise if an oracle would ignore the x of a PyG graph."""
        if self._checked is not oracle:
            for i, graph in enumerate(self.graphs):
                check_own_rows(graph, oracle, f"background graph {i}")
            self._checked = oracle
        return self

    def __len__(self) -> int:
        return len(self.graphs)

    def labels(self, session: BaseSession) -> list[Label]:
        """The oracle's label of every graph, evaluated once per oracle."""
        oracle = session.oracle
        if self._known is None or not _same(self._known[0], oracle):
            self.check_rows(oracle)
            self._known = (oracle, session.label_background(self.graphs))
        else:
            session.remember(self.graphs, self._known[1])
        return self._known[1]

    def true_labels(self, session: BaseSession) -> list[Label]:
        """The true label of every graph, as the oracle would say it.

        Raises
        ------
        MissingInputError
            If the true labels are not known, or if the oracle has none of these classes.
        """
        if self.truth is None:
            msg = (
                "reference='true' needs the true labels of the background: pass a data set as "
                "background, or Background(graphs, labels)."
            )
            raise MissingInputError(msg, parameter=("reference", "background"))
        said = set(self.labels(session))
        names = [
            self._class_names[y] if isinstance(y, int) and y < len(self._class_names) else y
            for y in self.truth
        ]
        for truth in (list(self.truth), names):
            if said & set(truth):
                return truth
        msg = (
            f"reference='true' compares with the true classes, but the classifier's labels "
            f"({', '.join(sorted(map(repr, said)))}) are none of them "
            f"({', '.join(sorted(map(repr, set(names))))})."
        )
        raise MissingInputError(msg, parameter="reference")

    def contrast(self, current: Sequence[int], target: Sequence[int]) -> Contrast:
        """`Contrast` between two sets of these graphs, given by their positions; cached."""
        key = (tuple(current), tuple(target))
        if key not in self._contrasts:
            if len(self._contrasts) >= _KEPT:
                self._contrasts.clear()
            self._contrasts[key] = Contrast.between(
                [self.graphs[i] for i in key[0]], [self.graphs[i] for i in key[1]]
            )
        return self._contrasts[key]

    def frequencies(self, chosen: Sequence[int]) -> Frequencies:
        """`Frequencies` of some of these graphs, given by their positions; cached."""
        key = () if self.by_type else tuple(chosen)  # a pair of nodes is not in other graphs
        if key not in self._frequencies:
            if len(self._frequencies) >= _KEPT:
                self._frequencies.clear()
            self._frequencies[key] = Frequencies.of([self.graphs[i] for i in key])
        return self._frequencies[key]


_TABLE = 1 << 18  # up to this many codes, as of 512 nodes, frequencies are in a lookup table
_KEPT = 16  # contrasts and frequencies kept: all pairs of classes of one oracle, and some more


def _same(a: Oracle, b: Oracle) -> bool:
    # A bare function is wrapped again for every explanation, so compare the functions. An oracle
    # that sees weights has one form per explained graph; all forms agree on known graphs.
    a, b = getattr(a, "base", a), getattr(b, "base", b)
    return a is b or (isinstance(a, CallableOracle) and a == b)


@dataclass(frozen=True)
class Contrast:
    """Frequency of each pair in one set of graphs minus its frequency in another; 0 elsewhere.

    Attributes
    ----------
    codes : the pairs that are not equally frequent in both, sorted.
    values : their contrast times ``scale``. Whole numbers, so that equal contrasts compare equal
        and ties are broken by the pair.
    scale : the value that stands for a contrast of 1.
    """

    codes: Codes
    values: Codes
    scale: int = 1

    @classmethod
    def between(cls, current: Sequence[Graph], target: Sequence[Graph]) -> Contrast:
        """Contrast of the original's class with the target class."""
        n_current, n_target = max(len(current), 1), max(len(target), 1)
        a_codes, a = pair_counts(current)
        b_codes, b = pair_counts(target)
        codes, _ = count_each((a_codes, b_codes))
        values = np.zeros(len(codes), dtype=np.int64)
        values[np.searchsorted(codes, a_codes)] = a * n_target
        values[np.searchsorted(codes, b_codes)] -= b * n_current
        keep = values != 0
        return cls(codes[keep], values[keep], n_current * n_target)

    def at(self, codes: Codes) -> Codes:
        """The contrast of these pairs, times ``scale``."""
        return values_at(codes, self.codes, self.values)


@dataclass(frozen=True)
class Frequencies:
    """The share of some graphs that contain each pair as an edge; 0 elsewhere.

    Attributes
    ----------
    codes, counts : pairs joined in at least one graph, sorted, and in how many.
    n_graphs : number of graphs.
    """

    codes: Codes
    counts: Codes
    n_graphs: int

    @classmethod
    def of(cls, graphs: Sequence[Graph]) -> Frequencies:
        """How often these graphs join each pair."""
        return cls(*pair_counts(graphs), len(graphs))

    def at(self, codes: Codes) -> npt.NDArray[np.float64]:
        """The share of the graphs that join each of these pairs."""
        if self._table is not None:
            return np.asarray(self._table[np.minimum(codes, len(self._table) - 1)])
        return np.asarray(self._shares(values_at(codes, self.codes, self.counts)))

    def _shares(self, counts: Codes) -> npt.NDArray[np.float64]:
        return np.asarray(counts / max(self.n_graphs, 1))

    @cached_property
    def _table(self) -> npt.NDArray[np.float64] | None:
        """The share of each pair by its code, and 0 at the end; None for large graphs."""
        size = int(self.codes[-1]) + 1 if len(self.codes) else 0
        if size > _TABLE:
            return None
        table = np.zeros(size + 1)
        table[self.codes] = self._shares(self.counts)
        return table


def values_at(codes: Codes, known: Codes, values: Codes) -> Codes:
    """The values of some pairs; 0 for those that are not among the known ones, which are sorted."""
    if codes is known:
        return values
    if not len(known):
        return np.zeros(len(codes), dtype=np.int64)
    where = np.minimum(np.searchsorted(known, codes), len(known) - 1)
    return np.where(known[where] == codes, values[where], 0)


def pair_counts(graphs: Iterable[Graph]) -> tuple[Codes, Codes]:
    """Pairs joined in at least one graph (sorted codes), and how many graphs join them."""
    return count_each([g.codes for g in graphs])
