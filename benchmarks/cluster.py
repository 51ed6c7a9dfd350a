"""Simulate a cohort on a Dask cluster: throughput by the number of workers.

A labelling is replaced by a sleep of its measured cost and a record of its true size, so that many
workers fit on one machine: what is measured is the scheduler, the way back and the store, not the
classifiers. Workers are threads in a few processes; a sleeping thread costs nothing.

    python benchmarks/cluster.py --cost 0.4 --tasks 2000 --workers 1,4,16,64,128
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from denseflip.runs.identity import content_id
from denseflip.runs.result_store import Record, Store

CELLS = 105  # of the mice's 14 regions
MACHINE_HOURS = 3600.0


def make_answer(number: int, cost: float, cells: int) -> Record:
    """Sleep as long as a labelling works, and give a record of its size."""
    time.sleep(cost)
    spec = {"kind": "cohort", "number": number}
    result = {
        "more": [number % 7] * cells,
        "fewer": [number % 5] * cells,
        "difference": [0.123456789 + number] * cells,
        "explained": 40,
        "right": 30,
        "told": 30,
        "questions": 12345,
        "patients": [],
    }
    return {"id": content_id(spec), "spec": spec, "result": result, "times": {"total": cost}}


def make_answers(numbers: list[int], cost: float, cells: int) -> list[Record]:
    """A batch of labellings."""
    return [make_answer(number, cost, cells) for number in numbers]


def run(
    workers: int, tasks: int, cost: float, batch: int, cells: int, *, apart: bool = True
) -> dict[str, Any]:
    """Work through so many labellings on so many workers; gives rates and where time went.

    ``apart`` is whether workers live in processes of their own.
    """
    from distributed import Client, LocalCluster, as_completed

    processes = min(workers, 4)
    cluster = LocalCluster(
        n_workers=processes,
        processes=apart,
        threads_per_worker=-(-workers // processes),
        dashboard_address=":0",
        silence_logs=logging.CRITICAL,
    )
    chunks = [list(range(i, min(i + batch, tasks))) for i in range(0, tasks, batch)]
    stored = written = 0.0
    with tempfile.TemporaryDirectory() as place, cluster, Client(cluster) as client:
        store = Store(Path(place) / "store")
        client.gather(client.map(make_answer, range(-processes, 0), cost=0.0, cells=1, pure=False))
        started = time.perf_counter()
        futures = client.map(make_answers, chunks, cost=cost, cells=cells, pure=False)
        pending: list[Record] = []
        with store.writing():
            for future, records in as_completed(futures, with_results=True):
                pending += records
                future.release()
                if len(pending) >= 32:
                    begun = time.perf_counter()
                    store.append(pending)
                    stored += time.perf_counter() - begun
                    written += len(pending)
                    pending = []
            store.append(pending)
        wall = time.perf_counter() - started
    ideal = tasks * cost / workers
    return {
        "workers": workers,
        "batch": batch,
        "per_second": round(tasks / wall, 1),
        "ideal_per_second": round(workers / cost, 1),
        "efficiency": round(ideal / wall, 3),
        "store_seconds": round(stored, 2),
        "wall": round(wall, 2),
    }


def projection(per_patient: float, per_fit: float, subjects: int, permutations: int) -> str:
    """What a large cohort costs from measured rates."""
    lines = []
    for explained in (subjects, 1000, 200):
        hours = (permutations + 1) * (explained * per_patient + 5 * per_fit) / MACHINE_HOURS
        lines.append(
            f"{subjects:,} subjects, {explained:,} explained under each of {permutations + 1} "
            f"labellings: {hours:,.1f} core hours"
        )
    return "\n".join(lines)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cost", type=float, default=0.4, help="seconds of a labelling")
    parser.add_argument("--tasks", type=int, default=1000)
    parser.add_argument("--workers", default="1,4,16,64,128")
    parser.add_argument("--batch", default="1,8", help="labellings per task")
    parser.add_argument("--cells", type=int, default=CELLS)
    parser.add_argument("--per-patient", type=float, default=0.018)
    parser.add_argument("--per-fit", type=float, default=1.6, help="seconds, of 32,000 graphs")
    parser.add_argument("--one-process", action="store_true", help="to try the script, quickly")
    args = parser.parse_args()
    size = len(json.dumps(make_answer(0, 0.0, args.cells)))
    print(f"record {size:,} bytes; {os.cpu_count()} cores; a labelling sleeps {args.cost} s")
    for batch in map(int, args.batch.split(",")):
        for workers in map(int, args.workers.split(",")):
            tasks = max(4 * workers, min(args.tasks, int(20 * workers / args.cost)))
            found = run(workers, tasks, args.cost, batch, args.cells, apart=not args.one_process)
            print(json.dumps(found), flush=True)
    print(projection(args.per_patient, args.per_fit, 40_000, 200))


if __name__ == "__main__":
    main()
