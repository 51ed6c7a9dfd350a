from __future__ import annotations

import base64
import gzip
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from denseflip.report.markup import data_uri, esc, fill, json_script, packed_plotly, table


@given(
    st.recursive(st.text() | st.integers(), lambda s: st.lists(s) | st.dictionaries(st.text(), s))
)
def test_json_elements_survive_any_content(data):
    element = json_script(data, "d")
    inner = re.fullmatch(
        r'<script type="application/json" id="d">(.*)</script>', element, re.DOTALL
    )
    assert inner is not None
    assert "<" not in inner[1]
    assert ">" not in inner[1]
    assert json.loads(inner[1]) == data


def test_escapes_quotes_too():
    assert esc("a\"b'c<d>&") == "a&quot;b&#x27;c&lt;d&gt;&amp;"


def test_data_uri_holds_the_content():
    uri = data_uri("<svg/>", "image/svg+xml")
    kind, _, body = uri.partition(",")
    assert kind == "data:image/svg+xml;base64"
    assert base64.b64decode(body) == b"<svg/>"


def test_a_template_with_a_missing_part_is_an_error():
    with pytest.raises(KeyError):
        fill("page.html", title="x")


def test_tables_have_column_headings():
    text = table(["a", "b"], [["1", "2"]], caption="c")
    assert text.count('<th scope="col">') == 2
    assert "<caption>c</caption>" in text


def test_plotly_is_packed_whole():
    pytest.importorskip("plotly", reason="interactive pictures need the extra 'brain'")
    script = gzip.decompress(base64.b64decode(packed_plotly())).decode()
    assert "Plotly" in script
    assert len(packed_plotly()) < 0.5 * len(script)
