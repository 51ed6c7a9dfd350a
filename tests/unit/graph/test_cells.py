"""Cells by hand on six nodes; the same on any taxonomy against counting one by one."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.errors import InvalidNodesError, InvalidParameterError
from denseflip.graph import Cells, Edits, Graph, Taxonomy, cells
from denseflip.graph.cells import cover_cells, cover_regions
from denseflip.graph.pairs import decode
from graphs import clique, graph
from strategies import graphs, node_tables

# Nodes 0-2 are A, 3-4 are B, 5 is C.
CELLS = Cells(Taxonomy("t", ("A", "B", "C"), (0, 0, 0, 1, 1, 2)))
EDITS = Edits(added=((0, 3), (1, 3), (1, 5)), removed=((0, 1), (0, 4)))


def test_cells_are_numbered_row_by_row():
    assert len(CELLS) == 6
    every = CELLS.at(range(6))
    assert every == ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
    assert [CELLS.number(c) for c in every] == list(range(6))
    assert CELLS.number((2, 1)) == CELLS.number((1, 2))
    assert CELLS.within.tolist() == [0, 3, 5]


def test_cells_are_marked_whichever_region_comes_first():
    marked = CELLS.marked([(1, 0), (2, 2)])
    assert np.flatnonzero(marked).tolist() == [CELLS.number((0, 1)), CELLS.number((2, 2))]


def test_cell_numbers_are_the_same_with_and_without_tables(monkeypatch):
    codes = np.array([p[0] * CELLS.n_nodes + p[1] for p in combinations(range(CELLS.n_nodes), 2)])
    by_code = CELLS.numbers(codes).tolist()
    monkeypatch.setattr(cells, "_TABLE_NODES", 0)
    assert CELLS.numbers(codes).tolist() == by_code
    monkeypatch.setattr(cells, "_TABLE_REGIONS", 0)
    assert CELLS.numbers(codes).tolist() == by_code


def test_the_cell_of_a_pair_and_its_name():
    assert CELLS.cell(3, 0) == CELLS.cell(0, 3) == (0, 1)
    assert CELLS.name((0, 1)) == "A – B"
    assert CELLS.name((1, 1)) == "B"


def test_sizes_and_members():
    assert CELLS.region_sizes.tolist() == [3, 2, 1]
    assert CELLS.sizes.tolist() == [3, 6, 3, 1, 2, 0]
    assert decode(CELLS.members((0, 0)), 6) == clique(0, 1, 2)
    assert decode(CELLS.members((1, 2)), 6) == [(3, 5), (4, 5)]
    assert CELLS.members((2, 2)).tolist() == []


def test_members_are_sorted_when_regions_are_interleaved():
    mixed = Cells(Taxonomy.from_labels("t", ["B", "A", "B", "A"]))
    assert decode(mixed.members((0, 1)), 4) == [(0, 1), (0, 3), (1, 2), (2, 3)]


def test_counts():
    assert CELLS.count(EDITS).tolist() == [1, 3, 1, 0, 0, 0]
    assert CELLS.count(EDITS.removed).tolist() == [1, 1, 0, 0, 0, 0]
    assert CELLS.matrix(EDITS).tolist() == [[1, 3, 1], [3, 0, 0], [1, 0, 0]]
    assert CELLS.ends(EDITS).tolist() == [6, 3, 1]
    assert CELLS.densities(EDITS).tolist() == [1 / 3, 1 / 2, 1 / 3, 0, 0, 0]


def test_everything_made_of_pairs_can_be_counted():
    g = graph(6, EDITS.pairs)
    expected = CELLS.count(EDITS).tolist()
    backwards = [(v, u) for u, v in EDITS.pairs]
    for content in (g, g.codes, g.pairs, g.edges(), iter(backwards)):
        assert CELLS.count(content).tolist() == expected
    for nothing in (Edits(), [], (), graph(6), np.empty(0, dtype=np.int64)):
        assert CELLS.count(nothing).tolist() == [0] * 6
        assert CELLS.tally(nothing) == CELLS.split(nothing) == {}


def test_orders():
    assert CELLS.order(np.array([1, -3, 0, 3, 1, 2])).tolist() == [1, 3, 5, 0, 4, 2]
    assert list(CELLS.tally(EDITS).items()) == [((0, 1), 3), ((0, 0), 1), ((0, 2), 1)]


def test_pairs_are_split_by_cell():
    parts = CELLS.split(reversed(EDITS.pairs))
    assert [(cell, decode(codes, 6)) for cell, codes in parts.items()] == [
        ((0, 0), [(0, 1)]),
        ((0, 1), [(0, 3), (0, 4), (1, 3)]),
        ((0, 2), [(1, 5)]),
    ]
    assert list(CELLS.split(EDITS, fullest_first=True)) == list(CELLS.tally(EDITS))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (graph(7), "assigns 6 nodes to regions, but the graph has 7"),
        ([(0, 1), (2, 6)], "assigns 6 nodes to regions, but a pair is on node 6"),
        ([(-1, 2)], "assigns 6 nodes to regions, but a pair is on node -1"),
        (np.array([36]), "assigns 6 nodes to regions, but the codes reach from 36 to 36"),
    ],
)
def test_other_nodes_are_refused(content, message):
    with pytest.raises(InvalidNodesError, match=message):
        CELLS.count(content)


def test_a_region_per_node_needs_no_square_table():
    n = 30_000  # all cells would be 450 million
    many = Cells(Taxonomy.from_labels("node", [str(v) for v in range(n)]))
    edits = Edits(added=((3, n - 1), (n - 2, n - 1)))
    assert many.tally(edits) == {(3, n - 1): 1, (n - 2, n - 1): 1}
    assert [codes.tolist() for codes in many.split(edits).values()] == [
        [3 * n + n - 1],
        [(n - 2) * n + n - 1],
    ]


def test_no_nodes():
    none = Cells(Taxonomy("t", (), ()))
    assert len(none) == 0
    assert none.count(Graph.from_edges(0, [])).tolist() == []
    assert none.matrix([]).shape == (0, 0)


# ---- the smallest cover --------------------------------------------------------------------

TALLY = {(0, 1): 5, (2, 2): 3, (1, 2): 1, (0, 3): 1}


@pytest.mark.parametrize(
    ("share", "of_cells", "of_regions"),
    [
        (0.5, ((0, 1),), (0, 1)),
        (0.8, ((0, 1), (2, 2)), (0, 1, 2)),
        (0.85, ((0, 1), (2, 2), (0, 3)), (0, 1, 2)),
        (1, ((0, 1), (2, 2), (0, 3), (1, 2)), (0, 1, 2, 3)),
        (1e-6, ((0, 1),), (2,)),
    ],
)
def test_smallest_covers(share, of_cells, of_regions):
    assert cover_cells(TALLY, share) == of_cells
    assert cover_regions(TALLY, share) == of_regions


def test_ties_go_to_the_set_that_holds_most_then_to_the_first_regions():
    assert cover_regions({(0, 0): 2, (1, 1): 3, (2, 2): 3}, 0.2) == (1,)
    assert cover_regions({(0, 1): 2, (0, 2): 2, (1, 2): 2}, 0.3) == (0, 1)
    assert cover_regions({(5, 9): 1, (7, 7): 0}, 0.5) == (5, 9)


def test_nothing_is_covered_by_nothing():
    assert cover_cells({}, 0.8) == ()
    assert cover_regions({}, 0.8) == ()


@pytest.mark.parametrize("share", [0, -0.1, 1.01, float("nan")])
@pytest.mark.parametrize("cover", [cover_cells, cover_regions])
def test_a_share_must_be_one(cover, share):
    with pytest.raises(InvalidParameterError, match="share must be above 0"):
        cover(TALLY, share)


def test_many_regions_are_covered_too(monkeypatch):
    # Twenty regions, 60 pairs among the first three: found by trying small sets.
    rng = np.random.default_rng(0)
    tally = {(0, 1): 20, (1, 2): 20, (0, 2): 20}
    for a, b in rng.integers(0, 20, size=(12, 2)).tolist():
        cell = (min(a, b), max(a, b))
        tally[cell] = tally.get(cell, 0) + 1
    tally |= {(r, r): 1 for r in range(20)}
    assert cover_regions(tally, 0.6) == (0, 1, 2)
    # Given no time to try them, regions are dropped; enough is still held.
    monkeypatch.setattr(cells, "_TRIED_SETS", 10)
    assert cover_regions(tally, 0.6) == (0, 1, 2)
    chosen = cover_regions(tally, 0.9)
    assert held_by(tally, chosen) >= 0.9 * sum(tally.values())


# ---- any taxonomy ----------------------------------------------------------------------------


@given(graphs(min_nodes=1), st.data())
def test_cells_count_as_one_by_one(g, data):
    taxonomy = data.draw(node_tables(g.n_nodes)).taxonomy("first*second")
    mine, k = Cells(taxonomy), len(taxonomy.regions)
    everywhere = list(combinations(range(g.n_nodes), 2))
    index = taxonomy.index
    every = [(a, b) for a in range(k) for b in range(a, k)]
    assert mine.at(range(len(mine))) == tuple(every)
    expected, room = dict.fromkeys(every, 0), dict.fromkeys(every, 0)
    for u, v in everywhere:
        cell = tuple(sorted((index[u], index[v])))
        assert mine.cell(u, v) == cell
        room[cell] += 1
        expected[cell] += g.has_edge(u, v)
    assert mine.count(g).tolist() == list(expected.values())
    assert mine.sizes.tolist() == list(room.values())
    square = mine.matrix(g)
    assert all(square[a, b] == square[b, a] == number for (a, b), number in expected.items())
    for cell in every:
        inside = [p for p in everywhere if mine.cell(*p) == cell]
        assert decode(mine.members(cell), g.n_nodes) == inside
    ends = [sum(index[v] == r for pair in g.edges() for v in pair) for r in range(k)]
    assert mine.ends(g).tolist() == ends
    by_hand = sorted((c for c in every if expected[c]), key=lambda c: (-expected[c], c))
    assert mine.tally(g) == {c: expected[c] for c in by_hand}
    assert list(mine.tally(g)) == by_hand
    parts = mine.split(g)
    assert list(parts) == list(dict.fromkeys(mine.cell(*p) for p in g.edges()))
    assert {c: decode(x, g.n_nodes) for c, x in parts.items()} == {
        c: [p for p in g.edges() if mine.cell(*p) == c] for c in by_hand
    }
    assert list(mine.split(g, fullest_first=True)) == by_hand
    # Beyond the table of numbers they are worked out, to the same.
    u, v = taxonomy.array[g.pairs].T
    assert mine._number(u, v).tolist() == mine.numbers(g).tolist()


def held_by(tally, chosen):
    return sum(n for (a, b), n in tally.items() if a in chosen and b in chosen)


TALLIES = st.dictionaries(
    st.tuples(st.integers(0, 6), st.integers(0, 6)).map(lambda c: (min(c), max(c))),
    st.integers(0, 6),
    max_size=12,
)


@given(TALLIES, st.floats(0.01, 1))
def test_covers_are_the_smallest(tally, share):
    need = share * sum(tally.values()) - 1e-9
    touched = sorted({r for cell, n in tally.items() if n for r in cell})
    ranked = [
        (size, -held_by(tally, chosen), chosen)
        for size in range(1, len(touched) + 1)
        for chosen in combinations(touched, size)
        if held_by(tally, chosen) >= need
    ]
    best = min(ranked, default=(0, 0, ()))[2]
    assert cover_regions(tally, share) == best
    chosen = cover_cells(tally, share)
    assert sum(tally[c] for c in chosen) >= need
    counts = sorted(tally.values(), reverse=True)
    assert not chosen or sum(counts[: len(chosen) - 1]) < need


@given(TALLIES, st.floats(0.01, 1))
def test_both_exact_ways_agree(tally, share):
    upper = np.zeros((7, 7), dtype=np.int64)
    for cell, number in tally.items():
        upper[cell] = number
    need = share * upper.sum() - 1e-9
    if upper.any():
        assert cells._best_of_all(upper, need) == cells._best_of_small(upper, need)
    kept = cells._peeled(upper, need)
    assert upper[np.ix_(kept, kept)].sum() >= need
