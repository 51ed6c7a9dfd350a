"""Dense structures as blocks: what is taken away is one, what is put in is one."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip import DCS, explain, make_method
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph.density import NeighbourSets
from denseflip.graph.peel import densest, truss_numbers
from denseflip.graph.relaxed_cliques import Dense
from denseflip.search.core.problem import Problem
from denseflip.search.methods.blocks import DENSIFY, SPARSIFY, State
from denseflip.search.methods.dcs import method_of
from denseflip.search.methods.structure_blocks import (
    StructureDensify,
    StructureSparsify,
    _edges_of,
)
from denseflip.search.methods.structures import (
    STRUCTURES,
    Club,
    Community,
    Core,
    Plex,
    Quasi,
    RemainingGraph,
    Truss,
)
from graphs import clique, complete, empty, graph, path, two_cliques
from strategies import graphs

every = pytest.mark.parametrize("name", STRUCTURES)


def by_number(problem):
    return range(problem.graph.n_nodes)


def nothing(state, node):
    return ()


def is_plex(nodes, near, level):
    return all(len(near[v] & nodes) >= len(nodes) - 2 for v in nodes)


def is_quasi(nodes, near, level):
    return all(5 * len(near[v] & nodes) >= 4 * (len(nodes) - 1) for v in nodes)


def is_core(nodes, near, level):
    return all(len(near[v] & nodes) >= min(level, len(nodes) - 1) for v in nodes)


def is_truss(nodes, near, level):
    # Of the edges among these nodes enough lie in a truss of the order to reach all of them.
    inside = {v: near[v] & nodes for v in nodes}
    numbers = truss_numbers(nodes, inside)
    level = min(level, len(nodes))
    held = {v for pair, number in numbers.items() if number >= level for v in pair}
    return held == nodes


def is_club(nodes, near, level):
    inside = nx.Graph([(u, v) for u in nodes for v in near[u] & nodes])
    return set(inside) == nodes and nx.is_connected(inside) and nx.diameter(inside) <= 2


def is_dense(nodes, near, level):
    edges = sum(len(near[v] & nodes) for v in nodes) / 2
    return edges / len(nodes) >= min(level, (len(nodes) - 1) / 2) - 1e-9


def is_close(nodes, near, level):
    edges = sum(len(near[v] & nodes) for v in nodes)
    return edges >= min(level, 1) * len(nodes) * (len(nodes) - 1) - 1e-9


IS = {
    "plex": is_plex,
    "quasi": is_quasi,
    "core": is_core,
    "truss": is_truss,
    "club": is_club,
    "densest": is_dense,
    "community": is_close,
}


def test_every_structure_has_its_definition_here():
    assert set(IS) == set(STRUCTURES)
    assert all(kind.name == name for name, kind in STRUCTURES.items())


# ---- the two halves of a structure --------------------------------------------------------


@every
@given(g=graphs(min_nodes=1))
def test_what_is_found_is_one(name, g):
    near = NeighbourSets(g)
    left = RemainingGraph(near, range(g.n_nodes), Problem(g, 0), 0)
    for node in range(min(g.n_nodes, 3)):
        found = STRUCTURES[name]().find(left, node)
        if not near[node] and name != "densest":
            assert found is None
        if found is not None:
            assert node in found.nodes or name == "densest"
            assert IS[name](set(found.nodes), near, found.level)


@every
@given(g=graphs(min_nodes=2), level=st.integers(1, 5))
def test_what_is_filled_is_one(name, g, level):
    level = level / 5 if name == "community" else level
    nodes = list(range(g.n_nodes))
    new = STRUCTURES[name]().fill(nodes, NeighbourSets(g), level)
    assert len(new) == len(set(new))
    assert all(u < v and not g.has_edge(u, v) for u, v in new)
    assert IS[name](set(nodes), NeighbourSets(g.toggle(new)), level)


# ---- taking away ----------------------------------------------------------------------------


@every
@given(g=graphs(min_nodes=1, max_nodes=8))
def test_no_edge_is_taken_twice_and_in_the_end_all_are_gone(name, g):
    method = DCS(rank=by_number, sparsify=name, densify=nothing, max_iterations=None)
    gone = [pair for step in method(Problem(g, 0)) for pair in step.toggled]
    assert sorted(gone) == sorted(g.edges())


@every
def test_a_step_says_what_was_taken_and_where(name):
    g = two_cliques()
    method = DCS(rank=by_number, sparsify=name, densify=nothing)
    step = next(iter(method(Problem(g, 0))))
    assert (step.block, step.structure) == (SPARSIFY, name)
    near = g.to_networkx().subgraph(step.nodes)
    assert sorted(tuple(sorted(pair)) for pair in near.edges()) == list(step.toggled)
    assert set(step.nodes) >= {0, 1, 2, 3}  # the clique of four is in each of them


def removals(g, sparsify, n=None):
    method = DCS(rank=by_number, sparsify=StructureSparsify(sparsify), densify=nothing)
    return [step.nodes for step in islice(method(Problem(g, 0)), n)]


def test_a_plex_then_a_plex_of_what_is_left():
    square = [(0, 1), (1, 2), (2, 3), (0, 3)]
    g = graph(7, square, [(3, 4)], clique(4, 5, 6))
    assert removals(g, Plex(2)) == [(0, 1, 2, 3), (3, 4, 5), (4, 5, 6)]
    assert removals(g, Plex(1))[:2] == [(0, 1), (1, 2)]


def test_cores_and_trusses_from_the_inside():
    g = graph(8, clique(0, 1, 2, 3), [(3, 4), (4, 5), (5, 6), (4, 6)])
    assert removals(g, Core(), 1) == [(0, 1, 2, 3)]
    assert removals(g, Core(2), 1) == [(0, 1, 2, 3, 4, 5, 6)]
    assert removals(g, Core(4)) == []
    assert removals(g, Truss())[:3] == [(0, 1, 2, 3), (3, 4), (4, 5, 6)]
    assert removals(g, Truss(3)) == [(0, 1, 2, 3), (4, 5, 6)]


def test_a_club_takes_a_star_and_a_quasi_clique_does_not():
    g = graph(6, [(0, v) for v in range(1, 6)])
    assert removals(g, Club()) == [(0, 1, 2, 3, 4, 5)]
    assert removals(g, Quasi(), 1) == [(0, 1)]


def test_the_densest_part_is_taken_whatever_the_node():
    g = graph(9, [(0, 1)], clique(2, 3, 4, 5), clique(6, 7, 8))
    assert removals(g, STRUCTURES["densest"]()) == [(2, 3, 4, 5), (6, 7, 8), (0, 1)]


def test_a_community_is_one_of_what_is_left():
    g = graph(12, clique(0, 1, 2, 3), clique(4, 5, 6, 7), clique(8, 9, 10, 11), [(3, 4), (7, 8)])
    # Once the first is gone, 3 belongs where its last edge goes. Of what is left after that the
    # best partition of all is {7, 8} and {9, 10, 11}: 8/14 - (25 + 81)/196, where the whole has 0.
    assert removals(g, Community()) == [(0, 1, 2, 3), (3, 4, 5, 6, 7), (7, 8), (8, 9, 10, 11)]


# ---- putting in -----------------------------------------------------------------------------


def densified(structure, g, *, removed, size, level=("", 0.0), **parameters):
    state = State(Problem(g, 0), np.arange(g.n_nodes))
    state.removed_now = state.last_removed = removed
    state.sparsified_now, state.last_size, state.last_level = True, size, level
    steps = []
    for step in StructureDensify(structure, **parameters)(state, g.n_nodes - 1):
        state.apply(step)
        steps.append(step)
    return steps


def test_as_many_edges_are_put_in_as_were_taken_from_the_sparse_end():
    [step] = densified(Plex(2), empty(10), removed=8, size=5)
    # Five nodes have 10 pairs; each node but one may lack one, so two pairs stay away.
    assert (step.block, step.structure) == (DENSIFY, "plex")
    assert step.nodes == (5, 6, 7, 8, 9)
    assert len(step.toggled) == 8
    assert not {(8, 9), (6, 7)} & set(step.toggled)


def test_a_core_of_the_order_that_was_taken_away():
    [step] = densified(Core(), empty(12), removed=9, size=6, level=("core", 3.0))
    degrees = np.bincount(np.ravel(step.toggled), minlength=12)
    assert step.nodes == (6, 7, 8, 9, 10, 11)
    assert degrees[6:].tolist() == [3] * 6
    # After a clique of four the core is as dense as that.
    [step] = densified(Core(), empty(12), removed=6, size=4)
    assert step.toggled == tuple(clique(8, 9, 10, 11))


def test_a_club_is_put_in_as_a_star():
    [step] = densified(Club(), empty(9), removed=4, size=5)
    assert step.toggled == ((4, 8), (5, 8), (6, 8), (7, 8))


@every
def test_nothing_can_be_put_into_a_full_graph(name):
    assert densified(STRUCTURES[name](), complete(6), removed=5, size=4) == []


@every
@given(g=graphs(min_nodes=2, max_nodes=8), removed=st.integers(1, 12), size=st.integers(2, 6))
def test_what_is_put_in_makes_its_nodes_one(name, g, removed, size):
    current = g
    for step in densified(STRUCTURES[name](), g, removed=removed, size=size):
        assert step.toggled
        assert all(not current.has_edge(*pair) for pair in step.toggled)
        current = current.toggle(step.toggled)
        near = NeighbourSets(current)
        # As dense as a clique of the size, in the measure of the kind.
        level = {"core": size - 1, "truss": size, "densest": (size - 1) / 2}.get(name, 1.0)
        assert IS[name](set(step.nodes), near, level)


# ---- methods ----------------------------------------------------------------------------------


def test_parameters_go_where_they_belong():
    method = make_method("plex", k=3, rank="degree", slack=4, max_branches=7, max_iterations=9)
    search = method.search
    assert search.sparsify == StructureSparsify(Plex(3, 7))
    assert search.densify == StructureDensify(Plex(3, 7), slack=4)
    assert search.rank.by == "degree"
    assert search.max_iterations == 9
    assert method.parameters["search"]["sparsify"]["structure"] == {
        "type": "Plex",
        "k": 3,
        "max_branches": 7,
    }


@pytest.mark.parametrize(
    ("method", "wrong", "message"),
    [
        ("plex", {"k": 0}, "k must be a whole number, at least 1; got 0."),
        ("plex", {"k": 1.5}, "k must be a whole number, at least 1; got 1.5."),
        ("plex", {"max_branches": 0}, "max_branches must be a whole number, at least 1; got 0."),
        ("quasi", {"gamma": 0.4}, "gamma must be a number from 0.5 to 1.0; got 0.4."),
        ("quasi", {"gamma": 1.1}, "gamma must be a number from 0.5 to 1.0; got 1.1."),
        ("quasi", {"gamma": "much"}, "gamma must be a number from 0.5 to 1.0; got 'much'."),
        ("quasi", {"gamma": float("nan")}, "gamma must be a number from 0.5 to 1.0; got nan."),
        ("quasi", {"gamma": True}, "gamma must be a number from 0.5 to 1.0; got True."),
        ("core", {"k": 0}, "k must be a whole number, at least 1; got 0."),
        ("truss", {"k": 2}, "k must be a whole number, at least 3; got 2."),
        ("club", {"k": 1}, "k must be a whole number, at least 2; got 1."),
        ("club", {"k": "2"}, "k must be a whole number, at least 2; got '2'."),
        ("community", {"by": "girvan"}, "by must be one of louvain, leiden, auto; got 'girvan'."),
        ("community", {"resolution": 0}, "resolution must be a positive number; got 0."),
        ("community", {"resolution": float("inf")}, "resolution must be a positive number"),
        ("densest", {"slack": -1}, "slack must be a whole number, at least 0; got -1."),
        ("densest", {"ties": "x"}, "ties must be one of rank, harmonic; got 'x'."),
    ],
)
def test_wrong_parameters_get_a_message(method, wrong, message):
    with pytest.raises(InvalidParameterError) as error:
        make_method(method, **wrong)
    assert message in str(error.value)


def test_unknown_parameters_get_a_suggestion():
    with pytest.raises(UnknownNameError, match=r"Unknown parameter of 'quasi' 'gama'.*'gamma'"):
        make_method("quasi", gama=0.8)


def test_a_cut_search_is_noted_once():
    rng = np.random.default_rng(1)
    draws = np.triu(rng.random((40, 40)) < 0.2, 1)
    g = graph(40, [tuple(pair) for pair in np.argwhere(draws).tolist()])
    for name, word in (("plex", "plex"), ("quasi", "quasi-clique"), ("club", "club")):
        result = explain(g, lambda a: 0, make_method(name, max_branches=1, max_iterations=4))
        about = [note for note in result.notes if "max_branches" in note]
        assert about == [
            f"At some nodes the search for the largest {word} stopped after 1 branch with the "
            "largest found so far. Raise max_branches to search further."
        ]


def test_a_graph_too_large_for_cuts_is_peeled_and_that_is_noted(monkeypatch):
    monkeypatch.setattr(
        "denseflip.search.methods.structures.densest",
        lambda nodes, near: densest(nodes, near, max_work=0),
    )
    result = explain(two_cliques(), lambda a: int(a[0, 1]), "densest")
    assert result.found
    assert "by peeling and has at least half" in result.notes[0]


def test_where_nodes_are_passed_over_the_search_ends():
    g = path(6)  # no triangle, so no truss of order 3 and no core of order 2
    for method in (make_method("truss", k=3), make_method("core", k=2)):
        result = explain(g, lambda a: 0, method)
        assert not result.found
        assert result.calls == 1


def test_one_class_is_a_sparsifier_a_densifier_and_a_method():
    @dataclass(frozen=True)
    class Star:
        """The star at a node: all edges that it has, and its neighbours at their ends."""

        name: ClassVar[str] = "star"
        least: int = 2

        def find(self, left, node):
            ends = left.near[node]
            return Dense(tuple(sorted({node, *ends}))) if len(ends) >= self.least else None

        def fill(self, nodes, near, level):
            return [tuple(sorted((nodes[0], v))) for v in nodes[1:] if v not in near[nodes[0]]]

    search = method_of(Star)(least=3, rank="degree")
    result = explain(two_cliques(), lambda a: int(a[0, 1]), search)
    assert result.found
    assert result.trace[0].structure == "star"
    with pytest.raises(TypeError):
        method_of(Star)(most=3)


@every
def test_the_edges_of_a_structure_are_those_that_it_would_get(name):
    structure = STRUCTURES[name]()
    for level in (0.4, 2.0, 3.0, 5.0):
        for size in (2, 3, 8, 9, 25):
            made = structure.fill(range(size), [frozenset()] * size, level)
            assert _edges_of(structure, size, level) == len(made)


@pytest.mark.parametrize("name", ["core", "densest", "community"])
def test_skipped_sizes_change_no_step(name, monkeypatch):
    def steps():
        return explain(random, lambda a: 0, name, budget=120).trace

    random = graph(40, nx.gnp_random_graph(40, 0.2, seed=3).edges)
    quick = steps()
    monkeypatch.setattr("denseflip.search.methods.structure_blocks._least_degree", lambda s: None)
    assert quick == steps()
    assert any(step.block == "densify" for step in quick)
