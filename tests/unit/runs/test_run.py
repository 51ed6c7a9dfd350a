from collections.abc import Iterator

import pytest

from benches import bench_specs
from denseflip.experiments.run_page import sum_times
from denseflip.experiments.spec import ClassifierSpec
from denseflip.runs.result_store import Store
from denseflip.runs.run import run_specs
from denseflip.runs.spec_base import make_chunks, run_chunk


def without_times(records):
    return {key: {k: v for k, v in r.items() if k != "times"} for key, r in records.items()}


class Counting:
    """Serial, and counts; stops by an error after some chunks if asked to."""

    used = 1

    def __init__(self, stop_after: int | None = None, error: type[BaseException] = OSError):
        self.chunks = 0
        self.stop_after = stop_after
        self.error = error

    def run(self, chunks) -> Iterator[list]:
        for chunk in chunks:
            if self.chunks == self.stop_after:
                raise self.error
            self.chunks += 1
            yield run_chunk(chunk)


def test_all_specs_become_records(folder):
    specs = bench_specs(folder)
    seen = []
    outcome = run_specs(
        specs, Store(folder / "s"), progress=lambda done, total: seen.append((done, total))
    )
    assert set(outcome.records) == {s.id for s in specs}
    assert outcome.failures == []
    assert seen[0] == (0, len(specs))
    assert seen[-1] == (len(specs), len(specs))
    times = sum_times(outcome)
    assert times["explanations"] == len(specs) == 8 * 4 * 2
    assert times["ratio"] > 1
    assert times["questions"] == sum(r["result"]["calls"] for r in outcome.records.values())


def test_a_second_run_asks_nothing(folder):
    specs = bench_specs(folder)
    first = run_specs(specs, Store(folder / "s"))
    engine = Counting()
    second = run_specs(specs, Store(folder / "s"), engine)
    assert engine.chunks == 0
    assert second.reused == len(specs)
    assert second.records == first.records


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
def test_a_stopped_run_goes_on_where_it_stopped(folder, error):
    specs = bench_specs(folder)
    whole = run_specs(specs, Store(folder / "whole"))
    store = Store(folder / "s")
    with pytest.raises(error):
        run_specs(specs, store, Counting(3, error))
    done = len(store.records())
    assert 0 < done < len(specs)
    outcome = run_specs(specs, Store(folder / "s"))
    assert outcome.reused == done
    assert without_times(outcome.records) == without_times(whole.records)


def test_what_a_damaged_part_held_is_run_again(folder):
    specs = bench_specs(folder)
    first = run_specs(specs, Store(folder / "s"))
    part = sorted((folder / "s" / "parts").iterdir())[0]
    part.write_bytes(part.read_bytes()[:-20])
    outcome = run_specs(specs, Store(folder / "s"))
    assert len(outcome.damaged) == 1
    assert outcome.reused < len(specs)
    assert without_times(outcome.records) == without_times(first.records)


def test_a_changed_spec_never_takes_an_old_result(folder):
    run_specs(bench_specs(folder), Store(folder / "s"))
    changed = bench_specs(folder, budget=5)
    outcome = run_specs(changed, Store(folder / "s"))
    assert outcome.reused == 0
    assert all(
        r["result"]["calls"] <= 5 or r["result"]["background_calls"]
        for r in outcome.records.values()
    )


def test_changed_data_under_the_same_name_are_run_again(folder):
    from cohorts import make_cohort

    run_specs(bench_specs(folder), Store(folder / "s"))
    make_cohort(4, seed=9).save(folder / "cohort.dfd", force=True)
    assert run_specs(bench_specs(folder), Store(folder / "s")).reused == 0


def test_failures_are_told_and_not_stored(folder):
    specs = bench_specs(folder, "broken")
    store = Store(folder / "s")
    outcome = run_specs(specs, store)
    assert outcome.failures
    assert "cannot read this graph" in str(outcome.failures[0])
    assert str(outcome.failures[0]).startswith("cohort / own / ")
    assert len(outcome.records) + len(outcome.failures) == len(specs)
    assert len(store.records()) == len(outcome.records)


def test_chunks_hold_one_job_and_all_specs(folder):
    specs = bench_specs(folder)
    job = specs[0].job
    judged = ClassifierSpec(job.data, job.oracle)
    chunks = make_chunks([*specs, judged], workers=1)
    assert chunks[0] == (judged,)
    assert [s for chunk in chunks[1:] for s in chunk] == specs
    assert all(len({id(s.job) for s in chunk}) == 1 for chunk in chunks[1:])
    assert max(map(len, make_chunks(specs, workers=1))) == 8
    assert max(map(len, make_chunks(specs, workers=50))) == 1


def test_a_worker_of_another_version_does_not_answer(folder):
    from dataclasses import replace

    spec = bench_specs(folder, methods=["tri"])[0]
    other = replace(spec.job, versions={**spec.job.versions, "denseflip": "9.9"})
    (answer,) = run_chunk([replace(spec, job=other)])
    assert "other versions (denseflip" in answer["failed"]
    assert "instead of 9.9" in answer["failed"]
