"""The gradient of a torch module with respect to every pair of nodes, by autograd.

The pairs get weights: 1 for an edge, 0 for any other pair. The derivative of a score with respect
to these weights says, to first order, what flipping each pair would change. A module that takes a
dense adjacency matrix receives the weights in it; one that takes ``edge_weight`` receives them
there. For other modules the weights are passed to the layers of PyTorch Geometric inside: as
``edge_weight`` where a layer takes it, else as factors of its messages.

Pairs that are no edges have the weight 0 and must not change the output. This is checked once per
oracle. Where it fails (attention, maxima, a layer that ignores weights), only edges get weights.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import TYPE_CHECKING, Any

import numpy as np

from denseflip.errors import GradientError, said
from denseflip.graph import Codes, Graph
from denseflip.graph.pairs import all_pairs, are_among
from denseflip.oracles.gradients import PairGradient
from denseflip.oracles.tensors import EDGE_ATTR_IF_ANY, NODE_FEATURES, OwnFeatures

if TYPE_CHECKING:
    from denseflip.oracles.networks import TorchOracle

ADJACENCY, ALL, EDGES = "adjacency", "all pairs", "edges"
_AGREES = 1e-4  # of the largest score: tolerated effect of pairs with the weight 0
_MEMORY = 256_000_000  # bytes that one pass may take; more pairs are split into several passes
_PER_PAIR = 200  # bytes per pair for indices and weights
_FEWEST = 1024  # pairs beside the edges in one pass, at least
_TINY = 1e-6  # smallest probability whose logarithm is taken

_EDGES_ONLY = (
    "The gradient covers existing edges only, so it ranks removals and no additions: with weights "
    "for all pairs, the module's output is not that of the graph (a layer does not take weights)."
)
_OWN_FEATURES = (
    "The gradient does not cover the node features, which a function computes from each graph, so "
    "it may order the edits badly. Every queried graph, and so the answer, has its own features. "
    "information='labels' searches without gradients."
)
_NO_WEIGHTS = (
    "The gradient of this module cannot be computed: it takes edge_index, but no edge_weight, and "
    "has no layer of PyTorch Geometric that could take weights. Add edge_weight=None to forward "
    "and multiply the messages by it, or use information='labels'."
)
_IGNORED = (
    "The gradient of this module is zero for every pair: it ignores edge_weight, its output does "
    "not depend on the edges, or it is saturated. Use information='labels'."
)
_NOT_DIFFERENTIABLE = (
    "The gradient of the module cannot be computed: torch did not record how its output depends on "
    "the edges. Its forward must be differentiable, without detach(), no_grad() or NumPy. Or use "
    "information='labels'."
)
_lock = RLock()  # the layers of a module are changed during a pass


def torch_gradient(oracle: TorchOracle, graph: Graph, position: int) -> PairGradient:
    """The gradient of the margin of a class at a graph.

    Parameters
    ----------
    oracle : the module as an oracle; its kind of output is known.
    graph : the graph.
    position : the class.
    """
    with _lock:
        return _Pass(oracle, graph, position).gradient()


class _Pass:
    """Computes one gradient, in one or several passes."""

    def __init__(self, oracle: TorchOracle, graph: Graph, position: int) -> None:
        self.oracle, self.graph, self.position = oracle, graph, position
        self.roles = {k: role for k, role in oracle.roles.items() if role != EDGE_ATTR_IF_ANY}
        self.weight_name = _weight_input(oracle)
        if self.weight_name is not None:
            self.roles[self.weight_name] = "edge_weight"
        self.passes = 0

    def gradient(self) -> PairGradient:
        """The gradient over as many pairs as can be covered."""
        oracle, graph = self.oracle, self.graph
        if oracle.gradient_route is None:
            oracle.gradient_route = self._find_route()
        note = _OWN_FEATURES if isinstance(oracle._rows, OwnFeatures) else ""
        if oracle.gradient_route == EDGES:
            note = f"{_EDGES_ONLY} {note}".strip()
            values, score = self._run(graph.codes)
            return self._packed(values, score, graph.codes, note)
        codes = all_pairs(graph.n_nodes)
        is_edge = are_among(codes, graph.codes)
        values = np.zeros(len(codes))
        score = 0.0
        others = np.flatnonzero(~is_edge)
        size = len(others) if oracle.gradient_route == ADJACENCY else self._chunk()
        for start in range(0, max(len(others), 1), max(size, 1)):
            here = np.sort(np.concatenate((np.flatnonzero(is_edge), others[start : start + size])))
            values[here], score = self._run(codes[here])
        return self._packed(values, score, None, note)

    def _packed(self, values: Any, score: float, codes: Codes | None, note: str) -> PairGradient:
        if not values.any():
            raise GradientError(_IGNORED)
        n = self.graph.n_nodes
        return PairGradient(n, values, codes, score, note=note, passes=self.passes)

    def _chunk(self) -> int:
        """Pairs beside the edges that fit into one pass."""
        width = 0
        for layer in layers_of(self.oracle.module):
            if not is_plain(layer):  # it holds a row per message
                width = max(width, self._width(), *(max(p.shape) for p in layer.parameters()), 1)
        each = _PER_PAIR + 2 * 4 * 4 * width
        return int(max(_FEWEST, _MEMORY // each - self.graph.n_edges))

    def _width(self) -> int:
        rows = self.oracle._rows
        return 1 if rows is None else int(rows(self.graph).shape[1])

    def _find_route(self) -> str:
        """Which pairs can get weights: compare the output with that for the graph itself."""
        if set(self.roles.values()) & {"adjacency", "x or adjacency"}:
            return ADJACENCY
        if self.weight_name is None and not layers_of(self.oracle.module):
            raise GradientError(_NO_WEIGHTS)
        import torch

        codes, graph = all_pairs(self.graph.n_nodes), self.graph
        others = codes[~are_among(codes, graph.codes)][: self._chunk()]
        plain = self.oracle._run([graph])
        try:
            with torch.no_grad():
                scores = self._scores(np.sort(np.concatenate((graph.codes, others))))[0]
            weighted = scores.double().cpu().numpy().reshape(plain.shape)
        except GradientError:
            raise
        except Exception:  # a layer that cannot take the weights of all pairs
            return EDGES
        gap = float(np.abs(weighted - plain).max(initial=0))
        return ALL if gap <= _AGREES * max(1.0, float(np.abs(plain).max())) else EDGES

    # ---- one pass -----------------------------------------------------------------------

    def _run(self, codes: Codes) -> tuple[Any, float]:
        """One forward and one backward pass: the effect of flipping each pair, and the score."""
        import torch

        self.passes += 1
        try:
            with torch.enable_grad():
                scores, weights = self._scores(codes)
                if not scores.requires_grad:
                    raise GradientError(_NOT_DIFFERENTIABLE)
                score = _margin(scores, self.oracle._kind or "", self.position)
                (slopes,) = torch.autograd.grad(score, weights, allow_unused=True)
        except GradientError:
            raise
        except Exception as error:
            msg = (
                f"The gradient of the module cannot be computed ({said(error, 200)}). Its forward "
                "must be differentiable, without detach(), no_grad() or NumPy."
            )
            raise GradientError(msg) from error
        found = np.zeros(len(codes)) if slopes is None else slopes.double().cpu().numpy()
        signs = 1.0 - 2.0 * weights.detach().double().cpu().numpy()  # -1 for an edge
        return signs * found, float(score.detach())

    def _scores(self, codes: Codes) -> tuple[Any, Any]:
        """The module's output with weights for these pairs, and the weights."""
        import torch

        oracle, n = self.oracle, self.graph.n_nodes
        where, real = oracle.place_and_type()
        joined = are_among(codes, self.graph.codes).astype(np.float64)
        weights = torch.as_tensor(joined, device=where).to(real).requires_grad_()
        first, second = (torch.as_tensor(part, device=where) for part in np.divmod(codes, n))
        ends = torch.stack((torch.cat((first, second)), torch.cat((second, first))))
        both = torch.cat((weights, weights))
        made: dict[str, Any] = {
            "edge_index": ends,
            "edge_weight": both,
            "batch": torch.zeros(n, dtype=torch.long, device=where),
        }
        rows = oracle._rows
        dense = _dense(ends, both, n) if self._needs_dense() else None
        if dense is not None:
            made["adjacency"] = made["x or adjacency"] = dense[None]
        if rows is not None:
            made["x"] = self._features(dense, both, ends)
            if "x or adjacency" in self.roles.values():
                made["x or adjacency"] = made["x"][None]
        from denseflip.oracles.networks import as_batch

        with ExitStack() as stack:
            if self.weight_name is None and "edge_index" in _used(self.roles):
                stack.enter_context(_weighted(oracle.module, ends, both, n))
            if "data" in self.roles.values():
                returned = oracle.module(as_batch(made, 1))
            else:
                named = {name: made[role] for name, role in self.roles.items()}
                returned = oracle.module(**named)
        if callable(oracle.output):
            returned = oracle.output(returned)
        if isinstance(returned, (tuple, list)) and len(returned) == 1:
            returned = returned[0]
        if not isinstance(returned, torch.Tensor):
            msg = f"The module returns a {type(returned).__name__}, which has no gradient."
            raise GradientError(msg)
        return returned, weights

    def _needs_dense(self) -> bool:
        """Whether the adjacency matrix is an input, or the features are its rows."""
        inputs = set(self.roles.values()) & {"adjacency", "x or adjacency"}
        return bool(inputs) or self.oracle._rows is NODE_FEATURES["profile"]

    def _features(self, dense: Any, both: Any, ends: Any) -> Any:
        """Node features, as a function of the weights where they depend on the edges."""
        import torch

        rows, n = self.oracle._rows, self.graph.n_nodes
        assert rows is not None
        if rows is NODE_FEATURES["profile"]:
            return dense
        if rows is NODE_FEATURES["degree"]:
            return both.new_zeros(n).index_add(0, ends[0], both)[:, None]
        return torch.as_tensor(rows(self.graph), device=both.device).to(both.dtype)


def _dense(ends: Any, weights: Any, n: int) -> Any:
    """The weights as a matrix: rows receive, columns send."""
    return weights.new_zeros((n, n)).index_put((ends[1], ends[0]), weights, accumulate=True)


def _used(roles: Mapping[str, str]) -> set[str]:
    found = set(roles.values())
    return found | {"edge_index"} if "data" in found else found


def _weight_input(oracle: TorchOracle) -> str | None:
    """The name of the module's input of edge weights, also if it is optional."""
    names = [name for name, role in oracle.roles.items() if role == "edge_weight"]
    if names or "edge_index" not in oracle.roles.values():
        return names[0] if names else None
    for name in inspect.signature(oracle.module.forward).parameters:
        if name not in oracle.roles and name in ("edge_weight", "edge_weights"):
            return name
    return None


def _margin(scores: Any, kind: str, position: int) -> Any:
    """The log-odds of a class, or its score minus the largest other one."""
    import torch

    if kind in ("logit", "probability"):
        one = scores.reshape(-1)[0]
        if kind == "probability":
            one = torch.logit(one, eps=_TINY)
        return one if position else -one
    row = scores[0]
    if kind == "probabilities":
        row = row.clamp_min(torch.finfo(row.dtype).tiny).log()
    if len(row) < 2:
        msg = "The module has a single class, so no score can be compared with another."
        raise GradientError(msg)
    others = torch.cat((row[:position], row[position + 1 :]))
    return row[position] - others.max()


# ---- layers of PyTorch Geometric ----------------------------------------------------------------


def layers_of(module: Any) -> list[Any]:
    """The message passing layers of a module."""
    if "torch_geometric" not in sys.modules:
        return []
    from torch_geometric.nn import MessagePassing

    return [part for part in module.modules() if isinstance(part, MessagePassing)]


def _takes_weight(layer: Any) -> bool:
    return "edge_weight" in inspect.signature(layer.forward).parameters


def is_plain(layer: Any) -> bool:
    """Whether a layer sums its neighbours' rows, times weights: a product with the matrix.

    Such a layer is evaluated as this product, so that no row per message is held.
    """
    from torch_geometric.nn import MessagePassing

    kind = type(layer)
    message = set(inspect.signature(layer.message).parameters)
    return (
        message <= {"x_j", "edge_weight"}
        and "x_j" in message
        and kind.message_and_aggregate is not MessagePassing.message_and_aggregate
        and kind.update is MessagePassing.update
        and kind.aggregate is MessagePassing.aggregate
        and layer.aggr in ("add", "sum", "mean")
        and layer.node_dim in (-2, 0)
        and layer.flow == "source_to_target"
        and "propagate" not in layer.__dict__
    )


@contextmanager
def _weighted(module: Any, ends: Any, both: Any, n: int) -> Iterator[None]:
    """Give the layers of a module these weights of the edges, until the end of the block."""
    hooks: list[Any] = []
    patched: list[Any] = []
    layers = layers_of(module)
    if not layers:
        raise GradientError(_NO_WEIGHTS)
    try:
        for layer in layers:
            if _takes_weight(layer):
                hooks.append(
                    layer.register_forward_pre_hook(_with_weight(ends, both), with_kwargs=True)
                )
            elif not is_plain(layer):
                hooks.append(layer.register_message_forward_hook(_times_weight(ends, both, n)))
            if is_plain(layer):
                layer.__dict__["propagate"] = _product(layer, both, n)
                patched.append(layer)
        yield
    finally:
        for layer in patched:
            del layer.__dict__["propagate"]
        for hook in hooks:
            hook.remove()


def _with_weight(ends: Any, both: Any) -> Any:
    """A hook that passes the weights to a layer that takes them and was given none."""

    def hook(layer: Any, args: Any, kwargs: Any) -> Any:
        names = list(inspect.signature(layer.forward).parameters)
        given = dict(zip(names, args, strict=False)) | kwargs
        if given.get("edge_weight") is None:
            if given.get("edge_index") is not ends:
                msg = "The module changes edge_index between its layers, so pairs lose track."
                raise GradientError(msg)
            given["edge_weight"] = both
        return (), given

    return hook


def _padded(both: Any, length: int) -> Any:
    """The weights, with ones for the loops that a layer added behind the edges."""
    if length < len(both):
        msg = "The module drops edges between its layers, so that weights cannot be assigned."
        raise GradientError(msg)
    return both if length == len(both) else _joined(both, length - len(both))


def _joined(both: Any, more: int) -> Any:
    import torch

    return torch.cat((both, both.new_ones(more)))


def _times_weight(ends: Any, both: Any, n: int) -> Any:
    """A hook that multiplies the messages of a layer by the weights."""

    def hook(layer: Any, inputs: Any, messages: Any) -> Any:
        factors = _padded(both, messages.shape[0])
        if layer.aggr == "mean" and len(factors) == len(both):
            # The mean divides by the number of listed pairs; it should by the sum of weights.
            listed = both.new_zeros(n).index_add(0, ends[1], both.new_ones(len(both)))
            total = both.new_zeros(n).index_add(0, ends[1], both)
            factors = factors * (listed / _not_zero(total))[ends[1]]
        return messages * factors.view(-1, *([1] * (messages.dim() - 1)))

    return hook


def _not_zero(total: Any) -> Any:
    return total.where(total > 0, total.new_ones(()))


def _product(layer: Any, both: Any, n: int) -> Any:
    """`propagate` of a layer as a product of the matrix of weights with the rows of its nodes."""

    def propagate(edge_index: Any, size: Any = None, **given: Any) -> Any:
        x = given["x"]
        x = x[0] if isinstance(x, (tuple, list)) else x
        weights = given.get("edge_weight")
        if weights is None:
            weights = _padded(both, edge_index.shape[1])
        matrix = _dense(edge_index, weights, n)
        out = matrix @ x
        return out / _not_zero(matrix.sum(1, keepdim=True)) if layer.aggr == "mean" else out

    return propagate
