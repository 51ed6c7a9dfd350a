"""Run what a store lacks: chunks to an engine, records to the store, progress to the caller.

Whatever ends a run (done, Ctrl-C, a dead worker, a full disk, a kill), the store holds whole
results only, and the next run of the same specs goes on from there.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from denseflip.experiments.engines import Chunk, Engine, SerialEngine
from denseflip.experiments.result_store import Damage, Record, Store
from denseflip.experiments.spec import RunSpec, Spec, StorySpec

_BATCH = 32  # records per part …
_SECONDS = 2.0  # … or so many seconds, whichever comes first
_CHUNK = 8
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Failure:
    """A run that raised an error; it is not in the store and is tried again next time."""

    spec: Spec
    message: str

    @property
    def place(self) -> str:
        """The data set and the classifier that it failed on."""
        of = self.spec.job if isinstance(self.spec, RunSpec) else self.spec
        return f"{of.data.name}, {of.oracle.name}"

    def __str__(self) -> str:
        if isinstance(self.spec, RunSpec):
            job = self.spec.job
            where = f"{job.data.name} / {job.oracle.name} / {job.method.name} / {self.spec.graph}"
        else:
            where = f"{self.spec.data.name} / {self.spec.oracle.name}"
        return f"{where}: {self.message}"


@dataclass
class Outcome:
    """What came of a run.

    Attributes
    ----------
    records : the records of all wanted specs that are in the store now, by id.
    reused : how many were there before.
    failures : what raised an error.
    damaged : parts of the store that were set aside.
    wall : seconds from start to end.
    workers : how many processes worked on it.
    """

    records: dict[str, Record] = field(default_factory=dict)
    total: int = 0
    reused: int = 0
    failures: list[Failure] = field(default_factory=list)
    damaged: list[Damage] = field(default_factory=list)
    wall: float = 0.0
    workers: int = 1

    def times(self) -> dict[str, Any]:
        """Sums over all explanations in `records`: seconds, oracle's seconds, questions, ratios."""
        rows = [r for r in self.records.values() if r["spec"]["kind"] == "run"]
        sums = {
            key: sum(r["times"][key] for r in rows)
            for key in ("search", "search_oracle", "measures", "oracle", "evaluations")
        }
        total = sums["search"] + sums["measures"]
        return {
            "explanations": len(rows),
            "reused": self.reused,
            "questions": sum(r["result"]["calls"] for r in rows),
            "oracle_evaluations": sums["evaluations"],
            "seconds": total,
            "oracle_seconds": sums["oracle"],
            "ratio": total / sums["oracle"] if sums["oracle"] else None,
            "search_seconds": sums["search"],
            "search_oracle_seconds": sums["search_oracle"],
            "search_ratio": (
                sums["search"] / sums["search_oracle"] if sums["search_oracle"] else None
            ),
            "wall_seconds": self.wall,
        }


def run_specs(
    specs: Sequence[Spec],
    store: Store,
    engine: Engine | None = None,
    *,
    progress: Progress | None = None,
    workers: int = 1,
) -> Outcome:
    """Run those specs that the store lacks.

    Parameters
    ----------
    specs : what is wanted.
    store : where results are and go.
    engine : where the work is done; in this process by default.
    progress : called with (done, total) after every chunk, those in the store already included.
    workers : how many workers the engine may have; only decides the size of chunks.
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
        writer = _Writer(store)
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
                        writer.add(record)
                writer.flush_if_due()
                done += len(records)
                if progress:
                    progress(done, outcome.total)
        finally:
            running.close()  # type: ignore[attr-defined]
            writer.flush()
    outcome.wall = time.perf_counter() - started
    outcome.workers = engine.used
    outcome.failures.sort(key=str)
    return outcome


def make_chunks(specs: Iterable[Spec], workers: int = 1) -> list[Chunk]:
    """Specs of the same job in groups of up to eight; all others one by one, first.

    Stories take long, and somebody waits for each: they go one by one, too.

    Chunks are smaller when there are few specs, so that every worker gets some.
    """
    listed = list(specs)
    size = max(1, min(_CHUNK, len(listed) // (4 * max(1, workers))))
    chunks: list[Chunk] = [(s,) for s in listed if not isinstance(s, RunSpec)]
    group: list[RunSpec] = []
    for spec in listed:
        if not isinstance(spec, RunSpec):
            continue
        most = 1 if isinstance(spec, StorySpec) else size
        if group and (len(group) >= most or group[0].job is not spec.job):
            chunks.append(tuple(group))
            group = []
        group.append(spec)
    if group:
        chunks.append(tuple(group))
    return chunks


def default_jobs() -> int:
    """Number of cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Writer:
    """Collects records and writes them in small batches."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.pending: list[Record] = []
        self.last = time.monotonic()

    def add(self, record: Record) -> None:
        self.pending.append(record)

    def flush_if_due(self) -> None:
        if len(self.pending) >= _BATCH or time.monotonic() - self.last >= _SECONDS:
            self.flush()

    def flush(self) -> None:
        pending, self.pending = self.pending, []
        self.store.append(pending)
        self.last = time.monotonic()
