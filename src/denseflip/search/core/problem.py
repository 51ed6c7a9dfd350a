"""`Problem`: everything that a search may look at; `Walk`: where a search ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from denseflip.counterfactual import AsRead, Label, Status, Step, Target, is_wanted
from denseflip.errors import MissingInputError
from denseflip.graph import Codes, Graph, Nodes, Pair, Taxonomy
from denseflip.graph.density import count_triangles, harmonic_centrality
from denseflip.graph.node_order import node_places
from denseflip.oracles.background import Background, Contrast, Frequencies
from denseflip.oracles.protocol import Oracle
from denseflip.result_scores import Stability

if TYPE_CHECKING:
    from denseflip.search.constraints.bound_constraints import BoundConstraints

REGIONS, BACKGROUND, CONFIDENCE = "regions", "background", "confidence"
GRADIENT = "gradient"

SPENT = "The budget was spent while the search was still improving its answer."
OUT_OF_TIME = "The time limit was reached."


class StopSearch(Exception):
    """Raised by a method or block that has nothing left to try: the search ends."""


@dataclass
class Walk:
    """Where a search ended.

    Attributes
    ----------
    status : how it ended.
    graph, label : the last graph, and the oracle's label of it.
    trace : the steps from the original to that graph.
    as_read : the outcome of the redraw test, if the search ran it.
    in_range : whether the places that were named end in the range of real graphs; None if unknown.
    stability : for how many refits the claim holds, if the search looked for stable claims.
    chosen : the method that found this, if the search chose between several.
    minimal : True if it was certified that no single edit can be undone without losing the flip.
    front : the Pareto front, if it was requested; this answer is one of it.
    verified : the claim that the answer is, if the search was one for claims.
    notes : remarks on this answer alone; remarks on the whole search are in the problem.
    """

    status: Status
    graph: Graph
    label: Label
    trace: list[Step] = field(default_factory=list)
    as_read: AsRead | None = None
    in_range: bool | None = None
    stability: Stability | None = None
    chosen: str = ""
    minimal: bool | None = None
    front: tuple[Walk, ...] = ()
    verified: Any = None
    notes: tuple[str, ...] = ()


@dataclass
class Problem:
    """One graph to explain, with everything that a search may look at except the oracle.

    Attributes
    ----------
    graph : the original.
    label : the oracle's label of it.
    target : the label to reach, a tuple of accepted labels, or None for any other label.
    nodes : the node table, or None.
    background : graphs of the data set, or None.
    rng : the random generator of this search.
    notes : remarks for the reader of the result; a search appends to them.
    label_background : returns the oracle's labels of the background; called on first use, because
        not every method needs them.
    check_time : raises when the time limit has passed; for long work between two queries.
    best : the best counterfactual so far, stored by a conversation (`keep`) in case its budget
        ends.
    constraints : the constraints bound to this graph, or None. Forbidden graphs are neither queried
        nor returned, whichever search proposes them. A search that proposes only pairs that may
        change (`free`) loses no time with them.
    refits : the classifier trained again on resampled data, for searches for stable answers.
    true_labels : returns the true label of every background graph, if sentences are compared with
        true classes; else None.
    by_type : graphs of the data set over other nodes, if nodes have types and no identity; there is
        no ``background`` then. Claims are compared with them by their counts per pair of types.
    """

    graph: Graph
    label: Label
    target: Target = None
    nodes: Nodes | None = None
    background: Background | None = None
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    notes: list[str] = field(default_factory=list)
    label_background: Callable[[], Sequence[Label]] = tuple
    check_time: Callable[[], None] = lambda: None
    best: Walk | None = None
    constraints: BoundConstraints | None = None
    refits: tuple[Oracle, ...] = ()
    true_labels: Callable[[], Sequence[Label]] | None = None
    by_type: Background | None = None

    @property
    def others(self) -> Background | None:
        """The graphs that claims are compared with: the background, or those of `by_type`."""
        return self.background if self.by_type is None else self.by_type

    def accepts(self, label: Label) -> bool:
        """Whether a graph with this label is a counterfactual."""
        return is_wanted(label, self.label, self.target)

    def free(self, codes: Codes) -> Codes:
        """The pairs that the constraints allow to change, in their order."""
        return codes if self.constraints is None else self.constraints.free(codes)

    def free_pairs(self, pairs: Iterator[Pair]) -> Iterator[Pair]:
        """An order of pairs without those that may not change."""
        if self.constraints is None or self.constraints.any_pair:
            return pairs
        return self.constraints.only_free(pairs)

    @property
    def one_way(self) -> bool:
        """Whether the constraints allow additions only, or removals only."""
        constraints = self.constraints
        return constraints is not None and not (constraints.can_add and constraints.can_remove)

    def allowed_part(self, graph: Graph) -> Graph:
        """The original with those differences to another graph that may change."""
        if self.constraints is None or self.constraints.any_pair:
            return graph
        return self.graph.toggle_codes(self.free(self.graph.difference(graph)))

    def nearest(self, graphs: Sequence[Graph]) -> list[Graph]:
        """The `allowed_part` of other graphs, the nearest first."""
        parts = [self.allowed_part(graph) for graph in graphs]
        return sorted((g for g in parts if g != self.graph), key=self.graph.relative_distance)

    def note(self, text: str) -> None:
        """Record a remark once."""
        if text not in self.notes:
            self.notes.append(text)

    def end(self, graph: Graph, label: Label, trace: Sequence[Step] | None = None) -> Walk:
        """Return a walk that ends at this graph; its status is found if the label is accepted.

        Without a trace the walk has a single step, from the original to this graph.
        """
        if trace is None:
            toggled = tuple(self.graph ^ graph)
            trace = [Step("search", "edges", toggled, iteration=1)] if toggled else []
        status = Status.FOUND if self.accepts(label) else Status.EXHAUSTED
        return Walk(status, graph, label, list(trace))

    def keep(self, graph: Graph, label: Label, trace: Sequence[Step] | None = None) -> Walk:
        """Store a counterfactual as the best so far, in case the budget ends; return its walk."""
        self.best = self.end(graph, label, trace)
        return self.best

    def by_target(self) -> list[Problem]:
        """One problem for each accepted class, the class of the nearest background graph first.

        A sentence names one class, and its redraws must reach that class.
        """
        if self.target is not None and not isinstance(self.target, tuple):
            return [self]
        nearest: dict[Label, float] = {}
        for graph, label in zip(
            self._background("by_target").graphs, self.background_labels, strict=True
        ):
            if self.accepts(label):
                distance = _distance(self.graph, graph)
                nearest[label] = min(distance, nearest.get(label, distance))
        known = self.background_labels
        return [
            replace(self, target=label, best=None, label_background=lambda: known)
            for label in sorted(nearest, key=lambda label: nearest[label])
        ] or [self]

    # ---- graph and nodes ----------------------------------------------------------------

    @cached_property
    def triangles(self) -> npt.NDArray[np.int64]:
        """Triangles through each node of the original."""
        return self._per_node(count_triangles)

    @cached_property
    def harmonic(self) -> npt.NDArray[np.float64]:
        """Harmonic centrality of each node of the original."""
        return self._per_node(harmonic_centrality)

    @cached_property
    def places(self) -> npt.NDArray[np.int64]:
        """The rank of each node in an order that does not depend on the node numbers."""
        return node_places(self.graph, self.nodes)

    def _per_node(self, count: Callable[[Graph], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        small = self.graph.n_edges <= _KEPT_EDGES
        return _cached(count)(self.graph) if small else count(self.graph)

    def taxonomy(self, name: str | None, needed_by: str) -> Taxonomy:
        """The taxonomy that a method needs; raises an error with the remedy if there is none."""
        check_given(REGIONS, needed_by, self.nodes, self.background)
        assert self.nodes is not None
        return self.nodes.taxonomy(name)

    # ---- background ---------------------------------------------------------------------

    @cached_property
    def background_labels(self) -> Sequence[Label]:
        """The oracle's label of every background graph."""
        return self.label_background()

    @cached_property
    def _sides(self) -> tuple[list[int], list[int]]:
        labels = list(enumerate(self.background_labels))
        same = [i for i, y in labels if y == self.label]
        return same, [i for i, y in labels if self.accepts(y)]

    def split_background(self, needed_by: str) -> tuple[list[Graph], list[Graph]]:
        """Background graphs that the oracle labels as the original's class, and as the target's.

        Raises
        ------
        MissingInputError
            If there is no background.
        StopSearch
            If the oracle labels none of them as the target class. The search ends with a note:
            finding nothing is a result, not an error.
        """
        graphs = self._background(needed_by).graphs
        same, other = self._sides
        if not other:
            names = self.target if isinstance(self.target, tuple) else (self.target,)
            wanted = f"the class {' or '.join(map(repr, names))}"
            if self.target is None:
                wanted = "another class"
            labels = " or ".join(sorted({repr(y) for y in self.background_labels}))
            self.note(
                f"{needed_by!r} needs background graphs of {wanted}, and the oracle labels all "
                f"{len(graphs)} as {labels}. Pass a larger background."
            )
            raise StopSearch
        return [graphs[i] for i in same], [graphs[i] for i in other]

    def reference_groups(self, needed_by: str) -> tuple[list[Graph], list[Graph]]:
        """Graphs of the original's class and of the target class that a sentence is compared with.

        By the labels of the oracle, or by the true labels if these were requested.
        """
        if self.true_labels is None:
            return self.split_background(needed_by)
        graphs, labels = self._background(needed_by).graphs, self.true_labels()
        known = list(zip(graphs, labels, strict=True))
        same = [graph for graph, label in known if label == self.label]
        return same, [graph for graph, label in known if self.accepts(label)]

    def contrast(self, needed_by: str) -> Contrast:
        """How much more often a pair is joined in the original's class than in the target class."""
        check_given(BACKGROUND, needed_by, self.nodes, self.background, self.by_type)
        self.split_background(needed_by)
        return self._background(needed_by).contrast(*self._sides)

    def known_contrast(self) -> Contrast | None:
        """The contrast, if the labels of the background are known already; else None.

        For uses of the contrast that should cost no query.
        """
        if "background_labels" not in self.__dict__ or not self._sides[1] or self.by_type:
            return None
        return self._background("known_contrast").contrast(*self._sides)

    def frequencies(self, needed_by: str) -> tuple[Frequencies, Frequencies]:
        """How often each pair is joined in the original's class, and in the target class."""
        self.split_background(needed_by)
        background = self._background(needed_by)
        same, other = self._sides
        return background.frequencies(same), background.frequencies(other)

    def _background(self, needed_by: str) -> Background:
        check_given(BACKGROUND, needed_by, self.nodes, self.others)
        assert self.others is not None
        return self.others


def _distance(graph: Graph, other: Graph) -> float:
    """How different two graphs are: by pair, or by their edges per pair of types."""
    if graph.types is None or other.types is None:
        return graph.relative_distance(other)
    one, two = (g.types.count_edges(g) for g in (graph, other) if g.types is not None)
    return float(np.abs(np.triu(one - two)).sum() / max(1, graph.n_edges + other.n_edges))


def check_given(
    need: str,
    needed_by: str,
    nodes: Nodes | None,
    background: Background | None,
    by_type: Background | None = None,
) -> None:
    """Raise an error with the remedy if a method needs regions or a background and has none."""
    if need == BACKGROUND and background is None and by_type is not None:
        msg = (
            f"The method {needed_by!r} compares graphs pair by pair, but the nodes of this data "
            "set have types and no identity. Use a method that does not: 'auto' or 'brief' "
            "(sentences by type), 'tight' or 'race' (few edits), 'tri' or 'edg'."
        )
        raise MissingInputError(msg, parameter=("method", "background"))
    if need == REGIONS and (nodes is None or not nodes.regions):
        msg = (
            f"The method {needed_by!r} needs to know which region each node belongs to, and no "
            "regions were given. Pass a node table with a region column: "
            "nodes=Nodes.read_csv('nodes.csv'), or nodes=Nodes(names, regions={'region': (...)}); "
            "or use a method without regions, such as 'cli'."
        )
        raise MissingInputError(msg, parameter="nodes")
    if need == BACKGROUND and (background is None or not len(background)):
        msg = (
            f"The method {needed_by!r} needs background graphs (the data set), and none were "
            "given. Pass the data set: background=dataset.graphs; or use a method without, such as "
            "'tri'."
        )
        raise MissingInputError(msg, parameter="background")


_KEPT_EDGES = 100_000  # larger graphs are not cached beyond one search: that would hold memory


@cache
def _cached(count: Callable[[Graph], npt.NDArray[Any]]) -> Callable[[Graph], npt.NDArray[Any]]:
    """Cache a count per node, because several methods explain the same graph in turn."""

    @lru_cache(maxsize=256)
    def cached(graph: Graph) -> npt.NDArray[Any]:
        counts = count(graph)
        counts.setflags(write=False)
        return counts

    return cached
