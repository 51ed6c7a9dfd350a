from dataclasses import replace

import pytest

from cohorts import make_cohort
from denseflip.experiments.resolve import function_oracle, method_spec, preset_oracle
from denseflip.experiments.spec import (
    ClassifierSpec,
    DataSpec,
    Job,
    MeasureSpec,
    MethodSpec,
    OracleSpec,
    RunSpec,
    canonical_json,
    code_digest,
    content_id,
    dataset_digest,
    versions,
)
from denseflip.request import Request

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


def test_a_digest_sees_graphs_labels_ids_and_nodes():
    data = make_cohort(3)
    digests = {
        dataset_digest(data),
        dataset_digest(make_cohort(3, seed=1)),
        dataset_digest(replace(data, labels=data.labels[::-1])),
        dataset_digest(replace(data, ids=tuple(f"x{i}" for i in range(6)))),
        dataset_digest(make_cohort(3, regions=False)),
    }
    assert len(digests) == 5
    assert dataset_digest(make_cohort(3)) == dataset_digest(data)


def test_a_changed_default_changes_the_resolved_parameters():
    assert method_spec("cli").resolved != method_spec("cli", {"max_iterations": 7}).resolved
    assert method_spec("cli+min").resolved != method_spec("cli").resolved


def test_a_changed_source_file_changes_the_oracle(folder):
    (folder / "my_oracle.py").write_text("def f(a): return 0\n")
    first = function_oracle("my_oracle:f")
    (folder / "my_oracle.py").write_text("def f(a): return 1\n")
    assert function_oracle("my_oracle:f").digest != first.digest


def test_edited_code_is_another_version(tmp_path):
    (tmp_path / "search").mkdir()
    (tmp_path / "report").mkdir()
    (tmp_path / "search" / "engine.py").write_text("a = 1\n")
    first = code_digest(tmp_path)
    (tmp_path / "report" / "page.py").write_text("b = 1\n")
    assert code_digest(tmp_path) == first, "what only shows results does not matter"
    (tmp_path / "search" / "engine.py").write_text("a = 2\n")
    assert code_digest(tmp_path) != first
    assert len(code_digest()) == 16


def test_canonical_json_has_one_form_and_refuses_nan():
    assert canonical_json({"b": 1, "a": [True, None]}) == '{"a":[true,null],"b":1}'
    assert len(content_id([])) == 64
    with pytest.raises(ValueError, match=r"not JSON compliant|Out of range"):
        canonical_json(float("nan"))


def test_the_versions_that_matter_are_there():
    assert set(versions()) == {"code", "denseflip", "numpy", "scikit-learn"}
    assert preset_oracle("edges-svm").options == {"preset": "edges-svm", "seed": 0}
