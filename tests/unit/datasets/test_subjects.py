"""The subject table and the weights of a data set, from file to file."""

from __future__ import annotations

import numpy as np
import pytest

from denseflip.datasets import Dataset, Keep, export_dataset, import_folder, make_synthetic
from denseflip.datasets.subjects import column_of, subject_table
from denseflip.errors import DatasetError, InvalidParameterError
from denseflip.graph import Graph

PAIR = (Graph.from_edges(3, [(0, 1)]), Graph.from_edges(3, []))


def toy(**parts: object) -> Dataset:
    return Dataset("toy", PAIR, (0, 1), ("a", "b"), **parts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "column"),
    [
        (["1", " 2.5 ", "N/A"], (1.0, 2.5, None)),
        ([np.int64(3), float("nan")], (3.0, None)),
        (["1", "x"], ("1", "x")),
        ([True, False], ("True", "False")),
        (["inf", "1"], ("inf", "1")),  # no finite number: a column of texts
        ([10**400], (str(10**400),)),
    ],
)
def test_a_column_is_all_numbers_or_all_texts(given, column):
    assert column_of(given) == column


def test_rows_become_columns_in_the_order_of_the_ids():
    rows = {"b": {"age": "20"}, "a": {"age": "30", "site": "X"}}
    assert subject_table(rows, ["a", "b", "c"]) == {
        "age": (30.0, 20.0, None),
        "site": ("X", None, None),
    }


def test_a_subset_takes_its_rows_along():
    data = toy(subjects={"age": [30, 20]}, weights=[[1.0, 2, 3], [4, 5, 6]])
    part = data[[1]]
    assert part.subjects == {"age": (20.0,)}
    assert part.weights.tolist() == [[4, 5, 6]]


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"subjects": {"age": [1]}}, r"'age' of subjects needs one value per graph \(2\); got 1"),
        ({"subjects": {"age": "12"}}, "'age' of subjects needs one value per graph"),
        ({"subjects": [1, 2]}, "subjects must be a mapping"),
        ({"weights": [[1.0, 2], [3, 4]]}, r"of shape \(2, 3\).* got float64 of shape \(2, 2\)"),
        ({"weights": [[1.0, 2, np.nan]] * 2}, "weights must be finite"),
        ({"weights": "none"}, "weights must be numbers"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(parts, message):
    with pytest.raises(DatasetError, match=message):
        toy(**parts)


def test_the_weights_cannot_be_changed():
    data = toy(weights=np.zeros((2, 3)))
    with pytest.raises(ValueError, match="read-only"):
        data.weights[0, 0] = 1


def test_the_file_keeps_both(tmp_path):
    data = toy(
        subjects={"age": [30, None], "site": ["X", "Y"]}, weights=np.arange(6.0).reshape(2, 3)
    )
    back = Dataset.load(data.save(tmp_path / "a.dfd"))
    assert back == data
    assert back.subjects == data.subjects
    assert back.weights.tolist() == data.weights.tolist()


def test_a_damaged_table_in_a_file_is_told(tmp_path):
    data = toy(subjects={"age": [30, 20]})
    path = data.save(tmp_path / "a.dfd")
    with np.load(path) as archive:
        arrays = dict(archive)
    text = arrays["header"].tobytes().replace(b"[30.0, 20.0]", b"[30.0]")
    arrays["header"] = np.frombuffer(text, dtype=np.uint8)
    np.savez(tmp_path / "b.npz", **arrays)
    with pytest.raises(ValueError, match=r"'age' of subjects needs one"):
        Dataset.load(tmp_path / "b.npz")


def test_import_and_export_carry_the_other_columns(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    rng = np.random.default_rng(0)
    rows = ["participant_id\tage\tgroup\tsite"]
    for i in range(4):
        matrix = rng.normal(size=(5, 5))
        np.savetxt(folder / f"s{i}.csv", (matrix + matrix.T) / 2, delimiter=",")
        rows.append(f"s{i}\t{20 + i}\t{'case' if i % 2 else 'control'}\t{'n/a' if i == 3 else 'X'}")
    (tmp_path / "participants.tsv").write_text("\n".join(rows))
    data = import_folder(
        folder, tmp_path / "participants.tsv", keep=Keep(percentile=50), weights=True
    )
    assert data.subjects == {"age": (20.0, 21.0, 22.0, 23.0), "site": ("X", "X", "X", None)}
    assert data.weights.shape == (4, 10)
    again = [Keep(percentile=50).apply(square(row)) for row in data.weights]
    assert tuple(again) == data.graphs
    back = import_folder(export_dataset(data, tmp_path / "out"))
    assert back.subjects == data.subjects


def square(row):
    out = np.zeros((5, 5))
    out[np.triu_indices(5, k=1)] = row
    return out + out.T


def test_weights_that_no_file_holds_are_said_so(tmp_path):
    data = toy()
    export_dataset(data, tmp_path / "out", format="edges")
    with pytest.raises(DatasetError, match="no weights to keep"):
        import_folder(tmp_path / "out", weights=True)


def test_sites_of_a_made_up_cohort_carry_what_was_asked():
    plain = make_synthetic(n_per_class=10, seed=3)
    assert not plain.subjects
    data = make_synthetic(n_per_class=10, sites=2, site_share=0.9, weights=True, seed=3)
    late = np.asarray(data.subjects["site"]) == "site 2"
    assert late[:10].sum() == 1
    assert late[10:].sum() == 9
    assert set(data.subjects) == {"site", "age", "sex", "motion"}
    assert tuple(Keep(percentile=90).apply(_square116(w)) for w in data.weights) == data.graphs
    with pytest.raises(InvalidParameterError, match="site_share must be a share"):
        make_synthetic(n_per_class=2, sites=2, site_share=2)


def _square116(row):
    out = np.zeros((116, 116))
    out[np.triu_indices(116, k=1)] = row
    return out + out.T
