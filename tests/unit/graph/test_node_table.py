"""Node tables in the shapes that laboratories have."""

from __future__ import annotations

from pathlib import Path

import pytest

from denseflip.errors import FileFormatError, InvalidNodesError, MissingExtraError, UnknownNameError
from denseflip.graph import Nodes
from denseflip.graph.node_table import numbered_names, sort_columns
from denseflip.text_tables import read_cells

ROWS = 6


def table(tmp_path: Path, header: str, row: str, name: str = "rois.csv", sign: str = ",") -> Path:
    """A table whose row is filled in for i = 0 … 5."""
    lines = [header, *(eval(f"f{row!r}", {"i": i}) for i in range(ROWS))]
    path = tmp_path / name
    path.write_text("\n".join(lines).replace(",", sign), encoding="utf-8")
    return path


def test_headings_and_cells_are_stripped_and_case_does_not_matter(tmp_path):
    path = table(tmp_path, " Name , Lobe ,X, Y ,z", " R{i} , {'AB'[i % 2]} , {i}.5 ,-{i}, 2 ")
    nodes = Nodes.read_csv(path)
    assert nodes.names == tuple(f"R{i}" for i in range(6))
    assert nodes.regions == {"Lobe": ("A", "B") * 3}
    assert nodes.coordinates is not None
    assert nodes.coordinates[1] == (1.5, -1.0, 2.0)


@pytest.mark.parametrize("header", ["name", "ROI", "Region Names", "schaefer_label", "index"])
def test_a_list_of_names_with_a_heading(tmp_path, header):
    assert Nodes.read_csv(table(tmp_path, header, "R{i}")).n_nodes == ROWS


def test_a_list_of_names_without_a_heading(tmp_path):
    nodes, notes = Nodes.read_table(table(tmp_path, "7Networks_LH_Vis_1", "R{i}", "labels.txt"))
    assert nodes.names == ("7Networks_LH_Vis_1", *(f"R{i}" for i in range(ROWS)))
    assert notes == ["labels.txt has no header; each line is read as a name."]


@pytest.mark.parametrize("sign", ["\t", ";", ","])
def test_the_delimiter_is_found(tmp_path, sign):
    path = table(tmp_path, "name,lobe", "R{i},{'AB'[i % 2]}", sign=sign)
    assert Nodes.read_csv(path).taxonomies == ("lobe",)


def test_a_comma_in_a_name_stays_a_comma(tmp_path):
    path = tmp_path / "rois.csv"
    path.write_text("name;lobe\nGyrus, left;A\nGyrus, right;B\nPons;B\n")
    assert Nodes.read_csv(path).names == ("Gyrus, left", "Gyrus, right", "Pons")


@pytest.mark.parametrize("axes", ["x.mni,y.mni,z.mni", "MNI_X,MNI_Y,MNI_Z", "x (mm),y (mm),z (mm)"])
def test_other_names_of_coordinates(tmp_path, axes):
    nodes = Nodes.read_csv(table(tmp_path, f"name,{axes}", "R{i},{i},2,3"))
    assert nodes.coordinates is not None
    assert nodes.coordinates[4] == (4.0, 2.0, 3.0)
    assert not nodes.regions


def test_columns_that_differ_in_every_row_are_ids_not_regions(tmp_path):
    path = table(tmp_path, "code,name,full name,lobe", "{2001 + i},R{i},Region {i},{'AB'[i % 2]}")
    nodes, notes = Nodes.read_table(path)
    assert nodes.taxonomies == ("lobe",)
    assert nodes.ids["code"] == tuple(str(2001 + i) for i in range(6))
    assert any("not regions): full name" in note for note in notes)
    assert nodes.names_of(["2003", "2001"]) == (("R2", "R0"), "code")
    assert nodes.names_of(["R1", "R0"]) == (("R1", "R0"), "")
    assert nodes.names_of(["2003", "elsewhere"]) == (("2003", "elsewhere"), "")


def test_numbers_are_regions_only_if_asked(tmp_path):
    path = table(tmp_path, "name,volume,network,lobe", "R{i},{i}.25,{i % 2},{'AB'[i % 2]}")
    nodes, notes = Nodes.read_table(path)
    assert nodes.taxonomies == ("lobe",)
    assert any("(numbers): volume, network; to use" in note for note in notes)
    asked = Nodes.read_csv(path, region_columns=["Network"])
    assert asked.regions == {"network": ("0", "1") * 3}
    with pytest.raises(UnknownNameError, match=r"Unknown column of rois.csv 'netwrk'"):
        Nodes.read_csv(path, region_columns=["netwrk"])


def test_the_first_taxonomy_is_the_most_sensible_one(tmp_path):
    lines = ["name,cluster,hemi,system"]
    lines += [f"R{i},{'abcdefg'[i % 7]}{i % 70},{'LR'[i % 2]},{'uvw'[i % 3]}" for i in range(140)]
    path = tmp_path / "rois.csv"
    path.write_text("\n".join(lines))
    nodes, notes = Nodes.read_table(path)
    assert nodes.taxonomies == ("system", "cluster", "hemi")
    assert (
        "Regions of rois.csv: 'system' (3) is the default; also 'cluster' (70), 'hemi' (2)."
        in notes
    )


def test_missing_regions_are_other_and_said(tmp_path):
    path = table(tmp_path, "name,lobe", "R{i},{['A', 'NaN', 'n/a', 'B', '', 'A'][i]}")
    nodes, notes = Nodes.read_table(path)
    assert nodes.regions["lobe"] == ("A", "other", "other", "B", "other", "A")
    assert any("3 nodes have no lobe" in note for note in notes)


def test_equal_names_are_refused_or_numbered(tmp_path):
    path = table(tmp_path, "name,lobe", "{'Vermis' if i < 3 else f'R{i}'},{'AB'[i % 2]}")
    with pytest.raises(InvalidNodesError, match=r"'Vermis' \(3 times\).*number_names") as info:
        Nodes.read_csv(path)
    assert info.value.parameters == ("number_names",)
    nodes, notes = Nodes.read_table(path, number_names=True)
    assert nodes.names[:4] == ("Vermis 1", "Vermis 2", "Vermis 3", "R3")
    assert "3 nodes with equal names were numbered, as requested." in notes
    header = ["Vermis", "Vermis", "R3", "Vermis", "R4", "R5"]
    assert nodes.names_of(header)[0] == ("Vermis 1", "Vermis 2", "R3", "Vermis 3", "R4", "R5")


def test_numbers_never_collide_with_a_name():
    assert numbered_names(["a", "a 1", "a"]) == ("a 2", "a 1", "a 3")
    assert numbered_names(["a", "b"]) == ("a", "b")


def test_a_unique_column_is_preferred_for_names(tmp_path):
    path = table(tmp_path, "name,label,lobe", "{'ab'[i % 2]},L{i},{'AB'[i % 2]}")
    nodes, notes = Nodes.read_table(path)
    assert nodes.names == tuple(f"L{i}" for i in range(6))
    assert any("named by the column 'label'" in note for note in notes)
    other = table(tmp_path, "title,lobe", "T{i},{'AB'[i % 2]}", "other.csv")
    assert Nodes.read_csv(other, name_column="Title").names[0] == "T0"


def test_a_prefix_in_the_heading_decides(tmp_path):
    nodes = Nodes(("a", "b"), {"part": ("1", "2")}, ids={"code": ("x", "y")})
    nodes.write_csv(tmp_path / "nodes.csv")
    assert "region:part,id:code" in (tmp_path / "nodes.csv").read_text()
    assert Nodes.read_csv(tmp_path / "nodes.csv") == nodes


def test_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["Name ", "lobe", "code"], ["a", "A", 2001.0], [" b", "A", 2002], ["c", "B", 2003]):
        book.active.append(row)
    book.create_sheet("empty")
    book.save(tmp_path / "rois.xlsx")
    nodes = Nodes.read_csv(tmp_path / "rois.xlsx")
    assert (nodes.names, nodes.ids["code"]) == (("a", "b", "c"), ("2001", "2002", "2003"))
    book["empty"].append(["x"])
    book.save(tmp_path / "two.xlsx")
    with pytest.raises(InvalidNodesError, match=r"2 sheets have rows: Sheet, empty. Save"):
        Nodes.read_csv(tmp_path / "two.xlsx")
    (tmp_path / "bad.xlsx").write_bytes(b"no workbook")
    with pytest.raises(FileFormatError, match=r"bad.xlsx: cannot be read as an Excel file"):
        read_cells(tmp_path / "bad.xlsx")
    (tmp_path / "old.xls").write_bytes(b"\xd0\xcf")
    with pytest.raises(FileFormatError, match=r"old.xls: .xls files are not supported. Save"):
        read_cells(tmp_path / "old.xls")


def test_excel_without_openpyxl_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    (tmp_path / "rois.xlsx").write_bytes(b"")
    with pytest.raises(MissingExtraError, match=r"denseflip\[excel\]"):
        read_cells(tmp_path / "rois.xlsx")


def test_encodings(tmp_path):
    path = tmp_path / "rois.csv"
    path.write_bytes("name\tlobe\nMüller\tA\nb\tA\nc\tB\n".encode("utf-16"))
    assert Nodes.read_csv(path).names[0] == "Müller"
    path.write_bytes("name,lobe\nMüller,A\nb,B\n".encode("latin-1"))
    with pytest.raises(InvalidNodesError, match=r"not a text file in UTF-8.*'CSV UTF-8'"):
        Nodes.read_csv(path)


# ---- tables without a header --------------------------------------------------------------


def test_tables_without_a_header_that_programs_write(tmp_path):
    """NBS (nodeLabels.txt), BrainNet Viewer (.node), AAL (ROI_MNI_V4.txt), MRtrix3 (fs_default)."""
    tables = {
        "nodeLabels.txt": "Insula_L\nInsula_R\nVermis_3\n",
        "a.node": "-35 6 3 1 3 Insula_L\n39 6 2 1 3 Insula_R\n1 -40 -11 2 3 Vermis_3\n",
        "aal.txt": "ING\tInsula_L\t3001\nIND\tInsula_R\t3002\nVER3\tVermis_3\t9110\n",
        "lut.txt": "# labels\n0 ??? Unknown 0 0 0 0\n1 L.IN Insula_L 9 9 9 255\n"
        "2 R.IN Insula_R 9 9 9 255\n2 R.IN Insula-right 9 9 9 255\n3 VE Vermis_3 1 2 3 255\n",
        "colours.txt": "0 Unknown 0 0 0 0\n1 Insula_L 9 9 9 0\n2 Insula_R 9 9 9 0\n"
        "3 Vermis_3 1 2 3 0\n",
    }
    for name, text in tables.items():
        (tmp_path / name).write_text(text)
        nodes, notes = sort_columns(read_cells(tmp_path / name), name)
        assert nodes.names == ("Insula_L", "Insula_R", "Vermis_3"), name
        assert any(f"{name} has no header" in note for note in notes), name
        assert nodes.regions == {}, name  # colours and sizes are no regions
    assert (
        "Other names of nodes were left out: Insula-right."
        in sort_columns(read_cells(tmp_path / "lut.txt"), "lut.txt")[1]
    )
    points = sort_columns(read_cells(tmp_path / "a.node"), "a.node")[0].coordinates
    assert points is not None
    assert points[0] == (-35, 6, 3)
    codes = sort_columns(read_cells(tmp_path / "aal.txt"), "aal.txt")[0].ids
    assert codes["code"] == ("3001", "3002", "9110")


def test_another_table_without_a_header_is_refused(tmp_path):
    (tmp_path / "COG.txt").write_text("-35 6 3\n39 6 2\n")
    with pytest.raises(
        InvalidNodesError, match=r"COG\.txt: line 1 holds numbers .*first line with"
    ):
        sort_columns(read_cells(tmp_path / "COG.txt"), "COG.txt")


def test_a_list_with_a_heading(tmp_path):
    (tmp_path / "a.txt").write_text("Labels\nInsula_L\nInsula_R\n")
    nodes, notes = sort_columns(read_cells(tmp_path / "a.txt"), "a.txt")
    assert nodes.names == ("Insula_L", "Insula_R")
    assert not any("no header" in note for note in notes)
