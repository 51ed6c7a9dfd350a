"""What is said of a group, and when nothing is."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import groups
from denseflip.cohort.cohort import Cohort
from denseflip.cohort.data_notes import MADE_UP, data_notes
from denseflip.cohort.settings import CohortSettings
from denseflip.datasets.synthetic import make_synthetic
from denseflip.errors import FileFormatError, UnknownNameError
from denseflip.report.cohort_page import make_cohort_page
from denseflip.result_scores import Stability
from groups import CELLS, CHANCE, DATA, GOOD, XY, found_cohort, labelling


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
        "move the answer towards B" in (found.statement)
    )
    assert "p of the region pair = 0.05, family-wise, 19 label permutations" in found.statement
    assert "each with a classifier that was not trained on it" in found.statement
    right = "that a classifier trained on the other half is right about (95 % confidence"
    assert f"It flips 4 of the 5 A graphs {right}" in found.statement
    assert "is right about 19 of them. For 18 of these" in found.statement
    assert "used neither to choose the change nor to train" in found.statement


def test_what_the_groups_have_stands_beside_the_named_place() -> None:
    found = found_cohort()
    (row,) = found.named
    counts = {
        name: [
            np.isin(CELLS.members((0, 1)), g.codes).sum()
            for g, y in zip(DATA.graphs, DATA.labels, strict=True)
            if DATA.class_names[y] == name
        ]
        for name in DATA.class_names
    }
    for name, listed in counts.items():
        usual = found.usual[name][row.cell]
        assert usual.median == np.median(listed)
        half = stats.t.ppf(0.975, 9) * max(np.std(listed, ddof=1), 0.5) * np.sqrt(1.1)
        assert usual.low == max(0, np.ceil(np.mean(listed) - half))
        assert usual.high == min(16, np.floor(np.mean(listed) + half))
        said = f"{name} graphs usually have {usual.median:g} (95 % between {usual.low} and"
        assert said in found.statement
    a, b = (np.array(counts[name], dtype=float) for name in DATA.class_names)
    pooled = np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    assert row.effect == pytest.approx((b.mean() - a.mean()) / pooled * (1 - 3 / (4 * 20 - 9)))
    head, line, *_ = (x.split("\t") for x in found.to_tsv().splitlines())
    there = dict(zip(head, line, strict=True))
    assert there["in_range"] == str(row.in_range)
    assert float(there["median_B"]) == found.usual["B"][row.cell].median


@pytest.mark.parametrize(
    ("inside", "asked", "said"),
    [
        (18, None, "All 18 changes are in range of real graphs of the other class."),
        (12, None, "12 of 18 changes are in range of real graphs of the other class; otherwise"),
        (12, "ignore", "12 of 18 changes are in range of real graphs of the other class."),
        (0, None, "0 of 18 changes are in range of real graphs of the other class; otherwise none"),
    ],
)
def test_how_many_changes_are_in_range_is_said(inside: int, asked: Any, said: str) -> None:
    base = found_cohort()
    patients = tuple(replace(p, in_range=i < inside) for i, p in enumerate(base.observed.patients))
    settings = CohortSettings(in_range=asked)
    found = replace(base, observed=replace(base.observed, patients=patients), settings=settings)
    assert said in found.statement
    assert found.in_range == found.to_dict()["in_range"] == inside
    assert found.named[0].in_range == inside
    assert f"in range in {inside}; p of the region pair = " in found.statement
    head, *lines = found.patients_tsv().splitlines()
    at = head.split("\t").index("in_range")
    assert sum(line.split("\t")[at] == "yes" for line in lines) == inside
    assert Cohort.from_dict(json.loads(found.to_json())) == found


def test_balance_and_stability_are_said() -> None:
    base = found_cohort()
    patients = tuple(
        replace(p, in_range=True, balanced=True, stability=Stability(4, (0.5, 0.3), 20))
        for p in base.observed.patients
    )
    found = replace(base, observed=replace(base.observed, patients=patients))
    assert "and all 18 keep the number of connections: as many change elsewhere in the graph." in (
        found.statement
    )
    assert "On average, 40 % of the redraws of a change also flip classifiers trained" in (
        found.statement
    )
    assert "the changes tell of these very classifiers, not of the groups." in found.statement
    assert "trained again" not in base.statement


def test_a_shared_change_says_for_whom_it_is_in_range() -> None:
    base = found_cohort()
    (half,) = base.shared[0].halves

    def said(**facts: Any) -> str:
        change = replace(base.shared[0], halves=(replace(half, **facts),))
        return replace(base, shared=(change,)).statement

    everybody = said(in_range=half.flipped, balanced=True)
    assert (
        "The change is 5 more connections between X and Y and as many fewer elsewhere in the "
        "graph. " in everybody
    )
    assert "It is in range for all 4 of them." in everybody
    fallen = said(fallback=True)
    assert "It is in range for none of them: no shared change in range was found." in fallen
    some = said(in_range=half.flipped[:1], limited=half.flipped[:1], fallback=True)
    assert "It is in range for 1 of them: no shared change in range was found. In 1 of" in some
    every = said(limited=half.flipped, reading="typical", amounts={XY: 5, 0: -2}, balanced=True)
    assert (
        "The change is 5 more connections between X and Y and 2 fewer connections within X, all "
        "typical of the other class, and as many fewer elsewhere in the graph."
    ) in every
    assert "In all of them, only a part of it was made: the range or the graph allows no more." in (
        every
    )
    assert "No shared change in range was found." in said(flipped=(), fallback=True)
    with pytest.raises(ValueError, match="is not flipped"):
        replace(half, in_range=("x",))
    required = replace(base, settings=CohortSettings(in_range="require"))
    change = replace(base.shared[0], halves=(replace(half, amounts={}, flipped=()),))
    assert "that flips A graphs and is in range was found." in (
        replace(required, shared=(change,)).statement
    )


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
    assert "in 9 of 20 graphs, p of the region pair = 0.1" in found.statement


def test_without_permutations_there_are_no_p_values_and_it_is_said() -> None:
    found = found_cohort(null=(), refitted=False, evaluation=None)
    assert found.verdict == "untested"
    assert found.named == ()
    assert found.rows[0].p is None
    assert "is not known" in found.sentences[0]
    assert "was not retrained, so there are no p-values" in found.statement
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


def test_the_groups_own_differences_stand_beside() -> None:
    found = found_cohort()
    assert [row.name for row in found.differing] == ["X – Y"]
    assert found.agreement == pytest.approx(1.0)
    assert found.null_agreement is not None
    assert "rank correlation" in found.statement
    none = found_cohort(observed=labelling(9, patients=True))
    assert none.differing == ()
    assert "differ significantly in no region pair" in none.statement


@pytest.mark.parametrize(
    ("n", "said"),
    [(3, "0.05)."), (4, "0.05); and one other pair (in cells.tsv)."), (5, "; and 2 other pairs (")],
)
def test_differences_that_are_not_listed_are_in_the_table(n: int, said: str) -> None:
    clear = tuple(0.05 if i < n else 1.0 for i in range(len(CELLS)))
    observed = replace(labelling(18, patients=True), difference=(-2.0,) * len(CELLS))
    found = replace(found_cohort(), observed=observed, p_difference=clear)
    (listed,) = [text for text in found.sentences if text.startswith("The densities")]
    assert said in listed
    assert listed.endswith(".")
    lines = [line.split("\t") for line in found.to_tsv().splitlines()]
    assert sorted(int(line[0]) for line in lines[1:]) == list(range(len(CELLS)))
    column = lines[0].index("p_difference")
    assert sum(line[column] == "0.05" for line in lines[1:]) == n
    assert [line[2:4] for line in lines[2:]] == [["fewer", "0"]] * (len(CELLS) - 1)


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        ((20, 20, 20), "All graphs have the same number of edges, so more"),
        ((1000, 1001, 999), "All graphs have nearly the same number of edges, so more"),
        ((18, 20, 22), None),
    ],
)
def test_one_number_of_edges_is_noted_because_places_then_depend_on_each_other(
    edges: tuple[int, ...], said: str | None
) -> None:
    data: Any = SimpleNamespace(attributes={}, graphs=[SimpleNamespace(n_edges=n) for n in edges])
    notes = data_notes(data, "edges")
    assert len(notes) == (said is not None)
    if said is None:
        return
    assert notes[0].startswith(said)
    found = replace(found_cohort(), notes=notes)
    assert found.methods_text().count(notes[0]) == 1
    assert make_cohort_page(found).count(notes[0]) == 2  # in the notes, and in the paragraph


def test_round_trip_and_files(tmp_path: Any) -> None:
    found = found_cohort()
    assert Cohort.from_dict(json.loads(found.to_json())) == found
    found.write(tmp_path / "c.json")
    found.write(tmp_path / "c.tsv")
    head, line, *_ = (tmp_path / "c.tsv").read_text(encoding="utf-8").splitlines()
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
    assert {line.count("\t") for line in lines} == {16}  # and three of each class


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


@pytest.mark.parametrize("strength", [0.0, 2.0])
def test_made_up_data_with_a_difference_are_said_to_be(
    strength: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MADE_UP not in found_cohort().notes
    made = make_synthetic(n_per_class=2, strength=strength)
    monkeypatch.setattr(groups, "DATA", replace(DATA, attributes=made.attributes))
    assert (MADE_UP in found_cohort().notes) is bool(strength)
