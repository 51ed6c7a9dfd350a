from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import scipy.io

from denseflip.datasets import Keep, read_graph
from denseflip.datasets.importers import kind_of
from denseflip.errors import FileFormatError, InvalidGraphError, UnknownNameError
from denseflip.graph import Nodes

PATH = [(0, 1), (1, 2)]
MATRIX = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]])
ABC = Nodes(("A", "B", "C"))

TEXTS = {
    "plain.csv": "0,1,0\n1,0,1\n0,1,0\n",
    "semicolon.csv": "0;1;0\n1;0;1\n0;1;0\n",
    "header.csv": "A,B,C\n0,1,0\n1,0,1\n0,1,0\n",
    "both.csv": "name,A,B,C\nA,0,1,0\nB,1,0,1\nC,0,1,0\n",
    "corner.csv": ",A,B,C\n1,0,1,0\n2,1,0,1\n3,0,1,0\n",
    "cornered.csv": "id,1,2,3\n1,0,1,0\n2,1,0,1\n3,0,1,0\n",
    "numbered.csv": ",0,1,2\n0,0,1,0\n1,1,0,1\n2,0,1,0\n",
    "scientific.csv": "0.0e+00,1.0e+00,0\n1,0,1\n0,1,0\n",
    "tabs.tsv": "0\t1\t0\n1\t0\t1\n0\t1\t0\n",
    "spaces.txt": "# a comment\n0 1 0\n1 0 1\n0 1 0\n",
    "pairs.edgelist": "0 1\n1 2\n",
    "weighted.edges": "0 1 0.5\n2 1 0.25\n",
    "both_ways.edges": "0 1\n1 0\n1 2\n2 1\n",
    "header_pairs.csv": "source,target\n0,1\n1,2\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_forms_of_one_graph(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TEXTS[name])
    assert read_graph(tmp_path / name).edges() == PATH


def test_binary_forms_of_one_graph(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", MATRIX)
    np.savez(tmp_path / "a.npz", adjacency=MATRIX)
    scipy.io.savemat(tmp_path / "a.mat", {"M": MATRIX})
    for name in ("a.npy", "a.npz", "a.mat"):
        assert read_graph(tmp_path / name).edges() == PATH


def test_graphml_by_number_and_by_name(tmp_path: Path) -> None:
    nx.write_graphml_xml(nx.path_graph(3), tmp_path / "n.graphml")
    assert read_graph(tmp_path / "n.graphml").edges() == PATH
    nx.write_graphml_xml(nx.Graph([("C", "B"), ("B", "A")]), tmp_path / "s.graphml")
    assert read_graph(tmp_path / "s.graphml", nodes=ABC).edges() == PATH


def test_edge_list_by_name_with_isolated_nodes(tmp_path: Path) -> None:
    (tmp_path / "e.txt").write_text("A B\nB C\n")
    nodes = Nodes(("A", "B", "C", "D"))
    graph = read_graph(tmp_path / "e.txt", nodes=nodes)
    assert (graph.n_nodes, graph.edges()) == (4, PATH)
    (tmp_path / "none.edges").write_text("# no edges\n")
    assert read_graph(tmp_path / "none.edges", n_nodes=5).n_nodes == 5


def test_weighted_edge_list_with_a_rule(tmp_path: Path) -> None:
    (tmp_path / "w.edges").write_text("0 1 0.5\n1 2 0.7\n")
    assert read_graph(tmp_path / "w.edges", keep=Keep(edges=1)).edges() == [(1, 2)]


def test_weighted_matrix_needs_a_rule(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "w.csv", MATRIX * 0.5, delimiter=",")
    with pytest.raises(InvalidGraphError, match=r"w\.csv: .*0 and 1.*threshold"):
        read_graph(tmp_path / "w.csv")
    assert read_graph(tmp_path / "w.csv", keep=Keep(threshold=0.4)).edges() == PATH


def test_time_series_become_a_graph(tmp_path: Path) -> None:
    pytest.importorskip("nilearn")
    np.save(tmp_path / "t.npy", np.random.default_rng(0).standard_normal((50, 116)))
    assert kind_of(tmp_path / "t.npy") == "timeseries"
    assert read_graph(tmp_path / "t.npy").n_edges == 667


BAD = {
    "text.csv": ("0,1\nx,0\n1,2\n", "row 0, column 0|time series|not a number|names the node"),
    "hole.csv": ("0,1,0\n1,0,\n0,1,0\n", "nan at row 1, column 2"),
    "word.csv": ("0,1,0\n1,0,x\n0,1,0\n", "line 2, column 3 holds 'x'"),
    "top.csv": ("0,foo,0\n1,0,1\n0,1,0\n", "line 1, column 2 holds 'foo'"),
    "first.csv": ("foo,1,0\n1,0,1\n0,1,0\n", "line 1, column 1 holds 'foo'"),
    "left.csv": ("0,1,0\nfoo,0,1\n0,1,0\n", "line 2, column 1 holds 'foo'"),
    "named.csv": ("A,B,C\n0,1,0\n1,0,x\n0,1,0\n", "line 3, column 3 holds 'x'"),
    "ragged.csv": ("0,1,0\n1,0\n0,1,0\n", "line 2 has 2 cells, but line 1 has 3"),
    "asymmetric.csv": ("0,1,0\n0,0,1\n0,1,0\n", r"\(0, 1\) is 1.*\(1, 0\) is 0"),
    "loop.csv": ("1,1,0\n1,0,1\n0,1,0\n", "self-loop at node 0"),
    "empty.csv": ("", "the file is empty"),
    "twice.edges": ("0 1\n0 1\n1 2\n", "duplicate"),
    "self.edges": ("0 0\n1 2\n", "self-loop"),
    "half.edges": ("# a comment\n1 2\n0 1.5\n", "line 3 is"),
    "wide.edges": ("0 1 2 3\n", "two or three columns"),
    "broken.graphml": ("<graphml", "GraphML"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_name_themselves_and_the_place(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    (tmp_path / name).write_text(content)
    with pytest.raises((FileFormatError, InvalidGraphError), match=message) as info:
        read_graph(tmp_path / name)
    assert name in str(info.value)


def test_unknown_node_name_has_a_hint(tmp_path: Path) -> None:
    (tmp_path / "e.edges").write_text("Alpha Beta\nBeta Gama\n")
    with pytest.raises(FileFormatError, match=r"line 2 names.*'Gama'.*Did you mean 'Gamma'"):
        read_graph(tmp_path / "e.edges", nodes=Nodes(("Alpha", "Beta", "Gamma")))


def test_wrong_size_is_told(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", MATRIX)
    with pytest.raises(InvalidGraphError, match=r"a\.npy: the graph has 3 nodes; expected 4"):
        read_graph(tmp_path / "a.npy", n_nodes=4)


def test_directed_graphml_is_refused(tmp_path: Path) -> None:
    nx.write_graphml_xml(nx.DiGraph([(0, 1)]), tmp_path / "d.graphml")
    with pytest.raises(InvalidGraphError, match=r"d\.graphml: expected an undirected"):
        read_graph(tmp_path / "d.graphml")


def test_several_arrays_need_a_choice(tmp_path: Path) -> None:
    np.savez(tmp_path / "two.npz", a=MATRIX, b=1 - MATRIX - np.eye(3))
    with pytest.raises(FileFormatError, match=r"Choose one \(variable\)"):
        read_graph(tmp_path / "two.npz")
    assert read_graph(tmp_path / "two.npz", variable="b").edges() == [(0, 2)]
    with pytest.raises(FileFormatError, match=r"no array named 'c'\. It holds: a, b"):
        read_graph(tmp_path / "two.npz", variable="c")


def test_python_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "o.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(FileFormatError, match="never loaded"):
        read_graph(tmp_path / "o.npy")


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.mat"])
@pytest.mark.parametrize("content", [b"", b"rubbish" * 50, b"PK\x03\x04...."])
def test_damaged_binary_files(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(FileFormatError, match=name):
        read_graph(tmp_path / name)


def test_names_that_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(FileFormatError, match="no such file"):
        read_graph(tmp_path / "no.csv")
    (tmp_path / "x.docx").write_text("")
    with pytest.raises(FileFormatError, match=r"unknown file type '\.docx'"):
        read_graph(tmp_path / "x.docx")
    with pytest.raises(UnknownNameError, match="kind of file"):
        read_graph(tmp_path / "x.docx", kind="word")
