"""Jobs and their results in one SQLite file.

A job is ``queued``, ``running``, and then ``done``, ``failed`` or ``cancelled``. One that was
running when the server died is ``interrupted``, and can be run again; one that waited still waits.
"""

from __future__ import annotations

import gzip
import json
import secrets
import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from weakref import finalize

from denseflip.errors import StoreError
from denseflip.serialise import Serialisable

FILE = "denseflip-serve.sqlite"
FINAL = ("done", "failed", "cancelled", "interrupted")
Status = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
_VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, status TEXT NOT NULL, request TEXT NOT NULL,
  created REAL NOT NULL, started REAL, finished REAL, error TEXT, summary TEXT, result BLOB
);
CREATE INDEX IF NOT EXISTS jobs_by_time ON jobs (created);
CREATE TABLE IF NOT EXISTS judged (
  dataset TEXT, classifier TEXT, evaluation TEXT NOT NULL, PRIMARY KEY (dataset, classifier)
);
"""


@dataclass(frozen=True)
class Job(Serialisable, named="a job of the app"):
    """One job of the store, without its result."""

    id: str
    kind: str
    status: Status
    request: dict[str, Any]
    created: float
    started: float | None
    finished: float | None
    error: dict[str, Any] | None
    summary: dict[str, Any] | None


class Store:
    """The jobs of a server; safe to share between threads.

    Parameters
    ----------
    folder : folder of the file; the file is created if missing.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        try:
            self._db = sqlite3.connect(folder / FILE, check_same_thread=False, timeout=30)
            finalize(self, self._db.close)  # unclosed connections warn since Python 3.13
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=FULL")
            version = self._db.execute("PRAGMA user_version").fetchone()[0]
            if version > _VERSION:
                msg = (
                    f"{folder / FILE}: written by a newer denseflip. Update denseflip, or choose "
                    "another data folder."
                )
                raise StoreError(msg, parameter="data")
            with self._db:
                self._db.executescript(_SCHEMA)
                self._db.execute(f"PRAGMA user_version={_VERSION}")
        except sqlite3.Error as error:
            msg = f"{folder / FILE}: cannot be used ({error}). Choose another data folder."
            raise StoreError(msg, parameter="data") from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    # ---- jobs ---------------------------------------------------------------------------

    def recover(self) -> tuple[list[str], int]:
        """After a start: return ids of waiting jobs, and the number of interrupted ones."""
        hit = self._write(
            "UPDATE jobs SET status='interrupted', finished=? WHERE status='running'", time.time()
        )
        rows = self._read("SELECT id FROM jobs WHERE status='queued' ORDER BY created")
        return [row[0] for row in rows], hit

    def add(self, kind: str, request: dict[str, Any]) -> Job:
        """Add a job to the queue."""
        job = Job(
            secrets.token_hex(8), kind, "queued", request, time.time(), None, None, None, None
        )
        self._write(
            "INSERT INTO jobs (id, kind, status, request, created) VALUES (?,?,?,?,?)",
            *(job.id, kind, job.status, json.dumps(request), job.created),
        )
        return job

    def add_done(self, kind: str, request: dict[str, Any], summary: Any, result: Any) -> Job:
        """Add a finished job: an uploaded result."""
        packed, now = pack(result), time.time()
        id = secrets.token_hex(8)
        self._write(  # in one step: an incomplete job would wait forever
            "INSERT INTO jobs (id, kind, status, request, created, finished, summary, result) "
            "VALUES (?,?,'done',?,?,?,?,?)",
            *(id, kind, json.dumps(request), now, now, json.dumps(summary), packed),
        )
        return Job(id, kind, "done", request, now, None, now, None, summary)

    def get(self, id: str) -> Job | None:
        """Return a job; None if unknown."""
        return next(iter(self._jobs("WHERE id=?", id)), None)

    def recent(self, limit: int = 50) -> list[Job]:
        """Return the newest jobs."""
        return self._jobs("ORDER BY created DESC LIMIT ?", limit)

    def count(self, kind: str) -> int:
        """Return the number of stored jobs of a kind."""
        return int(self._read("SELECT count(*) FROM jobs WHERE kind=?", kind)[0][0])

    def size(self) -> int:
        """Return the size in bytes of jobs and results, without the space of deleted ones."""
        names = ("page_count", "freelist_count", "page_size")
        pages, free, size = (self._read(f"PRAGMA {name}")[0][0] for name in names)
        return int((pages - free) * size)

    def remove(self, id: str) -> bool:
        """Delete a job that has ended, with its result; False if it waits or runs."""
        sql = "DELETE FROM jobs WHERE id=? AND status NOT IN ('queued','running')"
        return self._write(sql, id) == 1

    def one_of(self, id: str, subject: str | None) -> Job | None:
        """The job that shows one graph out of a job of many, if it was asked for and is not over
        without a result.
        """
        jobs = self._jobs(
            "WHERE kind='explain' AND instr(request, ?) "
            "AND status IN ('queued','running','done') ORDER BY created DESC",
            json.dumps(id),
        )
        wanted = (id, subject)
        return next(
            (j for j in jobs if (j.request.get("of"), j.request["subject"]) == wanted), None
        )

    def waiting(self) -> int:
        """Return the number of jobs that wait or run."""
        sql = "SELECT count(*) FROM jobs WHERE status IN ('queued','running')"
        return int(self._read(sql)[0][0])

    def start(self, id: str) -> bool:
        """Mark a waiting job as running; False if it no longer waits."""
        sql = "UPDATE jobs SET status='running', started=? WHERE id=? AND status='queued'"
        return self._write(sql, time.time(), id) == 1

    def finish(self, id: str, summary: Any, result: Any) -> bool:
        """Save the result of a job; False if it was cancelled meanwhile."""
        sql = (
            "UPDATE jobs SET status='done', finished=?, summary=?, result=?, error=NULL "
            "WHERE id=? AND status<>'cancelled'"
        )
        return self._write(sql, time.time(), json.dumps(summary), pack(result), id) == 1

    def end(self, id: str, status: str, error: dict[str, Any] | None = None) -> bool:
        """Mark a job as failed or cancelled, unless it has already ended."""
        sql = (
            "UPDATE jobs SET status=?, finished=?, error=? "
            "WHERE id=? AND status IN ('queued','running')"
        )
        told = None if error is None else json.dumps(error)
        return self._write(sql, status, time.time(), told, id) == 1

    def again(self, id: str) -> bool:
        """Requeue a job that has ended without a result."""
        sql = (
            "UPDATE jobs SET status='queued', started=NULL, finished=NULL, error=NULL "
            "WHERE id=? AND status IN ('interrupted','failed','cancelled')"
        )
        return self._write(sql, id) == 1

    def result(self, id: str) -> Any:
        """Return the result of a finished job; None without one."""
        rows = self._read("SELECT result FROM jobs WHERE id=? AND result IS NOT NULL", id)
        return json.loads(gzip.decompress(rows[0][0])) if rows else None

    def _jobs(self, which: str, *values: Any) -> list[Job]:
        columns = "id, kind, status, request, created, started, finished, error, summary"
        return [
            Job(
                *(id, kind, status, json.loads(request), *times),
                *(None if text is None else json.loads(text) for text in (error, summary)),
            )
            for id, kind, status, request, *times, error, summary in self._read(
                f"SELECT {columns} FROM jobs {which}", *values
            )
        ]

    def _read(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._db.execute(sql, values).fetchall()

    def _write(self, sql: str, *values: Any) -> int:
        """Run a statement in a transaction; return the number of rows that it changed."""
        with self._lock, self._db:
            return self._db.execute(sql, values).rowcount

    # ---- evaluations --------------------------------------------------------------------

    def judged(self, dataset: str, classifier: str) -> dict[str, Any] | None:
        """Return the evaluation of a classifier on a data set (`Library.identity`), if any."""
        sql = "SELECT evaluation FROM judged WHERE dataset=? AND classifier=?"
        rows = self._read(sql, dataset, classifier)
        return dict(json.loads(rows[0][0])) if rows else None

    def judge(self, dataset: str, classifier: str, evaluation: dict[str, Any]) -> None:
        """Save an evaluation."""
        sql = "INSERT OR REPLACE INTO judged VALUES (?,?,?)"
        self._write(sql, dataset, classifier, json.dumps(evaluation))

    def forget(self, key: str) -> None:
        """Delete the evaluations on a deleted data set."""
        sql = "DELETE FROM judged WHERE dataset=? OR substr(dataset, 1, ?)=?"
        self._write(sql, key, len(key) + 1, f"{key}@")


def pack(result: Any) -> bytes:
    """Return a result as it is stored."""
    return gzip.compress(json.dumps(result, ensure_ascii=False).encode(), 5, mtime=0)
