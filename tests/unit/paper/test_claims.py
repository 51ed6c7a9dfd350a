"""The paper's claims in words, checked: on made-up rows, and on its own patients."""

from __future__ import annotations

import pytest

from denseflip.experiments.tables import Table
from denseflip.paper.claims import CLAIMS, PATIENT_CLAIMS, claims_table, patient_claims
from denseflip.paper.printed import PATIENTS
from stories import brain_nodes, complete, make_story

METHODS = ("edg", "tri", "cli", "rcli", "rcli+bw", "dat", "dat+bw")


def rows(data="aut", **changes):
    """Three graphs a method, all as the paper says; changes: method → columns."""
    figures = {
        "edg": {"d": 0.10, "C": 20}, "tri": {"d": 0.12, "C": 10}, "cli": {"d": 0.30, "C": 5},
        "rcli": {"d": 0.30, "C": 9}, "rcli+bw": {"d": 0.29, "C": 15}, "dat": {"d": 0.9, "C": 102},
        "dat+bw": {"d": 0.05, "C": 130},
    }  # fmt: skip
    return [
        {
            "data": data, "method": m, "found": True, "label_before": 0,
            "regions_touched": 3 if m == "rcli" else 5, **figures[m],
            **changes.get(m.replace("+", "_"), {}),
        }
        for m in METHODS
        for _ in range(3)
    ]  # fmt: skip


def held(table: Table) -> dict[str, bool]:
    return {row[0]: row[2] for row in table.rows}


def test_rows_as_the_paper_says_hold():
    table = claims_table(rows(), ["aut"])
    assert all(held(table).values())
    assert len(table.rows) == sum(not claim.only for claim in CLAIMS)
    assert table.notes == (f"{len(table.rows)} of {len(table.rows)} hold.",)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"edg": {"d": 0.05}}, "comparable"),
        ({"rcli_bw": {"d": 0.2}}, "alters little"),
        ({"rcli": {"regions_touched": 5}}, "fewer regions"),
        ({"cli": {"C": 11}}, "more quickly"),
        ({"dat_bw": {"C": 300}}, "slightly more"),
        ({"dat": {"found": False}}, "always flips"),
        ({"tri": {"found": False}}, "TRI flips more often"),
        ({"dat_bw": {"d": 0.11}}, "comes closer"),
    ],
)
def test_what_does_not_hold_is_said(changes, word):
    failed = [
        text for text, holds in held(claims_table(rows(**changes), ["aut"])).items() if not holds
    ]
    assert any(word in text for text in failed)


def test_claims_about_sparse_networks_are_asked_of_them_alone():
    table = claims_table([*rows(), *rows("kki")], ["aut", "kki"])
    about = {row[1] for row in table.rows if "sparsest" in row[0]}
    assert about == {"KKI"}
    assert {row[1] for row in table.rows if row[0].startswith("TRI flips")} == {"AUT"}


def test_a_method_that_was_not_run_is_not_judged():
    few = [r for r in rows() if r["method"] in ("edg", "tri")]
    assert {row[0].split(" ")[0] for row in claims_table(few, ["aut"]).rows} == {"The"}


def test_patients_by_hand():
    """Removed in the Occipital Lobe alone, added in the Insula & Cingulate Gyri alone."""
    story = make_story(brain_nodes(), complete((42, 43, 48, 49)), complete((28, 29, 30)))
    table = patient_claims({"AUT 9": {"TRI": story}})
    assert [row[3] for row in table.rows] == [True, True]
    assert table.rows[0][4] == "removed: Occipital Lobe 100 %"


def test_every_patient_is_one_of_the_figures():
    known = {f"{name.upper()} {index}" for name, index in PATIENTS.items()}
    assert {patient for patient, *_ in PATIENT_CLAIMS} == known


@pytest.mark.data
@pytest.mark.usefixtures("brain_data")
def test_the_papers_patients():
    """The shares that the prose names: 49 %, 45 % and 41 % come out by size alone."""
    from denseflip import describe, explain, load_dataset
    from denseflip.paper.classifier import published_oracle
    from denseflip.paper.methods import published_method

    stories = {}
    for name, index in PATIENTS.items():
        data = load_dataset(name)
        oracle = published_oracle(data)
        result = explain(data.graphs[index], oracle, published_method("tri"), nodes=data.nodes)
        stories[f"{name.upper()} {index}"] = {"TRI": describe(result, data.nodes)}
    table = patient_claims(stories)
    found = {(row[0], row[2]): (row[3], row[4]) for row in table.rows}
    assert "Occipital Lobe 49 %" in found["AUT 9", "mainly sparsifies the Occipital Lobe"][1]
    insula = found["AUT 9", "mainly densifies the Insula & Cingulate Gyri"]
    assert "Insula & Cingulate Gyri 45 %" in insula[1]
    adds = found["ADHD 22", "adds primarily in the Temporal, also in the Frontal Lobe"]
    assert "Temporal Lobe 41 %" in adds[1]
    failed = [key for key, (holds, _) in found.items() if not holds]
    assert failed == [("BIP 9", "10 edges removed, 10 added")]  # the other file: 18 and 18
