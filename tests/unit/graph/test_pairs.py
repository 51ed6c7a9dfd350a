from __future__ import annotations

import numpy as np
import pytest

from denseflip.errors import InvalidGraphError
from denseflip.graph import Graph
from denseflip.graph.pairs import (
    are_among,
    count_each,
    decode,
    encode_pairs,
    key_of,
    random_codes,
    toggled,
)


@pytest.mark.parametrize("n", [-1, 2.5, "4", None, True, float("nan"), 10**10, [4]])
def test_a_number_of_nodes_is_a_whole_number(n):
    with pytest.raises(InvalidGraphError, match="edges: the number of nodes must be a whole num"):
        Graph.from_edges(n, [])


@pytest.mark.parametrize("n", [3, 3.0, np.int32(3), np.float64(3)])
def test_whole_numbers_of_any_make_will_do(n):
    assert Graph.from_edges(n, [(0, 2)]).n_nodes == 3


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([(0, 1), (0,)], r"edges: entry 1 must be a pair of nodes \(u, v\); got \(0,\)"),
        ([3], "entry 0 must be a pair of nodes .*; got 3"),
        (7, "expected node pairs; got int"),
        (np.zeros((2, 3), dtype=int), r"expected an array of shape \(k, 2\); got \(2, 3\)"),
        (np.arange(4), r"expected an array of shape \(k, 2\); got \(4,\)"),
        (np.zeros((2, 4), dtype=int), r"shape \(k, 2\); got \(2, 4\)"),
        ([("a", "b")], r"nodes must be whole numbers; got the pair \('a', 'b'\)"),
        ([(0, 0.5)], r"nodes must be whole numbers"),
        ([(0, float("nan"))], r"nodes must be whole numbers"),
        ([(True, False)], r"nodes must be whole numbers"),
        ([(0, 10**30)], r"entry 0 is a node outside 0..4"),
        ([(0, 1e300)], r"entry 0 is a node outside 0..4"),
        ([(0, 5), (1, 7)], r"entry 0 is a node outside 0..4: \(0, 5\) \(and 1 more\)"),
        (np.array([[0, 2**64 - 1]], dtype=np.uint64), "outside 0..4"),
        ([(3, 3)], r"entry 0 is a self-loop \(remove it.*\(3, 3\)"),
        ([(0, 1), (2, 3), (1, 0)], r"entry 2 is a duplicate pair .*: \(1, 0\)"),
    ],
)
def test_what_is_no_pair_is_named(pairs, message):
    with pytest.raises(InvalidGraphError, match=message):
        encode_pairs(pairs, 5, source="edges")


@pytest.mark.parametrize("nothing", [[], (), iter(()), np.empty((0, 2)), np.array([])])
def test_nothing_is_no_pairs(nothing):
    assert encode_pairs(nothing, 5, source="x").tolist() == []


def test_codes_keep_the_order_given_and_lead_back():
    codes = encode_pairs([(4, 1), (0, 2.0), [1, 3]], 5, source="x")
    assert codes.tolist() == [9, 2, 8]
    assert decode(codes, 5) == [(1, 4), (0, 2), (1, 3)]


def test_toggles_at_both_ends_of_many_codes():
    codes = np.arange(10, 5000, 2)
    flips = np.array([4998, 0, 11, 9999, 10])
    expected = sorted(set(codes.tolist()) ^ set(flips.tolist()))
    assert toggled(codes, flips).tolist() == expected
    assert toggled(codes, np.arange(10, 5000)).tolist() == list(range(11, 5000, 2))
    assert toggled(np.empty(0, dtype=np.int64), flips).tolist() == sorted(flips.tolist())


def test_codes_counted_over_several_runs():
    runs = [np.array(x, dtype=np.int64) for x in ([1, 4, 9], [4], [], [0, 4, 9])]
    codes, counts = count_each(runs)
    assert (codes.tolist(), counts.tolist()) == ([0, 1, 4, 9], [1, 1, 3, 2])
    assert [x.tolist() for x in count_each([])] == [[], []]


def test_which_codes_are_among_others():
    others = np.array([2, 5, 7])
    assert are_among(np.array([7, 1, 2, 9]), others).tolist() == [True, False, True, False]
    assert are_among(np.array([3]), np.empty(0, dtype=np.int64)).tolist() == [False]
    assert are_among(np.empty(0, dtype=np.int64), others).tolist() == []


def test_keys_are_the_same_on_every_machine():
    """Stores and logs know graphs by them."""
    assert key_of([]) == 0
    assert key_of([3, 8]) == 174613157213369040710875425525610529265
    assert key_of(range(100)) == 270344278772946568826858268771376980096
    assert key_of(np.arange(100)) == key_of(list(range(100)))


@pytest.mark.parametrize("k", [63, 64, 65, 66])
def test_keys_of_few_and_of_many_are_of_one_kind(k):
    one_by_one = 0
    for code in range(k):
        one_by_one ^= key_of([code])
    assert key_of(np.arange(k)) == key_of(list(range(k))) == one_by_one


def test_every_pair_can_be_drawn_by_chance():
    n = 40
    codes = random_codes(n, n * (n - 1) // 2, np.random.default_rng(0))
    assert sorted(codes.tolist()) == [u * n + v for u in range(n) for v in range(u + 1, n)]


def test_of_one_bad_pair_no_more_are_told():
    with pytest.raises(InvalidGraphError) as told:
        Graph.from_edges(5, [(0, 1), (0, 5)])
    assert str(told.value).endswith("outside 0..4: (0, 5).")
