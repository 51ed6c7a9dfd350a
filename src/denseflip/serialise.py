"""Save values as JSON-ready dictionaries and read them back, driven by type annotations.

A dataclass that inherits from `Serialisable` has `to_dict` and `from_dict`. Reading is strict:
every entry must be there and of the annotated type, or the dictionary is refused with a
`FileFormatError` that names the entry and its value. Texts are made visible (`checks.visible`).
The reasons are in docs/decisions/0021-one-way-to-save-and-read.md.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from numbers import Integral, Real
from types import EllipsisType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)  # fmt: skip

from denseflip.checks import LARGEST, visible
from denseflip.errors import DenseflipError, FileFormatError, said, shown

T = TypeVar("T")
Text = Annotated[str, "lines"]  # a text in which line breaks and tabs stay
Convert = Callable[[Any], Any]
_INVALID = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@dataclass(frozen=True)
class Form:
    """How a class is saved.

    Attributes
    ----------
    named : what a dictionary of this form is called in messages: ``"a denseflip result"``.
    keys : the entries in their order. ``...`` stands for all fields that are not listed. A name
        that is not a field is a property of the class: it is written, and ignored on reading. A
        text that all values of the class share is checked on reading.
    flat : fields whose entries are written at the top level, not in a dictionary of their own.
    format : the version of the form. It is written as the entry ``format`` and must match.
    partial : whether a field that has a default may be missing.
    closed : whether entries that the class does not write are refused.
    """

    named: str
    keys: tuple[str | EllipsisType, ...] = (...,)
    flat: tuple[str, ...] = ()
    format: int | None = None
    partial: bool = False
    closed: bool = False


FORMS: dict[type, Form] = {}  # every class that is saved by this module


class Serialisable:
    """Base of dataclasses that are saved as dictionaries; class arguments are those of `Form`.

    Fields with ``compare=False`` are not saved. A subclass without arguments is saved like its
    base class.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Circle(Serialisable, named="a circle", keys=(..., "width")):
    ...     radius: float
    ...
    ...     @property
    ...     def width(self) -> float:
    ...         return 2 * self.radius
    >>> Circle(2.5).to_dict()
    {'radius': 2.5, 'width': 5.0}
    >>> Circle.from_dict({"radius": 2.5})
    Circle(radius=2.5)
    >>> Circle.from_dict({"radius": True})
    Traceback (most recent call last):
    denseflip.errors.FileFormatError: Not a circle: radius must be a finite number; got True.
    """

    def __init_subclass__(cls, *, named: str = "", **form: Any) -> None:
        super().__init_subclass__()
        known = next((FORMS[base] for base in cls.__mro__ if base in FORMS), Form(named, **form))
        FORMS[cls] = Form(named, **form) if named else known

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready dictionary; `from_dict` reads it back."""
        return write(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Inverse of `to_dict`.

        Raises
        ------
        FileFormatError
            If an entry is missing or wrong; the message names it.
        """
        return read(cls, data)

    def _check(self) -> None:
        """Raise any error if a value that was just read is not usable.

        The default computes the properties that are written.
        """
        for key in FORMS[type(self)].keys:
            if isinstance(key, str):
                getattr(self, key)


def write(value: Any) -> dict[str, Any]:
    """JSON-ready dictionary of a dataclass or a named tuple."""
    return _plan(type(value)).write(value)


def read(kind: type[T], data: Any, named: str = "") -> T:
    """Read plain data as a value of a type, with the checks of `Serialisable.from_dict`.

    ``named`` is what the data should be, for messages; by default the name in the class's form.

    >>> read(tuple[int, ...], [1, 2.5], "a list of counts")
    Traceback (most recent call last):
    denseflip.errors.FileFormatError: Not a list of counts: [1] must be a whole number; got 2.5.
    """
    try:
        found: T = _codec(kind).read(data)
    except (RecursionError, _WrongError) as error:
        problem = error.text if isinstance(error, _WrongError) else "it is nested too deeply"
        msg = f"Not {named or FORMS[kind].named}: {problem.removesuffix('.')}."
        raise FileFormatError(msg) from error
    return found


class _WrongError(Exception):
    """A part is wrong; each enclosing container prepends the location of the part."""

    def __init__(self, problem: str, join: str = " ") -> None:
        super().__init__(problem)
        self.place, self.join, self.problem = "", join, problem

    def under(self, place: str) -> _WrongError:
        dot = "." if self.place and not self.place.startswith("[") else ""
        self.place = f"{place}{dot}{self.place}"
        return self

    @property
    def text(self) -> str:
        if self.place:
            return f"{self.place}{self.join}{self.problem}"
        return f"it {self.problem}" if self.join == " " else self.problem


def _must_be(expected: str, value: Any) -> _WrongError:
    return _WrongError(f"must be {expected}; got {shown(value)}")


def _refused(error: Exception) -> _WrongError:
    return _WrongError(str(error) if isinstance(error, DenseflipError) else said(error), ": ")


# ---- plain values -------------------------------------------------------------------------


class _Codec(NamedTuple):
    """How values of one type are read and written, and what a message calls them."""

    read: Convert
    write: Convert
    expected: str = ""


def _same(value: Any) -> Any:
    return value


def _read_text(value: Any, *, lines: bool = False) -> str:
    if isinstance(value, str):
        return visible(value, lines=lines)
    raise _must_be("a text", value)


def _read_whole(value: Any) -> int:
    if type(value) is int and -LARGEST <= value <= LARGEST:
        return value
    if isinstance(value, bool) or not isinstance(value, (int, Integral)):
        raise _must_be("a whole number", value)
    number = operator.index(value)  # also NumPy integers
    if not -LARGEST <= number <= LARGEST:
        raise _must_be("a whole number of at most 100 digits", value)
    return number


def _read_number(value: Any) -> Any:  # an int stays an int
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, Integral) and not isinstance(value, bool):
        return _read_whole(value)
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise _must_be("a finite number", value)


def _write_number(value: Any) -> Any:
    return value if isinstance(value, (float, int)) else float(value)


def _read_truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _must_be("true or false", value)


def _read_none(value: Any) -> None:
    if value is not None:
        raise _must_be("None", value)


def _read_tree(value: Any) -> Any:
    """Plain data of any form, with visible texts and without numbers that are too large."""
    if isinstance(value, str):
        return visible(value, lines=True)
    if isinstance(value, Mapping):
        return {
            visible(k) if isinstance(k, str) else _read_tree(k): _read_tree(v)
            for k, v in value.items()
        }
    if isinstance(value, (list, tuple)):
        return type(value)(_read_tree(part) for part in value)
    return _read_whole(value) if type(value) is int else value


_PLAIN: dict[Any, _Codec] = {
    str: _Codec(_read_text, _same, "a text"),
    Text: _Codec(partial(_read_text, lines=True), _same, "a text"),
    int: _Codec(_read_whole, operator.index, "a whole number"),
    float: _Codec(_read_number, _write_number, "a finite number"),
    bool: _Codec(_read_truth, bool, "true or false"),
    NoneType: _Codec(_read_none, _same, "None"),
    Any: _Codec(_read_tree, _same, "plain data"),
}


# ---- types made of others -----------------------------------------------------------------


def _find_codec(kind: Any) -> _Codec:
    """How values of a type are read and written; reading raises `_WrongError`."""
    origin, args = get_origin(kind), get_args(kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if origin is Literal:
        return _Codec(_choice({value: value for value in args}), _same)
    if origin in (Union, UnionType):
        return _union(args)
    if origin is tuple:
        return _tuple(args)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _mapping(*args)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _Codec(_choice({x.value: x for x in kind}), operator.attrgetter("value"))
    if kind not in FORMS and hasattr(kind, "from_dict"):
        return _Codec(_by_method(kind.from_dict), operator.methodcaller("to_dict"))
    if is_dataclass(kind) or hasattr(kind, "_fields"):
        return _Codec(lambda data: _plan(kind).read(data), write)
    msg = f"{kind} cannot be saved: denseflip.serialise does not know this type"
    raise TypeError(msg)


_codec: Callable[[Any], _Codec] = cache(_find_codec)


def _by_method(from_dict: Convert) -> Convert:
    def convert(data: Any) -> Any:
        try:
            return from_dict(data)
        except (DenseflipError, *_INVALID) as error:
            raise _refused(error) from error

    return convert


def _choice(by_value: Mapping[Any, Any]) -> Convert:
    expected = f"one of {', '.join(map(repr, by_value))}"

    def convert(data: Any) -> Any:
        if isinstance(data, str) and data in by_value:
            return by_value[data]
        raise _must_be(expected, data)

    return convert


def _union(kinds: tuple[Any, ...]) -> _Codec:
    codecs = [_codec(kind) for kind in kinds]
    others = [codec for kind, codec in zip(kinds, codecs, strict=True) if kind not in _PLAIN]
    if len(others) > 1:
        msg = f"{kinds} cannot be saved: at most one type of a union may not be a plain value"
        raise TypeError(msg)
    exact = {kind: codec for kind, codec in zip(kinds, codecs, strict=True) if kind in _PLAIN}
    expected = " or ".join(codec.expected for codec in codecs)

    def convert(data: Any) -> Any:
        if type(data) in exact:
            return exact[type(data)].read(data)
        wrong = None
        for codec in codecs:
            try:
                return codec.read(data)
            except _WrongError as error:
                if codec in others:
                    wrong = error
        raise wrong or _must_be(expected, data)

    def back(value: Any) -> Any:
        return value if type(value) in exact else others[0].write(value)

    return _Codec(convert, back if others else _same, expected)


def _tuple(kinds: tuple[Any, ...]) -> _Codec:
    fixed = None if kinds[-1] is ... else len(kinds)
    expected = "a list" if fixed is None else f"a list of {fixed}"
    codecs = [_codec(kind) for kind in kinds if kind is not ...]
    first, alike = codecs[0], all(codec is codecs[0] for codec in codecs)

    def convert(data: Any) -> tuple[Any, ...]:
        if not isinstance(data, (list, tuple)) or (fixed is not None and len(data) != fixed):
            raise _must_be(expected, data)
        found: list[Any] = []
        try:
            if alike:
                found.extend(map(first.read, data))
            else:
                found.extend(codec.read(value) for codec, value in zip(codecs, data, strict=True))
        except _WrongError as error:
            raise error.under(f"[{len(found)}]") from error.__cause__
        return tuple(found)

    def back(value: Any) -> list[Any]:
        if alike:
            return list(map(first.write, value))
        return [codec.write(part) for codec, part in zip(codecs, value, strict=True)]

    return _Codec(convert, back)


def _mapping(key_kind: Any, kind: Any) -> _Codec:
    one = _codec(kind)
    if key_kind not in (str, int):  # keys of several types: a list of pairs
        pairs = _tuple((tuple[key_kind, kind], ...))
        return _Codec(
            lambda data: dict(pairs.read(data)),
            lambda value: [[key, one.write(part)] for key, part in value.items()],
        )
    as_key = _read_text if key_kind is str else _read_number_key

    def convert(data: Any) -> dict[Any, Any]:
        if not isinstance(data, Mapping):
            raise _must_be("a dictionary", data)
        found = {}
        for key, value in data.items():
            try:
                found[as_key(key)] = one.read(value)
            except _WrongError as error:
                raise error.under(f"[{shown(key)}]") from error.__cause__
        return found

    return _Codec(convert, lambda value: {str(k): one.write(part) for k, part in value.items()})


def _read_number_key(key: Any) -> int:
    if isinstance(key, str) and re.fullmatch(r"-?[0-9]{1,100}", key):
        return int(key)
    return _read_whole(key)


# ---- classes --------------------------------------------------------------------------------


class _Plan:
    """How one class is read and written."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.form = form = FORMS.get(kind) or Form(kind.__name__)
        hints = get_type_hints(kind, include_extras=True)
        saved = _saved_fields(kind)
        self.parts = {name: _codec(hints[name]) for name in saved if name not in form.flat}
        self.flat = {name: _codec(hints[name]) for name in saved if name in form.flat}
        codecs, paths = dict(self.parts), {}
        for name in self.flat:
            inner = _plan(hints[name]).parts
            codecs.update(inner)
            paths.update({key: f"{name}.{key}" for key in inner})
        rest = [key for key in codecs if key not in form.keys]
        keys = [k for key in form.keys for k in (rest if isinstance(key, EllipsisType) else [key])]
        shared = {key: getattr(kind, key) for key in keys if key not in codecs}
        self.shared = {key: value for key, value in shared.items() if isinstance(value, str)}
        self.required = [
            *self.shared,
            *(name for name in self.parts if not (form.partial and saved[name])),
        ]
        self.entries = []
        for key in keys:
            codec = codecs.get(key) or _codec(_type_of(shared[key]))
            self.entries.append((key, operator.attrgetter(paths.get(key, key)), codec.write))

    def write(self, value: Any) -> dict[str, Any]:
        data = {} if self.form.format is None else {"format": self.form.format}
        for key, get, convert in self.entries:
            data[key] = convert(get(value))
        return data

    def read(self, data: Any) -> Any:
        if not isinstance(data, Mapping):
            raise _must_be("a dictionary", data)
        self._check_keys(data)
        values = {}
        for name, codec in self.parts.items():
            if name in data:
                try:
                    values[name] = codec.read(data[name])
                except _WrongError as error:
                    raise error.under(name) from error.__cause__
        for name, codec in self.flat.items():
            values[name] = codec.read(data)
        try:
            found = self.kind(**values)
            if isinstance(found, Serialisable):
                found._check()
        except (DenseflipError, *_INVALID) as error:
            raise _refused(error) from error
        return found

    def _check_keys(self, data: Mapping[str, Any]) -> None:
        expected, version = self.form.format, data.get("format")
        if expected is not None and (type(version) is not int or version != expected):
            has = "no format" if version is None else f"format {shown(version)}"
            reads = f"this version of denseflip reads format {expected}"
            raise _WrongError(f"has {has}; {reads}. Read it with the version that wrote it")
        if missing := [name for name in self.required if name not in data]:
            raise _WrongError(f"{_entries(missing)} missing", ": ")
        for key, value in self.shared.items():
            if data[key] != value:
                raise _must_be(repr(value), data[key]).under(key)
        written = {"format", *(key for key, _, _ in self.entries)}
        if self.form.closed and (unknown := [key for key in data if key not in written]):
            raise _WrongError(f"{_entries(unknown)} unknown", ": ")


_plan: Callable[[Any], _Plan] = cache(_Plan)


def _entries(names: list[Any]) -> str:
    words = (str(x) if re.fullmatch(r"\w{1,60}", str(x)) else shown(x) for x in names[:20])
    listed = ", ".join(words)
    return f"the entry {listed} is" if len(names) == 1 else f"the entries {listed} are"


def _saved_fields(kind: Any) -> dict[str, bool]:
    """The fields that are saved, each with whether it has a default."""
    if not is_dataclass(kind):
        return {name: name in kind._field_defaults for name in kind._fields}
    return {
        f.name: f.default is not MISSING or f.default_factory is not MISSING
        for f in fields(kind)
        if f.init and f.compare
    }


def _type_of(attribute: Any) -> Any:
    """The annotated type of a property, or the type of a value that a class holds."""
    function = getattr(attribute, "fget", None) or getattr(attribute, "func", None)
    return get_type_hints(function, include_extras=True)["return"] if function else type(attribute)
