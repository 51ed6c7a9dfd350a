"""Data sets and oracles of a run: their specs, and the classifiers that packages may add."""

import pytest

from cohorts import make_cohort
from denseflip.errors import UnknownNameError
from denseflip.runs import sources
from denseflip.runs.sources import (
    OracleSpec,
    Trainer,
    evaluate_oracle_of,
    function_oracle,
    load_oracle_of,
    preset_oracle,
    register_trainer,
)


@pytest.fixture
def own(monkeypatch):
    """A copy of the registry, so that a test may add to it."""
    monkeypatch.setattr(sources, "TRAINERS", dict(sources.TRAINERS))


def test_a_classifier_of_ones_own(own):
    cohort = make_cohort()
    register_trainer("all-zero", Trainer(lambda data: lambda graphs: 0, lambda data, **x: x))
    spec = preset_oracle("all-zero", name="zero")
    assert (spec.name, spec.kind, spec.options["preset"]) == ("zero", "preset", "all-zero")
    assert load_oracle_of(spec, cohort)(cohort.graphs) == 0
    assert evaluate_oracle_of(spec, cohort, repeats=2) == {"repeats": 2}


def test_what_is_not_trained_here_is_not_judged():
    assert evaluate_oracle_of(OracleSpec("mine", "file"), make_cohort()) is None


def test_unknown_presets_are_refused_with_the_nearest_name():
    with pytest.raises(UnknownNameError, match="Did you mean 'edges-svm'"):
        preset_oracle("edge-svm")


def test_a_preset_is_identified_by_name_and_seed():
    assert preset_oracle("edges-svm").options == {"preset": "edges-svm", "seed": 0}


def test_a_changed_source_file_changes_the_oracle(folder):
    (folder / "my_oracle.py").write_text("def f(a): return 0\n")
    first = function_oracle("my_oracle:f")
    (folder / "my_oracle.py").write_text("def f(a): return 1\n")
    assert function_oracle("my_oracle:f").digest != first.digest
