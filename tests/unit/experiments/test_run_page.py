from __future__ import annotations

from types import SimpleNamespace

from denseflip.experiments.measure_charts import Picture
from denseflip.experiments.plan import Skipped
from denseflip.experiments.run_page import failed, left_out, write_index
from denseflip.experiments.table import Table
from denseflip.report.page_figures import DrawnFigure, PageFigure
from denseflip.runs.run import Failure

BAD = "</title><script>alert(1)</script>"


def picture(name="box plots", caption="What it shows.", table=None):
    wide, narrow = DrawnFigure("data:wide", 900, 300), DrawnFigure("data:narrow", 340, 600)
    return Picture(name, PageFigure(wide, narrow, f"Alt of {name}", caption), table)


def test_one_page_holds_all_tables_and_pictures(tmp_path):
    tables = [Table("one", "First", ("a", "b"), ((1, None),), ("A note.",))]
    write_index(tmp_path / "index.html", "All", ["Made & told."], tables, [picture()])
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert '<p class="intro">Made &amp; told.</p>' in text
    assert '<table id="one"><caption>First</caption>' in text
    assert "<tr><td>1</td><td>–</td></tr>" in text
    assert '<p class="note">A note.</p>' in text
    assert '<img src="data:wide" alt="Alt of box plots" width="900" height="300">' in text
    assert 'srcset="data:narrow"' in text  # for a phone
    assert "default-src 'none'" in text  # nothing can be fetched
    assert "prefers-color-scheme: dark" in text


def test_every_text_is_escaped(tmp_path):
    table = Table(BAD, BAD, (BAD,), ((BAD,),), (BAD,))
    write_index(tmp_path / "index.html", BAD, [BAD], [table])
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(1)") == 8  # the title stands above and in the page
    assert "Contents" not in text  # of one table there is nothing to list
    assert "<script" not in table.to_html()


def test_pictures_come_first_with_captions_and_what_is_long_is_folded(tmp_path):
    long = Table("long", "Many", ("a",), tuple((i,) for i in range(31)))
    wordy = Table("wordy", "Words", ("a",), (("word " * 60,),))
    page = tmp_path / "index.html"
    write_index(page, "All", [], [long, wordy], [picture()])
    text = page.read_text(encoding="utf-8")
    assert text.index("Contents") < text.index("What it shows.") < text.index("<table")
    assert '<a href="#table-2">Words</a>' in text
    assert "<summary>Many (31 rows)</summary>" in text
    assert text.count("<details>") == 2
    assert text.count("word " * 60) == 1


def test_a_picture_has_its_figures_beside_it_and_a_wide_table_comes_in_parts(tmp_path):
    table = Table("chart-1", "Its figures", ("method", "n"), (("tri", 4),))
    columns = ("data", "method", *(f"m_{i}" for i in range(20)))
    wide = Table(
        "wide", "Wide", columns, (("toy", "a", *range(20)), ("toy", "b", *range(20))), keys=2
    )
    page = tmp_path / "index.html"
    write_index(page, "All", [], [wide], [picture(table=table.context())])
    text = page.read_text(encoding="utf-8")
    assert "<summary>The same as a table</summary>" in text
    assert '<table id="chart-1">' in text
    assert text.count('href="#table-') == 1  # one entry, however many parts
    assert '<table id="wide-2"><caption>Wide, part 2 of 2</caption>' in text
    assert "In all rows: data toy." in text


def test_each_reason_is_said_once():
    skipped = [Skipped(data, m, "no regions") for data in ("a", "b") for m in ("rcli", "blocks")]
    assert left_out([*skipped, Skipped("a", "dat", "odd")], str.upper) == [
        "Skipped: RCLI, BLOCKS on A, B: no regions.",
        "Skipped: DAT on A: odd.",
    ]
    spec = SimpleNamespace(sources=(SimpleNamespace(name="toy"), SimpleNamespace(name="knn")))
    failures = [Failure(spec, "It broke."), Failure(spec, "It broke."), Failure(spec, "No.")]
    assert failed(failures, 9)[0].startswith("3 of 9 runs failed")
    assert failed(failures, 9)[1:] == [
        "Failed, 2 of them (toy, knn): It broke.",
        "Failed, 1 of them (toy, knn): No.",
    ]
    assert failed([], 9) == []
