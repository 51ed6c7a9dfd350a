"""Put load on a server: many clients request pages, lists, what-ifs and jobs for a while.

The script prints requests, errors, lost jobs, response times, and the server's memory after a third
of the time and at the end. It fails on an error, a lost job, or memory growth above 20 %.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx
import psutil
from web_kill import first_subject, start


class Load:
    """What the clients did and saw."""

    def __init__(self, url: str, until: float, key: str) -> None:
        self.url, self.until, self.key = url, until, key
        self.errors: list[str] = []
        self.times: list[float] = []
        self.jobs: set[str] = set()
        self.lock = threading.Lock()

    def client(self, number: int, subjects: list[str]) -> None:
        """One visitor, until the time is over."""
        rng = random.Random(number)
        with httpx.Client(base_url=self.url, timeout=60) as client:
            while time.monotonic() < self.until:
                began = time.monotonic()
                try:
                    self._one(client, rng, subjects)
                except Exception as error:
                    with self.lock:
                        self.errors.append(f"{type(error).__name__}: {error}")
                with self.lock:
                    self.times.append(time.monotonic() - began)
                time.sleep(rng.random() * 0.5)

    def _one(self, client: httpx.Client, rng: random.Random, subjects: list[str]) -> None:
        asked = {"dataset": self.key, "subject": rng.choice(subjects)}
        what = rng.random()
        if what < 0.35:
            answer = client.get(rng.choice(["/", "/static/app.js", "/static/whatif.js"]))
        elif what < 0.6:
            answer = client.get(
                rng.choice([f"/api/datasets/{self.key}", "/api/jobs", "/api/methods"])
            )
        elif what < 0.96:
            cell = {"a": 0, "b": 1, "more": rng.randrange(1, 10)}
            answer = client.post("/api/whatif", json=asked | {"cells": [cell], "draws": 5})
        else:
            body = asked | {"method": "con", "seed": rng.randrange(1000)}
            answer = client.post("/api/jobs", json=body)
            if answer.status_code == 201:
                with self.lock:
                    self.jobs.add(answer.json()["id"])
            elif answer.status_code == 429:  # told to come back later: that is an answer
                return
        answer.raise_for_status()


def main() -> None:
    """Load a server, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--study", default="mice", help="a data set, by name or file")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        server, url = start(Path(name), told.study)
        process = psutil.Process(server.pid)
        with httpx.Client(base_url=url, timeout=120) as client:
            key = first_subject(url)["dataset"]
            subjects = [s["id"] for s in client.get(f"/api/datasets/{key}").json()["subjects"]]
            for subject in subjects:  # train and warm up before the clock runs
                client.post("/api/whatif", json={"dataset": key, "subject": subject})
            load = Load(url, time.monotonic() + told.seconds, key)
            threads = [
                threading.Thread(target=load.client, args=(i, subjects))
                for i in range(told.clients)
            ]
            for thread in threads:
                thread.start()
            time.sleep(told.seconds / 3)
            early = process.memory_info().rss
            for thread in threads:
                thread.join()
            late = process.memory_info().rss
            while client.get("/api/health").json()["waiting"]:  # let the queue run empty
                time.sleep(0.2)
            left = {
                id for id in load.jobs if client.get(f"/api/jobs/{id}").json()["status"] != "done"
            }
        server.terminate()
        server.wait()
    middle = statistics.median(load.times)
    worst = sorted(load.times)[int(0.99 * (len(load.times) - 1))]
    sys.stdout.write(
        f"{told.clients} clients, {told.seconds:.0f} s: {len(load.times)} requests, "
        f"{len(load.errors)} errors, {len(load.jobs)} jobs, {len(left)} lost; median "
        f"{middle:.2f} s, 99 % {worst:.2f} s; memory {early / 1e6:.0f} MB at a third, "
        f"{late / 1e6:.0f} MB at the end\n"
    )
    for error in load.errors[:5]:
        sys.stdout.write(f"  {error}\n")
    if load.errors or left or late > 1.2 * early:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
