"""Files in the shapes of real programs: the graph that was written, or a refusal that says why."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from denseflip.datasets import Keep, import_folder, read_graph
from denseflip.datasets.importers import suffixes
from denseflip.errors import DenseflipError
from denseflip.graph import Nodes
from denseflip.reading import Reading
from denseflip.workflow.subject import find_subject
from zoo.shapes import CORRELATIONS, EDGES, GENES, NAMES, SHAPES, Shape, series, table

TABLES = {"names": Nodes(NAMES), "genes": Nodes(GENES)}
README = Path(__file__).parents[2] / "zoo" / "README.md"


def options_of(shape: Shape) -> dict[str, Any]:
    given = dict(shape.options)
    table_name = given.pop("node", None)
    return given | ({"nodes": TABLES[table_name]} if table_name else {})


def put(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_bytes(SHAPES[name].content)
    return path


def test_the_zoo_is_large_and_its_own_graph_is_what_it_says() -> None:
    assert len(SHAPES) >= 80
    assert sum(bool(s.refusal) for s in SHAPES.values()) >= 20
    for points in (6, 12):
        assert np.allclose(np.corrcoef(series(points).T), CORRELATIONS, atol=1e-5)
    order = np.argsort(-CORRELATIONS[np.triu_indices(5, 1)])[:5]
    assert [tuple(np.transpose(np.triu_indices(5, 1))[i]) for i in sorted(order)] == EDGES


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_gives_its_graph_or_is_refused(tmp_path: Path, name: str) -> None:
    path, shape, notes = put(tmp_path, name), SHAPES[name], []
    given = options_of(shape)
    if shape.refusal:
        with pytest.raises(DenseflipError, match=shape.refusal) as info:
            read_graph(path, keep=Keep(edges=5), **given)
        assert name in str(info.value)
        return
    graph = read_graph(path, keep=Keep(edges=5), on_note=notes.append, **given)
    assert (graph.n_nodes, graph.edges()) == (5, EDGES)
    assert shape.notes in " ".join(notes)


@pytest.mark.parametrize("name", [x for x in SHAPES if Path(x).suffix.lower() in suffixes()])
def test_import_reads_a_shape_as_one_file_is_read(tmp_path: Path, name: str) -> None:
    shape = SHAPES[name]
    given = options_of(shape)
    given.pop("n_nodes", None)
    labels = {}
    for i in range(4):
        known = re.match(r"sub-\d+_|Pitt_0050003", name)
        file = (
            name.replace(known[0], f"sub-1{i}_" if "sub" in known[0] else f"Pitt_005000{i}")
            if known
            else f"s{i}{Path(name).suffix}"
        )
        (tmp_path / file).write_bytes(shape.content)
        key = (
            file.split("_")[0]
            if file.startswith("sub-")
            else file.partition("_rois")[0]
            if known
            else f"s{i}"
        )
        labels[key] = "AB"[i % 2]
    if shape.refusal and "nan at row" not in shape.refusal:
        with pytest.raises(DenseflipError, match=shape.refusal):
            import_folder(tmp_path, labels, keep=Keep(edges=5), **given)
        return
    if name == "igraph-R-five-nodes.txt":  # the number of nodes is not known here
        given["first_node"] = 1
    data = import_folder(tmp_path, labels, keep=Keep(edges=5), **given)
    if not shape.refusal:
        assert all(graph.edges() == EDGES for graph in data.graphs)
        assert shape.notes in " ".join(data.attributes["import"]["notes"])
    else:
        assert data.n_nodes == 4  # a parcel without data is left out, and listed


@pytest.mark.parametrize("name", [x for x, s in SHAPES.items() if "n_nodes" not in s.options])
def test_explain_reads_a_shape_as_one_file_is_read(tmp_path: Path, name: str) -> None:
    path, shape = put(tmp_path, name), SHAPES[name]
    given = options_of(shape)
    nodes = given.pop("nodes", None)
    how = Reading(**given)
    if shape.refusal:
        with pytest.raises(DenseflipError, match=shape.refusal):
            find_subject(path, nodes=nodes, keep=Keep(edges=5), reading=how)
        return
    found = find_subject(path, nodes=nodes, keep=Keep(edges=5), reading=how)
    assert found.graph.edges() == EDGES
    assert shape.notes in " ".join(found.notes)


def test_the_table_of_the_zoo_is_complete() -> None:
    assert "\n".join(table()) in README.read_text(encoding="utf-8"), (
        "run: python tests/zoo/write_readme.py"
    )


# ---- what settles a doubt ---------------------------------------------------------------


def test_the_option_named_in_a_refusal_settles_it(tmp_path: Path) -> None:
    for name, settled in {
        "distances-along-a-line.csv": {"header": "none"},
        "counts-with-codes-around.csv": {"header": "both"},
        "thousands.tsv": {"decimal": "point"},
        "series-unnamed-clock.csv": {"header": "column"},
        "igraph-R-as_edgelist.csv": {"first_node": 1},
        "two-edges.txt": {"kind": "edges"},
        "columns-i-j-k.csv": {"kind": "matrix"},
        "totals-row.csv": {"kind": "timeseries"},
        "series-of-counts.csv": {"header": "row"},
        "series-of-five-points.csv": {"kind": "timeseries"},
        "FSLNets-netmats.txt": {"kind": "timeseries"},
    }.items():
        path = put(tmp_path, name)
        with pytest.raises(DenseflipError) as info:
            read_graph(path, keep=Keep(edges=1))
        assert set(settled) & set(info.value.parameters) or name == "series-of-five-points.csv"
        assert read_graph(path, keep=Keep(edges=1), **settled).n_edges >= 1


def test_an_edge_list_of_ours_says_from_where_it_counts(tmp_path: Path) -> None:
    (tmp_path / "a.edgelist").write_text("# 5 nodes, numbered from 0\n1 2\n2 3\n")
    assert read_graph(tmp_path / "a.edgelist").edges() == [(1, 2), (2, 3)]
    (tmp_path / "b.edgelist").write_text("0 1\n")
    with pytest.raises(DenseflipError, match="line 1 has the node 0, but its nodes are said"):
        read_graph(tmp_path / "b.edgelist", first_node=1)
    with pytest.raises(DenseflipError, match="first_node must be"):
        read_graph(tmp_path / "b.edgelist", first_node=2)


def test_lists_of_a_folder_count_alike(tmp_path: Path) -> None:
    lists = ["1 2\n2 3\n", "0 1\n2 3\n", "1 2\n1 3\n", "2 3\n1 2\n"]
    for i, content in enumerate(lists):
        (tmp_path / f"s{i}.edgelist").write_text(content)
    labels = {f"s{i}": "AB"[i % 2] for i in range(4)}
    data = import_folder(tmp_path, labels)
    assert (data.n_nodes, data.graphs[0].edges()) == (4, [(1, 2), (2, 3)])
    (tmp_path / "s1.edgelist").write_text("1 3\n")
    with pytest.raises(DenseflipError, match=r"All 4 edge lists .*first_node=1"):
        import_folder(tmp_path, labels)
    data = import_folder(tmp_path, labels, first_node=1)
    assert (data.n_nodes, data.graphs[0].edges()) == (3, [(0, 1), (1, 2)])


def test_a_name_is_never_taken_for_a_number(tmp_path: Path) -> None:
    (tmp_path / "a.edges").write_text("1 2\n2 0\n")
    with pytest.raises(DenseflipError, match="line 2 names the node '0'"):
        read_graph(tmp_path / "a.edges", nodes=Nodes(("1", "2", "3")))


def test_two_directions_with_two_weights_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.edges").write_text("0 1 0.5\n1 0 0.7\n")
    with pytest.raises(DenseflipError, match="two directions of an edge"):
        read_graph(tmp_path / "a.edges", keep=Keep(edges=1))


def test_damaged_sparse_arrays_are_refused(tmp_path: Path) -> None:
    held = {"format": np.array(b"csr"), "shape": np.array([3, 3]), "data": np.ones(2)}
    wrong = {
        "outside": {"indices": np.array([0, 7]), "indptr": np.array([0, 1, 2, 2])},
        "add up": {"indices": np.array([0, 1]), "indptr": np.array([0, 1, 9, 2])},
        "whole": {"indices": np.array([0.5, 1]), "indptr": np.array([0, 1, 2, 2])},
    }
    for words, parts in wrong.items():
        np.savez(tmp_path / "a.npz", **held, **parts)
        with pytest.raises(DenseflipError, match=words):
            read_graph(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", **{**held, "shape": np.array([10**6, 10**6])},
             indices=np.array([0, 1]), indptr=np.array([0, 1, 2, 2]))  # fmt: skip
    with pytest.raises(DenseflipError, match="limit"):
        read_graph(tmp_path / "b.npz")


def test_links_in_matlab_73_files_are_never_followed(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "other.mat", "w") as file:
        file["R"] = CORRELATIONS
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["R"] = h5py.ExternalLink("other.mat", "R")
    with pytest.raises(DenseflipError, match=r"R .a link, not opened"):
        read_graph(tmp_path / "a.mat", keep=Keep(edges=5))


def test_names_in_a_comment_are_matched(tmp_path: Path) -> None:
    moved = [3, 0, 4, 1, 2]
    out = io.StringIO()
    out.write("# " + ",".join(NAMES[i] for i in moved) + "\n")
    csv.writer(out).writerows(CORRELATIONS[np.ix_(moved, moved)].tolist())
    (tmp_path / "a.csv").write_text(out.getvalue())
    assert read_graph(tmp_path / "a.csv", nodes=Nodes(NAMES), keep=Keep(edges=5)).edges() == EDGES
