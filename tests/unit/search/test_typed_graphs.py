"""Sentences by type of node: counted again, redrawn and bounded, without the product's code."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from denseflip import explain
from denseflip.classifiers.presets import fit_oracle
from denseflip.constraints import Constraints
from denseflip.datasets import Dataset, import_folder
from denseflip.errors import DenseflipError, InvalidParameterError, MissingInputError
from denseflip.graph import Graph, Nodes, NodeTypes
from denseflip.oracles.background import Background
from denseflip.oracles.session import Session
from denseflip.search.claims.claim import Amount
from denseflip.search.claims.intervals import prediction_interval
from denseflip.search.claims.places import Places
from denseflip.search.claims.redraw import Redraw
from denseflip.search.claims.reference import Reference
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import find_subject
from molecules import BOUNDS, CLASSES, VALENCE, write_molecules

NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return import_folder(write_molecules(tmp_path_factory.mktemp("MOL")), classes=CLASSES)


@pytest.fixture(scope="module")
def oracle(data: Dataset):
    return fit_oracle(data)


def bonds(graph: Graph) -> Counter:
    """How many bonds each two elements have, counted one by one."""
    assert graph.types is not None
    names = [graph.types.names[i] for i in graph.types.index]
    return Counter("–".join(sorted((names[u], names[v]), key=lambda x: (x != "C", x)))
                   for u, v in graph.edges())  # fmt: skip


def test_the_default_classifier_counts_bonds(data: Dataset, oracle) -> None:
    assert oracle.card["preset"] == "regions-logistic"
    rows = oracle.features.transform(data.graphs[:5])
    names = data.node_types
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i:]]
    for row, graph in zip(rows, data.graphs, strict=False):
        found = bonds(graph)
        want = [found["–".join(sorted(p, key=lambda x: (x != "C", x)))] for p in pairs]
        assert row[len(names) :].tolist() == want
        assert row[: len(names)].sum() == graph.n_nodes
    labels = oracle.predict(data.graphs)
    assert np.mean(np.array(labels) == data.labels) > 0.9


def test_sentences_are_true_and_their_numbers_are_right(data: Dataset, oracle) -> None:
    said = re.compile(r"(\w+) (more|fewer) (\w+–\w+) bonds? \((\d+) → (\d+)")
    labels = oracle.predict(data.graphs)
    named = 0
    for i in range(10):
        subject = find_subject(data, i)
        story = explain_and_describe(subject, oracle, refits=None)
        result = story.result
        assert result.found
        assert oracle.predict([result.counterfactual]) == [result.label_after]
        assert story.true_as_read
        before, after = bonds(result.original), bonds(result.counterfactual)
        parts = said.findall(story.statement)
        assert parts, story.statement
        for number, way, pair, now, then in parts:
            n = NUMBERS.index(number) if number in NUMBERS else int(number)
            assert (before[pair], after[pair]) == (int(now), int(then))
            assert int(then) - int(now) == (n if way == "more" else -n)
        # Nothing else changes.
        changed = {k for k in before | after if before[k] != after[k]}
        assert changed == {pair for _, _, pair, _, _ in parts}
        named += changed == {"N–O"}
        # Other bonds between the same two types do the same: drawn here, not by the product.
        if len(parts) == 1:
            assert redrawn(result.original, parts[0], oracle, result.label_after) >= 0.9
        for place in story.reference:
            group = [
                bonds(g)["–".join(sorted(place.place * (3 - len(place.place)),
                                         key=lambda x: (x != "C", x)))]
                for g, label in zip(data.graphs, labels, strict=True)
                if label == result.label_after
            ]  # fmt: skip
            assert list(place.group) == sorted(group)
            assert (place.low, place.high) == tuple(
                int(x) for x in prediction_interval(group, place.size)
            )
    assert named >= 8  # the planted pair


def redrawn(graph: Graph, part: tuple[str, ...], oracle, label: int) -> float:
    number, way, pair, _, _ = part
    n = NUMBERS.index(number)
    assert graph.types is not None
    names = [graph.types.names[i] for i in graph.types.index]
    ends = sorted(pair.split("–"))
    every = [
        (u, v)
        for u in range(graph.n_nodes)
        for v in range(u + 1, graph.n_nodes)
        if sorted((names[u], names[v])) == ends and graph.has_edge(u, v) == (way == "fewer")
    ]
    rng = np.random.default_rng(5)
    drawn = [
        graph.toggle([every[i] for i in rng.choice(len(every), n, replace=False)])
        for _ in range(30)
    ]
    return float(np.mean([x == label for x in oracle.predict(drawn)]))


def test_a_redraw_changes_only_bonds_of_the_two_types(data: Dataset) -> None:
    rng = np.random.default_rng(0)
    for graph in data.graphs[:12]:
        assert graph.types is not None
        names = [graph.types.names[i] for i in graph.types.index]
        places = Places(graph, graph.types.nodes.taxonomy())
        redraw = Redraw(places)
        regions = graph.types.nodes.taxonomy().regions
        for place in places.every:
            wanted = sorted(regions[x] for x in place if x is not None)
            for adding in (True, False):
                room = redraw.room(place, adding=adding)
                if not room:
                    continue
                n = int(rng.integers(1, room + 1))
                amount = (place, n, 0) if adding else (place, 0, n)
                codes = redraw.draw((Amount(*amount),), rng)
                assert len(set(codes.tolist())) == n
                for u, v in (divmod(int(c), graph.n_nodes) for c in codes):
                    assert sorted((names[u], names[v])) == wanted
                    assert graph.has_edge(u, v) != adding


def test_degrees_stay_within_the_valence(data: Dataset, oracle) -> None:
    found = 0
    seen: list[Graph] = []

    class Watched:
        classes = oracle.classes

        def predict(self, graphs):
            seen.extend(graphs)
            return oracle.predict(graphs)

    for i in range(12):
        graph = data.graphs[i]
        seen.clear()
        result = explain(graph, Watched(), constraints={"degree_bounds": BOUNDS}, background=data)
        others = set(data.graphs)
        for one in {*seen, result.counterfactual} - others:
            assert one.types is not None
            degrees = np.zeros(one.n_nodes, dtype=int)
            for u, v in one.edges():
                degrees[[u, v]] += 1
            for node in range(one.n_nodes):
                limit = VALENCE[one.types.names[one.types.index[node]]]
                assert degrees[node] <= max(limit, int(graph.degrees()[node]))
        found += result.found
    assert found >= 4


def test_smallest_degrees_hold_too(data: Dataset, oracle) -> None:
    found = 0
    terms = {"degree_bounds": {"O": (1, 2), "N": (1, 3)}}
    for graph in data.graphs[:10]:
        bound = explain(graph, oracle, background=data, constraints=terms)
        assert bound.constraints["degree_bounds"] == "O=1-2,N=1-3"
        found += bound.found
        assert graph.types is not None
        for node, before in enumerate(graph.degrees().tolist()):
            name = graph.types.names[graph.types.index[node]]
            if name in "NO" and before >= 1:
                assert bound.counterfactual.degrees()[node] >= 1
    assert found >= 3


def test_removals_only(data: Dataset, oracle) -> None:
    labels = oracle.predict(data.graphs)
    active = [g for g, y in zip(data.graphs, labels, strict=True) if y == 1][:4]
    for graph in active:
        result = explain(graph, oracle, background=data, constraints={"only": "remove"})
        assert result.found
        assert set(result.counterfactual.edges()) < set(graph.edges())


@pytest.mark.parametrize("text", ["C", "C=", "=4", "C=4-", "C=-1", "C=3-1", "C=4,C=3", "C=x"])
def test_wrong_bounds_are_refused(text: str) -> None:
    with pytest.raises(InvalidParameterError, match="degree_bounds must give each type"):
        Constraints(degree_bounds=text)


def test_bounds_need_types_that_exist(data: Dataset, oracle) -> None:
    with pytest.raises(DenseflipError, match=r"Unknown type or region .S.\. Known: C, N, O, Cl"):
        explain(data.graphs[0], oracle, constraints={"degree_bounds": "S=2"})
    plain = Graph.from_edges(3, [(0, 1)])
    with pytest.raises(MissingInputError, match="type or region of each node"):
        explain(plain, lambda a: int(a.sum() > 2), "edg", constraints={"degree_bounds": "C=2"})


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "con"}, "compares graphs pair by pair"),
        ({"method": "dat"}, "compares graphs pair by pair"),
        ({"method": "blocks"}, "compares graphs pair by pair"),
        ({"method": "brief", "language": "nodes"}, "types and no identity"),
        ({"language": "nodes"}, "types and no identity"),
        ({"balance": "on"}, "types and no identity"),
        ({"constraints": {"allow_seen": 10}}, "types and no identity"),
    ],
)
def test_what_compares_nodes_one_by_one_says_so(data: Dataset, oracle, options, says) -> None:
    with pytest.raises(DenseflipError, match=says):
        explain(data.graphs[0], oracle, background=data, **options)


@pytest.mark.parametrize("method", ["tri", "cli", "edg", "obs+min", "race", "tight", "best"])
def test_other_methods_work_without_comparing_pairs(data: Dataset, oracle, method: str) -> None:
    result = explain(data.graphs[0], oracle, method, background=data, budget=800)
    assert result.label_before == 1
    assert not result.found or oracle.predict([result.counterfactual]) == [0]


def test_a_node_table_or_another_data_set_is_refused(data: Dataset, oracle) -> None:
    graph = data.graphs[0]
    with pytest.raises(DenseflipError, match="carries the types of its own nodes"):
        explain(graph, oracle, nodes=Nodes.numbered(graph.n_nodes))
    plain = Graph.from_edges(graph.n_nodes, graph.edges())
    with pytest.raises(DenseflipError, match="node types none, the background C, N, O, Cl"):
        explain(plain, lambda a: 0, background=data)
    with pytest.raises(DenseflipError, match="node types C, N, O, Cl; graph 0 has none"):
        oracle.predict([plain])


@pytest.mark.parametrize("preset", ["edges-svm", "edges-logistic"])
def test_features_of_node_pairs_are_refused(data: Dataset, preset: str) -> None:
    with pytest.raises(InvalidParameterError, match="types and no identity"):
        fit_oracle(data, preset)


def test_a_classifier_outlives_its_file(data: Dataset, oracle, tmp_path: Path) -> None:
    from denseflip.classifiers.persist import load_oracle

    again = load_oracle(oracle.save(tmp_path / "x.dfo"))
    assert again.predict(data.graphs) == oracle.predict(data.graphs)


def test_counts_of_graphs_of_other_sizes(data: Dataset) -> None:
    graph = data.graphs[0]
    assert graph.types is not None
    places = Places(graph, graph.types.nodes.taxonomy())
    reference = Reference(places, data.graphs[1:4], data.graphs[4:9])
    names = graph.types.nodes.taxonomy().regions
    for row, other in zip(reference.counts, data.graphs[4:9], strict=True):
        found = bonds(other)
        assert row.tolist() == [found[f"{names[a]}–{names[b]}"] for a, b in places.every]
    assert Background.of(data).by_type
    assert not len(Background.of(data).frequencies([0, 1]).codes)


def test_types_that_are_no_elements_are_nodes_in_a_sentence(data: Dataset, oracle) -> None:
    names = ("helix", "sheet", "turn", "none")
    graphs = []
    for g in data.graphs:
        assert g.types is not None
        graphs.append(Graph.from_edges(g.n_nodes, g.edges()).typed(NodeTypes(names, g.types.index)))
    renamed = Dataset("protein", graphs, data.labels, data.class_names, ids=data.ids)
    story = explain_and_describe(find_subject(renamed, 0), fit_oracle(renamed), refits=None)
    assert re.search(r"\w+ fewer edges between sheet and turn nodes \(\d+ → \d+", story.statement)


def test_a_query_depends_on_the_types(data: Dataset, oracle) -> None:
    graph = data.graphs[0]
    assert graph.types is not None
    carbon = graph.typed(NodeTypes(graph.types.names, [0] * graph.n_nodes))
    session = Session(oracle)
    assert [session.query(x).label for x in (graph, carbon)] == oracle.predict([graph, carbon])
