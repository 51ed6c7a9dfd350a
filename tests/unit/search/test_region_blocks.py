from __future__ import annotations

import pytest

from denseflip import explain, make_method
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.graph import Nodes
from denseflip.search.methods.cell import RegionBlocks
from graphs import clique, complete, empty, graph, halves


def trace(g, background, **parameters):
    """Steps of `blocks` when nothing flips: (kind, name, pairs). The target class is 1."""
    target = background[1:]

    class Oracle:
        def predict(self, graphs):
            return [int(h in target) for h in graphs]

    nodes = halves(g.n_nodes)
    method = make_method("blocks", **parameters)
    result = explain(g, Oracle(), method, nodes=nodes, background=background)
    return [(s.block, s.name, s.toggled) for s in result.trace]


LEFT, RIGHT = clique(0, 1, 2), clique(3, 4, 5)
CROSS = [(u, v) for u in range(3) for v in range(3, 6)]


def test_the_cell_that_differs_most_comes_first_and_is_brought_to_the_mean():
    g = graph(6, LEFT)
    one, two = graph(6, RIGHT, CROSS[:4]), graph(6, RIGHT, CROSS[:6])
    # Wanted: cross 5 more, left 3 fewer, right 3 more; the tie goes to the first region.
    got = trace(g, [g, one, two])
    assert [(kind, name, len(pairs)) for kind, name, pairs in got] == [
        ("densify", "Left – Right", 5),
        ("sparsify", "Left", 3),
        ("densify", "Right", 3),
    ]
    # The pairs that both target graphs have come first, then one of those that only one has.
    assert set(CROSS[:4]) < set(got[0][2])
    assert set(got[0][2]) in ({*CROSS[:4], CROSS[4]}, {*CROSS[:4], CROSS[5]})


def test_cells_that_need_no_change_are_passed_over():
    g = graph(6, LEFT)
    assert trace(g, [g, graph(6, LEFT, RIGHT)]) == [("densify", "Right", tuple(RIGHT))]


@pytest.mark.parametrize(
    ("strength", "sizes"),
    [("mean", [2]), ("max", [3]), (2, [4]), ("1.5", [3]), ("full", [9]), (100, [9])],
)
def test_strength_trades_regions_against_distance(strength, sizes):
    g = graph(6, LEFT)
    graphs = [graph(6, LEFT, CROSS[:1]), graph(6, LEFT, CROSS[:3])]
    got = trace(g, [g, *graphs], strength=strength)
    assert [len(pairs) for _, _, pairs in got] == sizes


def test_the_order_of_cells_does_not_depend_on_the_strength():
    g = empty(6)
    target = graph(6, LEFT, CROSS[:2])  # three more in the left, two more across
    for strength, sizes in (("mean", [3, 2]), ("full", [3, 9]), (2, [3, 4])):
        got = trace(g, [g, target], strength=strength)
        assert [(name, len(pairs)) for _, name, pairs in got] == [
            ("Left", sizes[0]),
            ("Left – Right", sizes[1]),
        ]


def test_full_empties_what_should_shrink():
    g = complete(6)
    got = trace(g, [g, g.toggle(CROSS[:4])], strength="full")
    assert got == [("sparsify", "Left – Right", tuple(CROSS))]


def test_max_leaves_alone_what_agrees_on_average():
    g = graph(6, CROSS[:2])
    graphs = [graph(6, CROSS[:1], LEFT), graph(6, CROSS[:3], LEFT)]  # the mean is what g has
    got = trace(g, [g, *graphs], strength="max")
    assert [name for _, name, _ in got] == ["Left"]


def test_another_taxonomy_or_two_crossed():
    g = empty(6)
    other = graph(6, [(0, 2), (1, 3), (1, 5)])
    assert trace(g, [g, other], regions="parity") == [
        ("densify", "Odd", ((1, 3), (1, 5))),
        ("densify", "Even", ((0, 2),)),
    ]
    names = [name for _, name, _ in trace(g, [g, other], regions="side*parity")]
    assert set(names) == {"Left Even", "Left Odd – Right Odd"}


def test_unknown_taxonomy_or_strength_are_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'side'"):
        trace(empty(6), [empty(6), complete(6)], regions="sides")
    for wrong in ("most", 0, -1, float("nan"), float("inf")):
        with pytest.raises(InvalidParameterError, match="strength must be 'mean', 'max', 'full'"):
            RegionBlocks(strength=wrong)


def test_one_region_is_one_cell():
    nodes = Nodes(tuple("abc"), {"r": ("X",) * 3})
    result = explain(
        empty(3), lambda a: int(a.sum() > 0), "blocks", nodes=nodes, background=[complete(3)]
    )
    assert result.added == ((0, 1), (0, 2), (1, 2))
    assert [s.name for s in result.trace] == ["X"]
