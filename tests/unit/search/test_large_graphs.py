"""Large graphs: searches end by themselves, and noise that leaves nothing of a graph is refused."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from denseflip import Constraints, Graph, explain
from denseflip.errors import InvalidParameterError
from denseflip.option import option_of
from denseflip.request import Request
from denseflip.search.core import large_graphs
from denseflip.search.core.large_graphs import LARGE, MOST_QUERIES


def ring(n: int) -> Graph:
    at = np.arange(n)
    return Graph.from_edges(n, np.sort(np.stack((at, (at + 1) % n), axis=1), axis=1))


class Never:
    """An oracle that always gives the same label."""

    def predict(self, graphs):
        return [0] * len(graphs)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(large_graphs, "LARGE", 20)
    monkeypatch.setattr(large_graphs, "MOST_QUERIES", 10)


@pytest.mark.parametrize("method", ["edg", "obs", "race"])
def test_a_search_without_limits_ends_and_says_what_to_use(few, method):
    result = explain(ring(30), Never(), method, background=None)
    assert (result.status.value, result.calls) == ("budget", 10)
    assert "Use the method 'auto', or set a larger budget" in " ".join(result.notes)


@pytest.mark.parametrize("limits", [{"budget": 40}, {"time_limit": 60.0}])
def test_limits_of_the_request_replace_the_default(few, limits):
    result = explain(ring(30), Never(), "edg", **limits)
    assert result.calls > 10
    assert "default limit" not in " ".join(result.notes)


def test_a_small_graph_has_no_default_limit(few):
    assert explain(ring(20), Never(), "edg").calls > 10


def test_noise_beyond_the_edges_of_a_large_graph_is_refused(few):
    graph = ring(30)
    with pytest.raises(InvalidParameterError, match=r"noise=0\.2 flips 87 pairs .* 30 edges"):
        explain(graph, Never(), "edg", robust=0.9, noise=0.2)
    for fine in (0.05, 30 / 100 / graph.n_pairs):
        assert not explain(graph, Never(), "edg", robust=0.9, noise=fine).found


def test_the_help_names_the_default():
    (budget,) = (one for one in fields(Request) if one.name == "budget")
    said = option_of(budget).help
    assert f"{MOST_QUERIES:,} for graphs of more than {LARGE:,} nodes" in said


@pytest.mark.parametrize("method", ["edg", "obs", "tri", "con", "race", "auto"])
def test_few_free_pairs_of_a_large_graph_are_met_at_once(method):
    # A walk over all 18 million pairs, or a draw from them, would hardly meet the 66 free ones.
    graph = ring(6000)
    chords = [(u, v) for u in range(12) for v in range(u + 2, 12)]
    other = graph.toggle(chords)

    def label(some):
        return int(sum(some.has_edge(u, v) for u, v in chords) >= 3)

    still = Constraints(freeze=list(range(12, 6000)))
    result = explain(graph, label, method, background=[graph, other], constraints=still)
    assert result.found
    assert max(v for _, v in (*result.edits.added, *result.edits.removed)) < 12
