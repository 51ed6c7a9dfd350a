import numpy as np
import pytest

from denseflip.datasets import Card, Dataset, Example
from denseflip.errors import DatasetError, InvalidParameterError, UnknownNameError
from denseflip.graph import Graph, Nodes


def toy(n: int = 12, n_nodes: int = 4) -> Dataset:
    rng = np.random.default_rng(0)
    pairs = [(u, v) for u in range(n_nodes) for v in range(u + 1, n_nodes)]
    graphs = [Graph.from_edges(n_nodes, [p for p in pairs if rng.random() < 0.5]) for _ in range(n)]
    return Dataset("toy", tuple(graphs), tuple(i % 3 == 0 for i in range(n)), ("a", "b"))


def test_iterating_gives_examples_in_order() -> None:
    data = toy()
    examples = list(data)
    assert len(data) == len(examples) == 12
    assert all(isinstance(e, Example) for e in examples)
    assert [e.id for e in examples] == list(data.ids)
    assert tuple(e.graph for e in examples) == data.graphs
    assert [e.label for e in examples] == list(data.labels)


def test_access_by_number_and_id() -> None:
    data = toy()
    assert data[3] == data["g0003"] == Example("g0003", data.graphs[3], data.labels[3])
    assert data[-1] == data[11]
    assert data[np.int64(2)] == data[2]
    with pytest.raises(IndexError, match=r"0\.\.11; got 12"):
        data[12]


def test_unknown_id_shows_the_nearest() -> None:
    message = r"^Unknown graph id 'g003' in data set '.*'\. Did you mean 'g0003'"
    with pytest.raises(UnknownNameError, match=message) as info:
        toy()["g003"]
    assert "12 in all" in str(info.value)


@pytest.mark.parametrize(
    ("key", "ids"),
    [
        (slice(2, 5), ["g0002", "g0003", "g0004"]),
        ([4, 0], ["g0004", "g0000"]),
        (np.array([1, -1]), ["g0001", "g0011"]),
        (np.arange(12) % 6 == 1, ["g0001", "g0007"]),
    ],
)
def test_parts_keep_ids_and_classes(key: object, ids: list[str]) -> None:
    data = toy()
    part = data[key]  # type: ignore[call-overload]
    assert list(part.ids) == ids
    assert part.class_names == data.class_names
    assert part.nodes == data.nodes
    assert [part[i] for i in ids] == [data[i] for i in ids]


@pytest.mark.parametrize("key", [[99], [0.5], np.ones(3, dtype=bool), np.zeros((2, 2), dtype=int)])
def test_bad_parts_are_refused(key: object) -> None:
    with pytest.raises(InvalidParameterError):
        toy().subset(key)  # type: ignore[arg-type]


def test_split_is_stratified_seeded_and_complete() -> None:
    data = toy(30)
    train, test = data.split(0.3, seed=4)
    assert len(train) == 21
    assert len(test) == 9
    assert test.class_counts() == {"a": 6, "b": 3}
    assert sorted((*train.ids, *test.ids)) == sorted(data.ids)
    assert data.split(0.3, seed=4)[1].ids == test.ids
    assert data.split(0.3, seed=5)[1].ids != test.ids
    assert len(data.split(7)[1]) == 7


@pytest.mark.parametrize("size", [0, 1.0, 12, -1, True, float("nan")])
def test_split_refuses_impossible_sizes(size: float) -> None:
    with pytest.raises(InvalidParameterError, match="test_size"):
        toy().split(size)


def test_all_contradictions_are_told_at_once() -> None:
    g3, g4 = Graph.from_edges(3, []), Graph.from_edges(4, [])
    with pytest.raises(DatasetError) as info:
        Dataset("bad", (g3, g4), (0, 5, 1), ("a", "a"), ids=("x", "x"))
    text = str(info.value)
    for part in (
        "2 graphs but 3 labels",
        "ids must be unique",
        "got [5]",
        "class names",
        "graph 1",
    ):
        assert part in text


def test_no_graphs_are_refused() -> None:
    with pytest.raises(DatasetError, match="no graphs"):
        Dataset("none", (), (), ("a", "b"))


def test_nodes_and_graphs_must_fit() -> None:
    with pytest.raises(DatasetError, match="describes 2 nodes"):
        Dataset("bad", (Graph.from_edges(3, []),), (0,), ("a", "b"), nodes=Nodes(("x", "y")))


def test_summary_counts_by_hand() -> None:
    path = Graph.from_edges(4, [(0, 1), (1, 2)])
    full = Graph.from_edges(4, [(u, v) for u in range(4) for v in range(u + 1, 4)])
    nodes = Nodes(tuple("abcd"), {"lobe": ("F", "F", "B", "B")})
    s = Dataset("s", (path, full), (0, 1), ("p", "f"), nodes).summary()
    assert (s.n_graphs, s.n_nodes, s.graphs_per_class) == (2, 4, {"p": 1, "f": 1})
    assert (s.edges_mean, s.edges_min, s.edges_max) == (4.0, 2, 6)
    assert s.density == pytest.approx(4 / 6)
    assert (s.degree_mean, s.degree_min, s.degree_max) == (2.0, 0, 3)
    assert s.isolated_mean == 0.5
    assert s.taxonomies == {"lobe": 2}
    assert s.to_dict()["name"] == "s"


def test_immutable_and_hashable() -> None:
    data = toy()
    with pytest.raises(AttributeError):
        data.name = "x"  # type: ignore[misc]
    assert hash(data) == hash(toy())
    assert data == toy()
    assert repr(data) == "Dataset('toy', 12 graphs, 4 nodes, classes: a 8, b 4)"


def test_card_round_trips_and_ignores_unknown_keys() -> None:
    card = Card(source="s", caveats=("one", "two"))
    assert Card.from_dict({**card.to_dict(), "later": 1}) == card


def test_graphs_from_networkx_bring_their_names_and_are_matched_by_them() -> None:
    import networkx as nx

    one, two = nx.Graph([("b", "a"), ("a", "c")]), nx.Graph([("a", "b"), ("b", "c")])
    graphs = (Graph.from_networkx(one), Graph.from_networkx(two))
    data = Dataset("toy", graphs, (0, 1), ("x", "y"))
    assert data.nodes.names == ("b", "a", "c")
    assert [g.edges() for g in data.graphs] == [[(0, 1), (1, 2)], [(0, 1), (0, 2)]]
    table = Nodes(("a", "b", "c"), {"part": ("P", "Q", "Q")})
    given = Dataset("toy", graphs, (0, 1), ("x", "y"), table)
    assert [g.edges() for g in given.graphs] == [[(0, 1), (0, 2)], [(0, 1), (1, 2)]]
    with pytest.raises(DatasetError, match=r"only in graph 0 \(1\): 'b'|'b' \(nearest"):
        Dataset("toy", graphs, (0, 1), ("x", "y"), Nodes(("a", "B", "c")))
