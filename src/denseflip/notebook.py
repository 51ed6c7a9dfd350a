"""Tables and a progress bar for notebooks.

IPython is not imported unless it is already running.
"""

from __future__ import annotations

import functools
import html
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

ROWS = 12  # rows shown of a table; the rest is only counted
_LETTERS = 240  # longest text of a cell
_EVERY = 0.2  # seconds between two updates of a bar
_LEFT = " style='text-align:left'"


# ---- tables -----------------------------------------------------------------------------------


def html_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    total: int | None = None,
    notes: Iterable[str] = (),
) -> str:
    """A small table as HTML, with all text escaped.

    Only the first `ROWS` rows are shown; ``total`` is the number of rows if ``rows`` does not hold
    all. Without ``columns``, the first cell of each row is its header.

    >>> "a &amp; b" in html_table("Letters", ("name",), [("a & b",)])
    True
    """
    listed = list(rows)
    lines = [_line(["th"] * len(columns), columns)] if columns else []
    for row in listed[:ROWS]:
        tags = ["td"] * len(row) if columns else ["th", *["td"] * (len(row) - 1)]
        lines.append(_line(tags, row))
    more = (len(listed) if total is None else total) - min(len(listed), ROWS)
    below = [*([f"… and {more:,} more"] if more > 0 else []), *filter(None, notes)]
    footer = "".join(f"<p>{html.escape(note)}</p>" for note in below)
    head = f"<p><b>{html.escape(title)}</b></p>"
    return f"<div>{head}<table>{''.join(lines)}</table>{footer}</div>"


def _line(tags: Sequence[str], cells: Sequence[object]) -> str:
    parts = (f"<{t}{_LEFT}>{_cell(x)}</{t}>" for t, x in zip(tags, cells, strict=True))
    return f"<tr>{''.join(parts)}</tr>"


def _cell(value: object) -> str:
    if value is None or isinstance(value, bool):
        text = "–" if value is None else "yes" if value else "no"
    else:
        text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return html.escape(text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…")


# ---- progress ---------------------------------------------------------------------------------


def in_notebook() -> bool:
    """Whether this runs in a notebook: in IPython with a kernel, not in a terminal."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)()
    return getattr(shell, "kernel", None) is not None


_open = threading.local()


class NotebookBar:
    """A progress bar in the output of a notebook cell; shows nothing outside notebooks.

    A nested bar shows nothing, so a run of many steps has one bar.

    >>> with NotebookBar("Explaining") as bar:
    ...     bar(3, 16)
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._handle: Any = None
        self._mine = False
        self._last = 0.0
        self._started = time.monotonic()
        self._state = (0, 0, "")

    def __enter__(self) -> NotebookBar:
        self._mine = in_notebook() and not getattr(_open, "bar", False)
        if self._mine:
            _open.bar = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._mine:
            _open.bar = self._mine = False
            if self._handle is not None:
                self._handle.update(_State(self.what, *self._state, self._seconds, done=True))

    def __call__(self, done: int, total: int, name: str = "") -> None:
        """Update the bar; updates in quick succession are skipped."""
        self._state = (done, total, name)
        now = time.monotonic()
        if not self._mine or (self._handle is not None and now - self._last < _EVERY):
            return
        self._last = now
        state = _State(self.what, done, total, name, self._seconds)
        if self._handle is None:
            shown = importlib.import_module("IPython.display")
            self._handle = shown.display(state, display_id=True)
        else:
            self._handle.update(state)

    @property
    def _seconds(self) -> float:
        return time.monotonic() - self._started


class _State:
    """A progress bar at one moment, as IPython displays it."""

    def __init__(
        self, what: str, n: int, total: int, name: str, seconds: float, *, done: bool = False
    ) -> None:
        self.what, self.n, self.total, self.name = what, n, total, name
        self.seconds, self.done = seconds, done

    def __repr__(self) -> str:
        name = f" ({self.name})" if self.name and not self.done else ""
        left = ""
        if 0 < self.n < self.total and not self.done:
            left = f", about {_time(self.seconds / self.n * (self.total - self.n))} left"
        took = f", {_time(self.seconds)}" if self.done else left
        return f"{self.what}: {self.n:,} of {self.total:,}{name}{took}"

    def _repr_html_(self) -> str:
        text = html.escape(repr(self))
        if self.done:
            return f"<small>{text}</small>"
        return f"<progress value='{self.n}' max='{max(self.total, 1)}'></progress> {text}"


def _time(seconds: float) -> str:
    """A duration with a unit.

    >>> _time(3.2), _time(200), _time(8000)
    ('3 s', '3 min', '2.2 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def with_bar(what: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Decorate a function that takes ``progress``: in notebooks it gets a bar by default."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def run(*args: P.args, **kwargs: P.kwargs) -> T:
            if not in_notebook():
                return function(*args, **kwargs)
            with NotebookBar(what) as bar:  # shows nothing unless called; hides nested bars
                if kwargs.get("progress") is None:
                    kwargs["progress"] = bar
                return function(*args, **kwargs)

        return run

    return decorate
