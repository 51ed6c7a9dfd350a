"""Methods of one's own by words: ``module:name`` wherever a method has a name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from cohorts import make_cohort
from denseflip import Graph, explain, explain_many, make_method
from denseflip.cli.command_tree import app
from denseflip.cli.common import run
from denseflip.errors import ConfigError, InvalidParameterError, UnknownNameError
from denseflip.experiments.bench_config import check_config, make_matrix
from denseflip.experiments.plan import build_method, method_spec
from denseflip.request import Request
from denseflip.search.methods.registry import method_for

MODULE = '''
from dataclasses import dataclass
from denseflip import DCS, Step, conversation, make_method

def peel(problem, *, most=100):
    """Isolate the nodes one after the other, highest degree first."""
    left = set(problem.graph.edges())
    for i, node in enumerate(problem.graph.degrees().argsort()[::-1].tolist()[:most], start=1):
        gone = tuple(sorted(p for p in left if node in p))
        left.difference_update(gone)
        if gone:
            yield Step("sparsify", "star", gone, nodes=(node,), iteration=i)

def first(problem, session):
    edges = problem.graph.edges()
    for k in range(1, len(edges) + 1):
        graph = problem.graph.toggle(edges[:k])
        label = session.query(graph).label
        if problem.accepts(label):
            return problem.end(graph, label)
    return problem.end(problem.graph, problem.label)

composed = DCS(rank="degree", refine="min")
ready = make_method("tri")
number = 3

def maker(*, most=3):
    return DCS(rank="core", max_iterations=most)

def makes_nothing():
    return 5

def cannot_make(*, most=3):
    raise RuntimeError("no")

@dataclass(frozen=True)
class Peel:
    most: int = 100
    def __call__(self, problem):
        yield from peel(problem, most=self.most)

def halts(problem):
    yield Step("sparsify", "star", (problem.graph.edges()[0],))
    1 / 0

def halts_talking(problem, session):
    session.query(problem.graph)
    raise KeyError("x")

@conversation
def declared(*given):
    problem, session = given
    return first(problem, session)

def unclear(problem, session, third):
    return None

class Needy:
    needs = frozenset({"regions"})
    def __call__(self, problem):
        yield from peel(problem)
'''
GRAPH = Graph.from_edges(6, [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)])


def oracle(adjacency):
    return int(adjacency[0, 1])


@pytest.fixture(autouse=True)
def lab(tmp_path, monkeypatch):
    """A folder with a module of methods."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    for name in ("mylab", "broken", "lacking"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    Path("mylab.py").write_text(MODULE)
    Path("broken.py").write_text("x = 1\ny = x / 0\n")
    Path("lacking.py").write_text("import not_installed_anywhere\n")
    return tmp_path


@pytest.mark.parametrize(
    "name",
    [
        *("peel", "first", "composed", "ready", "maker", "Peel", "peel+min", "first+min+bw"),
        *("composed+bw", "Peel+MIN", "declared"),
    ],
)
def test_words_name_a_method_and_results_carry_them(name):
    result = explain(GRAPH, oracle, f"mylab:{name}")
    assert result.found
    assert result.method == f"mylab:{name.replace('MIN', 'min')}"
    assert (result.minimal is not None) == ("min" in name.lower() or "composed" in name)


def test_the_words_give_what_the_object_gives():
    import mylab

    by_words = explain(GRAPH, oracle, "mylab:peel")
    given = explain(GRAPH, oracle, mylab.peel)
    assert (by_words.edits, by_words.calls) == (given.edits, given.calls)


@pytest.mark.parametrize("name", ["peel", "Peel", "maker"])
def test_parameters_reach_it_and_are_in_the_result(name):
    method = make_method(f"mylab:{name}", most=1)
    assert '"most": 1' in json.dumps(method.parameters) or '_iterations": 1' in json.dumps(
        method.parameters
    )
    result = explain(GRAPH, lambda a: int(a[3, 4]), method)
    assert result.iterations <= 1
    asked = Request(f"mylab:{name}", parameters={"most": 1})
    assert method_for(asked).parameters == method.parameters


def test_what_it_needs_is_asked_for():
    assert make_method("mylab:Needy").needs == {"regions"}


@pytest.mark.parametrize(
    ("words", "kind", "message"),
    [
        ("nolab:peel", InvalidParameterError, "Method nolab:peel: cannot import the module"),
        ("lacking:f", InvalidParameterError, "No module named 'not_installed_anywhere'"),
        ("broken:f", InvalidParameterError, "broken.py, line 2)"),
        ("mylab:pel", UnknownNameError, "Did you mean 'peel'?"),
        ("mylab:number", InvalidParameterError, "mylab.py has a int under this name"),
        ("mylab:makes_nothing", InvalidParameterError, "which is not a search"),
        ("mylab:cannot_make", InvalidParameterError, "RuntimeError: no while it was being created"),
        ("mylab:unclear", InvalidParameterError, "it has 3 required parameters. Declare it: @"),
        ("mylab:", InvalidParameterError, "is given as module:function; got 'mylab:'"),
        (":peel", InvalidParameterError, "is given as module:function"),
        ("mylab:peel+mni", UnknownNameError, "Did you mean 'min'?"),
    ],
)
def test_words_that_name_no_method_are_told(words, kind, message):
    for make in (make_method, lambda name: method_for(Request(name)), method_spec):
        with pytest.raises(kind) as error:
            make(words)
        assert message in str(error.value)


def test_unknown_parameters_are_told():
    with pytest.raises(UnknownNameError, match="Did you mean 'most'"):
        make_method("mylab:peel", mots=1)
    with pytest.raises(InvalidParameterError, match="has no parameter language"):
        method_for(Request("mylab:peel", language="nodes"))


@pytest.mark.parametrize(
    ("name", "said"), [("halts", "ZeroDivisionError"), ("halts_talking", "KeyError: 'x'")]
)
def test_a_method_that_raises_is_told_with_file_and_line(name, said):
    with pytest.raises(InvalidParameterError) as error:
        explain(GRAPH, lambda a: 1, f"mylab:{name}")
    assert f"The method mylab:{name} raised {said}" in str(error.value)
    assert "mylab.py, line " in str(error.value)


# ---- in a comparison, and for many ------------------------------------------------------------


def matrix(*methods):
    make_cohort(2).save("toy.dfd", force=True)
    return make_matrix(
        check_config({"datasets": ["toy.dfd"], "oracles": ["edges-svm"], "methods": list(methods)}),
        folder=Path.cwd(),
    )


def test_a_configuration_names_methods_of_ones_own():
    specs = matrix(
        "mylab:peel",
        {"function": "mylab:Peel", "name": "mine", "parameters": {"most": 2}},
        {"function": "mylab:first"},
    ).methods
    assert [spec.name for spec in specs] == ["mylab:peel", "mine", "mylab:first"]
    assert all(len(spec.digest) == 32 for spec in specs)
    assert build_method(specs[1]).name == "mine"
    assert specs[1].identity["ref"] == "mylab:Peel"


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ({"parameters": {}}, "give 'name' (a method), or 'function' (your own, as module:name)"),
        ({"function": "peel"}, "'function' must be module:name"),
        ({"function": "mylab:pel"}, "methods[0]: Unknown method in mylab 'pel'. Did you mean"),
        ({"function": "nolab:f"}, "methods[0]: Method nolab:f: cannot import the module"),
        ({"functoin": "mylab:peel"}, "Did you mean 'function'?"),
    ],
)
def test_a_configuration_with_a_wrong_method_is_told(method, message):
    with pytest.raises(ConfigError) as error:
        matrix(method)
    assert message in str(error.value)


def test_many_graphs_in_processes_by_a_method_of_ones_own():
    cohort = make_cohort(2)
    given = {"method": "mylab:peel", "confirm": 0}
    here = explain_many(cohort, "edges-svm", **given)
    there = explain_many(cohort, "edges-svm", engine="processes", jobs=2, **given)
    assert [one.result.edits for one in here] == [one.result.edits for one in there]
    assert {one.result.method for one in there} == {"mylab:peel"}


def test_on_the_command_line(capsys):
    make_cohort(2).save("toy.dfd")
    words = ("toy.dfd", "0", "--oracle", "edges-svm", "--json")
    assert run(app, ["explain", *words, "-m", "mylab:peel+min", "--set", "most=9"]) == 0
    assert json.loads(capsys.readouterr().out)["method"] == "mylab:peel+min"
    assert run(app, ["compare", *words, "--methods", "tri,mylab:first"]) == 0
    assert [r["method"] for r in json.loads(capsys.readouterr().out)] == ["tri", "mylab:first"]
    assert run(app, ["explain", *words, "-m", "nolab:f"]) == 1
    assert "cannot import the module 'nolab'" in capsys.readouterr().err
