"""Every registered rank, schedule, sparsifier, densifier and refiner passes the same checks."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from denseflip import DCS, explain
from denseflip.counterfactual import Status
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.core.problem import Problem
from denseflip.search.core.refinement import REFINERS
from denseflip.search.methods.blocks import DENSIFY, RANKS, SPARSIFY
from denseflip.search.methods.dcs import DENSIFIERS, SCHEDULES, SPARSIFIERS
from graphs import complete, empty, graph, halves, path, star, two_cliques

GRAPHS = [empty(1), empty(6), complete(6), path(6), star(6), two_cliques()]


class ByEdges:
    def predict(self, graphs):
        return [int(g.n_edges > 9) for g in graphs]


def problem(g, seed=0):
    oracle = ByEdges()
    label = oracle.predict([g])[0]
    # One graph of the other class at least, where there is one.
    known = Background([g, complete(g.n_nodes), empty(g.n_nodes), path(g.n_nodes)])
    rng = np.random.default_rng(seed)
    return Problem(
        g,
        label,
        None,
        halves(g.n_nodes),
        known,
        rng,
        label_background=lambda: known.labels(Session(oracle)),
    )


@pytest.mark.parametrize("name", RANKS)
@pytest.mark.parametrize("g", GRAPHS[1:], ids=repr)
def test_a_rank_orders_every_node_once(name, g):
    make, summary = RANKS[name]
    assert 10 < len(summary) < 80
    order = np.asarray(make()(problem(g)))
    assert sorted(order.tolist()) == list(range(g.n_nodes))
    assert np.asarray(make()(problem(g))).tolist() == order.tolist()


@pytest.mark.parametrize("name", sorted(set(RANKS) - {"random", "regions", "contrast"}))
def test_a_rank_breaks_ties_by_number_and_puts_the_dense_first(name):
    for g in (empty(5), complete(5)):
        assert np.asarray(RANKS[name][0]()(problem(g))).tolist() == list(range(5))
    dense_first = np.asarray(RANKS[name][0]()(problem(graph(8, two_cliques().edges())))).tolist()
    assert dense_first[-1] == 7  # the node without edges
    assert dense_first[0] in range(4)  # one of the largest clique


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("g", GRAPHS, ids=repr)
def test_a_schedule_names_blocks_and_is_always_the_same(name, g):
    make, summary = SCHEDULES[name]
    assert 10 < len(summary) < 80
    turns = list(islice(make()(problem(g)), 50))
    assert len(turns) == 50
    assert all(turn and set(turn) <= {SPARSIFY, DENSIFY} for turn in turns)
    assert list(islice(make()(problem(g)), 50)) == turns


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("g", GRAPHS, ids=repr)
@pytest.mark.parametrize("name", SPARSIFIERS)
def test_blocks_remove_edges_and_add_missing_ones(name, g, schedule):
    check_blocks(name, name, schedule, g)


@pytest.mark.parametrize("densify", DENSIFIERS)
@pytest.mark.parametrize("sparsify", SPARSIFIERS)
def test_blocks_of_two_kinds_remove_edges_and_add_missing_ones(sparsify, densify):
    check_blocks(sparsify, densify, "alternate", two_cliques())


def check_blocks(sparsify, densify, schedule, g):
    method = DCS(sparsify=sparsify, densify=densify, schedule=schedule, max_iterations=12)
    current = g
    for step in method(problem(g)):
        for pair in step.toggled:
            # Pair blocks go by the original's lists, whatever another kind of block did meanwhile.
            if "triangle" not in (sparsify, densify) or sparsify == densify:
                assert current.has_edge(*pair) == (step.block == SPARSIFY)
        current = current.toggle(step.toggled)
    assert current.n_nodes == g.n_nodes


@pytest.mark.parametrize("name", SPARSIFIERS)
@pytest.mark.parametrize("rank", sorted(set(RANKS) - {"contrast"}))
def test_every_rank_runs_with_every_structure(rank, name):
    check_composition(rank, name, name)


@pytest.mark.parametrize("densify", DENSIFIERS)
@pytest.mark.parametrize("sparsify", SPARSIFIERS)
def test_every_pair_of_blocks_runs(sparsify, densify):
    check_composition("triangles", sparsify, densify)


def check_composition(rank, sparsify, densify):
    g = two_cliques()
    method = DCS(rank=rank, sparsify=sparsify, densify=densify, refine="min", max_iterations=30)
    result = explain(g, lambda a: int(a[0, 1]), method, nodes=halves(8))
    assert result.found
    assert result.removed == ((0, 1),)
    assert result.minimal
    assert result.replay() == result.counterfactual


@pytest.mark.parametrize("name", REFINERS)
def test_a_refiner_keeps_the_flip_and_adds_nothing(name):
    g = complete(7)
    make, summary = REFINERS[name]
    assert 10 < len(summary) < 80
    rough = explain(g, lambda a: int(a.sum() / 2) // 10, DCS())
    result = explain(g, lambda a: int(a.sum() / 2) // 10, DCS(refine=make()))
    assert result.status is rough.status is Status.FOUND
    assert set(result.edits.pairs) <= set(rough.edits.pairs)
    assert result.label_after != result.label_before
