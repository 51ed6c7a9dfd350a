from __future__ import annotations

from denseflip.experiments.publish import write_index
from denseflip.experiments.tables import Table

BAD = "</title><script>alert(1)</script>"


def test_one_page_holds_all_tables_and_pictures(tmp_path):
    picture = tmp_path / "box-plots.svg"
    picture.write_text("<svg/>", encoding="utf-8")
    tables = [Table("one", "First", ("a", "b"), ((1, None),), ("A note.",))]
    write_index(tmp_path / "index.html", "All", ["Made & told."], tables, [picture])
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "<p>Made &amp; told.</p>" in text
    assert '<table id="one"><caption>First</caption>' in text
    assert "<tr><td>1</td><td>–</td></tr>" in text
    assert '<p class="note">A note.</p>' in text
    assert '<img alt="box plots" src="data:image/svg+xml;base64,PHN2Zy8+">' in text
    assert "default-src 'none'" in text  # nothing can be fetched


def test_every_text_is_escaped(tmp_path):
    table = Table(BAD, BAD, (BAD,), ((BAD,),), (BAD,))
    write_index(tmp_path / "index.html", BAD, [BAD], [table])
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.count("&lt;script&gt;alert(1)") == 8  # the title stands above and in the page
    assert "Contents" not in text  # of one table there is nothing to list
    assert "<script" not in table.to_html()


def test_pictures_come_first_with_captions_and_what_is_long_is_folded(tmp_path):
    picture = tmp_path / "box.svg"
    picture.write_text("<svg/>", encoding="utf-8")
    long = Table("long", "Many", ("a",), tuple((i,) for i in range(30)))
    wordy = Table("wordy", "Words", ("a",), (("word " * 60,),))
    page = tmp_path / "index.html"
    write_index(page, "All", [], [long, wordy], [picture], {"box": "What it shows."})
    text = page.read_text(encoding="utf-8")
    assert text.index("Contents") < text.index("What it shows.") < text.index("<table")
    assert '<a href="#table-2">wordy</a>' in text
    assert "<summary>Many (30 rows)</summary>" in text
    assert text.count("<details>") == 2
    assert text.count("word " * 60) == 1
