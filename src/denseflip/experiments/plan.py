"""From names to the specs of runs: methods, and a matrix of data sets, oracles, methods and seeds.

Two registries hold what an experiment can name: how methods are built (`MAKERS`), and what is
reported as d% and C of their results (`READINGS`). A module of `denseflip.runs.sources.PLUG_INS`
adds to them with `register_reading`; it is imported when a name is unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from denseflip.counterfactual import Counterfactual, Label
from denseflip.datasets import Dataset
from denseflip.errors import ConfigError
from denseflip.experiments.spec import PLAIN, Job, MeasureSpec, MethodSpec, RunSpec
from denseflip.request import Request
from denseflip.runs.identity import source_digest
from denseflip.runs.sources import DataSpec, OracleSpec, find_entry
from denseflip.search.core.method import Method
from denseflip.search.core.problem import REGIONS
from denseflip.search.methods.registry import make_method, method_for
from denseflip.search.methods.user_methods import is_user_method


def _plainly(result: Counterfactual) -> tuple[float, int]:
    return result.relative_distance, result.calls


MAKERS: dict[str, Callable[..., Method]] = {PLAIN: make_method}
READINGS: dict[str, Callable[[Counterfactual], tuple[float, int]]] = {PLAIN: _plainly}


def register_reading(
    name: str,
    make: Callable[..., Method],
    read: Callable[[Counterfactual], tuple[float, int]],
) -> None:
    """Add a reading of the methods.

    Parameters
    ----------
    make : builds a method from its name and parameters, as `make_method` does.
    read : what is reported as d% and C of a result.
    """
    MAKERS[name], READINGS[name] = make, read


def method_spec(
    name: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    reading: str = PLAIN,
    called: str = "",
    request: Request | None = None,
) -> MethodSpec:
    """Return a method with its resolved parameters; unknown names and parameters are errors.

    Parameters
    ----------
    name : as in `make_method`, including ``module:function``. The source file of a user's
        method is part of the spec: if it changes, its results are run again.
    parameters : parameters of the method.
    reading : which reading of the method to use.
    called : its name in tables, if different.
    request : the other options; its method and parameters are replaced by these.
    """
    given = dict(parameters or {})
    asked = replace(request or Request(), method=name, parameters=given)
    recipe = build_method(MethodSpec(name, given, {}, reading, request=asked))
    other = called and called != recipe.name
    return MethodSpec(
        called if other else recipe.name,
        given,
        recipe.parameters,
        reading,
        own_digest(name),
        ref=recipe.name if other else "",
        request=asked,
    )


def own_digest(name: str) -> str:
    """Return the digest of the source of a user's method; empty for any other."""
    return source_digest(name.partition(":")[0].strip()) if is_user_method(name) else ""


def build_method(spec: MethodSpec) -> Method:
    """Return the method of a spec, ready to run."""
    name = spec.ref or spec.name
    if spec.reading == PLAIN:
        made = method_for(replace(spec.request, method=name, parameters=dict(spec.parameters)))
    else:
        made = find_entry(MAKERS, spec.reading, "reading")(name, **spec.parameters)
    return replace(made, name=spec.name) if spec.ref else made


def distance_and_calls(result: Counterfactual, reading: str = PLAIN) -> tuple[float, int]:
    """Return what a reading reports as d% and C of a result."""
    return find_entry(READINGS, reading, "reading")(result)


@dataclass(frozen=True)
class Source:
    """A data set of a matrix, with the graphs to explain and the oracles to use.

    ``oracles`` are the names of the oracles of the matrix to combine with this data set; empty for
    all.
    """

    spec: DataSpec
    dataset: Dataset
    graphs: tuple[str, ...] = ()
    target: Label | None = None
    oracles: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the graphs to explain."""
        return self.graphs or self.dataset.ids


@dataclass(frozen=True)
class Skipped:
    """A combination that cannot be run, and why."""

    data: str
    method: str
    reason: str


@dataclass(frozen=True)
class Matrix:
    """All combinations of data sets, oracles, methods and seeds.

    Attributes
    ----------
    sources, oracles, methods, seeds : the four sides. Methods carry their own requests.
    measures : which measures to compute.
    profile : the name that the runs carry, such as ``bench``.
    """

    sources: Sequence[Source]
    oracles: Sequence[OracleSpec]
    methods: Sequence[MethodSpec]
    seeds: Sequence[int] = (0,)
    measures: MeasureSpec = field(default_factory=MeasureSpec)
    profile: str = "bench"


@dataclass
class Plan:
    """The runs of a matrix, in the order of its sides, and the skipped combinations."""

    specs: list[RunSpec] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


def make_plan(matrix: Matrix) -> Plan:
    """List the runs of a matrix.

    A method that needs regions is skipped for a data set without regions. Deterministic methods are
    run with every seed too, since their refinement may be random.
    """
    plan = Plan()
    for source in matrix.sources:
        fitting = []
        for method in matrix.methods:
            if source.dataset.nodes.regions or not needs_regions(method):
                fitting.append(method)
            else:
                reason = "the method needs regions, and the nodes of this data set have none"
                plan.skipped.append(Skipped(source.spec.name, method.name, reason))
        # Group by oracle: a worker trains it once and keeps it meanwhile.
        chosen = [o for o in matrix.oracles if not source.oracles or o.name in source.oracles]
        for oracle, method, seed in product(chosen, fitting, matrix.seeds):
            asked = replace(method.request, seed=seed)
            if source.target is not None:
                asked = replace(asked, target=source.target)
            job = Job(
                data=source.spec,
                oracle=oracle,
                method=method,
                request=asked,
                measures=matrix.measures,
                profile=matrix.profile,
            )
            plan.specs += [RunSpec(job, graph) for graph in source.ids]
    if not plan.specs:
        reasons = "; ".join(f"{s.data} / {s.method}: {s.reason}" for s in plan.skipped)
        msg = f"Nothing to run: every combination was skipped ({reasons})."
        raise ConfigError(msg)
    return plan


def needs_regions(method: MethodSpec) -> bool:
    """Whether a method cannot run without regions."""
    return REGIONS in build_method(method).needs


def choose_graphs(
    dataset: Dataset, ids: Sequence[str] | None = None, limit: int | None = None
) -> tuple[str, ...]:
    """Return the ids to explain: those given, or the first few of every class in turn."""
    if ids is not None:
        for one in ids:
            dataset.index_of(one)
        return tuple(ids)
    if limit is None or limit >= len(dataset):
        return dataset.ids
    by_class: dict[int, list[str]] = {}
    for example in dataset:
        by_class.setdefault(example.label, []).append(example.id)
    queues = [by_class[label] for label in sorted(by_class)]
    chosen: set[str] = set()
    depth = 0
    while len(chosen) < limit:
        for queue in queues:
            if depth < len(queue) and len(chosen) < limit:
                chosen.add(queue[depth])
        depth += 1
    return tuple(i for i in dataset.ids if i in chosen)
