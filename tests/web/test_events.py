"""Events: each has an id, whoever comes back hears what is new, and streams are bounded."""

from __future__ import annotations

import asyncio
import gc
import json

import pytest

from denseflip.web import job_runner
from denseflip.web.job_runner import (
    BEHIND,
    ENDED,
    JobProgress,
    Runner,
    Streams,
    follow,
    knows_the_end,
)
from denseflip.web.job_store import Store

WAIT = 20


@pytest.fixture
def desk(tmp_path):
    """A store and a runner whose threads were never started."""
    store = Store(tmp_path)
    yield store, Runner(store, lambda job, live: ({}, {}), 1)
    store.close()


def stream(desk, job, last=None, streams=None):
    _, runner = desk
    streams = streams or Streams()
    return follow(runner, job, streams, streams.enter(), last)


async def take(source):
    """The next event of a stream: its id and its facts; None at the end."""
    async for text in source:
        lines = dict(line.split(": ", 1) for line in text.strip().splitlines() if ": " in line)
        if "data" in lines:
            assert lines["event"] == "progress"
            return lines["id"], json.loads(lines["data"])
    return None


def test_who_comes_back_hears_what_is_new_and_nothing_twice(desk):
    job = desk[1].submit("explain", {})
    live = desk[1].live(job.id)

    async def main():
        first = stream(desk, job)
        id, facts = await take(first)
        assert facts["status"] == "queued"
        live.tell(now=True, status="running", calls=1)
        seen, facts = await take(first)
        assert (facts["status"], facts["calls"]) == ("running", 1)
        await first.aclose()
        assert live._listeners == []
        live.tell(now=True, calls=2)  # while nobody listens
        back = stream(desk, job, last=seen)
        newest, facts = await take(back)
        assert facts["calls"] == 2
        await back.aclose()
        again = stream(desk, job, last=newest)
        waits = asyncio.ensure_future(take(again))
        for _ in range(20):
            await asyncio.sleep(0)
        assert not waits.done()  # all that there is was heard
        live.tell(now=True, calls=3)
        last, facts = await asyncio.wait_for(waits, WAIT)
        assert facts["calls"] == 3
        assert len({id, seen, newest, last}) == 4
        await again.aclose()

    asyncio.run(main())


def test_the_end_is_told_and_then_there_is_nothing_more(make):
    visitor, app = make()
    done = app.state.store.add_done("brought", {}, {"title": "x"}, {})
    answer = visitor.get(f"/api/jobs/{done.id}/events")
    assert answer.text.startswith("retry: ")
    assert f"id: {ENDED}\n" in answer.text
    assert '"status": "done"' in answer.text
    back = visitor.get(f"/api/jobs/{done.id}/events", headers={"last-event-id": ENDED})
    assert back.status_code == 204  # a browser comes back no more then
    assert app.state.streams.enter() is not None
    assert len(app.state.streams._open) == 0


def test_a_job_that_is_run_again_is_told_again(desk):
    store, runner = desk
    job = runner.submit("explain", {})
    assert runner.cancel(job.id)
    runner._live.clear()
    assert knows_the_end(runner, store.get(job.id), ENDED)
    assert runner.again(job.id)
    assert not knows_the_end(runner, store.get(job.id), ENDED)

    async def main():
        return await take(stream(desk, job, last=ENDED))

    assert asyncio.run(main())[1]["status"] == "queued"


def test_a_cancelled_job_is_told_at_once_and_only_once(desk):
    job = desk[1].submit("explain", {})
    live = desk[1].live(job.id)

    async def main():
        source = stream(desk, job)
        await take(source)
        assert await asyncio.to_thread(desk[1].cancel, job.id)
        live.tell(now=True, status="failed")  # what comes after the end is not heard
        assert (await take(source))[1]["status"] == "cancelled"
        assert await take(source) is None

    asyncio.run(main())
    assert live.state["status"] == "cancelled"


def test_who_comes_as_it_ends_hears_the_end(desk):
    job = desk[1].submit("explain", {})
    live = desk[1].live(job.id)
    live.tell(now=True, status="done", stage="done")

    async def main():
        source = stream(desk, job, last=f"{live._mark}-{live._n}")
        assert (await take(source))[1]["status"] == "done"
        assert await take(source) is None

    asyncio.run(main())


def test_a_stream_ends_with_the_truth_when_its_job_is_no_longer_live(desk, monkeypatch):
    monkeypatch.setattr(job_runner, "BEAT", 0.01)
    store, runner = desk
    job = runner.submit("explain", {})

    async def main():
        source = stream(desk, job)
        await take(source)
        waits = asyncio.ensure_future(take(source))
        await asyncio.sleep(0.05)
        assert not waits.done()  # ": still here"
        store.end(job.id, "failed", {"kind": "x", "message": "y", "parameters": []})
        runner._live.clear()  # and nobody said so
        id, facts = await asyncio.wait_for(waits, WAIT)
        assert (id, facts["status"], facts["error"]["message"]) == (ENDED, "failed", "y")
        assert await take(source) is None

    asyncio.run(main())


def test_a_job_that_is_deleted_meanwhile_is_told(desk):
    store, runner = desk
    job = runner.submit("explain", {})
    runner.cancel(job.id)
    runner._live.clear()
    store.remove(job.id)

    async def main():
        return await take(stream(desk, job))

    assert "deleted" in asyncio.run(main())[1]["error"]["message"]


def test_who_does_not_read_is_not_waited_for_and_gets_the_last_word():
    live = JobProgress("x")

    async def main():
        heard = live.listen()
        for i in range(10 * BEHIND):
            live.tell(now=True, calls=i)
        live.tell(now=True, status="done")
        await asyncio.sleep(0)
        assert heard.qsize() == BEHIND
        while not heard.empty():
            _, facts = heard.get_nowait()
        assert facts["status"] == "done"

    asyncio.run(main())


def test_a_listener_whose_loop_is_gone_hurts_nobody():
    live = JobProgress("x")

    async def main():
        live.listen()

    asyncio.run(main())
    live.tell(now=True, calls=1)
    assert live.state["calls"] == 1


def test_only_so_many_streams_are_open_and_a_lost_one_is_not_counted(make):
    visitor, app = make()
    done = app.state.store.add_done("brought", {}, {}, {})
    app.state.streams.most = 2
    held = [app.state.streams.enter() for _ in range(2)]
    full = visitor.get(f"/api/jobs/{done.id}/events")
    assert full.status_code == 429
    assert "streams are already open" in full.json()["error"]["message"]
    app.state.streams.leave(held.pop())
    assert visitor.get(f"/api/jobs/{done.id}/events").status_code == 200
    held.clear()
    gc.collect()
    assert len(app.state.streams._open) == 0
    never = follow(app.state.runner, done, app.state.streams,
                   app.state.streams.enter(), None)  # fmt: skip
    assert len(app.state.streams._open) == 1
    del never  # the visitor went before the first word
    gc.collect()
    assert len(app.state.streams._open) == 0
