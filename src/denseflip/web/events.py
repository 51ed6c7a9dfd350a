"""How a job goes on, as server-sent events.

Every event is the whole state and has an id. A browser that lost the connection comes back with the
last id that it has (``Last-Event-ID``) and is told what it has not heard, or nothing more if it
knows the end. Streams are bounded in number, and so is what waits for a reader that does not read.
"""

from __future__ import annotations

import asyncio
import json
import threading
import weakref
from collections.abc import AsyncIterator
from typing import Any

from denseflip.web.job_runner import JobProgress, Runner
from denseflip.web.job_store import FINAL, Job, Store

BEAT = 15.0  # seconds after which a silent stream says that it is there
STREAMS = 200  # that are open at a time
AGAIN = 1000  # milliseconds until a browser that lost the connection comes back
ENDED = "ended"  # the id of the last word about a job of which nothing is live any more


class Place:
    """One open stream."""


class Streams:
    """How many streams are open; one that is left without a word is counted no more."""

    def __init__(self, most: int = STREAMS) -> None:
        self.most = most
        self._open: weakref.WeakSet[Place] = weakref.WeakSet()
        self._lock = threading.Lock()

    def enter(self) -> Place | None:
        """A place for one more; None if there are too many."""
        with self._lock:
            if len(self._open) >= self.most:
                return None
            place = Place()
            self._open.add(place)
            return place

    def leave(self, place: Place) -> None:
        """One less."""
        with self._lock:
            self._open.discard(place)


def event_lines(id: str, data: Any) -> str:
    """One server-sent event."""
    return f"id: {id}\nevent: progress\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def knows_the_end(runner: Runner, job: Job, last: str | None) -> bool:
    """Whether a browser that comes back has heard all there will be."""
    return last == ENDED and job.status in FINAL and runner.live(job.id) is None


async def follow(
    runner: Runner, store: Store, job: Job, streams: Streams, place: Place, last: str | None
) -> AsyncIterator[str]:
    """The stream of one job, until it ends; `streams` was entered, and is left here."""
    try:
        yield f"retry: {AGAIN}\n\n"
        live: JobProgress | None = runner.live(job.id)
        if live is None:
            yield await _ended(store, job.id)
            return
        heard = live.listen(last)
        try:
            while True:
                try:
                    id, facts = await asyncio.wait_for(heard.get(), BEAT)
                except TimeoutError:
                    if runner.live(job.id) is not live:
                        yield await _ended(store, job.id)
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
        return event_lines(ENDED, {"status": "failed", "error": {"message": "It was deleted."}})
    facts = {"status": job.status, "summary": job.summary, "error": job.error}
    return event_lines(ENDED if job.status in FINAL else "", facts)
