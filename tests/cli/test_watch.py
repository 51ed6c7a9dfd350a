"""The line that tells a person at a terminal how a search stands."""

from __future__ import annotations

import io

from rich.console import Console

from denseflip import Graph, explain
from denseflip.cli.progress import SearchProgress

GRAPH = Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3)])


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=200)


def piped() -> Console:
    return Console(file=io.StringIO(), force_terminal=False)


def test_it_counts_questions_and_keeps_the_smallest_flip():
    events = []
    with SearchProgress("tri+min", console=terminal()) as watch:
        assert watch.listener is watch

        def hear(event):
            watch(event)
            events.append(event)

        result = explain(GRAPH, lambda a: int(a[0, 1]), "tri+min", on_event=hear)
        calls = max(e.calls for e in events)
        edits = "1 edit" if result.distance == 1 else f"{result.distance} edits"
        assert watch.line(calls) == (
            f"tri+min searches … {calls} questions, smallest flip so far {edits}"
        )


def test_no_flip_is_said_to_be_none_and_a_label_that_was_not_asked_for_is_none():
    watch = SearchProgress("tri", target=7, console=terminal())
    explain(GRAPH, lambda a: int(a[0, 1]), "tri", target=7, on_event=watch)
    assert watch.line(1) == "tri searches … 1 question, no flip yet"


def test_a_new_search_begins_anew():
    watch = SearchProgress("tri", console=terminal())
    explain(GRAPH, lambda a: int(a[0, 1]), "tri", on_event=watch)
    assert "no flip yet" not in watch.line(9)
    watch.rename("edg")
    assert watch.line(9) == "edg searches … 9 questions, no flip yet"


def test_nothing_is_written_where_there_is_no_terminal():
    console = piped()
    with SearchProgress("tri", console=console) as watch:
        assert watch.listener is None
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]
