"""A baseline: of some random pairs, flip the one that lowers the label's probability most."""

from __future__ import annotations

import numpy as np

from denseflip.arena.problem import Explainer, Problem
from denseflip.graph import Graph

_CANDIDATES = 50  # pairs tried per step


class Greedy(Explainer):
    """Steepest descent of the probability of the label, over a sample of pairs per step."""

    name = "greedy"
    track = "probabilities"
    stochastic = True
    kinds = ("knn", "forest", "gcn", "gin")

    def explain(self, problem: Problem) -> Graph | None:
        """Flip one pair per step; half of the candidates are edges."""
        rng, graph, label = np.random.default_rng(problem.seed), problem.graph, problem.label
        while problem.left >= _CANDIDATES:
            there = graph.codes
            absent = np.setdiff1d(problem.pairs, there)
            half = _CANDIDATES // 2
            tried = np.concatenate(
                [rng.choice(x, min(half, len(x)), replace=False) for x in (there, absent)]
            )
            graphs = [graph.toggle_codes(np.array([code])) for code in tried]
            rows = problem.probabilities(graphs)
            graph = graphs[int(np.argmin(rows[:, int(label)]))]
            if rows[:, int(label)].min() < 0.5 and problem.left and problem.flips(graph):
                return graph
        return None
