"""One definition of every option: bounds, help, and the same options through every entrance."""

import inspect
from dataclasses import fields, replace

import numpy as np
import pytest
import typer
from typer.main import get_command

from denseflip import Constraints, Graph, Request, explain, explain_many
from denseflip.cli.command_tree import app
from denseflip.cli.options import RARE, flag_of
from denseflip.errors import InvalidParameterError, UnknownNameError
from denseflip.experiments.bench_config import BenchConfig, MethodConfig
from denseflip.option import Option
from denseflip.request import default_of, list_options, takes_request
from denseflip.web.schemas import NOT_HERE, JobRequest
from denseflip.workflow.compare import compare
from denseflip.workflow.explain_and_describe import explain_and_describe

OPTIONS = list_options()
GRAPH = Graph.from_edges(5, [(0, 1), (1, 2), (0, 2), (2, 3)])


def linked(adjacency):
    return int(adjacency[0, 1])


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option_is_documented(name):
    option = OPTIONS[name]
    assert option.help.endswith(".")
    assert option.help[0].isupper()
    assert option.label
    assert option.group
    assert "{" not in option.text()


def test_the_options_are_the_fields_of_request_and_constraints():
    own = {f.name for f in fields(Request)} - {"constraints"}
    bound = {f.name for f in fields(Constraints)} - {"max_cells", "regions"}
    assert set(list_options(python=True)) == own | bound
    assert set(OPTIONS) == (own | bound) - {"allowed", "predicate"}


def test_a_request_is_a_value():
    request = Request("tri", target="B6", constraints={"only": "add"})
    assert request == Request("tri", target="B6", constraints=Constraints(only="add"))
    assert replace(request, seed=3).seed == 3
    with pytest.raises(AttributeError):
        request.seed = 3


def test_flat_names_build_the_same_request():
    flat = Request.build(method="tri", max_edits=3, keep_connected=True, budget=None)
    assert flat == Request("tri", constraints={"max_edits": 3, "keep_connected": True})
    both = Request.build(constraints={"freeze": ["A"]}, only="add")
    assert both.constraints.given == {"freeze": ["A"], "only": "add"}
    with pytest.raises(UnknownNameError, match="Did you mean 'budget'"):
        Request.build(budgt=3)


def test_given_holds_what_differs_from_the_defaults():
    assert Request().given == {}
    given = Request("tri", seed=2, front=False, share=0, constraints={"max_edits": 1}).given
    assert given == {"method": "tri", "seed": 2, "constraints": {"max_edits": 1}}


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("confidence", 0),
        ("confidence", 1.1),
        ("confidence", True),
        ("confidence", float("nan")),
        ("share", -0.1),
        ("time_limit", 0),
        ("robust", "high"),
        ("noise", 0.6),
        ("n", 0),
        ("n", 1.5),
        ("seed", None),
        ("seed", -1),
        ("front", 1),
        ("plausible", "yes"),
        ("language", "French"),
        ("objective", "both"),
        ("parameters", ["a"]),
    ],
)
def test_values_out_of_bounds_are_refused_by_name(name, bad):
    with pytest.raises((InvalidParameterError, UnknownNameError), match=name):
        Request(**{name: bad, **({"robust": 0.9} if name == "noise" else {})})


def test_an_array_of_nodes_may_be_frozen_and_is_no_single_number():
    assert Constraints(freeze=np.array([1, 2])).given == {"freeze": [1, 2]}
    assert Constraints(freeze=np.int64(3)).given == {"freeze": [3]}
    assert Constraints(freeze=(1, 2)).given == {"freeze": [[1, 2]]}


def test_bounds_are_said_in_words():
    option = Option("A.", "B", "C", "number", above=0, maximum=0.5)
    assert option.bounds == " above 0 and at most 0.5"
    assert Option("A.", "B", "C", "text").bounds == ""
    assert Option("See {robust}.", "B", "C", "text").text(flag_of) == "See --robust."


# ---- Python ---------------------------------------------------------------------------------


@pytest.mark.parametrize("function", [explain, explain_and_describe, explain_many])
def test_functions_take_every_field_and_document_it(function):
    taken = inspect.signature(function).parameters
    text = inspect.getdoc(function)
    for f in fields(Request):
        assert f.name in taken
        assert f"\n{f.name} : " in text
    assert "{options}" not in text


def test_a_comparison_takes_no_option_of_one_method():
    taken = inspect.signature(compare).parameters
    assert {"target", "budget", "constraints", "request", "methods"} <= set(taken)
    assert not {"method", "parameters", "front", "language", "n"} & set(taken)
    with pytest.raises(UnknownNameError, match="keyword of compare 'front'"):
        compare(GRAPH, linked, ["tri"], front=True)


def test_a_whole_request_and_single_options_go_together():
    request = Request("edg", seed=1, budget=50)
    whole = explain(GRAPH, linked, request=request)
    assert whole.edits == explain(GRAPH, linked, "edg", seed=1, budget=50).edits
    assert explain(GRAPH, linked, request=request, seed=4).seed == 4
    assert explain(GRAPH, linked, "tri", request=request).method == "tri"


def test_wrong_calls_are_refused():
    with pytest.raises(UnknownNameError, match=r"keyword of explain 'taget'.*'target'"):
        explain(GRAPH, linked, taget=1)
    with pytest.raises(TypeError, match="two values for 'method'"):
        explain(GRAPH, linked, "tri", method="edg")
    with pytest.raises(TypeError, match="at most 3 positional"):
        explain(GRAPH, linked, "tri", 5)


@pytest.mark.parametrize("name", ["freeze", "only", "max_edits"])
def test_a_constraint_as_a_keyword_is_told_where_it_goes(name):
    with pytest.raises(InvalidParameterError, match=rf'constraints=\{{"{name}": …\}}'):
        explain(GRAPH, linked, **{name: [1]})


def test_frozen_nodes_may_come_in_an_array_or_a_tensor():
    class Tensor:
        """What torch has of a list: tolist, and no numbers of Python or NumPy as items."""

        def __init__(self, values):
            self.tolist = lambda: values

    for given in (np.array([2, 3]), Tensor([2, 3])):
        assert Constraints(freeze=given).given == {"freeze": [2, 3]}
    for given in (np.array([[2, 3]]), Tensor([[2, 3]])):
        assert Constraints(freeze=given).given == {"freeze": [[2, 3]]}
    assert Constraints(freeze=Tensor(3)).given == {"freeze": [3]}


def test_a_function_without_options_in_its_docstring_keeps_it():
    @takes_request(without=("front",))
    def run(graph, request, *, more=1):
        """Run."""
        return graph, request.seed, more

    assert run.__doc__ == "Run."
    assert run(1, "tri", seed=2) == (1, 2, 1)
    assert list(inspect.signature(run).parameters)[:3] == ["graph", "method", "more"]


def test_positions_are_those_of_the_signature():
    """Also where ``request`` itself is given by name only, as in explain_many."""

    @takes_request()
    def run(graph, ids=None, *, request, more=1):
        return graph, ids, request.method, more

    assert list(inspect.signature(run).parameters)[:3] == ["graph", "ids", "method"]
    assert run(1, [2], "tri", more=3) == (1, [2], "tri", 3) == run(1, [2], method="tri", more=3)
    with pytest.raises(TypeError, match="at most 3 positional"):
        run(1, [2], "tri", 3)
    assert list(inspect.signature(explain_many).parameters)[:4][-1] == "method"
    with pytest.raises(UnknownNameError, match="method 'trii'"):
        explain_many("synthetic", "edges-svm", [0], "trii")


# ---- command line ---------------------------------------------------------------------------


def command(name):
    return get_command(app).commands[name]


@pytest.mark.parametrize("name", OPTIONS)
def test_explain_has_every_option(name):
    parameters = {p.name: p for p in command("explain").params}
    assert flag_of(name) in parameters[name].opts
    assert parameters[name].rich_help_panel == OPTIONS[name].group


def shown(*words):
    from typer.testing import CliRunner

    return CliRunner().invoke(app, [*words], env={"COLUMNS": "200", "TERM": "dumb"}).output


def test_the_short_help_shows_the_common_options_in_groups():
    short, whole = shown("explain", "--help"), shown("explain", "--help-all")
    for name, option in OPTIONS.items():
        assert f"{flag_of(name)} " in whole
        assert (f"{flag_of(name)} " in short) == option.common
        assert option.group in whole
    assert "--help-all" in short
    listed = [line for line in short.splitlines() if line.lstrip("│ ").startswith("--")]
    assert len(listed) <= 24


@pytest.mark.parametrize("name", ["explain", "compare", "cohort"])
def test_rare_options_work_though_the_short_help_hides_them(name):
    assert not any(getattr(p, "hidden", False) for p in command(name).params if p.name in RARE)


def test_an_option_without_a_value_has_the_default_of_the_request():
    for p in command("explain").params:
        if p.name in OPTIONS and OPTIONS[p.name].kind not in ("names", "settings"):
            assert p.default == default_of(p.name) or (p.default is None and not p.default)


# ---- bench files and the web app ------------------------------------------------------------


def test_bench_files_take_the_options():
    apart = {"method", "parameters", "seed", "vocabulary", "share"}
    for model in (BenchConfig, MethodConfig):
        assert set(OPTIONS) - apart <= set(model.model_fields)


def test_the_web_app_takes_the_options_with_their_bounds():
    assert set(OPTIONS) - set(NOT_HERE) <= set(JobRequest.model_fields)
    schema = JobRequest.model_json_schema()["properties"]
    assert schema["n"]["minimum"] == 1
    assert schema["front"]["description"] == OPTIONS["front"].text()
    job = JobRequest(dataset="mice", subject="a", freeze=["node: x"], max_edits=5, target="B6")
    assert job.request().constraints.given == {"freeze": ["node: x"], "max_edits": 5}
    assert job.request().target == "B6"


def test_typer_sees_one_parameter_per_option():
    assert isinstance(app, typer.Typer)
    names = [p.name for p in command("explain").params]
    assert len(names) == len(set(names))


def test_a_kept_number_of_edges_needs_both_directions():
    with pytest.raises(InvalidParameterError, match="balance='on' adds and removes"):
        Request(balance=True, constraints={"only": "add"})
    assert Request(balance="auto", constraints={"only": "add"}).balance == "auto"
