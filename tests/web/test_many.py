"""Many graphs as one job: the index, one of them opened, files, cancel and going on."""

from __future__ import annotations

import csv
import io
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import httpx
import pytest

from cohorts import make_cohort
from denseflip import explain_many, fit_oracle, load_dataset
from denseflip.errors import InvalidParameterError
from denseflip.web.job_runner import JobProgress, Stopped
from denseflip.web.job_store import Store
from denseflip.web.many_jobs import FOLDER, KEPT, story_in
from denseflip.web.schemas import JobRequest
from serving import serving, wait

pytestmark = pytest.mark.filterwarnings("default")  # of libraries of the server
ASKED = {"kind": "many", "dataset": "study", "classifier": "edges-logistic"}


@pytest.fixture(scope="module")
def done(client):
    """The index of one class."""
    job = client.post("/api/jobs", json=ASKED | {"classes": ["B"], "method": "con"}).json()
    ended = wait(client, job["id"])
    assert ended["status"] == "done", ended
    return ended


def rows_of(client, id):
    return client.get(f"/api/jobs/{id}/result").json()["many"]["rows"]


def message(answer):
    return answer.json()["error"]["message"]


def test_the_index_says_what_explain_many_says(client, done, study):
    rows = rows_of(client, done["id"])
    many = explain_many(
        load_dataset(study), "edges-logistic", [row["id"] for row in rows[:3]], method="con"
    )
    assert {row["class"] for row in rows} == {"B"}
    assert len(rows) == 12
    for row, one in zip(rows, many, strict=False):
        assert row["id"] == one.id
        assert row["sentence"] == one.story.statement
        assert row["edits"] == one.result.distance
        assert row["true_as_read"] is one.story.true_as_read
        assert row["short"] == one.story.short
    assert "12" in done["summary"]["title"]


def test_one_of_them_is_opened_without_a_search(client):
    many = client.post("/api/jobs", json=ASKED | {"subjects": ["g0001", "g0003"]}).json()
    done = wait(client, many["id"])
    row = next(r for r in rows_of(client, done["id"]) if r["status"] == "found")
    asked = done["request"] | {"kind": "explain", "subject": row["id"], "of": done["id"]}
    job = client.post("/api/jobs", json=asked).json()
    assert wait(client, job["id"])["status"] == "done"
    view = client.get(f"/api/jobs/{job['id']}/result").json()["view"]
    answer = view["answers"][view["current"]]
    assert len(answer["added"]) + len(answer["removed"]) == row["edits"]
    assert view["replay"]
    again = client.post("/api/jobs", json=asked).json()
    assert again["id"] == job["id"]  # it is there already
    alone = {**asked, "of": None, "subjects": []}
    other = client.post("/api/jobs", json=alone).json()
    assert wait(client, other["id"])["status"] == "done"
    whole = client.get(f"/api/jobs/{other['id']}/result").json()["view"]
    assert whole["answers"] == view["answers"]
    assert whole["replay"] == view["replay"]


def test_what_is_not_in_that_job_is_told(client, done):
    asked = done["request"] | {"kind": "explain", "subject": "g0001", "of": done["id"]}
    got = client.post("/api/jobs", json=asked | {"method": "auto"})
    assert got.status_code == 400
    assert "had other options (method)" in message(got)
    assert "no finished job" in message(client.post("/api/jobs", json=asked | {"of": "0" * 16}))
    job = client.post("/api/jobs", json=asked | {"subject": "g0000"}).json()  # of the other class
    ended = wait(client, job["id"])
    assert ended["status"] == "failed"
    assert "g0000" in ended["error"]["message"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"classes": ["Z"]}, "Unknown class 'Z'"),
        ({"subjects": ["g0000", "nobody"]}, "nobody"),
        ({"subjects": ["g0000"], "classes": ["A"]}, "in exactly one way"),
        ({"method": "os:system"}, "os:system"),
        ({"target": "Z"}, "Z"),
        ({"regions": "moon"}, "moon"),
        ({"freeze": ["lobe: Moon"]}, "Moon"),
        ({"freeze": ["node: n99"]}, "n99"),
        ({"vocabulary": "moon"}, "moon"),
    ],
)
def test_wrong_words_are_told_before_it_waits(client, more, said):
    answer = client.post("/api/jobs", json=ASKED | more)
    assert answer.status_code in {400, 404}
    assert said in message(answer)


@pytest.mark.parametrize("kind", ["compare", "judge", "cohort", "many"])
def test_only_an_explanation_is_had_out_of_many(client, done, kind):
    asked = done["request"] | {"subject": "g0001", "of": done["id"]}
    job = client.post("/api/jobs", json=asked | {"kind": "explain"}).json()
    assert wait(client, job["id"])["status"] == "done"
    other = {"subject": None, "classes": []} if kind == "many" else {}
    got = client.post("/api/jobs", json=asked | {"kind": kind} | other)
    assert got.status_code == 400
    assert "kind 'explain'" in message(got)


def test_one_is_opened_though_there_is_no_room_for_more(make):
    visitor, app = make()
    store = app.state.store
    asked = {"dataset": "study", "subject": "g0001", "classifier": "edges-logistic"}
    many = JobRequest(**(asked | {"kind": "many", "subject": None})).model_dump()
    id = store.add_done("many", many, {}, {}).id
    one = asked | {"of": id}
    known = store.add_done("explain", JobRequest(**one).model_dump(), {}, {}).id
    app.state.quota.most_size = 1
    assert visitor.post("/api/jobs", json=one).json()["id"] == known
    assert visitor.post("/api/jobs", json=one | {"subject": "g0003"}).status_code == 507


def test_another_data_set_is_told_though_the_graph_is_the_same(study):
    dataset = load_dataset(study)
    many = explain_many(dataset, "edges-logistic", ["g0001"], method="con")
    result = {KEPT: {"records": {"g0001": next(iter(many.outcome.records.values()))}}}
    oracle = fit_oracle(dataset, "edges-logistic")
    given = (dataset, "edges-logistic", oracle)
    assert story_in(result, "g0001", *given).statement == many[0].story.statement
    last = dataset.graphs[-1]
    changed = replace(dataset, graphs=(*dataset.graphs[:-1], last.toggle([(0, 1)])))
    with pytest.raises(InvalidParameterError, match="data set has changed"):
        story_in(result, "g0001", changed, *given[1:])
    with pytest.raises(InvalidParameterError, match="classifier has changed"):
        story_in(result, "g0001", dataset, "edges-svm", oracle)


def test_it_is_run_again_before_the_last_thread_has_heard_of_the_end(make, tmp_path):
    _, app = make()
    work, store = app.state.work, app.state.store
    asked = JobRequest(**(ASKED | {"subjects": ["g0000", "g0001"], "method": "con"}))
    job = store.add("many", asked.model_dump())
    there, go = threading.Event(), threading.Event()

    class Slow(JobProgress):
        """Is told of the end late."""

        def tell(self, *, now=False, **facts):
            if facts.get("done") == 1 and facts.get("stage") == "explaining":
                there.set()
                assert go.wait(60)
            super().tell(now=now, **facts)

    def first(live):
        with pytest.raises(Stopped):
            work(job, live)

    old, new = Slow(job.id), JobProgress(job.id)
    with ThreadPoolExecutor(2) as pool:
        begun = pool.submit(first, old)
        assert there.wait(60)
        old.stop.set()
        again = pool.submit(work, job, new)
        time.sleep(0.3)
        go.set()
        begun.result(60)
        _, result = again.result(60)
    assert [row["id"] for row in result["many"]["rows"]] == ["g0000", "g0001"]


def test_a_job_that_was_deleted_meanwhile_is_named(make):
    _, app = make()
    asked = {"dataset": "study", "classifier": "sf-knn", "subject": "g0001", "of": "0" * 16}
    job = app.state.store.add("explain", JobRequest(**asked).model_dump())
    with pytest.raises(InvalidParameterError, match="no finished job '0000"):
        app.state.work(job, JobProgress(job.id))


def test_files(client, done):
    at = f"/api/jobs/{done['id']}/files/"
    table = list(csv.DictReader(io.StringIO(client.get(at + "explanations.csv").text)))
    assert [row["id"] for row in table] == [row["id"] for row in rows_of(client, done["id"])]
    edits = list(csv.DictReader(io.StringIO(client.get(at + "edits.csv").text)))
    assert len(edits) == sum(int(row["edits"] or 0) for row in table)
    assert client.get(at + "result.json").json()[0]["sentence"] == table[0]["sentence"]
    page = client.get(at + "index.html")
    assert page.headers["content-type"].startswith("text/html")
    assert "12 graphs of cohort explained" in page.text
    refused = client.get(at + "brain.edge")
    assert refused.status_code == 400
    assert "explanations.csv" in message(refused)


def test_a_spreadsheet_meets_no_formula(tmp_path):
    cohort = make_cohort(4)
    ids = ("=1+1", *(f"g{i}" for i in range(1, len(cohort))))
    path = replace(cohort, ids=ids).save(tmp_path / "odd.dfd")
    with serving(tmp_path / "data", datasets=(str(path),)) as url, httpx.Client(base_url=url) as c:
        asked = ASKED | {"dataset": "odd", "subjects": ["=1+1"], "method": "con"}
        job = wait(c, c.post("/api/jobs", json=asked).json()["id"])
        at = f"/api/jobs/{job['id']}/files/"
        assert "'=1+1" in c.get(at + "explanations.csv").text
        assert "\n=1+1" not in c.get(at + "edits.csv").text


def test_it_is_cancelled_goes_on_and_survives_a_restart(tmp_path, study):
    data = tmp_path / "data"
    asked = ASKED | {"classifier": "sf-knn", "subjects": [f"g{i:04d}" for i in range(6)]}
    with serving(data, datasets=(str(study),)) as url, httpx.Client(base_url=url) as client:
        id = client.post("/api/jobs", json=asked).json()["id"]
        with client.stream("GET", f"/api/jobs/{id}/events", timeout=60) as stream:
            for line in stream.iter_lines():
                if '"stage": "explaining"' in line and '"done": 2' in line:
                    break
        assert client.post(f"/api/jobs/{id}/cancel").json()["status"] == "cancelled"
        kept = data / FOLDER / id / "parts"
        until = time.monotonic() + 10
        while not list(kept.glob("*")):
            assert time.monotonic() < until
            time.sleep(0.02)
        client.post(f"/api/jobs/{id}/again")
        with client.stream("GET", f"/api/jobs/{id}/events", timeout=60) as stream:
            first = next(line for line in stream.iter_lines() if '"stage": "explaining"' in line)
        assert '"done": 0' not in first  # what was done before is not done again
        assert wait(client, id)["status"] == "done"
        before = rows_of(client, id)
    with serving(data, datasets=(str(study),)) as url, httpx.Client(base_url=url) as client:
        assert rows_of(client, id) == before
        other = client.post("/api/jobs", json=ASKED | {"subjects": ["g0000"]}).json()["id"]
        assert wait(client, other)["status"] == "done"
        assert not (data / FOLDER / id).exists()  # it is in the result
    assert Store(data).get(id).status == "done"
