"""How much a folder may hold, and that nothing is half kept when the disk is full."""

from __future__ import annotations

import errno
import io
import json
import secrets
import sqlite3
import zipfile
from pathlib import Path

import pytest

from cohorts import make_cohort
from denseflip.errors import InvalidParameterError
from denseflip.web import api, uploads
from denseflip.web.app import create_app
from denseflip.web.many_jobs import FOLDER
from denseflip.web.server_config import ServerSettings
from serving import Visitor

pytestmark = pytest.mark.filterwarnings("default")
GRAPH = "\n".join(",".join("01"[u != v] for v in range(12)) for u in range(12))


def send(client, name, content, **form):
    return client.post("/api/uploads", files={"file": (name, content)}, data=form)


def message(answer):
    assert set(answer.json()["error"]) == {"kind", "message", "parameters"}
    return answer.json()["error"]["message"]


def kept(folder):
    """Every file of the folder but those of the store."""
    return {
        str(p.relative_to(folder))
        for p in folder.rglob("*")
        if p.is_file() and not p.name.startswith("denseflip-serve.")
    }


def test_so_many_uploads_are_kept_and_what_is_deleted_makes_room(make, tmp_path):
    client, app = make(max_uploads=2)
    study = make_cohort(4).save(tmp_path / "x.dfd").read_bytes()
    first = send(client, "a.csv", GRAPH, dataset="study")
    second = send(client, "b.dfd", study)
    assert (first.status_code, second.status_code) == (201, 201)
    before = kept(tmp_path / "data")
    for name, content in (("c.csv", GRAPH), ("d.dfd", study), ("e.json", b"{}")):
        refused = send(client, name, content, dataset="study")
        assert refused.status_code == 507
        assert "has 2 uploads and keeps at most 2" in message(refused)
        assert "max_uploads=4" in message(refused)
    assert kept(tmp_path / "data") == before
    gone = client.delete(f"/api/datasets/study/subjects/{first.json()['subject']}")
    assert gone.status_code == 204
    again = client.delete(f"/api/datasets/study/subjects/{first.json()['subject']}")
    assert again.status_code == 400
    assert "was not uploaded" in message(again)
    assert client.delete("/api/datasets/study/subjects/g0000").status_code == 400
    assert client.delete("/api/datasets/nothing/subjects/g0000").status_code == 404
    assert send(client, "c.csv", GRAPH, dataset="study").status_code == 201
    assert app.state.quota.used()["uploads"] == 2


def test_no_uploads_at_all(make):
    client, _ = make(max_uploads=0)
    refused = send(client, "a.csv", GRAPH, dataset="study")
    assert refused.status_code == 507
    assert "max_uploads=100" in message(refused)


def test_so_many_bytes_are_kept_and_deleting_answers_makes_room(make, tmp_path):
    _, app = make()
    store, quota = app.state.store, app.state.quota
    client = Visitor(app)
    quota.most_size = store.size() + 60_000
    while quota.used()["bytes"] <= quota.most_size:
        job = store.add_done("explain", {}, {}, secrets.token_hex(20_000))
    asked = {"dataset": "study", "subject": "g0000"}
    refused = client.post("/api/jobs", json=asked)
    assert refused.status_code == 507
    assert "max_kept=" in message(refused)
    assert client.post(f"/api/jobs/{job.id}/again").status_code == 507
    full = send(client, "a.csv", GRAPH, dataset="study")
    assert full.status_code == 507
    assert kept(tmp_path / "data") == set()
    for one in store.recent(500):
        assert client.delete(f"/api/jobs/{one.id}").status_code == 204
    assert client.get(f"/api/jobs/{job.id}").status_code == 404
    assert client.post("/api/jobs", json=asked).status_code == 201
    used = client.app.state.quota.used()
    assert used["bytes"] <= used["max_bytes"]


def test_a_data_set_that_would_go_beyond_is_not_kept_and_a_smaller_one_is(make, tmp_path):
    client, app = make()
    app.state.quota.most_size = app.state.quota.used()["bytes"] + 3_000
    large = make_cohort(400).save(tmp_path / "x.dfd").read_bytes()
    refused = send(client, "x.dfd", large)
    assert refused.status_code == 507, refused.text
    assert kept(tmp_path / "data") == set()
    assert send(client, "a.csv", GRAPH, dataset="study").status_code == 201


def test_a_job_whose_turn_comes_when_the_folder_is_full_fails_and_can_run_again(make):
    from denseflip.errors import StoreError
    from denseflip.web.job_runner import JobProgress

    _, app = make()
    job = app.state.store.add("judge", {"kind": "judge", "dataset": "study"})
    app.state.quota.most_size = 1
    with pytest.raises(StoreError, match="Not saved"):
        app.state.work(job, JobProgress(job.id))


def test_a_job_that_waits_is_not_deleted(make):
    client, app = make()
    job = app.state.runner.submit("explain", {})
    refused = client.delete(f"/api/jobs/{job.id}")
    assert refused.status_code == 409
    assert "cancel it first" in message(refused)
    assert client.post(f"/api/jobs/{job.id}/cancel").status_code == 200
    assert client.delete(f"/api/jobs/{job.id}").status_code == 204
    assert client.delete(f"/api/jobs/{job.id}").status_code == 404


def zipped():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for i in range(8):
            archive.writestr(f"s{i}.csv", GRAPH)
        rows = "".join(f"s{i},{'AB'[i % 2]}\n" for i in range(8))
        archive.writestr("labels.csv", f"id,label\n{rows}")
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("a.csv", "pathlib.Path.write_bytes"),
        ("a.csv", "denseflip.web.uploads.write_whole"),
        ("a.zip", "pathlib.Path.write_bytes"),
        ("a.zip", "denseflip.datasets.base.Dataset.save"),
        ("a.dfd", "pathlib.Path.replace"),
        ("a.dfd", "tempfile.TemporaryDirectory.__init__"),
        ("a.csv", "starlette.datastructures.UploadFile.write"),
    ],
)
def test_a_full_disk_is_told_and_nothing_is_half_kept(make, tmp_path, monkeypatch, name, broken):
    client, app = make()
    contents = {
        "a.csv": GRAPH.encode(),
        "a.zip": zipped(),
        "a.dfd": make_cohort(4).save(tmp_path / "x.dfd").read_bytes(),
    }

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(broken, full)
        answer = send(client, name, contents[name], dataset="study")
    assert answer.status_code == 507, answer.text
    assert "Not saved: the disk of the server is full" in message(answer)
    assert str(tmp_path) not in answer.text
    assert kept(tmp_path / "data") == set()
    assert not list((tmp_path / "data").glob(".incoming-*"))
    assert app.state.quota.used()["uploads"] == 0
    assert send(client, name, contents[name], dataset="study").status_code == 201  # there is room


def test_a_full_disk_under_the_store_is_told_and_leaves_no_job(make):
    client, app = make()
    store = app.state.store
    pages = store._db.execute("PRAGMA page_count").fetchone()[0]
    store._db.execute(f"PRAGMA max_page_count={pages}")  # SQLite's own "disk is full"
    asked = {"dataset": "study", "subject": "g0000"}
    refused = None
    for _ in range(500):  # until the last page is full
        refused = client.post("/api/jobs", json=asked)
        if refused.status_code != 201:
            break
    assert refused.status_code in {507, 429}, refused.text
    assert refused.status_code == 507
    assert "disk of the server is full" in message(refused)
    n = store.waiting()
    assert client.post("/api/jobs", json=asked).status_code == 507
    assert store.waiting() == n


def test_other_troubles_of_disk_and_store_have_the_shape_too(make, monkeypatch):
    client, app = make()

    def broken(*_, **__):
        raise sqlite3.DatabaseError("malformed")

    monkeypatch.setattr(app.state.store, "recent", broken)
    answer = client.get("/api/jobs")
    assert answer.status_code == 500
    assert "malformed" in message(answer)


def test_what_a_killed_server_had_begun_to_take_in_is_swept_away(tmp_path, study):
    data = tmp_path / "data"
    for half in (".incoming-x/folder/a.csv", "graphs/.study.upload-1.json.abc", "datasets/.up.x"):
        (data / half).parent.mkdir(parents=True, exist_ok=True)
        (data / half).write_text("half")
    (data / "graphs/study.upload-12.json").write_text(
        json.dumps({"name": "mine", "graph": make_cohort(2).graphs[0].to_dict()})
    )
    app = create_app(ServerSettings(data=data, datasets=(str(study),)))
    assert kept(data) == {str(Path("graphs/study.upload-12.json"))}
    assert app.state.library.extras("study") == [("upload-12", "mine")]
    app.state.store.close()
    app.state.claim.release()


def test_only_so_many_uploads_are_read_at_a_time(make, monkeypatch):
    client, app = make()
    monkeypatch.setattr(api, "TURN", 0.01)
    taken = [app.state.uploading.acquire() for _ in range(api.UPLOADS_AT_ONCE)]
    assert all(taken)
    assert send(client, "a.csv", GRAPH, dataset="study").status_code == 429
    app.state.uploading.release()
    assert send(client, "a.csv", GRAPH, dataset="study").status_code == 201
    assert send(client, "a.csv", b"rubbish", dataset="study").status_code == 400
    assert app.state.uploading.acquire(blocking=False)  # a refused one gave its turn back


@pytest.mark.parametrize(
    ("name", "value"), [("max_upload", 0), ("max_uploads", -1), ("max_kept", 0)]
)
def test_limits_that_are_none_are_told(name, value):
    with pytest.raises(InvalidParameterError, match=name):
        ServerSettings(**{name: value}).check()


def test_full_is_full():
    assert uploads.is_full(OSError(errno.ENOSPC, ""))
    assert not uploads.is_full(OSError(errno.EACCES, ""))
    assert not uploads.is_full(None)
    assert not uploads.is_full(sqlite3.OperationalError("locked"))


def test_what_is_not_finished_counts_and_goes_with_its_job(make, tmp_path):
    client, app = make()
    store, quota, folder = app.state.store, app.state.quota, tmp_path / "data" / FOLDER
    before = quota.used()["bytes"]
    ids = {}
    for status in ("cancelled", "done", "failed"):
        ids[status] = store.add("many", {"dataset": "study"}).id
        (folder / ids[status] / "parts").mkdir(parents=True)
        (folder / ids[status] / "parts" / "x").write_bytes(b"x" * 100_000)
    store.finish(ids["done"], {}, {})
    store.end(ids["cancelled"], "cancelled")
    store.end(ids["failed"], "failed", {})
    assert quota.used()["bytes"] >= before + 300_000
    quota.check_job()
    assert not (folder / ids["done"]).exists()  # it is in the result
    assert client.delete(f"/api/jobs/{ids['cancelled']}").status_code == 204
    assert [place.name for place in folder.iterdir()] == [ids["failed"]]  # it may be run again
    quota.most_size = store.size() + 50_000
    assert client.post("/api/jobs", json={"dataset": "study", "kind": "many"}).status_code == 507
    assert client.delete(f"/api/jobs/{ids['failed']}").status_code == 204
    quota.check_job()
