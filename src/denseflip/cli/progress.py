"""Progress on standard error: of a search, and of files that are read or written."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from denseflip.cli.common import err_console, progress

if TYPE_CHECKING:
    from denseflip.oracles.session import Event

_EVERY = 0.1  # seconds between two updates of the line
_LINE = 10.0  # seconds between two lines where standard error is not a terminal


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
        self._status = self.console.status("")
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


class FileProgress:
    """A progress bar over files, with the time left; a line every ten seconds in a log.

    Parameters
    ----------
    verb : what is done with the files, for example ``"read"``.
    clock : the time in seconds, for tests.
    """

    def __init__(self, verb: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.verb, self.clock = verb, clock
        self.console = err_console()
        self.done, self.total = 0, 0
        self._bars = progress()
        self._task = self._bars.add_task(verb, total=None)
        self.started = self.last = clock()

    def __enter__(self) -> FileProgress:
        self._bars.__enter__()
        return self

    def __exit__(self, *problem: Any) -> None:
        self._bars.__exit__(*problem)

    def expect(self, total: int) -> None:
        """Set the number of files."""
        self.total = total
        self._bars.update(self._task, total=total)

    def __call__(self, file: str) -> None:
        """Count a file, at the moment when work on it begins."""
        self._bars.update(self._task, description=file, completed=self.done)
        now = self.clock()
        if not self.console.is_terminal and now - self.last >= _LINE and self.done:
            self.last = now
            left = (now - self.started) / self.done * max(0, self.total - self.done)
            of = f" of {self.total:,}" if self.total else ""
            when = f", about {left:.0f} s left" if self.total else ""
            self.console.print(f"{self.done:,}{of} files {self.verb}{when}")
        self.done += 1

    def say(self, words: str) -> None:
        """Show what is done after the last file."""
        self._bars.update(self._task, description=words, completed=self.total or None)
