from __future__ import annotations

import numpy as np
import pytest

from denseflip.classifiers.features import (
    DegreeFeatures,
    EdgeFeatures,
    RegionFeatures,
    features_from_dict,
    make_features,
)
from denseflip.errors import (
    FileFormatError,
    InvalidGraphError,
    InvalidParameterError,
    MissingInputError,
    UnknownNameError,
)
from denseflip.graph import Graph, Nodes

NODES = Nodes(
    tuple("abcde"),
    regions={"lobe": ("F", "F", "B", "B", "S"), "side": ("L", "R", "L", "R", "L")},
)
GRAPH = Graph.from_edges(5, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])


def random_graphs(n, count, seed=0):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    found = []
    for _ in range(count):
        chosen = rng.random(len(u)) < 0.3
        found.append(Graph.from_edges(n, np.column_stack((u[chosen], v[chosen]))))
    return found


def test_edges_are_the_upper_triangle_row_by_row():
    graphs = random_graphs(9, 5)
    rows = EdgeFeatures().transform(graphs)
    for row, graph in zip(rows, graphs, strict=True):
        assert np.array_equal(row, graph.to_adjacency()[np.triu_indices(9, 1)])


def test_degrees():
    graphs = random_graphs(9, 5)
    expected = [g.to_adjacency().sum(axis=0) for g in graphs]
    assert np.array_equal(DegreeFeatures().transform(graphs), expected)


def test_regions_are_block_densities():
    features = RegionFeatures.from_nodes(NODES)
    # blocks: F-F (1 pair), F-B (4), F-S (2), B-B (1), B-S (2); S-S has no pair
    assert features.blocks == (("F", "F"), ("F", "B"), ("F", "S"), ("B", "B"), ("B", "S"))
    assert features.transform([GRAPH]).tolist() == [[1.0, 0.5, 0.0, 1.0, 0.5]]


def test_regions_equal_a_count_over_the_adjacency():
    nodes = Nodes.from_groups(12, {"a": range(3), "b": range(3, 8), "c": range(8, 12)})
    features = RegionFeatures.from_nodes(nodes)
    index = nodes.taxonomy().array
    for graph in random_graphs(12, 4):
        a = graph.to_adjacency()
        expected = []
        for r in range(3):
            for s in range(r, 3):
                block = a[np.ix_(index == r, index == s)]
                k = len(block)
                expected.append(block.mean() if r != s else block.sum() / (k * (k - 1)))
        np.testing.assert_allclose(features.transform([graph])[0], expected, rtol=1e-15)


def test_a_named_taxonomy_is_used():
    features = make_features("regions", NODES, regions="side")
    assert features.blocks == (("L", "L"), ("L", "R"), ("R", "R"))


def test_own_features_pass_through():
    own = EdgeFeatures()
    assert make_features(own) is own


def test_bad_input_is_named():
    with pytest.raises(UnknownNameError, match="Did you mean 'edges'"):
        make_features("edge")
    with pytest.raises(InvalidParameterError, match="'features' must be a name"):
        make_features(3)
    with pytest.raises(MissingInputError, match="this data set has none"):
        make_features("regions", Nodes.numbered(3))
    with pytest.raises(UnknownNameError, match="lobe"):
        make_features("regions", NODES, regions="lob")
    with pytest.raises(InvalidParameterError, match="requires the features 'regions'"):
        make_features("edges", NODES, regions="lobe")
    with pytest.raises(FileFormatError, match="Not a description of features"):
        features_from_dict({"name": "spectral", "height": 3})
    with pytest.raises(FileFormatError, match="Not a description of features"):
        features_from_dict({})


def test_graphs_of_other_sizes_are_refused():
    small = Graph.from_edges(4, [])
    with pytest.raises(InvalidGraphError, match="4 to 5 nodes"):
        EdgeFeatures().transform([GRAPH, small])
    with pytest.raises(InvalidGraphError, match="known for 5 nodes"):
        RegionFeatures.from_nodes(NODES).transform([small])
