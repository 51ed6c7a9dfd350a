"""Networks that use the types of nodes and the features of edges."""

from pathlib import Path

import numpy as np
import pytest

from denseflip import explain
from denseflip.datasets import Dataset, import_folder
from denseflip.errors import DenseflipError, MissingInputError
from denseflip.graph import Graph
from denseflip.oracles.adapt import as_oracle
from denseflip.oracles.tensors import NODE_FEATURES, inputs_of
from molecules import CLASSES, write_molecules

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    folder: Path = write_molecules(tmp_path_factory.mktemp("MOL"), 30)
    n = len((folder / "MOL_node_labels.txt").read_text().split())
    (folder / "MOL_node_attributes.txt").write_text("".join(f"{i / 10}, 1\n" for i in range(n)))
    return import_folder(folder, classes=CLASSES)


class CountsBonds(torch.nn.Module):
    """Class 1 from two N–O edges on; edges of the second kind count if ``kinds`` says so."""

    def __init__(self, kinds: bool) -> None:
        super().__init__()
        self.kinds = kinds

    def scores(self, x, edge_index, edge_attr, batch):
        a, b = x[edge_index[0]], x[edge_index[1]]
        here = a[:, 1] * b[:, 2]  # N → O; the other direction is not counted again
        if self.kinds:
            here = here * edge_attr[:, 1]
        n = int(batch.max()) + 1
        total = torch.zeros(n).index_add(0, batch[edge_index[0]], here)
        return torch.stack((1.5 - total, total - 1.5), dim=1)


class Required(CountsBonds):
    def forward(self, x, edge_index, edge_attr, batch):
        return self.scores(x, edge_index, edge_attr, batch)


class Optional(CountsBonds):
    def forward(self, x, edge_index, batch, edge_attr=None):
        assert edge_attr is not None or not self.kinds
        return self.scores(x, edge_index, edge_attr, batch)


def count(graph: Graph, *, kind: int | None = None) -> int:
    """N–O edges, one by one; of one kind only if that is given."""
    types = graph.types
    assert types is not None
    rows = types.rows_of_edges(graph)
    found = 0
    for (u, v), row in zip(graph.edges(), rows, strict=True):
        ends = {types.names[types.index[u]], types.names[types.index[v]]}
        found += ends == {"N", "O"} and (kind is None or row[kind] == 1)
    return found


@pytest.mark.parametrize("module", [Required, Optional])
def test_edge_features_reach_a_network_that_takes_them(data: Dataset, module: type) -> None:
    oracle = as_oracle(module(True).eval(), features="types")
    got = oracle.predict(data.graphs)
    assert got == [int(count(g, kind=1) >= 2) for g in data.graphs]
    edited = [g.toggle([(0, 3), (1, 2)]) for g in data.graphs]
    assert oracle.predict(edited) == [int(count(g, kind=1) >= 2) for g in edited]


def test_a_network_is_explained_by_types(data: Dataset) -> None:
    oracle = as_oracle(Optional(False).eval(), features="types")
    graph = next(g for g in data.graphs if count(g) >= 2)
    result = explain(graph, oracle, background=data)
    assert result.found
    assert result.as_read is not None
    assert result.as_read.regions == "node type"
    assert [set(place) for place in result.as_read.places] == [{"N", "O"}]
    assert count(result.counterfactual) < 2


def test_rows_are_in_the_order_of_the_edges(data: Dataset) -> None:
    graphs = data.graphs[:3]
    roles = {name: name for name in ("x", "edge_index", "edge_attr", "batch")}
    made = inputs_of(graphs, roles, NODE_FEATURES["attributes+types"])
    assert made["x"].shape == (sum(g.n_nodes for g in graphs), 6)
    assert len(made["edge_attr"]) == made["edge_index"].shape[1]
    known = {}
    for (u, v), row in zip(made["edge_index"].T.tolist(), made["edge_attr"].tolist(), strict=True):
        assert known.setdefault((min(u, v), max(u, v)), row) == row
    first = graphs[0]
    assert first.types is not None
    wanted = first.types.rows_of_edges(first)
    assert np.array_equal([known[e] for e in first.edges()], wanted)


def test_what_a_graph_lacks_is_named(data: Dataset) -> None:
    plain = Graph.from_edges(4, [(0, 1)])
    with pytest.raises(MissingInputError, match="types or features that a graph carries"):
        as_oracle(Optional(False).eval(), features="types").predict([plain])
    bare = as_oracle(Optional(False).eval(), features="degree")
    with pytest.raises(DenseflipError):
        as_oracle(Required(True).eval(), features="degree").predict([plain])
    assert bare.roles["edge_attr"] == "edge_attr if any"


def test_pyg_batches_carry_edge_features(data: Dataset) -> None:
    pytest.importorskip("torch_geometric")

    class Whole(CountsBonds):
        def forward(self, data):
            return self.scores(data.x, data.edge_index, data.edge_attr, data.batch)

    oracle = as_oracle(Whole(True).eval(), features="types")
    assert oracle.predict(data.graphs) == [int(count(g, kind=1) >= 2) for g in data.graphs]
