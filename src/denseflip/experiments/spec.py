"""What is to be run: frozen specs with an id that is a hash of everything the result depends on.

A spec knows the *content* of its data set and oracle (digests), the method with all its resolved
parameters, and the versions that matter. So a changed default, another file under the same name
or a new version give another id, and an old result is never taken for a new one.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Self

from denseflip._version import __version__
from denseflip.checks import visible
from denseflip.datasets import Dataset
from denseflip.experiments.object_identity import describe_given, describe_request
from denseflip.request import Request

PLAIN = "plain"  # the reading of the methods that is the library's own

#: What only reads or shows; everything else decides results, and its source is part of their ids.
_NO_CODE = (
    *("_version.py", "checks.py", "errors.py", "files.py", "limits.py", "option.py"),
    *("cli/*", "datasets/*", "report/*", "web/*", "paper/paper_*"),
)


def canonical_json(data: Any) -> str:
    """JSON of which there is only one form: sorted keys, no spaces, no NaN. For identities."""
    return plain_json(data, sort=True)


def plain_json(data: Any, *, sort: bool = False) -> str:
    """JSON on one line, keys in their order, which may mean something: classes go with the rows
    of a table of confusions.

    >>> plain_json({"control": 9, "case": 11})
    '{"control":9,"case":11}'
    """
    return json.dumps(
        data, sort_keys=sort, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def content_id(data: Any) -> str:
    """SHA-256 of the canonical JSON, as 64 hexadecimal digits.

    >>> content_id({"b": 1, "a": [1.5, None]}) == content_id({"a": [1.5, None], "b": 1})
    True
    """
    return hashlib.sha256(canonical_json(data).encode()).hexdigest()


def dataset_digest(dataset: Dataset) -> str:
    """Hash of everything in a data set that a result can depend on.

    Graphs, labels, ids, nodes, and weights if they were kept: a classifier may see these.
    """
    h = hashlib.sha256()
    for example in dataset:
        h.update(canonical_json([example.id, example.label]).encode())
        h.update(example.graph.digest)
    h.update(canonical_json([list(dataset.class_names), dataset.nodes.to_dict()]).encode())
    for row in () if dataset.weights is None else dataset.weights:
        h.update(row.tobytes())
    return h.hexdigest()[:32]


@cache
def versions() -> Mapping[str, Any]:
    """The versions that a result depends on."""
    from importlib.metadata import version

    def minor(package: str) -> str:
        return ".".join(version(package).split(".")[:2])

    return {
        "code": code_digest(),
        "denseflip": __version__,
        "numpy": minor("numpy"),
        "scikit-learn": minor("scikit-learn"),
    }


def code_digest(root: Path | None = None) -> str:
    """Hash of the source files that decide results, so that an edited search is run again.

    A new release changes it too; what only shows results (tables, pages, commands) does not.
    """
    root = root or Path(__file__).parents[1]
    h = hashlib.sha256()
    for path in code_files(root):
        h.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return h.hexdigest()[:16]


def code_files(root: Path) -> list[Path]:
    """The source files that decide results: all that a worker runs but the reading of data sets.

    What is read from a data set is in its digest.
    """
    shown = {path for pattern in _NO_CODE for path in root.glob(pattern)}
    return sorted(path for path in root.rglob("*.py") if path not in shown)


@dataclass(frozen=True)
class DataSpec:
    """A data set: its name, the digest of its content, and where to load it from.

    ``given`` is the data set itself, where it is at hand. To another process it is sent along only
    if it has no place to be loaded from.
    """

    name: str
    digest: str
    ref: str = field(default="", compare=False)  # a place is not part of the identity
    given: Dataset | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "given": None} if self.ref else self.__dict__

    @classmethod
    def of(cls, dataset: Dataset, ref: str, name: str | None = None) -> Self:
        """The spec of a loaded data set."""
        return cls(name or dataset.name, dataset_digest(dataset), ref)


@dataclass(frozen=True)
class OracleSpec:
    """A classifier.

    Attributes
    ----------
    name : what it is called in tables.
    kind : ``preset`` (trained on the data set), ``file`` (saved by `denseflip train`),
        ``function`` (``module:function``), ``words`` (whatever else `open_oracle` opens) or
        ``given`` (an object of Python's).
    digest : of the file, of the function's source file, or of the object.
    options : preset name, seed, form of the function's input …
    ref : the path, the ``module:function`` or the words.
    given : the object.
    """

    name: str
    kind: str
    digest: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    ref: str = field(default="", compare=False)
    given: Any = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", visible(self.name))


@dataclass(frozen=True)
class MethodSpec:
    """A method: its name, the parameters that were given, and all parameters as resolved.

    ``reading`` says whose reading of the method is meant: ``plain``, the library's own, or one that
    a plug-in has registered (see `denseflip.experiments.resolve`). ``digest`` is that of the source
    file of a method of the user's own, or of the object, which is ``given``. ``ref`` are the words
    that make it, where it is called otherwise. ``request`` are the options that go with it.
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
        """All of it in plain form; a digest only where there is one, so that ids stay."""
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
    """What the runs of one data set, oracle, method and request share.

    Attributes
    ----------
    data, oracle, method : what is explained, and how.
    request : the other options. Its ``method`` is that of the spec of the method.
    lasting : whether a later run must recognise the request; see `describe_request`.
    measures : which measures are taken.
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
        """The options of the request in plain form, as far as they differ from the defaults."""
        return describe_request(self.request, lasting=self.lasting)

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything a result depends on but the graph, in plain JSON-ready form."""
        return self._facts()

    def _facts(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "data": {"name": self.data.name, "digest": self.data.digest},
            "oracle": _oracle_identity(self.oracle),
            "method": self.method.identity,
            "seed": self.request.seed,
            "budget": self.request.budget,
            "target": self.asked.get("target"),
            "request": self.asked,
            "measures": self.measures.identity,
            "profile": self.profile,
            "versions": dict(self.versions),
        }


@dataclass(frozen=True)
class RunSpec:
    """One explanation: a job and the id of a graph."""

    job: Job
    graph: str

    @cached_property
    def identity(self) -> dict[str, Any]:
        """The job's identity and the graph."""
        return {**self.job.identity, "graph": self.graph}

    @cached_property
    def id(self) -> str:
        """Stable content id."""
        return content_id(self.identity)


@dataclass(frozen=True)
class StoryJob(Job):
    """What the stories of one data set, oracle, method and request share.

    ``evaluation`` is what is known about the classifier.
    """

    evaluation: Any = field(default=None, compare=False)

    kind = "story"

    def _facts(self) -> dict[str, Any]:
        known = describe_given(self.evaluation, "evaluation", lasting=self.lasting)
        return {**super()._facts(), "evaluation": known}


@dataclass(frozen=True)
class StorySpec(RunSpec):
    """One story: an explanation that is described and tested, not measured."""

    job: StoryJob


@dataclass(frozen=True)
class ClassifierSpec:
    """The judgement of one classifier on one data set: a row of Table 1."""

    data: DataSpec
    oracle: OracleSpec
    folds: int = 5
    repeats: int = 10
    permutations: int = 200
    seed: int = 0
    profile: str = "text"
    versions: Mapping[str, Any] = field(default_factory=lambda: dict(versions()))

    kind = "classifier"

    @cached_property
    def identity(self) -> dict[str, Any]:
        """Everything the judgement depends on."""
        return {
            "kind": self.kind,
            "data": {"name": self.data.name, "digest": self.data.digest},
            "oracle": _oracle_identity(self.oracle),
            "evaluation": [self.folds, self.repeats, self.permutations, self.seed],
            "profile": self.profile,
            "versions": dict(self.versions),
        }

    @cached_property
    def id(self) -> str:
        """Stable content id."""
        return content_id(self.identity)


@dataclass(frozen=True)
class TaskSpec(ABC):
    """Work of another kind that the engines carry: a subclass knows how it is done.

    A subclass gives ``identity``, from which the id follows, and ``work``, which makes the record.
    """

    data: DataSpec
    oracle: OracleSpec
    versions: Mapping[str, Any] = field(default_factory=lambda: dict(versions()), kw_only=True)

    kind = "task"

    @property
    def identity(self) -> dict[str, Any]:
        """Everything the result depends on."""
        return {
            "kind": self.kind,
            "data": {"name": self.data.name, "digest": self.data.digest},
            "oracle": _oracle_identity(self.oracle),
            "versions": dict(self.versions),
        }

    @cached_property
    def id(self) -> str:
        """Stable content id."""
        return content_id(self.identity)

    @abstractmethod
    def work(self) -> dict[str, Any]:
        """Do it, in whatever process this is; gives the record."""


Spec = RunSpec | ClassifierSpec | TaskSpec


def _oracle_identity(oracle: OracleSpec) -> dict[str, Any]:
    return {
        "name": oracle.name,
        "kind": oracle.kind,
        "digest": oracle.digest,
        "options": dict(oracle.options),
    }
