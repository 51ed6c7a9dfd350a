import tomllib
from pathlib import Path

import pytest

from benches import write_bench
from denseflip.errors import ConfigError
from denseflip.experiments.bench_config import check_config, make_matrix, read_config
from denseflip.experiments.plan import choose_graphs, make_plan

GOOD = {"datasets": ["mice"], "oracles": ["sf-knn"], "methods": ["tri"]}
EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.stem)
def test_the_shipped_examples_are_valid(path):
    config = read_config(path)
    # The paper's data need not be here; the rest of each file must make sense all the same.
    here = [data for data in config.datasets if data.name.startswith(("mice", "synthetic"))]
    shown = config.model_copy(update={"datasets": here or [check_config(GOOD).datasets[0]]})
    assert make_plan(make_matrix(shown, folder=path.parent)).specs


def test_a_data_set_may_take_only_some_of_the_oracles():
    some = {"name": "synthetic", "limit": 2, "oracles": ["edges-svm"]}
    data = [{"name": "mice", "limit": 2}, some]
    config = check_config({**GOOD, "datasets": data, "oracles": ["sf-knn", "edges-svm"]})
    specs = make_plan(make_matrix(config)).specs
    pairs = [("mice", "sf-knn"), ("mice", "edges-svm"), ("synthetic", "edges-svm")]
    assert [(s.job.data.name, s.job.oracle.name) for s in specs] == [p for p in pairs for _ in "ab"]
    wrong = check_config({**GOOD, "datasets": [{"name": "mice", "oracles": ["edge-svm"]}]})
    with pytest.raises(ConfigError, match=r"datasets\[0\].oracles: no oracle is named 'edge-svm'"):
        make_matrix(wrong)


def test_words_of_an_oracle_are_those_of_open_oracle(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.onnx").write_bytes(b"one")
    words = "onnx:n.onnx?features=degree"
    told = ["builtins:len", words, {"words": words, "name": "net"}, {"words": "edges-svm"}]
    specs = list(make_matrix(check_config({**GOOD, "oracles": told})).oracles)
    assert [s.kind for s in specs] == ["function", "words", "words", "preset"]
    assert [s.name for s in specs][1:3] == [words, "net"]
    (tmp_path / "n.onnx").write_bytes(b"two")
    again = list(make_matrix(check_config({**GOOD, "oracles": told})).oracles)
    assert [a == b for a, b in zip(specs, again, strict=True)] == [True, False, False, True]
    with pytest.raises(ConfigError, match=r"oracles\[0\]: Unknown oracle 'nothing:at all'"):
        make_matrix(check_config({**GOOD, "oracles": ["nothing:at all"]}))


def test_constraints_of_the_file_and_of_a_method():
    frozen = {"name": "tri", "constraints": {"freeze": ["L"], "max_edits": 9}}
    told = {**GOOD, "methods": ["con", frozen], "constraints": {"only": "remove", "max_edits": 5}}
    matrix = make_matrix(check_config(told))
    plain, own = matrix.methods
    assert plain.request.constraints.given == {"only": "remove", "max_edits": 5}
    together = {"freeze": ["L"], "only": "remove", "max_edits": 9}
    assert own.request.constraints.given == together
    jobs = {spec.job.method.name: spec.job for spec in make_plan(matrix).specs}
    assert jobs["tri"].identity["request"]["constraints"] == together
    assert make_matrix(check_config(GOOD)).methods[0].request.constraints.given == {}


def test_options_of_the_file_and_of_a_method():
    told = {**GOOD, "methods": ["con", {"name": "tri", "budget": 7}], "budget": 5, "max_cells": 2}
    plain, own = make_matrix(check_config(told)).methods
    assert (plain.request.budget, own.request.budget) == (5, 7)
    assert plain.request.max_cells == own.request.max_cells == 2


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"frez": "L"}, r"methods\[0\]: Unknown constraint 'frez'. Did you mean 'freeze'"),
        ({"freeze": "hindbran"}, r"methods\[0\]: Unknown region.*Did you mean 'hindbrain'"),
        ({"only": "some"}, r"methods\[0\]: Unknown only 'some'"),
    ],
)
def test_wrong_constraints_are_told_before_any_work(constraints, said):
    with pytest.raises(ConfigError, match=said):
        make_matrix(check_config({**GOOD, "constraints": constraints}))


def test_words_stand_for_tables():
    config = check_config(GOOD)
    assert config.datasets[0].name == "mice"
    assert config.oracles[0].preset == "sf-knn"
    assert config.methods[0].parameters == {}
    assert config.seeds == [0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"method": ["tri"]}, r"method: unknown key. Did you mean 'methods'\?"),
        ({"datasets": [{"name": "mice", "limt": 3}]}, r"datasets\[0\].limt: unknown key. Did you"),
        ({"run": {"engin": "dask"}}, r"run.engin: unknown key. Did you mean 'engine'\?"),
        (
            {"run": {"engine": "mpi"}},
            r"run.engine: .*'auto', 'serial', 'processes' or 'dask'; got 'mpi'",
        ),
        ({"seeds": []}, r"seeds: .*at least 1"),
        ({"seeds": [-1]}, r"seeds\[0\]: .*greater than or equal to 0; got -1"),
        ({"seeds": "0"}, r"seeds: .*list; got '0'"),
        ({"budget": 0}, r"budget: .*greater than or equal to 1; got 0"),
        ({"measures": {"robustness": "many"}}, r"measures.robustness: .*integer; got 'many'"),
        ({"measures": {"taxonomy": "lobe"}}, "measures.taxonomy: unknown key."),
        ({"oracles": [{"name": "x"}]}, r"oracles\[0\]: give exactly one of .*none of them"),
        ({"oracles": [{"preset": "a", "file": "b"}]}, "exactly one of.*preset and file"),
        ({"datasets": [{"name": "mice", "graphs": ["a"], "limit": 1}]}, "not both"),
    ],
)
def test_every_wrong_key_and_value_is_named(changes, said):
    with pytest.raises(ConfigError, match=said):
        check_config({**GOOD, **changes})


def test_all_problems_come_at_once():
    with pytest.raises(ConfigError, match="3 problems") as caught:
        check_config({"datasets": [], "oracles": ["sf-knn"], "metods": ["tri"]}, "my.toml")
    text = str(caught.value)
    assert text.startswith("my.toml has")
    assert "methods: missing" in text
    assert "Did you mean 'methods'?" in text


def test_names_that_mean_nothing_are_all_reported(folder):
    config = check_config(
        {
            "datasets": ["mices"],
            "oracles": ["sf-kn", {"file": "gone.dfo"}, {"function": "nowhere_at_all:f"}],
            "methods": ["trii", {"name": "tri", "parameters": {"revers": True}}],
        }
    )
    with pytest.raises(ConfigError) as caught:
        make_matrix(config)
    text = str(caught.value)
    for part in (
        "datasets[0]: Unknown data set 'mices'. Did you mean 'mice'?",
        "oracles[0]: Unknown preset 'sf-kn'. Did you mean 'sf-knn'?",
        "oracles[1]: gone.dfo: no such classifier file.",
        "oracles[2]: Oracle nowhere_at_all:f: no module",
        "methods[0]: Unknown method 'trii'. Did you mean 'tri'?",
        "methods[1]: Unknown parameter of 'tri' 'revers'. Did you mean 'reverse'?",
    ):
        assert part in text


def test_two_oracles_of_one_name_are_refused():
    config = check_config({**GOOD, "oracles": ["sf-knn", {"preset": "sf-knn", "seed": 1}]})
    with pytest.raises(ConfigError, match="'sf-knn' occurs twice"):
        make_matrix(config)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        read_config(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("datasets = [")
    with pytest.raises(ConfigError, match=r"bad.toml: not valid TOML"):
        read_config(tmp_path / "bad.toml")
    (tmp_path / "bin.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_config(tmp_path / "bin.toml")


def test_a_target_is_a_class_of_the_data_set(folder):
    path = write_bench(folder, datasets=[{"name": "cohort.dfd", "target": "B", "limit": 3}])
    matrix = make_matrix(read_config(path), folder=folder)
    assert matrix.sources[0].target == 1
    data = tomllib.loads(path.read_text())
    data["datasets"][0]["target"] = "C"
    with pytest.raises(ConfigError, match="target 'C' is not a class of 'cohort'"):
        make_matrix(check_config(data), folder=folder)


def test_graphs_are_chosen_from_every_class_in_turn(folder):
    from cohorts import make_cohort

    data = make_cohort(4)
    assert choose_graphs(data, limit=3) == ("g0000", "g0001", "g0002")
    assert [data[i].label for i in choose_graphs(data, limit=5)].count(0) == 3
    assert choose_graphs(data, limit=99) == data.ids
    assert choose_graphs(data, ids=["g0005"]) == ("g0005",)


def test_methods_that_need_regions_are_left_out_where_there_are_none(folder):
    from cohorts import make_cohort

    make_cohort(3, regions=False).save(folder / "cohort.dfd")
    path = write_bench(folder)
    plan = make_plan(make_matrix(read_config(path), folder=folder))
    assert [s.method for s in plan.skipped] == ["rcli"]
    assert "needs regions" in plan.skipped[0].reason
    assert {s.job.method.name for s in plan.specs} == {"tri", "edg", "dat+bw"}
    only = write_bench(folder, methods=["rcli"])
    with pytest.raises(ConfigError, match="Nothing to run"):
        make_plan(make_matrix(read_config(only), folder=folder))
