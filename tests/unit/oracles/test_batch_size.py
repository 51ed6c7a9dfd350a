"""Batches of networks: sized by timing, edges as a matrix where that is faster; same answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from conftest import need
from denseflip import as_oracle, explain
from denseflip.datasets import make_synthetic
from denseflip.graph.pairs import all_pairs
from denseflip.oracles.batch_size import BatchSize

DATA = make_synthetic(n_per_class=4, seed=1)


@pytest.mark.parametrize("fastest", [1, 4, 16, 64, 100])
@pytest.mark.parametrize("numbers", [1, 100_000, 10_000_000])
def test_the_fastest_size_is_found_from_any_start(fastest, numbers):
    size = BatchSize(100)
    size.expect(numbers)
    for _ in range(40):
        n = size.next(1000)
        size.record(n, n * (1 + abs(np.log(n / fastest))))
    assert size.next(1000) == fastest
    assert size.next(3) <= 3
    assert not size.is_open


def test_one_slow_batch_does_not_decide():
    size = BatchSize(16)
    size.record(4, 4 * 2.0)  # a hiccup
    for _ in range(20):
        n = size.next(1000)
        size.record(n, n * {1: 1.5, 4: 1.0, 16: 1.4}[n])
    assert size.best == 4


def test_one_graph_at_a_time_stays_so():
    assert BatchSize(1).next(50) == 1


def edited(graph: Any, count: int) -> list[Any]:
    rng = np.random.default_rng(0)
    pairs = all_pairs(graph.n_nodes)
    return [graph.toggle_codes(rng.choice(pairs, 5, replace=False)) for _ in range(count)]


def gin() -> Any:
    need("torch_geometric")
    import torch
    from torch import nn
    from torch_geometric.nn import GINConv, global_mean_pool

    class Gin(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = GINConv(nn.Sequential(nn.Linear(DATA.n_nodes, 8), nn.ReLU()))
            self.last = nn.Linear(8, 2)

        def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
            return self.last(global_mean_pool(self.layer(x, edge_index), batch))

    torch.manual_seed(0)
    return Gin().eval()


def test_edges_as_a_matrix_give_the_same_scores():
    net = gin()
    graphs = edited(DATA.graphs[0], 30)
    scores = []
    for matrix in (False, True):
        oracle = as_oracle(net, features="profile")
        oracle._as_matrix = matrix
        scores.append(oracle.scores(graphs))
    assert np.allclose(*scores, rtol=1e-5)


def test_answers_do_not_depend_on_the_size_of_a_batch():
    net = gin()
    graphs = edited(DATA.graphs[0], 30)
    oracle = as_oracle(net, features="profile")
    gaps = oracle.scores(graphs)
    net.last.bias.data[1] += float(np.median(gaps[:, 0] - gaps[:, 1]))
    found, labels = [], []
    for most in (1, 3, 64):
        oracle = as_oracle(net, features="profile", max_batch=most)
        labels.append(oracle.predict(graphs))
        result = explain(DATA.graphs[0], oracle, "obs", budget=60, batch=most)
        found.append((result.status, result.edits, result.calls))
    assert labels[0] == labels[1] == labels[2]
    assert found[0] == found[1] == found[2]


def test_answers_do_not_depend_on_the_timing():
    net = gin()
    gaps = as_oracle(net, features="profile").scores(DATA.graphs)
    net.last.bias.data[1] += float(np.median(gaps[:, 0] - gaps[:, 1]))
    found, sizes = [], []
    for seed in range(4):
        times = np.random.default_rng(seed)
        oracle = as_oracle(net, features="profile")
        oracle._clock = lambda times=times: float(times.random())  # every duration is chance
        result = explain(
            DATA.graphs[0], oracle, nodes=DATA.nodes, background=DATA.graphs, seed=1, budget=300
        )
        assert oracle._size is not None
        sizes.append((oracle._size.best, oracle._as_matrix))
        found.append((result.status, result.edits, result.calls, result.as_read, result.notes))
    assert len(set(sizes)) > 1
    assert all(one == found[0] for one in found)


def test_a_module_that_reads_edge_index_itself_gets_no_matrix():
    net = gin()
    inner = net.forward

    def forward(x: Any, edge_index: Any, batch: Any) -> Any:
        assert edge_index.shape[0] == 2
        return inner(x, edge_index[:, :], batch)

    net.forward = forward
    oracle = as_oracle(net, features="profile")
    assert len(oracle.predict(DATA.graphs)) == 8
    assert oracle._as_matrix is False
