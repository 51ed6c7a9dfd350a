from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info

from denseflip import threads as module
from denseflip.threads import single_thread


def threads():
    np.linalg.eigvalsh(np.eye(3))
    return {lib["filepath"]: lib["num_threads"] for lib in threadpool_info()}


def test_one_thread_inside_and_as_before_outside():
    before = threads()
    with single_thread():
        inside = threads()
        with single_thread():
            assert set(threads().values()) <= {1}
        assert threads() == inside
    assert inside
    assert set(inside.values()) == {1}
    assert threads() == before


def test_blocks_of_two_threads_may_overlap_in_any_order():
    before = threads()
    first, second = single_thread(), single_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert set(threads().values()) == {1}
    second.__exit__(None, None, None)
    assert threads() == before


def test_an_error_inside_lifts_the_limit():
    before = threads()
    with pytest.raises(ZeroDivisionError), single_thread():
        raise ZeroDivisionError
    assert threads() == before


def test_libraries_that_come_later_are_limited_too(monkeypatch):
    before = threads()
    monkeypatch.setattr(module, "_known", (ThreadpoolController().select(user_api="none"), ()))
    with single_thread():  # the packages loaded differ from those seen: looked up again
        assert set(threads().values()) == {1}
    assert threads() == before
