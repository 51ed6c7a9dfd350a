"""`Renumbered`: a blind search whose ties are settled by structure instead of by number."""

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
    """A blind search run with the nodes numbered by place, and told in their old numbers.

    So whatever it settles by number is settled by structure: `tri`, `cli` and `rcli` break ties by
    number, as the paper does, and this is how they do not (``ties_by="structure"``).
    """

    search: Stream

    @property
    def needs(self) -> frozenset[str]:
        """What the search needs."""
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
    terms = problem.terms and problem.terms.renumbered(moved(problem.graph), np.array(old))
    return replace(
        problem,
        graph=moved(problem.graph),
        terms=terms,
        nodes=nodes,
        background=None if background is None else Background(map(moved, background.graphs)),
        label_background=lambda: problem.background_labels,
    )
