"""What goes into a store comes out again: the whole result, trace included."""

import json
from dataclasses import fields, replace

import pytest

from benches import bench_specs
from cohorts import make_cohort
from denseflip.counterfactual import Ask, AsRead, Counterfactual, Status, Step
from denseflip.errors import DatasetError, StoreError
from denseflip.experiments.plan import build_method, method_spec
from denseflip.experiments.records import columns_of, edit_codes, read_result, result_record
from denseflip.experiments.spec import PLAIN, Job, MeasureSpec, RunSpec
from denseflip.experiments.worker import Context
from denseflip.graph import Edits, Graph
from denseflip.oracles.adapt import as_oracle
from denseflip.paper.published_methods import PUBLISHED
from denseflip.request import Request
from denseflip.result_scores import Plausibility, Robustness
from denseflip.runs.engines import make_engine
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs
from denseflip.runs.sources import DataSpec, OracleSpec
from denseflip.search.core.refinement import REFINERS
from denseflip.search.explain import explain
from denseflip.search.methods.registry import METHODS

DATA = make_cohort(4)
ORACLE = as_oracle(lambda a: int(a[:4, :4].sum() >= a[4:8, 4:8].sum()))
CONTEXT = Context(DATA, ORACLE)
# `gradient` needs an oracle with gradients; its own tests are in unit/search/test_gradient.py.
BASES = [name for name in METHODS if name != "gradient"]
NAMES = [*BASES, *(f"{name}+{suffix}" for name in BASES for suffix in REFINERS)]


def kept(result: Counterfactual, method: str, reading: str = PLAIN, **job) -> dict:
    """A result's record as a store gives it back."""
    spec = RunSpec(
        Job(
            DataSpec.of(DATA, ""),
            OracleSpec("own", "function"),
            method_spec(method, reading=reading),
            request=Request(seed=result.seed, **job),
        ),
        "g0001",
    )
    row = columns_of(CONTEXT.case(result, MeasureSpec(robustness=0, statement=False)))
    record = result_record(spec.identity, result, row, {"search": 1.0})
    return json.loads(json.dumps(record))


def fresh(method: str, reading: str = PLAIN, **options) -> Counterfactual:
    recipe = build_method(method_spec(method, reading=reading))
    options = {"nodes": DATA.nodes, "background": DATA.graphs, **options}
    return explain(DATA["g0001"].graph, ORACLE, recipe, **options)


def check(record: dict, result: Counterfactual) -> None:
    back = read_result(record, DATA)
    for field in fields(Counterfactual):
        assert getattr(back, field.name) == getattr(result, field.name), field.name
    assert back == result
    assert back.replay() == result.replay() == result.counterfactual
    assert back.amortised_calls == result.amortised_calls
    assert back.to_dict() == result.to_dict()
    assert edit_codes(record).tolist() == [u * 12 + v for u, v in result.edits.pairs]


@pytest.mark.parametrize("method", NAMES)
@pytest.mark.parametrize("options", [{}, {"budget": 12}, {"seed": 3, "target": 1}])
def test_a_stored_result_is_the_fresh_one(method, options):
    result = fresh(method, **options)
    job = {key: options[key] for key in ("budget", "target") if key in options}
    check(kept(result, method, **job), result)


@pytest.mark.parametrize("method", PUBLISHED)
def test_a_stored_result_of_the_paper_is_the_fresh_one(method):
    result = fresh(method, "published")
    check(kept(result, method, "published"), result)


def test_methods_that_choose_take_parameters_and_keep_their_front(folder):
    methods = [
        {"name": "auto", "parameters": {"front": True, "max_cells": 2, "regions": "side"}},
        {"name": "brief", "parameters": {"readings": "any,typical", "front": True}},
    ]
    specs = bench_specs(folder, methods=methods, seeds=[0])
    outcome = run_specs(specs, Store(folder / "s"), make_engine("processes", 2), workers=2)
    assert not outcome.failures
    fronts = 0
    for spec in specs:
        record = outcome.records[spec.id]
        result = CONTEXT.explain(spec)
        back = read_result(record, DATA)
        assert replace(back, elapsed=0, front=()) == replace(result, elapsed=0, front=())
        times = [replace(member, elapsed=0) for member in result.front]
        assert [replace(member, elapsed=0) for member in back.front] == times
        fronts += len(back.front)
        row = record["result"]
        assert row["chosen"] == result.chosen
        if result.found and result.as_read.language == "regions":
            assert row["language"] == f"regions ({result.as_read.regions})"
            assert row["cells"] <= (2 if result.method == "auto" else 5)
    assert fronts


def test_what_was_chosen_its_truth_as_read_and_the_front_come_back():
    one, two = fresh("tri"), fresh("edg")
    assert one.found
    assert two.found
    first = replace(
        one, as_read=AsRead("regions", "lobe", "typical", 20, 19), chosen="brief", minimal=None
    )
    other = replace(
        one,
        edits=two.edits,
        trace=two.trace,
        label_after=two.label_after,
        iterations=two.iterations,
        as_read=AsRead("pairs", None, "any", 0, 0),
        chosen="race",
        minimal=True,
    )
    bare = replace(other, trace=(), as_read=None, chosen="")  # a front's own form without a trace
    result = replace(first, front=(first, other, bare))
    record = kept(result, "tri")
    check(record, result)


def test_other_answers_scores_and_weights_come_back():
    one, two = fresh("tri"), fresh("edg")
    scores = {
        "robustness": Robustness(0.9, 0.01, draws=20, flips=19),
        "plausibility": Plausibility(4, 0.3, 0.25, 0.6, None, 7.0, swapped=2),
        "weights": tuple((u, v, 0.5, 0.25) for u, v in one.edits.pairs),
    }
    first = replace(one, **scores)
    other = replace(two, method="tri", parameters=one.parameters, elapsed=one.elapsed)
    result = replace(first, diverse=(first, other))
    record = kept(result, "tri")
    check(record, result)
    record["whole"]["strange"] = 1
    with pytest.raises(StoreError, match="unknown parts: strange"):
        read_result(record, DATA)


def test_the_calls_of_dat_less_the_background_need_the_trace():
    result = fresh("dat")
    assert any(step.ask is Ask.KNOWN for step in result.trace)
    assert read_result(kept(result, "dat"), DATA).amortised_calls == result.calls - len(DATA)


def test_a_result_goes_through_the_store_on_the_disk(folder):
    specs = bench_specs(folder, methods=["tri", "cli+min", "dat+bw"], seeds=[0])
    run_specs(specs, Store(folder / "s"))
    for record in Store(folder / "s").records():
        result = read_result(record, DATA)
        assert result.replay() == result.counterfactual
        assert result.amortised_calls == record["result"]["amortised_calls"]
        assert result.relative_distance == record["result"]["relative_distance"]
        assert 0 < result.elapsed <= record["times"]["search"]


def test_steps_of_any_make_survive():
    """Nodes beside the pairs or without any, pairs in any order, late iterations, odd names."""
    g = Graph.from_edges(400, [(0, 1)])
    trace = (
        Step("own", "thing", ((5, 399), (0, 1), (2, 3)), Ask.NO, (7, 399, 5), "Zürich – 1", 1),
        Step("own", "thing", ((2, 3),), Ask.YES, (2, 3), "", 70_000),
        Step("refine", "edge", (), Ask.YES, (), "", 0),
        Step("refine", "edge", ((0, 1),), Ask.YES, (), "", 0),
    )
    edits = Edits(added=((5, 399),))
    ended = Status.EXHAUSTED  # nothing to measure, so the small data set will do
    result = Counterfactual(ended, g, edits, 0, 1, method="tri", trace=trace, elapsed=0.25)
    result = replace(result, parameters={"own": [1, 2.5, None]}, notes=("so", "so"))
    other = replace(DATA, graphs=(g,) * 8, nodes=DATA.nodes.numbered(400))
    back = read_result(kept(result, "tri"), other)
    assert back == result
    assert back.trace == trace


def test_edits_that_the_trace_does_not_lead_to_are_kept_beside_it():
    result = fresh("tri")
    pair = result.edits.pairs[0]
    odd = replace(result, edits=result.edits.only([pair]))
    record = kept(odd, "tri")
    assert "edits" in record["whole"]
    assert read_result(record, DATA) == odd
    assert edit_codes(record).tolist() == [pair[0] * 12 + pair[1]]


def test_another_data_set_is_refused():
    record = kept(fresh("tri"), "tri")
    with pytest.raises(DatasetError, match="Give the data set that was explained"):
        read_result(record, make_cohort(4, seed=5))


def test_a_record_of_something_else_is_refused():
    record = kept(fresh("tri"), "tri")
    del record["whole"]
    with pytest.raises(StoreError, match=r"no explanation \(kind 'run'\).* an entry 'whole'"):
        read_result(record, DATA)
    record["spec"]["kind"] = "classifier"
    with pytest.raises(StoreError, match=r"no explanation \(kind 'classifier'\)"):
        read_result(record, DATA)
