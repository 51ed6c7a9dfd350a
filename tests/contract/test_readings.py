"""Every reading of the methods, and every classifier beside the presets, plug-ins included."""

import importlib

import pytest

from cohorts import make_cohort
from denseflip.classifiers.evaluation import Evaluation
from denseflip.experiments import plan
from denseflip.experiments.plan import build_method, distance_and_calls, method_spec
from denseflip.runs import sources
from denseflip.runs.sources import evaluate_oracle_of, load_oracle_of, preset_oracle
from denseflip.search.explain import explain

for module in sources.PLUG_INS:
    importlib.import_module(module)


def test_a_reading_both_builds_and_reports():
    assert set(plan.MAKERS) == set(plan.READINGS)


@pytest.mark.parametrize("reading", plan.READINGS)
@pytest.mark.parametrize("name", ["tri", "edg", "cli", "dat+bw"])
def test_a_reading_builds_methods_that_run(reading, name):
    cohort = make_cohort()
    spec = method_spec(name, reading=reading)
    assert (spec.name, spec.reading) == (name, reading)
    result = explain(
        cohort.graphs[0],
        load_oracle_of(preset_oracle("edges-svm"), cohort),
        build_method(spec),
        background=cohort.graphs,
    )
    distance, calls = distance_and_calls(result, reading)
    assert type(distance) is float
    assert type(calls) is int
    assert 0 <= distance <= 1


@pytest.mark.parametrize("name", sources.TRAINERS)
def test_a_trainer_fits_and_judges(name):
    cohort = make_cohort()
    spec = preset_oracle(name)
    oracle = load_oracle_of(spec, cohort)
    assert len(oracle.predict(cohort.graphs)) == len(cohort)
    judged = evaluate_oracle_of(spec, cohort, folds=2, repeats=1, permutations=0, seed=0)
    assert isinstance(judged, Evaluation)
