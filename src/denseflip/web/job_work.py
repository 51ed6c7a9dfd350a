"""What jobs do: evaluate a classifier, explain one or many graphs, compare methods."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from typing import Any

from denseflip.classifiers.crossval import evaluate
from denseflip.classifiers.presets import PRESET_WORDS, PRESETS
from denseflip.cohort.explain_cohort import explain_cohort
from denseflip.cohort.settings import MAX_CELLS
from denseflip.cohort.stats import check_permutations
from denseflip.constraints import Constraints
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.files import try_lock
from denseflip.oracles.background import Background
from denseflip.oracles.progress import Progress
from denseflip.oracles.session import Event, Session
from denseflip.request import OF_COHORT, PER_METHOD, Request
from denseflip.search.constraints.bound_constraints import bind_constraints
from denseflip.search.core.refinement import REFINER_WORDS, REFINERS
from denseflip.search.explain import constraints_for
from denseflip.search.methods.registry import ALIASES, METHOD_WORDS, METHODS, method_for
from denseflip.web.job_runner import JobProgress
from denseflip.web.job_store import Job
from denseflip.web.many_jobs import FOLDER, check_of, plan, result_of, run, story_in
from denseflip.web.payload import cohort_of, judged_words, replay_of, row_of, view_of
from denseflip.web.schemas import OPTIONS, TIME_LIMIT, JobRequest
from denseflip.web.server_config import ServerSettings
from denseflip.web.single_flight import LOOK
from denseflip.web.uploads import Quota
from denseflip.workflow.compare import COMPARED, compare
from denseflip.workflow.explain_and_describe import (
    check_request,
    describe_answers,
    explain_and_describe,
    json_record,
)
from denseflip.workflow.subject import Subject
from denseflip.workflow.whatif import WhatIf

LEVEL = 0.05  # significance level of a cohort
#: Kinds of jobs that do not use all options of a request: what they are, and what they use.
_USES: dict[str, tuple[str, frozenset[str]]] = {
    "compare": ("a comparison of methods", frozenset(OPTIONS) - {*PER_METHOD, "n"}),
    "cohort": (
        "what a group has in common",
        frozenset({*OF_COHORT, *(f.name for f in fields(Constraints))}),
    ),
    "judge": ("the evaluation of a classifier", frozenset()),
}

Done = tuple[dict[str, Any], dict[str, Any]]


def check_method(name: str) -> str:
    """Return the name of a registered method; refuse modules."""
    base, *suffixes = name.strip().lower().split("+")
    if ALIASES.get(base, base) not in METHODS:
        raise UnknownNameError("method", base, METHODS, aliases=METHOD_WORDS, parameter="method")
    for suffix in suffixes:
        if suffix not in REFINERS:
            raise UnknownNameError(
                "refinement", suffix, REFINERS, aliases=REFINER_WORDS, parameter="method"
            )
    return name


class Work:
    """Runs the jobs of one server."""

    def __init__(self, settings: ServerSettings, quota: Quota) -> None:
        self.settings, self.quota = settings, quota
        self.library, self.store = quota.library, quota.store

    def __call__(self, job: Job, live: JobProgress) -> Done:
        """Run one job."""
        self.quota.check_job()  # earlier jobs may have filled the folder
        asked = JobRequest.model_validate(job.request)
        kinds: dict[str, Callable[[JobRequest, JobProgress], Done]] = {
            "judge": self.judge,
            "explain": self.explain,
            "compare": self.compare,
            "cohort": self.cohort,
            "many": partial(self.many, job.id),
        }
        return kinds[asked.kind](asked, live)

    def check(self, asked: JobRequest) -> None:
        """Refuse an invalid request before it is queued."""
        request = asked.request()
        if asked.of is not None and asked.kind != "explain":
            msg = f"`of` applies to kind 'explain', not to {asked.kind!r}. Leave it out."
            raise InvalidParameterError(msg, parameter="of")
        _check_taken(asked.kind, request)
        check_request(request)
        if asked.classifier not in (known := self.library.classifiers(asked.dataset)):
            raise UnknownNameError(
                "classifier", asked.classifier, known, aliases=PRESET_WORDS, parameter="classifier"
            )
        dataset = self.library.dataset(asked.dataset)
        if asked.regions is not None:
            dataset.nodes.taxonomy(asked.regions)
        if asked.kind == "cohort":
            if not self.library.is_preset(asked.classifier):
                msg = (
                    "A cohort needs a classifier that can be retrained. Choose one of "
                    f"{', '.join(PRESETS)}."
                )
                raise InvalidParameterError(msg, parameter="classifier")
            check_permutations(asked.permutations, LEVEL)
        if asked.kind == "many":
            check_method(asked.method)
            plan(asked, dataset, self.library.words_of(asked.classifier), request)
        if asked.kind in ("judge", "cohort", "many"):
            return
        for name in asked.methods if asked.kind == "compare" else (asked.method,):
            method_for(replace(request, method=check_method(name)))
        if asked.subject is None:
            msg = f"Choose a graph of {asked.dataset!r} to explain."
            raise InvalidParameterError(msg, parameter="subject")
        subject = self.library.subject(asked.dataset, asked.subject)
        if self.library.is_preset(asked.classifier):
            subject.label_of(asked.target)
        if constraints := constraints_for(request, subject.nodes):
            others = None if subject.background is None else Background.of(subject.background)
            bind_constraints(constraints, subject.graph, subject.nodes, others)
        if asked.of is not None:
            check_of(asked, self.store)

    # ---- kinds of job -----------------------------------------------------------------------

    def judge(self, asked: JobRequest, live: JobProgress) -> Done:
        """Evaluate a classifier on held-out graphs."""
        found = self._judged(asked.dataset, asked.classifier, live)
        if found is None:
            msg = "This classifier cannot be evaluated here, because it is not trained here."
            raise InvalidParameterError(msg, parameter="classifier")
        return {"level": found["level"], "verdict": found["verdict"]}, {"evaluation": found}

    def explain(self, asked: JobRequest, live: JobProgress) -> Done:
        """Explain one subject by one method: sentence, Pareto front, pictures, replay."""
        subject, oracle, lock, evaluation = self._prepare(asked, live)
        with lock:
            if asked.of is not None:
                assert subject.dataset is not None
                check_of(asked, self.store)  # the other job may have been deleted meanwhile
                kept, words = self.store.result(asked.of), self.library.words_of(asked.classifier)
                story = story_in(kept, str(asked.subject), subject.dataset, words, oracle)
            else:
                check_method(asked.method)
                story = explain_and_describe(
                    subject,
                    oracle,
                    evaluation=evaluation,
                    on_event=_Listener(live, asked.method),
                    request=asked.request(),
                )
            live.tell(now=True, stage="telling")
            front = describe_answers(story, oracle, background=subject.background)
            live.tell(now=True, stage="replaying")
            what_if = WhatIf(subject.graph, oracle)
            session = Session(oracle, confidence=what_if.confident)
            replay = replay_of(story, session, confident=what_if.confident)
        view = view_of(story, front) | {"replay": replay, "confident": what_if.confident}
        result = {
            "view": view,
            "story": story.to_dict(),
            "front": [one.to_dict() for one in front] if len(front) > 1 else [],
            "record": json_record(story, front if len(front) > 1 else ()),
            "card": dict(getattr(oracle, "card", {}) or {}),
        }
        summary = {
            "found": story.result.found,
            "title": view["title"],
            "short": story.short,
            "level": story.badge.level,
        }
        return summary, result

    def compare(self, asked: JobRequest, live: JobProgress) -> Done:
        """Explain one subject by several methods."""
        subject, oracle, lock, evaluation = self._prepare(asked, live)
        names = [check_method(name) for name in asked.methods or COMPARED]
        rows = []
        with lock:
            heard = _Listener(live, names[0])
            for row in compare(
                subject,
                oracle,
                names,
                evaluation=evaluation,
                progress=heard.rename,
                on_event=heard,
                request=asked.request(),
            ):
                rows.append(row)
                live.tell(now=True, rows=len(rows), of=len(names))
        result = {
            "rows": [row_of(row) for row in rows],
            "classified": next(
                (r.story.classified for r in rows if r.story and r.story.true_class), ""
            ),
            "record": [row.to_dict() for row in rows],
            "stories": {r.method: r.story.to_dict() for r in rows if r.story is not None},
            "card": dict(getattr(oracle, "card", {}) or {}),
        }
        found = sum(row.story is not None and row.story.result.found for row in rows)
        return {"title": f"{subject.name}: {len(rows)} methods", "found": found > 0}, result

    def cohort(self, asked: JobRequest, live: JobProgress) -> Done:
        """Find what the explanations of all subjects have in common, and test it."""
        live.tell(now=True, stage="judging")
        request = asked.request()
        found = explain_cohort(
            self.library.dataset(asked.dataset),
            asked.classifier,
            regions=request.regions,
            permutations=asked.permutations,
            level=LEVEL,
            seed=request.seed,
            constraints=request.constraints.given,
            max_cells=request.max_cells or MAX_CELLS,
            in_range=request.in_range,
            balance=request.balance,
            vocabulary=request.vocabulary,
            engine="serial",
            progress=lambda done, of: live.tell(stage="permuting", done=done, of=of),
        )
        result = {"cohort": cohort_of(found), "record": found.to_dict(), "tsv": found.to_tsv()}
        title = f"{found.dataset}: what explanations of {asked.classifier} have in common"
        return {"title": title, "found": found.verdict == "named"}, result

    def many(self, id: str, asked: JobRequest, live: JobProgress) -> Done:
        """Explain every graph of a data set or of some classes; return an index."""
        live.tell(now=True, stage="training")
        dataset = self.library.dataset(asked.dataset)
        got = self.library.classifier(asked.dataset, asked.classifier, waiting=live.tell)
        evaluation = self._judged(asked.dataset, asked.classifier, live)
        words = self.library.words_of(asked.classifier)
        specs = plan(asked, dataset, words, asked.request(), evaluation)
        heard = _Listener(live, asked.method)

        def progress(done: int, of: int) -> None:
            heard.rename(asked.method)
            live.tell(now=True, stage="explaining", done=done, of=of)

        where = self.library.folder / FOLDER / id
        # A job that was cancelled and run again waits until its last process has ended.
        with self._alone(f"many-{id}", live):
            found = run(specs, where, progress=progress, on_event=heard, lock=got.lock)
        live.tell(now=True, stage="saving")
        card = dict(getattr(got.oracle, "card", {}) or {})
        result = result_of(found, asked, evaluation, card)
        whole = len(found) == len(dataset)
        whom = f"all {len(found):,}" if whole else f"{len(found):,} {', '.join(asked.classes)}"
        title = f"{dataset.name}, many subjects ({whom.strip()})"
        return {"title": title, "found": bool(result["many"]["found"])}, result

    # ---- shared by all ---------------------------------------------------------------------

    def _prepare(self, asked: JobRequest, live: JobProgress) -> tuple[Subject, Any, Any, Any]:
        assert asked.subject is not None
        live.tell(now=True, stage="training")
        subject = self.library.subject(asked.dataset, asked.subject)
        got = self.library.classifier(asked.dataset, asked.classifier, waiting=live.tell)
        evaluation = self._judged(asked.dataset, asked.classifier, live)
        live.tell(now=True, stage="searching", judged=judged_words(evaluation))
        return subject, got.oracle, got.lock, evaluation

    def _judged(self, key: str, name: str, live: JobProgress) -> dict[str, Any] | None:
        """Evaluate a classifier, once; other jobs that need it wait."""
        dataset, identity = self.library.marked(key)
        if not self.library.is_preset(name):
            return self.store.judged(identity, name)
        folds = min(5, *(n for n in dataset.class_counts().values() if n))
        with self._alone(f"judging-{identity}-{name}", live, stage="judging"):
            known = self.store.judged(identity, name)
            if known is not None or folds < 2:
                return known
            repeats, permutations = self.settings.repeats, self.settings.permutations
            live.tell(now=True, stage="judging", done=0, of=repeats + permutations)
            made = evaluate(
                dataset,
                name,
                folds=folds,
                repeats=repeats,
                permutations=permutations,
                progress=lambda done, of: live.tell(done=done, of=of),
            ).to_dict()
            self.store.judge(identity, name, made)
            return made

    @contextmanager
    def _alone(self, what: str, live: JobProgress, **facts: Any) -> Iterator[None]:
        """Wait until no other job of this server does the same; the lock ends with its process."""
        folder = self.library.folder / "locks"
        folder.mkdir(exist_ok=True)
        name = hashlib.sha256(what.encode()).hexdigest()[:32]
        with (folder / name).open("a+b") as handle:
            while not try_lock(handle):
                live.tell(**facts)
                time.sleep(LOOK)
            yield


class _Listener(Progress):
    """Reports the progress of a search to the page."""

    def __init__(self, live: JobProgress, method: str) -> None:
        super().__init__()
        self.live = live
        self.rename(method)

    def rename(self, method: str) -> None:
        """Start again for another search."""
        self.restart()
        self.live.tell(method=method, calls=0, best=None)

    def __call__(self, event: Event) -> None:
        """Update from an event; raises `Stopped` if the job was cancelled."""
        super().__call__(event)
        self.live.tell(calls=self.calls, best=self.best)


def _check_taken(kind: str, request: Request) -> None:
    """Refuse options that a job of this kind does not use."""
    if kind not in _USES:
        return
    what, used = _USES[kind]
    given = {**request.given, **request.given.get("constraints", {})}
    for name in given:
        default = name == "time_limit" and given[name] == TIME_LIMIT
        if name != "constraints" and name not in used and not default:
            msg = f"{name} does not apply to {what}. Leave it out."
            raise InvalidParameterError(msg, parameter=name)
