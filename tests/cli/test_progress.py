"""The progress line of a search on a terminal."""

from __future__ import annotations

import io

from rich.console import Console

from denseflip import Graph, explain
from denseflip.cli.progress import FileProgress, ProgressLine

GRAPH = Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3)])


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=200)


def piped() -> Console:
    return Console(file=io.StringIO(), force_terminal=False)


def test_it_counts_queries_and_keeps_the_smallest_counterfactual():
    events = []
    with ProgressLine("tri+min", console=terminal()) as watch:
        assert watch.listener is watch

        def hear(event):
            watch(event)
            events.append(event)

        result = explain(GRAPH, lambda a: int(a[0, 1]), "tri+min", on_event=hear)
        calls = max(e.calls for e in events)
        edits = "1 edit" if result.distance == 1 else f"{result.distance} edits"
        assert watch.line() == (
            f"tri+min: searching … {calls} queries, smallest counterfactual so far {edits}"
        )


def test_a_label_other_than_the_target_is_no_counterfactual():
    watch = ProgressLine("tri", console=terminal())
    result = explain(GRAPH, lambda a: int(a[0, 1]), "tri", target=7, on_event=watch)
    assert watch.line() == f"tri: searching … {result.calls} queries, no counterfactual yet"


def test_a_new_search_begins_anew():
    watch = ProgressLine("tri", console=terminal())
    explain(GRAPH, lambda a: int(a[0, 1]), "tri", on_event=watch)
    assert "no counterfactual yet" not in watch.line()
    watch.rename("edg")
    assert watch.line() == "edg: searching … 0 queries, no counterfactual yet"


def test_nothing_is_written_where_there_is_no_terminal():
    console = piped()
    with ProgressLine("tri", console=console) as watch:
        assert watch.listener is None
    assert console.file.getvalue() == ""  # type: ignore[attr-defined]


def test_files_are_counted_in_a_log_with_the_time_left(capsys):
    now = [0.0]
    with FileProgress("read", clock=lambda: now[0]) as watch:
        watch.expect(100)
        for i in range(31):
            watch(f"s{i}.csv")
            now[0] += 1.0
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "10 of 100 files read, about 90 s left"
    assert said[1:] == [
        "20 of 100 files read, about 80 s left",
        "30 of 100 files read, about 70 s left",
    ]
