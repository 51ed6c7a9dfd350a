"""Run each job in a worker process: a crash, a busy neighbour or a cancelled job harms no other.

A worker is started for the first job and kept for the next one, with its data sets and classifiers
in memory. A cancelled job stops at its next query; if it does not, its worker is killed. A worker
ends when the server does, however that happens.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from denseflip.threads import single_thread
from denseflip.web.guard import error_body
from denseflip.web.job_runner import JobFailedError, JobProgress, Stopped, failure_of
from denseflip.web.job_store import Job
from denseflip.web.server_config import ServerSettings

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from denseflip.web.job_work import Done

_LOOK = 0.1  # seconds between two looks whether a job was cancelled
_GRACE = 3.0  # seconds that a cancelled job may take to stop
_END = 5.0  # seconds that a killed process may take to end


@dataclass(eq=False)
class _Worker:
    """One process and the pipe to it."""

    process: multiprocessing.process.BaseProcess
    pipe: Connection

    def kill(self) -> None:
        """End the process at once."""
        self.process.kill()
        self.process.join(_END)
        self.pipe.close()


class WorkerProcesses:
    """Runs jobs in processes; a callable for `Runner`.

    Parameters
    ----------
    settings : of the server; every worker opens the same data folder.
    """

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self._idle: list[_Worker] = []
        self._lock = threading.Lock()
        self._closed = False

    def __call__(self, job: Job, live: JobProgress) -> Done:
        """Run a job in an idle worker, or in a new one.

        Raises
        ------
        Stopped
            If the job was cancelled; it has ended by then.
        JobFailedError
            If the job failed, or its worker died.
        """
        worker = self._take()
        try:
            return self._run(worker, job, live)
        except (EOFError, OSError) as error:
            worker.process.join(_END)
            raise JobFailedError(_died(worker.process.exitcode)) from error
        finally:
            self._give_back(worker)

    def close(self) -> None:
        """End the idle workers; those at work end when their job is stopped."""
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.kill()

    def _take(self) -> _Worker:
        with self._lock:
            while self._idle:
                worker = self._idle.pop()
                if worker.process.is_alive():
                    return worker
                worker.kill()
        # A fresh interpreter: a copy of this process would hold the locks of its threads.
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=work_off, args=(theirs, self.settings), name="denseflip-worker"
        )
        process.start()
        theirs.close()
        return _Worker(process, ours)

    def _give_back(self, worker: _Worker) -> None:
        with self._lock:
            if not self._closed and worker.process.is_alive():
                self._idle.append(worker)
                return
        worker.kill()

    def _run(self, worker: _Worker, job: Job, live: JobProgress) -> Done:
        worker.pipe.send(job)
        while True:
            while not worker.pipe.poll(_LOOK):
                if live.stop.is_set():
                    self._stop(worker)
            kind, content = worker.pipe.recv()
            if kind == "done":
                return content[0], content[1]
            if kind == "failed":
                raise JobFailedError(content)
            if live.stop.is_set():
                self._stop(worker)
            live.tell(**content)

    def _stop(self, worker: _Worker) -> NoReturn:
        """Let the job save what is finished and stop; kill the process if it takes too long."""
        until = time.monotonic() + _GRACE
        with suppress(EOFError, OSError):
            worker.pipe.send("stop")
            while worker.pipe.poll(max(0.0, until - time.monotonic())):
                if worker.pipe.recv()[0] != "progress":
                    raise Stopped
        worker.kill()
        raise Stopped


def _died(code: int | None) -> dict[str, Any]:
    """The error of a job whose worker died."""
    why = f"exit code {code}"
    if code is not None and code < 0:
        try:
            why = signal.Signals(-code).name
        except ValueError:
            why = f"signal {-code}"
        if code == -signal.SIGKILL:
            why += ", possibly because memory ran out"
    message = f"The process of this job ended unexpectedly ({why}). Run the job again."
    return error_body("WorkerDied", message)


class _Reporter(JobProgress):
    """The progress of a job in its worker, reported to the server."""

    def __init__(self, id: str, pipe: Connection) -> None:
        super().__init__(id)
        self._pipe = pipe

    def tell(self, *, now: bool = False, **facts: Any) -> None:
        """Update the state, unless the server has stopped the job."""
        if self._pipe.poll():
            raise Stopped
        super().tell(now=now, **facts)

    def publish(self) -> None:
        """Send the state to the server, which knows the status itself."""
        facts = {k: v for k, v in self.state.items() if k not in ("status", "sent")}
        self._pipe.send(("progress", {**facts, "now": True}))


def work_off(pipe: Connection, settings: ServerSettings) -> None:
    """Do the jobs that arrive through a pipe, until it closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from denseflip.web.job_store import Store
    from denseflip.web.job_work import Work
    from denseflip.web.library import Library
    from denseflip.web.uploads import Quota

    with single_thread():
        work: Work | None = None
        while True:
            try:
                job = pipe.recv()
            except EOFError:
                return
            if job == "stop":  # of the last job, which had ended
                continue
            try:
                if work is None:
                    quota = Quota(settings, Library(settings), Store(settings.data))
                    work = Work(settings, quota)
                work.library.refresh()
                answer: tuple[str, Any] = ("done", work(job, _Reporter(job.id, pipe)))
            except Stopped:
                answer = ("stopped", None)
            except (Exception, SystemExit) as error:
                answer = ("failed", failure_of(error))
            pipe.send(answer)


def _end_with_parent() -> None:
    """End this process when the server ends, even if it was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
