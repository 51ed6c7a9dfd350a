"""A network of one's own: what a first look finds out, what is asked alone, what two share."""

from __future__ import annotations

import numpy as np
import pytest

from denseflip.errors import InvalidParameterError, OracleError
from denseflip.graph import Graph
from denseflip.oracles.neural import NetworkOracle, compare_outputs, margins, positions, shares_of
from graphs import complete, empty, path

ROLES = {"x": "x", "edge_index": "edge_index", "batch": "batch"}


class Network(NetworkOracle):
    """Two logits of how many edges there are; what goes wrong is a function of the calls."""

    def __init__(self, *, scale=1.0, off=lambda call, n_graphs: 0.0, width=2, edge=3, **options):
        super().__init__(ROLES, features="degree", output="logits", **options)
        self.scale, self.off, self.width, self.edge = scale, off, width, edge
        self.sizes: list[int] = []

    def _call(self, arrays, n_graphs):
        self.sizes.append(n_graphs)
        edges = np.zeros(n_graphs)
        np.add.at(edges, arrays["batch"], arrays["x"][:, 0] / 2)
        score = (edges - self.edge + self.off(len(self.sizes), n_graphs)) * self.scale
        return np.stack([np.zeros(n_graphs), score, *[score - 1] * (self.width - 2)], axis=1)


def test_its_classes_are_known_with_the_first_answer():
    network = Network()
    assert network.classes is None
    assert network.predict([]) == []
    assert network.classes is None
    assert network.predict([path(3), complete(4)]) == [0, 1]
    assert network.classes == (0, 1)
    assert Network(class_names=("few", "many")).classes == (0, 1)


@pytest.mark.parametrize(
    ("scale", "moved", "fine"),
    [
        (1.0, 2.5e-5, True),  # by the size of the scores, which is three times the scale
        (1.0, 3.5e-5, False),
        (1e4, 2.5e-5, True),
        (1e4, 3.5e-5, False),
        (0.01, 0.9e-3, True),  # scores up to 1 are taken as if they reached it
        (0.01, 1.1e-3, False),
    ],
)
def test_what_asking_again_may_change(scale, moved, fine):
    network = Network(scale=scale, off=lambda call, n: moved * (call == 2))
    if fine:
        assert network.predict([empty(4)]) == [0]
    else:
        with pytest.raises(OracleError, match="not deterministic"):
            network.predict([empty(4)])


@pytest.mark.parametrize(("moved", "fine"), [(2.5e-3, True), (3.5e-3, False)])
def test_what_graphs_beside_it_may_change(moved, fine):
    network = Network(off=lambda call, n: moved * (n > 1))
    if fine:
        assert network.predict([empty(4)]) == [0]
        assert network.sizes == [1, 1, 2, 1]
    else:
        with pytest.raises(OracleError, match="mixes the graphs of a batch"):
            network.predict([empty(4)])
    # Asked one by one there is nothing beside it.
    alone = Network(off=lambda call, n: moved * (n > 1), max_batch=1)
    assert alone.predict([empty(4), empty(4)]) == [0, 0]
    assert alone.sizes == [1, 1, 1, 1]


def test_batches_are_no_larger_than_asked_for_and_close_calls_are_asked_alone():
    network = Network(max_batch=3, edge=3.00005)
    graphs = [path(k) for k in (2, 3, 4, 5, 6, 2, 3)]  # 1, 2, 3, … edges: one is at the edge
    assert network.predict(graphs) == [0, 0, 0, 1, 1, 0, 0]
    # How many are asked together is found out by timing; never more than asked for.
    assert max(network.sizes) <= 3
    assert network.sizes[-1] == 1  # the close call
    before = len(network.sizes)
    network.predict(graphs[:2])
    assert sum(network.sizes[before:]) == 2
    before = len(network.sizes)
    network.predict(graphs[2:3])  # alone as it is
    assert network.sizes[before:] == [1]


def test_another_number_of_scores_later_is_an_error():
    network = Network()
    network.predict([path(3)])
    network.width = 3
    with pytest.raises(OracleError, match="returned 3 scores for a graph, but 2 before"):
        network.predict([path(3)])
    with pytest.raises(InvalidParameterError, match=r"has 3 names.*has 2 classes"):
        Network(class_names=("a", "b", "c")).predict([path(3)])


def test_two_networks_that_agree_and_two_that_do_not():
    graphs = [path(5), complete(5)]
    agreed = compare_outputs(Network(), Network(), graphs)
    assert (agreed.compared, agreed.labels, agreed.largest) == (100, 1, 0)
    seen: list[Graph] = []

    class Listening(Network):
        def predict(self, graphs):
            seen.extend(graphs)
            return super().predict(graphs)

    few = compare_outputs(Listening(), Network(edge=3.001), graphs, n=7)
    assert few.compared == 7
    assert 0 < few.largest < 1e-3
    assert seen[:2] == graphs
    assert all(g not in graphs for g in seen[2:])  # edits of them
    distances = [g.distance(graphs[i % 2]) for i, g in enumerate(seen)]
    assert max(distances) <= 2
    with pytest.raises(OracleError, match="disagree: 100% of 7 graphs get the same label"):
        compare_outputs(Network(), Network(edge=3.01), graphs, n=7)
    assert compare_outputs(Network(), Network(edge=3.01), graphs, n=7, tolerance=0.01).labels == 1
    with pytest.raises(OracleError, match="get the same label"):
        compare_outputs(Network(edge=2.5), Network(edge=4.5), [path(5)], n=1, tolerance=1)
    with pytest.raises(OracleError, match="have 2 and 3 classes"):
        compare_outputs(Network(), Network(width=3), graphs)
    with pytest.raises(InvalidParameterError, match="at least one graph"):
        compare_outputs(Network(), Network(), [])


# ---- what numbers mean -------------------------------------------------------------------------


def test_one_probability_per_graph_is_that_of_the_second_class():
    for given in (np.array([0.25, 1.0]), np.array([[0.25], [1.0]])):
        assert shares_of(given, "probability", "It").tolist() == [[0.75, 0.25], [0, 1]]
    assert positions(np.array([0.25, 0.5, 0.75]), "probability").tolist() == [0, 0, 1]
    assert positions(np.array([-1.0, 0.0, 0.5]), "logit").tolist() == [0, 0, 1]
    assert positions(np.array([[3], [0]]), "labels").tolist() == [3, 0]
    for wrong in (-0.01, 1.01):
        with pytest.raises(OracleError, match="as a probability; it must be between 0 and 1"):
            shares_of(np.array([0.5, wrong]), "probability", "It")


def test_how_far_an_answer_is_from_another_label():
    assert margins(np.array([0.25, 0.5, 0.875]), "probability").tolist() == [0.25, 0, 0.375]
    assert margins(np.array([[-2.0], [0.5]]), "logit").tolist() == [2, 0.5]
    assert margins(np.array([[1.0, 5.0, 3.0], [2.0, 2.0, 0.0]]), "logits").tolist() == [2, 0]
    assert margins(np.array([1, 0]), "labels").tolist() == [np.inf, np.inf]
    assert margins(np.array([[1.0], [2.0]]), "logits").tolist() == [np.inf, np.inf]


def test_bare_labels_have_no_classes_and_no_probabilities():
    class Labels(Network):
        def _call(self, arrays, n_graphs):
            return super()._call(arrays, n_graphs)[:, 1] > 0

    network = Labels()
    network.output = None
    assert network.predict([path(3), path(5), complete(5)]) == [0, 1, 1]
    assert network.predict([path(6)]) == [1]
    assert network.classes is None
    with pytest.raises(AttributeError, match="returns labels, not probabilities"):
        network.predict_proba([path(3)])
