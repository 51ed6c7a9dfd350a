"""Small pieces of HTML: everything that comes from data is escaped here."""

from __future__ import annotations

import base64
import gzip
import html
import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from string import Template
from typing import Any


def esc(value: object) -> str:
    """A value as text, safe between tags and inside quoted attributes.

    >>> esc("Insula & <b>")
    'Insula &amp; &lt;b&gt;'
    """
    return html.escape(str(value), quote=True)


def asset(name: str) -> str:
    """A file of the package's ``templates`` folder."""
    return (files("denseflip.report") / "templates" / name).read_text(encoding="utf-8")


def fill(name: str, **parts: str) -> str:
    """A template with its ``$names`` replaced; the parts must be safe HTML already."""
    return Template(asset(name)).substitute(parts)


def json_script(data: Any, identity: str) -> str:
    """Data as a JSON script element that no content can end early.

    >>> json_script({"a": "</script>"}, "d")
    '<script type="application/json" id="d">{"a":"\\\\u003c/script\\\\u003e"}</script>'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return f'<script type="application/json" id="{esc(identity)}">{text}</script>'


def data_uri(content: bytes | str, kind: str) -> str:
    """Content as a ``data:`` address."""
    raw = content.encode() if isinstance(content, str) else content
    return f"data:{kind};base64,{base64.b64encode(raw).decode('ascii')}"


@cache
def packed_plotly() -> str:
    """Plotly's script from its own package, compressed: 1.4 MB in place of 5."""
    from plotly.offline import get_plotlyjs

    packed = gzip.compress(get_plotlyjs().encode(), compresslevel=9, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def plotly_script() -> str:
    """The compressed script as an element that ``view.js`` unpacks when it is needed."""
    return f'<script type="application/gzip+base64" id="plotly-packed">{packed_plotly()}</script>'


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    caption: str = "",
    attributes: str = "",
    cards: bool = False,
) -> str:
    """An HTML table; cells must be safe HTML already.

    With ``cards`` each cell knows its heading, which must be plain text then: ``page.css`` shows
    the rows one below the other on a phone.
    """
    top = "".join(f'<th scope="col">{cell}</th>' for cell in head)
    labels = [f' data-label="{esc(cell)}"' for cell in head] if cards else []
    body = "".join(
        "<tr>"
        + "".join(f"<td{a}>{c}</td>" for a, c in zip_longest(labels, row, fillvalue=""))
        + "</tr>\n"
        for row in rows
    )
    title = f"<caption>{caption}</caption>" if caption else ""
    thead = f"<thead><tr>{top}</tr></thead>" if head else ""
    return f"<table {attributes}>{title}{thead}<tbody>\n{body}</tbody></table>"


def facts(pairs: Iterable[tuple[str, str]], kind: str = "facts") -> str:
    """A list of terms and values; values must be safe HTML already."""
    items = "".join(f"<div><dt>{esc(k)}</dt><dd>{v}</dd></div>" for k, v in pairs)
    return f'<dl class="{kind}">{items}</dl>'
