"""Run jobs, a few at a time, with progress as server-sent events, and cancellation.

The work itself is done in processes (`worker_process`). Every event is the whole state of a job and
has an id. A browser that reconnects sends the last id that it received (``Last-Event-ID``) and gets
what is new, or 204 if there is nothing to come. The number of streams is limited, and so is the
queue of each.
"""

from __future__ import annotations

import asyncio
import json
import queue
import secrets
import sqlite3
import threading
import time
import weakref
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from denseflip.checks import visible
from denseflip.errors import DenseflipError
from denseflip.web.guard import error_body
from denseflip.web.job_store import FINAL, Job, Store
from denseflip.web.time_left import TimeLeft

EVERY = 0.1  # seconds between two progress events of a job
MOST_WAITING = 500  # largest number of jobs that wait or run
BEHIND = 64  # largest number of events queued per listener

Work = Callable[[Job, "JobProgress"], tuple[dict[str, Any], dict[str, Any]]]


class Stopped(BaseException):
    """A job was cancelled, or the server shuts down."""


class JobFailedError(Exception):
    """A job failed in its process; `body` is the error as the API reports it."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body["error"]["message"])
        self.body = body


Heard = asyncio.Queue[tuple[str, dict[str, Any]]]


class JobProgress:
    """The state of a job while it waits and runs; listeners receive every change."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.state: dict[str, Any] = {"status": "queued", "stage": "waiting", "sent": time.time()}
        self.stop = threading.Event()
        self._mark = secrets.token_hex(4)  # ids differ when the same job is run again
        self._n = 0
        self._said = 0.0
        self._left = TimeLeft()
        self._lock = threading.Lock()
        self._listeners: list[tuple[asyncio.AbstractEventLoop, Heard]] = []

    def tell(self, *, now: bool = False, **facts: Any) -> None:
        """Update the state; send it to listeners at most ten times a second, or `now`."""
        if self.stop.is_set() and facts.get("status") not in FINAL:
            raise Stopped
        with self._lock:
            if self.state["status"] in FINAL:
                return  # for example cancelled; the end is sent once
            self.state.update(facts)
            if {"done", "of"} <= facts.keys():
                left = self._left.seconds(self.state["stage"], facts["done"], facts["of"])
                self.state["left"] = left
            elif "stage" in facts:  # another stage, without parts
                for name in ("done", "of", "left"):
                    self.state.pop(name, None)
            self._n += 1
            moment = time.monotonic()
            if not now and moment - self._said < EVERY:
                return
            self._said = moment
            self.state["sent"] = time.time()
            self.publish()

    def publish(self) -> None:
        """Send the state to all listeners; called with the lock held."""
        event = self._event()
        for loop, heard in self._listeners:
            with suppress(RuntimeError):  # its event loop is closed
                loop.call_soon_threadsafe(_put, heard, event)

    def listen(self, last: str | None = None) -> Heard:
        """Return a queue of events from now on, starting with the present state.

        Parameters
        ----------
        last : id of the last event received before, if any; it is not sent again.
        """
        heard: Heard = asyncio.Queue(BEHIND)
        with self._lock:
            event = self._event()
            if event[0] != last or self.state["status"] in FINAL:
                heard.put_nowait(event)
            self._listeners.append((asyncio.get_running_loop(), heard))
        return heard

    def leave(self, heard: Heard) -> None:
        """Remove a listener."""
        with self._lock:
            self._listeners = [x for x in self._listeners if x[1] is not heard]

    def _event(self) -> tuple[str, dict[str, Any]]:
        return f"{self._mark}-{self._n}", dict(self.state)


def _put(heard: Heard, event: tuple[str, dict[str, Any]]) -> None:
    """Queue an event; drop the oldest if full, since every event is the whole state."""
    if heard.full():
        heard.get_nowait()
    heard.put_nowait(event)


class Runner:
    """Worker threads that take jobs one by one.

    Parameters
    ----------
    store : where jobs are kept.
    work : runs a job; returns a short summary and the whole result.
    workers : number of threads.
    """

    def __init__(self, store: Store, work: Work, workers: int) -> None:
        self.store, self.work = store, work
        self._queue: queue.SimpleQueue[JobProgress | None] = queue.SimpleQueue()
        self._live: dict[str, JobProgress] = {}
        self._lock = threading.Lock()
        self._owed: dict[str, dict[str, Any]] = {}  # errors that could not be written, by job
        self._threads = [
            threading.Thread(target=self._loop, name=f"job-{i}", daemon=True)
            for i in range(workers)
        ]

    def start(self) -> int:
        """Start; requeue waiting jobs of the last run. Return the number of interrupted jobs."""
        waiting, interrupted = self.store.recover()
        for id in waiting:
            self._enqueue(id)
        for thread in self._threads:
            thread.start()
        return interrupted

    def close(self) -> None:
        """Stop running jobs (they become interrupted) and end the threads."""
        with self._lock:
            running = list(self._live.values())
        for live in running:
            live.stop.set()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(timeout=10)

    def submit(self, kind: str, request: dict[str, Any]) -> Job:
        """Add a job to the queue."""
        job = self.store.add(kind, request)
        self._enqueue(job.id)
        return job

    def again(self, id: str) -> bool:
        """Requeue a job that ended without a result."""
        if not self.store.again(id):
            return False
        self._enqueue(id)
        return True

    def cancel(self, id: str) -> bool:
        """Stop a job or remove it from the queue; False if it has already ended."""
        live = self.live(id)
        if live is not None:
            live.stop.set()
        if self.store.end(id, "cancelled"):
            with self._lock:
                self._owed.pop(id, None)  # superseded; the job may be requeued
            if live is not None:
                live.tell(now=True, status="cancelled", stage="cancelled")
            return True
        return False

    def live(self, id: str) -> JobProgress | None:
        """Return the state of a job that waits or runs."""
        with self._lock:
            return self._live.get(id)

    def _enqueue(self, id: str) -> None:
        live = JobProgress(id)
        with self._lock:
            self._live[id] = live
        self._queue.put(live)

    def _loop(self) -> None:
        while (live := self._queue.get()) is not None:
            if self.live(live.id) is not live:
                continue  # cancelled and requeued: the newer entry is in the queue
            try:
                self._settle()
                job = self.store.get(live.id)
                if job is not None:
                    self._do(job, live)
            except sqlite3.Error as error:  # disk full: fail, then take the next job
                facts = _unkept(error)["error"]
                with self._lock:
                    self._owed[live.id] = facts
                live.stop.set()
                live.tell(now=True, status="failed", stage="failed", error=facts)
            finally:
                with self._lock:
                    if self._live.get(live.id) is live:
                        del self._live[live.id]

    def _settle(self) -> None:
        """Try again to write the errors of failed jobs."""
        with self._lock:
            owed, self._owed = self._owed, {}
        with suppress(sqlite3.Error):
            for id in list(owed):
                self.store.end(id, "failed", owed[id])
                del owed[id]
        with self._lock:
            self._owed = {**owed, **self._owed}

    def _do(self, job: Job, live: JobProgress) -> None:
        if live.stop.is_set() or not self.store.start(job.id):
            return
        try:
            live.tell(now=True, status="running", stage="beginning")
            summary, result = self.work(job, live)
            live.tell(now=True, stage="saving")
            if self.store.finish(job.id, summary, result):
                live.tell(now=True, status="done", stage="done", summary=summary)
        except Stopped:
            return  # cancelled, or the server shuts down and marks it at its next start
        except (Exception, SystemExit) as error:  # a user's classifier may raise anything
            self._fail(job, live, failure_of(error))

    def _fail(self, job: Job, live: JobProgress, error: dict[str, Any]) -> None:
        if live.stop.is_set():
            return  # cancelled, and possibly requeued, which has not failed
        self.store.end(job.id, "failed", error["error"])
        live.tell(now=True, status="failed", stage="failed", error=error["error"])


def failure_of(error: BaseException) -> dict[str, Any]:
    """The error of a failed job, as the API reports it."""
    if isinstance(error, JobFailedError):
        return error.body
    if isinstance(error, DenseflipError):
        return error_body(type(error).__name__, said(error), error.parameters)
    if isinstance(error, MemoryError):
        return error_body("TooLargeError", "Not enough memory on the server.")
    if isinstance(error, sqlite3.Error):
        return _unkept(error)
    message = f"Unexpected error: {type(error).__name__}: {visible(str(error)[:500])}."
    return error_body("Unforeseen", message)


def _unkept(error: sqlite3.Error) -> dict[str, Any]:
    message = f"The result could not be saved ({error}). Free disk space, then run the job again."
    return error_body("StoreError", message)


def said(error: BaseException) -> str:
    """Return the message of an error, escaped for a page."""
    return visible(str(error), lines=True)


BEAT = 15.0  # seconds between keep-alive comments on a silent stream
STREAMS = 200  # largest number of open streams
AGAIN = 1000  # milliseconds until a browser reconnects
ENDED = "ended"  # id of the last event of a job that has ended


class Place:
    """One open stream."""


class Streams:
    """Counts open streams; abandoned ones are no longer counted."""

    def __init__(self, most: int = STREAMS) -> None:
        self.most = most
        self._open: weakref.WeakSet[Place] = weakref.WeakSet()
        self._lock = threading.Lock()

    def enter(self) -> Place | None:
        """Open a stream; None if there are too many."""
        with self._lock:
            if len(self._open) >= self.most:
                return None
            place = Place()
            self._open.add(place)
            return place

    def leave(self, place: Place) -> None:
        """Close a stream."""
        with self._lock:
            self._open.discard(place)


def event_lines(id: str, data: Any) -> str:
    """Format one server-sent event."""
    return f"id: {id}\nevent: progress\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def knows_the_end(runner: Runner, job: Job, last: str | None) -> bool:
    """Whether a reconnecting browser has received the last event."""
    return last == ENDED and job.status in FINAL and runner.live(job.id) is None


async def follow(
    runner: Runner, job: Job, streams: Streams, place: Place, last: str | None
) -> AsyncIterator[str]:
    """Stream one job until it ends, then close its ``place`` in ``streams``."""
    try:
        yield f"retry: {AGAIN}\n\n"
        live: JobProgress | None = runner.live(job.id)
        if live is None:
            yield await _ended(runner.store, job.id)
            return
        heard = live.listen(last)
        try:
            while True:
                try:
                    id, facts = await asyncio.wait_for(heard.get(), BEAT)
                except TimeoutError:
                    if runner.live(job.id) is not live:
                        yield await _ended(runner.store, job.id)
                        return
                    yield ": still here\n\n"
                    continue
                yield event_lines(id, facts)
                if facts["status"] in FINAL:
                    return
        finally:
            live.leave(heard)
    finally:
        streams.leave(place)


async def _ended(store: Store, id: str) -> str:
    job = await asyncio.to_thread(store.get, id)
    if job is None:
        deleted = {"message": "The job was deleted."}
        return event_lines(ENDED, {"status": "failed", "error": deleted})
    facts = {"status": job.status, "summary": job.summary, "error": job.error}
    return event_lines(ENDED if job.status in FINAL else "", facts)
