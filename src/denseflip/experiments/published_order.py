"""Orders in which the published runs met node pairs (decisions D2 and D10).

They are facts about the authors' environment, not part of any method: their graphs carried a
self-loop at every node, since the embedding library adds them in place, and the same library
re-seeded Python's generator with 42 at every question. Pairs went through Python sets on their
way, so their order before a shuffle is CPython's order of a set of pairs of small integers: the
same in every CPython from 3.8 on, whatever the hash seed.
"""

from __future__ import annotations

import random

from denseflip.graph import Graph, Pair
from denseflip.search.problem import Problem
from denseflip.search.refine import Candidate

SEED = 42


def looped_edges(graph: Graph) -> list[Pair]:
    """The edges, row by row, each row ending with its node's self-loop."""
    rows: list[list[Pair]] = [[] for _ in range(graph.n_nodes)]
    for u, v in graph.pairs.tolist():
        rows[u].append((u, v))
    return [pair for u, row in enumerate(rows) for pair in (*row, (u, u))]


def unjoined(graph: Graph) -> list[Pair]:
    """The pairs that are not joined, sorted."""
    taken, n = set(graph.codes.tolist()), graph.n_nodes
    return [(u, v) for u in range(n) for v in range(u + 1, n) if u * n + v not in taken]


def looped_swaps(problem: Problem) -> tuple[list[Pair], list[Pair]]:
    """Removals, self-loops among them, and additions of the published EDG.

    Both lists are shuffled by one generator, seeded with 42 for every graph.
    """
    rng = random.Random(SEED)
    removals = list(set(looped_edges(problem.graph)))
    additions = list(set(unjoined(problem.graph)))
    rng.shuffle(removals)
    rng.shuffle(additions)
    return removals, additions


def changes(candidate: Candidate) -> list[Pair]:
    """The changed pairs in the order of the authors' symmetric difference."""
    before = set(looped_edges(candidate.problem.graph))
    return list(before.symmetric_difference(set(looped_edges(candidate.graph))))


def shuffled_changes(candidate: Candidate) -> list[Pair]:
    """The changed pairs, shuffled by a generator seeded with 42 (DAT+BW)."""
    queue = changes(candidate)
    random.Random(SEED).shuffle(queue)
    return queue
