"""What is said of a group, and when nothing is."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from denseflip.cohort.cohort import Cohort
from denseflip.cohort.settings import CohortSettings
from denseflip.errors import FileFormatError, UnknownNameError
from groups import CELLS, CHANCE, GOOD, found_cohort, labelling


def test_what_is_more_than_chance_is_named_with_direction_amount_and_p() -> None:
    found = found_cohort()
    assert found.verdict == "named"
    (row,) = found.named
    assert (row.name, row.direction, row.patients, row.amount, row.p) == (
        "X – Y",
        "more",
        18,
        3,
        0.05,
    )
    assert found.smallest_p == 0.05
    first, *_ = found.sentences
    assert "Better than chance: 95 %" in first  # the accuracy comes first
    assert (
        "In 18 of 20 graphs the decision depends on connections between X and Y: more of them "
        "indicate B" in (found.statement)
    )
    assert "p = 0.05, family-wise, 19 label permutations" in found.statement
    assert "each with a classifier that was not trained on it" in found.statement
    assert "flips 4 of the 5 correctly classified A graphs (95 % confidence" in found.statement
    assert "used neither to choose the change nor to train" in found.statement


def test_at_chance_nothing_is_said_but_that() -> None:
    found = found_cohort(evaluation=CHANCE)
    assert found.verdict == "chance"
    assert found.named == ()
    assert len(found.sentences) == 2
    assert "Not better than chance" in found.statement
    assert "X" not in found.statement
    assert "flips" not in found.statement


def test_no_more_than_chance_names_nothing() -> None:
    found = found_cohort(observed=labelling(9, patients=True))
    assert found.verdict == "nothing"
    assert found.named == ()
    assert "No region pair is used more often than expected by chance (p > " in found.statement
    assert "in 9 of 20 graphs, p = 0.1" in found.statement


def test_without_permutations_there_are_no_p_values_and_it_is_said() -> None:
    found = found_cohort(null=(), refitted=False, evaluation=None)
    assert found.verdict == "untested"
    assert found.named == ()
    assert found.rows[0].p is None
    assert "is not known" in found.sentences[0]
    assert "cannot be retrained, so there are no p-values" in found.statement
    assert "may have been trained on them" in found.statement
    assert "p =" not in found.statement


def test_weak_evidence_is_called_weak() -> None:
    unclear = replace(GOOD, interval=(0.45, 0.99))
    assert unclear.level == "unclear"
    assert "treat the following as hypotheses" in found_cohort(evaluation=unclear).statement


def test_discovery_rate_as_an_option() -> None:
    found = found_cohort(correction="bh", null=[labelling(0) for _ in range(399)])
    assert found.named[0].p == pytest.approx(2 * len(CELLS) / 400)
    assert "false discovery rate" in found.statement
    assert f"for a single region pair {2 * len(CELLS) / 400:.2g}" in found.statement
    few = found_cohort(correction="bh")  # 12 figures and 19 permutations
    assert few.verdict == "nothing"
    assert (
        "too few to name a single region pair: its adjusted p cannot be below 0.6" in few.statement
    )
    with pytest.raises(UnknownNameError, match="correction"):
        found_cohort(correction="bonferroni")


def test_the_groups_own_differences_stand_beside() -> None:
    found = found_cohort()
    assert [row.name for row in found.differing] == ["X – Y"]
    assert found.agreement == pytest.approx(1.0)
    assert found.null_agreement is not None
    assert "rank correlation" in found.statement
    none = found_cohort(observed=labelling(9, patients=True))
    assert none.differing == ()
    assert "differ significantly in no region pair" in none.statement


def test_round_trip_and_files(tmp_path: Any) -> None:
    found = found_cohort()
    assert Cohort.from_dict(json.loads(found.to_json())) == found
    found.write(tmp_path / "c.json")
    found.write(tmp_path / "c.tsv")
    head, line = (tmp_path / "c.tsv").read_text(encoding="utf-8").splitlines()
    assert head.split("\t")[:4] == ["cell", "name", "direction", "patients"]
    assert line.split("\t")[1:5] == ["X – Y", "more", "18", "0.9"]
    assert found.patients_tsv().count("\n") == 19
    with pytest.raises(UnknownNameError, match="form of a cohort"):
        found.write(tmp_path / "c.xlsx")
    for bad in ({}, {"format": 99}, {"format": 1}, {"format": 1, "dataset": 3}):
        with pytest.raises(FileFormatError, match="Not a cohort"):
            Cohort.from_dict(bad)


def test_notebooks_show_the_statement_escaped() -> None:
    found = replace(found_cohort(), cell_names=("<b>",) * len(CELLS), oracle="<script>")
    shown = found._repr_html_()
    assert "<script>" not in shown
    assert "&lt;b&gt;" in shown
    assert "Cohort('toy'" in repr(found)
    assert str(found).splitlines()[0] == found.sentences[0]


def test_a_table_keeps_its_columns_whatever_names_hold() -> None:
    found = replace(found_cohort(), cell_names=("a\tb\nc",) * len(CELLS))
    lines = found.to_tsv().splitlines()
    assert {line.count("\t") for line in lines} == {8}


def test_an_accuracy_on_other_data_is_told_as_that() -> None:
    found = found_cohort()
    assert found.evaluation is not None
    elsewhere = replace(found.evaluation, dataset="elsewhere")
    said = found_cohort(evaluation=elsewhere).sentences[0]
    assert ", evaluated on elsewhere, not on this data: " in said
    assert f" on {found.dataset}: " not in said


def test_a_half_that_found_no_change_is_told() -> None:
    found = found_cohort()
    (half,) = found.shared[0].halves
    empty = replace(half, amounts={}, reached=0, flipped=(), counted=("x", "y"))
    shared = (replace(found.shared[0], halves=(half, empty)),)
    said = replace(found, shared=shared).statement
    assert "on the other half no change was found" in said
    assert "flips 4 of the 7" in said
    assert "none was found" not in found.statement
    nobody = (replace(found.shared[0], halves=(half, replace(empty, of=0, counted=()))),)
    said = replace(found, shared=nobody).statement
    assert "(from one half; the other half's classifier labels none of it A)" in said
    assert "flips 4 of the 5" in said


def test_a_class_by_itself_is_counted_by_itself() -> None:
    alone = replace(found_cohort(), settings=CohortSettings(group="B"))
    assert "20 of 10 B graphs were explained" in alone.statement  # of the ten of B
