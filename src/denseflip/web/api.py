"""The routes of the API, on top of the library, the store and the runner."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Header, HTTPException, Path, Query, Request, UploadFile
from fastapi.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from denseflip._version import __version__
from denseflip.classifiers.presets import PRESETS
from denseflip.datasets import Dataset
from denseflip.datasets.cards import known_words
from denseflip.errors import DenseflipError
from denseflip.oracles.background import Background
from denseflip.reading import Reading
from denseflip.report.brain import packed_surface
from denseflip.search.claims.claim import Amount
from denseflip.search.constraints.constrained_session import constraints_of
from denseflip.story.story import Story
from denseflip.web.app import page_text, static_file
from denseflip.web.downloads import FILES, make_file, story_of
from denseflip.web.example import EXAMPLE, example_job, result_shown
from denseflip.web.job_runner import MOST_WAITING, follow, knows_the_end, said
from denseflip.web.job_store import Job, Store
from denseflip.web.library import Classifier, Library
from denseflip.web.many_jobs import KEPT, tidy
from denseflip.web.payload import judged_words
from denseflip.web.schemas import (
    ErrorAnswer,
    JobRequest,
    TitleRequest,
    WhatIfAnswer,
    WhatIfRequest,
    form_methods,
    form_options,
)
from denseflip.web.uploads import take
from denseflip.workflow.offline_whatif import whatif_data
from denseflip.workflow.subject import Subject
from denseflip.workflow.whatif import WhatIf

PATIENCE = 5.0  # seconds that a page waits for a classifier in use by a job
TRAINING = 20.0  # seconds that a page waits for a classifier in training
UPLOADS_AT_ONCE = 4  # that are read at a time
TURN = 30.0  # seconds that an upload waits for its turn
_ERRORS: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorAnswer} for code in (400, 401, 403, 404, 409, 413, 422, 429, 507)
}
KeyPath = Annotated[str, Path(max_length=120)]
JobPath = Annotated[str, Path(pattern="^[0-9a-f]{16}$")]
KeyQuery = Annotated[str, Query(min_length=1, max_length=120)]
NameQuery = Annotated[str, Query(min_length=1, max_length=300)]

router = APIRouter(responses=_ERRORS)


def _library(request: Request) -> Library:
    found: Library = request.app.state.library
    return found


def _store(request: Request) -> Store:
    found: Store = request.app.state.store
    return found


@contextmanager
def _held(got: Classifier) -> Iterator[None]:
    """Hold a classifier for a page; a job may use a classifier of the user for minutes."""
    take = getattr(got.lock, "acquire", None)
    if take is None:
        yield
        return
    if not take(timeout=PATIENCE):
        raise HTTPException(409, f"{got.key} is in use by a job; try again when it has finished")
    try:
        yield
    finally:
        got.lock.release()  # type: ignore[attr-defined]


def _classifier(library: Library, key: str, name: str | None) -> Classifier:
    """Open a classifier; wait if another thread trains it, but not for minutes."""
    name = name or library.default_classifier(key)
    until = time.monotonic() + TRAINING

    def waiting() -> None:
        if time.monotonic() > until:
            raise HTTPException(409, f"{name} is being trained; try again in a moment")

    return library.classifier(key, name, waiting=waiting)


# ---- pages --------------------------------------------------------------------------------


@router.get("/", include_in_schema=False)
def page() -> HTMLResponse:
    """The app."""
    return HTMLResponse(page_text())


@router.get("/static/{name}", include_in_schema=False)
def static(name: str) -> Response:
    """Return a style or a script."""
    if (found := static_file(name)) is None:
        raise HTTPException(404, "There is no such file")
    return Response(found[0], media_type=found[1], headers={"cache-control": "no-cache"})


@router.get("/api/health")
def health(request: Request) -> dict[str, Any]:
    """Status and version of the server, and the number of jobs that wait or run."""
    state = request.app.state
    return {
        "ok": True,
        "version": __version__,
        "waiting": _store(request).waiting(),
        "workers": state.settings.workers,
        "interrupted": state.interrupted,
        "kept": state.quota.used(),
    }


@router.get("/api/surface")
def surface() -> Response:
    """The surface of a human brain: vertices and faces, packed as base64."""
    return JSONResponse(packed_surface(), headers={"cache-control": "max-age=86400"})


# ---- data sets ----------------------------------------------------------------------------


@router.get("/api/methods")
def list_methods() -> list[dict[str, Any]]:
    """Methods and refinements; those that the form shows first."""
    return form_methods()


@router.get("/api/options")
def list_request_options() -> list[dict[str, Any]]:
    """Options of a request: group, label, help, kind, bounds, choices and default of each."""
    return form_options()


@router.get("/api/datasets")
def list_sets(request: Request) -> list[dict[str, Any]]:
    """Data sets, with sizes and classes."""
    library = _library(request)
    found = []
    for key in library.all_keys():
        try:
            found.append(_facts(library, key, library.dataset(key)))
        except Exception as error:  # list an unreadable one with the reason
            found.append({"key": key, "name": key, "error": said(error)[:300]})
    return found


@router.get("/api/datasets/{key}")
def show_set(request: Request, key: KeyPath) -> dict[str, Any]:
    """One data set: its card, its subjects, and its classifiers with their evaluation."""
    library, store = _library(request), _store(request)
    dataset = library.dataset(key)
    subjects = [
        {"id": x.id, "name": x.id, "class": dataset.class_names[x.label], "edges": x.graph.n_edges}
        for x in dataset
    ]
    extra = [
        {"id": id, "name": name, "class": None, "edges": None} for id, name in library.extras(key)
    ]
    classifiers = []
    identity = library.identity(key)
    for name in library.classifiers(key):
        preset = PRESETS.get(name)
        classifiers.append(
            {
                "key": name,
                "summary": preset.summary if preset else "your own classifier",
                "judged": judged_words(store.judged(identity, name)),
                "can_judge": library.is_preset(name),
            }
        )
    taxonomies = {}
    for name in dataset.nodes.taxonomies:
        taxonomies[name] = list(dataset.nodes.taxonomy(name).regions)
    return _facts(library, key, dataset) | {
        "card": dataset.card.to_dict(),
        "known": known_words(dataset.card, dataset.class_names),
        "subjects": subjects + extra,
        "classifiers": classifiers,
        "default_classifier": library.default_classifier(key),
        "regions": taxonomies,
        "nodes": list(dataset.nodes.names),
    }


@router.delete("/api/datasets/{key}/subjects/{id}", status_code=204)
def drop_graph(request: Request, key: KeyPath, id: KeyPath) -> Response:
    """Delete a graph that was uploaded to a data set."""
    _library(request).remove_graph(key, id)
    return Response(status_code=204)


@router.patch("/api/datasets/{key}")
def rename_set(request: Request, key: KeyPath, asked: TitleRequest) -> dict[str, Any]:
    """Give a data set another title. New results use it; its file is not changed."""
    library = _library(request)
    library.rename(key, asked.title)
    return _facts(library, key, library.dataset(key))


@router.delete("/api/datasets/{key}", status_code=204)
def drop_set(request: Request, key: KeyPath) -> Response:
    """Delete an uploaded data set."""
    _library(request).remove(key)
    _store(request).forget(key)
    return Response(status_code=204)


def _facts(library: Library, key: str, dataset: Dataset) -> dict[str, Any]:
    return {
        "key": key,
        "name": dataset.name,
        "n_graphs": len(dataset),
        "n_nodes": dataset.n_nodes,
        "classes": dataset.class_counts(),
        "taxonomies": list(dataset.nodes.taxonomies),
        "has_coordinates": dataset.nodes.coordinates is not None,
        "uploaded": library.uploaded(key),
    }


@router.post("/api/uploads", status_code=201)
def upload(
    request: Request,
    file: Annotated[UploadFile, File(description="A .dfd, .zip, .json or graph file.")],
    dataset: Annotated[str | None, Form(max_length=120)] = None,
    percentile: Annotated[float | None, Form(ge=0, le=100)] = None,
    options: Annotated[str, Form(max_length=4000, description="Options of a folder.")] = "",
    kind: Annotated[str, Form(max_length=40)] = "auto",
    header: Annotated[str, Form(max_length=40)] = "auto",
    decimal: Annotated[str, Form(max_length=40)] = "auto",
    first_node: Annotated[int | None, Form(ge=0, le=1)] = None,
) -> dict[str, Any]:
    """Upload a data set, a folder as zip, one graph, or a saved result.

    `options` is a JSON object with the options of an import: the label table, the node table, and
    what is left out.
    """
    state = request.app.state
    if not state.uploading.acquire(timeout=TURN):
        raise HTTPException(429, "Too many uploads at once; try again later")
    try:
        return take(
            file.file.read(state.settings.max_upload + 1),
            file.filename or "upload",
            state.quota,
            dataset=dataset or None,
            percentile=percentile,
            options=options,
            reading=Reading(kind, header, decimal, first_node),
        )
    finally:
        state.uploading.release()


# ---- jobs -----------------------------------------------------------------------------------


def _job(request: Request, id: str) -> Job:
    job = _store(request).get(id)
    if job is None:
        raise HTTPException(404, f"There is no job {id}")
    return job


def _shown(request: Request, id: str) -> Job:
    """Return a job to look at: one of the store, or the worked example."""
    return example_job() if id == EXAMPLE else _job(request, id)


def _result(request: Request, job: Job) -> dict[str, Any]:
    if (found := result_shown(_store(request), job.id)) is None:
        raise HTTPException(409, f"This job has no result ({job.status})")
    return found


def _room(request: Request) -> None:
    if _store(request).waiting() >= MOST_WAITING:
        raise HTTPException(429, f"{MOST_WAITING} jobs are already waiting; try again later")
    request.app.state.quota.check_job()


@router.post("/api/jobs", status_code=201, response_model=Job)
def submit(request: Request, asked: JobRequest) -> Job:
    """Start a job: explain one or many subjects, compare methods, evaluate a classifier.

    An explanation from a job of many (`of`) that was requested before is returned again.
    """
    if asked.classifier is None:
        name = request.app.state.library.default_classifier(asked.dataset)
        asked = asked.model_copy(update={"classifier": name})
    request.app.state.work.check(asked)
    if asked.of is not None and (known := _store(request).one_of(asked.of, asked.subject)):
        return known
    _room(request)
    job: Job = request.app.state.runner.submit(asked.kind, asked.model_dump())
    return job


@router.get("/api/jobs", response_model=list[Job])
def list_jobs(request: Request, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> list[Job]:
    """List the newest jobs."""
    return _store(request).recent(limit)


@router.get("/api/jobs/{id}", response_model=Job)
def show_job(request: Request, id: JobPath) -> Job:
    """Return one job; the worked example has an id of zeros."""
    return _shown(request, id)


@router.delete("/api/jobs/{id}", status_code=204)
def drop_job(request: Request, id: JobPath) -> Response:
    """Delete a job that has ended, with its result."""
    job = _job(request, id)
    if not _store(request).remove(id):
        raise HTTPException(409, f"This job has not ended ({job.status}); cancel it first")
    tidy(_library(request).folder, _store(request))
    return Response(status_code=204)


@router.post("/api/jobs/{id}/cancel", response_model=Job)
def cancel_job(request: Request, id: JobPath) -> Job:
    """Stop a job."""
    job = _job(request, id)
    if not request.app.state.runner.cancel(id):
        raise HTTPException(409, f"This job has already ended ({job.status})")
    return _job(request, id)


@router.post("/api/jobs/{id}/again", response_model=Job)
def rerun_job(request: Request, id: JobPath) -> Job:
    """Run a job again that failed, was interrupted or cancelled."""
    job = _job(request, id)
    _room(request)
    if job.kind == "brought" or not request.app.state.runner.again(id):
        raise HTTPException(
            409, f"Only a job without a result can be run again; this one is {job.status}"
        )
    return _job(request, id)


@router.get("/api/jobs/{id}/result")
def job_result(request: Request, id: JobPath) -> Response:
    """The result of a job; for many graphs, the index."""
    result = _result(request, _shown(request, id))
    result.pop(KEPT, None)  # stories of many graphs, and their files
    return JSONResponse(result)


@router.get("/api/jobs/{id}/files/{name}")
def job_file(
    request: Request,
    id: JobPath,
    name: Annotated[str, Path(max_length=40)],
    answer: Annotated[int | None, Query(ge=0, le=1000)] = None,
) -> Response:
    """A file to download: report.html, result.json, edits.csv, regions.csv, reference.csv,
    reference.svg, brain.node, brain.edge; of many graphs index.html, result.json,
    explanations.csv, edits.csv, regions.csv, reference.csv; of a cohort
    cohort.html, cohort.tsv, result.json.
    """
    job = _shown(request, id)
    if name not in FILES:
        raise HTTPException(404, f"There is no such file. Available: {', '.join(FILES)}")
    result = _result(request, job)
    alive = _alive(request, job, result, answer) if name == "report.html" else None
    text = make_file(name, result, answer=answer, whatif=alive)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=FILES[name], headers=headers)


def _alive(
    request: Request, job: Job, result: dict[str, Any], answer: int | None
) -> dict[str, Any] | None:
    """Return the data of the "what if" panel; None if data or classifier changed since the job."""
    if job.kind != "explain":
        return None
    library = _library(request)
    asked = job.request
    try:
        subject = library.subject(asked["dataset"], asked["subject"])
        got = _classifier(library, asked["dataset"], asked["classifier"])
        story = story_of(result, answer)
        if story.result.original != subject.graph:
            return None
        with _held(got):
            data = whatif_data(subject, got.oracle, story=story)
    except DenseflipError:
        return None
    same = data is not None and data["before"] == story.result.label_before
    return data if same and data is not None and data["model"] is not None else None


@router.get("/api/jobs/{id}/events")
async def job_events(
    request: Request,
    id: JobPath,
    last: Annotated[str | None, Header(alias="last-event-id", max_length=100)] = None,
) -> Response:
    """Progress of a job as server-sent events ``progress``, until it ends.

    A client that reconnects with the id of the last event gets what is new, or 204 if there is
    nothing to come.
    """
    state = request.app.state
    job = await asyncio.to_thread(_job, request, id)
    if knows_the_end(state.runner, job, last):
        return Response(status_code=204)
    place = state.streams.enter()
    if place is None:
        raise HTTPException(429, f"{state.streams.most} streams are already open; close some")
    return StreamingResponse(
        follow(state.runner, job, state.streams, place, last),
        media_type="text/event-stream",
        headers={"cache-control": "no-store", "x-accel-buffering": "no"},
    )


# ---- what if --------------------------------------------------------------------------------


@router.get("/api/whatif")
def whatif_model(
    request: Request,
    dataset: KeyQuery,
    subject: NameQuery,
    classifier: NameQuery | None = None,
    regions: Annotated[str | None, Query(max_length=300)] = None,
    job: Annotated[str | None, Query(pattern="^[0-9a-f]{16}$")] = None,
    answer: Annotated[int | None, Query(ge=0, le=1000)] = None,
) -> Response:
    """The graph by region, and the weights of the classifier if it is linear in the edges."""
    library = _library(request)
    found = library.subject(dataset, subject)
    got = _classifier(library, dataset, classifier)
    story = _story_about(request, found, job, answer)
    chosen = None if regions is None else library.dataset(dataset).nodes.taxonomy(regions)
    with _held(got):
        data = whatif_data(found, got.oracle, story=story, regions=chosen)
    if data is None:
        raise HTTPException(413, "This graph has too many nodes to be changed by hand")
    return JSONResponse(data)


def _story_about(
    request: Request, subject: Subject, job: str | None, answer: int | None
) -> Story | None:
    """Return the explanation of a job about this graph; None without a job."""
    stored = result_shown(_store(request), job) if job else None
    story = story_of(stored, answer) if stored and "story" in stored else None
    if story is not None and story.result.original != subject.graph:
        raise HTTPException(409, "That job is about another graph")
    return story


@router.post("/api/whatif", response_model=WhatIfAnswer)
def whatif(request: Request, asked: WhatIfRequest) -> dict[str, Any]:
    """Query the classifier about a graph that was changed by hand."""
    library = _library(request)
    found = library.subject(asked.dataset, asked.subject)
    got = _classifier(library, asked.dataset, asked.classifier)
    nodes = library.dataset(asked.dataset).nodes
    regions = nodes.taxonomy(asked.regions) if nodes.regions else None
    story = _story_about(request, found, asked.job, asked.answer)
    others = None if found.background is None else Background.of(found.background)
    terms = None if story is None else constraints_of(story.result, nodes, others)[0]
    with _held(got):
        said = WhatIf(found.graph, got.oracle, regions, background=others, terms=terms).ask(
            [Amount((c.a, c.b), c.more, c.fewer) for c in asked.cells],
            asked.pairs,
            reading=asked.reading,
            target=found.label_of(asked.target, got.oracle),
            draws=asked.draws,
            seed=asked.seed,
            first=asked.first,
            balance=asked.balance,
        )
    names = found.names_for(got.oracle) or {}
    before, after = (str(names.get(label, label)) for label in (said.before, said.label))
    return asdict(said) | {"before": before, "label": after}
