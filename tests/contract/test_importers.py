"""Every registered importer passes the same checks: a new one is tested by being registered.

A kind needs one thing here: a line in SAMPLES that writes two graphs of known edges. Those of labs
and programs are written by `labs`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import labs
from denseflip.datasets import Dataset, export_dataset, import_folder, read_graph
from denseflip.datasets.export import FORMATS
from denseflip.datasets.folder import import_report
from denseflip.datasets.import_job import Look, ending_of
from denseflip.datasets.importers import IMPORTERS, file_importers, kind_of, suffixes
from denseflip.errors import DatasetError, DenseflipError, UnknownNameError
from denseflip.graph import Graph, Nodes

ONE = Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (3, 4)])
TWO = Graph.from_edges(5, [(0, 4), (2, 4)])
GRAPHS = {"one": ONE, "two": TWO}
LABELS = {"one": "case", "two": "control"}
NODES = Nodes(tuple("abcde"), regions={"side": ("l", "l", "m", "r", "r")})
FILES = [importer.name for importer in file_importers()]
every = pytest.mark.parametrize("kind", IMPORTERS)
every_file = pytest.mark.parametrize("kind", FILES)


def matrix(folder: Path) -> None:
    for name, graph in GRAPHS.items():
        np.savetxt(folder / f"{name}.csv", graph.to_adjacency(int), fmt="%d", delimiter=",")


def edges(folder: Path) -> None:
    for name, graph in GRAPHS.items():
        (folder / f"{name}.edgelist").write_text("".join(f"{u} {v}\n" for u, v in graph.edges()))


def graphml(folder: Path) -> None:
    for name, graph in GRAPHS.items():
        nx.write_graphml_xml(graph.to_networkx(), folder / f"{name}.graphml")


def timeseries(folder: Path) -> None:
    """Regions that are joined share a signal, so the strongest correlations are the edges."""
    pytest.importorskip("nilearn", reason="correlations need the extra 'brain'")
    rng = np.random.default_rng(0)
    for name, graph in GRAPHS.items():
        series = 0.3 * rng.standard_normal((400, 5))
        for u, v in graph.edges():
            shared = rng.standard_normal(400)
            series[:, u] += shared
            series[:, v] += shared
        np.savetxt(folder / f"{name}.csv", series, delimiter=",")


def tu(folder: Path) -> None:
    graphs = list(GRAPHS.values())
    pairs = [(u + 5 * i, v + 5 * i) for i, g in enumerate(graphs) for u, v in g.edges()]
    lines = [f"{u + 1}, {v + 1}\n{v + 1}, {u + 1}\n" for u, v in pairs]
    (folder / "LAB_A.txt").write_text("".join(lines))
    owners = [str(i + 1) for i, g in enumerate(graphs) for _ in range(g.n_nodes)]
    (folder / "LAB_graph_indicator.txt").write_text("\n".join(owners) + "\n")
    (folder / "LAB_graph_labels.txt").write_text("0\n1\n")


def of_lab(kind: str) -> Callable[[Path], None]:
    """The sample of a layout: the graphs as matrices or series, under the layout's own ids."""
    layout = labs.LAYOUTS[kind]

    def write(folder: Path) -> None:
        rng = np.random.default_rng(0)
        data = {}
        for key, graph in zip(layout.ids(2), GRAPHS.values(), strict=True):
            values = graph.to_adjacency()
            data[key] = labs.joined_series(values, rng) if layout.series else values
        layout.write(folder, data, NODES.names)

    return write


SAMPLES = {
    **{kind: of_lab(kind) for kind in labs.LAYOUTS},
    "matrix": matrix,
    "timeseries": timeseries,
    "edges": edges,
    "graphml": graphml,
    "tu": tu,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    out = tmp_path / "lab"
    out.mkdir()
    return out


def labels_of(kind: str) -> dict[str, str] | None:
    """The classes of a sample; a TU folder brings its own."""
    ids = labs.LAYOUTS[kind].ids(2) if kind in labs.LAYOUTS else list(LABELS)
    return None if kind == "tu" else dict(zip(ids, LABELS.values(), strict=True))


def imported(folder: Path, kind: str, **options: object) -> Dataset:
    """The sample of a kind as a data set."""
    SAMPLES[kind](folder)
    options = {"labels": labels_of(kind), **options}
    return import_folder(folder, **{"allow_single": True, **options})


def test_every_importer_has_a_sample_here():
    assert set(SAMPLES) == set(IMPORTERS)


@every
def test_it_says_what_it_is(kind):
    importer = IMPORTERS[kind]
    assert importer.name == kind
    assert importer.summary
    page = Path(__file__).parents[2] / "docs" / "datasets.md"
    assert f"`{kind}`" in page.read_text(encoding="utf-8")


@every
def test_it_is_recognised_and_reads_what_was_written(kind, folder):
    data = imported(folder, kind)
    assert len(data) == 2
    assert data.n_nodes == 5
    assert data.labels == (0, 1)
    if (
        "timeseries" in kind or kind == "abide"
    ):  # by percentile 90 of ten pairs: the strongest one is an edge
        for graph, written in zip(data.graphs, GRAPHS.values(), strict=True):
            assert set(graph.edges()) < set(written.edges())
        return
    assert [g.edges() for g in data.graphs] == [ONE.edges(), TWO.edges()]


@every
def test_saying_the_kind_changes_nothing(kind, folder):
    found = imported(folder, kind)
    again = import_folder(folder, labels_of(kind), kind=kind, allow_single=True)
    assert (again.graphs, again.ids, again.nodes) == (found.graphs, found.ids, found.nodes)


@every
def test_a_node_table_is_taken_over(kind, folder):
    data = imported(folder, kind, nodes=NODES)
    assert data.nodes == NODES
    other = Nodes(tuple("abcd"))
    with pytest.raises(DenseflipError, match=r"ha(s|ve) 5|outside 0\.\.3|header of .*'e'"):
        imported(folder, kind, nodes=other)


@every
def test_what_was_imported_can_be_kept(kind, folder, tmp_path):
    data = imported(folder, kind)
    assert Dataset.load(data.save(tmp_path / "x.dfd")) == data


@every_file
def test_one_file_gives_one_graph(kind, folder):
    SAMPLES[kind](folder)
    for path in sorted(folder.iterdir()):
        assert kind_of(path) == kind
        graph = read_graph(path, n_nodes=5)
        assert graph == read_graph(path, n_nodes=5, kind=kind)
        assert graph.n_nodes == 5
        assert ending_of(path) in IMPORTERS[kind].suffixes


@every_file
def test_no_two_importers_claim_one_file(kind, folder):
    SAMPLES[kind](folder)
    for path in folder.iterdir():
        claims = [x.name for x in file_importers() if x.recognises(Look(path))]
        assert claims == [kind]


@every_file
def test_a_wrong_size_is_told_with_the_files_name(kind, folder):
    SAMPLES[kind](folder)
    for path in folder.iterdir():
        with pytest.raises(DenseflipError, match=path.stem):
            read_graph(path, n_nodes=3, kind=kind)


@every_file
@pytest.mark.parametrize("content", [b"", b"\x00\xff\xfe\x01", b"no graph at all"])
def test_rubbish_is_a_problem_with_a_name_never_a_traceback(kind, folder, content):
    SAMPLES[kind](folder)
    path = min(folder.iterdir())
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=path.name):
        import_folder(folder, labels_of(kind), kind=kind, allow_single=True)


@every_file
def test_labels_and_files_must_meet(kind, folder):
    given = labels_of(kind)
    with pytest.raises(DatasetError, match=r"Labels without a graph file \(1\): three"):
        imported(folder, kind, labels={**given, "three": "case"})
    first, second = given
    alone = {first: "case"}
    with pytest.raises(DatasetError, match=r"Graph files without a label \(1\): "):
        imported(folder, kind, labels=alone)
    path = folder / "labels.tsv"
    path.write_text(f"id\tgroup\n{first}\tcase\n{second}\tn/a\n")
    with pytest.raises(
        DatasetError, match=rf"class is missing \('n/a' is not a class\).*: {second}"
    ):
        imported(folder, kind, labels=path)


@every
def test_what_is_left_out_is_in_the_report(kind, folder):
    if kind == "tu":
        pytest.skip("a TU folder brings its own labels")
    given = labels_of(kind)
    path = folder.parent / "labels.tsv"
    rows = [f"{key}\t{c}" for key, c in given.items()]
    path.write_text("\n".join(["id\tgroup", *rows]))
    data = imported(folder, kind, labels=path, skip_unmatched=True)
    lines = import_report(data)
    assert lines[0] == f"Imported: 2 graphs (case 1, control 1), as {kind}."
    assert lines[-1] == "Nothing was left out."
    assert all("'group'" not in line or "classes from the column 'group'" in line for line in lines)


@every
def test_a_class_with_one_graph_is_refused_before_anything_is_read(kind, folder):
    SAMPLES[kind](folder)
    seen = []
    with pytest.raises(
        DatasetError, match=r"one graph can be neither learned nor evaluated: 'case'"
    ):
        import_folder(
            folder,
            labels_of(kind) or {"0001": "case", "0002": "control"},
            on_file=seen.append,
        )
    assert seen == []


@every_file
def test_progress_knows_the_total_and_counts_every_file_once(kind, folder):
    total, seen = [], []
    imported(folder, kind, on_total=total.append, on_file=seen.append)
    assert total == [2]
    assert len(seen) == len(set(seen)) == 2


@every
def test_headers_are_matched_by_name_to_a_table_in_another_order(kind, folder):
    """The files of layouts that have names; those without are in the order of the table."""
    turned = NODES.ordered(tuple("edcba"))
    data = imported(folder, kind, nodes=turned)
    assert data.nodes == turned
    plain = imported(folder, kind, nodes=NODES)
    names = data.attributes["import"]["notes"]
    if any("by name" in x for x in names):
        for one, two in zip(data.graphs, plain.graphs, strict=True):
            back = {(4 - v, 4 - u) for u, v in one.edges()}
            assert back == set(two.edges())
    else:
        assert kind in ("matrix", "timeseries", "edges", "graphml", "tu", "stack")


@every_file
def test_the_files_of_a_kind_are_seen_in_a_folder(kind):
    assert set(IMPORTERS[kind].suffixes) <= set(suffixes())


def test_an_unknown_kind_is_told_with_those_that_exist(folder):
    matrix(folder)
    with pytest.raises(UnknownNameError, match="Did you mean 'matrix'"):
        import_folder(folder, LABELS, kind="matrx")
    with pytest.raises(UnknownNameError, match="Known: auto, matrix, timeseries, edges, graphml"):
        read_graph(folder / "one.csv", kind="tu")  # a folder's kind is no file's


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_of_the_export_comes_back(format, tmp_path):
    data = Dataset("toy", (ONE, TWO), (1, 0), ("control", "case"), NODES, ("one", "two"))
    back = import_folder(export_dataset(data, tmp_path / "out", format=format), name="toy")
    assert back == data
