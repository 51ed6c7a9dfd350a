"""Label tables and folders in the shapes that laboratories have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import labs
from denseflip.datasets import Keep, import_folder
from denseflip.datasets.folder import import_report
from denseflip.datasets.labels import join_spellings, match_ids, read_labels
from denseflip.errors import DatasetError, FileFormatError


def matrices(folder: Path, ids: list[str]) -> None:
    for i, key in enumerate(ids):
        path = folder / f"{key}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        values = np.corrcoef(np.random.default_rng(i).normal(size=(12, 30)))
        np.savetxt(path, values, delimiter=",")


# ---- tables -----------------------------------------------------------------------------


def test_the_official_table_of_abide(tmp_path):
    """The columns, the missing files and the codes of Phenotypic_V1_0b_preprocessed1.csv."""
    folder = tmp_path / "rois_aal"
    folder.mkdir()
    data, _ = labs.cohort("abide", 6)
    labs.abide(folder, data, labs.NAMES)
    table = tmp_path / "Phenotypic_V1_0b_preprocessed1.csv"
    labs.official_phenotype(table, list(data), without=5)
    study = import_folder(folder, table, classes=("2=control", "1=autism"), skip_unmatched=True)
    assert study.class_counts() == {"control": 3, "autism": 3}
    assert study.ids == tuple(data)
    said = import_report(study)
    assert "Left out, rows of the labels without an id (1): no_filename (5 rows)." in said
    assert "-9999 in Phenotypic_V1_0b_preprocessed1.csv is a missing value (3 rows)." in said
    assert study.subjects["FIQ"].count(None) == 3
    assert set(study.subjects["SITE_ID"]) == {"PITT", "NYU"}
    assert all(isinstance(x, float) for x in study.subjects["AGE_AT_SCAN"])


def test_spellings_of_a_class_are_joined_and_said():
    given = {"a": "Control", "b": "control", "c": "control", "d": "Patient"}
    joined, notes = join_spellings(given)
    assert set(joined.values()) == {"control", "Patient"}
    text = "The classes 'Control' (1), 'control' (2) were read as one class, 'control'."
    assert notes == [text]
    assert join_spellings(given, ["Control", "control"]) == (given, [])  # both were asked for
    assert join_spellings(given, ["Control=TD", "Patient"])[0]["b"] == "Control"
    numbers, notes = join_spellings({"a": "1", "b": "1.0", "c": "2", "d": "n/a", "e": "nan"})
    assert numbers == {"a": "1", "b": "1", "c": "2", "d": "n/a", "e": "nan"}
    assert len(notes) == 1


def test_joined_classes_are_in_the_report(tmp_path):
    matrices(tmp_path / "lab", [f"s{i}" for i in range(4)])
    table = tmp_path / "labels.csv"
    table.write_text("ID , Group \n s0 , Control\ns1,control \ns2,patient\ns3, patient\n")
    study = import_folder(tmp_path / "lab", table)
    assert study.class_counts() == {"control": 2, "patient": 2}
    assert any("were read as one class" in line for line in import_report(study))


def test_columns_are_found_in_any_case(tmp_path):
    table = tmp_path / "labels.csv"
    table.write_text("Scan,Arm,Age\ns0,x,3\ns1,y,4\n")
    found = read_labels(table, id_column="scan", label_column=" ARM ")
    assert found.classes == {"s0": "x", "s1": "y"}
    assert found.columns == ("Scan", "Arm")


def test_the_column_with_the_ids_is_found_whatever_its_name(tmp_path):
    """ADHD-200: a column Site before, and ScanDir ID for the ids."""
    matrices(tmp_path / "lab", ["0010001", "0010002", "0010003", "0010004"])
    table = tmp_path / "phenotypic.csv"
    rows = [f"{10001 + i},{3},{i % 2},{9.5 + i},{i % 2}" for i in range(4)]
    table.write_text("\n".join(["ScanDir ID,Site,Gender,Age,DX", *rows]))
    study = import_folder(tmp_path / "lab", table)
    assert study.class_counts() == {"0": 2, "1": 2}
    assert any("from the column 'ScanDir ID'" in line for line in import_report(study))


def test_several_rows_of_one_subject_are_said(tmp_path):
    table = tmp_path / "labels.csv"
    table.write_text("id,label,age\ns0,x,3\ns0,x,4\ns1,y,5\n")
    found = read_labels(table)
    assert found.others["s0"] == {"age": "3"}
    assert found.notes == ("labels.csv has several rows for s0; the first was used.",)


def test_labels_in_excel(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["participant_id", "diagnosis", "age"], ["s0", "A", 30.5], ["s1", "B", 28.0]):
        book.active.append(row)
    book.save(tmp_path / "labels.xlsx")
    found = read_labels(tmp_path / "labels.xlsx")
    assert found.classes == {"s0": "A", "s1": "B"}
    assert found.others["s1"] == {"age": "28"}
    (tmp_path / "labels.ods").write_bytes(b"PK")
    with pytest.raises(FileFormatError, match=r".ods files are not supported. Save the table as"):
        read_labels(tmp_path / "labels.ods")


# ---- folders ----------------------------------------------------------------------------


def test_site_folders_with_labels(tmp_path):
    ids = [f"{site}/{key}" for site in ("NYU", "PITT") for key in ("a1", "a2")]
    ids += ["PITT/a3", "NYU/a4"]
    matrices(tmp_path / "lab", ids)
    names = {"NYU_a1": "x", "NYU/a2": "y", "PITT-a1": "y", "PITT/a2.csv": "x", "a3": "x", "a4": "y"}
    study = import_folder(tmp_path / "lab", names, keep=Keep(percentile=80))
    assert set(study.ids) == {"NYU-a1", "NYU-a2", "PITT-a1", "PITT-a2", "a3", "a4"}
    assert study.class_names[study["PITT-a1"].label] == "y"
    where = dict(zip(study.ids, study.subjects["folder"], strict=True))
    assert (where["a3"], where["a4"], where["NYU-a2"]) == ("PITT", "NYU", "NYU")
    said = import_report(study)
    assert "Files are read from the sub-folders NYU (3), PITT (3)." in said
    lines = ["participant_id\tgroup", *(f"{key}\t{c}" for key, c in names.items())]
    (tmp_path / "lab" / "participants.tsv").write_text("\n".join(lines))
    found = import_folder(tmp_path / "lab", keep=Keep(percentile=80))  # no graph itself
    assert (found.graphs, found.labels) == (study.graphs, study.labels)
    del names["NYU_a1"]
    with pytest.raises(DatasetError, match=r"Graph files without a label \(1\): a1.csv"):
        import_folder(tmp_path / "lab", names)


def test_a_file_name_in_two_folders_never_picks_one():
    paths = {"A-1": Path("A/1.csv"), "B-1": Path("B/1.csv"), "2": Path("B/2.csv")}
    assert match_ids(["1", "1.csv"], paths) == {}
    assert match_ids(["A/1.csv", "B_1", "2"], paths) == {"A/1.csv": "A-1", "B_1": "B-1", "2": "2"}


def test_two_files_of_one_graph_are_named_with_their_folder(tmp_path):
    labs.xcpd(tmp_path / "lab" / "run1", {"sub-01": np.eye(3)}, ("a", "b", "c"))
    labs.xcpd(tmp_path / "lab" / "run2", {"sub-01": np.eye(3)}, ("a", "b", "c"))
    with pytest.raises(DatasetError, match=r"run1/sub-01_\S+, run2/sub-01_\S+"):
        import_folder(tmp_path / "lab", {"sub-01": "x"})


def test_equal_names_in_headers_are_numbered_on_request(tmp_path):
    names = ("A", "A", "B", "C", "C", "C", *labs.NAMES[6:])
    (tmp_path / "lab").mkdir()
    data, classes = labs.cohort("xcpd", 6)
    labs.xcpd(tmp_path / "lab", data, names)
    with pytest.raises(DatasetError, match="number_names") as info:
        import_folder(tmp_path / "lab", classes)
    assert "number_names" in info.value.parameters
    study = import_folder(tmp_path / "lab", classes, number_names=True)
    assert study.nodes.names[:6] == ("A 1", "A 2", "B", "C 1", "C 2", "C 3")
    labs.xcpd(tmp_path / "lab", data, labs.NAMES)
    assert study.graphs == import_folder(tmp_path / "lab", classes).graphs
