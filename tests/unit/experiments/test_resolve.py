"""Words of an experiment, and the registries that other rooms may add to."""

import subprocess
import sys

import pytest

from cohorts import make_cohort
from denseflip.errors import UnknownNameError
from denseflip.experiments import resolve as refs
from denseflip.experiments.resolve import (
    Trainer,
    build_method,
    distance_and_calls,
    evaluate_oracle_of,
    load_oracle_of,
    method_spec,
    preset_oracle,
    register_reading,
    register_trainer,
)
from denseflip.experiments.spec import MethodSpec, OracleSpec
from denseflip.graph import Graph
from denseflip.search.explain import explain
from denseflip.search.methods.registry import make_method

TRIANGLE = Graph.from_edges(4, [(0, 1), (0, 2), (1, 2)])


@pytest.fixture
def own(monkeypatch):
    """Copies of the registries, so that a test may add to them."""
    for name in ("MAKERS", "READINGS", "TRAINERS"):
        monkeypatch.setattr(refs, name, dict(getattr(refs, name)))


def test_the_plain_reading_is_the_librarys_own():
    result = explain(TRIANGLE, lambda a: int(a[0, 1]), build_method(method_spec("tri")))
    assert distance_and_calls(result) == (result.relative_distance, result.calls)
    assert method_spec("tri").reading == "plain"


def test_a_reading_of_ones_own(own):
    def slow(name, **parameters):
        return make_method(name, max_iterations=1, **parameters)

    register_reading("slow", slow, lambda result: (0.0, 7))
    spec = method_spec("tri", reading="slow")
    assert spec.resolved["search"]["max_iterations"] == 1
    result = explain(TRIANGLE, lambda a: int(a[0, 1]), build_method(spec))
    assert distance_and_calls(result, "slow") == (0.0, 7)


def test_a_classifier_of_ones_own(own):
    cohort = make_cohort()
    register_trainer("all-zero", Trainer(lambda data: lambda graphs: 0, lambda data, **x: x))
    spec = preset_oracle("all-zero", name="zero")
    assert (spec.name, spec.kind, spec.options["preset"]) == ("zero", "preset", "all-zero")
    assert load_oracle_of(spec, cohort)(cohort.graphs) == 0
    assert evaluate_oracle_of(spec, cohort, repeats=2) == {"repeats": 2}


def test_what_is_not_trained_here_is_not_judged():
    assert evaluate_oracle_of(OracleSpec("mine", "file"), make_cohort()) is None


def test_unknown_names_are_said_to_be_unknown():
    with pytest.raises(UnknownNameError, match="reading"):
        build_method(MethodSpec("tri", reading="backwards"))
    with pytest.raises(UnknownNameError, match="Did you mean 'edges-svm'"):
        preset_oracle("edge-svm")


def test_a_plug_in_is_imported_when_a_name_asks_for_it():
    code = (
        "import sys\n"
        "from denseflip.experiments import refs\n"
        "refs.method_spec('tri')\n"
        "assert not any(m in sys.modules for m in refs.PLUG_INS)\n"
        "before = len(refs.READINGS)\n"
        "try:\n    refs.method_spec('tri', reading='no such reading')\n"
        "except refs.UnknownNameError:\n    pass\n"
        "assert all(m in sys.modules for m in refs.PLUG_INS)\n"
        "assert len(refs.READINGS) > before\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
