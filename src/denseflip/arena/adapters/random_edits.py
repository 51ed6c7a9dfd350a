"""A baseline: flip random pairs until the label changes, then undo what is not needed."""

from __future__ import annotations

import numpy as np

from denseflip.arena.problem import Explainer, Problem, edit_in_order
from denseflip.graph import Graph


class RandomEdits(Explainer):
    """Random pairs, as many removed as added, in one random order."""

    name = "random"
    stochastic = True

    def explain(self, problem: Problem) -> Graph | None:
        """Flip random pairs in order; then try to undo each of them once."""
        rng = np.random.default_rng(problem.seed)
        there = rng.permutation(problem.graph.codes)
        absent = rng.permutation(np.setdiff1d(problem.pairs, there))[: len(there)]
        size = min(len(there), len(absent))
        mixed = np.stack([there[:size], absent[:size]], axis=1).ravel()
        found = edit_in_order(problem, mixed)
        if found is None:
            return None
        for code in rng.permutation(found.difference(problem.graph)):
            if problem.left < 1:
                break
            undone = found.toggle_codes(np.array([code]))
            if problem.flips(undone):
                found = undone
        return found
