"""`Renumbered`: a stream whose ties are broken by structure instead of by node number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from denseflip.counterfactual import Step
from denseflip.graph import Graph, Nodes
from denseflip.graph.node_order import Ints, pair_places
from denseflip.oracles.background import Background
from denseflip.search.core.method import Stream, needs_of
from denseflip.search.core.problem import Problem


@dataclass(frozen=True)
class Renumbered(Stream):
    """A stream that runs with the nodes renumbered by structure; its steps have the old numbers.

    `tri`, `cli` and `rcli` break ties by node number, as the paper does. With renumbered nodes they
    break ties by structure instead (``ties_by="structure"``).
    """

    search: Stream

    @property
    def needs(self) -> frozenset[str]:
        """The needs of the search."""
        return needs_of(self.search)

    def __call__(self, problem: Problem) -> Iterator[Step]:
        """Yield the steps of the search, renumbered."""
        places = problem.places
        old = np.argsort(places).tolist()
        moved = _moved_problem(problem, places, old)
        for step in self.search(moved):
            pairs = tuple(
                sorted((min(old[u], old[v]), max(old[u], old[v])) for u, v in step.toggled)
            )
            yield step._replace(toggled=pairs, nodes=tuple(sorted(old[v] for v in step.nodes)))


def _moved_problem(problem: Problem, places: Ints, old: list[int]) -> Problem:
    def moved(graph: Graph) -> Graph:
        return Graph(graph.n_nodes, np.sort(pair_places(graph.codes, places)))

    def picked(values: Any) -> Any:
        return tuple(values[v] for v in old)

    nodes, background = problem.nodes, problem.background
    if nodes is not None:
        nodes = Nodes(
            picked(nodes.names),
            {name: picked(labels) for name, labels in nodes.regions.items()},
            None if nodes.coordinates is None else picked(nodes.coordinates),
        )
    constraints = problem.constraints
    if constraints is not None:
        constraints = constraints.renumbered(moved(problem.graph), np.array(old))
    return replace(
        problem,
        graph=moved(problem.graph),
        constraints=constraints,
        nodes=nodes,
        background=None if background is None else Background(map(moved, background.graphs)),
        label_background=lambda: problem.background_labels,
    )
