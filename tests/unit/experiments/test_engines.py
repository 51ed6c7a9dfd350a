"""Three engines, one answer; dead workers and unreachable schedulers."""

import pytest

from benches import bench_specs
from denseflip.errors import EngineError, InvalidParameterError, UnknownNameError
from denseflip.experiments import engines
from denseflip.experiments.engines import describe_chunk, make_engine
from denseflip.experiments.run import run_specs
from denseflip.experiments.spec import ClassifierSpec
from denseflip.experiments.store import Store


def answers(outcome):
    return {k: (r["result"], r["whole"]) for k, r in outcome.records.items()}


def test_processes_give_the_serial_answers_though_a_worker_dies(folder, monkeypatch):
    specs = bench_specs(folder, "fragile")
    serial = run_specs(specs, Store(folder / "serial"))
    monkeypatch.setenv("FRAGILE", "1")
    outcome = run_specs(specs, Store(folder / "processes"), make_engine("processes", 2), workers=2)
    assert (folder / "died").exists(), "a worker was killed on the way"
    assert outcome.failures == []
    assert answers(outcome) == answers(serial)


@pytest.mark.slow
def test_dask_gives_the_serial_answers_though_a_worker_dies(folder, monkeypatch):
    pytest.importorskip("distributed")
    specs = bench_specs(folder, "fragile")
    serial = run_specs(specs, Store(folder / "serial"))
    monkeypatch.setenv("FRAGILE", "1")
    outcome = run_specs(specs, Store(folder / "dask"), make_engine("dask", 2), workers=2)
    assert (folder / "died").exists(), "a worker was killed on the way"
    assert answers(outcome) == answers(serial)


@pytest.mark.slow
def test_a_classifier_that_always_kills_its_worker_is_an_error(folder):
    specs = bench_specs(folder, "deadly", methods=["tri"], seeds=[0])
    with pytest.raises(EngineError, match=r"died 3 times in a row.*serial to see the cause"):
        run_specs(specs, Store(folder / "s"), make_engine("processes", 1))


def test_a_scheduler_that_cannot_be_reached_is_an_error(folder, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(engines, "_CONNECT_SECONDS", 1)
    specs = bench_specs(folder, methods=["tri"])
    engine = make_engine("dask", 1, "tcp://127.0.0.1:9")
    with pytest.raises(EngineError, match=r"No Dask scheduler can be reached at tcp://127.0.0.1:9"):
        run_specs(specs, Store(folder / "s"), engine)


def test_engines_by_name():
    with pytest.raises(UnknownNameError, match="Did you mean 'processes'"):
        make_engine("proceses")
    with pytest.raises(InvalidParameterError, match="jobs must be"):
        make_engine("processes", 0)
    with pytest.raises(InvalidParameterError, match="is for the engine 'dask'"):
        make_engine("serial", 1, "tcp://x:1")


def test_a_chunk_in_words(folder):
    specs = bench_specs(folder)
    assert describe_chunk(tuple(specs[:2])) == "cohort / tri / g0000, g0001"
    judged = ClassifierSpec(specs[0].job.data, specs[0].job.oracle)
    assert describe_chunk((judged,)) == "the classifier own on cohort"
