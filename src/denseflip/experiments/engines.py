"""Where chunks of specs are worked on: here, in processes, or on a Dask cluster. Same answers.

An engine takes chunks and yields lists of records as they come in, in any order. Whatever it does,
a chunk's records depend on its specs alone.
"""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from denseflip.errors import (
    EngineError,
    InvalidParameterError,
    MissingExtraError,
    UnknownNameError,
)
from denseflip.experiments.spec import ClassifierSpec, Spec
from denseflip.experiments.store import Record
from denseflip.experiments.work import run_chunk

Chunk = tuple[Spec, ...]
ENGINES = ("serial", "processes", "dask")
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_DEATHS = 3  # in a row, without a chunk done in between
_CONNECT_SECONDS = 10
_POLL = 0.1  # seconds between looks at what is done


class Engine(Protocol):
    """Works on chunks."""

    def run(self, chunks: Sequence[Chunk]) -> Iterator[list[Record]]:
        """Yield the records of each chunk as it is done."""
        ...


class SerialEngine:
    """One chunk after the other in this process."""

    def run(self, chunks: Sequence[Chunk]) -> Iterator[list[Record]]:
        """Yield the records of each chunk, in order."""
        for chunk in chunks:
            yield run_chunk(chunk)


class ProcessEngine:
    """Processes on this machine (joblib's loky), linear algebra on one thread in each.

    A worker that dies takes its pool with it; a new pool goes on with what is not done. Three
    deaths in a row with nothing done in between are an error.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def run(self, chunks: Sequence[Chunk]) -> Iterator[list[Record]]:
        """Yield the records of each chunk as it is done."""
        from concurrent.futures.process import BrokenProcessPool

        left = dict(enumerate(chunks))
        deaths = 0
        while left:
            try:
                for number, records in self._run_pool(left):
                    del left[number]
                    deaths = 0
                    yield records
            except BrokenProcessPool as error:
                deaths += 1
                first = next(iter(left.values()))
                if deaths >= _DEATHS:
                    msg = (
                        f"Worker processes died {deaths} times in a row, the last time near "
                        f"{describe_chunk(first)} (out of memory, or a classifier that crashes?). "
                        "What is done is kept. Try fewer jobs, or --engine serial to see the cause."
                    )
                    raise EngineError(msg) from error
                # Those that were being worked on go last, so that the others get their turn.
                for number in list(left)[: self.jobs]:
                    left[number] = left.pop(number)

    def _run_pool(self, left: dict[int, Chunk]) -> Iterator[tuple[int, list[Record]]]:
        from concurrent.futures import FIRST_COMPLETED, Future, wait

        from joblib.externals.loky import get_reusable_executor

        with _children_ignore_interrupts():
            pool = get_reusable_executor(
                max_workers=self.jobs, env=_ONE_THREAD, timeout=120, initializer=_ignore_interrupts
            )
        waiting = list(left)
        running: dict[Future[list[Record]], int] = {}
        finished = False
        try:
            with _interrupts_wait() as check:
                while waiting or running:
                    # A few ahead keep the workers busy; the rest stays here, easy to give up.
                    while waiting and len(running) < 2 * self.jobs:
                        number = waiting.pop(0)
                        running[pool.submit(run_chunk, left[number])] = number
                    done, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
                    check()
                    for future in done:
                        yield running.pop(future), future.result()
            finished = True
        finally:
            pool.shutdown(wait=True, kill_workers=not finished)


class DaskEngine:
    """Workers of a Dask cluster: a local one, or the one at ``scheduler``.

    The scheduler gives a dead worker's tasks to another one.
    """

    def __init__(self, jobs: int, scheduler: str | None = None) -> None:
        self.jobs = jobs
        self.scheduler = scheduler

    def run(self, chunks: Sequence[Chunk]) -> Iterator[list[Record]]:
        """Yield the records of each chunk as it is done."""
        try:
            import dask
            from distributed import KilledWorker, as_completed
        except ImportError as error:
            raise MissingExtraError("dask.distributed", "cluster") from error
        from concurrent.futures import CancelledError

        settings = {
            "distributed.scheduler.allowed-failures": 2 * _DEATHS,
            "distributed.comm.timeouts.connect": f"{_CONNECT_SECONDS}s",
        }
        with dask.config.set(settings):
            cluster, client = self._connect()
            try:
                coming = as_completed(client.map(run_chunk, list(chunks), pure=False))
                with _interrupts_wait() as check:
                    while not coming.is_empty():
                        ready = coming.next_batch(block=False)
                        if not ready:
                            time.sleep(_POLL)
                        check()
                        for future in ready:
                            yield future.result()
                            future.release()
            except KilledWorker as error:
                msg = (
                    f"Dask workers died again and again on the same task ({error}): out of memory, "
                    "or a classifier that crashes? What is done is kept."
                )
                raise EngineError(msg) from error
            except (CancelledError, OSError) as error:
                msg = (
                    f"The Dask scheduler{self._where()} went away ({type(error).__name__}: "
                    f"{error}). What is done is kept; run the same command to go on."
                )
                raise EngineError(msg) from error
            finally:
                client.close()
                if cluster is not None:
                    cluster.close()

    def _where(self) -> str:
        return f" at {self.scheduler}" if self.scheduler else ""

    def _connect(self) -> tuple[Any, Any]:
        from distributed import Client, LocalCluster

        cluster = None
        try:
            if self.scheduler is not None:
                return None, Client(self.scheduler, timeout=f"{_CONNECT_SECONDS}s")
            with _children_ignore_interrupts():
                cluster = LocalCluster(
                    n_workers=self.jobs,
                    threads_per_worker=1,
                    dashboard_address=":0",
                    silence_logs=logging.CRITICAL,
                )
            return cluster, Client(cluster)
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            if cluster is not None:
                cluster.close()
            msg = (
                f"No Dask scheduler can be reached{self._where()} ({type(error).__name__}: "
                f"{error}). Start one with `dask scheduler` and workers with `dask worker "
                "ADDRESS --nthreads 1`, check the address (tcp://host:8786), or leave out "
                "--scheduler to use this machine."
            )
            raise EngineError(msg) from error


def _ignore_interrupts() -> None:
    """Ctrl-C reaches every process of a terminal; workers leave it to the one that started them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _children_ignore_interrupts() -> Iterator[None]:
    """Processes started inside the block inherit that an interrupt is ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set this; elsewhere nobody presses Ctrl-C
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _interrupts_wait() -> Iterator[Callable[[], None]]:
    """Let Ctrl-C wait for the next call of the function given: never inside a pool's locks."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    pressed: list[int] = []

    def check() -> None:
        if pressed:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    try:
        yield check
    finally:
        signal.signal(signal.SIGINT, before)


def make_engine(name: str = "processes", jobs: int = 1, scheduler: str | None = None) -> Engine:
    """An engine by name.

    Parameters
    ----------
    name : ``serial``, ``processes`` or ``dask``.
    jobs : number of worker processes on this machine.
    scheduler : address of a Dask scheduler; only for ``dask``.
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        msg = f"jobs must be a whole number, at least 1; got {jobs!r}."
        raise InvalidParameterError(msg)
    if scheduler is not None and name != "dask":
        msg = f"A scheduler address ({scheduler}) is for the engine 'dask'; got {name!r}."
        raise InvalidParameterError(msg)
    if name == "serial":
        return SerialEngine()
    return DaskEngine(jobs, scheduler) if name == "dask" else ProcessEngine(jobs)


def describe_chunk(chunk: Chunk) -> str:
    """A chunk in a few words, for messages."""
    first = chunk[0]
    if isinstance(first, ClassifierSpec):
        return f"the classifier {first.oracle.name} on {first.data.name}"
    graphs = ", ".join(str(getattr(spec, "graph", "")) for spec in chunk)
    return f"{first.job.data.name} / {first.job.method.name} / {graphs}"
