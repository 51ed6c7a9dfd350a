import pytest

from benches import bench_specs
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.experiments.results import (
    ALL_COLUMNS,
    bench_tables,
    group_table,
    list_table,
    median,
    sentence_table,
    stability,
    to_rows,
    typical,
    where,
)
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs


@pytest.fixture
def rows(folder):
    specs = bench_specs(folder, methods=["tri", "edg"])
    outcome = run_specs(specs, Store(folder / "s"))
    return to_rows(reversed(outcome.records.values()))


def test_rows_are_flat_and_in_one_order(rows):
    assert len(rows) == 8 * 2 * 2
    assert [(r["method"], r["seed"], r["graph"]) for r in rows] == sorted(
        (r["method"], r["seed"], r["graph"]) for r in rows
    )
    assert rows[0]["data"] == "cohort"
    found = [r for r in rows if r["found"]]
    assert all(0 <= r["robustness_5"] <= 1 for r in found)
    assert all(r["plausibility"] is not None and r["regions_touched"] for r in found)
    assert all(r["statement_verified"] is True for r in found)


def test_conditions(rows):
    assert {r["method"] for r in where(rows, ["method=TRI"])} == {"tri"}
    assert {r["seed"] for r in where(rows, ["seed!=0"])} == {1}
    assert all(r["calls"] <= 3 for r in where(rows, ["calls<=3"]))
    assert len(where(rows, ["calls<=3"])) + len(where(rows, ["calls > 3"])) == len(rows)
    assert all(r["found"] for r in where(rows, ["found=yes"]))
    assert where(rows, ["budget=none"]) == rows
    assert where(rows, ["robustness_1<2", "found=no"]) == []
    with pytest.raises(UnknownNameError, match="Did you mean 'method'"):
        where(rows, ["methd=tri"])
    with pytest.raises(InvalidParameterError, match="column=value"):
        where(rows, ["tri"])
    with pytest.raises(InvalidParameterError, match="needs a number; got 'few'"):
        where(rows, ["calls<few"])


def test_groups_have_rates_and_medians(rows):
    table = group_table(rows, ["method"], ["calls", "seed_stability"])
    assert table.columns == ("method", "n", "flip_rate", "calls", "seed_stability")
    by_name = {row[0]: row for row in table.rows}
    tri = [r for r in rows if r["method"] == "tri"]
    assert by_name["tri"][1] == len(tri)
    assert by_name["tri"][2] == sum(r["found"] for r in tri) / len(tri)
    assert by_name["tri"][3] == median(r["calls"] for r in tri if r["found"])
    assert by_name["tri"][4] == 1.0, "triangles draw nothing at random"
    assert by_name["edg"][4] < 1.0
    with pytest.raises(UnknownNameError):
        group_table(rows, ["metod"])


def test_lists_and_the_tables_of_bench(rows):
    assert list_table(rows).columns == ALL_COLUMNS
    assert list_table(rows, ["graph", "calls"]).rows[0] == (rows[0]["graph"], rows[0]["calls"])
    flips, measures, sentences = bench_tables(rows)
    assert flips.name == "flips"
    assert {row[2] for row in measures.rows} == {"tri", "edg"}
    assert sentences.name == "sentences"


def test_what_sentences_are_worth(rows):
    table = sentence_table(rows, ["method"])
    assert "planted_first" not in table.columns, "nothing is planted here"
    by_name = {row[0]: dict(zip(table.columns, row, strict=True)) for row in table.rows}
    for name, told in by_name.items():
        members = [r for r in rows if r["method"] == name]
        assert told["n"] == len(members)
        assert told["told"] == sum(r["told"] is True for r in members) / len(members)
        spoken = [told[language] for language in ("regions", "nodes", "pairs")]
        assert sum(spoken) == sum(r["told"] is True for r in members)
        assert told["any"] <= sum(spoken)
        assert told["cells"] == median(r["cells"] for r in members if r["found"])
        assert told["words"] > 3
        assert 0 <= told["as_read"] <= 1
    planted = [{**row, "planted_first": row["found"], "planted_alone": False} for row in rows]
    assert sentence_table(planted, ["method"]).columns[-2:] == ("planted_first", "planted_alone")
    lost = [{**row, "found": False, "told": None, "language": None} for row in rows]
    assert {row[3] for row in sentence_table(lost, ["method"]).rows} == {0}


def test_medians_and_stability_of_nothing():
    assert median([]) is None
    assert median([None, True, False, 3]) == 1
    assert stability([]) is None
    assert typical("calls", [1, 2, 9]) == 2
    assert typical("robustness_1", [0.0, 1.0, 1.0, 1.0]) == 0.75
    assert typical("statement_verified", [None]) is None
