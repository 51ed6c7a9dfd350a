"""Edits as rows and as pandas tables."""

import builtins

import pytest

from cohorts import NODES
from denseflip import Graph, Nodes, describe, explain
from denseflip.errors import InvalidNodesError, MissingExtraError, UnknownNameError
from denseflip.graph import Edits
from denseflip.graph.edits import list_edits, make_frame

EDITS = Edits(added=((0, 7), (1, 2)), removed=((3, 4),))


def test_a_row_for_each_edit_with_what_is_known_of_its_nodes():
    assert list_edits(EDITS) == (
        ("change", "node_1", "node_2"),
        [("removed", 3, 4), ("added", 0, 7), ("added", 1, 2)],
    )
    columns, rows = list_edits(EDITS, NODES, NODES.taxonomy("lobe"))
    assert columns[3:] == ("name_1", "name_2", "region_1", "region_2")
    assert rows[1] == ("added", 0, 7, "n0", "n7", "Front", "Back")


def test_weights_and_what_the_sentence_names_are_columns_where_they_are_known():
    columns, rows = list_edits(EDITS, weights=[(3, 4, 0.5, 0.0)], named=[(0, 7)])
    assert columns == ("change", "node_1", "node_2", "weight_before", "weight_after", "named")
    assert rows == [
        ("removed", 3, 4, 0.5, 0.0, False),
        ("added", 0, 7, None, None, True),
        ("added", 1, 2, None, None, False),
    ]


@pytest.fixture
def result():
    graph = Graph.from_edges(12, [(0, 1), (1, 2), (0, 2), (2, 7), (7, 8)])
    return explain(graph, lambda a: int(a[0, 1]), "tri")


def test_a_result_and_its_story_as_frames(result):
    pytest.importorskip("pandas")
    plain = result.to_frame()
    assert list(plain.columns) == ["change", "node_1", "node_2"]
    assert len(plain) == result.distance
    added = plain[plain["change"] == "added"]
    assert {*zip(added["node_1"], added["node_2"], strict=True)} == set(result.added)
    named = result.to_frame(NODES, "side")
    assert set(named["region_1"]) <= {"L", "R"}
    story = describe(result, NODES, lambda a: int(a[0, 1]))
    frame = story.to_frame()
    assert frame["named"].sum() == len(story.named_edits.pairs)
    assert set(frame["region_1"]) <= {"Front", "Back"}
    assert "region_1" not in result.to_frame(Nodes.numbered(12)).columns


def test_wrong_nodes_or_regions_are_told(result):
    with pytest.raises(InvalidNodesError):
        result.to_frame(Nodes.numbered(3))
    with pytest.raises(UnknownNameError, match="Did you mean 'lobe'"):
        result.to_frame(NODES, "lobes")


def test_without_pandas_the_message_says_how_to_get_it(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **named):
        if name.partition(".")[0] == "pandas":
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r'pip install "denseflip\[frames\]"'):
        make_frame(("a",), [(1,)])
