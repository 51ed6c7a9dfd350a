"""Jobs run in processes of their own: what kills one harms neither the server nor other jobs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psutil
import pytest

from cohorts import make_cohort
from serving import serving, wait

pytestmark = pytest.mark.filterwarnings("default")  # of libraries of the server
CRASHING = """
import os
import time

def sleepy(adjacency):
    time.sleep(0.05)
    return int(adjacency.sum() > 1e9)

def crashing(adjacency):
    os._exit(3)

def stuck(adjacency):
    time.sleep(600)
"""


def workers() -> list[psutil.Process]:
    found = []
    for child in psutil.Process().children(recursive=True):
        try:
            if "multiprocessing.spawn" in " ".join(child.cmdline()):
                found.append(child)
        except psutil.NoSuchProcess:
            continue
    return found


def until(what, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.fixture(scope="module")
def client(tmp_path_factory, study):
    folder = tmp_path_factory.mktemp("own")
    (folder / "jobs_oracles.py").write_text(CRASHING)
    sys.path.insert(0, str(folder))
    try:
        own = tuple(f"jobs_oracles:{name}" for name in ("sleepy", "crashing", "stuck"))
        with (
            serving(folder / "data", datasets=(str(study),), oracles=own) as url,
            httpx.Client(base_url=url, timeout=60) as made,
        ):
            yield made
    finally:
        sys.path.remove(str(folder))


def asked(classifier: str, method: str = "con") -> dict[str, str]:
    subject = make_cohort().ids[0]
    return {"kind": "explain", "dataset": "study", "subject": subject, "classifier": classifier,
            "method": method}  # fmt: skip


def running(client, id: str) -> None:
    until(lambda: client.get(f"/api/jobs/{id}").json()["status"] == "running")


def test_a_killed_worker_is_reported_and_the_job_runs_again(client):
    job = client.post("/api/jobs", json=asked("jobs_oracles-sleepy", "edg")).json()
    running(client, job["id"])
    until(lambda: workers())
    for worker in workers():
        worker.send_signal(signal.SIGKILL)
    ended = wait(client, job["id"])
    assert ended["status"] == "failed"
    assert ended["error"]["kind"] == "WorkerDied"
    assert "SIGKILL" in ended["error"]["message"]
    assert "Run the job again" in ended["error"]["message"]
    assert client.get("/api/health").status_code == 200
    assert client.post(f"/api/jobs/{job['id']}/again").status_code < 300
    running(client, job["id"])
    assert client.post(f"/api/jobs/{job['id']}/cancel").status_code < 300


def test_a_classifier_that_ends_its_process_fails_its_job_only(client):
    job = client.post("/api/jobs", json=asked("jobs_oracles-crashing")).json()
    other = client.post("/api/jobs", json=asked("edges-logistic")).json()
    ended = wait(client, job["id"])
    assert (ended["status"], ended["error"]["kind"]) == ("failed", "WorkerDied")
    assert "exit code 3" in ended["error"]["message"]
    assert wait(client, other["id"])["status"] == "done"


def test_a_cancelled_job_stops_and_one_that_does_not_is_killed(client):
    job = client.post("/api/jobs", json=asked("jobs_oracles-sleepy", "edg")).json()
    running(client, job["id"])
    assert client.post(f"/api/jobs/{job['id']}/cancel").json()["status"] == "cancelled"
    job = client.post("/api/jobs", json=asked("jobs_oracles-stuck", "edg")).json()
    running(client, job["id"])
    until(lambda: client.get(f"/api/jobs/{job['id']}").json()["status"] == "running")
    before = {worker.pid for worker in workers()}
    client.post(f"/api/jobs/{job['id']}/cancel")
    until(lambda: len(before & {worker.pid for worker in workers()}) < len(before))
    assert client.get(f"/api/jobs/{job['id']}").json()["status"] == "cancelled"
    other = client.post("/api/jobs", json=asked("edges-logistic")).json()
    assert wait(client, other["id"])["status"] == "done"


def test_a_data_set_uploaded_after_the_worker_began_is_known_to_it(client, study):
    assert wait(client, client.post("/api/jobs", json=asked("edges-logistic")).json()["id"])
    with Path(study).open("rb") as file:
        key = client.post("/api/uploads", files={"file": ("new.dfd", file)}).json()["dataset"]
    job = client.post("/api/jobs", json=asked("edges-logistic") | {"dataset": key}).json()
    assert wait(client, job["id"])["status"] == "done"


def test_the_worker_ends_with_its_server(tmp_path, study):
    port = "0"
    server = subprocess.Popen(
        [sys.executable, "-m", "denseflip", "serve", str(study), "--no-browser", "--port", port,
         "--data", str(tmp_path / "data")],
        stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    try:
        url = next(word for word in server.stderr.readline().split() if word.startswith("http"))
        with httpx.Client(base_url=url, timeout=60) as client:
            until(lambda: _answers(client))
            job = client.post("/api/jobs", json=asked("edges-logistic")).json()
            wait(client, job["id"])
        children = psutil.Process(server.pid).children(recursive=True)
        assert any("multiprocessing.spawn" in " ".join(child.cmdline()) for child in children)
    finally:
        server.kill()
        server.wait()
        server.stderr.close()
    _, alive = psutil.wait_procs(children, timeout=30)
    assert alive == []


def _answers(client) -> bool:
    try:
        return client.get("/api/health").status_code == 200
    except httpx.TransportError:
        return False
