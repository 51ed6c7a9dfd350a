"""What a worker does for each kind of experiment, in any process: explain, describe, evaluate.

Data set, oracle and derived values (labels, contrasts) are computed once per process and kept for
chunks of the same data set and oracle.
"""

from __future__ import annotations

import pickle
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from denseflip.classifiers.refits import keep_refits, kept_refits
from denseflip.counterfactual import Counterfactual, Label
from denseflip.datasets import Dataset
from denseflip.errors import OracleError
from denseflip.experiments.plan import build_method, distance_and_calls
from denseflip.experiments.records import columns_of, result_record, story_record
from denseflip.experiments.spec import PLAIN, ClassifierSpec, MeasureSpec, RunSpec, StorySpec
from denseflip.graph import Graph
from denseflip.metrics import Case, Planted
from denseflip.oracles.background import Background
from denseflip.oracles.base_session import BaseSession
from denseflip.oracles.protocol import ABILITIES, Oracle, about_graph, own_ability
from denseflip.oracles.session import Session
from denseflip.runs.identity import canonical_json, content_id
from denseflip.runs.result_store import Record, make_record
from denseflip.runs.sources import (
    DataSpec,
    OracleSpec,
    evaluate_oracle_of,
    load_data,
    load_oracle_of,
)
from denseflip.runs.spec_base import Listener
from denseflip.search.explain import explain
from denseflip.story.describe import describe
from denseflip.story.story import Story
from denseflip.threads import single_thread
from denseflip.workflow.explain_and_describe import explain_and_describe, refits_for
from denseflip.workflow.subject import Subject

_KEEP = 2  # contexts kept per process


class TimedOracle:
    """An oracle that measures its time and counts the graphs that it labels.

    Everything else of the oracle (``predict_edits``, ``gradient``, ``predict_proba``, ``classes``,
    ``card`` …) is passed through; queries are timed.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.oracle = oracle
        self.seconds = 0.0
        self.graphs = 0

    def predict(self, graphs: Sequence[Graph]) -> Any:
        """The oracle's answer."""
        return self._timed(self.oracle.predict, graphs)

    @property
    def predict_edits(self) -> Callable[..., Any]:
        """The oracle's answer about edits, if it supports them."""
        return partial(self._timed, own_ability(self.oracle, "predict_edits"))

    @property
    def gradient(self) -> Callable[[Graph, Label], Any]:
        """The oracle's gradient, if it has one."""
        inner = own_ability(self.oracle, "gradient")
        return lambda graph, label: self._timed(lambda graphs: inner(graphs[0], label), [graph])

    def __getattr__(self, name: str) -> Any:
        if name in ("oracle", *ABILITIES) or name.startswith("__"):  # missing, or being unpickled
            raise AttributeError(name)
        found = getattr(self.oracle, name)
        return partial(self._timed, found) if name == "predict_proba" else found

    def _timed(self, function: Callable[..., Any], *given: Any) -> Any:
        started = time.perf_counter()
        try:
            return function(*given)
        finally:
            self.seconds += time.perf_counter() - started
            self.graphs += len(given[-1])  # graphs, or the edits of one


class _Readable(Background):
    """The graphs of a data set that an oracle can label."""

    def has(self, graph: Graph) -> bool:
        """Whether this graph is one of them."""
        return any(graph is other for other in self.graphs)


class _Unlabelled(Background):
    """A background whose labels could not be computed; they are not queried again."""

    def __init__(self, graphs: Sequence[Graph], error: OracleError) -> None:
        super().__init__(graphs)
        self.error = error

    def labels(self, session: BaseSession) -> list[Label]:
        """Raise the error of the oracle."""
        raise self.error


class Context:
    """A data set and an oracle, ready for queries; all explanations share one background."""

    def __init__(self, dataset: Dataset, oracle: Oracle) -> None:
        self.dataset = dataset
        self.oracle = TimedOracle(oracle)
        self.background = Background.of(dataset)
        self._others: _Readable | None = None

    @cached_property
    def labels(self) -> list[Label]:
        """The oracle's label of every graph of the data set."""
        return self.background.labels(Session(self.oracle))

    def explain(self, spec: RunSpec) -> Counterfactual:
        """Explain one graph."""
        method, request = spec.job.method, spec.job.request
        if method.reading != PLAIN:
            request = replace(request, method=build_method(method), parameters={})
        dataset, refits, graph = self.dataset, None, self.dataset[spec.graph].graph
        if request.stable is not None:
            subject = Subject(graph, spec.graph, dataset.nodes_of(graph), dataset)
            refits = refits_for(subject, self.oracle, "auto", request)
        result = explain(
            graph,
            self.oracle,
            nodes=dataset.nodes_of(graph),
            background=self.background,
            refits=refits,
            request=request,
        )
        return replace(result, method=method.name)

    def describe(self, spec: StorySpec, on_event: Listener | None = None) -> Story:
        """Explain one graph and describe the result.

        Graphs of the data set that the oracle fails on are reported as failures; the others are
        explained without them, with a note.
        """
        try:
            return self._describe(spec, self.background, on_event)
        except OracleError as error:
            readable, n_failing = self._readable()
            if readable is None or not readable.has(self.dataset[spec.graph].graph):
                raise
            self.background = _Unlabelled(self.background.graphs, error)
        story = self._describe(spec, readable, on_event)
        note = (
            f"The classifier fails on {n_failing} of the {len(self.dataset)} graphs of the data "
            f"set; this answer was found without them."
        )
        notes = (*story.result.notes, note)
        return replace(story, result=replace(story.result, notes=notes))

    def _describe(
        self, spec: StorySpec, background: Background, on_event: Listener | None
    ) -> Story:
        job, dataset, graph = spec.job, self.dataset, self.dataset[spec.graph].graph
        subject = Subject(graph, spec.graph, dataset.nodes_of(graph), dataset, dataset.name)
        return explain_and_describe(
            subject,
            self.oracle,
            evaluation=job.evaluation,
            background=background,
            on_event=on_event,
            request=job.request,
        )

    def _readable(self) -> tuple[_Readable | None, int]:
        """Return the graphs that the oracle can label, unless it fails on none or on all."""
        if self._others is None:
            kept = []
            for graph in self.dataset.graphs:
                with suppress(OracleError):
                    Session(self.oracle).query(graph)
                    kept.append(graph)
            self._others = _Readable(kept)
        n_failing = len(self.dataset) - len(self._others)
        return (self._others if 0 < n_failing < len(self.dataset) else None), n_failing

    def case(self, result: Counterfactual, wanted: MeasureSpec) -> Case:
        """Return an explanation with all that its measures need."""
        nodes = self.dataset.nodes_of(result.original)
        session = Session(about_graph(self.oracle, result.original, result.target))
        return Case(
            result,
            regions=nodes.taxonomy(wanted.regions) if nodes.regions else None,
            background=list(zip(self.dataset.graphs, self.labels, strict=True)),
            true_labels=self.background.true_labels(session) if result.by_true_labels else None,
            session=session,
            robustness=wanted.robustness,
            minimality=wanted.minimality,
            statement=wanted.statement,
            draws=wanted.as_read,
            nodes=nodes,
            story=self._story(result, wanted, session) if wanted.statement else None,
            planted=planted_in(self.dataset),
        )

    def _story(self, result: Counterfactual, wanted: MeasureSpec, session: Session) -> Story | None:
        if not result.found or not len(result.edits):
            return None
        # If the result has chosen its regions, use those.
        regions = wanted.regions if result.as_read is None else None
        return describe(
            result,
            self.dataset.nodes_of(result.original),
            session,
            regions=regions,
            background=self.background,
            draws=wanted.as_read,
            seed=result.seed,
        )


def planted_in(dataset: Dataset) -> Planted | None:
    """Return the planted differences of a synthetic data set; None for a real one."""
    planted = dataset.attributes.get("planted")
    if not isinstance(planted, Mapping):
        return None
    first, second = planted["regions"]
    return Planted(planted["taxonomy"], (first, second))


_local = threading.local()  # one context per thread: its timer and caches are not thread-safe


def get_context(data: DataSpec, oracle: OracleSpec) -> Context:
    """Return the context of a data set and an oracle, from memory if possible."""
    contexts = _contexts()
    key = _context_key(data, oracle)
    if key not in contexts:
        dataset = load_data(data)
        _keep(key, Context(dataset, load_oracle_of(oracle, dataset)))
    contexts.move_to_end(key)
    return contexts[key]


def share_context(data: DataSpec, oracle: OracleSpec, folder: Path) -> str | None:
    """Save a context to a file for other processes; None if it is not worth it.

    A classifier that is trained on the data set is trained once, here, and sent to the workers,
    which need not import what only training needs. Its refits are sent with it, if this process has
    needed them. Other classifiers are opened by each worker:
    they may be anything, and a crash should not affect this process. If the context cannot be
    created or sent, each worker creates its own and reports the problem.
    """
    if oracle.kind != "preset":
        return None
    path = folder / f"{content_id(_context_key(data, oracle))[:16]}.pickle"
    if not path.exists():
        try:
            with single_thread():
                context = get_context(data, oracle)
                assert context.labels
            sent = (context, kept_refits(context.oracle))
            path.write_bytes(pickle.dumps(sent, pickle.HIGHEST_PROTOCOL))
        except Exception:  # the worker meets the same error and reports it
            return None
    return str(path)


def receive_context(data: DataSpec, oracle: OracleSpec, path: str) -> None:
    """Load a context that `share_context` has saved, unless it is already in memory."""
    key = _context_key(data, oracle)
    if key not in _contexts():
        with suppress(OSError):  # deleted meanwhile: this worker creates its own
            context, refits = pickle.loads(Path(path).read_bytes())
            _keep(key, context)
            keep_refits(context.oracle, refits)


def _contexts() -> OrderedDict[str, Context]:
    if not hasattr(_local, "contexts"):
        _local.contexts = OrderedDict()
    contexts: OrderedDict[str, Context] = _local.contexts
    return contexts


def _keep(key: str, context: Context) -> None:
    contexts = _contexts()
    contexts[key] = context
    while len(contexts) > _KEEP:
        contexts.popitem(last=False)


def _context_key(data: DataSpec, oracle: OracleSpec) -> str:
    return canonical_json(
        [data.digest, data.name, oracle.kind, oracle.name, oracle.digest, dict(oracle.options)]
    )


def run_one(spec: RunSpec) -> Record:
    """Explain one graph and measure the explanation."""
    started = time.perf_counter()
    job = spec.job
    context = get_context(job.data, job.oracle)
    ready = time.perf_counter()
    oracle_before, graphs_before = context.oracle.seconds, context.oracle.graphs
    result = context.explain(spec)
    searched, oracle_search = time.perf_counter(), context.oracle.seconds
    row = columns_of(context.case(result, job.measures))
    row["label_true"] = context.dataset[spec.graph].label
    row["d"], row["C"] = distance_and_calls(result, job.method.reading)
    done = time.perf_counter()
    times = {
        "search": searched - ready,
        "search_oracle": oracle_search - oracle_before,
        "measures": done - searched,
        "oracle": context.oracle.seconds - oracle_before,
        "total": done - started,
        "evaluations": context.oracle.graphs - graphs_before,
    }
    return result_record(spec.identity, result, row, times)


def story_one(spec: StorySpec, on_event: Listener | None = None) -> Record:
    """Explain one graph and describe the result."""
    started = time.perf_counter()
    context = get_context(spec.job.data, spec.job.oracle)
    ready = time.perf_counter()
    oracle_before, graphs_before = context.oracle.seconds, context.oracle.graphs
    story = context.describe(spec, on_event)
    done = time.perf_counter()
    times = {
        "search": story.result.elapsed,
        "measures": done - ready - story.result.elapsed,
        "oracle": context.oracle.seconds - oracle_before,
        "total": done - started,
        "evaluations": context.oracle.graphs - graphs_before,
    }
    return story_record(spec.identity, story, times)


def judge(spec: ClassifierSpec) -> Record:
    """A row of Table 1: evaluate a classifier by the paper's protocol and by ours (D12)."""
    started = time.perf_counter()
    context = get_context(spec.data, spec.oracle)
    dataset = context.dataset
    answers = context.labels
    right = [a == b for a, b in zip(answers, dataset.labels, strict=True)]
    row: dict[str, Any] = {
        "n_graphs": len(dataset),
        "class_counts": list(dataset.class_counts().values()),
        "n_nodes": dataset.n_nodes,
        "mean_edges": sum(g.n_edges for g in dataset.graphs) / len(dataset),
        "accuracy": sum(right) / len(right),
        "f1": _f1(list(dataset.labels), answers) if dataset.n_classes == 2 else None,
        "predicted": [sum(a == c for a in answers) for c in range(dataset.n_classes)],
        "honest": None,
    }
    judged = evaluate_oracle_of(
        spec.oracle,
        dataset,
        folds=spec.folds,
        repeats=spec.repeats,
        permutations=spec.permutations,
        seed=spec.seed,
    )
    if judged is not None:
        row["honest"] = judged.to_dict()
    return make_record(spec.identity, result=row, times={"total": time.perf_counter() - started})


def _f1(truth: list[int], answers: list[Any]) -> float:
    hits = sum(t == 1 and a == 1 for t, a in zip(truth, answers, strict=True))
    both = sum(t == 1 for t in truth) + sum(a == 1 for a in answers)
    return 2 * hits / both if both else 0.0
