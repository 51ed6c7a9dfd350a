"""The base class of everything that can be run: a frozen description with a content id.

A subclass says what its result depends on (`Spec.identity`) and does the work (`Spec.work`). The
engines, the run loop and the result store use nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from denseflip.oracles.session import Event
from denseflip.runs.identity import content_id
from denseflip.runs.result_store import Record
from denseflip.runs.sources import DataSpec, OracleSpec

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
