"""What the paper says of its comparison, checked on made-up rows."""

from __future__ import annotations

import pytest

from denseflip.experiments.table import Table
from denseflip.graph import Graph
from denseflip.paper.network_facts import Networks
from denseflip.paper.paper_claims import CLAIMS, SPARSE, claims_tables
from denseflip.paper.printed import DATASETS

METHODS = ("edg", "tri", "cli", "rcli", "rcli+bw", "dat", "dat+bw")


def rows(data="aut", **changes):
    """Three graphs a method, all as the paper says; changes: method → columns."""
    figures = {
        "edg": {"d": 0.10, "C": 20}, "tri": {"d": 0.12, "C": 10}, "cli": {"d": 0.30, "C": 5},
        "rcli": {"d": 0.30, "C": 9}, "rcli+bw": {"d": 0.29, "C": 15}, "dat": {"d": 0.9, "C": 102},
        "dat+bw": {"d": 0.05, "C": 130},
    }  # fmt: skip
    clique = ("cli", "rcli", "rcli+bw")
    return [
        {
            "data": data, "method": m, "found": True, "label_before": 0,
            "regions_touched": 3 if m == "rcli" else 5, "density_drift": 1.05,
            "region_entropy": 0.6 if m in clique or m == "tri" else 0.7,
            "robustness_1": 0.4 if m == "dat" else 0.5,
            "distance": 60 if m in clique else 20, "iterations": 2 if m in clique else 10,
            **figures[m],
            **changes.get(m.replace("+", "_"), {}),
        }
        for m in METHODS
        for _ in range(3)
    ]  # fmt: skip


def held(rows, datasets) -> dict[str, bool]:
    return {row[0]: row[3] for row in details(rows, datasets).rows}


def details(rows, datasets) -> Table:
    return claims_tables(rows, datasets)[1]


def test_rows_as_the_paper_says_hold():
    short, each = claims_tables(rows(), ["aut"])
    assert all(row[3] for row in each.rows)
    n = sum(not claim.only and not claim.whole for claim in CLAIMS)
    assert len(each.rows) == len(short.rows) == n
    assert {row[2] for row in short.rows} == {"1 of 1"}
    assert {row[3] for row in short.rows} == {None}
    assert short.notes[0].startswith(f"{n} of {n} claims hold on every data set")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"edg": {"d": 0.05}}, "comparable"),
        ({"rcli_bw": {"d": 0.2}}, "alters little"),
        ({"rcli": {"regions_touched": 5}}, "fewer regions"),
        ({"cli": {"C": 11}}, "more quickly"),
        ({"rcli": {"C": 400}}, "most often"),
        ({"dat_bw": {"C": 300}}, "slightly more"),
        ({"dat": {"found": False}}, "always flips"),
        ({"dat_bw": {"found": False}}, "flip as often as"),
        ({"tri": {"found": False}}, "TRI flips more often"),
        ({"dat_bw": {"d": 0.11}}, "comes much closer"),
        ({"rcli": {"d": 9.0}}, "removes a smaller share"),
        ({"dat": {"robustness_1": 0.6}}, "in the sense of §6"),
        ({"tri": {"region_entropy": 0.5}}, "are concentrated in regions"),
        ({"dat_bw": {"region_entropy": 0.5}}, "reflect the brain's organisation less"),
        ({"cli": {"distance": 3}}, "CLI makes larger changes"),
        ({"rcli": {"density_drift": 1.2}}, "is similar to that of the input"),
    ],
)
def test_what_does_not_hold_is_said(changes, word):
    failed = [text for text, holds in held(rows(**changes), ["aut"]).items() if not holds]
    assert any(word in text for text in failed)
    short = claims_tables(rows(**changes), ["aut"])[0]
    assert [row[3][:5] for row in short.rows if word in row[0] and row[3]] == ["AUT: "]


@pytest.mark.parametrize(("method", "word"), [("rcli", "RCLI"), ("cli", "CLI"), ("tri", "TRI")])
def test_a_method_that_found_nothing_has_no_medians_to_judge_by(method, word):
    table = details(rows(**{method: {"found": False}}), ["aut"])
    about = [row[0] for row in table.rows if row[0].startswith((f"{word}'s", f"{word} makes"))]
    assert about == []
    assert not any("inf" in row[4].split() or " inf" in row[4] for row in table.rows)
    assert {row[3] for row in table.rows if "flips" in row[0] and "DAT" in row[0]} == {True}


def test_claims_about_sparse_networks_are_asked_of_them_alone():
    table = details([*rows(), *rows("kki")], ["aut", "kki"])
    about = {row[2] for row in table.rows if "sparsest" in row[0]}
    assert about == {"KKI"}
    assert {row[2] for row in table.rows if row[0].startswith("TRI flips")} == {"AUT"}


def test_a_claim_about_the_whole_table_needs_all_of_it():
    every = [row for name in DATASETS for row in rows(name)]
    assert not any("perfect score" in row[0] for row in details(rows(), ["aut"]).rows)
    (perfect,) = [row for row in details(every, DATASETS).rows if "perfect score" in row[0]]
    assert perfect[2:4] == ("ALL", False)  # made up: all of them always flip
    missed = [{**row, "found": row["data"] != "pek" or row["method"] == "dat"} for row in every]
    (perfect,) = [row for row in details(missed, DATASETS).rows if "perfect score" in row[0]]
    assert perfect[3]


def test_what_was_not_measured_is_not_judged():
    bare = [{**row, "region_entropy": None, "robustness_1": None} for row in rows()]
    left = {row[0] for row in details(rows(), ["aut"]).rows} - {
        row[0] for row in details(bare, ["aut"]).rows
    }
    assert len(left) == 3
    assert all("entropy" in text or "§6" in text for text in left)


LINE = Graph.from_edges(4, [(0, 1), (1, 2), (2, 3)])
KITE = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
WHOLE = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)])


def test_networks_by_hand():
    kite = Networks([KITE])
    assert (kite.in_triangles, kite.closed, kite.edges) == (75, 60, 50)
    both = Networks([LINE, KITE, Graph.from_edges(4, [])])
    assert both.in_triangles == 25  # 0, 75 and 0 %
    assert (both.closed, both.edges) == (30, 75)  # a graph without edges has none to count


def test_claims_about_the_networks_are_judged_by_their_graphs():
    every = [row for name in DATASETS for row in rows(name)]
    sparse = {name: Networks([LINE if name in SPARSE else WHOLE]) for name in DATASETS}
    _, each = claims_tables(every, DATASETS, sparse)
    found = {(row[0], row[2]): row[3:] for row in each.rows if "sparsest networks t" in row[0]}
    assert {key[1] for key in found} == {"ALL"}
    assert {holds for holds, _ in found.values()} == {True}
    assert all("AUT 100 %" in words and "KKI 0 %" in words for _, words in found.values())
    cliques = {row[2]: row[3:] for row in each.rows if "just edges" in row[0]}
    assert set(cliques) == {"OHSU", "PEK", "KKI"}
    assert cliques["KKI"] == (True, "100 % of the maximal cliques")
    kites = {**sparse, "kki": Networks([KITE]), "aut": Networks([LINE])}
    _, each = claims_tables(every, DATASETS, kites)
    assert [row[3] for row in each.rows if "sparsest networks t" in row[0]] == [False, False]
    assert [row[3] for row in each.rows if "just edges" in row[0]] == [True, True, False]
    assert not any("just edges" in row[0] for row in details(every, DATASETS).rows)


def test_a_method_that_was_not_run_is_not_judged():
    few = [r for r in rows() if r["method"] in ("edg", "tri")]
    assert {row[0].split(" ")[0] for row in details(few, ["aut"]).rows} == {"The"}
    assert claims_tables([], ["aut"]) == []


def test_every_claim_names_its_place_in_the_paper_and_stands_in_the_docs():
    from pathlib import Path

    text = (Path(__file__).parents[3] / "docs" / "reproduction.md").read_text(encoding="utf-8")
    for claim in CLAIMS:
        assert claim.where.startswith(("§", "caption"))
        assert claim.text.replace("|", "\\|") in text
