"""A progress line on the terminal: queries so far, and the smallest counterfactual."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from denseflip.cli.common import err_console

if TYPE_CHECKING:
    from denseflip.oracles.session import Event

_EVERY = 0.1  # seconds between two updates of the line


class ProgressLine:
    """A line on standard error: queries so far, and the smallest counterfactual seen.

    It listens to a search (`on_event`) and disappears when the search is done. If standard error
    is not a terminal there is no line and no listener.

    Parameters
    ----------
    name : what searches, for example the method.
    console : where to write; standard error by default.

    Examples
    --------
    >>> with ProgressLine("tri") as watch:
    ...     watch.listener is None  # no terminal here
    True
    """

    def __init__(self, name: str, console: Any = None) -> None:
        from denseflip.oracles.progress import Progress

        self.console = err_console() if console is None else console
        self.progress = Progress()
        self._status = self.console.status(f"{name}: searching …")
        self.rename(name)

    def rename(self, name: str) -> None:
        """Begin again for another search."""
        self.name = name
        self.progress.restart()
        self._shown = 0.0
        self.say(f"{name}: searching …")

    def say(self, line: str) -> None:
        """Show a line until the next update."""
        self._status.update(line)

    @property
    def listener(self) -> Any:
        """What to pass as ``on_event``; None if there is no terminal."""
        return self if self.console.is_terminal else None

    def __enter__(self) -> ProgressLine:
        self._status.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._status.__exit__(*problem)

    def __call__(self, event: Event) -> None:
        """Update from an event."""
        self.progress(event)
        if (now := time.monotonic()) - self._shown >= _EVERY:
            self._shown = now
            self._status.update(self.line())

    def line(self) -> str:
        """The progress in words."""
        calls, best = self.progress.calls, self.progress.best
        queries = f"{calls:,} quer{'y' if calls == 1 else 'ies'}"
        if best is None:
            return f"{self.name}: searching … {queries}, no counterfactual yet"
        edits = f"{best:,} edit{'' if best == 1 else 's'}"
        return f"{self.name}: searching … {queries}, smallest counterfactual so far {edits}"
