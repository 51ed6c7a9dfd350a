from pathlib import Path

import numpy as np
import pytest

from denseflip.datasets import Keep, export_dataset, import_folder, load_dataset
from denseflip.datasets.export import FORMATS
from denseflip.datasets.folder import import_warnings, title_of
from denseflip.datasets.labels import class_order, read_labels
from denseflip.errors import (
    DatasetError,
    FileFormatError,
    InvalidParameterError,
    UnknownNameError,
)


def correlation(n: int, seed: int) -> np.ndarray:
    return np.corrcoef(np.random.default_rng(seed).standard_normal((n, 3 * n)))


@pytest.fixture
def cohort(tmp_path: Path) -> tuple[Path, Path]:
    """Six correlation matrices of 20 regions, three per class."""
    folder = tmp_path / "matrices"
    folder.mkdir()
    rows = ["id,label"]
    for i in range(6):
        np.savetxt(folder / f"s{i}.csv", correlation(20, i), delimiter=",")
        rows.append(f"s{i},{'patient' if i < 3 else 'control'}")
    labels = tmp_path / "labels.csv"
    labels.write_text("\n".join(rows))
    return folder, labels


def test_matrices_become_a_data_set(cohort: tuple[Path, Path]) -> None:
    data = import_folder(*cohort)
    assert data.name == "matrices"
    assert data.class_names == ("control", "patient")
    assert data.labels == (1, 1, 1, 0, 0, 0)
    assert data.ids == ("s0", "s1", "s2", "s3", "s4", "s5")
    assert {g.n_edges for g in data.graphs} == {Keep(percentile=90).n_edges(20)} == {19}
    assert "percentile 90" in data.card.description


@pytest.mark.parametrize(
    ("keep", "edges"), [(Keep(edges=7), 7), (Keep(percentile=50), 95), (Keep(threshold=2), 0)]
)
def test_rules(cohort: tuple[Path, Path], keep: Keep, edges: int) -> None:
    assert {g.n_edges for g in import_folder(*cohort, keep=keep).graphs} == {edges}


@pytest.mark.parametrize("measure", ["pearson", "partial", "tangent"])
def test_time_series_end_to_end(tmp_path: Path, measure: str) -> None:
    pytest.importorskip("nilearn")
    folder = tmp_path / "series"
    folder.mkdir()
    rng = np.random.default_rng(0)
    labels = {}
    for i in range(4):
        np.save(folder / f"sub-{i}.npy", rng.standard_normal((40 + i, 116)))
        labels[f"sub-{i}"] = "AB"[i % 2]
    data = import_folder(folder, labels, measure=measure)
    assert {g.n_edges for g in data.graphs} == {667}
    data = import_folder(folder, labels, measure=measure, keep=Keep(percentile=80))
    assert {g.n_edges for g in data.graphs} == {1334}


def test_classes_in_the_order_asked(cohort: tuple[Path, Path]) -> None:
    assert import_folder(*cohort, classes=("patient", "control")).labels == (0, 0, 0, 1, 1, 1)
    with pytest.raises(InvalidParameterError, match=r"\['control', 'patient'\]"):
        import_folder(*cohort, classes=("sick", "well"))


def test_every_problem_is_told_at_once(cohort: tuple[Path, Path]) -> None:
    folder, labels = cohort
    nan, asymmetric = correlation(20, 1), correlation(20, 2)
    nan[3, 4] = nan[4, 3] = np.nan
    asymmetric[5, 6] = 0.5
    np.savetxt(folder / "s1.csv", nan, delimiter=",")
    np.savetxt(folder / "s2.csv", asymmetric, delimiter=",")
    np.savetxt(folder / "s3.csv", correlation(19, 3), delimiter=",")
    (folder / "s4.csv").write_text("0,1\n1,0,1\n0,1\n")
    np.savetxt(folder / "extra1.csv", correlation(20, 9), delimiter=",")
    np.savetxt(folder / "extra2.csv", correlation(20, 9), delimiter=",")
    labels.write_text(labels.read_text() + "\nghost1,patient\nghost2,control\ns0,control\ns5,\n")
    with pytest.raises(DatasetError) as info:
        import_folder(folder, labels)
    text = str(info.value)
    for part in (
        "problems found: 8",
        "'s0' has two labels, 'patient' and 'control'",
        "labels.csv, line 11: no id or no label",
        "without a graph file (2): ghost1, ghost2",
        "without a label (2): extra1.csv, extra2.csv",
        "s1.csv: value nan at row 3, column 4, counted from 0 (2 such entries)",
        "s2.csv: the matrix is not symmetric: entry (5, 6)",
        "most have 20 nodes, but s3 has 19",
        "s4.csv: line 2 has 3 cells",
    ):
        assert part in text


def test_one_class_only(cohort: tuple[Path, Path]) -> None:
    folder, _ = cohort
    with pytest.raises(DatasetError, match="one class, 'a'; two are needed"):
        import_folder(folder, {f"s{i}": "a" for i in range(6)})


def test_mixed_kinds_are_told(cohort: tuple[Path, Path]) -> None:
    folder, labels = cohort
    np.savetxt(folder / "s0.csv", np.random.default_rng(0).random((30, 20)), delimiter=",")
    message = r"s0\.csv: not square: 30 × 20, so it looks like timeseries, most files like matrix"
    with pytest.raises(DatasetError, match=message):
        import_folder(folder, labels)


def test_one_wrong_cell_is_named(cohort: tuple[Path, Path]) -> None:
    folder, labels = cohort
    for name, (r, c) in {"s0": (0, 3), "s1": (7, 0), "s2": (4, 5)}.items():
        cells = [line.split(",") for line in (folder / f"{name}.csv").read_text().splitlines()]
        cells[r][c] = "foo"
        (folder / f"{name}.csv").write_text("\n".join(",".join(row) for row in cells))
    with pytest.raises(DatasetError) as info:
        import_folder(folder, labels)
    text = str(info.value)
    assert "problems found: 3" in text
    for name, r, c in (("s0", 0, 3), ("s1", 7, 0), ("s2", 4, 5)):
        assert f"{name}.csv: line {r + 1}, column {c + 1} holds 'foo'" in text


def test_graphs_without_an_edge_are_a_caveat(cohort: tuple[Path, Path]) -> None:
    folder, labels = cohort
    assert import_folder(folder, labels).card.caveats == ()
    np.savetxt(folder / "s2.csv", np.zeros((20, 20)), delimiter=",")
    assert import_folder(folder, labels).card.caveats == ("1 graph has no edge: s2.",)
    bare = import_folder(folder, labels, keep=Keep(threshold=2))
    assert bare.card.caveats == ("None of the 6 graphs has an edge.",)
    assert import_warnings(bare) == list(bare.card.caveats)
    again = import_folder(export_dataset(bare, folder.parent / "out"))
    assert again.card.caveats == bare.card.caveats


def test_two_files_of_one_name(cohort: tuple[Path, Path]) -> None:
    folder, labels = cohort
    np.save(folder / "s0.npy", correlation(20, 0))
    with pytest.raises(DatasetError, match=r"Two files for the graph 's0': s0\.csv, s0\.npy"):
        import_folder(folder, labels)


def test_node_table_must_fit(cohort: tuple[Path, Path], tmp_path: Path) -> None:
    nodes = tmp_path / "nodes.csv"
    nodes.write_text("name,region\n" + "\n".join(f"n{i},R{i % 2}" for i in range(20)))
    assert import_folder(*cohort, nodes=nodes).nodes.taxonomy().regions == ("R0", "R1")
    nodes.write_text("name,region\na,R\nb,R\n")
    with pytest.raises(DatasetError, match="have 20 nodes, but the node table describes 2"):
        import_folder(*cohort, nodes=nodes)


def test_missing_things(cohort: tuple[Path, Path], tmp_path: Path) -> None:
    folder, labels = cohort
    with pytest.raises(DatasetError, match="no such folder"):
        import_folder(tmp_path / "nowhere", labels)
    with pytest.raises(DatasetError, match="Pass a labels file"):
        import_folder(folder)
    with pytest.raises(FileFormatError, match="no such labels file"):
        import_folder(folder, tmp_path / "nolabels.csv")
    with pytest.raises(UnknownNameError, match="kind of file"):
        import_folder(folder, labels, kind="matrx")
    with pytest.raises(UnknownNameError, match="measure"):
        import_folder(folder, labels, measure="spearman")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="no graph files found"):
        import_folder(tmp_path / "empty", labels)
    assert len(import_folder(tmp_path, labels)) == 6  # with labels, sub-folders are read


@pytest.mark.parametrize("format", FORMATS)
def test_export_and_import_give_the_same_back(tmp_path: Path, format: str) -> None:
    data = load_dataset("synthetic", n_per_class=2)
    out = export_dataset(data, tmp_path / "out", format=format)
    back = import_folder(
        out / "graphs", out / "labels.csv", nodes=out / "nodes.csv", classes=data.class_names
    )
    key = sorted(range(4), key=lambda i: data.ids[i])
    again = data.subset(key)
    assert (back.ids, back.graphs, back.labels) == (again.ids, again.graphs, again.labels)
    assert back.nodes == data.nodes


def test_an_exported_folder_needs_nothing_else(tmp_path: Path) -> None:
    data = load_dataset("synthetic", n_per_class=2)
    out = export_dataset(data, tmp_path / "out", format="npy")
    back = import_folder(out)
    assert back.name == "out"
    assert back.class_names == data.class_names
    assert {e.id: (e.graph, e.label) for e in back} == {e.id: (e.graph, e.label) for e in data}
    assert (back.nodes, back.card) == (data.nodes, data.card)
    assert back.attributes["planted"] == data.attributes["planted"]
    assert import_folder(out, classes=("case", "control")).class_names == ("case", "control")
    (out / "card.json").write_text("[]")
    with pytest.raises(FileFormatError, match=r"card\.json: not the card"):
        import_folder(out)
    (out / "card.json").write_text("{")
    with pytest.raises(FileFormatError, match=r"card\.json: cannot be read as JSON"):
        import_folder(out)
    (out / "card.json").write_text('{"class_names": 3}')
    with pytest.raises(FileFormatError, match=r"card\.json: not the card"):
        import_folder(out)
    (out / "card.json").unlink()
    assert import_folder(out).class_names == ("case", "control")


def test_export_keeps_what_is_there(tmp_path: Path) -> None:
    data = load_dataset("synthetic", n_per_class=1)
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    with pytest.raises(DatasetError, match="not empty"):
        export_dataset(data, out)
    export_dataset(data, out, format="dfd", force=True)
    assert (out / "mine.txt").read_text() == "mine"
    assert load_dataset(out / "synthetic.dfd") == data
    with pytest.raises(UnknownNameError, match="format"):
        export_dataset(data, tmp_path / "x", format="xls")
    with pytest.raises(DatasetError, match="is a file"):
        export_dataset(data, out / "mine.txt")


def test_tu_folder(tmp_path: Path) -> None:
    (tmp_path / "X_A.txt").write_text("1, 2\n2, 1\n3, 5\n5, 3\n")
    (tmp_path / "X_graph_indicator.txt").write_text("1\n1\n2\n2\n2\n")
    (tmp_path / "X_graph_labels.txt").write_text("1\n-1\n")
    with pytest.raises(DatasetError, match="different sizes"):
        import_folder(tmp_path, allow_single=True)
    (tmp_path / "X_node_labels.txt").write_text("4\n5\n4\n5\n6\n")
    data = import_folder(tmp_path, allow_single=True)
    assert [g.edges() for g in data.graphs] == [[(0, 1)], [(0, 2)]]
    assert (data.class_names, data.labels) == (("-1", "1"), (1, 0))
    (tmp_path / "X_A.txt").write_text("1, 3\n")
    with pytest.raises(FileFormatError, match="two different graphs"):
        import_folder(tmp_path)
    (tmp_path / "X_A.txt").write_text("1, 2\n")
    (tmp_path / "X_graph_labels.txt").write_text("1\n")
    with pytest.raises(FileFormatError, match="1 line for 2 graphs"):
        import_folder(tmp_path)


def test_labels_without_header_and_by_column(tmp_path: Path) -> None:
    path = tmp_path / "l.csv"
    path.write_text("s1,a\ns2,b\n")
    assert read_labels(path, ids=["s1", "s2"]).classes == {"s1": "a", "s2": "b"}
    path.write_text("# who is what\n\nid,label\ns1,a\ns2,\n")
    assert read_labels(path).problems == ("l.csv, line 5: no id or no label ('s2,').",)
    path.write_text("ghost,a\ns2,b\ns3,a\n")
    assert list(read_labels(path, ids=["s2", "s3"]).classes) == ["ghost", "s2", "s3"]
    path.write_text("who,what\ns1,a\ns2,b\n")
    assert list(read_labels(path, ids=["s1", "s2"]).classes) == ["s1", "s2"]
    path.write_text("site,DX,SUB_ID\nx,1,s1\ny,2,s2\n")
    assert read_labels(path).classes == {"s1": "1", "s2": "2"}
    found = read_labels(path, id_column="SUB_ID", label_column="site").classes
    assert found == {"s1": "x", "s2": "y"}
    with pytest.raises(UnknownNameError, match="column of the labels file"):
        read_labels(path, label_column="age")


def test_class_order() -> None:
    assert class_order(["b", "a"]) == ("a", "b")
    assert class_order(["10", "9"]) == ("9", "10")


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("ABIDE_pcp/cpac/filt_noglobal", "ABIDE_pcp (cpac, filt_noglobal)"),
        ("ABIDE_pcp/cpac/filt_noglobal/rois_aal", "ABIDE_pcp (cpac, filt_noglobal, rois_aal)"),
        ("study/func", "study (func)"),
        ("study/data", "data"),
        ("study", "study"),
    ],
)
def test_a_pipeline_folder_is_called_by_its_data(tmp_path: Path, path: str, title: str) -> None:
    (tmp_path / path).mkdir(parents=True)
    assert title_of(tmp_path / path) == title


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ('{"Name": " Sleep \\n study", "BIDSVersion": "1.8.0"}', "Sleep study"),
        ('{"BIDSVersion": "1.8.0"}', "matrices"),
        ('{"Name": 3}', "matrices"),
        ('["Name"]', "matrices"),
        ("not JSON", "matrices"),
    ],
)
def test_bids_names_the_data_set(cohort: tuple[Path, Path], text: str, title: str) -> None:
    (cohort[0].parent / "dataset_description.json").write_text(text)
    assert import_folder(*cohort).name == title
    assert import_folder(*cohort, name="mine").name == "mine"
