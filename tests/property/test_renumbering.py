"""Renumbering the nodes changes no distance of a method without randomness (decision 0018)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from denseflip import explain, make_method
from denseflip.graph import Graph, Nodes
from denseflip.search.methods.registry import METHODS
from strategies import graphs

# Random by nature: the seed, not the numbering, is what their result depends on.
RANDOM = {"auto", "best", "brief", "edg", "obs", "dbs", "race", "tight"}
# Ties by number, as the paper's text has it; "+bw" is random, "+bw1" the authors' own.
BY_NUMBER = {"tri", "cli", "rcli"}
# More dense structures, which share the blocks and the ties of `cli`.
LIKE_CLI = {"cell", "plex", "quasi", "core", "truss", "club", "densest", "community"}
# Needs an oracle with gradients; its own tests are in unit/search/test_gradient.py.
BY_GRADIENT = {"gradient"}
KEPT = ["con", "blocks", "dat", "medoid"]


def moved(g: Graph, new: list[int]) -> Graph:
    return Graph.from_edges(g.n_nodes, [(new[u], new[v]) for u, v in g.edges()])


@dataclass
class Named:
    """A rule by the nodes' names: the same, whatever their numbers are."""

    names: tuple[str, ...]
    threshold: int

    def __call__(self, a):
        weights = np.array([int(name) % 5 - 1 for name in self.names])
        both = np.add.outer(weights, weights) + np.multiply.outer(weights, weights)
        return int((np.triu(a, 1) * both).sum() > self.threshold)


def table(labels: list[str], new: list[int]) -> Nodes:
    old = np.argsort(new).tolist()
    return Nodes(tuple(str(v) for v in old), {"part": tuple(labels[v] for v in old)})


@st.composite
def cases(draw):
    g = draw(graphs(4, 8))
    n = g.n_nodes
    others = draw(st.lists(graphs(n, n), min_size=2, max_size=5))
    labels = draw(st.lists(st.sampled_from("ABC"), min_size=n, max_size=n))
    new = draw(st.permutations(range(n)))
    return g, others, labels, list(new), draw(st.integers(-5, 20))


def both(method, case):
    g, others, labels, new, threshold = case
    same = list(range(g.n_nodes))
    out = []
    for numbers in (same, new):
        nodes = table(labels, numbers)
        oracle = Named(nodes.names, threshold)
        background = [moved(h, numbers) for h in [g, *others]]
        out.append(explain(moved(g, numbers), oracle, method, nodes=nodes, background=background))
    return out


def test_every_method_is_kept_or_exempt_for_a_reason():
    assert set(METHODS) == RANDOM | BY_NUMBER | LIKE_CLI | BY_GRADIENT | set(KEPT)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *((name + suffix, {}) for name in KEPT for suffix in ("", "+min")),
        ("blocks", {"strength": "full"}),
        ("tri+min", {"ties_by": "structure"}),
        ("tri", {"ties_by": "structure", "direction": "both"}),
        ("cli+min", {"ties_by": "structure"}),
        ("rcli+min", {"ties_by": "structure"}),
    ],
)
@settings(max_examples=25)
@given(case=cases())
def test_distances_and_questions_stay(name, parameters, case):
    a, b = both(make_method(name, **parameters), case)
    assert (a.status, a.distance, a.calls) == (b.status, b.distance, b.calls)
    names = [
        [table(case[2], new).names[v] for pair in r.edits.pairs for v in pair]
        for r, new in ((a, list(range(case[0].n_nodes))), (b, case[3]))
    ]
    assert sorted(names[0]) == sorted(names[1])
