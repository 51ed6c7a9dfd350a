"""How linear a classifier is: a few queries tell which search suits it.

A linear classifier separates graphs by a hyperplane, so a mixture of two graphs of one class is in
that class too. This does not hold for nearest neighbours, for example. So mixtures of graphs of the
other class are queried. The share that stays in the class decides between `tight`, which learns
weights, and `race`, which does not. The name of the classifier plays no role.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from denseflip.graph import Codes, Graph
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import StopSearch

_GRAPHS = 4  # graphs of the other class that are mixed, each with the next
_POINTS = (0.25, 0.5, 0.75)  # shares of the second graph in a mixture


def estimate_linearity(probe: Probe, needed_by: str = "best") -> float | None:
    """The share of mixtures of the nearest graphs of the other class that are in it as well.

    Takes twelve queries if the background has four such graphs, fewer if it has fewer. None if it
    has fewer than two, or if there is no background.

    Measured (16 graphs each, the mean): edges-svm on AUT, BIP and mice 1.0; random linear rules
    over AUT .97 (every pair weighs) and .82 (400 pairs do); sf-knn on AUT .62, on ADHD 0.
    """
    problem = probe.problem
    if problem.background is None or not len(problem.background):
        return None
    try:
        _, others = problem.split_background(needed_by)
    except StopSearch:
        return None
    near = problem.nearest(others)[:_GRAPHS]
    near = list({g.key: g for g in near}.values())
    constraints = problem.constraints
    if constraints is not None:  # with only the allowed differences they may not flip
        near = [g for g in near if probe.flips(problem.graph.difference(g))]
    if len(near) < 2:
        return None
    neighbours = list(pairwise([*near, near[0]] if len(near) > 2 else near))
    mixed = [codes for a, b in neighbours for codes in _mixtures(probe, a, b)]
    if constraints is not None:
        mixed = [codes for codes in mixed if not constraints.forbids(probe.graph(codes))]
    kept = [problem.accepts(answer.label) for answer in probe.answers(mixed)]
    return sum(kept) / len(kept) if kept else None


def _mixtures(probe: Probe, a: Graph, b: Graph) -> list[Codes]:
    """Edits of the original that lead to mixtures of two graphs, in one random order."""
    start = probe.problem.graph.difference(a)
    chain = probe.problem.rng.permutation(a.difference(b))
    return [np.setxor1d(start, chain[: round(point * len(chain))]) for point in _POINTS]
