"""`Queue`: the first pairs to keep are those of the whole order, and few pairs are looked at."""

import numpy as np
import pytest

from denseflip.search.claims.queue import AT_ONCE, Queue, Weights


@pytest.mark.parametrize("n", [1, 50, 5_000, AT_ONCE + 1_000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_the_first_pairs_to_keep_are_those_of_the_whole_order(n, weighted, share):
    pairs = np.arange(n, dtype=np.int64)
    rng = np.random.default_rng(n)
    weights = Weights(rng.random(n) + 0.1) if weighted else None
    kept = rng.random(n) < share
    queue = Queue(pairs, np.random.default_rng(1), weights)
    for wanted in (0, 1, 7, 300, n):
        found = queue.take(wanted, lambda codes: kept[codes])
        order = queue._drawn  # what the queue has drawn so far; it never changes
        assert found.tolist() == order[kept[order]][:wanted].tolist()
        assert len(found) == min(wanted, int(kept.sum()))


def test_a_few_pairs_of_many_are_found_without_looking_at_all():
    queue = Queue(np.arange(20_000, dtype=np.int64), np.random.default_rng(0))
    looked = []

    def odd(codes):
        looked.append(len(codes))
        return codes % 2 == 1

    assert len(queue.take(10, odd)) == 10
    assert sum(looked) < 1_000
