from __future__ import annotations

import json
import pickle

import pytest

from denseflip.errors import InvalidNodesError, MissingInputError, UnknownNameError
from denseflip.graph import Nodes
from denseflip.graph.readable_names import readable
from graphs import halves


def test_taxonomies_sort_nodes_into_regions():
    nodes = halves(4)
    side = nodes.taxonomy()
    assert (side.name, side.regions, side.index) == ("side", ("Left", "Right"), (0, 0, 1, 1))
    assert side.members(1).tolist() == [2, 3]
    assert side.region_of(2) == "Right"
    assert nodes.taxonomies == ("side", "parity")
    crossed = nodes.taxonomy("side*parity")
    assert crossed.regions == ("Left Even", "Left Odd", "Right Even", "Right Odd")
    assert repr(nodes) == "Nodes(n_nodes=4, taxonomies=['side', 'parity'])"


def test_a_taxonomy_is_found_in_upper_or_lower_case():
    nodes = Nodes(("a", "b"), {"Lobe": ("x", "y"), "Hemisphere": ("L", "R")})
    assert nodes.taxonomy("lobe") == nodes.taxonomy("Lobe")
    crossed = nodes.taxonomy("LOBE*hemisphere")
    assert crossed.name == "Lobe*Hemisphere"
    assert readable(crossed) == ("left x", "right y")
    both = Nodes(("a", "b"), {"Lobe": ("x", "y"), "lobe": ("u", "v")})
    assert both.taxonomy("lobe").regions == ("u", "v")
    with pytest.raises(UnknownNameError, match="LOBE"):
        both.taxonomy("LOBE")


def test_a_node_in_two_groups_keeps_the_first():  # D9
    nodes = Nodes.from_groups(4, {"A": (0, 1), "B": (1, 2)})
    assert nodes.taxonomy().regions == ("A", "B", "Other")
    assert [nodes.taxonomy().region_of(v) for v in range(4)] == ["A", "A", "B", "Other"]


def test_crossed_regions_never_run_together():
    nodes = Nodes(("a", "b"), {"x": ("p q", "p"), "y": ("r", "q r")})
    assert len(nodes.taxonomy("x*y").regions) == 2


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"names": ("a", "a")}, r"must be unique; 1 name occurs more than once: 'a' \(2 times\)"),
        ({"names": ("a", "b"), "regions": {"r": ("X",)}}, "2 node names but 1 entries in taxonomy"),
        ({"names": ("a",), "regions": {"r*s": ("X",)}}, r"may not contain '\*'; got 'r\*s'"),
        ({"names": ("a", "b"), "regions": {"r": ("X", "")}}, "'r': node 1 has no region"),
        ({"names": ("a",), "coordinates": ((0, 0),)}, r"node 0 must be three finite numbers"),
        ({"names": ("a",), "coordinates": ((0, 0, float("nan")),)}, "three finite numbers"),
        ({"names": ("a",), "coordinates": ()}, "1 node names but 0 entries in coordinates"),
    ],
)
def test_a_table_that_contradicts_itself_is_refused(facts, message):
    with pytest.raises(InvalidNodesError, match=message):
        Nodes(**facts)


def test_missing_and_unknown_taxonomies():
    with pytest.raises(MissingInputError, match=r"have no regions. Give a node table"):
        Nodes.numbered(3).taxonomy()
    with pytest.raises(UnknownNameError, match=r"Unknown taxonomy 'sides'. Did you mean 'side'"):
        halves(4).taxonomy("sides")
    with pytest.raises(UnknownNameError, match=r"Unknown taxonomy 'lobe'"):
        halves(4).taxonomy("side*lobe")
    with pytest.raises(InvalidNodesError, match=r"Region 'A' names node 9; nodes are 0..3"):
        Nodes.from_groups(4, {"A": (9,)})
    with pytest.raises(InvalidNodesError, match=r"has 5 nodes, but the node table describes 4"):
        halves(4).check_fits(5)


def test_forms_lead_back(tmp_path):
    nodes = Nodes(("a", "b"), {"r": ("X", "Y")}, ((0.5, 1, 2), (3, 4, 5)))
    assert Nodes.from_dict(json.loads(json.dumps(nodes.to_dict()))) == nodes
    assert pickle.loads(pickle.dumps(nodes)) == nodes
    assert hash(nodes) == hash(Nodes.from_dict(nodes.to_dict()))
    for table in (nodes, Nodes.numbered(3), halves(4)):
        table.write_csv(tmp_path / "nodes.csv")
        assert Nodes.read_csv(tmp_path / "nodes.csv") == table


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot read the node table: table.csv: the file is empty"),
        ("name,lobe\n", "needs a header line and a row per node; got name, lobe"),
        ("title,x\na,1\n", "needs a column 'name'; got title, x.*set name_column"),
        ("name,lobe\na\n", "line 2 has 1 column, the header 2"),
        ("index,name\n0,a\n2,b\n1,c\n", "line 3: index must be 1; got '2'.*sort the rows by it"),
        ("name,lobe\n,X\nb,Y\n", "line 2 has no name"),
        ("name,x,y,z\na,1,2,far\n", "columns x, y, z must hold numbers"),
        ("name,lobe\na,X\na,Y\n", "must be unique"),
    ],
)
def test_a_bad_file_is_named(tmp_path, text, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(InvalidNodesError, match=f"table.csv: .*{message}"):
        Nodes.read_csv(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InvalidNodesError, match=r"nowhere.csv: cannot read the node table"):
        Nodes.read_csv(tmp_path / "nowhere.csv")
