"""Does a classifier keep to its opinion on the way? A few questions tell which search suits it.

A rule that weighs edges, however it came about, divides the graphs in two by a flat wall: mix two
graphs behind it, and the mixture is behind it too. Nearest neighbours do not: between two graphs of
a class they may find a third of another. So the chains of graphs from one graph of the other
class to the next are asked about, and the share of them that stays in the class is what decides
between `tight`, which learns weights, and `race`, which does not; never the classifier's name.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from denseflip.graph import Codes, Graph
from denseflip.search.core.probing import Probe
from denseflip.search.core.problem import StopSearch

_GRAPHS = 4  # graphs of the other class that the chain goes round
_POINTS = (0.25, 0.5, 0.75)  # of the way from one to the next


def steadiness(probe: Probe, needed_by: str = "best") -> float | None:
    """The share of mixtures of the nearest graphs of the other class that are of it as well.

    Twelve questions where the background has four such graphs, fewer where it has fewer; None where
    it has only one, or where there is no background: then nothing can be said.

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
    terms = problem.terms
    if terms is not None:  # as far as the original may become like them, they may not flip
        near = [g for g in near if probe.flips(problem.graph.difference(g))]
    if len(near) < 2:
        return None
    legs = list(pairwise([*near, near[0]] if len(near) > 2 else near))
    mixed = [codes for a, b in legs for codes in _between(probe, a, b)]
    if terms is not None:
        mixed = [codes for codes in mixed if not terms.forbids(probe.graph(codes))]
    kept = [problem.accepts(answer.label) for answer in probe.answers(mixed)]
    return sum(kept) / len(kept) if kept else None


def _between(probe: Probe, a: Graph, b: Graph) -> list[Codes]:
    """Edits of the original that lead to graphs between two others, along one random chain."""
    start = probe.problem.graph.difference(a)
    chain = probe.problem.rng.permutation(a.difference(b))
    return [np.setxor1d(start, chain[: round(point * len(chain))]) for point in _POINTS]
