"""What requests say and answers hold, as OpenAPI tells them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from denseflip.as_read import Reading

Key = Annotated[str, StringConstraints(min_length=1, max_length=120)]
Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(min_length=1, max_length=300)]
Node = Annotated[int, Field(ge=0, lt=1_000_000)]
JobId = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
Whole = Annotated[int, Field(ge=1, le=10_000_000)]
MOST_METHODS = 12
MOST_SUBJECTS = 2000


class Strict(BaseModel):
    """A request that holds nothing it should not."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)


class ErrorFacts(BaseModel):
    """What went wrong."""

    kind: str
    message: str
    parameters: list[str] = []


class ErrorAnswer(BaseModel):
    """The one shape of every error."""

    error: ErrorFacts


class Terms(Strict):
    """What may change, and how much."""

    only: Literal["add", "remove"] | None = None
    frozen_regions: list[Name] = Field(default=[], max_length=500)
    frozen_nodes: list[Name] = Field(default=[], max_length=5000)
    max_edits: Whole | None = None
    max_cells: Annotated[int, Field(ge=1, le=1000)] | None = None


class JobRequest(Strict):
    """What is to be done: explain a subject, set methods side by side, judge a classifier, explain
    many subjects one by one, or say what a whole cohort has in common.

    Of many: those of `classes`, or `subjects`, or by default every graph of the data set. The
    answer is an index; to see one of them, ask for it by `explain` with the same words, its
    `subject`, and the id of the finished job as `of`: nothing is searched again then.
    """

    kind: Literal["explain", "compare", "judge", "cohort", "many"] = "explain"
    dataset: Key
    classifier: Word = "regions-logistic"
    subject: Name | None = None
    subjects: list[Name] = Field(default=[], max_length=MOST_SUBJECTS)
    classes: list[Name] = Field(default=[], max_length=100)
    of: JobId | None = None
    method: Word = "auto"
    methods: list[Word] = Field(default=[], max_length=MOST_METHODS)
    target: Name | None = None
    confidence: Annotated[float, Field(gt=0, lt=1)] | None = None
    regions: Name | None = None
    constraints: Terms = Terms()
    permutations: Annotated[int, Field(ge=0, le=1000)] = 99
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    budget: Whole | None = None
    time_limit: Annotated[float, Field(gt=0, le=3600)] = 300.0


class JobAnswer(BaseModel):
    """A job without its result."""

    id: str
    kind: str
    status: Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
    request: dict[str, Any]
    created: float
    started: float | None
    finished: float | None
    error: dict[str, Any] | None
    summary: dict[str, Any] | None


class CellChange(Strict):
    """How many connections of one place are added and removed: of two regions, or of a node."""

    a: Node
    b: Node | None
    more: Annotated[int, Field(ge=0, le=100_000_000)] = 0
    fewer: Annotated[int, Field(ge=0, le=100_000_000)] = 0


class WhatIfRequest(Strict):
    """A graph changed by hand: amounts in places, and single pairs that are flipped.

    With a job, what its constraints forbid to change is not drawn. `first` is the first choice of
    connections, instead of a drawn one.
    """

    dataset: Key
    classifier: Word = "regions-logistic"
    subject: Name
    regions: Name | None = None
    cells: list[CellChange] = Field(default=[], max_length=5000)
    pairs: list[tuple[Node, Node]] = Field(default=[], max_length=20_000)
    reading: Reading = "any"
    target: Name | None = None
    draws: Annotated[int, Field(ge=1, le=100)] = 20
    seed: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0
    job: JobId | None = None
    answer: Annotated[int, Field(ge=0, le=1000)] | None = None
    first: list[tuple[Node, Node]] | None = Field(default=None, max_length=20_000)


class WhatIfAnswer(BaseModel):
    """What the classifier says of it, and of other choices of as many connections."""

    label: str
    before: str
    confidence: float | None
    draws: int
    flips: int
    added: int
    removed: int
    pairs: list[tuple[int, int]]
