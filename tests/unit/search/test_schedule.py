from __future__ import annotations

from itertools import islice

import pytest

from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.oracles.background import Background
from denseflip.search.core.problem import Problem
from denseflip.search.methods.dcs import DCS, densify_share
from graphs import clique, complete, empty, graph, path


def turns(g, n, background=None):
    known = None if background is None else Background(background)
    stream = DCS(schedule="density").schedule(Problem(g, 0, background=known))
    return "".join(turn[0] for (turn,) in islice(stream, n))


def test_alternate_is_one_of_each():
    stream = DCS(schedule="alternate").schedule(Problem(empty(), 0))
    assert list(islice(stream, 3)) == [("sparsify", "densify")] * 3


def test_a_sparse_graph_is_densified_more_often():
    g = path(5)  # 4 of 10 pairs: densify in 6 of 10 iterations
    assert densify_share(Problem(g, 0)) == pytest.approx(0.6)
    assert turns(g, 10) == "dsdsddsdsd"
    assert turns(g, 100).count("d") == 60


def test_extremes_call_one_block_only():
    assert turns(empty(), 6) == "dddddd"
    assert turns(complete(), 6) == "ssssss"


def test_the_background_is_the_yardstick_if_there_is_one():
    g = path(5)
    assert densify_share(Problem(g, 0, background=Background([g, g]))) == 0.5
    assert turns(g, 6, [g]) == "dsdsds"
    assert densify_share(Problem(g, 0, background=Background([complete()]))) == pytest.approx(5 / 7)
    assert densify_share(Problem(empty(), 0, background=Background([empty()]))) == 0.5
    assert densify_share(Problem(g, 0, background=Background([]))) == pytest.approx(0.6)


@pytest.mark.parametrize("n_nodes", [3, 4, 5, 6, 7])
def test_the_turns_never_stray_from_the_share_by_more_than_one(n_nodes):
    g = path(n_nodes)
    share = densify_share(Problem(g, 0))
    done = turns(g, 200)
    for i in range(1, 201):
        assert abs(done[:i].count("d") - share * i) <= 1


def test_an_unknown_schedule_is_refused():
    with pytest.raises(UnknownNameError, match="Did you mean 'alternate'"):
        DCS(schedule="alternating")
    with pytest.raises(InvalidParameterError, match="schedule must be"):
        DCS(schedule=None)


def test_the_share_is_that_of_the_usual_density_in_both():
    """Half and a quarter of the pairs are usual by turns; the graph has three of ten."""
    g = graph(5, [(0, 1), (1, 2), (2, 3)])
    background = Background([graph(5, clique(0, 1, 2), [(3, 4), (2, 3)]), graph(5, [(0, 1)])])
    assert densify_share(Problem(g, 0, background=background)) == pytest.approx(0.3 / (0.3 + 0.3))
    thicker = Background([complete(5), graph(5, clique(0, 1, 2), [(3, 4), (2, 3)])])
    assert densify_share(Problem(g, 0, background=thicker)) == pytest.approx(0.75 / (0.75 + 0.3))
    nothing = Background([empty(5), empty(5)])
    assert densify_share(Problem(empty(5), 0, background=nothing)) == 0.5
