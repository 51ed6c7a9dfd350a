"""Train a graph neural network on four strains of mice, evaluate it, and explain it.

    pip install "denseflip[gnn]"
    python examples/gnn_mice.py

The network is a GCN with two layers in PyTorch Geometric. denseflip queries it about edited brains
in batches, with node features that are computed again for each of them. The same network on the
command line, from this folder:

    denseflip explain mice:strain 0 --oracle "gnn_mice:model?features=profile" --target BTBR
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, global_mean_pool

from denseflip import Dataset, as_oracle, evaluate, load_dataset
from denseflip.workflow.explain_and_describe import explain_and_describe
from denseflip.workflow.subject import find_subject

STRAINS = "mice:strain"


class Gcn(nn.Module):
    """Two rounds of message passing, then the mean over all nodes of a brain."""

    def __init__(self, n_nodes: int, n_classes: int, hidden: int = 12) -> None:
        super().__init__()
        self.first = GCNConv(n_nodes, hidden)
        self.second = GCNConv(hidden, hidden)
        self.last = nn.Linear(hidden, n_classes)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        """Scores of the classes, one row per graph."""
        x = torch.relu(self.first(x, edge_index))
        x = torch.relu(self.second(x, edge_index))
        return self.last(self.drop(global_mean_pool(x, batch)))


def as_data(dataset: Dataset) -> Batch:
    """Convert all graphs of a data set to PyTorch Geometric; features: the connection profile."""
    items = []
    for graph, label in zip(dataset.graphs, dataset.labels, strict=True):
        profile = torch.as_tensor(graph.to_adjacency(), dtype=torch.float32)
        ends = np.concatenate((graph.pairs, graph.pairs[:, ::-1]))
        items.append(
            Data(x=profile, edge_index=torch.as_tensor(ends.T.copy()), y=torch.tensor([label]))
        )
    return Batch.from_data_list(items)


def train(dataset: Dataset, *, epochs: int = 20, seed: int = 0) -> Gcn:
    """Return a network trained on a data set, in evaluation mode."""
    torch.manual_seed(seed)
    network = Gcn(dataset.n_nodes, len(dataset.class_names))
    given = as_data(dataset)
    adam = torch.optim.Adam(network.parameters(), lr=0.02, weight_decay=1e-4)
    for _ in range(epochs):
        adam.zero_grad()
        scores = network(given.x, given.edge_index, given.batch)
        nn.functional.cross_entropy(scores, given.y).backward()
        adam.step()
    return network.eval()


def make_oracle(dataset: Dataset) -> Any:
    """Return the network as an oracle that can be retrained, so that it can be evaluated."""
    oracle: Any = as_oracle(train(dataset), features="profile", class_names=dataset.class_names)
    oracle.refit = make_oracle
    return oracle


@functools.cache
def __getattr__(name: str) -> Any:
    """Provide `gnn_mice:model` for the command line: trained on first access."""
    if name == "model":
        return train(load_dataset(STRAINS))
    raise AttributeError(name)


def main(*, folds: int = 4, permutations: int = 0, budget: int = 2000) -> Any:
    """Train, evaluate, explain one mouse; return the oracle, the evaluation and the story."""
    mice = load_dataset(STRAINS)
    oracle = make_oracle(mice)
    judged = evaluate(mice, oracle, folds=folds, repeats=1, permutations=permutations)
    print(f"Accuracy on held-out mice: {judged.accuracy:.2f}")
    story = explain_and_describe(
        find_subject(mice, 0), oracle, "auto", target="BTBR", evaluation=judged, budget=budget
    )
    print(story)
    return oracle, judged, story


if __name__ == "__main__":
    main()
