"""What is to be run: frozen specs with an id that is a hash of everything the result depends on.

A spec knows the *content* of its data set and oracle (digests), the method with all its resolved
parameters, and the versions that matter. So a changed default, another file under the same name
or a new version give another id, and an old result is never taken for a new one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from denseflip.checks import visible
from denseflip.counterfactual import Label
from denseflip.runs.identity import versions
from denseflip.runs.result_store import Record
from denseflip.runs.sources import DataSpec, OracleSpec
from denseflip.runs.spec_base import Listener, Spec

PLAIN = "plain"  # the reading of the methods that is the library's own


@dataclass(frozen=True)
class MethodSpec:
    """A method: its name, the parameters that were given, and all parameters as resolved.

    ``reading`` says whose reading of the method is meant: ``plain``, the library's own, or one that
    a plug-in has registered (see `denseflip.experiments.resolve`). ``digest`` is that of the source
    file of a method of the user's own, or of the object, which is ``given``. ``ref`` are the words
    that make it, where it is called otherwise. ``constraints`` are the user's terms, as
    `Constraints` take them.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    resolved: Mapping[str, Any] = field(default_factory=dict)
    reading: str = PLAIN
    digest: str = ""
    ref: str = ""
    constraints: Mapping[str, Any] = field(default_factory=dict)
    given: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", visible(self.name))

    @property
    def identity(self) -> dict[str, Any]:
        """All of it in plain form; a digest only where there is one, so that ids stay."""
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "resolved": dict(self.resolved),
            "reading": self.reading,
            **({"digest": self.digest} if self.digest else {}),
            **({"constraints": dict(self.constraints)} if self.constraints else {}),
            **({"ref": self.ref} if self.ref else {}),
        }


@dataclass(frozen=True)
class MeasureSpec:
    """Which of the dearer measures are taken, and how.

    Attributes
    ----------
    robustness : perturbations per level (1 % and 5 % of all pairs); 0 for none.
    minimality : ask for every single edit whether it is needed.
    statement : let the sentence be told and verified.
    regions : whose regions (a taxonomy of the node table); None for the node table's first.
    as_read : redraws per test whether the sentence is true as read; 0 for none.
    """

    robustness: int = 10
    minimality: bool = False
    statement: bool = True
    regions: str | None = None
    as_read: int = 20

    @property
    def identity(self) -> dict[str, Any]:
        """All of it in plain form; what is as always is not said, so that ids stay as they were."""
        said = asdict(self)
        if self.as_read == type(self).as_read:
            del said["as_read"]
        return said


@dataclass(frozen=True)
class Job:
    """What the runs of one data set, oracle, method and seed share."""

    data: DataSpec
    oracle: OracleSpec
    method: MethodSpec
    seed: int = 0
    budget: int | None = None
    target: Label | None = None
    measures: MeasureSpec = MeasureSpec()
    profile: str = "text"
    versions: Mapping[str, Any] = field(default_factory=lambda: dict(versions()))

    kind = "run"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything a result depends on but the graph, in plain JSON-ready form."""
        return self._facts()

    def _facts(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "data": {"name": self.data.name, "digest": self.data.digest},
            "oracle": self.oracle.identity,
            "method": self.method.identity,
            "seed": self.seed,
            "budget": self.budget,
            "target": self.target,
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
        """Search and measures; opening an oracle that is not trained once for all workers."""
        times = record.get("times")
        if not times:
            return None
        seconds = times["search"] + times["measures"]
        return seconds, 0.0 if self.job.oracle.kind == "preset" else times["total"] - seconds


@dataclass(frozen=True)
class TellJob(Job):
    """What the stories of one data set, oracle, method and seed share.

    ``asked`` are the keywords of `tell` as they were given; ``asked_for`` is what stands for them
    in the identity: plain values as they are, and a digest of what is none.
    """

    asked: Mapping[str, Any] = field(default_factory=dict, compare=False)
    asked_for: Mapping[str, Any] = field(default_factory=dict)

    kind = "tell"

    def _facts(self) -> dict[str, Any]:
        return {**super()._facts(), "asked": dict(self.asked_for)}


@dataclass(frozen=True)
class TellSpec(RunSpec):
    """One story: an explanation that is told and tested, not measured."""

    job: TellJob

    together = False  # each takes long, and somebody waits for it

    def work(self, on_event: Listener | None = None) -> Record:
        """Explain the graph and describe the explanation."""
        from denseflip.experiments.worker import tell_one

        return tell_one(self, on_event)


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
        """Everything the judgement depends on."""
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
