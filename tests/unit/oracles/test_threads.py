from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_info

from denseflip.oracles.threads import single_thread


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
