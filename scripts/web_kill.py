"""Kill a server, or the workers of its jobs, while it runs jobs, and count lost jobs.

With ``--workers``, the process of a running job is killed: the server must answer, report the job
as failed, and run it again. Otherwise the server itself is killed, and starts again on the same
folder. A job that was done must then still be done, with its result; any other job must be done,
queued, or marked as interrupted and run again. The script prints the counts and fails if a job is
lost.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any


def ask(url: str, body: Any = None) -> Any:
    """An answer of the API."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def start(folder: Path, study: str = "mice") -> tuple[subprocess.Popen[str], str]:
    """A server of one data set on a free port, and its address."""
    words = ["serve", study, "--no-browser", "--port", "0", "--data", str(folder)]
    server = subprocess.Popen(
        [sys.executable, "-m", "denseflip", *words],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200"},
    )
    assert server.stderr is not None
    line = server.stderr.readline()
    address = re.search(r"https?://\S+", line)
    if address is None:
        server.kill()
        raise SystemExit(f"the server printed no address: {line.strip()!r}")
    url = address[0].rstrip("/")
    for _ in range(600):
        try:
            ask(f"{url}/api/health")
            return server, url
        except OSError:
            time.sleep(0.05)
    server.kill()
    raise SystemExit("the server does not answer")


def first_subject(url: str) -> dict[str, str]:
    """The key of the only data set, and the id of its first subject."""
    key = ask(f"{url}/api/datasets")[0]["key"]
    subject = ask(f"{url}/api/datasets/{key}")["subjects"][0]["id"]
    return {"dataset": key, "subject": subject}


def finished(url: str) -> dict[str, str]:
    """Status of every job."""
    return {job["id"]: job["status"] for job in ask(f"{url}/api/jobs?limit=500")}


def processes(server: int) -> list[int]:
    """The worker processes of a server."""
    import psutil

    found = []
    for child in psutil.Process(server).children(recursive=True):
        try:
            if "multiprocessing.spawn" in " ".join(child.cmdline()):
                found.append(child.pid)
        except psutil.NoSuchProcess:
            continue
    return found


def until(url: str, id: str, *ends: str, seconds: float = 300) -> dict[str, Any]:
    """A job once it has one of these states; fails if it ends otherwise or takes too long."""
    end = time.monotonic() + seconds
    while (job := ask(f"{url}/api/jobs/{id}"))["status"] not in ends:
        if job["status"] not in {"queued", "running"} or time.monotonic() > end:
            raise SystemExit(f"job {id} is {job['status']}, expected {' or '.join(ends)}")
        time.sleep(0.02)
    return dict(job)


def kill_workers(folder: Path, study: str, kills: int) -> None:
    """Kill the process of a running job, again and again."""
    server, url = start(folder, study)
    try:
        asked = first_subject(url) | {"classifier": "regions-logistic"}
        until(url, ask(f"{url}/api/jobs", asked)["id"], "done")  # evaluates the classifier, once
        reported, again = 0, 0
        for seed in range(1, kills + 1):
            id = ask(f"{url}/api/jobs", asked | {"seed": seed})["id"]
            until(url, id, "running")
            for process in processes(server.pid):
                os.kill(process, signal.SIGKILL)
            job = until(url, id, "failed", "interrupted")
            reported += bool(job["error"])
            alive = ask(f"{url}/api/health")["ok"] and server.poll() is None
            ask(f"{url}/api/jobs/{id}/again", {})
            again += alive and until(url, id, "done")["status"] == "done"
    finally:
        server.terminate()
        server.wait()
    sys.stdout.write(
        f"{kills} jobs killed in their workers: {reported} reported, {again} run again and done, "
        f"server alive; last message: {job['error']['message']}\n"
    )
    if not reported == again == kills:
        raise SystemExit(1)


def main() -> None:
    """Kill, start again, count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=30, help="jobs asked for before each kill")
    parser.add_argument("--study", default="mice", help="a data set, by name or file")
    parser.add_argument("--workers", action="store_true", help="kill the workers, not the server")
    told = parser.parse_args()
    if told.workers:
        with tempfile.TemporaryDirectory() as name:
            kill_workers(Path(name), told.study, told.kills)
        return
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept: dict[str, str] = {}  # job → its result, as it was when it was seen done
        asked: set[str] = set()
        interrupted = 0
        server, url = start(folder, told.study)
        known = first_subject(url)
        for _ in range(told.kills):
            for i in range(told.jobs):
                body = known | {"method": "con", "seed": i}
                asked.add(ask(f"{url}/api/jobs", body | {"classifier": "regions-logistic"})["id"])
            until = time.monotonic() + 60
            while time.monotonic() < until:  # let some be done
                done = [id for id, status in finished(url).items() if status == "done"]
                if len(set(done) - set(kept)) >= max(1, told.jobs // 4):
                    break
                time.sleep(0.05)
            time.sleep(rng.random() * 0.5)
            for id, status in finished(url).items():
                if status == "done" and id not in kept:
                    kept[id] = json.dumps(ask(f"{url}/api/jobs/{id}/result"), sort_keys=True)
            server.send_signal(signal.SIGKILL)
            server.wait()
            server, url = start(folder, told.study)
            hit = [id for id, status in finished(url).items() if status == "interrupted"]
            interrupted += len(hit)
            for id in hit:
                ask(f"{url}/api/jobs/{id}/again", {})
        until = time.monotonic() + 300
        while time.monotonic() < until:
            now = finished(url)
            if all(now.get(id) == "done" for id in asked):
                break
            time.sleep(0.1)
        lost = [id for id in asked if now.get(id) != "done"]
        changed = [
            id
            for id, before in kept.items()
            if json.dumps(ask(f"{url}/api/jobs/{id}/result"), sort_keys=True) != before
        ]
        server.terminate()
        server.wait()
    sys.stdout.write(
        f"{told.kills} kills, {len(asked)} jobs, {len(kept)} seen done before a kill, "
        f"{interrupted} interrupted and run again: lost {len(lost)}, changed {len(changed)}\n"
    )
    if lost or changed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
