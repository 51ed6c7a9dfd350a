"""Bodies of requests and responses (OpenAPI), and the options of the form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from denseflip.as_read import Reading
from denseflip.option import Option
from denseflip.request import Request, default_of, list_options
from denseflip.search.methods.registry import methods
from denseflip.story.wording.vocabulary import VOCABULARIES

Key = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Node = Annotated[int, Field(ge=0, lt=1_000_000)]
JobId = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
Whole = Annotated[int, Field(ge=1, le=10_000_000)]
MOST_METHODS = 12
MOST_SUBJECTS = 2000


class Strict(BaseModel):
    """A request without unknown fields."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class ErrorFacts(BaseModel):
    """What went wrong."""

    kind: str
    message: str
    parameters: list[str] = []


class ErrorAnswer(BaseModel):
    """The shape of all errors."""

    error: ErrorFacts


FIRST = ("auto", "brief", "best", "tight", "con", "tri")  # methods that the form shows first
#: Options that the app does not accept: parameters of methods may take unbounded time.
NOT_HERE = ("parameters",)
TIME_LIMIT = 300.0  # seconds, unless the request says otherwise
#: Upper bounds that a server needs in addition to those of the options.
_MOST = {"time_limit": 3600.0, "seed": 2**31 - 1, "max_cells": 1000, "n": 20, "confirm": 20}
_LARGEST = 10_000_000  # of any other whole number
MOST_NAMES = 5000  # of an option that takes names
#: Texts that a form offers for options that take any text.
_CHOICES = {"vocabulary": ("auto", *VOCABULARIES)}


def option_field(name: str, option: Option) -> tuple[Any, Any]:
    """Return the type and the default of an option, as a field of a schema."""
    default = option_default(name, option)
    field = Field(default=default, description=option.text())
    if option.kind == "names":
        names = Annotated[list[Name], Field(max_length=MOST_NAMES)]
        return (names | Name | None if default is None else names), field
    kinds: dict[str, Any] = {"whole": int, "number": float, "flag": bool}
    kind = Literal[option.choices] if option.choices else kinds.get(option.kind, Name)
    bounds: dict[str, Any] = option_bounds(name, option)
    kind = Annotated[kind, Field(**bounds)] if bounds else kind
    return (kind | None if default is None else kind), field


def option_default(name: str, option: Option) -> Any:
    """Return the default of an option on a server."""
    if name == "time_limit":
        return TIME_LIMIT
    default = default_of(name)
    return list(default) if option.kind == "names" and default is not None else default


def option_bounds(name: str, option: Option) -> dict[str, float]:
    """The bounds of a number on this server: ``ge``, ``gt`` and ``le`` where there are any."""
    if option.kind not in ("whole", "number"):
        return {}
    most = _MOST.get(name, option.maximum)
    if most is None and option.kind == "whole":
        most = _LARGEST
    bounds = {"ge": option.minimum, "gt": option.above, "le": most}
    return {key: value for key, value in bounds.items() if value is not None}


def form_options() -> list[dict[str, Any]]:
    """Describe every option for the form, in the order of `Request`.

    Texts refer to other options by their labels, not by their names in Python.
    """
    every = list_options(python=True)

    def spell(name: str) -> str:
        return f"“{every[name].label}”"

    facts = []
    for name, option in OPTIONS.items():
        bounds = option_bounds(name, option)
        facts.append(
            {
                "name": name,
                "label": option.label,
                "help": option.text(spell),
                "group": option.group,
                "kind": option.kind,
                "common": option.common,
                "choices": list(option.choices or _CHOICES.get(name, ())),
                "minimum": bounds.get("ge", bounds.get("gt")),
                "maximum": bounds.get("le"),
                "default": option_default(name, option),
            }
        )
    return facts


def form_methods() -> list[dict[str, Any]]:
    """Describe every method and refinement for the form, the first ones in front."""
    order = {name: i for i, name in enumerate(FIRST)}
    listed = [
        {
            "name": m.name,
            "summary": m.summary,
            "needs": sorted(m.needs),
            "suffix": m.suffix,
            "group": m.group,
            "first": m.name in order,
        }
        for m in methods()
    ]
    return sorted(listed, key=lambda m: order.get(m["name"], len(order)))


class JobModel(Strict):
    """What a job is about; `JobRequest` adds the options of a request."""

    kind: Literal["explain", "compare", "judge", "cohort", "many"] = "explain"
    dataset: Key
    classifier: Word | None = None
    subject: Name | None = None
    subjects: list[Name] = Field(default=[], max_length=MOST_SUBJECTS)
    classes: list[Name] = Field(default=[], max_length=100)
    of: JobId | None = None
    methods: list[Word] = Field(default=[], max_length=MOST_METHODS)
    permutations: Annotated[int, Field(ge=0, le=1000)] = 99

    def request(self) -> Request:
        """The options of this job, as every other entrance builds them."""
        return Request.build(**{name: getattr(self, name) for name in OPTIONS})


OPTIONS = {name: option for name, option in list_options().items() if name not in NOT_HERE}

if TYPE_CHECKING:

    class JobRequest(JobModel):
        """A job with the options of a request."""

        classifier: str
        method: str
        target: Any
        regions: str | None
        seed: int

else:
    JobRequest = create_model(
        "JobRequest",
        __base__=JobModel,
        __doc__="""Explain a subject, compare methods, evaluate a classifier, explain many subjects,
    or describe what a cohort has in common.

    Many subjects are those of `classes`, or `subjects`, or by default every graph of the data set.
    The answer is an index. To open one of them, request `explain` with the same options, its
    `subject`, and the id of the finished job as `of`: nothing is searched again.
    """,
        **{name: option_field(name, option) for name, option in OPTIONS.items()},
    )


class TitleRequest(Strict):
    """The title of a data set."""

    title: Key


class CellChange(Strict):
    """Numbers of connections to add and remove in one place: a region pair, or a node."""

    a: Node
    b: Node | None
    more: Annotated[int, Field(ge=0, le=100_000_000)] = 0
    fewer: Annotated[int, Field(ge=0, le=100_000_000)] = 0


class WhatIfRequest(Strict):
    """A graph changed by hand: amounts in places, and single pairs that are flipped.

    With a job, connections that its constraints forbid to change are not drawn. `first` replaces
    the first drawn choice of connections. `balance` keeps the number of connections: as many are
    drawn outside the given places.
    """

    dataset: Key
    classifier: Word | None = None
    subject: Name
    regions: Name | None = None
    cells: list[CellChange] = Field(default=[], max_length=5000)
    pairs: list[tuple[Node, Node]] = Field(default=[], max_length=20_000)
    reading: Reading = "any"
    balance: bool = False
    target: Name | None = None
    draws: Annotated[int, Field(ge=1, le=100)] = 20
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    job: JobId | None = None
    answer: Annotated[int, Field(ge=0, le=1000)] | None = None
    first: list[tuple[Node, Node]] | None = Field(default=None, max_length=20_000)


class WhatIfAnswer(BaseModel):
    """The decision about a graph, and about other choices of as many connections."""

    label: str
    before: str
    confidence: float | None
    draws: int
    flips: int
    added: int
    removed: int
    pairs: list[tuple[int, int]]
