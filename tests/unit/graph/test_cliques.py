"""Cliques through a node by hand; choices among them against comparing them one by one."""

from __future__ import annotations

import time
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.graph import cliques
from denseflip.graph.cliques import Cliques, Overlaps, maximal_cliques_through
from denseflip.graph.density import NeighbourSets
from graphs import complete, empty, graph, star, triangle_with_tail, two_cliques
from strategies import graphs


def cocktail_party(n_couples: int) -> list[set[int]]:
    """Everyone is joined with all but their partner: 2^n maximal cliques; the last node is alone
    and joined with all, so all of them go through it."""
    n = 2 * n_couples + 1
    return [
        {w for w in range(n) if w != v and (w // 2 != v // 2 or n - 1 in (v, w))} for v in range(n)
    ]


def test_the_largest_comes_first_then_the_lexicographically_smallest():
    near = NeighbourSets(two_cliques())
    assert list(maximal_cliques_through(3, near)) == [(0, 1, 2, 3), (3, 4)]
    assert list(maximal_cliques_through(5, near)) == [(4, 5, 6)]
    near = NeighbourSets(star(5))
    assert list(maximal_cliques_through(0, near)) == [(0, 1), (0, 2), (0, 3), (0, 4)]
    found = maximal_cliques_through(2, NeighbourSets(triangle_with_tail()))
    assert (len(found), found[0], found[1], found.n_members) == (2, (0, 1, 2), (2, 3), 3)


def test_a_node_without_neighbours_is_in_no_clique():
    found = maximal_cliques_through(1, NeighbourSets(empty(3)))
    assert (list(found), found.complete) == ([], True)


def test_a_clique_larger_than_the_call_stack():
    n = 1500
    near = [set(range(n)) - {v} for v in range(n)]
    assert list(maximal_cliques_through(0, near)) == [tuple(range(n))]


def test_a_limit_ends_the_search():
    near = cocktail_party(20)  # a million cliques through the last node
    found = maximal_cliques_through(40, near, limit=7)
    assert len(found) == 7
    assert not found.complete
    assert {len(c) for c in found} == {21}
    near = cocktail_party(3)
    assert not maximal_cliques_through(6, near, limit=7).complete
    assert maximal_cliques_through(6, near, limit=8).complete


class OutOfTimeError(Exception):
    pass


def test_the_clock_is_looked_at_inside_the_search():
    started = time.process_time()  # of ours alone: the machine may be busy

    def check():
        if time.process_time() - started > 0.05:
            raise OutOfTimeError

    with pytest.raises(OutOfTimeError):
        maximal_cliques_through(40, cocktail_party(20), check=check)
    assert time.process_time() - started < 2


def test_the_clock_is_not_looked_at_all_the_time():
    looks = []
    found = maximal_cliques_through(24, cocktail_party(12), check=lambda: looks.append(1))
    assert len(found) == 4096
    assert 1 <= len(looks) <= len(found) / 200


def test_cliques_are_kept_while_there_is_room():
    near = NeighbourSets(two_cliques())
    kept = Cliques(near, keep=3)
    first = kept.through(3)  # two cliques
    assert kept.through(3) is first
    assert kept.through(0) is kept.through(0)  # one more: full
    assert kept.through(5) is not kept.through(5)
    assert list(kept.through(5)) == [(4, 5, 6)]
    assert kept.through(3) is first


def test_a_limit_and_a_clock_are_handed_on():
    kept = Cliques(cocktail_party(12), limit=5, check=lambda: None)
    assert (len(kept.through(24)), kept.through(24).complete) == (5, False)


# ---- values ----------------------------------------------------------------------------------


@given(graphs(min_nodes=2, max_nodes=8), st.randoms(use_true_random=False))
def test_the_heaviest_clique_is_found(g, random):
    n = g.n_nodes
    weight = {pair: random.randint(-5, 5) for pair in combinations(range(n), 2)}
    for node in range(n):
        found = maximal_cliques_through(node, NeighbourSets(g))
        if not len(found):
            continue
        nodes = [node, *found.others]
        values = np.array([[weight.get((min(u, v), max(u, v)), 9) for v in nodes] for u in nodes])
        sums = [sum(weight[p] for p in combinations(clique, 2)) for clique in found]
        assert found.heaviest(values) == sums.index(max(sums))


# ---- overlaps -------------------------------------------------------------------------------


def test_the_first_clique_overlaps_with_nothing():
    assert Overlaps().least(maximal_cliques_through(3, NeighbourSets(two_cliques()))) == 0


def test_the_least_overlap_counts_the_worst_of_the_sets():
    # Through node 0: the cliques 0-1-2-3, 0-4-5 and 0-6.
    g = graph(7, complete(4).edges(), [(0, 4), (0, 5), (4, 5), (0, 6)])
    found = maximal_cliques_through(0, NeighbourSets(g))
    assert list(found) == [(0, 1, 2, 3), (0, 4, 5), (0, 6)]
    taken = Overlaps()
    taken.add((1, 2))  # overlaps: 2, 0, 0, and the larger of the two wins
    assert taken.least(found) == 1
    taken.add((4,))  # 2, 1, 0
    assert taken.least(found) == 2
    taken.add((0, 6))  # 2, 1, 2: with node 0 alone nobody is below 1
    assert taken.least(found) == 1
    taken.add((0, 4, 5))  # 2, 3, 2
    assert taken.least(found) == 0
    assert len(taken) == 4


@given(graphs(min_nodes=2, max_nodes=9), st.data())
def test_choices_equal_comparing_one_by_one(g, data):
    near = NeighbourSets(g)
    sets = data.draw(st.lists(st.sets(st.integers(0, g.n_nodes - 1), min_size=1), max_size=20))
    taken = Overlaps()
    for nodes in sets:
        taken.add(nodes)
    whole = g.to_networkx()
    for node in range(g.n_nodes):
        by_hand = [tuple(sorted(c)) for c in nx.find_cliques(whole) if node in c and len(c) > 1]
        found = maximal_cliques_through(node, near)
        assert list(found) == sorted(by_hand, key=lambda c: (-len(c), c))
        if not by_hand:
            continue

        def preference(clique):
            overlap = max((len(nodes & set(clique)) for nodes in sets), default=0)
            return (overlap, -len(clique), clique)

        best = min(by_hand, key=preference)
        assert found[taken.least(found)] == best
        # Few and many are counted differently, to the same end.
        if sets:
            rows = [taken._sets_with.get(v, 0) for v in found.others]
            own = taken._sets_with.get(node, 0)
            assert found[cliques._least_of_few(found.masks, rows[::-1], own)] == best
            assert found[taken._least_of_many(found.packed, rows, own)] == best


def test_many_cliques_are_compared_in_parts(monkeypatch):
    found = maximal_cliques_through(16, cocktail_party(8))
    taken = Overlaps()
    for clique in (found[0], found[3], found[100], found[255]):
        taken.add(clique)
    expected = min(
        range(len(found)),
        key=lambda i: max(len(set(found[i]) & set(found[j])) for j in (0, 3, 100, 255)),
    )
    assert taken.least(found) == expected
    monkeypatch.setattr(cliques, "_PRODUCT", 100)
    assert taken.least(found) == expected
