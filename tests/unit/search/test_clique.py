"""The clique search on hand-made graphs: one test per rule of the specification's §4.

The expected edits were worked out on paper from the rules, not copied from a run. Unless a test
says otherwise nodes are ranked by number, so node 0 is "dense" and the last node "sparse".
"""

from __future__ import annotations

import time
from itertools import islice

import numpy as np
import pytest

from denseflip import explain
from denseflip.counterfactual import Ask, Step
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.core.problem import Problem
from denseflip.search.methods.blocks import State
from denseflip.search.methods.dcs import DCS
from denseflip.search.methods.registry import cli
from denseflip.search.methods.structure_blocks import (
    CliqueDensify,
    CliqueSparsify,
    _least_used,
    clique_size,
)
from graphs import clique, complete, empty, graph, star, two_cliques


def by_number(problem):
    return range(problem.graph.n_nodes)


def in_order(*nodes):
    return lambda problem: nodes


def nothing(state, node):
    """A densify that adds nothing, where only the removals are of interest."""
    return ()


def removals(g, rank, n):
    """The pairs removed in the first iterations, without any additions."""
    method = DCS(rank=rank, densify=nothing)
    return [step.toggled for step in islice(method(Problem(g, 0)), n)]


def steps(g, n=None, rank=by_number, **blocks):
    """The first steps of a search, as (block, pairs)."""
    stream = DCS(rank=rank, **blocks)(Problem(g, 0))
    return [(step.block, step.toggled) for step in islice(stream, n)]


def make_state(g, *, removed, size, counts=()):
    """A state in which a clique has just been removed."""
    state = State(Problem(g, 0), by_number_array(g.n_nodes))
    state.removed_now = state.last_removed = removed
    state.sparsified_now, state.last_size = True, size
    for node, count in dict(counts).items():
        state.counts[node] = count
    return state


def by_number_array(n):
    return np.arange(n)


def densified(state, node, **parameters):
    """The pairs of each clique that densify adds."""
    out = []
    for step in CliqueDensify(**parameters)(state, node):
        state.apply(step)
        out.append(step.toggled)
    return out


# ---- a block and its state --------------------------------------------------------------


def test_a_block_built_anew_at_every_call_does_as_one_kept():
    g = graph(9, clique(0, 1, 2, 3), clique(2, 3, 4, 5), clique(1, 5, 6), clique(5, 7, 8))
    anew = steps(g, 24, sparsify=lambda state, node: CliqueSparsify()(state, node))
    assert anew == steps(g, 24, sparsify=CliqueSparsify())
    # Even a block that remembers nothing: what was removed is in the state.
    assert anew == steps(g, 24, sparsify=lambda state, node: CliqueSparsify().start(state)(node))


def test_what_other_blocks_removed_counts_as_overlap():
    g = graph(6, clique(0, 1, 2), clique(0, 3, 4))
    state = State(Problem(g, 0), by_number_array(6))
    state.removed_structures.append(frozenset({1, 2}))
    (step,) = CliqueSparsify()(state, 0)
    assert step.nodes == (0, 3, 4)


def test_a_time_limit_holds_while_cliques_are_sought():
    couples = [(2 * i, 2 * i + 1) for i in range(22)]
    g = complete(45).toggle(couples)  # four million cliques through every node
    started = time.process_time()  # of ours alone: the machine may be busy
    method = cli(max_cliques=10**9)
    result = explain(g, lambda a: 0, method, time_limit=0.2)
    assert str(result.status) == "budget"
    assert time.process_time() - started < 3


# ---- which clique is removed ------------------------------------------------------------


def test_the_first_time_the_largest_clique_is_removed():
    g = graph(6, clique(0, 1, 2), clique(0, 3, 4, 5))
    assert removals(g, by_number, 1) == [((0, 3), (0, 4), (0, 5), (3, 4), (3, 5), (4, 5))]


def test_the_first_clique_is_really_removed():  # D4
    g = graph(4, clique(0, 1, 2))
    assert removals(g, by_number, 1) == [((0, 1), (0, 2), (1, 2))]


def test_equally_large_cliques_the_first_time_are_decided_by_their_vertices():
    g = graph(10, clique(0, 5, 6), clique(0, 2, 9))
    assert removals(g, by_number, 1) == [((0, 2), (0, 9), (2, 9))]


def test_vertices_decide_also_when_the_node_is_not_the_smallest_of_them():
    g = graph(10, clique(5, 7, 8), clique(1, 5, 9))
    assert removals(g, in_order(5, 0, 1, 2, 3, 4, 6, 7, 8, 9), 1) == [((1, 5), (1, 9), (5, 9))]


def test_later_the_lowest_overlap_beats_the_largest_clique():
    g = graph(6, clique(0, 1, 2, 3), clique(1, 4, 5))
    assert removals(g, by_number, 2) == [
        ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)),
        ((1, 4), (1, 5), (4, 5)),  # shares one node with the first; the larger one all four
    ]


def test_of_equal_overlap_the_largest_clique_goes():
    g = graph(9, clique(0, 1, 2, 3), clique(1, 4, 5), clique(1, 6, 7, 8))
    assert removals(g, by_number, 2)[1] == ((1, 6), (1, 7), (1, 8), (6, 7), (6, 8), (7, 8))


def test_of_equal_overlap_and_size_the_vertices_decide():
    g = graph(8, clique(0, 1, 2, 3), clique(1, 6, 7), clique(1, 4, 5))
    assert removals(g, by_number, 2)[1] == ((1, 4), (1, 5), (4, 5))


def test_overlap_is_the_largest_with_one_clique_not_the_sum_over_all():
    g = graph(10, clique(0, 1, 2), clique(3, 4, 5), clique(7, 8, 9), clique(0, 3, 6), [(6, 7)])
    # At node 6: {0, 3, 6} meets two cliques in one node each, {6, 7} meets one in one node.
    got = removals(g, in_order(1, 4, 8, 6, 0, 2, 3, 5, 7, 9), 4)
    assert got[3] == ((0, 3), (0, 6), (3, 6))


def test_cliques_are_those_of_the_original_but_only_edges_still_there_are_removed():
    g = graph(5, clique(0, 1, 2, 3), clique(2, 3, 4))
    got = removals(g, in_order(0, 4, 1, 2, 3), 2)
    assert got[1] == ((2, 4), (3, 4))  # (2, 3) went with the first clique


def test_a_clique_met_again_removes_nothing_and_is_still_asked_about():
    stream = DCS(rank=by_number, densify=nothing)(Problem(graph(3, clique(0, 1, 2)), 0))
    again = list(islice(stream, 2))[1]
    assert (again.toggled, again.ask, again.nodes) == ((), Ask.YES, (0, 1, 2))


def test_a_node_without_edges_is_passed_over_and_counts_no_iteration():
    g = graph(6, [(1, 2)], [(4, 5)])
    method = DCS(rank=by_number, densify=nothing, max_iterations=3)
    got = [(s.iteration, s.nodes) for s in method(Problem(g, 0))]
    assert got == [(1, (1, 2)), (2, (1, 2)), (3, (4, 5))]


def test_a_graph_without_edges_offers_nothing():
    assert steps(empty(4)) == []


def test_the_cap_on_cliques_is_said_in_the_result():
    g = star(6)  # node 0 lies in five cliques
    for cap, said in ((4, True), (5, False)):
        problem = Problem(g, 0)
        sparsify = CliqueSparsify(max_cliques=cap)
        next(DCS(rank=by_number, sparsify=sparsify, densify=nothing)(problem))
        assert any("more than 4 maximal cliques" in note for note in problem.notes) is said


def test_contrast_may_choose_the_clique_instead_of_overlap():
    g = graph(6, clique(0, 1, 2, 3), clique(0, 4, 5))
    few = [graph(6, clique(0, 4, 5))]  # the current class has this triangle, the target lacks it
    many = [graph(6, clique(0, 1, 2, 3), clique(1, 4), clique(2, 5))]

    class Oracle:
        def predict(self, graphs):
            return [int(h in many) for h in graphs]

    background = Background(few + many)
    problem = Problem(
        g, 0, background=background, label_background=lambda: background.labels(Session(Oracle()))
    )
    method = DCS(rank=by_number, sparsify=CliqueSparsify(select="contrast"), densify=nothing)
    assert next(method(problem)).toggled == ((0, 4), (0, 5), (4, 5))


# ---- which nodes are joined -------------------------------------------------------------


@pytest.mark.parametrize("edges", range(1, 70))
def test_the_size_of_an_added_clique_is_the_smallest_with_enough_edges(edges):  # D6
    m = clique_size(edges)
    assert m * (m - 1) // 2 >= edges > (m - 1) * (m - 2) // 2


def test_one_iteration_on_two_cliques():
    """Removal, addition, and a second, widened addition: the first iteration written out."""
    assert steps(two_cliques(), 3, rank="triangles") == [
        ("sparsify", ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))),
        # 6 edges wanted, so 4 nodes: 7 (the worst), then 6, 5, 4, unused so far. 4-5-6 is a
        # triangle already: three new edges.
        ("densify", ((4, 7), (5, 7), (6, 7))),
        # 3 still wanted, so 3 nodes: 7, 6, 5 have the lowest counts but are joined, so is 4;
        # with 3 as the fifth there is something to add.
        ("densify", ((3, 5), (3, 6), (3, 7))),
    ]


def test_nodes_within_two_hops_come_first_whatever_their_counts():
    g = graph(6, [(4, 5)])
    state = make_state(g, removed=3, size=3, counts={4: 5})
    assert densified(state, 5) == [((3, 4), (3, 5)), ((2, 3), (2, 4), (2, 5))]


def test_two_hops_are_measured_in_the_current_graph():
    g = graph(7, clique(0, 1, 5))
    got = steps(g, 2, rank=in_order(0, 1, 2, 3, 4, 6, 5))
    # In the original 0 and 1 are next to 5; once their clique is gone they are not.
    assert got == [("sparsify", ((0, 1), (0, 5), (1, 5))), ("densify", ((4, 5), (4, 6), (5, 6)))]


def test_only_as_many_nodes_are_ordered_as_can_be_joined():
    g = graph(9, clique(0, 1, 2), [(2, 3), (4, 5)])
    counts = {0: 3, 1: 2, 2: 2, 3: 1, 4: -1, 5: 0, 6: 0, 7: 0, 8: -1}
    state = make_state(g, removed=3, size=3, counts=counts)
    place = np.array([8, 7, 6, 5, 4, 3, 2, 1, 0])
    # Near node 0 are 0 to 3: by count, then by place. The others follow likewise.
    expected = [3, 2, 1, 0, 8, 4, 7, 6, 5]
    for count in range(1, 10):
        assert _least_used(state, 0, place, count) == expected[:count]


def test_of_equal_count_the_sparse_end_of_the_ranking_comes_first():
    g = empty(6)
    state = make_state(g, removed=3, size=3)
    assert densified(state, 2) == [((2, 4), (2, 5), (4, 5))]  # 2 itself is near, then 5, 4


def test_harmonic_centrality_may_break_ties_instead():
    g = graph(7, [(3, 4), (4, 5), (5, 6)])  # 0, 1, 2 alone; 3-4-5-6 a path
    state = make_state(g, removed=3, size=3)
    # Lowest centrality first: 0, 1, 2 (zero, by number).
    assert densified(state, 2, ties="harmonic") == [((0, 1), (0, 2), (1, 2))]


@pytest.mark.parametrize(
    ("step", "expected"),
    [
        # Counts after the first clique {4, 5, 6} and a removal at 5: 6 and 4 are preferred, then
        # 5 and the unused; 6, 4, 5 are joined, so 3 joins them.
        (-1, [((3, 4), (3, 5), (3, 6))]),
        # Only the removal at 5 (and 7) counts: 6, 4, 3; one edge is lacking, 2 joins them.
        (0, [((3, 4), (3, 6)), ((2, 3), (2, 4), (2, 6))]),
        # Nodes of added cliques are avoided: 3, 2, 1.
        (1, [((1, 2), (1, 3), (2, 3))]),
    ],
)
def test_what_an_added_clique_does_to_the_counts(step, expected):  # D5
    g = star(8)  # through the hub every node is within two hops of every other
    state = make_state(g, removed=3, size=3, counts={7: 1})
    assert densified(state, 7, step=step) == [((4, 5), (4, 6), (5, 6))]
    state.counts[5] += 1
    assert densified(state, 6, step=step) == expected


def test_a_second_addition_is_as_large_as_what_is_still_lacking():  # D6
    g = graph(12, star(12).edges(), [(10, 11)])
    state = make_state(g, removed=6, size=4)
    # Four nodes for six edges, but 10 and 11 are joined: five. One is lacking: two nodes.
    assert densified(state, 11, step=1) == [
        ((8, 9), (8, 10), (8, 11), (9, 10), (9, 11)),
        ((6, 7),),
    ]


def test_a_removed_clique_adds_one_to_its_nodes_counts():
    state = State(Problem(two_cliques(), 0), by_number_array(8))
    next(iter(CliqueSparsify()(state, 3)))
    assert state.counts.tolist() == [1, 1, 1, 1, 0, 0, 0, 0]
    assert state.removed_structures == [frozenset({0, 1, 2, 3})]


@pytest.mark.parametrize(
    ("slack", "expected"),
    [(0, []), (1, [((2, 3), (2, 4), (2, 5))]), (10, [((2, 3), (2, 4), (2, 5))])],
)
def test_widening_stops_at_the_size_of_the_removed_clique_plus_the_slack(slack, expected):
    g = graph(6, clique(0, 1, 2), clique(3, 4, 5))
    got = steps(g, 4, densify=CliqueDensify(slack=slack))
    additions = [pairs for block, pairs in got if block == "densify"]
    assert got[0] == ("sparsify", ((0, 1), (0, 2), (1, 2)))
    # 5, 4, 3 are joined already; a fourth node may be taken only if the slack allows it.
    assert additions[: len(expected)] == expected
    if not expected:
        assert got[1][0] == "sparsify"


def test_the_slack_caps_the_first_choice_too():
    g = empty(9)
    state = make_state(g, removed=6, size=3)  # 6 edges would take 4 nodes
    first = densified(state, 8, slack=0)[0]
    assert first == ((6, 7), (6, 8), (7, 8))


def test_densify_is_repeated_until_the_iteration_is_balanced():
    g = graph(8, clique(0, 1, 2, 3))
    for number in range(1, 6):
        stream = DCS(rank=by_number, max_iterations=number)(Problem(g, 0))
        mine = [s for s in stream if s.iteration == number]
        removed = sum(len(s.toggled) for s in mine if s.block == "sparsify")
        added = [len(s.toggled) for s in mine if s.block == "densify"]
        assert sum(added) >= removed
        assert sum(added[:-1]) < max(removed, 1)  # and not once more


def test_nothing_removed_means_nothing_added():
    g = graph(5, clique(0, 1))
    blocks = [block for block, _ in steps(g, 3)]
    assert blocks == ["sparsify", "densify", "sparsify"]  # node 1's clique is gone already


# ---- which node, how often, which question ----------------------------------------------


def visited(n_nodes, n_iterations):
    seen = {"sparsify": [], "densify": []}

    def block(kind):
        def act(state, node):
            seen[kind].append(node)
            yield Step(kind, "edge", ())

        return act

    method = DCS(
        rank=by_number,
        sparsify=block("sparsify"),
        densify=block("densify"),
        max_iterations=n_iterations,
    )
    assert len(list(method(Problem(empty(n_nodes), 0)))) == 2 * n_iterations
    return seen


def test_best_and_worst_nodes_in_turn_and_round_again():
    assert visited(4, 6) == {"sparsify": [0, 1, 2, 3, 0, 1], "densify": [3, 2, 1, 0, 3, 2]}


def test_the_limit_is_two_hundred_iterations_and_is_said():
    problem = Problem(graph(4, clique(0, 1, 2)), 0)
    assert max(step.iteration for step in cli()(problem)) == 200
    assert problem.notes == ["The iteration limit of 200 was reached."]


def test_a_question_follows_the_removal_and_each_addition():  # D7
    stream = cli()(Problem(two_cliques(), 0))
    assert [(s.block, s.ask) for s in islice(stream, 3)] == [
        ("sparsify", Ask.YES),
        ("densify", Ask.YES),
        ("densify", Ask.YES),
    ]


def test_one_question_per_iteration_if_so_wished():
    stream = DCS(questions="iteration", max_iterations=2)(Problem(two_cliques(), 0))
    got = [(s.iteration, s.ask) for s in stream]
    assert got == [(1, Ask.NO), (1, Ask.NO), (1, Ask.YES), (2, Ask.YES)]
