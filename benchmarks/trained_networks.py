"""Graph networks of PyTorch Geometric, trained with a seed, for benchmarks.

`train` returns a network in evaluation mode and its accuracy on a fourth of the graphs that it was
not trained on. Node features are the connection profile (a node's row of the adjacency matrix).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch_geometric.nn import GCNConv, GINConv, global_mean_pool

from denseflip import Dataset
from denseflip.oracles.tensors import inputs_of, node_features

ROLES = {name: name for name in ("x", "edge_index", "batch")}
FEATURES = "profile"


class Gcn(nn.Module):
    """Two GCN layers and the mean over the nodes."""

    def __init__(self, width: int, classes: int, hidden: int = 12) -> None:
        super().__init__()
        self.first, self.second = GCNConv(width, hidden), GCNConv(hidden, hidden)
        self.last = nn.Linear(hidden, classes)

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        """Scores of the classes, one row per graph."""
        x = torch.relu(self.first(x, edge_index))
        x = torch.relu(self.second(x, edge_index))
        return self.last(global_mean_pool(x, batch))


class Gin(nn.Module):
    """Two GIN layers and the mean over the nodes."""

    def __init__(self, width: int, classes: int, hidden: int = 16) -> None:
        super().__init__()
        self.first, self.second = GINConv(_mlp(width, hidden)), GINConv(_mlp(hidden, hidden))
        self.last = nn.Linear(hidden, classes)

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        """Scores of the classes, one row per graph."""
        x = self.second(self.first(x, edge_index), edge_index)
        return self.last(global_mean_pool(x, batch))


def _mlp(width: int, hidden: int) -> Any:
    return nn.Sequential(
        nn.Linear(width, hidden),
        nn.BatchNorm1d(hidden),
        nn.ReLU(),
        nn.Linear(hidden, hidden),
        nn.ReLU(),
    )


NETWORKS = {"gcn": Gcn, "gin": Gin}


def train(dataset: Dataset, kind: str, *, epochs: int = 60, seed: int = 0) -> tuple[Any, float]:
    """A trained network, and its accuracy on held-out graphs."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    network = NETWORKS[kind](dataset.n_nodes, len(dataset.class_names))
    order = np.random.default_rng(seed).permutation(len(dataset))
    held = len(order) // 4
    labels = torch.as_tensor(np.asarray(dataset.labels))
    adam = torch.optim.Adam(network.parameters(), lr=0.01, weight_decay=1e-3)
    for _ in range(epochs):
        for part in np.array_split(order[held:], max(1, len(order[held:]) // 16)):
            adam.zero_grad()
            scores = network(**_inputs(dataset, part))
            nn.functional.cross_entropy(scores, labels[part]).backward()
            adam.step()
    network.eval()
    with torch.no_grad():
        said = network(**_inputs(dataset, order[:held])).argmax(1)
    return network, float((said == labels[order[:held]]).double().mean())


def _inputs(dataset: Dataset, chosen: Any) -> dict[str, Any]:
    graphs = [dataset.graphs[i] for i in chosen]
    arrays = inputs_of(graphs, ROLES, node_features(FEATURES))
    return {name: torch.as_tensor(array) for name, array in arrays.items()}
