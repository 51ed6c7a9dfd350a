"""What a search is doing, in one line that changes: for a person at a terminal."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from denseflip.cli.common import err_console

if TYPE_CHECKING:
    from types import TracebackType

    from denseflip.counterfactual import Label, Target
    from denseflip.graph import Graph
    from denseflip.oracles.session import Event

_EVERY = 0.1  # seconds between two changes of the line; nobody reads faster


class SearchProgress:
    """A line on standard error: questions so far, and the smallest flip seen.

    It listens to a session (`on_event`), and vanishes when the search is done. Where standard
    error is not a terminal there is no line, and nobody listens.

    Parameters
    ----------
    name : what searches, for example the method.
    target : the label, or labels, wanted; None for any other than the graph's own.
    console : where to; by default standard error.

    Examples
    --------
    >>> with SearchProgress("tri") as watch:
    ...     watch.listener is None  # no terminal here
    True
    """

    def __init__(self, name: str, target: Target = None, console: Any = None) -> None:
        self.console = err_console() if console is None else console
        self.target = target
        self._status = self.console.status(f"{name} searches …")
        self.rename(name)

    def rename(self, name: str) -> None:
        """Begin anew for another search."""
        self.name = name
        self._original: Graph | None = None
        self._label: Label | None = None
        self._best: int | None = None
        self._shown = 0.0
        self.say(f"{name} searches …")

    def say(self, line: str) -> None:
        """Show a line until there is something else to tell."""
        self._status.update(line)

    @property
    def listener(self) -> Any:
        """What a session should call, or None where there is nobody to see it."""
        return self if self.console.is_terminal else None

    def __enter__(self) -> SearchProgress:
        self._status.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._status.__exit__(kind, error, trace)

    def __call__(self, event: Event) -> None:
        """Take note of an event."""
        if event.answer is None or event.graph is None:
            return
        if self._original is None:  # the first question is about the graph itself
            self._original, self._label = event.graph, event.answer.label
        elif self._flips(event.answer.label):
            edits = self._original.distance(event.graph)
            self._best = edits if self._best is None else min(self._best, edits)
        if (now := time.monotonic()) - self._shown >= _EVERY:
            self._shown = now
            self._status.update(self.line(event.calls))

    def _flips(self, label: Label) -> bool:
        from denseflip.counterfactual import is_wanted

        return self._label is not None and is_wanted(label, self._label, self.target)

    def line(self, calls: int) -> str:
        """How it stands, in words."""
        asked = f"{calls:,} question{'' if calls == 1 else 's'}"
        if self._best is None:
            return f"{self.name} searches … {asked}, no flip yet"
        edits = f"{self._best:,} edit{'' if self._best == 1 else 's'}"
        return f"{self.name} searches … {asked}, smallest flip so far {edits}"
