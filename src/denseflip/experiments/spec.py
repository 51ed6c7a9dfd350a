"""Specs of what to run, with an id that is a hash of everything the result depends on.

A spec knows the *content* of its data set and oracle (digests), the method with all its resolved
parameters, and the versions that matter. So a changed default, another file of the same name or a
new version gives another id, and an old result is never mistaken for a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from denseflip.checks import visible
from denseflip.request import Request
from denseflip.runs.identity import describe_given, describe_request, versions
from denseflip.runs.result_store import Record
from denseflip.runs.sources import DataSpec, OracleSpec
from denseflip.runs.spec_base import Listener, Spec

PLAIN = "plain"  # the default reading of the methods


@dataclass(frozen=True)
class MethodSpec:
    """A method: its name, the parameters that were given, and all parameters as resolved.

    ``reading`` is ``plain``, the default, or a reading that a plug-in has registered (see
    `denseflip.experiments.plan`). ``digest`` is that of the source file of a user's method, or
    of the ``given`` object. ``ref`` is what `make_method` takes, if the name differs. ``request``
    holds the other options.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    resolved: Mapping[str, Any] = field(default_factory=dict)
    reading: str = PLAIN
    digest: str = ""
    ref: str = ""
    given: Any = field(default=None, compare=False, repr=False)
    request: Request = field(default=Request(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", visible(self.name))

    @property
    def identity(self) -> dict[str, Any]:
        """Return a plain form; a digest only if there is one, so that ids stay the same."""
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "resolved": dict(self.resolved),
            "reading": self.reading,
            **({"digest": self.digest} if self.digest else {}),
            **({"ref": self.ref} if self.ref else {}),
        }


@dataclass(frozen=True)
class MeasureSpec:
    """Which of the expensive measures to compute, and how.

    Attributes
    ----------
    robustness : perturbations per level (1 % and 5 % of all pairs); 0 for none.
    minimality : query for every single edit whether it is needed.
    statement : describe and verify the sentence.
    regions : a taxonomy of the node table; None for the first.
    as_read : redraws to test whether the sentence is true as read; 0 for none.
    """

    robustness: int = 10
    minimality: bool = False
    statement: bool = True
    regions: str | None = None
    as_read: int = 20

    @property
    def identity(self) -> dict[str, Any]:
        """Return a plain form without defaults, so that ids stay the same."""
        said = asdict(self)
        if self.as_read == type(self).as_read:
            del said["as_read"]
        return said


@dataclass(frozen=True)
class Job:
    """What the runs of one data set, oracle, method and request share.

    Attributes
    ----------
    data, oracle, method : what is explained, and how.
    request : the other options. Its ``method`` is that of the spec of the method.
    lasting : whether a later run must recognise the request; see `describe_request`.
    measures : which measures to compute.
    profile : the name that the runs carry, such as ``bench``.
    """

    data: DataSpec
    oracle: OracleSpec
    method: MethodSpec
    request: Request = field(default=Request(), compare=False)
    lasting: bool = field(default=True, compare=False)
    measures: MeasureSpec = MeasureSpec()
    profile: str = "text"
    versions: Mapping[str, Any] = field(default_factory=lambda: dict(versions()))

    kind = "run"

    @cached_property
    def asked(self) -> dict[str, Any]:
        """Return the options of the request that differ from the defaults, in plain form."""
        return describe_request(self.request, lasting=self.lasting)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Return everything a result depends on except the graph, JSON-ready."""
        return {
            "kind": self.kind,
            "data": {"name": self.data.name, "digest": self.data.digest},
            "oracle": self.oracle.identity,
            "method": self.method.identity,
            "seed": self.request.seed,
            "budget": self.request.budget,
            "target": self.asked.get("target"),
            "request": self.asked,
            "measures": self.measures.identity,
            "profile": self.profile,
            "versions": dict(self.versions),
        }


class _ContextSpec(Spec):
    """Work that needs a data set and an oracle ready for queries; workers share these."""

    def share(self, folder: Path) -> str | None:
        """The path of a file with the context, if it is worth sharing."""
        from denseflip.experiments.worker import share_context

        return share_context(*self.sources, folder)

    def receive(self, path: str) -> None:
        """Load the context."""
        from denseflip.experiments.worker import receive_context

        receive_context(*self.sources, path)


@dataclass(frozen=True)
class RunSpec(_ContextSpec):
    """One explanation: a job and the id of a graph."""

    job: Job
    graph: str

    together = True

    @property
    def sources(self) -> tuple[DataSpec, OracleSpec]:
        """The data set and the oracle."""
        return self.job.data, self.job.oracle

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The job's identity and the graph."""
        return {**self.job.identity, "graph": self.graph}

    @property
    def alike(self) -> object:
        """The job."""
        return self.job

    @property
    def place(self) -> str:
        """Data set, oracle, method and graph."""
        return f"{super().place} / {self.job.method.name} / {self.graph}"

    def work(self, on_event: Listener | None = None) -> Record:
        """Explain the graph and measure the explanation."""
        from denseflip.experiments.worker import run_one

        return run_one(self)

    def durations(self, record: Record) -> tuple[float, float] | None:
        """Seconds of search and measures, and of opening an oracle that each worker opens."""
        times = record.get("times")
        if not times:
            return None
        seconds = times["search"] + times["measures"]
        return seconds, 0.0 if self.job.oracle.kind == "preset" else times["total"] - seconds


@dataclass(frozen=True)
class StoryJob(Job):
    """What the stories of one data set, oracle, method and request share.

    ``evaluation`` is the evaluation of the classifier.
    """

    evaluation: Any = field(default=None, compare=False)

    kind = "story"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The same, and the evaluation."""
        known = describe_given(self.evaluation, "evaluation", lasting=self.lasting)
        return {**super().identity, "evaluation": known}


@dataclass(frozen=True)
class StorySpec(RunSpec):
    """One story: an explanation that is described and tested, not measured."""

    job: StoryJob

    together = False  # each takes long, and users wait for it

    def work(self, on_event: Listener | None = None) -> Record:
        """Explain the graph and describe the explanation."""
        from denseflip.experiments.worker import story_one

        return story_one(self, on_event)


@dataclass(frozen=True)
class ClassifierSpec(_ContextSpec):
    """The evaluation of one classifier on one data set: a row of Table 1."""

    data: DataSpec
    oracle: OracleSpec
    folds: int = 5
    repeats: int = 10
    permutations: int = 200
    seed: int = 0
    profile: str = "text"
    versions: Mapping[str, Any] = field(default_factory=lambda: dict(versions()))

    kind = "classifier"
    apart = True

    @property
    def sources(self) -> tuple[DataSpec, OracleSpec]:
        """The data set and the oracle."""
        return self.data, self.oracle

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything the evaluation depends on."""
        return {
            "kind": self.kind,
            "data": {"name": self.data.name, "digest": self.data.digest},
            "oracle": self.oracle.identity,
            "evaluation": [self.folds, self.repeats, self.permutations, self.seed],
            "profile": self.profile,
            "versions": dict(self.versions),
        }

    def work(self, on_event: Listener | None = None) -> Record:
        """Evaluate the classifier."""
        from denseflip.experiments.worker import judge

        return judge(self)
