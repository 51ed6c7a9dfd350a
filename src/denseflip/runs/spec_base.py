"""The base class of everything that can be run: a frozen description with a content id.

A subclass says what its result depends on (`Spec.identity`) and does the work (`Spec.work`). The
engines, the run loop and the result store use nothing else. Specs go to a worker in chunks.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from denseflip.errors import DenseflipError, EngineError
from denseflip.oracles.session import Event
from denseflip.runs.identity import content_id, versions
from denseflip.runs.result_store import Record
from denseflip.runs.sources import DataSpec, OracleSpec
from denseflip.threads import single_thread

Listener = Callable[[Event], object]


class Spec(ABC):
    """One piece of work, done by one worker, whose record a store keeps under its id.

    Attributes
    ----------
    together : whether specs that are `alike` may go to a worker in one chunk.
    apart : whether it is long and its duration is unrelated to that of others. `AutoEngine` runs
        such specs last in its own process and first in worker processes.
    """

    together: ClassVar[bool] = False
    apart: ClassVar[bool] = False

    @property
    @abstractmethod
    def sources(self) -> tuple[DataSpec, OracleSpec]:
        """The data set and the oracle."""

    @property
    @abstractmethod
    def identity(self) -> dict[str, Any]:
        """Everything the result depends on, in plain JSON-ready form; ``versions`` among it."""

    @cached_property
    def id(self) -> str:
        """Stable content id."""
        return content_id(self.identity)

    @property
    def alike(self) -> object:
        """The same object for all specs that take about the same time."""
        return type(self)

    @property
    def place(self) -> str:
        """What it is about, for messages: data set and oracle, and what a subclass adds."""
        data, oracle = self.sources
        return f"{data.name} / {oracle.name}"

    @abstractmethod
    def work(self, on_event: Listener | None = None) -> Record:
        """Do the work in this process and return the record.

        Parameters
        ----------
        on_event : receives the events of the search, if there is one, as in `explain`.
        """

    def share(self, folder: Path) -> str | None:
        """Prepare what worker processes can share, in a file; its path, or None for nothing."""
        return None

    def receive(self, path: str) -> None:  # noqa: B027  (nothing to load is the usual case)
        """Load, in a worker process, what `share` has prepared."""

    def durations(self, record: Record) -> tuple[float, float] | None:
        """Seconds of the work itself, and seconds that each worker needs to prepare it.

        None if the record does not tell them apart.
        """
        return None


Chunk = tuple[Spec, ...]
_MOST = 8  # specs of a chunk


def make_chunks(specs: Iterable[Spec], workers: int = 1) -> list[Chunk]:
    """Specs that may go together in groups of up to eight; all others one by one, first.

    Chunks are smaller when there are few specs, so that every worker gets some.
    """
    listed = list(specs)
    size = max(1, min(_MOST, len(listed) // (4 * max(1, workers))))
    chunks: list[Chunk] = [(spec,) for spec in listed if not spec.together]
    group: list[Spec] = []
    for spec in listed:
        if not spec.together:
            continue
        if group and (len(group) >= size or group[0].alike is not spec.alike):
            chunks.append(tuple(group))
            group = []
        group.append(spec)
    if group:
        chunks.append(tuple(group))
    return chunks


def describe_chunk(chunk: Chunk) -> str:
    """Describe a chunk in a few words, for messages."""
    return "; ".join(spec.place for spec in chunk)


def run_chunk(
    specs: Sequence[Spec], shared: str | None = None, *, on_event: Listener | None = None
) -> list[Record]:
    """Do the work of some specs; return their records in order, ``{"id", "failed"}`` for a failure.

    Linear algebra is limited to one thread, so that processes do not compete for the cores and
    every machine sums in the same order.

    Parameters
    ----------
    specs : of one data set and one oracle. An empty sequence only wakes a worker.
    shared : a file that `Spec.share` has prepared.
    on_event : receives the events of the searches, as in `explain`.
    """
    with single_thread():
        if shared is not None:
            specs[0].receive(shared)
        return [_record(spec, on_event) for spec in specs]


def _record(spec: Spec, on_event: Listener | None) -> Record:
    try:
        _check_versions(spec.identity["versions"])
        return spec.work(on_event)
    except DenseflipError as error:
        message = str(error)
    except Exception as error:  # one failing graph must not stop the others
        message = f"{type(error).__name__}: {error}"
    return {"id": spec.id, "failed": message}


def _check_versions(wanted: Mapping[str, Any]) -> None:
    """Raise an error if the versions differ from those of the process that planned the run."""
    here = versions()
    other = [
        f"{k} {here.get(k)} instead of {wanted[k]}" for k in wanted if here.get(k) != wanted[k]
    ]
    if other:
        msg = (
            f"This worker has other versions ({', '.join(other)}). "
            "Install the same versions everywhere."
        )
        raise EngineError(msg)
