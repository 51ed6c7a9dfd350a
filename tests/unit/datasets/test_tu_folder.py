from pathlib import Path

import numpy as np
import pytest

from denseflip.datasets import Dataset, export_dataset, import_folder, load_dataset
from denseflip.datasets.folder import import_report
from denseflip.datasets.tu_folder import read_tu
from denseflip.errors import DatasetError, DenseflipError, InvalidParameterError
from denseflip.graph import Graph, NodeTypes
from molecules import CLASSES, NAMES, write_molecules


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_molecules(tmp_path / "MOL", 20)


def lines(folder: Path, part: str) -> list[str]:
    return (folder / f"MOL_{part}.txt").read_text().split("\n")[:-1]


def rewrite(folder: Path, part: str, rows: list[str]) -> None:
    (folder / f"MOL_{part}.txt").write_text("".join(f"{x}\n" for x in rows))


def test_graphs_have_their_own_sizes_types_and_bonds(folder: Path) -> None:
    data = import_folder(folder, classes=CLASSES)
    owner = [int(x) - 1 for x in lines(folder, "graph_indicator")]
    assert [g.n_nodes for g in data.graphs] == np.bincount(owner).tolist()
    assert data.node_types == NAMES
    assert data.is_typed
    assert data.nodes.names == ()
    pairs = [tuple(int(x) - 1 for x in row.split(",")) for row in lines(folder, "A")]
    kinds = [int(x) for x in lines(folder, "edge_labels")]
    labels = [int(x) for x in lines(folder, "node_labels")]
    first = np.concatenate(([0], np.cumsum(np.bincount(owner))))
    for i, graph in enumerate(data.graphs):
        there = {
            (u - first[i], v - first[i]): kind
            for (u, v), kind in zip(pairs, kinds, strict=True)
            if owner[u] == i and u < v
        }
        assert graph.edges() == sorted(there)
        types = graph.types
        assert types is not None
        assert types.index.tolist() == labels[first[i] : first[i + 1]]
        assert types.rows_of_edges(graph).argmax(1).tolist() == [there[e] for e in graph.edges()]
        assert data.nodes_of(graph).n_nodes == graph.n_nodes
    assert data.class_names == ("inactive", "active")
    assert "names of the node types are from README.txt" in " ".join(import_report(data))


def test_a_file_keeps_everything(folder: Path, tmp_path: Path) -> None:
    rows = [f"{i}.5, {i % 3}" for i in range(len(lines(folder, "node_labels")))]
    rewrite(folder, "node_attributes", rows)
    data = import_folder(folder)
    again = load_dataset(data.save(tmp_path / "mol.dfd"))
    assert again == data
    for one, other in zip(data.graphs, again.graphs, strict=True):
        assert one.types is not None
        assert other.types is not None
        assert one.types.key == other.types.key
        assert one.types.features is not None
    assert again.subset([3, 1]).graphs == (data.graphs[3], data.graphs[1])
    summary = again.summary()
    assert summary.taxonomies == {"node type": 4}
    assert summary.degree_mean == pytest.approx(
        2 * sum(g.n_edges for g in data.graphs) / sum(g.n_nodes for g in data.graphs)
    )


def test_names_of_types(folder: Path, tmp_path: Path) -> None:
    given = import_folder(folder, node_types=["0=C", "1=N", "2=O", "3=F"])
    assert given.node_types == ("C", "N", "O", "F")
    assert import_folder(folder, node_types=list("wxyz")).node_types == tuple("wxyz")
    bare = write_molecules(tmp_path / "bare", 20, readme=False)
    assert import_folder(bare).node_types == ("type 0", "type 1", "type 2", "type 3")
    for wrong, says in (
        (["0=C"], r"no name for \[1, 2, 3\]"),
        ([*"wxyz", "v"], r"names for \[4\]"),
        (["a=C"], "label=name"),
    ):
        with pytest.raises(InvalidParameterError, match=says):
            import_folder(folder, node_types=wrong)


def test_an_added_bond_is_of_the_usual_kind(tmp_path: Path) -> None:
    files = {
        "A": "1,2\n2,1\n1,3\n3,1\n4,5\n5,4\n",
        "graph_indicator": "1\n1\n1\n2\n2\n",
        "graph_labels": "0\n1\n",
        "node_labels": "0\n1\n1\n0\n0\n",
        "edge_labels": "2\n2\n2\n2\n0\n0\n",
        "edge_attributes": "1\n3\n4\n4\n7\n7\n",
    }
    for name, text in files.items():
        (tmp_path / f"T_{name}.txt").write_text(text)
    one, other = read_tu(tmp_path).graphs
    assert one.types is not None
    assert other.types is not None
    # Attributes (the mean of both directions), then labels 0, 1 and 2 as columns.
    assert one.types.rows_of_edges(one).tolist() == [[2, 0, 0, 1], [4, 0, 0, 1]]
    added = one.toggle([(1, 2)])
    usual = one.types.rows_of_edges(added)[2]
    assert usual == pytest.approx(np.mean([[2, 0, 0, 1], [4, 0, 0, 1], [7, 1, 0, 0]], axis=0))


def test_labels_that_name_each_node_are_no_types(tmp_path: Path) -> None:
    for name, text in {
        "A": "1,2\n3,5\n",
        "graph_indicator": "1\n1\n2\n2\n2\n",
        "graph_labels": "0\n1\n",
        "node_labels": "4\n6\n4\n5\n6\n",
    }.items():
        (tmp_path / f"T_{name}.txt").write_text(text)
    one, other = read_tu(tmp_path).graphs
    assert (one.edges(), other.edges(), one.types) == ([(0, 2)], [(0, 2)], None)
    with pytest.raises(InvalidParameterError, match="share one node set"):
        read_tu(tmp_path, ["a", "b", "c"])


def damage(folder: Path, what: str) -> None:
    rows = lines(folder, "node_labels")
    edges = lines(folder, "edge_labels")
    match what:
        case "no labels":
            (folder / "MOL_graph_labels.txt").unlink()
        case "no node labels":
            (folder / "MOL_node_labels.txt").unlink()
        case "few node labels":
            rewrite(folder, "node_labels", rows[:-1])
        case "many node labels":
            rewrite(folder, "node_labels", [*rows, "0"])
        case "few edge labels":
            rewrite(folder, "edge_labels", edges[:-2])
        case "few edge attributes":
            rewrite(folder, "edge_attributes", ["1.5"] * (len(edges) - 1))
        case "few labels":
            rewrite(folder, "graph_labels", ["0", "1"])
        case "text":
            rewrite(folder, "node_labels", ["C", *rows[1:]])
        case "half a label":
            rewrite(folder, "node_labels", ["0.5", *rows[1:]])
        case "two directions":
            rewrite(folder, "edge_labels", ["7", *edges[1:]])
        case "order":
            owner = lines(folder, "graph_indicator")
            rewrite(folder, "graph_indicator", [*owner[:40], "1", *owner[41:]])
        case "two graphs":
            rewrite(folder, "A", ["1, 60", *lines(folder, "A")[1:]])


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("no labels", "MOL_graph_labels.txt is missing. Add it, with the label of one graph per"),
        ("no node labels", "MOL_node_labels.txt is missing, and the graphs have different sizes"),
        ("few node labels", r"MOL_node_labels.txt: \d+ lines for \d+ nodes .*: line \d+ is miss"),
        ("many node labels", r"MOL_node_labels.txt: .*line \d+ is too much"),
        ("few edge labels", r"MOL_edge_labels.txt: \d+ lines for \d+ edges \(MOL_A.txt\)"),
        ("few edge attributes", r"MOL_edge_attributes.txt: \d+ lines .*line \d+ is missing"),
        ("few labels", r"MOL_graph_labels.txt: 2 lines for 20 graphs .*line 3 is missing"),
        ("text", "MOL_node_labels.txt"),
        ("half a label", r"MOL_node_labels.txt: expected whole numbers; got \[0.5\]"),
        ("two directions", r"MOL_edge_labels.txt: lines 1 and 2 .* \(7 and \d\)"),
        ("order", r"MOL_graph_indicator.txt: line 41: graphs must be numbered"),
        ("two graphs", "MOL_A.txt: line 1 joins nodes of two different graphs"),
    ],
)
def test_a_damaged_folder_is_refused_with_file_line_and_remedy(
    folder: Path, what: str, says: str
) -> None:
    damage(folder, what)
    with pytest.raises(DenseflipError, match=says):
        import_folder(folder)


def test_a_node_table_does_not_apply(folder: Path) -> None:
    from denseflip.graph import Nodes

    with pytest.raises(InvalidParameterError, match="node table does not apply"):
        import_folder(folder, nodes=Nodes.numbered(12))
    with pytest.raises(InvalidParameterError, match="TU format"):
        import_folder(folder.parent, node_types=["C"])


def test_what_needs_shared_nodes_says_so(folder: Path, tmp_path: Path) -> None:
    from denseflip.cohort.explain_cohort import explain_cohort

    data = import_folder(folder)
    with pytest.raises(DatasetError, match="A cohort needs graphs over the same nodes"):
        explain_cohort(data)
    with pytest.raises(DatasetError, match="export as csv"):
        export_dataset(data, tmp_path / "out", format="csv")
    assert export_dataset(data, tmp_path / "whole", format="dfd").is_dir()


def test_a_data_set_is_typed_or_not() -> None:
    plain = Graph.from_edges(2, [(0, 1)])
    typed = plain.typed(NodeTypes(("C",), (0, 0)))
    other = plain.typed(NodeTypes(("N",), (0, 0)))
    for graphs, says in (
        ((typed, plain), "graph 1 has none"),
        ((plain, typed), "graph 0 has none"),
        ((typed, other), "same list of node types"),
    ):
        with pytest.raises(DatasetError, match=says):
            Dataset("x", graphs, (0, 1), ("a", "b"))
