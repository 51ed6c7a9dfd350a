"""The two small graph networks of the benchmark; torch and PyTorch Geometric on first use."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from denseflip.datasets import Dataset
from denseflip.errors import FileFormatError, MissingExtraError
from denseflip.files import write_whole
from denseflip.oracles.networks import TorchOracle
from denseflip.oracles.tensors import NODE_FEATURES, inputs_of
from denseflip.threads import single_thread

KINDS = ("gcn", "gin")
FEATURES = "profile"  # the row of the adjacency array: it is computed again for every edited graph
_HIDDEN = 16
_EPOCHS = 60
_RATE, _DECAY = 0.02, 1e-3
_ROLES = {"x": "x", "edge_index": "edge_index", "batch": "batch"}


@cache
def _network() -> Any:
    try:
        import torch
        from torch import nn
        from torch_geometric.nn import GCNConv, MessagePassing, global_mean_pool
    except ImportError as error:
        raise MissingExtraError("torch_geometric", "gnn") from error

    class Gin(MessagePassing):  # type: ignore[misc]
        """A GIN layer with edge weights: a perceptron of x + the weighted sum of neighbours."""

        def __init__(self, width: int) -> None:
            super().__init__(aggr="add")
            self.inner = nn.Sequential(
                nn.Linear(width, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, _HIDDEN)
            )

        def forward(self, x: Any, edge_index: Any, edge_weight: Any = None) -> Any:
            if edge_weight is None:
                edge_weight = x.new_ones(edge_index.shape[1])
            heard = self.propagate(edge_index, x=x, edge_weight=edge_weight)
            return self.inner((x + heard) / 10)

        def message(self, x_j: Any, edge_weight: Any) -> Any:
            return edge_weight[:, None] * x_j

    class Network(nn.Module):  # type: ignore[misc]
        """Two layers, the mean over the nodes, and a linear layer."""

        def __init__(self, kind: str, n_nodes: int, n_classes: int) -> None:
            super().__init__()
            layer = (lambda width: GCNConv(width, _HIDDEN)) if kind == "gcn" else Gin
            self.first, self.second = layer(n_nodes), layer(_HIDDEN)
            self.last = nn.Linear(_HIDDEN, n_classes)

        def forward(self, x: Any, edge_index: Any, batch: Any, edge_weight: Any = None) -> Any:
            x = torch.relu(self.first(x, edge_index, edge_weight))
            x = torch.relu(self.second(x, edge_index, edge_weight))
            return self.last(global_mean_pool(x, batch))

    return Network


def fit_network(kind: str, dataset: Dataset, seed: int) -> TorchOracle:
    """Train a network on a data set; the same seed gives the same weights."""
    import torch

    with single_thread(), torch.random.fork_rng(devices=[]):
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        module = _network()(kind, dataset.n_nodes, dataset.n_classes)
        rows = NODE_FEATURES[FEATURES]
        given = {k: torch.as_tensor(v) for k, v in inputs_of(dataset.graphs, _ROLES, rows).items()}
        wanted = torch.as_tensor(dataset.label_array())
        learn = torch.optim.Adam(module.parameters(), _RATE, weight_decay=_DECAY)
        for _ in range(_EPOCHS):
            learn.zero_grad()
            torch.nn.functional.cross_entropy(module(**given), wanted).backward()
            learn.step()
        torch.set_num_threads(threads)
    return _as_oracle(module, dataset.class_names)


def write_network(oracle: TorchOracle, kind: str, path: Path) -> None:
    """Write the weights as arrays; the same weights give the same bytes."""
    import io

    state = {name: value.detach().numpy() for name, value in oracle.module.state_dict().items()}
    names = np.array(list((oracle.class_names or {}).values()))
    out = io.BytesIO()
    np.savez(out, allow_pickle=False, **state, kind=np.array(kind), class_names=names)
    write_whole(path, out.getvalue())


def read_network(path: Path) -> tuple[str, TorchOracle]:
    """The kind of a network that `write_network` has written, and the network."""
    import torch

    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = dict(file)
        kind, names = str(arrays.pop("kind")), [str(x) for x in arrays.pop("class_names")]
        width = arrays["first.inner.0.weight" if kind == "gin" else "first.lin.weight"].shape[1]
        module = _network()(kind, width, len(names))
        module.load_state_dict({name: torch.as_tensor(array) for name, array in arrays.items()})
    except (OSError, ValueError, KeyError, RuntimeError) as error:
        msg = f"{path}: not a network of the benchmark ({error})."
        raise FileFormatError(msg) from error
    return kind, _as_oracle(module, names)


def _as_oracle(module: Any, names: Any) -> TorchOracle:
    module.eval()
    return TorchOracle(module, features=FEATURES, class_names=list(names))
