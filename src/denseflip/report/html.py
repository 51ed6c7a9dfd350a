"""Pages from templates: jinja2, everything that comes from data escaped, one context per page.

A page is a `Context`: a dataclass whose fields are all that its template may use. What is not
declared raises, and a test refuses a declared field that no template uses.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from denseflip.report.palette import css_variables, dark_variables

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = "templates"


@dataclass(frozen=True)
class Context:
    """What one template shows. A subclass names the template and declares its fields."""

    template: ClassVar[str]

    def render(self) -> str:
        """The template filled with the fields."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return environment().get_template(self.template).render(values)


class Fact(NamedTuple):
    """A line of a list: what it is about, and its value, both plain text."""

    term: str
    value: str


@cache
def environment() -> Environment:
    """The one environment of all pages: everything is escaped, unknown names are errors."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("denseflip.report", FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals |= {"asset": asset, "colours": _colours, "dark_colours": _dark_colours}
    made.filters["json_text"] = json_text
    return made


def asset(name: str) -> Markup:
    """A style or a script of the package; not escaped: we wrote it, and it holds no data."""
    from markupsafe import Markup

    return Markup((files("denseflip.report") / FOLDER / name).read_text(encoding="utf-8"))


def _colours() -> Markup:
    """The palette as custom properties; not escaped: made of our own constants."""
    from markupsafe import Markup

    return Markup(css_variables())


def _dark_colours() -> Markup:
    """The same for a screen that prefers the dark; not escaped for the same reason."""
    from markupsafe import Markup

    return Markup(dark_variables())


def json_text(data: Any) -> Markup:
    """Data as JSON for a script element, which no content can end early.

    Not escaped as HTML is, for a script element knows no such escapes: the signs that matter are
    written as JSON's own.

    >>> print(json_text({"a": "</script>"}))
    {"a":"\\u003c/script\\u003e"}
    """
    from markupsafe import Markup

    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), default=str)
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def data_uri(content: bytes | str, kind: str) -> str:
    """Content as a ``data:`` address."""
    raw = content.encode() if isinstance(content, str) else content
    return f"data:{kind};base64,{base64.b64encode(raw).decode('ascii')}"
