"""A classifier of networkx graphs that does not say so is understood at every entrance."""

from __future__ import annotations

import json
import sys

import networkx as nx
import pytest

from cohorts import make_cohort
from denseflip import Graph, compare, describe, evaluate, explain, explain_cohort, explain_many
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.experiments.bench_config import check_config, make_matrix
from denseflip.experiments.plan import make_plan
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs
from denseflip.workflow.whatif import WhatIf

BOX = """
import networkx as nx

def linked(graph):
    # By name where there are names, as of a data set's nodes.
    first, second = list(graph.nodes)[:2]
    return int(graph.has_edge(first, second))

def named(graph):
    graph.number_of_nodes()
    return int("n1" in graph["n0"])
"""
NOTE = "The classifier receives one networkx graph: it accessed '"


def linked(graph):
    first, second = list(graph.nodes)[:2]
    return int(graph.has_edge(first, second))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nxbox.py").write_text(BOX)
    make_cohort(6).save(tmp_path / "study.dfd")
    monkeypatch.delitem(sys.modules, "nxbox", raising=False)
    yield tmp_path
    sys.modules.pop("nxbox", None)


def test_python():
    data = make_cohort(6)
    result = explain(data.graphs[0], linked, "edg+min", nodes=data.nodes)
    assert result.distance == 1
    assert any(note.startswith(NOTE) for note in result.notes)
    assert describe(result, data.nodes, linked).verified
    for row in compare(data.graphs[0], linked, ["edg", "tri"]):
        assert any(note.startswith(NOTE) for note in row.story.result.notes)
    assert evaluate(data, linked).accuracy >= 0
    assert WhatIf(data.graphs[0], linked) is not None


@pytest.mark.parametrize("jobs", [1, 2])
def test_many_graphs(jobs):
    many = explain_many(make_cohort(3), linked, [0, 1, 2], method="edg+min", jobs=jobs)
    assert not many.failures
    for one in many:
        assert any(note.startswith(NOTE) for note in one.result.notes)


def test_a_store_takes_the_results_of_a_function_whose_form_was_found_out(tmp_path):
    data = make_cohort(3)
    first = explain_many(data, linked, [0, 1], method="edg+min", store=tmp_path / "kept")
    again = explain_many(data, linked, [0, 1], method="edg+min", store=tmp_path / "kept")
    assert (first.outcome.reused, again.outcome.reused) == (0, 2)


@pytest.mark.parametrize("words", ["nxbox:linked", "nxbox:named"])
def test_the_command_line(folder, words, capsys):
    args = ["explain", "study.dfd", "0", "--oracle", words, "-m", "edg+min", "--json"]
    assert run(app, args) == 0
    told = json.loads(capsys.readouterr().out)
    assert any(note.startswith(NOTE) for note in told["notes"])
    assert run(app, ["explain", "study.dfd", "0", "1", *args[3:], "--jobs", "1"]) == 0
    assert all(row["status"] == "found" for row in json.loads(capsys.readouterr().out))
    assert run(app, ["compare", "study.dfd", "0", "--oracle", words, "--methods", "edg"]) == 0
    assert run(app, ["evaluate", "study.dfd", "--oracle", words]) == 0


def test_the_command_line_names_the_option_where_it_was_said_otherwise(folder, capsys):
    args = ["explain", "study.dfd", "0", "--oracle", "nxbox:linked", "--input", "adjacency"]
    assert run(app, args) == 1
    assert 'as_oracle(linked, input="networkx")' in capsys.readouterr().err


def test_a_bench_file(folder):
    config = check_config(
        {"datasets": ["study.dfd"], "oracles": [{"function": "nxbox:linked"}], "methods": ["edg"]}
    )
    specs = make_plan(make_matrix(config, folder=folder)).specs
    outcome = run_specs(specs, Store(folder / "store"))
    assert not outcome.failures
    assert len(outcome.records) == len(specs)


def test_a_cohort():
    found = explain_cohort(make_cohort(6), linked, regions="lobe", permutations=0)
    assert found.verdict == "untested"


def test_a_networkx_graph_and_a_networkx_function():
    club = nx.karate_club_graph()
    result = explain(club, lambda g: nx.transitivity(g) > 0.2)
    assert result.found
    assert isinstance(result.original, Graph)
