"""Run the specs that a store lacks: chunks to an engine, records to the store, progress reports.

However a run ends (done, Ctrl-C, a dead worker, a full disk, a kill), the store holds complete
results only, and the next run of the same specs continues from there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from denseflip.runs.engines import Engine, SerialEngine
from denseflip.runs.result_store import Damage, Record, Store
from denseflip.runs.spec_base import Spec, make_chunks

_BATCH = 32  # records per part …
_SECONDS = 2.0  # … or this many seconds, whichever comes first
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Failure:
    """A spec that raised an error; it is not in the store and is retried next time."""

    spec: Spec
    message: str

    def __str__(self) -> str:
        return f"{self.spec.place}: {self.message}"


@dataclass
class Outcome:
    """The outcome of a run.

    Attributes
    ----------
    records : the records of all given specs that are in the store now, by id.
    reused : number of records that were there before.
    failures : specs that raised an error.
    damaged : parts of the store that were set aside.
    wall : seconds from start to end.
    workers : number of processes used.
    """

    records: dict[str, Record] = field(default_factory=dict)
    total: int = 0
    reused: int = 0
    failures: list[Failure] = field(default_factory=list)
    damaged: list[Damage] = field(default_factory=list)
    wall: float = 0.0
    workers: int = 1


def run_specs(
    specs: Sequence[Spec],
    store: Store,
    engine: Engine | None = None,
    *,
    progress: Progress | None = None,
    workers: int = 1,
) -> Outcome:
    """Run the specs that the store lacks.

    Parameters
    ----------
    specs : what to run.
    store : where results are stored.
    engine : where to run; by default in this process.
    progress : called with (done, total) after every chunk, including results that were stored
        before.
    workers : number of workers of the engine; only decides the size of chunks.
    """
    started = time.perf_counter()
    outcome = Outcome(total=len(specs))
    wanted = {spec.id: spec for spec in specs}
    with store.writing():
        have = {r["id"]: r for r in store.records(repair=True) if r["id"] in wanted}
        outcome.damaged = list(store.damaged)
        outcome.records.update(have)
        outcome.reused = len(have)
        missing = [spec for spec in wanted.values() if spec.id not in have]
        pending: list[Record] = []
        latest = time.monotonic()
        done = len(have)
        if progress:
            progress(done, outcome.total)
        engine = engine or SerialEngine()
        running = engine.run(make_chunks(missing, workers))
        try:
            for records in running if missing else ():
                for record in records:
                    if "failed" in record:
                        failure = Failure(wanted[record["id"]], record["failed"])
                        outcome.failures.append(failure)
                    else:
                        outcome.records[record["id"]] = record
                        pending.append(record)
                if len(pending) >= _BATCH or time.monotonic() - latest >= _SECONDS:
                    part, pending = pending, []  # not written again if writing it fails
                    store.append(part)
                    latest = time.monotonic()
                done += len(records)
                if progress:
                    progress(done, outcome.total)
        finally:
            running.close()  # type: ignore[attr-defined]
            store.append(pending)
    outcome.wall = time.perf_counter() - started
    outcome.workers = engine.used
    outcome.failures.sort(key=str)
    return outcome


def default_jobs() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
