"""Pages from jinja2 templates, with autoescape and one context class per page.

A page is a `Context`: a dataclass whose fields are the only names its template may use. Undeclared
names raise an error, and a test refuses declared fields that no template uses.
"""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from denseflip.report.palette import css_variables

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = "templates"
STYLES = ("page.css", "answer.css", "strip.css", "connectome.css")  # of a page
#: Of the interactive connectome, after ``elements.js``.
SCRIPTS = ("drawing.js", "surface.js", "space.js", "circle.js", "connectome.js", "switches.js")
PACKED_FROM = 150_000  # characters of JSON; more of them are compressed in a page


@dataclass(frozen=True)
class Context:
    """The content of one template. A subclass names the template and declares its fields."""

    template: ClassVar[str]

    def render(self) -> str:
        """Render the template with the fields."""
        return environment().get_template(self.template).render(vars(self))


@dataclass(frozen=True)
class TableContext(Context):
    """A table of texts."""

    template: ClassVar = "table.html.j2"
    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


class Fact(NamedTuple):
    """A line of a list: a term and its value, both plain text."""

    term: str
    value: str


@cache
def environment() -> Environment:
    """The shared environment of all pages: autoescape, and errors for unknown names."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("denseflip.report", FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {  # not escaped: these consist of our constants
        "asset": asset,
        "colours": lambda: Markup(css_variables()),
        "styles_of_pages": STYLES,
        "scripts_of_pictures": SCRIPTS,
    }
    made.filters |= {"json_text": json_text, "packed": packed, "cut_middle": cut_middle}
    return made


def cut_middle(text: str, letters: int) -> str:
    """The text with its middle left out if it is longer: names often differ at their end.

    >>> cut_middle("sub-Centre07-0000009_ses-1", 13), cut_middle("Mouse 9", 13)
    ('sub-Ce…_ses-1', 'Mouse 9')
    """
    if len(text) <= letters:
        return text
    return f"{text[: letters // 2].rstrip()}…{text[len(text) - (letters - 1) // 2 :].lstrip()}"


def asset(name: str) -> Markup:
    """A stylesheet or script of the package; not escaped, because it contains no data."""
    from markupsafe import Markup

    return Markup((files("denseflip.report") / FOLDER / name).read_text(encoding="utf-8"))


def json_text(data: Any) -> Markup:
    """Data as JSON for a script element that no content can close early.

    HTML escapes do not work in a script element, so special characters use JSON escapes.

    >>> print(json_text({"a": "</script>"}))
    {"a":"\\u003c/script\\u003e"}
    """
    from markupsafe import Markup

    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def packed(text: str) -> str:
    """Compressed JSON for a page (base64 of gzip), or an empty text if it is short enough as it is.

    ``page.js`` reads both.
    """
    if len(text) < PACKED_FROM:
        return ""
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode("ascii")


def data_uri(content: bytes | str, kind: str) -> str:
    """Content as a ``data:`` URL."""
    raw = content.encode() if isinstance(content, str) else content
    return f"data:{kind};base64,{base64.b64encode(raw).decode('ascii')}"
