"""What an explainer gets (`Problem`) and must offer (`Explainer`), and the counts (`Meter`)."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from denseflip.arena.frozen import Frozen
from denseflip.arena.networks import FEATURES
from denseflip.counterfactual import Counterfactual, Label
from denseflip.datasets import Dataset
from denseflip.experiments.worker import TimedOracle
from denseflip.graph import Codes, Graph, Nodes
from denseflip.oracles.base_session import BudgetSpentError
from denseflip.oracles.gradients import PairGradient
from denseflip.oracles.protocol import Oracle, own_ability
from denseflip.oracles.renumbered import RenumberedOracle, renumber
from denseflip.oracles.session import Session
from denseflip.oracles.tensors import NODE_FEATURES

Track = Literal["labels", "probabilities", "gradients"]
Answer = Graph | Counterfactual | None
Phase = Literal["search", "background", "training"]


class Explainer(ABC):
    """An explainer of the benchmark: the usual attributes, for adapters to inherit.

    Attributes
    ----------
    name : its name in the tables.
    track : what it uses of the classifier: labels, probabilities or gradients.
    stochastic : whether its answer depends on the seed. If so, it runs with every seed.
    removal_only : whether it can only remove edges.
    slow : whether it takes so long that it runs on the first few graphs only.
    kinds : the kinds of classifiers that it can explain; empty for all.
    needs : the packages that it imports → what to pass to pip.
    """

    name: str
    track: Track = "labels"
    stochastic = False
    removal_only = False
    slow = False
    kinds: tuple[str, ...] = ()
    needs: ClassVar[Mapping[str, str]] = {}

    def prepare(self) -> None:  # noqa: B027  (most import nothing heavy)
        """Import what `explain` uses, before the clock starts."""

    @abstractmethod
    def explain(self, problem: Problem) -> Answer:
        """Return a graph with another label, or None."""


@dataclass
class Meter:
    """Counts what a classifier is asked: graphs forward, graphs backward, by phase.

    Attributes
    ----------
    budget : the largest number of forwards and backwards of the search.
    strict : whether the budget is enforced here. A `Session` of denseflip keeps it by itself.
    forwards, backwards : graphs passed through the classifier by the search, and back.
    background : graphs of the data set that were labelled.
    training : forwards and backwards of a peer's own training.
    training_seconds : processor seconds of that training, also if it was done for another graph.
    spent_seconds : processor seconds of training during this search.
    """

    budget: int
    forwards: int = 0
    backwards: int = 0
    background: int = 0
    training: int = 0
    training_seconds: float = 0.0
    spent_seconds: float = 0.0
    phase: Phase = "search"
    strict: bool = True

    @property
    def left(self) -> int:
        """What is left of the budget."""
        return self.budget - self.forwards - self.backwards

    def count(self, n: int, *, backward: bool = False) -> None:
        """Count n graphs; raise `BudgetSpentError` before the budget is exceeded."""
        if self.phase == "background":
            self.background += n
        elif self.phase == "training":
            self.training += n
        else:
            self.check(n)
            self.backwards += n * backward
            self.forwards += n * (not backward)

    def check(self, n: int) -> None:
        """Raise `BudgetSpentError` if n more graphs exceed the budget of the search."""
        if self.strict and self.phase == "search" and n > self.left:
            raise BudgetSpentError

    @contextmanager
    def during(self, phase: Phase) -> Iterator[None]:
        """Count what is asked in the block under another phase."""
        before, started = self.phase, time.process_time()
        self.phase = phase
        try:
            yield
        finally:
            self.phase = before
            if phase == "training":
                taken = time.process_time() - started
                self.training_seconds += taken
                self.spent_seconds += taken

    def watch(self, module: Any) -> Any:
        """Count every graph that passes through a torch module, forward and backward."""

        def forward(_: Any, __: Any, scores: Any) -> None:
            self.count(len(scores))
            if scores.requires_grad:
                scores.register_hook(lambda g: self.count(len(g), backward=True))

        module.register_forward_hook(forward)
        return module


class MeteredOracle(TimedOracle):
    """An oracle whose answers are counted by a meter."""

    def __init__(self, oracle: Oracle, meter: Meter) -> None:
        super().__init__(oracle)
        self.meter = meter

    def _timed(self, function: Callable[..., Any], *given: Any) -> Any:
        self.meter.count(len(given[-1]))
        return super()._timed(function, *given)

    @property
    def gradient(self) -> Callable[[Graph, Label], PairGradient]:
        """The oracle's gradient, if it offers one; each pass counts forward and backward."""
        inner = own_ability(self.oracle, "gradient")

        def counted(graph: Graph, label: Label) -> PairGradient:
            found: PairGradient = inner(graph, label)
            self.meter.count(found.passes)
            self.meter.count(found.passes, backward=True)
            return found

        return counted


def labels_of(oracle: Oracle, graphs: Sequence[Graph]) -> list[Label]:
    """Labels of graphs as whole numbers; nothing is remembered."""
    return [int(answer.label) for answer in Session(oracle).query_all(list(graphs))]


@dataclass
class Problem:
    """One graph to explain, with counted access to a fresh copy of the classifier.

    Attributes
    ----------
    frozen : the classifier.
    dataset : the data set that the graph is from.
    graph : the graph to explain. Its nodes may be renumbered.
    seed : the seed of stochastic explainers.
    meter : counts and limits what is asked.
    order : node v of ``graph`` is node ``order[v]`` of the data set.
    kept : values that explainers keep between problems of the same classifier; see `once`.
    """

    frozen: Frozen
    dataset: Dataset
    graph: Graph
    seed: int
    meter: Meter
    order: npt.NDArray[np.int64]
    kept: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.renumbered = bool((self.order != np.arange(len(self.order))).any())
        self.place = np.argsort(self.order)  # of each node of the data set
        fresh = self.frozen.copy()
        inner = RenumberedOracle(fresh.oracle, self.order) if self.renumbered else fresh.oracle
        self.oracle = MeteredOracle(inner, self.meter)

    # ---- labels -------------------------------------------------------------------------

    def labels_of(self, graphs: Sequence[Graph]) -> list[Label]:
        """Labels of graphs; each counts as one call, also if it was asked before."""
        self.meter.check(len(graphs))
        return labels_of(self.oracle, graphs)

    def label_of(self, graph: Graph) -> Label:
        """Label of one graph; counts as one call."""
        return self.labels_of([graph])[0]

    @cached_property
    def label(self) -> Label:
        """Label of the graph to explain; counts as one call the first time."""
        return self.label_of(self.graph)

    def flips(self, graph: Graph) -> bool:
        """Whether a graph has another label than the one to explain."""
        return self.label != self.label_of(graph)

    def probabilities(self, graphs: Sequence[Graph]) -> npt.NDArray[np.float64]:
        """One row of probabilities per graph; each counts as one call."""
        self.meter.check(len(graphs))
        session = Session(self.oracle, confidence=True)
        known = [answer.probabilities or {} for answer in session.query_all(list(graphs))]
        return np.array([[row[label] for label in sorted(row)] for row in known], dtype=float)

    @property
    def left(self) -> int:
        """Number of calls left in the budget."""
        return self.meter.left

    # ---- the data set -------------------------------------------------------------------

    @property
    def nodes(self) -> Nodes:
        """The node table, in the order of the graph's nodes."""
        nodes = self.dataset.nodes
        return nodes.ordered([nodes.names[v] for v in self.order]) if self.renumbered else nodes

    @property
    def graphs(self) -> list[Graph]:
        """The graphs of the data set, in the numbering of the problem."""
        if not self.renumbered:
            return list(self.dataset.graphs)
        return [renumber(graph, self.place) for graph in self.dataset.graphs]

    @cached_property
    def background(self) -> list[tuple[Graph, Label]]:
        """The graphs of the data set and their labels; counted separately."""
        graphs = self.graphs
        with self.meter.during("background"):
            return list(zip(graphs, self.labels_of(graphs), strict=True))

    @property
    def pairs(self) -> Codes:
        """All node pairs as codes ``u * n + v``."""
        u, v = np.triu_indices(self.graph.n_nodes, 1)
        return np.asarray(u * self.graph.n_nodes + v, dtype=np.int64)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Train something once per classifier and seed; its cost is counted as training."""
        key = (key, self.seed, self.renumbered)
        if key not in self.kept:
            before = (self.meter.training, self.meter.training_seconds)
            with self.meter.during("training"):
                made = make()
            cost = (self.meter.training - before[0], self.meter.training_seconds - before[1])
            self.kept[key] = (made, cost)
            return made
        made, (calls, seconds) = self.kept[key]
        self.meter.training += calls
        self.meter.training_seconds += seconds
        return made

    # ---- gradients ----------------------------------------------------------------------

    @cached_property
    def model(self) -> Any:
        """The torch module: ``model(x, edge_index, batch, edge_weight=None)``; calls are counted.

        None for other classifiers.
        """
        if not self.frozen.is_network:
            return None
        return self.meter.watch(self.frozen.copy().oracle.module)  # type: ignore[attr-defined]

    def tensors(self, graph: Graph) -> tuple[Any, Any, Any]:
        """Node features, edges in both directions and batch numbers of a graph, for `model`."""
        import torch

        own = renumber(graph, self.order) if self.renumbered else graph
        x = torch.as_tensor(NODE_FEATURES[FEATURES](own)[self.order])
        n, codes = graph.n_nodes, graph.codes
        ends = torch.as_tensor(np.stack([codes // n, codes % n]))
        edges = torch.cat([ends, ends.flip(0)], dim=1)
        return x, edges, torch.zeros(n, dtype=torch.int64)

    def scores(self, weights: Any) -> Any:
        """Scores of weighted graphs, differentiable: one row per row of weights of all `pairs`.

        The node features, the rows of the adjacency array, are computed from the weights.
        """
        import torch

        n = self.graph.n_nodes
        u, v = (torch.as_tensor(self.order[e]) for e in (self.pairs // n, self.pairs % n))
        rows = []
        for row in weights:
            half = torch.zeros(n, n).index_put((u, v), row)
            ends = torch.stack([torch.cat([u, v]), torch.cat([v, u])])
            zeros = torch.zeros(n, dtype=torch.int64)
            rows.append(self.model(half + half.T, ends, zeros, torch.cat([row, row])))
        return torch.cat(rows)

    @property
    def weights(self) -> Any:
        """The graph as 0 and 1 of all `pairs`, a torch vector."""
        import torch

        return torch.as_tensor(np.isin(self.pairs, self.graph.codes).astype(np.float32))


def edit_in_order(problem: Problem, codes: Sequence[int] | Codes) -> Graph | None:
    """Flip pairs in the given order until the label changes; the shortest such prefix seen.

    The first 50 prefixes are tried one by one. From there on each is a fifth longer, and the gap
    before the first that flips is bisected.
    """
    order = np.asarray(codes, dtype=np.int64)
    low, step = 0, 1.0
    while low < len(order):
        size = min(len(order), low + max(1, int(step)))
        found = problem.graph.toggle_codes(order[:size])
        if problem.flips(found):
            break
        low, step = size, (size / 5 if size >= 50 else 1.0)
    else:
        return None
    high = size
    while high - low > 1 and problem.left > 0:
        middle = (low + high) // 2
        graph = problem.graph.toggle_codes(order[:middle])
        if problem.flips(graph):
            high, found = middle, graph
        else:
            low = middle
    return found
