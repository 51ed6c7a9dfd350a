"""Charts of a run by method, with the tables behind them."""

from __future__ import annotations

import pytest

from denseflip.experiments.measure_charts import BENCH, FLIPS, method_charts, spread_of

pytest.importorskip("matplotlib")


def rows(method="tri", data="toy", oracle="knn", **columns):
    """Four graphs, three of them found."""
    plain = {"relative_distance": 0.1, "calls": 20, "cells": 2, "as_read": 0.5, "parameters": ""}
    return [
        {"data": data, "oracle": oracle, "method": method, "found": i < 3, **plain, **columns}
        for i in range(4)
    ]


def test_rates_have_intervals_and_all_else_the_middle_half_of_what_was_found():
    rate = spread_of(rows(), "found")
    assert rate.middle == 0.75
    assert 0.2 < rate.low < 0.75 < rate.high < 1
    members = rows()
    for i, row in enumerate(members):
        row["calls"] = (10, 20, 40, 999)[i]
    calls = spread_of(members, "calls")
    assert (calls.low, calls.middle, calls.high) == (15, 20, 30)
    assert spread_of(rows(cells=None), "cells") is None
    shares = rows()
    for i, row in enumerate(shares):
        row["as_read"] = (0.0, 1.0, 1.0, 1.0)[i]
    assert spread_of(shares, "as_read").middle == pytest.approx(2 / 3)  # a mean, as of every share


def test_every_data_set_and_oracle_has_a_chart_its_table_and_its_words(tmp_path):
    members = [*rows(), *rows("cli", parameters="slack=2"), *rows(data="other")]
    first, other = method_charts(members, folder=tmp_path)
    assert (first.name, other.name) == (
        "toy: comparison of methods", "other: comparison of methods",
    )  # fmt: skip
    assert first.table.columns == ("method", "n", *(m.title for m in BENCH))
    assert [row[:2] for row in first.table.rows] == [("tri", "4"), ("cli (slack=2)", "4")]
    assert "cli (slack=2): flip rate 75 %, d% 0.1, questions 20" in first.figure.alt
    assert first.figure.narrow.width < first.figure.wide.width
    assert {p.name for p in tmp_path.iterdir()} == {"methods-1.svg", "methods-2.svg"}


def test_oracles_are_told_apart_and_what_was_not_measured_is_left_out():
    members = [*rows(as_read=None), *rows(oracle="svm", as_read=None)]
    charts = method_charts(members, called=str.upper)
    assert [c.name.split(":")[0] for c in charts] == ["TOY, knn", "TOY, svm"]
    assert "true as read" not in charts[0].table.columns
    assert charts[0].table.rows[0][0] == "TRI"


def test_a_method_that_found_nothing_has_its_rate_alone():
    lost = [{**row, "found": False} for row in rows("edg")]
    (chart,) = method_charts([*rows(), *lost], (FLIPS, *BENCH[1:]))
    assert chart.table.rows[1][2].startswith("0 (0 – ")
    assert set(chart.table.rows[1][3:]) == {"–"}
