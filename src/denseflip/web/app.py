"""`create_app`: the page and the API of one server."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING

from denseflip._version import __version__
from denseflip.datasets.atlas import ATLASES
from denseflip.datasets.cards import KNOWN_OF_MICE
from denseflip.errors import (
    DenseflipError,
    MissingExtraError,
    MissingInputError,
    StoreError,
    TooLargeError,
    UnknownNameError,
)
from denseflip.reading import FILE_KINDS, reading_options
from denseflip.report.html import SCRIPTS, asset, environment
from denseflip.report.palette import app_variables
from denseflip.story.wording.marks import HOLDS
from denseflip.table_options import table_options
from denseflip.web.guard import Guard, error_body
from denseflip.web.job_runner import said
from denseflip.web.server_config import ServerSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

# In the order in which the page loads them; those that are not ours are shared with the report.
_STYLES = ("colours.css", "app.css", "answer.css", "strip.css", "connectome.css", "whatif.css")
_SCRIPTS = (
    *("elements.js", "whatif.js", "panel.js", *SCRIPTS, "pictures.js", "asking.js", "sides.js"),
    *("index.js", "replay.js", "options.js", "constraints.js", "steps.js", "app.js"),
)
STATIC = dict.fromkeys(_STYLES, "text/css; charset=utf-8") | dict.fromkeys(
    _SCRIPTS, "text/javascript; charset=utf-8"
)
_STATUS: tuple[tuple[type[DenseflipError], int], ...] = (
    (UnknownNameError, 404),
    (TooLargeError, 413),
    (MissingInputError, 400),
    (MissingExtraError, 501),
    (StoreError, 507),  # the folder or the disk is full
)


def create_app(settings: ServerSettings) -> FastAPI:
    """The app over one data folder.

    Parameters
    ----------
    settings : settings of the server; checked here.

    Raises
    ------
    MissingExtraError
        If FastAPI is not installed.
    StoreError
        If another server uses the data folder.
    """
    try:
        from fastapi import FastAPI
    except ImportError as error:
        raise MissingExtraError("fastapi", "web") from error
    from denseflip.web.api import UPLOADS_AT_ONCE, router
    from denseflip.web.folder_lock import FolderLock
    from denseflip.web.job_runner import Runner, Streams
    from denseflip.web.job_store import Store
    from denseflip.web.job_work import Work
    from denseflip.web.library import Library
    from denseflip.web.uploads import Quota, sweep
    from denseflip.web.worker_process import WorkerProcesses

    settings.check()
    claim = FolderLock(settings.data, settings.url)
    try:
        sweep(settings.data)
        library = Library(settings)
        store = Store(settings.data)
    except BaseException:
        claim.release()
        raise
    quota = Quota(settings, library, store)
    work = Work(settings, quota)  # checks requests here; jobs are done in the processes
    processes = WorkerProcesses(settings)
    runner = Runner(store, processes, settings.workers)

    @asynccontextmanager
    async def life(app: FastAPI) -> AsyncIterator[None]:
        try:
            app.state.interrupted = runner.start()
            yield
            await asyncio.to_thread(runner.close)
        finally:
            processes.close()
            store.close()
            claim.release()

    app = FastAPI(
        title="denseflip",
        version=__version__,
        description="Counterfactual explanations of graph classifiers: data sets, classifiers, "
        "jobs and what-ifs. Every error has one shape.",
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        lifespan=life,
    )
    app.state.settings, app.state.library, app.state.store = settings, library, store
    app.state.work, app.state.runner, app.state.quota = work, runner, quota
    app.state.claim, app.state.streams = claim, Streams()
    app.state.uploading = threading.BoundedSemaphore(UPLOADS_AT_ONCE)
    app.include_router(router)
    add_errors(app)
    app.add_middleware(Guard, settings=settings)
    return app


def add_errors(app: FastAPI) -> None:
    """Give all errors the same shape."""
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import JSONResponse

    from denseflip.web.uploads import FULL, is_full

    @app.exception_handler(DenseflipError)
    async def ours(request: Request, error: DenseflipError) -> JSONResponse:
        status = next((code for kind, code in _STATUS if isinstance(error, kind)), 400)
        body = error_body(type(error).__name__, said(error), error.parameters)
        return JSONResponse(body, status_code=status)

    @app.exception_handler(RequestValidationError)
    async def wrong(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        place = [str(x) for x in first["loc"] if x not in ("body", "query", "path")]
        name = ".".join(place) or "the request"
        message = f"{name}: {first['msg']}."
        body = error_body("InvalidRequest", message, (place[0],) if place else ())
        return JSONResponse(body, status_code=422)

    @app.exception_handler(OSError)
    @app.exception_handler(sqlite3.Error)
    async def disk(request: Request, error: Exception) -> JSONResponse:
        if is_full(error):
            return JSONResponse(error_body("StoreError", FULL, ("data",)), status_code=507)
        message = f"Cannot read or write data ({getattr(error, 'strerror', None) or error})."
        return JSONResponse(error_body("StoreError", message, ("data",)), status_code=500)

    @app.exception_handler(HTTPException)
    async def http(request: Request, error: HTTPException) -> JSONResponse:
        if isinstance(error.__cause__, Exception) and is_full(error.__cause__):
            return await disk(request, error.__cause__)  # while the body was saved to disk
        kind = HTTPStatus(error.status_code).phrase.title().replace(" ", "")
        body = error_body(kind, f"{error.detail}.")
        return JSONResponse(body, status_code=error.status_code, headers=error.headers)


def static_file(name: str) -> tuple[str, str] | None:
    """Return a style or a script by name, with its media type; None if unknown."""
    kind = STATIC.get(name)
    return None if kind is None else (_static_text(name), kind)


@cache
def _static_text(name: str) -> str:
    if name == "colours.css":
        return app_variables()
    own = files("denseflip.web") / "static" / name
    return own.read_text(encoding="utf-8") if own.is_file() else str(asset(name))


@cache
def page_text() -> str:
    """Return the page of the app, which shows data of the API."""
    from jinja2 import PackageLoader

    own = environment().overlay(loader=PackageLoader("denseflip.web", "templates"))
    return own.get_template("app.html.j2").render(
        version=__version__,
        styles=_STYLES,
        scripts=_SCRIPTS,
        holds=HOLDS,
        known=KNOWN_OF_MICE,
        reading=reading_options(),
        kinds=FILE_KINDS,
        tables=table_options(),
        atlases=list(ATLASES),
    )
