"""Follow a search: the smallest counterfactual seen so far, by one rule for all listeners.

`FlipRecorder` looks at every answer of a search and announces each new smallest counterfactual to
the listener of that search by an `Event` of the kind ``"best"``. `Progress` is what a progress line
or a live page keeps of the events.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

from denseflip.counterfactual import Label
from denseflip.graph import Graph
from denseflip.oracles.protocol import Answer
from denseflip.oracles.session import Event


class FlipRecorder:
    """Finds the counterfactuals among the answers of a session; remembers the smallest.

    Parameters
    ----------
    on_event : receives all events of the session. After an answer about a counterfactual that is
        smaller than all before, it also receives a ``"best"`` with the number of edits.
    keep : how many counterfactuals `flips` returns at most.

    Attributes
    ----------
    original : the graph that is explained; nothing is recorded before it is set.
    accepts : whether an answer is that of a counterfactual, by target and required confidence.
    best : number of edits of the smallest counterfactual so far, or None.
    """

    def __init__(self, on_event: Callable[[Event], object] | None = None, *, keep: int = 0) -> None:
        self.on_event = on_event
        self.keep = keep
        self.original: Graph | None = None
        self.accepts: Callable[[Answer], bool] = lambda _: False
        self.best: int | None = None
        self._heap: list[tuple[int, int, Graph, Label]] = []
        self._count = 0

    def __call__(self, event: Event) -> None:
        """Pass an event on, and look at its answer."""
        if self.on_event is not None:
            self.on_event(event)
        if event.kind != "answer" or self.original is None or event.graph is None:
            return
        if event.answer is None or not self.accepts(event.answer):
            return
        size = self.original.distance(event.graph)
        if self.keep:
            self._count += 1
            heapq.heappush(self._heap, (-size, -self._count, event.graph, event.answer.label))
            if len(self._heap) > self.keep:
                heapq.heappop(self._heap)
        if self.best is None or size < self.best:
            self.best = size
            if self.on_event is not None:
                self.on_event(event._replace(kind="best", value=size))

    def flips(self) -> list[tuple[Graph, Label]]:
        """The counterfactuals kept, those with the fewest edits first, and then the earliest."""
        return [(graph, label) for *_, graph, label in sorted(self._heap, reverse=True)]


class Progress:
    """How far a search is: queries so far, and edits of the smallest counterfactual.

    Pass it as ``on_event``, or call it from a listener of your own.

    Examples
    --------
    >>> from denseflip import Graph, explain
    >>> progress = Progress()
    >>> graph = Graph.from_edges(4, [(0, 1), (1, 2)])
    >>> result = explain(graph, lambda a: int(a[0, 1]), on_event=progress)
    >>> (progress.calls, progress.best) == (result.calls, result.distance)
    True
    """

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Begin again, for another search."""
        self.calls = 0
        self.best: int | None = None

    def __call__(self, event: Event) -> None:
        """Update from an event."""
        self.calls = event.calls
        if event.kind == "best":
            self.best = event.value if self.best is None else min(self.best, event.value)
