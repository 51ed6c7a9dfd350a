"""Small torch networks for tests. Import it only where torch is there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from torch import nn


class Sage(nn.Module):
    """Two rounds of messages, a mean per graph; with torch alone."""

    def __init__(self, width: int = 1, classes: int = 2, hidden: int = 8) -> None:
        super().__init__()
        self.first = nn.Linear(2 * width, hidden)
        self.second = nn.Linear(2 * hidden, hidden)
        self.last = nn.Linear(hidden, classes)
        self.adds_badly = False

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        for layer in (self.first, self.second):
            sent = x[edge_index[0]]
            heard = torch.zeros_like(x)
            if self.adds_badly:  # an older exporter writes only the last of several messages
                heard = heard.index_add(0, edge_index[1], sent)
            else:
                heard = heard.scatter_add(0, edge_index[1][:, None].expand_as(sent), sent)
            x = torch.tanh(layer(torch.cat((x, heard), 1)) / 3)
        member = (batch[None, :] == torch.arange(batch.max() + 1)[:, None]).to(x.dtype)
        return self.last(member @ x / member.sum(1, keepdim=True))


class OfData(nn.Module):
    """The same network, given PyTorch Geometric's `Data`."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, data: Any) -> Any:
        return self.inner(data.x, data.edge_index, data.batch)


class Dense(nn.Module):
    """A network on a stack of adjacency matrices."""

    def __init__(self, n_nodes: int, classes: int = 2) -> None:
        super().__init__()
        self.layer = nn.Linear(n_nodes, 8)
        self.last = nn.Linear(8, classes)

    def forward(self, adjacency: Any) -> Any:
        return self.last(torch.tanh(adjacency @ torch.relu(self.layer(adjacency)) / 20).mean(1))


def between(network: nn.Module, oracle: Any, graphs: Any, offset: float = 0.0) -> None:
    """Move the last layer's bias so that half of the graphs get either of two labels."""
    scores = oracle.scores(graphs)
    gaps = torch.as_tensor(scores[:, 0] - scores[:, 1])
    last = network.inner.last if isinstance(network, OfData) else network.last  # type: ignore
    with torch.no_grad():
        last.bias[1] += (gaps.median() + 1e-4 + offset).to(last.bias.dtype)


def export(network: nn.Module, path: Path, n_nodes: int = 6) -> Path:
    """Write a network of x, edge_index and batch to an ONNX file."""
    import warnings

    x = torch.rand(2 * n_nodes, network.first.in_features // 2)  # type: ignore[union-attr, operator]
    edges = torch.tensor([[0, 1, n_nodes, n_nodes + 1], [1, 0, n_nodes + 1, n_nodes]])
    batch = torch.arange(2).repeat_interleave(n_nodes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(
            network,
            (x, edges, batch),
            str(path),
            input_names=["x", "edge_index", "batch"],
            output_names=["scores"],
            dynamic_axes={"x": {0: "n"}, "edge_index": {1: "e"}, "batch": {0: "n"}},
            opset_version=17,
            dynamo=False,
        )
    return path


class OneNumber(nn.Module):
    """A network of two scores as one of a single number."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Any, edge_index: Any, batch: Any) -> Any:
        scores = self.inner(x, edge_index, batch)
        return scores[:, 1:] - scores[:, :1]
