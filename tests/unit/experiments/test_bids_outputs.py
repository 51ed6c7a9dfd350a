"""The BIDS folder: the rules for derivatives, and the same tables as everywhere else."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from cohorts import make_cohort
from denseflip import explain_many
from denseflip.datasets.atlas import read_nodes
from denseflip.errors import DenseflipError
from denseflip.experiments.bids_outputs import bids_labels, write_bids
from denseflip.experiments.explain_many import Explained

NAME = re.compile(r"(?:[a-z]+-[A-Za-z0-9]+_)*[A-Za-z0-9]+\.(?:tsv|json)")
POINTS = tuple((float(i), -float(i), 2.5) for i in range(12))


def label(adjacency):
    return int(adjacency[:4, :4].sum() >= adjacency[4:8, 4:8].sum())


@pytest.fixture(scope="module")
def many():
    cohort = make_cohort(2)
    cohort = replace(cohort, nodes=replace(cohort.nodes, coordinates=POINTS))
    return explain_many(cohort, label, method="tri", engine="serial")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


def test_the_folder_follows_the_rules(many, tmp_path):
    failed = Explained("g/9", "A", None, "no answer")
    out = write_bids(
        [*many, failed],
        tmp_path / "bids",
        dataset=many.dataset,
        oracle="toy",
        command="denseflip x",
    )
    about = json.loads((out / "dataset_description.json").read_text())
    assert about["DatasetType"] == "derivative"
    assert about["GeneratedBy"][0]["Name"] == "denseflip"
    assert {"Name", "BIDSVersion"} <= set(about)
    people = rows(out / "participants.tsv")
    assert [row["source_id"] for row in people] == [*many.dataset.ids, "g/9"]
    for path in out.rglob("*.tsv"):
        assert NAME.fullmatch(path.name), path.name
        sidecar = json.loads(path.with_suffix(".json").read_text())
        with path.open() as handle:
            header = handle.readline().rstrip("\n").split("\t")
        assert all("Description" in sidecar[column] for column in header)
        assert "\t\t" not in path.read_text()  # a missing value is n/a
        assert path.parent == out or path.name.startswith(f"{path.parent.name}_")
    assert {p.name for p in out.glob("sub-*")} == {f"sub-{x}" for x in many.dataset.ids}
    said = {
        row["participant_id"]: row for row in rows(out / "desc-counterfactual_explanations.tsv")
    }
    assert said["sub-g9"]["failure"] == "no answer"
    assert said["sub-g9"]["edits"] == "n/a"
    assert read_nodes(out / "seg-cohort_dseg.tsv")[0] == many.dataset.nodes


def test_tables_are_those_of_the_command(many, tmp_path):
    out = write_bids(many, tmp_path / "bids", dataset=many.dataset)
    one = many[0]
    home = out / f"sub-{one.id}"
    edits = rows(home / f"sub-{one.id}_desc-counterfactual_edits.tsv")
    table = many.edit_table()
    assert "x_1" in table.columns
    own = [row for row in table.rows if row[0] == one.id]
    assert len(edits) == len(own) == one.result.distance
    for row, cells in zip(edits, own, strict=True):
        assert row["name_1"] == dict(zip(table.columns, cells, strict=True))["name_1"]
        node = int(row["node_2"])
        assert (float(row["x_2"]), float(row["y_2"]), float(row["z_2"])) == POINTS[node]
    regions = rows(home / f"sub-{one.id}_desc-counterfactual_regions.tsv")
    assert sum(int(r["added"]) + int(r["removed"]) for r in regions) == one.result.distance
    reference = many.reference_table()
    assert [row[0] for row in reference.rows] == [x.id for x in many for _ in x.story.reference]


def test_labels_are_letters_and_digits_and_unique():
    ids = ["sub-01", "NYU_0051", "NYU-0051", "nyu0051", "ä/ö"]
    labels = bids_labels(ids)
    assert labels == {
        "sub-01": "01",
        "NYU_0051": "NYU0051",
        "NYU-0051": "NYU0051x2",
        "nyu0051": "nyu0051x3",
        "ä/ö": "graph",
    }


def test_a_folder_of_somebody_else_is_refused(many, tmp_path):
    (tmp_path / "bids").mkdir()
    (tmp_path / "bids" / "mine.txt").write_text("x")
    with pytest.raises(DenseflipError, match=r"force"):
        write_bids(many, tmp_path / "bids")
    assert [p.name for p in (tmp_path / "bids").iterdir()] == ["mine.txt"]
    write_bids(many, tmp_path / "bids", force=True)
    assert (tmp_path / "bids" / "mine.txt").read_text() == "x"
    assert not [p for p in tmp_path.iterdir() if p.name.startswith(".")]
