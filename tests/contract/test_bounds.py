"""Every whole number that a method takes: the least that will do does, and one less does not."""

from __future__ import annotations

import pytest

from denseflip import Graph, as_oracle, explain, make_method
from denseflip.errors import InvalidParameterError
from denseflip.oracles.session import Session
from denseflip.search.core.refinement import BackwardRefine

LEAST = [
    ("auto", "max_cells", 1),
    ("best", "max_cells", 1),
    ("brief", "max_cells", 1),
    ("edg", "max_iterations", 0),
    ("obs", "batch", 1),
    ("obs", "max_iterations", 0),
    ("dbs", "batch", 1),
    ("dbs", "max_iterations", 0),
    ("tri", "max_iterations", 0),
    ("cli", "max_iterations", 0),
    ("cli", "slack", 0),
    ("cli", "max_cliques", 1),
    ("rcli", "max_iterations", 0),
    ("rcli", "slack", 0),
    ("rcli", "max_cliques", 1),
    ("race", "nearest", 0),
    ("race", "swaps", 0),
    ("race", "finalists", 1),
    ("tight", "questions", 1),
    ("tight", "pool", 1),
    ("plex", "k", 1),
    ("plex", "max_branches", 1),
    ("plex", "slack", 0),
    ("quasi", "max_branches", 1),
    ("core", "k", 1),
    ("truss", "k", 3),
    ("club", "k", 2),
    ("club", "max_branches", 1),
]


@pytest.mark.parametrize(("method", "name", "least"), LEAST)
def test_the_least_of_a_parameter_will_do_and_one_less_will_not(method, name, least):
    assert make_method(method, **{name: least}).name == method
    with pytest.raises(InvalidParameterError, match=name):
        make_method(method, **{name: least - 1})


@pytest.mark.parametrize("counts", [-1, 0, 1])
def test_an_added_clique_counts_for_less_nothing_or_more(counts):
    assert make_method("cli", counts=counts).name == "cli"


@pytest.mark.parametrize("counts", [-2, 2])
def test_an_added_clique_counts_for_nothing_else(counts):
    with pytest.raises(InvalidParameterError, match="counts must be one of -1, 0, 1"):
        make_method("cli", counts=counts)


@pytest.mark.parametrize(("name", "least"), [("start", 1), ("max_questions", 0)])
def test_bounds_of_a_refinement(name, least):
    assert BackwardRefine(**{name: least})
    with pytest.raises(InvalidParameterError, match=name):
        BackwardRefine(**{name: least - 1})


@pytest.mark.parametrize(
    ("name", "least"), [("seed", 0), ("batch", 1), ("confirm", 0), ("n", 1), ("budget", 1)]
)
def test_bounds_of_a_question(name, least):
    def first(a):
        return int(a[0, 1])

    graph = Graph.from_edges(4, [(0, 1)])
    assert explain(graph, first, "edg", **{name: least}).status
    with pytest.raises(InvalidParameterError, match=name):
        explain(graph, first, "edg", **{name: least - 1})


@pytest.mark.parametrize("limit", [0, -1, "soon"])
def test_time_is_more_than_none(limit):
    with pytest.raises(InvalidParameterError, match="time_limit must be a positive number"):
        Session(as_oracle(lambda a: 0), time_limit=limit)
    assert Session(as_oracle(lambda a: 0), time_limit=1e-9)
