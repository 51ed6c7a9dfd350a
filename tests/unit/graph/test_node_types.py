import pickle

import numpy as np
import pytest

from denseflip.errors import InvalidGraphError
from denseflip.graph import Graph, NodeTypes

PATH = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3)])


def features() -> NodeTypes:
    """C–N–C–O with two kinds of edges; an added edge is of kind 1, between C and O of kind 0."""
    new = np.zeros((3, 3, 2))
    new[:, :, 1] = 1
    new[0, 2] = new[2, 0] = (1, 0)
    rows = [[1, 0], [0, 1], [1, 0]]
    return NodeTypes(("C", "N", "O"), (0, 1, 0, 2), None, PATH.codes, rows, new)


def test_types_are_part_of_a_graph() -> None:
    one = PATH.typed(NodeTypes(("C", "N"), (0, 0, 1, 1)))
    other = PATH.typed(NodeTypes(("C", "N"), (0, 1, 0, 1)))
    assert len({PATH, one, other}) == 3
    assert len({PATH.digest, one.digest, other.digest}) == 3
    assert one == PATH.typed(NodeTypes(("C", "N"), (0, 0, 1, 1)))
    edited = one.toggle([(0, 1), (0, 3)])
    assert edited.types is one.types
    assert edited.toggle([(0, 1), (0, 3)]) == one
    assert edited != other.toggle([(0, 1), (0, 3)])


def test_types_outlive_a_copy_and_a_file() -> None:
    graph = PATH.typed(features()).toggle([(0, 3)])
    for again in (pickle.loads(pickle.dumps(graph)), Graph.from_dict(graph.to_dict())):
        assert again == graph
        assert again.types is not None
        assert again.types.key == features().key
    assert graph.named("abcd").types is graph.types


def test_edges_keep_their_features_and_added_ones_get_usual_ones() -> None:
    types = features()
    graph = PATH.typed(types).toggle([(1, 2), (0, 3), (0, 2)])
    assert graph.edges() == [(0, 1), (0, 2), (0, 3), (2, 3)]
    assert types.rows_of_edges(graph).tolist() == [[1, 0], [0, 1], [1, 0], [1, 0]]


def test_edges_are_counted_by_pair_of_types() -> None:
    types = features()
    assert types.count_edges(PATH).tolist() == [[0, 2, 1], [2, 0, 0], [1, 0, 0]]
    assert types.nodes.names == ("C 1", "N 2", "C 3", "O 4")
    assert types.nodes.taxonomy().regions == ("C", "N", "O")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"index": (0, 3)}, "from 0 to 1"),
        ({"names": ("C", "C")}, "unique"),
        ({"features": [[1.0]]}, "2 rows"),
        ({"features": [[1.0], [float("nan")]]}, "finite"),
        ({"index": "ab"}, "numbers"),
        ({"edges": (1,), "edge_features": [[1.0]]}, "new_edge"),
    ],
)
def test_wrong_types_are_refused(wrong: dict, says: str) -> None:
    with pytest.raises(InvalidGraphError, match=says):
        NodeTypes(**{"names": ("C", "N"), "index": (0, 1), **wrong})


def test_types_of_another_graph_are_refused() -> None:
    with pytest.raises(InvalidGraphError, match="4 nodes, but the types of 2"):
        PATH.typed(NodeTypes(("C",), (0, 0)))
    with pytest.raises(InvalidGraphError, match="need 'names'"):
        Graph.from_dict({"n_nodes": 1, "edges": [], "types": {"names": ["C"]}})
