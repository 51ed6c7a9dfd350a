"""Explain and describe many graphs: one oracle, one background, any engine, resumable.

`explain_many` does it in one call. To run several data sets or oracles together, use its three
steps: `plan_many` lists what to run, `run_specs` runs what a store lacks, and `gather` returns the
explanations of a plan.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, overload

from denseflip.counterfactual import Counterfactual
from denseflip.datasets import Dataset
from denseflip.errors import InvalidParameterError, UnknownNameError, nearest
from denseflip.experiments.plan import own_digest
from denseflip.experiments.records import read_story
from denseflip.experiments.spec import MethodSpec, StoryJob, StorySpec
from denseflip.experiments.story_tables import edit_table, reference_table, region_table
from denseflip.experiments.table import Table
from denseflip.graph.edits import make_frame
from denseflip.notebook import ROWS, html_table, with_bar
from denseflip.oracles.adapt import coerce_oracle
from denseflip.oracles.background import Background
from denseflip.request import Request, takes_request
from denseflip.runs.engines import make_engine
from denseflip.runs.identity import check_sendable, content_id, describe_given
from denseflip.runs.result_store import Store, open_store
from denseflip.runs.run import Outcome, run_specs
from denseflip.runs.sources import OracleSpec, data_of, oracle_of_words, preset_oracle
from denseflip.search.constraints.bound_constraints import BoundConstraints
from denseflip.search.explain import constraints_for
from denseflip.search.methods.registry import method_for
from denseflip.story.story import Story
from denseflip.story.wording.difference import smallest_effect
from denseflip.workflow.explain_and_describe import check_request
from denseflip.workflow.subject import Subject, position_of

COLUMNS = (  # of the table
    *("id", "class", "before", "correct", "after", "status", "cells", "edits", "added", "removed"),
    *("relative_distance", "calls", "true_as_read", "as_read", "badge", "language"),
    *("refits_agreeing", "refits_holding", "stability", "confidence_before", "confidence_after"),
    *("smallest_effect", "sentence", "failure"),
)


@dataclass(frozen=True)
class Explained:
    """One graph of many: its id and its story, or why there is none.

    Iterating gives ``id, result, story``.

    Attributes
    ----------
    id : the graph's id.
    label : the name of its class in the data set.
    story : the described and tested result; None if it failed.
    failure : the error message; empty if there is none.
    """

    id: str
    label: str
    story: Story | None
    failure: str = ""

    @property
    def result(self) -> Counterfactual | None:
        """The result of the search."""
        return None if self.story is None else self.story.result

    def __iter__(self) -> Iterator[Any]:
        return iter((self.id, self.result, self.story))


@dataclass(frozen=True)
class Explanations(Sequence[Explained]):
    """The explanations of many graphs, in the requested order.

    Attributes
    ----------
    dataset : the data set.
    explained : one for each graph.
    outcome : the outcome of the run: reused results, times, workers.
    """

    dataset: Dataset
    explained: tuple[Explained, ...]
    outcome: Outcome = field(default_factory=Outcome, repr=False, compare=False)

    @property
    def stories(self) -> tuple[Story, ...]:
        """The stories of the graphs that did not fail."""
        return tuple(one.story for one in self.explained if one.story is not None)

    @property
    def failures(self) -> dict[str, str]:
        """Id → error message, for the graphs that failed."""
        return {one.id: one.failure for one in self.explained if one.story is None}

    def table(self) -> Table:
        """Return one row per graph: labels, sizes, truth, sentence, or the error message."""
        return Table(
            "explanations",
            f"{len(self)} graphs of {self.dataset.name}",
            COLUMNS,
            tuple(explanation_row(one) for one in self.explained),
        )

    def edit_table(self) -> Table:
        """Return one row per edit of each graph, with names, regions and coordinates."""
        return edit_table(self._told)

    def region_table(self) -> Table:
        """Return one row per pair of regions with edits, of each graph."""
        return region_table(self._told)

    def reference_table(self) -> Table:
        """Return one row per named place of each graph, with what real graphs have there."""
        return reference_table(self._told)

    @property
    def _told(self) -> list[tuple[str, Story]]:
        return [(one.id, one.story) for one in self.explained if one.story is not None]

    def to_frame(self, edits: bool = False) -> Any:
        """`table`, or with ``edits`` `edit_table`, as a pandas table.

        Raises
        ------
        MissingExtraError
            If pandas is not installed; the message says how to get it.
        """
        table = self.edit_table() if edits else self.table()
        return make_frame(table.columns, table.rows)

    @overload
    def __getitem__(self, key: int | str) -> Explained: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Explained, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Explained | tuple[Explained, ...]:
        if isinstance(key, str):
            for one in self.explained:
                if one.id == key:
                    return one
            ids = [one.id for one in self.explained]
            raise UnknownNameError("graph id", key, nearest(key, ids, n=5) or ids[:5])
        return self.explained[key]

    def __len__(self) -> int:
        return len(self.explained)

    def __repr__(self) -> str:
        found = sum(story.result.found for story in self.stories)
        failed = len(self) - len(self.stories)
        end = f", {failed} failed" if failed else ""
        return f"Explanations({self.dataset.name!r}, {found} of {len(self)} found{end})"

    def _repr_html_(self) -> str:
        """The first graphs, as a table for notebooks."""
        found = sum(story.result.found for story in self.stories)
        failed = len(self) - len(self.stories)
        title = f"{self.dataset.name}: {found:,} of {len(self):,} counterfactuals found"
        columns = ("id", "class", "before", "after", "edits", "calls", "true_as_read", "in short")
        rows = []
        for one in self.explained[:ROWS]:
            said = dict(zip(COLUMNS, explanation_row(one), strict=True))
            said["in short"] = one.failure if one.story is None else one.story.short
            rows.append([said[column] for column in columns])
        notes = [f"{failed:,} failed." if failed else ""]
        return html_table(title, columns, rows, total=len(self), notes=notes)


def explanation_row(one: Explained) -> tuple[Any, ...]:
    """The cells of a graph in the table of explanations (`COLUMNS`)."""
    cells: dict[str, Any] = {"id": one.id, "class": one.label}
    if (story := one.story) is None:
        cells |= {"status": "failed", "failure": one.failure}
        return tuple(map(cells.get, COLUMNS))
    result, test = story.result, story.as_read
    cells |= {
        "before": story.class_name(result.label_before),
        "correct": story.correct,
        "status": str(result.status),
        "calls": result.calls,
        "confidence_before": result.confidence_before,
        "sentence": story.statement,
    }
    if result.found:
        cells |= {
            "after": story.class_name(result.label_after),
            "cells": len(story.claim.amounts),
            "edits": result.distance,
            "added": len(result.added),
            "removed": len(result.removed),
            "relative_distance": result.relative_distance,
            "true_as_read": story.true_as_read,
            "as_read": None if test is None else test.share,
            "badge": story.badge.text,
            "language": story.language,
            "confidence_after": result.confidence_after,
            "smallest_effect": smallest_effect(story.reference),
        }
        if (seen := story.stability) is not None and seen.refits:
            cells |= {"refits_agreeing": seen.agreeing, "refits_holding": seen.holds}
            cells["stability"] = seen.share
    return tuple(map(cells.get, COLUMNS))


@takes_request()
@with_bar("Explaining")
def explain_many(
    dataset: Dataset | str | Path,
    oracle: Any = None,
    ids: Iterable[str | int] | None = None,
    *,
    request: Request,
    evaluation: Any = None,
    input: str = "auto",
    batch: bool = False,
    engine: str = "auto",
    jobs: int = 1,
    scheduler: str | None = None,
    store: str | Path | Store | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Explanations:
    """Explain and describe many graphs of a data set, with the same stories as one by one.

    The oracle is opened once and queried once about the other graphs. A graph whose explanation
    fails is included in the results, with the reason.

    Parameters
    ----------
    dataset : the data set, its name or its file.
    oracle : the classifier: None for the default one, trained on the data set; words as in
        `open_oracle`; or an oracle or a function.
    ids : which graphs, by id or position, as in `find_subject`; all by default. An ``int`` is a
        position, counted from 0.
    evaluation : evaluation of the classifier, as in `describe`.
    input, batch : what a ``module:function`` takes, as in `as_oracle`.
    engine, jobs, scheduler : where to run, as in `denseflip.runs.engines`:
        ``"auto"``, ``"serial"``, ``"processes"`` or ``"dask"``, with this many workers. The answers
        are the same.
    store : a folder for finished results. If the run is interrupted, the same call continues from
        there; results in it are not searched again.
    progress : called with (done, total) after every graph; by default a notebook shows a bar.
    {options}
    request : all options as one `Request`; options given by name replace its fields.

    Returns
    -------
    Explanations
        A sequence, one entry per graph, in their order.

    Raises
    ------
    UnknownNameError
        If there is no such graph, class, method or keyword; the nearest names are in the message.
    InvalidParameterError
        If a graph is named twice, or something cannot be sent to other processes.

    Examples
    --------
    >>> many = explain_many("mice", "edges-svm", [0, "sub-54811"], method="con")
    >>> [(one.id, one.result.found) for one in many]
    [('sub-54790', True), ('sub-54811', True)]
    """
    workers = 1 if engine == "serial" else jobs
    runs = make_engine(engine, jobs, scheduler)
    specs = plan_many(
        dataset,
        oracle,
        ids,
        request=request,
        evaluation=evaluation,
        input=input,
        batch=batch,
        lasting=store is not None,
    )
    if workers > 1 or engine in {"processes", "dask"}:
        check_specs(specs)
    with open_store(store) as kept:
        outcome = run_specs(specs, kept, runs, progress=progress, workers=workers)
    return gather(specs, outcome)


@takes_request()
def plan_many(
    dataset: Dataset | str | Path,
    oracle: Any = None,
    ids: Iterable[str | int] | None = None,
    *,
    request: Request,
    evaluation: Any = None,
    input: str = "auto",
    batch: bool = False,
    lasting: bool = True,
) -> list[StorySpec]:
    """Return what `explain_many` runs, one spec per graph; checks everything, searches nothing.

    Parameters
    ----------
    dataset, oracle, ids, evaluation, input, batch : as in `explain_many`.
    lasting : whether a later run must recognise the specs, for a store. Not every Python object can
        be recognised.
    {options}
    request : all options as one `Request`; options given by name replace its fields.
    """
    data = data_of(dataset)
    assert data.given is not None
    chosen = _chosen(data.given, ids)
    box = _oracle(oracle, data.given, input, batch, lasting=lasting)
    _check_request(request, data.given, box)
    job = StoryJob(
        data=data,
        oracle=box,
        method=_method(request, lasting=lasting),
        request=request,
        lasting=lasting,
        profile="many",
        evaluation=evaluation,
    )
    _ = job.identity  # refuse unrecognisable objects before any search
    return [StorySpec(job, graph) for graph in chosen]


def gather(specs: Sequence[StorySpec], outcome: Outcome) -> Explanations:
    """Return the explanations of a plan from the outcome of its run.

    Parameters
    ----------
    specs : of `plan_many`; all of one data set.
    outcome : of `run_specs`, which may have run more than these.
    """
    dataset = specs[0].job.data.given
    assert dataset is not None
    why = {failure.spec.id: failure.message for failure in outcome.failures}
    explained = []
    for spec in specs:
        record = outcome.records.get(spec.id)
        story = None if record is None else read_story(record, dataset)
        label = dataset.class_names[dataset[spec.graph].label]
        failure = "" if story else why.get(spec.id, "Not run.")
        explained.append(Explained(spec.graph, label, story, failure))
    return Explanations(dataset, tuple(explained), outcome)


def check_specs(specs: Sequence[StorySpec]) -> None:
    """Raise an error before the run if something cannot be sent to other processes."""
    for job in {id(spec.job): spec.job for spec in specs}.values():
        asked = {name: getattr(job.request, name) for name in job.request.given}
        given = {"oracle": job.oracle.given, "method": job.method.given, **asked}
        check_sendable(**given | {"evaluation": job.evaluation})


# ---- words and objects ----------------------------------------------------------------------


def _chosen(dataset: Dataset, ids: Iterable[str | int] | None) -> list[str]:
    if ids is None:
        return list(dataset.ids)
    if isinstance(ids, (str, int)):
        ids = [ids]
    chosen: dict[str, str | int] = {}
    for one in ids:
        found = dataset.ids[position_of(dataset, one)]
        if found in chosen:
            first = chosen[found]
            also = "" if str(first) == str(one) == found else f" (as {first!r} and {one!r})"
            msg = f"The graph {found!r} is given twice{also}. Give each once."
            raise InvalidParameterError(msg, parameter="ids")
        chosen[found] = one
    if not chosen:
        msg = "ids is empty. Give the graphs to explain, or leave it out for all of them."
        raise InvalidParameterError(msg, parameter="ids")
    return list(chosen)


def _check_request(request: Request, dataset: Dataset, oracle: OracleSpec) -> None:
    """Check, before any search, that the data set and a preset know the target and regions."""
    check_request(request)
    first = dataset.graphs[0]
    nodes = dataset.nodes_of(first)
    if isinstance(request.regions, str):
        nodes.taxonomy(request.regions)
    if constraints := constraints_for(request, nodes):
        BoundConstraints(constraints, first, nodes, Background(dataset.graphs))
    if oracle.kind == "preset" and request.target is not None:  # a preset has only these classes
        subject = Subject(first, "", nodes, dataset)
        target = request.target
        several = target if isinstance(target, (list, tuple)) else [target]
        subject.label_of([str(one) for one in several])


def _oracle(oracle: Any, dataset: Dataset, input: str, batch: bool, *, lasting: bool) -> OracleSpec:
    if oracle is None:
        from denseflip.classifiers.presets import default_preset

        return preset_oracle(default_preset(dataset))
    if not isinstance(oracle, str):
        ready = coerce_oracle(oracle)
        digest = content_id(describe_given(ready, "oracle", lasting=lasting))
        name = getattr(oracle, "__name__", None) or type(oracle).__name__
        return OracleSpec(str(name), "given", digest, given=ready)
    return oracle_of_words(oracle, input=input, batch=batch)


def _method(request: Request, *, lasting: bool) -> MethodSpec:
    ready = method_for(request)
    if isinstance(request.method, str):
        name = request.method
        return MethodSpec(name, {}, ready.parameters, digest=own_digest(name))
    described = describe_given([ready.search, ready.refiners], "method", lasting=lasting)
    return MethodSpec(ready.name, {}, ready.parameters, digest=content_id(described), given=ready)
