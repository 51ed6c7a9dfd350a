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

if TYPE_CHECKING:
    from denseflip.search.constraints.bound_constraints import BoundConstraints

REGIONS, BACKGROUND, CONFIDENCE = "regions", "background", "confidence"

SPENT = "The budget was spent while the search was still improving its answer."


class StopSearch(Exception):
    """Raised by a method or block that has nothing left, or nothing at all: the search ends."""


@dataclass
class Walk:
    """Where a search ended: how, at which graph, with which label, by which steps.

    Attributes
    ----------
    status, graph, label, trace : that.
    as_read : how true a sentence about it is as read, where the search saw to that.
    chosen : the method that this is of, where the search chose between several.
    minimal : True if no single edit can be undone without losing the flip, and that was seen.
    front : the answers that no other beats, where they were asked for; this one among them.
    notes : remarks on this answer alone; those on the search as a whole are the problem's.
    """

    status: Status
    graph: Graph
    label: Label
    trace: list[Step] = field(default_factory=list)
    as_read: AsRead | None = None
    chosen: str = ""
    minimal: bool | None = None
    front: tuple[Walk, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class Problem:
    """One graph to explain, with everything a method may look at; the oracle is not part of it.

    Attributes
    ----------
    graph : the original.
    label : the oracle's label of it.
    target : the label wanted, a tuple of those that will do, or None for any other.
    nodes : the node table, or None.
    background : the data set's graphs, or None.
    rng : the one random generator of this search.
    notes : a method appends what the reader of the result should know.
    label_background : gives the oracle's labels of the background; called when they are first
        looked at, since not every method does.
    check_time : raises when the time is up; for work that is long between two questions.
    best : the best counterfactual met so far, kept by a conversation (`keep`) for the case that
        its budget ends.
    terms : the user's constraints on this graph, or None. What they forbid is neither asked about
        nor given back, whoever proposes it; a search that leaves it out from the start (`free`)
        loses no time with it.
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
    terms: BoundConstraints | None = None

    def accepts(self, label: Label) -> bool:
        """Whether a graph with this label is a counterfactual."""
        return is_wanted(label, self.label, self.target)

    def free(self, codes: Codes) -> Codes:
        """Those of the pairs that the user's terms allow to change, in their order."""
        return codes if self.terms is None else self.terms.free(codes)

    def free_pairs(self, pairs: Iterator[Pair]) -> Iterator[Pair]:
        """An order of pairs without those that may not change."""
        if self.terms is None or self.terms.any_pair:
            return pairs
        return self.terms.only_free(pairs)

    @property
    def one_way(self) -> bool:
        """Whether the user's terms allow additions only, or removals only."""
        terms = self.terms
        return terms is not None and not (terms.can_add and terms.can_remove)

    def allowed_part(self, graph: Graph) -> Graph:
        """Another graph as far as the user's terms let the original become like it."""
        if self.terms is None or self.terms.any_pair:
            return graph
        return self.graph.toggle_codes(self.free(self.graph.difference(graph)))

    def nearest(self, graphs: Sequence[Graph]) -> list[Graph]:
        """Other graphs, as far as the original may become like them, the nearest first."""
        parts = [self.allowed_part(graph) for graph in graphs]
        return sorted((g for g in parts if g != self.graph), key=self.graph.relative_distance)

    def note(self, text: str) -> None:
        """Record a remark once."""
        if text not in self.notes:
            self.notes.append(text)

    def end(self, graph: Graph, label: Label, trace: Sequence[Step] | None = None) -> Walk:
        """A walk that ends at this graph, found if its label is accepted.

        Without a trace it has a single step, from the original straight there.
        """
        if trace is None:
            toggled = tuple(self.graph ^ graph)
            trace = [Step("search", "edges", toggled, iteration=1)] if toggled else []
        status = Status.FOUND if self.accepts(label) else Status.EXHAUSTED
        return Walk(status, graph, label, list(trace))

    def keep(self, graph: Graph, label: Label, trace: Sequence[Step] | None = None) -> Walk:
        """Remember a counterfactual as the best so far, in case the budget ends; give its walk."""
        self.best = self.end(graph, label, trace)
        return self.best

    def aims(self) -> list[Problem]:
        """The problem for every class it may lead to, that of the nearest background graph first.

        A sentence names one class, and is true only if that is where its redraws lead.
        """
        if self.target is not None and not isinstance(self.target, tuple):
            return [self]
        nearest: dict[Label, float] = {}
        for graph, label in zip(
            self._background("aims").graphs, self.background_labels, strict=True
        ):
            if self.accepts(label):
                far = self.graph.relative_distance(graph)
                nearest[label] = min(far, nearest.get(label, far))
        known = self.background_labels
        return [
            replace(self, target=label, best=None, label_background=lambda: known)
            for label in sorted(nearest, key=lambda label: nearest[label])
        ] or [self]

    # ---- what is known of the graph and its nodes ---------------------------------------

    @cached_property
    def triangles(self) -> npt.NDArray[np.int64]:
        """Triangles through each node of the original."""
        return _kept(count_triangles)(self.graph) if self._small else count_triangles(self.graph)

    @cached_property
    def harmonic(self) -> npt.NDArray[np.float64]:
        """Harmonic centrality of each node of the original."""
        if self._small:
            return _kept(harmonic_centrality)(self.graph)
        return harmonic_centrality(self.graph)

    @cached_property
    def places(self) -> npt.NDArray[np.int64]:
        """The place of each node in an order that renumbering the nodes keeps."""
        return node_places(self.graph, self.nodes)

    @property
    def _small(self) -> bool:
        return self.graph.n_edges <= _KEPT_EDGES

    def taxonomy(self, name: str | None, needed_by: str) -> Taxonomy:
        """The taxonomy a method needs, or an error that says how to give it."""
        check_given(REGIONS, needed_by, self.nodes, self.background)
        assert self.nodes is not None
        return self.nodes.taxonomy(name)

    # ---- what is known of the other graphs ----------------------------------------------

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
        """Background graphs that the oracle puts in the original's class, and in the target's.

        Raises
        ------
        MissingInputError
            If there is no background.
        StopSearch
            If the oracle puts none of its graphs in the target class: the search ends with that
            note, since to have found nothing is a result.
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
                f"{needed_by!r} looks at background graphs of {wanted}, and the oracle puts all "
                f"{len(graphs)} in {labels}. Give a larger background."
            )
            raise StopSearch
        return [graphs[i] for i in same], [graphs[i] for i in other]

    def contrast(self, needed_by: str) -> Contrast:
        """How much more often the original's class joins a pair than the target class does."""
        self.split_background(needed_by)
        return self._background(needed_by).contrast(*self._sides)

    def known_contrast(self) -> Contrast | None:
        """The contrast, if the background's labels were looked at before; None if they were not.

        For what goes by the contrast only where it costs no question.
        """
        if "background_labels" not in self.__dict__ or not self._sides[1]:
            return None
        return self._background("known_contrast").contrast(*self._sides)

    def frequencies(self, needed_by: str) -> tuple[Frequencies, Frequencies]:
        """How often the original's class, and the target class, join each pair."""
        self.split_background(needed_by)
        background = self._background(needed_by)
        same, other = self._sides
        return background.frequencies(same), background.frequencies(other)

    def _background(self, needed_by: str) -> Background:
        check_given(BACKGROUND, needed_by, self.nodes, self.background)
        assert self.background is not None
        return self.background


def check_given(
    need: str, needed_by: str, nodes: Nodes | None, background: Background | None
) -> None:
    """Say so, and how to give it, if a method needs regions or a background and has none."""
    if need == REGIONS and (nodes is None or not nodes.regions):
        msg = (
            f"The method {needed_by!r} needs to know which region each node belongs to, and no "
            "regions were given. Give a node table with a region column: "
            "nodes=Nodes.read_csv('nodes.csv'), or nodes=Nodes(names, regions={'region': (...)}); "
            "or take a method without regions, such as 'cli'."
        )
        raise MissingInputError(msg, parameter="nodes")
    if need == BACKGROUND and (background is None or not len(background)):
        msg = (
            f"The method {needed_by!r} needs background graphs (the data set), and none were "
            "given. Name the data set: background=dataset.graphs; or take a method without, such "
            "as 'tri'."
        )
        raise MissingInputError(msg, parameter="background")


_KEPT_EDGES = 100_000  # of larger graphs nothing is kept beyond one search: they would be pinned


@cache
def _kept(count: Callable[[Graph], npt.NDArray[Any]]) -> Callable[[Graph], npt.NDArray[Any]]:
    """A count by node that is remembered.

    Graphs of one data set are explained by several methods in turn, which count the same.
    """

    @lru_cache(maxsize=256)
    def remembered(graph: Graph) -> npt.NDArray[Any]:
        counts = count(graph)
        counts.setflags(write=False)
        return counts

    return remembered
