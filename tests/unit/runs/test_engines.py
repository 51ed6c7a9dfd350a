"""Several engines, one answer; dead workers and unreachable schedulers; when to go over."""

from dataclasses import replace

import pytest

from benches import bench_specs, write_bench
from denseflip.errors import EngineError, InvalidParameterError, UnknownNameError
from denseflip.experiments import worker as work
from denseflip.experiments.spec import ClassifierSpec, RunSpec
from denseflip.experiments.worker import share_context
from denseflip.runs import engines
from denseflip.runs.engines import make_engine
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs
from denseflip.runs.sources import data_spec, preset_oracle
from denseflip.runs.spec_base import describe_chunk, run_chunk


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
    with pytest.raises(EngineError, match=r"Cannot reach a Dask scheduler at tcp://127.0.0.1:9"):
        run_specs(specs, Store(folder / "s"), engine)


def test_a_short_run_starts_no_workers(folder, monkeypatch):
    monkeypatch.setattr(engines, "ProcessEngine", None)
    monkeypatch.setattr(engines, "START_SECONDS", 600.0)  # on a busy machine it is short, too
    specs = bench_specs(folder, methods=["tri", "edg"], measures={"as_read": 0})
    engine = make_engine("auto", 2)
    outcome = run_specs(specs, Store(folder / "s"), engine, workers=2)
    assert outcome.workers == engine.used == 1
    assert list(outcome.records) == [s.id for s in specs], "in the order of the specs"


def test_a_long_run_goes_over_to_processes_with_the_same_answers(folder, monkeypatch):
    specs = bench_specs(folder, "slow", methods=["tri", "dat+bw"])
    serial = run_specs(specs, Store(folder / "serial"))
    monkeypatch.setattr(engines, "START_SECONDS", 0.05)
    monkeypatch.setattr(engines, "_HAND_OVER", 0.0)
    outcome = run_specs(specs, Store(folder / "auto"), make_engine("auto", 2), workers=2)
    assert outcome.workers == 2
    assert outcome.failures == []
    assert answers(outcome) == answers(serial)


def test_one_job_or_one_chunk_never_leaves_this_process(folder, monkeypatch):
    monkeypatch.setattr(engines, "ProcessEngine", None)
    monkeypatch.setattr(engines, "START_SECONDS", 0.0)
    specs = bench_specs(folder, methods=["tri"], seeds=[0])
    run_specs(specs, Store(folder / "one"), make_engine("auto", 1), workers=4)
    run_specs(specs[:1], Store(folder / "few"), make_engine("auto", 2), workers=2)


def test_time_left_is_estimated_job_by_job(folder):
    tri, edg, _, judged = parts(folder)
    pace = engines._Pace()
    assert pace.seconds([(*tri,), (judged,)]) == 0, "nothing is known yet"
    pace.add(tri[7], done(0.9), 0.0)
    assert pace.seconds([tri]) == 0, "the first may have been slowed by what is done once"
    for spec, seconds in zip(tri, (1.0, 3.0), strict=False):
        pace.add(spec, done(seconds), 0.0)
    assert pace.seconds([tri[2:4]]) == 4, "two specs at two seconds each"
    assert pace.seconds([tri[2:4], edg[:3]]) == 10, "a job not met takes what the others took"
    pace.add(edg[0], done(6.0), 0.0)
    assert pace.seconds([edg[1:2], tri[:1]]) == 8
    assert pace.seconds([(judged,)]) == 0
    pace.add(judged, {"times": {"total": 20.0}}, 20.0)
    assert pace.seconds([(judged,), tri[:1]]) == 22
    pace.add(edg[1], {"failed": "no"}, 2.0)
    assert pace.seconds([edg[2:3]]) == 4


def test_workers_are_worth_it_when_they_save_more_than_their_start(folder, monkeypatch):
    tri, *_ = parts(folder)
    monkeypatch.setattr(engines, "START_SECONDS", 1.0)
    pace = engines._Pace()
    for spec in tri[:2]:
        pace.add(spec, done(1.0), 0.0)  # half a second to open the classifier, as for each worker
    assert not pace.worth(2, [tri[:3]], 1.0), "3 s here, 1.5 + 1.5 s there"
    assert pace.worth(2, [tri[:4]], 1.0), "4 s here, 1.5 + 2 s there"
    assert pace.worth(4, [tri[:3]], 1.0), "3 s here, 1.5 + 0.75 s there"
    assert not pace.worth(1, [tri], 1.0)
    slow = engines._Pace()
    slow.add(tri[0], done(1.5), 0.0)
    assert slow.worth(2, [tri[:4]], 1.0), "so slow a first one says enough"


def test_judgements_come_last_here_and_first_there(folder, monkeypatch):
    tri, edg, _, judged = parts(folder)
    here, there = [], []

    def work(specs):
        here.extend(specs)
        return [{"id": s.id, **done(5.0 if s is edg[0] else 0.0)} for s in specs]

    class Processes(engines.ProcessEngine):
        def start(self):
            ready = iter((False, True))
            return lambda: next(ready)

        def run(self, chunks):
            there.extend(chunks)
            return iter(())

    monkeypatch.setattr(engines, "run_chunk", work)
    monkeypatch.setattr(engines, "ProcessEngine", Processes)
    list(make_engine("auto", 2).run([(judged,), tri, edg]))
    assert here == [*tri, edg[0], edg[1]], "one more while the workers start"
    assert there == [(judged,), edg[2:]]


def test_workers_that_come_too_late_are_sent_home(folder, monkeypatch):
    said = []

    class Processes(engines.ProcessEngine):
        def start(self):
            said.append("start")
            return lambda: False

        def stop(self):
            said.append("stop")

    monkeypatch.setattr(engines, "ProcessEngine", Processes)
    monkeypatch.setattr(engines, "START_SECONDS", 0.0)
    specs = bench_specs(folder, methods=["tri"], seeds=[0])
    outcome = run_specs(specs, Store(folder / "s"), make_engine("auto", 2), workers=2)
    assert said == ["start", "stop"]
    assert outcome.workers == 1
    assert len(outcome.records) == len(specs)


def parts(folder):
    specs = bench_specs(folder, methods=["tri", "edg", "dat+bw"], seeds=[0])
    judged = ClassifierSpec(specs[0].job.data, specs[0].job.oracle)
    return tuple(specs[:8]), tuple(specs[8:16]), tuple(specs[16:]), judged


def done(seconds):
    return {"times": {"total": seconds + 0.5, "search": seconds, "measures": 0.0}}


def test_what_is_trained_is_trained_once_and_sent_to_workers(folder):
    data, _ = data_spec(str(write_bench(folder).with_name("cohort.dfd")))
    own = bench_specs(folder)[0].job.oracle
    assert share_context(data, own, folder) is None, "anything may be in a function"
    shared = share_context(data, preset_oracle("edges-svm"), folder)
    assert shared is not None
    assert share_context(data, preset_oracle("edges-svm"), folder) == shared
    broken = replace(data, digest="0" * 32)
    assert share_context(broken, preset_oracle("edges-svm"), folder) is None
    job = replace(bench_specs(folder)[0].job, oracle=preset_oracle("edges-svm"), data=data)
    specs = [RunSpec(job, "g0001"), RunSpec(job, "g0002")]
    direct = run_chunk(specs)
    forget_contexts()
    gone = run_chunk(specs, f"{shared}-gone")
    assert [r["result"] for r in gone] == [r["result"] for r in direct]
    forget_contexts()
    sent = run_chunk(specs, shared)
    assert [(r["result"], r["whole"]) for r in sent] == [(r["result"], r["whole"]) for r in direct]


def forget_contexts():
    work._contexts().clear()


def test_engines_by_name():
    with pytest.raises(UnknownNameError, match="Did you mean 'processes'"):
        make_engine("proceses")
    with pytest.raises(InvalidParameterError, match="jobs must be"):
        make_engine("processes", 0)
    with pytest.raises(InvalidParameterError, match="needs the engine 'dask'"):
        make_engine("serial", 1, "tcp://x:1")


def test_a_chunk_in_words(folder):
    specs = bench_specs(folder)
    assert describe_chunk(tuple(specs[:2])) == (
        "cohort / own / tri / g0000; cohort / own / tri / g0001"
    )
    judged = ClassifierSpec(specs[0].job.data, specs[0].job.oracle)
    assert describe_chunk((judged,)) == "cohort / own"
