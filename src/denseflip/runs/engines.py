"""Engines: run chunks of specs in this process, in worker processes, or on a Dask cluster.

An engine takes chunks and yields lists of records as they finish, in any order. The records of a
chunk depend on its specs alone, so all engines give the same results. ``auto`` starts in this
process and switches to worker processes when that is expected to be faster.
"""

from __future__ import annotations

import logging
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, Protocol

from denseflip.errors import (
    EngineError,
    InvalidParameterError,
    MissingExtraError,
    UnknownNameError,
)
from denseflip.runs.result_store import Record
from denseflip.runs.spec_base import Chunk, Listener, Spec, describe_chunk, run_chunk

if TYPE_CHECKING:
    from concurrent.futures import Future

ENGINES = ("auto", "serial", "processes", "dask")
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_DEATHS = 3  # in a row, without a finished chunk in between
_CONNECT_SECONDS = 10
_POLL = 0.1  # seconds between checks for finished chunks
START_SECONDS = 1.0  # until a new worker starts working; measured, see docs/experiments.md
_HAND_OVER = 0.3  # seconds to load its data and to shut down


class Engine(Protocol):
    """Runs chunks. ``used`` is the number of processes that it used."""

    used: int

    def run(self, chunks: Sequence[Chunk]) -> Iterator[list[Record]]:
        """Yield the records of each chunk as it finishes."""
        ...


class SerialEngine:
    """One chunk after the other in this process.

    Parameters
    ----------
    on_event : receives the events of the searches, as in `explain`. If it raises what is not an
        `Exception`, the run ends; finished results are kept.
    """

    used = 1

    def __init__(self, on_event: Listener | None = None) -> None:
        self.on_event = on_event

    def run(self, chunks: Sequence[Chunk]) -> Iterator[list[Record]]:
        """Yield the records of each chunk, in order."""
        for chunk in chunks:
            yield run_chunk(chunk, on_event=self.on_event)


class ProcessEngine:
    """Processes on this machine (joblib's loky), linear algebra on one thread in each.

    If a worker dies, its pool is replaced, and the new pool continues with the unfinished chunks.
    Three deaths in a row without a finished chunk in between are an error. Classifiers that are
    trained on their data set are trained once, in this process, and sent to the workers.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = self.used = jobs
        self._waking: list[Future[list[Record]]] = []

    def run(self, chunks: Sequence[Chunk]) -> Iterator[list[Record]]:
        """Yield the records of each chunk as it finishes."""
        from concurrent.futures.process import BrokenProcessPool

        left = dict(enumerate(chunks))
        deaths = 0
        with tempfile.TemporaryDirectory(prefix="denseflip-", ignore_cleanup_errors=True) as place:
            while left:
                try:
                    for number, records in self._run_pool(left, Path(place)):
                        del left[number]
                        deaths = 0
                        yield records
                except BrokenProcessPool as error:
                    deaths += 1
                    if deaths >= _DEATHS:
                        msg = _died(deaths, next(iter(left.values())))
                        raise EngineError(msg, parameter=("jobs", "engine")) from error
                    # Chunks that were running go last, so that the others get their turn.
                    for number in list(left)[: self.jobs]:
                        left[number] = left.pop(number)

    def _run_pool(self, left: dict[int, Chunk], place: Path) -> Iterator[tuple[int, list[Record]]]:
        from concurrent.futures import FIRST_COMPLETED, wait

        pool = self._pool()
        waiting = list(left)
        running: dict[Future[list[Record]], int] = {}
        finished = False
        try:
            if not self._waking:
                self.start()  # meanwhile, train the first classifier here
            with _interrupts_wait() as check:
                while waiting or running:
                    # A few queued chunks keep the workers busy; the rest is easy to cancel.
                    while waiting and len(running) < 2 * self.jobs:
                        number = waiting.pop(0)
                        chunk = left[number]
                        shared = chunk[0].share(place)
                        with _children_hear_no_interrupts():  # it may start a worker
                            running[pool.submit(run_chunk, chunk, shared)] = number
                    done, _ = wait(running, timeout=_POLL, return_when=FIRST_COMPLETED)
                    check()
                    for future in done:
                        yield running.pop(future), future.result()
            finished = True
        finally:
            if finished:
                pool.shutdown(wait=True)
            else:
                _kill(pool, [*running, *self._waking])
            self._waking = []

    def start(self) -> Callable[[], bool]:
        """Start the workers for a later `run`; the returned function tells whether they are ready.

        Call `stop` if no run follows.
        """
        with _interrupts_wait() as check:
            pool = self._pool()
            with _children_hear_no_interrupts():
                self._waking = [pool.submit(run_chunk, ()) for _ in range(self.jobs)]
            check()
        return lambda: any(future.done() for future in self._waking)

    def stop(self) -> None:
        """End the workers at once."""
        _kill(self._pool(), self._waking)

    def _pool(self) -> Any:
        """Return the pool: always the same one, until it is shut down or broken."""
        from joblib.externals.loky import get_reusable_executor

        with _children_hear_no_interrupts():
            return get_reusable_executor(
                max_workers=self.jobs, env=_ONE_THREAD, timeout=120, initializer=_ignore_interrupts
            )


def _kill(pool: Any, futures: Iterable[Future[Any]]) -> None:
    """End the workers of a pool at once."""
    with _interrupts_wait():
        # Otherwise the thread of the pool complains about tasks that were not passed on.
        latest = time.monotonic() + 1
        while not all(f.running() or f.done() for f in futures) and time.monotonic() < latest:
            time.sleep(0.005)
        pool.shutdown(wait=True, kill_workers=True)


class AutoEngine:
    """This process first; worker processes for the rest if that is faster.

    The work starts in this process, one spec after the other. After each spec, the remaining time t
    is estimated from the specs so far, job by job. With w workers, it takes about s + t / w
    seconds, where s is the cost of starting them: `START_SECONDS`, and the time to open a
    classifier that each worker has to open itself. If that is less than t, workers are started, and
    the work continues here until the first of them is ready. The workers then do the rest, if there
    is still enough of it. So a short run never waits for workers, even on a machine that is slow to
    start them.

    Evaluations of classifiers, which are long and of unknown duration, come last here and first in
    the workers.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs
        self.used = 1

    def run(self, chunks: Sequence[Chunk]) -> Iterator[list[Record]]:
        """Yield the records of each spec, later of each chunk, as it finishes."""
        left = sorted(chunks, key=lambda chunk: chunk[0].apart)  # last here
        pace = _Pace()
        processes: ProcessEngine | None = None
        ready: Callable[[], bool] = bool

        def worth(cost: float) -> bool:
            return pace.worth(min(self.jobs, len(left)), left, cost)

        try:
            while left and not (ready() and worth(_HAND_OVER)):
                spec, *others = left[0]
                left[0:1] = [tuple(others)] if others else []
                started = time.perf_counter()
                records = run_chunk((spec,))
                pace.add(spec, records[0], time.perf_counter() - started)
                yield records
                if processes is None and worth(START_SECONDS):
                    processes = ProcessEngine(min(self.jobs, len(left)))
                    ready = processes.start()
            if processes is not None and left:
                self.used = processes.jobs
                left.sort(key=lambda chunk: not chunk[0].apart)  # first there
                starting, processes = processes, None
                yield from starting.run(left)
        finally:
            if processes is not None:
                processes.stop()


class _Pace:
    """Durations of finished specs, to estimate those that are left."""

    def __init__(self) -> None:
        self.taken: dict[int, list[float]] = {}  # by `Spec.alike`
        self.apart: set[int] = set()
        self.begun = False
        self.opening = 0.0  # seconds for the last classifier that each worker opens itself

    def add(self, spec: Spec, record: Record, seconds: float) -> None:
        """Record the duration of a spec without one-time costs.

        One-time costs are opening the data set and the classifier. The first spec also pays for
        imports and other first uses, so it counts only if it took long.
        """
        if (known := spec.durations(record)) is not None:
            seconds, opening = known
            self.opening = max(self.opening, opening)
        if self.begun or seconds > START_SECONDS:
            self.taken.setdefault(id(spec.alike), []).append(seconds)
            if spec.apart:
                self.apart.add(id(spec.alike))
        self.begun = True

    def seconds(self, chunks: Sequence[Chunk]) -> float:
        """Estimate the seconds of work; specs of a new job count as much as the others.

        Evaluations of unknown duration count as 0.
        """
        means = {kind: fmean(taken) for kind, taken in self.taken.items()}
        met = [mean for kind, mean in means.items() if kind not in self.apart]
        usual = fmean(met) if met else 0.0
        return sum(
            len(chunk) * means.get(id(chunk[0].alike), 0.0 if chunk[0].apart else usual)
            for chunk in chunks
        )

    def worth(self, workers: int, chunks: Sequence[Chunk], cost: float) -> bool:
        """Whether this many workers would finish sooner, including the time to start them."""
        if workers < 2:
            return False
        return self.seconds(chunks) * (1 - 1 / workers) > cost + self.opening


class DaskEngine:
    """Workers of a Dask cluster: a local one, or the one at ``scheduler``.

    The scheduler gives a dead worker's tasks to another one.
    """

    def __init__(self, jobs: int, scheduler: str | None = None) -> None:
        self.jobs = self.used = jobs
        self.scheduler = scheduler

    def run(self, chunks: Sequence[Chunk]) -> Iterator[list[Record]]:
        """Yield the records of each chunk as it finishes."""
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
                    f"Dask workers died repeatedly on the same task ({error}). They may be out of "
                    "memory, or the classifier may crash. Finished results are kept."
                )
                raise EngineError(msg) from error
            except (CancelledError, OSError) as error:
                msg = (
                    f"The connection to the Dask scheduler{self._where()} was lost "
                    f"({type(error).__name__}: {error}). Finished results are kept. Run the same "
                    "command to continue."
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
                f"Cannot reach a Dask scheduler{self._where()} ({type(error).__name__}: "
                f"{error}). Start one with `dask scheduler` and workers with `dask worker "
                "ADDRESS --nthreads 1`, check the address (tcp://host:8786), or leave out "
                "the scheduler to use this machine."
            )
            raise EngineError(msg, parameter="scheduler") from error


def _ignore_interrupts() -> None:
    """Ignore SIGINT in a worker: Ctrl-C reaches all processes, and the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _children_ignore_interrupts() -> Iterator[None]:
    """Ignore SIGINT in the block, so that processes started in it inherit that."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread can set this, and only it receives Ctrl-C
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _children_hear_no_interrupts() -> Iterator[None]:
    """Processes that this thread starts inside the block are started with SIGINT blocked.

    An interrupt during the block reaches this process afterwards; none is lost.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        with _children_ignore_interrupts():
            yield
        return
    from multiprocessing.resource_tracker import ensure_running

    ensure_running()  # starting it unblocks SIGINT, so start it before the block
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _interrupts_wait() -> Iterator[Callable[[], None]]:
    """Defer Ctrl-C to the next call of the yielded function, outside the locks of a pool."""
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


def make_engine(name: str = "auto", jobs: int = 1, scheduler: str | None = None) -> Engine:
    """Return an engine by name.

    Parameters
    ----------
    name : ``auto``, ``serial``, ``processes`` or ``dask``.
    jobs : number of worker processes on this machine.
    scheduler : address of a Dask scheduler; only for ``dask``.
    """
    if name not in ENGINES:
        raise UnknownNameError("engine", name, ENGINES)
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        msg = f"jobs must be a whole number, at least 1; got {jobs!r}."
        raise InvalidParameterError(msg)
    if scheduler is not None and name != "dask":
        msg = f"A scheduler ({scheduler}) needs the engine 'dask'; got {name!r}."
        raise InvalidParameterError(msg)
    if name == "serial":
        return SerialEngine()
    if name == "dask":
        return DaskEngine(jobs, scheduler)
    return AutoEngine(jobs) if name == "auto" else ProcessEngine(jobs)


def _died(times: int, near: Chunk) -> str:
    return (
        f"Worker processes died {times} times in a row, the last time near {describe_chunk(near)} "
        "(out of memory, or the classifier crashes). Finished results are kept. Try fewer jobs, or "
        "the engine serial to see the cause."
    )
