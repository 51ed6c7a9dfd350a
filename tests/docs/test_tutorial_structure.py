"""The structure of the tutorial on dense structures is what the tutorial says: a star."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from denseflip import Graph, explain

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "own-structure.md"


@pytest.fixture(scope="module")
def page() -> dict[str, Any]:
    """The names that the cells of the page define."""
    text = PAGE.read_text(encoding="utf-8")
    names: dict[str, Any] = {}
    for cell in re.findall(r"^```\{code-cell\}\n(.*?)^```", text, re.M | re.S):
        exec(cell, names)
    return names


def is_star(pairs: tuple[tuple[int, int], ...]) -> bool:
    graph = nx.Graph(pairs)
    return len(graph) == len(pairs) + 1 and max(d for _, d in graph.degree) == len(pairs)


def test_the_search_removes_and_adds_stars(page: dict[str, Any]) -> None:
    """Of a graph without edges among the chosen nodes, all that is added is a star."""
    trees = Graph.from_networkx(nx.balanced_tree(4, 2))
    result = explain(trees, lambda a: int(a[0].sum() < 0), page["stars"])
    assert {step.block for step in result.trace} == {"sparsify", "densify"}
    assert all(is_star(step.toggled) for step in result.trace)


def test_one_star_of_the_instructor_is_enough(page: dict[str, Any]) -> None:
    result = page["result"]
    assert result.found
    assert len(result.trace) == 1
    assert len(result.removed) == 5
    assert not result.added
    assert is_star(result.removed)
    assert all(0 in pair for pair in result.removed)


def test_other_structures_need_more(page: dict[str, Any]) -> None:
    result = page["result"]
    for method in ("tri", "cli"):
        other = explain(page["club"], page["leaders"], method)
        assert other.found
        assert other.distance > result.distance
        assert other.calls > result.calls


def test_leaves_are_not_joined_and_fill_joins_one_node_with_all(page: dict[str, Any]) -> None:
    star = page["Star"](size=3)
    club = nx.karate_club_graph()
    near = [set(club[v]) for v in club]

    class Left:
        pass

    left = Left()
    left.near = near  # type: ignore[attr-defined]
    for node in club:
        found = star.find(left, node)
        leaves = set(found.nodes) - {node}
        assert 1 <= len(leaves) <= 3
        assert leaves <= near[node]
        assert not club.subgraph(leaves).edges
    nodes = [9, 11, 12, 14]
    assert not club.subgraph(nodes).edges
    assert is_star(tuple(star.fill(nodes, near, 0.0)))
