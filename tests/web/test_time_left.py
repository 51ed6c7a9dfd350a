"""The time left of a job: only said once it is known, and then close."""

from __future__ import annotations

import pytest

from denseflip.web.job_runner import JobProgress
from denseflip.web.time_left import TimeLeft


def test_a_slow_first_part_does_not_count() -> None:
    """The first part took a minute for what is done once; the others take two seconds each."""
    now = [0.0]
    left = TimeLeft(clock=lambda: now[0])
    said = []
    for done in range(101):
        now[0] = 0.0 if done == 0 else 60.0 + 2.0 * (done - 1)
        said.append(left.seconds("explaining", done, 100))
    assert said[:3] == [None, None, None]
    for done, seconds in enumerate(said[3:], start=3):
        assert seconds == pytest.approx(2.0 * (100 - done))


def test_another_stage_begins_anew() -> None:
    now = iter([0.0, 10.0, 20.0, 30.0, 40.0])
    left = TimeLeft(clock=lambda: next(now))
    assert [left.seconds("judging", done, 5) for done in (1, 2, 3)] == [None, None, 20.0]
    assert left.seconds("permuting", 3, 5) is None
    assert left.seconds("permuting", 1, 5) is None  # the same stage of another run


def test_a_job_says_its_time_left_and_forgets_it_with_its_parts() -> None:
    progress = JobProgress("0" * 16)
    now = iter(range(0, 100, 4))
    progress._left = TimeLeft(clock=lambda: float(next(now)))
    for done in (1, 2, 3):
        progress.tell(now=True, stage="permuting", done=done, of=10)
    assert (progress.state["done"], progress.state["left"]) == (3, 28.0)
    progress.tell(now=True, done=4, of=10)
    assert progress.state["left"] == 24.0
    progress.tell(now=True, stage="saving")
    assert not {"done", "of", "left"} & progress.state.keys()
