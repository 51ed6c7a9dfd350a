"""Jobs survive: what is finished is never lost, what was interrupted is told and runs again."""

from __future__ import annotations

import sqlite3
import threading
import time

import pytest

from denseflip.errors import StoreError
from denseflip.web import api
from denseflip.web.job_runner import Runner
from denseflip.web.job_store import FILE, Store


def slow(job, live):
    for i in range(1000):
        live.tell(calls=i)
        time.sleep(0.005)
    return {}, {}


def quick(job, live):
    live.tell(calls=1)
    return {"n": job.request["n"]}, {"n": job.request["n"]}


def until(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.005)


def test_only_so_many_run_at_a_time_and_all_are_done(tmp_path):
    store = Store(tmp_path)
    running, most = 0, 0
    lock, together = threading.Lock(), threading.Barrier(3)

    def work(job, live):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(30)  # three are at work, or this test ends here
        with lock:
            running -= 1
        return quick(job, live)

    runner = Runner(store, work, 3)
    ids = [runner.submit("explain", {"n": n}).id for n in range(12)]
    runner.start()
    until(lambda: store.waiting() == 0)
    runner.close()
    assert most == 3
    assert [store.result(id)["n"] for id in ids] == list(range(12))


def test_a_cancelled_job_stops_and_one_that_waits_never_begins(tmp_path):
    store = Store(tmp_path)
    runner = Runner(store, slow, 1)
    runner.start()
    first, second = runner.submit("explain", {}), runner.submit("explain", {})
    until(lambda: store.get(first.id).status == "running")
    assert runner.cancel(second.id)
    assert runner.cancel(first.id)
    assert not runner.cancel(first.id)
    until(lambda: runner.live(first.id) is None)
    assert store.get(first.id).status == store.get(second.id).status == "cancelled"
    assert store.get(second.id).started is None
    runner.close()


def test_after_a_stop_the_running_are_interrupted_and_the_waiting_wait(tmp_path):
    store = Store(tmp_path)
    done = store.add_done("explain", {"n": 0}, {}, {"n": 0})
    runner = Runner(store, slow, 1)
    runner.start()
    first, second = runner.submit("explain", {"n": 1}), runner.submit("explain", {"n": 2})
    until(lambda: store.get(first.id).status == "running")
    runner.close()
    store.close()
    store = Store(tmp_path)
    runner = Runner(store, quick, 1)
    assert runner.start() == 1
    assert store.get(first.id).status == "interrupted"
    until(lambda: store.get(second.id).status == "done")
    assert runner.again(first.id)
    until(lambda: store.get(first.id).status == "done")
    assert not runner.again(first.id)
    assert store.result(done.id) == {"n": 0}
    runner.close()


def test_work_that_fails_is_told_and_the_worker_goes_on(tmp_path):
    store = Store(tmp_path)

    def work(job, live):
        if job.request["n"] == 0:
            raise ZeroDivisionError("oh")
        if job.request["n"] == 1:
            raise StoreError("a reason", parameter="data")
        return quick(job, live)

    runner = Runner(store, work, 1)
    runner.start()
    jobs = [runner.submit("explain", {"n": n}) for n in range(3)]
    until(lambda: store.waiting() == 0)
    assert "ZeroDivisionError: oh" in store.get(jobs[0].id).error["message"]
    assert store.get(jobs[1].id).error == {
        "kind": "StoreError",
        "message": "a reason",
        "parameters": ["data"],
    }
    assert store.get(jobs[2].id).status == "done"
    runner.close()


def test_a_file_that_is_no_store_is_told(tmp_path):
    (tmp_path / FILE).write_bytes(b"this is no database, " * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        Store(tmp_path)


def test_a_job_cancelled_in_the_queue_and_asked_for_again_can_still_be_stopped(tmp_path):
    store = Store(tmp_path)
    runner = Runner(store, slow, 2)
    job = runner.submit("explain", {})
    assert runner.cancel(job.id)
    assert runner.again(job.id)  # two words in the queue about one job, for two workers
    runner.start()
    until(lambda: store.get(job.id).status == "running")
    until(lambda: runner._queue.empty())
    time.sleep(0.05)
    live = runner.live(job.id)
    assert live is not None
    assert runner.cancel(job.id)
    until(lambda: runner.live(job.id) is None)
    assert store.get(job.id).status == "cancelled"
    runner.close()


def test_a_job_cancelled_at_the_last_moment_stays_cancelled(tmp_path):
    store = Store(tmp_path)
    job = store.add("explain", {})
    store.start(job.id)
    store.end(job.id, "cancelled")
    assert not store.finish(job.id, {}, {"n": 1})
    assert store.get(job.id).status == "cancelled"
    assert store.result(job.id) is None


def test_a_failure_after_a_cancel_does_not_hit_the_job_that_waits_anew(tmp_path):
    store = Store(tmp_path)
    began, go = threading.Event(), threading.Event()

    def work(job, live):
        if began.is_set():
            return quick(job, live)
        began.set()
        assert go.wait(10)
        raise ZeroDivisionError

    runner = Runner(store, work, 1)
    runner.start()
    job = runner.submit("explain", {"n": 3})
    assert began.wait(10)
    assert runner.cancel(job.id)
    assert runner.again(job.id)
    go.set()
    until(lambda: store.get(job.id).status not in {"queued", "running"})
    assert store.get(job.id).status == "done"
    runner.close()


@pytest.mark.parametrize("error", [sqlite3.OperationalError("disk is full"), SystemExit(1)])
def test_a_worker_outlives_a_full_disk_and_a_classifier_that_exits(tmp_path, monkeypatch, error):
    store = Store(tmp_path)

    def work(job, live):
        if job.request["n"] == 0 and isinstance(error, SystemExit):
            raise error
        return quick(job, live)

    whole = store.finish

    def finish(id, summary, result):
        if summary["n"] == 0:
            raise error
        return whole(id, summary, result)

    end = store.end

    def ended(id, status, reason=None):
        if isinstance(error, sqlite3.Error):
            raise error
        return end(id, status, reason)

    monkeypatch.setattr(store, "finish", finish)
    monkeypatch.setattr(store, "end", ended)
    runner = Runner(store, work, 1)
    runner.start()
    first, second = runner.submit("explain", {"n": 0}), runner.submit("explain", {"n": 1})
    until(lambda: store.get(second.id).status == "done")
    assert store.get(first.id).status != "done"
    assert runner.live(first.id) is None
    runner.close()


def test_a_result_that_cannot_be_written_leaves_no_job_behind(tmp_path):
    store = Store(tmp_path)
    with pytest.raises(UnicodeEncodeError):
        store.add_done("brought", {}, {}, {"name": "\ud800"})
    assert store.waiting() == 0
    assert store.recent() == []


def test_what_could_not_be_written_is_written_when_there_is_room(tmp_path, monkeypatch):
    store = Store(tmp_path)
    full = sqlite3.OperationalError("database or disk is full")
    finish, end, refused = store.finish, store.end, []

    def finished(id, summary, result):
        if summary["n"] == 0:
            raise full
        return finish(id, summary, result)

    def ended(id, status, error=None):
        if not refused:
            refused.append(id)
            raise full
        return end(id, status, error)

    monkeypatch.setattr(store, "finish", finished)
    monkeypatch.setattr(store, "end", ended)
    go = threading.Event()

    def work(job, live):
        assert go.wait(10)
        return quick(job, live)

    runner = Runner(store, work, 1)
    runner.start()
    first, second = runner.submit("explain", {"n": 0}), runner.submit("explain", {"n": 1})
    live = runner.live(first.id)
    go.set()
    until(lambda: store.get(second.id).status == "done")
    assert refused == [first.id]
    assert live.state["status"] == "failed"  # whoever listened was told at once
    told = store.get(first.id)
    assert told.status == "failed"
    assert "disk is full" in told.error["message"]
    assert "run the job again" in told.error["message"]
    assert runner.again(first.id)
    runner.close()


def test_jobs_begin_in_the_order_in_which_they_were_asked_for(tmp_path):
    store, begun = Store(tmp_path), []

    def work(job, live):
        begun.append(job.request["n"])
        return quick(job, live)

    runner = Runner(store, work, 1)
    for n in range(8):
        runner.submit("explain", {"n": n})
    runner.start()
    until(lambda: store.waiting() == 0)
    runner.close()
    assert begun == list(range(8))


def test_only_so_many_may_wait_new_or_again(make, monkeypatch):
    visitor, app = make()
    monkeypatch.setattr(api, "MOST_WAITING", 2)
    asked = {"dataset": "study", "subject": "g0000"}
    ids = [visitor.post("/api/jobs", json=asked).json()["id"] for _ in range(2)]
    full = visitor.post("/api/jobs", json=asked)
    assert full.status_code == 429
    assert "2 jobs are already waiting" in full.json()["error"]["message"]
    assert visitor.post(f"/api/jobs/{ids[0]}/cancel").json()["status"] == "cancelled"
    assert visitor.post("/api/jobs", json=asked).status_code == 201
    again = visitor.post(f"/api/jobs/{ids[0]}/again")
    assert again.status_code == 429
    assert app.state.store.get(ids[0]).status == "cancelled"
    assert visitor.post(f"/api/jobs/{ids[1]}/cancel").status_code == 200
    assert visitor.post(f"/api/jobs/{ids[0]}/again").json()["status"] == "queued"
    monkeypatch.setattr(api, "MOST_WAITING", 3)
    assert visitor.post(f"/api/jobs/{ids[0]}/again").status_code == 409  # it waits already
