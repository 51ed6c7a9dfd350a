"""GraphML that leaves open which nodes there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from denseflip.datasets import read_graph
from denseflip.errors import FileFormatError

A, B = "<node id='a'/>", "<node id='b'/>"
INNER = "<graph edgedefault='undirected'><node id='c'/></graph>"
GRAPHML = {
    "an edge to nowhere": (A + B + "<edge source='a' target='z'/>", "leads to 'z', which is no"),
    "an edge without an end": (A + B + "<edge source='a'/>", "an edge has no source or no target"),
    "a node without an id": (A + "<node/>", "a node has no id"),
    "a node twice": (A + B + A, "two nodes are 'a'"),
    "a graph in a node": (A + f"<node id='b'>{INNER}</node>", "it holds 2 graphs"),
    "a graph beside it": (A + B + "</graph>" + INNER[:-8], "it holds 2 graphs"),
    "a foreign entity": ("&x;" + A + B, "cannot be read as GraphML"),
}


def written(folder: Path, text: str) -> Path:
    path = folder / "a.graphml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("name", GRAPHML)
def test_no_node_of_graphml_is_made_up_or_lost(name, tmp_path):
    body, message = GRAPHML[name]
    text = f"<graphml><graph edgedefault='undirected'>{body}</graph></graphml>"
    (tmp_path / "secret").write_text("<node id='secret'/>")
    head = f"<!DOCTYPE g [<!ENTITY x SYSTEM 'file://{tmp_path}/secret'>]>"
    with pytest.raises(FileFormatError, match=message):
        read_graph(written(tmp_path, head + text))


def test_nodes_of_graphml_whose_numbers_are_one_keep_their_names(tmp_path):
    body = "<node id='1'/><node id='01'/><node id='0'/><edge source='01' target='0'/>"
    text = f"<graphml><graph edgedefault='undirected'>{body}</graph></graphml>"
    graph = read_graph(written(tmp_path, text))
    assert graph.names == ("1", "01", "0")
    assert graph.edges() == [(1, 2)]
