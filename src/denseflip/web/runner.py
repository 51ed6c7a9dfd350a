"""Jobs at work: a few at a time, each heard of while it runs, and stopped when asked.

A search is stopped where it asks its next question: what listens to its session raises `Stopped`,
which nothing between there and here catches.
"""

from __future__ import annotations

import asyncio
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Any

from denseflip.checks import visible
from denseflip.errors import DenseflipError
from denseflip.web.guard import error_body
from denseflip.web.store import FINAL, Job, Store

EVERY = 0.1  # seconds between two words about the progress of a job
MOST_WAITING = 500  # jobs that may wait or run

Work = Callable[[Job, "Live"], tuple[dict[str, Any], dict[str, Any]]]


class Stopped(BaseException):
    """A job was cancelled, or the server is going down."""


class Live:
    """What is known of a job while it waits and runs; listeners hear of every change."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.state: dict[str, Any] = {"status": "queued", "stage": "waiting", "sent": time.time()}
        self.stop = threading.Event()
        self._said = 0.0
        self._lock = threading.Lock()
        self._listeners: list[tuple[asyncio.AbstractEventLoop, asyncio.Queue[dict[str, Any]]]] = []

    def tell(self, *, now: bool = False, **facts: Any) -> None:
        """Change what is known; listeners are told at most ten times a second, or `now`."""
        if self.stop.is_set() and facts.get("status") not in FINAL:
            raise Stopped
        self.state.update(facts)
        moment = time.monotonic()
        if not now and moment - self._said < EVERY:
            return
        self._said = moment
        self.state["sent"] = time.time()
        shown = dict(self.state)
        with self._lock:
            for loop, heard in self._listeners:
                loop.call_soon_threadsafe(heard.put_nowait, shown)

    def listen(self) -> asyncio.Queue[dict[str, Any]]:
        """A queue of what is told from now on; the present state is its first."""
        heard: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        heard.put_nowait(dict(self.state))
        with self._lock:
            self._listeners.append((asyncio.get_running_loop(), heard))
        return heard

    def leave(self, heard: asyncio.Queue[dict[str, Any]]) -> None:
        """Listen no more."""
        with self._lock:
            self._listeners = [x for x in self._listeners if x[1] is not heard]


class Runner:
    """So many threads that take jobs one by one.

    Parameters
    ----------
    store : where jobs are kept.
    work : does a job; gives a short summary and the whole result.
    workers : how many jobs run at a time.
    """

    def __init__(self, store: Store, work: Work, workers: int) -> None:
        self.store, self.work = store, work
        self._queue: queue.SimpleQueue[Live | None] = queue.SimpleQueue()
        self._live: dict[str, Live] = {}
        self._lock = threading.Lock()
        self._threads = [
            threading.Thread(target=self._loop, name=f"job-{i}", daemon=True)
            for i in range(workers)
        ]

    def start(self) -> int:
        """Begin; jobs that waited before the last end wait again. Gives how many were hit."""
        waiting, interrupted = self.store.recover()
        for id in waiting:
            self._enqueue(id)
        for thread in self._threads:
            thread.start()
        return interrupted

    def close(self) -> None:
        """Stop what runs (it becomes interrupted, to be run again) and end the threads."""
        with self._lock:
            running = list(self._live.values())
        for live in running:
            live.stop.set()
        for _ in self._threads:
            self._queue.put(None)
        for thread in self._threads:
            thread.join(timeout=10)

    def submit(self, kind: str, request: dict[str, Any]) -> Job:
        """A new job, to be done when its turn comes."""
        job = self.store.add(kind, request)
        self._enqueue(job.id)
        return job

    def again(self, id: str) -> bool:
        """Do a job that ended without a result anew."""
        if not self.store.again(id):
            return False
        self._enqueue(id)
        return True

    def cancel(self, id: str) -> bool:
        """Stop a job, or take it from the queue; False if it has ended already."""
        live = self.live(id)
        if live is not None:
            live.stop.set()
        if self.store.end(id, "cancelled"):
            if live is not None:
                live.tell(now=True, status="cancelled", stage="cancelled")
            return True
        return False

    def live(self, id: str) -> Live | None:
        """What is known of a job that waits or runs."""
        with self._lock:
            return self._live.get(id)

    def _enqueue(self, id: str) -> None:
        live = Live(id)
        with self._lock:
            self._live[id] = live
        self._queue.put(live)

    def _loop(self) -> None:
        while (live := self._queue.get()) is not None:
            if self.live(live.id) is not live:
                continue  # cancelled while it waited, and asked for anew: that one is in the queue
            try:
                job = self.store.get(live.id)
                if job is not None:
                    self._do(job, live)
            except sqlite3.Error:  # a full disk: this job stays as it is, and the next has its turn
                live.stop.set()
            finally:
                with self._lock:
                    if self._live.get(live.id) is live:
                        del self._live[live.id]

    def _do(self, job: Job, live: Live) -> None:
        if live.stop.is_set() or not self.store.start(job.id):
            return
        try:
            live.tell(now=True, status="running", stage="beginning")
            summary, result = self.work(job, live)
            live.tell(now=True, stage="saving")
            if self.store.finish(job.id, summary, result):
                live.tell(now=True, status="done", stage="done", summary=summary)
        except Stopped:
            return  # cancelled, and marked so; or the server ends, and marks it when it starts
        except DenseflipError as error:
            self._fail(job, live, error_body(type(error).__name__, said(error), error.parameters))
        except MemoryError:
            message = "There is not enough memory for this on this machine."
            self._fail(job, live, error_body("TooLargeError", message))
        except (Exception, SystemExit) as error:  # whatever a user's own classifier may raise
            message = f"{type(error).__name__}: {visible(str(error)[:500])}. This was not foreseen."
            self._fail(job, live, error_body("Unforeseen", message))

    def _fail(self, job: Job, live: Live, error: dict[str, Any]) -> None:
        if live.stop.is_set():
            return  # cancelled already; it may wait anew by now, and that is not what failed
        self.store.end(job.id, "failed", error["error"])
        live.tell(now=True, status="failed", stage="failed", error=error["error"])


def said(error: BaseException) -> str:
    """What an error says, for a page."""
    return visible(str(error), lines=True)
