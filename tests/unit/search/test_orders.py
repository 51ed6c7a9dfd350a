"""Orders of node pairs by example: what comes first, what comes last, and where ties go."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from denseflip.oracles.background import Contrast
from denseflip.search.methods import orders
from denseflip.search.methods.orders import ContrastScore, NodeSum
from graphs import complete, empty, graph

# Values 5, 0, 5, 1 at the nodes; 0-1 and 2-3 are joined.
VALUES = NodeSum(np.array([5, 0, 5, 1]))
TWO_EDGES = graph(4, [(0, 1), (2, 3)])
UP = [(1, 3), (1, 2), (0, 3), (0, 2)]  # sums 1, 5, 6, 10


@pytest.mark.parametrize("lazily", [False, True])
def test_a_descending_run_is_the_ascending_one_backwards(lazily):
    run = VALUES.unjoined_lazily if lazily else VALUES.unjoined
    assert list(run(TWO_EDGES, descending=False)) == UP
    assert list(run(TWO_EDGES, descending=True)) == UP[::-1]


@pytest.mark.parametrize("lazily", [False, True])
def test_of_equal_sums_the_last_pair_comes_first_in_a_descending_run(lazily):
    same = NodeSum(np.full(4, 3))
    run = same.unjoined_lazily if lazily else same.unjoined
    pairs = [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert list(run(TWO_EDGES, descending=False)) == pairs
    assert list(run(TWO_EDGES, descending=True)) == pairs[::-1]
    assert list(orders.joined(TWO_EDGES, same, descending=False)) == [(0, 1), (2, 3)]
    assert list(orders.joined(TWO_EDGES, same, descending=True)) == [(2, 3), (0, 1)]


def test_the_lazy_run_is_taken_only_where_there_are_many_pairs(monkeypatch):
    taken = []

    class Watched(NodeSum):
        def unjoined_lazily(self, graph, *, descending):
            taken.append(descending)
            return super().unjoined_lazily(graph, descending=descending)

    score = Watched(VALUES.values)
    assert list(score.unjoined(TWO_EDGES, descending=True)) == UP[::-1]
    monkeypatch.setattr(orders, "_DENSE_PAIRS", 6)  # all pairs of four nodes
    assert list(score.unjoined(TWO_EDGES, descending=True)) == UP[::-1]
    assert taken == []
    monkeypatch.setattr(orders, "_DENSE_PAIRS", 5)
    assert list(score.unjoined(TWO_EDGES, descending=True)) == UP[::-1]
    assert list(score.unjoined(TWO_EDGES, descending=False)) == UP
    assert taken == [True, False]


@pytest.mark.parametrize("spread", [1, 65_535, 65_536, 10**12])
@pytest.mark.parametrize("low", [-7, 0, 3])
def test_small_and_large_ranges_of_values_are_sorted_alike(low, spread):
    values = np.array([low + spread, low, low + spread, low])
    assert orders._by_value(values).tolist() == [1, 3, 0, 2]
    assert orders._by_value(values.astype(float)).tolist() == [1, 3, 0, 2]
    assert orders._by_value(values[:0]).tolist() == []


def test_sums_of_two_values_come_once_and_in_order():
    values = [-3, 0, 1, 2]
    every = sorted({a + b for a in values for b in values})
    assert list(orders._sums(values, descending=False)) == every
    assert list(orders._sums(values, descending=True)) == every[::-1]
    assert list(orders._sums([], descending=False)) == []


def test_pairs_without_contrast_lie_between_the_signs_and_reverse_as_well():
    # Pairs of four nodes: 01 is joined, 02 speaks for the class, 13 and 23 against it.
    code = {(u, v): 4 * u + v for u in range(4) for v in range(u + 1, 4)}
    contrast = Contrast(
        np.array([code[0, 1], code[0, 2], code[1, 3], code[2, 3]]), np.array([9, 2, -1, -4])
    )
    score, g = ContrastScore(contrast), graph(4, [(0, 1)])
    up = [(2, 3), (1, 3), (0, 3), (1, 2), (0, 2)]
    assert list(score.unjoined(g, descending=False)) == up
    assert list(score.unjoined(g, descending=True)) == up[::-1]


def test_a_full_and_an_empty_graph():
    nothing = ContrastScore(Contrast(np.array([], dtype=np.int64), np.array([], dtype=np.int64)))
    for descending in (False, True):
        assert list(nothing.unjoined(complete(4), descending=descending)) == []
        assert list(VALUES.unjoined_lazily(complete(4), descending=descending)) == []
        assert list(NodeSum(np.array([])).unjoined(empty(0), descending=descending)) == []
        assert list(NodeSum(np.array([])).unjoined_lazily(empty(0), descending=descending)) == []


def test_pairs_are_decoded_a_few_at_a_time():
    asked = []

    class Codes(np.ndarray):
        def __getitem__(self, part):
            asked.append(part)
            return super().__getitem__(part)

    codes = np.arange(10).view(Codes)
    run = orders.decoded(codes, 5, chunk=4)
    assert list(islice(run, 4)) == [(0, 0), (0, 1), (0, 2), (0, 3)]
    assert asked == [slice(0, 4)]
    assert list(run) == [divmod(c, 5) for c in range(4, 10)]
    assert asked == [slice(0, 4), slice(4, 8), slice(8, 12)]
