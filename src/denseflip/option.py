"""`Option`: the documentation and the bounds of one field of a request, written once."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields, replace
from functools import cache
from typing import Any, Literal

from denseflip.errors import (
    InvalidParameterError,
    check_name,
    shown,
    whole_number,
)

Kind = Literal["", "text", "choice", "whole", "number", "flag", "names", "settings", "object"]

SEARCH = "Search"
SENTENCE = "Sentence"
CONSTRAINTS = "Constraints"
QUALITY = "Robust, plausible and several answers"
LIMITS = "Limits and reproducibility"


@dataclass(frozen=True)
class Option:
    """The documentation and the bounds of one field of a request.

    Attributes
    ----------
    help : what the option does, in plain words. ``{name}`` stands for another option; each
        entrance spells it in its own way.
    group : title of the group in help texts and forms.
    label : a noun for forms.
    kind : what a value is: a text, one of the ``choices``, a whole number, a number, a flag, a list
        of names, ``key=value`` settings, or an object that only Python can pass.
    common : whether the short help shows it.
    choices : the allowed texts.
    minimum, maximum : inclusive bounds of a number.
    above : exclusive lower bound of a number.
    flag : the option on the command line, without dashes, if it is not the name of the field.
    short : one-letter option on the command line.
    unit : name of the value in help texts, such as ``N``.
    """

    help: str
    group: str
    label: str = ""
    kind: Kind = ""
    common: bool = False
    choices: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    flag: str = ""
    short: str = ""
    unit: str = ""

    def text(self, spell: Callable[[str], str] = "`{}`".format) -> str:
        """The help text, with the names of other options spelled by ``spell``."""
        out = self.help
        while "{" in out:
            before, _, rest = out.partition("{")
            name, _, after = rest.partition("}")
            out = before + spell(name) + after
        return out

    def check(self, name: str, value: Any) -> Any:
        """The value in its proper type, or an error that names the option and the bounds."""
        if self.kind == "flag":
            if not isinstance(value, bool):
                msg = f"{name} must be True or False; got {shown(value)}."
                raise InvalidParameterError(msg, parameter=name)
            return value
        if self.kind == "choice":
            return check_name(name, value, self.choices, parameter=name)
        if self.kind == "whole":
            return whole_number(name, value, minimum=int(self.minimum or 0))
        if self.kind == "number":
            return self._number(name, value)
        return value

    def _number(self, name: str, value: Any) -> float:
        good = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not good or not math.isfinite(value) or not self._within(value):
            msg = f"{name} must be a number{self.bounds}; got {shown(value)}."
            raise InvalidParameterError(msg, parameter=name)
        return float(value)

    def _within(self, value: float) -> bool:
        return (
            (self.above is None or value > self.above)
            and (self.minimum is None or value >= self.minimum)
            and (self.maximum is None or value <= self.maximum)
        )

    @property
    def limits(self) -> dict[str, Any]:
        """The bounds by the names that pydantic gives them."""
        named = {"ge": self.minimum, "gt": self.above, "le": self.maximum}
        return {key: value for key, value in named.items() if value is not None}

    @property
    def bounds(self) -> str:
        """The bounds in words, with a space in front; empty if there are none."""
        words = []
        if self.above is not None:
            words.append(f"above {self.above:g}")
        if self.minimum is not None:
            words.append(f"at least {self.minimum:g}")
        if self.maximum is not None:
            words.append(f"at most {self.maximum:g}")
        return f" {' and '.join(words)}" if words else ""


_KINDS: dict[str, Kind] = {"int": "whole", "float": "number", "bool": "flag"}


def option_of(f: Field[Any]) -> Option:
    """The option that a field of `Request` or `Constraints` declares."""
    return _completed(f.metadata["option"], f.name, str(f.type))


@cache
def _completed(declared: Option, name: str, annotation: str) -> Option:
    """An option with what its declaration leaves open: kind, label and unit."""
    kind = declared.kind or _KINDS.get(annotation.partition(" | ")[0], "text")
    return replace(
        declared,
        kind="choice" if declared.choices else kind,
        label=declared.label or name.replace("_", " ").capitalize(),
        unit=declared.unit or ("N" if kind == "whole" else ""),
    )


def option(group: str, default: Any, help: str, label: str = "", **more: Any) -> Any:
    """A dataclass field that declares an option; see `Option` for the arguments.

    The kind follows from the type of the field, or is given. The label is by default the name of
    the field.
    """
    metadata = {"option": Option(help, group, label, **more)}
    if callable(default):
        return field(default_factory=default, metadata=metadata)
    return field(default=default, metadata=metadata)


def check_fields(value: Any) -> None:
    """Check every field of a frozen dataclass that declares an option; None is not checked."""
    kind: Any = type(value)
    for name, declared, may_be_none in _declared(kind):
        given = getattr(value, name)
        if given is not None or not may_be_none:
            object.__setattr__(value, name, declared.check(name, given))


@cache
def _declared(kind: Any) -> list[tuple[str, Option, bool]]:
    """The options of a dataclass: name, option, and whether it may be None."""
    return [
        (f.name, option_of(f), f.default in (None, MISSING))
        for f in fields(kind)
        if "option" in f.metadata
    ]


def documented(doc: str | None, taken: list[Field[Any]]) -> str | None:
    """A docstring with the fields of a request in the place of ``{options}``."""
    if doc is None or "{options}" not in doc:
        return doc
    line = next(line for line in doc.splitlines() if "{options}" in line)
    indent = line[: len(line) - len(line.lstrip())]
    entries = []
    for f in taken:
        text = (
            "constraints on what may change and on the answer: a `Constraints`, or a mapping of "
            "its fields. They hold for every method."
            if f.name == "constraints"
            else option_of(f).text()
        )
        entries.append(document(f.name, text, indent))
    return doc.replace(line, "\n".join(entries))


def document(name: str, text: str, indent: str) -> str:
    """One entry of a numpydoc list of parameters."""
    text = text[0].lower() + text[1:] if not text[:2].isupper() else text
    return textwrap.fill(
        f"{name} : {text}",
        width=100,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )
