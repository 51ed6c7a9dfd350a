import csv
import io
import json

import pytest

from denseflip.errors import UnknownNameError
from denseflip.experiments.table import Table, show

TABLE = Table(
    "t",
    "Flips & such, 100 %",
    ("method", "|G|", "rate"),
    (("tri", 3, 0.123456), ("a_b|c", None, float("nan"))),
    ("A note with <tags>.",),
)


def test_csv_has_full_numbers_and_empty_cells():
    rows = list(csv.reader(io.StringIO(TABLE.to_csv())))
    assert rows == [["method", "|G|", "rate"], ["tri", "3", "0.123456"], ["a_b|c", "", ""]]


def test_markdown_escapes_bars():
    lines = TABLE.to_markdown().splitlines()
    assert lines[0] == "**Flips & such, 100 %**"
    assert lines[2].startswith("| method | \\|G\\|")
    assert "a_b\\|c" in lines[5]
    assert "–" in lines[5]
    assert len({len(line) for line in lines[2:6]}) == 1


def test_latex_escapes_what_latex_minds():
    text = TABLE.to_latex()
    assert r"\caption{Flips \& such, 100 \%}" in text
    assert r"a\_b|c & -- & -- \\" in text
    assert text.count(r"\toprule") == 1
    assert r"\begin{tabular}{lrr}" in text
    long = Table("l", "", ("a", "b"), (("x", "word " * 20),))
    assert r"\begin{tabular}{lp{7cm}}" in long.to_latex()


def test_html_escapes_everything():
    text = TABLE.to_html()
    assert "&lt;tags&gt;" in text
    assert "<td>0.1235</td>" in text
    assert "Flips &amp; such" in text


def test_json_is_one_object_per_row():
    assert json.loads(TABLE.to_json())[1] == {"method": "a_b|c", "|G|": None, "rate": None}


def test_forms_by_name_and_files(tmp_path):
    with pytest.raises(UnknownNameError, match="Did you mean 'latex'"):
        TABLE.to("latx")
    TABLE.write(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t.csv", "t.md", "t.tex"]


def test_an_empty_table_is_a_table():
    empty = Table("e", "Nothing", ("a",), ())
    assert empty.to_csv() == "a\n"
    assert "| a   |" in empty.to_markdown()


def test_cells_as_read():
    assert [show(x) for x in (0.5, 2.0, 12345.6, False, ["a", "b"])] == [
        "0.5",
        "2",
        "12346",
        "no",
        "a; b",
    ]
