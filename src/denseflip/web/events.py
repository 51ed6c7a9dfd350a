"""Progress of a job as server-sent events.

Every event is the whole state and has an id. A browser that reconnects sends the last id that it
received (``Last-Event-ID``) and gets what is new, or 204 if there is nothing to come. The number of
streams is limited, and so is the queue of each.
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
    runner: Runner, store: Store, job: Job, streams: Streams, place: Place, last: str | None
) -> AsyncIterator[str]:
    """Stream one job until it ends, then close its ``place`` in ``streams``."""
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
        deleted = {"message": "The job was deleted."}
        return event_lines(ENDED, {"status": "failed", "error": deleted})
    facts = {"status": job.status, "summary": job.summary, "error": job.error}
    return event_lines(ENDED if job.status in FINAL else "", facts)
