"""Values are saved and read by their type annotations; what is wrong is named."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pytest

from denseflip.errors import FileFormatError, InvalidParameterError
from denseflip.graph import Graph
from denseflip.serialise import Serialisable, Text, read, write


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Point(NamedTuple):
    x: int
    y: float = 0.5


@dataclass(frozen=True)
class Span:
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.low > self.high:
            msg = f"{self.low} is above {self.high}."
            raise InvalidParameterError(msg)


@dataclass(frozen=True)
class Tree(Serialisable, named="a tree"):
    name: str
    children: tuple[Tree, ...] = ()


@dataclass(frozen=True)
class Everything(
    Serialisable,
    named="an example",
    keys=("kind", "name", ..., "double", "pairs_seen"),
    flat=("span",),
    format=2,
):
    kind: ClassVar[str] = "example"

    name: str
    note: Text
    whole: int
    number: float
    sure: bool
    maybe: int | None
    label: int | str | float | bool
    targets: int | str | tuple[int | str, ...] | None
    way: Literal["up", "down"]
    colour: Colour
    points: tuple[Point, ...]
    row: tuple[int, str]
    counts: Mapping[str, int]
    by_number: Mapping[int, float]
    by_label: Mapping[int | str, str]
    anything: Mapping[str, Any]
    span: Span
    graph: Graph
    tree: Tree | None = None
    memory: Any = field(default=None, compare=False)

    @property
    def double(self) -> tuple[float, float]:
        return (self.number, 2 * self.number)

    @cached_property
    def pairs_seen(self) -> dict[str, int]:
        return {"edges": self.graph.n_edges}


EXAMPLE = Everything(
    name="a",
    note="two\nlines",
    whole=3,
    number=0.25,
    sure=True,
    maybe=None,
    label="ill",
    targets=(1, "b"),
    way="up",
    colour=Colour.RED,
    points=(Point(1), Point(2, 3.0)),
    row=(7, "x"),
    counts={"a": 1},
    by_number={-3: 0.5},
    by_label={1: "one", "b": "two"},
    anything={"deep": [1, {"x": None}]},
    span=Span(1, 2),
    graph=Graph.from_edges(3, [(0, 1)]),
    tree=Tree("root", (Tree("leaf"),)),
    memory=object(),
)
PLAIN = {
    "format": 2,
    "kind": "example",
    "name": "a",
    "note": "two\nlines",
    "whole": 3,
    "number": 0.25,
    "sure": True,
    "maybe": None,
    "label": "ill",
    "targets": [1, "b"],
    "way": "up",
    "colour": "red",
    "points": [{"x": 1, "y": 0.5}, {"x": 2, "y": 3.0}],
    "row": [7, "x"],
    "counts": {"a": 1},
    "by_number": {"-3": 0.5},
    "by_label": [[1, "one"], ["b", "two"]],
    "anything": {"deep": [1, {"x": None}]},
    "graph": {"n_nodes": 3, "edges": [[0, 1]]},
    "tree": {"name": "root", "children": [{"name": "leaf", "children": []}]},
    "low": 1,
    "high": 2,
    "double": [0.25, 0.5],
    "pairs_seen": {"edges": 1},
}


def test_every_type_there_and_back():
    assert EXAMPLE.to_dict() == PLAIN
    assert list(EXAMPLE.to_dict()) == list(PLAIN)
    assert Everything.from_dict(json.loads(json.dumps(PLAIN))) == EXAMPLE
    assert Everything.from_dict(PLAIN).memory is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"name": 7}, "name must be a text; got 7"),
        ({"note": None}, "note must be a text; got None"),
        ({"whole": True}, "whole must be a whole number; got True"),
        ({"whole": "3"}, "whole must be a whole number; got '3'"),
        ({"whole": 3.0}, "whole must be a whole number; got 3.0"),
        ({"whole": 10**200}, "whole must be a whole number of at most 100 digits; got 1000"),
        ({"whole": 10**5000}, "at most 100 digits; got an int that cannot be shown"),
        ({"number": float("nan")}, "number must be a finite number; got nan"),
        ({"number": -float("inf")}, "number must be a finite number; got -inf"),
        ({"number": False}, "number must be a finite number; got False"),
        ({"number": 10**200}, "number must be a whole number of at most 100 digits"),
        ({"number": "0.5"}, "number must be a finite number; got '0.5'"),
        ({"sure": 1}, "sure must be true or false; got 1"),
        ({"maybe": 0.5}, "maybe must be a whole number or None; got 0.5"),
        ({"label": None}, "label must be a whole number or a text or a finite number or true"),
        ({"label": float("nan")}, "label must be a finite number; got nan"),
        ({"targets": [1, None]}, r"targets\[1\] must be a whole number or a text; got None"),
        ({"way": "left"}, "way must be one of 'up', 'down'; got 'left'"),
        ({"way": ["up"]}, r"way must be one of 'up', 'down'; got \['up'\]"),
        ({"colour": "green"}, "colour must be one of 'red', 'blue'; got 'green'"),
        ({"points": {}}, "points must be a list; got {}"),
        ({"points": "ab"}, "points must be a list; got 'ab'"),
        ({"points": [PLAIN["points"][0], 5]}, r"points\[1\] must be a dictionary; got 5"),
        ({"points": [{"x": 1}]}, r"points\[0\]: the entry y is missing"),
        ({"points": [{"x": 1, "y": "u"}]}, r"points\[0\].y must be a finite number; got 'u'"),
        ({"row": [7]}, r"row must be a list of 2; got \[7\]"),
        ({"row": ["x", 7]}, r"row\[0\] must be a whole number; got 'x'"),
        ({"counts": [1]}, r"counts must be a dictionary; got \[1\]"),
        ({"counts": {"a": "b"}}, r"counts\['a'\] must be a whole number; got 'b'"),
        ({"counts": {7: 1}}, r"counts\[7\] must be a text; got 7"),
        ({"by_number": {"x": 1}}, r"by_number\['x'\] must be a whole number; got 'x'"),
        ({"by_number": {"٣": 1}}, "by_number"),
        ({"by_label": {"a": "b"}}, "by_label must be a list; got {'a': 'b'}"),
        ({"anything": {"a": [10**200]}}, "anything.* must be a whole number of at most 100"),
        ({"graph": {"n_nodes": 2}}, "graph: A graph's dictionary needs the keys"),
        ({"graph": {"n_nodes": 2, "edges": [[0, 5]]}}, "graph: "),
        ({"low": "x"}, "low must be a whole number; got 'x'"),
        ({"low": 5}, "5 is above 2"),
        ({"tree": {"name": "a", "children": [{"name": 1}]}}, r"tree.children\[0\]: the entry ch"),
        ({"tree": {"name": "a", "children": [{"name": 1, "children": []}]}}, r"\[0\].name must"),
        ({"kind": "other"}, "kind must be 'example'; got 'other'"),
        ({"format": 1}, "it has format 1; this version of denseflip reads format 2"),
        ({"format": True}, "it has format True"),
        ({"format": 2.0}, "it has format 2.0"),
        ({"format": None}, "it has no format"),
    ],
)
def test_what_is_wrong_is_named(change, problem):
    with pytest.raises(FileFormatError, match=rf"^Not an example: .*{problem}.*\.$"):
        Everything.from_dict({**PLAIN, **change})


@pytest.mark.parametrize("data", [None, 7, "x", [], [1], object()])
def test_only_a_dictionary_is_read(data):
    with pytest.raises(FileFormatError, match=r"^Not an example: it must be a dictionary; got "):
        Everything.from_dict(data)


def test_all_missing_entries_are_named_and_others_are_ignored():
    few = {key: PLAIN[key] for key in PLAIN if key not in ("whole", "points", "double")}
    with pytest.raises(FileFormatError, match="the entries whole, points are missing"):
        Everything.from_dict(few)
    rest = {**PLAIN, "later": 1}
    del rest["double"]
    assert Everything.from_dict(rest) == EXAMPLE
    del rest["high"]
    with pytest.raises(FileFormatError, match="the entry high is missing"):
        Everything.from_dict(rest)


def test_texts_are_made_visible():
    found = Everything.from_dict(
        {
            **PLAIN,
            "name": "a\x1b[31m\n",
            "note": "a\x1b\n",
            "counts": {"\u202e": 1},
            "anything": {"\x1b": ["\u2028"]},
        }
    )
    assert found.name == "a\\x1b[31m\\n"
    assert found.note == "a\\x1b\n"
    assert found.counts == {"\\u202e": 1}
    assert found.anything == {"\\x1b": ["\\u2028"]}


def test_numbers_of_numpy_become_plain():
    tree = write(Point(np.int64(3), np.float32(0.5)))
    assert json.dumps(tree) == '{"x": 3, "y": 0.5}'
    assert read(Point, {"x": np.int64(3), "y": np.float32(0.5)}, "a point") == Point(3, 0.5)
    with pytest.raises(TypeError):
        write(Point(0.5, 0.5))  # never rounded


def test_whole_numbers_stay_whole_in_fields_of_numbers():
    assert json.dumps(write(read(Point, {"x": 1, "y": 2}, "a point"))) == '{"x": 1, "y": 2}'


def test_what_is_nested_too_deeply_is_refused():
    deep: Any = {"name": "a", "children": []}
    for _ in range(5000):
        deep = {"name": "a", "children": [deep]}
    with pytest.raises(FileFormatError, match=r"^Not a tree: it is nested too deeply"):
        Tree.from_dict(deep)


def test_an_error_deep_inside_takes_no_longer_than_reading():
    deep: Any = {"name": 7, "children": []}
    for _ in range(100):
        deep = {"name": "a", "children": [deep]}
    with pytest.raises(FileFormatError, match=r"^Not a tree: (children\[0\]\.){100}name must be"):
        Tree.from_dict(deep)


@dataclass(frozen=True)
class Few(Serialisable, named="few", partial=True, closed=True):
    a: int
    b: tuple[int, ...] = ()


@dataclass(frozen=True)
class More(Few):
    pass


def test_fields_with_a_default_may_be_missing_where_the_form_says_so():
    assert Few.from_dict({"a": 1}) == Few(1)
    with pytest.raises(FileFormatError, match="Not few: the entry a is missing"):
        Few.from_dict({"b": [1]})


def test_unknown_entries_are_refused_where_the_form_says_so():
    with pytest.raises(FileFormatError, match="Not few: the entries c, 7 are unknown"):
        Few.from_dict({"a": 1, "c": 2, 7: 8})
    with pytest.raises(FileFormatError, match=r"Not few: the entry '\\x1b\[31m' is unknown"):
        Few.from_dict({"a": 1, "\x1b[31m": 2})


def test_a_subclass_is_saved_as_its_base_is():
    assert More.from_dict(More(1, (2,)).to_dict()) == More(1, (2,))
    with pytest.raises(FileFormatError, match="Not few: a must be"):
        More.from_dict({"a": "x"})


@dataclass(frozen=True)
class Share(Serialisable, named="a share", keys=(..., "share")):
    part: int
    whole: int

    @property
    def share(self) -> float:
        return self.part / self.whole


def test_a_value_that_cannot_be_shown_is_refused():
    assert Share.from_dict({"part": 1, "whole": 2}).share == 0.5
    with pytest.raises(FileFormatError, match="Not a share: ZeroDivisionError"):
        Share.from_dict({"part": 1, "whole": 0})


@dataclass(frozen=True)
class Odd(Serialisable, named="odd"):
    values: set[int]


@dataclass(frozen=True)
class Either(Serialisable, named="either"):
    value: Point | Span


def test_types_that_are_not_known_are_an_error_of_the_program():
    with pytest.raises(TypeError, match="does not know this type"):
        Odd({1}).to_dict()
    with pytest.raises(TypeError, match="at most one type of a union may not be a plain value"):
        Either(Point(1)).to_dict()
