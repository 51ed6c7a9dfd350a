"""Explainers run in a child process, so that one that crashes or hangs costs one trial only.

A worker keeps one child. Trials and answers are pickled over its standard input and output; what an
explainer prints goes to nowhere. After a time-out or a crash the next trial starts a new child.
"""

from __future__ import annotations

import atexit
import os
import pickle
import signal
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from denseflip.arena.frozen import Frozen, open_frozen
from denseflip.arena.problem import Answer, Meter, Problem, labels_of
from denseflip.counterfactual import Counterfactual
from denseflip.datasets import Dataset
from denseflip.errors import EngineError, said
from denseflip.graph import Codes, Graph
from denseflip.graph.inputs import as_graph
from denseflip.oracles.base_session import BudgetSpentError
from denseflip.oracles.renumbered import renumber
from denseflip.runs.sources import load_data

if TYPE_CHECKING:
    from denseflip.arena.trial import Side, Trial

OPENING_SECONDS = 600.0  # for imports, the data set and the classifier
# The limit is processor time, so that a busy machine changes no result. A process that sleeps ends
# after this multiple of it on the clock.
_PATIENCE = 10
_READY = b"ready"


@dataclass
class Reply:
    """What came back.

    Attributes
    ----------
    codes : the edges of the answer as codes, in the numbering of the data set; None without one.
    result : the result of a method of denseflip, if the nodes were not renumbered.
    problem : why there is no answer: a crash, a time-out, an invalid answer; else empty.
    counted : whether the counts are known; not after a crash or a time-out.
    """

    codes: Codes | None = None
    result: Counterfactual | None = None
    problem: str = ""
    counted: bool = True
    forwards: int = 0
    backwards: int = 0
    background: int = 0
    training: int = 0
    training_seconds: float = 0.0
    seconds: float = 0.0


# ---- in the child -------------------------------------------------------------------------------


@dataclass
class _Opened:
    """The data sets and classifiers that a child has opened."""

    datasets: dict[str, Dataset] = field(default_factory=dict)
    frozen: dict[str, tuple[Frozen, dict[Any, Any]]] = field(default_factory=dict)

    def open(self, side: Side) -> tuple[Dataset, Frozen, dict[Any, Any]]:
        """The data set, the classifier, and what explainers keep for it."""
        digest, sha256 = side.data.digest, side.card.sha256
        if digest not in self.datasets:
            self.datasets[digest] = load_data(side.data)
        dataset = self.datasets[digest]
        if sha256 not in self.frozen:
            frozen = open_frozen(Path(side.path), sha256)
            labels_of(frozen.oracle, dataset.graphs[:1])  # what it does only the first time
            self.frozen[sha256] = (frozen, {})
        return dataset, *self.frozen[sha256]


def solve(trial: Trial, opened: _Opened, ready: Any = lambda: None) -> Reply:
    """Run one explainer on one graph in this process; `ready` is called when it starts."""
    from denseflip.arena.peers import find_explainer

    dataset, frozen, kept = opened.open(trial.side)
    checkout = trial.contender.checkout
    explainer = find_explainer(trial.contender.name, Path(checkout) if checkout else None)
    for module in explainer.needs:
        __import__(module)
    explainer.prepare()
    graph, order = dataset[trial.graph].graph, np.arange(dataset.n_nodes)
    if trial.renumbering:
        order = np.random.default_rng(trial.renumbering).permutation(dataset.n_nodes)
        graph = renumber(graph, np.argsort(order))
    meter = Meter(trial.budget)
    ready()
    started = time.process_time()
    reply = Reply()
    try:
        answer = explainer.explain(Problem(frozen, dataset, graph, trial.seed, meter, order, kept))
        reply.codes, reply.result = _read(answer, graph)
    except BudgetSpentError:
        reply.problem = "budget spent"
    except Exception as error:  # a peer may raise anything
        reply.problem = said(error, 160)
    reply.seconds = time.process_time() - started - meter.spent_seconds
    if reply.codes is not None and trial.renumbering:
        reply.codes = renumber(Graph(graph.n_nodes, reply.codes), order).codes
        reply.result = None
    for name in ("forwards", "backwards", "background", "training", "training_seconds"):
        setattr(reply, name, getattr(meter, name))
    return reply


def _read(answer: Answer | Any, graph: Graph) -> tuple[Codes | None, Counterfactual | None]:
    """The edges of an answer; refuses anything that is no graph over the same nodes."""
    if answer is None:
        return None, None
    if isinstance(answer, Counterfactual):
        return (answer.counterfactual.codes, answer) if answer.found else (None, None)
    return graph.check_same_nodes(as_graph(answer)).codes, None


def serve() -> None:
    """Run trials from standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(1), "wb")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    opened = _Opened()
    while (data := _receive(sys.stdin.buffer)) is not None:
        trial: Trial = pickle.loads(data)

        def start(seconds: float = trial.seconds) -> None:
            _send(out, _READY)
            _limit_processor(seconds)

        try:
            reply = solve(trial, opened, start)
        except Exception as error:  # before the explainer started
            reply = Reply(problem=f"not started: {said(error, 300)}")
        _limit_processor(0)
        _send(out, pickle.dumps(reply))


def _limit_processor(seconds: float) -> None:
    """End this process after so many seconds of processor time; 0 for no limit. Unix only."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _end_with(parent: int) -> None:
    """End this process, whatever an explainer is doing, once its worker is gone."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def _send(to: IO[bytes], data: bytes) -> None:
    to.write(struct.pack("<Q", len(data)) + data)
    to.flush()


def _receive(source: IO[bytes]) -> bytes | None:
    head = source.read(8)
    if len(head) < 8:
        return None
    (size,) = struct.unpack("<Q", head)
    data = source.read(size)
    return data if len(data) == size else None


# ---- in the worker ------------------------------------------------------------------------------

# Exit codes of a child that was ended because of its time.
_LATE = [-getattr(signal, name, 0) for name in ("SIGPROF", "SIGKILL")]
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class Child:
    """A child process that runs trials one after the other."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._paths = ""  # where it looks for modules: explainers may be in a folder of the user
        self._lock = threading.Lock()

    def solve(self, trial: Trial) -> Reply:
        """Run a trial; a reply with a problem if it crashes or takes longer than its limit.

        The limit is that of the explainer's processor time, once everything is open.

        Raises
        ------
        EngineError
            If the child cannot open the data set or the classifier.
        """
        seconds = trial.seconds
        with self._lock:
            process = self._started()
            assert process.stdin is not None
            try:
                _send(process.stdin, pickle.dumps(trial))
                reply = self._wait(process, OPENING_SECONDS)
                if reply == _READY:
                    reply = self._wait(process, _PATIENCE * seconds)
                    if reply is None:
                        ended = process.poll()
                        self.stop()
                        late = ended in _LATE
                        why = f"no answer within {seconds:g} s" if late else f"crashed ({ended})"
                        return Reply(problem=why, counted=False, seconds=seconds)
            except (BrokenPipeError, OSError):
                reply = None
            if reply is None:
                self.stop()
                msg = "The process of an explainer ended before it started, or did not open."
                raise EngineError(msg)
        found: Reply = pickle.loads(reply)
        if found.problem.startswith("not started: "):
            raise EngineError(found.problem)
        return found

    def _started(self) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join(p for p in sys.path if p)
        if paths != self._paths:
            self.stop()
        if self._process is None or self._process.poll() is not None:
            self._paths = paths
            self._process = subprocess.Popen(
                [sys.executable, "-c", "from denseflip.arena.child import serve; serve()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **_ONE_THREAD, "PYTHONPATH": paths},
            )
        return self._process

    def _wait(self, process: subprocess.Popen[bytes], seconds: float) -> bytes | None:
        """The next message; None if the process ends or the time is over."""
        source, found = process.stdout, []
        assert source is not None
        reader = threading.Thread(target=lambda: found.append(_receive(source)), daemon=True)
        reader.start()
        reader.join(seconds)
        if reader.is_alive():
            process.kill()
            process.wait()
            reader.join()
            return None
        if found[0] is None:
            process.wait()
        return found[0]

    def stop(self) -> None:
        """End the process at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process = None


CHILD = Child()
atexit.register(CHILD.stop)
