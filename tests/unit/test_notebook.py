"""What a notebook shows: tables of values, escaped and short, and one progress bar."""

from __future__ import annotations

import html.parser
import subprocess
import sys
import types
from dataclasses import replace

import pytest

from cohorts import make_cohort
from denseflip import (
    Graph,
    Nodes,
    compare,
    evaluate,
    explain,
    explain_cohort,
    explain_many,
    load_dataset,
)
from denseflip.datasets import Card
from denseflip.errors import OracleError, UnknownNameError
from denseflip.notebook import ROWS, NotebookBar, html_table, in_notebook, with_bar
from denseflip.workflow.compare import Compared, Comparison
from denseflip.workflow.subject import find_subject
from graphs import halves, two_cliques

DATA = make_cohort(6)
NASTY = "<script>alert('x')</script> & \"co\""


def linked(a):
    return int(a[0, 1])


class Page(html.parser.HTMLParser):
    """The tags of a page, which must be closed in order, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += f"{data} "


def shown(value) -> Page:
    page = Page(value._repr_html_())
    assert "script" not in page.tags
    assert len(value._repr_html_()) < 12_000
    return page


# ---- tables ---------------------------------------------------------------------------------


def test_a_graph():
    page = shown(two_cliques())
    assert "Graph: 8 nodes, 10 edges" in page.text
    assert "0 to 4" in page.text
    assert "names" not in page.text
    named = Graph.from_edges(3, [(0, 1)]).named([NASTY, "b", "c"])
    assert NASTY in shown(named).text
    for n in (0, 1):
        assert f"{n} nodes, 0 edges" in shown(Graph.from_edges(n, [])).text


def test_nodes():
    page = shown(load_dataset("mice").nodes)
    assert "332 nodes; " in page.text
    assert "… and 320 more" in page.text
    assert page.tags.count("tr") == ROWS + 1
    plain = shown(Nodes((NASTY, "b")))
    assert "2 nodes; no regions" in plain.text
    assert NASTY in plain.text
    assert "more" not in plain.text
    assert shown(Nodes(())).tags.count("tr") == 1
    placed = Nodes(("a",), regions={"lobe": ("X",)}, coordinates=((1.0, 2.0, 3.5),))
    assert "3.5" in shown(placed).text


def test_a_data_set():
    page = shown(DATA)
    assert "cohort: 12 graphs" in page.text
    assert "A 6, B 6" in page.text
    assert "lobe (2), side (2)" in page.text
    nasty = replace(DATA, class_names=(NASTY, "B"), card=Card(source=NASTY, caveats=(NASTY,)))
    assert shown(nasty).text.count(NASTY) == 3
    assert "regions" not in shown(make_cohort(2, regions=False)).text


def test_an_evaluation():
    judged = evaluate(DATA, "edges-logistic", folds=3, repeats=1, permutations=19)
    page = shown(judged)
    assert "edges-logistic on cohort (12 graphs)" in page.text
    assert judged.verdict in page.text
    assert "held-out graphs" in page.text
    given = shown(evaluate(DATA, linked, permutations=0))
    assert "these graphs" in given.text
    assert "shuffles" not in given.text
    assert NASTY in shown(replace(judged, dataset=NASTY)).text


def test_explanations():
    def fragile(a):
        if a.sum() == DATA.graphs[1].to_adjacency().sum():
            raise ValueError(NASTY)
        return linked(a)

    many = explain_many(DATA, fragile, method="edg+min")
    page = shown(many)
    found = sum(story.result.found for story in many.stories)
    assert f"cohort: {found} of 12 counterfactuals found" in page.text
    assert f"{len(many.failures)} failed." in page.text
    assert NASTY in page.text
    assert page.tags.count("tr") == 13


def test_many_explanations_are_counted():
    data = make_cohort(9)
    page = shown(explain_many(data, linked, method="edg+min"))
    assert f"… and {18 - ROWS} more" in page.text


def test_tables_are_short_and_say_what_is_left_out():
    page = Page(html_table("T", ("a", "b"), [(None, True), (0.123456, "x" * 5000)] * 20))
    assert page.tags.count("tr") == ROWS + 1
    assert "… and 28 more" in page.text
    assert "0.1235" in page.text
    assert "–" in page.text
    assert "yes" in page.text
    assert len(page.text) < 5000


def test_displays_import_nothing_heavy():
    code = (
        "import sys\n"
        "from denseflip import load_dataset\n"
        "mice = load_dataset('mice')\n"
        "for one in (mice, mice.nodes, mice.graphs[0]):\n"
        "    assert one._repr_html_()\n"
        "heavy = {'sklearn', 'networkx', 'pandas', 'matplotlib', 'jinja2', 'rich', 'IPython'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- a comparison ---------------------------------------------------------------------------


def test_a_comparison_is_a_sequence_that_searches_when_it_is_asked():
    started = []
    rows = compare(two_cliques(), linked, ["edg", "cli", "rcli"], progress=started.append)
    assert isinstance(rows, Comparison)
    assert len(rows) == 3
    assert rows.methods == ("edg", "cli", "rcli")
    assert started == []
    assert rows[0].method == "edg"
    assert started == ["edg"]
    assert repr(rows) == "Comparison(edg, cli, rcli; 1 of 3 done)"
    first = next(iter(rows))
    assert first is rows[0]
    assert rows["cli"].method == "cli"
    assert started == ["edg", "cli"]
    assert [row.method for row in rows] == ["edg", "cli", "rcli"]
    assert rows[-1].story is None
    assert rows[1:] == [rows[1], rows[2]]
    assert rows[5:] == []
    assert started == ["edg", "cli", "rcli"]  # each once
    assert list(rows) == list(rows)
    with pytest.raises(IndexError):
        rows[3]
    with pytest.raises(UnknownNameError, match="Did you mean 'cli'"):
        rows["clii"]
    assert list(rows.stories) == ["edg", "cli"]


def test_a_comparison_as_a_table_and_a_frame():
    rows = compare(two_cliques(), linked, ["edg", "rcli"], nodes=None)
    columns, cells = rows.table()
    told = [dict(zip(columns, row, strict=True)) for row in cells]
    assert told[0]["edits"] == rows[0].story.result.distance
    assert told[0]["sentence"] == rows[0].sentence
    assert told[1]["status"] == "not-applicable"
    assert told[1]["edits"] is None
    pandas = pytest.importorskip("pandas")
    frame = rows.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == list(columns)
    assert len(frame) == 2


def test_a_comparison_in_a_notebook():
    rows = compare(find_subject(DATA, 0), linked, ["edg", "tri", "rcli"])
    page = shown(rows)
    assert "3 methods" in page.text
    assert rows.stories["edg"].classified in page.text
    nodes = replace(halves(8), names=(NASTY, *halves(8).names[1:]))
    assert "script" not in shown(compare(two_cliques(), linked, ["edg+min"], nodes=nodes)).tags
    nothing = Comparison(iter([Compared("rcli", None, NASTY)]), ["rcli"], bar=True)
    assert NASTY in shown(nothing).text


def test_what_fails_in_a_comparison_fails_again_and_loses_no_row():
    calls = []

    def fails_later(a):
        calls.append(1)
        if len(calls) > 40:
            raise ValueError("gone")
        return linked(a)

    rows = compare(two_cliques(), fails_later, ["cli", "edg", "tri"])
    done = rows[0]
    calls.extend([1] * 40)
    for _ in range(2):
        with pytest.raises(OracleError, match="gone"):
            rows[1]
    assert rows[0] is done


# ---- progress -------------------------------------------------------------------------------


class Handle:
    def __init__(self, log, state):
        self.log = log
        self.update(state)

    def update(self, state):
        Page(state._repr_html_())
        self.log.append(repr(state))


@pytest.fixture
def notebook(monkeypatch):
    """An IPython with a kernel; gives what its cells display, one list for each display."""
    cells: list[list[str]] = []

    def display(state, *, display_id):
        assert display_id is True
        cells.append([])
        return Handle(cells[-1], state)

    ipython, shown_by = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython = lambda: types.SimpleNamespace(kernel=object())
    ipython.display, shown_by.display = shown_by, display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", shown_by)
    monkeypatch.setattr("denseflip.notebook._EVERY", 0.0)
    return cells


def test_a_notebook_is_an_ipython_with_a_kernel(monkeypatch, notebook):
    assert in_notebook()
    sys.modules["IPython"].get_ipython = lambda: types.SimpleNamespace()  # a terminal
    assert not in_notebook()
    sys.modules["IPython"].get_ipython = lambda: None  # imported by a script
    assert not in_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not in_notebook()


RUNS = {
    "many": lambda **how: explain_many(DATA, linked, [0, 1, 2], method="edg+min", **how),
    "evaluate": lambda **how: evaluate(DATA, "edges-svm", repeats=1, permutations=2, **how),
    "cohort": lambda **how: explain_cohort(DATA, linked, regions="lobe", permutations=0, **how),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_shows_one_bar_that_ends_full(name, notebook):
    RUNS[name]()
    [states] = notebook
    last = states[-1]
    done, total = last.partition(": ")[2].partition(",")[0].split(" of ")
    assert done == total
    assert last.endswith(" s")


@pytest.mark.parametrize("own", [False, True])
def test_a_run_inside_another_shows_no_bar(own, notebook):
    @with_bar("Explaining the cohort")
    def cohort(*, progress=None):
        evaluate(DATA, linked, permutations=0)  # as a cohort does first
        progress(1, 1)

    cohort(progress=(lambda done, total: None) if own else None)
    assert [states[0].partition(":")[0] for states in notebook] == (
        [] if own else ["Explaining the cohort"]
    )


def test_a_comparison_shows_one_bar_however_it_is_walked(notebook):
    rows = compare(two_cliques(), linked, ["edg", "cli"])
    assert notebook == []
    for _ in rows:
        evaluate(DATA, linked, permutations=0)  # has a bar of its own, in between
    bars = [states for states in notebook if states[0].startswith("Comparing")]
    assert len(bars) == 1
    assert bars[0][0] == "Comparing methods: 0 of 2 (edg)"
    assert bars[0][-1].startswith("Comparing methods: 2 of 2, ")
    list(rows)
    assert len([states for states in notebook if states[0].startswith("Comparing")]) == 1


@pytest.mark.parametrize("name", RUNS)
def test_who_passes_progress_gets_it_and_no_bar(name, notebook):
    heard = []
    RUNS[name](progress=lambda done, total: heard.append((done, total)))
    assert heard
    assert notebook == []


def test_progress_of_a_comparison_replaces_the_bar(notebook):
    started = []
    list(compare(two_cliques(), linked, ["edg"], progress=started.append))
    assert started == ["edg"]
    assert notebook == []


@pytest.mark.parametrize("name", RUNS)
def test_a_script_prints_nothing(name, capsys):
    RUNS[name]()
    list(compare(two_cliques(), linked, ["edg"]))
    assert capsys.readouterr() == ("", "")


def test_inside_a_bar_there_is_no_other_and_a_failure_closes_it(notebook):
    def fails():
        with NotebookBar("Outer") as outer:
            outer(0, 2)
            with NotebookBar("Inner") as inner:
                inner(1, 5)
            outer(1, 2)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    [states] = notebook
    assert states[:2] == ["Outer: 0 of 2", "Outer: 1 of 2, about 0 s left"]
    with NotebookBar("Next") as bar:
        bar(1, 1, "name")
    assert notebook[1][0] == "Next: 1 of 1 (name)"


def test_states_in_quick_succession_are_left_out(notebook, monkeypatch):
    monkeypatch.setattr("denseflip.notebook._EVERY", 3600.0)
    with NotebookBar("Quick") as bar:
        for i in range(1000):
            bar(i, 1000)
    assert [len(states) for states in notebook] == [2]  # the first, and how it ended
    assert notebook[0][-1].startswith("Quick: 999 of 1,000, ")


def test_results_are_the_same_with_and_without_a_bar(notebook):
    with_bar = explain_many(DATA, linked, [0, 1], method="edg+min")
    without = explain_many(DATA, linked, [0, 1], method="edg+min", progress=lambda *_: None)
    assert [one.result.edits for one in with_bar] == [one.result.edits for one in without]
    assert explain(DATA.graphs[0], linked, "edg+min").edits == with_bar[0].result.edits
