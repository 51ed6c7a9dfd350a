"""Folders as labs and programs write them: what is taken, what is asked, what is refused."""

from __future__ import annotations

import contextlib
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.io

import labs
from denseflip.datasets import Keep, import_folder, read_graph
from denseflip.datasets.folder import import_report
from denseflip.datasets.matlab import load_mat
from denseflip.errors import (
    DatasetError,
    DenseflipError,
    FileFormatError,
    InvalidNodesError,
    InvalidParameterError,
    MissingExtraError,
    TooLargeError,
    UnknownNameError,
)
from denseflip.graph import Nodes
from denseflip.limits import allow
from labs import NAMES

REGIONS = {"place": tuple(name.split("_")[2] for name in NAMES)}
TABLE = Nodes(NAMES, REGIONS)


def written(tmp_path: Path, kind: str = "xcpd", n: int = 6, **options):
    """A folder in a layout, its classes, and what was written."""
    folder = tmp_path / "lab"
    folder.mkdir()
    data, classes = labs.cohort(kind, n)
    labs.LAYOUTS[kind].write(folder, data, NAMES, **options)
    return folder, classes, data


# ---- names ------------------------------------------------------------------------------


def test_a_shuffled_node_table_gives_the_right_regions(tmp_path):
    """A table in another row order than the files was once taken without a word."""
    folder, classes, _ = written(tmp_path)
    order = np.random.default_rng(3).permutation(len(NAMES))
    shuffled = TABLE.ordered([NAMES[i] for i in order])
    straight = import_folder(folder, classes, nodes=TABLE)
    turned = import_folder(folder, classes, nodes=shuffled)
    assert turned.nodes == shuffled
    for one, two in zip(straight.graphs, turned.graphs, strict=True):
        by_name = {frozenset((NAMES[u], NAMES[v])) for u, v in one.edges()}
        names = shuffled.names
        assert {frozenset((names[u], names[v])) for u, v in two.edges()} == by_name
    text = "Columns of 6 files were reordered to match the node table, by name."
    assert text in import_report(turned)
    assert not any("by name" in line for line in import_report(straight))


def test_a_misspelt_roi_is_told_with_both_lists_and_the_nearest_name(tmp_path):
    folder, classes, _ = written(tmp_path)
    wrong = Nodes((*NAMES[:-1], "7Networks_RH_Defalt_3"))
    with pytest.raises(DatasetError) as info:
        import_folder(folder, classes, nodes=wrong)
    text = str(info.value)
    assert "sub-01_task-rest" in text
    assert "only in the header of sub-01" in text
    assert "(1): '7Networks_RH_Default_3' (nearest: '7Networks_RH_Defalt_3')" in text
    assert "only in the node table (1): '7Networks_RH_Defalt_3'" in text
    assert "match='position'" in text
    taken = import_folder(folder, classes, nodes=wrong, match="position")
    assert taken.nodes == wrong
    assert any("as requested" in line for line in import_report(taken))


def test_rows_in_another_order_than_columns_are_put_right(tmp_path):
    names = ("a", "b", "c")
    (tmp_path / "x.csv").write_text("n,a,b,c\nc,0,1,0\na,0,1,0\nb,1,0,1\n")
    assert read_graph(tmp_path / "x.csv").edges() == [(0, 1), (1, 2)]
    assert read_graph(tmp_path / "x.csv", nodes=Nodes(names[::-1])).edges() == [(0, 1), (1, 2)]
    (tmp_path / "y.csv").write_text("n,a,b,c\nc,0,1,0\na,0,1,0\nd,1,0,1\n")
    with pytest.raises(FileFormatError, match=r"only in the rows \(1\): 'd'"):
        read_graph(tmp_path / "y.csv")


def test_headers_that_differ_between_files_are_told(tmp_path):
    folder, classes, data = written(tmp_path)
    labs.xcpd(folder, {"sub-03": data["sub-03"]}, (*NAMES[:-1], "Elsewhere"))
    with pytest.raises(DatasetError, match=r"sub-03.*does not match that of sub-01.*'Elsewhere'"):
        import_folder(folder, classes)
    other = Nodes((*NAMES[:-1], "Other"))
    with pytest.raises(DatasetError) as caught:  # said once, not once for each file
        import_folder(folder, classes, nodes=other)
    assert str(caught.value).count("does not match the node table") == 2
    assert f"{len(data) - 1} files with the same problem (sub-01" in str(caught.value)
    labs.xcpd(folder, {"sub-03": data["sub-03"][::-1, ::-1]}, NAMES[::-1])
    again = import_folder(folder, classes)
    labs.xcpd(folder, {"sub-03": data["sub-03"]}, NAMES)
    assert again.graphs == import_folder(folder, classes).graphs


def test_duplicate_names_in_a_header_are_listed(tmp_path):
    folder, classes, data = written(tmp_path)
    labs.xcpd(folder, data, ("A", "A", "B", "B", *NAMES[4:]))
    with pytest.raises(DatasetError, match=r"2 names occur more than once: 'A' .*'B'"):
        import_folder(folder, classes)


def test_headers_may_be_a_column_of_the_table(tmp_path):
    folder = tmp_path / "lab"
    folder.mkdir()
    data, classes = labs.cohort("abide", 6)
    codes = tuple(str(2001 + i) for i in range(len(NAMES)))
    labs.abide(folder, data, codes)
    table = Nodes(NAMES, REGIONS, ids={"code": codes})
    found = import_folder(folder, classes, nodes=table)
    assert found.nodes == table
    assert "The headers match the column 'code' of the node table." in import_report(found)
    path = folder / "Pitt_0000001_rois_aal.1D"
    assert read_graph(path, nodes=found.nodes) == found["Pitt_0000001"].graph
    assert import_folder(folder, classes).nodes.names == codes
    with pytest.raises(DatasetError, match=r"only in the header.*\(12\): '2001'"):
        import_folder(folder, classes, nodes=TABLE)


# ---- regions ----------------------------------------------------------------------------


def test_regions_come_from_schaefers_names(tmp_path):
    folder, classes, _ = written(tmp_path)
    nodes = import_folder(folder, classes).nodes
    assert nodes.taxonomy("network").regions == ("visual", "default mode")
    assert nodes.taxonomy("hemisphere").regions == ("L", "R")


def test_regions_come_from_dseg(tmp_path):
    folder, classes, _ = written(tmp_path, deep=True)
    rows = [[0, "Background", "n/a", "n/a"]]
    for i, name in enumerate(NAMES[::-1]):
        rows.append([i + 1, name, "n/a" if i == 0 else name.split("_")[2], "Schaefer"])
    labs.tsv(
        folder / "atlases" / "atlas-Tiny" / "atlas-Tiny_dseg.tsv",
        ["index", "label", "network_label", "atlas_name"],
        rows,
    )
    data = import_folder(folder, classes)
    assert data.nodes.names == NAMES
    assert data.nodes.taxonomies == ("network_label", "hemisphere")
    assert data.nodes.regions["network_label"][-1] == "other"
    assert "Regions are read from atlas-Tiny_dseg.tsv." in import_report(data)
    path = folder / "atlases" / "atlas-Tiny" / "atlas-Tiny_dseg.tsv"
    given = import_folder(folder, classes, nodes=path)
    assert given.nodes.names == NAMES[::-1]  # the order of the table that was given
    (tmp_path / "bad.tsv").write_text("index\tcolor\n1\t#ff0000\n")
    with pytest.raises(InvalidNodesError, match="needs a column 'name'; got index, color"):
        import_folder(folder, classes, nodes=tmp_path / "bad.tsv")


def test_a_dseg_table_beside_sub_folders_is_no_graph(tmp_path):
    """Matrices in derivatives/sub-XX, tables in the root: a scientist's folder."""
    data, classes = labs.cohort("xcpd", 6)
    root = tmp_path / "study"
    for key, matrix in data.items():
        folder = root / "derivatives" / key
        folder.mkdir(parents=True)
        rows = [",".join(["", *NAMES])]
        for name, row in zip(NAMES, matrix.tolist(), strict=True):
            rows.append(",".join([name, *map(repr, row)]))
        (folder / f"{key}_relmat.csv").write_text("\n".join(rows) + "\n")
    labs.participants(root / "participants.tsv", classes)
    labs.tsv(
        root / "atlas_dseg.tsv",
        ["index", "name", "lobe"],
        [[i + 1, name, "AB"[i % 2]] for i, name in enumerate(NAMES)],
    )
    found = import_folder(root, root / "participants.tsv", keep=Keep(percentile=80))
    assert len(found.graphs) == 6
    assert found.nodes.taxonomy("lobe").regions == ("A", "B")
    assert "Regions are read from atlas_dseg.tsv." in import_report(found)


# ---- parcels without data ---------------------------------------------------------------


def test_nan_parcels_are_left_out_of_all_and_listed(tmp_path):
    folder, classes, data = written(tmp_path)
    for key, node in (("sub-01", 4), ("sub-03", 4), ("sub-03", 7)):
        data[key][node] = data[key][:, node] = np.nan
    labs.xcpd(folder, data, NAMES)
    with pytest.raises(DatasetError) as info:
        import_folder(folder, classes)
    assert "sub-03 lacks 2, sub-01 lacks 1 (of 12 nodes)" in str(info.value)
    assert "drop_nodes: 2 of 12 nodes, in all 6 graphs" in str(info.value)
    assert "drop_subjects='incomplete': 2 of 6 graphs" in str(info.value)
    assert info.value.parameters == ("drop_nodes", "drop_subjects")
    fewer = import_folder(folder, classes, drop_subjects="incomplete", allow_single=True)
    assert fewer.ids == ("sub-02", "sub-04", "sub-05", "sub-06")
    assert fewer.nodes.names == NAMES
    assert any("sub-03 (lacks 2 nodes)" in line for line in import_report(fewer))
    one = import_folder(folder, classes, drop_subjects=["sub-03"], drop_nodes=True)
    assert (len(one), one.n_nodes) == (5, 11)
    with pytest.raises(UnknownNameError, match=r"Unknown subject 'sub-33'.*Did you mean"):
        import_folder(folder, classes, drop_subjects="sub-33")
    found = import_folder(folder, classes, drop_nodes=True)
    assert found.n_nodes == 10
    assert set(NAMES) - set(found.nodes.names) == {NAMES[4], NAMES[7]}
    left = next(line for line in import_report(found) if line.startswith("Left out"))
    assert "nodes without data in some file; the 10 that all files have were kept (2)" in left
    assert f"{NAMES[4]} (no data in 2: sub-01, sub-03)" in left
    kept = [i for i in range(12) if i not in (4, 7)]
    expected = Keep(percentile=90).apply(data["sub-02"][np.ix_(kept, kept)])
    assert found["sub-02"].graph == expected
    regions = import_folder(folder, classes, nodes=TABLE, drop_nodes=True).nodes.regions
    assert regions["place"][4] == "Vis"


def test_a_parcel_that_no_scan_has_is_left_out_unasked(tmp_path):
    folder, classes, data = written(tmp_path)
    for matrix in data.values():
        matrix[4] = matrix[:, 4] = np.nan
    labs.xcpd(folder, data, NAMES)
    found = import_folder(folder, classes)
    assert found.n_nodes == 11
    assert any(f"{NAMES[4]} (no data in any file)" in line for line in import_report(found))


def test_a_hole_that_is_no_parcel_is_told_by_its_place_in_the_file(tmp_path):
    folder, classes, data = written(tmp_path)
    data["sub-01"][4] = data["sub-01"][:, 4] = np.nan
    data["sub-02"][8, 9] = data["sub-02"][9, 8] = np.nan
    labs.xcpd(folder, data, NAMES)
    with pytest.raises(DatasetError, match=r"sub-02.*value nan at row 8, column 9"):
        import_folder(folder, classes)


def test_too_many_parcels_without_data_are_a_problem(tmp_path):
    folder, classes, data = written(tmp_path)
    data["sub-05"][:8] = data["sub-05"][:, :8] = np.nan
    labs.xcpd(folder, data, NAMES)
    with pytest.raises(DatasetError, match=r"sub-05 lacks 8 .*drop_nodes: 8 of 12 nodes"):
        import_folder(folder, classes)
    data["sub-05"][:] = np.nan
    labs.xcpd(folder, data, NAMES)
    with pytest.raises(DatasetError, match=r"Only 0 of 12 nodes have data in every file"):
        import_folder(folder, classes, drop_nodes=True)


def test_series_without_signal_are_left_out(tmp_path):
    folder, classes, data = written(tmp_path, "abide")
    data["Pitt_0000002"][:, 3] = 0.0
    labs.abide(folder, data, NAMES)
    found = import_folder(folder, classes, drop_nodes=True)
    assert NAMES[3] not in found.nodes.names
    assert found.n_nodes == 11


# ---- labels -----------------------------------------------------------------------------


def test_participants_lie_in_the_folder(tmp_path):
    folder, classes, _ = written(tmp_path, deep=True)
    labs.participants(folder / "participants.tsv", classes)
    data = import_folder(folder)
    assert data.class_counts() == {"control": 3, "patient": 3}
    assert data.ids == tuple(classes)
    assert data.subjects["age"] == tuple(float(20 + i) for i in range(6))
    text = (
        "Ids are read from the column 'participant_id' of participants.tsv, classes from the "
        "column 'group'."
    )
    assert text in import_report(data)


def test_which_column_holds_the_classes_is_a_question(tmp_path):
    folder, classes, _ = written(tmp_path)
    path = folder / "participants.tsv"
    labs.participants(path, classes, column="arm")
    with pytest.raises(FileFormatError, match=r"ambiguous.*Columns: age, sex, arm"):
        import_folder(folder)
    assert import_folder(folder, label_column="arm").class_names == ("control", "patient")


def test_na_is_missing_and_no_class(tmp_path):
    folder, classes, _ = written(tmp_path)
    path = tmp_path / "participants.tsv"
    labs.participants(path, {**classes, "sub-02": "n/a", "sub-05": "N/A"})
    message = r"class is missing \('N/A, n/a' is not a class\) \(2\): sub-02, sub-05"
    with pytest.raises(DatasetError, match=message) as info:
        import_folder(folder, path)
    assert "skip_unmatched" in info.value.parameters
    data = import_folder(folder, path, skip_unmatched=True)
    assert data.class_names == ("control", "patient")
    assert "Left out, their class is missing (N/A, n/a) (2): sub-02, sub-05." in import_report(data)
    labs.participants(path, {**classes, "sub-02": "-9999"})
    with pytest.raises(DatasetError, match=r"\('-9999' is not a class\)"):
        import_folder(folder, path, na=["-9999"])
    labs.participants(path, {k: "n/a" if c == "patient" else c for k, c in classes.items()})
    assert import_folder(folder, path, na=[""]).class_names == ("control", "n/a")


def test_an_unmatched_participant_is_told_or_left_out(tmp_path):
    folder, classes, _ = written(tmp_path)
    path = tmp_path / "participants.tsv"
    labs.participants(path, {**classes, "sub-99": "patient"})
    with pytest.raises(DatasetError, match=r"Labels without a graph file \(1\): sub-99"):
        import_folder(folder, path)
    data = import_folder(folder, path, skip_unmatched=True)
    assert len(data) == 6
    assert "Left out, labels without a graph file (1): sub-99." in import_report(data)
    labs.participants(path, {"sub-70": "a", "sub-71": "b"})
    with pytest.raises(DatasetError, match=r"no label matches a file.*id_pattern"):
        import_folder(folder, path, skip_unmatched=True)


def test_ids_meet_without_zeros_and_prefixes(tmp_path):
    folder, classes, _ = written(tmp_path)
    short = {key.removeprefix("sub-").lstrip("0"): c for key, c in classes.items()}
    assert import_folder(folder, short).ids == tuple(classes)


def test_ids_by_pattern_and_files_by_name(tmp_path):
    folder = tmp_path / "lab"
    folder.mkdir()
    data, classes = labs.cohort("xcpd", 6)
    for i, (key, matrix) in enumerate(data.items()):
        for run in (1, 2):
            np.savetxt(folder / f"scan_{key[4:]}_run{run}.csv", matrix * run, delimiter=",")
            assert i < 6
    given = {key[4:]: c for key, c in classes.items()}
    found = import_folder(folder, given, id_pattern=r"scan_(\d+)", files="*run1*")
    assert found.ids == ("01", "02", "03", "04", "05", "06")
    with pytest.raises(DatasetError, match=r"Two files for the graph '01': scan_01_run1\.csv"):
        import_folder(folder, given, id_pattern=r"scan_(\d+)")
    with pytest.raises(DatasetError, match=r"files='\*run3\*' matches none of 12 files"):
        import_folder(folder, given, files="*run3*")
    with pytest.raises(InvalidParameterError, match="must be a regular expression"):
        import_folder(folder, given, id_pattern="(")
    with pytest.raises(DatasetError, match=r"finds no id in 12 of 12 files"):
        import_folder(folder, {f"scan_01_run{i}": "ab"[i - 1] for i in (1, 2)}, id_pattern="x(.)",
                      allow_single=True, skip_unmatched=True)  # fmt: skip


def test_bids_names_of_any_files(tmp_path):
    folder = tmp_path / "lab"
    folder.mkdir()
    data, classes = labs.cohort("xcpd", 6)
    for key, matrix in data.items():
        np.savetxt(folder / f"{key}_task-rest_conn.csv", matrix, delimiter=",")
    assert import_folder(folder, classes).ids == tuple(classes)


def test_one_folder_per_class(tmp_path):
    data, classes = labs.cohort("xcpd", 6)
    for key, matrix in data.items():
        home = tmp_path / "lab" / classes[key]
        home.mkdir(parents=True, exist_ok=True)
        np.savetxt(home / f"{key}.csv", matrix, delimiter=",")
    found = import_folder(tmp_path / "lab")
    assert found.class_counts() == {"control": 3, "patient": 3}
    assert set(found.ids) == set(classes)
    assert "Classes are the sub-folders: control, patient." in import_report(found)
    for key in data:
        path = tmp_path / "lab" / classes[key] / f"{key}.csv"
        path.rename(path.with_name(f"{(int(key[4:]) - 1) // 2}.csv"))
    assert import_folder(tmp_path / "lab").ids[0] == "control-0"


def test_classes_are_chosen_ordered_and_renamed(tmp_path):
    folder, classes, _ = written(tmp_path, n=8)
    given = {**dict.fromkeys(classes, "1"), "sub-01": "2", "sub-02": "2", "sub-03": "3"}
    with pytest.raises(
        DatasetError, match=r"neither learned nor evaluated: '3' \(sub-03\)\. Leave"
    ):
        import_folder(folder, given)
    data = import_folder(folder, given, classes=("2=autism", "1=control"))
    assert data.class_counts() == {"autism": 2, "control": 5}
    assert "Left out, of classes that were not requested (1): sub-03." in import_report(data)
    assert import_folder(folder, given, allow_single=True).class_names == ("1", "2", "3")


# ---- layouts ----------------------------------------------------------------------------


def test_a_whole_xcpd_folder(tmp_path):
    """Both forms, motion tables beside them, and a second atlas for which one must choose."""
    folder, classes, data = written(tmp_path, deep=True)
    series = {key: np.random.default_rng(1).standard_normal((30, 12)) for key in data}
    labs.xcpd_timeseries(folder, series, NAMES, deep=True)
    for key in data:
        home = folder / key / "func"
        labs.tsv(home / f"{key}_task-rest_motion.tsv", ["framewise_displacement"], [[0.1]] * 5)
    labs.participants(folder / "participants.tsv", classes)
    found = import_folder(folder)
    assert found.attributes["import"]["kind"] == "xcpd"
    assert any("not used: 6 files of the kind xcpd-timeseries" in x for x in import_report(found))
    assert import_folder(folder, kind="xcpd-timeseries").graphs != found.graphs
    with pytest.raises(DatasetError, match=r"no files of the kind conn.*6 of the kind xcpd"):
        import_folder(folder, kind="conn")
    for path in list(folder.rglob("*_relmat.tsv")):
        path.with_name(path.name.replace("seg-Tiny", "seg-Other")).write_bytes(path.read_bytes())
    with pytest.raises(DatasetError, match=r"Two files for the graph 'sub-01'.*files='\*seg-Othe"):
        import_folder(folder)
    assert import_folder(folder, files="*seg-Tiny*").graphs == found.graphs


def test_mixed_layouts_are_told_which_is_which(tmp_path):
    folder, classes, data = written(tmp_path)
    labs.conn(folder, data, NAMES)
    np.savetxt(folder / "leftover.csv", np.eye(3), delimiter=",")
    with pytest.raises(DatasetError) as info:
        import_folder(folder, classes)
    text = str(info.value)
    assert "files of several layouts" in text
    assert "xcpd (6): sub-01_task-rest" in text
    assert "conn (6): resultsROI_Subject001_Condition001.mat" in text
    assert "none of these (1): leftover.csv" in text
    assert import_folder(folder, classes, kind="xcpd").ids == tuple(classes)


def test_conn_brings_names_and_places_and_drops_targets_beyond(tmp_path):
    folder, classes, data = written(tmp_path, "conn")
    found = import_folder(folder, classes)
    assert found.nodes.names == NAMES
    assert found.nodes.coordinates is not None
    assert found.nodes.coordinates[1] == (10.0, -5.0, 2.5)
    expected = Keep(percentile=90).apply(data["Subject001"])
    assert found["Subject001"].graph == expected


def test_conn_of_all_subjects_by_id_and_by_order(tmp_path):
    folder, classes, _ = written(tmp_path, "conn-group")
    found = import_folder(folder, classes)
    path = tmp_path / "participants.tsv"
    labs.participants(path, {f"sub-x{i}": c for i, c in enumerate(classes.values())})
    people = import_folder(folder, path)
    assert people.graphs == found.graphs
    assert people.ids[0] == "sub-x0"
    assert "The rows of the labels are matched to the graphs by their order." in import_report(
        people
    )


def test_qsirecon_asks_which_measure(tmp_path):
    folder, classes, _ = written(tmp_path, "qsirecon", several=True)
    message = r"one measure of one atlas.*atlas_Tiny_radius2_count_connectivity, atlas_Tiny_"
    with pytest.raises(DatasetError, match=message):
        import_folder(folder, classes)
    found = import_folder(folder, classes, variable="count")
    assert found.nodes.names == NAMES
    with pytest.raises(DatasetError, match=r"'radius2' matches 2 of them"):
        import_folder(folder, classes, variable="radius2")


def test_abide_and_its_phenotypes(tmp_path):
    folder, classes, _ = written(tmp_path, "abide")
    groups = {key: "1" if c == "patient" else "2" for key, c in classes.items()}
    labs.phenotype(folder / "Phenotypic_V1_0b.csv", {**groups, "no_filename": "1"})
    data = import_folder(folder, classes=("2=control", "1=autism"), skip_unmatched=True)
    assert data.class_counts() == {"control": 3, "autism": 3}
    assert "Left out, rows of the labels without an id (1): no_filename (1 row)." in import_report(
        data
    )
    assert any("Ids are read from the column 'FILE_ID'" in line for line in import_report(data))


def test_dense_cifti_is_refused_with_the_remedy(tmp_path):
    nib = pytest.importorskip("nibabel")
    from nibabel.cifti2 import BrainModelAxis, Cifti2Image, SeriesAxis

    axes = (SeriesAxis(0, 1, 4), BrainModelAxis.from_mask(np.ones((2, 2, 2)), affine=np.eye(4)))
    Cifti2Image(np.zeros((4, 8), np.float32), axes).to_filename(tmp_path / "a.ptseries.nii")
    with pytest.raises(FileFormatError, match=r"BrainModelAxis; parcels are needed.*-parcellate"):
        read_graph(tmp_path / "a.ptseries.nii")
    nib.Nifti1Image(np.zeros((2, 2)), np.eye(4)).to_filename(tmp_path / "b.pconn.nii")
    with pytest.raises(FileFormatError, match=r"b\.pconn\.nii: "):
        read_graph(tmp_path / "b.pconn.nii")


# ---- stacks -----------------------------------------------------------------------------


@pytest.mark.parametrize("axis", ["first", "last"])
@pytest.mark.parametrize("name", ["abide.npy", "abide.npz", "abide.mat"])
def test_a_stack_is_given_as_a_file(tmp_path, axis, name):
    data, classes = labs.cohort("stack", 6)
    stack = np.stack(list(data.values()), axis=0 if axis == "first" else -1)
    if name.endswith(".npy"):
        np.save(tmp_path / name, stack)
    elif name.endswith(".npz"):
        np.savez(tmp_path / name, fc=stack, labels=np.array(list(classes.values())))
    else:
        scipy.io.savemat(tmp_path / name, {"fc": stack})
    labels = None if name.endswith(".npz") else classes
    found = import_folder(tmp_path / name, labels)
    assert found.graphs == tuple(Keep(percentile=90).apply(m) for m in data.values())
    assert found.name == "abide"
    assert any(f"the {axis} axis counts the subjects" in x for x in import_report(found))


def test_an_ambiguous_stack_is_asked_about(tmp_path):
    rng = np.random.default_rng(0)
    cube = rng.standard_normal((4, 4, 4))
    full = sum(cube.transpose(p) for p in ((0, 1, 2), (1, 0, 2), (0, 2, 1), (2, 1, 0), (1, 2, 0),
                                           (2, 0, 1)))  # fmt: skip
    labels = dict(zip("abcd", "xyxy", strict=True))
    np.save(tmp_path / "s.npy", full)
    with pytest.raises(
        FileFormatError, match=r"as many subjects as nodes.*axis='first' or axis='last'"
    ):
        import_folder(tmp_path / "s.npy", labels)
    assert len(import_folder(tmp_path / "s.npy", labels, axis="first")) == 4
    with pytest.raises(UnknownNameError, match="axis"):
        import_folder(tmp_path / "s.npy", labels, axis="second")
    np.save(tmp_path / "s.npy", cube + cube.transpose(1, 0, 2))  # symmetric along the last only
    assert len(import_folder(tmp_path / "s.npy", labels)) == 4
    np.save(tmp_path / "s.npy", rng.standard_normal((3, 3, 7)))
    with pytest.raises(InvalidParameterError, match="the first axis cannot count"):
        import_folder(tmp_path / "s.npy", labels, axis="first")
    np.save(tmp_path / "s.npy", rng.standard_normal((3, 4, 5)))
    with pytest.raises(FileFormatError, match=r"shape \(3, 4, 5\) is not a stack of square"):
        import_folder(tmp_path / "s.npy", labels)


def test_a_stack_needs_as_many_rows_as_graphs(tmp_path):
    data, classes = labs.cohort("stack", 6)
    labs.stack(tmp_path, data, NAMES)
    del classes["0001"]
    with pytest.raises(DatasetError, match=r"6 graphs, but the labels have 5 rows"):
        import_folder(tmp_path, classes)
    np.save(tmp_path / "lab.npy", np.eye(5))
    with pytest.raises(DatasetError, match=r"a single file that is not a stack"):
        import_folder(tmp_path / "lab.npy", classes)


# ---- MATLAB files -----------------------------------------------------------------------


def test_matlab_objects_are_never_opened(tmp_path):
    held = {"fc": np.eye(4)[::-1], "info": {"a": 1}, "nested": labs._cells([labs._cells(["x"])])}
    scipy.io.savemat(tmp_path / "a.mat", held)
    assert read_graph(tmp_path / "a.mat").n_nodes == 4
    for name, what in (("info", "a struct"), ("nested", "a cell with other content")):
        with pytest.raises(FileFormatError, match=rf"'{name}' is {what}.*only arrays of numbers"):
            read_graph(tmp_path / "a.mat", variable=name)
    scipy.io.savemat(tmp_path / "b.mat", {"info": {"a": 1}})
    with pytest.raises(FileFormatError, match=r"info \(a struct, not opened\)"):
        read_graph(tmp_path / "b.mat")


def test_a_damaged_matlab_73_file_is_refused(tmp_path):
    head = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    (tmp_path / "a.mat").write_bytes(head.ljust(512, b"\0") + b"\x89HDF\r\n\x1a\n" + b"\0" * 64)
    with pytest.raises(FileFormatError, match=r"damaged, or not a MATLAB 7\.3 file"):
        read_graph(tmp_path / "a.mat")


def test_matlab_73_without_h5py_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "h5py", None)
    (tmp_path / "a.mat").write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 64)
    with pytest.raises(MissingExtraError, match=r"pip install \"denseflip\[mat73\]\""):
        read_graph(tmp_path / "a.mat")


def test_long_lists_of_names_keep_to_the_limit(tmp_path):
    scipy.io.savemat(
        tmp_path / "a.mat",
        {"Z": np.eye(3), "names": labs._cells(["x" * 20] * 5_000)},
        do_compression=True,
    )
    with allow("200KB"), pytest.raises(TooLargeError):
        read_graph(tmp_path / "a.mat")


@pytest.mark.parametrize("cut", [10, 130, 140, 200, 400])
def test_damaged_matlab_files_are_told(tmp_path, cut):
    folder, _, _ = written(tmp_path, "conn", n=2)
    path = min(folder.iterdir())
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(FileFormatError, match=path.name):
        read_graph(path)


# ---- the rest ---------------------------------------------------------------------------


def test_codes_of_a_data_set_that_lacks_parcels(tmp_path):
    from denseflip.workflow.subject import find_subject

    folder = tmp_path / "lab"
    folder.mkdir()
    data, classes = labs.cohort("abide", 6)
    data["Pitt_0000002"][:, 3] = 0.0
    codes = tuple(str(2001 + 10 * i) for i in range(len(NAMES)))
    labs.abide(folder, data, codes)
    table = Nodes(NAMES, REGIONS, ids={"code": codes})
    found = import_folder(folder, classes, nodes=table, drop_nodes=True)
    assert found.nodes.names == (*NAMES[:3], *NAMES[4:])
    subject = find_subject(folder / "Pitt_0000001_rois_aal.1D", background=found)
    assert subject.graph == found["Pitt_0000001"].graph


def test_a_new_file_meets_a_data_set_that_lacks_parcels(tmp_path):
    """The nodes that were left out of the data set are left out of a file explained with it."""
    from denseflip.workflow.subject import find_subject

    folder, classes, data = written(tmp_path)
    data["sub-03"][7] = data["sub-03"][:, 7] = np.nan
    labs.xcpd(folder, data, NAMES)
    found = import_folder(folder, classes, drop_nodes=True)
    path = next(folder.glob("sub-02_*"))
    again = find_subject(path, background=found, keep=Keep(percentile=90))
    assert again.graph == found["sub-02"].graph
    with pytest.raises(FileFormatError, match=r"only in the header of sub-02.*\(1\)"):
        read_graph(path, nodes=found.nodes, keep=Keep(percentile=90))


def test_participants_come_before_sub_folders(tmp_path):
    data, classes = labs.cohort("xcpd", 8)
    for i, (key, matrix) in enumerate(data.items()):
        labs.xcpd(tmp_path / "lab" / f"site{i % 4 // 2}", {key: matrix}, NAMES)
    labs.participants(tmp_path / "lab" / "participants.tsv", classes)
    assert import_folder(tmp_path / "lab").class_names == ("control", "patient")
    (tmp_path / "lab" / "participants.tsv").unlink()
    assert import_folder(tmp_path / "lab").class_names == ("site0", "site1")


def test_a_class_name_may_hold_an_equals_sign(tmp_path):
    folder, classes, _ = written(tmp_path)
    given = {key: "e=4" if c == "patient" else "e=3" for key, c in classes.items()}
    assert import_folder(folder, given, classes=("e=4", "e=3")).class_names == ("e=4", "e=3")


def test_edge_lists_by_name_need_no_table(tmp_path):
    lists = {"one": "TP53 MDM2\nMDM2 MDM4\n", "two": "ATM CHEK2\nTP53 ATM\n"}
    labels = {"one": "a", "two": "b"}
    for header in ("", "geneA geneB\n", "source target\n"):
        for name, text in lists.items():
            (tmp_path / f"{name}.edgelist").write_text(header + text)
        data = import_folder(tmp_path, labels, allow_single=True)
        assert data.nodes.names == ("TP53", "MDM2", "MDM4", "ATM", "CHEK2")
        assert [g.edges() for g in data.graphs] == [[(0, 1), (1, 2)], [(0, 3), (3, 4)]]


def test_weighted_graphml_is_asked_about(tmp_path):
    import networkx as nx

    for name, weight in (("one", 0.7), ("two", 0.4)):
        graph = nx.Graph()
        graph.add_weighted_edges_from([("a", "b", weight), ("b", "c", 0.2)])
        nx.write_graphml_xml(graph, tmp_path / f"{name}.graphml")
    labels = {"one": "x", "two": "y"}
    with pytest.raises(DatasetError, match=r"weights other than 0 and 1; got 0\.7 between 'a'"):
        import_folder(tmp_path, labels, allow_single=True)
    rule = import_folder(tmp_path, labels, allow_single=True, keep=Keep(threshold=0.5))
    assert [g.n_edges for g in rule.graphs] == [1, 0]
    every = import_folder(tmp_path, labels, allow_single=True, ignore_weights=True)
    assert [g.n_edges for g in every.graphs] == [2, 2]


def _element(kind: int, data: bytes) -> bytes:
    return struct.pack("<II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def test_a_function_handle_is_never_opened(tmp_path):
    scipy.io.savemat(tmp_path / "a.mat", {"fc": np.ones((3, 3)) - np.eye(3)})
    flags, shape = struct.pack("<II", 16, 0), struct.pack("<ii", 1, 1)
    handle = _element(6, flags) + _element(5, shape) + _element(1, b"run")
    with (tmp_path / "a.mat").open("ab") as file:
        file.write(_element(14, handle + _element(14, b"\0" * 16)))
    assert read_graph(tmp_path / "a.mat").n_edges == 3
    with pytest.raises(FileFormatError, match=r"'run' is a function handle; only arrays"):
        read_graph(tmp_path / "a.mat", variable="run")


def test_lists_of_damaged_matlab_files_end(tmp_path):
    """A damaged number of rows was once counted to two thousand million."""
    scipy.io.savemat(
        tmp_path / "a.mat",
        {"names": labs._cells(["abc", "de"]), "labels": np.array(["ab", "cde"]), "Z": np.eye(2)},
    )
    raw = (tmp_path / "a.mat").read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(200):
        content = bytearray(raw)
        for at in rng.integers(126, len(raw), size=4).tolist():
            content[at] = int(rng.integers(256))
        with contextlib.suppress(DenseflipError):
            load_mat(bytes(content), "a.mat")
