"""What is dear is made once, and nobody waits for what somebody else needs."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from denseflip.web import library as shelf
from denseflip.web.library import Library
from denseflip.web.server_config import ServerSettings
from denseflip.web.single_flight import SingleFlight

WAIT = 20  # seconds until a test that hangs gives up


def test_many_who_ask_for_one_key_have_it_made_once():
    once, made, together = SingleFlight(8), [], threading.Barrier(6)

    def make():
        made.append(threading.get_ident())
        return object()

    def ask(_):
        together.wait(WAIT)
        return once.get("a", make)

    with ThreadPoolExecutor(6) as pool:
        got = set(pool.map(ask, range(6)))
    assert len(got) == len(made) == 1


def test_who_asks_for_another_key_does_not_wait():
    once = SingleFlight(8)
    begun, go = threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go.wait(WAIT)
        return "slow"

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(once.get, "a", slow)
        assert begun.wait(WAIT)
        assert once.get("b", lambda: "quick") == "quick"  # while "a" is being made
        assert not first.done()
        go.set()
        assert first.result(WAIT) == "slow"


def test_when_the_first_fails_the_next_who_waits_makes_it():
    once = SingleFlight(8)
    begun, go, waits = threading.Event(), threading.Event(), threading.Event()

    def fails():
        begun.set()
        assert go.wait(WAIT)
        raise ZeroDivisionError

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(once.get, "a", fails)
        assert begun.wait(WAIT)
        second = pool.submit(once.get, "a", lambda: "made", waiting=waits.set)
        assert waits.wait(WAIT)
        go.set()
        assert isinstance(first.exception(WAIT), ZeroDivisionError)
        assert second.result(WAIT) == "made"


def test_who_waits_may_go_away():
    once = SingleFlight(8)
    begun, go = threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go.wait(WAIT)
        return 1

    def enough():
        raise TimeoutError("enough")

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(once.get, "a", slow)
        assert begun.wait(WAIT)
        with pytest.raises(TimeoutError, match="enough"):
            once.get("a", lambda: 2, waiting=enough)
        go.set()
        assert first.result(WAIT) == 1
    assert once.get("a", lambda: 2) == 1


def test_what_is_dropped_while_it_is_made_is_not_kept():
    once = SingleFlight(8)

    def make():
        once.drop(lambda key: key == "a")
        return "old"

    assert once.get("a", make) == "old"
    assert once.get("a", lambda: "new") == "new"


def test_only_the_last_used_are_kept():
    once = SingleFlight(2)
    for key in "abac":
        once.get(key, lambda key=key: key)
    assert once.get("a", lambda: "again") == "a"
    assert once.get("b", lambda: "again") == "again"
    none = SingleFlight(0)
    assert [none.get("a", lambda n=n: n) for n in range(2)] == [0, 1]


def test_a_classifier_in_training_holds_up_neither_lists_nor_other_classifiers(
    tmp_path, study, monkeypatch
):
    shown = Library(ServerSettings(datasets=(str(study),), data=tmp_path))
    whole, trained = shelf.open_oracle, []
    begun, go = threading.Event(), threading.Event()

    def train(words, **how):
        trained.append(words)
        if words == "regions-logistic":
            begun.set()
            assert go.wait(WAIT)
        return whole(words, **how)

    monkeypatch.setattr(shelf, "open_oracle", train)
    with ThreadPoolExecutor(2) as pool:
        both = [pool.submit(shown.classifier, "study", "regions-logistic") for _ in range(2)]
        assert begun.wait(WAIT)
        assert shown.all_keys() == ["study"]
        assert shown.identity("study").startswith("study@")
        assert shown.subject("study", "g0000").name == "g0000"
        assert "sf-knn" in shown.classifiers("study")
        assert shown.classifier("study", "edges-logistic").oracle is not None
        assert not any(one.done() for one in both)
        go.set()
        first, second = (one.result(WAIT).oracle for one in both)
    assert trained.count("regions-logistic") == 1
    assert first is not second  # each has a copy: answers are kept inside


def test_a_classifier_is_judged_once_for_all_jobs_that_need_it(tmp_path, study, monkeypatch):
    from denseflip.web import job_work as doing
    from denseflip.web.job_runner import JobProgress, Stopped
    from denseflip.web.job_store import Store
    from denseflip.web.uploads import Quota

    settings = ServerSettings(datasets=(str(study),), data=tmp_path)
    shown, store = Library(settings), Store(tmp_path)
    work = doing.Work(settings, Quota(settings, shown, store))
    begun, go, calls = threading.Event(), threading.Event(), []

    class Made:
        def to_dict(self):
            return {"accuracy": 0.5}

    def evaluate(*_, **__):
        calls.append(1)
        begun.set()
        assert go.wait(WAIT)
        return Made()

    monkeypatch.setattr(doing, "evaluate", evaluate)
    lives = [JobProgress(str(i)) for i in range(3)]
    with ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(work._judged, "study", "sf-knn", lives[0])]
        assert begun.wait(WAIT)
        jobs += [pool.submit(work._judged, "study", "sf-knn", live) for live in lives[1:]]
        lives[2].stop.set()  # it is cancelled while it waits for the first
        assert isinstance(jobs[2].exception(WAIT), Stopped)
        go.set()
        assert [job.result(WAIT) for job in jobs[:2]] == [{"accuracy": 0.5}] * 2
    assert len(calls) == 1
    store.close()
