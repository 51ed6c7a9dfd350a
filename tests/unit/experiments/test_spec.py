from dataclasses import replace

import pytest

from denseflip.experiments.plan import method_spec
from denseflip.experiments.spec import ClassifierSpec, Job, MeasureSpec, MethodSpec, RunSpec
from denseflip.request import Request
from denseflip.runs.sources import DataSpec, OracleSpec

JOB = Job(
    data=DataSpec("toy", "d" * 32, ref="somewhere/toy.dfd"),
    oracle=OracleSpec("sf-knn", "preset", options={"preset": "sf-knn", "seed": 0}),
    method=MethodSpec("tri", {"reverse": True}, {"search": {"reverse": True}, "refine": []}),
    request=Request(seed=3, budget=100),
    versions={"denseflip": "0.1.0", "numpy": "2.0", "results": 1, "scikit-learn": "1.5"},
)
GOLDEN = "79af2aa594e7bec77ea77b7455649316867bf385903b00a5f40c1426a43f45e4"


def test_the_id_of_a_spec_never_changes():
    assert RunSpec(JOB, "g0001").id == GOLDEN


def test_where_the_data_lies_is_no_part_of_the_identity():
    moved = replace(JOB, data=replace(JOB.data, ref="elsewhere"))
    assert RunSpec(moved, "g0001").id == RunSpec(JOB, "g0001").id


@pytest.mark.parametrize(
    "changed",
    [
        replace(JOB, data=DataSpec("toy", "e" * 32)),
        replace(
            JOB, oracle=OracleSpec("sf-knn", "preset", options={"preset": "sf-knn", "seed": 1})
        ),
        replace(JOB, oracle=OracleSpec("sf-knn", "file", digest="a")),
        replace(JOB, method=replace(JOB.method, parameters={})),
        replace(JOB, method=replace(JOB.method, resolved={"search": {"reverse": False}})),
        replace(JOB, method=replace(JOB.method, reading="published")),
        replace(JOB, request=Request(seed=4, budget=100)),
        replace(JOB, request=Request(seed=3)),
        replace(JOB, request=Request(seed=3, budget=100, target=1)),
        replace(JOB, request=Request(seed=3, budget=100, constraints={"only": "add"})),
        replace(JOB, request=Request(seed=3, budget=100, confidence=0.8)),
        replace(JOB, measures=MeasureSpec(robustness=0)),
        replace(JOB, profile="published"),
        replace(JOB, versions={**JOB.versions, "denseflip": "0.2.0"}),
        replace(JOB, versions={**JOB.versions, "results": 2}),
    ],
)
def test_everything_a_result_depends_on_changes_the_id(changed):
    assert RunSpec(changed, "g0001").id != RunSpec(JOB, "g0001").id


def test_another_graph_is_another_run():
    assert RunSpec(JOB, "g0002").id != RunSpec(JOB, "g0001").id


def test_judgements_have_ids_of_their_own():
    one = ClassifierSpec(JOB.data, JOB.oracle)
    assert one.id != replace(one, permutations=5).id
    assert one.id != RunSpec(JOB, "g0001").id


def test_a_changed_default_changes_the_resolved_parameters():
    assert method_spec("cli").resolved != method_spec("cli", {"max_iterations": 7}).resolved
    assert method_spec("cli+min").resolved != method_spec("cli").resolved
